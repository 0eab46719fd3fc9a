"""Images read at the points of a grid (grid_sample, affine_grid), channels rearranged (pixel_shuffle and its kin)."""

import functools
import warnings

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, composite, op
from ..core.grids import BICUBIC, NEAREST
from ..core.registry import publish
from ..core.tensor import Tensor
from .planes import laid_out
from .pooling import publish_functional, refuse
from .precision import in_single
from .shape import as_int, as_ints, expect_tensor

__all__ = ["grid_sample", "affine_grid", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle"]


# --- grid_sample: what its derivatives are made of ---


@op(method=False, namespace=None, frees=("values", "slopes"))
def piecewise(self: Array, values, slopes):
    """The values of a function that has these slopes."""
    return vocabulary.piecewise(self, values, slopes).copy()


@op(method=False, namespace=None, frees=("places",))
def sample_at(self: Array, weights: Array, places):
    """The weighted elements of images at places of their planes, added up."""
    return vocabulary.sample_at(self, weights, places)


@op(method=False, namespace=None, frees=("places",))
def sample_at_input_vjp(self: Array, weights: Array, places, sizes):
    """The gradient of the images, from that of `sample_at`."""
    return vocabulary.sample_at_input_vjp(self, weights, places, sizes)


@op(method=False, namespace=None, frees=("places",))
def sample_at_weight_vjp(self: Array, x: Array, places):
    """The gradient of the weights, from that of `sample_at`."""
    return vocabulary.sample_at_weight_vjp(self, x, places)


piecewise.derivative(of="self")(lambda xp, grad, slopes: grad * xp.constant(slopes))
sample_at.derivative(of="self")(
    lambda xp, grad, self_shape, weights, places: xp.sample_at_input_vjp(grad, weights, places, tuple(self_shape[2:]))
)
sample_at.derivative(of="weights")(lambda xp, grad, self, places: xp.sample_at_weight_vjp(grad, self, places))
sample_at_input_vjp.derivative(of="self")(lambda xp, grad, weights, places: xp.sample_at(grad, weights, places))
sample_at_input_vjp.derivative(of="weights")(lambda xp, grad, self, places: xp.sample_at_weight_vjp(self, grad, places))
sample_at_weight_vjp.derivative(of="self")(lambda xp, grad, x, places: xp.sample_at(x, grad, places))
sample_at_weight_vjp.derivative(of="x")(
    lambda xp, grad, self, x_shape, places: xp.sample_at_input_vjp(self, grad, places, tuple(x_shape[2:]))
)


# --- weights of neighbours ---


def _weights(mode: int, t) -> list:
    """What the neighbours along one dimension count at a distance t from the one in the middle."""
    if mode == NEAREST:
        return [1 + 0 * t]
    if mode != BICUBIC:
        return [1 - t, t]
    return [_outer(t + 1), _inner(t), _inner(1 - t), _outer(2 - t)]


def _slopes(mode: int, t) -> list:
    """The derivatives of `_weights`: numbers or arrays."""
    if mode != BICUBIC:
        return [-1, 1]
    return [_outer_slope(t + 1), _inner_slope(t), -_inner_slope(1 - t), -_outer_slope(2 - t)]


def _inner(x):  # the cubic of Keys (1981) with a = -0.75
    return (1.25 * x - 2.25) * x * x + 1


def _outer(x):
    return ((-0.75 * x + 3.75) * x - 6) * x + 3


def _inner_slope(x):
    return (3.75 * x - 4.5) * x


def _outer_slope(x):
    return (-2.25 * x + 7.5) * x - 6


def _product(factors: list):
    made = factors[0]
    for f in factors[1:]:
        made = made * f
    return made


def _fractions(xp, grid, near) -> list:
    """How far each point lies between its neighbours, per dimension, as functions of the grid."""
    dims = len(near.fractions)
    flat = xp.reshape(grid, (*near.fractions[0].shape, dims))
    return [xp.piecewise(xp.getitem(flat, (..., dims - 1 - d)), near.fractions[d], near.slopes[d]) for d in range(dims)]


def _of_neighbours(xp, near, lines: list):
    """The products of a weight for each dimension, of every neighbour: (batch, neighbours, points)."""
    made = [_product([line[k] for line, k in zip(lines, numbers)]) for numbers in near.numbers]
    return xp.stack(made, 1)


def _declare(dims: int):
    @op(name=f"grid_sampler_{dims}d", node=f"GridSampler{dims}DBackward0", method=False, namespace=None)
    def sample(input: Array, grid: Array, interpolation_mode, padding_mode, align_corners):
        return _kernel(input, grid, interpolation_mode, padding_mode, align_corners)

    @sample.derivative(of="input")
    def _(xp, grad, input_shape, grid, interpolation_mode, padding_mode, align_corners):
        sizes = tuple(input_shape[2:])
        near = xp.grid_neighbours(grid, sizes, interpolation_mode, padding_mode, align_corners)
        lines = [_weights(interpolation_mode, t) for t in _fractions(xp, grid, near)]
        flat = xp.reshape(grad, (*grad.shape[:2], near.places.shape[2]))
        return xp.sample_at_input_vjp(flat, _of_neighbours(xp, near, lines), near.places, sizes)

    @sample.derivative(of="grid")
    def _(xp, grad, input, grid, interpolation_mode, padding_mode, align_corners):
        if interpolation_mode == NEAREST:
            return xp.zeros_like(grid)
        sizes = tuple(input.shape[2:])
        near = xp.grid_neighbours(grid, sizes, interpolation_mode, padding_mode, align_corners)
        fractions = _fractions(xp, grid, near)
        lines = [_weights(interpolation_mode, t) for t in fractions]
        flat = xp.reshape(grad, (*grad.shape[:2], near.places.shape[2]))
        parts = xp.sample_at_weight_vjp(flat, input, near.places)
        made = []
        for d, t in enumerate(fractions):
            slopes = [*lines[:d], _slopes(interpolation_mode, t), *lines[d + 1 :]]
            made.append(xp.sum(parts * _of_neighbours(xp, near, slopes), 1) * xp.constant(near.slopes[d]))
        return xp.reshape(xp.stack(list(reversed(made)), -1), tuple(grid.shape))

    return sample


@in_single
def _kernel(input, grid, mode, padding, align_corners):
    near = vocabulary.grid_neighbours(grid, input.shape[2:], mode, padding, align_corners)
    weights = _of_neighbours(vocabulary, near, [_weights(mode, t) for t in near.fractions])
    out = vocabulary.sample_at(input, weights, near.places)
    return out.reshape(*input.shape[:2], *grid.shape[1:-1])


_SAMPLE = {dims: _declare(dims) for dims in (2, 3)}


@functools.lru_cache(1024)
def _check_grid(x, grid, mode: int) -> None:
    shapes = f"got input with sizes {list(x.shape)} and grid with sizes {list(grid.shape)}"
    if not x.ndim or not grid.ndim or x.shape[0] != grid.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but {shapes}")
    if grid.shape[-1] != x.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {x.ndim - 2} in last dimension, but got grid with sizes "
            f"{list(grid.shape)}"
        )
    for d in range(2, x.ndim):
        if not x.shape[d]:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(x.shape)} with dimension {d} being empty"
            )
    if x.ndim not in (4, 5) or x.ndim != grid.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but {shapes}"
        )
    if x.ndim == 5 and mode == BICUBIC:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    refuse("grid_sampler_2d_cpu_kernel_impl" if x.ndim == 4 else "grid_sampler3d_cpu", x, x.dtype.is_floating_point)
    if x.dtype is not grid.dtype:
        raise RuntimeError(f"expected scalar type {x.dtype.scalar_name} but found {grid.dtype.scalar_name}")


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """input at the points of grid; the modes as numbers (0 bilinear, 1 nearest, 2 bicubic; 0 zeros, 1 border,
    2 reflection)."""
    expect_tensor(input, "grid_sampler")
    expect_tensor(grid, "grid_sampler", "grid", 2)
    mode = as_int(interpolation_mode, "grid_sampler", "interpolation_mode", 3)
    mode = mode if mode in (NEAREST, BICUBIC) else 0
    padding = as_int(padding_mode, "grid_sampler", "padding_mode", 4)
    _check_grid(input._spec, grid._spec, mode)
    return _SAMPLE[input._spec.ndim - 2].single(input, grid, mode, padding, bool(align_corners))


