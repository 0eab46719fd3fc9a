"""Normalizations: layers, batches, groups, instances, root mean squares, neighbouring channels.

Each is one operation: the input standardized along some axes (core/moments.py), times a weight, plus a bias.
"""

import math
import warnings

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, Op, op
from ..core.dtype import argument_type_name
from ..core.moments import Moments, standardize
from ..core.registry import FUNCTIONS, publish
from ..core.tensor import Tensor, wrap
from .loss import expect_tensors
from .precision import HALF
from .reduction import into
from .refusal import not_implemented

__all__ = ["layer_norm", "batch_norm", "group_norm", "instance_norm", "rms_norm", "local_response_norm"]


def _normalization(name: str, node: str, kernel_name: str) -> Op:
    """An operation that standardizes by `moments`.

    beside: the shape of weight and bias beside the array as `moments` looks at it, or for groups, whose channels are parts of
    a row, beside the input itself.
    """

    @op(name=name, node=node, method=False, namespace=None, frees=("moments",))
    def normalize(self: Array, weight: Array | None, bias: Array | None, moments: Moments, beside):
        if self.dtype.kind != "f":
            raise not_implemented(kernel_name, self)
        weight = None if weight is None else weight.reshape(beside)
        bias = None if bias is None else bias.reshape(beside)
        if grouped:
            out = vocabulary.standardized(self, moments)
            if weight is not None:
                out *= weight
            if bias is not None:
                out += bias
        else:
            out = standardize(self, moments, weight, bias)
        return out.astype(HALF) if self.dtype is HALF else out

    grouped = name == "group_norm"

    @normalize.derivative(of="self")
    def _(xp, grad, self, weight, moments, beside):
        weight = None if weight is None else xp.reshape(weight, beside)
        if grouped:
            return xp.standardized_vjp(grad if weight is None else grad * weight, self, moments)
        return xp.standardized_vjp(grad, self, moments, weight)

    @normalize.derivative(of="weight")
    def _(xp, grad, self, weight_shape, moments, beside):
        if grouped:
            return xp.sum(grad * xp.standardized(self, moments), (0, *range(2, grad.ndim)))
        return xp.standardized_weight_vjp(grad, self, moments, weight_shape)

    @normalize.derivative(of="bias")
    def _(xp, grad, bias_shape, moments, beside):
        if grouped or len(moments.shape) == 3:
            return xp.sum(grad, (0, *range(2, grad.ndim)))
        return grad  # broadcast over the rows

    return normalize


layer_norm_op = _normalization("layer_norm", "NativeLayerNormBackward0", "LayerNormKernelImpl")
batch_norm_op = _normalization("batch_norm", "NativeBatchNormBackward0", "batch_norm")
group_norm_op = _normalization("group_norm", "NativeGroupNormBackward0", "GroupNormKernelImpl")
rms_norm_op = _normalization("rms_norm", "MulBackward0", "rms_norm")
rms_norm_half_op = _normalization("rms_norm_half", "ToCopyBackward0", "rms_norm")

# --- checks ---


def _check_dtype(input, *parameters) -> None:
    """RuntimeError where a weight or the like is of another dtype than the input: single beside half precision will do."""
    dtype = input._spec.array_dtype
    for p in parameters:
        if p is not None and p._spec.array_dtype is not dtype and input._spec.inexact:
            if dtype is not HALF or p._spec.array_dtype != np.float32:
                expected = "Float" if dtype is HALF else input._spec.dtype.scalar_name
                raise RuntimeError(f"mixed dtype (CPU): expect parameter to have scalar type of {expected}")


def _expect_optional(name: str, positions: dict) -> None:
    for argument, (position, value) in positions.items():
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {argument_type_name(value)}"
            )


