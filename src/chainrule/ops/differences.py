"""Differences and integrals along a dimension: diff, gradient, trapezoid, cumulative_trapezoid; made of other operations."""

import numpy as np

from ..core.dtype import bool_, uint8
from ..core.tensor import Tensor, wrap, wrap_dim
from .creation import empty_like
from .cumulative import cumsum
from .joining import cat
from .reduction import into
from .scaling import divide, scale
from .signature import public

__all__ = ["diff", "trapezoid", "trapz", "cumulative_trapezoid", "gradient"]


def _span(x, axis: int, start: int, stop: int):
    """x[start:stop] along an axis; stop counts from the end."""
    n = x._spec.shape[axis]
    return x.narrow(axis, min(start, n), max(n + stop - start, 0))


# --- diff ---


def _check_beside(input, other, axis: int) -> None:
    """RuntimeError where a tensor cannot stand before or behind the input."""
    if other._spec.ndim != input._spec.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for i, (n, m) in enumerate(zip(input._spec.shape, other._spec.shape)):
        if n != m and i != axis:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({i}) = {n}, but got tensor.size({i}) = {m}"
            )


@public("diff", "Tensor input, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, Tensor out=None")
def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """The n-th differences of neighbours along a dimension, with what is to stand before and behind; of bools whether
    they differ."""
    if input._spec.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    axis = wrap_dim(dim, input._spec.ndim)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    beside = [p for p in (prepend, append) if p is not None]
    for p in beside:
        _check_beside(input, p, axis)
    result = input
    if beside and n:
        result = cat([p for p in (prepend, input, append) if p is not None], axis)
    for _ in range(min(int(n), result._spec.shape[axis])):
        late, early = _span(result, axis, 1, 0), _span(result, axis, 0, -1)
        result = late.logical_xor(early) if late._spec.dtype is bool_ else late - early
    if n == 0:
        result = empty_like(input).copy_(input)
    return result if out is None else into("diff", out, (input, *beside), result)


# --- integrals ---


def _steps(name: str, y, x, dim: int):
    """The distances between sample points, which x gives along one dimension of y."""
    if bool_ in (y._spec.dtype, x._spec.dtype):
        raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    if not y._spec.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    axis = wrap_dim(dim, y._spec.ndim)
    if x._spec.ndim == 1:
        if x._spec.shape[0] != y._spec.shape[axis]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = x.view((1,) * axis + (-1,) + (1,) * (y._spec.ndim - axis - 1))
    elif x._spec.ndim < y._spec.ndim:
        x = x.view((1,) * (y._spec.ndim - x._spec.ndim) + x._spec.shape)
    along = axis - y._spec.ndim + x._spec.ndim
    return _span(x, along, 1, 0) - _span(x, along, 0, -1)


def _check_step(name: str, y, dx) -> None:
    if y._spec.dtype is bool_:
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if isinstance(dx, (bool, complex)) or isinstance(dx, Tensor) and (dx.is_complex() or dx._spec.dtype is bool_):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


def _neighbours(y, dim: int):
    """The sums of neighbours along a dimension."""
    if not y._spec.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    axis = wrap_dim(dim, y._spec.ndim)
    return _span(y, axis, 0, -1) + _span(y, axis, 1, 0), axis


def _trapezoid(y, x, dx, dim):
    name = "trapezoid"
    dim = int(dim)
    ndim = y._spec.ndim
    if ndim and not y._spec.shape[axis := wrap_dim(dim, ndim)]:
        kept = y._spec.shape[:axis] + y._spec.shape[axis + 1 :]
        return wrap(np.zeros(kept, y._spec.array_dtype))
    if x is not None:
        steps = _steps(name, y, x, dim)
        sums, axis = _neighbours(y, dim)
        return divide((sums * steps).sum(axis), 2.0)
    _check_step(name, y, dx)
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return scale(y.sum(dim) - scale(y.select(dim, 0) + y.select(dim, -1), 0.5), dx)


_WITH_X = "Tensor y, Tensor x, *, int dim=-1"
_WITH_DX = "Tensor y, *, Number dx=1, int dim=-1"


@public("trapezoid", _WITH_X, _WITH_DX, method=False)
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral of y along a dimension by the trapezoidal rule, at points x or in steps of dx.

    x is 1-dim, or broadcasts with y. Raises RuntimeError for bools.
    """
    return _trapezoid(y, x, dx, dim)


@public("trapz", "Tensor y, *, float dx=1, int dim=-1", _WITH_X, method=False)
def trapz(y, x=None, *, dx=1.0, dim=-1):
    """The integral of y along a dimension by the trapezoidal rule; see trapezoid."""
    return _trapezoid(y, x, dx, dim)


@public("cumulative_trapezoid", _WITH_X, _WITH_DX, method=False)
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The running integral of y along a dimension by the trapezoidal rule, one element less than y has."""
    name = "cumulative_trapezoid"
    if x is not None:
        steps = _steps(name, y, x, int(dim))
        sums, axis = _neighbours(y, int(dim))
        return divide(cumsum(sums * steps, axis), 2.0)
    _check_step(name, y, dx)
    sums, axis = _neighbours(y, int(dim))
    return cumsum(scale(sums, dx / 2.0), axis)


