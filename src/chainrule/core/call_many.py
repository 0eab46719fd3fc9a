"""The caller of operations of a list of tensors, such as cat: what is frequent here, the rest in `general.apply`."""

import numpy as np

from .call import own_code
from .general import as_result
from .modes import modes, state
from .node import next_sequence
from .spec import spec_of
from .tensor import LEAF, Tensor
from .views import view_edge

new = object.__new__


def make_many(op):
    """The caller of an operation of one list of tensors and any attributes, all given; None for other operations."""
    if op.kinds[:1] != ("many",) or any(op.kinds[1:]) or op.promote or op.keyword_only or op.views:
        return None
    kernel, node_type, general = op.kernel, op.node_type, op.apply
    places = None  # of what the formula asks for, at the first recorded call, when the declaration is complete

    def call(tensors, *attributes):
        nonlocal places
        if modes.detour:
            return general((tensors, *attributes))
        arrays, edges, live = [], [], False
        for t in tensors:
            arrays.append(t._array)
            edge = t._edge
            if t._view is not None:
                edge = view_edge(t)
            if edge is not None:
                live = True
                edge = None if not t._spec.inexact else t if edge is LEAF else edge
            edges.append(edge)
        if live and modes.unusual and state.grad_enabled:
            return general((tensors, *attributes))
        out = kernel(arrays, *attributes)
        if type(out) is not np.ndarray:
            return general((tensors, *attributes))
        if out.base is not None:
            out = as_result(out, op, [arrays])
        t = new(Tensor)
        t._array = out
        t._spec = spec = spec_of(out)
        t._edge = t._view = None
        t._counter = [0]
        if not live or modes.unusual or not spec.inexact:
            return t
        if places is None:
            places = [None if n.endswith("_shapes") else op.params.index(n) - 1 for n in op.saved_names]
        node = new(node_type)
        node.edges = tuple(edges)
        node.specs = tuple([x._spec for x in tensors])
        saved = ()
        for place in places:
            saved += ([x._spec.shape for x in tensors] if place is None else attributes[place], None, 0)
        node.saved = saved
        node.sequence = next_sequence()
        node.spec = spec
        node.extra = None
        t._edge = node
        return t

    return own_code(call)
