"""Exponentials, logarithms, roots, trigonometric and hyperbolic functions, error and gamma functions."""

import functools
import math

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, camel, composite, method, op, pointwise, put_method
from ..core.registry import FUNCTIONS, publish
from ..core.tensor import Tensor
from .elementwise import by_operands
from .precision import HALF, in_single
from .refusal import refuse

__all__ = ["exp", "log", "sqrt", "sigmoid", "tanh", "scipy_ufunc"]


def scipy_ufunc(name: str, kernel: str = ""):
    """A ufunc of scipy.special, imported when it is first called; it takes no complex numbers."""
    kernel = kernel or f"{name}_vml_cpu"

    @functools.cache
    def found():
        import scipy.special

        return getattr(scipy.special, name)

    def call(*arrays, out=...):
        refuse(kernel, "c", arrays[0])
        return np.asarray(found()(*arrays)).astype(arrays[0].dtype, copy=False)

    return call


def _elementary(name, kernel, formula, **options):
    return pointwise(name, kernel, kind="float", self=formula, **options)


# --- exponentials, logarithms, roots ---

exp = _elementary("exp", np.exp, lambda xp, grad, result: grad * xp.conj(result))
exp2 = _elementary("exp2", np.exp2, lambda xp, grad, result: grad * xp.conj(result * math.log(2)))
# Not grad * (result + 1), which is 0 where result rounds to -1.
expm1 = _elementary("expm1", np.expm1, lambda xp, grad, self: grad * xp.conj(xp.exp(self)))
log = _elementary("log", np.log, lambda xp, grad, self: grad / xp.conj(self))
log2 = _elementary("log2", np.log2, lambda xp, grad, self: grad / xp.conj(self * math.log(2)))
log10 = _elementary("log10", np.log10, lambda xp, grad, self: grad / xp.conj(self * math.log(10)))
log1p = _elementary("log1p", np.log1p, lambda xp, grad, self: grad / xp.conj(self + 1))
sqrt = _elementary("sqrt", np.sqrt, lambda xp, grad, result: grad / (2 * xp.conj(result)))

# --- trigonometric and hyperbolic functions ---

sin = _elementary("sin", np.sin, lambda xp, grad, self: grad * xp.conj(xp.cos(self)))
cos = _elementary("cos", np.cos, lambda xp, grad, self: grad * -xp.conj(xp.sin(self)))
tan = _elementary("tan", np.tan, lambda xp, grad, result: grad * xp.conj(1 + result * result))
sinh = _elementary("sinh", np.sinh, lambda xp, grad, self: grad * xp.conj(xp.cosh(self)))
cosh = _elementary("cosh", np.cosh, lambda xp, grad, self: grad * xp.conj(xp.sinh(self)))
tanh = _elementary("tanh", np.tanh, lambda xp, grad, result: grad * xp.conj(1 - result * result))
asin = _elementary(
    "asin", np.arcsin, lambda xp, grad, self: grad / xp.conj(xp.sqrt(1 - self * self)), aliases=("arcsin",)
)
acos = _elementary(
    "acos", np.arccos, lambda xp, grad, self: -grad / xp.conj(xp.sqrt(1 - self * self)), aliases=("arccos",)
)
atan = _elementary("atan", np.arctan, lambda xp, grad, self: grad / xp.conj(self * self + 1), aliases=("arctan",))
asinh = _elementary(
    "asinh", np.arcsinh, lambda xp, grad, self: grad / xp.conj(xp.sqrt(self * self + 1)), aliases=("arcsinh",)
)


def _acosh_root(xp, x):
    """√(x² − 1), on the branch of acosh for complex x."""
    return xp.sqrt(x - 1) * xp.sqrt(x + 1) if xp.is_complex(x) else xp.sqrt((x - 1) * (x + 1) + 0.0)


acosh = _elementary(
    "acosh",
    np.arccosh,
    lambda xp, grad, self: grad / xp.conj(_acosh_root(xp, self)),
    aliases=("arccosh",),
)
atanh = _elementary("atanh", np.arctanh, lambda xp, grad, self: grad / xp.conj(1 - self * self), aliases=("arctanh",))


@in_single
def _sinc(a, out=...):
    angle = np.multiply(a, a.dtype.type(math.pi))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(a == 0, np.ones((), a.dtype), np.sin(angle) / angle)


