"""Elements picked along a dimension by places that all differ: what the derivatives of max, sort, topk, median … are."""

import functools

from ..core import vocabulary
from ..core.declare import Array, op
from ..core.saved import read_saved

__all__ = ["pick_along", "put_along", "show_saved"]


def show_saved(operation, **names: str) -> None:
    """Let nodes show what they save under PyTorch's names: `result1="indices"` gives `_saved_indices`."""
    for name, shown in names.items():
        delattr(operation.node_type, "_saved_" + name)
        setattr(operation.node_type, "_saved_" + shown, property(functools.partial(read_saved, name)))


@op(method=False, namespace=None, frees=("places",))
def pick_along(self: Array, places, axis: int):
    """The elements at `places`, an integer array with the dimensions of self, along an axis."""
    return vocabulary.pick_along(self, places, axis)


@op(method=False, namespace=None, frees=("places",))
def put_along(self: Array, places, axis: int, shape):
    """Zeros of `shape` with the elements of self at `places`, no two of them the same, along an axis."""
    return vocabulary.put_along(self, places, axis, shape)


pick_along.derivative(of="self")(
    lambda xp, grad, self_shape, places, axis: xp.put_along(grad, places, axis, self_shape)
)
put_along.derivative(of="self")(lambda xp, grad, places, axis: xp.pick_along(grad, places, axis))


@op(method=False, namespace=None, frees=("places",))
def add_along(self: Array, places, axis: int, shape):
    """Zeros of `shape` with the elements of self added at `places` along an axis."""
    return vocabulary.add_along(self, places, axis, shape)


@add_along.derivative(of="self")
def _(xp, grad, places, axis):
    # Not pick_along, whose own derivative takes no place twice.
    return xp.take_along_axis(grad, places, axis) if grad.ndim else grad
