"""Choosing between operands, elementwise: where, masked_fill, maximum and minimum, clamp."""

import functools
import math

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, composite, method, op, pointwise, put_method
from ..core.dtype import FLOATING, argument_type_name, bool_, float16, of, result_dtype, uint8
from ..core.general import NUMBERS, apply_inplace, broadcast_shapes, combination_error
from ..core.registry import FUNCTIONS, publish
from ..core.tensor import Tensor
from .casting import fill_value, unrecorded

__all__ = ["where", "maximum", "minimum", "clamp", "masked_fill"]

# --- where ---


@op(name="where", promote=("self", "other"), method=False, namespace=None)
def where_op(condition: Array, self: Array, other: Array):
    return vocabulary.where(condition, self, other)


where_op.derivative(of="self")(lambda xp, grad, condition: xp.select(condition, grad))
where_op.derivative(of="other")(lambda xp, grad, condition: xp.select(~condition, grad))


def where(condition, input=None, other=None, *, out=None):
    """input where condition holds, other elsewhere; with a condition alone the indices where it holds."""
    if input is None and other is None:
        if not isinstance(condition, Tensor):
            raise TypeError(
                f"where(): argument 'condition' (position 1) must be Tensor, not {argument_type_name(condition)}"
            )
        return FUNCTIONS["torch"]["nonzero"](condition, as_tuple=True)
    operands = (condition, input) if other is None else (condition, input, other)
    if (
        other is None
        or not isinstance(condition, Tensor)
        or not all(isinstance(o, (Tensor, *NUMBERS)) for o in operands)
    ):
        got = ", ".join(argument_type_name(o) for o in operands)
        raise TypeError(f"where() received an invalid combination of arguments - got ({got}), but expected one of:")
    if condition._spec.dtype is not bool_:
        if condition._spec.dtype is not uint8:
            raise RuntimeError(
                "where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{condition._spec.dtype.scalar_name}"
            )
        condition = condition.bool()
    try:
        return where_op.general(condition, input, other, out=out)
    except (RuntimeError, ValueError):
        shape = condition._spec.shape
        for o in (input, other):
            shape = broadcast_shapes(shape, o._spec.shape if isinstance(o, Tensor) else ())
        raise


publish("torch", "where", where)
put_method("where", lambda self, condition, other: where(condition, self, other))
where_op.function = where

# --- masked_fill ---


def _masked(self, mask, value):
    if value.__class__ is np.ndarray and value.dtype.kind == "c" and self.dtype.kind not in "cb":
        value = value.real
    return vocabulary.where(mask, np.asarray(value, self.dtype), self)


@op(name="masked_fill", node="MaskedFillBackward0", method=False, namespace=None)
def fill_where(self: Array, mask: Array, value):
    return _masked(self, mask, value)


@op(node="MaskedFillBackward1", method=False, namespace=None)
def fill_where_by_tensor(self: Array, mask: Array, value: Array):
    return _masked(self, mask, value)


fill_where.derivative(of="self")(lambda xp, grad, mask: xp.select(~mask, grad))
fill_where_by_tensor.derivative(of="self")(lambda xp, grad, mask: xp.select(~mask, grad))
fill_where_by_tensor.derivative(of="value")(lambda xp, grad, mask: xp.sum(xp.select(mask, grad)))
fill_where_by_tensor.name = "masked_fill"


def _check_mask(self, mask, value) -> None:
    if not isinstance(mask, Tensor):
        raise TypeError(
            "masked_fill() received an invalid combination of arguments - got "
            f"({argument_type_name(mask)}, {argument_type_name(value)}), but expected one of:"
        )
    if mask._spec.dtype is not bool_:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {mask._spec.dtype.cpp_name}"
        )
    if isinstance(value, Tensor) and value._spec.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._spec.ndim} dimension(s)."
        )
    if isinstance(value, Tensor) and value._spec.dtype.is_complex and not self._spec.dtype.is_complex:
        fill_value(value._array.item(), self._spec.dtype)


@composite
def masked_fill(input, mask, value):
    """input with value (a number or a 0-dim tensor) where the bool mask holds."""
    _check_mask(input, mask, value)
    if isinstance(value, Tensor):
        return fill_where_by_tensor.general(input, mask, value)
    return fill_where.general(input, mask, fill_value(value, input._spec.dtype))


@method
def masked_fill_(self, mask, value):
    """Write value (a number or a 0-dim tensor) where the bool mask holds."""
    _check_mask(self, mask, value)
    if isinstance(value, Tensor):
        return apply_inplace(fill_where_by_tensor, (self, mask, value))
    value = fill_value(value, self._spec.dtype)
    if self._spec.shape == mask._spec.shape and unrecorded(self):
        np.copyto(self._array, value, where=mask._array)
        self._counter[0] += 1
        return self
    return apply_inplace(fill_where, (self, mask, value))


