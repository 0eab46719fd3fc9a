"""Grad modes: as context managers and as decorators of everything that can be called, per thread, and always restored."""

import asyncio
import threading

import pytest

import chainrule as torch

MODES = [torch.no_grad, torch.enable_grad, torch.inference_mode]
WANTED = {torch.no_grad: False, torch.enable_grad: True, torch.inference_mode: False}


@pytest.fixture(params=[True, False], autouse=True)
def before(request):
    """Every test starts with recording on and with recording off, and ends as it started."""
    torch.set_grad_enabled(request.param)
    yield request.param
    assert torch.is_grad_enabled() is request.param and not torch.is_inference_mode_enabled()
    torch.set_grad_enabled(True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_blocks_restore_what_held_before(mode, error, before):
    def run():
        with mode():
            assert torch.is_grad_enabled() is WANTED[mode]
            assert torch.is_inference_mode_enabled() is (mode is torch.inference_mode)
            with torch.enable_grad(), torch.no_grad():
                assert not torch.is_grad_enabled()
            assert torch.is_grad_enabled() is WANTED[mode]
            if error:
                raise error

    if error is None:
        return run()
    with pytest.raises(error):
        run()


def test_one_object_may_be_entered_again(before):
    mode = torch.no_grad()
    with mode:
        with mode:
            pass
        assert not torch.is_grad_enabled()


@pytest.mark.parametrize("mode", MODES)
def test_functions_with_and_without_parentheses(mode, before):
    @mode()
    def first(a, *, b=2):
        """What it does."""
        return a, b, torch.is_grad_enabled()

    @mode
    def second():
        return torch.is_grad_enabled()

    class Thing:
        @mode()
        def method(self):
            return self, torch.is_grad_enabled()

        @staticmethod
        @mode()
        def static():
            return torch.is_grad_enabled()

        @classmethod
        @mode()
        def of_class(cls):
            return cls, torch.is_grad_enabled()

    thing = Thing()
    assert first(1, b=3) == (1, 3, WANTED[mode]) and second() is WANTED[mode]
    assert thing.method() == (thing, WANTED[mode]) and Thing.static() is WANTED[mode]
    assert Thing.of_class() == (Thing, WANTED[mode])
    assert first.__name__ == "first" and first.__doc__ == "What it does." and first.__wrapped__

    @mode()
    def failing():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()

    @mode()
    def again(n):
        return torch.is_grad_enabled() if n == 0 else again(n - 1)

    assert again(5) is WANTED[mode]


@pytest.mark.parametrize("mode", MODES)
def test_generators_run_in_the_mode_and_their_callers_never_do(mode, before):
    seen = []

    @mode()
    def generate(n):
        try:
            for i in range(n):
                seen.append(torch.is_grad_enabled())
                try:
                    sent = yield i
                except LookupError:
                    seen.append("caught")
                    sent = yield "after"
                seen.append((sent, torch.is_grad_enabled()))
            return "done"
        finally:
            seen.append(("finally", torch.is_grad_enabled()))

    wanted = WANTED[mode]
    generator = generate(2)
    assert next(generator) == 0 and torch.is_grad_enabled() is before
    assert generator.send("a") == 1 and torch.is_grad_enabled() is before
    assert generator.throw(LookupError()) == "after" and torch.is_grad_enabled() is before
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "done"
    assert seen == [wanted, ("a", wanted), wanted, "caught", (None, wanted), ("finally", wanted)]

    seen.clear()
    generator = generate(2)
    next(generator)
    generator.close()
    assert seen == [wanted, ("finally", wanted)] and torch.is_grad_enabled() is before
    seen.clear()
    generator = generate(3)
    next(generator)
    with pytest.raises(ZeroDivisionError):
        generator.throw(ZeroDivisionError())
    assert seen[-1] == ("finally", wanted)
    assert list(generate(0)) == []

    @mode()
    def delegating():
        found = yield from generate(1)
        yield found

    assert list(delegating()) == [0, "done"]


@pytest.mark.parametrize("mode", MODES)
def test_coroutines_and_asynchronous_generators(mode, before):
    wanted, seen = WANTED[mode], []

    @mode()
    async def work(pause):
        seen.append(torch.is_grad_enabled())
        await asyncio.sleep(pause)
        seen.append(torch.is_grad_enabled())
        return "result"

    @mode()
    async def produce():
        try:
            for i in range(3):
                await asyncio.sleep(0)
                seen.append(torch.is_grad_enabled())
                yield i
        finally:
            seen.append(("finally", torch.is_grad_enabled()))

    @mode()
    async def failing():
        await asyncio.sleep(0)
        raise ZeroDivisionError

    async def main():
        task = asyncio.create_task(work(0.01))
        assert await work(0) == "result"
        assert torch.is_grad_enabled() is before
        async for i in produce():
            assert torch.is_grad_enabled() is before
            if i == 1:
                break
        with pytest.raises(ZeroDivisionError):
            await failing()
        assert torch.is_grad_enabled() is before
        return await task

    assert asyncio.run(main()) == "result"
    assert all(s is wanted for s in seen if s.__class__ is bool) and ("finally", wanted) in seen


@pytest.mark.parametrize("mode", MODES)
def test_classes_are_decorated_with_a_warning(mode):
    class Thing:
        def __init__(self, value):
            self.value, self.made = value, torch.is_grad_enabled()

    text = (
        "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions"
    )
    with pytest.warns(FutureWarning, match=text):
        make = mode()(Thing)
    found = make(3)
    assert type(found) is Thing and found.value == 3 and found.made is WANTED[mode]


def test_set_grad_enabled_acts_at_once_and_as_a_block_and_as_a_decorator(before):
    torch.set_grad_enabled(not before)
    assert torch.is_grad_enabled() is not before
    torch.set_grad_enabled(before)
    with torch.set_grad_enabled(not before):
        assert torch.is_grad_enabled() is not before
    assert torch.is_grad_enabled() is before

    @torch.set_grad_enabled(not before)
    def function():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled() is before and function() is not before
    assert repr(torch.set_grad_enabled(before)) == f"torch.autograd.grad_mode.set_grad_enabled(mode={before})"
    text = r"set_grad_enabled\(\): argument 'enabled' \(position 1\) must be bool, not int"
    with pytest.raises(TypeError, match=text):
        torch.set_grad_enabled(1)


def test_threads_do_not_see_each_other(before):
    inside, done, seen = threading.Event(), threading.Event(), {}

    def other():
        seen["starts with"] = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        with torch.inference_mode():
            inside.set()
            done.wait(5)
            seen["inside"] = torch.is_grad_enabled(), torch.ones(1).is_inference()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(5)
    x = torch.ones(2, requires_grad=True)
    with torch.enable_grad():
        seen["here"] = torch.is_inference_mode_enabled(), (x * 2).requires_grad, torch.ones(1).is_inference()
    done.set()
    thread.join()
    assert seen == {"starts with": (True, False), "here": (False, True, False), "inside": (False, True)}


def test_what_is_recorded(before):
    x = torch.ones(2, requires_grad=True)
    assert (x * 2).requires_grad is before
    with torch.enable_grad():
        y = x * 2
    with torch.no_grad():
        z = y * 2
        assert torch.ones(1, requires_grad=True).requires_grad and not z.requires_grad and z.grad_fn is None
        y.sum().detach()
    assert y.requires_grad
    with torch.inference_mode():
        with torch.enable_grad():
            assert torch.is_grad_enabled() and not (x * 2).requires_grad
        with torch.inference_mode(False):
            assert torch.is_grad_enabled() and not torch.ones(1).is_inference() and (x * 2).requires_grad
        assert torch.ones(1).is_inference()


def test_inside_a_backward_pass(before):
    with torch.enable_grad():
        x = torch.ones(2, requires_grad=True)
        y = (x * x).sum()
        seen = []
        x.register_hook(lambda g: seen.append((torch.is_grad_enabled(), g.requires_grad)))
    y.backward(retain_graph=True)
    torch.autograd.grad(y, x, create_graph=True)
    assert seen == [(False, False), (True, True)]
    assert torch.is_grad_enabled() is before

    def fail(grad):
        raise ZeroDivisionError

    x.register_hook(fail)
    with pytest.raises(ZeroDivisionError):
        torch.autograd.grad(y, x, create_graph=True)
    assert torch.is_grad_enabled() is before


def test_modes_inside_a_custom_function(before):
    seen = []

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(torch.is_grad_enabled())
            with torch.enable_grad():
                seen.append(torch.is_grad_enabled())
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            seen.append(torch.is_grad_enabled())
            return 2 * grad * ctx.saved_tensors[0]

    with torch.enable_grad():
        y = Square.apply(torch.ones(1, requires_grad=True))
    y.backward()
    assert seen == [False, True, False]
