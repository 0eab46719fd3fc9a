"""The dtypes of tensors, their aliases, and PyTorch's rules of type promotion.

There is one `dtype` object per type, so dtypes are compared with `is`. The lattice of promotion and the three
priorities (tensors with dimensions, 0-dim tensors, Python numbers) are described on
https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc.
"""

import math

import numpy as np

BOOL, INTEGER, FLOATING, COMPLEX = range(4)


class dtype:
    """The type of a tensor's elements; `torch.float32` and the others are its only instances.

    `numpy` is the NumPy dtype that holds the elements. `category` is 0 for bool, 1 for integers, 2 for floating point
    and 3 for complex. `type_name`, `scalar_name` and `cpp_name` are the names that PyTorch's messages use
    ("torch.FloatTensor", "Float", "float").
    """

    __slots__ = tuple(
        "name numpy itemsize category is_floating_point is_complex is_signed abbr "
        "type_name scalar_name cpp_name _real _complex".split()
    )
    __module__ = "torch"

    def __new__(cls, *args, **kwargs):
        raise TypeError("cannot create 'torch.dtype' instances")

    def __init_subclass__(cls):
        raise TypeError("type 'torch.dtype' is not an acceptable base type")

    def __setattr__(self, name, value):
        if name in dtype.__slots__:
            raise AttributeError(f"attribute '{name}' of 'torch.dtype' objects is not writable")
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")

    def __delattr__(self, name):
        self.__setattr__(name, None)

    def __getattr__(self, name):
        # Reached only for what a slot does not hold: array types that NumPy lacks are looked for on first use.
        if name == "numpy":
            return _find_numpy(self)
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")

    def to_real(self) -> "dtype":
        """The dtype of the real part: float32 for complex64, otherwise the dtype itself."""
        return self._real

    def to_complex(self) -> "dtype":
        """The complex dtype whose real part has this dtype; RuntimeError for integers and bool."""
        if self._complex is None:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.scalar_name}")
        return self._complex

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return _by_name, (self.name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _by_name(name: str) -> dtype:
    return DTYPES[name]


def _find_numpy(d: dtype) -> np.dtype:
    if d is complex32:
        raise NotImplementedError("chainrule has no complex32 tensors: NumPy has no complex type of half precision")
    try:
        import ml_dtypes
    except ImportError:
        raise NotImplementedError(
            "chainrule has no bfloat16 tensors without the package ml_dtypes: pip install ml_dtypes"
        ) from None
    found = np.dtype(ml_dtypes.bfloat16)
    object.__setattr__(d, "numpy", found)
    from_numpy[found] = d
    return found


# name, category, bytes, abbreviation, name in messages, C++ name
_TABLE = [
    ("uint8", INTEGER, 1, "u8", "Byte", "unsigned char"),
    ("int8", INTEGER, 1, "i8", "Char", "signed char"),
    ("int16", INTEGER, 2, "i16", "Short", "short int"),
    ("int32", INTEGER, 4, "i32", "Int", "int"),
    ("int64", INTEGER, 8, "i64", "Long", "long int"),
    ("float16", FLOATING, 2, "f16", "Half", "c10::Half"),
    ("float32", FLOATING, 4, "f32", "Float", "float"),
    ("float64", FLOATING, 8, "f64", "Double", "double"),
    ("complex32", COMPLEX, 4, "c32", "ComplexHalf", "c10::complex<c10::Half>"),
    ("complex64", COMPLEX, 8, "c64", "ComplexFloat", "c10::complex<float>"),
    ("complex128", COMPLEX, 16, "c128", "ComplexDouble", "c10::complex<double>"),
    ("bool", BOOL, 1, "b8", "Bool", "bool"),
    ("bfloat16", FLOATING, 2, "bf16", "BFloat16", "c10::BFloat16"),
    ("uint16", INTEGER, 2, "u16", "UInt16", "short unsigned int"),
    ("uint32", INTEGER, 4, "u32", "UInt32", "unsigned int"),
    ("uint64", INTEGER, 8, "u64", "UInt64", "long unsigned int"),
]
_WITHOUT_NUMPY = ("bfloat16", "complex32")


def _make(name, category, itemsize, abbr, scalar_name, cpp_name) -> dtype:
    made = object.__new__(dtype)
    values = {
        "name": name,
        "itemsize": itemsize,
        "category": category,
        "is_floating_point": category == FLOATING,
        "is_complex": category == COMPLEX,
        "is_signed": category != BOOL and not name.startswith("u"),
        "abbr": abbr,
        "type_name": f"torch.{scalar_name}Tensor",
        "scalar_name": scalar_name,
        "cpp_name": cpp_name,
        "_real": made,
        "_complex": made if category == COMPLEX else None,
    }
    if name not in _WITHOUT_NUMPY:
        values["numpy"] = np.dtype(name)
    for key, value in values.items():
        object.__setattr__(made, key, value)
    return made


DTYPES: dict[str, dtype] = {row[0]: _make(*row) for row in _TABLE}

uint8, int8, int16, int32, int64 = (DTYPES[n] for n in ("uint8", "int8", "int16", "int32", "int64"))
uint16, uint32, uint64 = (DTYPES[n] for n in ("uint16", "uint32", "uint64"))
float16, float32, float64, bfloat16 = (DTYPES[n] for n in ("float16", "float32", "float64", "bfloat16"))
complex32, complex64, complex128 = (DTYPES[n] for n in ("complex32", "complex64", "complex128"))
bool_ = DTYPES["bool"]

for _real, _complex in ((float16, complex32), (float32, complex64), (float64, complex128)):
    object.__setattr__(_real, "_complex", _complex)
    object.__setattr__(_complex, "_real", _real)
object.__setattr__(bfloat16, "_complex", complex64)

ALIASES: dict[str, dtype] = {
    "half": float16,
    "float": float32,
    "double": float64,
    "chalf": complex32,
    "cfloat": complex64,
    "cdouble": complex128,
    "short": int16,
    "int": int32,
    "long": int64,
}


class _FromNumpy(dict):
    """NumPy dtype to dtype; a missing key raises what PyTorch raises for such an array."""

    def __missing__(self, key):
        key = np.dtype(key)
        if not key.isnative:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. "
                "Conversion between byte orders is currently not supported."
            )
        if key in self:
            return self[key]
        if key.type.__module__ == "ml_dtypes" and key.name == "bfloat16":
            _find_numpy(bfloat16)
            return bfloat16
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{key.type.__name__}. The only supported types are: float64, "
            "float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, "
            "uint32, uint16, uint8, and bool."
        )


