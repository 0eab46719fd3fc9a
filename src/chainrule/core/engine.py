"""The backward pass.

Every edge leads from a node to one made before it, so the node with the highest sequence number among those that have
received a gradient has received all of it: taking the highest first is a topological order, and PyTorch's order too.
Nothing is counted beforehand and nothing recurses. Leaves are filled when the pass is through, except where one has
hooks: then `Waiting` counts what each leaf is still to receive, so that its hooks run as early as PyTorch runs them.

Gradients travel as raw arrays and become Tensors only where somebody looks (a hook, a custom Function); under
create_graph they are Tensors throughout and the formulas run on the differentiable vocabulary. A gradient is borrowed
where it arrives first, added into a fresh array at the second, in place from the third.
"""

import heapq
from typing import Any

import numpy as np

from .grad_mode import set_grad
from .modes import state
from .node import AccumulateGrad, Node, Output
from .tensor import LEAF, Tensor, wrap

__all__ = ["run_backward", "call_node"]

# What an edge leads to: a node with one output, one that needs more care, an output of several, a leaf. These are the
# `_kind` of Node, Output and Tensor.
SIMPLE_KIND, CAREFUL_KIND, OUTPUT_KIND, LEAF_KIND = range(4)

# The differentiable twin of the vocabulary, put here by the operations.
differentiable: Any = None


class Leaves:
    """Counts the leaves with hooks; while there are any, a pass looks out for the moment each leaf is complete."""

    hooked = 0

    @classmethod
    def forget(cls) -> None:
        cls.hooked -= 1


def run_backward(roots, grads, *, retain_graph, create_graph, targets=None, accumulate=True):
    """Send `grads` (Tensors) from the edges `roots` through the graph.

    With `targets` (edges) only what leads to them is run; their gradients are returned as Tensors or None, or, with
    `accumulate`, added to the .grad of those tensors. Otherwise they are added to every leaf reached.
    """
    worker = Pass(retain_graph, create_graph, targets, accumulate)
    try:
        if create_graph:
            worker.set_mode()
        return worker.run(roots, grads)
    finally:
        if worker.mode_before is not None:
            set_grad(worker.mode_before)


