"""The general backward step: what a node saved is read, and its formulas run in whichever array world they are given.

Over raw arrays in an ordinary pass; over Tensors under create_graph, where what was saved is joined to the graph again.
"""

import numpy as np

from . import vocabulary
from .dtype import from_numpy
from .general import needs_of
from .node import Output, saved_error
from .tensor import Tensor, wrap

__all__ = ["backward", "read_values", "revive"]


def backward(node, grads, xp, live=None) -> list:
    """The gradients of a node's inputs, one per edge, in the array world `xp` (None: raw arrays); see Node.run."""
    op, edges = node.op, node.edges
    if live is not None:
        edges = tuple([e if wanted else None for e, wanted in zip(edges, live)])
    if all(g is None for g in grads):
        return [None] * len(edges)
    raw = xp is None
    if raw:
        xp = vocabulary
    if len(grads) > 1:
        grads = [xp.zeros_of(s) if g is None and s.inexact else g for g, s in zip(grads, node.spec)]
    values = read_values(node, raw)
    needs = needs_of(op, edges, None)
    values["needs"] = needs
    out: dict = {}
    for name, needed in zip(op.tensor_names, needs):
        if name in out or not (needed is True or type(needed) is tuple and any(needed)):
            continue
        formula = op.formulas[name]
        grad = grads if formula.wants_all else grads[0]
        result = formula.function(xp, grad, *[values[n] for n in formula.names])
        if formula.joint:
            out.update(zip(formula.of, distinct(result)))
        else:
            out[name] = result
    return spread(op, node, needs, out, xp)


def distinct(results) -> list:
    """The gradients of a joint formula, none of them the same object twice: the engine may add to each in place."""
    seen: list = []
    for r in results:
        seen.append(r.copy() if type(r) is np.ndarray and any(r is s for s in seen) else r)
    return seen


def spread(op, node, needs, out: dict, xp) -> list:
    specs = node.specs
    grads: list = []
    for name, needed in zip(op.tensor_names, needs):
        g = out.get(name)
        if type(needed) is tuple:
            grads += [None] * len(needed) if g is None else [x if n else None for x, n in zip(g, needed)]
        else:
            grads.append(g if needed else None)
    if specs is None:
        return [g if g is None else xp.fit(g, node.spec) for g in grads]
    return [g if g is None else xp.fit(g, s) for g, s in zip(grads, specs)]


def read_values(node, raw: bool) -> dict:
    """What a node saved, by name; under create_graph as Tensors with the history they had."""
    op, saved = node.op, node.saved
    if saved is None:
        raise saved_error(node)
    values = {}
    for i, name in enumerate(op.saved_names):
        value, counter, version = saved[3 * i : 3 * i + 3]
        if counter is not None and counter[0] != version:
            raise saved_error(node)
        values[name] = value if raw else revive(node, name, value)
    return values


def revive(node, name: str, value):
    """A saved array as a Tensor again, joined to the graph where it came from."""
    op = node.op
    if type(value) is tuple and value and type(value[0]) is np.ndarray:
        at = op.tensor_names.index(name) if name in op.tensor_names else None
        return tuple(joined(v, node.edges[at + k] if at is not None else None) for k, v in enumerate(value))
    if type(value) is not np.ndarray:
        return value
    if name.startswith("result"):
        if node.extra is not None and node.extra.owner is not None:
            return joined(value, node.extra.owner.result_edge())
        return joined(value, node if node.outputs == 1 else Output(node, int(name[6:] or 0)))
    if name not in op.tensor_names:
        return joined(value, None)
    at = 0
    for n in op.tensor_names:
        if n == name:
            break
        at += 1 if op.kinds[op.params.index(n)] != "many" else len(node.edges) - len(op.tensor_names) + 1
    spec = node.spec if node.specs is None else node.specs[at]
    if type(spec) is tuple or spec is None or spec.array_dtype is value.dtype or node.edges[at] is None:
        return joined(value, node.edges[at])
    # The operands were promoted before the kernel saw them; the gradient goes by way of the operand's own dtype.
    own = value.real if value.dtype.kind == "c" and spec.array_dtype.kind != "c" else value
    return joined(own.astype(spec.array_dtype), node.edges[at]).to(from_numpy[value.dtype])


def joined(array, edge) -> Tensor:
    if isinstance(edge, Tensor) and edge._array is array:
        return edge
    t = wrap(array)
    t._edge = edge if t._spec.inexact else None
    return t
