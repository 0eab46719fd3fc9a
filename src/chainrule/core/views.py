"""Views: tensors that share the memory of a base, and how they follow what happens to it.

A view keeps its root base (never another view), where it lies in the base's memory, and the version of the memory for
which its edge is right. When an in-place operation has changed the history of the base since, the edge is made anew as
an `as_strided` of the base: shape, strides and offset say everything a chain of views did. Views that change the dtype
(the real part of a complex tensor) cannot be said that way; they keep a function that replays them.
"""

from typing import Any

import numpy as np

from .modes import state
from .node import Node, Output, plain_name

__all__ = ["View", "view_edge", "make_view", "NOWHERE", "ORDINARY", "NO_GRAD", "MULTI_OUTPUT", "INFERENCE", "CUSTOM"]

# How a view came to be; all but the first forbid some in-place changes.
ORDINARY, NO_GRAD, MULTI_OUTPUT, INFERENCE, CUSTOM = range(5)


class _Nowhere(Node):
    """The edge of a view that was made without recording from a base that requires grad: it counts as requiring grad,
    and what flows there reaches nobody."""

    __slots__ = ()

    def vjp(self, grad):
        return ()

    def run(self, grads, xp, live=None):
        return []


NOWHERE = _Nowhere.make((), (), None)
NOWHERE.sequence = -1

_leaf_type: type = object  # set by tensor.py

# Set by inplace.py: the edge of a view whose base has a new history; a tensor like the base whose history leads nowhere.
regenerate: Any = None
unknown: Any = None


class View:
    __slots__ = ("base", "version", "meta", "replay")

    def __init__(self, base, version, meta, replay):
        self.base = base
        self.version = version
        self.meta = meta
        self.replay = replay


def view_edge(tensor, asked=False):
    """The edge of a view, made anew if its base has a new history.

    `asked`: somebody asks for it, also where nothing is recorded."""
    view = tensor._view
    edge = tensor._edge
    base = view.base
    base_edge = base._edge
    if base_edge is None and (edge is None or type(edge) is _leaf_type):
        return None if edge is None else tensor
    cell = tensor._counter
    if view.version != cell[0]:
        if view.meta != ORDINARY and not (asked or state.grad_enabled):
            return edge  # nothing is recorded: nobody needs the history that this view may not have
        check_history(tensor, indirect=True)
        refresh(tensor)
        return tensor._edge
    if edge is None:
        return NOWHERE
    return tensor if type(edge) is _leaf_type else edge


def refresh(tensor) -> None:
    """Give a view the edge that follows from its base's present history."""
    view, old = tensor._view, tensor._edge
    base = view.base
    if base._edge is None:  # what a view with a history shows has changed, and nobody knows how
        base = unknown(base)
    if view.replay is None:
        tensor._edge = regenerate(base, tensor)
    else:
        replayed = view.replay(base)
        tensor._edge = view_edge(replayed) if replayed._view is not None else replayed._edge
    view.version = tensor._counter[0]
    if retained(tensor, old):
        move_retained(tensor, old, tensor._edge)


def place_of(edge) -> tuple:
    """(node, number of its output) of an edge."""
    return (edge.node, edge.number) if type(edge) is Output else (edge, 0)


def retained(tensor, edge) -> bool:
    """Whether the tensor keeps the gradient that comes to this edge."""
    maker, number = place_of(edge)
    extra = getattr(maker, "extra", None)
    return extra is not None and number in extra.retained and extra.retained[number]() is tensor


def move_retained(tensor, old, new) -> None:
    """A tensor that retains its gradient goes on doing so at its new edge."""
    maker, number = place_of(old)
    follower, at = place_of(new)
    if isinstance(follower, Node):
        follower.extras().retained[at] = maker.extra.retained.pop(number)


def make_view(result, source, meta: int, replay=None) -> None:
    """Tie `result`, whose array views that of `source`, to the root base of `source`."""
    outer = source._view
    cell = result._counter = source._counter
    if cell is None:  # an inference tensor, of which nothing is ever recorded
        return
    if outer is None:
        base = source
        chained = replay
    else:
        base = outer.base
        chained = outer.replay
        if replay is not None:
            chained = _then(outer.replay or _strided(source, base), replay)
        elif chained is not None:
            chained = _then(chained, _strided(result, source))
        if meta == ORDINARY or outer.meta == INFERENCE:
            meta = outer.meta
    result._view = View(base, cell[0], meta, chained)


def _then(first, second):
    return lambda base: second(first(base))


def _strided(view, base):
    from .registry import OPS

    shape, strides, offset = geometry(view._array, base._array)
    return lambda b: OPS["as_strided"].function(b, shape, strides, offset + b.storage_offset())


def geometry(array: np.ndarray, base: np.ndarray) -> tuple:
    """Shape, strides in elements, and the offset in elements from the first element of `base`."""
    item = array.itemsize
    offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    if array.size == 0 or base.size == 0:
        offset = 0
    return array.shape, tuple(s // item for s in array.strides), offset // item


_FORBIDDEN = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    "the view and the inplace either both inside the {mode} block (if you don't want the inplace to be tracked) or "
    "both outside (if you want the inplace to be tracked)."
)


def check_history(tensor, indirect: bool) -> None:
    """RuntimeError where the history of a view may not be rewritten, by itself or through its base (`indirect`)."""
    meta = tensor._view.meta
    if meta == ORDINARY or not state.grad_enabled and not indirect:
        return
    how = "its base or another view of its base has been modified inplace" if indirect else "is being modified inplace"
    how = f"and {how}"
    edge = tensor._edge
    node = getattr(edge, "node", edge)
    made = isinstance(node, Node) and node is not NOWHERE
    what = f"Output {getattr(edge, 'number', 0)} of {plain_name(node)} is a view" if made else "A view"
    if meta in (NO_GRAD, INFERENCE):
        mode = "no_grad" if meta == NO_GRAD else "inference"
        what += f" of a view which was created in {mode} mode" if made else f" was created in {mode} mode"
        how += " with grad mode enabled." if meta == NO_GRAD else " in normal mode."
        raise RuntimeError(f"{what} {how}" + _FORBIDDEN.format(mode="no_grad" if meta == NO_GRAD else "inference_mode"))
    if made:
        how += "."
    else:
        how = f"was created in no_grad mode {how} with grad mode enabled."
    raise RuntimeError(f"{what} {how} {_SEVERAL if meta == MULTI_OUTPUT else _CUSTOM}")


_SEVERAL = (
    "This view is the output of a function that returns multiple views. Such functions do not allow the output views "
    "to be modified inplace. You should replace the inplace operation by an out-of-place one."
)
_CUSTOM = (
    "This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to "
    "handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect "
    "gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
)
