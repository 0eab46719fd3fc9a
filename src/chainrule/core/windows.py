"""Windows that slide over the last dimensions: the convolutions and their transposes, raw over NumPy arrays.

An image is (batch, channels, *sizes), a weight (out channels, channels of a group, *kernel). A convolution is the
trilinear form

    sum over positions and kernel places of  grad[n, o, position] * x[n, c, position * stride + place] * weight[o, c, place]

and `convolve`, `convolve_input_vjp` and `convolve_weight_vjp` are its three partial derivatives: each is linear in its
two arrays, and differentiated gives the other two. That closes the list under differentiation to any order.

The windows of a few images are laid out as the columns of a matrix (one strided copy), so that BLAS does the
arithmetic. As many images go into one block as fit a part of the cache.

They are part of the vocabulary (vocabulary.py imports them); ops/convolution.py and ops/folding.py declare operations
of the same names, so that they can be differentiated again.
"""

import functools
import itertools
import math

import numpy as np

__all__ = ["convolve", "convolve_input_vjp", "convolve_weight_vjp", "fold_windows", "unfold_windows", "reach"]

BLOCK = 1 << 17  # elements of a matrix of columns: 512 KiB in float32
NARROW = 20  # a run of so few positions is copied faster with the images innermost
_HALF = np.dtype(np.float16)


def in_single(function):
    """Compute float16 arrays in float32 and round once, at the end, as PyTorch does."""

    @functools.wraps(function)
    def call(x, y, *rest):
        if x.dtype is not _HALF:
            return function(x, y, *rest)
        return function(x.astype(np.float32), y.astype(np.float32), *rest).astype(_HALF)

    return call


def reach(size: int, kernel: int, stride: int, dilation: int) -> int:
    """How many elements `size` windows cover together."""
    return (size - 1) * stride + (kernel - 1) * dilation + 1


