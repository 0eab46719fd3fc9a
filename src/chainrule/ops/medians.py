"""Elements chosen by rank or by frequency: kthvalue, median, nanmedian, mode."""

import numpy as np

from ..core.declare import Array, op
from ..core.return_types import return_type
from ..core.tensor import wrap_dim
from ..core.vocabulary import pick_along
from . import ties
from .extremes import check_not_empty, share
from .refusal import refuse
from .signature import public
from .sorting import declare_picking, order, pair

__all__ = ["kthvalue", "median", "nanmedian", "mode"]

# --- by rank ---


def _without(a, axis: int, keepdim: bool, values, places):
    """(values, places) that were taken along an axis kept, with it or without."""
    shape = a.shape[:axis] + (1,) * keepdim + a.shape[axis + 1 :]
    return values.copy(order="C").reshape(shape), places.copy(order="C").reshape(shape)


def place_of_rank(a, k: int, axis: int):
    """The place of element number k in sorted order along an axis, which is kept; of equal elements they count in order."""
    n = a.shape[axis]
    where = (slice(None),) * axis
    if n <= 64:
        return order(a, axis)[(*where, slice(k, k + 1))]
    value = np.partition(a, k, axis=axis)[(*where, slice(k, k + 1))]
    below = a < value
    equal = a == value
    if a.dtype.kind == "f":
        missing = np.isnan(a)
        below |= ~missing & np.isnan(value)
        equal |= missing & np.isnan(value)
    rank = k - np.add.reduce(below, axis=axis, keepdims=True, dtype=np.int64)
    counted = np.add.accumulate(equal, axis=axis, dtype=np.int64)
    return np.argmax(counted > rank, axis=axis, keepdims=True)


def _kthvalue_kernel(self: Array, k: int, dim: int, keepdim: bool):
    axis = wrap_dim(dim, self.ndim)
    if self.ndim:
        check_not_empty("kthvalue", self, axis)
    n = self.shape[axis] if self.ndim else 1
    if not 1 <= k <= n:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    refuse("kthvalue_cpu", "bc", self)
    places = place_of_rank(self, k - 1, axis)
    values = pick_along(self, places, axis)
    if self.size <= ties.MOST:
        tied = np.add.reduce(ties.equal(self, values), axis=axis, dtype=np.int64) > 1
        if tied.any():
            places = np.array(places)
            ties.settle(self, places, axis, tied, lambda row: ties.kth_of(row, k - 1))
    return _without(self, axis, keepdim, values, places)


kthvalue_op = declare_picking(_kthvalue_kernel, "kthvalue", "KthvalueBackward0")
KTHVALUE = return_type("kthvalue", "values indices")


def _expect_kthvalue(target, result, input) -> None:
    if target._spec.dtype is not result._spec.dtype:
        raise RuntimeError(
            "output values must be of same type as input"
            if result._spec.dtype is input._spec.dtype
            else "output indices must be of scalar type Long"
        )


@public("kthvalue", "Tensor input, int k, int dim=-1, bool keepdim=False, *, Tensors out=None")
def kthvalue(input, k, dim=-1, keepdim=False, *, out=None):
    """The k-th smallest element along a dimension (k counts from 1) and its place, as (values, indices)."""
    results = kthvalue_op.single(input, int(k), int(dim), bool(keepdim))
    return pair("kthvalue", KTHVALUE, results, out, (input,), _expect_kthvalue)


# --- median: of an even number of elements the smaller of the two in the middle ---


