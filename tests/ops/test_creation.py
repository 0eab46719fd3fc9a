"""Tensors from data, constants and ranges; values, dtypes and texts are PyTorch 2.13's."""

import math
import warnings
from array import array

import numpy as np
import pytest

import chainrule as torch

SPARSE = "chainrule has no torch.sparse_coo tensors: its tensors are strided"


@pytest.fixture(autouse=True)
def keep_default_dtype():
    default = torch.get_default_dtype()
    yield
    torch.set_default_dtype(default)


def raises(kind, text, function, *args, **kwargs):
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    assert str(caught.value).split("\n")[0] == text


# --- torch.tensor ---


@pytest.mark.parametrize(
    "data, text",
    [
        (3, "tensor(3)"),
        (3.0, "tensor(3.)"),
        (True, "tensor(True)"),
        (1j, "tensor(0.+1.j)"),
        ([], "tensor([])"),
        ([[], []], "tensor([], size=(2, 0))"),
        ([1, 2], "tensor([1, 2])"),
        ([1, 2.0], "tensor([1., 2.])"),
        ([True, 2], "tensor([1, 2])"),
        ([True, 2.0], "tensor([1., 2.])"),
        ([1, 2j], "tensor([1.+0.j, 0.+2.j])"),
        ([(1, 2), [3, 4]], "tensor([[1, 2],\n        [3, 4]])"),
        (range(3), "tensor([0, 1, 2])"),
        (bytearray(b"ab"), "tensor([97, 98])"),
        (array("f", [1, 2]), "tensor([1., 2.])"),
        (np.float32(3), "tensor(3.)"),
        (np.float64(3), "tensor(3., dtype=torch.float64)"),
        (np.int32(3), "tensor(3, dtype=torch.int32)"),
        ([np.float64(1)], "tensor([1.], dtype=torch.float64)"),
        ([np.int32(1), 2.0], "tensor([1., 2.])"),
        (np.array([1, 2]), "tensor([1, 2])"),
        ([[], [1]], "tensor([], size=(2, 0))"),
        (2**63 - 1, "tensor(9223372036854775807)"),
    ],
    ids=repr,
)
def test_tensor(data, text):
    assert repr(torch.tensor(data)) == text


def test_tensor_of_tensors():
    a, b = torch.tensor(2.5), torch.tensor([1])
    assert repr(torch.tensor([a, 1])) == "tensor([2.5000, 1.0000])"
    assert repr(torch.tensor([b, b])) == "tensor([1, 1])"
    assert repr(torch.tensor([[a], [a]])) == "tensor([[2.5000],\n        [2.5000]])"
    mixed = [torch.tensor(1, dtype=torch.uint8), torch.tensor(1.0, dtype=torch.float16)]
    assert torch.tensor(mixed).dtype is torch.float16
    x = torch.arange(3.0)
    raises(ValueError, "only one element tensors can be converted to Python scalars", torch.tensor, [x, x])


