"""In-place changes: who may be changed, version counters, and the history that is rewritten afterwards.

After an in-place operation on an ordinary tensor the tensor's edge is the operation's node. After one on a view the
base gets a `CopySlices` node, which runs the operation's backward step on the view's part of the gradient, and every
view of that base, this one too, makes its edge anew when it is next asked for (views.py), since its version is out of
date.
"""

import weakref
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from . import views, vocabulary
from .modes import state
from .node import FREED, Node
from .registry import OPS
from .tensor import LEAF, wrap
from .views import NOWHERE, check_history, geometry, move_retained, refresh, retained, view_edge

__all__ = ["bump", "check_inplace", "check_overlap", "check_writable", "rebase_history", "CopySlices"]


def bump(tensor) -> None:
    """The memory of a tensor has changed."""
    counter = tensor._counter
    if counter is not None:
        counter[0] += 1


def check_writable(tensor, expanded: bool = False) -> None:
    """RuntimeError for a tensor that nobody may write to: an inference tensor outside inference mode, or (unless
    `expanded` allows it) one whose elements share a place in memory."""
    if tensor._counter is None and not state.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
            "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )
    array = tensor._array
    if not array.flags.c_contiguous and array.size > 1 and not expanded:
        if any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape)):
            raise RuntimeError(
                "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                "location. Please clone() the tensor before performing the operation."
            )
    if not array.flags.writeable:
        array.flags.writeable = True  # memory from a read-only NumPy array; PyTorch writes to it after a warning


def check_overlap(target, operands) -> None:
    """RuntimeError where an operand shares some of the memory that is about to be written, but not all of it alike."""
    array = target._array
    for operand in operands:
        other = getattr(operand, "_array", None)
        if other is None or operand is target or not np.may_share_memory(array, other):
            continue
        bounds, others = byte_bounds(array), byte_bounds(other)
        if bounds[1] - bounds[0] != array.nbytes or others[1] - others[0] != other.nbytes:
            continue  # with gaps in it: PyTorch does not look closer
        if bounds != others or array.strides != other.strides:
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                "single memory location. Please clone() the tensor before performing the operation."
            )


def check_inplace(tensor) -> None:
    """RuntimeError where autograd cannot follow an in-place change of this tensor. To be asked while recording."""
    view = tensor._view
    if view is not None:
        check_history(tensor, indirect=False)
        # The base of a view that was itself made to require grad is a leaf without gradient.
        base = view.base
        if base._edge is LEAF or base._edge is None and tensor._edge is not None:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    elif tensor._edge is LEAF:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def rebase_history(tensor, node) -> None:
    """Make `node` the history of a tensor that was just changed in place."""
    view = tensor._view
    if tensor._counter is not None:  # whoever saved the tensor can say in an error what has changed it
        tensor._counter[1:] = [weakref.ref(t) for t in ((tensor,) if view is None else (tensor, view.base))]
    old = tensor._edge
    if view is None:
        tensor._edge = node
        if getattr(old, "extra", None) is not None and retained(tensor, old):
            move_retained(tensor, old, node)
        return
    base = view.base
    base_edge = view_edge(base) if base._view is not None else base._edge
    if node is None:
        return
    node = CopySlices.around(node, base_edge, base, tensor)
    base._edge = node
    if retained(base, base_edge):
        move_retained(base, base_edge, node)
    if retained(tensor, old):
        refresh(tensor)
    else:
        tensor._edge = node  # stale on purpose: the version is behind, so it is made anew when asked for


class CopySlices(Node):
    """The gradient of a base after an in-place operation on a view of it: outside the view it passes through, inside it
    is the operation's own."""

    __slots__ = ("inner", "place", "base_strides", "replay")
    inner: Node
    place: Any
    base_strides: tuple
    replay: Any

    @classmethod
    def around(cls, inner, base_edge, base, view):
        # Something to free, so that it runs but once, as in PyTorch: the inner node may not save anything.
        node = cls.make((base_edge, *inner.edges[1:]), (None, None, 0), base._spec)
        node.inner = inner
        node.replay = view._view.replay
        node.place = None if node.replay is not None else geometry(view._array, base._array)
        node.base_strides = tuple(s // base._array.itemsize for s in base._array.strides)
        return node

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def vjp(self, grad):
        if grad is None:
            return (None,) * len(self.edges)
        if self.saved is None:
            raise RuntimeError(FREED)
        out = np.empty_like(grad) if grad.strides == () else dense(self.spec, self.base_strides)
        out[...] = grad
        if self.replay is None:
            part = vocabulary.as_strided(out, *self.place)
        else:
            part = self._replayed(out)
        inner = self.inner.vjp(part.copy())
        part[...] = 0 if inner[0] is None else inner[0]
        return (out, *inner[1:])

    def _replayed(self, out):
        before = state.grad_enabled
        state.grad_enabled = False
        try:
            return self.replay(wrap(out))._array
        finally:
            state.grad_enabled = before

    def run(self, grads, xp, live=None):
        if xp is None:
            return list(self.vjp(grads[0]))
        if grads[0] is None:
            return [None] * len(self.edges)
        if self.saved is None:
            raise RuntimeError(FREED)
        out = grads[0].clone()
        if self.replay is None and out.stride() != self.base_strides:
            out = wrap(dense(self.spec, self.base_strides)).copy_(out)
        part = self._part(out)
        extra = self.inner.extras()
        extra.owner = self
        try:
            inner = self.inner.run([part.clone()], xp, live)
        finally:
            extra.owner = None
        if inner[0] is None:
            part.zero_()
        else:
            part.copy_(inner[0])
        return [out, *inner[1:]]

    def _part(self, base):
        """The part of a tensor like the base that the view shows."""
        return OPS["as_strided"].function(base, *self.place) if self.replay is None else self.replay(base)

    def result_edge(self):
        """Where a gradient of what the operation wrote into the view goes: through the view to this node."""
        base = wrap(dense(self.spec, self.base_strides))
        base._edge = self
        return self._part(base)._edge

    def release(self) -> None:
        self.inner.release()
        self.saved = None


def dense(spec, strides) -> np.ndarray:
    """A fresh array laid out with these strides, in elements."""
    order = sorted(range(spec.ndim), key=lambda i: -strides[i])
    fresh = np.empty(tuple(spec.shape[i] for i in order), spec.array_dtype)
    laid = fresh.transpose(tuple(np.argsort(order))) if spec.ndim else fresh
    want = tuple(s * laid.itemsize for s in strides)
    if laid.strides == want or not spec.numel:
        return laid
    reach = 1 + sum((n - 1) * s for n, s in zip(spec.shape, strides))
    return vocabulary.as_strided(np.empty(reach, spec.array_dtype), spec.shape, strides, 0)  # with gaps


def regenerate(base, view):
    """The edge of a view whose base has a new history: that of the same part of the base, by as_strided."""
    shape, strides, offset = geometry(view._array, base._array)
    before = state.grad_enabled
    state.grad_enabled = True
    try:
        return OPS["as_strided"].function(base, shape, strides, offset + base.storage_offset())._edge
    finally:
        state.grad_enabled = before


def unknown(base):
    """A tensor over the memory of a base whose history leads nowhere."""
    t = wrap(base._array)
    t._edge = NOWHERE
    t._counter = base._counter
    return t


views.regenerate = regenerate
views.unknown = unknown
