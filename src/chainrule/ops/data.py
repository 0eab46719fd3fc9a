"""Tensors from data: nested lists, NumPy arrays, buffers, other tensors; and the older constructors.

https://docs.pytorch.org/docs/stable/generated/torch.tensor.html
"""

import array as arrays
import itertools
import operator
import warnings

import numpy as np

from ..core import conversion
from ..core import dtype as dtypes
from ..core.conversion import from_array, warn_once
from ..core.declare import method
from ..core.device import check_cpu
from ..core.dtype import COMPLEX, FLOATING, argument_type_name, as_dtype, bool_, promote_types
from ..core.general import new_result
from ..core.scalars import within
from ..core.spec import spec_of
from ..core.tensor import Tensor
from .creation import _MISSING, check_options, factory, finish, like_layout, missing

__all__ = ["array_of"]

_PLAIN = frozenset((int, float, bool, complex))
_DIRECT = frozenset((dtypes.float32, dtypes.float64))  # NumPy turns Python numbers into these as PyTorch does


# --- nested sequences ------------------------------------------------------------------------------------------------


def array_of(data, dtype=None) -> np.ndarray:
    """A new array with the elements of a number or of nested sequences, of the dtype or of the one they imply."""
    kind = type(data)
    if kind in _PLAIN:
        return _plain_array([data], {kind}, (), dtype)
    if kind is list or kind is tuple:
        found = _flatten(data)
        if found is not None:
            flat, shape = found
            kinds = set(map(type, flat))
            if kinds <= _PLAIN:
                return _plain_array(flat, kinds, shape, dtype)
    return _general_array(data, dtype)


def _flatten(data):
    """The elements of nested lists and tuples of equal lengths, and the shape; None where they are anything else."""
    shape = []
    flat = data
    inner = data
    while True:
        kind = type(inner)
        if kind is not list and kind is not tuple:
            break
        if len(shape):
            if not set(map(type, flat)) <= {list, tuple} or set(map(len, flat)) != {len(inner)}:
                return None
            flat = list(itertools.chain.from_iterable(flat))
        shape.append(len(inner))
        if not inner:
            break
        inner = inner[0]
    return flat, tuple(shape)


def _plain_array(flat: list, kinds: set, shape: tuple, dtype) -> np.ndarray:
    """An array of Python numbers of the given types."""
    if dtype is None:
        for kind in (complex, float, int, bool):
            if kind in kinds:
                dtype = dtypes.default_for(kind)
                break
        else:
            dtype = dtypes.get_default_dtype()
    if (
        dtype in _DIRECT
        and complex not in kinds
        or dtype is dtypes.int64
        and float not in kinds
        and complex not in kinds
    ):
        try:
            array = np.array(flat, dtype.numpy)
            return array if len(shape) == 1 else array.reshape(shape)
        except (OverflowError, RuntimeWarning):
            pass
    return _stored(flat, dtype).reshape(shape)


def _stored(flat: list, d) -> np.ndarray:
    """A flat array of the dtype; the errors of PyTorch for elements that it cannot hold."""
    if d.category == FLOATING:
        wide = np.array(arrays.array("d", flat))
        return wide if d is dtypes.float64 else _narrowed(wide, d)
    if d is dtypes.int64:
        try:
            return np.array(arrays.array("q", flat))
        except (TypeError, OverflowError):
            pass
    elif d is bool_:
        return np.array([bool(v) for v in flat], bool)
    elif d.category == COMPLEX:
        with np.errstate(over="ignore"):
            return np.array([_complex_number(v) for v in flat], np.complex128).astype(d.numpy)
    return np.array([_whole(v, d) for v in flat], d.numpy)


def _complex_number(value) -> complex:
    try:
        return complex(value)
    except TypeError:
        raise TypeError(f"must be real number, not {type(value).__name__}") from None


def _narrowed(wide: np.ndarray, d) -> np.ndarray:
    with np.errstate(over="ignore"):
        if d.itemsize == 2:  # by way of float32, as PyTorch rounds
            wide = wide.astype(np.float32)
        return wide.astype(d.numpy)


def _whole(value, d) -> int:
    """One element of an integer tensor."""
    if isinstance(value, float):
        return within(value, d, d.name)
    number = operator.index(value)
    if d is dtypes.uint64:
        if number < 0:
            raise OverflowError("can't convert negative int to unsigned")
    elif not -(1 << 63) <= number < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    return within(number, d, d.name)