@pytest.mark.parametrize(
    "data, kind, text",
    [
        ([[1, 2], [3]], ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
        ([[1, 2], [3, 4, 5]], ValueError, "expected sequence of length 2 at dim 1 (got 3)"),
        ([[[1, 2], [3, 4]], [[1, 2], [3]]], ValueError, "expected sequence of length 2 at dim 2 (got 1)"),
        ([1, [2]], TypeError, "'list' object cannot be interpreted as an integer"),
        ([1.0, [2]], TypeError, "must be real number, not list"),
        ([[1], 2], TypeError, "not a sequence"),
        (["a"], ValueError, "too many dimensions 'str'"),
        ("a", TypeError, "new(): invalid data type 'str'"),
        ([[1, 2], [3, "a"]], TypeError, "new(): invalid data type 'str'"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ([1, None], RuntimeError, "Could not infer dtype of NoneType"),
        ({}, RuntimeError, "Could not infer dtype of dict"),
        (2**63, ValueError, "Overflow when unpacking long long"),
        ([2**64], ValueError, "Overflow when unpacking long long"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str_. The only supported types are: "
         "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, "
         "and bool."),
    ],
    ids=repr,
)  # fmt: skip
def test_tensor_refuses(data, kind, text):
    raises(kind, text, torch.tensor, data)


@pytest.mark.parametrize(
    "value, dtype, expected",
    [
        (2.5, "int64", 2),
        (-1, "uint8", 255),
        (-255, "uint8", 1),
        (-1, "uint16", 65535),
        (2**64 - 1, "uint64", 2**64 - 1),
        (1e40, "float32", math.inf),
        (2, "bool", True),
        (1j, "bool", True),
        (1, "complex64", 1 + 0j),
        (True, "float16", 1.0),
        (0.1, "float16", 0.0999755859375),
        # 1 + 2**-11 lies between two float16 numbers; with the rest below float32's precision it is a tie
        (1 + 2**-11 + 2**-40, "float16", 1.0),
    ],
)
def test_tensor_with_a_dtype(value, dtype, expected):
    for t in (torch.tensor(value, dtype=getattr(torch, dtype)), torch.tensor([value], dtype=getattr(torch, dtype))[0]):
        assert t.dtype is getattr(torch, dtype) and t.item() == expected


@pytest.mark.parametrize(
    "value, dtype, kind, text",
    [
        (300, "uint8", RuntimeError, "value cannot be converted to type uint8 without overflow"),
        (-256, "uint8", RuntimeError, "value cannot be converted to type uint8 without overflow"),
        (255.9, "uint8", RuntimeError, "value cannot be converted to type uint8 without overflow"),
        (-1.5, "uint8", RuntimeError, "value cannot be converted to type uint8 without overflow"),
        (1e20, "int64", RuntimeError, "value cannot be converted to type int64 without overflow"),
        (math.nan, "int64", RuntimeError, "value cannot be converted to type int64 without overflow"),
        (math.inf, "int32", RuntimeError, "value cannot be converted to type int32 without overflow"),
        (1j, "float32", TypeError, "must be real number, not complex"),
        (1j, "int32", TypeError, "'complex' object cannot be interpreted as an integer"),
        (-1, "uint64", OverflowError, "can't convert negative int to unsigned"),
        (10**400, "float64", OverflowError, "int too large to convert to float"),
    ],
)
def test_tensor_with_a_dtype_that_cannot_hold_it(value, dtype, kind, text):
    raises(kind, text, torch.tensor, value, dtype=getattr(torch, dtype))


def test_tensor_copies():
    a = np.zeros(3)
    t = torch.tensor(a)
    a[0] = 1
    assert t.tolist() == [0, 0, 0]
    assert torch.tensor(np.arange(6.0).reshape(2, 3).T).stride() == (1, 3)
    x = torch.tensor([1.0], requires_grad=True)
    with pytest.warns(UserWarning, match="To copy construct from a tensor, it is recommended to use"):
        t = torch.tensor(x * 2)
    assert t.tolist() == [2] and not t.requires_grad


def test_tensor_arguments():
    assert torch.tensor([1.0], requires_grad=True).is_leaf
    assert torch.tensor([1], dtype=float).dtype is torch.float64
    raises(TypeError, 'tensor() missing 1 required positional arguments: "data"', torch.tensor)
    raises(TypeError, "tensor() takes 1 positional argument but 2 were given", torch.tensor, 1, 2)
    raises(TypeError, "tensor() got an unexpected keyword argument 'foo'", torch.tensor, 1, foo=2)
    raises(TypeError, "tensor(): argument 'dtype' must be torch.dtype, not str", torch.tensor, 1, dtype="float32")
    raises(TypeError, "tensor(): argument 'requires_grad' must be bool, not int", torch.tensor, 1.0, requires_grad=1)
    raises(
        RuntimeError,
        "Only Tensors of floating point and complex dtype can require gradients",
        torch.tensor,
        [1],
        requires_grad=True,
    )
    raises(AssertionError, "Torch not compiled with CUDA enabled", torch.tensor, 1, device="cuda")


def test_default_tensor_type():
    torch.set_default_tensor_type(torch.DoubleTensor)
    assert torch.zeros(1).dtype is torch.float64
    torch.set_default_tensor_type("torch.FloatTensor")
    assert torch.zeros(1).dtype is torch.float32
    for bad in (torch.LongTensor, torch.float64, 3):
        with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
            torch.set_default_tensor_type(bad)


def test_default_dtype():
    torch.set_default_dtype(torch.float64)
    assert torch.tensor([1.0]).dtype is torch.zeros(1).dtype is torch.arange(1.0).dtype is torch.float64
    assert torch.tensor(1j).dtype is torch.complex128
    assert torch.Tensor([1]).dtype is torch.eye(1).dtype is torch.linspace(0, 1, 2).dtype is torch.float64


# --- sharing memory ---


def test_from_numpy_shares_memory():
    a = np.arange(6.0)
    t = torch.from_numpy(a[2:])
    t.add_(1)
    assert a.tolist() == [0, 1, 3, 4, 5, 6]
    assert t.storage_offset() == 0 and t.untyped_storage().nbytes() == 32 and t._version == 1
    assert torch.from_numpy(a[::2]).stride() == (2,)
    assert torch.from_numpy(np.array(3)).shape == ()
    assert torch.from_numpy(np.broadcast_to(np.ones(3), (2, 3)).copy()).shape == (2, 3)


def test_from_numpy_refuses():
    raises(TypeError, "expected np.ndarray (got list)", torch.from_numpy, [1])
    raises(TypeError, "expected np.ndarray (got Tensor)", torch.from_numpy, torch.zeros(1))
    with pytest.raises(ValueError, match="At least one stride in the given numpy array is negative"):
        torch.from_numpy(np.arange(3)[::-1])
    with pytest.raises(ValueError, match="given numpy array has byte order different from the native byte order"):
        torch.from_numpy(np.zeros(2, ">f8"))
    with pytest.raises(ValueError, match="strides not a multiple of the element byte size"):
        torch.from_numpy(np.zeros(3, [("a", "f4"), ("b", "i1")])["a"])
    with pytest.raises(TypeError, match="can't convert np.ndarray of type numpy.datetime64"):
        torch.from_numpy(np.zeros(2, "M8[s]"))


def test_read_only_memory_is_written_to_after_a_warning(monkeypatch):
    monkeypatch.setattr("chainrule.core.conversion._warned", set())
    a = np.zeros(2)
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        t = torch.from_numpy(a)
    t.fill_(3)
    assert a.tolist() == [3, 3]
    torch.from_numpy(a)  # the warning comes once


def test_as_tensor_and_asarray():
    x, a = torch.arange(3.0), np.zeros(3)
    assert torch.as_tensor(x) is x and torch.asarray(x) is x
    for function in (torch.as_tensor, torch.asarray):
        assert function(a).data_ptr() == a.__array_interface__["data"][0]
        assert repr(function([1, 2])) == "tensor([1, 2])"
        assert function(x, dtype=torch.float64).dtype is torch.float64
        assert function(a, dtype=torch.float32).dtype is torch.float32
    assert torch.asarray(x, copy=True).data_ptr() != x.data_ptr()
    assert torch.asarray(x.clone(), requires_grad=True).requires_grad
    raises(ValueError, "can't alias arbitrary sequence into a tensor.", torch.asarray, [1], copy=False)
    raises(
        ValueError,
        "can't alias tensor with dtype 'Float' into dtype 'Int'.",
        torch.asarray,
        x,
        dtype=torch.int32,
        copy=False,
    )


def test_frombuffer():
    memory = bytearray(b"abcd")
    t = torch.frombuffer(memory, dtype=torch.int16, offset=2)
    assert t.tolist() == [25699]
    t.zero_()
    assert memory == b"ab\0\0"
    assert torch.frombuffer(memory, dtype=torch.uint8, count=2).tolist() == [97, 98]
    assert torch.frombuffer(bytearray(4), dtype=torch.float32, requires_grad=True).requires_grad
    for text, more in {
        "offset (5 bytes) must be non-negative and no greater than buffer length (4 bytes) minus 1": {"offset": 5},
        "both buffer length (4) and count (0) must not be 0": {"count": 0},
        "requested buffer length (5 * 2 bytes) after offset (0 bytes) must not be greater than actual buffer length "
        "(4 bytes)": {"count": 5},
        "buffer length (3 bytes) after offset (1 bytes) must be a multiple of element size (2)": {"offset": 1},
    }.items():
        raises(ValueError, text, torch.frombuffer, memory, dtype=torch.int16, **more)
    raises(ValueError, "object does not implement Python buffer protocol.", torch.frombuffer, 3, dtype=torch.int16)


# --- constants ---


@pytest.mark.parametrize(
    "args, kwargs, shape",
    [
        ((2, 3), {}, (2, 3)),
        (([2, 3],), {}, (2, 3)),
        (((),), {}, ()),
        ((torch.Size([2]),), {}, (2,)),
        ((np.int64(2),), {}, (2,)),
        ((torch.tensor(2), 3), {}, (2, 3)),
        (([torch.tensor(2), 3],), {}, (2, 3)),
        ((), {"size": (2,)}, (2,)),
        ((2, 0), {}, (2, 0)),
    ],
)
@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
def test_sizes(name, args, kwargs, shape):
    t = getattr(torch, name)(*args, **kwargs)
    assert tuple(t.shape) == shape and t.dtype is torch.float32 and t.is_contiguous()
    if name in ("zeros", "ones") and 0 not in shape:
        assert set(t.reshape(-1).tolist()) == {float(name == "ones")}


@pytest.mark.parametrize(
    "args, kwargs, text",
    [
        ((2.0,), {}, "argument 'size' (position 1) must be tuple of ints, not float"),
        ((True,), {}, "argument 'size' (position 1) must be tuple of ints, not bool"),
        (([2.0],), {}, "argument 'size' (position 1) must be tuple of ints, but found element of type float at pos 0"),
        (
            ([2, "a"],),
            {},
            "argument 'size' failed to unpack the object at pos 2 with error \"type must be tuple of ints,but got "
            'str"',
        ),
        ((), {"size": 2}, "argument 'size' must be tuple of ints, not int"),
    ],
)
@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand"])
def test_bad_sizes(name, args, kwargs, text):
    raises(TypeError, f"{name}(): {text}", getattr(torch, name), *args, **kwargs)


def test_other_size_errors():
    raises(TypeError, "zeros() takes 1 positional argument but 2 were given", torch.zeros, [2], 3)
    raises(TypeError, 'zeros() missing 1 required positional arguments: "size"', torch.zeros)
    raises(RuntimeError, "zeros: Dimension size must be non-negative.", torch.zeros, 2, -1)
    for function in (torch.ones, torch.empty, torch.rand, torch.Tensor):
        raises(RuntimeError, "Trying to create tensor with negative dimension -1: [2, -1]", function, 2, -1)
    huge = [2**62, 2**62]
    raises(RuntimeError, f"Storage size calculation overflowed with sizes={huge}", torch.zeros, *huge)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "eye", "rand"])