class Geometry:
    """What follows from the shapes of a convolution: how windows lie in the image, and how to cut the batch."""

    def __init__(self, sizes, kernel, positions, stride, padding, dilation, count=1, channels=1, groups=1):
        self.sizes, self.kernel, self.positions = sizes, kernel, positions
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.groups = groups
        self.padded = tuple(map(reach, positions, kernel, stride, dilation))
        self.copies = any(padding) or any(p > n for p, n in zip(self.padded, sizes))
        self.plain = math.prod(kernel) == 1 and all(s == 1 for s in stride) and not self.copies
        self.plain = self.plain and positions == sizes
        self.area = math.prod(positions)
        self.depth = math.prod(kernel) * channels  # rows of the matrix of columns
        fits = BLOCK // max(self.depth * self.area, 1)
        self.block = max(1, fits, -(-256 // max(self.area, 1)))
        self.inside = count >= 8 and positions[-1] <= NARROW and not self.plain
        # Where the image lies in the padded one.
        self.image = tuple(slice(p, max(p, min(p + n, r))) for p, n, r in zip(padding, sizes, self.padded))
        self.part = tuple(slice(0, s.stop - s.start) for s in self.image)
        self._places = None

    @property
    def places(self) -> list:
        """For every place in the kernel: (the place, the part of the image it meets, the positions where it does)."""
        if self._places is None:
            axes = [self._places_along(i) for i in range(len(self.kernel))]
            self._places = [tuple(zip(*one)) for one in itertools.product(*axes)]
        return self._places

    def _places_along(self, axis: int) -> list:
        n, count = self.sizes[axis], self.positions[axis]
        stride, padding, dilation = self.stride[axis], self.padding[axis], self.dilation[axis]
        found = []
        for k in range(self.kernel[axis]):
            start = k * dilation - padding
            first = max(0, -(start // stride))
            last = min(count, (n - 1 - start) // stride + 1)
            if first < last:
                at = start + first * stride
                found.append((k, slice(at, start + (last - 1) * stride + 1, stride), slice(first, last)))
        return found


@functools.lru_cache(4096)
def geometry(x_shape, weight_shape, positions, stride, padding, dilation, groups) -> Geometry:
    return Geometry(x_shape[2:], weight_shape[2:], positions, stride, padding, dilation, x_shape[0], x_shape[1], groups)


def windows(x, g: Geometry):
    """Every window of the images as a view: (batch, channels, *kernel, *positions)."""
    if g.copies:
        padded = np.zeros((*x.shape[:2], *g.padded), x.dtype)
        padded[(..., *g.image)] = x[(..., *g.part)]
        x = padded
    elif not x.flags.c_contiguous:
        x = np.ascontiguousarray(x)
    steps = x.strides
    shape = (*x.shape[:2], *g.kernel, *g.positions)
    strides = (
        *steps[:2],
        *[s * d for s, d in zip(steps[2:], g.dilation)],
        *[s * d for s, d in zip(steps[2:], g.stride)],
    )
    return np.ndarray(shape, x.dtype, x, 0, strides)


def columns(x, g: Geometry):
    """The windows of the images as matrices: (batch, groups, rows of a group, positions)."""
    made = x if g.plain else windows(x, g)
    return made.reshape(x.shape[0], g.groups, g.depth // g.groups, g.area)


def add_places(out, made, g: Geometry) -> None:
    """Add windows (batch, channels, *kernel, *positions) to the images where they lie: the transpose of `windows`."""
    both = slice(None), slice(None)
    for place, image, positions in g.places:
        out[(*both, *image)] += made[(*both, *place, *positions)]


def blocks(count: int, size: int):
    """Slices of so many images each; none of them for no images."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


# --- images innermost: the batch becomes a last dimension over which the kernel does not reach ---


def _inner(x):
    """(batch, channels, *sizes) as (1, channels, *sizes, batch)."""
    return np.ascontiguousarray(np.moveaxis(x, 0, -1))[None]


def _outer(x):
    """The reverse of `_inner`, as a view."""
    return np.moveaxis(x[0], -1, 0)


def _within(g: Geometry, count: int) -> tuple:
    """Positions, stride, padding, dilation with the additional dimension."""
    return (*g.positions, count), (*g.stride, 1), (*g.padding, 0), (*g.dilation, 1), g.groups


# --- the three partial derivatives ---


@in_single
def convolve(x, weight, size, stride, padding, dilation, groups):
    """The convolution of images with a weight, `size` positions of the window along each dimension."""
    g = geometry(x.shape, weight.shape, size, stride, padding, dilation, groups)
    count, rows = x.shape[0], weight.shape[0]
    if g.inside:
        out = np.empty((count, rows, *size), x.dtype)
        for part in blocks(count, g.block):
            images = _inner(x[part])
            out[part] = _outer(convolve(images, weight[..., None], *_within(g, images.shape[-1])))
        return out
    out = np.empty((count, rows, *size), x.dtype)
    if count == groups == 1:  # with two dimensions less, the product of BLAS takes half the time where it is small
        weight.reshape(rows, g.depth).dot(columns(x, g)[0, 0], out=out.reshape(rows, g.area))
        return out
    per_group = rows // groups
    matrix, made = weight.reshape(groups, per_group, g.depth // groups), out.reshape(count, groups, per_group, g.area)
    for part in blocks(count, g.block):
        np.matmul(matrix, columns(x[part], g), out=made[part])
    return out


@in_single
def convolve_input_vjp(grad, weight, size, stride, padding, dilation, groups):
    """The gradient of images with these sizes: what each window receives is added where it lies."""
    count, rows = grad.shape[:2]
    channels = weight.shape[1] * groups
    if _better_as_convolution(grad, weight, size, stride, padding, dilation, groups):
        back = tuple(d * (k - 1) - p for d, k, p in zip(dilation, weight.shape[2:], padding))
        return convolve(grad, _flipped(weight, groups), size, stride, back, dilation, groups)
    positions = grad.shape[2:]
    g = geometry((count, channels, *size), weight.shape, positions, stride, padding, dilation, groups)
    dtype = grad.dtype
    if g.inside:
        out = np.empty((count, channels, *size), dtype)
        for part in blocks(count, g.block):
            n = part.stop - part.start
            _, steps, pads, spread, _ = _within(g, n)
            made = convolve_input_vjp(_inner(grad[part]), weight[..., None], (*size, n), steps, pads, spread, groups)
            out[part] = _outer(made)
        return out
    matrix = weight.reshape(groups, rows // groups, g.depth // groups).swapaxes(-1, -2)
    grad = grad.reshape(count, groups, rows // groups, g.area)
    if g.plain:
        return np.matmul(matrix, grad).reshape(count, channels, *size)
    out = np.zeros((count, channels, *size), dtype)
    for part in blocks(count, g.block):
        made = np.matmul(matrix, grad[part])
        add_places(out[part], made.reshape(-1, channels, *g.kernel, *positions), g)
    return out


def _better_as_convolution(grad, weight, size, stride, padding, dilation, groups) -> bool:
    """Whether to convolve the gradient with the flipped weight instead: possible for windows that are one apart, and
    better where the gradient has few channels, since laying out its windows costs less than adding up those of the
    image."""
    if any(s != 1 for s in stride) or weight.shape[0] > 2 * weight.shape[1] * groups:
        return False
    return math.prod(weight.shape[2:]) > 1 and all(
        d * (k - 1) >= p for d, k, p in zip(dilation, weight.shape[2:], padding)
    )


def _flipped(weight, groups):
    """The weight with its kernel reversed and its channels exchanged, group by group."""
    rows, channels, *kernel = weight.shape
    turned = weight[(slice(None), slice(None), *[slice(None, None, -1)] * len(kernel))]
    if groups == 1:
        return turned.swapaxes(0, 1)
    turned = turned.reshape(groups, rows // groups, channels, *kernel).swapaxes(1, 2)
    return turned.reshape(groups * channels, rows // groups, *kernel)


@in_single
def convolve_weight_vjp(grad, x, size, stride, padding, dilation, groups):
    """The gradient of a weight with a kernel of this size."""
    count, rows = grad.shape[:2]
    shape = (rows, x.shape[1] // groups, *size)
    g = geometry(x.shape, shape, grad.shape[2:], stride, padding, dilation, groups)
    if g.inside:
        out = np.zeros((groups, rows // groups, g.depth // groups), grad.dtype)
        for part in blocks(count, g.block):
            positions, steps, pads, spread, _ = _within(g, part.stop - part.start)
            made = convolve_weight_vjp(_inner(grad[part]), _inner(x[part]), (*size, 1), steps, pads, spread, groups)
            out += made.reshape(out.shape)
        return out.reshape(shape)
    if count == groups == 1:
        return grad.reshape(rows, g.area).dot(columns(x, g)[0, 0].T).reshape(shape)
    grad = grad.reshape(count, groups, rows // groups, g.area)
    out = np.zeros((groups, rows // groups, g.depth // groups), grad.dtype)
    for part in blocks(count, g.block):
        out += np.add.reduce(np.matmul(grad[part], columns(x[part], g).swapaxes(-1, -2)), 0)
    return out.reshape(shape)


# --- windows as columns, and columns added back: nn.functional.unfold and fold ---


@functools.lru_cache(1024)
def _of_windows(size, kernel, stride, padding, dilation) -> Geometry:
    positions = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, stride, padding, dilation)
    )
    return Geometry(size, kernel, positions, stride, padding, dilation)


def unfold_windows(x, kernel, stride, padding, dilation):
    """Images (batch, channels, *sizes) as (batch, channels * kernel, positions): a window in each column."""
    g = _of_windows(x.shape[2:], kernel, stride, padding, dilation)
    return windows(x, g).copy().reshape(x.shape[0], x.shape[1] * math.prod(kernel), g.area)


def fold_windows(x, size, kernel, stride, padding, dilation):
    """Columns added up where their windows lie in images of this size: the transpose of `unfold_windows`."""
    g = _of_windows(size, kernel, stride, padding, dilation)
    channels = x.shape[1] // math.prod(kernel)
    wide = x.astype(np.float32) if x.dtype is _HALF else x
    out = np.zeros((x.shape[0], channels, *size), wide.dtype)
    add_places(out, wide.reshape(x.shape[0], channels, *kernel, *g.positions), g)
    return out.astype(_HALF) if x.dtype is _HALF else out
