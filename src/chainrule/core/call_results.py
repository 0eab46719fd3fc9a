"""The caller of an operation of one tensor that has several results, such as the largest elements and their indices."""

import numpy as np

from .call import own_code
from .general import several_type
from .modes import modes, state
from .node import Output, next_sequence
from .spec import spec_of
from .tensor import LEAF, Tensor
from .views import view_edge

__all__ = ["make_results"]

new = object.__new__
SELF, SHAPE, DTYPE, RESULT = -1, -2, -3, -4  # result number n: RESULT - n


def make_results(op):
    """The caller of `op`, all arguments given; `op` is declared completely, and its kernel returns a tuple."""
    kernel, node_type, general, formulas = op.kernel, op.node_type, op.apply, op.formulas
    undifferentiated = frozenset(op.nondifferentiable_outputs)
    codes = _codes(op)

    def call(self, *attributes):
        if modes.detour or self.__class__ is not Tensor:
            return general((self, *attributes))
        array = self._array
        try:
            outs = kernel(array, *attributes)
        except RuntimeWarning:
            return general((self, *attributes))
        edge = self._edge
        if self._view is not None:
            edge = view_edge(self)
        results, live = [], []
        for number, out in enumerate(outs):
            if type(out) is not np.ndarray:
                out = np.asarray(out)
            elif out is array or out.base is not None and np.may_share_memory(out, array):
                out = out.copy()
            t = new(Tensor)
            t._array = out
            t._spec = spec = spec_of(out)
            t._edge = t._view = None
            t._counter = [0]
            results.append(t)
            if spec.inexact and number not in undifferentiated:
                live.append(number)
        if edge is None or not live or not formulas:
            return tuple(results)
        if modes.unusual:
            return general((self, *attributes)) if state.grad_enabled else tuple(results)
        saved: tuple = ()
        for code in codes:
            if code >= 0:
                saved += (attributes[code], None, 0)
            elif code == SELF:
                counter = self._counter
                if counter is None:
                    return general((self, *attributes))
                saved += (array, counter, counter[0])
            elif code <= RESULT:
                t = results[RESULT - code]
                saved += (t._array, t._counter, 0)
            else:
                saved += (self._spec.shape if code == SHAPE else self._spec.array_dtype, None, 0)
        only = live == [0]
        node = new(node_type if only else several_type(op, len(results)))
        node.edges = (self if edge is LEAF else edge,)
        node.saved = saved
        node.sequence = next_sequence()
        node.spec = results[0]._spec if only else tuple([t._spec for t in results])
        node.specs = (self._spec,)
        node.extra = None
        for number in live:
            results[number]._edge = node if only else Output(node, number)
        return tuple(results)

    return own_code(call)


def _codes(op) -> tuple:
    """What a node saves: the number of an attribute, or one of the codes above."""
    known = {"self": SELF, "self_shape": SHAPE, "self_dtype": DTYPE}
    return tuple(
        known[n] if n in known else RESULT - int(n[6:]) if n.startswith("result") else op.params.index(n) - 1
        for n in op.saved_names
    )