def test_common_options(name):
    function = getattr(torch, name)
    assert function(2, dtype=torch.float64).dtype is torch.float64
    assert function(2, requires_grad=True).requires_grad
    assert function(2, device="cpu", layout=torch.strided, pin_memory=False).device.type == "cpu"
    raises(NotImplementedError, SPARSE, function, 2, layout=torch.sparse_coo)
    raises(AssertionError, "Torch not compiled with CUDA enabled", function, 2, device="cuda")
    with pytest.raises(RuntimeError, match="pin_memory=True requires a CUDA"):
        function(2, pin_memory=True)
    out = torch.empty(0, dtype=torch.float64)
    assert function(2, out=out) is out and out.dtype is torch.float64 and out.numel() == (4 if name == "eye" else 2)
    raises(RuntimeError, "dtype Float does not match dtype of out parameter (Double)", function, 2, out=out,
           dtype=torch.float32)  # fmt: skip
    raises(TypeError, f"{name}(): argument 'out' must be Tensor, not int", function, 2, out=3)


def test_out_is_written_in_place_or_resized_silently():
    out = torch.full((3,), 7.0)
    pointer = out.data_ptr()
    torch.ones(3, out=out)
    assert out.tolist() == [1, 1, 1] and out.data_ptr() == pointer and out._version == 1
    torch.zeros(2, 2, out=out)
    assert out.tolist() == [[0, 0], [0, 0]]
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"functions with out=... arguments don't support automatic differentiation"):
        torch.zeros(2, out=leaf)
    with torch.no_grad():
        torch.zeros(2, out=leaf)
    assert leaf.tolist() == [0, 0]


