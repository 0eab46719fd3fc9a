"""Elements picked by index tensors and masks: gather, index_select, take, masked_select, nonzero, embedding, one_hot.

Each turns its index into an `Index`, a NumPy index; they share one kernel and one derivative, and differ in their
nodes.
"""

import functools

import numpy as np

from ..core import placing, vocabulary
from ..core.declare import Array, Op, composite, op
from ..core.dtype import bool_, int32, int64
from ..core.general import broadcast_shapes
from ..core.inplace import bump
from ..core.node import version_error
from ..core.tensor import Tensor, wrap
from .shape import as_dim, as_int, as_ints, expect_tensor
from .slicing import FULL

__all__ = ["Index", "index_op", "along", "rows", "index_array", "gather", "renormed"]


class Index(tuple):
    """A NumPy index of slices, integer arrays and masks, with the versions of the tensors it was made from."""

    guards: tuple = ()

    @classmethod
    def of(cls, items, *tensors) -> "Index":
        made = cls(items)
        made.guards = tuple((t._array, t._counter, t._counter[0]) for t in tensors if t._counter is not None)
        return made

    def checked(self) -> "Index":
        """Itself; RuntimeError where one of the tensors has been changed since."""
        for array, counter, version in self.guards:
            if counter[0] != version:
                raise version_error(None, 0, array, counter[0], version)
        return self


# --- one kernel for all that read ---


def _read(self, indices):
    self = placing.lined(self, indices)
    axes = [i for i, a in enumerate(indices) if type(a) is not slice]
    if len(axes) == 1:
        only = indices[axes[0]]
        if only.dtype != np.bool:
            return self.take(only, axis=axes[0])
        if only.ndim == 1 and self.ndim > 1:
            return self.take(only.nonzero()[0], axis=axes[0])
    out = self[indices]
    return out if out.flags.c_contiguous else np.ascontiguousarray(out)


def _reading(name: str, node: str) -> Op:
    @op(name=name, node=node, method=False, namespace=None, frees=("indices",))
    def read(self: Array, indices):
        return _read(self, indices)

    @read.derivative(of="self")
    def _(xp, grad, self_shape, indices):
        return xp.accumulate(grad, self_shape, indices.checked())

    return read


index_op = _reading("index", "IndexBackward0")
gather_op = _reading("gather", "GatherBackward0")
index_select_op = _reading("index_select", "IndexSelectBackward0")
take_op = _reading("take", "TakeBackward0")
index_op.function = index_op.single


# --- what their derivatives are made of ---


@op(method=False, namespace=None)
def accumulate(self: Array, shape, indices):
    """Zeros of `shape` with the elements added at an index."""
    return vocabulary.accumulate(self, shape, indices)


@op(method=False, namespace=None)
def index_last(self: Array, indices):
    """The elements at an index, zeros for those whose place occurs again later."""
    return vocabulary.index_last(self, indices)


@op(method=False, namespace=None)
def place_last(self: Array, shape, indices):
    """Zeros of `shape` with the elements written at an index."""
    return vocabulary.place_last(self, shape, indices)


@op(method=False, namespace=None)
def clear(self: Array, indices):
    """The tensor with zeros at an index."""
    return vocabulary.clear(self, indices)


accumulate.derivative(of="self")(lambda xp, grad, indices: xp.index(grad, indices))
index_last.derivative(of="self")(lambda xp, grad, self_shape, indices: xp.place_last(grad, self_shape, indices))
place_last.derivative(of="self")(lambda xp, grad, indices: xp.index_last(grad, indices))
clear.derivative(of="self")(lambda xp, grad, indices: xp.clear(grad, indices))


# --- indices ---


