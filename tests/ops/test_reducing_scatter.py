import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

RNG = np.random.default_rng(0)
A, SRC = RNG.standard_normal((3, 4)), RNG.standard_normal((4, 4))
ROWS = np.array([[0, 1, 0, 0], [0, 1, 2, 1], [0, 2, 2, 1]])
UFUNCS = {"sum": np.add, "prod": np.multiply, "mean": np.add, "amax": np.maximum, "amin": np.minimum}


def reference(reduce, include_self):
    out, values = A.copy(), [[[] for _ in range(4)] for _ in range(3)]
    for k, row in enumerate(ROWS):
        for j, i in enumerate(row):
            values[i][j].append(SRC[k, j])
    for i in range(3):
        for j in range(4):
            if found := values[i][j]:
                found = found + [A[i, j]] if include_self else found
                out[i, j] = UFUNCS[reduce].reduce(found) / (len(found) if reduce == "mean" else 1)
    return out


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", UFUNCS)
def test_scatter_reduce(reduce, include_self):
    def run(x, s):
        return x.scatter_reduce(0, torch.tensor(ROWS), s, reduce, include_self=include_self)

    y = run(torch.tensor(A, requires_grad=True), torch.tensor(SRC, requires_grad=True))
    np.testing.assert_allclose(y.detach().numpy(), reference(reduce, include_self), rtol=1e-12)
    assert y.grad_fn.name() == "ScatterReduceBackward0" and len(y.grad_fn.next_functions) == 2
    check(run, A, SRC)

    def in_place(x, s):
        return (x * 1).scatter_reduce_(0, torch.tensor(ROWS), s, reduce, include_self=include_self)

    np.testing.assert_allclose(in_place(torch.tensor(A), torch.tensor(SRC)).numpy(), y.detach().numpy())
    check(in_place, A, SRC)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
def test_index_reduce(reduce, include_self):
    def run(x, s):
        return x.index_reduce(0, torch.tensor([1, 0, 1, 1]), s, reduce, include_self=include_self)

    y = run(torch.tensor(A, requires_grad=True), torch.tensor(SRC))
    column = ([A[1, 0]] if include_self else []) + [SRC[0, 0], SRC[2, 0], SRC[3, 0]]
    want = UFUNCS[reduce].reduce(column) / (len(column) if reduce == "mean" else 1)
    assert y[1, 0].item() == pytest.approx(want) and y.grad_fn.name() == "IndexReduceBackward0"
    check(run, A, SRC)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("values", [[0.0, 3.0, 2.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
def test_products_with_zeros(values, include_self):
    def run(x, s):
        return x.scatter_reduce(0, torch.tensor([0, 0, 1]), s, "prod", include_self=include_self)

    for start in ([2.0, 5.0], [0.0, 5.0]):
        check(run, start, values)


def test_gradients_of_equal_extrema_and_of_what_is_not_used():
    x, s = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    x.scatter_reduce(0, torch.tensor([0, 0, 0]), s, "amax").backward(torch.ones(2))
    assert x.grad.tolist() == [0.25, 1] and s.grad.tolist() == [0.25, 0.25, 0.25]
    s = torch.tensor([2.0, 3.0, 4.0], requires_grad=True)
    torch.ones(3).scatter_reduce(0, torch.tensor([0]), s, "prod").backward(torch.ones(3))
    assert s.grad.tolist() == [1, 0, 0]


def test_integers_and_0_dim_tensors():
    x = torch.tensor([7, 1])
    assert x.scatter_reduce(0, torch.tensor([0]), torch.tensor([2]), "mean").tolist() == [4, 1]
    assert x.scatter_reduce(0, torch.tensor([0]), torch.tensor([2]), "amax", include_self=False).tolist() == [2, 1]
    check(lambda x, s: x.scatter_reduce(0, torch.tensor([0, 0]), s, "prod"), 0.7, [0.3, -1.2])


def test_errors():
    x = torch.zeros(2)
    with pytest.raises(RuntimeError, match="reduce argument must be either sum, prod, mean, amax or amin, got max"):
        x.scatter_reduce(0, torch.tensor([0]), x, "max")
    with pytest.raises(RuntimeError, match="index 5 is out of bounds for dimension 0 with size 2"):
        x.scatter_reduce_(0, torch.tensor([5]), x, "sum")
