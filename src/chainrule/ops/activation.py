"""Activation functions; https://docs.pytorch.org/docs/stable/nn.functional.html#non-linear-activation-functions."""

import functools
import math

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, composite, op, pointwise, put_method
from ..core.dtype import argument_type_name, finfo, of
from ..core.registry import publish
from ..core.tensor import Tensor, wrap_dim
from ..random.continuous import doubles
from .elementary import scipy_ufunc, sigmoid, tanh
from .generator import default_generator
from .precision import in_single
from .refusal import refuse
from .selection import bounded

__all__ = ["relu", "gelu", "silu", "softplus", "elu"]

_HIDDEN: dict = {"method": False, "namespace": None}


def _floating(kernel_name: str, complex_too: bool = False):
    """Make a kernel refuse integers, and compute half precision in single."""

    def decorate(kernel):
        kernel = in_single(kernel)

        @functools.wraps(kernel)
        def call(self, *attributes):
            refuse(kernel_name, "biu" if complex_too else "biuc", self)
            return kernel(self, *attributes)

        return call

    return decorate


def _functional(operation, defaults: dict, torch: bool = False, inplace=None, keyword_only: bool = False) -> None:
    """Publish an operation as nn.functional.<name>(input, …, inplace=False) with these defaults."""
    name, run = operation.name, operation.single
    names = list(defaults)
    inplace = inplace or operation

    def arguments(args, kwargs):
        if len(args) > len(names) or keyword_only and args:
            most = 1 + (0 if keyword_only else len(names))
            raise TypeError(
                f"{name}() takes {most} positional argument{'s' * (most != 1)} but {1 + len(args)} were given"
            )
        given = {**defaults, **dict(zip(names, args))}
        for key, value in kwargs.items():
            if key not in given:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            given[key] = value
        return given

    def call(input, *args, **kwargs):
        given = arguments(args, kwargs)
        if given.pop("inplace", False):
            return inplace.inplace(input, *given.values())
        return run(input, *given.values())

    call.__name__ = call.__qualname__ = name
    call.__doc__ = operation.__doc__
    operation.function = call
    publish("nn.functional", name, call)
    if torch:
        publish("torch", name, call)
    if "inplace" in defaults:

        def call_inplace(input, *args, **kwargs):
            given = arguments(args, kwargs)
            given.pop("inplace")
            return inplace.inplace(input, *given.values())

        call_inplace.__name__ = call_inplace.__qualname__ = name + "_"
        publish("nn.functional", name + "_", call_inplace)
        if torch:
            publish("torch", name + "_", call_inplace)


# --- relu and its kin ---


def _relu(a, out=...):
    if a.dtype.kind in "bc":
        if a.dtype.kind == "b":
            raise RuntimeError("Boolean inputs not supported for relu")
        raise NotImplementedError("clamp is not supported for complex types")
    return bounded(a, 0, None) if a.dtype.kind == "f" else np.maximum(a, a.dtype.type(0), out=out)


relu = pointwise("relu", _relu, self=lambda xp, grad, result: xp.select(~(result <= 0), grad))


def _functional_relu(input, inplace=False):
    """max(input, 0)."""
    return relu.inplace(input) if inplace else relu.fast(input)


_functional_relu.__name__ = _functional_relu.__qualname__ = "relu"
publish("nn.functional", "relu", _functional_relu)
publish("nn.functional", "relu_", relu.inplace_function)


@op(**_HIDDEN)
def hardtanh(self: Array, min_val, max_val):
    """input between min_val and max_val."""
    kind = self.dtype.kind
    if kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    if kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
        if kind == "u" and (min_val < 0 or max_val < 0):
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
        return np.minimum(np.maximum(self, self.dtype.type(min_val)), self.dtype.type(max_val))
    return bounded(self, min_val, max_val)


@hardtanh.derivative(of="self")
def _(xp, grad, self, min_val, max_val):
    return xp.select(~xp.logical_or(self <= min_val, self >= max_val), grad)


