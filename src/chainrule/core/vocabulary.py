"""The closed list of array functions that kernels and derivative formulas may use, raw: over NumPy arrays.

A formula's first parameter `xp` is this module in an ordinary backward pass and its differentiable twin
(ops/differentiable.py) under create_graph; a test holds the two lists equal. Axes are given as in NumPy. Constants in
formulas are Python numbers, which take the dtype of the array they meet.
"""

import functools

import numpy as np

# --- elementwise ---
from numpy import (  # noqa: F401
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    ceil,
    copysign,
    cos,
    cosh,
    divide,
    equal,
    exp,
    exp2,
    expm1,
    floor,
    floor_divide,
    greater,
    greater_equal,
    hypot,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logaddexp2,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    not_equal,
    reciprocal,
    rint,
    signbit,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
    trunc,
)

# --- shape ---
from numpy import (  # noqa: F401
    concatenate,
    diagonal,
    expand_dims,
    matmul,
    moveaxis,
    ones_like,
    reshape,
    roll,
    stack,
    swapaxes,
    take_along_axis,
    transpose,
    zeros_like,
)

from . import placing
from .attending import attend_vjp  # noqa: F401
from .axes import gather_planes, map_axes, map_axes_vjp, scatter_planes  # noqa: F401
from .placing import (  # noqa: F401
    accumulate,
    clear,
    diagonal_place,
    embedding_rows,
    embedding_vjp,
    index_last,
    multiply_at,
    place,
    place_last,
    unfold_place,
)
from .grids import (  # noqa: F401
    grid_neighbours,
    piecewise,
    sample_at,
    sample_at_input_vjp,
    sample_at_weight_vjp,
)
from .moments import standardized, standardized_vjp, standardized_weight_vjp  # noqa: F401
from .matrices import (  # noqa: F401
    adjugate,
    all_small,
    cholesky_solve,
    cross,
    eye_like,
    inv,
    matrix_exp,
    pinv,
    pivot_matrix,
    solve,
    solve_triangular,
    svd,
)
from .registry import OPS
from .windows import convolve, convolve_input_vjp, convolve_weight_vjp, fold_windows, unfold_windows  # noqa: F401

ndarray = np.ndarray
add = np.add


def conj(x):
    """The complex conjugate; a real array itself."""
    return np.conjugate(x) if x.dtype.kind == "c" else x


def real(x):
    """The real part, as a view of a complex array."""
    return x.real if x.dtype.kind == "c" else x


def imag(x):
    """The imaginary part of a complex array, as a view."""
    return x.imag


