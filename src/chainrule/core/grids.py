"""Where grid_sample reads: places of neighbours in the image, and how far between them a point lies, raw over arrays.

They are part of the vocabulary (vocabulary.py imports them); ops/vision.py declares operations of the same
names, so that they can be differentiated again.
"""

import itertools
import math
from typing import Any

import numpy as np

from .windows import in_single

__all__ = ["Neighbours", "grid_neighbours", "piecewise", "sample_at", "sample_at_input_vjp", "sample_at_weight_vjp"]

NEAREST, BILINEAR, BICUBIC = 1, 0, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2
OUTSIDE = -(1 << 40)


class Neighbours:
    """`places`: of each neighbour of each point in its plane, (batch, neighbours, points), one past the end where it lies
    outside; `numbers`: its number along every dimension; `fractions`, `slopes`: per dimension, how far a point lies from
    its neighbour with the middle number, (batch, points), and the derivative of that by the coordinate of the grid."""

    __slots__ = ("places", "numbers", "fractions", "slopes")

    def __init__(self, places, numbers, fractions, slopes):
        self.places, self.numbers, self.fractions, self.slopes = places, numbers, fractions, slopes


def grid_neighbours(grid, sizes, mode: int, padding: int, align_corners: bool) -> Neighbours:
    """The neighbours of the points of a grid (batch, *points, dimensions) in images of these sizes."""
    dims = len(sizes)
    grid = grid.reshape(grid.shape[0], math.prod(grid.shape[1:-1]), dims)
    lines, fractions, slopes = [], [], []
    for d, n in enumerate(sizes):
        at = grid[..., dims - 1 - d]  # the first coordinate goes along the last dimension
        at = (at + 1) / 2 * (n - 1) if align_corners else ((at + 1) * n - 1) / 2
        slope = np.full(at.shape, (n - 1 if align_corners else n) / 2, at.dtype)
        if mode != BICUBIC:
            at, factor = _inside(at, n, padding, align_corners)
            slope = slope if factor is None else slope * factor
        first = np.rint(at) if mode == NEAREST else np.floor(at)
        fractions.append(np.zeros_like(at) if mode == NEAREST else at - first)
        slopes.append(slope)
        line = [first + k for k in ((-1, 0, 1, 2) if mode == BICUBIC else (0,) if mode == NEAREST else (0, 1))]
        if mode == BICUBIC:
            line = [_inside(i, n, padding, align_corners)[0] for i in line]
        lines.append([_valid(i, n) for i in line])
    numbers = list(itertools.product(*[range(len(line)) for line in lines]))
    places = np.empty((grid.shape[0], len(numbers), grid.shape[1]), np.int64)
    for at, one in enumerate(numbers):
        flat: Any = lines[0][one[0]]
        for k, n, line in zip(one[1:], sizes[1:], lines[1:]):
            flat = flat * n + line[k]
        places[:, at] = flat
    np.copyto(places, math.prod(sizes), where=places < 0)
    return Neighbours(places, numbers, fractions, slopes)


def _valid(at, n: int):
    """Places along a dimension; far below zero, whatever the other dimensions add, where that is outside."""
    valid = (at >= 0) & (at <= n - 1)
    if valid.all():
        return at.astype(np.int64)
    return np.where(valid, np.where(valid, at, 0).astype(np.int64), OUTSIDE)


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


# --- elements at places of their planes, weighted and added: sum over k of x[n, c, places[n, k, p]] * weights[n, k, p] ---
#
# As a form in grad, x and weights it is linear in each of them; the three functions are its partial derivatives, and
# differentiated each gives the others.


@in_single
def sample_at(x, weights, places):
    """The weighted elements of images (batch, channels, *sizes) at places (batch, k, points), added up over k."""
    planes = _with_zero(x)
    out = np.empty((*x.shape[:2], places.shape[2]), x.dtype)
    for i, one in enumerate(planes):
        found = one.take(places[i].reshape(-1), axis=1).reshape(x.shape[1], *places.shape[1:])
        found *= weights[i]
        np.add.reduce(found, axis=1, out=out[i])
    return out


@in_single
def sample_at_input_vjp(grad, weights, places, sizes):
    """The gradient of the images, from that of `sample_at` (batch, channels, points)."""
    count, channels = grad.shape[:2]
    area = math.prod(sizes)
    out = np.zeros((count, channels, area + 1), grad.dtype)
    starts = np.arange(channels).reshape(-1, 1) * (area + 1)
    for i in range(count):
        values = grad[i][:, None] * weights[i]
        at = places[i].reshape(-1) + starts
        made = np.bincount(at.reshape(-1), values.reshape(-1), channels * (area + 1))
        out[i] = made.reshape(channels, area + 1)
    return np.ascontiguousarray(out[..., :area]).reshape(count, channels, *sizes)


@in_single
def sample_at_weight_vjp(grad, x, places):
    """The gradient of the weights (batch, k, points), from that of `sample_at`."""
    planes = _with_zero(x)
    out = np.empty(places.shape, x.dtype)
    for i, one in enumerate(planes):
        found = one.take(places[i].reshape(-1), axis=1).reshape(x.shape[1], *places.shape[1:])
        found *= grad[i][:, None]
        np.add.reduce(found, axis=0, out=out[i])
    return out


def _with_zero(x):
    """The planes of images with a zero after the last element, for what lies outside."""
    count, channels = x.shape[:2]
    area = math.prod(x.shape[2:])
    planes = np.zeros((count, channels, area + 1), x.dtype)
    planes[..., :area] = x.reshape(count, channels, area)
    return planes