@composite(namespace="nn.functional", method=False, name="hardtanh")
def _hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """input between min_val and max_val."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return hardtanh.inplace(input, min_val, max_val) if inplace else hardtanh.single(input, min_val, max_val)


@composite(namespace="nn.functional", method=False)
def hardtanh_(input, min_val=-1.0, max_val=1.0):
    return _hardtanh(input, min_val, max_val, True)


@composite(namespace="nn.functional", method=False)
def relu6(input, inplace=False):
    """input between 0 and 6."""
    return _hardtanh(input, 0, 6, inplace)


hardtanh.function = _hardtanh


def _leaky_relu(self, negative_slope):
    below = np.multiply(self, negative_slope, out=..., dtype=self.dtype)
    if 0 <= negative_slope <= 1:
        return np.maximum(self, below, out=below)
    return vocabulary.where(self > 0, self, below)


@op(**_HIDDEN)
@_floating("leaky_relu_cpu")
def leaky_relu(self: Array, negative_slope):
    """input where it is positive, negative_slope * input elsewhere."""
    return _leaky_relu(self, negative_slope)


@op(node="LeakyReluBackward1", **_HIDDEN)
@_floating("leaky_relu_cpu")
def leaky_relu_inplace(self: Array, negative_slope):
    return _leaky_relu(self, negative_slope)


@leaky_relu.derivative(of="self")
def _(xp, grad, self, negative_slope):
    return xp.where(self > 0, grad, grad * negative_slope)


@leaky_relu_inplace.derivative(of="self")
def _(xp, grad, result, negative_slope):
    if negative_slope < 0:
        raise RuntimeError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. "
            "This is caused by calling in-place forward function with a negative slope, please call out-of-place "
            "version instead. File an issue at https://github.com/pytorch/pytorch if you do require supporting "
            "in-place leakRelu backward calculation with negative slope"
        )
    return xp.where(result > 0, grad, grad * negative_slope)


_functional(leaky_relu, {"negative_slope": 0.01, "inplace": False}, inplace=leaky_relu_inplace)


@op(name="rrelu", node="RreluWithNoiseBackward0", **_HIDDEN)
@_floating("leaky_relu_cpu")
def rrelu_op(self: Array, noise, lower, upper, training):
    """input where it is positive, input times a slope elsewhere: the noise while training, otherwise the mean slope."""
    return vocabulary.where(self > 0, self, self * (noise if training else self.dtype.type((lower + upper) / 2)))


@rrelu_op.derivative(of="self")
def _(xp, grad, self, noise, lower, upper, training):
    return xp.where(self > 0, grad, grad * (noise if training else (lower + upper) / 2))


def _rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """input where it is positive, and input times a slope drawn from [lower, upper) elsewhere (B. Xu et al., 2015)."""
    noise = None
    if training:
        negative = ~(input._array > 0)
        noise = np.ones(input._spec.shape, input._spec.array_dtype)
        noise[negative] = doubles(default_generator, int(negative.sum())) * (upper - lower) + lower
    arguments = (input, noise, lower, upper, training)
    return rrelu_op.inplace(*arguments) if inplace else rrelu_op.general(*arguments)


rrelu_op.function = _rrelu
for _namespace in ("torch", "nn.functional"):
    publish(_namespace, "rrelu", _rrelu)
    publish(_namespace, "rrelu_", functools.partial(_rrelu, inplace=True))


@op(**_HIDDEN)
def threshold(self: Array, threshold, value):
    """input where it is above threshold, value elsewhere."""
    refuse("threshold_cpu", "bc", self)
    return vocabulary.where(self <= threshold, self.dtype.type(value), self)


@op(node="ThresholdBackward1", **_HIDDEN)
def threshold_inplace(self: Array, threshold, value):
    return vocabulary.where(self <= threshold, self.dtype.type(value), self)


for _operation in (threshold, threshold_inplace):
    _operation.derivative(of="self")(lambda xp, grad, self, threshold: xp.select(~(self <= threshold), grad))


def _threshold(input, threshold, value, inplace=False):
    """input where it is above threshold, value elsewhere."""
    if inplace:
        return threshold_inplace.inplace(input, threshold, value)
    return _run_threshold(input, threshold, value)


_run_threshold = threshold.single
threshold.function = _threshold
for _namespace in ("torch", "nn.functional"):
    publish(_namespace, "threshold", _threshold)
    publish(_namespace, "threshold_", lambda input, threshold, value: _threshold(input, threshold, value, True))


@op(name="prelu", promote=("self", "weight"), node="PreluKernelBackward0", **_HIDDEN)
def prelu_op(self: Array, weight: Array):
    return vocabulary.where(self > 0, self, weight * self)


prelu_op.derivative(of="self")(lambda xp, grad, self, weight: xp.where(self > 0, grad, weight * grad))
prelu_op.derivative(of="weight")(lambda xp, grad, self: xp.select(~(self > 0), self * grad))


def prelu(input, weight):
    """input where it is positive, weight * input elsewhere; weight holds one number, or one a channel (dimension 1)."""
    for position, (shown, value) in enumerate((("input", input), ("weight", weight))):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"prelu(): argument '{shown}' (position {position + 1}) must be Tensor, not {argument_type_name(value)}"
            )
    spec, wanted = input._spec, weight._spec
    if spec.dtype is not wanted.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {spec.dtype.scalar_name} and {wanted.dtype.scalar_name}"
        )
    if wanted.numel != 1:
        if not spec.ndim:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = spec.shape[1] if spec.ndim > 1 else 1
        if channels != wanted.numel:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {wanted.numel} and "
                f"channel size = {channels}."
            )
    if wanted.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {wanted.ndim}")
    if wanted.ndim != spec.ndim:
        weight = weight.view([1 if i != 1 else wanted.numel for i in range(spec.ndim)])
    return prelu_op.general(input, weight)


prelu_op.function = prelu
put_method("prelu", prelu)
for _namespace in ("torch", "nn.functional"):
    publish(_namespace, "prelu", prelu)


# --- exponential units ---


def _elu(self, alpha, scale, input_scale):
    above, below = bounded(self, 0, None), bounded(self, None, 0)
    if input_scale != 1:
        np.multiply(below, input_scale, out=below, dtype=self.dtype)
    np.expm1(below, out=below)
    if alpha * scale != 1:
        np.multiply(below, alpha * scale, out=below, dtype=self.dtype)
    if scale != 1:
        np.multiply(above, scale, out=above, dtype=self.dtype)
    return np.add(above, below, out=above)


def _elu_grad(xp, grad, self, alpha, scale, input_scale):
    below = xp.exp(self * input_scale) * (grad * (alpha * scale * input_scale))
    return xp.where(self <= 0, below, grad * scale)


def _elu_grad_of_result(xp, grad, result, alpha, scale, input_scale):
    if alpha < 0:
        raise RuntimeError(
            "In-place elu backward calculation is triggered with a negative slope which is not supported. "
            "This is caused by calling in-place forward function with a negative slope, "
            "please call out-of-place version instead."
        )
    return xp.where(result <= 0, grad * input_scale * (result + alpha * scale), grad * scale)


@op(**_HIDDEN)
@_floating("elu_cpu")
def elu(self: Array, alpha, scale, input_scale):
    """scale * input where it is positive, scale * alpha * (exp(input_scale * input) - 1) elsewhere."""
    return _elu(self, alpha, scale, input_scale)


@op(node="EluBackward1", **_HIDDEN)
@_floating("elu_cpu")
def elu_inplace(self: Array, alpha, scale, input_scale):
    return _elu(self, alpha, scale, input_scale)


@op(**_HIDDEN)
@_floating("elu_cpu")
def celu(self: Array, alpha):
    """max(0, input) + min(0, alpha * (exp(input / alpha) - 1))."""
    return _elu(self, alpha, 1.0, 1 / alpha)


@op(node="CeluBackward1", **_HIDDEN)
@_floating("elu_cpu")
def celu_inplace(self: Array, alpha):
    return _elu(self, alpha, 1.0, 1 / alpha)


elu.derivative(of="self")(_elu_grad)
elu_inplace.derivative(of="self")(_elu_grad_of_result)
celu.derivative(of="self")(lambda xp, grad, self, alpha: _elu_grad(xp, grad, self, alpha, 1, 1 / alpha))
celu_inplace.derivative(of="self")(
    lambda xp, grad, result, alpha: _elu_grad_of_result(xp, grad, result, alpha, 1, 1 / alpha)
)
_SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946)  # G. Klambauer et al., 2017


def _elu_function(input, alpha=1.0, inplace=False):
    """input where it is positive, alpha * (exp(input) - 1) elsewhere."""
    return elu_inplace.inplace(input, alpha, 1, 1) if inplace else elu.single(input, alpha, 1, 1)


def _selu_function(input, inplace=False):
    """The self-normalising exponential unit, elu with two constants (G. Klambauer et al., 2017)."""
    return elu_inplace.inplace(input, *_SELU, 1) if inplace else elu.single(input, *_SELU, 1)


def _celu_function(input, alpha=1.0, inplace=False):
    """max(0, input) + min(0, alpha * (exp(input / alpha) - 1))."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return celu_inplace.inplace(input, alpha) if inplace else celu.single(input, alpha)


