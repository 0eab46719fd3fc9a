"""The largest and the smallest: max, min, amax, amin, aminmax, argmax, argmin.

Over all elements (max, min) and for amax and amin elements that are equally large share the gradient; along a
dimension max and min give all of it to the element whose index they return.
"""

from typing import Any

import numpy as np

from ..core.declare import Array, op, put_method
from ..core.dtype import argument_type_name
from ..core.outputs import check_out, refuse_out_gradient, write_out
from ..core.registry import publish
from ..core.return_types import return_type
from ..core.tensor import Tensor, wrap_dim
from .reduction import (
    MISSING,
    combination_error,
    dense,
    dimensions,
    expect_bool,
    expect_dims,
    expect_tensor,
    into,
    is_dim,
    spread,
)
from .selection import maximum, minimum

__all__ = ["along_dimension", "named_results"]

# --- of all elements ---


def check_not_empty(name: str, array, dim) -> None:
    """IndexError or RuntimeError where there is nothing to choose from."""
    if array.size:
        return
    axes = dimensions(dim, array.ndim)
    if axes is None:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
            "'dim' argument."
        )
    for axis, given in zip(axes, dim if isinstance(dim, (tuple, list)) else (dim,)):
        if array.shape[axis] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {given} to have non-zero size.")


def refuse_complex(kernel: str, array) -> None:
    if array.dtype.kind == "c":
        shown = "ComplexFloat" if array.dtype == np.complex64 else "ComplexDouble"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{shown}'")


def share(xp, grad, chosen, axes, keepdims=True):
    """The gradient divided equally among the chosen elements."""
    return xp.select(chosen, grad / xp.sum(xp.astype(chosen, grad.dtype), axes, keepdims))


def _same(xp, x, extreme):
    """Where x is the extreme value, which may be NaN."""
    return xp.logical_or(x == extreme, xp.logical_and(xp.isnan(x), xp.isnan(extreme)))


def _declare_whole(name: str, ufunc, node: str):
    def kernel(self: Array):
        refuse_complex(f"{name}_all", self)
        check_not_empty(name, self, None)
        return ufunc.reduce(self, axis=None)

    operation = op(kernel, name=f"{name}_all", node=node, method=False, namespace=None)
    operation.derivative(of="self")(
        lambda xp, grad, self, result: share(xp, grad, _same(xp, self, result), None, False)
    )
    operation.name = name
    return operation


max_all = _declare_whole("max", np.maximum, "MaxBackward1")
min_all = _declare_whole("min", np.minimum, "MinBackward1")

# --- along one dimension, with indices ---


def along_dimension(name: str, kernel, *, node: str):
    """An operation whose kernel gives (values, indices) along `dim`; the gradient goes to the elements at the indices."""
    operation = op(
        kernel, name=f"{name}_along", node=node, nondifferentiable_outputs=(1,), method=False, namespace=None
    )

    @operation.derivative(of="self")
    def _(xp, grad, self_shape, dim, keepdim, result1):
        axis = dim % len(self_shape) if self_shape else 0
        if not keepdim and self_shape:
            grad, result1 = xp.expand_dims(grad, axis), xp.expand_dims(result1, axis)
        return xp.put_along(grad, result1, axis, self_shape)

    operation.name = name
    return operation


def _declare_along(name: str, choose, node: str):
    def kernel(self: Array, dim: int, keepdim: bool = False):
        axis = wrap_dim(dim, self.ndim)
        check_not_empty(name, self, axis)
        if self.dtype.kind == "c":
            raise RuntimeError(f"{name}(): does not support complex input")
        if not self.ndim:
            return self.copy(), np.zeros((), np.int64)
        places = choose(self, axis=axis, keepdims=True)
        values = np.take_along_axis(self, places, axis)
        if keepdim:
            return values, places
        shape = self.shape[:axis] + self.shape[axis + 1 :]
        return values.reshape(shape), places.reshape(shape)

    return along_dimension(name, kernel, node=node)


max_along = _declare_along("max", np.argmax, "MaxBackward0")
min_along = _declare_along("min", np.argmin, "MinBackward0")


def named_results(name: str, kind, results, out, inputs=()):
    """Results under their names; written into `out`, a pair of tensors, where that is given."""
    if out is None:
        return kind(results)
    refuse_out_gradient(name, inputs, out)
    for target, result in zip(out, results):
        check_out(name + " along a dimension", target, result._spec.dtype)
    for target, result in zip(out, results):
        write_out(target, result._array)
    return kind.written(tuple(out))


def _extreme(name: str, whole, along, pairwise, what: str):
    kind = return_type(name, "values indices")

    def function(input, dim=MISSING, keepdim=False, *, other=None, axis=MISSING, out=None, **wrong):
        if axis is not MISSING:
            dim = axis
        if dim is MISSING and other is None and out is None and not wrong:
            expect_tensor(name, input)
            return whole.single(input)
        if wrong:
            if dim is MISSING:
                raise combination_error(name, (), wrong)
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(wrong))}'")
        if dim is not MISSING and not (isinstance(input, Tensor) and (isinstance(dim, Tensor) or is_dim(dim))):
            raise combination_error(name, (input, dim), {})
        expect_tensor(name, input)
        if isinstance(dim, Tensor) or other is not None:
            return pairwise(input, dim if other is None else other, out=out)
        if dim is MISSING:
            return into(name, out, (input,), whole.single(input))
        if not is_dim(dim):
            raise combination_error(name, (dim,), {})
        expect_bool(name, keepdim)
        return named_results(name, kind, along.general(input, dim, keepdim), out, (input,))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"The {what} element: of all; along `dim` with its index, as (values, indices); of two tensors elementwise."
    )
    whole.function = along.function = function
    publish("torch", name, function)
    put_method(name, function)
    return function


