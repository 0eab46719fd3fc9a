"""Views by strides: expand and as_strided; and what gives a tensor other memory: resize_ and set_."""

import math

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, composite, method, op, put_method, view
from ..core.dtype import of
from ..core.general import broadcast_shapes
from ..core.inplace import bump
from ..core.layout import channels_last_order, contiguous_format, preserve_format
from ..core.placing import strided
from ..core.size import Size
from ..core.spec import spec_of
from ..core.tensor import Tensor, strides_of
from .shape import as_int, as_ints, expect_tensor

__all__ = ["expand_op", "expand", "as_strided"]


# --- expand ---


@view(name="expand", method=False, namespace=None)
def expand_op(self: Array, size):
    shape, strides = self.shape, self.strides
    extra = len(size) - len(shape)
    new_shape, new_strides = list(size), [0] * len(size)
    for i in range(len(size) - 1, -1, -1):
        if i >= extra:
            have, stride = shape[i - extra], strides[i - extra]
        else:
            have = 1
            stride = new_shape[i + 1] * new_strides[i + 1] if i + 1 < len(size) else self.itemsize
        want = size[i]
        if want == -1 and i >= extra or want == have:
            new_shape[i], new_strides[i] = have, stride
        elif have != 1 or want < 0:
            raise _cannot_expand(self, size, i, have if i >= extra else None)
    return strided(self, tuple(new_shape), tuple(new_strides))


expand_op.derivative(of="self")(lambda xp, grad: grad)


def _cannot_expand(array, size, at, have) -> RuntimeError:
    if have is None:
        return RuntimeError(
            f"The expanded size of the tensor ({size[at]}) isn't allowed in a leading, non-existing dimension {at}"
        )
    return RuntimeError(
        f"The expanded size of the tensor ({size[at]}) must match the existing size ({have}) at non-singleton "
        f"dimension {at}.  Target sizes: {list(size)}.  Tensor sizes: {list(array.shape)}"
    )


def expand(self, size: tuple):
    """The tensor seen with its dimensions of size 1 repeated, without a copy."""
    if len(size) < self._spec.ndim:
        name = self._spec.dtype.type_name
        raise RuntimeError(
            f"expand({name}{{{list(self._spec.shape)}}}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor ({self._spec.ndim})"
        )
    return expand_op.single(self, size)


def _expand(self, *sizes, size=None, implicit=False):
    if size is not None:
        sizes = (size,)
    if not sizes:
        raise TypeError('expand() missing 1 required positional arguments: "size"')
    return expand(self, as_ints(sizes, "expand"))


_expand.__name__, _expand.__doc__ = "expand", expand.__doc__
put_method("expand", _expand)
expand_op.function = expand


@method
def expand_as(self, other):
    """The tensor seen with the shape of another, its dimensions of size 1 repeated."""
    return expand(self, expect_tensor(other, "expand_as", "other")._spec.shape)


@composite
def broadcast_to(input, size):
    """The tensor seen with another shape, its dimensions of size 1 repeated."""
    return expand(expect_tensor(input, "broadcast_to"), as_ints((size,), "broadcast_to", "size", 2))


