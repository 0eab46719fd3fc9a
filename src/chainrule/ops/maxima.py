"""The largest element of windows and its place in the plane: the kernel of the max pools.

The windows of a plane have their elements numbered alike; pass number k reads element k of all windows at once and
keeps what is larger than all before. NaN counts as larger than every number, and the last NaN of a window is the one
whose place is returned, as in PyTorch.
"""

import functools
import itertools
import math
from typing import Any

import numpy as np

__all__ = ["Windows", "regular", "adapted", "maxima"]

BLOCK = 1 << 16  # elements of the planes that are worked on together
SMALL = 4096  # images of so few elements have all their windows laid out at once
_HALF = np.dtype(np.float16)


class Windows:
    """How the windows lie in a plane.

    `sources`: per dimension and element of a window, where that element of all windows lies in the padded plane, as
    slices or arrays; `padding`: (before, size with padding) per dimension, or None; `first`: the number of the first
    element of each window that is not padding, None where it is 0.
    """

    def __init__(self, sizes, out, sources, padding=None, first=None, distinct=False, steps=None):
        self.sizes, self.out, self.sources = sizes, out, sources
        self.padding, self.first, self.distinct = padding, first, distinct
        self.steps = steps  # (stride, dilation) where the windows are regular and without padding
        self.kernel = tuple(map(len, sources))
        self.count = math.prod(self.kernel)
        self.number_type = np.dtype(np.uint8 if self.count <= 256 else np.int32)

    @functools.cached_property
    def places(self):
        """For every element of a window, the place of that element of every window: (elements, *out)."""
        axes = []
        for sources, n, pad in zip(self.sources, self.sizes, self.padding or ((0, 0),) * len(self.sizes)):
            line = np.arange(pad[1] or n) - pad[0]
            axes.append([line[source] for source in sources])
        made = []
        for one in itertools.product(*axes):
            flat: Any = 0
            for places, n in zip(one, self.sizes):
                flat = np.add.outer(flat * n, places)
            made.append(flat.reshape(self.out))
        return np.stack(made)

    @functools.cached_property
    def offsets(self):
        """(the place of the first element of every window, what the other elements are after it), where that is the
        same for all windows; otherwise None."""
        base = self.places[0]
        if not base.size:
            return None
        steps = self.places.reshape(self.count, -1)
        steps = steps - steps[0]
        if (steps != steps[:, :1]).any():
            return None
        return base, steps[:, 0].copy()

    def places_of(self, numbers):
        """The places in their planes of the elements with these numbers, (…, *out)."""
        offsets = self.offsets
        if offsets is not None:
            return offsets[1].take(numbers) + offsets[0]
        table = self.places.reshape(self.count, -1)
        return table[numbers.reshape(-1, table.shape[1]), np.arange(table.shape[1])].reshape(numbers.shape)


