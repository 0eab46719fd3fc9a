"""Losses that compare two tensors element by element; how losses are reduced.

Each takes `reduction`: "none", "mean" (over all elements) or "sum". https://docs.pytorch.org/docs/stable/nn.functional.html#loss-functions
"""

import math
import warnings

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, op
from ..core.dtype import argument_type_name
from ..core.general import broadcast_shapes
from ..core.grad_mode import no_grad
from ..core.registry import FUNCTIONS, publish
from ..core.tensor import Tensor
from .precision import HALF
from .reduction import total
from .refusal import not_implemented, refuse

__all__ = ["reduced", "reduction_of", "numbered", "share_of", "apply_reduction", "expect_tensors"]

# --- reductions ---

REDUCTIONS = ("none", "mean", "sum")


def reduction_of(reduction, size_average=None, reduce=None) -> str:
    """The reduction that the arguments ask for; the two old ones win, with a warning."""
    if size_average is not None or reduce is not None:
        mean = True if size_average is None else size_average
        reduction = "none" if reduce is False else "mean" if mean else "sum"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=3,
        )
    if reduction not in REDUCTIONS:
        if reduction == "elementwise_mean":
            warnings.warn(
                "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3
            )
            return "mean"
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def numbered(reduction: int, name: str, position: int | None = None) -> str:
    """The reduction that the functions of torch itself know by a number: 1 mean, 2 sum, all others none."""
    if not isinstance(reduction, int):
        where = f" (position {position})" if position else ""
        raise TypeError(f"{name}(): argument 'reduction'{where} must be int, not {argument_type_name(reduction)}")
    return REDUCTIONS[reduction] if reduction in (1, 2) else "none"


def reduced(values, reduction: str):
    """The losses of all elements, or their mean or sum."""
    if reduction == "none":
        return values
    if reduction == "sum":
        return np.asarray(total(values))
    if values.dtype is HALF:
        return np.asarray((np.add.reduce(values, axis=None, dtype=np.float32) / max(values.size, 1)).astype(HALF))
    return np.asarray(total(values) / values.size) if values.size else np.full((), np.nan, values.dtype)


def in_blocks(losses, reduction: str, x, y, *parameters):
    """losses(x, y, *parameters), reduced; the mean and the sum of many without an array of all of them."""
    size = vocabulary.BLOCK
    if x.dtype is HALF:
        return in_blocks(losses, reduction, x.astype(np.float32), y.astype(np.float32), *parameters).astype(HALF)
    if not x.ndim and not y.ndim:  # of which NumPy would make numbers, that cannot be written to
        return in_blocks(losses, reduction, x[None], y[None], *parameters).reshape(())
    plain = x.shape == y.shape and x.flags.c_contiguous and y.flags.c_contiguous
    if reduction == "none" or x.size <= size or not plain:
        return reduced(losses(x, y, *parameters), reduction)
    x, y = x.reshape(-1), y.reshape(-1)
    parts = [
        total(losses(x[start : start + size], y[start : start + size], *parameters)) for start in range(0, x.size, size)
    ]
    sum_ = np.add.reduce(np.array(parts, x.dtype), axis=None)
    return np.asarray(sum_ if reduction == "sum" else sum_ / x.dtype.type(x.size))


def share_of(grad, reduction: str, x, *others):
    """The part of a loss's gradient that each element gets."""
    if reduction != "mean":
        return grad
    shape = np.broadcast_shapes(tuple(x.shape), *[tuple(o.shape) for o in others])
    return grad / (math.prod(shape) or math.nan)


def apply_reduction(losses, reduction: str):
    """The reduction of a Tensor of losses."""
    return losses if reduction == "none" else losses.mean() if reduction == "mean" else losses.sum()


def expect_tensors(name: str, **tensors) -> None:
    for position, (argument, value) in enumerate(tensors.items()):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {position + 1}) must be Tensor, not {argument_type_name(value)}"
            )


