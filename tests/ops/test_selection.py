import math

import numpy as np
import pytest

import chainrule as torch
from chainrule.core import vocabulary
from tests.ops.numeric import check


def grad(function, *values):
    leaves = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
    return [g.item() for g in torch.autograd.grad(function(*leaves), leaves)]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", [8, 1025, 4100])
def test_the_vocabulary_selects_by_bits_what_numpy_does_by_branches(dtype, size):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, size)).astype(dtype)
    x[::7], y[::5], x[3] = np.nan, np.inf, -0.0
    mask = rng.random(size) > 0.5
    np.testing.assert_array_equal(vocabulary.select(mask, x), np.where(mask, x, dtype(0)))
    for a, b in ((x, y), (x, np.asarray(dtype(2))), (np.asarray(dtype(-1)), y)):
        found = vocabulary.where(mask, a, b)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.where(mask, a, b))


@pytest.mark.parametrize("size", [7, 16384, 20001])
def test_clamp_of_large_arrays(size):
    x = np.random.default_rng(1).standard_normal(size).astype(np.float32)
    x[5] = np.nan
    np.testing.assert_array_equal(torch.tensor(x).clamp(-0.5, 0.25).numpy(), np.minimum(np.maximum(x, -0.5), 0.25))
    np.testing.assert_array_equal(torch.tensor(x).relu().numpy(), np.maximum(x, 0))


def test_where():
    mask, x, y = torch.tensor([True, False]), torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    assert torch.where(mask, x, y).tolist() == x.where(mask, y).tolist() == [1.0, 4.0]
    assert torch.where(mask, x, 5).tolist() == [1.0, 5.0] and torch.where(mask, 1, 2.5).tolist() == [1.0, 2.5]
    assert (
        torch.where(mask, 1, 2).dtype is torch.int64
        and torch.where(mask, torch.tensor([1]), 2.5).dtype is torch.float32
    )
    assert torch.where(mask.to(torch.uint8), x, y).tolist() == [1.0, 4.0]
    check(lambda a, b: torch.where(torch.tensor([[True], [False]]), a, b), [1.0, 2.0, 3.0], [[4.0], [5.0]])
    leaf = torch.tensor([-1.0, 4.0], requires_grad=True)
    made = torch.where(leaf > 0, leaf, torch.tensor([0]))
    assert made.grad_fn.name() == "WhereBackward0" and made.grad_fn.next_functions[1] == (None, 0)
    with pytest.raises(
        RuntimeError, match="where expected condition to be a boolean tensor, but got a tensor with dtype"
    ):
        torch.where(x, x, y)
    with pytest.raises(
        TypeError, match=r"where\(\) received an invalid combination of arguments - got \(Tensor, Tensor, str"
    ):
        torch.where(mask, x, "a")


def test_masked_fill():
    mask, x = torch.tensor([[True], [False]]), torch.tensor([1.0, 2.0], requires_grad=True)
    made = x.masked_fill(mask, 5)
    assert made.tolist() == [[5.0, 5.0], [1.0, 2.0]] and made.grad_fn.name() == "MaskedFillBackward0"
    assert torch.autograd.grad(made, x, torch.ones(2, 2))[0].tolist() == [1.0, 1.0]
    check(lambda a, v: a.masked_fill(mask, v), [1.0, 2.0], 3.0)
    assert torch.tensor([1, 2]).masked_fill(torch.tensor([True, False]), 2.5).tolist() == [2, 2]
    assert torch.zeros(2).masked_fill_(torch.tensor([True, False]), -math.inf).tolist() == [-math.inf, 0.0]
    for run, words in [
        (
            lambda: x.masked_fill(torch.tensor([1, 0]), 2),
            "only supports boolean masks, but got mask with dtype long int",
        ),
        (
            lambda: x.masked_fill(mask, torch.ones(1)),
            "only supports a 0-dimensional value tensor, but got tensor with 1 dim",
        ),
        (
            lambda: torch.ones(1).masked_fill_(mask, 2),
            r"output with shape \[1\] doesn't match the broadcast shape \[2, 1\]",
        ),
        (
            lambda: torch.ones(2).half().masked_fill(mask, -1e9),
            "value cannot be converted to type c10::Half without overflow",
        ),
    ]:
        with pytest.raises(RuntimeError, match=words):
            run()


