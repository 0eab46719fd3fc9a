"""Copies and conversions (to and its short forms, clone, contiguous), and what writes: copy_, fill_, zero_."""

import math

import numpy as np

from ..core.declare import Array, composite, method, op, put_method
from ..core.device import check_cpu, device
from ..core.dtype import (
    COMPLEX,
    DTYPES,
    FLOATING,
    argument_type_name,
    bool_,
    dtype,
    finfo,
    iinfo,
    result_dtype,
)
from ..core.general import NUMBERS, apply_inplace
from ..core.inplace import check_overlap
from ..core.layout import channels_last_order, contiguous_format, is_laid_out, memory_format, preserve_format
from ..core.modes import modes, state
from ..core.registry import publish
from ..core.tensor import Tensor, strides_of, wrap
from ..core.views import view_edge
from .writing import write_inplace

__all__ = ["clone", "to", "dense_copy", "fill_value", "unrecorded"]


# --- copies ---


def dense_copy(array, numpy_dtype=None):
    """A copy in the same order of dimensions; in C order where dimensions share memory."""
    order = "C" if 0 in array.strides else "K"
    return array.copy(order) if numpy_dtype is None else array.astype(numpy_dtype, order=order)


def laid_out_copy(array, form, numpy_dtype=None):
    """A copy in the order of a memory_format; None stands for that of the array itself."""
    if form is None or form is preserve_format:
        return dense_copy(array, numpy_dtype)
    order = channels_last_order(form)
    if order is None:
        return array.astype(numpy_dtype or array.dtype, order="C")
    if len(order) != array.ndim:
        raise RuntimeError(f"required rank {len(order)} tensor to use {str(form).removeprefix('torch.')} format")
    laid = array.transpose(order).astype(numpy_dtype or array.dtype, order="C")
    return laid.transpose(np.argsort(order))


@op(name="clone", method=False, namespace=None)
def clone_op(self: Array, memory_format):
    return laid_out_copy(self, memory_format)


clone_op.derivative(of="self")(lambda xp, grad: grad)


@composite
def clone(input, *, memory_format=None):
    """A copy, in the memory order of input unless a memory_format is given."""
    return clone_op.single(input, memory_format)


clone_op.function = clone


@method
def contiguous(self, memory_format=contiguous_format):
    """The tensor itself where its elements lie in the order of the format, otherwise a copy that does."""
    if memory_format is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    array = self._array
    if memory_format is contiguous_format and array.flags.c_contiguous:
        return self
    if is_laid_out(array.shape, strides_of(array), memory_format):
        return self
    return clone_op.single(self, memory_format)


# --- conversions ---


@op(node="ToCopyBackward0", method=False, namespace=None)
def to_copy(self: Array, dtype, memory_format):
    """A copy with elements of another dtype."""
    target = dtype.numpy
    if self.dtype.kind == "c" and target.kind not in "cb":
        self = self.real
    if memory_format is None and 0 not in self.strides:
        return self.astype(target)
    return laid_out_copy(self, memory_format, target)


to_copy.derivative(of="self")(lambda xp, grad: grad)


def to_arguments(args: tuple, kwargs: dict):
    """(dtype or None, copy, memory_format) of the arguments of `to`; TypeError where they fit none of its forms."""
    given = dict(kwargs)
    rest = list(args)
    form, wanted = given.pop("memory_format", None), None
    if rest and isinstance(rest[0], Tensor) or isinstance(given.get("other"), Tensor):
        wanted = (rest.pop(0) if rest else given.pop("other"))._spec.dtype
    elif rest and type(rest[0]) is dtype:
        wanted = rest.pop(0)
    elif rest and (rest[0] is None or isinstance(rest[0], (str, device)) or type(rest[0]) is int):
        check_cpu(rest.pop(0), "to")
        if rest and (rest[0] is None or type(rest[0]) is dtype):
            wanted = rest.pop(0)
    names = ["non_blocking", "copy"]
    flags = dict(zip(names, rest))
    if len(rest) > 2 or any(not isinstance(v, bool) for v in flags.values()):
        raise _to_error(args, kwargs)
    for key, value in given.items():
        if key == "dtype" and wanted is None and (value is None or type(value) is dtype):
            wanted = value
        elif key == "device" and (value is None or isinstance(value, (str, device)) or type(value) is int):
            check_cpu(value, "to")
        elif key in names and isinstance(value, bool):
            flags[key] = value
        else:
            raise _to_error(args, kwargs)
    if form is not None and type(form) is not memory_format:
        raise _to_error(args, kwargs)
    return wanted, flags.get("copy", False), form


