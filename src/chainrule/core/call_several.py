"""The caller of an operation of several tensors and any attributes, and the backward step that goes with it.

Like the callers of call.py it does what `general.apply` does for the frequent case: tensors of one dtype where the
operation promotes, one output, nothing unusual switched on; all else goes to `general.apply`.
"""

import numpy as np

from . import vocabulary
from .call import number_array, own_code
from .general import (
    apply,
    apply_inplace,
    as_result,
    edges_of,
    finish,
    make_inplace_node,
    rebase_inplace,
    save_one,
)
from .modes import modes, state
from .node import next_sequence, saved_error
from .spec import spec_of
from .tensor import LEAF, Tensor
from .views import view_edge

new = object.__new__
fit = vocabulary.fit


class Plan:
    """What follows from the declaration, worked out at the first call, when all formulas are declared."""

    def __init__(self, op):
        # per tensor parameter: position, whether it is promoted, may be absent, may be a number
        self.inputs = tuple(
            (i, op.params[i] in op.promote, op.kinds[i] == "optional", op.params[i] in op.numbers)
            for i in op.tensor_positions
        )
        self.positions = tuple(op.params.index(n) for n in op.tensor_names)
        self.same = op.result_kind == "same"
        self.needed: dict[tuple, frozenset] = {}  # which inputs have an edge: the names that their formulas ask for

    def needed_by(self, op, edges) -> frozenset:
        key = tuple([e is not None for e in edges])
        found = self.needed.get(key)
        if found is None:
            names = [op.formulas[n].names for n, live in zip(op.tensor_names, key) if live]
            found = self.needed[key] = op.saved_attributes.union(*names)
        return found


def make_several(op):
    """The caller of an operation of several tensors, all arguments given; None where the general one is needed."""
    kinds = [k for k in op.kinds if k]
    if len(kinds) < 2 or "many" in kinds or op.views or op.keyword_only or op.varargs is not None:
        return None
    kernel, node_type = op.kernel, op.node_type
    plan = None

    def call(*values):
        nonlocal plan
        if modes.detour:
            return apply(op, values)
        if plan is None:
            plan = Plan(op)
        arrays = list(values)
        common, numbers = None, None
        for i, promoted, optional, number in plan.inputs:
            value = values[i]
            try:
                spec = value._spec
            except AttributeError:
                if value is None and optional:
                    continue
                if not number or value.__class__ is not float and value.__class__ is not int:
                    return apply(op, values)
                numbers = (i,) if numbers is None else (*numbers, i)
                continue
            if promoted:
                if common is None:
                    common = spec
                elif spec.dtype is not common.dtype:
                    return apply(op, values)
            arrays[i] = value._array
        if common is not None and not common.direct and (numbers is not None or not plan.same):
            return apply(op, values)
        if numbers is not None:
            for i in numbers:
                arrays[i] = None if common is None else number_array(common, values[i])
                if arrays[i] is None:
                    return apply(op, values)
        try:
            if op.check is not None:
                op.check(values)
            out = kernel(*arrays)
        except Exception:  # the general path finds the right words, or silences the warning
            return apply(op, values)
        if type(out) is not np.ndarray or out.base is not None:
            if type(out) is tuple or type(out) is list:
                edges = edges_of(op, values) if op.formulas and state.grad_enabled else None
                return finish(op, values, arrays, edges, out)
            out = as_result(out, op, arrays)
        else:
            for a in arrays:
                if a is out:
                    out = out.copy()
        t = new(Tensor)
        t._array = out
        t._spec = spec = spec_of(out)
        t._edge = t._view = None
        t._counter = [0]
        if not spec.inexact:
            return t
        edges, live = [], False
        for i in plan.positions:
            value = values[i]
            edge = None
            if value.__class__ is not float and value.__class__ is not int and value is not None:
                edge = value._edge
                if value._view is not None:
                    edge = view_edge(value)
                if edge is not None:
                    live = True
                    if not value._spec.inexact:
                        edge = None
                    elif edge is LEAF:
                        edge = value
            edges.append(edge)
        if not live:
            return t
        if modes.unusual:
            return apply(op, values) if state.grad_enabled else t
        node = new(node_type)
        node.edges = tuple(edges)
        node.saved = saved_values(op, plan.needed_by(op, edges), values, arrays, t)
        node.sequence = next_sequence()
        node.spec = spec
        node.specs = tuple([getattr(values[i], "_spec", None) for i in plan.positions])
        node.extra = None
        t._edge = node
        return t

    return own_code(call)


