import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import chainrule as torch
from chainrule.nn import functional as F
from tests.ops.numeric import check

RNG = np.random.default_rng(0)


@given(
    st.lists(st.integers(0, 4), min_size=0, max_size=4), st.integers(-4, 3), st.sampled_from([np.float32, np.float64])
)
@settings(max_examples=60, deadline=None)
def test_values_against_scipy(shape, dim, dtype):
    x = (RNG.standard_normal(shape) * 5).astype(dtype)
    if not -max(x.ndim, 1) <= dim < max(x.ndim, 1):
        with pytest.raises(IndexError, match="Dimension out of range"):
            torch.tensor(x).softmax(dim)
        return
    for name in ("softmax", "log_softmax"):
        found = getattr(torch, name)(torch.tensor(x), dim)
        assert found.dtype is torch.tensor(x).dtype and tuple(found.shape) == x.shape
        if x.size and x.ndim:
            np.testing.assert_allclose(found.numpy(), getattr(special, name)(x, dim), rtol=2e-6, atol=2e-6)


def test_every_way_to_call():
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])
    expected = special.softmax(x.numpy(), 1)
    ways = [
        x.softmax(1), x.softmax(dim=-1), x.softmax(axis=1), torch.softmax(x, 1), torch.special.softmax(x, 1),
        F.softmax(x, 1), F.softmax(x, dim=1), torch.softmax(x, 1, out=torch.zeros(2, 3)), F.softmin(-x, 1),
        torch._softmax(x, 1, False),
    ]  # fmt: skip
    for found in ways:
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    assert torch.softmax(x, 1, torch.float64).dtype is torch.float64
    assert torch.log_softmax(x.int(), 1, dtype=torch.float32).dtype is torch.float32
    assert torch.special.log_softmax(x, 1, dtype=torch.float64).dtype is torch.float64
    assert x.t().softmax(0).is_contiguous()


def test_float16_is_rounded_once():
    x = (RNG.standard_normal((5, 300)) * 3).astype(np.float16)
    for name in ("softmax", "log_softmax"):
        found = getattr(torch, name)(torch.tensor(x), 1)
        np.testing.assert_array_equal(
            found.numpy(), getattr(torch, name)(torch.tensor(x.astype(np.float32)), 1).numpy().astype(np.float16)
        )


def test_extreme_inputs_neither_overflow_nor_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.tensor([1e4, 0.0, -1e4]).softmax(0).tolist() == [1.0, 0.0, 0.0]
        assert torch.tensor([1e4, 0.0, -1e4]).log_softmax(0).tolist() == [0.0, -1e4, -2e4]
        assert torch.tensor([-math.inf, 0.0]).softmax(0).tolist() == [0.0, 1.0]
        assert torch.tensor([-math.inf, 0.0]).log_softmax(0).tolist() == [-math.inf, 0.0]
        for x in ([math.inf, 1.0], [-math.inf, -math.inf], [math.nan, 1.0]):
            assert torch.tensor(x).softmax(0).isnan().all() and torch.tensor(x).log_softmax(0).isnan().all()
    assert torch.tensor(5.0).softmax(0).item() == 1 and torch.tensor(5.0).log_softmax(-1).item() == 0
    assert torch.tensor(math.inf).softmax(0).isnan()


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_derivatives(dim):
    x = RNG.standard_normal((3, 4))
    check(lambda x: x.softmax(dim), x, order=3)
    check(lambda x: x.log_softmax(dim), x, order=3)
    check(lambda x: x.reshape(()).softmax(0) + x.reshape(()).log_softmax(0), [0.3])


def test_nodes():
    x = torch.ones(2, 3, requires_grad=True)
    assert x.softmax(1).grad_fn.name() == "SoftmaxBackward0"
    assert x.log_softmax(1).grad_fn.name() == "LogSoftmaxBackward0"
    assert F.softmin(x, 1).grad_fn.name() == "SoftmaxBackward0"
    made = x.softmax(-1)
    assert made.grad_fn._saved_dim == -1 and made.grad_fn._saved_result.tolist() == made.tolist()


def test_a_dimension_that_is_not_named():
    for shape, dim in (((), 0), ((3,), 0), ((2, 3), 1), ((2, 3, 2), 0), ((2, 3, 2, 1), 1)):
        x = torch.tensor(RNG.standard_normal(shape))
        with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
            found = F.softmax(x)
        assert torch.equal(found, x.softmax(dim))
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmin has been deprecated"):
        F.softmin(torch.ones(2, 3))


def test_refusals():
    x = torch.ones(2, 3)
    with pytest.raises(NotImplementedError, match="\"softmax_lastdim_kernel_impl\" not implemented for 'Long'"):
        torch.softmax(x.long(), 1)
    with pytest.raises(NotImplementedError, match="\"log_softmax_kernel_impl\" not implemented for 'ComplexFloat'"):
        torch.log_softmax(x + 0j, 0)
    with pytest.raises(TypeError, match=r"softmax\(\): argument 'dim' \(position 2\) must be int, not str"):
        torch.softmax(x, "a")
    with pytest.raises(TypeError, match=r"softmax\(\): argument 'dim' \(position 2\) must be int, not NoneType"):
        torch.softmax(x, None)
    with pytest.raises(TypeError, match=r'softmax\(\) missing 1 required positional arguments: "dim"'):
        torch.softmax(x)
    with pytest.raises(TypeError, match=r"softmax\(\): argument 'input' \(position 1\) must be Tensor, not int"):
        torch.softmax(3, 1)


def test_gumbel_softmax():
    torch.manual_seed(0)
    logits = torch.tensor(RNG.standard_normal((2000, 3)), requires_grad=True)
    soft = F.gumbel_softmax(logits, tau=0.5)
    np.testing.assert_allclose(soft.sum(-1).detach().numpy(), 1)
    hard = F.gumbel_softmax(logits * 0 + torch.tensor([0.2, 0.3, 0.5]).log(), hard=True)
    assert set(hard.detach().numpy().round(12).ravel()) == {0.0, 1.0} and hard.requires_grad
    np.testing.assert_allclose(hard.detach().numpy().mean(0), [0.2, 0.3, 0.5], atol=0.04)