def _to_error(args, kwargs) -> TypeError:
    named = [f"{k}={argument_type_name(v)}, " for k, v in kwargs.items()]
    got = ", ".join([argument_type_name(a) for a in args] + named)
    return TypeError(
        f"to() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False, *, "
        "torch.memory_format memory_format = None)\n"
        " * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, "
        "torch.memory_format memory_format = None)\n"
        " * (Tensor tensor, bool non_blocking = False, bool copy = False, *, "
        "torch.memory_format memory_format = None)\n"
    )


@method
def to(self, *args, **kwargs):
    """The tensor with the dtype of the argument (a dtype or a tensor); itself where nothing changes, unless copy=True."""
    if len(args) == 1 and type(args[0]) is dtype and not kwargs:
        if args[0] is self._spec.dtype:
            return self
        return to_copy.single(self, args[0], None)
    wanted, copy, form = to_arguments(args, kwargs)
    wanted = wanted or self._spec.dtype
    if wanted is self._spec.dtype and not copy:
        if form in (None, preserve_format) or is_laid_out(self._spec.shape, strides_of(self._array), form):
            return self
    return to_copy.single(self, wanted, form)


to_copy.function = lambda self, dtype, memory_format=None: to_copy.single(self, dtype, memory_format)


def _short_form(name: str, target: dtype) -> None:
    def convert(self, *, memory_format=None):
        if target is self._spec.dtype and memory_format is None:
            return self
        return to(self, target, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor in {target.name}; itself where it is already."
    put_method(name, convert)


for _name, _target in {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "int": "int32", "long": "int64",
    "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "cfloat": "complex64", "cdouble": "complex128",
    "chalf": "complex32",
}.items():  # fmt: skip
    _short_form(_name, DTYPES[_target])


def _type(self, dtype=None, non_blocking=False):
    """The name of the tensor's type, such as "torch.FloatTensor"; with an argument the tensor converted to that type."""
    if dtype is None:
        return self._spec.dtype.type_name
    target = dtype
    if isinstance(dtype, str):
        target = next((d for d in DTYPES.values() if d.type_name == dtype), None)
    elif isinstance(dtype, type):
        target = getattr(dtype, "dtype", None)
    if target not in DTYPES.values():
        raise ValueError(f"invalid type: '{dtype if isinstance(dtype, str) else dtype.__name__}'")
    return to(self, target)


put_method("type", _type)


@method
def type_as(self, other):
    """The tensor with the dtype of another."""
    if not isinstance(other, Tensor):
        raise TypeError(f"type_as(): argument 'other' (position 1) must be Tensor, not {argument_type_name(other)}")
    return to(self, other._spec.dtype)


@method
def cpu(self, memory_format=None):
    """The tensor itself: it is on the CPU."""
    return self if memory_format is None else to(self, memory_format=memory_format)


@method
def cuda(self, device=None, non_blocking=False, memory_format=None):
    """AssertionError: tensors of chainrule are on the CPU."""
    check_cpu("cuda", "cuda")


@composite(method=False)
def result_type(tensor1, tensor2):
    """The dtype that an operation of the two, tensors or numbers, gives."""
    operands = (tensor1, tensor2)
    if not all(isinstance(o, (Tensor, *NUMBERS)) for o in operands):
        got = ", ".join(argument_type_name(o) for o in operands)
        raise TypeError(
            f"result_type() received an invalid combination of arguments - got ({got}), but expected one of:"
        )
    operands = [o.item() if isinstance(o, np.generic) else o for o in operands]
    dims = [o._spec.dtype for o in operands if isinstance(o, Tensor) and o._spec.ndim]
    zeros = [o._spec.dtype for o in operands if isinstance(o, Tensor) and not o._spec.ndim]
    return result_dtype(dims, zeros, [o.__class__ for o in operands if not isinstance(o, Tensor)])


# --- writing ---


def unrecorded(*tensors) -> bool:
    """Whether the first tensor may be written, and a change of it by the others needs no node."""
    target = tensors[0]
    if modes.detour or target._counter is None or 0 in target._array.strides:
        return False
    if modes.unusual and not state.grad_enabled:
        return True
    for t in tensors:
        if (t._edge if t._view is None else view_edge(t)) is not None:
            return False
    return True


@op(name="copy_", node="CopyBackwards", method=False, namespace=None)
def copy_op(self: Array, other: Array):
    if other.dtype.kind == "c" and self.dtype.kind not in "cb":
        other = other.real
    return other.astype(self.dtype)


copy_op.derivative(of="self")(lambda xp, grad, self_shape: xp.zeros_like(grad))
copy_op.derivative(of="other")(lambda xp, grad: grad)
copy_op.node_type.name = lambda node: "torch::autograd::CopyBackwards"


@method
def copy_(self, other, non_blocking=False):
    """Write the elements of other, broadcast and in this tensor's dtype, into this tensor."""
    if not isinstance(other, Tensor):
        if not isinstance(other, NUMBERS):
            raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {argument_type_name(other)}")
        other = wrap(np.array(other))
    if self._counter is not other._counter and self._spec.dtype is other._spec.dtype and unrecorded(self, other):
        if self._spec.shape == other._spec.shape:
            self._array[...] = other._array
            self._counter[0] += 1
            return self
    check_overlap(self, (other,))
    return apply_inplace(copy_op, (self, other))


def fill_value(value, target: dtype):
    """A number as an element of the dtype; RuntimeError where it is out of range."""
    if target.itemsize >= 4 and target.category == FLOATING:
        if value.__class__ in (int, float) and -3e38 < value < 3e38:
            return value
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, int) and not isinstance(value, bool) and not -(1 << 63) <= value < 1 << 64:
        raise OverflowError("int too big to convert")
    if not _in_range(value, target):
        name = target.cpp_name if target.category >= FLOATING or target.name == "int32" else target.name + "_t"
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    if target.category < FLOATING and target is not bool_ and isinstance(value, float):
        value = int(value)
    if not target.is_signed and isinstance(value, int) and value < 0:
        value += 1 << 8 * target.itemsize
    return value


