import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as torch
from chainrule.nn import functional as F
from chainrule.ops.loss import log1p_minus, log1p_of_small
from tests.ops.numeric import check

RNG = np.random.default_rng(0)


def smooth(d, beta):
    d = abs(d)
    return np.where(d < beta, d * d / 2 / beta, d - beta / 2)


def cross(p, t):
    return -(t * np.maximum(np.log(p), -100) + (1 - t) * np.maximum(np.log1p(-p), -100))


PAIRS = {  # name: (function, losses by NumPy of x and y, the interval of x and y, the node)
    "mse": (F.mse_loss, lambda x, y: (x - y) ** 2, (-3, 3), "MseLossBackward0"),
    "l1": (F.l1_loss, lambda x, y: abs(x - y), (-3, 3), None),
    "smooth_l1": (F.smooth_l1_loss, lambda x, y: smooth(x - y, 1), (-3, 3), "SmoothL1LossBackward0"),
    "huber": (F.huber_loss, lambda x, y: smooth(x - y, 1), (-3, 3), "HuberLossBackward0"),
    "soft_margin": (F.soft_margin_loss, lambda x, y: np.logaddexp(0, -x * y), (-3, 3), "SoftMarginLossBackward0"),
    "bce": (F.binary_cross_entropy, cross, (0.01, 0.99), "BinaryCrossEntropyBackward0"),
    "logits": (F.binary_cross_entropy_with_logits, lambda x, y: (1 - y) * x + np.logaddexp(0, -x), (0.01, 0.99),
               "BinaryCrossEntropyWithLogitsBackward0"),
    "poisson": (F.poisson_nll_loss, lambda x, y: np.exp(x) - x * y, (-1, 1), None),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
@given(st.lists(st.integers(0, 4), max_size=3), st.sampled_from([np.float16, np.float32, np.float64]))
@settings(max_examples=20, deadline=None)
def test_values(name, shape, dtype):
    function, losses, (low, high), _ = PAIRS[name]
    x, y = RNG.uniform(low, high, (2, *shape)).astype(dtype)
    exact = losses(x.astype(np.float64), y.astype(np.float64))
    tolerance = {np.float16: 2e-2, np.float32: 1e-5, np.float64: 1e-12}[dtype]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for reduction, expected in (
            ("none", exact),
            ("sum", exact.sum()),
            ("mean", exact.mean() if x.size else math.nan),
        ):
            found = function(torch.tensor(x), torch.tensor(y), reduction=reduction)
            assert found.numpy().dtype == dtype
            np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_derivatives(name, reduction):
    function, _, (low, high), node = PAIRS[name]
    x, y = RNG.uniform(low, high, (2, 3, 4))
    check(lambda x, y: function(x, y, reduction=reduction), x, y)
    if node:
        leaf = torch.tensor(x, requires_grad=True)
        assert function(leaf, torch.tensor(y), reduction=reduction).grad_fn.name() == node


@pytest.mark.parametrize("name", PAIRS)
def test_large_inputs_are_worked_on_in_blocks(name):
    function, losses, (low, high), _ = PAIRS[name]
    x, y = RNG.uniform(low, high, (2, 3, 11003))
    leaf = torch.tensor(x, requires_grad=True)
    loss = function(leaf, torch.tensor(y))
    np.testing.assert_allclose(loss.item(), losses(x, y).mean(), rtol=1e-10)
    loss.backward()
    small = torch.tensor(x[:, :50], requires_grad=True)
    function(small, torch.tensor(y[:, :50]), reduction="sum").backward()
    np.testing.assert_allclose(leaf.grad[:, :50].numpy() * x.size, small.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_logarithms_near_one():
    small = np.concatenate([10.0 ** -RNG.uniform(0, 12, 2000), [0.0, 1.0]]).astype(np.float32)
    np.testing.assert_allclose(log1p_of_small(small.copy()), np.log1p(small), rtol=5e-7)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(log1p_minus(small), np.log1p(-small), rtol=5e-7)


def test_parameters_of_the_distances():
    x, y = RNG.standard_normal((2, 4, 3)) * 2
    check(lambda x, y: F.smooth_l1_loss(x, y, beta=0.7), x, y)
    check(lambda x, y: F.huber_loss(x, y, delta=0.7), x, y)
    a, b = torch.tensor(x), torch.tensor(y)
    np.testing.assert_allclose(F.smooth_l1_loss(a, b, beta=0.7).item(), smooth(x - y, 0.7).mean())
    np.testing.assert_allclose(F.huber_loss(a, b, delta=0.7).item(), 0.7 * smooth(x - y, 0.7).mean())
    assert F.smooth_l1_loss(a, b, beta=0).item() == F.l1_loss(a, b).item()
    weight = torch.tensor(RNG.random((4, 3)))
    expected = ((x - y) ** 2 * weight.numpy()).sum() / weight.numpy().sum()
    np.testing.assert_allclose(F.mse_loss(a, b, weight=weight).item(), expected)
    with pytest.raises(RuntimeError, match="smooth_l1_loss does not support negative values for beta."):
        F.smooth_l1_loss(a, b, beta=-1)
    with pytest.raises(RuntimeError, match="huber_loss does not support non-positive values for delta."):
        F.huber_loss(a, b, delta=0)
    with pytest.raises(ValueError, match="Weights and input must have the same size."):
        F.mse_loss(a, b, weight=weight[0])


def test_kinks_by_convention():
    x = torch.tensor([0.0, 1.0, -1.0], dtype=torch.float64, requires_grad=True)
    for function in (F.smooth_l1_loss, F.huber_loss):
        (g,) = torch.autograd.grad(function(x, torch.zeros(3, dtype=torch.float64), reduction="sum"), x)
        assert g.tolist() == [0.0, 1.0, -1.0]


def test_sizes_that_differ():
    x = torch.ones(2, 3, requires_grad=True)
    for function in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss):
        with pytest.warns(
            UserWarning, match=r"Using a target size \(torch.Size\(\[3\]\)\) that is different to the input"
        ):
            assert function(x, torch.zeros(3), reduction="none").shape == (2, 3)
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match"):
        F.mse_loss(x, torch.zeros(2))
    with pytest.raises(ValueError, match="is deprecated. Please ensure they have the same size."):
        F.binary_cross_entropy(x, torch.zeros(3))
    with pytest.raises(ValueError, match=r"Target size \(torch.Size\(\[3\]\)\) must be the same as input size"):
        F.binary_cross_entropy_with_logits(x, torch.zeros(3))


def test_old_arguments():
    x, y = torch.ones(2, 3), torch.zeros(2, 3)
    for old, reduction in (
        ({"size_average": False}, "sum"),
        ({"reduce": False}, "none"),
        ({"size_average": True}, "mean"),
    ):
        with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead."):
            assert torch.equal(F.mse_loss(x, y, **old), F.mse_loss(x, y, reduction=reduction))
    with pytest.warns(UserWarning, match="reduction='elementwise_mean' is deprecated."):
        assert F.l1_loss(x, y, reduction="elementwise_mean").item() == 1
    with pytest.raises(ValueError, match="foo is not a valid value for reduction"):
        F.mse_loss(x, y, reduction="foo")


def test_refusals():
    x, whole = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.int64)
    for function, kernel in ((F.mse_loss, "mse_cpu"), (F.huber_loss, "huber_cpu"), (F.smooth_l1_loss, "smooth_l1_cpu")):
        with pytest.raises(NotImplementedError, match=f"\"{kernel}\" not implemented for 'Long'"):
            function(whole, whole)
    with pytest.raises(NotImplementedError, match="\"mse_cpu\" not implemented for 'ComplexFloat'"):
        F.mse_loss(x + 0j, x + 0j)
    with pytest.raises(NotImplementedError, match="\"log_sigmoid_cpu\" not implemented for 'Long'"):
        F.binary_cross_entropy_with_logits(whole, whole)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        F.binary_cross_entropy_with_logits(x, whole)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        F.soft_margin_loss(whole, x)
    with pytest.raises(RuntimeError, match="kl_div: Integral inputs not supported."):
        F.kl_div(x, whole, reduction="sum")
    with pytest.raises(TypeError, match=r"kl_div\(\): argument 'target' \(position 2\) must be Tensor, not int"):
        F.kl_div(x, 3, reduction="sum")


