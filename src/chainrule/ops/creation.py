"""Tensors from nothing: filled with one value, with steps, with indices.

Ranges are in ranges.py, and what takes its elements from elsewhere is in data.py.
https://docs.pytorch.org/docs/stable/torch.html#creation-ops
"""

import math
import operator

import numpy as np

from ..core import dtype as dtypes
from ..core.attributes import check_memory_format
from ..core.declare import method
from ..core.device import check_cpu
from ..core.dtype import argument_type_name, as_dtype, get_default_dtype
from ..core.general import edge_of
from ..core.layout import channels_last_order, contiguous_format, layout, preserve_format, strided
from ..core.modes import modes, state
from ..core.outputs import write_out
from ..core.registry import publish
from ..core.scalars import number_array, number_dtype, python_number
from ..core.size import Size
from ..core.spec import _SPECS, make_spec, spec_of
from ..core.tensor import LEAF, Tensor

__all__ = ["allocate", "check_options", "finish", "fill_number", "like_layout", "put", "shape_of"]

_MISSING = object()
new = object.__new__
_SEQUENCES = frozenset((tuple, list, Size))


def factory(function):
    """Publish a function as `torch.<name>`."""
    publish("torch", function.__name__, function)
    return function


# --- arguments that all of them take ---------------------------------------------------------------------------------


def check_options(name: str, layout_=None, device=None, pin_memory=False, requires_grad=False) -> None:
    """PyTorch's errors for options that are wrong, and for what only other devices and layouts have."""
    if requires_grad is not False and type(requires_grad) is not bool:
        raise TypeError(f"{name}(): argument 'requires_grad' must be bool, not {argument_type_name(requires_grad)}")
    if device is not None:
        check_cpu(device, name)
    if layout_ is not None and layout_ is not strided:
        if type(layout_) is not layout:
            raise TypeError(f"{name}(): argument 'layout' must be torch.layout, not {argument_type_name(layout_)}")
        raise NotImplementedError(f"chainrule has no {layout_} tensors: its tensors are strided")
    if pin_memory:
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available "
            "on this "
            "system."
        )


def missing(name: str, *arguments: str) -> TypeError:
    """PyTorch's error for required arguments that were not given."""
    s = "s" if len(arguments) == 1 else ""  # the numbers are mixed up there
    listed = ", ".join(f'"{a}"' for a in arguments)
    return TypeError(f"{name}() missing {len(arguments)} required positional argument{s}: {listed}")


def finish(array: np.ndarray, requires_grad: bool = False) -> Tensor:
    """A new leaf over a new array."""
    t = new(Tensor)
    t._array = array
    try:
        t._spec = _SPECS[array.shape, array.dtype]
    except KeyError:
        t._spec = make_spec(array.shape, array.dtype)
    t._edge = None
    t._view = None
    t._counter = [0]
    if modes.detour and state.inference:
        t._counter = None
    if requires_grad:
        if not t._spec.inexact:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        t._edge = LEAF
    return t


