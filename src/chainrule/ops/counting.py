"""Counting into bins: bincount, histc, histogram, histogramdd. PyTorch has no derivative of them."""

import math

import numpy as np

from ..core.declare import Array, _no_derivative, _show_no_derivative, op
from ..core.dtype import of
from ..core.outputs import check_out, refuse_out_gradient, write_out
from ..core.registry import FUNCTIONS
from ..core.return_types import return_type
from ..core.tensor import wrap
from .refusal import not_implemented, refuse
from .signature import public
from .sorting import pair

__all__ = ["bincount", "histc", "histogram", "histogramdd"]


def _refuse_derivative(operation, *inputs: str) -> None:
    """Let an operation have PyTorch's node for what it cannot differentiate."""
    for name in inputs:
        operation.derivative(of=name)(_no_derivative(operation.name))
    _show_no_derivative(operation.node_type)


# --- bincount ---


@op(name="bincount", method=False, namespace=None)
def bincount_op(self: Array, weights: Array | None, minlength: int):
    refuse("bincount_cpu", "fcb", self)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim == 1 and not self.size:
        return np.zeros(minlength, np.int64)
    if self.ndim != 1 or self.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return np.bincount(self, minlength=minlength)
    if weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    counts = np.bincount(self, weights.astype(np.float64), minlength)
    return counts.astype(np.float32) if weights.dtype == np.float32 else counts


_refuse_derivative(bincount_op, "weights")


@public("bincount", "Tensor input, Tensor? weights=None, int minlength=0")
def bincount(input, weights=None, minlength=0):
    """How often each value occurs among non-negative integers in one dimension, int64; with weights their sums, float32
    for float32 weights and float64 for others. Raises RuntimeError for negative values and other shapes."""
    return bincount_op.single(input, weights, int(minlength))


# --- bins ---


def _edges(low, high, bins: int, dtype):
    refuse("linspace_cpu", "b", np.empty(0, dtype))
    return FUNCTIONS["torch"]["linspace"](float(low), float(high), bins + 1, dtype=of(dtype))._array


def _number(value: float) -> str:
    return f"{value:g}"


def _check_bins(counts) -> None:
    for i, n in enumerate(counts):
        if n <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {n} for dimension {i}")


def _even_bins(values, low, high, bins: int):
    """The number of the bin of each value among bins of one width; -1 outside of all. The last one has both its ends."""
    inside = (values >= low) & (values <= high)
    with np.errstate(all="ignore"):
        place = (values - low) * values.dtype.type(bins) / values.dtype.type(high - low)
        place = np.where(inside, place, 0).astype(np.int64)
    return np.where(inside, np.minimum(place, bins - 1), -1)


def _bins_between(values, edges):
    """The number of the bin of each value between given edges; -1 outside of all. The last bin has both its ends."""
    bins = len(edges) - 1
    inside = (values >= edges[0]) & (values <= edges[-1])
    place = np.searchsorted(edges, values, "right") - 1
    return np.where(inside, np.minimum(place, bins - 1), -1)


def _histogram(places, counts: tuple, weight, dtype):
    """How many values, or how much weight, lie in each bin of several dimensions; places has a row per dimension."""
    shape = tuple(counts)
    size = math.prod(shape)
    flat = np.zeros(places.shape[1], np.int64)
    for row, n in zip(places, shape):
        flat = flat * n + row
    kept = (places >= 0).all(axis=0)
    chosen = None if weight is None else weight.reshape(-1)[kept].astype(np.float64)
    return np.bincount(flat[kept], chosen, size).astype(dtype).reshape(shape)


# --- histc ---


@op(name="histc", method=False, namespace=None)
def histc_op(self: Array, bins: int, min, max):
    refuse("linspace_cpu", "b", self)
    _check_bins((bins,))
    low, high = float(min), float(max)
    if low == high and self.size:
        refuse("aminmax_cpu", "c", self)
        low, high = float(self.min()), float(self.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{_number(low)}, {_number(high)}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    refuse("histogram_cpu", "iuc", self)
    if low == high:
        low, high = low - 1, high + 1
    low, high = self.dtype.type(low), self.dtype.type(high)
    places = _even_bins(self.reshape(-1), low, high, bins)
    return _histogram(places[None], (bins,), None, self.dtype)


@public("histc", "Tensor input, int bins=100, Number min=0, Number max=0, *, Tensor out=None")
def histc(input, bins=100, min=0, max=0, *, out=None):
    """How many elements lie in each of `bins` equal bins between min and max, or between the extremes of input where
    min equals max; in the dtype of input, which is floating."""
    result = wrap(np.asarray(histc_op.single(input.detach(), int(bins), min, max)._array))
    if out is None:
        return result
    refuse_out_gradient("histc", (), (out,))
    check_out("histc", out, result._spec.dtype)
    write_out(out, result._array)
    return out


# --- histogram ---


def _outer_edges(rows, bounds, dims: int):
    """(lowest, highest) edge of each dimension; RuntimeError where a range makes no sense."""
    who = "torch.histogramdd: "
    if bounds is not None:
        if len(bounds) != 2 * dims:
            raise RuntimeError(
                f"{who}for a {dims}-dimensional histogram range should have {2 * dims} elements, but got {len(bounds)}"
            )
        pairs = [(float(bounds[2 * i]), float(bounds[2 * i + 1])) for i in range(dims)]
    elif len(rows):
        pairs = [(float(c.min()), float(c.max())) for c in rows.T]
    else:
        pairs = [(0.0, 1.0)] * dims
    found = []
    for i, (low, high) in enumerate(pairs):
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"{who}dimension {i}'s range [{_number(low)}, {_number(high)}] is not finite")
        if low > high:
            raise RuntimeError(
                f"{who}min should not exceed max, but got min {_number(low)} max {_number(high)} for dimension {i}"
            )
        found.append((low - 0.5, high + 0.5) if low == high else (low, high))
    return found