for _name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"):
    publish("torch", _name, grid_sampler)
_SAMPLE[2].function = _SAMPLE[3].function = grid_sampler

_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


def _warn_corners() -> None:
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
        UserWarning,
        stacklevel=3,
    )


@composite(method=False, namespace="nn.functional")
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Images (batch, channels, *sizes) at the points of a grid (batch, *points, dimensions), whose coordinates go from
    -1 to 1 over the image, the last dimension first.

    mode: bilinear, nearest, bicubic (two dimensions); padding_mode: zeros, border, reflection. Raises ValueError for
    other modes, RuntimeError for shapes that do not go together.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        _warn_corners()
    return grid_sampler(input, grid, _MODES[mode], _PADDINGS[padding_mode], bool(align_corners))


# --- affine_grid ---


def _base(sizes, align_corners: bool, dtype):
    """The points of an image without a transformation: (points, dimensions + 1), the last coordinate 1."""
    lines = []
    for n in reversed(sizes):
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        lines.append(line if align_corners else line * (n - 1) / n)
    grids = np.meshgrid(*reversed(lines), indexing="ij")
    points = np.stack([*reversed(grids), np.ones(tuple(sizes))], -1)
    return points.reshape(-1, len(sizes) + 1).astype(dtype)


@op(name="affine_grid_generator", method=False, namespace=None)
def affine_grid_op(self: Array, size, align_corners):
    sizes = size[2:]
    wide = self.astype(np.float32) if self.dtype == np.float16 else self
    points = np.matmul(_base(sizes, align_corners, wide.dtype), wide.swapaxes(-1, -2))
    return points.reshape(size[0], *sizes, len(sizes)).astype(self.dtype, copy=False)