def put(name: str, out, dtype, make):
    """`make(dtype)` written into `out`, whose dtype it takes; RuntimeError where `dtype` asks for another."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {argument_type_name(out)}")
    found = out._spec.dtype
    if dtype is not None and dtype is not found:
        raise RuntimeError(f"dtype {dtype.scalar_name} does not match dtype of out parameter ({found.scalar_name})")
    if state.grad_enabled and edge_of(out) is not None:
        raise RuntimeError(
            f"aten::{name}(): functions with out=... arguments don't support automatic differentiation, but one of "
            "the arguments requires grad."
        )
    array = make(found)
    if out._spec.shape != array.shape and out._spec.numel:
        resize(out, array)  # these functions do so without a warning
    write_out(out, array)
    return out


def resize(out: Tensor, array: np.ndarray) -> None:
    """Give a tensor the shape of an array, and new memory."""
    out._array = np.empty(array.shape, out._spec.array_dtype)
    out._spec = spec_of(out._array)


def plain_shape(args: tuple):
    """The shape that size arguments say, where they are Python integers or one sequence of them; otherwise None."""
    if len(args) == 1 and args[0].__class__ in _SEQUENCES:
        args = tuple(args[0])
    elif not args:
        return None
    for n in args:
        if n.__class__ is not int:
            return None
    return args


def shape_of(name: str, args: tuple, size=None, position: int = 1) -> tuple[int, ...]:
    """The shape that size arguments say: one sequence, or integers one by one. Negative sizes are not looked for."""
    if len(args) == 1:
        size = args[0]
        where = f" (position {position})"
        if type(size) is int:
            return args
    elif args:
        where = f" (position {position})"
        if not _is_index(args[0]):
            raise TypeError(f"{name}() takes {position} positional argument but {len(args)} were given")
        size = args
    elif size is None:
        raise missing(name, "size")
    else:
        where = ""
    if not isinstance(size, (tuple, list)):
        if where and _is_index(size):
            return (operator.index(size),)
        raise TypeError(f"{name}(): argument 'size'{where} must be tuple of ints, not {argument_type_name(size)}")
    for at, n in enumerate(size):
        if type(n) is not int and not _is_index(n):
            if at == 0:
                raise TypeError(
                    f"{name}(): argument 'size'{where} must be tuple of ints, but found element of type "
                    f"{argument_type_name(n)} at pos 0"
                )
            raise TypeError(
                f"{name}(): argument 'size' failed to unpack the object at pos {at + 1} with error \"type must be "
                "tuple of "
                f'ints,but got {argument_type_name(n)}"'
            )
    return tuple(map(operator.index, size))


def _is_index(value) -> bool:
    """Whether a value may stand for a size: an integer, not a truth value, or a tensor that holds one integer."""
    if type(value) is int:
        return True
    if isinstance(value, Tensor):
        return not value._spec.ndim and value._spec.dtype.category == dtypes.INTEGER
    return isinstance(value, np.integer) or isinstance(value, int) and type(value) is not bool


def allocate(make, shape: tuple, numpy_dtype) -> np.ndarray:
    """`make(shape, dtype)`, with PyTorch's errors for shapes that memory cannot hold."""
    try:
        return make(shape, numpy_dtype)
    except (ValueError, MemoryError, OverflowError):
        for n in shape:
            if n < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(shape)}") from None
        nbytes = math.prod(shape) * np.dtype(numpy_dtype).itemsize
        if nbytes >= 1 << 63:
            raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}") from None
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
            f"allocate {nbytes} bytes. Error code 12 (Cannot allocate memory)"
        ) from None


def fill_number(name: str, value, argument: str = "fill_value", position: int = 2):
    """The number that an argument holds; a 0-dim tensor without gradient may stand for it."""
    if isinstance(value, Tensor) and not value._spec.ndim and not value.requires_grad:
        return value._array.item()
    number = python_number(value)
    if number is None:
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be Number, not {argument_type_name(value)}"
        )
    if type(number) is int and not -(1 << 63) <= number < 1 << 64:
        raise OverflowError("can't convert negative int to unsigned" if number < 0 else "int too big to convert")
    return number


def filled(shape: tuple, number, d) -> np.ndarray:
    """A new array full of one number."""
    # A float that the dtype surely holds needs no check.
    plain = type(number) is float and d.itemsize >= 4 and d.category == dtypes.FLOATING and -3e38 < number < 3e38
    array = allocate(np.empty, shape, d.numpy)
    array.fill(number if plain else number_array(number, d))
    return array


# --- of one value ----------------------------------------------------------------------------------------------------