from_numpy: dict[np.dtype, dtype] = _FromNumpy((d.numpy, d) for d in DTYPES.values() if d.name not in _WITHOUT_NUMPY)
of = from_numpy.__getitem__

_PYTHON_TYPES = {float: float64, int: int64, bool: bool_, complex: complex128}


def argument_type_name(value) -> str:
    """How PyTorch's argument errors name the type of a value ("str", "Tensor", "numpy.ndarray", "torch.dtype")."""
    cls = type(value)
    if cls.__module__ in ("numpy", "numpy.dtypes") or cls.__module__ == "torch" and cls.__name__ in _QUALIFIED:
        return f"{cls.__module__}.{cls.__name__}"
    return cls.__name__


_QUALIFIED = ("dtype", "device", "Size", "finfo", "iinfo", "layout", "memory_format")


def as_dtype(value, function: str = "tensor", argument: str = "argument 'dtype'") -> dtype:
    """The dtype that `value` names: a dtype itself, or Python's float, int, bool or complex; TypeError otherwise."""
    if type(value) is dtype:
        return value
    if isinstance(value, type) and value in _PYTHON_TYPES:
        return _PYTHON_TYPES[value]
    raise TypeError(f"{function}(): {argument} must be torch.dtype, not {argument_type_name(value)}")


# --- the default dtype ---------------------------------------------------------------------------------------------

_default = float32


def get_default_dtype() -> dtype:
    """The dtype of new floating-point tensors when none is asked for; float32 at first."""
    return _default


def set_default_dtype(d: dtype, /) -> None:
    """Set the dtype of new floating-point tensors, and with it that of complex ones; TypeError unless floating."""
    global _default
    if type(d) is not dtype:
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = d


def set_default_tensor_type(t, /) -> None:
    """The older spelling of `set_default_dtype`: takes `torch.DoubleTensor` or its name."""
    if isinstance(t, str) and t.startswith("torch.cuda."):
        raise TypeError(f"type {t} not available. Torch not compiled with CUDA enabled.")
    if isinstance(t, type):  # torch.DoubleTensor
        t = f"torch.{t.__name__}"
    named = [d for d in DTYPES.values() if d.type_name == t]
    if not named:
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    set_default_dtype(named[0])


def default_complex() -> dtype:
    """The dtype of new complex tensors when none is asked for: the complex twin of the default dtype."""
    if _default is bfloat16:
        raise RuntimeError("invalid default scalar type for complex")
    return _default._complex


def default_for(number_type: type) -> dtype:
    """The dtype that a Python number of this type becomes (`torch.tensor(1.0)`, `torch.tensor([1, 2])`)."""
    if number_type is float:
        return _default
    if number_type is complex:
        return default_complex()
    return bool_ if number_type is bool else int64


# --- promotion -----------------------------------------------------------------------------------------------------

_LIMITED = (uint16, uint32, uint64)


def _promoted(a: dtype, b: dtype) -> dtype | None:
    """The smallest dtype that both can be turned into; None for the pairs that PyTorch does not promote."""
    if a is b:
        return a
    if a.category < b.category:
        a, b = b, a
    if a.is_complex:
        if b.category < FLOATING:
            return None if b in _LIMITED else a
        return max(a, b.to_complex(), key=lambda d: d.itemsize)
    if a.is_floating_point:
        if not b.is_floating_point:
            return a
        return float32 if {a, b} == {float16, bfloat16} else max(a, b, key=lambda d: d.itemsize)
    if a in _LIMITED or b in _LIMITED:
        return None
    if b is bool_:
        return a
    if uint8 in (a, b) and int8 in (a, b):
        return int16
    return max(a, b, key=lambda d: (d.itemsize, d.is_signed))


