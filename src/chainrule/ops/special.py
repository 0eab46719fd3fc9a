"""Special functions on SciPy's ufuncs: Bessel, Airy, incomplete gamma, zeta and normal distribution functions.

Derivatives are those of the Digital Library of Mathematical Functions (DLMF), whose equations the comments name. What
PyTorch does not differentiate gives a result without history here as well, or raises what PyTorch raises.
"""

import functools
import math

import numpy as np

from ..core.declare import Array, camel, op, pointwise, put_method
from ..core.dtype import bool_, get_default_dtype
from ..core.outputs import CAST, check_out, refuse_out_gradient, write_out
from ..core.registry import publish
from .elementary import erf, scipy_ufunc
from .precision import HALF, in_single
from .refusal import not_implemented, refuse
from .scaling import scale
from .signature import checked, public

__all__ = ["i0", "igamma", "igammac", "mvlgamma"]

_HIDDEN: dict = {"method": False, "inplace": False, "namespace": None}


def refused_half(kernel: str, function):
    """A kernel for single and double precision alone; function works elementwise on arrays of these."""

    def call(*arrays, out=...):
        if arrays[0].dtype.kind != "f" or arrays[0].dtype.itemsize == 2:
            raise not_implemented(kernel, arrays[0])
        return np.asarray(function(*arrays)).astype(arrays[0].dtype, copy=False)

    return call


def check_half(kernel: str):
    """A check for operations that take no half precision, which a number would turn into single precision."""

    def check(operands) -> None:
        dtypes = [o._array for o in operands if hasattr(o, "_spec")]
        if any(a.dtype is HALF for a in dtypes) and all(a.dtype is HALF or a.dtype.kind in "biu" for a in dtypes):
            raise not_implemented(kernel, np.empty(0, HALF))

    return check


def late(name: str):
    """A ufunc of scipy.special, imported when it is first called."""

    @functools.cache
    def found():
        import scipy.special

        return getattr(scipy.special, name)

    return lambda *arrays: found()(*arrays)


def _special(name: str, kernel, formula, **options):
    """A differentiable function torch.special.<name> of one tensor."""
    operation = pointwise(f"special_{name}", kernel, kind="float", self=formula, **_HIDDEN, **options)
    publish("special", name, operation.function)
    return operation


# --- modified Bessel functions of the first kind ---


def _undefined_at_infinity(kernel):
    """The kernel with NaN at both infinities, as PyTorch has it."""

    def call(a, out=...):
        result = kernel(a)
        return np.where(np.isinf(a), a.dtype.type(np.nan), result)

    return call


def _bessel(n: int, scaled: bool, a):
    import scipy.special

    known = {(0, False): "i0", (1, False): "i1", (0, True): "i0e", (1, True): "i1e"}.get((abs(n), scaled))
    if known is not None:
        return getattr(scipy.special, known)(a)
    order = abs(n)
    result = (scipy.special.ive if scaled else scipy.special.iv)(order, a)
    far = (
        np.abs(a) > 1e5 * order * order
    )  # there SciPy gives up, and DLMF 10.29.1, I_{n+1} = I_{n-1} - 2n/x I_n, is stable
    if far.any():
        x = np.where(far, a, 1)
        before, now = _bessel(0, scaled, x), _bessel(1, scaled, x)
        for k in range(1, order):
            before, now = now, before - 2 * k / x * now
        result = np.where(far, now, result)
    return result


@op(name="bessel_i", **{k: v for k, v in _HIDDEN.items() if k != "inplace"})
def bessel_i(n, self: Array, scaled: bool):
    """The modified Bessel function of the first kind of integer order n; scaled by exp(-|x|)."""
    return np.asarray(_bessel(n, scaled, self)).astype(self.dtype, copy=False)


@bessel_i.derivative(of="self")
def _(xp, grad, n, self, scaled):
    # DLMF 10.29.1: 2 I'_n = I_{n-1} + I_{n+1}. Unlike I_n' = I_{n-1} - n I_n / x it holds at 0 as well.
    slope = (xp.bessel_i(n - 1, self, scaled) + xp.bessel_i(n + 1, self, scaled)) / 2
    return grad * (slope - xp.sgn(self) * xp.bessel_i(n, self, scaled) if scaled else slope)


i0 = pointwise(
    "i0",
    _undefined_at_infinity(scipy_ufunc("i0")),
    kind="float",
    self=lambda xp, grad, self: grad * xp.bessel_i(1, self, False),
)
publish("special", "i0", i0.function)
publish("torch", "i0_", i0.inplace_function)
_special(
    "i0e",
    scipy_ufunc("i0e", "i0e_cpu"),
    lambda xp, grad, self: grad * (xp.bessel_i(1, self, True) - xp.sgn(self) * xp.bessel_i(0, self, True)),
)
_special(
    "i1",
    _undefined_at_infinity(scipy_ufunc("i1", "i1_cpu")),
    lambda xp, grad, self: grad * ((xp.bessel_i(0, self, False) + xp.bessel_i(2, self, False)) / 2),
)
_special(
    "i1e",
    scipy_ufunc("i1e", "i1e_cpu"),
    lambda xp, grad, self: (
        grad
        * ((xp.bessel_i(0, self, True) + xp.bessel_i(2, self, True)) / 2 - xp.sgn(self) * xp.bessel_i(1, self, True))
    ),
)