max = _extreme("max", max_all, max_along, maximum, "largest")
min = _extreme("min", min_all, min_along, minimum, "smallest")

# --- amax, amin, aminmax: any dimensions, no indices ---


def _declare_a(name: str, ufunc, kernel_name: str):
    def kernel(self: Array, dim=None, keepdim: Any = False):
        axes = dimensions(dim, self.ndim)
        check_not_empty(name, self, dim)
        if self.size:
            refuse_complex(kernel_name, self)
        return dense(ufunc.reduce(self, axis=axes, keepdims=keepdim))

    operation = op(kernel, name=name, method=False, namespace=None)

    @operation.derivative(of="self")
    def _(xp, grad, self, result, dim, keepdim):
        shape = self.shape
        grad, result = spread(xp, grad, dim, keepdim, shape), spread(xp, result, dim, keepdim, shape)
        axes = dimensions(dim, len(shape))
        return share(xp, grad, _same(xp, self, result), axes, axes is not None)

    def function(input, dim=(), keepdim=False, *, axis=None, out=None):
        expect_tensor(name, input)
        dim = axis if axis is not None else dim
        expect_dims(name, dim)
        expect_bool(name, keepdim)
        result = operation.single(input, dim, keepdim)
        return result if out is None else into(name, out, (input,), result)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The {'largest' if name == 'amax' else 'smallest'} element along dimensions, or of all."
    operation.function = function
    publish("torch", name, function)
    put_method(name, function)
    return operation


amax = _declare_a("amax", np.maximum, "max_values_cpu")
amin = _declare_a("amin", np.minimum, "min_values_cpu")


@op(name="aminmax", method=False, namespace=None)
def aminmax_op(self: Array, dim=None, keepdim: Any = False):
    refuse_complex("aminmax_cpu", self)
    if dim is None and not self.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    if dim is not None:
        check_not_empty("aminmax", self, wrap_dim(dim, self.ndim))
    axes = dimensions(dim, self.ndim)
    return (
        np.asarray(np.minimum.reduce(self, axis=axes, keepdims=keepdim)),
        np.asarray(np.maximum.reduce(self, axis=axes, keepdims=keepdim)),
    )


@aminmax_op.derivative(of="self")
def _(xp, grads, self, result0, result1, dim, keepdim):
    shape = self.shape
    axes = dimensions(dim, len(shape))
    total = 0
    for grad, extreme in zip(grads, (result0, result1)):
        grad, extreme = spread(xp, grad, dim, keepdim, shape), spread(xp, extreme, dim, keepdim, shape)
        total = share(xp, grad, _same(xp, self, extreme), axes, axes is not None) + total
    return total


AMINMAX = return_type("aminmax", "min max")


def aminmax(input, *, dim=None, keepdim=False, axis=None, out=None):
    """The smallest and the largest element, as (min, max): of all, or along one dimension."""
    expect_tensor("aminmax", input)
    dim = axis if dim is None else dim
    if dim is not None and not is_dim(dim):
        raise TypeError(f"aminmax(): argument 'dim' must be int, not {argument_type_name(dim)}")
    return named_results("aminmax", AMINMAX, aminmax_op.general(input, dim, keepdim), out, (input,))


aminmax_op.function = aminmax
publish("torch", "aminmax", aminmax)
put_method("aminmax", aminmax)

# --- argmax, argmin ---


def _declare_arg(name: str, choose):
    def kernel(self: Array, dim=None, keepdim: bool = False):
        for kind, shown in (("b", "bool"), ("c", "complex")):
            if self.dtype.kind == kind:
                raise RuntimeError(f"{name}(): does not support {shown} input")
        if dim is None:
            if not self.size:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
            place = np.asarray(choose(self), np.int64)
            return place.reshape((1,) * self.ndim) if keepdim else place
        axis = wrap_dim(dim, self.ndim)
        check_not_empty(name, self, axis)
        return choose(self, axis=axis, keepdims=keepdim) if self.ndim else np.zeros((), np.int64)

    operation = op(kernel, name=name, method=False, namespace=None)

    def function(input, dim=None, keepdim=False, *, axis=None, out=None):
        expect_tensor(name, input)
        dim = axis if dim is None else dim
        if dim is not None and not is_dim(dim):
            raise TypeError(f"{name}(): argument 'dim' (position 1) must be int, not {argument_type_name(dim)}")
        expect_bool(name, keepdim)
        result = operation.single(input, dim, keepdim)
        return result if out is None else into(name, out, (input,), result)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"The index of the {'largest' if name == 'argmax' else 'smallest'} element: along a dimension, or of all counted in "
        "a row; of several the first."
    )
    operation.function = function
    publish("torch", name, function)
    put_method(name, function)
    return operation


argmax = _declare_arg("argmax", np.argmax)
argmin = _declare_arg("argmin", np.argmin)
