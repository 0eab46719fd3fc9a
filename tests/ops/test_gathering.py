import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

F = torch.nn.functional
A = np.random.default_rng(0).standard_normal((3, 4))
ROWS, TWICE = np.array([[0, 1, 2, 0]]), np.array([1, 0, 1])
COLUMNS = np.array([[0, 1], [3, 1], [2, 2]])
MASK = A > 0


def t(array):
    return torch.tensor(array)


CASES = {
    "gather": (lambda x: x.gather(0, t(ROWS)), lambda a: np.take_along_axis(a, ROWS, 0), "GatherBackward0"),
    "gather along 1": (
        lambda x: x.gather(-1, t(COLUMNS)), lambda a: np.take_along_axis(a, COLUMNS, 1), "GatherBackward0",
    ),
    "gather of a corner": (
        lambda x: x.gather(1, t(COLUMNS[:2])), lambda a: np.take_along_axis(a[:2], COLUMNS[:2], 1), "GatherBackward0",
    ),
    "index_select": (lambda x: x.index_select(0, t(TWICE)), lambda a: a[TWICE], "IndexSelectBackward0"),
    "index_select along 1": (lambda x: x.index_select(1, t(TWICE)), lambda a: a[:, TWICE], "IndexSelectBackward0"),
    "take": (lambda x: x.take(t(COLUMNS - 5)), lambda a: a.ravel()[COLUMNS - 5], "TakeBackward0"),
    "take_along_dim": (
        lambda x: x.take_along_dim(t(COLUMNS), 1), lambda a: np.take_along_axis(a, COLUMNS, 1), "GatherBackward0",
    ),
    "take_along_dim broadcast": (
        lambda x: x.take_along_dim(t(COLUMNS[:1]), 1), lambda a: a[:, COLUMNS[0]], "GatherBackward0",
    ),
    "masked_select": (lambda x: x.masked_select(t(MASK)), lambda a: a[MASK], "MaskedSelectBackward0"),
    "masked_select broadcast": (
        lambda x: x[0].masked_select(t(MASK)), lambda a: np.broadcast_to(a[0], (3, 4))[MASK], "MaskedSelectBackward0",
    ),
    "embedding": (lambda x: F.embedding(t(COLUMNS % 3), x), lambda a: a[COLUMNS % 3], "EmbeddingBackward0"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_nodes_and_derivatives(name):
    function, reference, node = CASES[name]
    y = function(torch.tensor(A, requires_grad=True))
    np.testing.assert_array_equal(y.detach().numpy(), reference(A))
    assert y.grad_fn.name() == node and y.is_contiguous() and len(y.grad_fn.next_functions) == 1
    check(function, A)
    check(function, A + 1j)


def test_0_dim_tensors():
    s = torch.tensor(2.0, requires_grad=True)
    for y in (s.gather(0, t([0, 0])), s.take(t([0, 0]))):
        assert y.tolist() == [2, 2] and y.grad_fn.next_functions[0][0].variable is s
    assert s.index_select(0, t([0])).shape == () and s.masked_select(t(True)).shape == (1,)
    check(lambda x: x.gather(0, t([0, 0])), 2.0)
    check(lambda x: x.index_select(0, t([0])), 2.0)


def test_an_index_changed_before_the_backward_pass_is_an_error():
    i = t([[0], [1]])
    y = torch.zeros(2, 2, requires_grad=True).gather(1, i)
    i.zero_()
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.backward(torch.ones(2, 1))


def test_embedding_options():
    weight = torch.ones(3, 2, requires_grad=True)
    i = t([0, 1, 1, 2])
    F.embedding(i, weight, padding_idx=-1).backward(torch.ones(4, 2))
    assert weight.grad.tolist() == [[1, 1], [2, 2], [0, 0]]
    weight.grad = None
    F.embedding(i, weight, scale_grad_by_freq=True).backward(torch.ones(4, 2))
    assert weight.grad.tolist() == [[1, 1], [1, 1], [1, 1]]
    picked = F.embedding(i, weight, padding_idx=1, scale_grad_by_freq=True)
    scale = torch.ones(4, 2, requires_grad=True)
    (g,) = torch.autograd.grad(picked, weight, scale, create_graph=True)
    assert g.tolist() == [[1, 1], [0, 0], [1, 1]]
    assert torch.autograd.grad(g, scale, torch.ones(3, 2))[0].tolist() == [[1, 1], [0, 0], [0, 0], [1, 1]]
    large = torch.tensor([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]])
    F.embedding(t([0, 1]), large, max_norm=1.0)
    np.testing.assert_allclose(large.numpy(), [[0.6, 0.8], [0.3, 0.4], [30, 40]], rtol=1e-6)
    with pytest.raises(NotImplementedError, match="chainrule has no sparse tensors"):
        F.embedding(i, weight, sparse=True)


def test_nonzero():
    x = torch.tensor([[0, 1], [2, 0]])
    assert x.nonzero().tolist() == torch.argwhere(x).tolist() == [[0, 1], [1, 0]] and x.nonzero().stride() == (1, 2)
    rows, columns = x.nonzero(as_tuple=True)
    assert rows.tolist() == [0, 1] and columns.tolist() == [1, 0] and rows.is_contiguous()
    assert torch.tensor(5).nonzero().shape == (1, 0) and torch.tensor(5).nonzero(as_tuple=True)[0].tolist() == [0]
    assert [i.tolist() for i in torch.unravel_index(torch.tensor([5, 11]), (3, 4))] == [[1, 2], [1, 3]]


def test_one_hot():
    assert F.one_hot(t([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]] and F.one_hot(t(1), 4).tolist() == [0, 1, 0, 0]
    assert F.one_hot(t(np.empty(0, np.int64)), 3).shape == (0, 3)
    for values, classes, text in (([3], 2, "smaller than num_classes"), ([-1], -1, "must be non-negative")):
        with pytest.raises(RuntimeError, match=f"Class values must be {text.removeprefix('must be ')}"):
            F.one_hot(t(values), classes)


@pytest.mark.parametrize(
    "function, kind, text",
    [
        (
            lambda x: x.gather(0, t([[5, 0, 0, 0]])),
            RuntimeError,
            "index 5 is out of bounds for dimension 0 with size 3",
        ),
        (
            lambda x: x.gather(0, t([[-1, 0, 0, 0]])),
            RuntimeError,
            "index -1 is out of bounds for dimension 0 with size 3",
        ),
        (
            lambda x: x.gather(0, t([0])),
            RuntimeError,
            "Index tensor must have the same number of dimensions as input tensor",
        ),
        (
            lambda x: x.gather(1, t([[0]] * 4)),
            RuntimeError,
            "Size does not match at dimension 0 expected index [4, 1] to be no",
        ),
        (lambda x: x.gather(0, t([[0.0]])), RuntimeError, "gather(): Expected dtype int32/int64 for index"),
        (lambda x: x.gather(0, 5), TypeError, "gather(): argument 'index' (position 2) must be Tensor, not int"),
        (lambda x: x.index_select(0, t([5])), IndexError, "index out of range in self"),
        (lambda x: x.index_select(0, t([[0]])), IndexError, "index_select(): Index is supposed to be a vector"),
        (lambda x: x.take(t([12])), IndexError, "out of range: tried to access index 12 on a tensor of 12 elements."),
        (lambda x: x.take(t([0]).int()), RuntimeError, "take(): Expected a long tensor for index, but got Int"),
        (
            lambda x: x.take_along_dim(t([0]), 1),
            RuntimeError,
            "torch.take_along_dim(): input and indices should have the same",
        ),
        (lambda x: x.masked_select(t([1])), RuntimeError, "masked_select: expected BoolTensor for mask"),
        (lambda x: F.embedding(t([5]), x), IndexError, "index out of range in self"),
        (lambda x: F.embedding(t([0]), x[0]), RuntimeError, "'weight' must be 2-D"),
        (lambda x: F.embedding(t([0]), x, padding_idx=7), AssertionError, "Padding_idx must be within num_embeddings"),
    ],
)
def test_errors(function, kind, text):
    with pytest.raises(kind) as found:
        function(torch.tensor(A))
    assert str(found.value).startswith(text)