@pytest.mark.parametrize(
    "value, dtype", [(1, "int64"), (1.5, "float32"), (True, "bool"), (1j, "complex64"), (np.float64(2), "float32")]
)
def test_full(value, dtype):
    t = torch.full((2, 1), value)
    assert t.dtype is getattr(torch, dtype) and t.tolist() == [[value], [value]]


def test_full_refuses():
    raises(TypeError, "full(): argument 'size' (position 1) must be tuple of ints, not int", torch.full, 2, 1)
    raises(TypeError, 'full() missing 1 required positional arguments: "fill_value"', torch.full, (2,))
    raises(TypeError, "full(): argument 'fill_value' (position 2) must be Number, not str", torch.full, (2,), "a")
    for value, dtype, name in [
        (300, torch.uint8, "uint8_t"),
        (1j, torch.float32, "float"),
        (math.nan, torch.int64, "int64_t"),
        (1e10, torch.int32, "int"),
        (70000, torch.float16, "c10::Half"),
        (1e40, torch.float32, "float"),
    ]:
        text = f"value cannot be converted to type {name} without overflow"
        raises(RuntimeError, text, torch.full, (2,), value, dtype=dtype)
    assert torch.full((1,), -1, dtype=torch.uint8).tolist() == [255]
    assert torch.full((1,), torch.tensor(2.5)).tolist() == [2.5]


