"""The three discrete Fourier transforms that all others are made of: complex to complex, real to complex, complex to real.

`normalization` says what a result is divided by: nothing (0), the root of the number of points (1), that number (2).
"""

import functools

import numpy as np

from ..core.declare import Array, op

__all__ = ["fft_c2c", "fft_r2c", "fft_c2r"]

_FORWARD = ("backward", "ortho", "forward")  # SciPy's names for the three normalizations of a forward transform
_INVERSE = ("forward", "ortho", "backward")


@functools.cache
def _scipy():
    import scipy.fft

    return scipy.fft


def _order(strides, dims) -> list:
    """The dimensions of a result from the slowest to the fastest, as PyTorch lays it out: the transformed ones last."""
    return sorted((d for d in range(len(strides)) if d not in dims), key=lambda d: -strides[d]) + list(dims)


def _by_stride(dims, strides) -> tuple:
    return tuple(sorted(dims, key=lambda d: -strides[d]))


def _laid_out(result, order: list):
    """A result in this order of dimensions in memory."""
    if result.flags.c_contiguous and order[-1] == result.ndim - 1 and order == sorted(order):
        return result
    if order == list(range(result.ndim)):
        return np.ascontiguousarray(result)
    out = np.empty([result.shape[d] for d in order], result.dtype).transpose(np.argsort(order))
    out[...] = result
    return out


@op(name="_fft_c2c", node="FftC2CBackward0", method=False, namespace=None)
def fft_c2c(self: Array, dim: tuple, normalization: int, forward: bool):
    if not dim:
        return self.copy(order="K")
    fft = _scipy()
    norm = _FORWARD[normalization] if forward else _INVERSE[normalization]
    if len(dim) == 1:  # SciPy's functions of one dimension take less time
        result = (fft.fft if forward else fft.ifft)(self, axis=dim[0], norm=norm)
    else:
        result = (fft.fftn if forward else fft.ifftn)(self, axes=dim, norm=norm)
    return _laid_out(result, _order(self.strides, _by_stride(dim, self.strides)))


@fft_c2c.derivative(of="self")
def _(xp, grad, dim, normalization, forward):
    return xp.fft_c2c(grad, dim, normalization, not forward)


def _mirrored(half, dim: tuple, size: int):
    """The whole transform of real numbers from its first half: the rest are the conjugates at the opposite frequencies."""
    last = dim[-1]
    along = np.moveaxis(half, last, -1)
    rest = np.conj(along[..., 1 : size - half.shape[last] + 1])[..., ::-1]
    for d in dim[:-1]:
        d = d - 1 if d % half.ndim > last % half.ndim else d % half.ndim
        rest = np.roll(np.flip(rest, d), 1, d)
    return np.moveaxis(np.concatenate([along, rest], -1), -1, last)


@op(name="_fft_r2c", node="FftR2CBackward0", method=False, namespace=None)
def fft_r2c(self: Array, dim: tuple, normalization: int, onesided: bool):
    fft = _scipy()
    if len(dim) == 1:
        result = fft.rfft(self, axis=dim[0], norm=_FORWARD[normalization])
    else:
        result = fft.rfftn(self, axes=dim, norm=_FORWARD[normalization])
    if not onesided:
        result = _mirrored(result, dim, self.shape[dim[-1]])
    return _laid_out(result, _order(self.strides, _by_stride(dim[:-1], self.strides) + dim[-1:]))


@fft_r2c.derivative(of="self")
def _(xp, grad, dim, normalization, onesided, self_shape):
    if not onesided:
        return xp.real(xp.fft_c2c(grad, dim, normalization, False))
    # The half that is left out counts as 0: the complex-to-real transform counts each of its elements twice.
    last = dim[-1]
    halved = _inside(xp, grad, last, self_shape[last], 0.5)
    return xp.fft_c2r(halved, dim, normalization, self_shape[last])


@op(name="_fft_c2r", node="FftC2RBackward0", method=False, namespace=None)
def fft_c2r(self: Array, dim: tuple, normalization: int, last_dim_size: int):
    if len(dim) == 1:
        result = _scipy().irfft(self, last_dim_size, axis=dim[0], norm=_INVERSE[normalization])
    else:
        sizes = [self.shape[d] for d in dim[:-1]] + [last_dim_size]
        result = _scipy().irfftn(self, s=sizes, axes=dim, norm=_INVERSE[normalization])
    strides = self.strides
    if len(dim) > 1:  # the others are transformed first, into a layout of their own
        order = _order(strides, _by_stride(dim[:-1], strides))
        strides = [-order.index(d) for d in range(self.ndim)]
    return _laid_out(result, _order(strides, dim[-1:]))


@fft_c2r.derivative(of="self")
def _(xp, grad, dim, normalization, last_dim_size):
    return _inside(xp, xp.fft_r2c(grad, dim, normalization, True), dim[-1], last_dim_size, 2)


def _inside(xp, x, axis: int, size: int, factor):
    """The half of a spectrum of `size` points times a factor, but for the frequencies that stand in it alone."""
    count = x.shape[axis]
    inner = size - count
    if not inner:
        return x
    parts = [xp.narrow(x, axis, 0, 1), xp.narrow(x, axis, 1, inner) * factor]
    if count > inner + 1:
        parts.append(xp.narrow(x, axis, inner + 1, count - inner - 1))
    return xp.concatenate(parts, axis)
