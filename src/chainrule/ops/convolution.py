"""Convolutions in one, two and three dimensions, and their transposes.

One operation serves them all: `convolution`, whose derivatives are the functions of core/windows.py; those are declared
here too, so that the derivatives have derivatives.
"""

import functools

import numpy as np

from ..core import vocabulary
from ..core.conversion import warn_once
from ..core.declare import Array, composite, op
from ..core.dtype import argument_type_name, bool_, float32, int64
from ..core.registry import publish
from ..core.tensor import Tensor
from .padding import constant_pad
from .planes import Settings, laid_out, show_settings
from .shape import as_int, as_ints, expect_tensor
from .squeezing import squeeze_dim, unsqueeze_op

__all__ = ["convolution", "per_dimension"]


# --- the three partial derivatives of a convolution, each in terms of the others ---


@op(node="ConvolutionBackward0", method=False, namespace=None)
def convolve(self: Array, weight: Array, size, stride, padding, dilation, groups):
    """Images convolved with a weight."""
    return vocabulary.convolve(self, weight, size, stride, padding, dilation, groups)


@op(node="ConvolutionBackwardBackward0", method=False, namespace=None)
def convolve_input_vjp(self: Array, weight: Array, size, stride, padding, dilation, groups):
    """The gradient of images with these sizes, from that of their convolution."""
    return vocabulary.convolve_input_vjp(self, weight, size, stride, padding, dilation, groups)


@op(node="ConvolutionBackwardBackward0", method=False, namespace=None)
def convolve_weight_vjp(self: Array, x: Array, size, stride, padding, dilation, groups):
    """The gradient of a weight with a kernel of this size, from that of the convolution of `x`."""
    return vocabulary.convolve_weight_vjp(self, x, size, stride, padding, dilation, groups)


_SETTINGS = "stride", "padding", "dilation", "groups"


def _closed(operation, of: str, other: str, role: str, function: str) -> None:
    """Declare the derivative of one of the three: `function` of the gradient and the other array. `role` says which of
    the two comes first; the size that `function` needs is the kernel's or the image's of the input asked for."""

    def formula(xp, grad, other, shape, *settings):
        other = xp.conj(other)
        first, second = (grad, other) if role == "grad" else (other, grad)
        return getattr(xp, function)(first, second, tuple(shape[2:]), *settings)

    operation.derivative(of=of, names=(other, of + "_shape", *_SETTINGS))(formula)


_closed(convolve, "self", "weight", "grad", "convolve_input_vjp")
_closed(convolve, "weight", "self", "grad", "convolve_weight_vjp")
_closed(convolve_input_vjp, "self", "weight", "grad", "convolve")
_closed(convolve_input_vjp, "weight", "self", "other", "convolve_weight_vjp")
_closed(convolve_weight_vjp, "self", "x", "other", "convolve")
_closed(convolve_weight_vjp, "x", "self", "other", "convolve_input_vjp")


# --- the operation of the graph ---


@op(name="convolution", method=False, namespace=None)
def convolution_op(input: Array, weight: Array, bias: Array | None, settings):
    """A convolution, or the transpose of one, of (batch, channels, *sizes)."""
    run = vocabulary.convolve_input_vjp if settings.transposed else vocabulary.convolve
    out = run(input, weight, settings.size, settings.stride, settings.padding, settings.dilation, settings.groups)
    if bias is not None:
        out += bias.reshape(settings.bias_shape)
    return laid_out(out, input, weight)


@convolution_op.derivative(of="input")
def _(xp, grad, weight, settings):
    run = xp.convolve if settings.transposed else xp.convolve_input_vjp
    return run(
        grad, xp.conj(weight), settings.image, settings.stride, settings.padding, settings.dilation, settings.groups
    )


