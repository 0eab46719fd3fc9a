"""x[…] and x[…] = …: an index is taken apart into select, slice, unsqueeze and, for tensors, index and index_put.

The rules are PyTorch's: integers and slices apply first, one after the other, each a view; then all tensors, lists and
masks apply at once. https://pytorch.org/docs/stable/tensor_view.html
"""

import operator

import numpy as np

from ..core.conversion import warn_once
from ..core.declare import composite, put_method
from ..core.dtype import argument_type_name, bool_, int64
from ..core.general import NUMBERS
from ..core.modes import modes, state
from ..core.tensor import Tensor, wrap
from ..core.views import view_edge
from .casting import fill_value
from .gathering import Index, index_op
from .scattering import index_put_op
from .shape import view_op
from .slicing import FULL, alias, select_op, slice_op
from .squeezing import unsqueeze_op
from .striding import expand
from .writing import write_inplace

__all__ = ["getitem", "setitem", "index_put", "index_put_", "take_apart"]


# --- errors ---


def _result_shape(shape: tuple, indices) -> tuple:
    return np.broadcast_to(np.empty((), np.bool), shape)[indices].shape


def index_error(shape: tuple, indices) -> IndexError:
    """The IndexError in PyTorch's words for an index that does not fit an array of this shape."""
    arrays = []
    dim = 0
    for i in indices:
        if type(i) is slice:
            dim += 1
        elif i.dtype == np.bool:
            arrays += [(a, dim + k) for k, a in enumerate(i.nonzero())]
            dim += i.ndim
        else:
            arrays.append((i, dim))
            dim += 1
    try:
        np.broadcast_shapes(*[a.shape for a, _ in arrays])
    except ValueError:
        shapes = ", ".join(str(list(a.shape)) for a, _ in arrays)
        return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")
    for a, d in arrays:
        n = shape[d]
        bad = (a < -n) | (a >= n)
        if bad.any():
            if not n:
                return IndexError(f"index is out of bounds for dimension with size {n}")
            return IndexError(f"index {a[bad].flat[0]} is out of bounds for dimension {d} with size {n}")
    raise AssertionError("the index fits")


def _check_values(self, values, indices, *rest) -> None:
    """RuntimeError for values of another dtype, or of a shape that does not broadcast to what is indexed."""
    mine, theirs = self._spec.dtype, values._spec.dtype
    if mine is not theirs:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{mine.scalar_name} for the destination and {theirs.scalar_name} for the source."
        )
    if not values._spec.ndim:
        return
    result = _result_shape(self._spec.shape, indices)
    shape = values._spec.shape
    if len(shape) > len(result) or any(n != 1 and n != m for n, m in zip(reversed(shape), reversed(result))):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(shape)} cannot be broadcast to indexing result of shape "
            f"{list(result)}"
        )


# --- taking an index apart ---


def _out_of_range(index: int, dim: int, size: int) -> IndexError:
    return IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")


def _select(self, dim: int, index: int, position: int):
    shape = self._spec.shape
    if not shape and index:
        raise IndexError(f"index {index} is out of bounds for dimension 0 with size 0")
    if not shape:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert "
            "a 0-dim tensor to a number"
        )
    size = shape[dim]
    if not -size <= index < size:
        raise _out_of_range(index, position, size)
    return select_op.single(self, dim, index)


def _slice(self, dim: int, index: slice, keep_full: bool):
    shape = self._spec.shape
    if index.step is not None and int(index.step) <= 0:
        raise ValueError("step must be greater than zero")
    if not shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    size = shape[dim]
    start, stop, step = index.indices(size)
    if not keep_full and step == 1 and start == 0 and stop == size and (index.start is None or int(index.start) == 0):
        return self  # PyTorch sees no whole dimension in x[-3:]
    return slice_op.single(self, dim, start, max(stop, start), step)


def _treat_as_tuple(index) -> bool:
    """Whether a list stands for a tuple of indices (PyTorch follows an old rule of NumPy here)."""
    if not isinstance(index, (list, range)) or len(index) >= 32:
        return False
    return any(i is None or i is ... or isinstance(i, (Tensor, slice, list, tuple, str, range)) for i in index)