fill_where.function = masked_fill

# --- maximum and minimum ---


def _no_complex(name: str, ufunc):
    def call(a, b, out=...):
        if a.dtype.kind == "c":
            raise RuntimeError(f"{name} not implemented for complex tensors.")
        return ufunc(a, b, out=out)

    def check(operands) -> None:
        if any(o._spec.dtype.is_complex for o in operands):
            raise RuntimeError(f"{name} not implemented for complex tensors.")

    return call, check


def _halves(xp, grad, chosen, tie):
    """The gradient where an operand was chosen, half of it where both are equal."""
    return xp.where(tie, grad * 0.5, xp.select(chosen, grad))


def _extremum(name, ufunc, formula, formula_other):
    kernel, check = _no_complex(name, ufunc)
    return pointwise(name, kernel, numbers=(), inplace=False, check=check, self=formula, other=formula_other)


maximum = _extremum(
    "maximum",
    np.maximum,
    lambda xp, grad, self, other: _halves(xp, grad, ~(self < other), self == other),
    lambda xp, grad, self, other: _halves(xp, grad, ~(self > other), self == other),
)
minimum = _extremum(
    "minimum",
    np.minimum,
    lambda xp, grad, self, other: _halves(xp, grad, ~(self > other), self == other),
    lambda xp, grad, self, other: _halves(xp, grad, ~(self < other), self == other),
)
fmax = _extremum(
    "fmax",
    np.fmax,
    lambda xp, grad, self, other: xp.select(xp.logical_or(self >= other, xp.isnan(other)), grad),
    lambda xp, grad, self, other: xp.select(~xp.logical_or(self >= other, xp.isnan(other)), grad),
)
fmin = _extremum(
    "fmin",
    np.fmin,
    lambda xp, grad, self, other: xp.select(xp.logical_or(self <= other, xp.isnan(other)), grad),
    lambda xp, grad, self, other: xp.select(~xp.logical_or(self <= other, xp.isnan(other)), grad),
)

# --- clamp ---


def _refuse_complex(dtype, name: str = "clamp") -> None:
    if dtype.is_complex:
        raise NotImplementedError(f"{name} is not supported for complex types")


try:  # the ufunc under np.clip, three times as fast as maximum and minimum; NumPy does not promise its place
    from numpy._core.umath import clip  # type: ignore[attr-defined]
except ImportError:

    def clip(a, low, high, out=...):
        return np.minimum(np.maximum(a, low), high, out=out)


@functools.lru_cache(256)
def _bounds(low, high, dtype):
    """The bounds as 0-dim arrays, infinite where they are None."""
    return np.array(-math.inf if low is None else low, dtype), np.array(math.inf if high is None else high, dtype)


def bounded(a, low, high):
    """A floating array between two numbers, either of which may be None; NaN stays NaN."""
    return clip(a, *_bounds(low, high, a.dtype), out=...)


def _clamp_integers(a, low, high):
    if low is not None:
        a = np.maximum(a, a.dtype.type(low))
    return a if high is None else np.minimum(a, a.dtype.type(high))


_PLAIN = (np.dtype(np.float32), np.dtype(np.float64))
_NUMBERS = (int, float, type(None))


def _clamp(array, low, high):
    if array.dtype in _PLAIN and low.__class__ in _NUMBERS and high.__class__ in _NUMBERS:
        return bounded(array, low, high)
    dtype = result_dtype([of(array.dtype)], [], [type(v) for v in (low, high) if v is not None])
    _refuse_complex(dtype)
    if dtype is float16 or dtype.category < FLOATING:
        low, high = (None if v is None else fill_value(v, dtype) for v in (low, high))
    array = array.astype(dtype.numpy, copy=False)
    return bounded(array, low, high) if dtype.is_floating_point else _clamp_integers(array, low, high)


@op(node="ClampBackward1", method=False, namespace=None)
def clamp_by_numbers(self: Array, min, max):
    return _clamp(self, min, max)


@clamp_by_numbers.derivative(of="self")
def _(xp, grad, self, min, max):
    if min is None:
        return xp.select(self <= max, grad)
    if max is None:
        return xp.select(self >= min, grad)
    return xp.select(xp.logical_and(self >= min, self <= max), grad)


@op(name="clamp", promote=("self", "min", "max"), method=False, namespace=None)
def clamp_by_tensors(self: Array, min: Array | None, max: Array | None):
    _refuse_complex(of(self.dtype))
    if min is not None:
        self = np.maximum(self, min)
    return self if max is None else np.minimum(self, max)