def along(shape: tuple, dim: int, index: Tensor) -> Index:
    """The Index that takes `index` along one dimension and counts through the others, as gather and scatter do."""
    array = index._array
    if array.dtype != np.int64:
        array = array.astype(np.int64)
    ndim = len(shape)
    if ndim <= 1:
        return Index.of((array,), index)
    if ndim == 2:
        other = _counted(array.shape[1 - dim])
        return Index.of((array, other) if dim == 0 else (other[:, None], array), index)
    items = []
    for d in range(ndim):
        if d == dim:
            items.append(array)
        else:
            step = [1] * ndim
            step[d] = array.shape[d]
            items.append(np.arange(array.shape[d]).reshape(step))
    return Index.of(items, index)


@functools.lru_cache(32)
def _counted(n: int):
    counted = np.arange(n)
    counted.flags.writeable = False
    return counted


def rows(dim: int, index: Tensor) -> Index:
    """The Index that takes a one-dimensional `index` along one dimension, as index_select does."""
    array = index._array.astype(np.int64, copy=False)
    return Index.of((*(FULL,) * dim, array.reshape(-1)), index)


def flat(shape: tuple, index: Tensor) -> Index:
    """The Index of places counted through the whole tensor, as take and put use them."""
    array = index._array
    numel = int(np.prod(shape))
    check_range(
        array, -numel, numel,
        lambda i: IndexError(f"out of range: tried to access index {i} on a tensor of {numel} elements."),
    )  # fmt: skip
    array = np.where(array < 0, array + numel, array)
    return Index.of(np.unravel_index(array, shape) if len(shape) > 1 else (array,), index)


def check_range(array, low: int, high: int, error) -> None:
    """Raise what `error` makes of the first index that is not in range(low, high)."""
    if not array.size:
        return
    if low == 0 and array.dtype == np.int64 and array.flags.c_contiguous:
        if np.maximum.reduce(array.view(np.uint64), axis=None) < high:  # a negative number is a huge one here
            return
    elif np.minimum.reduce(array, axis=None) >= low and np.maximum.reduce(array, axis=None) < high:
        return
    raise error(array[(array < low) | (array >= high)].flat[0])


def index_array(index, name: str, position: int = 2) -> Tensor:
    """The index, checked to be a tensor."""
    return expect_tensor(index, name, "index", position)


def check_along(self, dim: int, index: Tensor, name: str) -> None:
    """RuntimeError for an index that does not go with the tensor along `dim`, in the words of gather and scatter."""
    if index._spec.dtype not in (int64, int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    size = self._spec.shape[dim] if self._spec.ndim else 1
    check_range(
        index._array, 0, size,
        lambda i: RuntimeError(f"index {i} is out of bounds for dimension {dim} with size {size}"),
    )  # fmt: skip


# --- the operations ---


def _gather(input, dim, index, *, sparse_grad=False):
    """The elements of input at `index` along one dimension, the other coordinates those of the element itself."""
    shape, at = expect_tensor(input, "gather")._spec.shape, index_array(index, "gather")._spec.shape
    dim = as_dim(dim, len(shape), "gather")
    if index._spec.dtype not in (int64, int32):
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    if max(len(at), 1) != max(len(shape), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for d, (n, m) in enumerate(zip(at, shape)):
        if d != dim and n > m:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(at)} to be no larger than self "
                f"{list(shape)} apart from dimension {dim}"
            )
    check_along(input, dim, index, "gather")
    return gather_op.single(input, along(shape, dim, index))


def _with_out(name: str, function):
    """A function and method with `out=`."""
    from ..core.outputs import check_out, refuse_out_gradient, write_out

    def call(*args, out=None, **kwargs):
        if out is None:
            return function(*args, **kwargs)
        refuse_out_gradient(name, [a for a in args if isinstance(a, Tensor)], (out,))
        result = function(*args, **kwargs)
        check_out(name, out, result._spec.dtype)
        write_out(out, result._array)
        return out

    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    return composite(call)


gather = _with_out("gather", _gather)


