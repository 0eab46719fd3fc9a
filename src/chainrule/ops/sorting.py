"""Sorting along a dimension: sort, argsort, msort, topk. NaN counts as larger than every number.

Elements that are equal keep their order in a sorted tensor, also where PyTorch leaves it open; topk names the same ones of
them as PyTorch.
"""

import numpy as np

from ..core.declare import Array, op
from ..core.dtype import of
from ..core.outputs import refuse_out_gradient, write_out
from ..core.return_types import return_type
from ..core.tensor import wrap_dim
from ..core.vocabulary import pick_along
from . import ties
from .extremes import named_results
from .picking import show_saved
from .reduction import into
from .signature import public

__all__ = ["order", "sort", "argsort", "msort", "topk", "declare_picking", "pair"]

# --- kernels ---


def order(a, axis: int, descending: bool = False):
    """The places that sort an array along an axis; equal elements stay in order."""
    if not descending:
        return _ascending(a, axis)
    back = (slice(None),) * (axis % a.ndim) + (slice(None, None, -1),)
    return np.subtract(a.shape[axis] - 1, _ascending(a[back], axis)[back])


def _ascending(a, axis: int):
    if a.shape[axis] < QUICK or a.dtype.kind == "f" and a.itemsize == 2 or a.itemsize == 1:
        return a.argsort(axis, "stable")
    # NumPy's vectorised sort is several times faster, but leaves equal elements in any order.
    places = np.argsort(a, axis=axis)
    values = pick_along(a, places, axis)
    along, moved = np.moveaxis(values, axis, -1), np.moveaxis(places, axis, -1)
    tied = along[..., 1:] == along[..., :-1]
    if a.dtype.kind == "f":
        tied |= np.isnan(along[..., :-1])
    if np.add.reduce(tied, axis=None) * 8 > tied.size:
        return np.argsort(a, axis=axis, kind="stable")
    if tied.any():
        # Elements of one run of equals get the run's number; sorting by (run, place) puts each run in order.
        for row in zip(*np.nonzero(tied.any(-1))) if tied.ndim > 1 else ((),):
            _order_runs(moved[row], tied[row])
    return places


QUICK = 4096


def _order_runs(places, tied) -> None:
    """Sort the places of each run of equal elements, in place."""
    edges = np.flatnonzero(np.diff(tied.astype(np.int8), prepend=0, append=0))
    for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist()):
        places[start : stop + 1].sort()


def _laid_out_like(a, results):
    """Results in the memory layout of the operand, where that has no gaps."""
    if a.flags.c_contiguous or any(s <= 0 for s in a.strides):
        return results
    laid = tuple(np.empty_like(a, dtype=r.dtype) for r in results)
    for to, r in zip(laid, results):
        to[...] = r
    return laid


def _sorted(a, dim: int, descending: bool):
    """(values, places) of an array sorted along a dimension."""
    axis = wrap_dim(dim, a.ndim)
    if a.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    if not a.ndim:
        return a.copy(), np.zeros((), np.int64)
    places = order(a, axis, descending)
    return _laid_out_like(a, (pick_along(a, places, axis), places))


# --- sort ---


def declare_picking(kernel, name: str, node: str):
    """An operation whose kernel gives (values, indices), an index for each value, no two the same along `dim`; where it
    has a parameter `keepdim`, there is one index for each slice."""
    operation = op(kernel, name=node.removesuffix("Backward" + node[-1]) + node[-1], node=node,
                   nondifferentiable_outputs=(1,), method=False, namespace=None)  # fmt: skip
    if "keepdim" in operation.params:

        @operation.derivative(of="self")
        def _(xp, grad, self_shape, dim, keepdim, result1):
            axis = dim % len(self_shape) if self_shape else 0
            if not keepdim and self_shape:
                grad, result1 = xp.expand_dims(grad, axis), xp.expand_dims(result1, axis)
            return xp.put_along(grad, result1, axis, self_shape)

    else:

        @operation.derivative(of="self")
        def _(xp, grad, self_shape, dim, result1):
            return xp.put_along(grad, result1, dim % len(self_shape) if self_shape else 0, self_shape)

    show_saved(operation, result1="indices", self_shape="self_sym_sizes")
    operation.name = name
    return operation


def _sort_kernel(self: Array, dim: int, descending: bool):
    return _sorted(self, dim, descending)


sort_by_default = declare_picking(_sort_kernel, "sort", "SortBackward0")
sort_stable = declare_picking(_sort_kernel, "sort", "SortBackward1")
SORT = return_type("sort", "values indices")
_INT64 = np.dtype(np.int64)


def expect_out(target, array) -> None:
    """RuntimeError where a tensor given as `out=` has not the dtype of the result."""
    wanted, found = of(array.dtype), target._spec.dtype
    if wanted is not found:
        raise RuntimeError(f"Expected out tensor to have dtype {wanted.cpp_name}, but got {found.cpp_name} instead")


