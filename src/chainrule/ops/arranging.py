"""Elements repeated, reversed, shifted and cut to triangles and diagonals: repeat, flip, roll, rot90, tril, diag …"""

import functools

import numpy as np

from ..core import placing, vocabulary
from ..core.declare import Array, composite, op, put_method
from ..core.dtype import int32, int64
from ..core.layout import contiguous_format
from ..core.placing import diagonal_view
from ..core.registry import publish
from ..core.tensor import Tensor, wrap, wrap_dim
from .casting import clone_op
from .gathering import index_select
from .shape import as_dim, as_int, as_ints, expect_tensor
from .squeezing import unsqueeze_op
from .striding import expand

__all__ = ["flip", "roll", "rot90", "tril", "triu", "diag"]


def _put_varargs(name: str, argument: str, function) -> None:
    """A method that takes its integers one by one or as a sequence."""

    def call(self, *args, **named):
        if named:
            args = (named[argument],) if set(named) == {argument} else args
        elif not args:
            raise TypeError(f'{name}() missing 1 required positional arguments: "{argument}"')
        return function(self, as_ints(args, name, argument))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    put_method(name, call)


# --- repeated ---


@op(name="repeat", method=False, namespace=None)
def repeat_op(self: Array, repeats):
    shape = (1,) * (len(repeats) - self.ndim) + self.shape
    out = np.empty([n for pair in zip(repeats, shape) for n in pair], self.dtype)
    out[...] = self.reshape([n for size in shape for n in (1, size)])
    return out.reshape([r * n for r, n in zip(repeats, shape)])


@repeat_op.derivative(of="self")
def _(xp, grad, self_shape, repeats):
    shape = (1,) * (len(repeats) - len(self_shape)) + tuple(self_shape)
    split = tuple(n for pair in zip(repeats, shape) for n in pair)
    return xp.reshape(xp.sum(xp.reshape(grad, split), tuple(range(0, len(split), 2))), self_shape)


