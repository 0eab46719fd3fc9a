"""The vocabulary over Tensors: what a derivative formula calls under create_graph.

Every name of core/vocabulary.py stands here with the same parameters; a test holds the two lists equal. Functions whose
parameters agree with the operation of the same name are taken from it, the others are adapted below.
"""

import math
import sys

import numpy as np

from ..core import dtype as dtypes
from ..core import engine, vocabulary
from ..core.registry import FUNCTIONS, OPS
from ..core.tensor import wrap

_SAME = {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", "divide": "div", "equal": "eq", "greater": "gt", "greater_equal": "ge", "less": "lt",
    "less_equal": "le", "not_equal": "ne", "power": "pow", "rint": "round",
}  # fmt: skip


def __getattr__(name):
    """Functions that need no adapting: the operation of the same name (or of PyTorch's name for it)."""
    if name.startswith("_") or not hasattr(vocabulary, name):
        raise AttributeError(name)
    function = FUNCTIONS["torch"].get(_SAME.get(name, name))
    if function is None and name in OPS:
        function = OPS[name].function
    if function is None:
        raise NotImplementedError(f"chainrule has no differentiable {name}: a formula under create_graph asked for it")
    globals()[name] = function
    return function


def _call(name, *args, **kwargs):
    return OPS[name].function(*args, **kwargs) if name in OPS else FUNCTIONS["torch"][name](*args, **kwargs)


def conj(x):
    return _call("conj", x) if x.is_complex() else x


def real(x):
    return _call("real", x) if x.is_complex() else x


def floor_divide(x, y):
    return _call("div", x, y, rounding_mode="floor")


def select(mask, x):
    return _call("where", mask, x, 0)


def sum(x, axis=None, keepdims=False):
    return _call("sum", x) if axis is None and not keepdims else _call("sum", x, _axes(axis, x), keepdims)


def _axes(axis, x):
    return tuple(range(x.ndim)) if axis is None else axis


def amax(x, axis=None, keepdims=False):
    return _call("amax", x, _axes(axis, x), keepdims)


def expand_dims(x, axis):
    for a in sorted(axis) if isinstance(axis, tuple) else (axis,):
        x = _call("unsqueeze", x, a)
    return x


def broadcast_to(x, shape):
    return _call("expand", x, shape)


def filled(x, shape):
    return _call("expand", x, shape)


def transpose(x, axes=None):
    return _call("permute", x, tuple(reversed(range(x.ndim))) if axes is None else axes)


def concatenate(arrays, axis=0):
    return _call("cat", arrays, axis)


def astype(x, dtype):
    return x.to(dtype if isinstance(dtype, dtypes.dtype) else dtypes.of(np.dtype(dtype)))


def zeros(shape, like):
    return wrap(np.zeros(shape, like._spec.array_dtype))


def zeros_of(spec):
    return wrap(vocabulary.zeros_of(spec))


def zeros_like(x):
    return wrap(np.zeros(x._spec.shape, x._spec.array_dtype))


def ones_like(x):
    return wrap(np.ones(x._spec.shape, x._spec.array_dtype))


def constant(x):
    return wrap(_array(x))


def is_complex(x) -> bool:
    return x._spec.dtype.is_complex


def any_zero(x) -> bool:
    return vocabulary.any_zero(x._array)


def take_along_axis(x, index, axis):
    return FUNCTIONS["torch"]["gather"](x, axis, constant(_array(index)))


def pick_along(x, places, axis):
    return _call("pick_along", x, _array(places), axis)


def put_along(x, places, axis, shape):
    return _call("put_along", x, _array(places), axis, tuple(shape))


def add_along(x, places, axis, shape):
    return _call("add_along", x, _array(places), axis, tuple(shape))


def attend_vjp(grad, query, key, value, attention):
    scores = _call("matmul", query * attention.scale, key.transpose(-2, -1))
    if attention.bias is not None:
        scores = scores + wrap(attention.bias)
    weights = _call("softmax", scores, -1)
    if attention.alive is not None:
        weights = _call("where", wrap(attention.alive), weights, 0)
    slope = _call("matmul", grad, value.transpose(-2, -1))
    slope = weights * (slope - sum(slope * weights, -1, True)) * attention.scale
    return (
        _call("matmul", slope, key),
        _call("matmul", slope.transpose(-2, -1), query),
        _call("matmul", weights.transpose(-2, -1), grad),
    )


def _moments(x, moments) -> tuple:
    """x in the shape in which it is looked at, less its mean, and the reciprocal of its deviation."""
    x = _call("reshape", x, moments.shape)
    if moments.fixed:
        return x - wrap(moments.mean) if moments.centred else x, wrap(moments.rstd)
    if moments.centred:
        x = x - _call("mean", x, moments.axes, True)
    return x, (_call("mean", x * x, moments.axes, True) + moments.eps) ** -0.5


def standardized(x, moments):
    off, rstd = _moments(x, moments)
    return _call("reshape", off * rstd, x.shape)


def standardized_weight_vjp(grad, x, moments, shape):
    product = _call("reshape", grad * standardized(x, moments), moments.shape)
    return _call("reshape", sum(product, 0 if len(moments.shape) == 2 else (0, 2)), tuple(shape))


