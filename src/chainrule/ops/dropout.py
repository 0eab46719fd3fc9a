"""Dropout in its variants: each is a multiplication by drawn noise (N. Srivastava et al., 2014).

https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html
"""

import warnings

import numpy as np

from ..core.declare import Array, composite, op
from ..core.registry import publish
from ..core.tensor import Tensor, wrap
from ..random import distributions as draw
from .creation import _must_be_tensor, finish, stride_order
from .generator import default_generator

__all__: list[str] = []


def _noise(input: Tensor, shape: tuple, make):
    """What `make(shape)` draws for this input, as tensors, laid out as the input is where they have its shape."""
    array = input._array
    if array.flags.c_contiguous or shape != array.shape:
        drawn = make(shape)
    else:
        order = stride_order(shape, array.strides)
        back = np.argsort(order)
        drawn = make(tuple(shape[i] for i in order))
        drawn = tuple(d.transpose(back) for d in drawn) if isinstance(drawn, tuple) else drawn.transpose(back)
    return tuple(map(finish, drawn)) if isinstance(drawn, tuple) else finish(drawn)


def _drop(input: Tensor, p: float, train: bool, inplace: bool, alpha: bool, feature: bool) -> Tensor:
    """The common body of all variants."""
    spec = input._spec
    if not p or not train or not spec.numel:
        return input
    if p == 1:
        nought = wrap(np.zeros((), spec.array_dtype))
        return input.mul_(nought) if inplace else input.mul(nought)
    shape = spec.shape
    if feature:
        if spec.ndim < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        shape = draw.feature_shape(shape)
    if not spec.inexact and not alpha:
        raise RuntimeError(f"result type Float can't be cast to the desired output type {spec.dtype.scalar_name}")
    if alpha:
        noise, shift = _noise(
            input, shape, lambda shape: draw.alpha_dropout_noise(default_generator, shape, spec.array_dtype, p)
        )
        return input.mul_(noise).add_(shift) if inplace else input.mul(noise).add(shift)
    noise = _noise(input, shape, lambda shape: draw.dropout_noise(default_generator, shape, spec.array_dtype, p))
    return input.mul_(noise) if inplace else input.mul(noise)


def _check(p: float, error=ValueError) -> float:
    if not 0 <= p <= 1:
        shown = format(float(p), "g") if error is RuntimeError else p
        raise error(f"dropout probability has to be between 0 and 1, but got {shown}")
    return p


# --- torch.dropout and its kin ---------------------------------------------------------------------------------------


def _publish(name: str, alpha: bool, feature: bool, doc: str) -> None:
    for suffix, inplace in (("", False), ("_", True)):

        def dropout(input, p, train, inplace=inplace):
            _must_be_tensor(name, input)
            _check(p, RuntimeError)
            return _drop(input, p, train, inplace, alpha, feature)

        dropout.__name__ = dropout.__qualname__ = name + suffix
        dropout.__doc__ = doc
        publish("torch", name + suffix, dropout)


_publish("dropout", False, False, "Zeros elements with probability `p` while training and scales the others up.")
_publish("feature_dropout", False, True, "Zeros whole channels with probability `p` while training.")
_publish("alpha_dropout", True, False, "Dropout that keeps mean and variance of SELU's output.")
_publish("feature_alpha_dropout", True, True, "Alpha dropout of whole channels.")


@op(name="native_dropout", method=False, namespace=None)
def _native_dropout(self: Array, p: float, train: bool):
    if not train or not p:
        mask = np.ones(self.shape, bool)
        return self.copy(), mask
    if p == 1:
        return np.zeros_like(self), np.zeros(self.shape, bool)
    mask = draw.bernoulli(default_generator, self.shape, np.dtype(bool), 1 - p)
    return self * mask * self.dtype.type(1 / (1 - p)), mask


@_native_dropout.derivative(of="self")
def _(xp, grad, result1, p, train):
    scale = 1.0 if not train else 0.0 if p == 1 else 1 / (1 - p)
    return grad * xp.astype(result1, grad.dtype) * scale


@composite(method=False)
def native_dropout(input, p, train):
    """Dropout that also returns the mask of the elements that were kept."""
    _must_be_tensor("native_dropout", input)
    return _native_dropout.apply((input, p, train))


# --- torch.nn.functional ---------------------------------------------------------------------------------------------


@composite(name="dropout", method=False, namespace="nn.functional")
def _dropout(input, p=0.5, training=True, inplace=False):
    """While training, zeros elements with probability `p` and divides the others by 1 - p. ValueError for a bad `p`."""
    return _drop(input, _check(p), training, inplace, False, False)


@composite(name="alpha_dropout", method=False, namespace="nn.functional")
def _alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean and variance of SELU's output (G. Klambauer et al., 2017). ValueError for a bad `p`."""
    return _drop(input, _check(p), training, inplace, True, False)


@composite(name="feature_alpha_dropout", method=False, namespace="nn.functional")
def _feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Alpha dropout of whole channels, the second dimension. ValueError for a bad `p`."""
    return _drop(input, _check(p), training, inplace, True, True)


def _unbatched(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """Dropout of channels of an input without a batch dimension."""
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    out = _drop(batch, p, training, inplace, False, True)
    return out.squeeze_(0) if inplace else out.squeeze(0)


@composite(method=False, namespace="nn.functional")
def dropout1d(input, p=0.5, training=True, inplace=False):
    """While training, zeros whole channels of (N, C, L) or (C, L) with probability `p`."""
    _check(p)
    ndim = input.ndim
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch "
            "dimension "
            "(i.e. 2D or 3D inputs)."
        )
    return _unbatched(input, p, training, inplace) if ndim == 2 else _drop(input, p, training, inplace, False, True)


def _warn_dimensions(name: str, ndim: int, spatial: int, dims: str) -> None:
    warnings.warn(
        f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a future "
        "release. "
        f"To retain the behavior and silence this warning, please use dropout instead. Note that {name} exists to "
        "provide "
        f"channel-wise dropout on inputs with {spatial} spatial dimensions, a channel dimension, and an optional batch "
        f"dimension (i.e. {dims} inputs).",
        UserWarning,
        stacklevel=3,
    )


@composite(method=False, namespace="nn.functional")
def dropout2d(input, p=0.5, training=True, inplace=False):
    """While training, zeros whole channels of (N, C, H, W) with probability `p`; (N, C, L) with a warning."""
    _check(p)
    if input.ndim not in (3, 4):
        _warn_dimensions("dropout2d", input.ndim, 2, "3D or 4D")
    elif input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
            "desired - "
            "input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future "
            "release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
            "channel-wise dropout behavior, please switch to using dropout1d instead.",
            UserWarning,
            stacklevel=2,
        )
    return _drop(input, p, training, inplace, False, True)


@composite(method=False, namespace="nn.functional")
def dropout3d(input, p=0.5, training=True, inplace=False):
    """While training, zeros whole channels of (N, C, D, H, W) or (C, D, H, W) with probability `p`."""
    _check(p)
    if input.ndim not in (4, 5):
        _warn_dimensions("dropout3d", input.ndim, 3, "4D or 5D")
    if input.ndim != 5:
        return _unbatched(input, p, training, inplace)
    return _drop(input, p, training, inplace, False, True)


for _function in (_dropout, _alpha_dropout, _feature_alpha_dropout):  # torch has others by these names
    _function.__name__ = _function.__qualname__ = _function.__name__.removeprefix("_")