def _repeat(self, repeats):
    """The tensor laid out so many times along each dimension."""
    ndim, shape = self._spec.ndim, self._spec.shape
    if len(repeats) < ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    sizes = [r * n for r, n in zip(repeats, (1,) * (len(repeats) - ndim) + shape)]
    if any(r < 0 for r in repeats):
        bad = next(n for n, r in zip(sizes, repeats) if r < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {bad}: {sizes}")
    return repeat_op.single(self, repeats)


_put_varargs("repeat", "repeats", _repeat)


@composite(method=False)
def tile(input, dims):
    """The tensor laid out so many times along its last dimensions."""
    dims = as_ints((dims,), "tile", "dims", 2)
    return _repeat(expect_tensor(input, "tile"), (1,) * (input._spec.ndim - len(dims)) + dims)


_put_varargs("tile", "dims", tile)


def _counts(repeats, name: str):
    array = repeats._array
    if repeats._spec.dtype not in (int64, int32):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{repeats._spec.dtype.scalar_name}'")
    if array.size and np.minimum.reduce(array, axis=None) < 0:
        raise RuntimeError("repeats can not be negative")
    return array


@composite
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Every element, or part along `dim`, so many times in a row; of a tensor alone: its indices, each that many
    times."""
    expect_tensor(input, "repeat_interleave")
    if repeats is None:
        array = _counts(input, "repeat_interleave")
        return wrap(np.repeat(np.arange(array.size), array).astype(array.dtype))
    if dim is None:
        input, dim = input.flatten(), 0
    dim = as_dim(dim, input._spec.ndim, "repeat_interleave", position=2)
    if not input._spec.ndim and not isinstance(repeats, Tensor):
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    if isinstance(repeats, Tensor):
        return _interleaved_by(input, repeats, dim, output_size)
    repeats = as_int(repeats, "repeat_interleave", "repeats")
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    shape = input._spec.shape
    size = shape[dim] * repeats
    if output_size not in (None, size):
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {size} but got {output_size}")
    wide = expand(unsqueeze_op.single(input, dim + 1), (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
    return clone_op.single(wide, contiguous_format).view((*shape[:dim], size, *shape[dim + 1 :]))


def _interleaved_by(input, repeats, dim, output_size):
    array = _counts(repeats, "repeat_interleave")
    if not input._spec.ndim:
        input = input.reshape((1,))
    size = input._spec.shape[dim]
    if array.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if array.size == 1:
        array = np.broadcast_to(array.reshape(()), (size,))
    elif array.size != size:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {array.size} and "
            f"input.size({dim}) = {size}"
        )
    places = np.repeat(np.arange(size), array)
    if output_size not in (None, places.size):
        raise RuntimeError(f"allocated size does not match required size: {output_size} and {places.size}")
    return index_select(input, dim, wrap(places))


# --- reversed, shifted, turned ---


def _reversed(array, dims):
    """A copy in reverse order along these dimensions, in the memory order of the array."""
    return array[tuple(slice(None, None, -1) if d in dims else slice(None) for d in range(array.ndim))].copy(order="K")


@op(name="flip", method=False, namespace=None)
def flip_op(self: Array, dims):
    return _reversed(self, dims)


flip_op.derivative(of="self")(lambda xp, grad, dims: xp.flip(grad, dims))


def _flip(self, dims):
    """A copy in reverse order along the given dimensions."""
    wrapped = [wrap_dim(d, self._spec.ndim) for d in dims]
    for d in wrapped:
        if wrapped.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return flip_op.single(self, tuple(wrapped))


@composite(method=False)
def flip(input, dims):
    """A copy in reverse order along the given dimensions."""
    return _flip(expect_tensor(input, "flip"), as_ints((dims,), "flip", "dims", 2))


_put_varargs("flip", "dims", _flip)


@composite
def fliplr(input):
    """A copy in reverse order along the second dimension."""
    if expect_tensor(input, "fliplr")._spec.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip_op.single(input, (1,))


@composite
def flipud(input):
    """A copy in reverse order along the first dimension."""
    if expect_tensor(input, "flipud")._spec.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip_op.single(input, (0,))


@op(name="roll", method=False, namespace=None)
def roll_op(self: Array, shifts, dims):
    return np.array(np.roll(self, shifts, dims), order="C", copy=None)


@roll_op.derivative(of="self")
def _(xp, grad, shifts, dims):
    return xp.roll(grad, tuple(-s for s in shifts) if dims else -shifts[0], dims or None)


@composite
def roll(input, shifts, dims=()):
    """The elements shifted around along the given dimensions, or through the flattened tensor."""
    expect_tensor(input, "roll")
    shifts, dims = as_ints((shifts,), "roll", "shifts"), as_ints((() if dims is None else dims,), "roll", "dims", 2)
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims) and not (len(shifts) == 1 and not dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not dims:
        return roll_op.single(input, shifts, None)
    if not input._spec.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return roll_op.single(input, shifts, tuple(wrap_dim(d, input._spec.ndim) for d in dims))


roll_op.function = roll


@op(name="rot90", method=False, namespace=None)
def rot90_op(self: Array, k, dims):
    first, second = dims
    if k % 4 == 0:
        return self.copy(order="K")
    if k % 4 == 2:
        return _reversed(self, dims)
    return _reversed(self, (second if k % 4 == 1 else first,)).swapaxes(first, second)


rot90_op.derivative(of="self")(lambda xp, grad, k, dims: xp.rot90(grad, -k, dims))


@composite
def rot90(input, k=1, dims=(0, 1)):
    """The tensor turned k times by 90 degrees, from the first of the two dimensions to the second."""
    ndim = expect_tensor(input, "rot90")._spec.ndim
    dims = as_ints((dims,), "rot90", "dims", 2)
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == ndim:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return rot90_op.single(input, as_int(k, "rot90", "k"), tuple(wrap_dim(d, ndim) for d in dims))


rot90_op.function = rot90


# --- triangles ---


def _mask(rows: int, columns: int, k: int, lower: bool):
    return np.tri(rows, columns, k, np.bool) if lower else ~np.tri(rows, columns, k - 1, np.bool)


_kept_mask = functools.lru_cache(32)(_mask)


def _triangle(array, k: int, lower: bool):
    rows, columns = array.shape[-2:]
    mask = (_kept_mask if rows * columns <= 1 << 16 else _mask)(rows, columns, k, lower)
    return vocabulary.select(mask, np.ascontiguousarray(array))


@op(inplace=True, namespace=None, method=False)
def tril(self: Array, diagonal=0):
    return _triangle(self, diagonal, True)


@op(inplace=True, namespace=None, method=False)
def triu(self: Array, diagonal=0):
    return _triangle(self, diagonal, False)


tril.derivative(of="self")(lambda xp, grad, diagonal: xp.tril(grad, diagonal))
triu.derivative(of="self")(lambda xp, grad, diagonal: xp.triu(grad, diagonal))


def _put_triangle(operation, words: str) -> None:
    name = operation.name

    def check(input, diagonal):
        if expect_tensor(input, name)._spec.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return as_int(diagonal, name, "diagonal")

    def call(input, diagonal=0):
        return operation.single(input, check(input, diagonal))

    def call_inplace(self, diagonal=0):
        return operation.inplace(self, check(self, diagonal))

    call.__name__, call_inplace.__name__ = name, name + "_"
    call.__doc__ = f"The {words} diagonal number `diagonal`, zeros elsewhere, over the last two dimensions."
    call_inplace.__doc__ = f"Keep the {words} diagonal number `diagonal`, zeros elsewhere, in this tensor."
    operation.function = call
    put_method(name, call)
    put_method(name + "_", call_inplace)
    publish("torch", name, call)


_put_triangle(tril, "elements on and below")
_put_triangle(triu, "elements on and above")


# --- diagonals ---


@op(name="diag_embed", method=False, namespace=None)
def diag_embed_op(self: Array, offset, dim1, dim2):
    size = self.shape[-1] + abs(offset)
    shape = list(self.shape[:-1])
    for d in sorted((dim1, dim2)):
        shape.insert(d, size)
    return placing.diagonal_place(self, tuple(shape), offset, dim1, dim2)


diag_embed_op.derivative(of="self")(lambda xp, grad, offset, dim1, dim2: xp.diagonal(grad, offset, dim1, dim2))


@composite
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Zeros with the last dimension of input on the diagonal of two new dimensions."""
    ndim = expect_tensor(input, "diag_embed")._spec.ndim + 1
    offset = as_int(offset, "diag_embed", "offset")
    first, second = as_dim(dim1, ndim, "diag_embed", "dim1", 2), as_dim(dim2, ndim, "diag_embed", "dim2", 3)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return diag_embed_op.single(input, offset, first, second)


@op(name="diagonal_copy", node="DiagonalBackward0_copy", method=False, namespace=None)
def diagonal_copy_op(self: Array, offset, dim1, dim2):
    return diagonal_view(self, offset, dim1, dim2).copy()


@diagonal_copy_op.derivative(of="self")
def _(xp, grad, self_shape, offset, dim1, dim2):
    return xp.diagonal_place(grad, self_shape, offset, dim1, dim2)


@composite
def diag(input, diagonal=0):
    """Of a vector the matrix with it on a diagonal, of a matrix a copy of a diagonal."""
    ndim = expect_tensor(input, "diag")._spec.ndim
    diagonal = as_int(diagonal, "diag", "diagonal")
    if ndim == 1:
        return diag_embed_op.single(input, diagonal, 0, 1)
    if ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    return diagonal_copy_op.single(input, diagonal, 0, 1)


@composite
def diagflat(input, offset=0):
    """The matrix with all elements of input on a diagonal."""
    return diag_embed_op.single(
        expect_tensor(input, "diagflat").contiguous().view(-1), as_int(offset, "diagflat"), 0, 1
    )