def _items(index) -> tuple:
    if isinstance(index, tuple):
        return tuple(index)
    if _treat_as_tuple(index):
        warn_once(
            "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
            "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
            "x[torch.tensor(seq)], which will result either in an error or a different result"
        )
        return tuple(index)
    return (index,)


def _plain(value):
    """A list with its tensors as numbers, for NumPy."""
    if isinstance(value, Tensor):
        return value._array
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def _as_array(item):
    """The array of an index that is a tensor, an ndarray or a sequence."""
    if isinstance(item, Tensor):
        array = item._array
    elif isinstance(item, np.ndarray):
        array = item.copy()
    elif isinstance(item, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{argument_type_name(item)}'")
    elif isinstance(item, (list, tuple, range)):
        array = np.array(_plain(item) if len(item) else np.empty(np.shape(item), np.int64))
        if array.dtype.kind in "US":
            raise TypeError(f"new(): invalid data type '{'str' if array.dtype.kind == 'U' else 'bytes'}'")
    else:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{argument_type_name(item)})"
        )
    kind = array.dtype
    if kind == np.uint8:
        warn_once("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
        return array.astype(np.bool)
    if kind == np.bool or kind == np.int64:
        return array
    if kind != np.int32:
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return array.astype(np.int64)


def check_mask(mask, shape: tuple, at: int) -> None:
    """IndexError where a mask does not have the sizes of the dimensions it stands for, from dimension `at` on."""
    for k, n in enumerate(mask.shape, at):
        if k >= len(shape) or n != shape[k]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {k - at} does not match the shape of the indexed "
                f"tensor {list(shape)} at index {k}"
            )


class _Walk:
    """The state of taking an index apart: the tensor so far, the next dimension, and what is still to be indexed."""

    __slots__ = ("out", "dim", "found", "guards")

    def __init__(self, tensor):
        self.out, self.dim, self.found, self.guards = tensor, 0, {}, []

    def flag(self, value: bool) -> None:
        """True and False add a dimension, of which the element is taken or none is."""
        self.out = unsqueeze_op.single(self.out, self.dim)
        self.found[self.dim] = np.zeros(int(value), np.int64)
        self.dim += 1

    def array(self, item, position: int) -> None:
        array = _as_array(item)
        if array.ndim == 0:
            if array.dtype == np.bool:
                self.flag(bool(array))
            else:
                self.out = _select(self.out, self.dim, int(array), position)
            return
        self.found[self.dim] = array
        if isinstance(item, Tensor) and (counter := item._counter) is not None:
            self.guards.append((array, counter, counter[0]))
        self.dim += array.ndim if array.dtype == np.bool else 1

    def index(self) -> Index | None:
        if not self.found:
            return None
        indices, dim = [], 0
        shape = self.out._spec.shape
        for at, array in sorted(self.found.items()):
            if array.dtype == np.bool:
                check_mask(array, shape, at)
            indices += [FULL] * (at - dim)
            indices.append(array)
            dim = at + (array.ndim if array.dtype == np.bool else 1)
        made = Index(indices)
        if self.guards:
            made.guards = tuple(self.guards)
        return made


def _specified(item) -> int:
    """How many dimensions an item of an index stands for."""
    if item is None or item is ... or isinstance(item, (bool, np.bool_)):
        return 0
    return item.ndim if isinstance(item, (Tensor, np.ndarray)) and _is_mask(item) else 1


def _is_mask(item) -> bool:
    return (item._array if isinstance(item, Tensor) else item).dtype.char in "?B"