@functools.lru_cache(1024)
def regular(sizes, kernel, stride, padding, dilation, out) -> Windows:
    """Windows of one size, `stride` apart."""
    sources, pads, firsts = [], [], []
    for n, k, s, p, d, count in zip(sizes, kernel, stride, padding, dilation, out):
        reach = (count - 1) * s + (k - 1) * d + 1
        pads.append((p, max(reach, n + p)))
        sources.append([slice(i * d, i * d + (count - 1) * s + 1, s) for i in range(k)])
        firsts.append([max(0, -((i * s - p) // d)) for i in range(count)])
    padded = any(p for p, _ in pads) or any(size > n for (_, size), n in zip(pads, sizes))
    first: Any = 0
    for numbers, k in zip(firsts, kernel):
        first = np.add.outer(np.asarray(first) * k, numbers)
    distinct = all(s > (k - 1) * d or count == 1 for s, k, d, count in zip(stride, kernel, dilation, out))
    steps = None if padded else (stride, dilation)
    return Windows(sizes, out, sources, pads if padded else None, first if np.any(first) else None, distinct, steps)


@functools.lru_cache(1024)
def adapted(sizes, out) -> Windows:
    """So many windows that share each dimension as equally as possible. A window that is shorter than the longest
    repeats its last element, which changes nothing."""
    if all(m and n % m == 0 for n, m in zip(sizes, out)):
        kernel = tuple(n // m for n, m in zip(sizes, out))
        none = (0,) * len(sizes)
        return regular(sizes, kernel, kernel, none, (1,) * len(sizes), out)
    sources = []
    for n, m in zip(sizes, out):
        starts = np.arange(m) * n // max(m, 1)
        ends = -(-(np.arange(m) + 1) * n // max(m, 1))
        longest = int(np.max(ends - starts, initial=1))
        sources.append([np.minimum(starts + k, ends - 1) for k in range(longest)])
    return Windows(sizes, out, sources)


def maxima(x, windows: Windows, indices: bool):
    """The largest element of every window; with `indices` (values, places in their planes)."""
    outer = x.shape[: x.ndim - len(windows.sizes)]
    if x.size <= SMALL and windows.steps is not None and x.dtype is not _HALF:
        return _at_once(x, windows, indices)
    planes = x.reshape(-1, *windows.sizes)
    if x.dtype is _HALF:
        planes = planes.astype(np.float32)
    values = np.empty((planes.shape[0], *windows.out), planes.dtype)
    places: Any = np.empty(values.shape, np.int64) if indices else None
    step = max(1, BLOCK // max(math.prod(windows.sizes), 1))
    if values.size:
        for start in range(0, planes.shape[0], step):
            part = slice(start, start + step)
            numbers = _largest(planes[part], windows, values[part], indices)
            if indices:
                places[part] = windows.places_of(numbers)
    values = values.astype(x.dtype, copy=False).reshape(*outer, *windows.out)
    return (values, places.reshape(values.shape)) if indices else values


def _at_once(x, windows: Windows, indices: bool):
    """`maxima` with all windows laid out in rows: fewer calls, more memory."""
    if not x.flags.c_contiguous:
        x = np.ascontiguousarray(x)
    dims = len(windows.sizes)
    stride, dilation = windows.steps
    outer, steps = x.shape[: x.ndim - dims], x.strides[x.ndim - dims :]
    view = np.ndarray(
        (*outer, *windows.out, *windows.kernel),
        x.dtype,
        x,
        0,
        (
            *x.strides[: x.ndim - dims],
            *[a * b for a, b in zip(steps, stride)],
            *[a * b for a, b in zip(steps, dilation)],
        ),
    )
    rows = view.reshape(*outer, *windows.out, windows.count)
    values = np.maximum.reduce(rows, axis=-1, out=np.empty((*outer, *windows.out), x.dtype))
    if not indices:
        return values
    numbers = rows.argmax(-1)
    if x.dtype.kind == "f" and math.isnan(np.add.reduce(values, axis=None)):  # NumPy finds the first NaN
        last = windows.count - 1 - np.argmax(np.isnan(rows)[..., ::-1], axis=-1)
        numbers = np.where(np.isnan(values), last, numbers)
    return values, windows.places_of(numbers)


def _lowest(dtype):
    return -math.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _padded(planes, windows: Windows):
    if windows.padding is None:
        return planes
    made = np.full((planes.shape[0], *[size for _, size in windows.padding]), _lowest(planes.dtype), planes.dtype)
    inside = tuple(slice(before, before + n) for (before, _), n in zip(windows.padding, windows.sizes))
    made[(slice(None), *inside)] = planes
    return made


def _element(planes, sources):
    """One element of all windows."""
    if all(s.__class__ is slice for s in sources):
        return np.ascontiguousarray(planes[(slice(None), *sources)])
    for axis, source in enumerate(sources):
        planes = planes.take(source, axis=axis + 1)
    return planes


def _largest(planes, windows: Windows, values, indices: bool):
    """Write the largest elements to `values`; return their numbers where indices are wanted."""
    planes = _padded(planes, windows)
    if windows.count > 64 and windows.count > 4 * math.prod(windows.out):
        return _largest_one_by_one(planes, windows, values)
    elements = enumerate(itertools.product(*windows.sources))
    values[...] = _element(planes, next(elements)[1])
    if not indices:
        for _, sources in elements:
            np.maximum(values, _element(planes, sources), out=values)
        return None
    numbers = np.zeros(values.shape, windows.number_type)
    if windows.first is not None:
        numbers[...] = windows.first
    larger, number = np.empty(values.shape, np.bool), np.empty(values.shape, windows.number_type)
    for k, sources in elements:
        element = _element(planes, sources)
        np.greater(element, values, out=larger)
        np.maximum(values, element, out=values)
        # Numbers grow from pass to pass: the larger of the two is the one of the larger element.
        np.multiply(larger, windows.number_type.type(k), out=number, casting="unsafe", dtype=windows.number_type)
        np.maximum(numbers, number, out=numbers)
    if values.dtype.kind == "f" and math.isnan(np.add.reduce(values, axis=None)):
        _number_nans(planes, windows, numbers)
    return numbers


def _number_nans(planes, windows: Windows, numbers) -> None:
    """Put the numbers of the last NaN of each window that has one."""
    for k, sources in enumerate(itertools.product(*windows.sources)):
        numbers[np.isnan(_element(planes, sources))] = k


def _largest_one_by_one(planes, windows: Windows, values):
    """The same, window by window: better where there are few and they are large."""
    numbers = np.empty(values.shape, np.int64)
    lines = [
        np.stack([np.arange(n)[source] for source in sources]) for n, sources in zip(planes.shape[1:], windows.sources)
    ]
    for at in np.ndindex(*windows.out):
        index = np.ix_(*[line[:, i] for line, i in zip(lines, at)])
        window = planes[(slice(None), *index)].reshape(planes.shape[0], -1)
        found = np.argmax(window, axis=1)
        best = np.take_along_axis(window, found[:, None], 1)[:, 0]
        if window.dtype.kind == "f" and np.isnan(best).any():  # NumPy finds the first NaN
            last = window.shape[1] - 1 - np.argmax(np.isnan(window)[:, ::-1], axis=1)
            found = np.where(np.isnan(best), last, found)
        if windows.first is not None:
            found = np.maximum(found, windows.first[at])
        values[(slice(None), *at)], numbers[(slice(None), *at)] = best, found
    return numbers