_PROMOTED = {(a, b): _promoted(a, b) for a in DTYPES.values() for b in DTYPES.values()}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype of the highest category that holds both; RuntimeError where PyTorch has no such rule."""
    try:
        found = _PROMOTED[type1, type2]
    except (KeyError, TypeError):
        type1 = as_dtype(type1, "promote_types", "argument 'type1' (position 1)")
        type2 = as_dtype(type2, "promote_types", "argument 'type2' (position 2)")
        found = _PROMOTED[type1, type2]
    if found is None:
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, "
            f"attempted to promote {type1.scalar_name} and {type2.scalar_name}"
        )
    return found


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of dtype `from_` may be written into a tensor of dtype `to`."""
    from_ = as_dtype(from_, "can_cast", "argument 'from_' (position 1)")
    to = as_dtype(to, "can_cast", "argument 'to' (position 2)")
    return from_.category <= max(to.category, INTEGER) and (to is not bool_ or from_ is bool_)


def result_dtype(dims: list[dtype], zeros: list[dtype], numbers: list[type]) -> dtype:
    """The dtype of a result, given the dtypes of the operands with dimensions, of the 0-dim ones, and the types of the
    Python numbers (bool, int, float, complex) among them.

    A lower group only counts where its category is higher than that of the groups above it.
    """
    result = None
    for d in dims:
        result = d if result is None else promote_types(result, d)
    lower = None
    for d in zeros:
        lower = d if lower is None else promote_types(lower, d)
    number = None
    for t in numbers:
        d = _default._complex if t is complex else default_for(t)
        number = d if number is None else promote_types(number, d)
    return _combine(result, _combine(lower, number))


def _combine(higher, lower):
    """The dtype of two groups of operands, either of which may be None for none."""
    if higher is None or lower is None:
        return higher or lower
    if higher.category >= lower.category:
        return higher
    if higher.is_floating_point:
        return higher._complex
    return promote_types(higher, lower) if higher is bool_ else lower


# --- limits --------------------------------------------------------------------------------------------------------

# explicit bits of the significand, largest exponent
_FLOAT_BITS = {float16: (10, 15), bfloat16: (7, 127), float32: (23, 127), float64: (52, 1023)}


class _Info:
    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        if not args and not kwargs:
            args = cls._no_argument()
        if len(args) > 1:
            raise TypeError(f"{cls.__name__}() takes 1 positional argument but {len(args)} were given")
        if not args and "type" not in kwargs:
            raise TypeError(f'{cls.__name__}() missing 1 required positional arguments: "type"')
        d = args[0] if args else kwargs["type"]
        position = "argument 'type' (position 1)"
        made = object.__new__(cls)
        for name, value in cls._limits(as_dtype(d, cls.__name__, position)).items():
            object.__setattr__(made, name, value)
        return made

    def __setattr__(self, name, value):
        if name in self.__slots__:
            raise AttributeError(f"attribute '{name}' of 'torch.{type(self).__name__}' objects is not writable")
        raise AttributeError(f"'torch.{type(self).__name__}' object has no attribute '{name}'")

    def __eq__(self, other):
        return self.dtype == other.dtype if type(other) is type(self) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self):
        raise TypeError(f"cannot pickle 'torch.{type(self).__name__}' object")


class finfo(_Info):
    """The limits of a floating-point dtype: bits, eps, min, max, tiny, smallest_normal, resolution.

    Without an argument those of the default dtype; for a complex dtype those of its real part. TypeError for integers.
    """

    __slots__ = ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")
    max: float
    min: float
    __module__ = "torch"

    @staticmethod
    def _no_argument():
        return (_default,)

    @staticmethod
    def _limits(d):
        d = d.to_real()
        if d not in _FLOAT_BITS:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        bits, exponent = _FLOAT_BITS[d]
        eps = 2.0**-bits
        largest = (2 - eps) * 2.0**exponent
        tiny = 2.0 ** (1 - exponent)
        return {
            "bits": 8 * d.itemsize,
            "eps": eps,
            "max": largest,
            "min": -largest,
            "tiny": tiny,
            "smallest_normal": tiny,
            "resolution": float(f"1e-{math.floor(bits * math.log10(2))}"),
            "dtype": d.name,
        }

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(_Info):
    """The limits of an integer dtype: bits, min, max. TypeError for other dtypes."""

    __slots__ = ("bits", "max", "min", "dtype")
    max: int
    min: int
    __module__ = "torch"

    @staticmethod
    def _no_argument():
        return ()

    @staticmethod
    def _limits(d):
        if d is bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if d.category != INTEGER:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        bits = 8 * d.itemsize
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if d.is_signed else (0, 2**bits - 1)
        return {"bits": bits, "max": high, "min": low, "dtype": d.name}

    def __repr__(self):
        return f"iinfo(min={float(self.min):g}, max={float(self.max):g}, dtype={self.dtype})"