def _index_select(input, dim, index):
    """The parts at the places of a one-dimensional `index` along one dimension."""
    shape = expect_tensor(input, "index_select")._spec.shape
    dim = as_dim(dim, len(shape), "index_select")
    index_array(index, "index_select")
    if index._spec.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index._spec.dtype not in (int64, int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not shape and index._spec.numel != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index._spec.numel} value(s)")
    size = shape[dim] if shape else 1
    check_range(index._array, 0, size, lambda i: IndexError("index out of range in self"))
    if not shape:
        return index_select_op.single(input, Index.of((index._array.reshape(()),), index))
    return index_select_op.single(input, rows(dim, index))


index_select = _with_out("index_select", _index_select)


def _take(input, index):
    """The elements at places counted through the whole tensor, in the shape of `index`."""
    shape = expect_tensor(input, "take")._spec.shape
    index_array(index, "take", 1)
    if index._spec.dtype is not int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index._spec.dtype.scalar_name}")
    if not input._spec.numel and index._spec.numel:
        raise IndexError("take(): tried to take from an empty tensor")
    return take_op.single(input, flat(shape, index))


take = _with_out("take", _take)


def _take_along_dim(input, indices, dim=None):
    """The elements at `indices` along one dimension (of the flattened tensor without one), the others broadcast."""
    expect_tensor(input, "take_along_dim")
    expect_tensor(indices, "take_along_dim", "indices", 2)
    if dim is None:
        return _gather(input.reshape(-1), 0, indices.reshape(-1))
    shape, at = input._spec.shape, indices._spec.shape
    if len(shape) != len(at):
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{len(shape)} dimensions for input, and {len(at)} dimensions for indices"
        )
    if indices._spec.dtype is not int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {indices._spec.dtype.scalar_name}"
        )
    dim = as_dim(dim, len(shape), "take_along_dim")
    together = broadcast_shapes(
        (*shape[:dim], 1, *shape[dim + 1 :]) if shape else (), (*at[:dim], 1, *at[dim + 1 :]) if at else ()
    )
    wide = (*together[:dim], shape[dim], *together[dim + 1 :]) if shape else ()
    long = (*together[:dim], at[dim], *together[dim + 1 :]) if at else ()
    return _gather(input.broadcast_to(wide), dim, indices.broadcast_to(long))


take_along_dim = _with_out("take_along_dim", _take_along_dim)


@op(name="masked_select", method=False, namespace=None, frees=("indices",))
def masked_select_op(self: Array, shape, indices):
    return (self if self.shape == shape else np.broadcast_to(self, shape))[indices]


@masked_select_op.derivative(of="self")
def _(xp, grad, shape, indices):
    return xp.accumulate(grad, shape, indices.checked())


def _masked_select(input, mask):
    """The elements where the mask holds, in one dimension; input and mask broadcast."""
    expect_tensor(input, "masked_select")
    expect_tensor(mask, "masked_select", "mask", 2)
    if mask._spec.dtype is not bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = broadcast_shapes(mask._spec.shape, input._spec.shape) or (1,)
    return masked_select_op.single(input, shape, Index.of((np.broadcast_to(mask._array, shape),), mask))


masked_select = _with_out("masked_select", _masked_select)


# --- where a tensor is not zero ---


@composite
def nonzero(input, *, out=None, as_tuple=False):
    """The indices of all elements that are not zero: a row each, or with as_tuple a tensor of coordinates per
    dimension."""
    array = expect_tensor(input, "nonzero")._array
    if as_tuple:
        return tuple(wrap(np.ascontiguousarray(a)) for a in np.atleast_1d(array).nonzero())
    # Laid out by columns, as PyTorch does.
    found = np.array(array.nonzero()).T if array.ndim else np.empty((int(bool(array)), 0), np.int64)
    if out is not None:
        from ..core.outputs import check_out, write_out

        check_out("nonzero", out, int64)
        write_out(out, found)
        return out
    return wrap(found)


@composite
def argwhere(input):
    """The indices of all elements that are not zero, a row each."""
    return nonzero(input)


