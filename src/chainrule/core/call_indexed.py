"""The caller of an operation of one tensor that gives values and their indices, such as sort or max along a dimension."""

import numpy as np

from .call import own_code
from .general import apply, as_result
from .modes import modes, state
from .node import next_sequence
from .spec import spec_of
from .tensor import LEAF, Tensor
from .views import view_edge

__all__ = ["make_indexed"]

new = object.__new__


def make_indexed(op):
    """The caller of `op`, all arguments given: a tuple of two tensors; None for an operation of any other kind."""
    kinds = op.kinds
    if op.nondifferentiable_outputs != (1,) or kinds[0] != "one" or any(kinds[1:]) or op.promote or op.keyword_only:
        return None
    kernel, node_type = op.kernel, op.node_type

    def call(self, *attributes):
        if modes.detour or not isinstance(self, Tensor):
            return apply(op, (self, *attributes))
        array = self._array
        try:
            values, indices = kernel(array, *attributes)
        except RuntimeWarning:
            return apply(op, (self, *attributes))
        if values.__class__ is not np.ndarray or values.base is not None or values is array:
            values = as_result(values, op, (array,))
        if indices.__class__ is not np.ndarray or indices.base is not None:
            indices = as_result(indices, op, (array,))
        first, second = new(Tensor), new(Tensor)
        first._array, second._array = values, indices
        first._spec = spec = spec_of(values)
        second._spec = spec_of(indices)
        first._edge = first._view = second._edge = second._view = None
        first._counter, second._counter = [0], [0]
        edge = self._edge
        if self._view is not None:
            edge = view_edge(self)
        if edge is None or not spec.inexact or not op.formulas:
            return first, second
        if modes.unusual:
            return apply(op, (self, *attributes)) if state.grad_enabled else (first, second)
        node = new(node_type)
        saved: tuple = ()
        for name in op.saved_names:
            if name == "result1":
                saved += (indices, second._counter, 0)
            elif name == "self_shape":
                saved += (self._spec.shape, None, 0)
            elif name == "self":
                counter = self._counter
                if counter is None:
                    return apply(op, (self, *attributes))
                saved += (array, counter, counter[0])
            elif name == "result0":
                saved += (values, first._counter, 0)
            else:
                saved += (attributes[op.params.index(name) - 1], None, 0)
        node.edges = (self if edge is LEAF else edge,)
        node.saved = saved
        node.sequence = next_sequence()
        node.spec = spec
        node.specs = None if spec is self._spec else (self._spec,)
        node.extra = None
        first._edge = node
        return first, second

    return own_code(call)
