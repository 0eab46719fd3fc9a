"""Max pooling undone: values put back at the places they came from; and max pooling over windows drawn at random."""

import itertools
import math
from typing import Any

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, op
from ..core.dtype import int64
from ..core.registry import FUNCTIONS
from ..core.tensor import Tensor
from .gathering import Index
from .planes import expect_tensor, laid_out, number_each, sizes_of
from .pooling import publish_functional, refuse
from .squeezing import squeeze_dim, unsqueeze_op

__all__ = ["max_unpool2d", "max_unpool3d"]


# --- max_unpool ---


def _declare_unpool(dims: int):
    name = f"max_unpool{dims}d"

    @op(name=name, node=f"MaxUnpool{dims}DBackward0", method=False, namespace=None, frees=("indices",))
    def unpool(self: Array, indices, shape):
        out = vocabulary.place_last(self.reshape(-1), (math.prod(shape),), indices)
        return laid_out(out.reshape(shape), self)

    @unpool.derivative(of="self")
    def _(xp, grad, self_shape, indices):
        return xp.reshape(xp.index_last(xp.reshape(grad, (-1,)), indices.checked()), self_shape)

    unpool.function = unpool.single
    return unpool


_UNPOOL = {dims: _declare_unpool(dims) for dims in (2, 3)}


def _check_unpool(dims: int, spec, indices, size, stride) -> None:
    """Whether values and indices go together, in the words of PyTorch's kernels."""
    three = dims == 3
    if indices._spec.dtype is not int64:
        found = "" if three else f" but got: {indices._spec.dtype.scalar_name}"
        raise RuntimeError(f"elements in indices should be type int64{found}")
    if spec.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got a tensor with "
            f"{spec.ndim} dimensions."
        )
    if indices._spec.shape != spec.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(spec.shape)}) but got indices tensor "
            f"with shape: {list(indices._spec.shape)}"
        )
    for at in range(1, spec.ndim):
        if not spec.shape[at]:
            raise RuntimeError(
                f"max_unpooling{dims}d_forward_out_cpu(): Expected input to have non-zero size for non-batch dimensions, "
                f"but got {list(spec.shape)} with dimension {at} being empty."
            )
    if three and any(s <= 0 for s in stride):
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")


def _unpooled(dims: int, input, indices, size: tuple, stride: tuple):
    spec = input._spec
    _check_unpool(dims, spec, indices, size, stride)
    refuse(f"max_unpool{dims}d", spec, spec.dtype.is_floating_point)
    area, places = math.prod(size), indices._array
    outside = (places < 0) | (places >= area)
    if outside.any():
        volume = "x".join(map(str, size))
        raise RuntimeError(f"Found an invalid max index: {places[outside][-1]} (output volumes are of size {volume})")
    outer = spec.shape[: spec.ndim - dims]
    starts = np.arange(math.prod(outer)).reshape(*outer, *(1,) * dims) * area
    index = Index.of(((places + starts).reshape(-1),), indices)
    return _UNPOOL[dims].single(input, index, (*outer, *size))


def _unpool_size(shape, kernel, stride, padding, output_size, dims: int) -> tuple:
    """The size of the result: what a pool of these settings would have come from, or `output_size`, if that is near."""
    if len(shape) < dims:
        raise IndexError("tuple index out of range")
    default = [
        (n - 1) * s + k - 2 * p for n, k, s, p in zip(shape[len(shape) - dims :], kernel, stride, padding, strict=False)
    ]
    if output_size is None:
        return tuple(default)
    size = list(output_size)
    if len(size) == dims + 2:
        size = size[2:]
    if len(size) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
            f"'{len(size)}'"
        )
    for d, (n, s) in enumerate(zip(default, stride)):
        if not n - s < size[d] < n + s:
            raise ValueError(f'invalid output_size "{size}" (dim {d} must be between {n - s} and {n + s})')
    for d, n in enumerate(size):
        if n < 0:
            raise ValueError(
                f"max_unpooling: output_size must contain non-negative spatial dimensions, but got output_size[{d}]={n}"
            )
    return tuple(size)