@convolution_op.derivative(of="weight")
def _(xp, grad, input, settings):
    windows, image = (xp.conj(input), grad) if settings.transposed else (grad, xp.conj(input))
    return xp.convolve_weight_vjp(
        windows, image, settings.kernel, settings.stride, settings.padding, settings.dilation, settings.groups
    )


@convolution_op.derivative(of="bias")
def _(xp, grad):
    return xp.sum(grad, (0, *range(2, len(grad.shape))))


show_settings(
    convolution_op, "stride", "padding", "dilation", "transposed", "output_padding", "groups", "bias_sym_sizes_opt"
)


# --- arguments ---


def per_dimension(value, count: int):
    """An integer for every dimension, of an integer or a sequence of them; a sequence stays as it is."""
    if value.__class__ is int:
        return (value,) * count
    return tuple(value) if isinstance(value, (tuple, list)) else value


def _stretched(values: tuple, name: str, count: int) -> tuple:
    if len(values) == count:
        return values
    if len(values) != 1:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {count} values to match the convolution "
            f"dimensions, but got {name}={list(values)}"
        )
    return values * count


_COMPLEX_NAMES = {"c10::complex<float>": "CPUComplexFloatType", "c10::complex<double>": "CPUComplexDoubleType"}


def _type_text(d) -> str:
    return _COMPLEX_NAMES.get(d.cpp_name, d.type_name)


def _unlike(x, other, what: str) -> RuntimeError:
    """The error for a weight or bias with another dtype than the input."""
    if x.is_complex or x is float32:
        text = f"Input type ({_type_text(x)}) and {what} type ({_type_text(other)}) should be the same"
        more = f" or input should be a MKLDNN tensor and {what} is a dense tensor"
        return RuntimeError(text + ("" if x.is_complex else more))
    return RuntimeError(f"expected scalar type {x.scalar_name} but found {other.scalar_name}")


def _check_dtypes(x, weight, transposed: bool, dilation, dims: int) -> None:
    """NotImplementedError for a dtype that PyTorch does not convolve."""
    if x is not weight:
        raise _unlike(x, weight, "weight")
    if x.is_floating_point or x.is_complex or x is int64:
        return
    if transposed:
        kernel = f"slow_conv_transpose{max(dims, 2)}d_out_cpu"
    elif any(d != 1 for d in dilation):
        kernel = "slow_conv_dilated<>"
    elif x is not bool_:
        return
    else:
        kernel = "compute_columns3d" if dims == 3 else "slow_conv2d_cpu"
    raise NotImplementedError(f"\"{kernel}\" not implemented for '{x.scalar_name}'")


def _check_channels(x, weight, bias, groups: int, transposed: bool) -> None:
    """Whether channels of input, weight and bias go together."""
    shape, shown = list(weight.shape), f"weight of size {list(weight.shape)}"
    if shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got {shown} instead"
        )
    if shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{shape}] instead"
        )
    given = f"transposed={1}" if transposed else f"groups={groups}"
    wanted = shape[0] if transposed else shape[1] * groups
    if x.shape[1] != wanted:
        raise RuntimeError(
            f"Given {given}, {shown}, expected input{list(x.shape)} to have {wanted} channels, but got {x.shape[1]} "
            "channels instead"
        )
    rows = shape[1] * groups if transposed else shape[0]
    if bias is not None and bias.shape != (rows,):
        given = "transposed=1, " if transposed else ""
        raise RuntimeError(
            f"Given {given}{shown}, expected bias to be 1-dimensional with {rows} elements, but got bias of size "
            f"{list(bias.shape)} instead"
        )


def _check_sizes(x, kernel, stride, padding, dilation) -> None:
    """Whether the kernel fits the padded image."""
    padded = [n + 2 * p for n, p in zip(x.shape[2:], padding)]
    spread = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    if any(n < k for n, k in zip(padded, spread)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel size: "
            f"({' x '.join(map(str, spread))}). Kernel size can't be greater than actual input size"
        )


