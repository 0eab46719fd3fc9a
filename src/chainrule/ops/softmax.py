"""softmax and its logarithm along a dimension."""

import warnings

import numpy as np

from ..core.declare import Array, op, put_method
from ..core.dtype import argument_type_name
from ..core.registry import publish
from ..core.tensor import wrap_dim
from .precision import HALF
from .reduction import MISSING, cast, expect_tensor, into, is_dim
from .refusal import not_implemented

__all__ = ["softmax", "log_softmax", "log_softmax_kernel"]


def _checked(name: str, a, dim: int) -> int:
    axis = wrap_dim(dim, a.ndim)
    if a.dtype.kind != "f" and a.size:
        last = "lastdim_" if axis == max(a.ndim - 1, 0) else ""
        raise not_implemented(f"{name}_{last}kernel_impl", a)
    return axis


def softmax_kernel(a, axis: int):
    if not a.size:
        return a.copy()
    if not a.ndim:
        return np.ones_like(a) if np.isfinite(a) else np.full_like(a, np.nan)
    out = np.subtract(a, np.maximum.reduce(a, axis=axis, keepdims=True), out=..., order="C")
    np.exp(out, out=out)
    return np.divide(out, np.add.reduce(out, axis=axis, keepdims=True), out=out)


def log_softmax_kernel(a, axis: int):
    if not a.size:
        return a.copy()
    if not a.ndim:
        return np.zeros_like(a) if np.isfinite(a) else np.full_like(a, np.nan)
    out = np.subtract(a, np.maximum.reduce(a, axis=axis, keepdims=True), out=..., order="C")
    total = np.add.reduce(np.exp(out), axis=axis, keepdims=True)
    return np.subtract(out, np.log(total, out=total), out=out)


def _in_single(kernel, a, axis: int):
    return kernel(a.astype(np.float32), axis).astype(HALF) if a.dtype is HALF else kernel(a, axis)


@op(name="softmax", method=False, namespace=None)
def softmax_op(self: Array, dim: int, dtype=None):
    a = self if dtype is None else cast(self, dtype)
    return _in_single(softmax_kernel, a, _checked("softmax", a, dim))


@softmax_op.derivative(of="self")
def _(xp, grad, result, dim):
    return xp.softmax_vjp(grad, result, dim) if result.ndim else grad * (result - result * result)


@op(name="log_softmax", method=False, namespace=None)
def log_softmax_op(self: Array, dim: int, dtype=None):
    a = self if dtype is None else cast(self, dtype)
    return _in_single(log_softmax_kernel, a, _checked("log_softmax", a, dim))


@log_softmax_op.derivative(of="self")
def _(xp, grad, result, dim):
    return xp.log_softmax_vjp(grad, result, dim) if result.ndim else grad - grad * xp.exp(result)


def implicit(name: str, input, stacklevel: int) -> int:
    """The dimension that nn.functional chooses where none is named."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if input._spec.ndim in (0, 1, 3) else 1


def _published(operation, doc: str):
    name = operation.name
    single = operation.single

    def function(input, dim=MISSING, dtype=None, *, axis=MISSING, out=None):
        if dim is MISSING:
            dim = axis
        expect_tensor(name, input)
        if dim is MISSING:
            raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
        if not is_dim(dim):
            raise TypeError(f"{name}(): argument 'dim' (position 2) must be int, not {argument_type_name(dim)}")
        result = single(input, dim, dtype)
        return result if out is None else into(name, out, (), result.detach())

    def functional(input, dim=None, _stacklevel=3, dtype=None):
        return function(input, implicit(name, input, _stacklevel) if dim is None else dim, dtype)

    def special(input, dim=MISSING, *, dtype=None):
        if dim is MISSING:
            raise TypeError(f'special_{name}() missing 1 required positional arguments: "dim"')
        return function(input, dim, dtype)

    def internal(input, dim, half_to_float):
        if half_to_float:
            raise RuntimeError("softmax with half to float conversion is not supported on CPU")
        return function(input, dim)

    for made in (function, functional, special):
        made.__name__ = made.__qualname__ = name
        made.__doc__ = doc
    operation.function = function
    put_method(name, function)
    publish("torch", name, function)
    publish("torch", "_" + name, internal)
    publish("special", name, special)
    publish("nn.functional", name, functional)
    return function


softmax = _published(softmax_op, "exp(input) divided by its sum along a dimension.")
log_softmax = _published(log_softmax_op, "The logarithm of softmax along a dimension, computed without overflow.")


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of −input."""
    return softmax(-input, implicit("softmin", input, _stacklevel) if dim is None else dim, dtype)


publish("nn.functional", "softmin", softmin)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Samples of the Gumbel-softmax distribution along a dimension; with `hard` one-hot, differentiated as if they were soft.

    Jang, Gu and Poole, Categorical Reparameterization with Gumbel-Softmax, 2017.
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = -logits.detach().clone().exponential_().log()
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return logits.detach().new_zeros(logits.shape).scatter_(dim, index, 1.0) - soft.detach() + soft


publish("nn.functional", "gumbel_softmax", gumbel_softmax)