def view_as_real(x):
    """A complex array as a real one with a last dimension of 2, in the same memory."""
    x = np.asarray(x)  # a NumPy scalar, which a formula may make of 0 dimensions, has no memory to be shown
    item = x.itemsize // 2
    return as_strided(x.real, (*x.shape, 2), (*(s // item for s in x.strides), 1), 0)


def view_as_complex(x):
    """A real array with a last dimension of 2 as a complex one; in the same memory where the two lie side by side."""
    if x.strides[-1] != x.itemsize:
        x = np.ascontiguousarray(x)
    return x.view(np.result_type(x.dtype, np.complex64))[..., 0]


def abs(x):
    return np.abs(x)


def sgn(x):
    """x / |x|, and 0 where x is 0 or NaN."""
    out = np.sign(x, out=...)
    total = np.add.reduce(out, axis=None)
    if total != total:
        out = np.where(np.isnan(out), np.zeros((), out.dtype), out)
    return out


_BITS = {np.dtype(f): np.dtype(i) for f, i in (("f2", "i2"), ("f4", "i4"), ("f8", "i8"))}


def _bits(mask, dtype):
    """All bits set where the mask holds, none elsewhere."""
    bits = mask.view(np.int8).astype(dtype)
    return np.negative(bits, out=bits)


def select(mask, x):
    """x where the mask holds, 0 elsewhere, also where x is infinite or NaN."""
    # NumPy's where branches at every element: ten times slower than these three passes where the mask is irregular.
    if x.size > 1024 and x.dtype in _BITS and mask.shape == x.shape:
        bits = _bits(mask, _BITS[x.dtype])
        return np.bitwise_and(bits, x.view(bits.dtype), out=bits).view(x.dtype)
    return np.where(mask, x, np.zeros((), x.dtype))


def where(condition, x, y):
    """x where the condition holds, y elsewhere."""
    if condition.size > 4096 and isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and x.dtype is y.dtype:
        alike = x.shape in (condition.shape, ()) and y.shape in (condition.shape, ())
        if alike and x.dtype in _BITS and condition.dtype == np.bool:
            bits = _bits(condition, _BITS[x.dtype])
            x, y, dtype = x.view(bits.dtype), y.view(bits.dtype), x.dtype
            np.bitwise_and(np.bitwise_xor(x, y), bits, out=bits)
            return np.bitwise_xor(bits, y, out=bits).view(dtype)
    return np.where(condition, x, y)


def power(x, exponent):
    """x ** exponent; the frequent numbers among exponents without a call of pow."""
    if type(exponent) in (int, float):
        if exponent == 2:
            return np.multiply(x, x)
        if exponent == 1:
            return x
        if exponent == 3:
            out = np.multiply(x, x, out=...)
            return np.multiply(out, x, out=out)
        if exponent == 0.5:
            return np.sqrt(x)
        if exponent == -1:
            return np.reciprocal(x)
        if exponent == -0.5:
            return np.reciprocal(np.sqrt(x))
        if exponent == -2:
            return np.reciprocal(np.multiply(x, x))
    return np.power(x, exponent)


def sum(x, axis=None, keepdims=False):
    return np.add.reduce(x, axis=axis, keepdims=keepdims)


def flip(x, axis):
    """x with the elements along an axis, or several, in reverse order."""
    return np.flip(x, axis).copy() if x.ndim else x


def cumsum(x, axis):
    if x.dtype == np.float16:  # half precision is summed in single
        return np.add.accumulate(x, axis=axis, dtype=np.float32).astype(x.dtype)
    return np.add.accumulate(x, axis=axis)


def cumsum_back(x, axis):
    """The running sum from the end of an axis, counted from the front."""
    back = (slice(None),) * axis + (slice(None, None, -1),)
    if x.dtype == np.float16:
        return cumsum(x[back], axis)[back]
    out = np.empty(x.shape, x.dtype)
    np.add.accumulate(x[back], axis=axis, out=out[back])
    return out


def cumprod(x, axis):
    return np.multiply.accumulate(x, axis=axis)


def narrow(x, axis, start, length):
    """`length` elements of an axis from `start` on, as a view."""
    return x[(slice(None),) * (axis % x.ndim) + (slice(start, start + length),)]


def amax(x, axis=None, keepdims=False):
    return np.maximum.reduce(x, axis=axis, keepdims=keepdims)


def astype(x, dtype):
    """The array in another dtype (NumPy's or chainrule's); itself where it has that dtype."""
    # An array broadcast along a dimension is laid out anew, in the order of its dimensions.
    order = "C" if 0 in x.strides else "K"
    return x.astype(getattr(dtype, "numpy", dtype), order, copy=False)


def zeros(shape, like):
    """Zeros with the dtype of `like`."""
    return np.zeros(shape, like.dtype)


def zeros_of(spec):
    """Zeros of the shape and dtype that a spec says."""
    return np.zeros(spec.shape, spec.array_dtype)


def is_complex(x) -> bool:
    return x.dtype.kind == "c"


def getitem(x, index):
    """x[index] for a tuple of integers and slices that ends with Ellipsis."""
    return x[index]


def tril(x, k=0):
    """The lower triangles, zeros above diagonal number k."""
    return OPS["tril"].kernel(x, k)


def triu(x, k=0):
    """The upper triangles, zeros below diagonal number k."""
    return OPS["triu"].kernel(x, k)


def rot90(x, k, axes):
    """x turned k times by 90 degrees, from the first axis to the second."""
    return OPS["rot90"].kernel(x, k, axes)


def constant_pad_nd(x, pads, value):
    """x with so many constant elements before and after each axis, given as pairs; negative numbers take some off."""
    return OPS["constant_pad_nd"].kernel(x, pads, value)


def pick_along(x, places, axis):
    """The elements of x at integer `places` along an axis; a 0-dim x itself."""
    if not x.ndim:
        return x
    before, after = _beside(places.shape, axis % x.ndim)
    return x[(*before, places, *after)]


@functools.lru_cache(256)
def _beside(shape, axis):
    """The indices of the dimensions before an axis and behind it, to index with places along it."""
    index = np.ogrid[tuple([slice(n) for n in shape])]
    return tuple(index[:axis]), tuple(index[axis + 1 :])


def put_along(x, places, axis, shape):
    """Zeros of `shape` with the elements of x at integer `places`, no two of them the same, along an axis."""
    if not shape:
        return x
    out = np.zeros(shape, x.dtype)
    before, after = _beside(places.shape, axis % out.ndim)
    out[(*before, places, *after)] = x
    return out


def add_along(x, places, axis, shape):
    """Zeros of `shape` with the elements of x added at integer `places` along an axis."""
    if not shape:
        return x
    out = np.zeros(shape, x.dtype)
    before, after = _beside(places.shape, axis % out.ndim)
    np.add.at(out, (*before, places, *after), x)
    return out


def clip(x, low, high):
    """x, and the nearer of two numbers where it is not between them; NaN stays NaN."""
    return OPS["clamp_by_numbers"].kernel(x, low, high)


BLOCK = 1 << 14  # elements that stay in a core's cache through several passes


def scaled_difference(x, y, factor, bound=None):
    """(x − y) · factor, where a difference outside of ±bound counts as that."""
    if factor.ndim or x.shape != y.shape or not (x.flags.c_contiguous and y.flags.c_contiguous) or x.size <= BLOCK:
        off = x - y
        return (off if bound is None else clip(off, -bound, bound)) * factor
    out = np.empty(x.shape, np.result_type(x, y))
    first, second, flat = x.reshape(-1), y.reshape(-1), out.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        part = flat[start : start + BLOCK]
        np.subtract(first[start : start + BLOCK], second[start : start + BLOCK], out=part)
        np.multiply(part if bound is None else clip(part, -bound, bound), factor, out=part)
    return out


def put_flat(x, places, shape):
    """Zeros of `shape` with the elements of x at `places` in flat memory, no two of them the same."""
    out = np.zeros(shape, x.dtype)
    out.reshape(-1)[places] = x
    return out


def softmax_vjp(grad, result, axis):
    """The gradient of the input of a softmax along an axis."""
    out = np.multiply(grad, result, out=...)
    total = np.add.reduce(out, axis, None, None, True)
    return np.subtract(out, np.multiply(result, total, out=...), out=out)


def log_softmax_vjp(grad, result, axis):
    """The gradient of the input of a log_softmax along an axis."""
    out = np.exp(result, out=...)
    np.multiply(out, np.add.reduce(grad, axis, None, None, True), out=out)
    return np.subtract(grad, out, out=out)


def cross_entropy_vjp(shares, logs, places, axis):
    """The gradient of scores whose log_softmax along an axis is `logs`. places: of the right classes in flat memory;
    shares: the gradient of each sample's loss, of the shape of `places`, or one for all."""
    out = np.exp(logs, out=...)
    np.multiply(out, np.expand_dims(shares, axis) if shares.ndim else shares, out=out)
    flat = out.reshape(-1)
    flat[places] -= shares
    return out


def constant(x):
    """An array that a node keeps, as something that can stand beside a gradient."""
    return x


def any_zero(x) -> bool:
    """Whether an element is 0."""
    return not x.all()


def unfold(x, dim, size, step):
    """Windows of `size` elements of a dimension, `step` apart, along a new last dimension."""
    return OPS["unfold"].kernel(x, dim, size, step)


def filled(x, shape):
    """x broadcast to a shape, in memory of its own."""
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


def broadcast_to(x, shape):
    """A view of x with this shape, without a copy."""
    if x.ndim == 0:  # NumPy's own function takes microseconds
        return np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    return np.broadcast_to(x, shape)


def sum_to(grad, shape):
    """Sum over the dimensions along which an array of `shape` was broadcast to that of `grad`."""
    extra = grad.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and grad.shape[i + extra] != 1)
    if axes:
        grad = np.add.reduce(grad, axis=axes, keepdims=True)
    return grad.reshape(shape) if grad.shape != shape else grad


def fit(grad, spec):
    """A gradient as its input needs it: the input's shape (summed), real for a real input, the input's dtype."""
    if grad is None:
        return None
    if grad.shape != spec.shape:
        grad = sum_to(grad, spec.shape)
    dtype = spec.array_dtype
    if grad.dtype is not dtype:
        if grad.dtype.kind == "c" and dtype.kind != "c":
            grad = grad.real
        grad = grad.astype(dtype, copy=False)
    return grad


class _Memory:
    """Hands NumPy a place inside the memory of `base`, which it keeps alive."""

    __slots__ = ("__array_interface__", "base")


def as_strided(base, shape, strides, offset):
    """The view of the memory of `base` with these strides and offset in elements, counted from its first element."""
    base = np.asarray(base)
    item = base.itemsize
    start = base.__array_interface__["data"]
    memory = _Memory()
    memory.base = base
    memory.__array_interface__ = {
        "data": (start[0] + offset * item, start[1]),
        "shape": tuple(shape),
        "strides": tuple(s * item for s in strides),
        "typestr": base.dtype.str,
        "version": 3,
    }
    return np.asarray(memory)


def owner_of(array):
    """The array that owns the memory `array` shows."""
    while True:
        base = array.base
        if base is not None and not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)  # of a _Memory, or of what NumPy's own as_strided uses in its place
        if not isinstance(base, np.ndarray):
            return array
        array = base


def strided_index(shape, strides, offset):
    """For every element of a strided view, its place in flat memory."""
    index = np.full(shape, offset, np.int64)
    for axis, (n, stride) in enumerate(zip(shape, strides)):
        step = np.arange(n, dtype=np.int64) * stride
        index += step.reshape((n,) + (1,) * (len(shape) - axis - 1))
    return index


def as_strided_vjp(grad, base_shape, base_strides, shape, strides, offset):
    """The gradient of the base of an as_strided view: what overlaps in the view is added, and what overlaps in the base
    shares its gradient equally."""
    if grad.size and _row_major(base_shape, base_strides) and not _overlaps(shape, strides):
        reach = offset + 1
        for n, stride in zip(shape, strides):
            reach += (n - 1) * stride
        out = np.zeros(base_shape, grad.dtype)
        if offset >= 0 and reach <= out.size:
            as_strided(out, shape, strides, offset)[...] = grad
            return out
    places, base_places, size, counts = _common_memory(base_shape, base_strides, shape, strides, offset)
    memory = np.zeros(size, grad.dtype)
    np.add.at(memory, places.reshape(-1), grad.reshape(-1))
    out = memory[base_places]
    return out if counts is None else out / counts.astype(grad.real.dtype)


def as_strided_vjp_vjp(grad, base_shape, base_strides, shape, strides, offset):
    """The transpose of as_strided_vjp."""
    places, base_places, size, counts = _common_memory(base_shape, base_strides, shape, strides, offset)
    memory = np.zeros(size, grad.dtype)
    shared = grad if counts is None else grad / counts.astype(grad.real.dtype)
    np.add.at(memory, base_places.reshape(-1), shared.reshape(-1))
    return memory[places]


def _common_memory(base_shape, base_strides, shape, strides, offset) -> tuple:
    """(places of the view, places of the base, size of the memory that holds both, how many elements of the base share
    each place or None where none do)."""
    places = strided_index(shape, strides, offset)
    base_places = strided_index(base_shape, base_strides, 0)
    low = min(places.min(initial=0), base_places.min(initial=0))
    places, base_places = places - low, base_places - low
    size = int(max(places.max(initial=0), base_places.max(initial=0)) + 1)
    counts = None
    if base_places.size and _overlaps(base_shape, base_strides):
        counts = np.bincount(base_places.reshape(-1), minlength=size)[base_places]
    return places, base_places, size, counts


def _row_major(shape, strides) -> bool:
    step = 1
    for n, stride in zip(reversed(shape), reversed(strides)):
        if n != 1 and stride != step:
            return False
        step *= n
    return True


def _overlaps(shape, strides) -> bool:
    """Whether two indices may lead to one place (the same test PyTorch makes: sort by stride and look for room)."""
    reach = 0
    for stride, n in sorted((s, n) for s, n in zip(strides, shape) if n != 1):
        if stride <= reach:
            return True
        reach += stride * (n - 1)
    return False


def pixel_shuffle(x, factor):
    """Channels turned into pixels."""
    return OPS["pixel_shuffle"].kernel(x, factor)


def pixel_unshuffle(x, factor):
    """Pixels turned into channels."""
    return OPS["pixel_unshuffle"].kernel(x, factor)


def channel_shuffle(x, groups):
    """Channels of groups by turns."""
    return OPS["channel_shuffle"].kernel(x, groups)


def digamma(x):
    """The derivative of the logarithm of the gamma function."""
    return OPS["digamma"].kernel(x)


def sigmoid(x):
    """1 / (1 + exp(−x))."""
    return OPS["sigmoid"].kernel(x)


def softmax(x, axis):
    """exp(x) divided by its sum along an axis."""
    return OPS["softmax"].kernel(x, axis)


def erf(x):
    """The error function."""
    return OPS["erf"].kernel(x)


def erfinv(x):
    """The inverse of the error function."""
    return OPS["erfinv"].kernel(x)


def fft_c2c(x, dim, normalization, forward):
    """The Fourier transform of complex numbers, divided as ops/fourier.py says, or the inverse one."""
    return OPS["_fft_c2c"].kernel(x, dim, normalization, forward)


def fft_r2c(x, dim, normalization, onesided):
    """The Fourier transform of real numbers: all of it, or the half of the last dimension that says all."""
    return OPS["_fft_r2c"].kernel(x, dim, normalization, onesided)


def fft_c2r(x, dim, normalization, size):
    """The inverse Fourier transform of half a spectrum, with `size` points in the last dimension."""
    return OPS["_fft_c2r"].kernel(x, dim, normalization, size)


def sinc_slope(x, n):
    """The n-th derivative of sinc."""
    return OPS["sinc_slope"].kernel(x, n)


def erfcx(x):
    """The error function complement times exp(x²)."""
    return OPS["special_erfcx"].kernel(x)


def lgamma(x):
    """The logarithm of the absolute value of the gamma function."""
    return OPS["lgamma"].kernel(x)


def zeta(x, q):
    """The Hurwitz zeta function."""
    return OPS["special_zeta"].kernel(x, q)


def bessel_i(n, x, scaled):
    """The modified Bessel function of the first kind of integer order n, also scaled by exp(-|x|)."""
    return OPS["bessel_i"].kernel(n, x, scaled)


def polygamma(n, x):
    """The n-th derivative of digamma."""
    return OPS["polygamma"].kernel(x, n)


index = placing.index
