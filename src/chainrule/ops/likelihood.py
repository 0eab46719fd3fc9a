"""Negative log-likelihood and cross entropy: losses of a score for each of several classes.

The classes lie along dimension 1, or 0 of a vector. What a target means is worked out before the operation runs: the
place of the right class and the weight of each sample.
"""

import functools
import math

import numpy as np

from ..core.declare import Array, op
from ..core.dtype import argument_type_name
from ..core.registry import publish
from .loss import REDUCTIONS, expect_tensors, reduction_of
from .precision import HALF
from .reduction import total
from .refusal import not_implemented
from .scaling import divide, scale
from .softmax import log_softmax, log_softmax_kernel

__all__ = ["nll_loss", "cross_entropy"]


class Targets:
    """What the targets of a loss say.

    places: of the right classes in the flat input, of the shape of the targets. weights: of each sample, 0 for those to be
    ignored, of the same shape; None where all are 1. total: the sum of the weights. counted: which samples are not to be
    ignored, where the weights add to 0 for another reason. logs: where cross entropy leaves the log_softmax of its input.
    """

    __slots__ = ("places", "weights", "total", "counted", "logs")
    logs: np.ndarray

    def __init__(self, places, weights, total: float, counted=None):
        self.places, self.weights, self.total, self.counted = places, weights, total, counted


@functools.lru_cache(256)
def _starts(shape: tuple) -> np.ndarray:
    """Where, in a flat input of this shape, class 0 of each sample lies."""
    if len(shape) == 1:
        return np.zeros((), np.int64)
    inner = math.prod(shape[2:])
    rows = np.arange(shape[0], dtype=np.int64) * (shape[1] * inner)
    return rows if len(shape) == 2 else rows.reshape(-1, *[1] * (len(shape) - 2)) + np.arange(inner).reshape(shape[2:])


def targets_of(target, input, weight, ignore_index: int) -> Targets:
    """The targets of a loss; PyTorch's complaints about their dtype and range."""
    shape = input._spec.shape
    several = len(shape) > 1
    classes = shape[1] if several else shape[0]
    labels = target._array if several else target._array.reshape(())
    if labels.dtype != np.int64:
        if labels.dtype != np.uint8:
            raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target._spec.dtype.scalar_name}")
        labels = labels.astype(np.int64)
    if weight is not None and (weight._spec.ndim != 1 or weight._spec.shape[0] != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: "
            f"{list(weight._spec.shape)}"
        )
    if weight is not None and weight._spec.dtype is not input._spec.dtype:
        raise RuntimeError(
            f"expected scalar type {input._spec.dtype.scalar_name} but found {weight._spec.dtype.scalar_name}"
        )
    ignored = labels == ignore_index
    weights = None
    if ignored.any():
        weights = np.logical_not(ignored).astype(input._spec.array_dtype)
        labels = np.where(ignored, 0, labels)
    if labels.size and (np.minimum.reduce(labels, axis=None) < 0 or np.maximum.reduce(labels, axis=None) >= classes):
        wrong = labels[(labels < 0) | (labels >= classes)].reshape(-1)[0]
        raise IndexError(f"Target {wrong} is out of bounds.")
    if weight is not None:
        chosen = weight._array[labels]
        weights = chosen if weights is None else chosen * weights
    places = np.asarray(_starts(shape) + labels * math.prod(shape[2:]))
    if weights is None:
        return Targets(places, None, labels.size)
    total = float(np.add.reduce(weights, axis=None))
    return Targets(places, weights, total, None if total or weight is None else np.logical_not(ignored))


def _reduced(losses, targets: Targets, reduction: str):
    """Minus the logarithms of the right classes, weighted and reduced."""
    if targets.weights is not None:
        losses = losses * targets.weights
    if reduction == "none":
        return np.negative(losses, out=...)
    sum_ = -total(losses)
    if reduction == "sum":
        return np.asarray(sum_)
    return np.asarray(sum_ / losses.dtype.type(targets.total)) if targets.total else np.asarray(sum_ * math.nan)


def _shares(xp, grad, targets: Targets, reduction: str):
    """The gradient of each sample's loss: one for all, or of the shape of the targets."""
    if reduction == "mean":
        if targets.counted is not None:  # 0 / 0 for each sample that counts
            return xp.select(xp.constant(targets.counted), grad * math.nan)
        grad = grad / targets.total if targets.total else grad * 0
    return grad if targets.weights is None else grad * xp.constant(targets.weights)


def _axis(shape) -> int:
    return 1 if len(shape) > 1 else 0