@composite(method=False)
def broadcast_tensors(*tensors):
    """The tensors seen with the shape that they broadcast to together."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tensors[0]
    shape: tuple = ()
    for t in tensors:
        shape = broadcast_shapes(shape, expect_tensor(t, "broadcast_tensors", "tensors")._spec.shape)
    return tuple(t if t._spec.shape == shape else expand(t, shape) for t in tensors)


@composite(name="broadcast_shapes", method=False)
def broadcast_shapes_together(*shapes):
    """The shape that tensors of these shapes (tuples or integers) broadcast to."""
    shape: tuple = ()
    for s in shapes:
        shape = broadcast_shapes(shape, as_ints((s,), "broadcast_shapes", "shapes"))
    return Size(shape)


# --- as_strided ---


@view(name="as_strided", method=False, namespace=None)
def as_strided_op(self: Array, size, stride, storage_offset, self_stride, self_offset):
    return vocabulary.as_strided(self, size, stride, storage_offset - self_offset)


@as_strided_op.derivative(of="self")
def _(xp, grad, self_shape, self_stride, size, stride, storage_offset, self_offset):
    return xp.as_strided_vjp(grad, self_shape, self_stride, size, stride, storage_offset - self_offset)


@op(name="as_strided_vjp", method=False, namespace=None)
def as_strided_vjp(self: Array, base_shape, base_strides, shape, strides, offset):
    """The gradient of the base of an as_strided view."""
    return vocabulary.as_strided_vjp(self, base_shape, base_strides, shape, strides, offset)


@as_strided_vjp.derivative(of="self")
def _(xp, grad, base_shape, base_strides, shape, strides, offset):
    return xp.as_strided_vjp_vjp(grad, base_shape, base_strides, shape, strides, offset)


@op(name="as_strided_vjp_vjp", method=False, namespace=None)
def as_strided_vjp_vjp(self: Array, base_shape, base_strides, shape, strides, offset):
    """The transpose of as_strided_vjp."""
    return vocabulary.as_strided_vjp_vjp(self, base_shape, base_strides, shape, strides, offset)


@as_strided_vjp_vjp.derivative(of="self")
def _(xp, grad, base_shape, base_strides, shape, strides, offset):
    return xp.as_strided_vjp(grad, base_shape, base_strides, shape, strides, offset)


def _storage_size(self) -> int:
    """The bytes from the start of the storage to its end."""
    owner = vocabulary.owner_of(self._array)
    if not owner.size:
        return 0
    return owner.itemsize + sum((n - 1) * s for n, s in zip(owner.shape, owner.strides))


@composite
def as_strided(input, size, stride, storage_offset=None):
    """The storage seen with this size, these strides and this offset, all in elements; RuntimeError outside the
    storage."""
    expect_tensor(input, "as_strided")
    size, stride = as_ints((size,), "as_strided", "size"), as_ints((stride,), "as_strided", "stride", 2)
    here = input.storage_offset()
    offset = here if storage_offset is None else as_int(storage_offset, "as_strided", "storage_offset", 3)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    item = input._array.itemsize
    if 0 not in size:
        needed = (offset + 1 + sum((n - 1) * s for n, s in zip(size, stride))) * item
        if needed > (have := _storage_size(input)):
            raise RuntimeError(
                f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {item} "
                f"requiring a storage size of {needed} are out of bounds for storage of size {have}"
            )
    return as_strided_op.single(input, size, stride, offset, strides_of(input._array), here)


as_strided_op.function = as_strided


@method
def as_strided_(self, size, stride, storage_offset=None):
    """Let this tensor show its storage with this size, these strides and this offset."""
    moved = as_strided(self.detach(), size, stride, storage_offset)
    if self.requires_grad:
        raise NotImplementedError("chainrule has no derivative of as_strided_: use as_strided")
    self._array, self._spec = moved._array, moved._spec
    bump(self)
    return self


# --- other memory ---


def _refuse_gradient(self, name: str) -> None:
    if self.requires_grad:
        raise RuntimeError(f"cannot {name} variables that require grad")


@method
def resize_(self, *sizes, memory_format=contiguous_format):
    """Give this tensor another size, in C order; what memory it has is kept, what is new is not initialised."""
    size = as_ints(sizes, "resize_")
    _refuse_gradient(self, "resize")
    return _resized(self, size, memory_format)


def _resized(self, size: tuple, form):
    if any(n < 0 for n in size):
        raise RuntimeError("numel: integer multiplication overflow")
    if size == self._spec.shape and form is contiguous_format:
        return self
    numel, old = math.prod(size), self._array
    here = self.storage_offset()
    have = _storage_size(self) // old.itemsize - here
    if numel <= have:
        flat = vocabulary.as_strided(old, (numel,), (1,), 0)
    else:
        flat = np.zeros(here + numel, old.dtype)  # the whole storage moves, from its start
        kept = min(have + here, flat.size)
        start = vocabulary.as_strided(old, (kept,), (1,), -here)
        flat[:kept] = start
        flat = flat[here:]
    order = channels_last_order(form)
    if order is None or len(order) != len(size):
        self._array = flat.reshape(size)
    else:
        laid = flat.reshape([size[i] for i in order])
        self._array = laid.transpose(np.argsort(order))
    self._spec = spec_of(self._array)
    bump(self)
    return self


@method
def resize_as_(self, the_template, *, memory_format=contiguous_format):
    """Give this tensor the size of another, in C order."""
    expect_tensor(the_template, "resize_as_", "the_template")
    _refuse_gradient(self, "resize")
    form = contiguous_format if memory_format is preserve_format else memory_format
    return _resized(self, the_template._spec.shape, form)


@method
def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Let this tensor show the memory of another tensor, or of a storage with this offset, size and strides."""
    if source is None:
        array = np.zeros((0,), self._spec.array_dtype)
    elif isinstance(source, Tensor):
        array = source._array
        if size is not None:
            strides = (
                as_ints((stride,), "set_", "stride") if stride is not None else _row_major(as_ints((size,), "set_"))
            )
            array = vocabulary.as_strided(
                array, as_ints((size,), "set_"), strides, storage_offset - source.storage_offset()
            )
    else:
        flat = source._flat.view(np.uint8).view(self._spec.array_dtype)
        shape = as_ints((size,), "set_") if size is not None else (flat.size - storage_offset,)
        strides = as_ints((stride,), "set_", "stride") if stride is not None else _row_major(shape)
        array = vocabulary.as_strided(flat, shape, strides, storage_offset)
    if of(array.dtype) is not self._spec.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {of(array.dtype).cpp_name} to a tensor of type {self._spec.dtype.cpp_name}"
        )
    self._array, self._spec = array, spec_of(array)
    bump(self)
    return self


def _row_major(shape: tuple) -> tuple:
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))
