import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

RNG = np.random.default_rng(0)
X, Y, V, S = (RNG.standard_normal(s) for s in ((2, 3), (4, 3), (3,), ()))

CASES = {
    "cat": (lambda x, y: torch.cat([x, y, x]), lambda x, y: np.concatenate([x, y, x]), (X, Y), "CatBackward0"),
    "cat along 1": (lambda x: torch.cat((x, x), -1), lambda x: np.concatenate([x, x], 1), (X,), "CatBackward0"),
    "cat of permuted": (
        lambda x, y: torch.cat([x.t(), y.t()], 1), lambda x, y: np.vstack([x, y]).T, (X, Y), "CatBackward0",
    ),
    "stack": (lambda x: torch.stack([x, x], 1), lambda x: np.stack([x, x], 1), (X,), "StackBackward0"),
    "hstack": (lambda v, s: torch.hstack([v, s, v]), lambda v, s: np.hstack([v, s, v]), (V, S), "CatBackward0"),
    "vstack": (lambda v, x: torch.vstack([v, x]), lambda v, x: np.vstack([v, x]), (V, X), "CatBackward0"),
    "dstack": (lambda v: torch.dstack([v, v]), lambda v: np.dstack([v, v]), (V,), "CatBackward0"),
    "column_stack": (
        lambda v, x: torch.column_stack([v, x.t()]), lambda v, x: np.column_stack([v, x.T]), (V, X), "CatBackward0",
    ),
    "block_diag": (
        lambda x, v, s: torch.block_diag(x, v, s),
        lambda x, v, s: np.block([
            [x, np.zeros((2, 4))], [np.zeros((1, 3)), v[None], np.zeros((1, 1))], [np.zeros((1, 6)), s.reshape(1, 1)],
        ]),
        (X, V, S), "BlockDiagBackward0",
    ),
    "cartesian_prod": (
        lambda v: torch.cartesian_prod(v, v),
        lambda v: np.stack([g.ravel() for g in np.meshgrid(v, v, indexing="ij")], 1), (V,), "StackBackward0",
    ),
    "combinations": (
        lambda v: torch.combinations(v), lambda v: v[[[0, 1], [0, 2], [1, 2]]], (V,), "StackBackward0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_nodes_and_derivatives(name):
    function, reference, arrays, node = CASES[name]
    y = function(*[torch.tensor(a, requires_grad=True) for a in arrays])
    np.testing.assert_array_equal(y.detach().numpy(), reference(*arrays))
    assert y.grad_fn.name() == node and y.is_contiguous()
    check(function, *arrays)
    check(function, *[a + 1j for a in arrays])


def test_cat_of_several_dtypes_and_of_nothing():
    assert torch.cat([torch.zeros(2), torch.ones(2, dtype=torch.int32)]).dtype is torch.float32
    x = torch.ones(2, 2, dtype=torch.int64, requires_grad=False)
    assert torch.cat([torch.zeros(0), x]).dtype is torch.float32 and torch.cat([torch.zeros(0), x], -1).shape == (2, 2)
    leaf = torch.ones(2, 2, requires_grad=True)
    empty = torch.zeros(0, requires_grad=True)
    torch.cat([empty, leaf]).backward(torch.ones(2, 2))
    assert leaf.grad.tolist() == [[1, 1], [1, 1]] and empty.grad.shape == (0,)
    out = torch.zeros(0)
    assert torch.cat([leaf.detach(), leaf.detach()], out=out) is out and out.shape == (4, 2)
    assert torch.cat([leaf.detach(), leaf]).grad_fn.next_functions[0] == (None, 0)


def test_meshgrid():
    a, b = torch.arange(2.0), torch.arange(3.0)
    x, y = torch.meshgrid(a, b, indexing="ij")
    assert x.tolist() == [[0, 0, 0], [1, 1, 1]] and x.stride() == (1, 0) and x._base is a
    x, y = torch.meshgrid([a, b], indexing="xy")
    assert x.shape == (3, 2) and y.tolist() == [[0, 0], [1, 1], [2, 2]]
    check(lambda v: torch.meshgrid(v, v, indexing="xy"), V)


@pytest.mark.parametrize(
    "function, kind, text",
    [
        (lambda x: torch.cat([]), ValueError, "torch.cat(): expected a non-empty list of Tensors"),
        (lambda x: torch.cat([x, x[0]]), RuntimeError, "Tensors must have same number of dimensions: got 2 and 1"),
        (
            lambda x: torch.cat([x, x[:1]], 1),
            RuntimeError,
            "Sizes of tensors must match except in dimension 1. Expected size 2",
        ),
        (
            lambda x: torch.cat([x[0, 0], x]),
            RuntimeError,
            "zero-dimensional tensor (at position 0) cannot be concatenated",
        ),
        (
            lambda x: torch.cat(x),
            TypeError,
            "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor",
        ),
        (lambda x: torch.cat([x, 5]), TypeError, "expected Tensor as element 1 in argument 0, but got int"),
        (
            lambda x: torch.stack([x, x[0]]),
            RuntimeError,
            "stack expects each tensor to be equal size, but got [2, 3] at entry 0",
        ),
        (lambda x: torch.hstack([]), RuntimeError, "hstack expects a non-empty TensorList"),
        (
            lambda x: torch.meshgrid(x, indexing="ij"),
            RuntimeError,
            "torch.meshgrid: Expected 0D or 1D tensor in the tensor",
        ),
        (lambda x: torch.cartesian_prod(x), RuntimeError, "Expect a 1D vector, but got shape [2, 3]"),
        (
            lambda x: torch.block_diag(x[None]),
            RuntimeError,
            "torch.block_diag: Input tensors must have 2 or fewer dimensions.",
        ),
    ],
)
def test_errors(function, kind, text):
    with pytest.raises(kind) as found:
        function(torch.tensor(X))
    assert str(found.value).startswith(text)
