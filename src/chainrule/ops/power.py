"""Powers: pow with a node for each place a tensor may stand in, square, reciprocal, rsqrt, float_power."""

import cmath
import math

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, composite, op, pointwise, put_method
from ..core.dtype import float64, of, result_dtype
from ..core.general import NUMBERS, combination_error
from ..core.registry import publish
from ..core.tensor import Tensor
from .casting import fill_value
from .precision import HALF
from .refusal import not_implemented

__all__ = ["pow", "square", "reciprocal", "rsqrt"]


def _number_result(array, number):
    """The dtype of a power of a tensor and a number, and the array in the dtype to compute in."""
    dtype = result_dtype([of(array.dtype)], [], [type(number)]).numpy
    return dtype, array.astype(np.float32 if dtype == np.float16 else dtype, copy=False)


def _integer_power(base, exponent):
    """An integer power, wrapping around; 1 and -1 alone have powers with negative exponents other than 0."""
    if not np.less(exponent, 0).any():
        return np.power(base, exponent)
    out = np.power(base, np.maximum(exponent, 0))
    unit = np.where(base == 1, 1, np.where(base == -1, np.where(exponent % 2, -1, 1), 0))
    return np.where(exponent < 0, unit, out).astype(base.dtype)


@op(node="PowBackward0", method=False, namespace=None)
def pow_number(self: Array, exponent):
    """input ** exponent for a number."""
    kind = self.dtype.kind
    if kind in "fc" and type(exponent) in (int, float) and self.itemsize > 2:
        return vocabulary.power(self, exponent) if exponent else np.ones_like(self)
    dtype, base = _number_result(self, exponent)
    if dtype.kind in "iu":
        if exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        return np.power(base, base.dtype.type(fill_value(exponent, of(dtype)))).astype(dtype, copy=False)
    if dtype.kind == "b":
        return base | (not exponent)
    out = vocabulary.power(base, exponent) if exponent else np.ones_like(base)
    return out.astype(dtype, copy=False)


@pow_number.derivative(of="self")
def _(xp, grad, self, exponent):
    if exponent == 0:
        return xp.zeros_like(grad)
    if exponent == 1:
        return grad
    if exponent == 2:
        return grad * xp.conj(self * 2)
    return grad * xp.conj(xp.power(self, exponent - 1) * exponent)


@op(promote=("self", "exponent"), node="PowBackward1", method=False, namespace=None)
def pow_tensor(self: Array, exponent: Array):
    """input ** exponent for two tensors."""
    if self.dtype.kind == "b":
        raise not_implemented("pow", self)
    return _integer_power(self, exponent) if self.dtype.kind in "iu" else np.power(self, exponent)


@pow_tensor.derivative(of="self")
def _(xp, grad, self, exponent):
    slope = xp.conj(exponent * xp.power(self, exponent - 1))
    return xp.where(exponent == 0, xp.zeros_like(slope), grad * slope)


@pow_tensor.derivative(of="exponent")
def _(xp, grad, self, exponent, result):
    flat = xp.logical_and(self == 0, xp.real(exponent) >= 0)
    slope = xp.conj(result * xp.log(self))
    return xp.where(flat, xp.zeros_like(slope), grad * slope)


@op(node="PowBackward2", method=False, namespace=None)
def pow_of_number(self, exponent: Array):
    """self ** exponent for a number to the power of a tensor."""
    dtype, e = _number_result(exponent, self)
    if dtype.kind == "b":
        raise not_implemented("pow", e)
    if dtype.kind in "iu":
        return _integer_power(np.full_like(e, self), e).astype(dtype, copy=False)
    if self == 2 and dtype.kind == "f":
        return np.exp2(e).astype(dtype, copy=False)
    return np.power(e.dtype.type(self), e, out=...).astype(dtype, copy=False)


def _log(number):
    """The logarithm of a number as the tensor of its dtype would have it: -inf at 0, NaN below."""
    if isinstance(number, complex):
        return cmath.log(number) if number else -math.inf
    return math.log(number) if number > 0 else -math.inf if number == 0 else math.nan


@pow_of_number.derivative(of="exponent")
def _(xp, grad, self, exponent, result):
    log = _log(self)
    slope = xp.conj(result * log)
    if self == 0:
        return xp.where(xp.real(exponent) >= 0, xp.zeros_like(slope), grad * slope)
    return grad * slope


for _operation in (pow_number, pow_tensor, pow_of_number):
    _operation.name = "pow"


def pow(input, exponent, *, out=None):
    """input ** exponent; either may be a number."""
    if isinstance(exponent, Tensor):
        operation = pow_tensor if isinstance(input, Tensor) else pow_of_number
    else:
        operation = pow_number
        if isinstance(exponent, np.generic):
            exponent = exponent.item()
    if operation is pow_of_number and isinstance(input, np.generic):
        input = input.item()
    try:
        return operation.general(input, exponent, out=out)
    except (TypeError, ValueError):
        check_operands("pow", input, exponent)
        raise


def check_operands(name: str, *operands) -> None:
    """TypeError in PyTorch's words for operands that are not tensors and numbers, or all numbers."""
    tensors = [o for o in operands if isinstance(o, Tensor)]
    if not tensors or not all(isinstance(o, (Tensor, *NUMBERS)) for o in operands):
        raise combination_error(name, operands)


def pow_(self, exponent):
    return (pow_tensor if isinstance(exponent, Tensor) else pow_number).inplace(self, exponent)


publish("torch", "pow", pow)
put_method("pow", pow)
put_method("pow_", pow_)
pow_tensor.function = pow


@composite
def square(input, *, out=None):
    """input ** 2."""
    return pow(input, 2, out=out)


@composite(method=True)
def square_(self):
    return pow_(self, 2)


reciprocal = pointwise(
    "reciprocal", np.reciprocal, kind="float", self=lambda xp, grad, result: -grad * xp.conj(result * result)
)


def _rsqrt(a, out=...):
    if a.dtype is HALF:
        return _rsqrt(vocabulary.astype(a, np.float32)).astype(HALF)
    root = np.sqrt(a, out=...)
    return np.reciprocal(root, out=root)


rsqrt = pointwise(
    "rsqrt", _rsqrt, kind="float", self=lambda xp, grad, result: -0.5 * grad * xp.conj(xp.power(result, 3))
)


@composite
def float_power(input, exponent, *, out=None):
    """input ** exponent, in double precision."""
    complex_wanted = any(isinstance(v, complex) or isinstance(v, Tensor) and v.is_complex() for v in (input, exponent))
    dtype = float64.to_complex() if complex_wanted else float64
    number = complex if complex_wanted else float
    check_operands("float_power", input, exponent)
    base, power = (v.to(dtype) if isinstance(v, Tensor) else number(v) for v in (input, exponent))
    if out is not None and out._spec.dtype is not dtype:
        raise RuntimeError(
            f"the output given to float_power has dtype {out._spec.dtype.scalar_name} but the operation's result requires "
            f"dtype {dtype.scalar_name}"
        )
    return pow(base, power, out=out)


def _float_power_(self, exponent):
    complex_wanted = isinstance(exponent, complex) or self.is_complex()
    complex_wanted = complex_wanted or isinstance(exponent, Tensor) and exponent.is_complex()
    dtype = float64.to_complex() if complex_wanted else float64
    if self.dtype is not dtype:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.scalar_name} but the operation's result requires "
            f"dtype {dtype.scalar_name}"
        )
    return pow_(self, exponent.to(dtype) if isinstance(exponent, Tensor) else exponent)


put_method("float_power_", _float_power_)
