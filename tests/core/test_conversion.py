"""Numbers, lists, text, NumPy, copies and pickles of tensors; texts and values are PyTorch 2.13's."""

import copy
import math
import operator
import pickle
import warnings

import numpy as np
import pytest

import chainrule as torch
from chainrule.nn import Parameter


class MyTensor(torch.Tensor):
    pass


class MyParameter(Parameter):
    pass


@pytest.fixture
def x():
    return torch.arange(3.0)


@pytest.fixture
def leaf():
    return torch.tensor([0.0, 1.0, 2.0], requires_grad=True)


def raises(kind, text, function, *args, **kwargs):
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    assert str(caught.value).split("\n")[0] == text


# --- numbers ---


@pytest.mark.parametrize(
    "value", [2.5, 7, True, 1 + 2j, -1.0, math.inf], ids=["float", "int", "bool", "complex", "negative", "inf"]
)
def test_item_and_tolist_give_python_numbers(value):
    t = torch.tensor(value)
    assert t.item() == value and type(t.item()) is type(value)
    assert t.tolist() == value
    assert torch.tensor([[value]]).item() == value
    assert torch.tensor([[value, value]]).tolist() == [[value, value]]


def test_item_of_several_elements(x):
    raises(RuntimeError, "a Tensor with 3 elements cannot be converted to Scalar", x.item)
    raises(RuntimeError, "a Tensor with 0 elements cannot be converted to Scalar", torch.empty(0).item)


def test_truth(x):
    assert bool(torch.tensor([[1.0]])) and not torch.tensor(0) and torch.tensor(math.nan) and torch.tensor(1j)
    raises(RuntimeError, "Boolean value of Tensor with more than one value is ambiguous", bool, x)
    raises(RuntimeError, "Boolean value of Tensor with no values is ambiguous", bool, torch.empty(0))
    raises(RuntimeError, "Boolean value of Tensor with more than one value is ambiguous", torch.is_nonzero, x)
    assert torch.is_nonzero(torch.tensor(2))


@pytest.mark.parametrize("kind", [int, float, complex])
def test_conversion_to_a_number(kind, x):
    assert kind(torch.tensor([3])) == 3
    assert type(kind(torch.tensor(True))) is kind
    raises(ValueError, "only one element tensors can be converted to Python scalars", kind, x)
    raises(ValueError, "only one element tensors can be converted to Python scalars", kind, torch.empty(0))


def test_conversion_of_complex_and_of_nan():
    assert complex(torch.tensor(1 + 2j)) == 1 + 2j
    assert int(torch.tensor(2 + 0j)) == 2 and float(torch.tensor(2 + 0j)) == 2
    raises(RuntimeError, "value cannot be converted to type int64_t without overflow", int, torch.tensor(1j))
    raises(RuntimeError, "value cannot be converted to type double without overflow", float, torch.tensor(1j))
    raises(ValueError, "cannot convert float NaN to integer", int, torch.tensor(math.nan))
    raises(OverflowError, "cannot convert float infinity to integer", int, torch.tensor(math.inf))


def test_a_tensor_that_requires_grad_warns_once(monkeypatch):
    monkeypatch.setattr("chainrule.core.conversion._warned", set())
    t = torch.tensor(2.5, requires_grad=True)
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar may lead"):
        assert float(t) == 2.5
    assert float(t) == 2.5 and int(t) == 2


def test_index(x):
    assert operator.index(torch.tensor([[4]])) == 4 and operator.index(torch.tensor(True)) == 1
    assert (
        "abcd"[torch.tensor(2)] == "c" and list(range(torch.tensor(2))) == [0, 1] and "ab" * torch.tensor(2) == "abab"
    )
    for bad in (x, torch.tensor(2.5), torch.tensor(1j), torch.empty(0), torch.tensor([1, 2])):
        raises(TypeError, "only integer tensors of a single element can be converted to an index", operator.index, bad)


# --- as a sequence ---