def test_binary_cross_entropy_at_its_bounds():
    p = torch.tensor([0.0, 1.0, 0.0, 1.0], dtype=torch.float64, requires_grad=True)
    t = torch.tensor([0.0, 1.0, 1.0, 0.0], dtype=torch.float64)
    loss = F.binary_cross_entropy(p, t, reduction="none")
    assert loss.tolist() == [0.0, 0.0, 100.0, 100.0]
    (g,) = torch.autograd.grad(loss.sum(), p)
    assert g.tolist() == [0.0, 0.0, -1e12, 1e12]
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        F.binary_cross_entropy(t + 1, t)
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        F.binary_cross_entropy(t * math.nan, t)
    with pytest.raises(RuntimeError, match="all elements of target should be between 0 and 1"):
        F.binary_cross_entropy(t, t + 1)
    with pytest.raises(RuntimeError, match="Found dtype Float but expected Double"):
        F.binary_cross_entropy(t, t.float())
    with pytest.raises(RuntimeError, match="Attempting to broadcast a dimension of length 2 at -1!"):
        F.binary_cross_entropy(t, t, torch.ones(2, dtype=torch.float64))


def test_logits_far_from_zero():
    x = torch.tensor([1e4, -1e4, 1e4, -1e4], dtype=torch.float64, requires_grad=True)
    t = torch.tensor([1.0, 0.0, 0.0, 1.0], dtype=torch.float64)
    loss = F.binary_cross_entropy_with_logits(x, t, reduction="none")
    assert loss.tolist() == [0.0, 0.0, 1e4, 1e4]
    (g,) = torch.autograd.grad(loss.sum(), x)
    assert g.tolist() == [0.0, 0.0, 1.0, -1.0]
    assert F.binary_cross_entropy_with_logits(torch.tensor([math.inf]), torch.zeros(1)).item() == math.inf


