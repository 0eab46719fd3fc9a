"""no_grad, enable_grad, set_grad_enabled and inference_mode: context managers and decorators, per thread."""

import functools
import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any

from .modes import lower_flag, raise_flag, state

__all__ = [
    "no_grad",
    "enable_grad",
    "set_grad_enabled",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
]


def is_grad_enabled() -> bool:
    """Whether operations of this thread are recorded."""
    return state.grad_enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside `inference_mode`."""
    return state.inference


def set_grad(enabled: bool) -> None:
    """Switch recording on or off in this thread."""
    if enabled is not state.grad_enabled:
        state.grad_enabled = enabled
        if enabled:
            lower_flag()
        else:
            raise_flag()


def set_inference(enabled: bool) -> None:
    if enabled is not state.inference:
        state.inference = enabled
        if enabled:
            raise_flag(detour=True)
        else:
            lower_flag(detour=True)


_CLASS = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
    "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method and "
    "nothing else."
)


def _constructor(cls):
    """The making of an object of a class as a function."""
    return functools.wraps(cls, updated=())(lambda *args, **kwargs: cls(*args, **kwargs))


class ThreadMode:
    """A context manager that is also a decorator of functions, generators, coroutines and asynchronous generators.

    A generator or coroutine runs in the mode while it runs, and its caller never does.
    """

    def clone(self):
        return type(self)()

    def __enter__(self):
        raise NotImplementedError

    def __exit__(self, *exc):
        raise NotImplementedError

    def __call__(self, func):
        if inspect.isclass(func):
            warnings.warn(_CLASS, FutureWarning, stacklevel=2)
            return decorate(self.clone, _constructor(func))
        return decorate(self.clone, func)


def decorate(mode: Callable[[], Any], func):
    """`func` run in a fresh `mode()` at every call, and at every step where it is a generator or a coroutine."""
    if inspect.isgeneratorfunction(func):

        @functools.wraps(func)
        def generator(*args, **kwargs):
            return _steps(mode, func(*args, **kwargs))

        return generator
    if inspect.iscoroutinefunction(func):

        @functools.wraps(func)
        async def coroutine(*args, **kwargs):
            return await _awaitable_steps(mode, func(*args, **kwargs))

        return coroutine
    if inspect.isasyncgenfunction(func):

        @functools.wraps(func)
        async def async_generator(*args, **kwargs):
            inner = func(*args, **kwargs)
            step = inner.__anext__()
            try:
                while True:
                    try:
                        value = await _awaitable_steps(mode, step)
                    except StopAsyncIteration:
                        return
                    try:
                        sent = yield value
                    except GeneratorExit:
                        raise
                    except BaseException as e:
                        step = inner.athrow(e)
                    else:
                        step = inner.asend(sent)
            finally:
                await _awaitable_steps(mode, inner.aclose())

        return async_generator

    @functools.wraps(func)
    def function(*args, **kwargs):
        with mode():
            return func(*args, **kwargs)

    return function


def _steps(mode, inner):
    """A generator that does what `inner` does, with the mode on only while `inner` runs."""
    resume, value = inner.send, None
    try:
        while True:
            try:
                with mode():
                    out = resume(value)
            except StopIteration as stop:
                return stop.value
            try:
                value = yield out
                resume = inner.send
            except GeneratorExit:
                raise
            except BaseException as e:
                resume, value = inner.throw, e
    finally:
        with mode():
            inner.close()


@types.coroutine
def _awaitable_steps(mode, awaitable):
    iterator = awaitable if inspect.iscoroutine(awaitable) else awaitable.__await__()
    return (yield from _steps(mode, iterator))


class _SetGrad(ThreadMode):
    _enabled: bool

    def __init__(self):
        self._previous = []

    def __enter__(self):
        self._previous.append(state.grad_enabled)
        set_grad(self._enabled)

    def __exit__(self, *exc):
        set_grad(self._previous.pop())


class no_grad(_SetGrad):
    """Operations inside are not recorded; https://pytorch.org/docs/stable/generated/torch.no_grad.html."""

    _enabled = False

    def __new__(cls, orig_func=None):
        made = super().__new__(cls)
        if orig_func is None:
            return made
        made.__init__()
        return made(orig_func)

    def __init__(self, orig_func=None):
        super().__init__()


class enable_grad(no_grad):
    """Operations inside are recorded, whatever holds outside; usable as a decorator with or without parentheses."""

    _enabled = True


class set_grad_enabled(ThreadMode):
    """Switch recording on or off, at once; leaving a `with` block of it restores what held before."""

    def __init__(self, mode: bool):
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self._previous = state.grad_enabled
        self.mode = mode
        set_grad(mode)

    def clone(self):
        return type(self)(self.mode)

    def __enter__(self):
        set_grad(self.mode)

    def __exit__(self, *exc):
        set_grad(self._previous)

    def __call__(self, func):
        set_grad(self._previous)
        return super().__call__(func)

    def __repr__(self):
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(ThreadMode):
    """Nothing inside is recorded, and tensors made inside have no version counter and can never be recorded."""

    def __new__(cls, mode=True):
        made = super().__new__(cls)
        if isinstance(mode, bool):
            return made
        made.__init__()
        return made(mode)

    def __init__(self, mode: bool = True):
        self.mode = mode
        self._previous: list[tuple[bool, bool]] = []

    def clone(self):
        return type(self)(self.mode)

    def __enter__(self):
        self._previous.append((state.inference, state.grad_enabled))
        set_inference(self.mode)
        set_grad(not self.mode)

    def __exit__(self, *exc):
        inference, grad = self._previous.pop()
        set_inference(inference)
        set_grad(grad)