def test_eye_and_scalar_tensor():
    assert torch.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert torch.eye(3, 2, dtype=torch.bool).tolist() == [[True, False], [False, True], [False, False]]
    assert torch.eye(0).shape == (0, 0) and torch.eye(2, 0).shape == (2, 0)
    raises(RuntimeError, "n must be greater or equal to 0, got -1", torch.eye, -1)
    raises(TypeError, "eye(): argument 'n' (position 1) must be int, not float", torch.eye, 2.0)
    assert repr(torch.scalar_tensor(3)) == "tensor(3.)" and torch.scalar_tensor(3, dtype=torch.int64).item() == 3


def test_like():
    m = torch.zeros(2, 3, requires_grad=True)
    for name, value in (("zeros_like", 0), ("ones_like", 1)):
        t = getattr(torch, name)(m)
        assert t.shape == (2, 3) and not t.requires_grad and set(t.reshape(-1).tolist()) == {value}
        assert getattr(torch, name)(m, dtype=torch.int64, requires_grad=False).dtype is torch.int64
    assert torch.full_like(m, 2).tolist() == [[2, 2, 2], [2, 2, 2]]
    assert torch.full_like(torch.tensor([1]), 1.5).tolist() == [1]
    raises(TypeError, "zeros_like(): argument 'input' (position 1) must be Tensor, not int", torch.zeros_like, 3)


def test_like_keeps_the_layout():
    base = torch.zeros(2, 3, 4)
    for t, strides in [
        (base.permute(2, 0, 1), (1, 12, 4)),
        (torch.zeros(3).expand(2, 3), (3, 1)),
        (torch.zeros(4, 6)[::2, ::2], (3, 1)),
        (base.permute(2, 0, 1)[:1], (1, 3, 1)),
    ]:
        assert torch.zeros_like(t).stride() == strides
        assert torch.zeros_like(t, memory_format=torch.contiguous_format).is_contiguous()
    images = torch.ones_like(torch.zeros(2, 3, 4, 5), memory_format=torch.channels_last)
    assert images.stride() == (60, 1, 15, 3)
    raises(
        RuntimeError,
        "required rank 4 tensor to use channels_last format",
        torch.zeros_like,
        torch.zeros(2, 3),
        memory_format=torch.channels_last,
    )