def pair(name: str, kind, results, out, inputs=(), expect=None):
    """A pair of results under their names, or written into `out`, a pair of tensors; `expect` looks at those first."""
    if out is None:
        return kind(results)
    if len(out) != 2:
        raise TypeError(f"expected tuple of 2 elements but got {len(out)}")
    refuse_out_gradient(name, inputs, out)
    for target, result in zip(out, results):
        if expect is None:
            expect_out(target, result._array)
        else:
            expect(target, result, inputs[0])
    return named_results(name, kind, results, out, inputs)


@public(
    "sort",
    "Tensor input, *, bool? stable, int dim=-1, bool descending=False, Tensors out=None",
    "Tensor input, int dim=-1, bool descending=False, *, Tensors out=None",
)
def sort(input, dim=-1, descending=False, *, stable=_INT64, out=None):
    """input sorted along a dimension, and the places where the values were, as (values, indices).

    NaN counts as the largest value. Raises RuntimeError for complex tensors.
    """
    operation = sort_by_default if stable is _INT64 else sort_stable
    return pair("sort", SORT, operation.single(input, int(dim), bool(descending)), out, (input,))


@op(name="argsort", method=False, namespace=None)
def argsort_op(self: Array, dim: int, descending: bool):
    return _sorted(self, dim, descending)[1]


@public(
    "argsort",
    "Tensor input, *, bool stable, int dim=-1, bool descending=False, Tensor out=None",
    "Tensor input, int dim=-1, bool descending=False",
)
def argsort(input, dim=-1, descending=False, *, stable=False, out=None):
    """The places that sort input along a dimension, int64. Raises RuntimeError for complex tensors."""
    result = argsort_op.single(input, int(dim), bool(descending))
    if out is None:
        return result
    expect_out(out, result._array)
    write_out(out, result._array)
    return out


@public("msort", "Tensor input, *, Tensor out=None")
def msort(input, *, out=None):
    """input sorted along its first dimension."""
    values = sort_by_default.single(input, 0, False)[0]
    if out is None:
        return values
    expect_out(out, values._array)
    return into("sort", out, (input,), values)


# --- topk ---


def _largest(a, k: int, axis: int, largest: bool):
    """(the places of the k largest or smallest elements along an axis, in order; whether it is sure that no others would
    do as well)."""
    n = a.shape[axis]
    if n <= 64 or 4 * k > n:
        before = (slice(None),) * axis
        places = order(a, axis, largest)
        ranked = pick_along(a, places, axis)
        above, below = ranked[(*before, slice(min(k, n - 1)))], ranked[(*before, slice(1, k + 1))]
        doubtful = np.logical_or.reduce((above == below) | (below != below), axis=None)
        return places[(*before, slice(k))], not doubtful
    at, kept = (n - k, slice(n - k, None)) if largest else (k - 1, slice(k))
    where = (slice(None),) * axis
    places = np.sort(np.argpartition(a, at, axis=axis)[(*where, kept)], axis=axis)
    return pick_along(places, order(pick_along(a, places, axis), axis, largest), axis), False


def _with_ties(a, places, axis: int):
    """The slices along an axis in which several elements could stand for those at `places`, which are in order."""
    chosen = np.moveaxis(pick_along(a, places, axis), axis, -1)
    tied = ties.equal(chosen[..., 1:], chosen[..., :-1]).any(axis=-1)
    if chosen.shape[-1] < a.shape[axis]:
        last = chosen[..., -1:]
        inside = np.add.reduce(ties.equal(chosen, last), axis=-1, dtype=np.int64)
        tied |= np.add.reduce(ties.equal(np.moveaxis(a, axis, -1), last), axis=-1, dtype=np.int64) > inside
    return tied


def _topk_kernel(self: Array, k: int, dim: int, largest: bool, sorted: bool):
    axis = wrap_dim(dim, self.ndim)
    n = self.shape[axis] if self.ndim else 1
    if not 0 <= k <= n:
        raise RuntimeError("selected index k out of range")
    for kind, what in (("b", "topk does not support bool"), ("c", " topk does not support complex")):
        if self.dtype.kind == kind:
            raise RuntimeError(f"{what} dtypes on CPU")
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    if not k:
        shape = self.shape[:axis] + (0,) + self.shape[axis + 1 :]
        return np.empty(shape, self.dtype), np.empty(shape, np.int64)
    places, surely_different = _largest(self, k, axis, largest)
    places = places.copy(order="C")
    if self.size <= ties.MOST and not (sorted and surely_different):
        rows = _with_ties(self, places, axis) if sorted else np.ones(self.shape[:axis] + self.shape[axis + 1 :], bool)
        ties.settle(self, places, axis, rows, lambda row: ties.select(row, k, largest, sorted))
    return np.ascontiguousarray(pick_along(self, places, axis)), places


topk_op = declare_picking(_topk_kernel, "topk", "TopkBackward0")
TOPK = return_type("topk", "values indices")


@public("topk", "Tensor input, int k, int dim=-1, bool largest=True, bool sorted=True, *, Tensors out=None")
def topk(input, k, dim=-1, largest=True, sorted=True, *, out=None):
    """The k largest (or smallest) elements along a dimension in order, and their places, as (values, indices).

    NaN counts as the largest value. Raises RuntimeError where the dimension has fewer elements.
    """
    results = topk_op.single(input, int(k), int(dim), bool(largest), bool(sorted))
    return pair("topk", TOPK, results, out, (input,))
