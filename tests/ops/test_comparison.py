import math

import numpy as np
import pytest

import chainrule as torch

COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
ALIASES = {"not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.uint8, torch.bool], ids=str)
def test_comparisons(name, dtype):
    x, y = torch.tensor([[0, 1, 1], [3, 2, 1]]).to(dtype), torch.tensor([0, 2, 1]).to(dtype)
    for other in (y, 1, 1.5, True, torch.tensor(1.0)):
        plain = other.numpy() if isinstance(other, torch.Tensor) else other
        expected = COMPARISONS[name](x.numpy(), plain)
        for found in (getattr(torch, name)(x, other), getattr(x, name)(other)):
            assert found.dtype is torch.bool
            np.testing.assert_array_equal(found.numpy(), expected)
    assert not getattr(torch, name)(torch.ones(1, requires_grad=True), 1).requires_grad


def test_names_and_errors():
    x = torch.ones(2)
    for alias, name in ALIASES.items():
        assert getattr(torch, alias)(x, 2).tolist() == getattr(torch, name)(x, 2).tolist()
    with pytest.raises(NotImplementedError, match="\"lt_cpu\" not implemented for 'ComplexFloat'"):
        torch.tensor([1j]) < torch.tensor([1j])
    with pytest.raises(TypeError, match=r"gt\(\) received an invalid combination of arguments - got \(int, Tensor\)"):
        torch.gt(1, x)
    with pytest.raises(RuntimeError, match="The size of tensor a"):
        torch.tensor([1j, 1j]) < torch.ones(3)
    out = torch.zeros(2)
    assert torch.eq(x, 1, out=out) is out and out.tolist() == [1.0, 1.0]


def test_in_place_comparisons_are_recorded():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 1).gt_(1)
    assert y.tolist() == [0.0, 1.0] and y.grad_fn.name() == "GtBackward0"
    assert torch.autograd.grad(y, x, torch.ones(2))[0].tolist() == [0.0, 0.0]
    assert (x * 1).eq_(x).grad_fn.name() == "EqBackward1"
    assert torch.tensor([1, 2]).gt_(1).dtype is torch.int64


def test_questions():
    x = torch.tensor([1.0, math.nan, math.inf, -math.inf, -0.0])
    for name, expected in {
        "isnan": [0, 1, 0, 0, 0],
        "isinf": [0, 0, 1, 1, 0],
        "isfinite": [1, 0, 0, 0, 1],
        "isposinf": [0, 0, 1, 0, 0],
        "isneginf": [0, 0, 0, 1, 0],
        "isreal": [1, 1, 1, 1, 1],
        "signbit": [0, 0, 0, 1, 1],
    }.items():
        assert getattr(torch, name)(x).tolist() == [bool(e) for e in expected]
        assert getattr(x, name)().dtype is getattr(torch, name)(torch.tensor([1, -2])).dtype is torch.bool
    z = torch.tensor([1j, 2 + 0j, complex(math.inf, 1)])
    assert torch.isreal(z).tolist() == [False, True, False] and torch.isinf(z).tolist() == [False, False, True]
    with pytest.raises(RuntimeError, match="isposinf does not support complex inputs."):
        torch.isposinf(z)


def test_logic():
    x, y = torch.tensor([0.0, 2.0, 0.0, 1.0]), torch.tensor([0, 1, 1, 0])
    assert torch.logical_and(x, y).tolist() == [False, True, False, False]
    assert x.logical_or(y).tolist() == [False, True, True, True]
    assert torch.logical_xor(x, y).tolist() == [False, False, True, True]
    assert torch.logical_not(x).tolist() == [True, False, True, False] and x.clone().logical_not_().tolist() == [
        1,
        0,
        1,
        0,
    ]
    with pytest.raises(TypeError, match=r"logical_and\(\): argument 'other' \(position 2\) must be Tensor, not bool"):
        torch.logical_and(x, True)


def test_bits_and_divisors():
    assert torch.bitwise_and(3, torch.tensor([5])).tolist() == [1]
    assert torch.bitwise_not(torch.tensor([5])).tolist() == [-6]
    assert torch.bitwise_left_shift(torch.tensor([5]), 1).tolist() == [10]
    assert torch.tensor([5]).bitwise_xor_(6).tolist() == [3]
    assert (torch.tensor([1]) << -1).tolist() == [0]
    assert torch.gcd(torch.tensor([-4]), torch.tensor([6])).tolist() == [2]
    assert torch.lcm(torch.tensor([3]), torch.tensor([-4])).tolist() == [12]
    with pytest.raises(NotImplementedError, match="\"lshift_cpu\" not implemented for 'Float'"):
        torch.ones(1) << 1


def test_equal_isclose_allclose():
    x = torch.tensor([1.0, math.nan, math.inf])
    assert torch.isclose(x, x).tolist() == [True, False, True]
    assert torch.isclose(x, x, equal_nan=True).tolist() == [True, True, True]
    assert torch.allclose(torch.ones(2), torch.ones(2) + 1e-7) and not torch.allclose(torch.ones(2), torch.zeros(2))
    assert torch.equal(torch.ones(2), torch.ones(2).double()) and not torch.equal(torch.ones(2), torch.ones(3))
    assert torch.isclose(torch.tensor([10]), torch.tensor([11]), rtol=0.1).tolist() == [True]
    with pytest.raises(RuntimeError, match="Float did not match Double"):
        torch.isclose(x, x.double())
    with pytest.raises(RuntimeError, match="rtol must be greater than or equal to zero, but got -1"):
        torch.isclose(x, x, rtol=-1)
    with pytest.raises(RuntimeError, match="The size of tensor a"):
        torch.allclose(torch.ones(2), torch.ones(3))