def test_len_and_iteration(x):
    assert len(x) == 3 and len(torch.empty(0)) == 0 and len(torch.zeros(2, 3)) == 2
    assert [v.item() for v in x] == [0, 1, 2]
    assert list(torch.empty(0)) == []
    raises(TypeError, "len() of a 0-d tensor", len, torch.tensor(1))
    raises(TypeError, "iteration over a 0-d tensor", iter, torch.tensor(1))


def test_iteration_is_recorded(leaf):
    first, *_ = leaf * 2
    assert first.grad_fn.name() == "UnbindBackward0"
    first.backward()
    assert leaf.grad.tolist() == [2, 0, 0]


def test_contains(x):
    assert 2 in x and 2.0 in x and np.float32(1) in x and torch.tensor(1.0) in x
    assert 5 not in x
    raises(
        RuntimeError,
        "Tensor.__contains__ only supports Tensor or scalar, but you passed in a <class 'str'>.",
        operator.contains,
        x,
        "a",
    )


def test_reversed(x):
    assert reversed(x).tolist() == [2, 1, 0]
    t = torch.tensor(1)
    assert reversed(t) is t


# --- text ---


def test_repr(x, leaf):
    assert repr(x) == str(x) == f"{x}" == "tensor([0., 1., 2.])"
    assert repr(leaf) == "tensor([0., 1., 2.], requires_grad=True)"
    assert repr(leaf * 2) == "tensor([0., 2., 4.], grad_fn=<MulBackward0>)"


def test_repr_of_subclasses(x):
    assert repr(x.as_subclass(MyTensor)) == "MyTensor([0., 1., 2.])"
    assert repr(Parameter(x)) == "Parameter containing:\ntensor([0., 1., 2.], requires_grad=True)"
    assert repr(MyParameter(x)) == "Parameter containing:\nParameter(MyParameter([0., 1., 2.], requires_grad=True))"
    assert repr(Parameter(x.as_subclass(MyTensor))) == "Parameter(MyTensor([0., 1., 2.], requires_grad=True))"


def test_format(x):
    t = torch.tensor(2.5, requires_grad=True)
    assert (
        f"{t:.3f}" == "2.500"
        and f"{t}" == "2.5"
        and f"{torch.tensor(7):5d}" == "    7"
        and f"{torch.tensor(True)}" == "True"
    )
    assert "%.2f" % t.detach() == "2.50" and "%d" % torch.tensor(7) == "7"  # noqa: UP031
    raises(TypeError, "unsupported format string passed to Tensor.__format__", format, x, ".2f")
    raises(TypeError, "unsupported format string passed to Parameter.__format__", format, Parameter(t.detach()), ".2f")


# --- NumPy ---


def test_numpy_shares_memory(x):
    a = x.numpy()
    a[0] = 5
    assert x.tolist() == [5, 1, 2]
    a.shape = (3, 1)
    assert x.shape == (3,)


@pytest.mark.parametrize("to_array", [torch.Tensor.numpy, np.asarray, np.sin], ids=["numpy", "asarray", "ufunc"])
def test_a_tensor_that_requires_grad_is_refused(to_array, leaf):
    text = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
    raises(RuntimeError, text, to_array, leaf)
    raises(RuntimeError, text, to_array, leaf * 2)
    assert (leaf * 2).numpy(force=True).tolist() == [0, 2, 4]


def test_force_must_be_bool(x):
    raises(TypeError, "numpy(): argument 'force' must be bool, not int", x.numpy, force=1)


def test_array_protocol(x):
    assert np.asarray(x).dtype == np.float32 and np.array(x, dtype=np.int64).dtype == np.int64
    assert np.shares_memory(np.array(x, copy=False), x.numpy())
    assert not np.shares_memory(np.array(x), x.numpy())
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.array(x, dtype=np.int64, copy=False)