def _normalized_shape(name: str, input, shape, weight, bias, star: str) -> tuple:
    """The shape as a tuple; RuntimeError where input, weight or bias do not end with it."""
    if not isinstance(shape, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'normalized_shape' (position 2) must be tuple of ints, not {argument_type_name(shape)}"
        )
    shape = tuple(shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for kind, p in (("weight", weight), ("bias", bias)):
        if p is not None and p._spec.shape != shape:
            raise RuntimeError(
                f"Expected {kind} to be of same shape as normalized_shape, but got {kind} of shape {list(p._spec.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    given = input._spec.shape
    if given[len(given) - len(shape) :] != shape or len(given) < len(shape):
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [{star}{', '.join(map(str, shape))}], but got "
            f"input of size{list(given)}"
        )
    return shape


# --- layers and root mean squares ---


def _row_moments(input, shape, eps, centred: bool = True) -> Moments:
    length = math.prod(shape)
    numel = input._spec.numel
    rows = numel // length if length else math.prod(input._spec.shape[: input._spec.ndim - len(shape)])
    return Moments((rows, length), (1,), eps, centred)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """input less its mean, over its standard deviation, along the last dimensions; times weight, plus bias.

    normalized_shape: the sizes of those dimensions, and the shape of weight and bias. RuntimeError where they differ.
    Ba, Kiros and Hinton, Layer normalization, 2016.
    """
    expect_tensors("layer_norm", input=input)
    _expect_optional("layer_norm", {"weight": (3, weight), "bias": (4, bias)})
    shape = _normalized_shape("layer_norm", input, normalized_shape, weight, bias, "*, ")
    _check_dtype(input, weight, bias)
    return layer_norm_op.single(input, weight, bias, _row_moments(input, shape, eps), (-1,))


def _torch_layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    return layer_norm(input, normalized_shape, weight, bias, eps)


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """(layer_norm, the means, the reciprocals of the deviations), the latter two with dimensions of 1."""
    expect_tensors("native_layer_norm", input=input)
    shape = _normalized_shape("native_layer_norm", input, normalized_shape, weight, bias, "*, ")
    _check_dtype(input, weight, bias)
    moments = _row_moments(input, shape, eps)
    out = layer_norm_op.single(input, weight, bias, moments, (-1,))
    kept = input._spec.shape[: input._spec.ndim - len(shape)] + (1,) * len(shape)
    dtype = input._spec.array_dtype if weight is None else weight._spec.array_dtype
    return out, *[wrap(m.reshape(kept).astype(dtype)) for m in (moments.mean, moments.rstd)]


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """input over the root of its mean square along the last dimensions; times weight.

    eps: added to the mean square, by default the dtype's own. Zhang and Sennrich, Root mean square layer normalization, 2019.
    """
    expect_tensors("rms_norm", input=input)
    _expect_optional("rms_norm", {"weight": (3, weight)})
    shape = _normalized_shape("rms_norm", input, normalized_shape, weight, None, "*")
    dtype = input._spec.dtype
    if not input._spec.inexact:
        raise not_implemented("rms_norm", input._array)
    half = dtype.itemsize == 2
    if eps is None:
        eps = float(np.finfo(np.float32 if half else input._spec.array_dtype).eps)
    if weight is not None and weight._spec.dtype is not dtype:
        warnings.warn(
            f"Mismatch dtype between input and weight: input dtype = {dtype.short}, weight dtype = {weight._spec.dtype.short}, "
            "Cannot dispatch to fused implementation.",
            stacklevel=2,
        )
    if dtype.is_complex:
        mean = (input * input).mean(tuple(range(-len(shape), 0)), True)
        out = input * (mean + eps).rsqrt()
        return out if weight is None else out * weight
    operation = rms_norm_half_op if half else rms_norm_op
    return operation.single(input, weight, None, _row_moments(input, shape, eps, False), (-1,))


# --- batches ---


def _channel_moments(input, eps, **given) -> Moments:
    shape = input._spec.shape
    return Moments((shape[0], shape[1], math.prod(shape[2:])), (0, 2), eps, **given)


def _check_channels(count: int, **parameters) -> None:
    for name, p in parameters.items():
        if p is not None and p._spec.numel != count:
            raise RuntimeError(f"{name} should contain {count} elements not {p._spec.numel}")


def _update(running, found, momentum: float) -> None:
    """Move a running statistic towards what was found. PyTorch does not count this as a change of the tensor."""
    array = running._array
    array *= 1 - momentum
    array += momentum * found.astype(array.dtype).reshape(array.shape)


def _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps) -> tuple:
    """(the result, its moments)."""
    _expect_optional(
        "batch_norm",
        {"weight": (2, weight), "bias": (3, bias), "running_mean": (4, running_mean), "running_var": (5, running_var)},
    )
    if not isinstance(momentum, (int, float)):
        raise TypeError(
            f"batch_norm(): argument 'momentum' (position 7) must be float, not {argument_type_name(momentum)}"
        )
    spec = input._spec
    if spec.ndim < 2 and not spec.numel:
        return input.clone(), None
    if spec.ndim < 2:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-spec.ndim}, {spec.ndim - 1}], but got 1)"
        )
    if not training:
        for name, running in (("running_mean", running_mean), ("running_var", running_var)):
            if running is None:
                raise RuntimeError(f"{name} must be defined in evaluation mode")
    count = spec.shape[1]
    _check_channels(count, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if not spec.numel:
        moments = _channel_moments(input, eps, fixed=True, mean=0, rstd=1)
        moments.mean = moments.rstd = np.zeros((1, count, 1), spec.array_dtype)
    elif training:
        moments = _channel_moments(input, eps)
    else:
        if not spec.dtype.is_floating_point:
            raise not_implemented("batch_norm", input._array)
        wide = np.float32 if spec.array_dtype is HALF else spec.array_dtype
        mean, var = (r._array.astype(wide).reshape(1, count, 1) for r in (running_mean, running_var))
        moments = _channel_moments(input, eps, fixed=True, mean=mean, rstd=1 / np.sqrt(var + eps))
    _check_dtype(input, weight, bias, running_mean, running_var)
    out = batch_norm_op.single(input, weight, bias, moments, (1, count, 1))
    if training and running_mean is not None and spec.numel:
        _update(running_mean, moments.mean, momentum)
        variance = 1 / np.square(moments.rstd.astype(np.float64)) - eps
        _update(running_var, variance * (moments.count / max(moments.count - 1, 1)), momentum)
    return out, moments


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """input standardized along all dimensions but the channels' (dimension 1), times weight, plus bias.

    input: (N, C, …); the others: (C,). In training by the moments of the input, towards which the running ones move by
    `momentum` in place, else by the running ones. ValueError where a channel has one element, in training.
    Ioffe and Szegedy, Batch normalization, 2015.
    """
    expect_tensors("batch_norm", input=input)
    if training:
        _check_batch(input.size(), input.size())
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def _check_batch(sizes, shown) -> None:
    if sizes and math.prod(sizes[:1] + sizes[2:]) == 1 and len(sizes) > 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {shown}")


def _torch_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    expect_tensors("batch_norm", input=input)
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, *, out=None):
    """(batch_norm, the means, the reciprocals of the deviations), the latter two empty outside of training."""
    expect_tensors("native_batch_norm", input=input)
    made, moments = _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    if training:
        found = made, wrap(moments.mean.reshape(-1)), wrap(moments.rstd.reshape(-1))
    else:
        found = made, wrap(np.zeros(0, input._spec.array_dtype)), wrap(np.zeros(0, input._spec.array_dtype))
    if out is None:
        return found
    return tuple(into("native_batch_norm", o, (input,), f.detach()) for o, f in zip(out, found))


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1,
                  eps=1e-5):  # fmt: skip
    """input standardized for each sample and channel on its own, times weight, plus bias; see batch_norm.

    The running moments move towards the mean of those of all samples; without `use_input_stats` they are used.
    """
    expect_tensors("instance_norm", input=input)
    shape = input.size()
    if use_input_stats and math.prod(shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {shape}")
    return _instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


def _instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=True):
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    samples, channels, *rest = input._spec.shape
    repeated = [None if p is None else p.repeat(samples) for p in (weight, bias, running_mean, running_var)]
    merged = input.contiguous().view(1, samples * channels, *rest)
    out = _batch_norm(merged, *repeated, use_input_stats, momentum, eps)[0]
    for running, new in ((running_mean, repeated[2]), (running_var, repeated[3])):
        if use_input_stats and running is not None and samples:
            np.copyto(running._array, new._array.reshape(samples, channels).mean(axis=0), casting="unsafe")
    return out.view(input.size())


