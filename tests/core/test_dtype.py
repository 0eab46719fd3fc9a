"""The tables and messages below are those of PyTorch 2.13."""

import copy
import importlib.util
import pickle

import numpy as np
import pytest

from chainrule.core import dtype as D
from chainrule.core.dtype import DTYPES, can_cast, finfo, iinfo, promote_types, result_dtype

ABBR = {d.abbr: d for d in DTYPES.values()}
LIMITED = [D.uint16, D.uint32, D.uint64]

PROMOTED = """
             b8   u8   i8  i16  i32  i64  f16 bf16  f32  f64  c32  c64 c128
    b8       b8   u8   i8  i16  i32  i64  f16 bf16  f32  f64  c32  c64 c128
    u8       u8   u8  i16  i16  i32  i64  f16 bf16  f32  f64  c32  c64 c128
    i8       i8  i16   i8  i16  i32  i64  f16 bf16  f32  f64  c32  c64 c128
    i16     i16  i16  i16  i16  i32  i64  f16 bf16  f32  f64  c32  c64 c128
    i32     i32  i32  i32  i32  i32  i64  f16 bf16  f32  f64  c32  c64 c128
    i64     i64  i64  i64  i64  i64  i64  f16 bf16  f32  f64  c32  c64 c128
    f16     f16  f16  f16  f16  f16  f16  f16  f32  f32  f64  c32  c64 c128
    bf16   bf16 bf16 bf16 bf16 bf16 bf16  f32 bf16  f32  f64  c64  c64 c128
    f32     f32  f32  f32  f32  f32  f32  f32  f32  f32  f64  c64  c64 c128
    f64     f64  f64  f64  f64  f64  f64  f64  f64  f64  f64 c128 c128 c128
    c32     c32  c32  c32  c32  c32  c32  c32  c64  c64 c128  c32  c64 c128
    c64     c64  c64  c64  c64  c64  c64  c64  c64  c64 c128  c64  c64 c128
    c128   c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
"""


@pytest.fixture(autouse=True)
def keep_default():
    default = D.get_default_dtype()
    yield
    D.set_default_dtype(default)


def test_what_a_dtype_tells():
    d = D.float32
    assert repr(d) == str(d) == "torch.float32"
    assert (d.name, d.itemsize, d.category, d.type_name) == ("float32", 4, 2, "torch.FloatTensor")
    assert d.numpy is np.zeros(1, np.float32).dtype
    assert [x.name for x in DTYPES.values() if x.is_floating_point] == ["float16", "float32", "float64", "bfloat16"]
    assert [x.name for x in DTYPES.values() if x.is_complex] == ["complex32", "complex64", "complex128"]
    assert [x.name for x in DTYPES.values() if not x.is_signed] == ["uint8", "bool", "uint16", "uint32", "uint64"]
    assert {x.category for x in LIMITED} == {1} and D.bool_.category == 0
    for x in DTYPES.values():
        if x not in (D.bfloat16, D.complex32):
            assert x.numpy == np.dtype(x.name) and x.itemsize == x.numpy.itemsize


def test_a_dtype_is_one_object():
    for d in DTYPES.values():
        assert pickle.loads(pickle.dumps(d)) is d
        assert copy.copy(d) is d and copy.deepcopy([d])[0] is d
    assert {D.float32: 1}[D.ALIASES["float"]] == 1
    named = " ".join(f"{alias}={d.name}" for alias, d in D.ALIASES.items())
    assert named == (
        "half=float16 float=float32 double=float64 chalf=complex32 cfloat=complex64 cdouble=complex128 "
        "short=int16 int=int32 long=int64"
    )


def test_a_dtype_cannot_be_made_or_changed():
    with pytest.raises(TypeError, match="cannot create 'torch.dtype' instances"):
        D.dtype()
    with pytest.raises(AttributeError, match="attribute 'itemsize' of 'torch.dtype' objects is not writable"):
        D.float32.itemsize = 2
    with pytest.raises(AttributeError, match="'torch.dtype' object has no attribute 'color'"):
        D.float32.color = 2
    with pytest.raises(AttributeError, match="'torch.dtype' object has no attribute 'color'"):
        D.float32.color
    with pytest.raises(TypeError):
        sorted([D.float32, D.float64])


def test_real_and_complex_twins():
    twins = {D.float16: D.complex32, D.float32: D.complex64, D.float64: D.complex128}
    for real, twin in twins.items():
        assert real.to_complex() is twin and twin.to_real() is real
        assert real.to_real() is real and twin.to_complex() is twin
    assert D.bfloat16.to_complex() is D.complex64
    assert D.int32.to_real() is D.int32
    with pytest.raises(RuntimeError, match="^Unknown Complex ScalarType for Int$"):
        D.int32.to_complex()