def test_numpy_functions_of_tensors(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(np.add(x, 1)) == "tensor([1., 2., 3.])"
        assert repr(np.maximum(x, np.ones(3))) == "tensor([1., 1., 2.], dtype=torch.float64)"
        assert repr(np.greater(x, 1)) == "tensor([0, 0, 1], dtype=torch.uint8)"
        assert repr(np.cumsum(x)) == "tensor([0., 1., 3.])"
        assert [type(p) for p in np.modf(x)] == [torch.Tensor, torch.Tensor]
        assert repr(np.exp(torch.tensor(0))) == "tensor(1., dtype=torch.float64)"
        assert type(np.concatenate([x, x])) is np.ndarray


def test_dlpack(x, leaf):
    assert x.__dlpack_device__() == (1, 0)
    assert np.from_dlpack(x).tolist() == [0, 1, 2]
    a = np.arange(3.0)
    t = torch.from_dlpack(a)
    t[0] = 7
    assert a[0] == 7
    assert torch.from_dlpack(x.__dlpack__()).tolist() == [0, 1, 2]
    raises(BufferError, "Can't export tensors that require gradient, use tensor.detach()", leaf.__dlpack__)
    with pytest.raises(RuntimeError, match="from_dlpack received an invalid capsule"):
        torch.from_dlpack(3)


# --- copies, pickles, storages ---


def test_deepcopy_of_a_leaf(leaf):
    (leaf * leaf).backward(torch.ones(3))
    leaf.note = [1]
    t = copy.deepcopy(leaf)
    assert t.requires_grad and t.is_leaf and t.data_ptr() != leaf.data_ptr()
    assert t.grad.tolist() == [0, 2, 4] and t.grad is not leaf.grad
    assert t.note == [1] and t.note is not leaf.note


def test_deepcopy_of_a_result(leaf):
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(leaf * 2)


def test_deepcopy_keeps_views_of_one_storage_together():
    m = torch.arange(6.0).reshape(2, 3)
    v = m[:, 1]
    m2, v2, same = copy.deepcopy((m, v, m))
    m2[0, 1] = 50
    assert v2.tolist() == [50, 4] and same is m2 and v.tolist() == [1, 4]
    assert v2.stride() == (3,) and v2.storage_offset() == 1 and not v2._is_view()
    assert copy.deepcopy(m.t()).stride() == (1, 3)
    assert copy.deepcopy(torch.ones(1).expand(3)).stride() == (0,)


def test_copy_shares_memory(leaf):
    t = copy.copy(leaf)
    assert t is not leaf and t.data_ptr() == leaf.data_ptr() and t.requires_grad and t.grad is None
    assert copy.copy(leaf * 2).is_leaf


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool", "complex64", "uint8"])
def test_pickle(dtype):
    t = torch.tensor([[1, 0], [1, 1]], dtype=getattr(torch, dtype))
    back = pickle.loads(pickle.dumps(t))
    assert back.dtype is t.dtype and back.tolist() == t.tolist() and not back.requires_grad


def test_pickle_of_views_requires_grad_and_attributes(leaf):
    v = torch.arange(6.0).reshape(2, 3)[:, 1]
    back = pickle.loads(pickle.dumps(v))
    assert back.tolist() == [1, 4] and back.stride() == (3,) and back.storage_offset() == 1
    assert back.untyped_storage().nbytes() == 24
    assert pickle.loads(pickle.dumps(torch.ones(1).expand(3))).stride() == (0,)
    leaf.note = "here"
    back = pickle.loads(pickle.dumps(leaf))
    assert back.requires_grad and back.note == "here" and type(back) is torch.Tensor
    assert pickle.loads(pickle.dumps(leaf * 2)).is_leaf
    assert pickle.loads(pickle.dumps(torch.zeros(0, 3))).shape == (0, 3)


def test_pickle_and_deepcopy_of_parameters(x):
    p = Parameter(x, requires_grad=False)
    p.note = 3
    for back in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p)):
        assert type(back) is Parameter and not back.requires_grad and back.tolist() == [0, 1, 2]
    assert pickle.loads(pickle.dumps(p)).note == 3
    assert copy.deepcopy(p).__dict__ == {}
    assert type(pickle.loads(pickle.dumps(x.as_subclass(MyTensor)))) is MyTensor


