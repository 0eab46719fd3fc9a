"""Products of matrices: nodes, errors, empty operands, precision; einsum and other contractions."""

import pytest

import chainrule as torch
import chainrule.nn.functional as F
from chainrule.autograd import gradcheck, gradgradcheck


def ones(*shape, dtype=torch.float32):
    return torch.ones(shape, dtype=dtype, requires_grad=dtype.is_floating_point)


@pytest.mark.parametrize(
    "first, second, shape, node",
    [
        ((2,), (2,), (), "DotBackward0"),
        ((2, 3), (3,), (2,), "MvBackward0"),
        ((2,), (2, 3), (3,), "SqueezeBackward4"),
        ((2, 3), (3, 4), (2, 4), "MmBackward0"),
        ((5, 2, 3), (3, 4), (5, 2, 4), "UnsafeViewBackward0"),
        ((2, 3), (5, 3, 4), (5, 2, 4), "CloneBackward0"),
        ((5, 2, 3), (5, 3, 4), (5, 2, 4), "UnsafeViewBackward0"),
        ((6, 1, 2, 3), (1, 5, 3, 4), (6, 5, 2, 4), "UnsafeViewBackward0"),
    ],
)
def test_matmul(first, second, shape, node):
    out = ones(*first) @ ones(*second)
    assert out.shape == shape and out.grad_fn.name() == node
    assert set(out.detach().reshape(-1).tolist()) == {float(first[-1])}


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: ones(2, 3) @ ones(2, 3), RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
        (
            lambda: ones() @ ones(2),
            RuntimeError,
            "both arguments to matmul need to be at least 1D, but they are 0D and 1D",
        ),
        (lambda: ones(2) @ ones(3), RuntimeError, "inconsistent tensor size, expected tensor [2] and src [3] to have"),
        (lambda: ones(2, 3) @ ones(2), RuntimeError, "size mismatch, got input (2), mat (2x3), vec (2)"),
        (
            lambda: ones(2, 2) @ ones(2, 2, dtype=torch.float64),
            RuntimeError,
            "expected m1 and m2 to have the same dtype",
        ),
        (lambda: ones(2) @ 3, TypeError, "unsupported operand type(s) for @: 'Tensor' and 'int'"),
        (lambda: torch.mm(ones(2), ones(2, 2)), RuntimeError, "self must be a matrix"),
        (lambda: torch.bmm(ones(2, 2), ones(2, 2)), RuntimeError, "batch1 must be a 3D tensor"),
        (
            lambda: torch.addmm(ones(3), ones(2, 3), ones(3, 2)),
            RuntimeError,
            "The expanded size of the tensor (2) must match",
        ),
        (
            lambda: F.linear(ones(5, 2, 3), ones(4, 2)),
            RuntimeError,
            "mat1 and mat2 shapes cannot be multiplied (10x3 and 2x4)",
        ),
        (
            lambda: torch.einsum("ij,jk", ones(2, 3), ones(2, 4)),
            RuntimeError,
            "einsum(): subscript j has size 2 for operand 1",
        ),
        (
            lambda: torch.einsum("ij", ones(2)),
            RuntimeError,
            "einsum(): the number of subscripts in the equation (2) does not",
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error) as found:
        call()
    assert str(found.value).startswith(text)


def test_what_is_multiplied_by_zero_is_not_looked_at():
    nan = torch.full((2, 2), float("nan"))
    assert torch.addmm(nan, torch.ones(2, 3), torch.ones(3, 2), beta=0).tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_half_precision_is_multiplied_in_single():
    x = torch.full((1, 4096), 1.0, dtype=torch.float16)
    assert (x @ x.T).item() == 4096.0


def test_nothing_to_sum_over():
    x, b = torch.rand(4, 0), torch.ones(4, requires_grad=True)
    (x + b.unsqueeze(1)).sum().backward()
    assert b.grad.tolist() == [0.0] * 4
    w = torch.ones(0, 2, requires_grad=True)
    out = torch.ones(3, 0) @ w
    out.sum().backward()
    assert out.tolist() == [[0.0, 0.0]] * 3 and w.grad.shape == (0, 2)


def test_einsum_in_both_forms():
    a, b = torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(3, 4)
    expected = (a @ b).tolist()
    assert torch.einsum("ij,jk->ik", a, b).tolist() == torch.einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist() == expected
    assert torch.einsum("...ij->...ji", a)._is_view()
    assert torch.einsum("ii", torch.eye(3)).item() == 3


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("equation", ["ij,jk,kl->il", "bij,bjk->ik", "ii,i->", "...ij,j->...i", "ij,ij->j", "i,j->ji"])
def test_derivatives_of_einsum(equation, dtype):
    torch.manual_seed(0)
    inputs = equation.split("->")[0].replace("...", "").split(",")
    xs = tuple(torch.randn((2,) * len(labels), dtype=dtype, requires_grad=True) for labels in inputs)
    function = lambda *xs: torch.einsum(equation, *xs)
    assert gradcheck(function, xs) and gradgradcheck(function, xs)
