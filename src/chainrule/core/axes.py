"""Linear maps along the last dimensions, and values picked within planes: what pooling and interpolation are made of.

A map takes the elements of one dimension to those of another by sums: averages over windows, interpolation between
neighbours. `map_axes` applies one to each of the last dimensions, `map_axes_vjp` their transposes. A plane is what the
last dimensions of an image span; a place in it is counted through all of them.

They are part of the vocabulary (vocabulary.py imports them); ops/planes.py declares operations of the same names, so
that they can be differentiated again.
"""

import functools
import math
from typing import Any

import numpy as np

__all__ = ["AxisMap", "Ranges", "sliding", "adaptive", "map_axes", "map_axes_vjp", "gather_planes", "scatter_planes"]

_HALF = np.dtype(np.float16)
_ALL = slice(None)
BAND = 64  # rows of the matrix of a map that are multiplied at once


class AxisMap:
    """out[target] += x[source] * weight for each of `taps`, (source, target, weight); a source or target is a slice or
    an array of places, not descending; a weight is None for 1, or an array over the target."""

    def __init__(self, size: int, out: int, taps: list):
        self.size, self.out, self.taps = size, out, taps
        self.weighted = any(w is not None for _, _, w in taps)
        self.places = any(source.__class__ is not slice for source, _, _ in taps)
        self.identity = size == out and len(taps) == 1 and not self.weighted and all(map(_is_all, taps[0][:2]))

    @functools.cached_property
    def bands(self) -> list:
        """The map as a matrix, in pieces that leave out most of its zeros: (part of the result, part of the input,
        matrix)."""
        rows, columns = np.arange(self.out), np.arange(self.size)
        entries = [(rows[target], columns[source], 1.0 if w is None else w) for source, target, w in self.taps]
        return _bands(self.size, self.out, entries)

    @functools.cached_property
    def transposed_bands(self) -> list:
        rows, columns = np.arange(self.out), np.arange(self.size)
        entries = [(columns[source], rows[target], 1.0 if w is None else w) for source, target, w in self.taps]
        return _bands(self.out, self.size, entries)

    def apply(self, x, axis: int):
        """The map along an axis counted from the end."""
        if self.identity:
            return x
        if self.weighted and _finite(x):
            return _product(self.bands, self.out, x, axis)
        out: Any = None
        owned = False
        for source, target, weight in self.taps:
            part = _read(x, source, axis)
            if weight is not None:
                part = part * _along(weight, axis, x.dtype)
            if out is None and _is_all(target):
                out, owned = part, weight is not None or source.__class__ is not slice
                continue
            if out is None:
                out, owned = np.zeros(_resized(x.shape, axis, self.out), x.dtype), True
            if owned:
                _add(out, target, axis, part)
            elif _is_all(target):
                out, owned = out + part, True
            else:
                out, owned = out.copy(), True
                _add(out, target, axis, part)
        return np.zeros(_resized(x.shape, axis, self.out), x.dtype) if out is None else out

    def transpose(self, grad, axis: int):
        """The transpose of the map along an axis counted from the end."""
        if self.identity:
            return grad
        if (self.weighted or self.places) and _finite(grad):
            return _product(self.transposed_bands, self.size, grad, axis)
        out = np.zeros(_resized(grad.shape, axis, self.size), grad.dtype)
        for source, target, weight in self.taps:
            part = _read(grad, target, axis)
            if weight is not None:
                part = part * _along(weight, axis, grad.dtype)
            _add(out, source, axis, part)
        return out


class Ranges:
    """Sums over ranges of a dimension; better than taps where there are few and they are long."""

    identity = False

    def __init__(self, size: int, starts: list, ends: list):
        self.size, self.out, self.bounds = size, len(starts), list(zip(starts, ends))

    def apply(self, x, axis: int):
        if self.out == 1 and self.bounds[0] == (0, self.size):
            return np.add.reduce(x, axis=axis, keepdims=True)
        out = np.empty(_resized(x.shape, axis, self.out), x.dtype)
        for i, (start, end) in enumerate(self.bounds):
            np.add.reduce(x[_at(slice(start, end), axis)], axis=axis, out=out[_at(i, axis)])
        return out

    def transpose(self, grad, axis: int):
        shape = _resized(grad.shape, axis, self.size)
        if self.out == 1 and self.bounds[0] == (0, self.size):
            return np.broadcast_to(grad, shape)
        out = np.zeros(shape, grad.dtype)
        for i, (start, end) in enumerate(self.bounds):
            out[_at(slice(start, end), axis)] += grad[_at(slice(i, i + 1), axis)]
        return out


def _at(index, axis: int) -> tuple:
    return (..., index, *(_ALL,) * (-axis - 1))


def _resized(shape: tuple, axis: int, size: int) -> tuple:
    return (*shape[:axis], size, *shape[len(shape) + axis + 1 :])


def _is_all(index) -> bool:
    return index.__class__ is slice and index == _ALL


def _along(weight, axis: int, dtype):
    return weight.astype(dtype, copy=False).reshape(-1, *(1,) * (-axis - 1))


def _read(x, index, axis: int):
    if index.__class__ is slice:
        return x if index == _ALL else x[_at(index, axis)]
    return x.take(index, axis=axis)


def _add(out, index, axis: int, values) -> None:
    """Add values at an index along an axis; an array of places may name one several times in a row."""
    if index.__class__ is slice:
        out[_at(index, axis)] += values
        return
    first = np.flatnonzero(np.diff(index, prepend=-1))
    if first.size < index.size:
        values, index = np.add.reduceat(values, first, axis=axis), index[first]
    out[_at(index, axis)] += values