def test_storage():
    m = torch.arange(6.0).reshape(2, 3)
    row = m[1]
    assert m.untyped_storage() == row.untyped_storage()
    assert (
        row.untyped_storage().nbytes() == 24
        and len(row.storage()) == 6
        and row.storage().tolist() == [0, 1, 2, 3, 4, 5]
    )
    assert m.untyped_storage().data_ptr() == m.data_ptr()
    assert m.storage()[4] == 4 and m.storage().dtype is torch.float32
    m.untyped_storage()[3] = 191
    assert m[0, 0].item() == -0.5
    assert repr(torch.tensor([1.0]).storage()) == (
        " 1.0\n[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 1]"
    )
    assert row.is_set_to(m[1]) and not row.is_set_to(m[0]) and not m.is_set_to(m.clone())


# --- subclasses ---


def test_subclasses(x, leaf):
    assert type(MyTensor([1, 2])) is MyTensor and MyTensor(2, 3).shape == (2, 3)
    t = leaf.as_subclass(MyTensor)
    assert type(t) is MyTensor and t.grad_fn.name() == "AliasBackward0" and t._base is leaf
    made = torch.Tensor._make_subclass(MyTensor, x, True)
    assert type(made) is MyTensor and made.requires_grad and made.data_ptr() == x.data_ptr()
    x.add_(1)
    assert made._version == 1
    with pytest.raises(TypeError, match="Creating a Tensor subclass from a class that does not inherit from Tensor"):
        x.as_subclass(int)


def test_parameter(x):
    p = Parameter(x)
    assert p.requires_grad and p.is_leaf and p.data_ptr() == x.data_ptr() and not p._is_view()
    assert type(p * 2) is torch.Tensor and (p * 2).grad_fn.name() == "MulBackward0"
    assert not Parameter(x, requires_grad=False).requires_grad
    assert Parameter().shape == (0,)
    assert isinstance(p, torch.Tensor) and isinstance(p, torch.FloatTensor) and not isinstance(x, Parameter)
    assert isinstance(Parameter(x.as_subclass(MyTensor)), Parameter)
    raises(
        RuntimeError,
        "Only Tensors of floating point and complex dtype can require gradients",
        Parameter,
        torch.arange(3),
    )
    raises(AttributeError, "'list' object has no attribute 'detach'", Parameter, [1.0])
    assert Parameter(p * 2).is_leaf


# --- what a tensor says about itself ---


def test_attributes(x):
    assert x.layout is torch.strided and x.is_cpu and x.device == torch.device("cpu") and x.get_device() == -1
    for name in "is_cuda is_sparse is_quantized is_mps is_meta is_nested".split():
        assert getattr(x, name) is False
        with pytest.raises(AttributeError):
            setattr(x, name, True)
    for name in "is_conj is_neg is_pinned is_shared is_inference".split():
        assert getattr(x, name)() is False
    assert x.name is None and x._backward_hooks is None
    with pytest.raises(NotImplementedError, match="chainrule has no share_memory_"):
        x.share_memory_()


def test_is_contiguous():
    images = torch.empty(2, 3, 4, 5, memory_format=torch.channels_last)
    assert images.is_contiguous(memory_format=torch.channels_last) and not images.is_contiguous()
    assert images.dim_order() == (0, 2, 3, 1)
    assert torch.zeros(2, 3, 1, 1).is_contiguous(memory_format=torch.channels_last)
    assert not torch.zeros(2, 3, 0, 1).is_contiguous(memory_format=torch.channels_last)
    assert not torch.zeros(2, 3).is_contiguous(memory_format=torch.channels_last)
    assert torch.zeros(0, 3).is_contiguous()
    raises(
        TypeError,
        "is_contiguous(): argument 'memory_format' must be torch.memory_format, not int",
        images.is_contiguous,
        memory_format=1,
    )
