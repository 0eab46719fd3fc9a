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
WEIGHT = np.array([1.0, 0.3, 2.0, 0.5])
SHAPES = [((4,), ()), ((5, 4), (5,)), ((3, 4, 5), (3, 5)), ((2, 4, 3, 2), (2, 3, 2)), ((2, 4, 1, 3, 2), (2, 1, 3, 2))]


def picked(x, labels, weight=None, ignore=None, reduction="mean"):
    """The loss, class by class."""
    scores = np.moveaxis(x, 1, -1) if x.ndim > 1 else x
    losses = np.empty(labels.shape)
    weights = np.empty(labels.shape)
    for place in np.ndindex(labels.shape):
        label = labels[place]
        weights[place] = 0 if label == ignore else 1 if weight is None else weight[label]
        losses[place] = 0 if label == ignore else -scores[place][label] * weights[place]
    return losses if reduction == "none" else losses.sum() / (weights.sum() if reduction == "mean" else 1)


@pytest.mark.parametrize("shape, target_shape", SHAPES)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("ignore", [None, 2])
def test_class_indices(shape, target_shape, reduction, weight, ignore):
    x, labels = RNG.standard_normal(shape), RNG.integers(0, 4, target_shape)
    if not target_shape:
        labels = np.array(1)
    options = {"reduction": reduction, "weight": None if weight is None else torch.tensor(weight)}
    if ignore is not None:
        options["ignore_index"] = ignore
    target = torch.tensor(labels)
    axis = min(len(shape) - 1, 1)
    expected = picked(x, labels, weight, ignore, reduction)
    np.testing.assert_allclose(F.nll_loss(torch.tensor(x), target, **options).numpy(), expected, atol=1e-12)
    expected = picked(special.log_softmax(x, axis), labels, weight, ignore, reduction)
    for _ in range(2):  # the second time the shapes are known to fit
        np.testing.assert_allclose(F.cross_entropy(torch.tensor(x), target, **options).numpy(), expected, atol=1e-12)
    smoothed = F.cross_entropy(torch.tensor(x), target, label_smoothing=0.2, **options)
    each = special.log_softmax(x, axis) * (1 if weight is None else WEIGHT.reshape(-1, *[1] * (len(shape) - 1 - axis)))
    uniform = -each.sum(axis) * (labels != (-1 if ignore is None else ignore))
    if reduction == "mean":
        counted = np.where(labels == (-1 if ignore is None else ignore), 0, 1 if weight is None else WEIGHT[labels])
        uniform = uniform.sum() / counted.sum()
    elif reduction == "sum":
        uniform = uniform.sum()
    np.testing.assert_allclose(smoothed.numpy(), 0.8 * expected + 0.2 / 4 * uniform, atol=1e-12)


@pytest.mark.parametrize("shape, target_shape", SHAPES[:4])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_derivatives(shape, target_shape, reduction):
    x, target = RNG.standard_normal(shape), torch.tensor(RNG.integers(0, 4, target_shape))
    weight = torch.tensor(WEIGHT)
    for function in (F.nll_loss, F.cross_entropy):
        check(lambda x, f=function: f(x, target, reduction=reduction), x, order=3)
        check(lambda x, f=function: f(x, target, weight, reduction=reduction), x)
    if target_shape:
        ignored = int(target.reshape(-1)[0])
        check(lambda x: F.cross_entropy(x, target, weight, ignore_index=ignored, reduction=reduction), x)
    check(lambda x: F.cross_entropy(x, target, weight, reduction=reduction, label_smoothing=0.1), x)


@pytest.mark.parametrize("shape", [(4,), (5, 4), (2, 4, 3)])
def test_probabilities(shape):
    axis = min(len(shape) - 1, 1)
    x, p = RNG.standard_normal(shape), special.softmax(RNG.standard_normal(shape), axis)
    losses = -(special.log_softmax(x, axis) * p).sum(axis)
    a, b = torch.tensor(x), torch.tensor(p)
    np.testing.assert_allclose(F.cross_entropy(a, b, reduction="none").numpy(), losses)
    np.testing.assert_allclose(F.cross_entropy(a, b).item(), losses.mean())
    smooth = -(special.log_softmax(x, axis) * (p * 0.9 + 0.1 / 4)).sum()
    np.testing.assert_allclose(F.cross_entropy(a, b, reduction="sum", label_smoothing=0.1).item(), smooth)
    check(lambda x, p: F.cross_entropy(x, p, torch.tensor(WEIGHT), label_smoothing=0.1), x, p)