def test_new_methods():
    x, i = torch.zeros(1, dtype=torch.float64), torch.zeros(1, dtype=torch.int64)
    assert x.new_zeros(2, 3).shape == (2, 3) and x.new_ones((2,)).dtype is torch.float64
    assert i.new_full((2,), 1.5).tolist() == [1, 1] and i.new_empty(2).dtype is torch.int64
    assert i.new_tensor([1.5, 2]).tolist() == [1, 2] and x.new_tensor(True).item() == 1.0
    assert x.new_zeros(2, dtype=torch.int64, requires_grad=False).dtype is torch.int64
    assert x.new_empty_strided((2, 3), (1, 2)).stride() == (1, 2)
    raises(TypeError, 'new_zeros() missing 1 required positional arguments: "size"', x.new_zeros)
    raises(TypeError, "new(): invalid data type 'str'", x.new_tensor, "a")


def test_empty_strided():
    assert torch.empty_strided((2, 3), (10, 2)).stride() == (10, 2)
    assert torch.empty_strided((2, 3), (0, 1)).stride() == (0, 1)
    assert torch.empty_permuted((2, 3, 4), (1, 0, 2)).stride() == (4, 8, 1)
    raises(
        RuntimeError,
        "dimensionality of sizes (2) must match dimensionality of strides (1)",
        torch.empty_strided,
        (2, 3),
        (1,),
    )
    raises(RuntimeError, "Duplicate dim not allowed", torch.empty_permuted, (2, 3), (1, 1))


# --- ranges ---


@pytest.mark.parametrize(
    "args, text",
    [
        ((5,), "tensor([0, 1, 2, 3, 4])"),
        ((5.0,), "tensor([0., 1., 2., 3., 4.])"),
        ((2, 5), "tensor([2, 3, 4])"),
        ((5, 0, -2), "tensor([5, 3, 1])"),
        ((0.5, 3), "tensor([0.5000, 1.5000, 2.5000])"),
        ((0, 3, 0.7), "tensor([0.0000, 0.7000, 1.4000, 2.1000, 2.8000])"),
        ((1, 1), "tensor([], dtype=torch.int64)"),
        ((2**62, 2**62 + 2), "tensor([4611686018427387904, 4611686018427387905])"),
        ((True,), "tensor([0])"),
    ],
)
def test_arange(args, text):
    assert repr(torch.arange(*args)) == text


def test_ranges_of_complex_numbers():
    assert torch.arange(2 + 0j).tolist() == [0, 1]
    with pytest.raises(NotImplementedError, match="\"arange_cpu\" not implemented for 'ComplexFloat'"):
        torch.arange(0, 1 + 1j, dtype=torch.complex64)
    with pytest.raises(RuntimeError, match="value cannot be converted to type double without overflow"):
        torch.arange(0, 1 + 1j)


def test_arange_whose_step_is_cut_off():
    raises(ValueError, "step must be nonzero", torch.arange, 0, 3, 0.5, dtype=torch.int64)
    raises(RuntimeError, "step must be nonzero", torch.arange, 0, 3, 0.0, dtype=torch.int64)


def test_one_step_of_any_dtype():
    assert torch.linspace(3, 5, 1, dtype=torch.bool).tolist() == [True]
    assert torch.logspace(0, 5, 1, dtype=torch.bool).tolist() == [True]
    assert torch.logspace(3, 5, 0, dtype=torch.int8).tolist() == []
    raises(RuntimeError, "value cannot be converted to type int8_t without overflow",
           torch.logspace, 3, 5, 1, dtype=torch.int8)  # fmt: skip


def test_the_size_is_looked_at_before_the_number():
    raises(RuntimeError, "Trying to create tensor with negative dimension -1: [-1]",
           torch.full, (-1,), 300, dtype=torch.int8)  # fmt: skip
    raises(OverflowError, "int too big to convert", torch.full, (-1,), 2**64)
    raises(OverflowError, "can't convert negative int to unsigned", torch.full, (2,), -(2**63) - 1)


