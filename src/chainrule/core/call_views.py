"""The callers of views: operations whose results share the memory of their first operand.

Like those of call.py they do what `general.apply` does for the frequent case and leave the rest to it.
"""

from .call import DTYPE, SHAPE, own_code, save_codes
from .general import several_type
from .modes import modes, state
from .node import Output, next_sequence
from .spec import _SPECS, make_spec
from .tensor import LEAF, Tensor
from .views import INFERENCE, MULTI_OUTPUT, NO_GRAD, ORDINARY, View, view_edge

new = object.__new__


def make_view_caller(op):
    """The caller of a view with one result or, for `multi`, a tuple of them, all arguments given; None for other
    operations."""
    if not op.views or op.kinds[:1] != ("one",) or any(op.kinds[1:]) or op.keyword_only:
        return None
    return _many(op) if op.multi else _one(op)


def saved_triples(codes, source, attributes) -> tuple:
    """What the node of a view saves; it never needs the elements."""
    saved: tuple = ()
    for code in codes:
        value = source.shape if code == SHAPE else source.array_dtype if code == DTYPE else attributes[code]
        saved += (value, None, 0)
    return saved


def _one(op):
    kernel, node_type, general = op.kernel, op.node_type, op.apply
    codes = first = second = third = None  # worked out at the first recorded call, when the declaration is complete

    def call(self, *attributes):
        nonlocal codes, first, second, third
        if modes.detour:
            return general((self, *attributes))
        try:
            array, source, counter, base = self._array, self._spec, self._counter, self._view
        except AttributeError:
            return general((self, *attributes))
        out = kernel(array, *attributes)
        try:
            spec = _SPECS[out.shape, out.dtype]
        except KeyError:
            spec = make_spec(out.shape, out.dtype)
        if spec.dtype is not source.dtype or counter is None:
            return general((self, *attributes))
        t = new(Tensor)
        t._array = out
        t._spec = spec
        t._counter = counter
        t._view = view = new(View)
        edge = self._edge
        view.meta = ORDINARY if not modes.unusual or state.grad_enabled else NO_GRAD
        view.version = counter[0]
        view.replay = None
        if base is None:
            view.base = self
        else:
            if base.replay is not None:
                return general((self, *attributes))
            view.base = base.base
            if view.meta == ORDINARY or base.meta == INFERENCE:
                view.meta = base.meta
            edge = view_edge(self)
        if edge is None or not spec.inexact:
            t._edge = None
            return t
        if modes.unusual:
            if state.grad_enabled:
                return general((self, *attributes))
            t._edge = None
            return t
        if codes is None:
            codes = save_codes(op)
            first, second, third = (*codes, 0, 0, 0)[:3]
        node = new(node_type)
        node.edges = (self if edge is LEAF else edge,)
        count = len(codes)
        shape = source.shape
        if count == 0:
            node.saved = ()
        elif count == 1:
            node.saved = (shape if first == SHAPE else attributes[first], None, 0)
        elif count == 3:
            one = shape if first == SHAPE else attributes[first]
            two = shape if second == SHAPE else attributes[second]
            node.saved = (one, None, 0, two, None, 0, shape if third == SHAPE else attributes[third], None, 0)
        else:
            node.saved = saved_triples(codes, source, attributes)
        node.sequence = next_sequence()
        node.spec = spec
        node.specs = None if spec is source else (source,)
        node.extra = None
        t._edge = node
        return t

    return own_code(call)


def _many(op):
    kernel, node_type, general = op.kernel, op.node_type, op.apply
    codes = None

    def call(self, *attributes):
        nonlocal codes
        if modes.detour or not isinstance(self, Tensor):
            return general((self, *attributes))
        source, counter, base = self._spec, self._counter, self._view
        if counter is None or modes.unusual or base is not None and base.replay is not None:
            return general((self, *attributes))
        arrays = kernel(self._array, *attributes)
        version = counter[0]
        edge = self._edge
        root = self
        if base is not None:
            edge, root = view_edge(self), base.base
        results = []
        for out in arrays:
            try:
                spec = _SPECS[out.shape, out.dtype]
            except KeyError:
                spec = make_spec(out.shape, out.dtype)
            t = new(Tensor)
            t._array = out
            t._spec = spec
            t._edge = None
            t._counter = counter
            t._view = view = new(View)
            view.base = root
            view.meta = MULTI_OUTPUT
            view.version = version
            view.replay = None
            results.append(t)
        if edge is None or not source.inexact or not results:
            return tuple(results)
        if codes is None:
            codes = save_codes(op)
        count = len(results)
        node = new(node_type if count == 1 else several_type(op, count))
        node.edges = (self if edge is LEAF else edge,)
        node.saved = saved_triples(codes, source, attributes)
        node.sequence = next_sequence()
        node.specs = (source,)
        node.extra = None
        if count == 1:
            node.spec = results[0]._spec
            results[0]._edge = node
        else:
            node.spec = tuple([t._spec for t in results])
            for number, t in enumerate(results):
                t._edge = Output(node, number)
        return tuple(results)

    return own_code(call)
