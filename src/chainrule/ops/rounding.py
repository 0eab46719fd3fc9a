"""Absolute value, signs, rounding, and the parts of a floating-point number."""

import math

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, composite, method, op, pointwise, put_method
from ..core.registry import publish
from ..core.return_types import return_type
from ..core.tensor import Tensor
from .elementwise import by_operands
from .precision import in_single
from .refusal import not_implemented, refuse

__all__ = ["abs", "sign", "sgn", "floor", "round"]


def _zero(xp, grad):
    return xp.zeros_like(grad)


# --- magnitude and sign ---


@op(name="abs", aliases=("absolute",))
def abs(self: Array):
    """The absolute value; real for complex numbers."""
    refuse("abs_cpu", "b", self)
    return np.abs(self)


@abs.derivative(of="self")
def _(xp, grad, self):
    return grad * xp.sgn(self)


@method
def abs_(self):
    """Replace every element by its absolute value; RuntimeError for complex numbers."""
    if self._spec.dtype.is_complex:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return abs.inplace(self)


publish("torch", "abs_", abs_)
put_method("absolute_", abs_)
put_method("__abs__", Tensor.abs)


def _sign(a, out=...):
    if a.dtype.kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
        )
    return a.copy("K") if a.dtype.kind == "b" else vocabulary.sgn(a)


sign = pointwise("sign", _sign, self=_zero)


@op(name="sgn", inplace=True)
def sgn(self: Array):
    """The sign; x / |x| for complex numbers."""
    return self.copy("K") if self.dtype.kind == "b" else vocabulary.sgn(self)


@sgn.derivative(of="self")
def _(xp, grad, self, result):
    if not xp.is_complex(self):
        return xp.zeros_like(grad)
    # d sgn(z) = (dz - sgn(z) * re(conj(sgn(z)) dz)) / |z|
    length = xp.abs(self)
    along = xp.real(xp.conj(grad) * result)
    return xp.where(length == 0, xp.zeros_like(grad), (grad - result * along) / length)


# --- rounding ---


def _rounding(name: str, ufunc, complex_error: str | None = None):
    def call(a, out=...):
        kind = a.dtype.kind
        if kind == "f":
            return ufunc(a, out=out)
        if kind in "iu":
            return a.copy("K")
        if kind == "c" and complex_error:
            raise NotImplementedError(complex_error)
        raise not_implemented(f"{name}_vml_cpu", a)

    return call


floor = pointwise("floor", _rounding("floor", np.floor, "floor is not supported for complex inputs"), self=_zero)
ceil = pointwise("ceil", _rounding("ceil", np.ceil, "ceil is not supported for complex inputs"), self=_zero)
trunc = pointwise(
    "trunc", _rounding("trunc", np.trunc, "trunc is not supported for complex inputs"), self=_zero, aliases=("fix",)
)
round_whole = pointwise(
    "round_whole",
    _rounding("round", np.rint),
    node="RoundBackward0",
    self=_zero,
    method=False,
    inplace=False,
    namespace=None,
)


def _frac(a, out=...):
    refuse("frac_cpu", "biuc", a)
    return np.subtract(a, np.trunc(a), out=out)


frac = pointwise("frac", _frac, self=lambda xp, grad: grad)


@op(node="RoundBackward1", method=False, namespace=None)
def round_decimals(self: Array, decimals):
    """Rounded to the nearest multiple of 10 ** -decimals, ties to even."""
    refuse("round_cpu", "biuc", self)
    wide = self.astype(np.float32) if self.dtype == np.float16 else self
    ten = wide.dtype.type(10.0 ** math.fabs(decimals))
    return (np.rint(wide * ten) / ten if decimals > 0 else np.rint(wide / ten) * ten).astype(self.dtype)


round_decimals.derivative(of="self")(_zero)
round_decimals.name = "round"


@composite
def round(input, *, decimals=0, out=None):
    """Rounded to decimals places, ties to even."""
    if decimals == 0:
        return round_whole.fast(input) if out is None else round_whole.general(input, out=out)
    return round_decimals.general(input, decimals, out=out)


def _round_(self, *, decimals=0):
    return round_whole.inplace(self) if decimals == 0 else round_decimals.inplace(self, decimals)


put_method("round_", _round_)
publish("torch", "round_", _round_)
round_whole.function = round
round_whole.name = "round"
publish("special", "round", round)

# --- the parts of a number ---


@op(promote=("self", "other"), result_kind="float", node="CopysignBackward0", method=False, namespace=None)
def copysign(self: Array, other: Array):
    """The magnitude of input with the sign of other."""
    refuse("copysign_cpu", "c", self)
    return np.copysign(self, other)


@op(promote=("self", "other"), result_kind="float", node="CopysignBackward1", method=False, namespace=None)
def copysign_of_number(self: Array, other: Array):
    refuse("copysign_cpu", "c", self)
    return np.copysign(self, other)


def _copysign_of_self(xp, grad, self, result):
    ratio = result / self
    return xp.where(self == 0, xp.zeros_like(ratio), grad * ratio)


copysign.derivative(of="self")(_copysign_of_self)
copysign.derivative(of="other")(lambda xp, grad: xp.zeros_like(grad))
copysign_of_number.derivative(of="self")(_copysign_of_self)
for _operation in (copysign, copysign_of_number):
    _operation.fast = _operation.general
    _operation.numbers = ("other",)
    _operation.overloaded = True
by_operands("copysign", copysign, copysign_of_number, doc="The magnitude of input with the sign of other.")


def _nextafter(a, b, out=...):
    refuse("nextafter_cpu", "biuc", a)
    return np.nextafter(a, b, out=out)


nextafter = pointwise(
    "nextafter",
    _nextafter,
    numbers=(),
    self=lambda xp, grad, self, other: xp.where(self == other, xp.zeros_like(grad), grad),
    other=lambda xp, grad, self, other: xp.where(self == other, grad, xp.zeros_like(grad)),
)


@op(promote=("self", "other"), result_kind="float", inplace=True)
@in_single
def ldexp(self: Array, other: Array):
    """input * 2 ** other."""
    return self * np.exp2(other)


ldexp.numbers = ()
ldexp.derivative(of="self")(lambda xp, grad, other: grad * xp.conj(xp.exp2(other)))
ldexp.derivative(of="other")(lambda xp, grad, result: grad * xp.conj(result * math.log(2)))


FrexpResult = return_type("frexp", "mantissa exponent")


@op(nondifferentiable_outputs=(1,), method=False, namespace=None)
def frexp(self: Array):
    mantissa, exponent = np.frexp(self)
    return mantissa, exponent.astype(np.int32)


@frexp.derivative(of="self")
def _(xp, grads, result1):
    return grads[0] / xp.exp2(xp.astype(result1, grads[0].dtype))


@composite(name="frexp")
def _frexp_function(input, *, out=None):
    """A mantissa in (-1, -0.5] or [0.5, 1) and an int32 exponent with input = mantissa * 2 ** exponent."""
    if isinstance(input, Tensor) and not input.is_floating_point():
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    return FrexpResult(frexp.general(input, out=out))


def _heaviside(a, b, out=...):
    if a.dtype.kind == "c":
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    return np.where(a == 0, b, (a > 0).astype(a.dtype))


def _heaviside_check(operands) -> None:
    a, b = (o._spec.dtype for o in operands)
    if a.is_complex or b.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if a is not b:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


heaviside = pointwise(
    "heaviside", _heaviside, binary=True, numbers=(), no_derivative="heaviside", check=_heaviside_check
)
heaviside.shown = {"self": "input", "other": "values"}