def test_arange_arguments():
    assert torch.arange(end=3).tolist() == torch.arange(start=0, end=3, step=1).tolist() == [0, 1, 2]
    assert torch.arange(1, 5, step=2).tolist() == [1, 3]
    assert torch.arange(torch.tensor(2)).tolist() == [0, 1] and torch.arange(np.int64(2)).dtype is torch.int64
    assert torch.arange(0.5, 5.5, dtype=torch.int64).tolist() == [0, 1, 2, 3, 4]
    assert torch.arange(0.0, 1.0, 0.3, dtype=torch.int32).tolist() == [0, 0, 0, 0]
    assert torch.arange(300, dtype=torch.uint8)[-1].item() == 43
    out = torch.empty(0)
    assert torch.arange(3, out=out).tolist() == [0.0, 1.0, 2.0]
    with pytest.warns(UserWarning, match=r"The number of elements in the out tensor of shape \[3\] is 3"):
        torch.arange(5, out=out)


@pytest.mark.parametrize(
    "args, kind, text",
    [
        ((5, 0), RuntimeError, "upper bound and lower bound inconsistent with step sign"),
        ((0, 5, 0), RuntimeError, "step must be nonzero"),
        ((0, math.nan), RuntimeError, "unsupported range: 0 -> nan"),
        ((1j,), RuntimeError, "value cannot be converted to type double without overflow"),
        (("a",), TypeError, "arange(): argument 'end' (position 1) must be Number, not str"),
        ((), TypeError, "arange() received an invalid combination of arguments - got (), but expected one of:"),
        ((2**63,), RuntimeError, "value cannot be converted to type int64_t without overflow"),
    ],
)
def test_arange_refuses(args, kind, text):
    raises(kind, text, torch.arange, *args)


def test_arange_has_no_kernel_for_bool():
    raises(NotImplementedError, "\"arange_cpu\" not implemented for 'Bool'", torch.arange, 5, dtype=torch.bool)


