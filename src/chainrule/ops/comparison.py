"""Comparisons, logic and bits, elementwise, and the questions about whole tensors: equal, allclose."""

import math

import numpy as np

from ..core.declare import Array, Op, composite, op, pointwise, put_method
from ..core.dtype import argument_type_name
from ..core.tensor import Tensor
from .refusal import not_implemented, only_real, refuse

__all__ = ["eq", "ne", "lt", "le", "gt", "ge"]

eq = pointwise("eq", np.equal, kind="bool", binary=True, numbers=("other",))
ne = pointwise("ne", np.not_equal, kind="bool", binary=True, numbers=("other",), aliases=("not_equal",))
lt = pointwise("lt", only_real("lt_cpu", np.less), kind="bool", binary=True, numbers=("other",), aliases=("less",))
le = pointwise(
    "le", only_real("le_cpu", np.less_equal), kind="bool", binary=True, numbers=("other",), aliases=("less_equal",)
)
gt = pointwise(
    "gt", only_real("gt_cpu", np.greater), kind="bool", binary=True, numbers=("other",), aliases=("greater",)
)
ge = pointwise(
    "ge",
    only_real("ge_cpu", np.greater_equal),
    kind="bool",
    binary=True,
    numbers=("other",),
    aliases=("greater_equal",),
)


def _zeros(xp, grad):
    return xp.zeros_like(grad)


def _declare_inplace(operation: Op) -> None:
    """The in-place method, which PyTorch records: its result is constant, with a gradient of zero."""
    name, hidden = operation.name, {"kind": "bool", "method": False, "inplace": False, "namespace": None}
    with_tensor = pointwise(
        name + "_tensor_", operation.ufunc, node=f"{name.title()}Backward1", self=_zeros, other=_zeros, **hidden
    )
    with_number = pointwise(
        name + "_number_", operation.ufunc, node=f"{name.title()}Backward0", self=_zeros, binary=True, **hidden
    )

    def compare(self, other):
        return (with_tensor if isinstance(other, Tensor) else with_number).inplace(self, other)

    compare.__name__ = compare.__qualname__ = name + "_"
    for inner in (with_tensor, with_number):
        inner.name, inner.overloaded, inner.numbers = name, True, ("other",)
    operation.inplace_function = compare
    put_method(name + "_", compare)


for _operation in (eq, ne, lt, le, gt, ge):
    _operation.overloaded = True
    _declare_inplace(_operation)
for _name, _operation in (("not_equal", ne), ("less", lt), ("less_equal", le), ("greater", gt), ("greater_equal", ge)):
    put_method(_name + "_", _operation.inplace_function)

# --- what a number is ---


def _of_complex_parts(ufunc, together):
    """A question about numbers, asked of both parts of complex ones."""

    def call(a, out=...):
        if a.dtype.kind == "c":
            return together(ufunc(a.real), ufunc(a.imag))
        return ufunc(a, out=out)

    return call


def _is_infinite(name: str, sign: float):
    def call(a, out=...):
        if a.dtype.kind == "c":
            raise RuntimeError(f"{name} does not support complex inputs.")
        return np.equal(a, sign * math.inf, out=out) if a.dtype.kind == "f" else np.zeros(a.shape, bool)

    return call


isnan = pointwise("isnan", np.isnan, kind="bool", inplace=False)
isinf = pointwise("isinf", np.isinf, kind="bool", inplace=False)
isfinite = pointwise("isfinite", np.isfinite, kind="bool", inplace=False)
isposinf = pointwise("isposinf", _is_infinite("isposinf", 1.0), kind="bool", inplace=False)
isneginf = pointwise("isneginf", _is_infinite("isneginf", -1.0), kind="bool", inplace=False)
isreal = pointwise(
    "isreal",
    lambda a, out=...: np.equal(a.imag, 0, out=out) if a.dtype.kind == "c" else np.ones_like(a, bool),
    kind="bool",
    inplace=False,
)


def _signbit(a, out=...):
    if a.dtype.kind == "c":
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return np.signbit(a, out=out) if a.dtype.kind == "f" else np.less(a, np.zeros((), a.dtype), out=out)


signbit = pointwise("signbit", _signbit, kind="bool", inplace=False)

# --- logic ---

