"""The caller of an operation that makes one number of a whole tensor (sum, mean), and its backward step.

What the result and the node need besides the number follows from the operand's spec alone and is kept per spec.
"""

import numpy as np

from . import vocabulary
from .call import own_code
from .modes import modes, state
from .node import next_sequence
from .spec import spec_of
from .tensor import LEAF, Tensor
from .views import view_edge

__all__ = ["make_whole", "make_whole_vjp"]

new = object.__new__
asarray = np.asarray
_MOST = 4096


def make_whole(op, kernel):
    """The caller of `op` on one tensor, its attributes left out: `kernel(array)` gives the number."""
    node_type, general, rest = op.node_type, op.apply, op.defaults[1:]
    plans: dict = {}  # spec of the operand: (spec of the result, what the node saves, its specs)

    def call(self):
        if modes.detour or self.__class__ is not Tensor:
            return general((self, *rest))
        spec = self._spec
        plan = plans.get(spec)
        if plan is None:
            if not spec.inexact:
                return general((self, *rest))
            out = general((self.detach(), *rest))._array
            if len(plans) > _MOST:
                plans.clear()
            plan = plans[spec] = (spec_of(out), (spec.shape, None, 0), (spec,))
        try:
            out = asarray(kernel(self._array))
        except RuntimeWarning:
            return general((self, *rest))
        t = new(Tensor)
        t._array = out
        t._spec, saved, specs = plan
        t._edge = t._view = None
        t._counter = [0]
        edge = self._edge
        if self._view is not None:
            edge = view_edge(self)
        if edge is None:
            return t
        if modes.unusual:
            return general((self, *rest)) if state.grad_enabled else t
        node = new(node_type)
        node.edges = (self if edge is LEAF else edge,)
        node.saved = saved
        node.sequence = next_sequence()
        node.spec = t._spec
        node.specs = specs
        node.extra = None
        t._edge = node
        return t

    return own_code(call)


def make_whole_vjp(op):
    """The backward step: the formula of the only input, given the shape alone; its result needs no fitting."""
    formula = op.formulas["self"].function
    if op.saved_names != ("self_shape",):
        raise TypeError(f"{op.name}: the node of an operation on a whole tensor saves its shape")

    def vjp(node, grad):
        if grad is None:
            return (None,)
        out = formula(vocabulary, grad, node.saved[0])
        spec = node.specs[0]
        return (out if out.dtype is spec.array_dtype else vocabulary.fit(out, spec),)

    return own_code(vjp)
