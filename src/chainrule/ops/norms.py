"""Norms of vectors, distances, logsumexp, and what is normalised by them."""

import math
from typing import Any

import numpy as np

from ..core.declare import Array, op, put_method
from ..core.dtype import FLOATING, argument_type_name, get_default_dtype
from ..core.general import NUMBERS
from ..core.registry import FUNCTIONS, publish
from ..core.tensor import Tensor
from .extremes import share
from .precision import HALF
from .reduction import cast, dimensions, expect_bool, expect_dims, expect_tensor, into, spread, sum_over

__all__ = ["vector_norm", "norm", "logsumexp"]

# --- vector_norm ---


def norm_of(a, order, axes, keepdims: Any):
    """The norm of an array along axes, real; of half precision computed in single."""
    if a.dtype is HALF:
        return np.asarray(norm_of(a.astype(np.float32), order, axes, keepdims)).astype(HALF)
    if order == 2:
        if a.dtype.kind == "c":
            return np.sqrt(sum_over(a.real**2 + a.imag**2, axes, keepdims))
        if axes is None and not keepdims and a.flags.c_contiguous:
            flat = a.reshape(-1)
            return np.sqrt(np.dot(flat, flat))
        return np.sqrt(sum_over(a * a, axes, keepdims))
    size = np.abs(a)
    if order == math.inf:
        return np.maximum.reduce(size, axis=axes, keepdims=keepdims)
    if order == -math.inf:
        return np.minimum.reduce(size, axis=axes, keepdims=keepdims)
    if order == 0:
        return np.add.reduce(size != 0, axis=axes, keepdims=keepdims).astype(size.dtype)
    if order == 1:
        return sum_over(size, axes, keepdims)
    powers = np.power(size, size.dtype.type(order))
    return np.power(sum_over(powers, axes, keepdims), size.dtype.type(1 / order))


@op(name="linalg_vector_norm", method=False, namespace=None)
def vector_norm_op(self: Array, ord=2, dim=None, keepdim: bool = False, dtype=None):
    a = self if dtype is None else cast(self, dtype)
    axes = dimensions(dim, a.ndim)
    return norm_of(a, ord, axes, keepdim)


def norm_slope(xp, grad, self, result, order, axes):
    """The vjp of a norm: of |x|^p summed and drawn to 1/p. At 0 it is 0."""
    if order == 0:
        return xp.zeros_like(self) * grad
    if order == 1:
        return xp.sgn(self) * grad
    if order in (math.inf, -math.inf):
        size = xp.abs(self)
        chosen = xp.logical_or(size == result, xp.isnan(size))
        return xp.sgn(self) * share(xp, grad, chosen, axes)
    zero = result == 0
    safe = xp.where(zero, xp.ones_like(result), result)
    if order == 2:
        return self * xp.select(~zero, grad / safe)
    scale = xp.select(~zero, grad / xp.power(safe, order - 1))
    size = xp.abs(self)
    empty = size == 0
    lifted = xp.where(empty, xp.ones_like(size), size)
    if order > 2:
        return self * xp.select(~empty, xp.power(lifted, order - 2)) * scale
    return xp.sgn(self) * xp.select(~empty, xp.power(lifted, order - 1)) * scale


@vector_norm_op.derivative(of="self")
def _(xp, grad, self, result, ord, dim, keepdim):
    shape = self.shape
    axes = dimensions(dim, len(shape))
    if axes == ():
        axes = None
    grad, result = spread(xp, grad, dim, keepdim, shape), spread(xp, result, dim, keepdim, shape)
    if self.dtype != result.dtype and not xp.is_complex(self):  # computed in another dtype
        self = xp.astype(self, result.dtype)
    return norm_slope(xp, grad, self, result, ord, axes)


