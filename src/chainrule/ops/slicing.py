"""Parts of a tensor as views: select, slice, narrow, unbind, split and its kin, diagonal, unfold."""

from ..core import placing, vocabulary
from ..core.declare import Array, composite, method, op, put_method, view
from ..core.dtype import argument_type_name
from ..core.tensor import Tensor
from .shape import as_dim, as_int, as_ints, expect_tensor

__all__ = ["select", "slice_op", "getitem", "alias"]

FULL = slice(None)


def at_dim(dim: int, index) -> tuple:
    """The NumPy index that applies `index` to one dimension. The Ellipsis keeps a single element an array."""
    return (index, ...) if dim == 0 else (*(FULL,) * dim, index, ...)


# --- basic indices, for the formulas ---


@view(method=False, namespace=None)
def getitem(self: Array, index):
    """The part at a tuple of integers and slices that ends with Ellipsis."""
    return self[index]


@op(method=False, namespace=None)
def place(self: Array, shape, index):
    """Zeros of `shape` with the elements at a basic index."""
    return vocabulary.place(self, shape, index)


getitem.derivative(of="self")(lambda xp, grad, self_shape, index: xp.place(grad, self_shape, index))
place.derivative(of="self")(lambda xp, grad, index: xp.getitem(grad, index))


@view(method=False, namespace=None)
def alias(self: Array):
    """The whole tensor as a view."""
    return self.view()


alias.derivative(of="self")(lambda xp, grad: grad)


# --- one index, one range ---


@view(name="select", method=False, namespace=None)
def select_op(self: Array, dim, index):
    return self[index, ...] if dim == 0 else self[(*(FULL,) * dim, index, ...)]


@select_op.derivative(of="self")
def _(xp, grad, self_shape, dim, index):
    return xp.place(grad, self_shape, at_dim(dim, index))


@composite
def select(input, dim, index):
    """The part at one index of a dimension, without that dimension."""
    shape = expect_tensor(input, "select")._spec.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = as_dim(dim, len(shape), "select")
    index = as_int(index, "select", "index", 2)
    if not -shape[dim] <= index < shape[dim]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}")
    return select_op.single(input, dim, index)


@view(name="slice", method=False, namespace=None)
def slice_op(self: Array, dim, start, end, step):
    return self[start:end:step] if dim == 0 else self[(*(FULL,) * dim, slice(start, end, step))]


@slice_op.derivative(of="self")
def _(xp, grad, self_shape, dim, start, end, step):
    return xp.place(grad, self_shape, at_dim(dim, slice(start, end, step)))


select_op.function = select
slice_op.function = slice_op.single


@composite
def narrow(input, dim, start, length):
    """`length` elements of a dimension, from `start` on."""
    shape = expect_tensor(input, "narrow")._spec.shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    dim = as_dim(dim, len(shape), "narrow")
    if isinstance(start, Tensor) and (start._spec.ndim or start._spec.inexact):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    start, length = as_int(start, "narrow", "start", 2), as_int(length, "narrow", "length", 3)
    size = shape[dim]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice_op.single(input, dim, start, start + length, 1)


@op(name="narrow_copy", method=False, namespace=None)
def narrow_copy_op(self: Array, dim, start, length):
    return self[at_dim(dim, slice(start, start + length))].copy()


@narrow_copy_op.derivative(of="self")
def _(xp, grad, self_shape, dim, start, length):
    return xp.place(grad, self_shape, at_dim(dim, slice(start, start + length)))


@composite
def narrow_copy(input, dim, start, length):
    """A copy of `length` elements of a dimension, from `start` on."""
    part = narrow(input, dim, start, length)
    dim = as_dim(dim, input._spec.ndim, "narrow_copy")
    start = int(start) + input._spec.shape[dim] if int(start) < 0 else int(start)
    return narrow_copy_op.single(input, dim, start, part._spec.shape[dim])


# --- many parts ---


@view(name="unbind", multi=True, method=False, namespace=None)
def unbind_op(self: Array, dim):
    if dim == 0:
        return tuple([self[i, ...] for i in range(self.shape[0])])
    return tuple([self[at_dim(dim, i)] for i in range(self.shape[dim])])


unbind_op.derivative(of="self")(lambda xp, grads, dim: xp.stack(grads, dim))


@composite
def unbind(input, dim=0):
    """The parts at every index of a dimension, as a tuple."""
    ndim = expect_tensor(input, "unbind")._spec.ndim
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return unbind_op.single(input, as_dim(dim, ndim, "unbind"))


def _ranges(self, dim, sizes):
    parts, start = [], 0
    for n in sizes:
        parts.append(self[at_dim(dim, slice(start, start + n))])
        start += n
    return tuple(parts)