def take_apart(self, items: tuple):
    """(the tensor after all integers, slices, None and booleans; an Index for the tensors in `items`, or None)."""
    specified = 0
    plain = True
    for item in items:
        cls = item.__class__
        if cls is int or cls is slice:
            specified += 1
        elif item is not None and item is not ...:
            plain = False
            specified += _specified(item)
    if specified > self._spec.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._spec.ndim}")
    if plain:
        return _plain_part(self, items, specified), None
    walk = _Walk(self)
    for position, item in enumerate(items):
        cls = item.__class__
        if cls is int:
            walk.out = _select(walk.out, walk.dim, item, position)
        elif cls is slice:
            walk.out = _slice(walk.out, walk.dim, item, False)
            walk.dim += 1
        elif item is ...:
            walk.dim += self._spec.ndim - specified
        elif item is None:
            walk.out = unsqueeze_op.single(walk.out, walk.dim)
            walk.dim += 1
        elif cls is bool or cls is np.bool_:
            walk.flag(bool(item))
        elif isinstance(item, (Tensor, np.ndarray)) or not hasattr(cls, "__index__"):
            walk.array(item, position)
        else:
            walk.out = _select(walk.out, walk.dim, operator.index(item), position)
    return walk.out, walk.index()


def _plain_part(self, items: tuple, specified: int):
    """The view at integers, slices, None and Ellipsis: one view after the other."""
    out, dim = self, 0
    for position, item in enumerate(items):
        cls = item.__class__
        if cls is int:
            out = _select(out, dim, item, position)
        elif cls is slice:
            out = _slice(out, dim, item, False)
            dim += 1
        elif item is None:
            out = unsqueeze_op.single(out, dim)
            dim += 1
        else:
            dim += self._spec.ndim - specified
    return out


# --- reading ---


def getitem(self, index):
    """The part of the tensor at an index: a view for integers, slices, None and ..., a copy where tensors index."""
    cls = index.__class__
    if cls is int:
        return _select(self, 0, index, 0)
    if cls is slice:
        return _slice(self, 0, index, True)
    if index is None:
        return unsqueeze_op.single(self, 0)
    if index is ...:
        return alias.single(self)
    if cls is Tensor and index._spec.ndim and self._spec.ndim:
        kind = index._spec.dtype
        if kind is int64 or kind is bool_ and index._spec.shape == self._spec.shape:
            return indexed(self, Index.of((index._array,), index))
    if cls is tuple and (indices := _all_tensors(self, index)) is not None:
        return indexed(self, indices)
    out, indices = take_apart(self, index if cls is tuple else _items(index))
    if indices is None:
        return alias.single(out) if out is self else out
    return indexed(out, indices)


def _all_tensors(self, items: tuple) -> Index | None:
    """The Index that one or more int64 tensors and full slices make; None for anything else."""
    arrays: list = []
    tensors = []
    for item in items:
        if item.__class__ is Tensor and item._spec.dtype is int64 and item._spec.ndim:
            tensors.append(item)
            arrays.append(item._array)
        elif item == FULL if item.__class__ is slice else False:
            arrays.append(FULL)
        else:
            return None
    return Index.of(arrays, *tensors) if tensors and len(items) <= self._spec.ndim else None


def indexed(self, indices: Index):
    try:
        return index_op.single(self, indices)
    except (IndexError, ValueError):
        raise index_error(self._spec.shape, indices) from None


# --- writing ---


def _unrecorded(tensor) -> bool:
    """Whether nothing that happens to the tensor is recorded."""
    if modes.unusual and not state.grad_enabled:
        return True
    return tensor._edge is None and (tensor._view is None or view_edge(tensor) is None)


def _direct(self, index, value) -> bool:
    """Write a number, or a tensor of the same dtype, where nothing is recorded; False for what needs more care."""
    if modes.detour or self._counter is None or not _unrecorded(self):
        return False
    items = index if index.__class__ is tuple else (index,)
    found = []
    for item in items:
        cls = item.__class__
        if cls is int or cls is slice and item.step is None or item is ...:
            found.append(item)
        elif cls is Tensor and item._spec.ndim and item._spec.dtype in (int64, bool_):
            found.append(item._array)
        else:
            return False
    array = self._array
    if not array.flags.writeable or 0 in array.strides:
        return False
    try:
        if value.__class__ is Tensor:
            if (
                value._spec.dtype is not self._spec.dtype
                or not _unrecorded(value)
                or any(type(i) is np.ndarray for i in found)
            ):
                return False
            target, source = array[(*found, ...) if ... not in items else tuple(found)], value._array
            if target.shape != source.shape or value._counter is self._counter and np.may_share_memory(target, source):
                return False
            target[...] = source
        else:
            array[tuple(found)] = value
    except (IndexError, ValueError, OverflowError, RuntimeWarning):
        return False
    self._counter[0] += 1
    return True