def _check_weight(array, weight, shape) -> None:
    if weight is None:
        return
    if weight.dtype is not array.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, "
            f"but got input({of(array.dtype).cpp_name}), and weight({of(weight.dtype).cpp_name})"
        )
    if weight.shape != array.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding "
            f"its innermost dimension, but got input with shape {list(array.shape)} and weight with shape {list(shape)}"
        )


def _check_edges(array, bins) -> None:
    who = "torch.histogramdd: "
    if len(bins) != array.shape[-1]:
        raise RuntimeError(
            f"{who}expected {array.shape[-1]} sequences of bin edges for a {array.shape[-1]}-dimensional histogram but got "
            f"{len(bins)}"
        )
    for i, b in enumerate(bins):
        if b.dtype is not array.dtype:
            raise RuntimeError(
                f"{who}input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{of(array.dtype).cpp_name} and bins for dimension {i} with dtype {of(b.dtype).cpp_name}"
            )
        if b.ndim != 1:
            raise RuntimeError(
                f"{who}bins tensor should have one dimension, but got {b.ndim} dimensions in the bins tensor for dimension {i}"
            )
        if not b.size:
            raise RuntimeError(
                f"{who}bins tensor should have at least 1 element, but got 0 elements in the bins tensor for dimension {i}"
            )


def _counted(array, weight, edges, density: bool):
    """The histogram of the vectors in the last dimension over bins between these edges."""
    refuse("histogram_cpu", "biuc", array)
    rows = array.reshape(-1, array.shape[-1])
    places = np.stack([_bins_between(c, e) for c, e in zip(rows.T, edges)])
    found = _histogram(places, tuple(len(e) - 1 for e in edges), weight, array.dtype)
    if density:
        found = found / np.add.reduce(found, axis=None)
        for i, e in enumerate(edges):
            found = found / np.diff(e).reshape((-1,) + (1,) * (len(edges) - i - 1))
    return found


def _bins_kernel(array, weight, bins, bounds, density: bool):
    """(histogram, edges of each dimension) for numbers of bins, or for given edges."""
    dims = array.shape[-1]
    if bins and isinstance(bins[0], np.ndarray):
        _check_edges(array, bins)
        _check_bins([len(b) - 1 for b in bins])
        edges = list(bins)
    else:
        _check_bins(bins)
        rows = array.reshape(-1, dims)
        if bounds is None and array.size and (array.dtype.kind != "f" or array.dtype.itemsize == 2):
            raise not_implemented("histogramdd", array)
        edges = [_edges(low, high, n, array.dtype) for (low, high), n in zip(_outer_edges(rows, bounds, dims), bins)]
    return _counted(array, weight, edges, density), edges


@op(name="histogram", method=False, namespace=None)
def histogram_op(self: Array, weight: Array | None, bins: Array | None, count, bounds, density: bool):
    column = self.reshape(-1, 1)
    _check_weight(column, None if weight is None else weight.reshape(-1), ())
    given = (count,) if bins is None else [bins]
    found, edges = _bins_kernel(column, weight, given, bounds, density)
    return found, edges[0].copy()


_refuse_derivative(histogram_op, "self", "weight")
HISTOGRAM = return_type("histogram", "hist bin_edges")


@public(
    "histogram",
    "Tensor input, Tensor bins, *, Tensor? weight=None, bool density=False, Tensors out=None",
    "Tensor input, int bins=100, *, floats? range=None, Tensor? weight=None, bool density=False, Tensors out=None",
)
def histogram(input, bins=100, *, range=None, weight=None, density=False, out=None):
    """How many elements (how much weight) lie in each bin, and the edges of the bins, as (hist, bin_edges).

    bins: their number, over `range` or from the smallest to the largest element, or a 1-dim tensor of edges. With density
    the integral over all bins is 1. input is float32 or float64, and the results have its dtype.
    """
    edges = bins if isinstance(bins, type(input)) and bins._spec.ndim else None
    count = None if edges is not None else int(bins)
    results = histogram_op.single(input, weight, edges, count, range, bool(density))
    return pair("histogram", HISTOGRAM, results, out, (input,))


@op(name="_histogramdd_from_bin_cts", method=False, namespace=None)
def histogramdd_op(self: Array, weight: Array | None, bins, bounds, density: bool):
    if not self.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    if self.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    _check_weight(self, weight, () if weight is None else weight.shape)
    found, edges = _bins_kernel(self, weight, bins, bounds, density)
    return (found, *(e.copy() for e in edges))


_refuse_derivative(histogramdd_op, "self", "weight")
HISTOGRAMDD = return_type("histogramdd", "hist bin_edges")
_MORE = "floats? range=None, Tensor? weight=None, bool density=False"


@public(
    "histogramdd",
    f"Tensor input, int bins, {_MORE}",
    f"Tensor input, ints bins, {_MORE}",
    f"Tensor input, Tensors bins, {_MORE}",
    method=False,
)
def histogramdd(input, bins, range=None, weight=None, density=False):
    """The histogram of vectors in the last dimension of input, as (hist, bin_edges): one dimension and one tuple of edges
    per component. bins: a number for all, a number each, or 1-dim tensors of edges."""
    dims = input._spec.shape[-1] if input._spec.ndim else 0
    if not isinstance(bins, (tuple, list)):
        given = (int(bins),) * dims
    elif bins and isinstance(bins[0], type(input)):
        given = tuple(b._array for b in bins)
    else:
        given = tuple(map(int, bins))
        if len(given) != dims:
            raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    found, *edges = histogramdd_op.single(input, weight, given, range, bool(density))
    return HISTOGRAMDD((found, tuple(edges)))