def standardized_vjp(grad, x, moments, weight=None):
    off, rstd = _moments(x, moments)
    grad = _call("reshape", grad, moments.shape)
    if weight is not None:
        grad = grad * weight
    if not moments.fixed:
        hat = off * rstd
        hat = hat * _call("mean", grad * hat, moments.axes, True)
        grad = grad - (hat + _call("mean", grad, moments.axes, True) if moments.centred else hat)
    return _call("reshape", grad * rstd, x.shape)


def clip(x, low, high):
    return _call("clamp_by_numbers", x, low, high)


def scaled_difference(x, y, factor, bound=None):
    off = x - y
    return (off if bound is None else clip(off, -bound, bound)) * factor


def put_flat(x, places, shape):
    return _accumulated(x, places, tuple(shape))


def _accumulated(x, places, shape):
    from .gathering import Index

    found = _call("accumulate", _call("reshape", x, (-1,)), (math.prod(shape),), Index((_array(places).reshape(-1),)))
    return _call("reshape", found, shape)


def softmax_vjp(grad, result, axis):
    weighted = grad * result
    return weighted - result * sum(weighted, axis, True)


def log_softmax_vjp(grad, result, axis):
    return grad - _call("exp", result) * sum(grad, axis, True)


def cross_entropy_vjp(shares, logs, places, axis):
    shares = broadcast_to(shares, places.shape)
    return _call("softmax", logs, axis) * expand_dims(shares, axis) - put_flat(shares, places, logs.shape)


def gather_planes(x, places, dims):
    return _call("gather_planes", x, _array(places), dims)


def scatter_planes(x, places, sizes, distinct):
    return _call("scatter_planes", x, _array(places), sizes, distinct)


def cumsum_back(x, axis):
    flip = FUNCTIONS["torch"]["flip"]
    return flip(FUNCTIONS["torch"]["cumsum"](flip(x, (axis,)), axis), (axis,))


def fft_c2c(x, dim, normalization, forward):
    return OPS["_fft_c2c"].general(x, dim, normalization, forward)


def fft_r2c(x, dim, normalization, onesided):
    return OPS["_fft_r2c"].general(x, dim, normalization, onesided)


def fft_c2r(x, dim, normalization, size):
    return OPS["_fft_c2r"].general(x, dim, normalization, size)


def sinc_slope(x, n):
    return OPS["sinc_slope"].general(x, n)


def erfcx(x):
    return _call("special_erfcx", x)


def zeta(x, q):
    return _call("special_zeta", x, q)


def bessel_i(n, x, scaled):
    return OPS["bessel_i"].general(n, x, scaled)


def grid_neighbours(grid, sizes, mode, padding, align_corners):
    return vocabulary.grid_neighbours(grid._array, sizes, mode, padding, align_corners)


def _array(places):
    """Places as an array: a saved result comes as a Tensor."""
    return getattr(places, "_array", places)


def sum_to(grad, shape):
    shape = tuple(shape)
    extra = grad.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and grad.shape[i + extra] != 1)
    if axes:
        grad = sum(grad, axes, True)
    return _call("reshape", grad, shape) if tuple(grad.shape) != shape else grad


def fit(grad, spec):
    """A gradient as its input needs it; see vocabulary.fit."""
    if grad is None:
        return None
    if grad._spec.shape != spec.shape:
        grad = sum_to(grad, spec.shape)
    if grad._spec.dtype is not spec.dtype:
        if grad._spec.dtype.is_complex and not spec.dtype.is_complex:
            grad = _call("real", grad)
        grad = grad.to(spec.dtype)
    return grad


def inv(x):
    return OPS["linalg_inv_ex"].single(x)


def adjugate(x):
    n = x.shape[-1]
    if n == 0:
        return zeros_like(x)
    det = OPS["linalg_det"].single(x)
    largest = float(np.abs(x._array).max(initial=1.0))
    if bool((np.abs(det._array) > 1e-8 * largest**n).all()):
        return _call("unsqueeze", _call("unsqueeze", det, -1), -1) * inv(x)
    # Of singular matrices: element (j, i) is the determinant without row i and column j, with alternating signs.
    if n == 1:
        return ones_like(x)
    others = np.array([[k for k in range(n) if k != i] for i in range(n)])
    rows, columns = others[:, None, :, None], others[None, :, None, :]
    minors = OPS["linalg_det"].single(
        x[
            (
                ...,
                wrap(np.broadcast_to(rows, (n, n, n - 1, n - 1)).copy()),
                wrap(np.broadcast_to(columns, (n, n, n - 1, n - 1)).copy()),
            )
        ]
    )
    signs = wrap(np.where(np.add.outer(np.arange(n), np.arange(n)) % 2, -1, 1).astype(x._spec.array_dtype))
    return _call("transpose", minors * signs, -1, -2)


def solve(x, y, left=True):
    return OPS["linalg_solve_ex"].single(x, y, left)


def solve_triangular(x, y, upper, left, unit):
    return OPS["linalg_solve_triangular"].single(x, y, upper, left, unit)


def svd(x):
    return OPS["linalg_svd"].general(x, False)


def eye_like(x, rows, columns):
    return wrap(np.eye(rows, columns, dtype=x._spec.array_dtype))


def pivot_matrix(pivots, rows, like):
    return wrap(vocabulary.pivot_matrix(_array(pivots), rows, like._array))


def all_small(x, bound) -> bool:
    return vocabulary.all_small(x._array, bound)


def pinv(x):
    return FUNCTIONS["linalg"]["pinv"](x)


def cross(x, y, dim):
    return OPS["linalg_cross"].general(x, y, dim)


engine.differentiable = sys.modules[__name__]