# --- what only the long way understands: NumPy scalars, tensors, other sequences, and all errors ---------------------


def _is_sequence(value) -> bool:
    """Whether PyTorch looks inside a value."""
    return hasattr(value, "__getitem__") and not isinstance(value, (dict, np.generic, Tensor))


def _general_array(data, dtype) -> np.ndarray:
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    shape = _sizes(data)
    if dtype is None:
        dtype = _inferred(data)
    if len(shape) and isinstance(data[0] if shape[0] else None, np.ndarray):
        warn_once(
            "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list "
            "to a "
            "single numpy.ndarray with numpy.array() before converting to a tensor."
        )
    flat: list = []
    if 0 not in shape:
        _collect(data, shape, 0, flat)
    return _stored(flat, dtype).reshape(shape)


def _sizes(data) -> tuple[int, ...]:
    sizes: list[int] = []
    while _is_sequence(data):
        sizes.append(len(data))
        if len(sizes) > 128:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if not sizes[-1]:
            break
        data = data[0]
    return tuple(sizes)


def _inferred(data):
    """The dtype that data imply by themselves."""
    if isinstance(data, np.generic):
        return dtypes.of(data.dtype)
    if isinstance(data, Tensor):
        return data._spec.dtype
    for kind in (bool, int, float, complex):
        if isinstance(data, kind):
            return dtypes.default_for(kind)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if not _is_sequence(data):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    found = None
    for item in data:
        of_item = _inferred(item)
        found = of_item if found is None else promote_types(found, of_item)
    return dtypes.get_default_dtype() if found is None else found


def _collect(data, shape: tuple, dim: int, flat: list) -> None:
    if dim == len(shape):
        flat.append(data)
        return
    try:
        items = list(data)
    except TypeError:
        raise TypeError("not a sequence") from None
    if len(items) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(items)})")
    if dim + 1 == len(shape):
        flat += items
    else:
        for item in items:
            _collect(item, shape, dim + 1, flat)


# --- the public functions --------------------------------------------------------------------------------------------


_COPY = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)


@factory
def tensor(data=_MISSING, *extra, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor with a copy of the data: numbers, nested sequences of them, arrays, tensors.

    The dtype is that of the data: the default dtype for floats, int64 for integers. ValueError for ragged sequences.
    """
    if extra:
        raise TypeError(f"tensor() takes 1 positional argument but {1 + len(extra)} were given")
    if dtype is not None:
        dtype = as_dtype(dtype, "tensor")
    if device is not None or pin_memory or requires_grad is not False:
        check_options("tensor", None, device, pin_memory, requires_grad)
    kind = type(data)
    if kind is list or kind in _PLAIN:
        return finish(array_of(data, dtype), requires_grad)
    if data is _MISSING:
        raise missing("tensor", "data")
    return finish(_copied(data, dtype, "torch.tensor"), requires_grad)


def _copied(data, dtype, caller: str) -> np.ndarray:
    if isinstance(data, Tensor):
        warnings.warn(_COPY.format(caller), UserWarning, stacklevel=3)
        return like_copy(data._array, dtype)
    if isinstance(data, np.ndarray):
        checked_array(data)
        return like_copy(data, dtype)
    if isinstance(data, np.generic) and not isinstance(data, float):
        found = dtypes.of(data.dtype)
        return _stored([data.item()], found if dtype is None else dtype).reshape(())
    if hasattr(data, "__dlpack__") and not isinstance(data, np.generic):
        return like_copy(np.from_dlpack(data), dtype)
    return array_of(data, dtype)


def like_copy(array: np.ndarray, dtype) -> np.ndarray:
    if array.flags.c_contiguous and (dtype is None or dtype.numpy == array.dtype):
        return array.copy()
    out = like_layout(np.empty, array, array.dtype if dtype is None else dtype.numpy)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.copyto(out, array, casting="unsafe")
    return out


def checked_array(array: np.ndarray) -> None:
    """The errors of PyTorch for an array that cannot become a tensor."""
    spec_of(array)
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )


@method
def new_tensor(self, data=_MISSING, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor with a copy of the data, with this tensor's dtype unless `dtype` is given."""
    if data is _MISSING:
        raise missing("new_tensor", "data")
    d = self._spec.dtype if dtype is None else as_dtype(dtype, "new_tensor")
    check_options("new_tensor", layout, device, pin_memory, requires_grad)
    return finish(_copied(data, d, "tensor.new_tensor"), requires_grad)


@factory
def from_numpy(*args):
    """A tensor that shares the array's memory. TypeError for dtypes without a counterpart, ValueError for strides."""
    if len(args) != 1:
        raise TypeError(f"torch._VariableFunctionsClass.from_numpy() takes exactly one argument ({len(args)} given)")
    if not isinstance(args[0], np.ndarray):
        raise TypeError(f"expected np.ndarray (got {argument_type_name(args[0])})")
    return from_array(args[0])


@factory
def as_tensor(data=_MISSING, dtype=None, device=None):
    """The data as a tensor: a tensor itself, an array's memory shared, anything else copied."""
    if data is _MISSING:
        raise missing("as_tensor", "data")
    if dtype is not None:
        dtype = as_dtype(dtype, "as_tensor")
    if device is not None:
        check_cpu(device, "as_tensor")
    if isinstance(data, Tensor):
        return data if dtype is None or dtype is data._spec.dtype else data.to(dtype)
    if isinstance(data, np.ndarray):
        shared = from_array(data)
        return shared if dtype is None or dtype is shared._spec.dtype else finish(like_copy(data, dtype))
    return finish(_copied(data, dtype, "torch.as_tensor"))


@factory
def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=_MISSING):
    """The data as a tensor, sharing memory where that can be (`copy=None`), always (False) or never (True)."""
    if dtype is not None:
        dtype = as_dtype(dtype, "asarray")
    if requires_grad is None:
        requires_grad = _MISSING
    check_options("asarray", None, device, False, False if requires_grad is _MISSING else requires_grad)
    t = _aliased(obj, dtype)
    if t is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return finish(_copied(obj, dtype, "torch.asarray"), requires_grad is True)
    if requires_grad is _MISSING:
        requires_grad = t.requires_grad
        if requires_grad and t.is_leaf:
            warn_once(
                "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
                "requires_grad=False explicitly to get the old behavior and silence this warning."
            )
    changes = dtype is not None and dtype is not t._spec.dtype
    if changes and copy is False:
        raise ValueError(
            f"can't alias tensor with dtype '{t._spec.dtype.scalar_name}' into dtype '{dtype.scalar_name}'."
        )
    if changes:
        t = t.to(dtype)
    elif copy:
        t = t.clone()
    if t.requires_grad and not requires_grad:
        return t.detach()
    if requires_grad and not t._spec.inexact:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return t.requires_grad_(True) if requires_grad else t


