import numpy as np
import pytest

import chainrule as torch
from chainrule.nn import functional as F
from tests.ops.numeric import check

RNG = np.random.default_rng(0)


def draw(*shape):
    return RNG.standard_normal(shape)


def reduced(losses, reduction):
    return losses if reduction == "none" else getattr(losses, reduction)()


REDUCTIONS = pytest.mark.parametrize("reduction", ["none", "mean", "sum"])


@REDUCTIONS
def test_pairs(reduction):
    x, y, t = draw(3, 4), draw(3, 4), RNG.choice([-1.0, 1.0], (3, 4))
    a, b, target = (torch.tensor(v) for v in (x, y, t))
    found = F.hinge_embedding_loss(a, target, 0.5, reduction=reduction)
    np.testing.assert_allclose(found.numpy(), reduced(np.where(t == 1, x, np.maximum(0, 0.5 - x)), reduction))
    found = F.margin_ranking_loss(a, b, target, 0.5, reduction=reduction)
    np.testing.assert_allclose(found.numpy(), reduced(np.maximum(0, 0.5 - t * (x - y)), reduction))
    signs = np.array([1.0, -1.0, 1.0])
    cosine = (x * y).sum(1) / np.sqrt((x * x).sum(1) * (y * y).sum(1))
    expected = reduced(np.where(signs == 1, 1 - cosine, np.maximum(0, cosine + 0.5)), reduction)
    found = F.cosine_embedding_loss(a, b, torch.tensor(signs), -0.5, reduction=reduction)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)
    check(lambda x: F.hinge_embedding_loss(x, target, 0.5, reduction=reduction), x)
    check(lambda x, y: F.margin_ranking_loss(x, y, target, 0.5, reduction=reduction), x, y)
    check(lambda x, y: F.cosine_embedding_loss(x, y, torch.tensor(signs), -0.5, reduction=reduction), x, y)


def test_vectors_alone():
    x, y = draw(4), draw(4)
    loss = F.cosine_embedding_loss(torch.tensor(x), torch.tensor(y), torch.tensor(1))
    np.testing.assert_allclose(loss.item(), 1 - x @ y / np.sqrt(x @ x * (y @ y)))
    zeros = torch.zeros(2, 3, requires_grad=True)
    F.cosine_embedding_loss(zeros, zeros, torch.tensor([1.0, -1.0])).backward()
    assert zeros.grad.tolist() == [[0.0] * 3] * 2


@REDUCTIONS
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("p", [1, 2, 3.0])
def test_triplets(reduction, swap, p):
    anchor, near, far = draw(5, 3), draw(5, 3), draw(5, 3)

    def distance(u, v):
        return (abs(u - v + 1e-6) ** p).sum(-1) ** (1 / p)

    away = distance(anchor, far)
    if swap:
        away = np.minimum(away, distance(near, far))
    expected = reduced(np.maximum(0, 1.5 + distance(anchor, near) - away), reduction)
    tensors = [torch.tensor(v) for v in (anchor, near, far)]
    found = F.triplet_margin_loss(*tensors, 1.5, p, swap=swap, reduction=reduction)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)
    found = F.triplet_margin_with_distance_loss(
        *tensors,
        distance_function=lambda u, v: F.pairwise_distance(u, v, p),
        margin=1.5,
        swap=swap,
        reduction=reduction,
    )
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)
    check(lambda a, n, f: F.triplet_margin_loss(a, n, f, 1.5, p, swap=swap, reduction=reduction), anchor, near, far)


@REDUCTIONS
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_multi_margin(reduction, p, weighted):
    x, labels, w = draw(5, 4), RNG.integers(0, 4, 5), RNG.random(4)
    losses = np.zeros(5)
    for n in range(5):
        for c in set(range(4)) - {labels[n]}:
            losses[n] += max(0, 1.3 - x[n, labels[n]] + x[n, c]) ** p * (w[labels[n]] if weighted else 1) / 4
    weight = torch.tensor(w) if weighted else None
    target = torch.tensor(labels)
    found = F.multi_margin_loss(torch.tensor(x), target, p, 1.3, weight, reduction=reduction)
    np.testing.assert_allclose(found.numpy(), reduced(losses, reduction))
    check(lambda x: F.multi_margin_loss(x, target, p, 1.3, weight, reduction=reduction), x)
    check(lambda x: F.multi_margin_loss(x, target[0], p, 1.3, weight, reduction=reduction), x[0])
    assert F.multi_margin_loss(torch.tensor(x[0]), target[:1], reduction="none").shape == (1,)
    leaf = torch.tensor(x, requires_grad=True)
    assert F.multi_margin_loss(leaf, target).grad_fn.name() == "MultiMarginLossBackward0"