def _declare_nll(name: str, node: str):
    def kernel(self: Array, targets: Targets, reduction: str):
        if self.dtype.kind != "f":
            raise not_implemented("nll_loss_out_frame" if self.ndim < 3 else "nll_loss2d_forward_out_frame", self)
        picked = self.reshape(-1).take(targets.places)
        if self.dtype is HALF:
            return _reduced(np.asarray(picked, np.float32), targets, reduction).astype(HALF)
        return _reduced(np.asarray(picked), targets, reduction)

    operation = op(kernel, name=name, node=node, method=False, namespace=None, frees=("targets",))

    @operation.derivative(of="self")
    def _(xp, grad, self_shape, targets, reduction):
        shares = -_shares(xp, grad, targets, reduction)
        return xp.put_flat(xp.broadcast_to(shares, targets.places.shape), targets.places, self_shape)

    operation.name = "nll_loss"
    return operation


nll_ops = (
    _declare_nll("nll_loss", "NllLossBackward0"),
    _declare_nll("nll_loss2d", "NllLoss2DBackward0"),
    _declare_nll("nll_loss_nd", "ViewBackward0"),
)


def _declare_cross_entropy(name: str, node: str):
    def kernel(self: Array, targets: Targets, reduction: str):
        targets.logs = logs = log_softmax_kernel(self, _axis(self.shape))
        return _reduced(np.asarray(logs.reshape(-1).take(targets.places)), targets, reduction)

    # log_softmax changes nothing about a log_softmax, and its derivatives there are those at the input: so the node keeps
    # that in place of the input, as PyTorch does, and the input may be changed.
    operation = op(
        kernel, name=name, node=node, method=False, namespace=None, frees=("targets",),
        stand_in=lambda targets, reduction: targets.logs,
    )  # fmt: skip

    @operation.derivative(of="self")
    def _(xp, grad, self, targets, reduction):
        shares = _shares(xp, grad, targets, reduction)
        return xp.cross_entropy_vjp(shares, self, targets.places, _axis(self.shape))

    operation.name = "cross_entropy"
    return operation


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


_LAYOUTS: dict = {}  # of the specs of an input and a target that fit: (_starts, elements from class to class, classes)


def _plainly(operations, input, target, ignore_index, reduction):
    """The loss where nothing but the targets' range is to be looked at; None where that is not known to be so."""
    try:
        starts, inner, classes = _LAYOUTS[input._spec, target._spec]
    except (KeyError, AttributeError):
        return None
    labels = target._array
    # As numbers without a sign negative ones are too large, and one look finds both.
    if ignore_index >= 0 or np.maximum.reduce(labels.view(np.uint64), axis=None) >= classes:
        return None
    places = starts + labels if inner == 1 else starts + labels * inner
    operation = operations[_kind(input._spec.ndim, reduction)]
    return operation.single(input, Targets(places, None, labels.size), reduction)


def _fits(input, target) -> None:
    """Keep in mind that these shapes and dtypes go together."""
    spec, other = input._spec, target._spec
    if spec.ndim > 1 and spec.direct and spec.dtype.is_floating_point and other.array_dtype == np.int64 and other.numel:
        if len(_LAYOUTS) > 1024:
            _LAYOUTS.clear()
        _LAYOUTS[spec, other] = _starts(spec.shape), math.prod(spec.shape[2:]), spec.shape[1]


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Minus the input at the target class of each sample, weighted by `weight` (one number a class).

    input: (C,), (N, C) or (N, C, d1, …); target: class indices () or (N,) or (N, d1, …), of which `ignore_index` counts
    nothing. "mean" divides by the sum of the weights.
    """
    if size_average is not None or reduce is not None or reduction not in REDUCTIONS:
        reduction = reduction_of(reduction, size_average, reduce)
    if weight is None and ignore_index.__class__ is int:
        loss = _plainly(nll_ops, input, target, ignore_index, reduction)
        if loss is not None:
            return loss
    check_arguments("nll_loss_nd", input, target, weight, ignore_index)
    check_sizes(input, target)
    _fits(input, target)
    operation = nll_ops[_kind(input._spec.ndim, reduction)]
    return operation.single(input, targets_of(target, input, weight, ignore_index), reduction)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):  # fmt: skip
    """The negative log-likelihood of log_softmax(input): for class indices, or for probabilities of the input's shape.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html
    """
    if size_average is not None or reduce is not None or reduction not in REDUCTIONS:
        reduction = reduction_of(reduction, size_average, reduce)
    if weight is None and ignore_index.__class__ is int and label_smoothing == 0.0:
        loss = _plainly(cross_entropy_ops, input, target, ignore_index, reduction)
        if loss is not None:
            return loss
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
    _fits(input, target)
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
