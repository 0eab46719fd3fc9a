import math

import numpy as np
import pytest

import chainrule as torch

SHORT = {
    "float": torch.float32, "double": torch.float64, "half": torch.float16, "int": torch.int32, "long": torch.int64,
    "short": torch.int16, "char": torch.int8, "byte": torch.uint8, "bool": torch.bool, "cfloat": torch.complex64,
    "cdouble": torch.complex128,
}  # fmt: skip


@pytest.mark.parametrize("name", SHORT)
def test_short_forms(name):
    x = torch.tensor([1.7, -0.0, 3.0])
    found = getattr(x, name)()
    assert found.dtype is SHORT[name] and getattr(found, name)() is found
    np.testing.assert_array_equal(found.numpy(), x.numpy().astype(found.numpy().dtype))


def test_to():
    x = torch.ones(2, 3)
    y = torch.ones(1, dtype=torch.float64)
    assert x.to(torch.float32) is x.to("cpu") is x.to(None) is x.to(x) is x.cpu() is x.type_as(x) is x
    for found in (
        x.to(torch.float64),
        x.to(y),
        x.to("cpu", torch.float64),
        x.to(dtype=torch.float64),
        x.double(),
        x.type_as(y),
    ):
        assert found.dtype is torch.float64
    copied = x.to(torch.float32, copy=True)
    assert copied is not x and copied.data_ptr() != x.data_ptr()
    turned = torch.from_numpy(np.ones((2, 3)).T)
    assert turned.to(torch.float32).stride() == (1, 3)
    assert turned.to(torch.float32, memory_format=torch.contiguous_format).stride() == (2, 1)
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        x.to("cuda")
    with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments - got \(dtype=str, \)"):
        x.to(dtype="a")


def test_to_is_differentiable():
    x = torch.tensor([1.5], requires_grad=True)
    made = x.double()
    assert made.grad_fn.name() == "ToCopyBackward0"
    found = torch.autograd.grad(made, x, torch.tensor([2.0], dtype=torch.float64))[0]
    assert found.dtype is torch.float32 and found.item() == 2.0
    assert not x.long().requires_grad
    assert torch.autograd.grad(x.cfloat(), x, torch.tensor([2 + 1j]))[0].tolist() == [2.0]


def test_type():
    x = torch.ones(1)
    assert x.type() == "torch.FloatTensor" and x.type("torch.DoubleTensor").dtype is torch.float64
    assert x.type(torch.int32).dtype is torch.int32
    with pytest.raises(ValueError, match="invalid type: 'x'"):
        x.type("x")


def test_conversion_of_odd_values():
    assert torch.tensor([1.7, -1.7]).int().tolist() == [1, -1]
    assert torch.tensor([1.5, 0.0, math.nan]).bool().tolist() == [True, False, True]
    assert torch.tensor([1 + 2j]).to(torch.float32).tolist() == [1.0]


def test_result_type():
    assert torch.result_type(torch.ones(2), 1) is torch.float32
    assert torch.result_type(torch.tensor([1]), 1.5) is torch.float32
    assert torch.result_type(1, torch.ones(1, dtype=torch.int8)) is torch.int8
    assert torch.result_type(torch.ones(2), torch.tensor(1.0, dtype=torch.float64)) is torch.float32


def test_clone_and_contiguous():
    x = torch.ones(2, 3, requires_grad=True)
    assert x.contiguous() is x and x.clone().grad_fn.name() == "CloneBackward0"
    turned = torch.from_numpy(np.arange(6.0).reshape(2, 3).T)
    assert turned.clone().stride() == (1, 3) and turned.contiguous().stride() == (2, 1)
    assert turned.clone(memory_format=torch.contiguous_format).stride() == (2, 1)
    wide = torch.ones(1, 4).expand(3, 4)
    assert wide.clone().stride() == (4, 1) and wide.clone().is_contiguous()
    assert torch.ones(1, 2, 3, 4).clone(memory_format=torch.channels_last).stride() == (24, 1, 8, 2)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        x.clone(memory_format=torch.channels_last)


def test_copy_():
    x = torch.zeros(2, 3)
    assert x.copy_(torch.tensor([1, 2, 3])) is x and x.tolist() == [[1.0, 2.0, 3.0]] * 2 and x._version == 1
    assert torch.tensor([1]).copy_(torch.tensor([2.7])).tolist() == [2]
    leaf = torch.ones(3, requires_grad=True)
    y = torch.zeros(2, 3).copy_(leaf)
    assert y.grad_fn.name() == "torch::autograd::CopyBackwards" and y.grad_fn.next_functions[0] == (None, 0)
    y = (leaf * 1).copy_(leaf.detach())
    assert torch.autograd.grad(y, leaf, torch.ones(3))[0].tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
        torch.zeros(3).copy_(torch.ones(2, 3))
    with pytest.raises(TypeError, match=r"copy_\(\): argument 'other' \(position 1\) must be Tensor, not str"):
        x.copy_("a")
    with pytest.raises(
        RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation."
    ):
        leaf.copy_(torch.zeros(3))


def test_fill_and_zero():
    x = torch.ones(2, requires_grad=True)
    y = (x * 1).fill_(3)
    assert y.tolist() == [3.0, 3.0] and y.grad_fn.name() == "FillBackward2"
    assert torch.autograd.grad(y, x, torch.ones(2))[0].tolist() == [0.0, 0.0]
    assert (x * 1).zero_().grad_fn.name() == "ZeroBackward0"
    value = torch.tensor(2.0, requires_grad=True)
    y = torch.zeros(2, 2).fill_(value)
    assert torch.autograd.grad(y, value, torch.ones(2, 2))[0].item() == 4.0
    assert torch.fill(x, 5).grad_fn.name() == "FillBackward0" and torch.fill(x, 5).tolist() == [5.0, 5.0]
    assert torch.zeros(2, dtype=torch.bool).fill_(3).tolist() == [True, True]
    assert torch.zeros(1, dtype=torch.uint8).fill_(-1).item() == 255


@pytest.mark.parametrize(
    "dtype, value, name",
    [
        (torch.int8, 300, "int8_t"),
        (torch.int16, 2**20, "int16_t"),
        (torch.int32, 2**40, "int"),
        (torch.int64, 1e30, "int64_t"),
        (torch.float16, 1e10, "c10::Half"),
        (torch.float32, 1e40, "float"),
        (torch.float32, 2j, "float"),
    ],
)
def test_values_out_of_range(dtype, value, name):
    x = torch.zeros(2, dtype=dtype)
    with pytest.raises(RuntimeError, match=f"value cannot be converted to type {name} without overflow"):
        x.fill_(value)
    assert x._version == 0