def test_maximum_and_its_kin():
    assert grad(torch.maximum, 1.0, 1.0) == grad(torch.minimum, 1.0, 1.0) == [0.5, 0.5]
    assert grad(torch.fmax, 1.0, 1.0) == grad(torch.fmin, 1.0, 1.0) == [1.0, 0.0]
    assert grad(torch.maximum, math.nan, 1.0) == [1.0, 1.0] and grad(torch.fmax, math.nan, 1.0) == [0.0, 1.0]
    x, y = torch.tensor([1.0, math.nan, 3.0]), torch.tensor([2.0, 2.0, math.nan])
    assert str(torch.maximum(x, y).tolist()) == "[2.0, nan, nan]" and torch.fmin(x, y).tolist() == [1.0, 2.0, 3.0]
    assert torch.maximum(torch.tensor([True]), torch.tensor([False])).tolist() == [True]
    for function in (torch.maximum, torch.minimum, torch.fmax, torch.fmin):
        check(function, [[1.0], [5.0]], [2.0, 3.0, 7.0])
        with pytest.raises(RuntimeError, match="not implemented for complex tensors."):
            function(torch.tensor([1j]), torch.tensor([1j]))
        with pytest.raises(TypeError, match=r"argument 'other' \(position 2\) must be Tensor, not float"):
            function(x, 1.0)


def test_clamp():
    x = torch.tensor([-1.0, 0.5, 2.0, math.nan])
    assert str(x.clamp(0, 1).tolist()) == "[0.0, 0.5, 1.0, nan]" and x.clip(max=1).tolist()[:3] == [-1.0, 0.5, 1.0]
    assert (
        torch.clamp(torch.tensor([3]), 0.5).dtype is torch.float32 and torch.clamp(torch.tensor([3]), 2, 1).item() == 1
    )
    assert x.clone().clamp_(0, 1).tolist()[:3] == [0.0, 0.5, 1.0]
    assert torch.clamp(x, torch.tensor([0.0]), torch.tensor([1.0])).tolist()[:3] == [0.0, 0.5, 1.0]
    for function, words in [
        (lambda: torch.clamp(x), "torch.clamp: At least one of 'min' or 'max' must not be None"),
        (lambda: torch.clamp(torch.tensor([1j]), 0), "clamp is not supported for complex types"),
    ]:
        with pytest.raises(RuntimeError, match=words):
            function()
    with pytest.raises(TypeError, match=r"clamp\(\) received an invalid combination of arguments"):
        torch.clamp(x, torch.tensor(1.0), 2)


def test_clamp_gradients():
    assert grad(lambda x: x.clamp(0, 6), 0.0) == grad(lambda x: x.clamp(0, 6), 6.0) == [1.0]
    assert grad(torch.clamp, 3.0, 2.0, 1.0) == [0.0, 0.0, 1.0] and grad(torch.clamp, 2.0, 2.0, 2.0) == [1.0, 0.0, 0.0]
    assert grad(torch.clamp, 0.0, 1.0, 2.0) == [0.0, 1.0, 0.0]
    assert grad(torch.clamp_min, 1.0, 1.0) == [1.0, 0.0] and grad(torch.clamp_max, 3.0, 1.0) == [0.0, 1.0]
    check(lambda a, low, high: a.clamp(low, high), [0.3, 1.5, 5.0], [1.0, 1.0, 1.0], [[2.0]])
    names = {
        "ClampBackward1": lambda x: x.clamp(0, 1),
        "ClampBackward0": lambda x: x.clamp(x, None),
        "ClampMinBackward0": lambda x: x.clamp_min(0),
        "ClampMinBackward1": lambda x: torch.clamp_min(x, x),
        "ClampMaxBackward0": lambda x: x.clamp_max(0),
        "ClampMaxBackward1": lambda x: torch.clamp_max(x, x),
    }
    for name, function in names.items():
        assert function(torch.ones(1, requires_grad=True)).grad_fn.name() == name