def like(x, other):
    """A floating-point tensor in the dtype of another one, which the result is to have."""
    dtype = other._spec.dtype
    return x if x._spec.dtype is dtype or not dtype.is_floating_point else x.to(dtype)


def warn_of_sizes(input, target) -> None:
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will likely "
            "lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


# --- distances ---


def _distance(name: str, kernel_name: str, losses, factor, bound, extra: str = ""):
    """The operation and formulas of a loss of self − target.

    Its derivative is self − target, not beyond ±bound(parameter), times factor(parameter).
    """

    def kernel(self: Array, target: Array, reduction: str):
        refuse(kernel_name, "biuc", self)
        return losses(self, target, reduction, None)

    def kernel_with(self: Array, target: Array, reduction: str, parameter):
        refuse(kernel_name, "biuc", self)
        return losses(self, target, reduction, parameter)

    operation = op(
        kernel_with if extra else kernel, name=name, promote=("self", "target"), method=False, namespace=None
    )
    operation.numbers = ()
    names = ("self", "target", "reduction", "parameter") if extra else ("self", "target", "reduction")

    def of_self(xp, grad, self, target, reduction, parameter=None):
        share = share_of(grad, reduction, self, target) * factor(parameter)
        return xp.scaled_difference(self, target, share, bound(parameter))

    def of_target(xp, grad, self, target, reduction, parameter=None):
        share = share_of(grad, reduction, self, target) * factor(parameter)
        return xp.scaled_difference(target, self, share, bound(parameter))

    operation.derivative(of="self", names=names)(of_self)
    operation.derivative(of="target", names=names)(of_target)
    return operation


def _squares(self, target, reduction, _):
    if self.dtype is HALF:
        return _squares(self.astype(np.float32), target.astype(np.float32), reduction, _).astype(HALF)
    off = self - target
    if reduction == "none":
        return off * off
    flat = off.reshape(-1)
    sum_ = np.dot(flat, flat)
    return np.asarray(sum_ if reduction == "sum" else sum_ / flat.size if flat.size else sum_ * math.nan)


mse_op = _distance("mse_loss", "mse_cpu", _squares, lambda _: 2, lambda _: None)


def _huber(self, target, delta):
    off = np.abs(self - target)
    near = vocabulary.clip(off, None, delta)
    off -= 0.5 * near
    return np.multiply(off, near, out=off)


def _smooth_l1(self, target, beta):
    off = np.abs(self - target)
    near = vocabulary.clip(off, None, beta)
    off -= 0.5 * near
    near /= beta
    return np.multiply(off, near, out=off)