def check_norm(name: str, input, order, dim, dtype) -> None:
    """What PyTorch requires of the arguments of a vector norm."""
    if not input._spec.inexact:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {input._spec.dtype.scalar_name}"
        )
    if dtype is not None:
        if dtype.category < FLOATING:
            raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {dtype.scalar_name}")
        if input._spec.dtype.is_complex and not dtype.is_complex:
            raise RuntimeError(f"{name}: dtype should be complex for complex inputs, but got {dtype.scalar_name}")
        if dtype.is_complex and not input._spec.dtype.is_complex:
            raise RuntimeError(f"{name}: dtype should be real for real inputs, but got {dtype.scalar_name}")
    if input._spec.numel == 0 and (order < 0 or order == math.inf):
        axes = dimensions(dim, input._spec.ndim)
        shown = "inf" if order == math.inf else f"{order:g}"
        if axes is None:
            raise RuntimeError(
                f"{name} cannot compute the {shown} norm on an empty tensor because the operation does not have an identity"
            )
        for axis in axes:
            if input._spec.shape[axis] == 0:
                raise RuntimeError(
                    f"{name} cannot compute the {shown} norm on the dimension {axis} because this dimension is empty and "
                    "the operation does not have an identity"
                )


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """The `ord`-norm along dimensions (None: of all elements): any number, also 0, inf and -inf.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.vector_norm.html
    """
    if not isinstance(x, Tensor):
        raise TypeError(
            f"linalg_vector_norm(): argument 'input' (position 1) must be Tensor, not {argument_type_name(x)}"
        )
    if not isinstance(ord, NUMBERS):
        raise TypeError(
            f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {argument_type_name(ord)}"
        )
    expect_dims("linalg_vector_norm", dim, 3)
    check_norm("linalg.vector_norm", x, ord, dim, dtype)
    result = vector_norm_op.single(x, ord, (dim,) if type(dim) is int else dim, keepdim, dtype)
    return result if out is None else into("linalg_vector_norm", out, (x,), result)


vector_norm_op.function = vector_norm
publish("linalg", "vector_norm", vector_norm)


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The norm of all elements or along dimensions; "fro" is the 2-norm, "nuc" the sum of singular values of matrices.

    https://docs.pytorch.org/docs/stable/generated/torch.norm.html
    """
    if not isinstance(input, Tensor):
        raise AttributeError(f"'{type(input).__name__}' object has no attribute 'layout'")
    where = (dim,) if type(dim) is int else dim
    if p is None or p == "fro" and (where is None or len(where) <= 2):
        return vector_norm(input, 2, where, keepdim, dtype=dtype, out=out)
    if isinstance(p, str):
        matrix_norm = FUNCTIONS["linalg"]["matrix_norm"]
        if where is None:
            return matrix_norm(input, p, keepdim=keepdim, dtype=dtype, out=out)
        return matrix_norm(input, p, where, keepdim, dtype=dtype, out=out)
    return vector_norm(input, p, where, keepdim, dtype=dtype, out=out)


publish("torch", "norm", norm)
put_method("norm", lambda self, p="fro", dim=None, keepdim=False, dtype=None: norm(self, p, dim, keepdim, dtype=dtype))

# --- distances ---


@op(name="norm_along", node="NormBackward1", method=False, namespace=None)
def norm_along(self: Array, p, dim, keepdim: bool = False):
    return norm_of(self, p, dimensions(dim, self.ndim), keepdim)


@norm_along.derivative(of="self")
def _(xp, grad, self, result, p, dim, keepdim):
    shape = self.shape
    grad, result = spread(xp, grad, dim, keepdim, shape), spread(xp, result, dim, keepdim, shape)
    return norm_slope(xp, grad, self, result, p, dimensions(dim, len(shape)) or None)


@op(name="dist", promote=("self", "other"), method=False, namespace=None)
def dist_op(self: Array, other: Array, p=2):
    return norm_of(self - other, p, None, False)


dist_op.numbers = ()


def _dist(sign):
    return lambda xp, grad, self, other, p, result: norm_slope(xp, grad * sign, self - other, result, p, None)


dist_op.derivative(of="self")(_dist(1))
dist_op.derivative(of="other")(_dist(-1))


def dist(input, other, p=2):
    """The p-norm of input − other, which broadcast."""
    expect_tensor("dist", input)
    if not isinstance(other, Tensor):
        raise TypeError(f"dist(): argument 'other' (position 2) must be Tensor, not {argument_type_name(other)}")
    if not input._spec.inexact:
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{input._spec.dtype.scalar_name} instead.")  # fmt: skip
    return dist_op.general(input, other, p)


dist_op.function = dist
publish("torch", "dist", dist)
put_method("dist", dist)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of x1 − x2 + eps along the last dimension; x1 and x2 broadcast."""
    return norm_along.single(x1 - x2 + eps, p, -1, keepdim)