_AXES = {1: ("height", "width"), 2: ("height", "width"), 3: ("depth", "height", "width")}


def _named_axes(what: str, values: tuple, fill: int) -> str:
    values = (fill, *values) if len(values) == 1 else values
    return " ".join(f"{what}_{axis}: {v}" for axis, v in zip(_AXES[len(values)], values))


def _check_transposed(x, kernel, stride, padding, dilation, extra) -> None:
    if x.numel and any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            f"{_named_axes('output_padding', extra, 0)} {_named_axes('stride', stride, 1)} "
            f"{_named_axes('dilation', dilation, 1)}"
        )
    sizes = transposed_size(x.shape[2:], kernel, stride, padding, dilation, extra)
    refuses_none = x.numel and x.dtype is not float32 and not x.dtype.is_complex
    if any(n < 0 for n in sizes) or refuses_none and 0 in sizes:
        before, after = list(x.shape[2:]), sizes
        if len(sizes) == 1:
            before, after = [1, *before], (1, *after)
        raise RuntimeError(
            f"Given input size per channel: ({' x '.join(map(str, before))}). Calculated output size per channel: "
            f"({' x '.join(map(str, after))}). Output size is too small"
        )


@functools.lru_cache(4096)
def _settled(x, weight, bias, stride, padding, dilation, transposed, extra, groups) -> Settings:
    """The settings per dimension and what follows from them, for specs that go together; PyTorch's errors."""
    if x.dtype.is_complex:
        for other, what in ((weight, "weight"), (bias, "bias")):
            if other is not None and other.dtype is not x.dtype:
                raise _unlike(x.dtype, other.dtype, what)
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    dims = weight.ndim - 2
    stride, padding = _stretched(stride, "stride", dims), _stretched(padding, "padding", dims)
    dilation, extra = _stretched(dilation, "dilation", dims), _stretched(extra, "output_padding", dims)
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(p < 0 for p in extra):
        raise RuntimeError("negative output_padding is not supported")
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(d < 0 for d in dilation):
        raise RuntimeError("dilation should be greater than zero")
    if weight.ndim != x.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {list(weight.shape)}, but "
            f"got {x.ndim}-dimensional input of size {list(x.shape)} instead"
        )
    if dims > 3:
        raise RuntimeError("unsupported ConvNd parameters")
    _check_channels(x, weight, bias, groups, transposed)
    if 0 in dilation:
        named = _named_axes("dilation", dilation, 1).replace(" dilation", ", dilation")
        raise RuntimeError(f"dilation should be greater than zero, but got {named if transposed else list(dilation)}")
    kernel = weight.shape[2:]
    if not transposed:
        _check_sizes(x, kernel, stride, padding, dilation)
    if not x.numel and x.shape[0] and x.shape[1]:
        shape = [*x.shape[:2], 1, *x.shape[2:]] if dims == 1 else list(x.shape)
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {shape}")
    if 0 in kernel:
        raise RuntimeError(f"kernel size should be greater than zero, but got kernel of size {list(kernel)}")
    if transposed:
        _check_transposed(x, kernel, stride, padding, dilation, extra)
    if x.numel:
        _check_dtypes(x.dtype, weight.dtype, transposed, dilation, dims)
        if bias is not None and bias.dtype is not x.dtype:
            raise _unlike(x.dtype, bias.dtype, "bias")
    image, kernel = x.shape[2:], weight.shape[2:]
    if transposed:
        size = transposed_size(image, kernel, stride, padding, dilation, extra)
    else:
        size = tuple(
            (n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(image, kernel, stride, padding, dilation)
        )
    return Settings(
        stride=stride, padding=padding, dilation=dilation, transposed=transposed, output_padding=extra, groups=groups,
        bias_sym_sizes_opt=bias and bias.shape, bias_shape=(-1, *(1,) * dims), image=image, kernel=kernel, size=size,
    )  # fmt: skip


def transposed_size(image, kernel, stride, padding, dilation, extra) -> tuple:
    """The sizes of the transpose of a convolution."""
    return tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + e + 1
        for n, k, s, p, d, e in zip(image, kernel, stride, padding, dilation, extra)
    )


