"""Values written or added at index tensors and masks: index_put, scatter, index_copy, index_add, put, masked_scatter …

They share one kernel over an `Index` and one pair of derivatives, and differ in their nodes. Where an index leads to
one
place twice the last value written stays, and it alone has a gradient.
"""

import numpy as np

from ..core import placing, vocabulary
from ..core.declare import Array, Op, composite, op, put_method
from ..core.dtype import argument_type_name, bool_, int32, int64
from ..core.general import NUMBERS, broadcast_shapes
from ..core.registry import publish
from ..core.tensor import Tensor, wrap
from .casting import fill_value
from .gathering import Index, along, check_along, check_range, flat, index_array, rows
from .shape import as_dim, expect_tensor
from .slicing import at_dim, select
from .striding import as_strided, expand
from .writing import write_inplace

__all__ = ["index_put_op", "both"]


# --- one kernel for all that write ---


def _arranged(values, shape, part):
    """The values as they are written: in another shape, or a part of them."""
    if shape is not None:
        values = values.reshape(shape)
    return values if part is None else values[part]


def _put(array, values, indices, accumulate, shape, part, alpha) -> None:
    array = placing.lined(array, indices)
    values = _arranged(values, shape, part).astype(array.dtype, copy=False)
    if accumulate:
        placing.add_at(array, indices, values if alpha == 1 else values * np.asarray(alpha, values.dtype))
    elif len(indices) == 1 and indices[0].dtype == np.bool and not values.ndim and indices[0].ndim == array.ndim:
        np.copyto(array, values, where=indices[0])
    else:
        placing.write_at(array, indices, values)


def _writing(name: str, node: str, number: bool = False) -> Op:
    """An operation that writes `values` at `indices`, or adds them times alpha; `number`: values are no operand of
    the node."""

    @op(name=name, node=node, method=False, namespace=None, frees=("indices",))
    def write(self: Array, values: Array, indices, accumulate, shape, part, alpha):
        out = self.copy()
        _put(out, values, indices, accumulate, shape, part, alpha)
        return out

    write.writer = _put

    @write.derivative(of="self")
    def _(xp, grad, indices, accumulate):
        return grad if accumulate else xp.clear(grad, indices.checked())

    if number:
        return write

    @write.derivative(of="values")
    def _(xp, grad, values_shape, indices, accumulate, shape, part, alpha):
        out = (xp.index if accumulate else xp.index_last)(grad, indices.checked())
        if alpha != 1:
            out = out * alpha
        if part is not None:
            out = xp.place(out, values_shape if shape is None else shape, part)
        return out if shape is None else xp.reshape(out, values_shape)

    return write


index_put_op = _writing("index_put", "IndexPutBackward0")
scatter_op = _writing("scatter", "ScatterBackward0")
scatter_number = _writing("scatter_value", "ScatterBackward1", number=True)
scatter_add_op = _writing("scatter_add", "ScatterAddBackward0")
index_add_op = _writing("index_add", "IndexAddBackward0")
index_copy_op = _writing("index_copy", "IndexCopyBackward0")
index_fill_number = _writing("index_fill", "IndexFillBackward0", number=True)
index_fill_tensor = _writing("index_fill_tensor", "IndexFillBackward1")
put_op = _writing("put", "PutBackward0")
masked_scatter_op = _writing("masked_scatter", "MaskedScatterBackward0")


def both(prepare, name: str, namespace="torch"):
    """Declare `name` and its in-place twin. `prepare(input, *arguments)` checks the arguments and returns the operation
    and what it takes after its first operand."""

    def call(input, *args, **kwargs):
        operation, arguments = prepare(expect_tensor(input, name), *args, **kwargs)
        return operation.general(input, *arguments)

    def call_inplace(input, *args, **kwargs):
        operation, arguments = prepare(expect_tensor(input, name + "_"), *args, **kwargs)
        return write_inplace(operation, (input, *arguments))

    call_inplace.__name__ = call_inplace.__qualname__ = name + "_"
    call_inplace.__doc__ = f"{name}, in this tensor."
    call.__name__ = call.__qualname__ = name
    call.__doc__ = prepare.__doc__
    put_method(name, call)
    put_method(name + "_", call_inplace)
    publish(namespace, name, call)
    return call


def _number(value, self) -> Tensor:
    return wrap(np.array(fill_value(value, self._spec.dtype), self._spec.array_dtype))


# --- scatter ---


