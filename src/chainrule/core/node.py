"""The nodes of the graph, and what a learner, a hook or a drawing tool may ask of one.

A node stands for one executed operation. Its `edges` say where the gradients of the operation's inputs go: to the node
that made the input, to one `Output` of a node that made several, to the leaf tensor itself, or nowhere (None). A leaf
is its own sink, so that neither leaf nor graph needs a cycle of references; the `AccumulateGrad` that PyTorch shows in
its place is made when somebody looks.
"""

import itertools
import weakref
from collections import OrderedDict
from typing import Any

__all__ = ["Node", "Output", "AccumulateGrad", "RemovableHandle", "next_sequence", "node_class", "saved_error"]

next_sequence = itertools.count().__next__


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook back, leaving a `with` block of it does so too."""

    _ids = itertools.count()

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None):
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        extra = extra_dict if isinstance(extra_dict, list) else [] if extra_dict is None else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extra)
        self.id = next(self._ids)

    def remove(self) -> None:
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None and self.id in hooks:
                del hooks[self.id]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class HookDict(OrderedDict):
    """Hooks by the id of their handle, in the order they run."""

    def add(self, hook) -> RemovableHandle:
        handle = RemovableHandle(self)
        self[handle.id] = hook
        return handle


class Extra:
    """What only few nodes have: hooks, metadata, tensors that retain their gradient, the CopySlices they run for."""

    __slots__ = ("tensor_hooks", "retained", "prehooks", "posthooks", "metadata", "owner")

    def __init__(self):
        self.tensor_hooks = {}  # output number: HookDict of hooks on that tensor
        self.retained = {}  # output number: weak reference to the tensor whose .grad is kept
        self.prehooks = HookDict()
        self.posthooks = HookDict()
        self.metadata = {}
        self.owner = None


class Node:
    """One operation of the graph.

    edges: where the gradient of each differentiable input goes. saved: what the derivative needs, flat triples (value,
    version counter or None, version); None once freed. sequence: rises with every node made; the backward pass runs the
    highest first. spec: shape and dtype of the output (a tuple of them where there are several). specs: None where
    every input has the spec of the output, otherwise the spec of each input. extra: None or an `Extra`.
    """

    __slots__ = ("edges", "saved", "sequence", "spec", "specs", "extra", "__weakref__")
    op: Any = None  # the declaration, set on the class of each operation
    outputs = 1
    edges: tuple
    saved: Any
    sequence: int
    spec: Any
    specs: Any
    extra: "Extra | None"
    _kind = 0  # engine.SIMPLE_KIND: one output, and gradients that nobody else can hold

    @classmethod
    def make(cls, edges, saved, spec, specs=None):
        node = object.__new__(cls)
        node.edges = edges
        node.saved = saved
        node.sequence = next_sequence()
        node.spec = spec
        node.specs = specs
        node.extra = None
        return node

    # --- what the engine calls; see engine.py ---

    def vjp(self, grad):
        """The gradients of the inputs from the gradient of the only output, as raw arrays."""
        raise NotImplementedError

    def run(self, grads, xp, live=None):
        """The gradients of the inputs from a list with one gradient per output, in the array world `xp`; where `live`
        is given only of the inputs for which it is true."""
        raise NotImplementedError

    def release(self) -> None:
        """Free what was saved of tensors; a second backward pass through this node is then an error."""
        if self.saved and self.op.holds:
            self.saved = None

    # --- what everybody may ask ---

    def name(self) -> str:
        """The name of the operation's derivative, such as "MulBackward0"."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple:
        """Pairs (node, output number), one for each differentiable input; (None, 0) where no gradient is asked for."""
        from .tensor import Tensor  # tensor.py stands on this file

        # A hook registered on an AccumulateGrad lives as long as the graph does: the node takes the object itself.
        if any(isinstance(edge, Tensor) for edge in self.edges):
            self.edges = tuple(AccumulateGrad.of(e) if isinstance(e, Tensor) else e for e in self.edges)
        # The edge of a view made under no_grad (views.NOWHERE) leads to nobody; it alone has a negative number.
        edges = (None if isinstance(e, Node) and e.sequence < 0 else e for e in self.edges)
        return tuple((e.node, e.number) if type(e) is Output else (e, 0) for e in edges)

    @property
    def metadata(self) -> dict:
        """A dictionary for notes about this node."""
        return self.extras().metadata

    @property
    def requires_grad(self) -> bool:
        return True

    def extras(self) -> Extra:
        if self.extra is None:
            self.extra = Extra()
        return self.extra

    def register_hook(self, fn) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after this node ran; a returned tuple replaces the `grad_inputs`."""
        return self.extras().posthooks.add(fn)

    def register_prehook(self, fn) -> RemovableHandle:
        """Call `fn(grad_outputs)` before this node runs; a returned tuple replaces the `grad_outputs`."""
        return self.extras().prehooks.add(fn)

    @property
    def _input_metadata(self) -> list:
        return list(self.spec) if type(self.spec) is tuple else [self.spec]

    def _sequence_nr(self) -> int:
        return self.sequence

    def __call__(self, *grads):
        from .engine import call_node

        return call_node(self, grads)

    def __repr__(self):
        return f"<{type(self).__name__} object at {id(self):#x}>"

    def __reduce__(self):
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")


class Output:
    """One output of a node that has several: what the edges that lead there point at."""

    __slots__ = ("node", "number")
    _kind = 2  # engine.OUTPUT_KIND

    def __init__(self, node: Node, number: int):
        self.node = node
        self.number = number


class AccumulateGrad(Node):
    """The sink of a leaf: adds what arrives to `variable.grad`. Made when looked at; the leaf knows it weakly."""

    __slots__ = ("variable",)
    variable: Any
    _kind = 1  # engine.CAREFUL_KIND

    @classmethod
    def of(cls, leaf) -> "AccumulateGrad":
        state = leaf._leaf_state()
        known = state.sink()
        if known is None:
            known = cls.make((), (), leaf._spec)
            known.sequence = (1 << 64) - 1
            known.variable = leaf
            state.sink = weakref.ref(known)
        return known

    @property
    def next_functions(self) -> tuple:
        return ()

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"


def node_class(name: str, op=None, base: type = Node) -> type:
    """The class of one operation's nodes."""
    return type(name, (base,), {"__slots__": (), "op": op, "__module__": "torch.autograd"})


FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


def saved_error(node: Node) -> RuntimeError:
    """Why the saved values of a node cannot be used: freed already, or one was modified since it was saved."""
    if node.saved is None:
        return RuntimeError(FREED)
    for i in range(0, len(node.saved), 3):
        value, counter, version = node.saved[i : i + 3]
        if counter is not None and counter[0] != version:
            return modified_error(node, i // 3, value, counter[0], version)
    raise AssertionError("the saved values are in order")


def modified_error(node: Node, index: int, array, found: int, expected: int) -> RuntimeError:
    """The error for the saved value number `index` of a node, which an in-place operation changed."""
    name = node.op.saved_names[index]
    changed = changed_tensor(node, index)
    if changed is not None and not name.startswith("result"):
        edge = changed._node()
        return version_error(getattr(edge, "node", edge), getattr(edge, "number", 0), array, found, expected)
    maker, number = None, 0
    if name.startswith("result"):
        maker, number = node, int(name[6:] or 0)
    elif name in node.op.tensor_names:
        edge = node.edges[node.op.tensor_names.index(name)]
        maker, number = (edge.node, edge.number) if type(edge) is Output else (edge, 0)
    return version_error(maker, number, array, found, expected)


def changed_tensor(node: Node, index: int):
    """The tensor that was saved as value number `index`, if it lives and a recorded operation was the last to change it."""
    array, counter, _ = node.saved[3 * index : 3 * index + 3]
    for ref in counter[1:]:
        tensor = ref()
        if tensor is not None and tensor._array is array:
            return tensor
    return None


def version_error(maker, number: int, array, found: int, expected: int) -> RuntimeError:
    """The error for a saved tensor (output `number` of the node `maker`) that an in-place operation changed."""
    from .spec import spec_of

    spec = spec_of(array)
    text = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{spec.dtype.type_name} {list(spec.shape)}]"
    )
    told = isinstance(maker, Node) and type(maker) is not AccumulateGrad
    if told and number not in getattr(maker.op, "nondifferentiable_outputs", ()):
        text += f", which is output {number} of {plain_name(maker)},"
    return RuntimeError(
        f"{text} is at version {found}; expected version {expected} instead. Hint: enable anomaly detection to find the "
        "operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )


def plain_name(node: Node) -> str:
    """The name of a node in error messages: "Exp" for ExpBackward0, "Sum1" for SumBackward1."""
    name = node.name()
    head, found, tail = name.rpartition("Backward")
    return head + tail.removeprefix("0") if found and (not tail or tail.isdigit()) else name
