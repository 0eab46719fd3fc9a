"""Running sums, products, logsumexp, maxima and minima along a dimension."""

import numpy as np

from ..core.declare import Array, op, put_method
from ..core.dtype import FLOATING, argument_type_name
from ..core.registry import publish
from ..core.return_types import return_type
from ..core.tensor import wrap_dim
from .extremes import named_results
from .precision import HALF
from .reduction import cast, expect_tensor, into, is_dim

__all__ = ["cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"]


def running(ufunc, a, axis: int):
    """ufunc.accumulate along an axis: integers and bools in int64, half precision in single."""
    if a.dtype is HALF:
        return ufunc.accumulate(a, axis=axis, dtype=np.float32).astype(HALF) if a.ndim else a.copy()
    if a.dtype.kind not in "fc":
        a = a.astype(np.int64)
    return ufunc.accumulate(a, axis=axis) if a.ndim else a.copy()


# --- cumsum ---


@op(name="cumsum", method=False, namespace=None)
def cumsum_op(self: Array, dim: int, dtype=None):
    return running(np.add, self if dtype is None else cast(self, dtype), wrap_dim(dim, self.ndim))


@cumsum_op.derivative(of="self")
def _(xp, grad, dim):
    return reversed_sum(xp, grad, dim)


def reversed_sum(xp, x, dim):
    """The running sum from the end."""
    if not x.ndim:
        return x
    axis = dim % x.ndim
    return xp.flip(xp.cumsum(xp.flip(x, axis), axis), axis)


# --- cumprod ---


@op(name="cumprod", method=False, namespace=None)
def cumprod_op(self: Array, dim: int, dtype=None):
    return running(np.multiply, self if dtype is None else cast(self, dtype), wrap_dim(dim, self.ndim))


@cumprod_op.derivative(of="self")
def _(xp, grad, self, result, dim):
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
    name = operation.name
    single = operation.single

    def check(input, dim, dtype, who=name):
        expect_tensor(name, input)
        if not is_dim(dim):
            raise TypeError(
                f"{who}() received an invalid combination of arguments - got ({argument_type_name(dim)}), but expected one of:"
            )

    def function(input, dim=None, *, dtype=None, axis=None, out=None):
        dim = axis if dim is None and axis is not None else dim
        check(input, dim, dtype)
        if dtype is not None and dtype.category < FLOATING and input.requires_grad:
            raise RuntimeError(f"Autograd not support dtype: {dtype.scalar_name}")
        result = single(input, dim, dtype)
        return result if out is None else into(name, out, (input,), result)

    def function_(input, dim=None, *, dtype=None, axis=None):
        dim = axis if dim is None and axis is not None else dim
        check(input, dim, dtype, name + "_")
        return operation.inplace(input, dim, dtype or input._spec.dtype)

    for suffix, made in (("", function), ("_", function_)):
        made.__name__ = made.__qualname__ = name + suffix
        made.__doc__ = doc
        put_method(name + suffix, made)
    operation.function, operation.inplace_function = function, function_
    publish("torch", name, function)
    return function


cumsum = _cumulative(cumsum_op, "The running sum along a dimension; integers and bools are summed as int64.")
cumprod = _cumulative(cumprod_op, "The running product along a dimension; integers and bools are multiplied as int64.")

# --- logcumsumexp ---


@op(name="logcumsumexp", method=False, namespace=None)
def logcumsumexp_op(self: Array, dim: int):
    axis = wrap_dim(dim, self.ndim)
    if self.dtype.kind not in "fc":
        from ..core.dtype import of

        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{of(self.dtype).scalar_name}'")
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
        most = np.maximum(along[k - 1].real, source[k].real)
        most = np.where(np.isfinite(most), most, 0)
        along[k] = np.log(np.exp(along[k - 1] - most) + np.exp(source[k] - most)) + most
    return out


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


def logcumsumexp(input, dim, *, out=None):
    """The logarithm of the running sum of exponentials along a dimension."""
    expect_tensor("logcumsumexp", input)
    result = logcumsumexp_op.single(input, dim)
    return result if out is None else into("logcumsumexp", out, (input,), result)


logcumsumexp_op.function = logcumsumexp
publish("torch", "logcumsumexp", logcumsumexp)
put_method("logcumsumexp", logcumsumexp)

# --- cummax, cummin ---


def _declare_extreme(name: str, ufunc, reaches):
    def kernel(self: Array, dim: int):
        axis = wrap_dim(dim, self.ndim)
        if self.dtype.kind == "c":
            shown = "ComplexFloat" if self.dtype == np.complex64 else "ComplexDouble"
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{shown}'")
        if not self.ndim:
            return self.copy(), np.zeros((), np.int64)
        values = ufunc.accumulate(self, axis=axis)
        # The index is that of the last element that equals the extreme so far.
        counted = np.arange(self.shape[axis]).reshape((-1,) + (1,) * (self.ndim - axis - 1))
        hit = reaches(self, values)
        return values, np.maximum.accumulate(np.where(hit, counted, 0), axis=axis)

    operation = op(kernel, name=name, nondifferentiable_outputs=(1,), method=False, namespace=None)

    @operation.derivative(of="self")
    def _(xp, grad, self_shape, dim, result1):
        return xp.add_along(grad, result1, dim % len(self_shape) if self_shape else 0, self_shape)

    kind = return_type(name, "values indices")

    def function(input, dim, *, out=None):
        expect_tensor(name, input)
        return named_results(name, kind, operation.general(input, dim), out, (input,))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"The running {'maximum' if name == 'cummax' else 'minimum'} along a dimension, as (values, indices)."
    )
    operation.function = function
    publish("torch", name, function)
    put_method(name, function)
    return function


def _equals(a, extreme):
    return (a == extreme) | ((a != a) & (extreme != extreme))


cummax = _declare_extreme("cummax", np.maximum, _equals)
cummin = _declare_extreme("cummin", np.minimum, _equals)
