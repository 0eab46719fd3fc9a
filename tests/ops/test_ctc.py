import itertools
import math

import numpy as np
import pytest
from scipy import special

import chainrule as torch
from chainrule.nn import functional as F
from tests.ops.numeric import check

RNG = np.random.default_rng(0)


def by_all_paths(logs, labels, blank):
    """Minus the logarithm of the sum over every sequence of classes that reads as the labels."""
    total = -math.inf
    for path in itertools.product(range(logs.shape[1]), repeat=logs.shape[0]):
        read = [c for c, _ in itertools.groupby(path) if c != blank]
        if read == list(labels):
            total = np.logaddexp(total, sum(logs[t, c] for t, c in enumerate(path)))
    return -total


@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.parametrize("steps", [1, 3, 5])
def test_values_against_all_paths(steps, blank):
    logs = special.log_softmax(RNG.standard_normal((steps, 6, 3)), 2)
    classes = [c for c in range(3) if c != blank]
    labels = RNG.choice(classes, (6, 3))
    lengths, times = np.array([0, 1, 2, 3, 2, 2]), np.array([steps, steps, steps, steps, max(steps - 1, 1), steps])
    expected = [by_all_paths(logs[: times[n], n], labels[n, : lengths[n]], blank) for n in range(6)]
    flat = np.concatenate([labels[n, : lengths[n]] for n in range(6)])
    for targets in (labels, flat):
        found = F.ctc_loss(
            torch.tensor(logs), torch.tensor(targets), torch.tensor(times), tuple(lengths.tolist()), blank, "none"
        )
        np.testing.assert_allclose(found.numpy(), expected)
    found = F.ctc_loss(torch.tensor(logs), torch.tensor(labels), torch.tensor(times), torch.tensor(lengths), blank)
    np.testing.assert_allclose(found.item(), (expected / np.maximum(lengths, 1)).mean())
    zeroed = F.ctc_loss(torch.tensor(logs), torch.tensor(labels), times.tolist(), lengths.tolist(), blank, "sum", True)
    np.testing.assert_allclose(zeroed.item(), sum(e for e in expected if e < math.inf))


def test_derivatives_hold_for_any_input_not_only_for_log_softmax():
    targets = torch.tensor([[1, 2], [2, 2], [1, 0]])
    for reduction in ("none", "mean", "sum"):
        check(
            lambda x, r=reduction: F.ctc_loss(x, targets, (5, 5, 3), (2, 2, 1), reduction=r),
            RNG.standard_normal((5, 3, 3)),
        )
    check(
        lambda x: F.ctc_loss(x.log_softmax(2), targets, (5, 5, 3), (2, 2, 1)), RNG.standard_normal((5, 3, 3)), order=3
    )
    check(lambda x: F.ctc_loss(x, targets[0], (4,), (2,)), RNG.standard_normal((4, 3)))


def test_sequences_that_do_not_fit():
    logs = torch.tensor(special.log_softmax(RNG.standard_normal((3, 2, 3)), 2), requires_grad=True)
    targets = torch.tensor([[1, 1], [2, 2]])  # two equal labels need three times
    loss = F.ctc_loss(logs, targets, (3, 2), (2, 2), reduction="none")
    assert math.isfinite(loss[0].item()) and loss[1].item() == math.inf
    (g,) = torch.autograd.grad(loss.sum(), logs)
    assert not g[:, 0].isnan().any() and g[:2, 1].isnan().all() and g[2, 1].tolist() == [0.0] * 3
    loss = F.ctc_loss(logs, targets, (3, 2), (2, 2), reduction="none", zero_infinity=True)
    assert loss[1].item() == 0 and loss.grad_fn.name() == "WhereBackward0"
    (g,) = torch.autograd.grad(loss.sum(), logs, create_graph=True)
    assert not g[:, 1].detach().numpy().any()
    (again,) = torch.autograd.grad(g.square().sum(), logs)
    assert not again.isnan().any()
    empty = F.ctc_loss(logs, targets, (0, 0), (0, 1), reduction="none")
    assert empty.tolist() == [0.0, math.inf]


