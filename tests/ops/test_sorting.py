import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import chainrule as torch
from chainrule.autograd import gradcheck, gradgradcheck

SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=6)


def leaf(*shape, seed=0):
    values = np.random.default_rng(seed).permutation(math.prod(shape)).reshape(shape) + 0.25
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_sorting_is_stable_in_both_directions(data):
    a = data.draw(hnp.arrays(np.int64, SHAPES, elements=st.integers(0, 3)))
    dim = data.draw(st.integers(-a.ndim, a.ndim - 1))
    x = torch.tensor(a)
    values, places = torch.sort(x, dim)
    np.testing.assert_array_equal(places.numpy(), np.argsort(a, dim, kind="stable"))
    np.testing.assert_array_equal(values.numpy(), np.sort(a, dim))
    down, places = x.sort(dim, descending=True)
    np.testing.assert_array_equal(places.numpy(), np.argsort(-a, dim, kind="stable"))
    np.testing.assert_array_equal(places.numpy(), x.argsort(dim, True).numpy())
    k = data.draw(st.integers(0, a.shape[dim]))
    np.testing.assert_array_equal(x.topk(k, dim).values.numpy(), down.narrow(dim, 0, k).numpy())
    np.testing.assert_array_equal(x.topk(k, dim, largest=False)[0].numpy(), values.narrow(dim, 0, k).numpy())


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_large_arrays_with_few_and_many_equal_elements(dtype):
    rng = np.random.default_rng(0)
    for most in (10, 3_000, 1 << 20):
        a = rng.integers(0, most, (2, 5000)).astype(dtype)
        if dtype is np.float32:
            a[0, :30] = np.nan
        np.testing.assert_array_equal(torch.tensor(a).argsort().numpy(), np.argsort(a, -1, kind="stable"))
    top = torch.tensor(a).topk(7).values.numpy()
    np.testing.assert_array_equal(top, np.sort(a, -1)[:, :-8:-1])


def test_nan_is_the_largest_value():
    x = torch.tensor([1.0, math.nan, -math.inf, math.inf])
    assert x.argsort().tolist() == [2, 0, 3, 1] and x.argsort(descending=True).tolist() == [1, 3, 0, 2]
    assert x.topk(1).indices.item() == 1 and x.topk(2, largest=False).indices.tolist() == [2, 0]


def test_types_of_results_nodes_and_layout():
    x = leaf(3, 4)
    result = x.sort(0)
    assert type(result).__name__ == "sort" and result.values is result[0]
    assert str(torch.sort(torch.tensor([2.0, 1.0]))).startswith(
        "torch.return_types.sort(\nvalues=tensor([1., 2.]),\nind"
    )
    assert result.values.grad_fn.name() == "SortBackward0" and not result.indices.requires_grad
    node = result.values.grad_fn
    assert node._saved_dim == 0 and node._saved_self_sym_sizes == (3, 4)
    assert node._saved_indices.tolist() == result.indices.tolist()
    assert torch.sort(x, stable=True).values.grad_fn.name() == "SortBackward1"
    assert x.msort().grad_fn.name() == "SortBackward0" and x.topk(2)[0].grad_fn.name() == "TopkBackward0"
    assert x.detach().t().sort()[0].stride() == (1, 4) and x.detach().t().topk(2, 0)[0].stride() == (3, 1)
    assert torch.tensor(3.0).sort()[1].item() == 0 and torch.zeros(3, 0).sort(0)[0].shape == (3, 0)


def test_derivatives():
    x = leaf(3, 4)
    for function in (
        lambda x: x.sort(1, True)[0],
        lambda x: torch.sort(x, dim=0, stable=True).values,
        lambda x: x.msort(),
        lambda x: x.topk(2)[0],
        lambda x: x.topk(2, 0, False).values,
    ):
        assert gradcheck(function, (x,)) and gradgradcheck(function, (x,))


def test_out():
    x = torch.tensor([3.0, 1.0, 2.0])
    values, places = torch.empty(0), torch.empty(0, dtype=torch.int64)
    result = torch.sort(x, out=(values, places))
    assert values.tolist() == [1.0, 2.0, 3.0] and places.tolist() == [1, 2, 0] and result[0] is values
    assert type(result).__name__ == "sort_out"
    assert torch.argsort(x, stable=True, out=places) is places
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype long int, but got float instead"):
        torch.topk(x, 2, out=(values, torch.empty(2)))
    with pytest.raises(RuntimeError, match=r"sort\(\): functions with out=... arguments don't support automatic"):
        torch.sort(leaf(3), out=(values.double(), places))


@pytest.mark.parametrize(
    "run, error, words",
    [
        (
            lambda x: x.sort(3),
            IndexError,
            r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 3\)",
        ),
        (lambda x: x.sort("a"), TypeError, r"sort\(\) received an invalid combination of arguments - got \(str\)"),
        (lambda x: torch.sort(x, dim="a"), TypeError, r"got \(Tensor, dim=str\), but expected one of:"),
        (lambda x: x.topk(9), RuntimeError, "selected index k out of range"),
        (lambda x: x.topk(), TypeError, r'topk\(\) missing 1 required positional arguments: "k"'),
        (lambda x: torch.topk(x, 1.5), TypeError, r"topk\(\): argument 'k' \(position 2\) must be int, not float"),
        (lambda x: x.topk(1, foo=2), TypeError, r"topk\(\) got an unexpected keyword argument 'foo'"),
        (lambda x: x.topk(1, k=2), TypeError, r"topk\(\) got multiple values for argument 'k'"),
        (lambda x: x.msort(1), TypeError, r"Tensor.msort\(\) takes no arguments \(1 given\)"),
        (lambda x: (x * 1j).sort(), RuntimeError, " Sort does not support complex dtypes on CPU"),
        (lambda x: (x > 0).topk(1), RuntimeError, "topk does not support bool dtypes on CPU"),
    ],
)
def test_errors(run, error, words):
    with pytest.raises(error, match=words):
        run(torch.ones(2, 3))
