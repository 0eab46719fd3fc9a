"""nn.functional.interpolate: images made larger or smaller, by their nearest elements, linearly, cubically, by areas.

Each mode is a linear map along each of the last dimensions: for every element of the result a few elements of the
input (taps) and their weights.
"""

import functools
import math
import warnings

import numpy as np

from ..core import vocabulary
from ..core.axes import AxisMap
from ..core.declare import Array, composite, op
from ..core.dtype import argument_type_name, uint8
from ..core.tensor import Tensor
from .adaptive_pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .planes import Settings, laid_out, settled, show_settings
from .pooling import refuse

__all__ = ["interpolate"]

_ALL = slice(None)


# --- taps of one dimension ---


def _scale(size: int, out: int, align_corners: bool, factor, number):
    """How far apart elements of the result are in the input; `number` is the type to compute in."""
    if align_corners:
        return number(size - 1) / number(out - 1) if out > 1 else number(0)
    return number(1 / factor) if factor is not None and factor > 0 else number(size) / number(out)


def _positions(size: int, out: int, align_corners: bool, factor, number):
    """Where the centres of the elements of the result lie in the input."""
    scale = _scale(size, out, align_corners, factor, number)
    at = np.arange(out).astype(number)
    return at * scale if align_corners else (at + number(0.5)) * scale - number(0.5)


def _nearest(size: int, out: int, factor, exact: bool) -> AxisMap:
    scale = _scale(size, out, False, factor, np.float32)
    at = np.arange(out).astype(np.float32)
    places = np.floor((at + np.float32(0.5)) * scale if exact else at * scale).astype(np.int64)
    places = np.minimum(places, size - 1)
    identity = out == size and (places == np.arange(size)).all()
    return AxisMap(size, out, [(_ALL if identity else places, _ALL, None)])


def _linear(size: int, out: int, align_corners: bool, factor, number) -> AxisMap:
    if size == out:
        return AxisMap(size, out, [(_ALL, _ALL, None)])
    at = np.maximum(_positions(size, out, align_corners, factor, number), 0)
    first = np.minimum(at.astype(np.int64), size - 1)
    second = np.minimum(first + 1, size - 1)
    weight = np.clip(at - first, 0, 1).astype(number)
    return AxisMap(size, out, [(first, _ALL, number(1) - weight), (second, _ALL, weight)])