@view(name="split", multi=True, method=False, namespace=None)
def split_op(self: Array, split_size, dim):
    size = self.shape[dim]
    count = max((size + split_size - 1) // split_size, 1) if split_size else 1
    return _ranges(self, dim, [min(split_size, size - i * split_size) for i in range(count)])


@view(name="split_with_sizes", multi=True, method=False, namespace=None)
def split_with_sizes_op(self: Array, split_sizes, dim):
    return _ranges(self, dim, split_sizes)


unsafe_split_op = op(split_op.kernel, name="unsafe_split", method=False, namespace=None)
unsafe_split_with_sizes_op = op(
    split_with_sizes_op.kernel, name="unsafe_split_with_sizes", method=False, namespace=None
)
for _operation in (split_op, split_with_sizes_op, unsafe_split_op, unsafe_split_with_sizes_op):
    _operation.derivative(of="self")(lambda xp, grads, dim: xp.concatenate(grads, dim))


def _run(operation, input, size, dim):
    return operation.single(input, size, dim) if operation.views else operation.apply((input, size, dim))


def _split_by_size(input, size: int, dim, name: str, operation):
    shape = input._spec.shape
    if not shape:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    if size < 0:
        raise RuntimeError(f"{name} expects split_size be non-negative, but got split_size={size}")
    dim = as_dim(dim, len(shape), name, position=2)
    if size == 0 and shape[dim]:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {shape[dim]}")
    return _run(operation, input, size, dim)


def _split_by_sizes(input, sizes, dim, operation):
    name = "split_with_sizes"
    shape = input._spec.shape
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'split_sizes' (position 2) must be tuple of ints, not {argument_type_name(sizes)}"
        )
    sizes = as_ints((sizes,), name, "split_sizes")
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = as_dim(dim, len(shape), name, position=2)
    if any(n < 0 for n in sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}"
        )
    if sum(sizes) != shape[dim]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {shape[dim]} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={list(sizes)}"
        )
    return _run(operation, input, sizes, dim)


@composite(method=False)
def split(tensor, split_size_or_sections, dim=0):
    """The tensor in parts along a dimension: of one size (the last may be smaller), or of the sizes in a list; a
    tuple."""
    if hasattr(split_size_or_sections, "__index__"):
        return _split_by_size(tensor, as_int(split_size_or_sections, "split"), dim, "split", split_op)
    return _split_by_sizes(tensor, split_size_or_sections, dim, split_with_sizes_op)


def _split(self, split_size, dim=0):
    return split(self, split_size, dim)


_split.__name__, _split.__doc__ = "split", split.__doc__
put_method("split", _split)


@composite
def split_with_sizes(input, split_sizes, dim=0):
    """The tensor in parts of the given sizes along a dimension."""
    return _split_by_sizes(expect_tensor(input, "split_with_sizes"), split_sizes, dim, split_with_sizes_op)


@composite
def unsafe_split(input, split_size, dim=0):
    """Copies of the parts of one size along a dimension, which may be changed in place."""
    return _split_by_size(input, as_int(split_size, "unsafe_split", "split_size"), dim, "unsafe_split", unsafe_split_op)


@composite
def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """Copies of the parts of the given sizes along a dimension, which may be changed in place."""
    return _split_by_sizes(input, split_sizes, dim, unsafe_split_with_sizes_op)


def _chunked(input, chunks, dim, name: str, by_size, by_sizes):
    shape = expect_tensor(input, name)._spec.shape
    chunks = as_int(chunks, name, "chunks")
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = as_dim(dim, len(shape), name, position=2)
    size = -(-shape[dim] // chunks)
    if not size:
        return _run(by_sizes, input, (0,) * chunks, dim)
    return _run(by_size, input, size, dim)


@composite
def chunk(input, chunks, dim=0):
    """The tensor in at most `chunks` parts of one size along a dimension (the last may be smaller)."""
    return _chunked(input, chunks, dim, "chunk", split_op, split_with_sizes_op)


@composite
def unsafe_chunk(input, chunks, dim=0):
    """Copies of the parts that chunk gives, which may be changed in place."""
    return _chunked(input, chunks, dim, "unsafe_chunk", unsafe_split_op, unsafe_split_with_sizes_op)


@composite
def tensor_split(input, indices_or_sections=None, dim=0, *, indices=None, sections=None):
    """The tensor in so many parts of nearly one size along a dimension, or cut at the given indices."""
    ndim = expect_tensor(input, "tensor_split")._spec.ndim
    cuts = next((c for c in (indices_or_sections, indices, sections) if c is not None), None)
    if not ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = as_dim(dim, ndim, "tensor_split", position=2)
    size = input._spec.shape[dim]
    if isinstance(cuts, Tensor):
        if cuts._spec.ndim > 1 or cuts._spec.dtype.name != "int64":
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
                f"tensor, but got a tensor with {cuts._spec.ndim} dims"
                if cuts._spec.ndim > 1
                else "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                f"{cuts._spec.dtype.scalar_name}"
            )
        cuts = cuts.tolist()
    if isinstance(cuts, (tuple, list)):
        bounds = [0, *as_ints((cuts,), "tensor_split", "indices"), size]
    else:
        sections = as_int(cuts, "tensor_split", "sections")
        if sections <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
        small, longer = divmod(size, sections)
        bounds = [i * small + min(i, longer) for i in range(sections + 1)]
    return tuple(slice_op.single(input, dim, a, b, 1) for a, b in zip(bounds[:-1], bounds[1:]))


