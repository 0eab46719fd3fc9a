"""Arrays less their mean, over their standard deviation, along some axes: what the normalizations share, raw.

An array is looked at either as rows, each with moments of its own, or as (samples, channels, places), each channel with
moments of its own. Rows are worked on in blocks that stay in the cache.
"""

import functools
import math

import numpy as np

__all__ = ["Moments", "standardize", "standardized", "standardized_vjp", "standardized_weight_vjp"]

BLOCK = 1 << 15


class Moments:
    """How an array is standardized, and, once that is done, by which mean and reciprocal deviation.

    shape: as which it is looked at, (rows, elements) or (samples, channels, places); axes: those that share moments; count:
    how many elements do; eps: added to the variance. centred: whether the mean is subtracted. fixed: whether mean and rstd
    are given and no functions of the array.
    """

    __slots__ = ("shape", "axes", "count", "eps", "centred", "fixed", "mean", "rstd")

    def __init__(self, shape, axes, eps, centred=True, fixed=False, mean=None, rstd=None):
        self.shape, self.axes, self.eps, self.centred, self.fixed = shape, axes, eps, centred, fixed
        self.count = math.prod([shape[a] for a in axes])
        self.mean, self.rstd = mean, rstd


@functools.lru_cache(64)
def _even(count: int, dtype) -> np.ndarray:
    """So many equal weights that add to 1: a product with them is a mean."""
    return np.full(count, 1 / count if count else 0, dtype)


def _wide(x):
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _blocks(shape):
    """Slices of rows, so many at once that they stay in the cache."""
    rows, length = shape
    step = max(BLOCK // max(length, 1), 1)
    return [slice(None)] if step >= rows else [slice(start, start + step) for start in range(0, rows, step)]


def standardized(x, moments):
    """(x − mean) · rstd; where they are not known they are found and kept in `moments`."""
    return standardize(x, moments, None, None)


def standardize(x, moments, weight, bias):
    """(x − mean) · rstd · weight + bias, the latter two in a shape that broadcasts against that of `moments`, or None."""
    wide = _wide(x).reshape(moments.shape)
    if len(moments.shape) == 2:
        out = _standardize_rows(wide, moments, weight, bias)
    else:
        out = _standardize_channels(wide, moments)
        if weight is not None:
            out *= weight
        if bias is not None:
            out += bias
    return out.reshape(x.shape)


def _standardize_rows(x, moments, weight, bias):
    rows, length = x.shape
    centred, known = moments.centred, moments.rstd is not None
    even = _even(length, x.dtype)
    out = np.empty(x.shape, x.dtype)
    if not known:
        moments.mean = np.empty((rows, 1), x.dtype) if centred else None
        moments.rstd = np.empty((rows, 1), x.dtype)
    for block in _blocks(x.shape):
        part, off = x[block], out[block]
        rstd = moments.rstd[block]
        if centred:
            mean = moments.mean[block]
            if not known:
                np.matmul(part, even, out=mean[:, 0])
            part = np.subtract(part, mean, out=off)
        if not known:
            variance = np.vecdot(part, part, out=rstd[:, 0])
            variance /= length
            variance += moments.eps
            np.sqrt(variance, out=variance)
            np.reciprocal(variance, out=variance)
        np.multiply(part, rstd, out=off)
        if weight is not None:
            off *= weight
        if bias is not None:
            off += bias
    return out


def _standardize_channels(x, moments):
    if moments.mean is None:
        mean = np.add.reduce(x, axis=(0, 2), keepdims=True)
        mean /= moments.count
        moments.mean = mean
    out = x - moments.mean
    if moments.rstd is None:
        variance = channel_products(out, out)
        variance /= moments.count
        variance += moments.eps
        np.sqrt(variance, out=variance)
        moments.rstd = np.reciprocal(variance, out=variance)
    return np.multiply(out, moments.rstd, out=out)


def channel_products(x, y):
    """The sums of x · y over each channel of (samples, channels, places), as (1, channels, 1)."""
    if x.shape[2] < 32:
        return np.add.reduce(x * y, axis=(0, 2), keepdims=True)
    return np.add.reduce(np.vecdot(x, y), axis=0)[None, :, None]


def standardized_vjp(grad, x, moments, weight=None):
    """The gradient of x, given that of standardized(x, moments) · weight, which broadcasts against the shape of `moments`."""
    shape = moments.shape
    wide, grad = _wide(x).reshape(shape), _wide(grad).reshape(shape)
    if moments.fixed:
        return (grad * (moments.rstd if weight is None else moments.rstd * weight)).reshape(x.shape)
    if len(shape) == 3:
        return _channels_vjp(grad, wide, moments, weight).reshape(x.shape)
    out = np.empty(shape, wide.dtype)
    even = _even(shape[1], out.dtype)
    centred = moments.centred
    for block in _blocks(shape):
        part, hat, rstd = grad[block], out[block], moments.rstd[block]
        if weight is not None:
            part = part * weight
        if centred:
            np.subtract(wide[block], moments.mean[block], out=hat)
            np.multiply(hat, rstd, out=hat)
        else:
            np.multiply(wide[block], rstd, out=hat)
        along = np.vecdot(part, hat)
        along /= shape[1]
        np.multiply(hat, along[:, None], out=hat)
        if centred:
            hat += np.matmul(part, even)[:, None]
        np.subtract(part, hat, out=hat)
        np.multiply(hat, rstd, out=hat)
    return out.reshape(x.shape)


def _channels_vjp(grad, x, moments, weight):
    hat = x - moments.mean
    hat *= moments.rstd
    along = channel_products(grad, hat)
    along /= moments.count
    hat *= along
    mean = np.add.reduce(grad, axis=(0, 2), keepdims=True)
    mean /= moments.count
    hat += mean
    np.subtract(grad, hat, out=hat)
    return np.multiply(hat, moments.rstd if weight is None else moments.rstd * weight, out=hat)


def standardized_weight_vjp(grad, x, moments, shape):
    """The gradient, of this shape, of a weight that standardized(x, moments) is multiplied by: one number for each element of
    a row, or for each channel."""
    wide, grad = _wide(x).reshape(moments.shape), _wide(grad).reshape(moments.shape)
    if len(moments.shape) == 3:
        hat = wide - moments.mean
        hat *= moments.rstd
        return channel_products(grad, hat).reshape(shape)
    out = np.zeros(moments.shape[1], wide.dtype)
    for block in _blocks(moments.shape):
        hat = wide[block] - moments.mean[block] if moments.centred else wide[block] * moments.rstd[block]
        if moments.centred:
            hat *= moments.rstd[block]
        hat *= grad[block]
        out += np.add.reduce(hat, axis=0)
    return out.reshape(shape)
