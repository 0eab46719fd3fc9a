"""Negative log-likelihood and cross entropy: losses of a score for each of several classes.

The classes lie along dimension 1, or 0 of a vector. What a target means is worked out before the operation runs: the
place of the right class and the weight of each sample.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.declare import Array, op
from ..core.dtype import argument_type_name
from ..core.registry import publish
from .loss import expect_tensors, reduction_of
from .precision import HALF
from .refusal import refuse
from .scaling import divide, scale
from .softmax import exponentials, log_softmax

__all__ = ["nll_loss", "cross_entropy"]


class Targets(NamedTuple):
    """places: the classes, with a dimension of 1 where the input has its classes. weights: of each sample, 0 for those
    to be ignored, of the same shape; None where all are 1. total: the sum of the weights. counted: which samples are not
    to be ignored, where the weights add to 0 for another reason."""

    places: np.ndarray
    weights: np.ndarray | None
    total: float
    counted: np.ndarray | None = None


def targets_of(target, input, weight, ignore_index: int) -> Targets:
    """The targets of a loss; PyTorch's complaints about their dtype and range."""
    shape = input._spec.shape
    axis = 1 if len(shape) > 1 else 0
    classes = shape[axis]
    places = target._array if len(shape) > 1 else target._array.reshape(())
    if places.dtype != np.int64:
        if places.dtype != np.uint8:
            raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target._spec.dtype.scalar_name}")
        places = places.astype(np.int64)
    if weight is not None and (weight._spec.ndim != 1 or weight._spec.shape[0] != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: "
            f"{list(weight._spec.shape)}"
        )
    if weight is not None and weight._spec.dtype is not input._spec.dtype:
        raise RuntimeError(
            f"expected scalar type {input._spec.dtype.scalar_name} but found {weight._spec.dtype.scalar_name}"
        )
    ignored = places == ignore_index
    weights = None
    if ignored.any():
        weights = np.logical_not(ignored).astype(input._spec.array_dtype)
        places = np.where(ignored, 0, places)
    if places.size and (np.minimum.reduce(places, axis=None) < 0 or np.maximum.reduce(places, axis=None) >= classes):
        wrong = places[(places < 0) | (places >= classes)].reshape(-1)[0]
        raise IndexError(f"Target {wrong} is out of bounds.")
    if weight is not None:
        chosen = weight._array[places]
        weights = chosen if weights is None else chosen * weights
    places = np.expand_dims(places, axis)
    if weights is None:
        return Targets(places, None, float(places.size))
    total = float(np.add.reduce(weights, axis=None))
    counted = None if total or weight is None else np.expand_dims(np.logical_not(ignored), axis)
    return Targets(places, np.expand_dims(weights, axis), total, counted)


def _reduced(losses, axis: int, targets: Targets, reduction: str):
    """Losses with the classes' dimension kept, weighted and reduced."""
    if targets.weights is not None:
        losses = losses * targets.weights
    if reduction == "none":
        return losses.reshape(losses.shape[:axis] + losses.shape[axis + 1 :])
    sum_ = np.add.reduce(losses, axis=None)
    if reduction == "sum":
        return np.asarray(sum_)
    return np.asarray(sum_ / targets.total) if targets.total else np.asarray(sum_ * math.nan)


def _shares(xp, grad, shape, targets: Targets, reduction: str):
    """The gradient of each sample's loss, with the classes' dimension kept."""
    if reduction == "none":
        grad = xp.expand_dims(grad, _axis(shape))
    elif reduction == "mean":
        if targets.counted is not None:  # 0 / 0 for each sample that counts
            return xp.select(xp.constant(targets.counted), grad * math.nan)
        grad = grad / targets.total if targets.total else grad * 0
    if targets.weights is None:
        return xp.broadcast_to(grad, targets.places.shape)
    return grad * xp.constant(targets.weights)


def _axis(shape) -> int:
    return 1 if len(shape) > 1 else 0


def _declare_nll(name: str, node: str):
    def kernel(self: Array, targets: Targets, reduction: str):
        axis = _axis(self.shape)
        refuse("nll_loss_out_frame" if self.ndim < 3 else "nll_loss2d_forward_out_frame", "biuc", self)
        if self.dtype is HALF:
            self = self.astype(np.float32)
            return _reduced(-np.take_along_axis(self, targets.places, axis), axis, targets, reduction).astype(HALF)
        return _reduced(-np.take_along_axis(self, targets.places, axis), axis, targets, reduction)

    operation = op(kernel, name=name, node=node, method=False, namespace=None, frees=("targets",))
    operation.derivative(of="self")(
        lambda xp, grad, self_shape, targets, reduction: xp.put_along(
            -_shares(xp, grad, self_shape, targets, reduction), targets.places, _axis(self_shape), self_shape
        )
    )
    operation.name = "nll_loss"
    return operation


nll_ops = (
    _declare_nll("nll_loss", "NllLossBackward0"),
    _declare_nll("nll_loss2d", "NllLoss2DBackward0"),
    _declare_nll("nll_loss_nd", "ViewBackward0"),
)


def _declare_cross_entropy(name: str, node: str):
    def kernel(self: Array, targets: Targets, reduction: str):
        return _cross_entropy(self, _axis(self.shape), targets, reduction)

    operation = op(kernel, name=name, node=node, method=False, namespace=None, frees=("targets",))

    @operation.derivative(of="self")
    def _(xp, grad, self, targets, reduction):
        shape, axis = tuple(self.shape), _axis(self.shape)
        shares = _shares(xp, grad, shape, targets, reduction)
        return xp.softmax(self, axis) * shares - xp.put_along(shares, targets.places, axis, shape)

    operation.name = "cross_entropy"
    return operation