def test_dtypes_without_an_array_type_say_so():
    with pytest.raises(NotImplementedError, match="chainrule has no complex32 tensors"):
        D.complex32.numpy
    if importlib.util.find_spec("ml_dtypes") is None:
        with pytest.raises(NotImplementedError, match="without the package ml_dtypes"):
            D.bfloat16.numpy
    else:
        assert D.of(D.bfloat16.numpy) is D.bfloat16


def test_from_numpy():
    for code in "?bBhHiIlLqQefdFD":
        assert np.dtype(code) == D.of(np.dtype(code)).numpy
    supported = (
        "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, "
        "uint8, and bool."
    )
    for code, name in (("O", "object_"), ("U1", "str_"), ("g", "longdouble"), ("M8[s]", "datetime64")):
        with pytest.raises(TypeError) as caught:
            D.of(np.dtype(code))
        assert str(caught.value) == (
            f"can't convert np.ndarray of type numpy.{name}. The only supported types are: {supported}"
        )
    with pytest.raises(ValueError, match="^given numpy array has byte order different from the native byte order"):
        D.of(np.dtype("f4").newbyteorder())


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("float32", "str"),
        (np.float32, "type"),
        (np.dtype("f4"), "numpy.dtypes.Float32DType"),
        (np.zeros(1), "numpy.ndarray"),
        (3, "int"),
        (str, "type"),
        (None, "NoneType"),
    ],
)
def test_what_is_no_dtype(value, name):
    with pytest.raises(TypeError) as caught:
        D.as_dtype(value, "zeros")
    assert str(caught.value) == f"zeros(): argument 'dtype' must be torch.dtype, not {name}"
    with pytest.raises(TypeError) as caught:
        promote_types(D.int8, value)
    assert str(caught.value) == f"promote_types(): argument 'type2' (position 2) must be torch.dtype, not {name}"


def test_python_types_name_dtypes():
    assert [D.as_dtype(t) for t in (float, int, bool, complex)] == [D.float64, D.int64, D.bool_, D.complex128]
    assert D.as_dtype(D.int8) is D.int8
    assert promote_types(float, D.int8) is D.float64


def test_promote_types():
    header, *rows = [line.split() for line in PROMOTED.split("\n") if line]
    assert len(rows) == len(header) == len(DTYPES) - len(LIMITED)
    for a, *row in rows:
        for b, expected in zip(header, row, strict=True):
            assert promote_types(ABBR[a], ABBR[b]) is ABBR[expected], (a, b)


def test_limited_unsigned_types_promote_only_with_floats():
    for a in LIMITED:
        for b in DTYPES.values():
            if a is b or b.is_floating_point:
                assert promote_types(a, b) is promote_types(b, a) is b
            else:
                with pytest.raises(RuntimeError) as caught:
                    promote_types(a, b)
                assert str(caught.value) == (
                    "Promotion for uint16, uint32, uint64 types is not supported, "
                    f"attempted to promote {a.scalar_name} and {b.scalar_name}"
                )


def test_can_cast():
    kinds = [D.bool_, D.uint8, D.float16, D.complex64]
    table = [[can_cast(a, b) for b in kinds] for a in kinds]
    assert table == [[True] * 4, [False, True, True, True], [False, False, True, True], [False, False, False, True]]
    assert can_cast(D.int64, D.int8) and can_cast(D.float64, D.float16) and can_cast(D.complex128, D.complex64)


@pytest.mark.parametrize(
    ("dims", "zeros", "numbers", "expected"),
    [
        ("f32", "f64", "", "f32"),
        ("i8", "i64", "", "i8"),
        ("b8", "i16", "", "i16"),
        ("i32", "f16", "", "f16"),
        ("f16", "c128", "", "c32"),
        ("f32", "c128", "", "c64"),
        ("f64", "c64", "", "c128"),
        ("bf16", "c64", "", "c64"),
        ("i32", "c64", "", "c64"),
        ("u8 i8", "", "", "i16"),
        ("u8 i8", "i64", "", "i16"),
        ("", "u8 i8", "", "i16"),
        ("", "i8", "int", "i8"),
        ("", "b8", "int", "i64"),
        ("", "b8", "bool", "b8"),
        ("", "i8", "float", "f32"),
        ("", "f64", "float", "f64"),
        ("", "f16", "complex", "c32"),
        ("i8", "", "int", "i8"),
        ("i8", "", "float", "f32"),
        ("i8", "", "complex", "c64"),
        ("f16", "", "float", "f16"),
        ("f64", "", "complex", "c128"),
        ("i8", "f64", "float", "f64"),
        ("i8", "f64", "complex", "c128"),
        ("u16", "", "int", "u16"),
        ("u16", "i64", "", "u16"),
        ("", "", "bool int", "i64"),
        ("", "", "int float", "f32"),
        ("", "", "float complex", "c64"),
    ],
)
def test_result_dtype(dims, zeros, numbers, expected):
    types = {"bool": bool, "int": int, "float": float, "complex": complex}
    found = result_dtype(
        [ABBR[n] for n in dims.split()], [ABBR[n] for n in zeros.split()], [types[n] for n in numbers.split()]
    )
    assert found is ABBR[expected]