def make_inplace(op):
    """The caller of an operation that writes into its first operand, where nothing is to be recorded."""
    if "many" in op.kinds or op.views or op.keyword_only:
        return lambda *values: apply_inplace(op, values)
    kernel = op.kernel
    inputs = tuple(
        (i, op.params[i] in op.promote, op.params[i] in op.numbers and op.params[i] in op.promote)
        for i in op.tensor_positions
    )
    same = op.result_kind == "same"

    def call(*values):
        target = values[0]
        if modes.detour or not isinstance(target, Tensor):
            return apply_inplace(op, values)
        arrays = list(values)
        spec, counter = target._spec, target._counter
        live = False
        recorded = not modes.unusual or state.grad_enabled
        for i, promoted, number in inputs:
            value = values[i]
            try:
                other = value._spec
            except AttributeError:
                if value is None:
                    continue
                if not number or not spec.direct or value.__class__ is not float and value.__class__ is not int:
                    return apply_inplace(op, values)
                arrays[i] = number_array(spec, value)
                if arrays[i] is None:
                    return apply_inplace(op, values)
                continue
            if promoted and (other.dtype is not spec.dtype or not same and not spec.direct):
                return apply_inplace(op, values)
            if recorded and (value._edge is not None or value._view is not None and value._view.base._edge is not None):
                live = True  # the edge itself is not asked for yet: whether the target may be changed comes first
            if value._counter is counter and value is not target:
                return apply_inplace(op, values)
            arrays[i] = value._array
        array = target._array
        if counter is None or 0 in array.strides:
            return apply_inplace(op, values)
        if live and (
            target._view is not None or target._edge is LEAF or modes.unusual or not op.formulas or not spec.inexact
        ):
            return apply_inplace(op, values)
        try:
            if op.check is not None:
                op.check(values)
            out = kernel(*arrays)
        except Exception:
            return apply_inplace(op, values)
        if type(out) is not np.ndarray or out.shape != array.shape or out.dtype is not array.dtype:
            return apply_inplace(op, values)
        if live:
            node = make_inplace_node(op, values, arrays, edges_of(op, values), target)
        array[...] = out
        counter[0] += 1
        if live:
            rebase_inplace(op, node, target)
        return target

    return own_code(call)


def saved_values(op, needed, values, arrays, result) -> tuple:
    saved: list = []
    for name in op.saved_names:
        if name not in needed:
            saved += (None, None, 0)
        elif name == "result":
            saved += (result._array, result._counter, 0)
        else:
            saved += save_one(op, name, values, arrays, [result], False)
    return tuple(saved)


def make_several_vjp(op):
    """The backward step that goes with `make_several`; None where the general one serves."""
    formulas = [op.formulas[n] for n in op.tensor_names]
    if any(f.joint or f.wants_all or "needs" in f.names for f in formulas):
        return None
    steps = tuple((f.function, tuple(3 * op.saved_names.index(n) for n in f.names)) for f in formulas)
    length = 3 * len(op.saved_names)

    def vjp(node, grad):
        edges = node.edges
        if grad is None:
            return (None,) * len(edges)
        saved, specs = node.saved, node.specs
        if saved is None:
            raise saved_error(node)
        for i in range(1, length, 3):
            counter = saved[i]
            if counter is not None and counter[0] != saved[i + 1]:
                raise saved_error(node)
        grads = []
        for k, (function, places) in enumerate(steps):
            if edges[k] is None:
                grads.append(None)
            else:
                out = function(vocabulary, grad, *[saved[p] for p in places])
                grads.append(fit(out, node.spec if specs is None else specs[k]))
        return tuple(grads)

    return own_code(vjp)
