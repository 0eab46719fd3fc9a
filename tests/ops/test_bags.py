import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as torch
from tests.ops.numeric import check

F = torch.nn.functional
REDUCE = {"sum": lambda v: v.sum(0), "mean": lambda v: v.mean(0), "max": lambda v: v.max(0)}


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_each_bag_is_taken_together(mode, data):
    indices = data.draw(st.lists(st.integers(0, 4), max_size=8))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(indices)), max_size=3)))
    padding = data.draw(st.sampled_from([None, 2, -1]))
    w = np.random.default_rng(0).standard_normal((5, 3))
    offsets = [0, *cuts]
    wanted = np.zeros((len(offsets), 3))
    for k, (start, stop) in enumerate(zip(offsets, [*cuts, len(indices)])):
        kept = [i for i in indices[start:stop] if padding is None or i != padding % 5]
        if kept:
            wanted[k] = REDUCE[mode](w[kept])
    index = torch.tensor(indices, dtype=torch.int64)
    named = {"mode": mode, "padding_idx": padding}
    made = F.embedding_bag(index, torch.tensor(w), torch.tensor(offsets), **named)
    np.testing.assert_allclose(made.numpy(), wanted, atol=1e-12)
    last = torch.tensor([*offsets, len(indices)])
    again = F.embedding_bag(index, torch.tensor(w), last, include_last_offset=True, **named)
    assert torch.equal(made, again)


def test_rows_of_a_matrix_are_bags():
    w = torch.randn(5, 3)
    made = F.embedding_bag(torch.tensor([[0, 1], [4, 4]]), w, mode="sum")
    assert torch.allclose(made, torch.stack([w[0] + w[1], 2 * w[4]]))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_derivatives(mode):
    w = np.random.default_rng(1).standard_normal((4, 3))
    index, offsets = torch.tensor([1, 2, 0, 2, 1, 3]), torch.tensor([0, 2, 2, 5])
    check(lambda w: F.embedding_bag(index, w, offsets, mode=mode, padding_idx=1) ** 2, w)
    if mode == "sum":
        samples = np.random.default_rng(2).standard_normal(6)
        check(lambda w, s: F.embedding_bag(index, w, offsets, mode=mode, per_sample_weights=s) ** 2, w, samples)


def test_gradients_are_divided_by_the_frequency_of_their_own_row():
    """PyTorch divides by that of another row where rows occur several times."""
    w = torch.zeros(3, 1, requires_grad=True)
    index, offsets = torch.tensor([2, 0, 2, 0, 1, 0]), torch.tensor([0, 2, 4])
    made = F.embedding_bag(index, w, offsets, mode="sum", scale_grad_by_freq=True)
    (made * torch.tensor([[1.0], [10.0], [100.0]])).sum().backward()
    assert w.grad.flatten().tolist() == pytest.approx([37, 100, 5.5])


def test_the_function_of_torch_gives_bags_and_sizes():
    w = torch.tensor([[1.0, 5.0], [4.0, 2.0]], requires_grad=True)
    out, bag, sizes, places = torch.embedding_bag(w, torch.tensor([0, 1, 1]), torch.tensor([0, 2]), mode=2)
    assert out.tolist() == [[4, 5], [4, 2]] and out.grad_fn.name() == "EmbeddingBagBackward0"
    assert bag.tolist() == [0, 0, 1] and sizes.tolist() == [2, 1] and places.tolist() == [[1, 0], [1, 1]]


W, I = torch.zeros(10, 3), torch.tensor([1, 2, 4])
ERRORS = [
    (lambda: F.embedding_bag(I, W), ValueError, "offsets has to be a 1D Tensor but got None"),
    (lambda: F.embedding_bag(I, W, torch.tensor([0]), mode="x"), ValueError, "mode has to be one of sum, mean or max"),
    (lambda: F.embedding_bag(I, W, torch.tensor([1])), RuntimeError,
     "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got 1"),
    (lambda: F.embedding_bag(I, W, torch.tensor([0, 9])), RuntimeError,
     "offsets[-1] can not be greater than input's length 3 but got offsets[-1] of 9"),
    (lambda: F.embedding_bag(I + 6, W, torch.tensor([0])), RuntimeError,
     "Index 2 of input takes value 10 which is not in the valid range [0, 10)"),
    (lambda: F.embedding_bag(I, W, torch.tensor([0]), padding_idx=10), RuntimeError,
     "padding_idx must be within the number of embeddings, -10 through 9, but got 10"),
    (lambda: F.embedding_bag(I, W, torch.tensor([0]), mode="max", scale_grad_by_freq=True), ValueError,
     "max mode does not support scaling the gradient by the frequency"),
    (lambda: F.embedding_bag(I, W, torch.tensor([0]), per_sample_weights=torch.ones(3)), NotImplementedError,
     "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
     "mode='mean'). Please open a feature request on GitHub."),
]  # fmt: skip


@pytest.mark.parametrize("run, kind, text", ERRORS)
def test_errors(run, kind, text):
    with pytest.raises(kind) as caught:
        run()
    assert str(caught.value) == text
