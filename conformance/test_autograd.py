"""Programs of several steps: what autograd does with them, step by step, and the errors it raises."""

import pytest

from .compare import check, current
from .strategies import Operand

X = Operand("float64", (3,), "plain", 1, False, True)
M = Operand("float64", (2, 3), "plain", 2, False, True)
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def attempt(function, *arguments, **options):
    """The result of a step, or its error as text."""
    try:
        return function(*arguments, **options)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


@program
def backward_twice(T, x, m):
    y = (x * x).sum()
    y.backward()
    return attempt(y.backward), x.grad


@program
def backward_of_a_vector(T, x, m):
    return attempt((x * 2).backward), attempt((x * 2).backward, T.ones(2)), attempt((x * 2).backward, 3)


@program
def backward_without_graph(T, x, m):
    return attempt(T.ones(1).backward), attempt(x.detach().sum().backward)


@program
def leaf_in_place(T, x, m):
    return attempt(x.add_, 1), attempt(x[0].add_, 1), attempt(x.__setitem__, 0, 1.0), attempt(x.view(-1).mul_, 2)


@program
def saved_value_modified(T, x, m):
    y = x * 2
    z = y.exp()
    z.add_(1)
    a = y * y
    y.mul_(2)
    return attempt(z.sum().backward), attempt(a.sum().backward)


@program
def grad_of_what_is_not_used(T, x, m):
    y = (x * 2).sum()
    return (
        attempt(T.autograd.grad, y, m, retain_graph=True),
        attempt(T.autograd.grad, y, m, allow_unused=True, retain_graph=True),
        attempt(T.autograd.grad, y, m, materialize_grads=True, retain_graph=True),
        attempt(T.autograd.grad, y, T.ones(1)),
        attempt(T.autograd.grad, y, []),
    )


@program
def changing_requires_grad(T, x, m):
    y = x * 2
    return (
        attempt(y.requires_grad_, False),
        attempt(setattr, y, "requires_grad", False),
        attempt(T.ones(2, dtype=T.int64).requires_grad_),
        attempt(T.tensor, [1, 2], requires_grad=True),
        attempt(setattr, x, "grad", T.ones(2, dtype=T.float64)),
        attempt(setattr, x, "grad", T.ones(3)),
        attempt(setattr, x, "grad", 3),
    )


@program
def leaving_the_graph(T, x, m):
    y = x * 2
    return (
        attempt(x.numpy),
        attempt(y.numpy),
        attempt(float, m),
        attempt(bool, m),
        attempt(len, x.sum()),
        attempt(m.item),
    )


@program
def views_of_several_outputs(T, x, m):
    a, b = (m * 1).unbind()
    return attempt(a.add_, 1), attempt((m * 1).split(1)[0].mul_, 2), attempt((m * 1).chunk(2)[1].mul_, 2)


@program
def view_under_no_grad(T, x, m):
    base = m * 1
    with T.no_grad():
        view = base[0]
    return view.requires_grad, attempt(view.add_, 1), attempt(lambda: base.add_(1) + view.sum())


@program
def in_place_on_a_view(T, x, m):
    base = m * 1
    row = base[0]
    row.mul_(3)
    base[:, 1] = x[0]
    column = base[:, 1]
    base.mul_(2)
    column.add_(1)
    return base, row, column, base._version, row.grad_fn.name(), attempt(lambda: base.sum().backward()), m.grad, x.grad


@program
def hooks_in_order(T, x, m):
    seen = []
    y = x * 2
    y.register_hook(lambda g: seen.append("y"))
    x.register_hook(lambda g: seen.append("x"))
    x.register_hook(lambda g: g * 2)
    z = y.sum()
    z.grad_fn.register_prehook(lambda g: seen.append("before z"))
    z.grad_fn.register_hook(lambda gi, go: seen.append("after z"))
    x.register_post_accumulate_grad_hook(lambda t: seen.append("filled"))
    z.backward()
    return seen, x.grad


@program
def retained(T, x, m):
    y = x * 2
    y.retain_grad()
    z = (y * y).sum()
    z.backward()
    return y.grad, x.grad, y.retains_grad, x.is_leaf, y.is_leaf, attempt(x.detach().retain_grad)


@program
def second_derivatives(T, x, m):
    y = (x**3).sum()
    (g,) = T.autograd.grad(y, x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x, create_graph=True)
    (k,) = T.autograd.grad(h.sum(), x)
    return g, h, k


@program
def accumulation(T, x, m):
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    return first, first is x.grad, x.grad._version, x.grad.requires_grad


@program
def only_some_inputs(T, x, m):
    y = (x * m).sum()
    y.backward(inputs=[m], retain_graph=True)
    before = x.grad
    y.backward(inputs=x)
    return before, x.grad, m.grad, attempt(y.backward, inputs=[])


@program
def inference(T, x, m):
    with T.inference_mode():
        y = x * 2
        z = T.ones(3, dtype=T.float64)
    return (
        y.requires_grad, y.is_inference(), attempt(lambda: y._version), attempt(y.add_, 1), attempt(lambda: (x * z).sum()),
        attempt(z.requires_grad_),
    )  # fmt: skip


@program
def custom_function(T, x, m):
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, power):
            ctx.save_for_backward(x)
            ctx.power = power
            return x**power

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * ctx.power * x ** (ctx.power - 1), None

    class Wrong(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    y = Square.apply(x, 2)
    return y, attempt(lambda: T.autograd.grad(y.sum(), x)), attempt(lambda: Wrong.apply(x).sum().backward())


@program
def detached(T, x, m):
    y = x * 2
    d, data = y.detach(), y.data
    d.add_(1)
    data.add_(1)
    return y, y._version, d._version, data._version, d.requires_grad, attempt(lambda: (y * y).sum().backward())


@program
def shapes_that_do_not_fit(T, x, m):
    return (
        attempt(lambda: x + T.ones(2)),
        attempt(lambda: m @ m),
        attempt(lambda: m.view(4)),
        attempt(lambda: T.cat([m, x])),
    )


@program
def nodes(T, x, m):
    y = ((x * m).exp() + 1).sum()
    names, node = [], y.grad_fn
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return names, y.grad_fn.next_functions[0][1], repr(type(y.grad_fn).__name__)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    current["dtype"] = "float64"
    check(PROGRAMS[name], [X, M], gradient=False)