# --- groups of channels ---


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """input standardized for each sample and group of channels, times weight, plus bias, which are numbers of a channel.

    input: (N, C, …), C a multiple of num_groups. RuntimeError where it is not. Wu and He, Group normalization, 2018.
    """
    expect_tensors("group_norm", input=input)
    shape = input.size()
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    sizes = [shape[0] * shape[1] // num_groups, num_groups, *shape[2:]]
    _check_batch(sizes, sizes)
    return _group_norm(input, num_groups, weight, bias, eps)[0]


def _group_norm(input, num_groups, weight, bias, eps) -> tuple:
    _expect_optional("group_norm", {"weight": (3, weight), "bias": (4, bias)})
    shape = input._spec.shape
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    channels = shape[1]
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    for kind, p in (("weight", weight), ("bias", bias)):
        if p is not None and p._spec.shape != (channels,):
            given = [] if weight is None else list(weight._spec.shape)
            raise RuntimeError(
                f"Expected {kind} to be a vector of size equal to the number of channels in input, but got {kind} of shape "
                f"{given or [0]} and input of shape {list(shape)}"
            )
    _check_dtype(input, weight, bias)
    each = channels // num_groups * math.prod(shape[2:])
    moments = Moments((shape[0] * num_groups, each), (1,), eps)
    return group_norm_op.single(input, weight, bias, moments, (channels, *[1] * (len(shape) - 2))), moments


def _torch_group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    expect_tensors("group_norm", input=input)
    return _group_norm(input, num_groups, weight, bias, eps)[0]


def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """(group_norm, the means, the reciprocals of the deviations), the latter two of shape (N, group)."""
    out, moments = _group_norm(input, group, weight, bias, eps)
    return out, *[wrap(m.reshape(N, group).astype(input._spec.array_dtype)) for m in (moments.mean, moments.rstd)]


# --- neighbouring channels ---


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """input over (k + alpha · the mean square of the channels around, `size` in all) ** beta.

    input: (N, C, …) of three dimensions or more, else ValueError.
    """
    ndim = input.dim()
    if ndim < 3:
        gap = " " * 25
        raise ValueError(f"Expected 3D or higher dimensionality {gap}input (got {ndim} dimensions)")
    if not input.numel():
        return input
    functional = FUNCTIONS["nn.functional"]
    samples, channels = input.size()[:2]
    squares = (input * input).reshape(samples, 1, channels, -1)
    squares = functional["pad"](squares, (0, 0, size // 2, (size - 1) // 2))
    mean = functional["avg_pool2d"](squares, (size, 1), stride=1).view(input.size())
    return input / (mean * alpha + k) ** beta


for _function in (layer_norm, batch_norm, group_norm, instance_norm, rms_norm, local_response_norm):
    publish("nn.functional", _function.__name__, _function)
for _name, _published in (
    ("layer_norm", _torch_layer_norm), ("batch_norm", _torch_batch_norm), ("group_norm", _torch_group_norm),
    ("instance_norm", _instance_norm), ("rms_norm", rms_norm), ("native_layer_norm", native_layer_norm),
    ("native_batch_norm", native_batch_norm), ("native_group_norm", native_group_norm),
):  # fmt: skip
    _published.__doc__ = (
        _published.__doc__ or f"{_name} of torch.nn.functional, with the arguments in the order that torch.{_name} has."
    )
    publish("torch", _name, _published)
for _operation, _function in ((layer_norm_op, layer_norm), (batch_norm_op, batch_norm), (group_norm_op, group_norm),
                              (rms_norm_op, rms_norm), (rms_norm_half_op, rms_norm)):  # fmt: skip
    _operation.function = _function