class Pass:
    """One backward pass: what has arrived where, and what is to be done with it."""

    __slots__ = ("retain", "graph", "pending", "owned", "heap", "leaves", "waiting", "needed", "captured", "accumulate",
                 "mode_before")  # fmt: skip

    def __init__(self, retain, graph, targets, accumulate):
        self.retain = retain
        self.graph = graph
        self.pending = {}  # sequence number: [node, its gradient, or a list of them where it has several outputs]
        self.owned = set()  # sequence numbers and leaves whose gradient is an array of our own
        self.heap = []  # the sequence numbers of what is pending, negative
        self.leaves = {}  # leaf tensor: what has arrived
        self.waiting = None
        self.needed = None
        self.accumulate = accumulate
        self.captured = None if targets is None else dict.fromkeys(targets)
        self.mode_before = None

    def set_mode(self) -> None:
        """Before code of the user's runs: it is recorded only where a graph of the gradients is wanted."""
        if self.mode_before is None:
            self.mode_before = state.grad_enabled
            set_grad(self.graph)

    def run(self, roots, grads):
        if self.captured is not None:
            self.needed = nodes_between(roots, self.captured)
        if Leaves.hooked:
            self.waiting = count_arrivals(roots, self.needed)
        for root, grad in zip(roots, grads):
            self.deliver(root, grad if self.graph else grad._array, False)
            if self.waiting is not None:
                self.arrived(root)
        if self.graph:
            self.work_graph()
        else:
            self.work()
        for leaf in list(self.leaves):
            self.finish(leaf)
        if self.captured is not None:
            return [self.taken(t) for t in self.captured]
        return None

    # --- moving gradients ---

    def deliver(self, edge, grad, fresh) -> None:
        """Bring a gradient to an edge: the one place where paths meet. `fresh`: nobody else holds the array."""
        kind = edge._kind
        if kind == LEAF_KIND:
            self.deliver_leaf(edge, grad, fresh)
        elif type(edge) is AccumulateGrad:
            self.deliver_leaf(edge.variable, grad, fresh)
        elif kind == OUTPUT_KIND:
            self.deliver_output(edge.node, edge.number, grad)
        elif edge.outputs != 1:
            self.deliver_output(edge, 0, grad)
        else:
            number = edge.sequence
            entry = self.pending.get(number)
            if entry is None:
                self.pending[number] = [edge, grad]
                heapq.heappush(self.heap, -number)
            elif grad is not None:
                entry[1] = self.added(number, entry[1], grad)

    def deliver_output(self, node, number: int, grad) -> None:
        entry = self.pending.get(node.sequence)
        if entry is None:
            entry = self.pending[node.sequence] = [node, [None] * node.outputs]
            heapq.heappush(self.heap, -node.sequence)
        if grad is not None:
            held = entry[1][number]
            entry[1][number] = grad if held is None else self.sum(held, grad)

    def deliver_leaf(self, leaf, grad, fresh) -> None:
        leaves = self.leaves
        if leaf not in leaves:
            leaves[leaf] = grad
            if fresh:
                self.owned.add(leaf)
        elif grad is not None:
            leaves[leaf] = self.added(leaf, leaves[leaf], grad)

    def added(self, key, held, grad):
        if held is None:
            return grad
        if self.graph:
            return held + grad
        if key in self.owned:
            return np.add(held, grad, out=held) if type(held) is np.ndarray else held + grad
        self.owned.add(key)
        return np.add(held, grad, out=...)

    def sum(self, held, grad):
        return held + grad if self.graph else np.add(held, grad, out=...)

    def arrived(self, edge) -> None:
        """Count one arrival; a leaf that has received everything is filled at once."""
        leaf = edge.variable if type(edge) is AccumulateGrad else edge
        left = self.waiting.get(leaf)
        if left is not None:
            self.waiting[leaf] = left - 1
            if left == 1 and leaf in self.leaves:
                self.finish(leaf)

    # --- the two loops: raw arrays, and Tensors under create_graph ---

    def work(self) -> None:
        heap, pending, leaves, owned = self.heap, self.pending, self.leaves, self.owned
        retain = self.retain
        special = self.needed is not None or self.waiting is not None
        push, pop = heapq.heappush, heapq.heappop
        while heap:
            node, grad = pending.pop(-pop(heap))
            if special or node.extra is not None or node._kind != SIMPLE_KIND:
                self.step(node, grad)
                continue
            try:
                outs = node.vjp(grad)
            except RuntimeWarning:
                with np.errstate(all="ignore"):
                    outs = node.vjp(grad)
            if not retain and node.saved != ():
                node.release()
            for edge, out in zip(node.edges, outs):
                if edge is None:
                    continue
                kind = edge._kind
                if kind == SIMPLE_KIND:
                    number = edge.sequence
                    entry = pending.get(number)
                    if entry is None:
                        pending[number] = [edge, out]
                        push(heap, -number)
                    elif out is not None:
                        entry[1] = self.added(number, entry[1], out)
                elif kind == LEAF_KIND:
                    if edge in leaves:
                        if out is not None:
                            leaves[edge] = self.added(edge, leaves[edge], out)
                    else:
                        leaves[edge] = out
                        if out is not grad and out is not None and out.base is None:
                            owned.add(edge)
                else:
                    self.deliver(edge, out, False)

    def work_graph(self) -> None:
        while self.heap:
            self.step(*self.pending.pop(-heapq.heappop(self.heap)))

    def step(self, node, grad) -> None:
        """Run one node with everything that may be asked of it."""
        self.set_mode()
        several = grad if node.outputs != 1 else [grad]
        extra = node.extra
        if extra is not None:
            several = self.before(node, extra, several)
        if self.captured is not None:
            self.capture(node, several)
            if node not in self.needed:
                return
        outs = self.evaluate(node, several)
        if extra is not None and extra.posthooks:
            outs = self.after(node, extra, outs, several)
        if not self.retain:
            node.release()
        for edge, out in zip(node.edges, outs):
            if edge is None or self.needed is not None and not self.wanted(edge):
                continue
            self.deliver(edge, out, False)
            if self.waiting is not None:
                self.arrived(edge)

    def evaluate(self, node, several) -> list:
        try:
            return self.evaluate_once(node, several)
        except RuntimeWarning:
            with np.errstate(all="ignore"):
                return self.evaluate_once(node, several)

    def evaluate_once(self, node, several):
        live = None
        if self.needed is not None:  # what nobody asked for is not computed
            live = [e is not None and self.wanted(e) for e in node.edges]
        return node.run(several, differentiable if self.graph else None, live)

    def wanted(self, edge) -> bool:
        if type(edge) is AccumulateGrad:
            return edge in self.captured or edge.variable in self.captured
        if isinstance(edge, Output):
            return edge.node in self.needed or self.is_captured(edge.node)
        if isinstance(edge, Node):
            return edge in self.needed or self.is_captured(edge)
        return edge in self.captured

    def is_captured(self, node) -> bool:
        return any(t is node or type(t) is tuple and t[0] is node for t in self.captured)

    def capture(self, node, several) -> None:
        for target in self.captured:
            if target is node:
                self.captured[target] = several[0]
            elif type(target) is tuple and target[0] is node:
                self.captured[target] = several[target[1]]

    def taken(self, target):
        grad = self.captured[target]
        if grad is None or isinstance(grad, Tensor):
            return grad
        return wrap(np.asarray(grad))

    # --- hooks ---

    def before(self, node, extra, several) -> list:
        """Tensor hooks, retained gradients and pre-hooks, in PyTorch's order."""
        several = list(several)
        for number, hooks in extra.tensor_hooks.items():
            for hook in list(hooks.values()):
                if several[number] is not None:
                    several[number] = self.hooked(hook, several[number])
        for number, ref in extra.retained.items():
            tensor = ref()
            if tensor is not None and several[number] is not None:
                store(tensor, self.as_tensor(several[number]), self.graph, False)
        if extra.prehooks:
            several = [g if g is None else self.as_tensor(g) for g in several]
            for hook in list(extra.prehooks.values()):
                result = hook(tuple(several))
                if result is not None:
                    several = list(result) if isinstance(result, tuple) else [result]
            several = [self.lowered(g) for g in several]
        return several

    def after(self, node, extra, outs, several):
        inputs = tuple(g if g is None else self.as_tensor(g) for g in outs)
        outputs = tuple(g if g is None else self.as_tensor(g) for g in several)
        for hook in list(extra.posthooks.values()):
            result = hook(inputs, outputs)
            if result is not None:
                result = result if isinstance(result, tuple) else (result,)
                if len(result) != len(inputs):
                    raise RuntimeError(
                        f"hooks have changed the number of gradients: expected {len(inputs)}, but got {len(result)}"
                    )
                inputs = result
        return [self.lowered(g) for g in inputs]

    def as_tensor(self, grad) -> Tensor:
        return grad if isinstance(grad, Tensor) else wrap(np.asarray(grad))

    def lowered(self, grad):
        if grad is None or self.graph:
            return grad
        return grad._array

    def hooked(self, hook, grad):
        given = self.as_tensor(grad)
        result = hook(given)
        if result is None:
            return self.lowered(given)
        check_hook_result(given, result)
        return self.lowered(result)

    # --- leaves ---

    def finish(self, leaf) -> None:
        """Everything for a leaf is there: its hooks run, and its .grad is set or added to."""
        grad = self.leaves.pop(leaf)
        if grad is None:
            return
        owned = leaf in self.owned
        special = getattr(leaf, "_leaf", None)
        sink = extra = None
        if special is not None:
            self.set_mode()
            sink = special.sink()
            extra = sink.extra if sink is not None else None
            for hook in list(special.hooks.values()):
                grad = self.hooked(hook, grad)
                owned = False
        if extra is not None and extra.prehooks:
            grad = self.before(sink, extra, [grad])[0]
            owned = False
        if self.captured is not None:
            for target in self.captured:
                if target is leaf or type(target) is AccumulateGrad and target.variable is leaf:
                    self.captured[target] = grad
            if not self.accumulate:
                return
        if leaf._edge is not LEAF:  # requires no gradient any more
            return
        store(leaf, grad if self.graph else wrap(np.asarray(grad)), self.graph, owned)
        if extra is not None and extra.posthooks:
            self.after(sink, extra, (), [grad])
        if special is not None:
            for hook in list(special.post_hooks.values()):
                if hook(leaf) is not None:
                    raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def store(leaf, grad, graph: bool, owned: bool) -> None:
    """Set or add to .grad: in place, so that whoever holds the .grad sees it, unless a graph is being made of it."""
    held = getattr(leaf, "_grad", None)
    if held is None:
        if graph:  # a copy that is recorded: the gradient itself may be in other hands
            leaf._grad = wrap(laid_out_as(leaf._array, grad._array)).copy_(grad)
            return
        array = grad._array
        if not owned or array.base is not None or not array.flags.writeable:
            array = laid_out_as(leaf._array, array)
        leaf._grad = wrap(array)
    elif graph:
        leaf._grad = held + grad
    else:
        np.add(held._array, grad._array, out=held._array)
        if held._counter is not None:
            held._counter[0] += 1


