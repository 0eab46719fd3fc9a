"""Sums, means, products, extremes, deviations, norms: values at delicate inputs, ties, zeros, empty tensors, errors."""

import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrule as torch
from chainrule.autograd import gradcheck, gradgradcheck

F64 = torch.float64


def gradient(function, *values, dtype=F64):
    x = torch.tensor(*values, dtype=dtype, requires_grad=True)
    function(x).sum().backward()
    return x.grad.tolist()


@pytest.mark.parametrize(
    "function, values, expected",
    [
        (lambda x: x.prod(), [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
        (lambda x: x.prod(0), [0.0], [1.0]),
        (lambda x: x.prod(), [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
        (lambda x: x.max(), [2.0, 2.0, 2.0, 2.0], [0.25] * 4),
        (lambda x: x.max(0)[0], [2.0, 2.0, 1.0], [1.0, 0.0, 0.0]),
        (lambda x: x.min(), [1.0, 2.0, 1.0], [0.5, 0.0, 0.5]),
        (lambda x: x.amax(0), [3.0, 3.0, 1.0], [0.5, 0.5, 0.0]),
        (lambda x: torch.aminmax(x)[0], [1.0, 1.0, 3.0], [0.5, 0.5, 0.0]),
        (lambda x: x.norm(), [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        (lambda x: x.norm() ** 2, [0.0, 0.0], [0.0, 0.0]),
        (lambda x: x.norm(3), [0.0, 0.0], [0.0, 0.0]),
        (lambda x: x.norm(1), [0.0, -2.0], [0.0, -1.0]),
        (lambda x: x.norm(math.inf), [3.0, -3.0], [0.5, -0.5]),
        (lambda x: x.norm(0), [3.0, 0.0], [0.0, 0.0]),
        (lambda x: torch.linalg.matrix_norm(x.reshape(2, 2)), [0.0] * 4, [0.0] * 4),
        (lambda x: x.nansum(), [1.0, math.nan], [1.0, 0.0]),
        (lambda x: x.logsumexp(0), [1.0, -math.inf], [1.0, 0.0]),
        (lambda x: x.std(), [2.0, 2.0], [0.0, 0.0]),
        (lambda x: x.mean(), [1.0, 2.0], [0.5, 0.5]),
    ],
)
def test_gradients_at_delicate_inputs(function, values, expected):
    assert gradient(function, values) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
def test_node_names(name):
    x = torch.ones(2, 3, requires_grad=True)
    assert getattr(x, name)().grad_fn.name() == f"{name.title()}Backward0"
    assert getattr(x, name)(dim=0).grad_fn.name() == f"{name.title()}Backward1"


def test_integers_and_bools_are_summed_in_int64():
    assert torch.ones(3, dtype=torch.uint8).sum().dtype is torch.int64
    assert torch.ones(3, dtype=torch.bool).prod().dtype is torch.int64
    assert torch.ones(3, dtype=torch.int8).cumsum(0).dtype is torch.int64
    assert torch.tensor([200, 200], dtype=torch.uint8).sum().item() == 400


def test_half_precision_is_summed_in_single():
    assert torch.ones(4096, dtype=torch.float16).sum().item() == 4096
    assert torch.full((3000,), 60000.0, dtype=torch.float16).mean().item() == 60000


def test_long_sums_keep_their_digits():
    x = torch.full((1 << 20,), 0.1)
    assert abs(x.sum().item() - 104857.6) < 0.1
    assert abs(torch.full((1 << 16, 2), 0.1).sum(0)[0].item() - 6553.6) < 0.01


def test_empty_tensors():
    assert torch.zeros(0).sum().item() == 0 and torch.zeros(0).prod().item() == 1
    assert math.isnan(torch.zeros(0).mean().item())
    assert torch.zeros(0, 3).sum(0).tolist() == [0.0, 0.0, 0.0]
    values, indices = torch.zeros(0, 4).max(1)
    assert values.shape == indices.shape == (0,)
    with pytest.raises(IndexError, match="Expected reduction dim 0 to have non-zero size"):
        torch.zeros(0, 4).max(0)
    with pytest.raises(RuntimeError, match="Expected reduction dim to be specified for input.numel\\(\\) == 0"):
        torch.zeros(0).max()
    with pytest.raises(RuntimeError, match="cannot compute the inf norm on an empty tensor"):
        torch.zeros(0).norm(math.inf)


def test_named_results():
    result = torch.tensor([[1.0, 5.0], [7.0, 2.0]]).max(1)
    assert result.values.tolist() == [5.0, 7.0] and result.indices.tolist() == [1, 0]
    assert repr(result).startswith("torch.return_types.max(\nvalues=tensor(")


def test_nan_is_the_largest_and_the_smallest():
    x = torch.tensor([1.0, math.nan, 3.0])
    assert math.isnan(x.max().item()) and math.isnan(x.min().item())
    assert x.max(0).indices.item() == x.min(0).indices.item() == 1


def test_variance_warns_without_degrees_of_freedom():
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert math.isnan(torch.ones(1).var().item())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.ones(1).var(correction=0)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda x: x.sum(2), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
        (lambda x: x.sum((0, -2)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
        (lambda x: x.sum(0, 1), TypeError, "sum(): argument 'keepdim' (position 2) must be bool, not int"),
        (lambda x: x.long().mean(), RuntimeError, "mean(): could not infer output dtype. Input dtype must be either a"),
        (lambda x: x.cfloat().max(), NotImplementedError, "\"max_all\" not implemented for 'ComplexFloat'"),
        (lambda x: x.bool().argmax(), RuntimeError, "argmax(): does not support bool input"),
        (lambda x: x.long().var(), RuntimeError, "std and var only support floating point and complex dtypes"),
        (lambda x: x.long().norm(), RuntimeError, "linalg.vector_norm: Expected a floating point or complex tensor"),
        (lambda x: x.requires_grad_().sum(dtype=torch.int64), RuntimeError, "Autograd not support dtype: Long"),
        (lambda x: torch.sum(3), TypeError, "sum(): argument 'input' (position 1) must be Tensor, not int"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error) as found:
        call(torch.ones(2, 3))
    assert str(found.value).startswith(text)


@given(shape=st.lists(st.integers(0, 3), max_size=3), data=st.data())
def test_sum_of_the_gradient_is_the_count(shape, data):
    x = torch.randn(tuple(shape), dtype=F64, requires_grad=True)
    dims = data.draw(st.sets(st.integers(0, max(len(shape) - 1, 0)), max_size=2))
    keepdim = data.draw(st.booleans())
    out = x.sum(tuple(dims), keepdim) if shape else x.sum()
    out.sum().backward()
    assert x.grad.tolist() == torch.ones(tuple(shape), dtype=F64).tolist()


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.prod(1),
        lambda x: (x * torch.tensor([0.0, 1.0, 0.0])).prod(1),
        lambda x: (x * torch.tensor([0.0, 1.0, 1.0])).cumprod(1),
        lambda x: x.logsumexp((0, 1)),
        lambda x: x.logcumsumexp(1),
        lambda x: torch.std_mean(x, 1),
        lambda x: x.norm(1.5, 0),
        lambda x: x.renorm(2, 0, 0.5),
    ],
)
def test_derivatives(function, dtype):
    torch.manual_seed(0)
    x = torch.randn(2, 3, dtype=dtype, requires_grad=True)
    assert gradcheck(function, x) and gradgradcheck(function, x)
