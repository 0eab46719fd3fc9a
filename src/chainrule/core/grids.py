"""Where grid_sample reads: places of neighbours in the image, and how far between them a point lies, raw over arrays.

They are part of the vocabulary (vocabulary.py imports them); ops/sampling_grid.py declares operations of the same
names, so that they can be differentiated again.
"""

import itertools
import math
from typing import Any

import numpy as np

__all__ = ["Neighbours", "grid_neighbours", "piecewise", "gather_shared", "scatter_shared"]

NEAREST, BILINEAR, BICUBIC = 1, 0, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2


class Neighbours:
    """`corners`: for each neighbour its number along every dimension, its places in the planes (batch, *points) and a
    mask of those that lie in the image (None: all do). `fractions`, `slopes`: per dimension, how far a point lies from
    its neighbour with the middle number (batch, *points), and the derivative of that by the coordinate of the grid."""

    __slots__ = ("corners", "fractions", "slopes")

    def __init__(self, corners, fractions, slopes):
        self.corners, self.fractions, self.slopes = corners, fractions, slopes


def grid_neighbours(grid, sizes, mode: int, padding: int, align_corners: bool) -> Neighbours:
    """The neighbours of the points of a grid (batch, *points, dimensions) in images of these sizes."""
    dims = len(sizes)
    lines, fractions, slopes = [], [], []
    for d, n in enumerate(sizes):
        at = grid[..., dims - 1 - d]  # the first coordinate goes along the last dimension
        at, slope = (
            (at + 1) / 2 * (n - 1) if align_corners else ((at + 1) * n - 1) / 2,
            (n - 1 if align_corners else n) / 2,
        )
        slope = np.full(at.shape, slope, at.dtype)
        if mode != BICUBIC:
            at, factor = _inside(at, n, padding, align_corners)
            slope = slope if factor is None else slope * factor
        first = np.rint(at) if mode == NEAREST else np.floor(at)
        fractions.append(at - first)
        slopes.append(slope)
        line = [first + k for k in ((-1, 0, 1, 2) if mode == BICUBIC else (0,) if mode == NEAREST else (0, 1))]
        if mode == BICUBIC:
            line = [_inside(i, n, padding, align_corners)[0] for i in line]
        lines.append([_valid(i, n) for i in line])
    corners = []
    for numbers in itertools.product(*[range(len(line)) for line in lines]):
        flat: Any = 0
        mask: Any = None
        for k, n, line in zip(numbers, sizes, lines):
            places, valid = line[k]
            flat = flat * n + places
            mask = valid if mask is None else mask & valid
        corners.append((numbers, flat, None if mask.all() else mask))
    return Neighbours(corners, fractions, slopes)


def _valid(at, n: int) -> tuple:
    """(places that can be read, whether they are the ones that were asked for)."""
    valid = (at >= 0) & (at <= n - 1)
    return np.where(valid, at, 0).astype(np.int64), valid


def _inside(at, n: int, padding: int, align_corners: bool) -> tuple:
    """(coordinates moved into the image, what that does to the derivative: None for nothing)."""
    if padding == ZEROS:
        return at, None
    factor: Any = 1
    if padding == REFLECTION:
        at, factor = _reflected(at, *((0, 2 * (n - 1)) if align_corners else (-1, 2 * n - 1)))
    factor = np.where((at <= 0) | (at >= n - 1), 0, factor)
    # NaN goes to the first element, as with PyTorch's min and max.
    return np.fmin(np.fmax(at, 0), n - 1), factor.astype(at.dtype)


def _reflected(at, twice_low: int, twice_high: int) -> tuple:
    """Coordinates reflected at two points until they lie between them, and the sign that this gives the derivative."""
    if twice_low == twice_high:
        return np.zeros_like(at), np.zeros_like(at)
    low, span = twice_low / 2, (twice_high - twice_low) / 2
    at = at - at.dtype.type(low)
    sign = np.where(at < 0, -1, 1)
    at = np.abs(at)
    rest = np.fmod(at, at.dtype.type(span))
    flips = np.floor(at / at.dtype.type(span))
    even = np.fmod(flips, 2) == 0
    moved = np.where(even, rest + low, span - rest + low).astype(at.dtype)
    return moved, np.where(even, sign, -sign)


def piecewise(x, values, slopes):
    """The values of a function of x that has these slopes: differentiated as such, whatever they come from."""
    return values


def gather_shared(x, places):
    """The elements of images (batch, channels, *sizes) at places (batch, *points) of their planes, all channels alike."""
    count, channels = x.shape[:2]
    planes = x.reshape(count, channels, math.prod(x.shape[2:]))
    flat = places.reshape(count, math.prod(places.shape[1:]))
    out = np.empty((count, channels, flat.shape[1]), x.dtype)
    for i in range(count):
        planes[i].take(flat[i], axis=1, out=out[i], mode="clip")
    return out.reshape(count, channels, *places.shape[1:])


def scatter_shared(x, places, sizes):
    """Zeros (batch, channels, *sizes) with the elements of x added at places: the transpose of `gather_shared`."""
    count, channels = x.shape[:2]
    area = math.prod(sizes)
    out = np.zeros((count * channels, area), x.dtype)
    if x.size:
        starts = np.arange(count * channels).reshape(count, channels, 1) * area
        at = (places.reshape(count, 1, math.prod(places.shape[1:])) + starts).reshape(-1)
        np.add.at(out.reshape(-1), at, np.ascontiguousarray(x).reshape(-1))
    return out.reshape(count, channels, *sizes)
