"""Pooling: the average of each window of an image, the largest element, the norm; windows that slide.

Every op works on (…, *sizes) and takes its windows along the last dimensions. The one-dimensional forms are those in
two dimensions with a height of 1, as in PyTorch, whose graph shows it.
"""

import functools
import math

import numpy as np

from ..core import vocabulary
from ..core.axes import sliding
from ..core.declare import Array, composite, op
from ..core.dtype import argument_type_name, bool_, int64
from ..core.modes import state
from ..core.registry import publish
from .maxima import maxima, regular
from .planes import Settings, expect_tensor, laid_out, number_each, settled, show_settings, sizes_of
from .squeezing import squeeze_dim, unsqueeze_op

__all__ = ["avg_pool2d", "max_pool2d", "with_height", "one_each", "check_line", "refuse", "product_of",
           "publish_functional"]  # fmt: skip

_WORDS = {1: "one", 2: "two", 3: "three"}
_AXES = {2: "HW", 3: "THW"}


def _axes_text(what: str, values: tuple) -> str:
    return " ".join(f"{what}{axis}: {v}" for axis, v in zip(_AXES[len(values)], values))


def output_size(n: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows a dimension has; a last one that lies wholly in the padding does not count."""
    room = n + 2 * padding - dilation * (kernel - 1) - 1 + (stride - 1 if ceil_mode else 0)
    count = room // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= n + padding else count


# --- shapes and settings that go together ---


def _check_lengths(name: str, dims: int, kernel, stride, padding, dilation) -> None:
    words = _WORDS[dims]
    must = "must be" if name == "avg_pool3d" else "must either be"
    for shown, values, text in (
        ("kernel_size", kernel, f"{must} a single int"),
        ("stride", stride, f"{must} omitted, a single int"),
        ("padding", padding, f"{must} a single int"),
        ("dilation", dilation, "must be either a single int"),
    ):
        if len(values) not in (1, dims) and not (shown == "stride" and not values):
            raise RuntimeError(f"{name}: {shown} {text}, or a tuple of {words} ints")


def _check_window(kernel, stride, padding, dilation) -> None:
    """What holds of the numbers alone."""
    if 0 in stride:
        raise RuntimeError("stride should not be zero")
    for k, p, d in zip(kernel, padding, dilation):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > int(((k - 1) * d + 1) / 2):
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
            )
    for values, what, shown in (
        (kernel, "kernel size", "k"),
        (stride, "stride", "d"),
        (dilation, "dilation", "dilation"),
    ):
        if any(v <= 0 for v in values):
            raise RuntimeError(f"{what} should be greater than zero, but got {_axes_text(shown, values)}")


def _check_image(name: str, spec, dims: int) -> None:
    """Whether the input is an image with elements in all dimensions but the batch."""
    shape = list(spec.shape)
    if dims == 2:
        if spec.ndim not in (3, 4) or 0 in shape[1 if spec.ndim == 4 else 0 :]:
            raise RuntimeError(
                f"Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{shape}"
            )
        return
    if 0 in shape[spec.ndim - 4 :]:
        full = "max_pool3d_with_indices_out_cpu_template()" if name == "max_pool3d" else f"{name}()"
        raise RuntimeError(
            f"{full}: Expected input's non-batch dimensions to have positive length, but input has a shape of {shape} "
            "and non-batch dimension 0 has length zero!"
        )


def _check_padding(kernel, padding) -> None:
    """Whether the padding fits a kernel that is not spread out, too."""
    if all(2 * p <= k for k, p in zip(kernel, padding)):
        return
    if len(kernel) == 2:
        found = f"padW = {padding[1]}, padH = {padding[0]}, kW = {kernel[1]}, kH = {kernel[0]}"
    else:
        order = (0, 2, 1)
        found = " ".join(f"{what}{'THW'[i]}: {v[i]}" for what, v in (("k", kernel), ("pad", padding)) for i in order)
    raise RuntimeError(f"pad should be smaller than or equal to half of kernel size, but got {found}")


def fitted(name: str, spec, kernel, stride, padding, dilation, ceil_mode) -> tuple:
    """(kernel, stride, padding, dilation, number of windows) per dimension, for settings that fit the image."""
    dims = int(name[-2])
    _check_lengths(name, dims, kernel, stride, padding, dilation)
    kernel = number_each(kernel, dims)
    stride = number_each(stride, dims) if stride else kernel
    padding, dilation = number_each(padding, dims), number_each(dilation, dims)
    if spec.ndim not in (dims + 1, dims + 2):
        if name == "avg_pool2d" and spec.ndim < 3:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-max(spec.ndim, 1)}, {max(spec.ndim, 1) - 1}], "
                "but got -3)"
            )
        if name != "avg_pool2d":
            raise RuntimeError(f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
    _check_window(kernel, stride, padding, dilation)
    _check_image(name, spec, dims)
    sizes = spec.shape[spec.ndim - dims :]
    if name == "avg_pool3d" and any(n < k for n, k in zip(sizes, kernel)):
        image, window = _axes_text("", sizes), _axes_text("k", kernel)
        raise RuntimeError(f"input image ({image}) smaller than kernel size ({window})")
    _check_padding(kernel, padding)
    out = tuple(map(output_size, sizes, kernel, stride, padding, dilation, (ceil_mode,) * dims))
    if any(n < 1 for n in out):
        planes = spec.shape[-dims - 1]
        before, after = "x".join(map(str, (planes, *sizes))), "x".join(map(str, (planes, *out)))
        raise RuntimeError(f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small")
    return kernel, stride, padding, dilation, out


def with_height(operation, input, *settings):
    """A one-dimensional form: the two-dimensional one with a height of 1. Of a pair of results both are squeezed."""
    out = operation(unsqueeze_op.single(input, -2), *settings)
    if isinstance(out, tuple):
        return tuple(squeeze_dim.single(t, -2) for t in out)
    return squeeze_dim.single(out, -2)


def one_each(name: str, shown: str, position: int, value) -> int:
    """The integer of a one-dimensional form, which may stand in a sequence."""
    values = sizes_of(value, name, shown, position)
    if len(values) != 1:
        raise RuntimeError(f"{name}() argument '{shown}' should contain one int (got {len(values)})")
    return values[0]


def check_line(name: str, input) -> None:
    if input._spec.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input._spec.ndim}-dimensional tensor for argument #1 'self' (while "
            f"checking arguments for {name})"
        )


def refuse(kernel: str, spec, allowed: bool) -> None:
    if not allowed:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{spec.dtype.scalar_name}'")


# --- averages ---


def _averages(sizes, kernel, stride, padding, out, include_pad, divisor) -> tuple:
    """(maps, divisor) of an average pool."""
    maps = tuple(map(sliding, sizes, out, kernel, stride, padding))
    if divisor is not None:
        return maps, divisor
    counts = []
    for n, k, s, p, count in zip(sizes, kernel, stride, padding, out):
        starts = [i * s - p for i in range(count)]
        ends = [min(start + k, n + p) for start in starts]
        if not include_pad:
            starts, ends = [max(a, 0) for a in starts], [min(b, n) for b in ends]
        counts.append([b - a for a, b in zip(starts, ends)])
    return maps, product_of(counts)


def product_of(counts: list):
    """The product of a count per dimension: a number where all are alike, otherwise an array over the dimensions."""
    if all(len(set(c)) <= 1 for c in counts):
        return math.prod(c[0] if c else 1 for c in counts)
    return functools.reduce(np.multiply.outer, [np.array(c) for c in counts])


def _declare_average(dims: int):
    name = f"avg_pool{dims}d"

    @op(name=name, node=f"AvgPool{dims}DBackward0", method=False, namespace=None)
    def pool(self: Array, settings):
        out = vocabulary.map_axes(self, settings.maps, settings.divisor)
        return laid_out(out, self) if dims == 2 else laid_out(out)

    @pool.derivative(of="self")
    def _(xp, grad, settings):
        return xp.map_axes_vjp(grad, settings.maps, settings.divisor)

    show_settings(pool, "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")

    @functools.lru_cache(4096, typed=True)
    def prepare(spec, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        kernel = sizes_of(kernel_size, name, "kernel_size", 2)
        step = () if stride is None else sizes_of(stride, name, "stride")
        padding = sizes_of(padding, name, "padding")
        if divisor_override is not None and not hasattr(divisor_override, "__index__"):
            raise TypeError(
                f"{name}(): argument 'divisor_override' must be int, not {argument_type_name(divisor_override)}"
            )
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        ceil_mode, include = bool(ceil_mode), bool(count_include_pad)
        kernel, stride, padding, _, out = fitted(name, spec, kernel, step, padding, (1,), ceil_mode)
        half = spec.dtype.itemsize == 2 and spec.dtype.is_floating_point
        allowed = spec.dtype is int64 or spec.dtype.is_floating_point and not (dims == 3 and half)
        refuse("avg_pool2d" if dims == 2 else "avg_pool3d_out_frame", spec, allowed)
        sizes = spec.shape[spec.ndim - dims :]
        maps, divisor = _averages(sizes, kernel, stride, padding, out, include, divisor_override)
        return Settings(
            maps=maps, divisor=divisor, kernel_size=kernel, stride=stride if step else (), padding=padding,
            ceil_mode=ceil_mode, count_include_pad=include, divisor_override=divisor_override,
        )  # fmt: skip

    def function(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None):  # fmt: skip
        spec = expect_tensor(input, name)._spec
        return pool.single(
            input, settled(prepare, spec, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        )

    publish_functional(function, name, "The average of each window of the last dimensions.")
    pool.function = function
    return function


def publish_functional(function, name: str, doc: str, torch_too: bool = False) -> None:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc}\n    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.{name}.html"
    publish("nn.functional", name, function)
    if torch_too:
        publish("torch", name, function)


avg_pool2d, avg_pool3d = _declare_average(2), _declare_average(3)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    name = "avg_pool1d"
    expect_tensor(input, name)
    kernel = one_each(name, "kernel_size", 2, kernel_size)
    step = kernel if stride is None or stride in ((), []) else one_each(name, "stride", 0, stride)
    padding = one_each(name, "padding", 0, padding)
    check_line(name, input)
    return with_height(avg_pool2d, input, (1, kernel), (1, step), (0, padding), ceil_mode, count_include_pad)


publish_functional(avg_pool1d, "avg_pool1d", "The average of each window of the last dimension.", torch_too=True)


# --- the largest element ---


def _declare_max(dims: int):
    name = f"max_pool{dims}d"

    @op(name=f"{name}_with_indices", node=f"MaxPool{dims}DWithIndicesBackward0", nondifferentiable_outputs=(1,),
        method=False, namespace=None)  # fmt: skip
    def pool(self: Array, settings):
        values, places = maxima(self, settings.windows, True)
        return laid_out(values, self), laid_out(places, self)

    @pool.derivative(of="self")
    def _(xp, grad, result1, settings):
        return xp.scatter_planes(grad, result1, settings.windows.sizes, settings.windows.distinct)

    show_settings(pool, "kernel_size", "stride", "padding", "dilation", "ceil_mode")

    @op(name=f"{name}_values", method=False, namespace=None)
    def values(self: Array, settings):
        return laid_out(maxima(self, settings.windows, False), self)

    @functools.lru_cache(4096, typed=True)
    def prepare(spec, kernel_size, stride, padding, dilation, ceil_mode, indices):
        called = f"{name}_with_indices" if indices else name
        kernel = sizes_of(kernel_size, called, "kernel_size", 2)
        step = () if stride is None else sizes_of(stride, called, "stride", 3 * indices)
        padding = sizes_of(padding, called, "padding", 4 * indices)
        dilation = sizes_of(dilation, called, "dilation", 5 * indices)
        ceil_mode = bool(ceil_mode)
        kernel, stride, padding, dilation, out = fitted(name, spec, kernel, step, padding, dilation, ceil_mode)
        refuse(name, spec, spec.dtype is not bool_ and not spec.dtype.is_complex)
        return Settings(
            windows=regular(spec.shape[spec.ndim - dims :], kernel, stride, padding, dilation, out),
            kernel_size=kernel, stride=stride if step else (), padding=padding, dilation=dilation, ceil_mode=ceil_mode,
        )  # fmt: skip

    def run(input, kernel_size, stride, padding, dilation, ceil_mode, indices: bool):
        spec = expect_tensor(input, name)._spec
        settings = settled(prepare, spec, kernel_size, stride, padding, dilation, ceil_mode, indices)
        if indices:
            return pool.single(input, settings)
        if input.requires_grad and state.grad_enabled:
            return pool.single(input, settings)[0]
        return values.single(input, settings)

    pool.function = values.function = pool.general
    doc = "The largest element of each window of the last dimensions{}; NaN counts as the largest."
    _publish_max(name, run, doc)
    return run


def _publish_max(name: str, run, doc: str) -> None:
    def with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        return run(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    def function(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        return run(input, kernel_size, stride, padding, dilation, ceil_mode, bool(return_indices))

    def plain(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
        return run(input, kernel_size, stride, padding, dilation, ceil_mode, False)

    publish_functional(with_indices, f"{name}_with_indices", doc.format(", and its place in its plane"))
    publish_functional(function, name, doc.format("") + " With return_indices also its place in its plane.")
    plain.__name__ = plain.__qualname__ = name
    plain.__doc__ = doc.format("")
    publish("torch", name, plain)


max_pool2d, max_pool3d = _declare_max(2), _declare_max(3)


def _one_of(name: str, shown: str, value, wording: str, position: int = 0) -> int:
    values = sizes_of(value, name, shown, position)
    if len(values) == 1:
        return values[0]
    if name.endswith("indices"):
        raise RuntimeError(f"{name}() argument '{shown}' should contain one int (got {len(values)})")
    raise RuntimeError(f"{name}() {shown} must be {wording} of size 1 but got size {len(values)}")


def _check_max_line(spec, kernel: int, stride: int, padding: int, dilation: int, ceil_mode) -> None:
    name, shape = "max_pool1d", list(spec.shape)
    if spec.ndim not in (2, 3) or 0 in shape[spec.ndim - 2 :]:
        raise RuntimeError(
            f"{name}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{shape}"
        )
    for shown, value in (("kernel_size", kernel), ("stride", stride)):
        if value <= 0:
            raise RuntimeError(f"{name}() {shown} must be greater than zero, but got {value}")
    if padding < 0:
        raise RuntimeError(f"{name}() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            f"{name}() padding should be at most half of kernel size, but got padding={padding} and kernel_size={kernel}"
        )
    if dilation <= 0:
        raise RuntimeError(f"{name}() dilation must be greater than zero, but got {dilation}")
    out = output_size(shape[-1], kernel, stride, padding, dilation, ceil_mode)
    if out <= 0:
        raise RuntimeError(f"{name}() Invalid computed output size: {out}")
    refuse("max_pool1d_impl", spec, spec.dtype.is_floating_point)


def _max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, indices: bool):
    name = "max_pool1d_with_indices" if indices else "max_pool1d"
    expect_tensor(input, name)
    listed = "an int, list of ints or tuple of ints"
    kernel = _one_of(name, "kernel_size", kernel_size, listed, 2)
    step = kernel
    if stride is not None and stride not in ((), []):
        step = _one_of(name, "stride", stride, "None, an int, list of ints, or tuple of ints", 3 * indices)
    padding = _one_of(name, "padding", padding, "an int, list of ints, or tuple of ints", 4 * indices)
    dilation = _one_of(name, "dilation", dilation, listed, 5 * indices)
    if indices:
        check_line(name, input)
    else:
        _check_max_line(input._spec, kernel, step, padding, dilation, bool(ceil_mode))
    settings = (1, kernel), (1, step), (0, padding), (1, dilation), ceil_mode, indices
    return with_height(max_pool2d, input, *settings)


_publish_max("max_pool1d", _max_pool1d, "The largest element of each window of the last dimension{}.")


def max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """The largest element of each window of the last dimension, and its place."""
    return _max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


publish("torch", "max_pool1d_with_indices", max_pool1d_with_indices)


# --- norms ---


def _norms(pooled, area, norm_type):
    """The norm of windows of so many elements, of their averages."""
    return (pooled.sign() * pooled.abs().relu()).mul(area).pow(1.0 / norm_type)


@composite(method=False, namespace="nn.functional")
def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of the last dimension, as a power average; negative averages count as 0.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool1d.html"""
    return _norms(avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode), kernel_size, norm_type)


@composite(method=False, namespace="nn.functional")
def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of the last two dimensions, as a power average; negative averages count as 0.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool2d.html"""
    height, width = (kernel_size,) * 2 if not isinstance(kernel_size, (tuple, list, str)) else kernel_size
    return _norms(avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode), height * width, norm_type)


@composite(method=False, namespace="nn.functional")
def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of the last three dimensions, as a power average; negative averages count as 0.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool3d.html"""
    depth, height, width = (kernel_size,) * 3 if not isinstance(kernel_size, (tuple, list, str)) else kernel_size
    pooled = avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _norms(pooled, depth * height * width, norm_type)