@composite(method=False)
def unravel_index(indices, shape):
    """The coordinates, a tensor per dimension, of places counted through a tensor of this shape."""
    shape = as_ints((shape,), "unravel_index", "shape", 2)
    rest, out = expect_tensor(indices, "unravel_index", "indices")._array, []
    for n in reversed(shape):
        out.append(wrap(np.asarray(rest % n)))
        rest = rest // n
    return tuple(reversed(out))


# --- embedding ---


@op(name="embedding", method=False, namespace=None, frees=("indices",))
def embedding_op(self: Array, indices, counts):
    """Rows of a matrix; `counts`: None, or by what the gradient of each row picked is divided (0: no gradient)."""
    return self.take(indices[0], axis=0)


@embedding_op.derivative(of="self")
def _(xp, grad, self_shape, indices, counts):
    return xp.embedding_vjp(grad, self_shape, indices.checked(), counts)


@op(method=False, namespace=None)
def embedding_vjp(self: Array, shape, indices, counts):
    """Zeros of `shape` with the elements, each divided by its count, added to rows."""
    return vocabulary.embedding_vjp(self, shape, indices, counts)


@embedding_vjp.derivative(of="self")
def _(xp, grad, indices, counts):
    return xp.embedding_rows(grad, indices, counts)


@op(method=False, namespace=None)
def embedding_rows(self: Array, indices, counts):
    """Rows of a matrix, each divided by its count."""
    return vocabulary.embedding_rows(self, indices, counts)


@embedding_rows.derivative(of="self")
def _(xp, grad, self_shape, indices, counts):
    return xp.embedding_vjp(grad, self_shape, indices, counts)


def renormed(weight, used, max_norm: float, norm_type: float) -> None:
    """Scale down, in place, the rows in use whose norm is above max_norm."""
    array = weight._array
    if not weight._spec.inexact:
        name = weight._spec.dtype.scalar_name
        raise RuntimeError(f"norm(): input dtype should be either floating point or complex. Got {name} instead.")
    for row in np.unique(used):
        norm = np.linalg.norm(array[row], norm_type)
        if norm > max_norm:
            array[row] *= max_norm / (norm + 1e-7)
    bump(weight)


@composite(method=False, namespace="nn.functional")
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of `weight` that the integers of `input` name; the row `padding_idx` gets no gradient.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html"""
    expect_tensor(input, "embedding", "indices", 2)
    expect_tensor(weight, "embedding", "weight", 1)
    shape = weight._spec.shape
    if padding_idx is not None:
        padding_idx = as_int(padding_idx, "embedding", "padding_idx")
        if padding_idx >= (shape[0] if shape else 0):
            raise AssertionError("Padding_idx must be within num_embeddings")
        if padding_idx < 0:
            if padding_idx < -shape[0]:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx += shape[0]
    if sparse:
        raise NotImplementedError("chainrule has no sparse tensors: embedding(…, sparse=True) is not supported")
    if len(shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    if input._spec.dtype not in (int64, int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input._spec.dtype.type_name} instead (while checking arguments for embedding)"
        )
    array = input._array
    check_range(array, 0, shape[0], lambda i: IndexError("index out of range in self"))
    if max_norm is not None:
        renormed(weight, array, max_norm, norm_type)
    counts = None
    if scale_grad_by_freq:
        counts = np.bincount(array.reshape(-1), minlength=shape[0])[array]
    if padding_idx is not None:
        counts = np.where(array == padding_idx, 0, 1 if counts is None else counts)
    return embedding_op.single(weight, Index.of((array.astype(np.int64, copy=False),), input), counts)


@composite(method=False, namespace="nn.functional")
def one_hot(tensor, num_classes=-1):
    """For every integer a row of zeros with a 1 at its place."""
    expect_tensor(tensor, "one_hot", "tensor")
    if tensor._spec.dtype is not int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    array = tensor._array
    if not array.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return wrap(np.zeros((*array.shape, num_classes), np.int64))
    if array.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(array.max()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif array.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return wrap((array[..., None] == np.arange(num_classes)).astype(np.int64))