def _publish_unpool(dims: int):
    name = f"max_unpool{dims}d"

    def function(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel = number_each(sizes_of(kernel_size, name, "kernel_size", 3), dims)
        stride = number_each(sizes_of(stride, name, "stride", 4), dims) if stride not in (None, (), []) else kernel
        padding = number_each(sizes_of(padding, name, "padding", 5), dims)
        expect_tensor(input, name)
        expect_tensor(indices, name, "indices", 2)
        size = _unpool_size(input._spec.shape, kernel, stride, padding, output_size, dims)
        if dims > 1:
            return _unpooled(dims, input, indices, size, stride)
        out = _unpooled(2, unsqueeze_op.single(input, -1), unsqueeze_op.single(indices, -1), (*size, 1), stride)
        return squeeze_dim.single(out, -1)

    doc = "Zeros with the values put back at the places in their planes that max pooling took them from."
    publish_functional(function, name, doc)
    if dims > 1:
        _UNPOOL[dims].function = function
    return function


max_unpool1d, max_unpool2d, max_unpool3d = map(_publish_unpool, (1, 2, 3))


# --- fractional max pooling ---


def _starts(samples, size: int, out: int, kernel: int) -> np.ndarray:
    """Where the windows of every plane begin along a dimension: steps of one of two lengths, in an order that the sample
    of the plane decides."""
    starts = np.zeros((samples.size, out), np.int64)
    if out > 1:
        alpha = samples.dtype.type(size - kernel) / samples.dtype.type(out - 1)
        steps = np.arange(out, dtype=samples.dtype) + samples[:, None]
        starts[:] = (steps * alpha).astype(np.int64) - (samples * alpha).astype(np.int64)[:, None]
    if out:
        starts[:, -1] = size - kernel
    return starts


def _fractional(x, samples, kernel, out) -> tuple:
    """(values, places): each plane, of one image and channel, has its own windows."""
    dims = len(out)
    outer, sizes = x.shape[: x.ndim - dims], x.shape[x.ndim - dims :]
    count = math.prod(outer)
    planes = x.reshape(count, math.prod(sizes))
    channels = outer[-1]
    drawn = samples[: count // max(channels, 1), :channels].reshape(count, dims)
    first: Any = np.zeros((count, 1), np.int64)
    for d in range(dims):  # in two dimensions the first sample belongs to the last of them, in three to the first
        starts = _starts(drawn[:, 1 - d if dims == 2 else d], sizes[d], out[d], kernel[d])
        first = (first[:, :, None] * sizes[d] + starts[:, None, :]).reshape(count, math.prod(out[: d + 1]))
    values, places = np.full(first.shape, -math.inf, x.dtype), first.copy()
    for element in itertools.product(*map(range, kernel)):
        offset = 0
        for k, n in zip(element, sizes):
            offset = offset * n + k
        found = np.take_along_axis(planes, first + offset, 1)
        larger = (found > values) | np.isnan(found)
        np.copyto(values, found, where=larger)
        np.copyto(places, first + offset, where=larger)
    return values.reshape(*outer, *out), places.reshape(*outer, *out)


_AXES = {2: ("height", "width"), 3: ("time", "height", "width")}
_ORDER = {2: ("height", "width"), 3: ("time", "width", "height")}  # in which PyTorch looks at them


def _declare_fractional(dims: int):
    name = f"fractional_max_pool{dims}d"

    @op(name=f"{name}_with_indices", node=f"FractionalMaxPool{dims}DBackward0", nondifferentiable_outputs=(1,),
        method=False, namespace=None)  # fmt: skip
    def pool(self: Array, kernel_size, output_size, samples):
        return _fractional(self, samples, kernel_size, output_size)

    @pool.derivative(of="self")
    def _(xp, grad, self_shape, kernel_size, output_size, result1):
        return xp.scatter_planes(grad, result1, tuple(self_shape[len(self_shape) - dims :]), False)

    def run(input, kernel_size, output_size, output_ratio, samples):
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        spec = expect_tensor(input, name)._spec
        kernel = _sizes(name, kernel_size, "kernel_size", dims)
        if output_size is None:
            ratio = output_ratio
            if not isinstance(ratio, (tuple, list)):
                if dims == 2:
                    raise TypeError(f"object of type '{type(ratio).__name__}' has no len()")
                ratio = (ratio,) * dims
            if len(ratio) > dims:
                raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
            output_size = tuple(int(spec.shape[spec.ndim - dims + i] * r) for i, r in enumerate(ratio))
        out = _sizes(name, output_size, "output_size", dims)
        if spec.ndim < dims + 1:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-spec.ndim}, {spec.ndim - 1}], but got {-dims - 1})"
            )
        samples = _samples(input, samples, dims)
        _check_fractional(name, spec, kernel, out, samples)
        return pool.single(input, kernel, out, samples._array)

    def with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                     _random_samples=None):  # fmt: skip
        return run(input, kernel_size, output_size, output_ratio, _random_samples)

    def function(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        found = run(input, kernel_size, output_size, output_ratio, _random_samples)
        return found if return_indices else found[0]

    pool.function = with_indices
    doc = "The largest element of windows of one size that are spread at random to give so many results"
    publish_functional(function, name, f"{doc}; with return_indices also its place in its plane.")
    publish_functional(with_indices, f"{name}_with_indices", f"{doc}, and its place in its plane.")


def _sizes(name: str, value, shown: str, dims: int) -> tuple:
    values = sizes_of(value, name, shown, 2)
    if len(values) not in (1, dims):
        words = "tuple of Ints" if dims == 2 else "tuple of three Ints"
        raise RuntimeError(f"{name}: {shown} must either be a single Int or {words}")
    return number_each(values, dims)


def _samples(input, samples, dims: int) -> Tensor:
    """The random numbers that place the windows, one per image, channel and dimension."""
    if samples is not None:
        return samples
    spec = input._spec
    count = 1 if spec.ndim == dims + 1 else spec.shape[spec.ndim - dims - 2]
    if not spec.dtype.is_floating_point:
        raise NotImplementedError(f"\"check_uniform_bounds\" not implemented for '{spec.dtype.scalar_name}'")
    return FUNCTIONS["torch"]["rand"](count, spec.shape[spec.ndim - dims - 1], dims, dtype=spec.dtype)


def _check_fractional(name: str, spec, kernel, out, samples) -> None:
    dims = len(out)
    shape = list(spec.shape)
    where = f"{name}()" if dims == 2 else f"{name}_out()"
    if spec.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{where}: Expected {dims + 1}D or {dims + 2}D tensor, but got: {shape}")
    for at in range(spec.ndim - dims - 1, spec.ndim):
        if not shape[at]:
            raise RuntimeError(
                f"{where}: Expected input to have non-zero size for non-batch dimensions, but got {shape} with dimension "
                f"{at} being empty."
            )
    for axis, n, k, m in sorted(
        zip(_AXES[dims], shape[-dims:], kernel, out), key=lambda one: _ORDER[dims].index(one[0])
    ):
        if m + k - 1 > n - (dims == 3):
            raise RuntimeError(f"{where}: pool {axis} {k} too large relative to input {axis} {n}")
    if samples._spec.dtype is not spec.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    count = 1 if spec.ndim == dims + 1 else shape[0]
    if samples._spec.shape[0] < count:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples._spec.ndim != 3 or samples._spec.shape[1] < shape[-dims - 1] or samples._spec.shape[2] != dims:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")


_declare_fractional(2)
_declare_fractional(3)