for _namespace in ("torch", "nn.functional"):
    publish(_namespace, "celu", _celu_function)
    publish(_namespace, "celu_", lambda input, alpha=1.0: _celu_function(input, alpha, True))
    publish(_namespace, "selu", _selu_function)
    publish(_namespace, "selu_", lambda input: _selu_function(input, True))
publish("nn.functional", "elu", _elu_function)
publish("nn.functional", "elu_", lambda input, alpha=1.0: _elu_function(input, alpha, True))
elu.function, celu.function = _elu_function, _celu_function

# --- smooth ones ---

_erf = scipy_ufunc("erf")
_ROOT_HALF = math.sqrt(0.5)
_TANH_SCALE, _TANH_CUBE = math.sqrt(2 / math.pi), 0.044715


@op(**_HIDDEN)
@_floating("GeluKernelImpl")
def gelu(self: Array, approximate):
    """input times its normal distribution function, or an approximation by tanh (D. Hendrycks, K. Gimpel, 2016)."""
    if approximate == "tanh":
        inner = self * self * self
        inner *= self.dtype.type(_TANH_CUBE)
        inner += self
        inner *= self.dtype.type(_TANH_SCALE)
        out = np.tanh(inner, out=inner if inner.ndim else ...)
    elif approximate == "none":
        out = _erf(self * self.dtype.type(_ROOT_HALF))
    else:
        raise RuntimeError("approximate argument must be either none or tanh.")
    return (out + 1) * self * self.dtype.type(0.5)