def _corner(shape: tuple):
    """The part of a larger tensor that an index of this shape reaches."""
    return (*[slice(0, n) for n in shape], ...)


def check_scatter(self, dim, index, src, name: str = "scatter") -> int:
    """The dimension; PyTorch's errors for an index or a source that do not go with the tensor."""
    shape, at = self._spec.shape, index_array(index, name)._spec.shape
    dim = as_dim(dim, len(shape), name)
    if index._spec.dtype not in (int64, int32):
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    if src is not None and src._spec.dtype is not self._spec.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if 0 in at:
        return dim
    if max(len(at), 1) != max(len(shape), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    theirs = src._spec.shape if src is not None else None
    if theirs is not None and max(len(at), 1) != max(len(theirs), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    fits = all(n <= m for d, (n, m) in enumerate(zip(at, shape)) if d != dim)
    if not fits or theirs is not None and any(n > m for n, m in zip(at, theirs)):
        text = f"Expected index {list(at)} to be no larger than self {list(shape)} apart from dimension {dim}"
        if theirs is not None:
            text += f" and to be no larger size than src {list(theirs)}"
        raise RuntimeError(text)
    check_along(self, dim, index, "scatter")
    return dim


def scatter_arguments(self, dim, index, src) -> tuple:
    """(Index, shape and part of src) for operations that take a source as scatter does."""
    shape, at = self._spec.shape, index._spec.shape
    if 0 in at and len(at) != len(shape):
        at = (0,) * len(shape)
        index = wrap(np.empty(at, np.int64))
    places = along(shape, dim, index if at else index.reshape((1,)))
    if src is None:
        return places, None, None
    theirs = src._spec.shape
    wanted = None if theirs else (1,)
    part = None if at == theirs or not theirs else _corner(at or (1,))
    return places, wanted, part


def _scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """A copy with the elements of src, or one number, written at `index` along one dimension.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html"""
    source = value if src is None else src
    if not isinstance(source, (Tensor, *NUMBERS)):
        got = ", ".join(argument_type_name(a) for a in (dim, index, source))
        raise TypeError(f"scatter() received an invalid combination of arguments - got ({got}), but expected one of:")
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    is_number = not isinstance(source, Tensor)
    dim = check_scatter(input, dim, index, None if is_number else source)
    places, shape, part = scatter_arguments(input, dim, index, None if is_number else source)
    if is_number:
        source = _number(source, input)
    if reduce is not None:
        return scatter_by, (source, places, reduce == "add", shape, part)
    return scatter_number if is_number else scatter_op, (source, places, False, shape, part, 1)


def _by(array, values, indices, add, shape, part) -> None:
    array = placing.lined(array, indices)
    values = _arranged(values, shape, part)
    if add:
        placing.add_at(array, indices, np.broadcast_to(values, np.broadcast_shapes(*[i.shape for i in indices])))
    else:
        np.multiply.at(array, indices, values)


@op(name="scatter_by", method=False, namespace=None)
def scatter_by(self: Array, values: Array, indices, add, shape, part):
    out = self.copy()
    _by(out, values, indices, add, shape, part)
    return out


scatter_by.writer = _by


@scatter_by.derivative(of="self")
def _(xp, grad):
    raise RuntimeError("derivative for aten::scatter is not implemented")


scatter_by.node_type.name = lambda node: "torch::autograd::NotImplemented"


def _scatter_add(input, dim, index, src):
    """A copy with the elements of src added at `index` along one dimension."""
    dim = check_scatter(input, dim, index, expect_tensor(src, "scatter_add", "src", 3), "scatter_add")
    places, shape, part = scatter_arguments(input, dim, index, src)
    return scatter_add_op, (src, places, True, shape, part, 1)


scatter = both(_scatter, "scatter")
scatter_add = both(_scatter_add, "scatter_add")


# --- along one dimension: index_add, index_copy, index_fill ---


def _vector(index, name: str) -> Tensor:
    index_array(index, name)
    if index._spec.ndim > 1:
        raise IndexError(
            f"{name}_(): Index is supposed to be a vector, but got dim: {index._spec.ndim} with type: "
            f"{index._spec.dtype.scalar_name} and size: {list(index._spec.shape)}"
        )
    return index


def _index_add(input, dim, index, source, *, alpha=1):
    """A copy with alpha times the parts of source added at the places of a one-dimensional `index` along one
    dimension."""
    shape, theirs = input._spec.shape, expect_tensor(source, "index_add", "source", 3)._spec.shape
    dim = as_dim(dim, len(shape), "index_add")
    count = _vector(index, "index_add")._spec.numel
    if index._spec.dtype not in (int64, int32):
        raise RuntimeError("index_add_(): Expected dtype int32/int64 for index")
    if input._spec.dtype is not source._spec.dtype:
        raise RuntimeError(
            f"index_add_(): self ({input._spec.dtype.scalar_name}) and source ({source._spec.dtype.scalar_name}) must "
            "have the same scalar type"
        )
    size = theirs[dim] if dim < len(theirs) else 1
    if count != size:
        raise RuntimeError(
            f"index_add_(): Number of indices ({count}) should be equal to source.size(dim): ({size}), for dim: {dim}"
        )
    if (*shape[:dim], *shape[dim + 1 :]) != (*theirs[:dim], *theirs[dim + 1 :]):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(shape)} source.shape = {list(theirs)}"
        )
    _check_size(index, shape, dim, RuntimeError)
    return index_add_op, (source, rows(dim, index), True, None if theirs else (1,), None, alpha)


