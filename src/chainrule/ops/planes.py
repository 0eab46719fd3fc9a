"""The functions of core/axes.py as operations, so that derivatives made of them have derivatives; shapes of images."""

import functools
from types import SimpleNamespace as Settings

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, op
from ..core.dtype import argument_type_name
from ..core.layout import channels_last, channels_last_3d, is_laid_out
from ..core.saved import read_saved
from ..core.tensor import Tensor, strides_of
from .shape import as_ints, expect_tensor

__all__ = ["map_axes", "map_axes_vjp", "gather_planes", "scatter_planes", "Settings", "settled",
           "show_settings", "laid_out", "sizes_of", "number_each", "expect_tensor"]  # fmt: skip


@op(method=False, namespace=None)
def map_axes(self: Array, maps, divisor):
    """A linear map along each of the last dimensions, then divided."""
    return vocabulary.map_axes(self, maps, divisor)


@op(method=False, namespace=None)
def map_axes_vjp(self: Array, maps, divisor):
    """The transpose of `map_axes`."""
    return vocabulary.map_axes_vjp(self, maps, divisor)


@op(method=False, namespace=None, frees=("places",))
def gather_planes(self: Array, places, dims: int):
    """The elements at `places` of the planes that the last dimensions span."""
    return vocabulary.gather_planes(self, places, dims)


@op(method=False, namespace=None, frees=("places",))
def scatter_planes(self: Array, places, sizes, distinct: bool):
    """Zeros with the elements added at `places` of their planes."""
    return vocabulary.scatter_planes(self, places, sizes, distinct)


map_axes.derivative(of="self")(lambda xp, grad, maps, divisor: xp.map_axes_vjp(grad, maps, divisor))
map_axes_vjp.derivative(of="self")(lambda xp, grad, maps, divisor: xp.map_axes(grad, maps, divisor))


@gather_planes.derivative(of="self")
def _(xp, grad, self_shape, places, dims):
    return xp.scatter_planes(grad, places, tuple(self_shape[len(self_shape) - dims :]), False)


@scatter_planes.derivative(of="self")
def _(xp, grad, places, sizes):
    return xp.gather_planes(grad, places, len(sizes))


# --- settings: what follows from shapes and attributes, worked out once ---


def settled(function, *arguments):
    """`function` of arguments that it keeps its results for; lists among them are given as tuples."""
    try:
        return function(*arguments)
    except TypeError:
        if not any(a.__class__ is list for a in arguments):
            raise
    return function(*[tuple(a) if a.__class__ is list else a for a in arguments])


def show_settings(operation, *names: str) -> None:
    """Let the nodes of an operation show the attributes in its `settings` as what they save."""

    def read(name, node):
        return getattr(read_saved("settings", node), name)

    del operation.node_type._saved_settings
    for name in names:
        setattr(operation.node_type, "_saved_" + name, property(functools.partial(read, name)))


# --- layout and arguments ---


def laid_out(out, *models):
    """A fresh result (batch, channels, *sizes) in C order, or with the channels innermost in memory where an operand has
    them so."""
    for model in models:
        if not model.flags.c_contiguous and model.ndim in (4, 5):
            form = channels_last if model.ndim == 4 else channels_last_3d
            if is_laid_out(model.shape, strides_of(model), form):
                return np.moveaxis(np.ascontiguousarray(np.moveaxis(out, 1, -1)), -1, 1)
    return out if out.flags.c_contiguous else np.ascontiguousarray(out)


def sizes_of(value, name: str, shown: str, position: int = 0) -> tuple:
    """An integer or a sequence of them as a tuple; TypeError in PyTorch's words."""
    if value.__class__ is int:
        return (value,)
    if isinstance(value, Tensor) and value._spec.ndim == 0 or not isinstance(value, (tuple, list)):
        if not hasattr(value, "__index__") or type(value) is bool:
            where = f" (position {position})" if position else ""
            raise TypeError(
                f"{name}(): argument '{shown}'{where} must be tuple of ints, not {argument_type_name(value)}"
            )
        return (int(value.__index__()),)
    for at, v in enumerate(value):
        if not hasattr(v, "__index__"):
            where = f" (position {position})" if position else ""
            found = f"found element of type {argument_type_name(v)} at pos {at}"
            raise TypeError(f"{name}(): argument '{shown}'{where} must be tuple of ints, but {found}")
    return as_ints((tuple(value),), name, shown, position)


def number_each(values: tuple, dims: int) -> tuple:
    """A number per dimension, of one for all or of one for each."""
    return values * dims if len(values) == 1 else values