def _in_range(value, target: dtype) -> bool:
    if target is bool_ or isinstance(value, bool):
        return True
    if isinstance(value, complex) and target.category < COMPLEX:
        return value.imag == 0 and _in_range(value.real, target)
    if target.category >= FLOATING:
        limit = finfo(target.to_real()).max
        parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
        return all(math.isinf(p) or math.isnan(p) or abs(p) <= limit for p in parts)
    limits = iinfo(target)
    if isinstance(value, float) and not math.isfinite(value):
        return False
    low = limits.min if target.is_signed or isinstance(value, float) else -limits.max
    return low <= value <= limits.max


def _fill_number(self: Array, value):
    return np.full_like(self, value)


def _fill_tensor(self: Array, value: Array):
    return np.full_like(self, value.real if value.dtype.kind == "c" and self.dtype.kind not in "cb" else value)


# PyTorch numbers the nodes of fill (0, 1) and of fill_ (2, 3) in one row.
_fills = [
    op(kernel, name=name, node=f"FillBackward{i}", method=False, namespace=None)
    for i, (kernel, name) in enumerate(
        (
            (_fill_number, "fill"),
            (_fill_tensor, "fill_with"),
            (_fill_number, "fill_"),
            (_fill_tensor, "fill_with_"),
        )
    )
]
fill_by_number, fill_by_tensor = _fills[2:]
for _operation in _fills:
    _operation.derivative(of="self")(lambda xp, grad: xp.zeros_like(grad))
for _operation in _fills[1::2]:
    _operation.derivative(of="value")(lambda xp, grad: xp.sum(grad))


def _checked_value(value, target: dtype, name: str):
    """What to fill with: a 0-dim tensor itself, a number in the range of the dtype."""
    if isinstance(value, Tensor):
        if value._spec.ndim:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value._spec.ndim} dimensions."
            )
        return value
    if not isinstance(value, NUMBERS):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got ({argument_type_name(value)}), but expected "
            "one of:\n * (Tensor value)\n * (Number value)\n"
        )
    return fill_value(value, target)


@method
def fill_(self, value):
    """Write one number, or a 0-dim tensor, into every element."""
    value = _checked_value(value, self._spec.dtype, "fill_")
    if isinstance(value, Tensor):
        return apply_inplace(fill_by_tensor, (self, value))
    if unrecorded(self):
        self._array.fill(value)
        self._counter[0] += 1
        return self
    return write_inplace(fill_by_number, (self, value), expanded=True)


@op(name="zero_", method=False, namespace=None, node="ZeroBackward0")
def zero_op(self: Array):
    return np.zeros(self.shape, self.dtype)


zero_op.writer = lambda array: array.fill(0)
fill_by_number.writer = lambda array, value: array.fill(value)
zero_op.derivative(of="self")(lambda xp, grad: xp.zeros_like(grad))


@method
def zero_(self):
    """Write 0 into every element."""
    if unrecorded(self):
        self._array.fill(0)
        self._counter[0] += 1
        return self
    return write_inplace(zero_op, (self,), expanded=True)


@composite(method=False)
def fill(input, value):
    """A tensor like input with one number, or the value of a 0-dim tensor, everywhere."""
    value = _checked_value(value, input._spec.dtype, "fill")
    return _fills[isinstance(value, Tensor)].general(input, value)


for _function in (Tensor.detach, Tensor.detach_):
    publish("torch", _function.__name__, _function)
copy_op.function, zero_op.function = copy_, zero_
for _operation, _function in zip(_fills, (fill, fill, fill_, fill_)):
    _operation.function = _function
for _function in (fill_, zero_):
    publish("torch", _function.__name__, _function)