# --- error functions, the normal distribution, entropy ---


@in_single
def _entr(a, out=...):
    refuse("entr_cpu", "c", a)
    return np.where(a > 0, -a * np.log(np.where(a > 0, a, 1)), np.where(a == 0, 0, np.where(a < 0, -np.inf, a))).astype(
        a.dtype, copy=False
    )


_special("entr", _entr, lambda xp, grad, self: grad * (-1 - xp.log(self)))
# DLMF 7.2.2 for the derivative of erfc(x), times exp(x²).
erfcx = _special(
    "erfcx",
    refused_half("erfcx_cpu", late("erfcx")),
    lambda xp, grad, self: grad * (2 * self * xp.erfcx(self) - 2 / math.sqrt(math.pi)),
)
_special(
    "log_ndtr",
    refused_half("log_ndtr_cpu", late("log_ndtr")),
    # φ(x) / Φ(x) without exp(-x²/2), which would vanish.
    lambda xp, grad, self: grad * (math.sqrt(2 / math.pi) / xp.erfcx(self * -math.sqrt(0.5))),
)
_special(
    "ndtri",
    refused_half("ndtri_cpu", late("ndtri")),
    lambda xp, grad, result: grad * (math.sqrt(2 * math.pi) * xp.exp(result * result / 2)),
)


def _ndtr(input, *, out=None):
    """The distribution function of the standard normal distribution."""
    if not input._spec.inexact:
        input = input.to(get_default_dtype())
    result = scale(erf.fast(scale(input, math.sqrt(0.5))).add(1), 0.5)
    if out is None:
        return result
    refuse_out_gradient("special_ndtr", (input,), (out,))
    check_out("special_ndtr", out, result._spec.dtype, CAST)
    write_out(out, result._array)
    return out


publish("special", "ndtr", checked("special_ndtr", ("Tensor input, *, Tensor out=None",), _ndtr))

# --- incomplete gamma functions ---


def _refused(name: str):
    def formula(xp, grad):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return formula


@in_single
def _gammainc(a, x, out=...):
    refuse("igamma_cpu", "cbiu", a)
    return late("gammainc")(a, x)


@in_single
def _gammaincc(a, x, out=...):
    refuse("igammac_cpu", "cbiu", a)
    return late("gammaincc")(a, x)


def _density(xp, grad, self, other):
    # DLMF 8.8.13 over Γ(a), DLMF 8.2.4: x^(a-1) exp(-x) / Γ(a).
    power = (self - 1) * xp.log(other)
    return grad * xp.exp(xp.where(self == 1, xp.zeros_like(power), power) - other - xp.lgamma(self))


igamma = pointwise(
    "igamma", _gammainc, numbers=(), self=_refused("igamma: input"),
    other=lambda xp, grad, self, other: _density(xp, grad, self, other),
)  # fmt: skip
igammac = pointwise(
    "igammac", _gammaincc, numbers=(), self=_refused("igammac: input"),
    other=lambda xp, grad, self, other: -_density(xp, grad, self, other),
)  # fmt: skip
for _name, _operation in (("gammainc", igamma), ("gammaincc", igammac)):
    publish(
        "special",
        _name,
        checked(f"special_{_name}", ("Tensor input, Tensor other, *, Tensor out=None",), _operation.function),
    )


@op(name="mvlgamma", method=False, namespace=None)
@in_single
def mvlgamma_op(self: Array, p: int):
    import scipy.special

    refuse("arange_cpu", "c", self)
    a = self if self.dtype.kind == "f" else self.astype(np.float32)
    steps = (np.arange(p) * -0.5).astype(a.dtype)
    total = np.add.reduce(scipy.special.gammaln(a[..., None] + steps), axis=-1)
    return (total + p * (p - 1) / 4 * math.log(math.pi)).astype(a.dtype)


@mvlgamma_op.derivative(of="self")
def _(xp, grad, self, p):
    slope = xp.digamma(self)
    for k in range(1, p):
        slope = slope + xp.digamma(self - 0.5 * k)
    return grad * slope


def _check_mvlgamma(input, p) -> None:
    if input._spec.dtype is bool_:
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")


def _mvlgamma(input, p, *, out=None):
    """The logarithm of the multivariate gamma function of dimension p."""
    _check_mvlgamma(input, p)
    if out is not None:
        return mvlgamma_op.general(input, int(p), out=out)
    return mvlgamma_op.single(input, int(p))


_P = "Tensor input, int p, *, Tensor out=None"
mvlgamma = public("mvlgamma", _P)(_mvlgamma)
mvlgamma_op.function = mvlgamma
publish("special", "multigammaln", checked("special_multigammaln", (_P,), _mvlgamma))