huber_op = _distance(
    "huber_loss", "huber_cpu", lambda self, target, reduction, delta: in_blocks(_huber, reduction, self, target, delta),
    lambda delta: 1, lambda delta: delta, "delta",
)  # fmt: skip
smooth_l1_op = _distance(
    "smooth_l1_loss", "smooth_l1_cpu",
    lambda self, target, reduction, beta: in_blocks(_smooth_l1, reduction, self, target, beta),
    lambda beta: 1 / beta, lambda beta: beta, "beta",
)  # fmt: skip


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The squares of input − target, weighted by `weight` where that is given."""
    warn_of_sizes(input, target)
    if size_average is not None or reduce is not None or reduction != "mean":
        reduction = reduction_of(reduction, size_average, reduce)
    if weight is None:
        return mse_op.single(input, target, reduction)
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    losses = (input - target) ** 2 * weight
    return losses.sum() / weight.sum() if reduction == "mean" else apply_reduction(losses, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The absolute values of input − target, weighted by `weight` where that is given."""
    warn_of_sizes(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    losses = (input - target).abs()
    if weight is None:
        return apply_reduction(losses, reduction)
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    losses = losses * weight
    return losses.sum() / weight.sum() if reduction == "mean" else apply_reduction(losses, reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Half the square of input − target, over beta, where that is below beta, and the distance less beta / 2 elsewhere."""
    warn_of_sizes(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return apply_reduction((input - target).abs(), reduction)
    return smooth_l1_op.single(input, target, reduction, beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Half the square of input − target below delta, delta times (the distance less delta / 2) elsewhere."""
    warn_of_sizes(input, target)
    reduction = reduction_of(reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    target = like(target, input)
    if weight is None:
        return huber_op.single(input, target, reduction, delta)
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    losses = huber_op.single(input, target, "none", delta) * weight
    return losses.sum() / weight.sum() if reduction == "mean" else apply_reduction(losses, reduction)


def _soft_margin(self, target):
    product = -target * self
    return np.log1p(np.exp(product)) if product.dtype.kind == "c" else np.logaddexp(product.dtype.type(0), product)


@op(name="soft_margin_loss", promote=("self", "target"), method=False, namespace=None)
def soft_margin_op(self: Array, target: Array, reduction: str):
    return in_blocks(_soft_margin, reduction, self, target)


soft_margin_op.numbers = ()


def _soft_margin_slope(xp, grad, self, target, reduction):
    return share_of(grad, reduction, self, target) * -xp.conj(xp.sigmoid(-target * self))


soft_margin_op.derivative(of="self")(
    lambda xp, grad, self, target, reduction: _soft_margin_slope(xp, grad, self, target, reduction) * xp.conj(target)
)
soft_margin_op.derivative(of="target")(
    lambda xp, grad, self, target, reduction: _soft_margin_slope(xp, grad, self, target, reduction) * xp.conj(self)
)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(−target · input)), for targets 1 and −1."""
    reduction = reduction_of(reduction, size_average, reduce)
    expect_tensors("soft_margin_loss", input=input, target=target)
    if not input._spec.inexact:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {input._spec.dtype.scalar_name}"
        )
    return soft_margin_op.single(input, like(target, input), reduction)


# --- binary cross entropy ---

EPSILON = 1e-12
LOWEST = -100.0


def _bce(self, target):
    low, high = np.log(self), log1p_minus(self)
    np.maximum(low, LOWEST, out=low)
    np.maximum(high, LOWEST, out=high)
    return (target - 1) * high - target * low


@op(name="binary_cross_entropy", method=False, namespace=None)
def bce_op(self: Array, target: Array, weight: Array | None, reduction: str):
    for name, a in (("input", self), ("target", target)):
        if a.size and not (np.minimum.reduce(a, axis=None) >= 0 and np.maximum.reduce(a, axis=None) <= 1):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    if weight is None:
        return in_blocks(_bce, reduction, self, target)
    return reduced(_bce(self, target) * weight, reduction)


@bce_op.derivative(of="self")
def _(xp, grad, self, target, weight, reduction):
    spread = (1 - self) * self
    small = spread < EPSILON
    slope = (self - target) / xp.where(small, xp.ones_like(spread) * EPSILON, spread)
    if weight is not None:
        slope = slope * weight
    return share_of(grad, reduction, self) * slope


@bce_op.derivative(of="target")
def _(xp, grad, self, target, weight, reduction):
    slope = _bounded_log(xp, 1 - self) - _bounded_log(xp, self)
    if weight is not None:
        slope = slope * weight
    return share_of(grad, reduction, self) * slope


def _bounded_log(xp, x):
    low = x < math.exp(LOWEST)
    return xp.where(low, xp.ones_like(x) * LOWEST, xp.log(xp.where(low, xp.ones_like(x), x)))


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """−(target · log(input) + (1 − target) · log(1 − input)) for probabilities; no logarithm counts as less than −100."""
    reduction = reduction_of(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    if input._spec.dtype is not target._spec.dtype:
        raise RuntimeError(f"Found dtype {target._spec.dtype.scalar_name} but expected {input._spec.dtype.scalar_name}")
    if not input._spec.inexact:
        raise not_implemented("binary_cross_entropy", input._array)
    if weight is not None:
        check_expandable(weight._spec.shape, target._spec.shape)
    return bce_op.single(input, target, weight, reduction)


def check_expandable(given, shape) -> None:
    """RuntimeError where a weight does not broadcast with the targets."""
    for back, (m, n) in enumerate(zip(reversed(given), reversed(shape)), 1):
        if m != n and m != 1 and n != 1:
            raise RuntimeError(
                f"Attempting to broadcast a dimension of length {m} at -{back}! Mismatching argument at index 1 had "
                f"torch.Size({list(given)}); but expected shape should be broadcastable to {list(shape)}"
            )


def log1p_minus(a):
    """log(1 − a) for numbers from 0 to 1; of many by the faster log: see log1p_of_small."""
    if a.size <= 256:
        return np.log1p(-a)
    u = 1 - a
    lost = 1 - u
    lost -= a  # (1 − u) − a: what rounding u lost
    lost /= np.maximum(u, np.finfo(u.dtype).tiny)
    np.log(u, out=u)
    return np.add(u, lost, out=u)


def log1p_of_small(a):
    """log(1 + a) for numbers from 0 to 1, in place; of many, by the several times faster log of u = 1 + a.

    What rounding u loses is put back to first order: log(1 + a) = log(u) − ((u − 1) − a) / u.
    """
    if a.size <= 256 or not a.flags.c_contiguous:
        return np.log1p(a, out=a)
    flat = a.reshape(-1)
    for start in range(0, flat.size, vocabulary.BLOCK):
        part = flat[start : start + vocabulary.BLOCK]
        u = part + 1
        lost = u - 1
        lost -= part
        lost /= u
        np.log(u, out=u)
        np.subtract(u, lost, out=part)
    return a


def softplus_of_minus(a):
    """log(1 + exp(−a)) without overflow."""
    tail = np.abs(a)
    np.negative(tail, out=tail)
    log1p_of_small(np.exp(tail, out=tail))
    return np.subtract(tail, vocabulary.clip(a, None, 0), out=tail)


def _with_logits(self, target):
    losses = 1 - target
    losses *= self
    losses += softplus_of_minus(self)
    return losses


@op(name="binary_cross_entropy_with_logits", promote=("self", "target", "weight", "pos_weight"), method=False,
    namespace=None)  # fmt: skip
def bce_logits_op(self: Array, target: Array, weight: Array | None, pos_weight: Array | None, reduction: str):
    if pos_weight is None:
        if weight is None:
            return in_blocks(_with_logits, reduction, self, target)
        return reduced(_with_logits(self, target) * weight, reduction)
    losses = (1 - target) * self + softplus_of_minus(self) * ((pos_weight - 1) * target + 1)
    return reduced(losses if weight is None else losses * weight, reduction)


bce_logits_op.numbers = ()


@bce_logits_op.derivative(of="self")
def _(xp, grad, self, target, weight, pos_weight, reduction):
    slope, share = xp.sigmoid(self), share_of(grad, reduction, self)
    if pos_weight is not None:
        positive = pos_weight * target
        slope, target = (positive + 1 - target) * slope, positive
    return xp.scaled_difference(slope, target, share if weight is None else share * weight)


@bce_logits_op.derivative(of="target")
def _(xp, grad, self, weight, pos_weight, reduction):
    slope = -self
    if pos_weight is not None:
        slope = _log_sigmoid(xp, -self) - pos_weight * _log_sigmoid(xp, self)
    if weight is not None:
        slope = slope * weight
    return share_of(grad, reduction, self) * slope


def _log_sigmoid(xp, x):
    """−log(1 + exp(−x))."""
    return -xp.logaddexp(xp.zeros_like(x), -x)


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):  # fmt: skip
    """Binary cross entropy of sigmoid(input), without overflow; `pos_weight` weighs the positive part of the targets."""
    reduction = reduction_of(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    dtype = target._spec.dtype
    if not dtype.is_floating_point or not input._spec.dtype.is_floating_point:
        _refuse_logits(input, target)
    if pos_weight is not None:
        broadcast_shapes(pos_weight._spec.shape, target._spec.shape)
    return bce_logits_op.single(like(input, target), target, weight, pos_weight, reduction)


def _refuse_logits(input, target) -> None:
    dtype = target._spec.dtype
    if not dtype.is_floating_point and not dtype.is_complex:
        if str(dtype) == "torch.bool":
            raise RuntimeError(
                "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
                "instead."
            )
        if input._spec.inexact:
            raise RuntimeError(f"result type Float can't be cast to the desired output type {dtype.scalar_name}")
    raise not_implemented("log_sigmoid_cpu", input._array)


# --- divergences and likelihoods made of other operations ---


def _kl(input, target, log_target: bool):
    expect_tensors("kl_div", input=input, target=target)
    if not (input._spec.inexact and target._spec.inexact):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        return target.exp() * (target - input)
    return FUNCTIONS["torch"]["xlogy"](target, target) - target * input


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target · (log(target) − input): `input` is a logarithm, with `log_target` so is `target`."""
    batchmean = reduction == "batchmean"
    if size_average is not None or reduce is not None:
        reduction = reduction_of(reduction, size_average, reduce)
    elif reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only "
            "by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as "
            "'batchmean' in the next major release.",
            stacklevel=2,
        )
    reduction = "sum" if batchmean else reduction_of(reduction)
    loss = apply_reduction(_kl(input, target, log_target), reduction)
    return loss / input.size()[0] if batchmean and input.dim() else loss


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
                     reduction="mean"):  # fmt: skip
    """exp(input) − target · input, or input − target · log(input + eps); with `full` Stirling's approximation is added."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _poisson(input, target, log_input, full, eps, reduction)


def _poisson(input, target, log_input, full, eps, reduction):
    expect_tensors("poisson_nll_loss", input=input, target=target)
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return apply_reduction(losses, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (input − target)² / var) / 2, with var at least eps; with `full` the constant is added."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * FUNCTIONS["torch"]["ones_like"](input)
    elif FUNCTIONS["torch"]["any"](var < 0):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif input.size()[:-1] != var.size()[:-1] or var.size(-1) != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in REDUCTIONS:
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return apply_reduction(losses, reduction)


# --- the functions of torch itself, which know reductions by numbers ---


def _kl_by_number(input, target, reduction=0, *, log_target=False):
    """kl_div with the reduction as a number: 0 none, 1 mean, 2 sum."""
    return apply_reduction(_kl(input, target, log_target), numbered(reduction, "kl_div", 3))


def _poisson_by_number(input, target, log_input, full, eps, reduction):
    """poisson_nll_loss with the reduction as a number: 0 none, 1 mean, 2 sum."""
    return _poisson(input, target, log_input, full, eps, numbered(reduction, "poisson_nll_loss", 6))


def _bce_by_number(input, target, weight=None, pos_weight=None, reduction=0):
    """binary_cross_entropy_with_logits with the reduction as a number: 0 none, 1 mean, 2 sum."""
    reduction = numbered(reduction, "binary_cross_entropy_with_logits", 5)
    return binary_cross_entropy_with_logits(input, target, weight, None, None, reduction, pos_weight)


for _function in (mse_loss, l1_loss, smooth_l1_loss, huber_loss, soft_margin_loss, binary_cross_entropy,
                  binary_cross_entropy_with_logits, kl_div, poisson_nll_loss, gaussian_nll_loss):  # fmt: skip
    publish("nn.functional", _function.__name__, _function)
for _operation, _function in ((mse_op, mse_loss), (huber_op, huber_loss), (smooth_l1_op, smooth_l1_loss),
                              (soft_margin_op, soft_margin_loss), (bce_op, binary_cross_entropy),
                              (bce_logits_op, binary_cross_entropy_with_logits)):  # fmt: skip
    _operation.function = _function
publish("torch", "kl_div", _kl_by_number)
publish("torch", "poisson_nll_loss", _poisson_by_number)
publish("torch", "binary_cross_entropy_with_logits", _bce_by_number)
