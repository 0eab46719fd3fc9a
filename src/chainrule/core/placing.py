"""Values put at places of a fresh array of zeros: the vjps of slicing and indexing, raw over NumPy arrays.

An index is a tuple of slices, integer arrays and masks, as NumPy takes it.

They are part of the vocabulary (vocabulary.py imports them); ops/indexing.py and ops/slicing.py declare operations of
the
same names, so that they can be differentiated again.
"""

import math
from typing import Any

import numpy as np

__all__ = [
    "strided", "lined", "index", "place", "accumulate", "index_last", "place_last", "clear", "multiply_at",
    "diagonal_view", "diagonal_place", "unfold_place", "embedding_rows", "embedding_vjp", "write_at", "add_at",
]  # fmt: skip


def strided(array, shape, strides):
    """A view that starts where `array` does, with these strides in bytes."""
    if array.flags.c_contiguous:
        return np.ndarray(shape, array.dtype, array, 0, strides)
    return np.lib.stride_tricks.as_strided(array, shape, strides)


def place(values, shape, index):
    """Zeros of `shape` with `values` at a basic `index`."""
    out = np.zeros(shape, values.dtype)
    out[index] = values
    return out


def diagonal_view(array, offset, dim1, dim2):
    """The diagonal of two dimensions as a view, its elements along a new last dimension."""
    rows, columns = array.shape[dim1], array.shape[dim2]
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    rest = [i for i in range(array.ndim) if i not in (dim1, dim2)]
    shape = (*[array.shape[i] for i in rest], length)
    strides = (*[array.strides[i] for i in rest], array.strides[dim1] + array.strides[dim2])
    if length and offset:
        start = [slice(None)] * array.ndim
        if array.flags.c_contiguous:
            return np.ndarray(
                shape, array.dtype, array, abs(offset) * array.strides[dim2 if offset > 0 else dim1], strides
            )
        start[dim1], start[dim2] = slice(max(-offset, 0), None), slice(max(offset, 0), None)
        array = array[tuple(start)]
    return strided(array, shape, strides)


def diagonal_place(values, shape, offset, dim1, dim2):
    """Zeros of `shape` with `values` on the diagonal of two dimensions."""
    out = np.zeros(shape, values.dtype)
    diagonal_view(out, offset, dim1, dim2)[...] = values
    return out


def unfold_place(values, shape, dim, size, step):
    """Zeros of `shape` with the windows of `unfold` added at their places."""
    out = np.zeros(shape, values.dtype)
    if not shape:
        return out + values.sum().astype(values.dtype)
    count = values.shape[dim]
    along = np.moveaxis(out, dim, -1)
    windows = np.moveaxis(values, dim, -1)  # (..., size, count)
    for k in range(size):
        along[..., k : k + (count - 1) * step + 1 : step] += windows[..., k, :]
    return out


def lined(x, index):
    """x as it is indexed: a 0-dim array counts as one element in a row, except where a mask chooses it."""
    return x.reshape(1) if x.ndim == 0 and index[0].dtype != np.bool else x


def index(x, index):
    """x[index], a copy."""
    return lined(x, index)[index]


def accumulate(values, shape, index):
    """Zeros of `shape` with `values` added at `index`; where a place occurs twice both are added."""
    out = np.zeros(shape, values.dtype)
    add_at(lined(out, index), index, values)
    return out


def index_last(x, index):
    """x[index], but zeros for all except the last of what leads to the same place: the vjp of writing at `index`."""
    x = lined(x, index)
    out = x[index]
    lost = overwritten(x.shape, index)
    if lost is not None:
        out[np.broadcast_to(lost, out.shape)] = 0
    return out


def place_last(values, shape, index):
    """Zeros of `shape` with `values` written at `index`; where a place occurs twice the last value stays."""
    out = np.zeros(shape, values.dtype)
    write_at(lined(out, index), index, values)
    return out