def _check_size(index, shape, dim, error, prefix="") -> None:
    size = shape[dim] if shape else 1
    check_range(
        index._array,
        0,
        size,
        lambda i: error(f"{prefix}index {i} is out of bounds for dimension {dim} with size {size}"),
    )


def _index_copy(input, dim, index, source):
    """A copy with the parts of source written at the places of a one-dimensional `index` along one dimension."""
    shape, theirs = input._spec.shape, expect_tensor(source, "index_copy", "source", 3)._spec.shape
    dim = as_dim(dim, len(shape), "index_copy")
    index_array(index, "index_copy")
    if index._spec.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index._spec.ndim})")
    count = index._spec.numel
    size = theirs[dim] if theirs else 1
    if not theirs and count != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {count})")
    if theirs and shape and len(theirs) != len(shape):
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({len(theirs)}), destination dimensionality ({len(shape)})"
        )
    if index._spec.dtype is not int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {index._spec.dtype.scalar_name}")
    if input._spec.dtype is not source._spec.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{input._spec.dtype.scalar_name} and (source) {source._spec.dtype.scalar_name}"
        )
    mine, other = (*shape[:dim], *shape[dim + 1 :]), (*theirs[:dim], *theirs[dim + 1 :])
    if mine != other:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{' '.join(map(str, mine))} at dimension {dim} and source slice shape: {' '.join(map(str, other))} at "
            "dimension 0."
        )
    if theirs and count != size:
        raise IndexError(f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({size})")
    _check_size(index, shape, dim, IndexError, "index_copy_(): ")
    return index_copy_op, (source, rows(dim, index), False, None if theirs else (1,), None, 1)


def _index_fill(input, dim, index, value):
    """A copy with one number, or a 0-dim tensor, at the places of a one-dimensional `index` along one dimension."""
    shape = input._spec.shape
    dim = as_dim(dim, len(shape), "index_fill")
    index_array(index, "index_fill")
    if not isinstance(value, (Tensor, *NUMBERS)):
        got = ", ".join(argument_type_name(a) for a in (dim, index, value))
        raise TypeError(
            f"index_fill() received an invalid combination of arguments - got ({got}), but expected one of:"
        )
    if isinstance(value, Tensor) and value._spec.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._spec.ndim} dimension(s)."
        )
    if index._spec.dtype is not int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index._spec.ndim > 1:
        raise IndexError("Index has to be a vector/scalar")
    if isinstance(value, complex) and not input._spec.dtype.is_complex:
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    size = shape[dim] if shape else 1
    check_range(
        index._array, -size, size,
        lambda i: IndexError(f"index {i} is out of bounds for dimension {dim} with size {size}"),
    )  # fmt: skip
    if isinstance(value, Tensor):
        return index_fill_tensor, (value, rows(dim, index), False, None, None, 1)
    return index_fill_number, (_number(value, input), rows(dim, index), False, None, None, 1)


index_add = both(_index_add, "index_add")
index_copy = both(_index_copy, "index_copy")
index_fill = both(_index_fill, "index_fill")


# --- through the whole tensor: put, masked_scatter ---