@gelu.derivative(of="self")
def _(xp, grad, self, approximate):
    if approximate == "tanh":
        square = self * self
        bend = xp.tanh(_TANH_SCALE * (self + _TANH_CUBE * square * self))
        slope = _TANH_SCALE * (1 + 3 * _TANH_CUBE * square)
        return grad * (0.5 * (1 + bend) + 0.5 * self * (1 - bend * bend) * slope)
    below = 0.5 * (1 + xp.erf(self * _ROOT_HALF))
    density = xp.exp(self * self * -0.5) * (1 / math.sqrt(2 * math.pi))
    return grad * (below + self * density)


_functional(gelu, {"approximate": "none"}, keyword_only=True)


@op(**_HIDDEN)
@_floating("silu_cpu", complex_too=True)
def silu(self: Array):
    """input * sigmoid(input)."""
    out = np.exp(np.negative(self, out=...), out=...)
    np.add(out, 1, out=out)
    return np.divide(self, out, out=out)


@silu.derivative(of="self")
def _(xp, grad, self):
    s = 1 / (1 + xp.exp(-self))
    return grad * xp.conj(s * (1 + self * (1 - s)))


_functional(silu, {"inplace": False})


@op(**_HIDDEN)
@_floating("mish_cpu")
def mish(self: Array):
    """input * tanh(softplus(input)) (D. Misra, 2019)."""
    return self * np.tanh(np.logaddexp(self, self.dtype.type(0)))


@mish.derivative(of="self")
def _(xp, grad, self):
    bend = xp.tanh(xp.logaddexp(self, xp.zeros_like(self)))
    return grad * (bend + self * (1 - bend * bend) / (1 + xp.exp(-self)))


_functional(mish, {"inplace": False})


@op(**_HIDDEN)
@_floating("softplus_cpu")
def softplus(self: Array, beta, threshold):
    """log(1 + exp(beta * input)) / beta; input itself where beta * input is above threshold."""
    scaled = self if beta == 1 else self * self.dtype.type(beta)
    soft = np.exp(scaled, out=...)
    np.log1p(soft, out=soft)
    if beta != 1:
        np.divide(soft, beta, out=soft, dtype=self.dtype)
    return vocabulary.where(scaled > threshold, self, soft)


@softplus.derivative(of="self")
def _(xp, grad, self, beta, threshold):
    scaled = self * beta
    return xp.where(scaled > threshold, grad, grad * xp.sigmoid(scaled))


_functional(softplus, {"beta": 1, "threshold": 20})