def _split_along(name: str, least: int, dim_of):
    def split_it(input, indices_or_sections=None, *, indices=None, sections=None):
        shape = expect_tensor(input, name)._spec.shape
        cuts = next((c for c in (indices_or_sections, indices, sections) if c is not None), None)
        if len(shape) < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {len(shape)} "
                "dimensions!"
            )
        dim = dim_of(len(shape))
        if not isinstance(cuts, (tuple, list)):
            count = as_int(cuts, name, "sections")
            if not count or shape[dim] % count:
                raise RuntimeError(
                    f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                    f"{shape[dim]} is not divisible by the split_size {count}!"
                )
        return tensor_split(input, cuts, dim)

    split_it.__name__ = split_it.__qualname__ = name
    split_it.__doc__ = "The tensor in equal parts, or cut at the given indices, along one dimension."
    return composite(split_it)


hsplit = _split_along("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1)
vsplit = _split_along("vsplit", 2, lambda ndim: 0)
dsplit = _split_along("dsplit", 3, lambda ndim: 2)


# --- diagonals and windows ---


@view(name="diagonal", method=False, namespace=None)
def diagonal_op(self: Array, offset, dim1, dim2):
    return placing.diagonal_view(self, offset, dim1, dim2)


@op(method=False, namespace=None)
def diagonal_place(self: Array, shape, offset, dim1, dim2):
    """Zeros of `shape` with the elements on the diagonal of two dimensions."""
    return vocabulary.diagonal_place(self, shape, offset, dim1, dim2)


@diagonal_op.derivative(of="self")
def _(xp, grad, self_shape, offset, dim1, dim2):
    return xp.diagonal_place(grad, self_shape, offset, dim1, dim2)


@diagonal_place.derivative(of="self")
def _(xp, grad, offset, dim1, dim2):
    return xp.diagonal(grad, offset, dim1, dim2)


@composite
def diagonal(input, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions as a view; its elements lie along a new last dimension."""
    ndim = expect_tensor(input, "diagonal")._spec.ndim
    first = as_dim(dim1, ndim, "diagonal", "dim1", 2)
    second = as_dim(dim2, ndim, "diagonal", "dim2", 3)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return diagonal_op.single(input, as_int(offset, "diagonal", "offset"), first, second)


diagonal_op.function = diagonal


@view(name="unfold", method=False, namespace=None)
def unfold_op(self: Array, dimension, size, step):
    if not self.ndim:
        return self.reshape(1)[:size]
    shape, strides = self.shape, self.strides
    count = (shape[dimension] - size) // step + 1
    return placing.strided(
        self,
        (*shape[:dimension], count, *shape[dimension + 1 :], size),
        (*strides[:dimension], strides[dimension] * step, *strides[dimension + 1 :], strides[dimension]),
    )


@op(node="UnfoldBackwardBackward0", method=False, namespace=None)
def unfold_place(self: Array, shape, dim, size, step):
    """Zeros of `shape` with the windows of unfold added at their places."""
    return vocabulary.unfold_place(self, shape, dim, size, step)


@unfold_op.derivative(of="self")
def _(xp, grad, self_shape, dimension, size, step):
    return xp.unfold_place(grad, self_shape, dimension, size, step)


@unfold_place.derivative(of="self")
def _(xp, grad, dim, size, step):
    return xp.unfold(grad, dim, size, step)


@method
def unfold(self, dimension, size, step):
    """Windows of `size` elements of a dimension, `step` apart, as a view with the window along a new last dimension."""
    shape = self._spec.shape
    dimension = as_dim(dimension, len(shape), "unfold", "dimension")
    size, step = as_int(size, "unfold", "size", 2), as_int(step, "unfold", "step", 3)
    most = shape[dimension] if shape else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > most:
        raise RuntimeError(f"maximum size for tensor at dimension {dimension} is {most} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return unfold_op.single(self, dimension, size, step)


unfold_op.function = unfold
