import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

A = np.random.default_rng(0).standard_normal((2, 3, 4))
I, J = np.array([0, 1]), np.array([[0, 2], [1, -1]])
MASK = A[0] > 0


def chain(t):
    names, node = [], t.grad_fn
    while node is not None and not node.name().endswith("AccumulateGrad"):
        names.append(node.name().removesuffix("Backward0"))
        node = node.next_functions[0][0]
    return names


def tensors(index):
    """The same index with tensors for arrays."""
    if isinstance(index, tuple):
        return tuple(tensors(i) for i in index)
    return torch.tensor(index) if isinstance(index, np.ndarray) else index


# index for NumPy (where it means the same), nodes from the last to the first, whether the result is a view
CASES = [
    (0, ["Select"], True),
    (-1, ["Select"], True),
    ((0, slice(1, None)), ["Slice", "Select"], True),
    ((1, 2, 3), ["Select", "Select", "Select"], True),
    (slice(None), ["Slice"], True),
    ((slice(None), slice(0, 3)), ["Alias"], True),
    ((slice(None), slice(None, None, 2)), ["Slice"], True),
    ((slice(-2, None), Ellipsis), ["Slice"], True),
    (None, ["Unsqueeze"], True),
    (Ellipsis, ["Alias"], True),
    ((), ["Alias"], True),
    ((Ellipsis, None, 1), ["Select", "Unsqueeze"], True),
    (I, ["Index"], False),
    ((slice(None), J), ["Index"], False),
    ((slice(None), I, I), ["Index"], False),
    ((I, slice(None), I), ["Index"], False),
    ((slice(0, 1), I[:, None], J), ["Index", "Slice"], False),
    ((1, I), ["Index", "Select"], False),
    ((slice(None), MASK), ["Index"], False),
    ((0, MASK), ["Index", "Select"], False),
    ((MASK[0:2, 0:3] | True, 1), ["Index", "Select"], False),
    (A > 0, ["Index"], False),
    (True, ["Index", "Unsqueeze"], False),
    (False, ["Index", "Unsqueeze"], False),
    ([0, 1], ["Index"], False),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_reading(number):
    index, nodes, is_view = CASES[number]
    x = torch.tensor(A, requires_grad=True)
    y = x[tensors(index)]
    np.testing.assert_array_equal(y.detach().numpy(), A[index])
    assert chain(y) == nodes and y._is_view() is is_view
    check(lambda x: x[tensors(index)], A)
    check(lambda x: x[tensors(index)], A + 1j * A[::-1])


def test_integers_apply_before_tensors_unlike_in_numpy():
    x = torch.tensor(A)
    np.testing.assert_array_equal(x[0, :, torch.tensor([1, 2])].numpy(), A[0][:, [1, 2]])
    assert x[0, :, [1, 2]].shape == (3, 2) and A[0, :, [1, 2]].shape == (2, 3)


def test_what_counts_as_an_index():
    x = torch.arange(12.0).view(3, 4)
    assert x[torch.tensor(1)].tolist() == x[np.int64(1)].tolist() == [4, 5, 6, 7] and x[torch.tensor(1)]._is_view()
    assert x[np.array([0, 2])].tolist() == x[range(0, 3, 2)].tolist() == x[[0, 2]].tolist()
    assert x[torch.tensor(True)].shape == (1, 3, 4) and x[False].shape == (0, 3, 4) and x[[]].shape == (0, 4)
    assert x[torch.tensor(1) : torch.tensor(2)].shape == (1, 4) and x[[True, False, True]].shape == (2, 4)
    with pytest.warns(UserWarning, match="Using a non-tuple sequence for multidimensional indexing is deprecated"):
        assert x[[[0, 1], [1, 2]]].tolist() == [1, 6]


@pytest.mark.parametrize("index", [c[0] for c in CASES if c[0] is not False])
def test_writing(index):
    want, x = A.copy(), torch.tensor(A)
    want[index] = 7.5
    x[tensors(index)] = 7.5
    np.testing.assert_array_equal(x.numpy(), want)
    assert x._version == 1
    values = np.random.default_rng(1).standard_normal(A[index].shape)

    def write(x, values):
        x = x * 1
        x[tensors(index)] = values
        return x

    if not isinstance(index, np.ndarray) or index.dtype == bool:
        want[index] = values
        np.testing.assert_array_equal(write(torch.tensor(A), torch.tensor(values)).numpy()[index], want[index])
    check(write, A, values)
    check(write, A, values[..., :1] if values.ndim else values)


def test_nodes_of_writing():
    v = torch.zeros(4, requires_grad=True)

    def after(index, value):
        x = torch.zeros(3, 4, requires_grad=True).clone()
        x[index] = value
        return x.grad_fn.name(), [n and n.name() for n, _ in x.grad_fn.next_functions]

    assert after(0, v) == ("torch::autograd::CopySlices", ["CloneBackward0", "torch::autograd::AccumulateGrad"])
    assert after(0, 1.0) == ("torch::autograd::CopySlices", ["CloneBackward0", None])
    assert after(slice(None), v) == ("torch::autograd::CopyBackwards", ["CloneBackward0", "ExpandBackward0"])
    assert after(Ellipsis, 1.0) == ("FillBackward3", ["CloneBackward0", None])
    assert after([0, 1], v) == ("IndexPutBackward0", ["CloneBackward0", "torch::autograd::AccumulateGrad"])
    assert after((1, [0, 1]), v[0]) == ("torch::autograd::CopySlices", ["CloneBackward0", "SelectBackward0"])
    assert after([0, 1], v[None]) == ("IndexPutBackward0", ["CloneBackward0", "ViewBackward0"])


def test_the_last_value_written_to_a_place_stays_and_has_the_gradient():
    src = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.zeros(1)
    c[[0, 0]] = src
    c.backward(torch.ones(1))
    assert c.tolist() == [2] and src.grad.tolist() == [0, 1]
    check(lambda x, v: x.index_put((torch.tensor([1, 1, 0]),), v), [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    check(lambda x, v: x.index_put((torch.tensor([1, 1, 0]),), v, accumulate=True), [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    rows = np.array([[0, 0], [1, 1], [0, 0]], order="F")
    x = torch.zeros(2, 2)
    x.index_put_((torch.from_numpy(rows), torch.tensor([[0, 1]])), torch.arange(6.0).view(3, 2))
    assert x.tolist() == [[4, 5], [2, 3]]


def test_reading_one_place_several_times_adds_the_gradients():
    x = torch.zeros(3, requires_grad=True)
    x[[1, 1, 2]].backward(torch.tensor([1.0, 2.0, 4.0]))
    assert x.grad.tolist() == [0, 3, 4]
    big = torch.zeros(50, 64, requires_grad=True)
    rows = np.random.default_rng(0).integers(0, 50, 200)
    big[torch.tensor(rows)].backward(torch.ones(200, 64))
    np.testing.assert_array_equal(big.grad.numpy()[:, 0], np.bincount(rows, minlength=50))


def test_an_index_changed_before_the_backward_pass_is_an_error():
    x, i = torch.zeros(3, requires_grad=True), torch.tensor([0, 1])
    y = x[i]
    i.add_(1)
    with pytest.raises(
        RuntimeError, match=r"modified by an inplace operation: \[torch.LongTensor \[2\]\] is at version 1;"
    ):
        y.backward(torch.ones(2))


def test_values_take_the_dtype_of_the_tensor():
    x = torch.zeros(3, dtype=torch.int64)
    x[0], x[1:] = 1.9, torch.tensor([2.7, -3.2])
    assert x.tolist() == [1, 2, -3]
    x[[0]] = True
    assert x[0].item() == 1
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
        torch.zeros(2, dtype=torch.uint8)[0] = 300
    with pytest.raises(RuntimeError, match="got Float for the destination and Double for the source."):
        torch.zeros(2)[[0]] = torch.zeros(1, dtype=torch.float64)


ERRORS = [
    (lambda x: x[5], IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
    (lambda x: x[0, -5], IndexError, "index -5 is out of bounds for dimension 1 with size 4"),
    (lambda x: x[0, 0, 0], IndexError, "too many indices for tensor of dimension 2"),
    (lambda x: x[::-1], ValueError, "step must be greater than zero"),
    (lambda x: x["a"], TypeError, "new(): invalid data type 'str'"),
    (lambda x: x[1.5], IndexError, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables"),
    (lambda x: x[torch.tensor([7])], IndexError, "index 7 is out of bounds for dimension 0 with size 3"),
    (lambda x: x[[0], [7]], IndexError, "index 7 is out of bounds for dimension 1 with size 4"),
    (
        lambda x: x[torch.tensor([True])],
        IndexError,
        "The shape of the mask [1] at index 0 does not match the shape of the",
    ),
    (
        lambda x: x[[0, 1], [0, 1, 2]],
        IndexError,
        "shape mismatch: indexing tensors could not be broadcast together with",
    ),
    (lambda x: x[torch.tensor([1.0])], IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    (lambda x: torch.tensor(1.0)[0], IndexError, "invalid index of a 0-dim tensor."),
    (lambda x: torch.tensor(1.0)[:], IndexError, "slice() cannot be applied to a 0-dim tensor."),
    (lambda x: x.__setitem__(5, 1), IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
    (lambda x: x.__setitem__(0, "a"), TypeError, "can't assign a str to a torch.FloatTensor"),
    (lambda x: x.__setitem__(0, [1]), TypeError, "can't assign a list to a torch.FloatTensor"),
    (
        lambda x: x.__setitem__(slice(2), torch.ones(3)),
        RuntimeError,
        "The expanded size of the tensor (4) must match the",
    ),
    (lambda x: x.__setitem__([0], torch.ones(3)), RuntimeError, "shape mismatch: value tensor of shape [3] cannot be"),
    (
        lambda x: x.__setitem__(x > 3, torch.ones(2)),
        RuntimeError,
        "shape mismatch: value tensor of shape [2] cannot be",
    ),
    (lambda x: x.index_put((torch.tensor([0]),) * 3, x[0]), IndexError, "too many indices for tensor of dimension 2"),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number):
    function, kind, text = ERRORS[number]
    x = torch.arange(12.0).view(3, 4)
    with pytest.raises(kind) as found:
        function(x)
    assert str(found.value).startswith(text) and x.tolist() == torch.arange(12.0).view(3, 4).tolist()
