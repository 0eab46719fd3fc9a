import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import integrate

import chainrule as torch
from chainrule.autograd import gradcheck, gradgradcheck


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_against_numpy(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=3, max_side=5))
    a = data.draw(hnp.arrays(np.float64, shape, elements=st.floats(-3, 3, width=16)))
    dim = data.draw(st.integers(-a.ndim, a.ndim - 1))
    x, points = torch.tensor(a), np.cumsum(np.arange(1.0, a.shape[dim] + 1))
    n = data.draw(st.integers(0, 4))
    np.testing.assert_allclose(x.diff(n, dim).numpy(), np.diff(a, n, dim))
    np.testing.assert_allclose(torch.diff(x, dim=dim, append=x).numpy(), np.diff(a, axis=dim, append=a))
    np.testing.assert_allclose(
        torch.trapezoid(x, dx=0.5, dim=dim).numpy(), np.trapezoid(a, dx=0.5, axis=dim), atol=1e-12
    )
    right = np.trapezoid(a, points, axis=dim)
    np.testing.assert_allclose(torch.trapezoid(x, torch.tensor(points), dim=dim).numpy(), right, atol=1e-12)
    np.testing.assert_allclose(torch.trapz(x, torch.tensor(points), dim=dim).numpy(), right, atol=1e-12)
    right = integrate.cumulative_trapezoid(a, points, axis=dim)
    np.testing.assert_allclose(torch.cumulative_trapezoid(x, torch.tensor(points), dim=dim).numpy(), right, atol=1e-12)
    for order in (1, 2):
        for spacing, passed in ((2.0, 2.0), (points, (torch.tensor(points),))):
            (found,) = torch.gradient(x, spacing=passed, dim=dim, edge_order=order)
            right = np.gradient(a, spacing, axis=dim, edge_order=order)
            np.testing.assert_allclose(found.numpy(), right, atol=1e-12)


def test_dtypes_and_special_cases():
    assert torch.tensor([True, False, False]).diff().tolist() == [True, False]
    assert torch.tensor([1, 3, 2]).diff(prepend=torch.tensor([0.5])).tolist() == [0.5, 2.0, -1.0]
    assert torch.ones(3).diff(n=7).shape == (0,) and torch.empty(0).diff().shape == (0,)
    assert torch.trapezoid(torch.tensor([1, 2, 3])).item() == 4.0 and torch.trapezoid(torch.empty(0)).item() == 0
    assert torch.gradient(torch.tensor([1, 2, 4]))[0].tolist() == [1.0, 1.5, 2.0]
    assert len(torch.gradient(torch.ones(2, 3))) == 2 and torch.gradient(torch.tensor(1.0)) == ()


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_derivatives(dtype):
    x = torch.tensor(np.random.default_rng(0).standard_normal((3, 4)), dtype=dtype, requires_grad=True)
    points = torch.tensor([0.0, 1.0, 3.0, 4.0], dtype=torch.float64, requires_grad=True)
    for function in (lambda x: x.diff(2), torch.trapezoid, torch.cumulative_trapezoid, torch.gradient):
        assert gradcheck(function, (x,)) and gradgradcheck(function, (x,))
    for function in (
        torch.trapezoid,
        torch.cumulative_trapezoid,
        lambda x, p: torch.gradient(x, spacing=(p,), dim=1, edge_order=2)[0],
    ):
        assert gradcheck(function, (x, points)) and gradgradcheck(function, (x, points))
    assert torch.trapezoid(x).grad_fn.name() == "MulBackward1" and x.diff().grad_fn.name() == "SubBackward0"
    assert torch.trapezoid(x, points).grad_fn.name() == "DivBackward1"
    assert torch.gradient(x)[0].grad_fn.name() == "CatBackward0"


@pytest.mark.parametrize(
    "run, words",
    [
        (lambda x: torch.tensor(1.0).diff(), "diff expects input to be at least one-dimensional"),
        (lambda x: x.diff(-1), "order must be non-negative but got -1"),
        (lambda x: x.diff(prepend=torch.ones(2)), "diff expects prepend or append to be the same dimension as input"),
        (lambda x: x.diff(prepend=torch.ones(3, 3)), r"input.size\(0\) = 2, but got tensor.size\(0\) = 3"),
        (lambda x: torch.trapezoid(x > 0), "trapezoid: received a bool input for `y`, but bool is not supported"),
        (lambda x: torch.trapezoid(x, dx=1j), "trapezoid: Currently, we only support dx as a real number."),
        (lambda x: torch.trapezoid(x, torch.ones(2)), "trapezoid: There must be one `x` value for each sample point"),
        (lambda x: torch.gradient(x, edge_order=3), "torch.gradient only supports edge_order=1 and edge_order=2."),
        (lambda x: torch.gradient(x, edge_order=2), r"expected each dimension size to be at least edge_order\+1"),
        (lambda x: torch.gradient(x, spacing=[1.0]), "but got a list of length 1"),
        (lambda x: torch.gradient(x, dim=(0, 0)), "dim 0 appears multiple times in the list of dims"),
        (lambda x: torch.gradient(x.byte()), "torch.gradient does not support uint8 input."),
    ],
)
def test_errors(run, words):
    with pytest.raises(RuntimeError, match=words):
        run(torch.ones(2, 3))
