import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import chainrule as torch

NAN = math.nan


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.int64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=5), elements=st.integers(0, 3)), st.data()
)
def test_against_numpy(a, data):
    x = torch.tensor(a)
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    right = np.unique(a, return_inverse=True, return_counts=True)
    for found, expected in zip((values, inverse.reshape(-1), counts), right):
        np.testing.assert_array_equal(found.numpy(), expected.reshape(found.shape))
    assert inverse.shape == x.shape and x.unique().tolist() == values.tolist()
    assert x.unique(return_counts=True)[1].tolist() == counts.tolist()
    dim = data.draw(st.integers(-a.ndim, a.ndim - 1))
    values, inverse, counts = torch.unique(x, dim=dim, return_inverse=True, return_counts=True)
    right = np.unique(a, axis=dim, return_inverse=True, return_counts=True)
    for found, expected in zip((values, inverse, counts), right):
        np.testing.assert_array_equal(found.numpy(), expected.reshape(found.shape))
    values, inverse, counts = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
    flat = a.reshape(-1)
    np.testing.assert_array_equal(values.numpy()[inverse.numpy()], a)
    np.testing.assert_array_equal(np.repeat(values.numpy(), counts.numpy()), flat)
    assert (values[1:] != values[:-1]).all()
    values, inverse = x.unique_consecutive(return_inverse=True, dim=dim)
    np.testing.assert_array_equal(values.index_select(dim, inverse).numpy(), a)


def test_special_cases():
    x = torch.tensor([3.0, NAN, 1.0, NAN])
    values, counts = x.unique(return_counts=True)
    assert str(values.tolist()) == "[1.0, 3.0, nan, nan]" and counts.tolist() == [1, 1, 1, 1]
    assert torch.unique(torch.tensor([True, False, True])).tolist() == [False, True]
    assert torch.unique(torch.tensor(3), return_inverse=True)[1].shape == ()
    assert torch.unique(torch.empty(0)).shape == (0,) and torch.unique(torch.empty(0), dim=0).shape == (0,)
    y = torch.tensor([2.0, 1.0, 2.0], requires_grad=True)
    for result, name in (
        (y.unique(), "Unique2"),
        (y.unique(dim=0), "UniqueDim"),
        (y.unique_consecutive(), "UniqueConsecutive"),
    ):
        assert result.grad_fn.name() == f"{name}Backward0"
    with pytest.raises(NotImplementedError, match="the derivative for '_unique2' is not implemented."):
        y.unique().sum().backward()


@pytest.mark.parametrize(
    "run, error, words",
    [
        (
            lambda: torch.unique("a"),
            TypeError,
            r"_unique2\(\): argument 'input' \(position 1\) must be Tensor, not str",
        ),
        (
            lambda: torch.ones(2).unique(dim="a"),
            TypeError,
            r"unique_dim\(\): argument 'dim' \(position 2\) must be int, not str",
        ),
        (lambda: torch.tensor([1j]).unique(), NotImplementedError, "\"unique\" not implemented for 'ComplexFloat'"),
        (
            lambda: torch.empty(3, 0).unique(dim=0),
            RuntimeError,
            "There are 0 sized dimensions, and they aren't selected",
        ),
        (lambda: torch.tensor(1.0).unique(dim=0), IndexError, "Dimension specified as 0 but tensor has no dimensions"),
    ],
)
def test_errors(run, error, words):
    with pytest.raises(error, match=words):
        run()
