import operator

import numpy as np
import pytest

import chainrule as torch

ARITHMETIC = ["add", "sub", "truediv", "floordiv", "mod", "pow", "matmul"]
SYMBOLS = dict(add=r"\+", sub="-", truediv="/", floordiv="//", mod="%", pow=r"\*\* or pow\(\)", matmul="@")


@pytest.mark.parametrize("name", [n for n in ARITHMETIC if n != "matmul"] + ["mul"])
@pytest.mark.parametrize("number", [2, 2.5, True, np.float64(2), np.float32(2.5), np.int64(2)], ids=repr)
def test_numbers_on_both_sides(name, number):
    x = torch.tensor([1.5, -2.5, 3.0])
    function = getattr(operator, name)
    plain = number.item() if isinstance(number, np.generic) else number
    if name == "sub" and plain is True:
        with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with a bool tensor"):
            function(x, number)
        return
    with np.errstate(invalid="ignore"):
        left, right = function(x.numpy(), np.float32(plain)), function(np.float32(plain), x.numpy())
    for found, expected in ((function(x, number), left), (function(number, x), right)):
        assert type(found) is torch.Tensor and found.dtype is torch.float32
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", [n for n in ARITHMETIC if n != "matmul"])
@pytest.mark.parametrize("other", ["a", None, [1], {}], ids=repr)
def test_foreign_operands(name, other):
    x = torch.ones(3)
    kind = type(other).__name__
    with pytest.raises(TypeError, match=rf"unsupported operand type\(s\) for {SYMBOLS[name]}: 'Tensor' and '{kind}'"):
        getattr(operator, name)(x, other)
    assert getattr(x, f"__{name}__")(other) is NotImplemented
    assert getattr(x, f"__r{name}__")(other) is NotImplemented
    assert getattr(x, f"__i{name}__")(other) is NotImplemented


def test_comparisons_with_foreign_operands():
    x = torch.ones(3)
    assert (x == None) is False and (x != None) is True and (x == "a") is False  # noqa: E711
    with pytest.raises(TypeError, match="'<' not supported between instances of 'Tensor' and 'str'"):
        x < "a"
    assert x in [x] and len({x, x}) == 1


def test_numpy_arrays():
    x, a = torch.ones(3), np.full(3, 2.0)
    for found in (x + a, x * a, x - a, x / a, x**a, a / x):
        assert type(found) is torch.Tensor and found.dtype is torch.float64
    for run in (lambda: a * x, lambda: a - x, lambda: a**x):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\)"):
            run()
    assert (x == np.ones(3)).tolist() == [True, True, True]
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        x.requires_grad_() + a


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
def test_in_place(name):
    x = torch.tensor([4.0, 9.0])
    before, found = x.clone(), getattr(operator, f"i{name}")(x, 2)
    assert found is x and x._version == 1
    assert x.tolist() == getattr(operator, name)(before, 2).tolist()


def test_bits():
    i, b = torch.tensor([5, 6]), torch.tensor([True, False])
    assert (i & 3).tolist() == (3 & i).tolist() == [1, 2]
    assert (i | 1).tolist() == [5, 7] and (i ^ i).tolist() == [0, 0] and (~i).tolist() == [-6, -7]
    assert (b & ~b).tolist() == [False, False] and (b | True).tolist() == [True, True]
    assert (i << 1).tolist() == [10, 12] and (1 << i).tolist() == [32, 64] and (i >> 1).tolist() == [2, 3]
    assert (i << 70).tolist() == [0, 0] and (-i >> 70).tolist() == [-1, -1]
    with pytest.raises(
        TypeError, match=r"~ \(operator.invert\) is only implemented on integer and Boolean-type tensors"
    ):
        ~torch.ones(1)
    with pytest.raises(NotImplementedError, match="\"bitwise_and_cpu\" not implemented for 'Float'"):
        torch.ones(1) & 1


def test_signs():
    x = torch.tensor([1.0, -2.0])
    assert (-x).tolist() == [-1.0, 2.0] and (+x) is x and abs(x).tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match=r"The `\+` operator, on a bool tensor is not supported."):
        +torch.tensor([True])