def _constant(name: str, make, doc: str):
    """One of zeros, ones, empty."""

    def create(*args, size=None, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
        shape = plain_shape(args)
        if shape is None:
            shape = shape_of(name, args, size)
        if dtype is not None:
            dtype = as_dtype(dtype, name)
        if layout is not None or device is not None or pin_memory or requires_grad is not False:
            check_options(name, layout, device, pin_memory, requires_grad)
        if name == "zeros" and shape and min(shape) < 0:
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        if out is not None:
            return put(name, out, dtype, lambda d: allocate(make, shape, d.numpy))
        d = dtypes._default if dtype is None else dtype
        try:
            array = make(shape, d.numpy)
        except (ValueError, MemoryError):
            array = allocate(make, shape, d.numpy)
        return finish(array, requires_grad)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = doc
    return factory(create)


zeros = _constant("zeros", np.zeros, "A tensor of zeros; of the default dtype unless `dtype` says otherwise.")
ones = _constant("ones", np.ones, "A tensor of ones; of the default dtype unless `dtype` says otherwise.")


@factory
def empty(*args, size=None, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
          memory_format=None):  # fmt: skip
    """A tensor whose elements nobody has set."""
    shape = plain_shape(args)
    if shape is None:
        shape = shape_of("empty", args, size)
    if dtype is not None:
        dtype = as_dtype(dtype, "empty")
    if layout is not None or device is not None or pin_memory or requires_grad is not False:
        check_options("empty", layout, device, pin_memory, requires_grad)
    order = _format_order("empty", memory_format, len(shape))
    if out is not None:
        return put("empty", out, dtype, lambda d: allocate(np.empty, shape, d.numpy))
    d = get_default_dtype() if dtype is None else dtype
    return finish(ordered(np.empty, shape, d.numpy, order), requires_grad)


def _format_order(name: str, form, ndim: int, preserve: bool = False):
    """The order of dimensions in memory that a memory format asks for; None for that of the dimensions."""
    if form is None or form is contiguous_format:
        return None
    check_memory_format(form, name)
    if form is preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    order = channels_last_order(form)
    if order is not None and len(order) != ndim:
        raise RuntimeError(f"required rank {len(order)} tensor to use {form._name} format")
    return order


def ordered(make, shape: tuple, numpy_dtype, order) -> np.ndarray:
    """A new array whose dimensions lie in memory in this order, the slowest first; None: their own."""
    if order is None:
        return allocate(make, shape, numpy_dtype)
    array = allocate(make, tuple(shape[i] for i in order), numpy_dtype)
    return array.transpose(np.argsort(order)) if len(shape) else array


@factory
def full(
    size=_MISSING,
    fill_value=_MISSING,
    *,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """A tensor full of one number, whose kind decides the dtype unless `dtype` is given."""
    if size is _MISSING:
        raise missing("full", "size", "fill_value")
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {argument_type_name(size)}")
    shape = plain_shape((size,))
    if shape is None:
        shape = shape_of("full", (size,))
    if fill_value is _MISSING:
        raise missing("full", "fill_value")
    number = fill_value if type(fill_value) is float else fill_number("full", fill_value)
    if dtype is not None:
        dtype = as_dtype(dtype, "full")
    if layout is not None or device is not None or pin_memory or requires_grad is not False:
        check_options("full", layout, device, pin_memory, requires_grad)
    if out is not None:
        return put("full", out, dtype, lambda d: filled(shape, number, d))
    return finish(filled(shape, number, number_dtype(number) if dtype is None else dtype), requires_grad)


@factory
def scalar_tensor(s, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A 0-dim tensor of the default dtype, unless `dtype` says otherwise."""
    number = fill_number("scalar_tensor", s, "s", 1)
    d = get_default_dtype() if dtype is None else as_dtype(dtype, "scalar_tensor")
    check_options("scalar_tensor", layout, device, pin_memory, requires_grad)
    return finish(number_array(number, d), requires_grad)


@factory
def eye(n=None, m=None, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """The n by m matrix with ones on the diagonal."""
    if n is None:
        raise missing("eye", "n")
    n = _integer("eye", "n", n, 1)
    m = n if m is None else _integer("eye", "m", m, 2)
    for name, count in (("n", n), ("m", m)):
        if count < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {count}")
    if dtype is not None:
        dtype = as_dtype(dtype, "eye")
    check_options("eye", layout, device, pin_memory, requires_grad)

    def make(d):
        array = allocate(np.zeros, (n, m), d.numpy)
        array.reshape(-1)[: min(n, m) * m : m + 1] = 1
        return array

    if out is not None:
        return put("eye", out, dtype, make)
    return finish(make(get_default_dtype() if dtype is None else dtype), requires_grad)


def _integer(function: str, argument: str, value, position: int) -> int:
    if not _is_index(value):
        raise TypeError(
            f"{function}(): argument '{argument}' (position {position}) must be int, not {argument_type_name(value)}"
        )
    return operator.index(value)


# --- like another tensor ---------------------------------------------------------------------------------------------


def like_layout(make, array: np.ndarray, numpy_dtype) -> np.ndarray:
    """`make(shape, dtype)` laid out as a dense array is; one with gaps or repeats gives the order of its strides."""
    if array.flags.c_contiguous:
        return make(array.shape, numpy_dtype)
    return ordered(make, array.shape, numpy_dtype, stride_order(array.shape, array.strides))


def stride_order(shape: tuple, strides: tuple) -> list[int]:
    """The dimensions from the slowest to the fastest; repeated ones (stride 0) stay where they are.

    The insertion sort is PyTorch's, since with strides of 0 the order is not a total one.
    """
    fastest_first = list(range(len(shape)))[::-1]
    for i in range(1, len(shape)):
        at = i
        for j in range(i - 1, -1, -1):
            a, b = fastest_first[j], fastest_first[at]
            if not strides[a] or not strides[b]:
                continue
            if strides[a] < strides[b]:
                break
            if strides[a] == strides[b] and shape[a] <= shape[b]:
                continue
            fastest_first[j], fastest_first[at] = b, a
            at = j
    return fastest_first[::-1]


def _must_be_tensor(name: str, value) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {argument_type_name(value)}")


def like(name: str, make, input, dtype, layout, device, pin_memory, requires_grad, memory_format) -> Tensor:
    """A new tensor with the shape of another, and its dtype and layout unless others are asked for."""
    _must_be_tensor(name, input)
    d = input._spec.dtype if dtype is None else as_dtype(dtype, name)
    check_options(name, layout, device, pin_memory, requires_grad)
    if memory_format is None or memory_format is preserve_format:
        array = like_layout(make, input._array, d.numpy)
    else:
        array = ordered(make, input._array.shape, d.numpy, _format_order(name, memory_format, input._spec.ndim))
    return finish(array, requires_grad)


@factory
def zeros_like(input, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
               memory_format=None):  # fmt: skip
    """Zeros with the shape, dtype and layout of another tensor."""
    return like("zeros_like", np.zeros, input, dtype, layout, device, pin_memory, requires_grad, memory_format)


@factory
def ones_like(input, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
              memory_format=None):  # fmt: skip
    """Ones with the shape, dtype and layout of another tensor."""
    return like("ones_like", np.ones, input, dtype, layout, device, pin_memory, requires_grad, memory_format)


@factory
def empty_like(input, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
               memory_format=None):  # fmt: skip
    """A tensor with the shape, dtype and layout of another, whose elements nobody has set."""
    return like("empty_like", np.empty, input, dtype, layout, device, pin_memory, requires_grad, memory_format)


@factory
def full_like(input, fill_value=_MISSING, *, dtype=None, layout=None, device=None, pin_memory=False,
              requires_grad=False, memory_format=None):  # fmt: skip
    """A tensor full of one number, with the shape, dtype and layout of another."""
    _must_be_tensor("full_like", input)
    if fill_value is _MISSING:
        raise missing("full_like", "fill_value")
    number = fill_number("full_like", fill_value)
    value = number_array(number, input._spec.dtype if dtype is None else as_dtype(dtype, "full_like"))

    def make(shape, numpy_dtype):
        array = np.empty(shape, numpy_dtype)
        array.fill(value)
        return array

    return like("full_like", make, input, dtype, layout, device, pin_memory, requires_grad, memory_format)


def _new(name: str, make, doc: str):
    """One of the methods new_zeros, new_ones, new_empty."""

    def create(self, *args, size=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
        shape = shape_of(name, args, size)
        d = self._spec.dtype if dtype is None else as_dtype(dtype, name)
        check_options(name, layout, device, pin_memory, requires_grad)
        return finish(allocate(make, shape, d.numpy), requires_grad)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = doc
    return method(create)


_new("new_zeros", np.zeros, "Zeros of the given size, with this tensor's dtype unless `dtype` is given.")
_new("new_ones", np.ones, "Ones of the given size, with this tensor's dtype unless `dtype` is given.")
_new("new_empty", np.empty, "Elements nobody has set, with this tensor's dtype unless `dtype` is given.")


@method
def new_full(
    self, size, fill_value=_MISSING, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    """A tensor of the given size full of one number, with this tensor's dtype unless `dtype` is given."""
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"new_full(): argument 'size' (position 1) must be tuple of ints, not {argument_type_name(size)}"
        )
    if fill_value is _MISSING:
        raise missing("new_full", "fill_value")
    d = self._spec.dtype if dtype is None else as_dtype(dtype, "new_full")
    check_options("new_full", layout, device, pin_memory, requires_grad)
    return finish(filled(shape_of("new_full", (size,)), fill_number("new_full", fill_value), d), requires_grad)


# --- by strides ------------------------------------------------------------------------------------------------------


def _strided(name: str, size, stride, d) -> np.ndarray:
    for argument, value, position in (("size", size, 1), ("stride", stride, 2)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {position}) must be tuple of ints, not "
                f"{argument_type_name(value)}"
            )
    shape, stride = shape_of(name, (size,)), shape_of(name, (stride,))
    if len(shape) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(stride)})"
        )
    for n in shape:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(shape)}")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(stride)}")
    if 0 in shape:
        return np.empty(shape, d.numpy)
    room = 1 + sum((n - 1) * s for n, s in zip(shape, stride))
    flat = allocate(np.empty, (room,), d.numpy)
    return np.ndarray(shape, d.numpy, flat, 0, tuple(s * d.itemsize for s in stride))