def _put_arguments(input, index, source, accumulate=False):
    """A copy with the elements of source written, or added, at places counted through the whole tensor."""
    index_array(index, "put", 1)
    expect_tensor(source, "put", "source", 2)
    if input._spec.dtype is not source._spec.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{input._spec.dtype.scalar_name} and source.dtype = {source._spec.dtype.scalar_name}"
        )
    if index._spec.dtype is not int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {index._spec.dtype.scalar_name}")
    if source._spec.numel != index._spec.numel:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source._spec.numel}, index.numel() = {index._spec.numel}"
        )
    shape = input._spec.shape or (1,)
    return put_op, (source, flat(shape, index), accumulate, index._spec.shape, None, 1)


def _masked_scatter(input, mask, source):
    """A copy with the elements of source, one after the other, where the mask holds."""
    expect_tensor(mask, "masked_scatter", "mask", 1)
    expect_tensor(source, "masked_scatter", "source", 2)
    if input._spec.dtype is not source._spec.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{input._spec.dtype.scalar_name} and {source._spec.dtype.scalar_name}"
        )
    if mask._spec.dtype is not bool_:
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask._spec.dtype.scalar_name}"
        )
    array = expand(mask, input._spec.shape)._array
    count = int(np.count_nonzero(array))
    if source._spec.numel < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    return masked_scatter_op, (
        source,
        Index.of((array,), mask),
        False,
        (source._spec.numel,),
        (slice(0, count), ...),
        1,
    )


put = both(_put_arguments, "put")
_masked_scatter_same = both(_masked_scatter, "masked_scatter")


@composite
def masked_scatter(input, mask, source):
    """The elements of source, one after the other, where the mask holds, input elsewhere; input and mask broadcast."""
    if isinstance(mask, Tensor) and mask._spec.shape != input._spec.shape:
        shape = broadcast_shapes(mask._spec.shape, input._spec.shape)
        input = input if shape == input._spec.shape else expand(input, shape)
    return _masked_scatter_same(input, mask, source)


# --- into a part that a view shows ---


def _viewed(self, show) -> Index:
    """The Index of the elements that a view of the tensor would show; `show` makes that view of an array."""
    shape = self._spec.shape
    places = np.asarray(show(np.arange(self._spec.numel).reshape(shape)), order="C")
    return Index(np.unravel_index(places, shape)) if shape else Index((places,))


def _into_view(name: str, node: str, prepare):
    operation = _writing(name, node)

    def call(input, src, *args, **kwargs):
        expect_tensor(input, name)
        expect_tensor(src, name, "src", 2)
        indices = _viewed(input, prepare(input, *args, **kwargs))
        shape = indices[0].shape
        if src._spec.shape != shape:
            raise RuntimeError(
                "expected src to have a size equal to the slice of self. src size = "
                f"{list(src._spec.shape)}, slice size = {list(shape)}"
            )
        return operation.general(input, src, indices, False, None, None, 1)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = prepare.__doc__
    return composite(call)


def _select_part(self, dim, index):
    """A copy with src written at one index of a dimension."""
    select(self.detach(), dim, index)  # for its checks
    dim = as_dim(dim, self._spec.ndim, "select_scatter")
    return lambda array: array[at_dim(dim, int(index))]


def _slice_part(self, dim=0, start=None, end=None, step=1):
    """A copy with src written at a slice of a dimension."""
    dim = as_dim(dim, self._spec.ndim, "slice_scatter")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    return lambda array: array[at_dim(dim, slice(start, end, step))]


def _diagonal_part(self, offset=0, dim1=0, dim2=1):
    """A copy with src written on the diagonal of two dimensions."""
    ndim = self._spec.ndim
    dim1, dim2 = as_dim(dim1, ndim, "diagonal_scatter", "dim1"), as_dim(dim2, ndim, "diagonal_scatter", "dim2")
    if dim1 == dim2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return lambda array: placing.diagonal_view(array, offset, dim1, dim2)


def _strided_part(self, size, stride, storage_offset=None):
    """A copy with src written where as_strided would show the tensor."""
    as_strided(self.detach().contiguous(), size, stride, storage_offset or 0)  # for its checks
    return lambda array: vocabulary.as_strided(array, tuple(size), tuple(stride), storage_offset or 0)


_into_view("select_scatter", "SelectScatterBackward0", _select_part)
_into_view("slice_scatter", "SliceScatterBackward0", _slice_part)
_into_view("diagonal_scatter", "DiagonalScatterBackward0", _diagonal_part)
_into_view("as_strided_scatter", "AsStridedScatterBackward0", _strided_part)