@op(name="logsigmoid", node="LogSigmoidBackward0", **_HIDDEN)
@_floating("log_sigmoid_cpu")
def logsigmoid(self: Array):
    """log(sigmoid(input))."""
    return np.array(np.minimum(self, self.dtype.type(0)) - np.log1p(np.exp(-np.abs(self))), order="C", copy=None)


logsigmoid.derivative(of="self")(lambda xp, grad, self: grad * xp.sigmoid(-self))
_functional(logsigmoid, {})


@composite(namespace="nn.functional", method=False)
def softsign(input):
    """input / (1 + |input|)."""
    return input / (input.abs() + 1)


@composite(namespace="nn.functional", method=False)
def tanhshrink(input):
    """input - tanh(input)."""
    return input - input.tanh()


@op(**_HIDDEN)
@in_single
def glu(self: Array, dim):
    """The first half of input along dim times the sigmoid of the second (Y. Dauphin et al., 2016)."""
    refuse("glu_cpu", "biuc", self)
    half = self.shape[dim] // 2
    first, second = np.split(self, [half], dim)
    return first * (1 / (1 + np.exp(-second)))


@glu.derivative(of="self")
def _(xp, grad, self, dim):
    half, before = self.shape[dim] // 2, (slice(None),) * (dim % self.ndim)
    first = xp.getitem(self, (*before, slice(None, half)))
    gate = 1 / (1 + xp.exp(-xp.getitem(self, (*before, slice(half, None)))))
    return xp.concatenate([grad * gate, grad * first * gate * (1 - gate)], dim)


@composite(namespace="nn.functional", method=False, name="glu")
def _glu_function(input, dim=-1):
    """The first half of input along dim times the sigmoid of the second (Y. Dauphin et al., 2016)."""
    if not input._spec.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    size = input._spec.shape[(at := wrap_dim(dim, input._spec.ndim))]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {at} is size {size}")
    return glu.single(input, dim)


glu.function = _glu_function

# --- hard ones ---


@op(**_HIDDEN)
@_floating("hardswish_cpu")
def hardswish(self: Array):
    """input * min(max(input + 3, 0), 6) / 6 (A. Howard et al., 2019)."""
    return self * bounded(self + 3, 0, 6) / 6


@hardswish.derivative(of="self")
def _(xp, grad, self):
    middle = grad * (self / 3 + 0.5)
    return xp.where(self >= 3, grad, xp.select(~(self <= -3), middle))


@op(**_HIDDEN)
@_floating("hardsigmoid_cpu")
def hardsigmoid(self: Array):
    """min(max(input + 3, 0), 6) / 6."""
    return bounded(self + 3, 0, 6) / 6


@hardsigmoid.derivative(of="self")
def _(xp, grad, self):
    return xp.select(xp.logical_and(self > -3, self < 3), grad * (1 / 6))


_functional(hardswish, {"inplace": False})
_functional(hardsigmoid, {"inplace": False})


@op(**_HIDDEN)
@_floating("hardshrink_cpu")
def hardshrink(self: Array, lambd):
    """input where |input| is above lambd, 0 elsewhere."""
    return vocabulary.where((self >= -lambd) & (self <= lambd), self.dtype.type(0), self)


@op(**_HIDDEN)
@_floating("softshrink_check")
def softshrink(self: Array, lambd):
    """input moved by lambd towards 0, and 0 where it would cross."""
    dtype = of(self.dtype)
    limit = finfo(dtype).max
    if not 0 <= lambd <= limit:
        raise RuntimeError(
            f"lambda must be in range [0, {limit:g}] for input dtype {dtype.scalar_name}, but found {lambd:g}"
        )
    return vocabulary.where(self > lambd, self - lambd, vocabulary.where(self < -lambd, self + lambd, self * 0))


def _shrink_grad(xp, grad, self, lambd):
    return xp.select(~xp.logical_and(self >= -lambd, self <= lambd), grad)


hardshrink.derivative(of="self")(_shrink_grad)
softshrink.derivative(of="self")(_shrink_grad)
_functional(hardshrink, {"lambd": 0.5}, torch=True)
_functional(softshrink, {"lambd": 0.5})
put_method("hardshrink", hardshrink.function)

for _operation in (sigmoid, tanh):
    publish("nn.functional", _operation.name, lambda input, run=_operation.fast: run(input))