def _aliased(obj, dtype) -> Tensor | None:
    """A tensor that shares the memory of an object; None for one that offers none."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return from_array(obj)
    if isinstance(obj, np.generic):
        return None
    if hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=dtypes.get_default_dtype() if dtype is None else dtype)


@factory
def frombuffer(buffer, *, dtype=_MISSING, count=-1, offset=0, requires_grad=False):
    """A 1-d tensor that shares the memory of a Python buffer, from `offset` bytes on; ValueError where it does not "
    "fit."""
    if dtype is _MISSING:
        raise missing("frombuffer", "dtype")
    d = as_dtype(dtype, "frombuffer")
    try:
        size = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    item = d.itemsize
    if not size or not count:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) minus 1"
        )
    if count > 0 and offset + count * item > size:
        raise ValueError(
            f"requested buffer length ({count} * {item} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({size} bytes)"
        )
    if count < 0:
        if (size - offset) % item:
            raise ValueError(
                f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a multiple of element "
                "size "
                f"({item})"
            )
        count = (size - offset) // item
    shared = np.frombuffer(buffer, d.numpy, count, offset)
    if not shared.flags.writeable:
        warn_once(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you "
            "can write "
            "to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the buffer to "
            "protect its data or make it writable before converting it to a tensor. This type of warning will be "
            "suppressed for the rest of this program."
        )
    return finish(conversion.foreign(shared), requires_grad)


class _Capsule:
    """A DLPack capsule as an object that hands it out, once."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


@factory
def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor that shares the memory of an object with `__dlpack__`, or of a DLPack capsule."""
    if isinstance(ext_tensor, Tensor) and not copy:
        return ext_tensor.detach()
    source = ext_tensor
    if not hasattr(source, "__dlpack__"):
        if type(source).__name__ != "PyCapsule":
            raise RuntimeError(
                "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so "
                "you "
                "might have already constructed a tensor from it once."
            )
        source = _Capsule(source)
    array = np.from_dlpack(source)
    spec_of(array)
    return new_result(array.copy() if copy else conversion.foreign(array))
