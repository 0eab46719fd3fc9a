"""autograd.Function: operations whose derivative the user writes; https://pytorch.org/docs/stable/autograd.html#function.

The `ctx` that `forward` and `backward` receive is the node of the graph itself.
"""

import functools
import warnings
from typing import Any

import numpy as np

from ..core.general import edge_of
from ..core.grad_mode import set_grad
from ..core.inplace import check_inplace, rebase_history
from ..core.modes import state
from ..core.node import FREED, Node, Output, next_sequence, version_error
from ..core.tensor import Tensor, wrap
from ..core.views import CUSTOM, MULTI_OUTPUT, make_view

__all__ = ["Function", "FunctionCtx", "once_differentiable"]


class Saved:
    """One tensor that `save_for_backward` kept: an input as it is, an output or something else by its array."""

    __slots__ = ("tensor", "array", "counter", "version", "output")

    def __init__(self, tensor, output):
        self.output = output
        self.counter = tensor._counter
        self.version = tensor._counter[0] if tensor._counter is not None else 0
        self.array = tensor._array
        self.tensor = None if output is not None else tensor


class FunctionCtx(Node):
    """What `forward` and `backward` share: saved tensors, flags, and any attribute the user sets."""

    __slots__ = ("outputs", "function", "_kept", "_positions", "__dict__")
    _kind = 1  # engine.CAREFUL_KIND
    op = None
    function: Any
    _kept: tuple | None
    _positions: list

    materialize_grads = True
    needs_input_grad: tuple = ()
    dirty_tensors: tuple | None = None
    non_differentiable: tuple | None = None
    to_save: tuple | None = None

    # --- for the user, inside forward or setup_context ---

    def save_for_backward(self, *tensors) -> None:
        """Keep tensors (or None) for `backward`, which reads them from `saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors) -> None:
        """Keep tensors for `jvp`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args) -> None:
        """Say which inputs `forward` changed in place; they must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` sees zeros (the default) or None for outputs that received no gradient."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple:
        """The tensors kept by `save_for_backward`; RuntimeError when freed or changed in place since."""
        if self._kept is None:
            raise RuntimeError(FREED)
        return tuple(None if s is None else self._unpack(s) for s in self._kept)

    saved_variables = saved_tensors

    def _unpack(self, saved: Saved) -> Tensor:
        if saved.counter is not None and saved.counter[0] != saved.version:
            raise self._modified(saved)
        if saved.tensor is not None:
            return saved.tensor
        t = wrap(saved.array)
        t._counter = saved.counter
        if saved.output >= 0 and t._spec.inexact:
            t._edge = self if self.outputs == 1 else Output(self, saved.output)
        return t

    def _modified(self, saved: Saved) -> RuntimeError:
        maker, number = self, saved.output
        if saved.tensor is not None:
            maker, number = saved.tensor.grad_fn, saved.tensor.output_nr
        return version_error(maker, number, saved.array, saved.counter[0], saved.version)

    def __repr__(self):
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    # --- for the engine ---

    def release(self) -> None:
        if self._kept:
            self._kept = None

    def vjp(self, grad):
        return self.run([grad], None)

    def run(self, grads, xp, live=None) -> list:
        specs = self.spec if type(self.spec) is tuple else (self.spec,)
        given = [self._incoming(g, s) for g, s in zip(grads, specs)]
        backward = self.function._backward_function()
        results = backward(self, *given)
        if not isinstance(results, tuple):
            results = (results,)
        return self._checked(results, xp)

    def _incoming(self, grad, spec):
        if grad is None:
            if not self.materialize_grads or spec is None:
                return None
            return wrap(np.zeros(spec.shape, spec.array_dtype))
        return grad if isinstance(grad, Tensor) else wrap(np.asarray(grad))

    def _checked(self, results: tuple, xp) -> list:
        """The gradients of the tensor inputs, each fitted to its input; RuntimeError for a wrong number or shape."""
        name, count = self.name(), len(self._positions)
        if len(results) > count and all(r is None for r in results[count:]):
            results = results[:count]
        if len(results) != count:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {count}, got {len(results)})"
            )
        out: list = []
        for i, (result, spec) in enumerate(zip(results, self._positions)):
            if spec is None:
                if result is not None:
                    raise RuntimeError(
                        f"function {name} returned a gradient different than None at position {i + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            if result is not None and not isinstance(result, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(result).__name__})")
            out.append(self._fitted(len(out), result, spec, xp))
        return out

    def _fitted(self, index: int, grad, spec, xp):
        if grad is None or self.edges[index] is None:
            return None
        if grad._spec is not spec:
            check_expandable(self.name(), index, grad._spec.shape, spec.shape)
        if xp is None:
            from ..core import vocabulary

            return vocabulary.fit(grad._array, spec)
        return xp.fit(grad, spec)


def check_expandable(name: str, index: int, got: tuple, expected: tuple) -> None:
    """RuntimeError unless a gradient of shape `got` can be summed to `expected`."""
    fits = len(expected) <= len(got) and all(e in (g, 1) for e, g in zip(reversed(expected), reversed(got)))
    if not fits:
        raise RuntimeError(
            f"Function {name} returned an invalid gradient at index {index} - got {list(got)} but expected shape compatible "
            f"with {list(expected)}"
        )


class FunctionMeta(type):
    """Makes, for every Function, the class of its nodes: `Cube` gets `CubeBackward`."""

    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        cls._backward_cls = type(
            name + "Backward",
            (FunctionCtx,),
            {"__module__": "torch.autograd.function"},
        )


class Function(metaclass=FunctionMeta):
    """Base class of custom operations: define `forward` and `backward` as static methods, call `apply`."""

    _backward_cls: Any

    def __init__(self, *args, **kwargs):
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke "
            "them on the class itself. Instantiating an autograd function will raise an error in a future version of "
            "PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
            "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    generate_vmap_rule = False

    @staticmethod
    def forward(*args, **kwargs):
        """What the operation computes; first parameter `ctx` unless `setup_context` is defined."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Fill `ctx` after a `forward` that does not take it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients of the inputs from those of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward "
            "mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """The tangents of the outputs from those of the inputs."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @classmethod
    def _backward_function(cls):
        if cls.backward is not Function.backward:
            if cls.vjp is not Function.vjp:
                raise RuntimeError(
                    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement "
                    "one of them."
                )
            return cls.backward
        return cls.vjp

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run `forward` and record it as one node."""
        if kwargs:
            args = bind_default_args(cls, args, kwargs)
        ctx = cls._backward_cls.make((), (), None)
        ctx._kept = ()
        ctx._positions = ()
        ctx.outputs = 1
        ctx.function = cls
        tensors = [a for a in args if isinstance(a, Tensor)]
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        recorded = state.grad_enabled and not state.inference and any(ctx.needs_input_grad)
        edges = tuple(edge_of(t) for t in tensors) if recorded else ()
        output = run_forward(cls, ctx, args)
        return finish(ctx, args, tensors, edges, output, recorded)


def bind_default_args(cls, args, kwargs):
    import inspect

    function = cls.forward
    with_ctx = cls.setup_context is Function.setup_context
    signature = inspect.signature(function)
    bound = signature.bind(*((None,) if with_ctx else ()), *args, **kwargs)
    bound.apply_defaults()
    return bound.args[1:] if with_ctx else bound.args


def run_forward(cls, ctx, args):
    """`forward` (and `setup_context`) with recording off."""
    before = state.grad_enabled
    set_grad(False)
    try:
        if cls.setup_context is Function.setup_context:
            return cls.forward(ctx, *args)
        output = cls.forward(*args)
        cls.setup_context(ctx, args, output)
        return output
    finally:
        set_grad(before)


def finish(ctx, args, tensors, edges, output, recorded: bool):
    """Turn what `forward` returned into the results of the recorded operation, and keep what it saved."""
    several = isinstance(output, tuple)
    outs = list(output) if several else [output]
    dirty = {id(t) for t in ctx.dirty_tensors or ()}
    plain = {id(t) for t in ctx.non_differentiable or ()}
    if dirty - {id(o) for o in outs}:
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    keep = save_all(ctx, outs, tensors, recorded)
    if recorded:
        ctx.edges = edges
        ctx.sequence = next_sequence()
        ctx._positions = tuple(a._spec if isinstance(a, Tensor) else None for a in args)
        ctx.spec = tuple(o._spec if isinstance(o, Tensor) else None for o in outs)
        ctx.outputs = len(outs)
        if len(outs) == 1:
            ctx.spec = ctx.spec[0]
    inputs = {id(t) for t in tensors}
    name = type(ctx).__name__.removesuffix("Backward")
    results = []
    for number, o in enumerate(outs):
        if not isinstance(o, Tensor):
            results.append(o)
            continue
        differentiable = recorded and id(o) not in plain and o._spec.inexact
        results.append(place(ctx, o, number, id(o) in inputs, id(o) in dirty, differentiable, len(outs), name))
    ctx._kept = keep
    return tuple(results) if several else results[0]


def save_all(ctx, outs, tensors, recorded: bool):
    if ctx.to_save is None or not recorded:
        ctx.__dict__.pop("to_save", None)
        return ()
    dirty = {id(t) for t in ctx.dirty_tensors or ()}
    numbers = {id(o): i for i, o in enumerate(outs) if isinstance(o, Tensor)}
    inputs = {id(t) for t in tensors}
    kept: list = []
    for i, t in enumerate(ctx.to_save):
        if t is None:
            kept.append(None)
        elif not isinstance(t, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}"
            )
        elif id(t) in numbers and (id(t) not in inputs or id(t) in dirty):
            kept.append(Saved(t, numbers[id(t)]))
        elif id(t) in inputs:
            kept.append(Saved(t, None))
        else:
            kept.append(Saved(t, -1))
    ctx.__dict__.pop("to_save", None)
    return tuple(kept)


def place(ctx, o, number, is_input, is_dirty, differentiable, count, name):
    """Give one output its place in the graph."""
    edge = ctx if count == 1 else Output(ctx, number)
    if is_dirty and differentiable:
        if o._view is None and o.is_leaf and o.requires_grad:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        check_inplace(o)
        if o._view is not None:
            rebase_history(o, ctx)
        else:
            o._edge = edge
        return o
    if is_dirty:
        return o
    if is_input:
        source, o = o, wrap(o._array)
        make_view(o, source, MULTI_OUTPUT if count > 1 else CUSTOM)
    elif o._view is not None:
        o._view.meta = MULTI_OUTPUT if count > 1 else CUSTOM
        o._view.version = o._counter[0] if o._counter else 0
    elif o._edge is not None:
        # A leaf or a recorded tensor from elsewhere: its own history stays with it.
        source, o = o, wrap(o._array)
        o._counter = source._counter
    o._edge = edge if differentiable else None
    return o


def once_differentiable(fn):
    """Decorator of a `backward` that must not itself be differentiated: it runs with recording off, and differentiating
    its results is an error."""

    @functools.wraps(fn)
    def wrapper(ctx, *args):
        before = state.grad_enabled
        set_grad(False)
        try:
            outputs = fn(ctx, *args)
        finally:
            set_grad(before)
        if not before or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        several = isinstance(outputs, tuple)
        refused = [o if not isinstance(o, Tensor) else _refusing(o) for o in (outputs if several else (outputs,))]
        return tuple(refused) if several else refused[0]

    return wrapper


class Error(Node):
    """The node of a gradient that must not be differentiated again."""

    __slots__ = ()

    def vjp(self, grad):
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")

    def run(self, grads, xp, live=None):
        return self.vjp(grads[0])


def _refusing(output) -> Tensor:
    t = wrap(output._array)
    if t._spec.inexact:
        t._edge = Error.make((), (), t._spec)
    return t
