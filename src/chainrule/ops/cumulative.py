"""Running sums, products, logsumexp, maxima and minima along a dimension."""

import numpy as np

from ..core.declare import Array, op, put_method
from ..core.dtype import FLOATING, bool_, complex128, float64, int64
from ..core.outputs import refuse_out_gradient
from ..core.return_types import return_type
from ..core.tensor import wrap_dim
from .picking import show_saved
from .precision import HALF
from .reduction import cast, into
from .refusal import not_implemented, refuse
from .signature import checked, public
from .sorting import pair

__all__ = ["cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"]


def running(ufunc, a, axis: int, dtype=None):
    """ufunc.accumulate along an axis, half precision in single; integers and bools in int64 where no dtype is asked for."""
    if dtype is not None:
        if dtype is bool_ and a.ndim and a.size:
            raise NotImplementedError(f"\"{_KERNELS[ufunc]}\" not implemented for 'Bool'")
        a = cast(a, dtype)
    elif a.dtype.kind not in "fc":
        a = a.astype(np.int64)
    if not a.ndim:
        return a.copy()
    if a.dtype is HALF:
        return ufunc.accumulate(a, axis=axis, dtype=np.float32).astype(HALF)
    return ufunc.accumulate(a, axis=axis, dtype=a.dtype)


_KERNELS = {np.add: "cumsum_out_cpu", np.multiply: "cumprod_out_cpu"}

# --- cumsum ---


@op(name="cumsum", method=False, namespace=None)
def cumsum_op(self: Array, dim: int, dtype=None):
    return running(np.add, self, wrap_dim(dim, self.ndim), dtype)


@cumsum_op.derivative(of="self")
def _(xp, grad, dim, self_dtype):
    return reversed_sum(xp, xp.astype(grad, self_dtype), dim)


def reversed_sum(xp, x, dim):
    """The running sum from the end."""
    return xp.cumsum_back(x, dim % x.ndim) if x.ndim else x


# --- cumprod ---


@op(name="cumprod", method=False, namespace=None)
def cumprod_op(self: Array, dim: int, dtype=None):
    return running(np.multiply, self, wrap_dim(dim, self.ndim), dtype)


@cumprod_op.derivative(of="self")
def _(xp, grad, self, result, dim):
    grad = xp.astype(grad, self.dtype)
    if not self.ndim:
        return grad
    axis = dim % self.ndim
    if not xp.any_zero(self):
        return reversed_sum(xp, grad * xp.conj(result), axis) / xp.conj(self)
    return _cumprod_slope(xp, grad, self, axis)


def _cumprod_slope(xp, grad, x, axis: int):
    """The vjp where elements are 0, without division: element k gets what comes before it times
    Σ_{j ≥ k} grad_j · Π_{k < i ≤ j} x_i."""
    n = x.shape[axis]
    x = xp.conj(x)
    ones = xp.ones_like(xp.narrow(x, axis, 0, 1))
    before = xp.concatenate([ones, xp.cumprod(xp.narrow(x, axis, 0, n - 1), axis)], axis)
    return before * recursion_from_end(xp, xp.narrow(x, axis, 1, n - 1), grad, axis)


def recursion_from_end(xp, factors, x, axis: int):
    """c with c_k = x_k + factors_k · c_{k+1}, in log2(n) steps that each double how far an element reaches."""
    n = x.shape[axis]
    step = 1
    while step < n:
        reach = n - step
        moved = factors * xp.narrow(x, axis, step, reach)
        x = xp.concatenate([xp.narrow(x, axis, 0, reach) + moved, xp.narrow(x, axis, reach, step)], axis)
        if 2 * step < n:
            factors = xp.narrow(factors, axis, 0, n - 2 * step) * xp.narrow(factors, axis, step, n - 2 * step)
        step *= 2
    return x


def _cumulative(operation, doc: str):
    """The function `name(input, dim, *, dtype=None, out=None)`, its method and its in-place twin."""
    name, single = operation.name, operation.single

    def function(input, dim, *, dtype=None, out=None):
        dtype = read_dtype(dtype)
        if out is not None and dtype is None:
            dtype = out._spec.dtype
        result = single(input, int(dim), dtype)
        if dtype is not None and dtype.category < FLOATING and input.requires_grad:
            raise RuntimeError(f"Autograd not support dtype: {dtype.scalar_name}")
        return result if out is None else into(name, out, (input,), result)

    def function_(input, dim, *, dtype=None):
        return operation.inplace(input, int(dim), read_dtype(dtype) or input._spec.dtype)

    function.__doc__ = function_.__doc__ = doc
    put_method(
        name + "_", checked(name + "_", ("Tensor input, int dim, *, dtype? dtype=None",), function_, method=True)
    )
    operation.function = public(name, "Tensor input, int dim, *, dtype? dtype=None, Tensor out=None")(function)
    return operation.function


def read_dtype(value):
    """A dtype given as such, or as float, int, bool or complex."""
    return DTYPES_OF_TYPES.get(value, value) if value.__class__ is type else value


DTYPES_OF_TYPES = {float: float64, int: int64, bool: bool_, complex: complex128}