@factory
def empty_strided(size, stride, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor with these strides whose elements nobody has set."""
    d = get_default_dtype() if dtype is None else as_dtype(dtype, "empty_strided")
    check_options("empty_strided", layout, device, pin_memory, requires_grad)
    return finish(_strided("empty_strided", size, stride, d), requires_grad)


@method
def new_empty_strided(self, size, stride, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor with these strides whose elements nobody has set, with this tensor's dtype unless `dtype` is given."""
    d = self._spec.dtype if dtype is None else as_dtype(dtype, "new_empty_strided")
    check_options("new_empty_strided", layout, device, pin_memory, requires_grad)
    return finish(_strided("new_empty_strided", size, stride, d), requires_grad)


@factory
def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, pin_memory=False,
                   requires_grad=False):  # fmt: skip
    """A tensor whose dimensions lie in memory in the order `physical_layout`; elements nobody has set."""
    shape, order = shape_of("empty_permuted", (size,)), shape_of("empty_permuted", (physical_layout,))
    if len(shape) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    if len(set(order)) < len(order):
        raise RuntimeError("Duplicate dim not allowed")
    d = get_default_dtype() if dtype is None else as_dtype(dtype, "empty_permuted")
    check_options("empty_permuted", layout, device, pin_memory, requires_grad)
    return finish(ordered(np.empty, shape, d.numpy, order), requires_grad)