# --- gradient ---


def _check_gradient(input, spacing, dims, edge_order: int) -> tuple:
    """The dimensions, counted from the front; RuntimeError where the arguments do not go together."""
    who = "torch.gradient "
    ndim = input._spec.ndim
    if input._spec.dtype is uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if isinstance(spacing, (tuple, list)):
        if dims is None and len(spacing) != ndim:
            raise RuntimeError(
                f"{who}expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = {ndim}', "
                f"since dim argument was not given, but got a list of length {len(spacing)}"
            )
        if dims is not None and len(spacing) != len(dims):
            raise RuntimeError(
                f"{who}expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same "
                f"length, but got a spacing argument of length {len(spacing)} and a dim argument of length {len(dims)}."
            )
    if edge_order not in (1, 2):
        raise RuntimeError(f"{who}only supports edge_order=1 and edge_order=2.")
    if dims is None:
        axes = tuple(range(ndim))
    else:
        axes = tuple(wrap_dim(int(d), ndim) for d in dims)
        for axis in axes:
            if axes.count(axis) > 1:
                raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
    if axes and not ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    if any(input._spec.shape[a] < edge_order + 1 for a in axes):
        raise RuntimeError(f"{who}expected each dimension size to be at least edge_order+1")
    return axes


def _even(x, axis: int, step, edge_order: int):
    """The derivative along an axis with equally spaced points."""
    inner = divide(divide(_span(x, axis, 2, 0) - _span(x, axis, 0, -2), step), 2)
    n = x._spec.shape[axis]

    def at(i):
        return x.narrow(axis, i, 1)

    if edge_order == 1:
        first, last = divide(at(1) - at(0), step), divide(at(n - 1) - at(n - 2), step)
    else:
        first = divide(divide(at(1) * 4 - at(0) * 3 - at(2), step), 2)
        last = divide(divide(at(n - 1) * 3 - at(n - 2) * 4 + at(n - 3), step), 2)
    return cat([first, inner, last], axis)


def _uneven(x, axis: int, points, edge_order: int):
    """The derivative along an axis at given points, of second order inside (the parabola through three points)."""
    if points._spec.ndim != 1:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension, but got an element with "
            f"{points._spec.ndim} dimensions!"
        )
    gaps = diff(points)
    n, steps = x._spec.shape[axis], gaps._spec.shape[0]
    before, after = _span(gaps, 0, 0, -1), _span(gaps, 0, 1, 0)
    shape = (-1,) + (1,) * (x._spec.ndim - axis - 1)

    def along(values):
        return values.view(shape)

    left = along(-after / (before * (before + after)))
    middle = along((after - before) / (before * after))
    right = along(before / (after * (before + after)))
    inner = left * _span(x, axis, 0, -2) + middle * _span(x, axis, 1, -1) + right * _span(x, axis, 2, 0)

    def at(i):
        return x.narrow(axis, i, 1)

    if edge_order == 1:
        first = (at(1) - at(0)) / gaps.select(0, 0)
        last = (at(n - 1) - at(n - 2)) / gaps.select(0, steps - 1)
    else:
        first = _edge(at(0), at(1), at(2), gaps.select(0, 0), gaps.select(0, 1))
        last = -_edge(at(n - 1), at(n - 2), at(n - 3), gaps.select(0, steps - 1), gaps.select(0, steps - 2))
    return cat([first, inner, last], axis)


def _edge(a, b, c, near, far):
    """The derivative at the end of a parabola through three values with these gaps, away from that end."""
    both = near + far
    return a * (-(near + both) / (near * both)) + b * (both / (near * far)) + c * (-near / (far * both))


_ORDER = "int edge_order=1"


@public(
    "gradient",
    f"Tensor input, *, ints dim, {_ORDER}",
    f"Tensor input, *, Number spacing, ints dim, {_ORDER}",
    f"Tensor input, *, Number? spacing=None, int? dim=None, {_ORDER}",
    f"Tensor input, *, Numbers spacing, int? dim=None, {_ORDER}",
    f"Tensor input, *, Numbers spacing, ints dim, {_ORDER}",
    f"Tensor input, *, Tensors spacing, int? dim=None, {_ORDER}",
    f"Tensor input, *, Tensors spacing, ints dim, {_ORDER}",
    method=False,
)
def gradient(input, *, spacing=None, dim=None, edge_order=1):
    """The derivatives of sampled values along dimensions (all by default), a tuple: central differences inside, one-sided
    ones of order edge_order (1 or 2) at the ends. spacing: a step, a step per dimension, or 1-dim points per dimension."""
    dims = None if dim is None else tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    axes = _check_gradient(input, spacing, dims, edge_order)
    if spacing is None:
        spacing = 1
    steps = spacing if isinstance(spacing, (tuple, list)) else (spacing,) * len(axes)
    several = isinstance(spacing, (tuple, list)) and len(spacing) > 0 and isinstance(spacing[0], Tensor)
    derive = _uneven if several else _even
    return tuple(derive(input, axis, step, edge_order) for axis, step in zip(axes, steps))
