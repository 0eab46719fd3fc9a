import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

A = np.random.default_rng(0).standard_normal((3, 4))
C = np.random.default_rng(1).standard_normal((2, 3, 4))

CASES = {
    "repeat": (lambda x: x.repeat(2, 3), lambda a: np.tile(a, (2, 3)), A, "RepeatBackward0"),
    "repeat to more dimensions": (lambda x: x.repeat((2, 1, 2)), lambda a: np.tile(a, (2, 1, 2)), A, "RepeatBackward0"),
    "repeat to nothing": (lambda x: x.repeat(0, 1), lambda a: a[:0], A, "RepeatBackward0"),
    "tile": (lambda x: x.tile(2), lambda a: np.tile(a, 2), A, "RepeatBackward0"),
    "repeat_interleave": (lambda x: x.repeat_interleave(2), lambda a: np.repeat(a, 2), A, "ViewBackward0"),
    "repeat_interleave along": (lambda x: x.repeat_interleave(2, 1), lambda a: np.repeat(a, 2, 1), A, "ViewBackward0"),
    "repeat_interleave by counts": (
        lambda x: x.repeat_interleave(torch.tensor([1, 0, 2]), 0), lambda a: np.repeat(a, [1, 0, 2], 0), A,
        "IndexSelectBackward0",
    ),
    "flip": (lambda x: x.flip(0, -1), lambda a: np.flip(a, (0, 2)), C, "FlipBackward0"),
    "fliplr": (lambda x: x.fliplr(), np.fliplr, A, "FlipBackward0"),
    "flipud": (lambda x: x.flipud(), np.flipud, A, "FlipBackward0"),
    "roll": (lambda x: x.roll(1), lambda a: np.roll(a, 1), A, "RollBackward0"),
    "roll along": (lambda x: x.roll((1, -2), (0, 1)), lambda a: np.roll(a, (1, -2), (0, 1)), A, "RollBackward0"),
    "rot90": (lambda x: x.rot90(), np.rot90, A, "Rot90Backward0"),
    "rot90 twice": (lambda x: x.rot90(2), lambda a: np.rot90(a, 2), A, "Rot90Backward0"),
    "rot90 back": (lambda x: x.rot90(-1, (0, 2)), lambda a: np.rot90(a, -1, (0, 2)), C, "Rot90Backward0"),
    "tril": (lambda x: x.tril(1), lambda a: np.tril(a, 1), A, "TrilBackward0"),
    "triu": (lambda x: x.triu(-1), lambda a: np.triu(a, -1), C, "TriuBackward0"),
    "tril_": (lambda x: (x * 1).tril_(), np.tril, A, "TrilBackward0"),
    "diag of a matrix": (lambda x: x.diag(-1), lambda a: np.diag(a, -1), A, "DiagonalBackward0_copy"),
    "diag of a vector": (lambda x: x.diag(1), lambda a: np.diag(a, 1), A[0], "DiagEmbedBackward0"),
    "diagflat": (lambda x: x.diagflat(), np.diagflat, A, "DiagEmbedBackward0"),
    "diag_embed": (lambda x: x.diag_embed(), lambda a: a[:, None] * np.eye(4), A, "DiagEmbedBackward0"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_nodes_and_derivatives(name):
    function, reference, a, node = CASES[name]
    y = function(torch.tensor(a, requires_grad=True))
    np.testing.assert_array_equal(y.detach().numpy(), reference(a))
    assert y.grad_fn.name() == node and not np.may_share_memory(y.detach().numpy(), a)
    check(function, a)
    check(function, a + 1j)


def test_layout():
    x = torch.zeros(3, 4)
    assert x.t().flip(0).stride() == (1, 4) and x.rot90().stride() == (1, 4) and x.rot90(2).stride() == (4, 1)
    assert x.t().tril().stride() == (3, 1) and x.flip(()).data_ptr() != x.data_ptr()


def test_triangles_keep_what_is_not_a_number_out():
    x = torch.full((200, 200), float("nan"))
    assert x.tril()[0, 1].item() == 0 and x.triu()[1, 0].item() == 0 and x.tril()[1, 0].isnan().item()
    assert torch.ones(2, 2, dtype=torch.bool).triu(1).tolist() == [[False, True], [False, False]]


def test_repeat_interleave_of_counts_alone():
    assert torch.repeat_interleave(torch.tensor([1, 2, 0])).tolist() == [0, 1, 1]
    assert torch.tensor(3.0).repeat_interleave(2).tolist() == [3, 3]


@pytest.mark.parametrize(
    "function, kind, text",
    [
        (lambda x: x.repeat(2), RuntimeError, "Number of dimensions of repeat dims can not be smaller than number of"),
        (lambda x: x.repeat(-1, 1), RuntimeError, "Trying to create tensor with negative dimension -3: [-3, 4]"),
        (lambda x: x.repeat(), TypeError, 'repeat() missing 1 required positional arguments: "repeats"'),
        (lambda x: x.repeat_interleave(-1), RuntimeError, "Repeats must be non-negative"),
        (
            lambda x: x.repeat_interleave(torch.tensor([1, 2]), 0),
            RuntimeError,
            "repeats must have the same size as input",
        ),
        (lambda x: x.flip(0, 0), RuntimeError, "dim 0 appears multiple times in the list of dims"),
        (lambda x: x[0].fliplr(), RuntimeError, "Input must be >= 2-d."),
        (lambda x: x.roll((1, 2), 0), RuntimeError, "shifts and dimensions must align. shifts: 2, dims:1"),
        (
            lambda x: x.rot90(1, [0, 0]),
            RuntimeError,
            "expected rotation dims to be different, but got dim0 = 0 and dim1 = 0",
        ),
        (lambda x: x[0].tril(), RuntimeError, "tril: input tensor must have at least 2 dimensions"),
        (lambda x: x[None].diag(), RuntimeError, "diag(): Supports 1D or 2D tensors. Got 3D"),
        (lambda x: x.diag_embed(0, 0, 0), RuntimeError, "diagonal dimensions cannot be identical 0, 0"),
    ],
)
def test_errors(function, kind, text):
    with pytest.raises(kind) as found:
        function(torch.tensor(A))
    assert str(found.value).startswith(text)
