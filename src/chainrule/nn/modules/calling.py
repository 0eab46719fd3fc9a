"""Calling a module: its forward function, with hooks before, after and in the backward pass.

The hooks of one module are kept in the module, those for all modules in `everywhere`.
"""

import warnings
import weakref
from collections import OrderedDict

from ...core.node import RemovableHandle
from ...core.tensor import Tensor
from .backward_hooks import BackwardHook

__all__ = ["Calling", "everywhere"]


class Everywhere:
    """Hooks that run for every module; `any_call` says whether a call has to look at them."""

    def __init__(self):
        self.forward_pre = OrderedDict()
        self.forward = OrderedDict()
        self.forward_with_kwargs = OrderedDict()
        self.forward_always = OrderedDict()
        self.backward_pre = OrderedDict()
        self.backward = OrderedDict()
        self.full_backward = None  # None until the first one says whether all are full
        self.module_registration = OrderedDict()
        self.parameter_registration = OrderedDict()
        self.buffer_registration = OrderedDict()

    @property
    def any_call(self) -> bool:
        return bool(self.forward_pre or self.forward or self.backward_pre or self.backward)


everywhere = Everywhere()


def register(hooks: OrderedDict, hook, *beside: tuple[bool, OrderedDict], prepend: bool = False) -> RemovableHandle:
    """Add a hook; where a condition in `beside` holds its number is also noted in that dictionary."""
    noted = [d for wanted, d in beside if wanted]
    handle = RemovableHandle(hooks, extra_dict=noted)
    hooks[handle.id] = hook
    for d in noted:
        d[handle.id] = True
        if prepend:
            d.move_to_end(handle.id, last=False)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Calling:
    """The part of Module that runs it."""

    _forward_hooks: OrderedDict
    _forward_hooks_with_kwargs: OrderedDict
    _forward_hooks_always_called: OrderedDict
    _forward_pre_hooks_with_kwargs: OrderedDict
    _is_full_backward_hook: bool | None
    _forward_pre_hooks: OrderedDict
    _backward_hooks: OrderedDict
    _backward_pre_hooks: OrderedDict

    def _init_calling(self) -> None:
        own = self.__dict__
        own["_backward_pre_hooks"] = OrderedDict()
        own["_backward_hooks"] = OrderedDict()
        own["_is_full_backward_hook"] = None
        own["_forward_hooks"] = OrderedDict()
        own["_forward_hooks_with_kwargs"] = OrderedDict()
        own["_forward_hooks_always_called"] = OrderedDict()
        own["_forward_pre_hooks"] = OrderedDict()
        own["_forward_pre_hooks_with_kwargs"] = OrderedDict()

    def forward(self, *input):
        """What the module computes; overridden by every module."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args, **kwargs):
        own = self.__dict__
        try:
            plain = not (
                own["_forward_hooks"]
                or own["_forward_pre_hooks"]
                or own["_backward_hooks"]
                or own["_backward_pre_hooks"]
                or everywhere.any_call
            )
        except KeyError:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '_backward_hooks'") from None
        if plain:
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    _call_impl = _wrapped_call_impl = __call__

    def _call_with_hooks(self, args: tuple, kwargs: dict):
        called: set[int] = set()
        result = None
        try:
            args, kwargs = self._run_pre_hooks(args, kwargs)
            full, other = self._split_backward_hooks()
            pre = [*everywhere.backward_pre.values(), *self._backward_pre_hooks.values()]
            watcher = BackwardHook(self, full, pre) if full or pre else None
            if watcher is not None:
                args = watcher.setup_input_hook(args)
            result = self.forward(*args, **kwargs)
            result = self._run_forward_hooks(args, kwargs, result, called, always_only=False)
            if watcher is not None:
                if not isinstance(result, (Tensor, tuple)):
                    warnings.warn(
                        "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                        f"received {type(result)}",
                        stacklevel=3,
                    )
                result = watcher.setup_output_hook(result)
            if other:
                self._hook_grad_fn(other, result)
            return result
        except Exception:
            try:
                self._run_forward_hooks(args, kwargs, result, called, always_only=True)
            except Exception as error:
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was silenced as another error "
                    f"was raised in forward: {error}",
                    stacklevel=3,
                )
            raise

    def _run_pre_hooks(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        for number, hook in (*everywhere.forward_pre.items(), *self._forward_pre_hooks.items()):
            if number in self._forward_pre_hooks_with_kwargs:
                changed = hook(self, args, kwargs)
                if changed is not None:
                    if not (isinstance(changed, tuple) and len(changed) == 2):
                        raise RuntimeError(
                            f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                        )
                    args, kwargs = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        return args, kwargs

    def _run_forward_hooks(self, args, kwargs, result, called: set, always_only: bool):
        groups = (
            (everywhere.forward, everywhere.forward_with_kwargs, everywhere.forward_always),
            (self._forward_hooks, self._forward_hooks_with_kwargs, self._forward_hooks_always_called),
        )
        for hooks, with_kwargs, always in groups:
            for number, hook in hooks.items():
                if always_only and (number in called or number not in always):
                    continue
                called.add(number)
                changed = hook(self, args, kwargs, result) if number in with_kwargs else hook(self, args, result)
                if changed is not None:
                    result = changed
        return result

    # --- hooks of one module ---

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False) -> RemovableHandle:
        """Call `hook(module, args)` before every forward; what it returns takes the place of the arguments."""
        beside = (with_kwargs, self._forward_pre_hooks_with_kwargs)
        return register(self._forward_pre_hooks, hook, beside, prepend=prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False) -> RemovableHandle:
        """Call `hook(module, args, output)` after every forward; what it returns takes the place of the output."""
        beside = (with_kwargs, self._forward_hooks_with_kwargs), (always_call, self._forward_hooks_always_called)
        return register(self._forward_hooks, hook, *beside, prepend=prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the backward pass goes through the module."""
        return register(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook, prepend=False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the module's inputs are known."""
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of "
                "them."
            )
        self._is_full_backward_hook = True
        return register(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` at the node that made the output; deprecated in PyTorch."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of "
                "them."
            )
        self._is_full_backward_hook = False
        return register(self._backward_hooks, hook)

    def _split_backward_hooks(self) -> tuple[list, list]:
        """The full backward hooks and the others."""
        full: list = []
        other: list = []
        if everywhere.backward:
            (full if everywhere.full_backward else other).extend(everywhere.backward.values())
        if self._backward_hooks:
            (full if self._is_full_backward_hook else other).extend(self._backward_hooks.values())
        return full, other

    def _hook_grad_fn(self, hooks: list, result) -> None:
        tensor = result
        while not isinstance(tensor, Tensor):
            values = list(tensor.values()) if isinstance(tensor, dict) else tensor
            tensor = (
                next((v for v in values if isinstance(v, Tensor)), values[0]) if isinstance(tensor, dict) else values[0]
            )
        node = tensor.grad_fn
        if node is None:
            return
        warnings.warn(
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated and will be "
            "removed in future versions. This hook will be missing some grad_input. Please use register_full_backward_hook "
            "to get the documented behavior.",
            FutureWarning,
            stacklevel=4,
        )
        module = weakref.ref(self)
        for hook in hooks:
            node.register_hook(lambda grad_input, grad_output, hook=hook: hook(module(), grad_input, grad_output))

    def _get_backward_hooks(self) -> tuple[list, list]:
        return self._split_backward_hooks()

    def _get_backward_pre_hooks(self) -> list:
        return [*everywhere.backward_pre.values(), *self._backward_pre_hooks.values()]
