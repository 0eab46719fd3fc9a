"""autograd.Function: what ctx keeps, what apply returns, and the errors of wrong backward functions."""

import pytest

import chainrule as torch
from chainrule.autograd import Function
from chainrule.autograd.function import once_differentiable


def make(forward, backward):
    return type("F", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


@pytest.fixture
def x():
    return torch.ones(3, requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


def test_node_is_named_after_the_class_and_is_the_ctx(x):
    y = Cube.apply(x)
    assert y.grad_fn.name() == type(y.grad_fn).__name__ == "CubeBackward"
    assert repr(y) == "tensor([1., 1., 1.], grad_fn=<CubeBackward>)"
    assert y.grad_fn.saved_tensors[0] is x
    assert isinstance(y.grad_fn, torch.autograd.function.FunctionCtx)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 3.0]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.grad_fn.saved_tensors  # noqa: B018


def test_double_backward_follows_from_the_backward(x):
    (g,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == [6.0, 6.0, 6.0]


def test_saved_output_has_this_node_as_its_history(x):
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            assert y.grad_fn is ctx
            return g * y

    y = Exp.apply(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert torch.equal(h, x.detach().exp())


def test_saved_tensor_changed_in_place(x):
    y = x * 1
    z = Cube.apply(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"\[torch.FloatTensor \[3\]\], which is output 0 of Add, is at version 1"):
        z.sum().backward()


@pytest.mark.parametrize(
    "arity, backward, text",
    [
        (1, lambda ctx, g: (g, g), "function FBackward returned an incorrect number of gradients (expected 1, got 2)"),
        (2, lambda ctx, g: (g,), "function FBackward returned an incorrect number of gradients (expected 2, got 1)"),
        (1, lambda ctx, g: 3, "expected Variable or None (got int)"),
        (
            1,
            lambda ctx, g: torch.ones(2),
            "Function FBackward returned an invalid gradient at index 0 - got [2] but expected shape compatible with [3]",
        ),
    ],
)
def test_wrong_gradients(x, arity, backward, text):
    F = make((lambda ctx, x: x * 2) if arity == 1 else (lambda ctx, x, y: x * 2), backward)
    with pytest.raises(RuntimeError) as e:
        F.apply(*[x] * arity).sum().backward()
    assert str(e.value) == text


def test_gradient_for_a_number_must_be_none(x):
    F = make(lambda ctx, x, n: x * n, lambda ctx, g: (g, g))
    with pytest.raises(
        RuntimeError, match="returned a gradient different than None at position 2, but the corresponding"
    ):
        F.apply(x, 3).sum().backward()


def test_trailing_none_is_ignored_and_gradients_are_fitted(x):
    F = make(lambda ctx, x: x * 2, lambda ctx, g: (torch.ones(2, 3).double(), None))
    F.apply(x).sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [2.0, 2.0, 2.0]


def test_outputs_that_are_no_tensors_pass_through(x):
    F = make(lambda ctx, x: (x * 2, 3, None), lambda ctx, g, a, b: g if a is None and b is None else 1 / 0)
    y, three, none = F.apply(x)
    assert three == 3 and none is None
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_returning_an_input_gives_a_view_that_must_not_be_changed(x):
    F = make(lambda ctx, x: x, lambda ctx, g: g * 5)
    y = F.apply(x)
    assert y is not x and y._base is x
    y.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0, 5.0]
    with pytest.raises(
        RuntimeError, match="Output 0 of F is a view and is being modified inplace. This view was created"
    ):
        F.apply(x * 1).add_(1)


def test_mark_dirty(x):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x

    F = make(forward, lambda ctx, g: g * 2)
    z = x * 1
    assert F.apply(z) is z and z.grad_fn.name() == "FBackward" and z._version == 1
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(
        RuntimeError, match="a leaf Variable that requires grad has been used in an in-place operation."
    ):
        F.apply(x)


def test_mark_dirty_on_a_view_rewrites_the_base(x):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x

    F = make(forward, lambda ctx, g: g * 2)
    z = x * 1
    v = z[:2]
    F.apply(v)
    assert z.grad_fn.name() == "torch::autograd::CopySlices" and type(v.grad_fn).__name__ == "AsStridedBackward0"
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 1.0]


def test_dirty_must_be_returned(x):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 1

    with pytest.raises(RuntimeError, match="Some elements marked as dirty during the forward method were not returned"):
        make(forward, None).apply(x * 1)


def test_non_differentiable_and_materialized_gradients(x):
    seen = []

    def forward(ctx, x):
        mask = x > 0
        ctx.mark_non_differentiable(mask)
        return x * 2, x * 3, mask

    F = make(forward, lambda ctx, a, b, m: (seen.append(b.tolist()), a)[1])
    a, _, mask = F.apply(x)
    assert not mask.requires_grad
    a.sum().backward()
    assert seen == [[0.0, 0.0, 0.0]]


def test_without_materialized_gradients(x):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    F = make(forward, lambda ctx, a, b: (seen.append(b), a)[1])
    F.apply(x)[0].sum().backward()
    assert seen == [None]


def test_setup_context(x):
    class Scale(Function):
        @staticmethod
        def forward(x, n):
            return x * n

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.n = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.n, None

    y = Scale.apply(x, 3.0)
    assert len(y.grad_fn.next_functions) == 1
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 3.0]


def test_modes_inside(x):
    seen = []

    def forward(ctx, x):
        seen.append((torch.is_grad_enabled(), ctx.needs_input_grad))
        return x * 2

    def backward(ctx, g):
        seen.append(torch.is_grad_enabled())
        return g

    F = make(forward, backward)
    F.apply(x).sum().backward()
    torch.autograd.grad(F.apply(x).sum(), x, create_graph=True)
    assert seen == [(False, (True,)), False, (False, (True,)), True]
    with torch.no_grad():
        assert F.apply(x).grad_fn is None


def test_once_differentiable(x):
    F = make(lambda ctx, x: x * 2, once_differentiable(lambda ctx, g: g * 2))
    (g,) = torch.autograd.grad((F.apply(x) ** 2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_diff"):
        g.sum().backward()


def test_missing_pieces(x):
    with pytest.raises(
        NotImplementedError, match="You must implement the forward function for custom autograd.Function."
    ):
        type("F", (Function,), {}).apply(x)
    F = type("F", (Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp method"):
        F.apply(x).sum().backward()
    F = make(lambda ctx, x: ctx.save_for_backward(3) or x, None)
    with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument 0 is of type int"):
        F.apply(x)


def test_backward_inside_backward(x):
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                again = x.detach().requires_grad_()
                (local,) = torch.autograd.grad(again.sin().sum(), again)
            return g * local

    Inner.apply(x).sum().backward()
    assert torch.allclose(x.grad, x.detach().cos())