publish("nn.functional", "pairwise_distance", pairwise_distance)
publish("torch", "pairwise_distance", pairwise_distance)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """input divided by its p-norm along a dimension, or by `eps` where that is larger."""
    size = norm(input, p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / size if out is None else FUNCTIONS["torch"]["div"](input, size, out=out)


publish("nn.functional", "normalize", normalize)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between x1 and x2 along a dimension; lengths below `eps` count as `eps`."""
    for x in (x1, x2):
        expect_tensor("cosine_similarity", x)
        if not x._spec.inexact:
            raise RuntimeError("expected common dtype to be floating point, yet common dtype is "
                               f"{x._spec.dtype.scalar_name}")  # fmt: skip
    x1, x2 = FUNCTIONS["torch"]["broadcast_tensors"](x1, x2)
    lengths = [vector_norm(x, 2, dim, True).clamp_min(eps) for x in (x1, x2)]
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(dim)


publish("nn.functional", "cosine_similarity", cosine_similarity)
publish("torch", "cosine_similarity", cosine_similarity)

# --- renorm ---


@op(name="renorm", inplace=True)
def renorm(self: Array, p, dim: int, maxnorm):
    """The parts along a dimension whose p-norm is above `maxnorm`, scaled down to it."""
    rest = _rest(self, p, dim, maxnorm)
    size = norm_of(self, p, rest, True)
    scale = np.where(size > maxnorm, maxnorm / (size + size.dtype.type(1e-7)), 1).astype(size.dtype)
    return self * scale


def _rest(self, p, dim, maxnorm) -> tuple:
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    (axis,) = dimensions(dim, self.ndim)
    return tuple(i for i in range(self.ndim) if i != axis)


@renorm.derivative(of="self")
def _(xp, grad, self, p, dim, maxnorm):
    # x · s(‖x‖) with s = m / (‖x‖ + ε): the gradient is grad · s, and through ‖x‖ that of s, −s² / m.
    rest = _rest(self, p, dim, maxnorm)
    powers = xp.sum(xp.power(xp.abs(self), p), rest, True) if p != math.inf else None
    size = xp.amax(xp.abs(self), rest, True) if powers is None else xp.power(powers, 1 / p)
    large = size > maxnorm
    scale = maxnorm / (size + 1e-7)
    through = xp.real(xp.sum(grad * xp.conj(self), rest, True))
    by_norm = norm_slope(xp, -through * scale / (size + 1e-7), self, size, p, rest)
    return xp.where(large, grad * scale + by_norm, grad)


# --- logsumexp ---


def _floating(a):
    if a.dtype.kind in "fc":
        return a
    return a.astype(get_default_dtype().numpy)


@op(name="logsumexp", method=False, namespace=None)
def logsumexp_op(self: Array, dim, keepdim: bool = False):
    a = _floating(self)
    if a.dtype is HALF:
        return _logsumexp(a.astype(np.float32), dimensions(dim, a.ndim), keepdim).astype(HALF)
    return _logsumexp(a, dimensions(dim, a.ndim), keepdim)


def _logsumexp(a, axes, keepdim: Any):
    if not a.size:
        return np.asarray(np.log(np.add.reduce(a, axis=axes, keepdims=keepdim)))
    real = a.real if a.dtype.kind == "c" else a
    most = np.asarray(np.maximum.reduce(real, axis=axes, keepdims=True))
    most = np.where(np.isinf(most), np.zeros((), most.dtype), most)
    out = np.asarray(np.log(np.add.reduce(np.exp(a - most), axis=axes, keepdims=keepdim)))
    return out + most.reshape(out.shape)


@logsumexp_op.derivative(of="self")
def _(xp, grad, self, result, dim, keepdim):
    shape = self.shape
    grad, result = spread(xp, grad, dim, keepdim, shape), spread(xp, result, dim, keepdim, shape)
    return grad * xp.conj(xp.exp(self - result))


def logsumexp(input, dim, keepdim=False, *, out=None):
    """The logarithm of the sum of exponentials along dimensions, computed without overflow."""
    expect_tensor("logsumexp", input)
    expect_dims("logsumexp", dim, none=False)
    expect_bool("logsumexp", keepdim)
    result = logsumexp_op.single(input, dim, keepdim)
    return result if out is None else into("logsumexp", out, (input,), result)


logsumexp_op.function = logsumexp
publish("torch", "logsumexp", logsumexp)
publish("special", "logsumexp", logsumexp)
put_method("logsumexp", logsumexp)