def _finite(x) -> bool:
    """Whether to multiply by a matrix: not where its zeros would meet an infinite or NaN element."""
    return x.dtype.kind == "f" and x.size > 0 and math.isfinite(np.add.reduce(x, axis=None))


def _bands(size: int, out: int, entries: list) -> list:
    found = []
    for start in range(0, out, BAND):
        stop = min(start + BAND, out)
        parts = [(r, c, np.broadcast_to(w, r.shape), (r >= start) & (r < stop)) for r, c, w in entries]
        low = min([int(c[m].min()) for _, c, _, m in parts if m.any()], default=0)
        high = max([int(c[m].max()) + 1 for _, c, _, m in parts if m.any()], default=0)
        matrix = np.zeros((stop - start, high - low))
        for r, c, w, m in parts:
            np.add.at(matrix, (r[m] - start, c[m] - low), w[m])
        found.append((slice(start, stop), slice(low, high), {np.dtype(t): matrix.astype(t) for t in ("f4", "f8")}))
    return found


def _product(bands: list, out: int, x, axis: int):
    """A matrix in bands times the elements along an axis."""
    made = np.empty(_resized(x.shape, axis, out), x.dtype)
    rows: Any
    to: Any
    if axis == -1:
        rows, to = x.reshape(-1, x.shape[-1]), made.reshape(-1, out)
        for target, source, matrices in bands:
            np.matmul(rows[:, source], matrices[x.dtype].T, out=to[:, target])
        return made
    inner = math.prod(x.shape[axis + 1 :])
    planes, into = x.reshape(-1, x.shape[axis], inner), made.reshape(-1, out, inner)
    for target, source, matrices in bands:
        np.matmul(matrices[x.dtype], planes[:, source], out=into[:, target])
    return made


# --- windows of one dimension ---


def sliding(size: int, out: int, kernel: int, stride: int, padding: int) -> AxisMap:
    """Sums over windows `stride` apart that begin `padding` before the first element; what is outside counts as 0."""
    if stride == kernel and not padding and out * kernel == size:
        return AxisMap(size, out, [(slice(k, None, stride) if stride > 1 else _ALL, _ALL, None) for k in range(kernel)])
    taps = []
    for k in range(kernel):
        start = k - padding
        first = max(0, -(start // stride))
        last = min(out, (size - 1 - start) // stride + 1)
        if first < last:
            at = start + first * stride
            source = slice(at, at + (last - first - 1) * stride + 1, stride)
            taps.append((source, _ALL if last - first == out else slice(first, last), None))
    return AxisMap(size, out, taps)


@functools.lru_cache(1024)
def adaptive(size: int, out: int):
    """(map, counts): sums over `out` windows that share a dimension as equally as possible, and how many elements each
    has."""
    starts = [i * size // out for i in range(out)]
    ends = [-((i + 1) * size // -out) for i in range(out)]
    counts = [e - s for s, e in zip(starts, ends)]
    longest = max(counts, default=0)
    if out <= longest:
        return Ranges(size, starts, ends), counts
    if longest == min(counts, default=0) and size == out * longest:
        return sliding(size, out, longest, longest, 0), counts
    first, length = np.array(starts), np.array(counts)
    taps: list = []
    for k in range(longest):
        chosen = np.flatnonzero(length > k)
        taps.append((first[chosen] + k, _ALL if chosen.size == out else chosen, None))
    return AxisMap(size, out, taps), counts


# --- over all of the last dimensions ---


def map_axes(x, maps, divisor):
    """A map for each of the last dimensions, then divided by `divisor` (None, a number, or an array over them)."""
    kept = x.dtype
    if kept is _HALF:
        x = x.astype(np.float32)
    for i, one in enumerate(reversed(maps)):
        x = one.apply(x, -1 - i)
    if divisor is not None:
        if kept.kind in "iu":  # towards zero, as PyTorch divides integers here
            quotients = np.abs(x) // np.abs(divisor) * np.sign(x) * np.sign(divisor)
            return quotients.astype(kept)
        x = x / np.asarray(divisor, x.dtype)
    return x.astype(kept, copy=False)


def map_axes_vjp(grad, maps, divisor):
    """The transpose of `map_axes`."""
    kept = grad.dtype
    if kept is _HALF:
        grad = grad.astype(np.float32)
    if divisor is not None:
        grad = grad / np.asarray(divisor, grad.dtype)
    for i, one in enumerate(maps):
        grad = one.transpose(grad, i - len(maps))
    return grad.astype(kept, copy=False)


# --- places within planes ---


def gather_planes(x, places, dims: int):
    """The elements at `places` of the planes that the last `dims` dimensions of x span."""
    planes = x.reshape(*x.shape[: x.ndim - dims], -1)
    flat = places.reshape(*places.shape[: places.ndim - dims], -1)
    return np.take_along_axis(planes, flat, -1).reshape(places.shape)


def scatter_planes(x, places, sizes, distinct: bool):
    """Zeros whose last dimensions have these sizes, with the elements of x added at `places` of their planes; `distinct`
    says that no place is named twice."""
    dims, area = len(sizes), math.prod(sizes)
    outer = x.shape[: x.ndim - dims]
    wide = x.astype(np.float32) if x.dtype is _HALF else x
    out = np.zeros((*outer, *sizes), wide.dtype)
    if x.size:
        inner = x.size // max(math.prod(outer), 1)
        starts = np.arange(0, out.size, area).reshape(-1, 1)
        at = (places.reshape(-1, inner) + starts).reshape(-1)
        if distinct:
            out.reshape(-1)[at] = wide.reshape(-1)
        else:
            np.add.at(out.reshape(-1), at, np.ascontiguousarray(wide).reshape(-1))
    return out.astype(x.dtype, copy=False)