def setitem(self, index, value):
    """Write a number or a tensor, broadcast, at an index."""
    cls = value.__class__
    if (cls is float and self._spec.direct or cls is Tensor) and _direct(self, index, value):
        return
    if not isinstance(value, Tensor):
        if not isinstance(value, NUMBERS):
            name = self._spec.dtype.type_name
            raise TypeError(f"can't assign a {argument_type_name(value)} to a {name}")
        value = wrap(np.array(fill_value(value, self._spec.dtype), self._spec.array_dtype))
    if index is False:
        return
    if index is None or index is True:
        _copy_to(unsqueeze_op.single(self, 0), value)
        return
    if index.__class__ is int:
        _copy_to(_select(self, 0, index, 0), value)
        return
    if index.__class__ is slice:
        _copy_to(_slice(self, 0, index, False), value)
        return
    out, indices = take_apart(self, index if index.__class__ is tuple else _items(index))
    if indices is None:
        _copy_to(out, value)
        return
    shape = _without_leading_ones(value._spec.shape)
    if shape != value._spec.shape:
        value = view_op.single(value, shape)
    _index_put_(out, indices, value, False)


def _without_leading_ones(shape: tuple) -> tuple:
    first = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return shape[first:]


def _copy_to(target, value) -> None:
    shape = value._spec.shape
    if shape == target._spec.shape:
        target.copy_(value)
    elif not shape:
        target.fill_(value)
    else:
        short = _without_leading_ones(shape)
        if short != shape or value._edge is not None:  # a view that PyTorch makes in any case: it shows in the graph
            value = view_op.single(value, short)
        if short != target._spec.shape:
            value = expand(value, target._spec.shape)
        target.copy_(value)


def _index_put_(self, indices: Index, values, accumulate: bool):
    try:
        if 0 in self._array.strides:
            warn_once(
                "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
                "operation. This also applies to advanced indexing e.g. tensor[indices] = tensor"
            )
        return write_inplace(
            index_put_op, (self, values, indices, accumulate, None, None, 1), _check_values, expanded=True
        )
    except (IndexError, ValueError):
        raise index_error(self._spec.shape, indices) from None


def _tensor_indices(self, indices, name: str):
    """The Index that a tuple of tensors stands for."""
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'indices' (position 1) must be tuple of Tensors, not {argument_type_name(indices)}"
        )
    if len(indices) > self._spec.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._spec.ndim} (got {len(indices)})")
    walk = _Walk(self)
    for position, item in enumerate(indices):
        if not isinstance(item, Tensor):
            raise TypeError(f"expected Tensor as element {position} in argument 0, but got {argument_type_name(item)}")
        if item._spec.ndim == 0 and not _is_mask(item):
            item = item.reshape((1,))
        walk.array(item, position)
    return walk.index()


@composite(method=False)
def index_put(input, indices, values, accumulate=False):
    """A copy with values written (or, with accumulate, added) at a tuple of index tensors."""
    found = _tensor_indices(input, indices, "index_put")
    _check_values(input, values, found)
    try:
        return index_put_op.general(input, values, found, accumulate, None, None, 1)
    except (IndexError, ValueError):
        raise index_error(input._spec.shape, found) from None


@composite
def index_put_(input, indices, values, accumulate=False):
    """Write (or, with accumulate, add) values at a tuple of index tensors of this tensor."""
    return _index_put_(input, _tensor_indices(input, indices, "index_put_"), values, accumulate)


put_method("index_put", index_put)
put_method("__getitem__", getitem)
put_method("__setitem__", setitem)