def test_nodes_and_what_they_keep():
    x = torch.tensor(RNG.standard_normal((3, 4)), requires_grad=True)
    t = torch.tensor([0, 1, 3])
    assert F.cross_entropy(x, t).grad_fn.name() == F.nll_loss(x, t).grad_fn.name() == "NllLossBackward0"
    image = x[:, :, None, None].expand(3, 4, 2, 2)
    loss = F.cross_entropy(image, torch.zeros(3, 2, 2, dtype=torch.int64), reduction="none")
    assert loss.grad_fn.name() == "NllLoss2DBackward0"
    lines, labels = x[:, :, None], torch.zeros(3, 1, dtype=torch.int64)
    assert F.nll_loss(lines, labels).grad_fn.name() == "NllLoss2DBackward0"
    assert F.nll_loss(lines, labels, reduction="none").grad_fn.name() == "ViewBackward0"
    made = x * 1
    loss = F.cross_entropy(made, t)
    np.testing.assert_allclose(loss.grad_fn._saved_self.detach().numpy(), special.log_softmax(x.detach().numpy(), 1))
    with torch.no_grad():
        made.mul_(3)  # the input itself is not kept
    loss.backward()
    expected = (special.softmax(x.detach().numpy(), 1) - np.eye(4)[[0, 1, 3]]) / 3
    np.testing.assert_allclose(x.grad.numpy(), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_dtypes(dtype):
    x, t = torch.tensor(RNG.standard_normal((6, 4))).to(dtype), torch.tensor(RNG.integers(0, 4, 6))
    expected = picked(special.log_softmax(x.double().numpy(), 1), t.numpy())
    found = F.cross_entropy(x, t)
    assert found.dtype is dtype and abs(found.item() - expected) < (4e-3 if dtype is torch.float16 else 1e-5)
    assert F.cross_entropy(x, t.to(torch.uint8)).item() == found.item()


def test_extreme_scores_neither_overflow_nor_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.tensor([[1e30, -1e30], [-math.inf, 0.0]], requires_grad=True)
        loss = F.cross_entropy(x, torch.tensor([0, 1]))
        loss.backward()
        assert loss.item() == 0 and x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
        assert F.cross_entropy(x, torch.tensor([0, 0]), reduction="none").tolist() == [0.0, math.inf]


def test_nothing_counts():
    x = torch.ones(2, 3, requires_grad=True)
    none = torch.tensor([-100, -100])
    for function in (F.nll_loss, F.cross_entropy):
        loss = function(x, none)
        assert math.isnan(loss.item()) and torch.autograd.grad(loss, x)[0].tolist() == [[0.0] * 3] * 2
        assert function(x, none, reduction="sum").item() == 0
        empty = torch.zeros(0, 3, requires_grad=True)
        assert math.isnan(function(empty, torch.zeros(0, dtype=torch.int64)).item())
        assert function(empty, torch.zeros(0, dtype=torch.int64), reduction="sum").item() == 0
    (g,) = torch.autograd.grad(F.nll_loss(x, torch.tensor([2, -100]), torch.zeros(3)), x)
    assert math.isnan(g[0, 2].item()) and g[1].tolist() == [0.0] * 3


@given(st.integers(1, 5), st.integers(1, 5), st.lists(st.integers(0, 3), max_size=2), st.integers(-2, 6))
@settings(max_examples=60, deadline=None)
def test_targets_out_of_range(samples, classes, rest, wrong):
    x = torch.tensor(RNG.standard_normal((samples, classes, *rest)))
    labels = RNG.integers(0, classes, (samples, *rest))
    if not labels.size:
        return
    F.cross_entropy(x, torch.tensor(labels))
    labels.reshape(-1)[-1] = wrong
    for function in (F.nll_loss, F.cross_entropy):
        if 0 <= wrong < classes:
            function(x, torch.tensor(labels))
        else:
            with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds."):
                function(x, torch.tensor(labels))


def test_refusals():
    x, t = torch.ones(2, 3), torch.tensor([0, 1])
    cases = [
        (RuntimeError, "expected target dtype to be Long or Byte, but got Int", lambda: F.cross_entropy(x, t.int())),
        (ValueError, r"Expected input batch_size \(2\) to match target batch_size \(3\).",
         lambda: F.cross_entropy(x, torch.tensor([0, 1, 2]))),
        (RuntimeError, "0D or 1D target tensor expected, multi-target not supported", lambda: F.nll_loss(x, t[:, None])),
        (ValueError, "For 1D input, 1D target must have size 1, but got target size: 2", lambda: F.nll_loss(x[0], t)),
        (RuntimeError, r"Expected target size \[2, 4\], got \[2, 1\]",
         lambda: F.cross_entropy(torch.ones(2, 3, 4), t[:, None])),
        (ValueError, "Expected 1 or more dimensions", lambda: F.nll_loss(x[0, 0], t)),
        (RuntimeError, "weight tensor should be defined either for all 3 classes or no classes",
         lambda: F.nll_loss(x, t, torch.ones(2))),
        (RuntimeError, "expected scalar type Float but found Double", lambda: F.nll_loss(x, t, torch.ones(3).double())),
        (NotImplementedError, "\"nll_loss_out_frame\" not implemented for 'Long'", lambda: F.nll_loss(x.long(), t)),
        (RuntimeError, "label_smoothing must be between 0.0 and 1.0. Got: 1.5",
         lambda: F.cross_entropy(x, t, label_smoothing=1.5)),
        (RuntimeError, "Expected floating point type for target with class probabilities, got Long",
         lambda: F.cross_entropy(x, x.long())),
        (RuntimeError, "ignore_index is not supported for floating point target",
         lambda: F.cross_entropy(x, x, ignore_index=1)),
        (TypeError, r"cross_entropy_loss\(\): argument 'target' \(position 2\) must be Tensor, not int",
         lambda: F.cross_entropy(x, 3)),
        (TypeError, r"nll_loss_nd\(\): argument 'weight' \(position 3\) must be Tensor, not list",
         lambda: F.nll_loss(x, t, [1, 2])),
        (TypeError, r"cross_entropy_loss\(\): argument 'ignore_index' \(position 5\) must be int, not float",
         lambda: F.cross_entropy(x, t, ignore_index=1.5)),
        (ValueError, "foo is not a valid value for reduction", lambda: F.cross_entropy(x, t, reduction="foo")),
    ]  # fmt: skip
    for error, text, call in cases:
        with pytest.raises(error, match=text):
            call()