@affine_grid_op.derivative(of="self")
def _(xp, grad, size, align_corners):
    sizes = size[2:]
    count = 1
    for n in sizes:
        count *= n
    flat = xp.reshape(grad, (size[0], count, len(sizes)))
    dtype = getattr(grad.dtype, "numpy", grad.dtype)
    base = _base(sizes, align_corners, np.float32 if dtype == np.float16 else dtype).astype(dtype)
    return xp.matmul(xp.swapaxes(flat, -1, -2), xp.constant(base))


def affine_grid_generator(theta, size, align_corners):
    """The grid of points that affine maps theta take an image of this size to."""
    expect_tensor(theta, "affine_grid_generator", "theta")
    size = as_ints((size,), "affine_grid_generator", "size", 2)
    if theta._spec.shape[0] != size[0]:
        rows = len(size) - 1
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {rows}] but got: "
            f"[{theta._spec.shape[0]}, {rows}]."
        )
    return affine_grid_op.single(theta, size, bool(align_corners))


publish("torch", "affine_grid_generator", affine_grid_generator)
affine_grid_op.function = affine_grid_generator


@composite(method=False, namespace="nn.functional")
def affine_grid(theta, size, align_corners=None):
    """The grid for grid_sample that affine maps theta (batch, dimensions, dimensions + 1) make for images of this size.

    Raises ValueError and NotImplementedError for shapes that do not go together.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.affine_grid.html
    """
    if not isinstance(theta, Tensor):
        raise AttributeError(f"'{type(theta).__name__}' object has no attribute 'is_floating_point'")
    if align_corners is None:
        _warn_corners()
        align_corners = False
    spec = theta._spec
    if not spec.dtype.is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {spec.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    dims = len(size) - 2
    if spec.ndim != 3 or spec.shape[1:] != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is "
            "not an intended use case of affine_grid. See the documentation of affine_grid for details.",
            UserWarning,
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return affine_grid_generator(theta, size, align_corners)


# --- channels and pixels ---


@op(name="pixel_shuffle", method=False, namespace=None)
def shuffle_op(self: Array, upscale_factor):
    *outer, channels, height, width = self.shape
    r = upscale_factor
    split = self.reshape(*outer, channels // (r * r), r, r, height, width)
    n = len(outer)
    mixed = split.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    out = np.array(mixed, order="C").reshape(*outer, channels // (r * r), height * r, width * r)
    return laid_out(out, self)


@op(name="pixel_unshuffle", method=False, namespace=None)
def unshuffle_op(self: Array, downscale_factor):
    *outer, channels, height, width = self.shape
    r = downscale_factor
    split = self.reshape(*outer, channels, height // r, r, width // r, r)
    n = len(outer)
    mixed = split.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    out = np.array(mixed, order="C").reshape(*outer, channels * r * r, height // r, width // r)
    return laid_out(out, self)


@op(name="channel_shuffle", method=False, namespace=None)
def channels_op(self: Array, groups):
    channels = self.shape[1]
    split = self.reshape(self.shape[0], groups, channels // groups, *self.shape[2:])
    return laid_out(np.array(split.swapaxes(1, 2), order="C").reshape(self.shape), self)


shuffle_op.derivative(of="self")(lambda xp, grad, upscale_factor: xp.pixel_unshuffle(grad, upscale_factor))
unshuffle_op.derivative(of="self")(lambda xp, grad, downscale_factor: xp.pixel_shuffle(grad, downscale_factor))


@channels_op.derivative(of="self")
def _(xp, grad, groups):
    return xp.channel_shuffle(grad, max(grad.shape[1] // groups, 1))


def pixel_shuffle(input, upscale_factor):
    shape = expect_tensor(input, "pixel_shuffle")._spec.shape
    r = as_int(upscale_factor, "pixel_shuffle", "upscale_factor", 2)
    if len(shape) < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {len(shape)} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    if shape[-3] % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={shape[-3]} is not divisible by {r * r}"
        )
    return shuffle_op.single(input, r)


def pixel_unshuffle(input, downscale_factor):
    shape = expect_tensor(input, "pixel_unshuffle")._spec.shape
    r = as_int(downscale_factor, "pixel_unshuffle", "downscale_factor", 2)
    if len(shape) < 3:
        raise RuntimeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {len(shape)} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    for what, at in (("height", -2), ("width", -1)):
        if shape[at] % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {what} to be divisible by downscale_factor, but input.size({at})={shape[at]} is "
                f"not divisible by {r}"
            )
    return unshuffle_op.single(input, r)


def channel_shuffle(input, groups):
    shape = expect_tensor(input, "channel_shuffle")._spec.shape
    groups = as_int(groups, "channel_shuffle", "groups", 2)
    if len(shape) <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups."
        )
    return channels_op.single(input, groups)


for _function, _operation, _doc in (
    (pixel_shuffle, shuffle_op, "Channels turned into pixels: (…, C r², H, W) as (…, C, H r, W r)."),
    (pixel_unshuffle, unshuffle_op, "Pixels turned into channels: (…, C, H r, W r) as (…, C r², H, W)."),
    (channel_shuffle, channels_op, "Channels in another order: those of the groups by turns."),
):
    publish_functional(_function, _function.__name__, _doc, torch_too=True)
    _operation.function = _function
for _name in ("torch", "nn.functional"):
    publish(_name, "native_channel_shuffle", channel_shuffle)
