"""Quantiles: quantile and nanquantile, made of sorting, gathering and interpolating, as PyTorch's are."""

import numpy as np

from ..core.dtype import float32, float64
from ..core.modes import state
from ..core.outputs import refuse_out_gradient, write_out
from ..core.tensor import Tensor, wrap, wrap_dim
from .blending import lerp
from .gathering import gather
from .signature import public
from .sorting import sort_by_default

__all__ = ["quantile", "nanquantile"]

_WAYS = ("linear", "lower", "higher", "midpoint", "nearest")
_ROUND = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}
_MOST = 1 << 24


def _check(input, q, interpolation: str) -> None:
    """RuntimeError where there is nothing that quantiles could be made of."""
    if input._spec.numel == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q._spec.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if input._spec.dtype not in (float32, float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if q._spec.dtype is not input._spec.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if interpolation not in _WAYS:
        raise RuntimeError(
            f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if not ((q._array >= 0) & (q._array <= 1)).all():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")


def _quantiles(input, q, dim, keepdim: bool, interpolation: str, skip_nan: bool):
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        q = wrap(np.asarray(q, input._spec.array_dtype if input._spec.inexact else np.float32))
    _check(input, q, interpolation)
    spec = input._spec
    axis = None if dim is None else wrap_dim(dim, spec.ndim)
    n = spec.numel if axis is None else spec.shape[axis] if spec.ndim else 1
    if n > _MOST:
        raise RuntimeError("quantile() input tensor is too large")
    if not spec.ndim:
        kept: tuple = ()
    elif axis is None:
        kept = (1,) * (spec.ndim * keepdim)
    else:
        kept = spec.shape[:axis] + (1,) * keepdim + spec.shape[axis + 1 :]
    if not (state.grad_enabled and (input.requires_grad or q.requires_grad)):
        return wrap(_without_history(input._array, q._array, axis, kept, interpolation, skip_nan))
    if axis is None:
        along = input if spec.ndim == 1 else input.reshape((-1,))
    else:
        along = input if spec.ndim and axis == spec.ndim - 1 else input.unsqueeze(-1).transpose(axis, -1)
    ranked = sort_by_default.single(along, -1, False)[0]
    ranked = ranked.view((*kept, n))
    found = _at_ranks(ranked, _ranks(ranked, q, n, skip_nan), interpolation)
    if q._spec.ndim:
        found = found.unsqueeze_(0).transpose_(0, -1)
    return found.squeeze_(-1)


def _without_history(a, q, axis, kept: tuple, interpolation: str, skip_nan: bool):
    """The quantiles as an array, where nothing is to be differentiated."""
    a = a.reshape(-1) if axis is None or not a.ndim else np.moveaxis(a, axis, -1)
    ranked = np.sort(np.ascontiguousarray(a), axis=-1)
    ranked = ranked.reshape((*kept, ranked.shape[-1]))
    n = ranked.shape[-1]
    missing = np.isnan(ranked)
    levels = q.reshape(-1)
    if skip_nan:
        counts = n - np.add.reduce(missing, axis=-1, keepdims=True)
        ranks = np.maximum(levels * (counts - 1).astype(a.dtype), 0)
    else:
        ranks = np.where(missing[..., -1:], a.dtype.type(n - 1), levels * a.dtype.type(n - 1))
    if interpolation in _ROUND:
        found = np.take_along_axis(ranked, _ROUND[interpolation](ranks).astype(np.int64), -1)
    else:
        low = ranks.astype(np.int64)
        below = np.take_along_axis(ranked, low, -1)
        above = np.take_along_axis(ranked, np.ceil(ranks).astype(np.int64), -1)
        weight = 0.5 if interpolation == "midpoint" else (ranks - low).astype(a.dtype)
        with np.errstate(all="ignore"):  # inf - inf
            found = np.where(weight < 0.5, below + weight * (above - below), above - (above - below) * (1 - weight))
    return np.moveaxis(found, -1, 0) if q.ndim else found.reshape(kept)


def _ranks(ranked, q, n: int, skip_nan: bool):
    """For each level the rank among the sorted elements, which may lie between two; where NaN counts, that of a NaN."""
    missing = np.isnan(ranked._array)
    if skip_nan:
        counts = n - np.add.reduce(missing, axis=-1, keepdims=True)
        ranks = q * wrap((counts - 1).astype(ranked._spec.array_dtype))
        return ranks.masked_fill(ranks < 0, 0)
    ranks = (q * (n - 1)).expand(ranked._spec.shape[:-1] + (q._spec.numel,))
    return ranks.masked_fill(wrap(missing[..., -1:]), n - 1)


def _at_ranks(ranked, ranks, interpolation: str):
    if interpolation in _ROUND:
        places = _ROUND[interpolation](ranks._array).astype(np.int64)
        return gather(ranked, -1, wrap(places))
    low = ranks._array.astype(np.int64)
    if interpolation == "midpoint":
        weight = wrap(np.full(ranks._spec.shape, 0.5, ranks._spec.array_dtype))
    else:
        weight = ranks - wrap(low)
    below = gather(ranked, -1, wrap(low))
    return lerp(below, gather(ranked, -1, wrap(np.ceil(ranks._array).astype(np.int64))), weight)


def _declare(name: str, skip_nan: bool, doc: str):
    def function(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
        if out is not None:
            refuse_out_gradient(name, (input,), (out,))
            if out._spec.dtype is not input._spec.dtype:
                raise RuntimeError("quantile() out tensor must be same dtype as the input tensor")
        result = _quantiles(input, q, dim, bool(keepdim), interpolation, skip_nan)
        if out is None:
            return result
        write_out(out, result._array)
        return out

    function.__doc__ = doc
    rest = "int? dim=None, bool keepdim=False, *, str interpolation='linear', Tensor out=None"
    return public(name, f"Tensor input, Tensor q, {rest}", f"Tensor input, float q, {rest}")(function)


_DOC = """The quantiles of input at levels q, a number or a 1-dim tensor, along a dimension or of all elements.

    input is float32 or float64 of any shape; with a tensor q the levels are the first dimension of the result.
    interpolation, between two elements: linear, lower, higher, midpoint or nearest. Raises RuntimeError for other dtypes,
    empty input and levels outside of [0, 1]. {}
    """
quantile = _declare("quantile", False, _DOC.format("Where there is a NaN the result is NaN."))
nanquantile = _declare("nanquantile", True, _DOC.format("NaN is left out."))