def test_python_numbers_take_the_default_dtype():
    for default, twin in ((D.float16, D.complex32), (D.float64, D.complex128), (D.bfloat16, D.complex64)):
        D.set_default_dtype(default)
        assert result_dtype([D.int64], [], [float]) is default
        assert result_dtype([D.int64], [], [complex]) is twin
        assert result_dtype([], [D.float32], [float]) is D.float32


def test_default_dtype():
    assert D.get_default_dtype() is D.float32 and D.default_complex() is D.complex64
    D.set_default_dtype(D.float64)
    assert D.get_default_dtype() is D.float64 and D.default_complex() is D.complex128
    assert [D.default_for(t) for t in (bool, int, float, complex)] == [D.bool_, D.int64, D.float64, D.complex128]
    D.set_default_tensor_type("torch.FloatTensor")
    assert D.get_default_dtype() is D.float32
    for wrong in (D.int32, D.complex64, D.bool_):
        with pytest.raises(TypeError, match="^only floating-point types are supported as the default type$"):
            D.set_default_dtype(wrong)
    for wrong in ("float32", None, float):
        with pytest.raises(TypeError, match="^invalid dtype object: only floating-point types are supported"):
            D.set_default_dtype(wrong)
    with pytest.raises(TypeError, match="^only floating-point types"):
        D.set_default_tensor_type("torch.LongTensor")
    with pytest.raises(TypeError, match="^invalid type object: only floating-point types"):
        D.set_default_tensor_type(3)
    assert D.get_default_dtype() is D.float32
    D.set_default_dtype(D.bfloat16)
    with pytest.raises(RuntimeError, match="^invalid default scalar type for complex$"):
        D.default_complex()


@pytest.mark.parametrize(
    ("d", "expected"),
    [
        (
            D.float16,
            "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05, "
            "tiny=6.10352e-05, dtype=float16)",
        ),
        (
            D.bfloat16,
            "finfo(resolution=0.01, min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, smallest_normal=1.17549e-38, "
            "tiny=1.17549e-38, dtype=bfloat16)",
        ),
        (
            D.complex64,
            "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
            "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)",
        ),
        (
            D.float64,
            "finfo(resolution=1e-15, min=-1.79769e+308, max=1.79769e+308, eps=2.22045e-16, "
            "smallest_normal=2.22507e-308, tiny=2.22507e-308, dtype=float64)",
        ),
    ],
)
def test_finfo_text(d, expected):
    assert repr(finfo(d)) == str(finfo(type=d)) == expected


def test_finfo():
    for d in (D.float16, D.float32, D.float64):
        ours, theirs = finfo(d), np.finfo(d.numpy)
        for name in ("eps", "max", "min", "tiny", "smallest_normal"):
            assert getattr(ours, name) == getattr(theirs, name)
            assert type(getattr(ours, name)) is float
        assert ours.bits == theirs.bits and ours.dtype == d.name
        assert ours.resolution == 10.0**-theirs.precision
    assert finfo() == finfo(D.float32) == finfo(D.complex64) != finfo(D.float64)
    D.set_default_dtype(D.float64)
    assert finfo() == finfo(D.float64)
    for wrong in (D.int32, D.bool_):
        with pytest.raises(TypeError) as caught:
            finfo(wrong)
        assert str(caught.value) == (
            "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
        )
    with pytest.raises(TypeError, match=r"^finfo\(\): argument 'type' \(position 1\) must be torch.dtype, not str$"):
        finfo("float32")
    with pytest.raises(AttributeError, match="attribute 'eps' of 'torch.finfo' objects is not writable"):
        finfo().eps = 1.0
    with pytest.raises(TypeError):
        hash(finfo())


def test_iinfo():
    for d in DTYPES.values():
        if d.category == 1:
            ours, theirs = iinfo(d), np.iinfo(d.numpy)
            assert (ours.bits, ours.min, ours.max, ours.dtype) == (theirs.bits, theirs.min, theirs.max, d.name)
    assert repr(iinfo(D.int64)) == "iinfo(min=-9.22337e+18, max=9.22337e+18, dtype=int64)"
    assert repr(iinfo(D.uint16)) == "iinfo(min=0, max=65535, dtype=uint16)"
    assert iinfo(D.int8) == iinfo(D.int8) != iinfo(D.uint8)
    for arguments, message in (
        ((D.bool_,), "torch.bool is not supported by torch.iinfo"),
        ((D.float32,), "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"),
        ((), 'iinfo() missing 1 required positional arguments: "type"'),
        ((D.int8, 1), "iinfo() takes 1 positional argument but 2 were given"),
    ):
        with pytest.raises(TypeError) as caught:
            iinfo(*arguments)
        assert str(caught.value) == message
