import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

A = np.random.default_rng(0).standard_normal((2, 3, 4))

ONE = [
    (lambda x: x.select(1, -1), lambda a: a[:, -1], "SelectBackward0"),
    (lambda x: x.narrow(2, 1, 2), lambda a: a[:, :, 1:3], "SliceBackward0"),
    (lambda x: x.narrow(2, -1, 1), lambda a: a[:, :, 3:], "SliceBackward0"),
    (lambda x: x.diagonal(), lambda a: a.diagonal(), "DiagonalBackward0"),
    (lambda x: x.diagonal(-1, 0, 2), lambda a: a.diagonal(-1, 0, 2), "DiagonalBackward0"),
    (lambda x: x.diagonal(5), lambda a: a.diagonal(5), "DiagonalBackward0"),
    (
        lambda x: x.unfold(2, 3, 1),
        lambda a: np.lib.stride_tricks.sliding_window_view(a, 3, 2),
        "UnfoldBackward0",
    ),
    (
        lambda x: x.unfold(2, 2, 2),
        lambda a: np.lib.stride_tricks.sliding_window_view(a, 2, 2)[:, :, ::2],
        "UnfoldBackward0",
    ),
]
MANY = [
    (lambda x: x.unbind(1), lambda a: [a[:, i] for i in range(3)], "UnbindBackward0"),
    (lambda x: x.split(3, 2), lambda a: np.split(a, [3], 2), "SplitBackward0"),
    (lambda x: x.split([1, 0, 2], 1), lambda a: np.split(a, [1, 1], 1), "SplitWithSizesBackward0"),
    (lambda x: x.chunk(3, 2), lambda a: np.split(a, [2], 2), "SplitBackward0"),
    (lambda x: x.tensor_split(3, 2), lambda a: np.array_split(a, 3, 2), "SliceBackward0"),
    (lambda x: x.tensor_split([1, 3], 2), lambda a: np.split(a, [1, 3], 2), "SliceBackward0"),
    (lambda x: x.dsplit(2), lambda a: np.dsplit(a, 2), "SliceBackward0"),
    (lambda x: x.hsplit([1]), lambda a: np.hsplit(a, [1]), "SliceBackward0"),
    (lambda x: x.vsplit(2), lambda a: np.vsplit(a, 2), "SliceBackward0"),
]


@pytest.mark.parametrize("function, reference, node", ONE)
def test_one_part(function, reference, node):
    x = torch.tensor(A, requires_grad=True)
    y = function(x)
    np.testing.assert_array_equal(y.detach().numpy(), reference(A))
    assert y.grad_fn.name() == node and y._base is x
    check(function, A)
    check(function, A + 1j * A[::-1])


@pytest.mark.parametrize("function, reference, node", MANY)
def test_many_parts(function, reference, node):
    x = torch.tensor(A, requires_grad=True)
    parts = function(x)
    assert type(parts) is tuple
    for part, want in zip(parts, reference(A), strict=True):
        np.testing.assert_array_equal(part.detach().numpy(), want)
        assert part.grad_fn.name() == node and part._base is x
    check(function, A)


def test_parts_of_one_operation_share_a_node_and_may_not_be_written():
    x = torch.zeros(2, 3, requires_grad=True).clone()
    a, b = x.unbind()
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 1)
    with pytest.raises(
        RuntimeError, match="Output 0 of Unbind is a view and is being modified inplace. This view is the"
    ):
        a.add_(1)
    assert x.tensor_split(2)[0].add_(1).grad_fn is not None
    (c,) = torch.zeros(1, requires_grad=True).clone().split(3)
    with pytest.raises(RuntimeError, match="Output 0 of Split is a view and is being modified inplace."):
        c.add_(1)


def test_the_unsafe_forms_give_tensors_of_their_own():
    x = torch.zeros(4, requires_grad=True).clone()
    a, b = x.unsafe_chunk(2)
    assert not a._is_view() and a.grad_fn.name() == "UnsafeSplitBackward0"
    a.add_(1)
    assert x.tolist() == [0, 0, 0, 0]
    check(lambda x: x.unsafe_split(3), A[0, 0])
    check(lambda x: torch.narrow_copy(x, 0, 1, 2), A[0, 0])


def test_sizes_at_the_edges():
    e = torch.zeros(0, 3)
    assert [t.shape for t in e.split(2)] == [(0, 3)] and len(e.chunk(3)) == 3 and len(torch.zeros(3).chunk(5)) == 3
    assert [t.shape[0] for t in torch.zeros(3).tensor_split(5)] == [1, 1, 1, 0, 0]
    assert [t.shape[0] for t in torch.zeros(3).tensor_split(torch.tensor([1, 5]))] == [1, 2, 0]
    assert torch.tensor(1.0).unfold(0, 1, 1).shape == (1,) and [r.tolist() for r in torch.arange(2)] == [0, 1]


@pytest.mark.parametrize(
    "function, kind, text",
    [
        (
            lambda x: x.select(0, 3),
            IndexError,
            "select(): index 3 out of range for tensor of size [2, 3, 4] at dimension 0",
        ),
        (lambda x: torch.tensor(1.0).select(0, 0), IndexError, "select() cannot be applied to a 0-dim tensor."),
        (lambda x: x.narrow(1, 2, 2), RuntimeError, "start (2) + length (2) exceeds dimension size (3)."),
        (lambda x: x.narrow(1, 4, 1), IndexError, "start out of range (expected to be in range of [-3, 3], but got 4)"),
        (lambda x: x.narrow(1, 1, -1), RuntimeError, "narrow(): length must be non-negative."),
        (lambda x: torch.tensor(1.0).unbind(), IndexError, "Dimension specified as 0 but tensor has no dimensions"),
        (
            lambda x: x.split(0),
            RuntimeError,
            "split_size can only be 0 if dimension size is 0, but got dimension size of 2",
        ),
        (
            lambda x: x.split([1, 2]),
            RuntimeError,
            "split_with_sizes expects split_sizes to sum exactly to 2 (input tensor's",
        ),
        (
            lambda x: x.split("a"),
            TypeError,
            "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints",
        ),
        (lambda x: x.chunk(0), RuntimeError, "chunk expects `chunks` to be greater than 0, got: 0"),
        (lambda x: x.tensor_split(0), RuntimeError, "number of sections must be larger than 0, got 0"),
        (lambda x: x.dsplit(3), RuntimeError, "torch.dsplit attempted to split along dimension 2, but the size of the"),
        (lambda x: x.diagonal(0, 0, 0), RuntimeError, "diagonal dimensions cannot be identical 0, 0"),
        (lambda x: x.unfold(0, 4, 1), RuntimeError, "maximum size for tensor at dimension 0 is 2 but size is 4"),
        (lambda x: x.unfold(0, 1, 0), RuntimeError, "step is 0 but must be > 0"),
    ],
)
def test_errors(function, kind, text):
    with pytest.raises(kind) as found:
        function(torch.tensor(A))
    assert str(found.value).startswith(text)
