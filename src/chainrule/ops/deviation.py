"""Variance and standard deviation, alone and with the mean."""

import math
import warnings

import numpy as np

from ..core.declare import Array, op, put_method
from ..core.registry import publish
from ..core.tensor import Tensor
from .precision import HALF
from .reduction import MISSING, combination_error, count, dimensions, into, is_dims, spread, sum_over

__all__ = ["var", "std", "var_mean", "std_mean"]


def _moments(a, dim, correction, keepdim: bool) -> tuple:
    """(variance, mean) over dimensions, in the precision of `a`."""
    axes = dimensions(dim, a.ndim)
    n = count(a.shape, dim)
    mean = np.asarray(sum_over(a, axes, True)) / n if n else sum_over(a, axes, True) * math.nan
    off = a - mean
    squares = off * off if off.dtype.kind == "f" else off.real**2 + off.imag**2
    total = np.asarray(sum_over(squares, axes, keepdim))
    left = n - _corrected(correction)
    if left > 0:
        variance = total / total.dtype.type(left)
    else:  # infinite, or NaN of nothing
        with np.errstate(all="ignore"):
            variance = total / total.dtype.type(0)
    if not keepdim:
        mean = mean.reshape(variance.shape)
    return variance, mean


def _corrected(correction):
    return 1 if correction is None else correction


def _computed(name: str, a, dim, correction, keepdim) -> tuple:
    if a.dtype is HALF:
        variance, mean = _moments(a.astype(np.float32), dim, correction, keepdim)
    else:
        variance, mean = _moments(a, dim, correction, keepdim)
    if name.startswith("std"):
        variance = np.sqrt(variance)
    if a.dtype is HALF:
        return variance.astype(HALF), mean.astype(HALF)
    return variance, mean


def _slope(xp, grad, self, dim, correction):
    """The gradient by way of the variance: grad · 2 (x − mean) / (n − correction)."""
    axes = dimensions(dim, len(self.shape))
    n = count(self.shape, dim)
    left = n - _corrected(correction)
    scale = 2 / left if left else math.inf
    mean = xp.sum(self, axes, True) / n if n else xp.sum(self, axes, True)
    return (grad * scale) * (self - mean)


def _through_root(xp, grad, root):
    """The gradient of a variance from that of its root; 0 where the root is 0."""
    nonzero = root != 0
    return xp.select(nonzero, grad / (2 * xp.where(nonzero, root, xp.ones_like(root))))


def _declare(name: str):
    with_mean = name.endswith("_mean")
    root = name.startswith("std")

    def kernel(self: Array, dim=None, correction=None, keepdim: bool = False):
        pair = _computed(name, self, dim, correction, keepdim)
        return pair if with_mean else pair[0]

    operation = op(kernel, name=name, method=False, namespace=None)
    if not with_mean:

        def formula(xp, grad, self, result, dim, correction, keepdim):
            if root:
                grad = _through_root(xp, grad, result)
            return _slope(xp, spread(xp, grad, dim, keepdim, self.shape), self, dim, correction)

        def formula_of_variance(xp, grad, self, dim, correction, keepdim):
            return formula(xp, grad, self, None, dim, correction, keepdim)

        operation.derivative(of="self")(formula if root else formula_of_variance)
    else:

        def joint(xp, grads, self, result0, dim, correction, keepdim):
            grad, mean_grad = grads
            shape = self.shape
            if root:
                grad = _through_root(xp, grad, result0)
            slope = _slope(xp, spread(xp, grad, dim, keepdim, shape), self, dim, correction)
            return slope + xp.broadcast_to(spread(xp, mean_grad, dim, keepdim, shape), shape) / count(shape, dim)

        operation.derivative(of="self")(joint)
    return operation


def _function(operation, doc: str):
    name = operation.name

    def function(
        input, dim=MISSING, unbiased=MISSING, keepdim=False, *, correction=MISSING, axis=MISSING, out=None, **wrong
    ):
        given = [dim, unbiased] if unbiased is not MISSING else [] if dim is MISSING else [dim]
        if wrong:
            raise combination_error(name, tuple(given), wrong)
        if not isinstance(input, Tensor):
            raise combination_error(name, (input, *given), {})
        dim = axis if axis is not MISSING else dim
        if isinstance(dim, bool) and unbiased is MISSING:
            dim, unbiased = MISSING, dim
        if dim is not MISSING and (isinstance(dim, bool) or not is_dims(dim)) or not isinstance(keepdim, bool):
            raise combination_error(name, tuple(given), {})
        if unbiased is not MISSING and not isinstance(unbiased, bool):
            raise combination_error(name, tuple(given), {})
        if not input._spec.inexact:
            who = name if name.endswith("_mean") else "std and var"
            raise RuntimeError(f"{who} only support floating point and complex dtypes")
        if unbiased is not MISSING:
            correction = int(unbiased)
        if correction is MISSING:
            correction = 1 if dim is not MISSING else None
        where = None if dim is MISSING else dim
        _warn(name, input, where, correction)
        result = operation.general(input, where, correction, keepdim)
        if out is None:
            return result
        if name.endswith("_mean"):
            raise TypeError(f"{name}() got an unexpected keyword argument 'out'")
        return into(name, out, (input,), result)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    operation.function = function
    publish("torch", name, function)
    if not name.endswith("_mean"):
        put_method(name, function)
    return function


def _warn(name: str, input, dim, correction) -> None:
    if count(input._spec.shape, dim) - _corrected(correction) <= 0:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input "
            "numel divided by output numel).",
            UserWarning,
            stacklevel=3,
        )


_ABOUT = "of all elements, or along dimensions, with n − correction in the denominator (correction: 1; 0 with unbiased=False)."
var = _function(_declare("var"), f"The variance {_ABOUT}")
std = _function(_declare("std"), f"The standard deviation {_ABOUT}")
var_mean = _function(_declare("var_mean"), f"(variance, mean) {_ABOUT}")
std_mean = _function(_declare("std_mean"), f"(standard deviation, mean) {_ABOUT}")