def laid_out_as(model, array) -> np.ndarray:
    """A copy of a gradient with the memory layout of its tensor where that is dense (PyTorch's gradient layout contract)."""
    if model.shape == array.shape and model.flags.f_contiguous and not model.flags.c_contiguous:
        return np.array(array, order="F")
    return np.array(array, order="C")


def check_hook_result(given, result) -> None:
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
    if result._spec.dtype is not given._spec.dtype:
        raise RuntimeError(
            f"hook has changed the type of value (was {given._spec.dtype.type_name} got {result._spec.dtype.type_name})"
        )
    if result._spec.shape != given._spec.shape:
        raise RuntimeError("hook has changed the size of value")


# --- looking at the graph beforehand ---


def nodes_between(roots, targets) -> set:
    """The nodes that have to run for the targets to be reached from the roots."""
    goals = {t[0] if type(t) is tuple else t for t in targets}
    stack = [node_of(r) for r in roots]
    below: dict = {}  # node: the nodes and leaves its edges lead to
    order = []
    while stack:
        node = stack.pop()
        if node in below:
            continue
        if not isinstance(node, Node) or type(node) is AccumulateGrad:
            below[node] = ()
            continue
        below[node] = nexts = [node_of(e) for e in node.edges if e is not None]
        order.append(node)
        stack.extend(n for n in nexts if n not in below)
    order.sort(key=sequence_of)  # what an edge leads to comes first
    needed: set = set()
    for node in order:
        for n in below[node]:
            if n in goals or n in needed or type(n) is AccumulateGrad and n.variable in goals:
                needed.add(node)
                break
    return needed


