import warnings

import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check


def arange(*shape, dtype=torch.float64):
    return torch.arange(float(np.prod(shape, dtype=int)), dtype=dtype).reshape(shape)


def chain(t):
    """The names of the nodes from a tensor back to its leaf."""
    names, node = [], t.grad_fn
    while node is not None and not node.name().endswith("AccumulateGrad"):
        names.append(node.name())
        node = node.next_functions[0][0]
    return names


# (what is done, what NumPy says, the nodes, whether the result is a view)
CASES = {
    "view": (lambda x: x.view(2, -1), lambda a: a.reshape(2, -1), ["ViewBackward0"], True),
    "reshape": (lambda x: x.reshape(4, 3), lambda a: a.reshape(4, 3), ["ViewBackward0"], True),
    "reshape of a permuted": (
        lambda x: x.t().reshape(12), lambda a: a.T.reshape(12),
        ["UnsafeViewBackward0", "CloneBackward0", "TBackward0"], False,
    ),
    "reshape of a diagonal": (
        lambda x: x.diagonal().reshape(3, 1), lambda a: a.diagonal().reshape(3, 1),
        ["ReshapeAliasBackward0", "DiagonalBackward0"], True,
    ),
    "flatten": (lambda x: x.flatten(), lambda a: a.ravel(), ["ViewBackward0"], True),
    "unflatten": (lambda x: x.unflatten(1, (2, -1)), lambda a: a.reshape(3, 2, 2), ["ViewBackward0"], True),
    "ravel": (lambda x: x.t().ravel(), lambda a: a.T.ravel(), ["ViewBackward0", "CloneBackward0", "TBackward0"], True),
    "t": (lambda x: x.t(), lambda a: a.T, ["TBackward0"], True),
    "T": (lambda x: x.T, lambda a: a.T, ["PermuteBackward0"], True),
    "mT": (lambda x: x.mT, lambda a: a.T, ["TransposeBackward0"], True),
    "transpose": (lambda x: x.transpose(-1, 0), lambda a: a.T, ["TransposeBackward0"], True),
    "swapaxes": (lambda x: x.swapaxes(0, 1), lambda a: a.T, ["TransposeBackward0"], True),
    "permute": (lambda x: x.permute(1, 0), lambda a: a.T, ["PermuteBackward0"], True),
    "movedim": (lambda x: x.movedim(0, 1), lambda a: a.T, ["PermuteBackward0"], True),
    "view_as": (lambda x: x.view_as(torch.empty(12)), lambda a: a.reshape(12), ["ViewBackward0"], True),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_nodes_and_derivatives(name):
    function, reference, nodes, is_view = CASES[name]
    a = np.random.default_rng(0).standard_normal((3, 4))
    x = torch.tensor(a, requires_grad=True)
    y = function(x)
    np.testing.assert_array_equal(y.detach().numpy(), reference(a))
    assert chain(y) == nodes and y._is_view() is is_view
    check(function, a)
    check(function, a + 1j * a[::-1])


def test_the_hermitian_transposes():
    z = torch.tensor([[1 + 2j, 3 - 1j]])
    for y in (z.H, z.mH, z.adjoint()):
        assert y.tolist() == [[1 - 2j], [3 + 1j]]
    check(lambda x: x.H, np.array([[1 + 2j, 3 - 1j]]))
    with pytest.raises(RuntimeError, match="tensor.H is only supported on matrices .2-D tensors.. Got 3-D tensor."):
        torch.zeros(1, 2, 3).H
    with pytest.raises(RuntimeError, match="tensor.mT is only supported on matrices or batches of matrices. Got 1-D"):
        torch.zeros(3).mT


def test_T_warns_once_where_it_reverses_other_than_two_dimensions(monkeypatch):
    from chainrule.core import conversion

    monkeypatch.setattr(conversion, "_warned", set())
    with pytest.warns(UserWarning, match="The use of `x.T` on tensors of dimension other than 2"):
        assert torch.zeros(2, 3, 4).T.shape == (4, 3, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.zeros(2, 3, 4).T
        torch.zeros(2, 3).T


def test_a_view_shares_memory_and_version():
    x = torch.zeros(2, 3)
    y = x.view(6)
    y[0] = 5.0
    assert x[0, 0].item() == 5 and x._version == y._version == 1 and y._base is x and y.t()._base is x
    assert x.flatten() is not x and torch.zeros(3).flatten().shape == (3,)
    v = torch.zeros(3)
    assert v.flatten() is v and v.contiguous() is v


def test_strides():
    x = torch.zeros(2, 3, 4)
    assert x.transpose(0, 2).stride() == (1, 4, 12)
    assert x.permute(1, 0, 2).stride() == (4, 12, 1)
    assert x.movedim((0, 1), (2, 0)).shape == (3, 4, 2)
    assert torch.zeros(2, 0, 3).view(0, 5).stride() == (5, 1)


def test_view_as_another_dtype():
    x = torch.tensor([1.0, 2.0], dtype=torch.float32)
    assert x.view(torch.int32).tolist() == [0x3F800000, 0x40000000]
    assert x.view(torch.float64).shape == (1,) and x.view(torch.int16).shape == (4,)
    x.view(torch.int32)[0] = 0
    assert x.tolist() == [0.0, 2.0]
    with pytest.raises(RuntimeError, match=r"self.size\(-1\) must be divisible by 2 to view Float as Double"):
        torch.zeros(3).view(torch.float64)
    with pytest.raises(RuntimeError, match=r"self.stride\(-1\) must be 1 to view Float as Half"):
        torch.zeros(2, 2).t().view(torch.float16)


ERRORS = [
    (lambda x: x.view(5, 2), RuntimeError, "shape '[5, 2]' is invalid for input of size 12"),
    (lambda x: x.view(-1, -1), RuntimeError, "only one dimension can be inferred"),
    (lambda x: x.view(-2, 6), RuntimeError, "invalid shape dimension -2 at index 0 of shape [-2, 6]"),
    (lambda x: x.view(), TypeError, "view() received an invalid combination of arguments - got ()"),
    (lambda x: x.view(1.5), TypeError, "view() received an invalid combination of arguments - got (float)"),
    (lambda x: x.t().view(12), RuntimeError, "view size is not compatible with input tensor's size and stride"),
    (lambda x: x.reshape("a"), TypeError, "reshape(): argument 'shape' (position 1) must be tuple of ints, not str"),
    (lambda x: torch.reshape(x, 12), TypeError, "reshape(): argument 'shape' (position 2) must be tuple of ints"),
    (lambda x: torch.reshape(5, (1,)), TypeError, "reshape(): argument 'input' (position 1) must be Tensor"),
    (lambda x: x.view(1, 3, 4).t(), RuntimeError, "t() expects a tensor with <= 2 dimensions, but self is 3D"),
    (lambda x: x.transpose(0, 3), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 3)"),
    (lambda x: x.transpose(0), TypeError, 'transpose() missing 1 required positional arguments: "dim1"'),
    (lambda x: x.permute(0), RuntimeError, "permute(sparse_coo): number of dimensions in the tensor input does"),
    (lambda x: x.permute(0, 0), RuntimeError, "permute(): duplicate dims are not allowed."),
    (lambda x: x.flatten(1, 0), RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim"),
    (lambda x: x.unflatten(0, (2, 2)), RuntimeError, "unflatten: Provided sizes [2, 2] don't multiply up to the size"),
    (lambda x: x.movedim((0, 0), (0, 1)), RuntimeError, "movedim: repeated dim in `source` ([0, 0])"),
    (lambda x: torch.zeros(0, 3).view(0, -1), RuntimeError, "cannot reshape tensor of 0 elements into shape [0, -1]"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number):
    function, kind, text = ERRORS[number]
    with pytest.raises(kind) as found:
        function(arange(3, 4))
    assert str(found.value).startswith(text)