def _median_place(a, axis: int):
    """The place of the median along an axis; of the first NaN where there is one."""
    places = place_of_rank(a, (a.shape[axis] - 1) // 2, axis)
    if a.dtype.kind == "f":
        missing = np.isnan(a)
        if missing.any():
            broken = missing.any(axis=axis, keepdims=True)
            places = np.where(broken, np.argmax(missing, axis=axis, keepdims=True), places)
    return places


def _nanmedian_place(a, axis: int):
    """The place of the median of what is not NaN along an axis; the first place where all are."""
    if a.dtype.kind != "f" or not (missing := np.isnan(a)).any():
        return place_of_rank(a, (a.shape[axis] - 1) // 2, axis)
    count = a.shape[axis] - np.add.reduce(missing, axis=axis, keepdims=True, dtype=np.int64)
    return pick_along(order(a, axis), np.maximum(count - 1, 0) // 2, axis)


def _declare_median(name: str, find):
    def whole(self: Array):
        if not self.size:
            return np.asarray(np.nan).astype(self.dtype)
        refuse("median_cpu", "bc", self)
        flat = self.reshape(-1)
        return flat[find(flat, 0)].reshape(())

    of_all = op(whole, name=name, node=f"{name.capitalize()}Backward0", method=False, namespace=None)

    @of_all.derivative(of="self")
    def _(xp, grad, self, result):
        chosen = xp.logical_or(self == result, xp.logical_and(xp.isnan(self), xp.isnan(result)))
        return share(xp, grad, chosen, None, False)

    def kernel(self: Array, dim: int, keepdim: bool):
        axis = wrap_dim(dim, self.ndim)
        if self.ndim:
            check_not_empty("median", self, axis)
        refuse("median_out", "bc", self)
        if not self.ndim:
            return self.copy(), np.zeros((), np.int64)
        places = find(self, axis)
        return _without(self, axis, keepdim, pick_along(self, places, axis), places)

    along = declare_picking(kernel, name, f"{name.capitalize()}Backward1")
    return of_all, along


def _expect_median(target, result, input) -> None:
    wanted, found = result._spec.dtype, target._spec.dtype
    if wanted is found:
        return
    if wanted is input._spec.dtype:
        raise RuntimeError(
            "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
            f"torch.{found.scalar_name}Tensor does not equal torch.{wanted.scalar_name}Tensor (while checking arguments "
            "for median)"
        )
    raise RuntimeError(
        "Expected tensor for argument #1 'indices' to have scalar type Long; but got "
        f"torch.{found.scalar_name}Tensor instead (while checking arguments for median)"
    )


_SIGNATURES = ("Tensor input", "Tensor input, int dim, bool keepdim=False, *, Tensors out=None")
median_of_all, median_along = _declare_median("median", _median_place)
nanmedian_of_all, nanmedian_along = _declare_median("nanmedian", _nanmedian_place)
MEDIAN = return_type("median", "values indices")
NANMEDIAN = return_type("nanmedian", "values indices")


@public("median", *_SIGNATURES)
def median(input, dim=None, keepdim=False, *, out=None):
    """The median of all elements; along a dimension with its place, as (values, indices).

    Of an even number it is the smaller one in the middle, and NaN where there is a NaN.
    """
    if dim is None:
        return median_of_all.single(input)
    results = median_along.single(input, int(dim), bool(keepdim))
    return pair("median", MEDIAN, results, out, (input,), _expect_median)


@public("nanmedian", *_SIGNATURES)
def nanmedian(input, dim=None, keepdim=False, *, out=None):
    """The median of the elements that are not NaN; along a dimension with its place, as (values, indices)."""
    if dim is None:
        return nanmedian_of_all.single(input)
    results = nanmedian_along.single(input, int(dim), bool(keepdim))
    return pair("nanmedian", NANMEDIAN, results, out, (input,), _expect_median)


# --- by frequency ---


def _last_of_most(row) -> int:
    """The place of the last of the most frequent elements, as `std::sort` orders them."""
    places = ties.sort_unstable(row)
    ranked = row[places]
    counted = np.arange(len(row))
    fresh = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    return places[np.argmax(counted - np.maximum.accumulate(np.where(fresh, counted, 0)))]


def _mode_kernel(self: Array, dim: int, keepdim: bool):
    axis = wrap_dim(dim, self.ndim)
    if self.ndim:
        check_not_empty("mode", self, axis)
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    if self.size:
        refuse("mode_cpu", "c", self)
    n = self.shape[axis]
    places = order(self, axis)
    ranked = pick_along(self, places, axis)
    along = np.moveaxis(ranked, axis, -1)
    fresh = np.ones(along.shape, bool)
    np.not_equal(along[..., 1:], along[..., :-1], out=fresh[..., 1:])
    counted = np.arange(n)
    length = counted - np.maximum.accumulate(np.where(fresh, counted, 0), axis=-1)
    # The longest run is at its longest where it ends: of the smallest value among several, at its last element.
    last = np.moveaxis(np.argmax(length, axis=-1, keepdims=True), -1, axis)
    values, found = pick_along(ranked, last, axis), pick_along(places, last, axis)
    if n > 16 and self.size <= ties.MOST:  # shorter ones PyTorch sorts with a stable algorithm
        several = np.moveaxis(length, -1, axis).max(axis=axis) > 0
        if self.dtype.kind == "f":
            several &= ~np.isnan(self).any(axis=axis)
        ties.settle(self, found, axis, several, _last_of_most)
    return _without(self, axis, keepdim, values, found)


mode_op = declare_picking(_mode_kernel, "mode", "ModeBackward0")
MODE = return_type("mode", "values indices")


def _expect_mode(target, result, input) -> None:
    wanted, found = result._spec.dtype, target._spec.dtype
    if wanted is not found:
        which = "values" if wanted is input._spec.dtype else "indices"
        raise RuntimeError(
            f"expected scalar type '{wanted.scalar_name}' but got '{found.scalar_name}' for {which} output"
        )


@public("mode", "Tensor input, int dim=-1, bool keepdim=False, *, Tensors out=None")
def mode(input, dim=-1, keepdim=False, *, out=None):
    """The most frequent value along a dimension (of several the smallest) and the last place where it stands, as
    (values, indices)."""
    results = mode_op.single(input, int(dim), bool(keepdim))
    return pair("mode", MODE, results, out, (input,), _expect_mode)
