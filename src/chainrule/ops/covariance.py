"""Covariance and correlation of variables in rows; made of other operations."""

import warnings

import numpy as np

from ..core.dtype import bool_
from ..core.registry import FUNCTIONS
from ..core.tensor import wrap
from .signature import public

__all__ = ["cov", "corrcoef"]


def _check_weights(name: str, weights, count: int, floating: bool) -> None:
    """RuntimeError where weights do not go with so many observations."""
    spec = weights._spec
    if spec.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {spec.ndim} dimensions"
        )
    right = spec.dtype.is_floating_point if floating else not spec.inexact
    if not right:
        kind = "floating point" if floating else "integral"
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with {spec.dtype.scalar_name} dtype"
        )
    if spec.numel != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got {spec.numel} "
            f"!= {count}"
        )
    if spec.numel and weights._array.min() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")


def _check_observations(name: str, input) -> None:
    """RuntimeError where the input is not a table of numbers."""
    if input._spec.ndim > 2:
        raise RuntimeError(
            f"{name}(): expected input to have two or fewer dimensions but got an input with {input._spec.ndim} dimensions"
        )
    if input._spec.dtype is bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")


@public("cov", "Tensor input, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None")
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariances of variables in the rows of input, with observations in its columns; of one variable its variance.

    fweights says how often each observation counts (integers), aweights how much (floating). Warns where there are not
    more observations than `correction`.
    """
    _check_observations("cov", input)
    rows = input.view(1, -1) if input._spec.ndim < 2 else input
    count = rows._spec.shape[1]
    for name, weights, floating in (("fweights", fweights, False), ("aweights", aweights, True)):
        if weights is not None:
            _check_weights(name, weights, count, floating)
    weights = aweights if fweights is None else fweights if aweights is None else fweights * aweights
    if weights is None:
        total = wrap(np.asarray(count))
    else:
        total = weights.sum()
        if not total._array.item():
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = (rows if weights is None else rows * weights).sum(1) / total
    if weights is not None and aweights is not None and correction != 0:
        norm = total - correction * (weights * aweights).sum() / total
    else:
        norm = total - correction
    if norm._array.item() <= 0:
        warnings.warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
                      UserWarning, stacklevel=4)  # fmt: skip
        norm = FUNCTIONS["torch"]["zeros_like"](norm)
    centred = rows - mean.unsqueeze(1)
    other = (centred if weights is None else centred * weights).t()
    products = FUNCTIONS["torch"]["mm"](centred, other.conj() if other.is_complex() else other)
    return (products / norm).squeeze()


@public("corrcoef", "Tensor input")
def corrcoef(input):
    """The correlations of variables in the rows of input, with observations in its columns, clamped to [-1, 1]."""
    _check_observations("corrcoef", input)
    c = cov(input)
    if not c._spec.ndim:
        return c / c
    variance = c.diagonal(0, 0, 1)
    deviation = (variance.real if c.is_complex() else variance).sqrt()
    c = c / deviation.view(-1, 1) / deviation.view(1, -1)
    if c.is_complex():
        return FUNCTIONS["torch"]["complex"](c.real.clamp(-1, 1), c.imag.clamp(-1, 1))
    return c.clamp(-1, 1)