cumsum = _cumulative(cumsum_op, "The running sum along a dimension; integers and bools are summed as int64.")
cumprod = _cumulative(cumprod_op, "The running product along a dimension; integers and bools are multiplied as int64.")

# --- logcumsumexp ---


@op(name="logcumsumexp", method=False, namespace=None)
def logcumsumexp_op(self: Array, dim: int):
    axis = wrap_dim(dim, self.ndim)
    if self.dtype.kind not in "fc":
        raise not_implemented("logcumsumexp_out_cpu", self)
    if not self.ndim:
        return self.copy()
    if self.dtype is HALF:
        return _logcumsumexp(self.astype(np.float32), axis).astype(HALF)
    return _logcumsumexp(self, axis)


def _logcumsumexp(a, axis: int):
    if a.dtype.kind == "f":
        return np.logaddexp.accumulate(a, axis=axis)
    out = np.array(a)
    along, source = np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0)
    for k in range(1, len(along)):  # one step along the dimension at a time, over all others at once
        along[k] = _logaddexp(along[k - 1], source[k])
    return out


def _logaddexp(x, y):
    """log(exp(x) + exp(y)) of complex numbers; the imaginary part goes on from that of the larger one, as PyTorch's."""
    larger, smaller = np.where(x.real >= y.real, x, y), np.where(x.real >= y.real, y, x)
    with np.errstate(all="ignore"):
        found = larger + np.log1p(np.exp(smaller - larger))
        equal = np.isinf(larger.real) & (larger.real == smaller.real)
        found = np.where(equal, np.where(larger.real < 0, smaller, np.log(np.exp(larger) + np.exp(smaller))), found)
    return np.where(np.isnan(x) | np.isnan(y), complex(np.nan, np.nan), found)


@logcumsumexp_op.derivative(of="self")
def _(xp, grad, self, result, dim):
    # Element k gets Σ_{j ≥ k} grad_j · exp(x_k − r_j). Step by step from the end no exponent is above 0.
    if not self.ndim:
        return grad
    axis = dim % self.ndim
    n = self.shape[axis]
    if not n:
        return grad
    fall = _exp_of_difference(xp, xp.narrow(result, axis, 0, n - 1), xp.narrow(result, axis, 1, n - 1))
    collected = recursion_from_end(xp, xp.conj(fall), grad, axis)
    return xp.conj(_exp_of_difference(xp, self, result)) * collected


def _exp_of_difference(xp, x, y):
    """exp(x − y), and 1 where both are the same infinity."""
    same = x == y
    return xp.exp(xp.where(same, xp.zeros_like(x), x - y))


@public("logcumsumexp", "Tensor input, int dim, *, Tensor out=None")
def logcumsumexp(input, dim, *, out=None):
    """The logarithm of the running sum of exponentials along a dimension."""
    result = logcumsumexp_op.single(input, int(dim))
    if out is not None:
        refuse_out_gradient("logcumsumexp", (input,), (out,))
        _expect(out, result, input)
    return result if out is None else into("logcumsumexp", out, (input,), result)


logcumsumexp_op.function = logcumsumexp

# --- cummax, cummin ---


def _declare_extreme(name: str, ufunc):
    def kernel(self: Array, dim: int):
        if not self.ndim and dim not in (0, -1):
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        axis = wrap_dim(dim, self.ndim)
        if not self.ndim:
            return self.copy(), np.zeros((), np.int64)
        if self.size:
            refuse(f"{name}_cpu", "c", self)
        self = np.array(self, order="C", copy=None)
        values = ufunc.accumulate(self, axis=axis)
        # The index is that of the last element that equals the extreme so far.
        hit = self == values
        if self.dtype.kind == "f":
            final = values[(slice(None),) * axis + (slice(-1, None),)]
            if np.logical_or.reduce(final != final, axis=None):
                hit |= self != self
        counted = np.arange(self.shape[axis]).reshape((-1,) + (1,) * (self.ndim - axis - 1))
        places = np.multiply(hit, counted)
        return values, np.maximum.accumulate(places, axis=axis, out=places)

    operation = op(kernel, name=name, nondifferentiable_outputs=(1,), method=False, namespace=None)

    @operation.derivative(of="self")
    def _(xp, grad, self_shape, dim, result1):
        return xp.add_along(grad, result1, dim % len(self_shape) if self_shape else 0, self_shape)

    show_saved(operation, result1="indices")
    kind = return_type(name, "values indices")

    def function(input, dim, *, out=None):
        if out is not None:
            refuse_out_gradient(name, (input,), out)
        return pair(name, kind, operation.single(input, int(dim)), out, (input,), _expect)

    function.__doc__ = (
        f"The running {'maximum' if name == 'cummax' else 'minimum'} along a dimension, as (values, indices)."
    )
    operation.function = public(name, "Tensor input, int dim, *, Tensors out=None")(function)
    return operation.function


def _expect(target, result, input) -> None:
    wanted, found = result._spec.dtype, target._spec.dtype
    if wanted is not found:
        raise RuntimeError(f"expected scalar_type {wanted.scalar_name} but found {found.scalar_name}")


cummax = _declare_extreme("cummax", np.maximum)
cummin = _declare_extreme("cummin", np.minimum)