def _run(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    spec = input._spec
    settings = _settled(
        spec, weight._spec, None if bias is None else bias._spec, stride, padding, dilation, transposed, output_padding,
        groups,
    )  # fmt: skip
    if spec.shape[1] == 0 and not transposed:  # PyTorch makes no channels of none, whatever the weight says
        weight, bias = weight.narrow(0, 0, 0), None
    return convolution_op.single(input, weight, bias, settings)


def _keep(seen: dict, input, weight, bias, given: tuple, settled: tuple) -> None:
    """Keep the settings for the arguments as they were given, where those are integers and tuples of them."""
    if not input._spec.shape[1] or any(v.__class__ not in (int, tuple, str) for v in given):
        return
    specs = input._spec, weight._spec, None if bias is None else bias._spec
    if len(seen) > 1024:
        seen.clear()
    seen[*specs, *given] = _settled(*specs, *settled)


def _same_padding(input, weight, stride, dilation):
    """The input, with what cannot be padded on both sides alike, and the padding that keeps its size."""
    dims = weight._spec.ndim - 2
    if dims < 1:
        raise RuntimeError("weight should have at least three dimensions")
    if weight._spec.ndim != input._spec.ndim:
        raise RuntimeError(
            f"Expected {dims + 2}-dimensional input for {dims + 2}-dimensional weight{list(weight._spec.shape)}, but got "
            f"{input._spec.ndim}-dimensional input of size {list(input._spec.shape)} instead"
        )
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    dilation = _stretched(dilation, "dilation", dims)
    total = [d * (k - 1) for d, k in zip(dilation, weight._spec.shape[2:])]
    if any(n % 2 for n in total) and min(dilation) > 0:
        warn_once(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input "
            "be created"
        )
        input = constant_pad.single(input, ((0, 0), (0, 0), *[(0, n % 2) for n in total]), 0)
    return input, tuple(max(n, 0) // 2 for n in total)


# --- public functions ---


def _expect_all(name: str, input, weight, bias, settings: dict) -> None:
    """TypeError in PyTorch's words for arguments of the wrong type: of the functions that take `padding` in two forms
    it names them all, of the others the first that is wrong."""
    transposed = "output_padding" in settings
    tensors = isinstance(input, Tensor) and isinstance(weight, Tensor) and (bias is None or isinstance(bias, Tensor))
    right = tensors and all(_is_integers(v) or k == "padding" and not transposed and type(v) is str
                            for k, v in settings.items())  # fmt: skip
    if right and settings["groups"].__class__ is int:
        return
    if transposed:
        expect_tensor(input, name)
        expect_tensor(weight, name, "weight", 2)
        if bias is not None:
            expect_tensor(bias, name, "bias", 3)
        for key, value in settings.items():
            if not (hasattr(value, "__index__") if key == "groups" else _is_integers(value)):
                wanted = "int" if key == "groups" else "tuple of ints"
                raise TypeError(f"{name}(): argument '{key}' must be {wanted}, not {argument_type_name(value)}")
        return
    if right and hasattr(settings["groups"], "__index__"):
        return
    got = [argument_type_name(v) for v in (input, weight)]
    got += [argument_type_name(bias)] * (bias is not None)
    defaults = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
    got += [f"{k}={argument_type_name(v)}" for k, v in sorted(settings.items()) if v is not defaults[k]]
    raise TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(got)}), but expected one of:"
    )


def _is_integers(value) -> bool:
    if isinstance(value, (tuple, list)):
        return all(hasattr(v, "__index__") for v in value)
    return hasattr(value, "__index__") and type(value) is not bool


