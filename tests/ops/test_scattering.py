import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

RNG = np.random.default_rng(0)
A, SRC, V = RNG.standard_normal((3, 4)), RNG.standard_normal((2, 4)), RNG.standard_normal(6)
ROWS, MASK = np.array([[0, 1, 2, 0]]), A > 0
I, TWICE = np.array([2, 0]), np.array([1, 1])


def t(array):
    return torch.tensor(array)


def written(index, values, start=A):
    out = start.copy()
    out[index] = values
    return out


def added(index, values, start=A):
    out = start.copy()
    np.add.at(out, index, values)
    return out


AT_ROWS = (ROWS, np.arange(4)[None])
# name: (arguments after the tensor, the result, operands, the node, the names of what follows it)
CASES = {
    "scatter": (lambda s: (0, t(ROWS), s), written(AT_ROWS, SRC[:1]), [SRC], "ScatterBackward0"),
    "scatter_add": (lambda s: (0, t(ROWS), s), added(AT_ROWS, SRC[:1]), [SRC], "ScatterAddBackward0"),
    "index_copy": (lambda s: (0, t(I), s), written(I, SRC), [SRC], "IndexCopyBackward0"),
    "index_add": (lambda s: (0, t(TWICE), s), added(TWICE, SRC), [SRC], "IndexAddBackward0"),
    "put": (lambda s: (t(I), s), written(np.unravel_index(I, (3, 4)), V[:2]), [V[:2]], "PutBackward0"),
    "index_fill": (lambda s: (1, t(I), s), written((slice(None), I), V[0]), [V[0]], "IndexFillBackward1"),
    "masked_scatter": (
        lambda s: (t(MASK), s), written(MASK, np.arange(12.0)[: MASK.sum()]), [np.arange(12.0)],
        "MaskedScatterBackward0",
    ),
    "select_scatter": (lambda s: (s, 0, 1), written(1, SRC[0]), [SRC[0]], "SelectScatterBackward0"),
    "slice_scatter": (lambda s: (s, 0, 0, 3, 2), written(slice(0, 3, 2), SRC), [SRC], "SliceScatterBackward0"),
    "diagonal_scatter": (
        lambda s: (s,), written((np.arange(3), np.arange(3)), V[:3]), [V[:3]], "DiagonalScatterBackward0",
    ),
    "as_strided_scatter": (
        lambda s: (s, (2, 2), (4, 2)), written((slice(0, 2), slice(0, 4, 2)), SRC[:, :2]), [SRC[:, :2]],
        "AsStridedScatterBackward0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_nodes_and_derivatives(name):
    arguments, want, operands, node = CASES[name]
    y = getattr(torch.tensor(A, requires_grad=True), name)(
        *arguments(*[torch.tensor(o, requires_grad=True) for o in operands])
    )
    np.testing.assert_allclose(y.detach().numpy(), want)
    assert y.grad_fn.name() == node and len(y.grad_fn.next_functions) == 2
    check(lambda x, *s: getattr(x, name)(*arguments(*s)), A, *operands)
    check(lambda x, *s: getattr(x, name)(*arguments(*s)), A + 1j, *[o + 2j for o in operands])


@pytest.mark.parametrize("name", [n for n in CASES if hasattr(torch.Tensor, n + "_")])
def test_in_place(name):
    arguments, want, operands, node = CASES[name]
    x = torch.tensor(A)
    assert getattr(x, name + "_")(*arguments(*[t(o) for o in operands])) is x and x._version == 1
    np.testing.assert_allclose(x.numpy(), want)

    def write(x, *s):
        x = x * 1
        getattr(x.view(3, 4), name + "_")(*arguments(*s))
        return x

    check(write, A, *operands)
    leaf = torch.tensor(A, requires_grad=True)
    with pytest.raises(
        RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation."
    ):
        getattr(leaf, name + "_")(*arguments(*[t(o) for o in operands]))
    np.testing.assert_array_equal(leaf.detach().numpy(), A)


def test_numbers():
    x = torch.tensor(A, requires_grad=True)
    y = x.scatter(0, t(ROWS), 1.5)
    np.testing.assert_array_equal(y.detach().numpy(), written(AT_ROWS, 1.5))
    assert y.grad_fn.name() == "ScatterBackward1" and len(y.grad_fn.next_functions) == 1
    assert x.index_fill(0, t(I), 2).grad_fn.name() == "IndexFillBackward0"
    check(lambda x: x.scatter(0, t(ROWS), 1.5), A)
    check(lambda x: x.index_fill(0, t(I), 2), A)
    assert torch.zeros(2, dtype=torch.int64).scatter(0, t([0]), 1.9).tolist() == [1, 0]


def test_scatter_with_reduce():
    np.testing.assert_allclose(t(A).scatter(0, t(ROWS), t(SRC), reduce="add").numpy(), added(AT_ROWS, SRC[:1]))
    y = torch.tensor(A, requires_grad=True).scatter(0, t(ROWS), 2.0, reduce="multiply")
    np.testing.assert_allclose(y.detach().numpy()[1, 1], 2 * A[1, 1])
    with pytest.raises(RuntimeError, match="derivative for aten::scatter is not implemented"):
        y.backward(torch.ones(3, 4))


def test_options():
    np.testing.assert_allclose(t(A).index_add(0, t(TWICE), t(SRC), alpha=2).numpy(), added(TWICE, 2 * SRC))
    check(lambda x, s: x.index_add(0, t(TWICE), s, alpha=2), A, SRC)
    assert torch.zeros(2).put(t([0, 0]), torch.tensor([1.0, 2.0]), accumulate=True).tolist() == [3, 0]
    check(lambda x, s: x.put(t([0, 0, -1]), s, accumulate=True), A, V[:3])
    assert torch.zeros(2).masked_scatter(t([[True, False], [False, True]]), t([5.0, 6.0])).tolist() == [[5, 0], [0, 6]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, s: x.scatter(0, t([0, 0, 0]), s),
        lambda x, s: x.index_copy(0, t([0, 0, 0]), s),
        lambda x, s: x.put(t([0, 0, 0]), s),
        lambda x, s: x.index_put((t([0, 0, 0]),), s),
    ],
)
def test_the_last_value_written_to_a_place_stays_and_has_the_gradient(function):
    src = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = function(torch.zeros(2), src)
    y.backward(torch.ones(2))
    assert y.tolist() == [3, 0] and src.grad.tolist() == [0, 0, 1]
    check(function, np.zeros(2), np.array([1.0, 2.0, 3.0]))


def test_a_place_filled_twice_has_one_gradient():
    value = torch.tensor(1.0, requires_grad=True)
    torch.zeros(5, 5).index_fill(0, t([2, 2]), value).backward(torch.ones(5, 5))
    assert value.grad.item() == 5


def test_a_source_longer_than_its_index_is_used_in_part():
    src = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    torch.zeros(3).scatter(0, t([0]), src).backward(torch.ones(3))
    assert src.grad.tolist() == [1, 0, 0]
    check(lambda x, s: x.scatter_add(0, t([1, 1]), s), np.zeros(2), np.array([1.0, 2.0, 3.0]))


def test_0_dim_tensors():
    s, v = torch.tensor(2.0, requires_grad=True), torch.tensor([5.0])
    for y in (s.scatter(0, t([0]), v), s.index_copy(0, t([0]), v[0]), s.put(t([0]), v), s.index_fill(0, t([0]), 5.0)):
        assert y.shape == () and y.item() == 5 and y.grad_fn.next_functions[0][0].variable is s
    check(lambda x, v: x.scatter_add(0, t([0, 0]), v), 2.0, [1.0, 3.0])


@pytest.mark.parametrize(
    "function, kind, text",
    [
        (lambda x: x.scatter(0, t([[5]]), x), RuntimeError, "index 5 is out of bounds for dimension 0 with size 3"),
        (
            lambda x: x.scatter(0, t(ROWS), x[:, :2]),
            RuntimeError,
            "Expected index [1, 4] to be no larger than self [3, 4] apart",
        ),
        (
            lambda x: x.scatter(0, t(ROWS), x.float()),
            RuntimeError,
            "scatter(): Expected self.dtype to be equal to src.dtype",
        ),
        (
            lambda x: x.scatter(0, t([0]), x),
            RuntimeError,
            "Index tensor must have the same number of dimensions as self",
        ),
        (
            lambda x: x.scatter(0, t(ROWS), None),
            TypeError,
            "scatter() received an invalid combination of arguments - got (int",
        ),
        (
            lambda x: x.scatter(0, t(ROWS), x, reduce="min"),
            RuntimeError,
            "reduce argument must be either add or multiply.",
        ),
        (
            lambda x: x.index_add(0, t(I), x),
            RuntimeError,
            "index_add_(): Number of indices (2) should be equal to source",
        ),
        (
            lambda x: x.index_copy(0, t([7]), x[:1]),
            IndexError,
            "index_copy_(): index 7 is out of bounds for dimension 0",
        ),
        (lambda x: x.index_fill(0, t([5]), 9.0), IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
        (
            lambda x: x.index_fill(0, t(I), t([1.0])),
            RuntimeError,
            "index_fill_ only supports a 0-dimensional value tensor",
        ),
        (lambda x: x.put(t(I), x), IndexError, "put_(): Expected source and index to have the same number of elements"),
        (
            lambda x: x.masked_scatter(t(MASK), x[0, :1]),
            RuntimeError,
            "Number of elements of source < number of ones in mask",
        ),
        (
            lambda x: x.select_scatter(x[0, :3], 0, 1),
            RuntimeError,
            "expected src to have a size equal to the slice of self.",
        ),
        (
            lambda x: x.scatter_(0, t(np.zeros((3, 4), int)), x),
            RuntimeError,
            "unsupported operation: some elements of the input",
        ),
    ],
)
def test_errors_come_before_anything_is_changed(function, kind, text):
    x = torch.tensor(A)
    with pytest.raises(kind) as found:
        function(x)
    assert str(found.value).startswith(text)
    np.testing.assert_array_equal(x.numpy(), A)