def _cubic_weights(t, a: float) -> list:
    """The weights of four neighbours of a point at t between the inner two (Keys 1981)."""

    def inner(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def outer(x):
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [outer(t + 1), inner(t), inner(1 - t), outer(2 - t)]


def _cubic(size: int, out: int, align_corners: bool, factor, number) -> AxisMap:
    at = _positions(size, out, align_corners, factor, number)
    first = np.floor(at).astype(np.int64)
    weights = _cubic_weights(at - first, -0.75)
    places = [np.clip(first + k, 0, size - 1) for k in (-1, 0, 1, 2)]
    return AxisMap(size, out, [(p, _ALL, w.astype(number)) for p, w in zip(places, weights)])


def _triangle(x):
    return np.maximum(1 - np.abs(x), 0)


def _keys(x):
    x = np.abs(x)
    a = -0.5
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos(x):
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


_FILTERS = {"bilinear": (_triangle, 2), "bicubic": (_keys, 4), "lanczos": (_lanczos, 6)}  # and how wide they are


def _smoothed(size: int, out: int, align_corners: bool, factor, number, mode: str) -> AxisMap:
    """Weights of a filter that is as wide as an element of the result, so that what is made smaller is averaged."""
    if size == out:
        return AxisMap(size, out, [(_ALL, _ALL, None)])
    shape, width = _FILTERS[mode]
    scale = _scale(size, out, align_corners, factor, number)
    support = number(width * 0.5) * max(scale, number(1))
    centre = scale * (np.arange(out).astype(number) + number(0.5))
    first = np.maximum((centre - support + number(0.5)).astype(np.int64), 0)
    last = np.minimum((centre + support + number(0.5)).astype(np.int64), size)
    inverse = 1 / scale if scale >= 1 else number(1)
    weights, longest = [], int(np.max(last - first, initial=0))
    for k in range(longest):
        weights.append(np.where(first + k < last, shape((first + k - centre + number(0.5)) * inverse), 0))
    total = np.add.reduce(weights, axis=0)
    total = np.where(total == 0, 1, total)
    taps: list = []
    for k, weight in enumerate(weights):
        chosen = np.flatnonzero(first + k < last)
        whole = chosen.size == out
        made = (weight / total)[_ALL if whole else chosen].astype(number)
        taps.append((first[chosen] + k, _ALL if whole else chosen, made))
    return AxisMap(size, out, taps)


# --- operations ---


def _run(x, maps):
    if x.dtype != np.uint8 or not any(m.weighted for m in maps):
        return vocabulary.map_axes(x, maps, None)
    for i, one in enumerate(reversed(maps)):
        x = _in_bytes(x, one, -1 - i)
    return x


def _in_bytes(x, one: AxisMap, axis: int):
    """A map of uint8 elements as PyTorch makes it: weights are integers with as many binary digits as int16 has room
    for, and every dimension is rounded for itself."""
    if not one.weighted:
        return one.apply(x, axis)
    largest = max(float(np.max(w)) for _, _, w in one.taps)
    digits = 0
    while digits < 22 and int(0.5 + largest * (1 << (digits + 1))) < 1 << 15:
        digits += 1
    taps = [(s, t, np.trunc(w * (1 << digits) + np.copysign(0.5, w)).astype(np.int64)) for s, t, w in one.taps]
    made = AxisMap(one.size, one.out, taps).apply(x.astype(np.int64), axis)
    return np.clip((made + (1 << digits >> 1)) >> digits, 0, 255).astype(np.uint8)


def _declare(name: str, node: str, align: bool):
    @op(name=name, node=f"{node}Backward0", method=False, namespace=None)
    def upsample(self: Array, settings):
        return laid_out(_run(self, settings.maps), self)

    @upsample.derivative(of="self")
    def _(xp, grad, settings):
        return xp.map_axes_vjp(grad, settings.maps, None)

    shown = [f"scales_{d}" for d in "dhw"[5 - int(name[-1]) - 2 :]] if name[-1] != "1" else ["scales"]
    show_settings(upsample, *shown, "output_size", "self_sym_sizes", *["align_corners"] * align)
    return upsample


_OPS = {}
for _mode, _node in (("nearest", "Nearest"), ("nearest-exact", "NearestExact")):
    for _dims in (1, 2, 3):
        _OPS[_mode, _dims, False] = _declare(
            f"upsample_{_mode.replace('-', '_')}{_dims}", f"Upsample{_node}{_dims}D", False
        )
for _mode, _dims, _smooth in (("linear", 1, ""), ("bilinear", 2, ""), ("bicubic", 2, ""), ("trilinear", 3, ""),
                              ("bilinear", 2, "Aa"), ("bicubic", 2, "Aa"), ("lanczos", 2, "Aa")):  # fmt: skip
    _OPS[_mode, _dims, bool(_smooth)] = _declare(
        f"upsample_{_mode}{_smooth.lower()}{_dims}", f"Upsample{_mode.capitalize()}{_dims}D{_smooth}", True
    )


def _map(mode: str, smooth: bool, size: int, out: int, align_corners: bool, factor, number) -> AxisMap:
    if mode.startswith("nearest"):
        return _nearest(size, out, factor, mode == "nearest-exact")
    if smooth:
        return _smoothed(size, out, align_corners, factor, number, mode)
    kind = _cubic if mode == "bicubic" else _linear
    return kind(size, out, align_corners, factor, number)


_KERNELS = {
    "nearest": "compute_indices_weights_nearest",
    "nearest2": "upsample_nearest2d_channels_last",
    "bilinear2": "upsample_bilinear2d_channels_last",
    "bicubic2": "compute_indices_weights_cubic",
}
_SHOWN = {1: ("W",), 2: ("H", "W"), 3: ("D", "H", "W")}


@functools.lru_cache(4096)
def _plan(spec, mode: str, smooth: bool, size, factors, align_corners: bool) -> Settings:
    """The maps for an image, after PyTorch's checks. `size` or `factors` is None."""
    dims = spec.ndim - 2
    before = spec.shape[2:]
    if size is None:
        size = tuple(math.floor(float(n) * f) for n, f in zip(before, factors))
    factors = factors or (None,) * dims
    if any(n <= 0 for n in (*before, *size)):
        text = [", ".join(f"{a}: {n}" for a, n in zip(_SHOWN[dims], sizes)) for sizes in (before, size)]
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({text[0]}) {'and ' * (dims == 1)}output ({text[1]})"
        )
    if not spec.numel and not math.prod(spec.shape[1:]):
        raise RuntimeError(
            f"Non-empty {spec.ndim}D data tensor expected but got a tensor with sizes {list(spec.shape)}"
        )
    half = spec.dtype.itemsize == 2
    eight = spec.dtype is uint8 and mode not in ("linear", "trilinear")
    plain = mode.removesuffix("-exact")
    kernel = "compute_index_ranges_weights" if smooth else _KERNELS.get(
        f"{plain}{dims}", _KERNELS.get(plain, "compute_indices_weights_linear"))  # fmt: skip
    refuse(kernel, spec, eight or spec.dtype.is_floating_point and not (smooth and half))
    number = np.float64 if spec.dtype.itemsize in (1, 8) else np.float32
    maps = tuple(_map(mode, smooth, n, m, align_corners, f, number) for n, m, f in zip(before, size, factors))
    found = Settings(maps=maps, output_size=size, self_sym_sizes=spec.shape, align_corners=align_corners)
    found.scales = factors[0]
    found.scales_w, found.scales_h = factors[-1], factors[max(dims - 2, 0)]
    found.scales_d = factors[0]
    return found


