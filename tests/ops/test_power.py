import math

import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5, 4, -3])
def test_numbers_as_exponents(exponent):
    x = np.array([0.3, 1.0, 2.7])
    found = torch.tensor(x) ** exponent
    np.testing.assert_allclose(found.numpy(), x ** float(exponent), rtol=1e-14)
    check(lambda a: a**exponent, x)
    check(lambda a: a**exponent, x + 0.5j)
    assert (torch.tensor(x).half() ** exponent).dtype is torch.float16


def test_tensors_as_exponents():
    x, y = np.array([[0.3], [2.0]]), np.array([1.5, -2.0, 0.7])
    np.testing.assert_allclose((torch.tensor(x) ** torch.tensor(y)).numpy(), x**y, rtol=1e-14)
    check(torch.pow, np.broadcast_to(x, (2, 3)), np.broadcast_to(y, (2, 3)))
    check(lambda e: 2**e + 0.5**e + torch.pow(3.0, e), y)
    check(lambda e: torch.pow(1 + 2j, e), y + 0.5j)


def grad(function, *values):
    leaves = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
    return [g.item() for g in torch.autograd.grad(function(*leaves), leaves)]


@pytest.mark.parametrize(
    "base, exponent, expected",
    [
        (0.0, 0.0, [0, 0]),
        (0.0, 1.0, [1, 0]),
        (0.0, 2.0, [0, 0]),
        (0.0, -1.0, [-math.inf, -math.inf]),
        (0.0, 0.5, [math.inf, 0]),
    ],
)
def test_gradients_at_zero(base, exponent, expected):
    assert grad(torch.pow, base, exponent) == expected
    assert grad(lambda x: x**exponent, base) == expected[:1]
    assert grad(lambda e: base**e, exponent) == expected[1:]


def test_nodes():
    x = torch.tensor([1.5], requires_grad=True)
    squared, general, of_two = (x**2).grad_fn, (x**x).grad_fn, (2**x).grad_fn
    assert [n.name() for n in (squared, general, of_two)] == ["PowBackward0", "PowBackward1", "PowBackward2"]
    assert squared._saved_exponent == 2 and squared._saved_self is x and len(squared.next_functions) == 1
    assert of_two._saved_self == 2 and of_two._saved_exponent is x
    assert x.square().grad_fn.name() == "PowBackward0" and x.rsqrt().grad_fn.name() == "RsqrtBackward0"


def test_integers():
    i = torch.tensor([2, 3])
    assert (i**2).dtype is torch.int64 and (i**2.0).dtype is torch.float32 and (2**i).tolist() == [4, 8]
    assert (torch.tensor([2], dtype=torch.int8) ** torch.tensor([10], dtype=torch.int8)).item() == 0
    assert (torch.tensor([1, -1, 3, 0]) ** torch.tensor([-1, -1, -1, -1])).tolist() == [1, -1, 0, 0]
    assert (torch.tensor([True]) ** 2).dtype is torch.int64
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed."):
        i**-1
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        i.pow_(0.5)


def test_complex_results():
    assert (torch.tensor([2.0]) ** 2j).dtype is torch.complex64
    assert math.isnan(((-torch.tensor([1.5])) ** 0.5).item())


def test_float_power():
    x = torch.tensor([2], requires_grad=False)
    assert torch.float_power(x, 2).dtype is torch.float64 and torch.float_power(x, 1j).dtype is torch.complex128
    assert torch.float_power(2, torch.tensor([3])).item() == 8
    y = torch.float_power(torch.tensor([2.0], requires_grad=True), 2)
    assert y.grad_fn.name() == "PowBackward0" and y.grad_fn.next_functions[0][0].name() == "ToCopyBackward0"
    with pytest.raises(RuntimeError, match="the base given to float_power_ has dtype Float but the operation's result"):
        torch.ones(1).float_power_(2)


def test_reciprocal_and_rsqrt():
    x = np.array([0.3, 2.0])
    for function, reference in ((torch.reciprocal, 1 / x), (torch.rsqrt, x**-0.5), (torch.square, x * x)):
        np.testing.assert_allclose(function(torch.tensor(x)).numpy(), reference, rtol=1e-14)
        check(function, x)
        check(function, x + 1j)
    assert torch.reciprocal(torch.tensor([2])).item() == 0.5
