import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import chainrule as torch
from chainrule.autograd import gradcheck, gradgradcheck

INF, NAN = math.inf, math.nan


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_against_numpy(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5))
    a = data.draw(hnp.arrays(np.float64, shape, elements=st.floats(-3, 3, width=16)))
    dim = data.draw(st.integers(-a.ndim, a.ndim - 1))
    x = torch.tensor(a)
    for function, ufunc in (
        (torch.cumsum, np.add),
        (torch.cumprod, np.multiply),
        (torch.logcumsumexp, np.logaddexp),
        (lambda x, d: x.cummax(d)[0], np.maximum),
        (lambda x, d: x.cummin(d)[0], np.minimum),
    ):
        np.testing.assert_allclose(function(x, dim).numpy(), ufunc.accumulate(a, dim), rtol=1e-12)
    for values, places in (x.cummax(dim), x.cummin(dim)):
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(a, places.numpy(), dim))


def test_dtypes():
    for dtype in (torch.bool, torch.uint8, torch.int32):
        assert torch.ones(3, dtype=dtype).cumsum(0).dtype is torch.int64
    x = torch.tensor([100, 100, 100], dtype=torch.int8)
    assert x.cumsum(0).tolist() == [100, 200, 300] and x.cumsum(0, dtype=torch.int8).tolist() == [100, -56, 44]
    assert x.clone().cumsum_(0).tolist() == [100, -56, 44] and x.cumprod(0, dtype=float).dtype is torch.float64
    assert torch.full((4096,), 0.1, dtype=torch.float16).cumsum(0)[-1].item() == pytest.approx(409.4, abs=0.3)
    z = torch.tensor([1j, 2.0, -1j])
    assert z.cumprod(0).tolist() == [1j, 2j, 2]
    assert torch.tensor(2.0).cumsum(0).item() == 2 and torch.tensor(2.0).cummax(-1)[1].item() == 0


def test_cummax_takes_the_last_of_equals_and_keeps_nan():
    assert torch.tensor([1.0, 3.0, 3.0, 2.0]).cummax(0).indices.tolist() == [0, 1, 2, 2]
    values, places = torch.tensor([1.0, NAN, 5.0, NAN]).cummin(0)
    assert str(values.tolist()) == "[1.0, nan, nan, nan]" and places.tolist() == [0, 1, 1, 3]


def test_gradients_of_products_with_zeros():
    for values, right in (([2, 0, 3, 4], [1, 32, 0, 0]), ([0, 0, 3], [1, 0, 0]), ([0.0], [1])):
        x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.grad(x.cumprod(0).sum(), x)[0].tolist() == right
    x = torch.zeros(2, 0, requires_grad=True)
    assert torch.autograd.grad(x.cumprod(-1).sum(), x)[0].shape == (2, 0)


def test_logcumsumexp_where_exponentials_vanish():
    x = torch.tensor([-INF, -1000.0, -1000.0], dtype=torch.float64, requires_grad=True)
    result = x.logcumsumexp(0)
    assert result.tolist() == [-INF, -1000.0, -1000.0 + math.log(2)]
    grad = torch.autograd.grad(result, x, torch.ones_like(x))[0]
    np.testing.assert_allclose(grad.numpy(), [1.0, 1.5, 0.5])


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_derivatives_to_second_order(dtype):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 4)) + (1j * rng.standard_normal((3, 4)) if dtype.is_complex else 0)
    x = torch.tensor(a, dtype=dtype, requires_grad=True)
    zeros = torch.tensor([[2.0, 0, 3, 0], [1, 2, 0, 4]], dtype=dtype, requires_grad=True)
    for function in (torch.cumsum, torch.cumprod, torch.logcumsumexp):
        for dim in (0, 1):
            assert gradcheck(lambda t: function(t, dim), (x,)) and gradgradcheck(lambda t: function(t, dim), (x,))  # noqa: B023
    assert gradcheck(lambda t: t.cumprod(1), (zeros,)) and gradgradcheck(lambda t: t.cumprod(1), (zeros,))
    assert gradcheck(lambda t: (t * 1).cumsum_(0), (x,)) and gradcheck(lambda t: (t * 1).cumprod_(1), (x,))
    if not dtype.is_complex:
        assert gradcheck(lambda t: t.cummax(0)[0], (x,)) and gradgradcheck(lambda t: t.cummin(1)[0], (x,))


def test_nodes():
    x = torch.ones(2, 3, requires_grad=True)
    for name in ("cumsum", "cumprod", "logcumsumexp"):
        assert getattr(x, name)(0).grad_fn.name() == f"{name.capitalize()}Backward0"
    node = x.cummax(1).values.grad_fn
    assert node.name() == "CummaxBackward0" and node._saved_indices.tolist() == [[0, 1, 2], [0, 1, 2]]


@pytest.mark.parametrize(
    "run, error, words",
    [
        (lambda x: x.cumsum(2), IndexError, "Dimension out of range"),
        (lambda x: x.cumsum(), TypeError, r'cumsum\(\) missing 1 required positional arguments: "dim"'),
        (lambda x: torch.cumprod(), TypeError, r'cumprod\(\) missing 2 required positional argument: "input", "dim"'),
        (lambda x: torch.cumsum(x, "a"), TypeError, r"cumsum\(\): argument 'dim' \(position 2\) must be int, not str"),
        (lambda x: x.cumsum_(0.5), TypeError, r"cumsum_\(\): argument 'dim' \(position 1\) must be int, not float"),
        (lambda x: (x > 0).cumsum_(0), NotImplementedError, "\"cumsum_out_cpu\" not implemented for 'Bool'"),
        (lambda x: x.int().logcumsumexp(0), NotImplementedError, "\"logcumsumexp_out_cpu\" not implemented for 'Int'"),
        (lambda x: (x * 1j).cummax(0), NotImplementedError, "\"cummax_cpu\" not implemented for 'ComplexFloat'"),
        (
            lambda x: torch.cummin(x, 0, out=(x.clone(), x.clone())),
            RuntimeError,
            "expected scalar_type Long but found Float",
        ),
    ],
)
def test_errors(run, error, words):
    with pytest.raises(error, match=words):
        run(torch.ones(2))