def overwritten(shape, index):
    """A mask over the index that says which values a later one overwrites, ready to broadcast against x[index]; None
    where every place occurs once."""
    if all(type(i) is slice or i.dtype == np.bool for i in index) and sum(type(i) is not slice for i in index) == 1:
        return None
    places = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)[index]
    last = np.full(int(np.prod(shape)), -1, np.int64)
    order = np.arange(places.size, dtype=np.int64).reshape(places.shape)
    last[places.reshape(-1)] = order.reshape(-1)
    lost = last[places] != order
    return lost if lost.any() else None


def clear(x, index):
    """x with zeros at `index`."""
    out = np.array(x)  # also of a NumPy number, which is what arithmetic makes of a 0-dim array
    lined(out, index)[index] = 0
    return out


def multiply_at(x, values, index):
    """x with `values` multiplied in at `index`, once for every time a place occurs."""
    out = np.array(x)  # also of a NumPy number, which is what arithmetic makes of a 0-dim array
    np.multiply.at(lined(out, index), index, values)
    return out


def _by_counts(values, counts):
    """Rows of values, each divided by its count; zeros where that is 0."""
    if counts is None:
        return values
    scale = np.where(counts == 0, 0, 1 / np.maximum(counts, 1)).astype(values.real.dtype)
    return values * scale[..., None]


def embedding_rows(x, index, counts):
    """The rows x[index], each divided by its count (None: none is)."""
    return _by_counts(x[index], counts)


def embedding_vjp(values, shape, index, counts):
    """Zeros of `shape` with the rows of `values`, each divided by its count, added at `index`."""
    return accumulate(_by_counts(values, counts), shape, index)


def write_at(out, index, values) -> None:
    """Write `values` at `index`; where a place occurs twice the last value stays."""
    # NumPy walks an index in the order of its memory, which must be the order of its elements.
    for i in index:
        if type(i) is not slice and not i.flags.c_contiguous:
            index = tuple([i if type(i) is slice else np.ascontiguousarray(i) for i in index])
            break
    if not values.flags.c_contiguous:
        values = np.ascontiguousarray(values)
    out[index] = values


def add_at(out, index, values) -> None:
    """Add `values` at `index` of an array; where a place occurs twice both are added."""
    arrays = [i for i in index if type(i) is not slice]
    if not out.flags.c_contiguous or any(i.dtype == np.bool for i in arrays):
        if len(index) == 1 and index[0].dtype == np.bool:
            out[index] += values
        else:
            np.add.at(out, index, values)
    elif len(arrays) == 1 and out.ndim > 1:
        axis = next(axis for axis, i in enumerate(index) if type(i) is not slice)
        shape, rows = out.shape, arrays[0]
        outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
        values = np.broadcast_to(values, (*shape[:axis], *rows.shape, *shape[axis + 1 :]))
        if values.size:
            rows = rows.reshape(-1)
            rows = np.where(rows < 0, rows + shape[axis], rows)
            _add_rows(out.reshape(outer, shape[axis], inner), rows, values.reshape(outer, rows.size, inner))
    elif len(arrays) == out.ndim:
        places: Any = 0
        for i, n in zip(index, out.shape):
            places = places * n + np.where(i < 0, i + n, i)
        _add_flat(out, places, np.broadcast_to(values, places.shape))
    else:
        np.add.at(out, index, values)


def _add_flat(out, places, values) -> None:
    """np.add.at has a fast loop for one-dimensional indices only."""
    np.add.at(out.reshape(-1), places.reshape(-1), values.reshape(-1))


def _add_rows(out, rows, values) -> None:
    """Add values[:, k] to out[:, rows[k]] for every k, in few passes over rows that all differ where that is
    possible."""
    outer, size, inner = out.shape
    for _ in range(3):
        if values.size < 1024:
            break
        order = np.arange(rows.size)
        last = np.empty(size, np.intp)
        last[rows] = order
        wins = last[rows] == order
        count = np.count_nonzero(wins)
        if count == rows.size:
            out[:, rows] += values
            return
        if 2 * count < rows.size:
            break
        out[:, rows[wins]] += values[:, wins]
        rows, values = rows[~wins], values[:, ~wins]
    places = (np.arange(outer)[:, None] * size + rows)[..., None] * inner + np.arange(inner)
    _add_flat(out, places, values)