def _mvlgamma_(self, p):
    if not self._spec.inexact and self._spec.dtype is not bool_:
        name = self._spec.dtype.scalar_name
        raise RuntimeError(f"mvlgamma: result type {name} can't be cast to the desired output type Float")
    _check_mvlgamma(self, p)
    return mvlgamma_op.inplace(self, int(p))


put_method("mvlgamma_", checked("mvlgamma_", (_P,), _mvlgamma_, method=True))

# --- of two operands, either of which may be a number ---

_WAYS = (
    "Tensor input, Tensor other, *, Tensor out=None",
    "Number self, Tensor other, *, Tensor out=None",
    "Tensor input, Number other, *, Tensor out=None",
)


def by_three_ways(name: str, kernel, of_self, of_other, check=None) -> None:
    """torch.special.<name> of two tensors or of a tensor and a number, with the node that PyTorch has for each."""
    options: dict = {"kind": "float", **_HIDDEN}
    node = camel(f"special_{name}").removesuffix("0")
    both = pointwise(f"special_{name}", kernel, self=of_self, other=of_other, node=node + "0", **options)
    of_number = pointwise(f"special_{name}_of_number", kernel, other=of_other, node=node + "1", **options)
    by_number = pointwise(f"special_{name}_by_number", kernel, self=of_self, binary=True, node=node + "2", **options)
    of_number.name = by_number.name = both.name
    if check is not None:
        both.check = of_number.check = by_number.check = check

    def function(input=None, other=None, *, self=None, out=None):
        input = self if input is None else input
        operation = both
        if not hasattr(other, "_spec"):
            operation = by_number
        elif not hasattr(input, "_spec"):
            operation = of_number
        return operation.general(input, other, out=out)

    function.__doc__ = f"The special function {name} of two tensors that broadcast, or of a tensor and a number."
    both.function = checked(f"special_{name}", _WAYS, function)
    publish("special", name, both.function)


by_three_ways(
    "zeta",
    refused_half("zeta_cpu", late("zeta")),
    _refused("zeta"),
    # DLMF 25.11.17: the derivative by the second argument.
    lambda xp, grad, self, other: grad * -self * xp.zeta(self + 1, other),
    check_half("zeta_cpu"),
)


def _log1p_or_zero(xp, self, other):
    """log1p(other), and 0 where self is 0 and the logarithm has a pole or is not defined."""
    log = xp.log1p(other)
    return xp.where(xp.logical_and(self == 0, other <= -1), xp.zeros_like(log), log)


@in_single
def _xlog1py(a, b, out=...):
    refuse("xlog1py_cpu", "c", a)
    product = a * np.log1p(b)
    return np.where((a == 0) & ~np.isnan(b), np.zeros((), product.dtype), product)


by_three_ways(
    "xlog1py",
    _xlog1py,
    lambda xp, grad, self, other: grad * _log1p_or_zero(xp, self, other),
    lambda xp, grad, self, other: grad * self / (other + 1),
)

# --- without derivative in PyTorch ---


def undifferentiated(name: str, function) -> None:
    """torch.special.<name> of one tensor; its result has no history."""
    kernel = refused_half(f"{name}_cpu", function)

    def call(self: Array):
        return kernel(self)

    operation = op(call, name=f"special_{name}", promote=("self",), result_kind="float", method=False, namespace=None)
    operation.numbers = ()
    first = "x" if name.startswith(("airy", "scaled", "spherical")) else "input"

    def public_function(input, *, out=None):
        return operation.general(input, out=out)

    public_function.__doc__ = f"The special function {name}; it has no derivative in PyTorch."
    names = (f"Tensor {first}, *, Tensor out=None",)
    if first == "x":
        public_function = _renamed(public_function)
    operation.function = checked(f"special_{name}", names, public_function)
    publish("special", name, operation.function)


def _renamed(function):
    def call(x, *, out=None):
        return function(x, out=out)

    call.__doc__ = function.__doc__
    return call


def _spherical_j0(a):
    import scipy.special

    result = scipy.special.spherical_jn(0, a)
    return np.where(np.isinf(a), np.zeros((), a.dtype), result)


for _name, _scipy in (
    ("bessel_j0", "j0"),
    ("bessel_j1", "j1"),
    ("bessel_y0", "y0"),
    ("bessel_y1", "y1"),
    ("modified_bessel_i0", "i0"),
    ("modified_bessel_i1", "i1"),
    ("modified_bessel_k0", "k0"),
    ("modified_bessel_k1", "k1"),
    ("scaled_modified_bessel_k0", "k0e"),
    ("scaled_modified_bessel_k1", "k1e"),
):
    undifferentiated(_name, late(_scipy))
undifferentiated("airy_ai", lambda a: np.where((a > 1e3) & (a < np.inf), np.zeros((), a.dtype), late("airy")(a)[0]))
undifferentiated("spherical_bessel_j0", _spherical_j0)