@clamp_by_tensors.derivative(of="self")
def _(xp, grad, self, min, max):
    if min is None:
        return xp.select(self <= max, grad)
    if max is None:
        return xp.select(self >= min, grad)
    return xp.select(xp.logical_and(self >= min, self <= max), grad)


@clamp_by_tensors.derivative(of="min")
def _(xp, grad, self, min, max):
    if max is None:
        return xp.select(self < min, grad)
    return xp.select(xp.logical_and(min < max, self < min), grad)


@clamp_by_tensors.derivative(of="max")
def _(xp, grad, self, min, max):
    if min is None:
        return xp.select(self > max, grad)
    return xp.select(xp.logical_or(max < min, self > max), grad)


@op(node="ClampMinBackward0", method=False, namespace=None)
def clamp_min_by_number(self: Array, min):
    return _clamp(self, min, None)


@op(node="ClampMaxBackward0", method=False, namespace=None)
def clamp_max_by_number(self: Array, max):
    return _clamp(self, None, max)


@op(node="ClampMinBackward1", promote=("self", "min"), method=False, namespace=None)
def clamp_min_by_tensor(self: Array, min: Array):
    _refuse_complex(of(self.dtype))
    return np.maximum(self, min)


@op(node="ClampMaxBackward1", promote=("self", "max"), method=False, namespace=None)
def clamp_max_by_tensor(self: Array, max: Array):
    _refuse_complex(of(self.dtype))
    return np.minimum(self, max)


clamp_min_by_number.derivative(of="self")(lambda xp, grad, self, min: xp.select(self >= min, grad))
clamp_max_by_number.derivative(of="self")(lambda xp, grad, self, max: xp.select(self <= max, grad))
clamp_min_by_tensor.derivative(of="self")(lambda xp, grad, self, min: xp.select(self >= min, grad))
clamp_min_by_tensor.derivative(of="min")(lambda xp, grad, self, min: xp.select(self < min, grad))
clamp_max_by_tensor.derivative(of="self")(lambda xp, grad, self, max: xp.select(self <= max, grad))
clamp_max_by_tensor.derivative(of="max")(lambda xp, grad, self, max: xp.select(self > max, grad))
for _operation, _name in (
    (clamp_by_numbers, "clamp"),
    (clamp_min_by_number, "clamp_min"),
    (clamp_min_by_tensor, "clamp_min"),
    (clamp_max_by_number, "clamp_max"),
    (clamp_max_by_tensor, "clamp_max"),
):
    _operation.name = _name


def _choose_clamp(input, min, max):
    """The clamp operation for these bounds; errors where they are missing or a tensor and a number."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    bounds = [b for b in (min, max) if b is not None]
    if all(isinstance(b, Tensor) for b in bounds):
        return clamp_by_tensors
    if not all(isinstance(b, NUMBERS) for b in bounds):
        got = ", ".join(argument_type_name(b) for b in (input, min, max))
        raise TypeError(f"clamp() received an invalid combination of arguments - got ({got}), but expected one of:")
    return clamp_by_numbers


def clamp(input, min=None, max=None, *, out=None):
    """input, raised to min and lowered to max; both numbers, or both tensors, and either may be None."""
    operation = _choose_clamp(input, min, max)
    return operation.general(input, min, max, out=out)


def clamp_(self, min=None, max=None):
    return _choose_clamp(self, min, max).inplace(self, min, max)


def _one_sided(name: str, input, bound, by_number, by_tensor):
    if not isinstance(input, Tensor) or not isinstance(bound, (Tensor, *NUMBERS)):
        raise combination_error(name, (input, bound))
    return by_tensor if isinstance(bound, Tensor) else by_number


def clamp_min(input, min, *, out=None):
    """input, raised to min: a number or a tensor."""
    return _one_sided("clamp_min", input, min, clamp_min_by_number, clamp_min_by_tensor).general(input, min, out=out)


def clamp_max(input, max, *, out=None):
    """input, lowered to max: a number or a tensor."""
    return _one_sided("clamp_max", input, max, clamp_max_by_number, clamp_max_by_tensor).general(input, max, out=out)


def clamp_min_(self, min):
    return _one_sided("clamp_min_", self, min, clamp_min_by_number, clamp_min_by_tensor).inplace(self, min)


def clamp_max_(self, max):
    return _one_sided("clamp_max_", self, max, clamp_max_by_number, clamp_max_by_tensor).inplace(self, max)


for _function in (clamp, clamp_, clamp_min, clamp_min_, clamp_max, clamp_max_):
    publish("torch", _function.__name__, _function)
    put_method(_function.__name__, _function)
for _name, _function in (("clip", clamp), ("clip_", clamp_)):
    publish("torch", _name, _function)
    put_method(_name, _function)
clamp_by_tensors.function = clamp
