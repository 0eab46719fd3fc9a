import copy
import pickle

import numpy as np
import pytest

from chainrule.core.device import check_cpu, device, get_default_device, set_default_device
from chainrule.core.size import Size

S = Size([2, 3])


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Size(), ()),
        (Size(range(3)), (0, 1, 2)),
        (Size([True, np.int64(2), np.array(3)]), (1, 2, 3)),
        (Size([-1]), (-1,)),
        (S[:1], (2,)),
        (S[::-1], (3, 2)),
        (S + (1,), (2, 3, 1)),
        (S + S, (2, 3, 2, 3)),
        ((1,) + S, (1, 2, 3)),
        (() + S, (2, 3)),
        (S * 2, (2, 3, 2, 3)),
        (2 * S, (2, 3, 2, 3)),
        (S * -1, ()),
        (S * np.int64(1), (2, 3)),
        (pickle.loads(pickle.dumps(S)), (2, 3)),
        (copy.copy(S), (2, 3)),
        (copy.deepcopy(S), (2, 3)),
    ],
)
def test_a_size_stays_a_size(found, expected):
    assert type(found) is Size
    assert found == expected
    assert all(type(n) is int for n in found)
    assert repr(found) == str(found) == f"torch.Size({list(expected)})"


def test_it_is_a_tuple_of_integers():
    assert S == (2, 3) and hash(S) == hash((2, 3)) and S != [2, 3]
    assert S[0] == 2 and S[-1] == 3 and type(S[1]) is int
    a, b = S
    assert (a, b) == (2, 3) and len(S) == 2 and S.index(3) == 1
    assert type(tuple(S)) is tuple
    assert np.zeros(S).shape == (2, 3)
    with pytest.raises(IndexError, match="tuple index out of range"):
        S[5]
    with pytest.raises(AttributeError):
        S.name = 1


def test_numel():
    assert [Size(s).numel() for s in ([], [2, 3], [2, 0], [-1, 2])] == [1, 6, 0, -2]


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        ([1.5], TypeError, "torch.Size() takes an iterable of 'int' (item 0 is 'float')"),
        ([1, "a"], TypeError, "torch.Size() takes an iterable of 'int' (item 1 is 'str')"),
        ([np.float32(2)], TypeError, "torch.Size() takes an iterable of 'int' (item 0 is 'numpy.float32')"),
        ([None], TypeError, "torch.Size() takes an iterable of 'int' (item 0 is 'NoneType')"),
        (3, TypeError, "'int' object is not iterable"),
        ([2**70], ValueError, "Overflow when unpacking long long"),
    ],
)
def test_what_is_no_size(items, error, message):
    with pytest.raises(error) as caught:
        Size(items)
    assert str(caught.value) == message


def test_adding_other_things():
    with pytest.raises(TypeError, match=r"can only concatenate tuple \(not list\) to torch.Size"):
        S + [1]
    with pytest.raises(TypeError, match=r"item 2 is 'float'"):
        S + (1.5,)
    with pytest.raises(TypeError):
        [1] + S
    with pytest.raises(TypeError):
        S * 1.5


# --- device --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "kind", "index", "text"),
    [
        (device("cpu"), "cpu", None, "device(type='cpu')"),
        (device("cpu:0"), "cpu", 0, "device(type='cpu', index=0)"),
        (device("cpu", 0), "cpu", 0, "device(type='cpu', index=0)"),
        (device("cuda"), "cuda", None, "device(type='cuda')"),
        (device("cuda:1"), "cuda", 1, "device(type='cuda', index=1)"),
        (device("cuda", index=2), "cuda", 2, "device(type='cuda', index=2)"),
        (device(type="cuda", index=2), "cuda", 2, "device(type='cuda', index=2)"),
        (device(type="mps"), "mps", None, "device(type='mps')"),
        (device(device="meta"), "meta", None, "device(type='meta')"),
        (device("cpu", None), "cpu", None, "device(type='cpu')"),
        (device(device("hpu:3")), "hpu", 3, "device(type='hpu', index=3)"),
    ],
)
def test_devices(made, kind, index, text):
    assert (made.type, made.index, repr(made)) == (kind, index, text)
    assert str(made) == (kind if index is None else f"{kind}:{index}")
    for twin in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), device(str(made))):
        assert twin == made and hash(twin) == hash(made)


def test_devices_compare_by_type_and_index():
    assert device("cpu") != device("cpu:0")
    assert device("cuda:0") != device("cuda:1")
    assert device("cpu") != "cpu"
    with pytest.raises(AttributeError, match="attribute 'type' of 'torch.device' objects is not writable"):
        device("cpu").type = "cuda"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("",), RuntimeError, "Device string must not be empty"),
        (("cpu:",), RuntimeError, "Invalid device string: 'cpu:'"),
        (("cpu:01",), RuntimeError, "Invalid device string: 'cpu:01'"),
        (("cuda:-1",), RuntimeError, "Invalid device string: 'cuda:-1'"),
        (("cuda:1a",), RuntimeError, "Invalid device string: 'cuda:1a'"),
        (("0",), RuntimeError, "Invalid device string: '0'"),
        (("cpu:99999999999",), RuntimeError,
         "Could not parse device index '99999999999' in device string 'cpu:99999999999'"),
        (("gpu:1",), RuntimeError,
         "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
         "mps, meta, hpu, mtia, privateuseone device type at start of device string: gpu"),
        (("cpu:0", 1), RuntimeError,
         "type (string) must not include an index because index was passed explicitly: cpu:0"),
        (("cuda", -1), RuntimeError, "Device index must not be negative"),
        ((-1,), RuntimeError, "Device index must not be negative"),
        ((0,), RuntimeError, "Cannot access accelerator device when none is available."),
        (("cpu", "0"), TypeError, "device(): argument 'index' (position 2) must be int, not str"),
        ((device("cpu"), 0), TypeError, "device(): argument 'type' (position 1) must be str, not torch.device"),
        ((1.5,), TypeError,
         "device() received an invalid combination of arguments - got (float), but expected one of:"),
        ((), TypeError, "device() received an invalid combination of arguments - got (), but expected one of:"),
    ],
)  # fmt: skip
def test_what_is_no_device(arguments, error, message):
    with pytest.raises(error) as caught:
        device(*arguments)
    assert str(caught.value).splitlines()[0] == message


def test_only_the_cpu_holds_tensors():
    for name in (None, "cpu", "cpu:0", device("cpu"), device("cpu:1")):
        assert check_cpu(name) == device("cpu")
    for name in ("cuda", "cuda:1", device("cuda")):
        with pytest.raises(AssertionError, match="^Torch not compiled with CUDA enabled$"):
            check_cpu(name)
    with pytest.raises(NotImplementedError, match="chainrule has no meta device"):
        check_cpu("meta")
    with pytest.raises(TypeError, match=r"^zeros\(\): argument 'device' must be torch.device, not float$"):
        check_cpu(1.5, "zeros")
    with pytest.raises(RuntimeError, match="Invalid device string: 'a b'"):
        check_cpu("a b")


def test_a_device_as_context_and_as_default():
    with device("cpu") as d:
        assert d == device("cpu")
    with pytest.raises(AssertionError), device("cuda"):
        pass
    for name in ("cpu", None):
        set_default_device(name)
        assert get_default_device() == device("cpu")
    with pytest.raises(AssertionError):
        set_default_device("cuda")