def test_nodes_and_shapes():
    logs = torch.tensor(special.log_softmax(RNG.standard_normal((4, 2, 3)), 2), requires_grad=True)
    targets = torch.tensor([[1, 2], [2, 1]])
    assert F.ctc_loss(logs, targets, (4, 4), (2, 2), reduction="none").grad_fn.name() == "CtcLossBackward0"
    alone = F.ctc_loss(logs[:, 0], targets[0], torch.tensor(4), torch.tensor(2), reduction="none")
    assert alone.shape == () and alone.grad_fn.name() == "SqueezeBackward1"
    assert torch.ctc_loss(logs, targets, [4, 4], [2, 2]).shape == (2,)
    assert torch.ctc_loss(logs, targets, [4, 4], [2, 2], 0, 2).shape == ()
    assert F.ctc_loss(logs.float(), targets.int(), (4, 4), (2, 2)).dtype is torch.float32


def test_long_single_precision_sequences():
    logs = special.log_softmax(RNG.standard_normal((200, 3, 5)) * 3, 2)
    targets = torch.tensor(RNG.integers(1, 5, (3, 40)))
    exact = torch.tensor(logs, requires_grad=True)
    single = torch.tensor(logs.astype(np.float32), requires_grad=True)
    losses = [F.ctc_loss(x, targets, (200, 150, 180), (40, 20, 0)) for x in (exact, single)]
    for loss in losses:
        loss.backward()
    np.testing.assert_allclose(losses[1].item(), losses[0].item(), rtol=1e-5)
    np.testing.assert_allclose(single.grad.numpy(), exact.grad.numpy(), atol=1e-4)


def test_refusals():
    logs, targets = torch.zeros(4, 2, 3), torch.tensor([[1, 2], [2, 1]])
    where = r" \(while checking arguments for ctc_loss_allocate_outputs\)"
    cases = [
        (RuntimeError, "Expected input_lengths to have value at most 4, but got value 5" + where, (targets, (5, 4), (2, 2))),
        (RuntimeError, "Expected target_lengths to have value at least 0, but got value -1" + where,
         (targets, (4, 4), (2, -1))),
        (RuntimeError, "Expected tensor to have size at least 3 at dimension 1, but got size 2 for argument #2 'targets'",
         (targets, (4, 4), (2, 3))),
        (RuntimeError, "Expected tensor to have size 4 at dimension 0, but got size 3 for argument #2 'targets'",
         (torch.tensor([1, 2, 2]), (4, 4), (2, 2))),
        (RuntimeError, "input_lengths must be of size batch_size", (targets, (4,), (2, 2))),
        (RuntimeError, "target_lengths must be of size batch_size", (targets, (4, 4), (2,))),
        (RuntimeError, "input_lengths must be integral", (targets, torch.tensor([4.0, 4.0]), (2, 2))),
        (RuntimeError, "blank must be in label range", (targets, (4, 4), (2, 2), 3)),
        (RuntimeError, "Expected targets to be labels from 0 to 2, but got 5", (targets + 4, (4, 4), (1, 1))),
        (TypeError, r"ctc_loss\(\) received an invalid combination of arguments - got \(Tensor, Tensor, int, int, int, int",
         (targets, 4, 2)),
        (ValueError, "foo is not a valid value for reduction", (targets, (4, 4), (2, 2), 0, "foo")),
    ]  # fmt: skip
    for error, text, arguments in cases:
        with pytest.raises(error, match=text):
            F.ctc_loss(logs, *arguments)
    with pytest.raises(NotImplementedError, match="\"ctc_loss_cpu\" not implemented for 'Half'"):
        F.ctc_loss(logs.half(), targets, (4, 4), (2, 2))
    with pytest.raises(
        RuntimeError, match="Expected 3-dimensional tensor, but got 5-dimensional tensor for argument #1"
    ):
        F.ctc_loss(logs[None], targets, (4, 4), (2, 2))