@REDUCTIONS
def test_multilabel_margin(reduction):
    x = draw(5, 4)
    labels = np.array([[0, 3, -1, 1], [1, -1, 0, 0], [-1, 0, 0, 0], [3, 2, 1, 0], [2, 2, -1, -1]])
    losses = np.zeros(5)
    for n in range(5):
        stop = list(labels[n]).index(-1) if -1 in labels[n] else 4
        for right in labels[n, :stop]:
            for wrong in set(range(4)) - set(labels[n, :stop]):
                losses[n] += max(0, 1 - x[n, right] + x[n, wrong]) / 4
    target = torch.tensor(labels)
    found = F.multilabel_margin_loss(torch.tensor(x), target, reduction=reduction)
    np.testing.assert_allclose(found.numpy(), reduced(losses, reduction))
    check(lambda x: F.multilabel_margin_loss(x, target, reduction=reduction), x)
    check(lambda x: F.multilabel_margin_loss(x, target[0], reduction=reduction), x[0])
    leaf = torch.tensor(x, requires_grad=True)
    assert F.multilabel_margin_loss(leaf, target).grad_fn.name() == "MultilabelMarginLossBackward0"


@REDUCTIONS
def test_multilabel_soft_margin(reduction):
    x, t, w = draw(5, 4), RNG.random((5, 4)), RNG.random(4)
    losses = (np.logaddexp(0, -x) * t + np.logaddexp(0, x) * (1 - t)) * w
    found = F.multilabel_soft_margin_loss(torch.tensor(x), torch.tensor(t), torch.tensor(w), reduction=reduction)
    np.testing.assert_allclose(found.numpy(), reduced(losses.mean(1), reduction))
    check(lambda x, t: F.multilabel_soft_margin_loss(x, t, torch.tensor(w), reduction=reduction), x, t)


def test_the_functions_that_know_reductions_by_numbers():
    x, t = torch.tensor(draw(2, 3)), torch.tensor([[1.0, -1, 1], [-1, 1, 1]])
    for call in (
        lambda **r: torch.hinge_embedding_loss(x, t, **r),
        lambda **r: torch.margin_ranking_loss(x, x * 2, t, **r),
        lambda **r: torch.cosine_embedding_loss(x, x * 2, t[:, 0], **r),
        lambda **r: torch.triplet_margin_loss(x, x * 2, x * 3, **r),
    ):
        none, mean, total = call(), call(reduction=1), call(reduction=2)
        assert none.dim() and torch.allclose(none.mean(), mean) and torch.allclose(none.sum(), total)
        with pytest.raises(TypeError, match="argument 'reduction' must be int, not str"):
            call(reduction="mean")


def test_refusals():
    x, t = torch.ones(2, 3), torch.tensor([0, 1])
    lab = torch.zeros(2, 3, dtype=torch.int64)
    cases = [
        (RuntimeError, "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1",
         lambda: F.margin_ranking_loss(x, x, t)),
        (RuntimeError, r"1D target tensor expects 2D input tensors, but found inputs with sizes \[3\] and \[3\].",
         lambda: F.cosine_embedding_loss(x[0], x[0], t)),
        (RuntimeError, "0D or 1D target tensor expected, multi-target not supported",
         lambda: F.cosine_embedding_loss(x, x, x)),
        (ValueError, "margin must be greater than 0, got 0", lambda: F.triplet_margin_loss(x, x, x, 0)),
        (RuntimeError, "are expected to have the same number of dimensions, but got: anchor 2D, positive 2D, and negative 1D",
         lambda: F.triplet_margin_with_distance_loss(x, x, x[0])),
        (ValueError, "only p == 1 and p == 2 supported", lambda: F.multi_margin_loss(x, t, p=3)),
        (ValueError, "weight must be one-dimensional", lambda: F.multi_margin_loss(x, t, weight=x)),
        (RuntimeError, r"inconsistent weight size, expected 3 but got \[2\]",
         lambda: F.multi_margin_loss(x, t, weight=torch.ones(2))),
        (RuntimeError, "target out of range", lambda: F.multi_margin_loss(x, t + 2)),
        (RuntimeError, r"Expected target size \[2\], but got \[3\]. Input has shape \[2, 3\].",
         lambda: F.multi_margin_loss(x, torch.tensor([0, 1, 2]))),
        (RuntimeError, "expected scalar type Long but found Int", lambda: F.multi_margin_loss(x, t.int())),
        (NotImplementedError, "\"multi_margin_loss_cpu_kernel\" not implemented for 'Half'",
         lambda: F.multi_margin_loss(x.half(), t)),
        (RuntimeError, "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
         lambda: F.multi_margin_loss(x[None], t)),
        (RuntimeError, r"inconsistent target size: \[3\] for input of size: \[2, 3\]",
         lambda: F.multilabel_margin_loss(x, lab[0])),
        (RuntimeError, "argument #2 'target' is out of range", lambda: F.multilabel_margin_loss(x, lab + 3)),
        (NotImplementedError, "\"multilabel_margin_loss_forward_out_frame\" not implemented for 'Long'",
         lambda: F.multilabel_margin_loss(lab, lab)),
        (ValueError, "foo is not valid", lambda: F.multilabel_soft_margin_loss(x, x, reduction="foo")),
        (TypeError, r"hinge_embedding_loss\(\): argument 'target' \(position 2\) must be Tensor, not int",
         lambda: F.hinge_embedding_loss(x, 3)),
    ]  # fmt: skip
    for error, text, call in cases:
        with pytest.raises(error, match=text):
            call()