def _cross_entropy(a, axis: int, targets: Targets, reduction: str):
    _, total, most = exponentials(a, axis)
    picked = np.take_along_axis(a, targets.places, axis)
    return _reduced(np.log(total) + (most - picked), axis, targets, reduction)


cross_entropy_ops = (
    _declare_cross_entropy("cross_entropy", "NllLossBackward0"),
    _declare_cross_entropy("cross_entropy2d", "NllLoss2DBackward0"),
    _declare_cross_entropy("cross_entropy_nd", "ViewBackward0"),
)


def _kind(ndim: int, reduction: str) -> int:
    """Which operation: PyTorch makes four dimensions of any other number above two, and undoes it for "none"."""
    if ndim < 3:
        return 0
    return 2 if reduction == "none" and ndim != 4 else 1


# --- the functions ---


def check_arguments(name: str, input, target, weight, ignore_index) -> None:
    """TypeError for arguments of the wrong type."""
    expect_tensors(name, input=input, target=target)
    if weight is not None:
        expect_tensors(name, input=input, target=target, weight=weight)
    if not isinstance(ignore_index, int):
        raise TypeError(
            f"{name}(): argument 'ignore_index' (position 5) must be int, not {argument_type_name(ignore_index)}"
        )


def check_sizes(input, target) -> None:
    """ValueError or RuntimeError where class indices do not fit the input."""
    shape, given = input._spec.shape, target._spec.shape
    if not shape:
        raise ValueError(f"Expected 1 or more dimensions (got {len(shape)})")
    if len(shape) != 1 and (not given or shape[0] != given[0]):
        found = given[0] if given else 0
        raise ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size ({found}).")
    if len(shape) == 1:
        if given and math.prod(given) != 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {given[0]}")
    elif len(shape) == 2:
        if len(given) != 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    elif given != (shape[0], *shape[2:]):
        if len(shape) == 4 and len(given) == 3:
            raise RuntimeError(f"size mismatch (got input: {list(shape)} , target: {list(given)}")
        raise RuntimeError(f"Expected target size {[shape[0], *shape[2:]]}, got {list(given)}")


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Minus the input at the target class of each sample, weighted by `weight` (one number a class).

    input: (C,), (N, C) or (N, C, d1, …); target: class indices () or (N,) or (N, d1, …), of which `ignore_index` counts
    nothing. "mean" divides by the sum of the weights.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    check_arguments("nll_loss_nd", input, target, weight, ignore_index)
    check_sizes(input, target)
    operation = nll_ops[_kind(input._spec.ndim, reduction)]
    return operation.single(input, targets_of(target, input, weight, ignore_index), reduction)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):  # fmt: skip
    """The negative log-likelihood of log_softmax(input): for class indices, or for probabilities of the input's shape.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html
    """
    if size_average is not None or reduce is not None or reduction != "mean":
        reduction = reduction_of(reduction, size_average, reduce)
    check_arguments("cross_entropy_loss", input, target, weight, ignore_index)
    if input._spec.shape == target._spec.shape:
        return _of_probabilities(input, target, weight, ignore_index, reduction, label_smoothing)
    if label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    dtype = input._spec.dtype
    if label_smoothing > 0:
        return _smoothed(input, target, weight, ignore_index, reduction, label_smoothing)
    if not dtype.is_floating_point or dtype.itemsize == 2:  # refused there, or rounded in between
        return nll_loss(
            log_softmax(input, _axis(input._spec.shape)), target, weight, None, ignore_index, None, reduction
        )
    check_sizes(input, target)
    operation = cross_entropy_ops[_kind(input._spec.ndim, reduction)]
    return operation.single(input, targets_of(target, input, weight, ignore_index), reduction)


def _smoothed(input, target, weight, ignore_index, reduction, smoothing: float):
    """(1 − s) of the loss of the right class and s of the mean loss of all classes."""
    axis = _axis(input._spec.shape)
    classes = input._spec.shape[axis]
    logs = log_softmax(input, axis)
    check_sizes(input, target)
    right = nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    if weight is None:
        all_ = -logs.sum(axis)
    else:
        shaped = weight.reshape([classes if i == axis else 1 for i in range(logs.dim())])
        all_ = -(logs * shaped).sum(axis)
    ignored = target == ignore_index
    all_ = all_.masked_fill(ignored, 0)
    if reduction == "mean":
        targets = targets_of(target, input, weight, ignore_index)
        all_ = all_.sum() / (targets.total or math.nan)
    elif reduction == "sum":
        all_ = all_.sum()
    return scale(right, 1 - smoothing) + scale(all_, smoothing / classes)


def _of_probabilities(input, target, weight, ignore_index, reduction, smoothing: float):
    if not target._spec.dtype.is_floating_point:
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {target._spec.dtype.scalar_name}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    if not input._spec.ndim:
        raise IndexError("Dimension specified as 1 but tensor has no dimensions")
    axis = _axis(input._spec.shape)
    classes = input._spec.shape[axis]
    if smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {smoothing:g}")
    if weight is not None and (weight._spec.ndim != 1 or weight._spec.numel != classes):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got weight "
            f"tensor of shape: {list(weight._spec.shape)}"
        )
    logs = log_softmax(input, axis)
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / classes
    losses = logs * target
    if weight is not None:
        losses = losses * weight.reshape([classes if i == axis else 1 for i in range(logs.dim())])
    if reduction == "none":
        return -losses.sum(axis)
    if reduction == "sum":
        return -losses.sum()
    samples = input._spec.numel / classes if classes else math.nan
    return divide(-losses.sum(), samples)


publish("nn.functional", "nll_loss", nll_loss)
publish("nn.functional", "cross_entropy", cross_entropy)
for _operation in nll_ops:
    _operation.function = nll_loss
for _operation in cross_entropy_ops:
    _operation.function = cross_entropy
