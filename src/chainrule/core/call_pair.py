"""The caller of an operation of exactly two tensors that do not broadcast, such as a product of matrices."""

import numpy as np

from .call import own_code
from .general import apply, as_result, save_one
from .modes import modes, state
from .node import next_sequence
from .spec import spec_of
from .tensor import LEAF, Tensor
from .views import view_edge

__all__ = ["make_pair"]

new = object.__new__


def make_pair(op):
    """The caller of `op`, both arguments given; None for an operation of any other kind."""
    if op.kinds != ("one", "one") or op.promote or op.views or op.keyword_only:
        return None
    kernel, node_type = op.kernel, op.node_type
    first, second = op.params
    plans: dict = {}  # which of the two have edges: per saved name, how it is saved

    def call(self, other):
        if modes.detour or self.__class__ is not Tensor or other.__class__ is not Tensor:
            return apply(op, (self, other))
        a, b = self._array, other._array
        try:
            out = kernel(a, b)
        except Exception:  # the general path finds the right words, or silences the warning
            return apply(op, (self, other))
        if out.__class__ is not np.ndarray or out.base is not None:
            if out.__class__ is tuple:
                return apply(op, (self, other))
            out = as_result(out, op, (a, b))
        t = new(Tensor)
        t._array = out
        t._spec = spec = spec_of(out)
        t._edge = t._view = None
        t._counter = [0]
        edge, other_edge = self._edge, other._edge
        if self._view is not None:
            edge = view_edge(self)
        if other._view is not None:
            other_edge = view_edge(other)
        if edge is None and other_edge is None or not spec.inexact:
            return t
        if modes.unusual:
            return apply(op, (self, other)) if state.grad_enabled else t
        live = edge is not None, other_edge is not None
        plan = plans.get(live)
        if plan is None:
            plan = plans[live] = _plan(op, live)
        saved: tuple = ()
        for name in plan:
            if name is None:
                saved += (None, None, 0)
            elif name == first:
                counter = self._counter
                if counter is None:
                    return apply(op, (self, other))
                saved += (a, counter, counter[0])
            elif name == second:
                counter = other._counter
                if counter is None:
                    return apply(op, (self, other))
                saved += (b, counter, counter[0])
            else:
                saved += save_one(op, name, (self, other), (a, b), [t], False)
        node = new(node_type)
        node.edges = (self if edge is LEAF else edge, other if other_edge is LEAF else other_edge)
        node.saved = saved
        node.sequence = next_sequence()
        node.spec = spec
        node.specs = (self._spec, other._spec)
        node.extra = None
        t._edge = node
        return t

    return own_code(call)


def _plan(op, live: tuple) -> tuple:
    """The names to save, None for those that no formula of an input with an edge asks for."""
    needed = {n for p, wanted in zip(op.params, live) if wanted and p in op.formulas for n in op.formulas[p].names}
    return tuple(n if n in needed else None for n in op.saved_names)