def test_weights():
    x, y, w = RNG.standard_normal((2, 3)), RNG.random((2, 3)), RNG.random(3)
    weight = torch.tensor(w)
    check(lambda x, y: F.binary_cross_entropy_with_logits(x, y, weight, pos_weight=weight), x, y)
    check(lambda x, y: F.binary_cross_entropy_with_logits(x, y, weight, reduction="none"), x, y)
    check(lambda x, y: F.binary_cross_entropy(x, y, weight), RNG.uniform(0.1, 0.9, (2, 3)), y)
    expected = (1 - y) * x + (1 + (w - 1) * y) * np.logaddexp(0, -x)
    found = F.binary_cross_entropy_with_logits(torch.tensor(x), torch.tensor(y), pos_weight=weight)
    np.testing.assert_allclose(found.item(), expected.mean())
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"):
        F.binary_cross_entropy_with_logits(torch.tensor(x), torch.tensor(y), pos_weight=torch.ones(2))


def test_kl_div():
    x, p = RNG.standard_normal((2, 3)), RNG.random((2, 3))
    losses = p * (np.log(p) - x)
    a, b = torch.tensor(x), torch.tensor(p)
    np.testing.assert_allclose(F.kl_div(a, b, reduction="none").numpy(), losses)
    np.testing.assert_allclose(F.kl_div(a, b, reduction="batchmean").item(), losses.sum() / 2)
    np.testing.assert_allclose(F.kl_div(a, b.log(), reduction="sum", log_target=True).item(), losses.sum())
    with pytest.warns(UserWarning, match="'batchmean' divides only by the batch size"):
        np.testing.assert_allclose(F.kl_div(a, b).item(), losses.mean())
    assert F.kl_div(a, b * 0, reduction="sum").item() == 0
    assert (
        torch.kl_div(a, b).shape == (2, 3)
        and torch.kl_div(a, b, 1).shape == ()
        and torch.kl_div(a, b, 7).shape == (2, 3)
    )
    check(lambda x, p: F.kl_div(x, p, reduction="sum"), x, p)


def test_gaussian_and_poisson():
    x, y, v = RNG.standard_normal((3, 4)), RNG.standard_normal((3, 4)), RNG.uniform(0.5, 2, (3, 1))
    losses = (np.log(v) + (x - y) ** 2 / v) / 2
    a, b, c = (torch.tensor(t) for t in (x, y, v))
    np.testing.assert_allclose(F.gaussian_nll_loss(a, b, c).item(), losses.mean())
    np.testing.assert_allclose(
        F.gaussian_nll_loss(a, b, c[:, 0], full=True).item(), losses.mean() + math.log(2 * math.pi) / 2
    )
    check(lambda x, y, v: F.gaussian_nll_loss(x, y, v), x, y, v)
    leaf = torch.tensor([1e-9], requires_grad=True)
    F.gaussian_nll_loss(torch.ones(1), torch.ones(1), leaf).backward()
    assert leaf.grad.item() == pytest.approx(0.5e6) and leaf.item() == pytest.approx(1e-9)
    with pytest.raises(ValueError, match="var has negative entry/entries"):
        F.gaussian_nll_loss(a, b, -c)
    with pytest.raises(ValueError, match="var is of incorrect size"):
        F.gaussian_nll_loss(a, b, torch.ones(2))
    with pytest.raises(ValueError, match="foo is not valid"):
        F.gaussian_nll_loss(a, b, c, reduction="foo")
    t = np.array([[0.0, 2.0, 5.0]])
    rate = np.array([[0.5, 1.5, 4.0]])
    stirling = np.where(t > 1, t * np.log(np.maximum(t, 1)) - t + 0.5 * np.log(2 * math.pi * np.maximum(t, 1)), 0)
    found = F.poisson_nll_loss(torch.tensor(rate), torch.tensor(t), log_input=False, full=True, reduction="none")
    np.testing.assert_allclose(found.numpy(), rate - t * np.log(rate + 1e-8) + stirling)
    assert torch.poisson_nll_loss(a, b, True, False, 1e-8, 2).shape == ()


def test_the_functions_that_know_reductions_by_numbers():
    x, y = torch.tensor(RNG.standard_normal((2, 3))), torch.tensor(RNG.random((2, 3)))
    assert torch.binary_cross_entropy_with_logits(x, y).shape == (2, 3)
    assert torch.binary_cross_entropy_with_logits(x, y, reduction=1).shape == ()
    with pytest.raises(TypeError, match="argument 'reduction'.* must be int, not str"):
        torch.binary_cross_entropy_with_logits(x, y, reduction="mean")


def test_one_of_two_dtypes():
    x, y = torch.ones(3, requires_grad=True), torch.zeros(3, dtype=torch.float64)
    assert F.huber_loss(x, y).dtype is torch.float32 and F.soft_margin_loss(x, y).dtype is torch.float32
    assert F.mse_loss(x, y).dtype is torch.float64
    assert F.binary_cross_entropy_with_logits(x, y).dtype is torch.float64
    F.huber_loss(x, y).backward()
    assert x.grad.dtype is torch.float32