@in_single
def sinc_slope_array(a, n):
    """The n-th derivative of sinc. With y = πx and f = sin(y) / y, y f⁽ⁿ⁾ + n f⁽ⁿ⁻¹⁾ = sin(y + nπ/2); where y is small that
    cancels, and the power series serves."""
    y = a * math.pi
    near = np.abs(y) < n + 1
    small, large = np.where(near, y, 0), np.where(near, 1, y)
    with np.errstate(all="ignore"):
        value = np.sin(large) / large
        for k in range(1, n + 1):
            value = (np.sin(large + k * (math.pi / 2)) - k * value) / large
    square = small * small
    series = np.zeros_like(y)
    for k in range(2 * n + 14, (n + 1) // 2 - 1, -1):  # the terms are (-1)ᵏ y²ᵏ⁻ⁿ / ((2k - n)! (2k + 1))
        series = series * square + (-1) ** k / (math.factorial(2 * k - n) * (2 * k + 1))
    series = series * small if n % 2 else series
    return (np.where(near, series, value) * math.pi**n).astype(a.dtype)


@op(name="sinc_slope", method=False, namespace=None)
def sinc_slope(self: Array, n: int):
    """The n-th derivative of sinc."""
    return sinc_slope_array(self, n)


sinc_slope.derivative(of="self")(lambda xp, grad, self, n: grad * xp.conj(xp.sinc_slope(self, n + 1)))
sinc = _elementary("sinc", _sinc, lambda xp, grad, self: grad * xp.conj(xp.sinc_slope(self, 1)))
publish("special", "sinc", sinc.function)
_DEGREE = 180.0 / math.pi


def _degrees(name: str, factor: float):
    def kernel(a, out=...):
        if a.dtype.kind == "c":
            raise RuntimeError(f"{name} is not supported for complex tensors.")
        return np.multiply(a, a.dtype.type(factor), out=out)

    return _elementary(name, kernel, lambda xp, grad: grad * factor)


deg2rad = _degrees("deg2rad", 1 / _DEGREE)
rad2deg = _degrees("rad2deg", _DEGREE)


# --- of two operands ---


def _logaddexp(a, b, out=...):
    refuse("logaddexp_cpu", "biu", a)
    if a.dtype.kind != "c":
        return np.logaddexp(a, b, out=out)
    larger = np.where(a.real >= b.real, a, b)
    return np.add(larger, np.log1p(np.exp(np.where(a.real >= b.real, b, a) - larger)), out=out)


def _logaddexp2(a, b, out=...):
    refuse("logaddexp2_cpu", "biuc", a)
    return np.logaddexp2(a, b, out=out)


def _hypot(a, b, out=...):
    refuse("hypot_cpu", "biuc", a)
    return np.hypot(a, b, out=out)


@op(promote=("self", "other"), inplace=True)
def hypot(self: Array, other: Array):
    """The square root of input² + other²."""
    return _hypot(self, other)


hypot.numbers = ()
hypot.derivative(of="self")(lambda xp, grad, self, result: grad * (self / result))
hypot.derivative(of="other")(lambda xp, grad, other, result: grad * (other / result))


def _atan2(a, b):
    refuse("atan2_cpu", "c", a)
    return np.arctan2(a, b)


def _atan2_slope(xp, grad, self, other):
    square = self * self + other * other
    return xp.where(square == 0, xp.zeros_like(square), grad / square)


atan2 = pointwise(
    "atan2",
    np.arctan2,
    checked=_atan2,
    kind="float",
    numbers=(),
    self=lambda xp, grad, self, other: _atan2_slope(xp, grad, self, other) * other,
    other=lambda xp, grad, self, other: _atan2_slope(xp, grad, self, other) * -self,
    aliases=("arctan2",),
)
logaddexp = pointwise(
    "logaddexp",
    _logaddexp,
    numbers=(),
    inplace=False,
    # Not 1 / (1 + exp(…)), whose own derivative is ∞ / ∞ where the exponential overflows.
    self=lambda xp, grad, self, other: grad * xp.conj(xp.sigmoid(self - other)),
    other=lambda xp, grad, self, other: grad * xp.conj(xp.sigmoid(other - self)),
)
_LN2 = math.log(2)
logaddexp2 = pointwise(
    "logaddexp2",
    _logaddexp2,
    numbers=(),
    inplace=False,
    self=lambda xp, grad, self, other: grad * xp.sigmoid((self - other) * _LN2),
    other=lambda xp, grad, self, other: grad * xp.sigmoid((other - self) * _LN2),
)


def _times_log(kernel: str, log):
    """a * log(b), which is 0 where a is 0."""

    @in_single
    def call(a, b, out=...):
        refuse(kernel, "c", a)
        product = a * log(b)
        return np.where((a == 0) & ~np.isnan(b), np.zeros((), product.dtype), product)

    return call


def _slope(xp, self, log, pole):
    """The derivative of self * log by self: 0 where self is 0 and the logarithm has a pole or is not defined."""
    return xp.where(xp.logical_and(self == 0, pole), xp.zeros_like(log), log)


def _declare_times_log(name: str, kernel, of_self, of_other, public: str) -> None:
    """One operation for two tensors and one for either operand a number, as PyTorch's nodes have it."""
    node = camel(name).removesuffix("0")
    hidden: dict = {"kind": "float", "method": False, "inplace": False, "namespace": None}
    both = pointwise(name, kernel, self=of_self, other=of_other, node=node + "0", **hidden)
    of_number = pointwise(name + "_of_number", kernel, other=of_other, node=node + "1", **hidden)
    by_number = pointwise(name + "_by_number", kernel, self=of_self, binary=True, node=node + "2", **hidden)
    for operation in (of_number, by_number):
        operation.fast = operation.general
    by_operands(name, both, by_number, of_number, doc=f"input * {public} of other, 0 where input is 0.")


_declare_times_log(
    "xlogy",
    _times_log("xlogy_cpu", np.log),
    lambda xp, grad, self, other: grad * _slope(xp, self, xp.log(other), other <= 0),
    lambda xp, grad, self, other: grad * self / other,
    "the logarithm",
)
publish("torch", "xlogy_", Tensor.xlogy_)
publish("special", "xlogy", FUNCTIONS["torch"]["xlogy"])

# --- error function, gamma function ---

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
erf = _elementary("erf", scipy_ufunc("erf"), lambda xp, grad, self: _TWO_OVER_ROOT_PI * xp.exp(-(self * self)) * grad)
erfc = _elementary(
    "erfc", scipy_ufunc("erfc"), lambda xp, grad, self: -_TWO_OVER_ROOT_PI * xp.exp(-(self * self)) * grad
)
erfinv = _elementary(
    "erfinv",
    scipy_ufunc("erfinv"),
    lambda xp, grad, self: (1 / _TWO_OVER_ROOT_PI) * xp.exp(xp.power(xp.erfinv(self), 2)) * grad,
)
lgamma = _elementary("lgamma", scipy_ufunc("gammaln", "lgamma_vml_cpu"), lambda xp, grad, self: grad * xp.digamma(self))


def _digamma(a, out=...):
    import scipy.special

    refuse("digamma", "c", a)
    value = np.asarray(scipy.special.digamma(a))
    # At 0 the sign of infinity follows the sign of the zero; at the other poles there is no limit.
    return np.where(a == 0, np.copysign(math.inf, -a), value).astype(a.dtype, copy=False)


digamma = _elementary("digamma", _digamma, lambda xp, grad, self: grad * xp.polygamma(1, self))


def polygamma_array(n: int, a):
    """The n-th derivative of digamma."""
    import scipy.special

    if n == 0:
        return _digamma(a)
    sign = 1 if n % 2 else -1
    # Through the zeta function, which takes float32 in double precision; reflected where the argument is negative.
    wide = a.astype(np.float64)
    value = sign * math.gamma(n + 1) * scipy.special.zeta(n + 1, wide)
    negative = wide < 0
    if negative.any() and n == 1:
        reflected = (math.pi / np.sin(math.pi * wide)) ** 2 - scipy.special.zeta(2, 1 - wide)
        value = np.where(negative, reflected, value)
    return np.asarray(value).astype(a.dtype)


@op(name="polygamma", method=False, namespace=None)
def polygamma_op(self: Array, n):
    return polygamma_array(n, self if self.dtype.kind == "f" else vocabulary.astype(self, np.float32))


polygamma_op.derivative(of="self")(lambda xp, grad, n, self: grad * xp.polygamma(n + 1, self))


@composite(method=False)
def polygamma(n, input, *, out=None):
    """The n-th derivative of the digamma function."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return polygamma_op.general(input, n, out=out)


polygamma_op.function = polygamma


@method
def polygamma_(self, n):
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return polygamma_op.inplace(self, n)


put_method("polygamma", lambda self, n: polygamma(n, self))
for _operation, _name in ((erf, "erf"), (erfc, "erfc"), (erfinv, "erfinv"), (lgamma, "gammaln"), (digamma, "digamma"),
                          (exp2, "exp2"), (expm1, "expm1"), (log1p, "log1p")):  # fmt: skip
    publish("special", _name, _operation.function)
publish("special", "psi", digamma.function)
publish("special", "polygamma", polygamma)

# --- the logistic function ---


def _sigmoid(a, out=...):
    if a.dtype is HALF:
        return _sigmoid(vocabulary.astype(a, np.float32)).astype(HALF)
    out = np.exp(np.negative(a, out=...), out=...)
    np.add(out, 1, out=out)
    return np.reciprocal(out, out=out)


sigmoid = _elementary("sigmoid", _sigmoid, lambda xp, grad, result: grad * xp.conj((1 - result) * result))
publish("special", "expit", sigmoid.function)


@op(name="logit", inplace=True)
@in_single
def logit(self: Array, eps=None):
    """The inverse of the logistic function, log(x / (1 - x)), of x clamped to [eps, 1 - eps] where eps is given."""
    refuse("logit_cpu", "c", self)
    a = self if self.dtype.kind == "f" else vocabulary.astype(self, np.float32)
    if eps is not None:
        a = np.minimum(np.maximum(a, a.dtype.type(eps)), a.dtype.type(1 - eps))
    return np.log(a / (1 - a))


@logit.derivative(of="self")
def _(xp, grad, self, eps):
    low, high = (0, 1) if eps is None else (eps, 1 - eps)
    outside = xp.logical_not(xp.logical_and(self >= low, self <= high))
    inside = xp.where(outside, xp.ones_like(self) / 2, self)  # so that no infinity from outside gets into derivatives
    slope = grad / (inside * (1 - inside) + 0.0)  # + 0: the pole at -0 is that at 0
    return xp.where(outside, xp.zeros_like(slope) if eps is not None else xp.zeros_like(slope) * math.nan, slope)


publish("special", "logit", logit.function)