def _check_ndim(name: str, input, dims: int) -> bool:
    """Whether the input is a single image; RuntimeError where it is no image at all."""
    ndim = input._spec.ndim
    if ndim == dims + 2:
        return False
    if ndim != dims + 1:
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got input of size: "
            f"{list(input._spec.shape)}"
        )
    return True


def _ints(value, dims: int) -> tuple:
    """An integer per dimension."""
    if value.__class__ is int:
        return (value,) * dims
    return as_ints((value,) if isinstance(value, (tuple, list)) else ([value] * dims,), "conv")


def _check_bias(input, bias) -> None:
    if bias is not None and bias._spec.dtype is not input._spec.dtype:
        a, b = input._spec.dtype, bias._spec.dtype
        raise RuntimeError(f"Input type ({a.cpp_name}) and bias type ({b.cpp_name}) should be the same")


def _declare(dims: int):
    """conv<dims>d and conv_transpose<dims>d."""
    name, transposed_name = f"conv{dims}d", f"conv_transpose{dims}d"
    none = (0,) * dims
    seen: dict[tuple, Settings] = {}  # of shapes and settings that need no more preparation

    def convolve(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        try:
            settings = seen[input._spec, weight._spec, None if bias is None else bias._spec, stride, padding, dilation,
                            groups]  # fmt: skip
        except (KeyError, AttributeError, TypeError):
            return check_first(input, weight, bias, stride, padding, dilation, groups)
        return convolution_op.single(input, weight, bias, settings)

    def check_first(input, weight, bias, stride, padding, dilation, groups):
        given = stride, padding, dilation, groups
        if not (isinstance(input, Tensor) and isinstance(weight, Tensor) and stride.__class__ is int
                and padding.__class__ is int and dilation.__class__ is int and groups.__class__ is int
                and (bias is None or isinstance(bias, Tensor))):  # fmt: skip
            settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
            _expect_all(name, input, weight, bias, settings)
        single = _check_ndim(name, input, dims)
        if single:
            input = unsqueeze_op.single(input, 0)
        stride, dilation = _ints(stride, dims), _ints(dilation, dims)
        if padding.__class__ is not str:
            _check_bias(input, bias)
            padding = _ints(padding, dims)
        elif padding == "valid":
            padding = none
        elif padding == "same":
            input, padding = _same_padding(input, weight, stride, dilation)
        else:
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        out = _run(input, weight, bias, stride, padding, dilation, False, none, int(groups))
        if single:
            return squeeze_dim.single(out, 0)
        if given[1] != "same":
            _keep(seen, input, weight, bias, given, (stride, padding, dilation, False, none, int(groups)))
        return out

    def transposed(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        given = stride, padding, output_padding, groups, dilation
        try:
            found = seen[input._spec, weight._spec, None if bias is None else bias._spec, *given]
        except (KeyError, AttributeError, TypeError):
            pass
        else:
            return convolution_op.single(input, weight, bias, found)
        settings = {"stride": stride, "padding": padding, "output_padding": output_padding, "groups": groups,
                    "dilation": dilation}  # fmt: skip
        _expect_all(transposed_name, input, weight, bias, settings)
        single = _check_ndim(transposed_name, input, dims)
        if single:
            input = unsqueeze_op.single(input, 0)
        stride, padding, dilation, extra = [_ints(v, dims) for v in (stride, padding, dilation, output_padding)]
        out = _run(input, weight, bias, stride, padding, dilation, True, extra, int(groups))
        if single:
            return squeeze_dim.single(out, 0)
        _keep(seen, input, weight, bias, given, (stride, padding, dilation, True, extra, int(groups)))
        return out

    for function, public, doc in (
        (convolve, name, "The convolution of images (batch, channels, *sizes) with a weight (out channels, channels "
                         "of a group, *kernel); padding: integers, 'valid' or 'same'."),
        (transposed, transposed_name, "The transpose of a convolution, as a function of images (batch, channels, "
                                      "*sizes) and a weight (channels, out channels of a group, *kernel)."),
    ):  # fmt: skip
        function.__name__ = function.__qualname__ = public
        function.__doc__ = (
            f"{doc}\n    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.{public}.html"
        )
        publish("torch", public, function)
        publish("nn.functional", public, function)


for _dims in (1, 2, 3):
    _declare(_dims)


@composite(method=False)
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """A convolution, or with `transposed` the transpose of one, of (batch, channels, *sizes)."""
    expect_tensor(input, "convolution")
    expect_tensor(weight, "convolution", "weight", 2)
    if bias is not None:
        expect_tensor(bias, "convolution", "bias", 3)
    settings = []
    named = (("stride", 4, stride), ("padding", 5, padding), ("dilation", 6, dilation))
    for key, position, value in (*named, ("output_padding", 8, output_padding)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(
                f"convolution(): argument '{key}' (position {position}) must be tuple of ints, not "
                f"{argument_type_name(value)}"
            )
        settings.append(as_ints((value,), "convolution", key, position))
    groups = as_int(groups, "convolution", "groups", 9)
    return _run(input, weight, bias, *settings[:3], bool(transposed), settings[3], groups)


convolution_op.function = convolution


# --- time, batch, channels ---


@op(name="conv_tbc", method=False, namespace=None)
def conv_tbc_op(self: Array, weight: Array, bias: Array, pad):
    image, kernel = self.transpose(1, 2, 0), weight.transpose(2, 1, 0)
    size = self.shape[0] + 2 * pad - weight.shape[0] + 1
    out = vocabulary.convolve(image, np.ascontiguousarray(kernel), (size,), *_line(pad))
    return np.ascontiguousarray(out.transpose(2, 0, 1)) + bias


def _line(pad: int) -> tuple:
    """Stride, padding, dilation and groups of conv_tbc."""
    return (1,), (pad,), (1,), 1


@conv_tbc_op.derivative(of="self")
def _(xp, grad, self_shape, weight, pad):
    back = xp.transpose(grad, (1, 2, 0)), xp.conj(xp.transpose(weight, (2, 1, 0)))
    return xp.transpose(xp.convolve_input_vjp(*back, (self_shape[0],), *_line(pad)), (2, 0, 1))


@conv_tbc_op.derivative(of="weight")
def _(xp, grad, self, weight_shape, pad):
    back = xp.transpose(grad, (1, 2, 0)), xp.conj(xp.transpose(self, (1, 2, 0)))
    return xp.transpose(xp.convolve_weight_vjp(*back, (weight_shape[0],), *_line(pad)), (2, 1, 0))


conv_tbc_op.derivative(of="bias")(lambda xp, grad: xp.sum(grad, (0, 1)))


def conv_tbc(input, weight, bias, pad=0):
    """A convolution along the first dimension of (time, batch, channels) with a weight (kernel, channels, out
    channels)."""
    for position, (shown, t) in enumerate((("input", input), ("weight", weight), ("bias", bias)), 1):
        expect_tensor(t, "conv_tbc", shown, position)
    pad = as_int(pad, "conv_tbc", "pad", 4)
    for t, what in ((input, "Input must have 3 dims: time, batch, in_channel"),
                    (weight, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")):  # fmt: skip
        if t._spec.ndim != 3:
            raise RuntimeError(what)
    if bias._spec.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if input._spec.shape[2] != weight._spec.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight._spec.shape[2] != bias._spec.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    if input._spec.shape[0] + 2 * pad - weight._spec.shape[0] + 1 < 0:
        raise RuntimeError("Input dim 0 (time) is smaller than the kernel")
    return conv_tbc_op.single(input, weight, bias, pad)


publish("torch", "conv_tbc", conv_tbc)
publish("nn.functional", "conv_tbc", conv_tbc)
conv_tbc_op.function = conv_tbc