# --- arguments ---

_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
_WANTED = {"linear": 1, "bilinear": 2, "trilinear": 3}
_AREA = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}


def _sizes(input, size, scale_factor, dims: int) -> tuple:
    """(output size, scale factors), one of them None."""
    shown = list(input._spec.shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (tuple, list)):
            return _integers((size,) * dims, size), None
        if len(size) != dims:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions "
                f"of {shown} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                "output size in (o1, o2, ...,oK) format."
            )
        if not all(hasattr(n, "__index__") for n in size):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size "
                f"with types {[type(n) for n in size]}"
            )
        return _integers(size, size), None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if not isinstance(scale_factor, (tuple, list)):
        return None, (scale_factor,) * dims
    if len(scale_factor) != dims:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {shown} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, d1, "
            "d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
        )
    return None, tuple(scale_factor)


def _integers(values, given) -> tuple:
    if not all(hasattr(n, "__index__") for n in values):
        raise TypeError(f"interpolate(): argument 'size' must be int or tuple of ints, not {argument_type_name(given)}")
    return tuple(int(n) for n in values)


def _check_mode(input, mode: str, align_corners, antialias: bool, dims: int) -> None:
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and dims == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    if mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if mode == "area" or mode in ("nearest", "nearest-exact") or (mode, dims) in (("bicubic", 2), ("lanczos", 2)):
        if dims in (1, 2, 3):
            return
    if mode in _WANTED and dims in (1, 2, 3):
        if _WANTED[mode] != dims:
            raise NotImplementedError(f"Got {dims + 2}D input, but {mode} mode needs {_WANTED[mode] + 2}D input")
        return
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims + 2}D) for the modes: {_MODES} (got {mode})"
    )


@composite(method=False, namespace="nn.functional")
def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):  # fmt: skip
    """Images (batch, channels, *sizes) made larger or smaller, to `size` or by `scale_factor`.

    mode: nearest, nearest-exact, linear, bilinear, bicubic, trilinear, area, lanczos; `antialias` smooths what is made
    smaller. Raises ValueError for arguments that do not go together, NotImplementedError for a mode that the input has
    not the dimensions for.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
    """
    if not isinstance(input, Tensor):
        raise AttributeError(f"'{type(input).__name__}' object has no attribute 'dim'")
    dims = input._spec.ndim - 2
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
                "trilinear"
            )
    elif align_corners is None:
        align_corners = False
    size, factors = _sizes(input, size, scale_factor, dims)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if size is None and (recompute_scale_factor or mode == "area"):
        size = tuple(math.floor(float(n) * f) for n, f in zip(input._spec.shape[2:], factors))
        factors = None
    _check_mode(input, mode, align_corners, antialias, dims)
    if mode == "area":
        return _AREA[dims](input, size)
    return _OPS[mode, dims, bool(antialias)].single(
        input, settled(_plan, input._spec, mode, bool(antialias), size, factors, bool(align_corners))
    )


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", UserWarning, stacklevel=3
    )


@composite(method=False, namespace="nn.functional")
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The older name of interpolate."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite(method=False, namespace="nn.functional")
def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate by the nearest elements."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


@composite(method=False, namespace="nn.functional")
def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate linearly in two dimensions, corners on corners."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


for _operation in _OPS.values():
    _operation.function = _operation.single
