import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "function, shape",
    [
        (lambda x: x.expand(2, 3, 4), (3, 4)),
        (lambda x: x.unsqueeze(1).expand(-1, 5, -1), (3, 4)),
        (lambda x: x.expand(2, 3), ()),
        (lambda x: x.expand_as(torch.empty(2, 3, 4)), (4,)),
        (lambda x: torch.broadcast_to(x, (3, 4)), (3, 1)),
        (lambda x: x.as_strided((2, 3), (1, 2), 1), (3, 4)),
        (lambda x: x.as_strided((3, 3), (1, 1)), (3, 4)),
        (lambda x: x.expand(3, 4).as_strided((2, 2), (0, 1)), (4,)),
        (lambda x: x.t().as_strided((2,), (5,)), (3, 4)),
    ],
)
def test_derivatives(function, shape):
    a = RNG.standard_normal(shape)
    check(function, a)
    check(function, a + 1j * RNG.standard_normal(shape))


def test_expand_is_a_view_with_strides_of_zero():
    x = torch.arange(3.0)
    y = x.expand(2, 3)
    assert y.stride() == (0, 1) and y._base is x and x.expand(1, 3).stride() == (3, 1)
    x[0] = 7.0
    assert y.tolist() == [[7, 1, 2], [7, 1, 2]]
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        y.add_(1)
    assert y.zero_() is y and x.tolist() == [0, 0, 0]


def test_broadcast_tensors():
    a, b = torch.broadcast_tensors(torch.zeros(3, 1), torch.zeros(2))
    assert a.shape == b.shape == (3, 2) and torch.broadcast_shapes((3, 1), 2) == torch.Size([3, 2])
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(2\)"):
        torch.broadcast_tensors(torch.zeros(3), torch.zeros(2))


def test_as_strided_counts_from_the_start_of_the_storage():
    x = torch.arange(12.0).view(3, 4)
    assert x[1].as_strided((2,), (1,)).tolist() == [4, 5] and x[1].as_strided((2,), (1,), 0).tolist() == [0, 1]
    assert x[1].storage_offset() == 4 and x.as_strided((2, 2), (4, 1), 5).tolist() == [[5, 6], [9, 10]]
    assert x.diagonal(1).storage_offset() == 1 and x.diagonal(1).as_strided((2,), (1,), 0).tolist() == [0, 1]
    assert x.t()[1:].unsqueeze(0).storage_offset() == 1
    assert torch.zeros(3)[1:].as_strided((1,), (1,))._base.shape == (3,)


def test_resize():
    x = torch.arange(6.0)
    y = x.view(2, 3)
    assert y.resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    assert x.resize_(3).tolist() == [0, 1, 2] and x.resize_(6).tolist() == [0, 1, 2, 3, 4, 5]
    assert x.resize_(2, 4).shape == (2, 4) and x.flatten()[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert x.resize_as_(torch.zeros(3)).shape == (3,)
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        torch.zeros(2, requires_grad=True).resize_(3)


def test_set_shares_the_memory_of_another_tensor():
    x, y = torch.zeros(2), torch.arange(3.0)
    x.set_(y)
    y[0] = 5.0
    assert x.tolist() == [5, 1, 2]
    with pytest.raises(RuntimeError, match="Could not set tensor of type int to a tensor of type float"):
        x.set_(torch.zeros(2, dtype=torch.int32))


@pytest.mark.parametrize(
    "function, text",
    [
        (
            lambda x: x.expand(2),
            "expand(torch.FloatTensor{[3, 4]}, size=[2]): the number of sizes provided (1) must be",
        ),
        (
            lambda x: x.expand(2, 4),
            "The expanded size of the tensor (2) must match the existing size (3) at non-singleton",
        ),
        (lambda x: x.expand(-1, 3, 4), "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing"),
        (
            lambda x: x.as_strided((5, 5), (4, 1)),
            "setStorage: sizes [5, 5], strides [4, 1], storage offset 0, and itemsize",
        ),
        (lambda x: x.as_strided((2,), (1, 2)), "mismatch in length of strides and shape"),
        (lambda x: x.as_strided((2,), (-1,)), "as_strided: Negative strides are not supported at the moment"),
    ],
)
def test_errors(function, text):
    with pytest.raises(RuntimeError) as found:
        function(torch.zeros(3, 4))
    assert str(found.value).startswith(text)