logical_and = pointwise("logical_and", np.logical_and, kind="bool", binary=True, numbers=())
logical_or = pointwise("logical_or", np.logical_or, kind="bool", binary=True, numbers=())
logical_xor = pointwise("logical_xor", np.logical_xor, kind="bool", binary=True, numbers=())
logical_not = pointwise("logical_not", np.logical_not, kind="bool")

# --- bits ---


def _bitwise(name: str, ufunc):
    kernel = f"{name}_cpu"

    def call(a, b=None, out=...):
        if a.dtype.kind in "fc":
            raise not_implemented(kernel, a)
        return ufunc(a, out=out) if b is None else ufunc(a, b, out=out)

    return call


def _no_bools(name: str, ufunc):
    def call(a, b, out=...):
        refuse(f"{name}_cpu", "bfc", a)
        return ufunc(a, b, out=out)

    return call


def _shift(name: str, ufunc, fill):
    def call(a, b, out=...):
        if a.dtype.kind in "bfc":
            raise not_implemented(name, a)
        bits = 8 * a.itemsize
        inside = (b >= 0) & (b < bits)
        moved = ufunc(a, np.where(inside, b, 0).astype(a.dtype))
        return np.where(inside, moved, fill(a)).astype(a.dtype)

    return call


bitwise_and = pointwise("bitwise_and", _bitwise("bitwise_and", np.bitwise_and), binary=True)
bitwise_or = pointwise("bitwise_or", _bitwise("bitwise_or", np.bitwise_or), binary=True)
bitwise_xor = pointwise("bitwise_xor", _bitwise("bitwise_xor", np.bitwise_xor), binary=True)
bitwise_not = pointwise("bitwise_not", _bitwise("bitwise_not", np.invert))
bitwise_left_shift = pointwise("bitwise_left_shift", _shift("lshift_cpu", np.left_shift, np.zeros_like), binary=True)
bitwise_right_shift = pointwise(
    "bitwise_right_shift", _shift("rshift_cpu", np.right_shift, lambda a: np.where(a < 0, -1, 0)), binary=True
)
for _operation in (bitwise_and, bitwise_or, bitwise_xor, bitwise_left_shift, bitwise_right_shift):
    _operation.overloaded = True

gcd = pointwise("gcd", _no_bools("gcd", np.gcd), binary=True, numbers=())
lcm = pointwise("lcm", _no_bools("lcm", np.lcm), binary=True, numbers=())

# --- of whole tensors ---


def _equal_dtypes(input, other) -> None:
    if input._spec.dtype is not other._spec.dtype:
        raise RuntimeError(f"{input._spec.dtype.scalar_name} did not match {other._spec.dtype.scalar_name}")


def _check_tensors(name: str, input, other) -> None:
    for i, (shown, value) in enumerate((("input", input), ("other", other))):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}(): argument '{shown}' (position {i + 1}) must be Tensor, not {argument_type_name(value)}"
            )


@op(name="isclose_op", promote=("self", "other"), method=False, namespace=None)
def isclose_op(self: Array, other: Array, rtol, atol, equal_nan):
    same = np.equal(self, other)
    if equal_nan and self.dtype.kind in "fc":
        same |= np.isnan(self) & np.isnan(other)
    if rtol == 0 and atol == 0:
        return same
    if self.dtype.kind in "biu":
        self, other = self.astype(np.float64), other.astype(np.float64)
    allowed = atol + np.abs(rtol * other)
    distance = np.abs(self - other)
    return same | (np.isfinite(distance) & (distance <= allowed))


@composite
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |input - other| <= atol + rtol * |other|, elementwise."""
    _check_tensors("isclose", input, other)
    _equal_dtypes(input, other)
    for shown, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{shown} must be greater than or equal to zero, but got {value}")
    return isclose_op.general(input, other, rtol, atol, equal_nan)


@composite
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) -> bool:
    """Whether all elements are close; see isclose."""
    _check_tensors("allclose", input, other)
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all())


@composite
def equal(input, other) -> bool:
    """Whether two tensors have the same shape and the same elements."""
    _check_tensors("equal", input, other)
    if input._spec.shape != other._spec.shape:
        return False
    return bool(np.equal(input._array, other._array).all())