def test_float_steps_are_rounded_as_the_vector_loop_rounds():
    # In blocks of 8 from a rounded first element; the last elements, which fill no two blocks, singly.
    t = torch.arange(0, 100, 0.1).numpy()
    index = np.arange(1000)
    plain = (index * 0.1).astype(np.float32)
    first = plain[index // 8 * 8].astype(np.float64)
    blocks = (first + index % 8 * 0.1).astype(np.float32)
    assert np.array_equal(t[:992], blocks[:992]) and np.array_equal(t[992:], plain[992:])
    assert not np.array_equal(blocks[992:], plain[992:])
    # float64: each step is one fused multiply-add
    from fractions import Fraction

    t = torch.arange(0.3, 3, 0.07, dtype=torch.float64).numpy()
    firsts = [float(Fraction(0.3) + Fraction(0.07) * int(i // 4 * 4)) for i in range(32)]
    expected = [float(Fraction(f) + Fraction(0.07) * (i % 4)) for i, f in enumerate(firsts)]
    assert t[:32].tolist() == expected
    # the only element after the blocks
    t = torch.arange(-90.7564103373709, 59.488542385738185, 2.666600593626944, dtype=torch.float64)
    assert t.shape == (57,) and t[56].item() == float.fromhex("0x1.d495f5e40bb38p+5")


def test_range():
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert torch.range(0, 1, 0.25).tolist() == [0, 0.25, 0.5, 0.75, 1]


def test_linspace():
    assert torch.linspace(0, 1, 5).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert torch.linspace(-5, 5, 4, dtype=torch.int64).tolist() == [-5, -1, 1, 5]
    assert torch.linspace(0, 1j, 3).tolist() == [0, 0.5j, 1j]
    assert torch.linspace(3, 8, 1).tolist() == [3] and torch.linspace(0, 1, 0).shape == (0,)
    assert torch.linspace(torch.tensor(0.0), torch.tensor(1.0), 3).tolist() == [0, 0.5, 1]
    # from both ends, so that the last element is exact
    t = torch.linspace(0.1, 0.7, 10)
    assert t[-1].item() == np.float32(0.7) and t[0].item() == np.float32(0.1)
    raises(RuntimeError, "number of steps must be non-negative", torch.linspace, 0, 1, -1)
    raises(
        RuntimeError,
        "torch.linspace(): inferred dtype c10::complex<float> can't be safely cast to passed dtype Float",
        torch.linspace,
        0,
        1j,
        3,
        dtype=torch.float32,
    )
    raises(
        RuntimeError,
        "linspace only supports 0-dimensional start and end tensors, but got end with 1 dimension(s).",
        torch.linspace,
        0,
        torch.ones(1),
        3,
    )


def test_logspace():
    assert torch.logspace(0, 2, 3).tolist() == [1, 10, 100]
    assert torch.logspace(0, 2, 3, base=2.0).tolist() == [1, 2, 4]
    assert torch.logspace(0, 5, 6, dtype=torch.int32).tolist() == [1, 10, 100, 1000, 10000, 100000]
    assert torch.logspace(0.9, 2.9, 4, dtype=torch.int64).tolist() == [1, 4, 21, 100]
    assert torch.logspace(0, 400, 3).tolist() == [1, math.inf, math.inf]


def test_triangle_indices():
    assert torch.tril_indices(3, 4, 1).tolist() == [[0, 0, 1, 1, 1, 2, 2, 2, 2], [0, 1, 0, 1, 2, 0, 1, 2, 3]]
    assert torch.triu_indices(2, 3).tolist() == [[0, 0, 0, 1, 1], [0, 1, 2, 1, 2]]
    assert torch.tril_indices(3, 3, -5).shape == (2, 0)
    assert torch.triu_indices(3, 3, dtype=torch.int32).dtype is torch.int32
    raises(NotImplementedError, "\"tril_indices\" not implemented for 'Float'", torch.tril_indices, 3, 3,
           dtype=torch.float32)  # fmt: skip
    raises(RuntimeError, "row must be non-negative, got-1", torch.tril_indices, -1, 3)


# --- the older constructors ---


def test_legacy_constructors():
    x = torch.arange(3.0)
    assert torch.Tensor().shape == (0,) and torch.Tensor(2, 3).shape == torch.Tensor(torch.Size([2, 3])).shape == (2, 3)
    assert torch.Tensor([1, 2]).tolist() == [1.0, 2.0] and torch.Tensor((2, 3)).tolist() == [2.0, 3.0]
    assert torch.Tensor(x).data_ptr() == x.data_ptr() and torch.Tensor(x)._base is x
    assert torch.LongTensor([1.5]).tolist() == [1] and torch.BoolTensor([1, 0]).tolist() == [True, False]
    assert repr(torch.FloatTensor) == "<class 'torch.FloatTensor'>"
    assert isinstance(x, torch.FloatTensor) and not isinstance(x, torch.LongTensor)
    assert not isinstance(3, torch.FloatTensor)
    assert x.new([1, 2]).dtype is torch.float32 and x.new(2, 3).shape == (2, 3)
    raises(TypeError, "new(): data must be a sequence (got float)", torch.Tensor, 3.0)
    raises(TypeError, "new(): invalid data type 'str'", torch.Tensor, "a")
    raises(RuntimeError, "value cannot be converted to type uint8 without overflow", torch.ByteTensor, [300])
    with pytest.raises(TypeError, match=r"expected TensorOptions\(dtype=long int, .*got TensorOptions\(dtype=float,"):
        torch.LongTensor(x)


def test_made_in_inference_mode():
    with torch.inference_mode():
        assert torch.zeros(1).is_inference() and torch.tensor([1.0]).is_inference() and torch.rand(1).is_inference()


def test_creation_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.tensor([1e300])
        torch.tensor(1e300, dtype=torch.complex64)
        torch.tensor(np.array([1e300, math.nan]), dtype=torch.int32)
        torch.logspace(0, 400, 3)