def sequence_of(node) -> int:
    return node.sequence


def node_of(edge):
    return edge.node if type(edge) is Output else edge


def count_arrivals(roots, needed) -> dict:
    """How many gradients each leaf is going to receive."""
    counts: dict = {}
    seen = set()
    stack = []
    for root in roots:
        node = node_of(root)
        if isinstance(node, Node) and type(node) is not AccumulateGrad:
            stack.append(node)
        else:
            leaf = node.variable if type(node) is AccumulateGrad else node
            counts[leaf] = counts.get(leaf, 0) + 1
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if needed is not None and node not in needed:
            continue
        for edge in node.edges:
            if edge is None:
                continue
            n = node_of(edge)
            if isinstance(n, Node) and type(n) is not AccumulateGrad:
                stack.append(n)
            else:
                leaf = n.variable if type(n) is AccumulateGrad else n
                counts[leaf] = counts.get(leaf, 0) + 1
    return counts


def call_node(node, grads):
    """Run one node by hand: `node(grad)`."""
    worker = Pass(True, state.grad_enabled, None, True)
    worker.mode_before = state.grad_enabled
    several = [g if g is None or state.grad_enabled else g._array for g in grads]
    outs = worker.evaluate(node, several)
    outs = [g if g is None else worker.as_tensor(g) for g in outs]
    return outs[0] if len(outs) == 1 else tuple(outs)