# --- indices of triangles --------------------------------------------------------------------------------------------


def _triangle(name: str, row, col, offset, lower: bool, dtype, layout, device, pin_memory) -> Tensor:
    if col is _MISSING:
        raise missing(name, "col")
    row, col, offset = _integer(name, "row", row, 1), _integer(name, "col", col, 2), _integer(name, "offset", offset, 3)
    for argument, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{argument} must be non-negative, got{n}")
    d = dtypes.int64 if dtype is None else as_dtype(dtype, name)
    check_options(name, layout, device, pin_memory)
    if d not in (dtypes.int64, dtypes.int32):
        raise NotImplementedError(f"\"{name}\" not implemented for '{d.scalar_name}'")
    difference = np.arange(col) - np.arange(row).reshape(-1, 1)
    where = np.nonzero(difference <= offset if lower else difference >= offset)
    return finish(np.array(where, d.numpy))


@factory
def tril_indices(row, col=_MISSING, offset=0, *, dtype=None, device=None, layout=None, pin_memory=False):
    """Rows and columns (2, n) of the lower triangle of a row by col matrix; int64 or int32."""
    return _triangle("tril_indices", row, col, offset, True, dtype, layout, device, pin_memory)


@factory
def triu_indices(row, col=_MISSING, offset=0, *, dtype=None, device=None, layout=None, pin_memory=False):
    """Rows and columns (2, n) of the upper triangle of a row by col matrix; int64 or int32."""
    return _triangle("triu_indices", row, col, offset, False, dtype, layout, device, pin_memory)
