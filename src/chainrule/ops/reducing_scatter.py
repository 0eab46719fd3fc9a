"""scatter_reduce and index_reduce: values combined with what is there by a sum, mean, product, maximum or minimum."""

import numpy as np

from ..core import placing, vocabulary
from ..core.declare import Array, Op, op
from ..core.dtype import bool_, int32, int64
from ..core.tensor import Tensor, wrap
from .gathering import Index, index_array, rows
from .scattering import both, check_scatter, scatter_arguments
from .shape import as_dim, expect_tensor

__all__ = ["multiply_at"]


@op(method=False, namespace=None)
def multiply_at(self: Array, values: Array, indices):
    """The tensor with values multiplied in at an index."""
    return vocabulary.multiply_at(self, values, indices)


multiply_at.derivative(of="self")(lambda xp, grad, values, indices: xp.multiply_at(grad, xp.conj(values), indices))


@multiply_at.derivative(of="values")
def _(xp, grad, values, result, indices):  # dividing is safe: no formula here multiplies zeros in
    return xp.index(grad * xp.conj(result), indices) / xp.conj(values)


# --- sum and mean ---


def _write_sum(array, src, counts, indices, include_self, part) -> None:
    array = placing.lined(array, indices)
    if not include_self:
        array[indices] = 0
    placing.add_at(array, indices, src if part is None else src[part])
    if counts is not None:
        (np.divide if array.dtype.kind in "fc" else np.floor_divide)(array, counts, out=array)


def _own_part(xp, grad, indices, include_self):
    return grad if include_self else xp.clear(grad, indices)


def _of_source(xp, grad, src_shape, part):
    return grad if part is None else xp.place(grad, src_shape, part)


def _summing(name: str, node: str) -> Op:
    """Sum, or with `counts` (how many values meet at each place) the mean."""

    @op(name=name + "_sum", node=node, method=False, namespace=None, frees=("indices",))
    def combine(self: Array, src: Array, counts: Array | None, indices, include_self, part):
        out = self.copy()
        _write_sum(out, src, counts, indices, include_self, part)
        return out

    combine.writer = _write_sum

    @combine.derivative(of="self")
    def _(xp, grad, counts, indices, include_self):
        return _own_part(xp, grad if counts is None else grad / counts, indices.checked(), include_self)

    @combine.derivative(of="src")
    def _(xp, grad, counts, indices, src_shape, part):
        shared = grad if counts is None else grad / counts
        return _of_source(xp, xp.index(shared, indices.checked()), src_shape, part)

    return combine


# --- product ---


def _write_product(array, src, indices, include_self, part) -> None:
    array = placing.lined(array, indices)
    if not include_self:
        array[indices] = 1
    np.multiply.at(array, indices, src if part is None else src[part])


def _start(xp, self, indices, include_self):
    """What the values are multiplied into: self, or 1 where they take its place."""
    return self if include_self else xp.clear(self, indices) + (1 - xp.clear(xp.ones_like(self), indices))


def _by_division(xp, grad, self, src, indices, include_self) -> tuple:
    """The gradients of a product without zeros: that of the result times result / factor."""
    start = _start(xp, self, indices, include_self)
    scaled = grad * xp.conj(xp.multiply_at(start, src, indices))
    return scaled / xp.conj(start), xp.index(scaled, indices) / xp.conj(src)


def _by_rank(xp, grad, self, src, indices, include_self) -> tuple:
    """The gradients of a product that may hold zeros: that of the result times the product of all other factors. The
    k-th values at each place are spread over an array of their own, with 1 where there are fewer."""
    shape = tuple(self.shape) or (1,)
    places, rank = _ranks(shape, indices)
    masks = [Index((rank == k,)) for k in range(int(rank.max(initial=-1)) + 1)]
    spots = [Index(np.unravel_index(places[m], shape)) for m in masks]
    factors = [_start(xp, self, indices, include_self)]
    factors += [xp.place_last(xp.index(src, m) - 1, shape, at) + 1 for m, at in zip(masks, spots)]
    before, after = [None], [None]
    for f, g in zip(factors[:-1], factors[:0:-1]):
        before.append(f if before[-1] is None else before[-1] * f)
        after.append(g if after[-1] is None else after[-1] * g)
    for_src = xp.zeros(src.shape, src)
    for_self = grad
    for k, (a, b) in enumerate(zip(before, reversed(after))):
        others = a if b is None else b if a is None else a * b
        part = grad if others is None else grad * xp.conj(others)
        if k == 0:
            for_self = part
        else:
            for_src = for_src + xp.place_last(xp.index(part, spots[k - 1]), tuple(src.shape), masks[k - 1])
    return for_self, for_src


def _ranks(shape, indices) -> tuple:
    """(the place of every value counted through the whole array; how many values before it go to the same place)."""
    places = np.arange(int(np.prod(shape))).reshape(shape)[indices]
    flat = places.reshape(-1)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    first = np.searchsorted(ordered, ordered)
    rank = np.empty_like(flat)
    rank[order] = np.arange(flat.size) - first
    return places, rank.reshape(places.shape)


def _multiplying(name: str, node: str) -> Op:
    @op(name=name + "_prod", node=node, method=False, namespace=None)
    def combine(self: Array, src: Array, indices, include_self, part):
        out = self.copy()
        _write_product(out, src, indices, include_self, part)
        return out

    combine.writer = _write_product

    @combine.derivative(of=("self", "src"))
    def _(xp, grad, self, src, src_shape, indices, include_self, part):
        indices = indices.checked()
        used = src if part is None else xp.getitem(src, part)
        way = _by_rank if xp.any_zero(self) or xp.any_zero(used) else _by_division
        for_self, for_src = way(xp, grad, self, used, indices, include_self)
        return _own_part(xp, for_self, indices, include_self), _of_source(xp, for_src, src_shape, part)

    return combine


# --- maximum and minimum ---


def _choosing(name: str, node: str, largest: bool) -> Op:
    ufunc = np.maximum if largest else np.minimum

    def write(array, src, indices, include_self, part) -> None:
        array = placing.lined(array, indices)
        if not include_self:
            if array.dtype.kind == "f":
                array[indices] = -np.inf if largest else np.inf
            elif array.dtype.kind == "b":
                array[indices] = not largest
            else:
                limits = np.iinfo(array.dtype)
                array[indices] = limits.min if largest else limits.max
        ufunc.at(array, indices, src if part is None else src[part])

    @op(name=f"{name}_{'amax' if largest else 'amin'}", node=node, method=False, namespace=None)
    def combine(self: Array, src: Array, indices, include_self, part):
        out = self.copy()
        write(out, src, indices, include_self, part)
        return out

    combine.writer = write

    @combine.derivative(of=("self", "src"))
    def _(xp, grad, self, src, src_shape, result, indices, include_self, part):
        # All that equal the result share its gradient alike.
        indices = indices.checked()
        used = src if part is None else xp.getitem(src, part)
        hit = xp.astype(xp.equal(used, xp.index(result, indices)), grad.dtype)
        own = _own_part(xp, xp.astype(xp.equal(self, result), grad.dtype), indices, include_self)
        shared = grad / (own + xp.accumulate(hit, self.shape, indices))
        return own * shared, _of_source(xp, hit * xp.index(shared, indices), src_shape, part)

    return combine


# --- the two public functions ---

_NODES = {"scatter_reduce": "ScatterReduceBackward0", "index_reduce": "IndexReduceBackward0"}
_OPERATIONS = {
    name: {
        "sum": _summing(name, node),
        "prod": _multiplying(name, node),
        "amax": _choosing(name, node, True),
        "amin": _choosing(name, node, False),
    }
    for name, node in _NODES.items()
}


def _counts(self, indices, include_self) -> Tensor:
    """How many values meet at every place, at least 1."""
    shape = self._spec.shape or (1,)
    counts = np.ones(shape, np.int64)
    if not include_self:
        counts[indices] = 0
    placing.add_at(counts, indices, np.ones(counts[indices].shape, np.int64))
    return wrap(np.maximum(counts, 1).astype(self._spec.array_dtype).reshape(self._spec.shape))


def _chosen(name: str, reduce: str, self, src, indices, include_self, part) -> tuple:
    operations = _OPERATIONS[name]
    if reduce in ("amax", "amin") and self._spec.dtype.is_complex:
        kernel = f"scatter_gather_tensor_cpu_reduce_{reduce}" if name == "scatter_reduce" else f"{reduce[1:]}imum_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{self._spec.dtype.scalar_name}'")
    if reduce == "mean" and self._spec.dtype is bool_:
        kernel = "scatter_gather_tensor_cpu_reduce_mean" if name == "scatter_reduce" else "div_floor_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
    if reduce in ("sum", "mean"):
        counts = _counts(self, indices, include_self) if reduce == "mean" else None
        return operations["sum"], (src, counts, indices, include_self, part)
    return operations[reduce], (src, indices, include_self, part)


def _scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """A copy in which the elements of src are combined, at `index` along one dimension, with what is there.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html"""
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    dim = check_scatter(input, dim, index, expect_tensor(src, "scatter_reduce", "src", 3), "scatter_reduce")
    indices, shape, part = scatter_arguments(input, dim, index, src)
    if shape is not None:
        src = src.reshape(shape)
    return _chosen("scatter_reduce", reduce, input, src, indices, include_self, part)


def _index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """A copy in which the parts of source are combined, at the places of `index` along one dimension, with what is
    there."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    index_array(index, "index_reduce")
    dim = as_dim(dim, input._spec.ndim, "index_reduce")
    if index._spec.dtype not in (int64, int32):
        raise RuntimeError("index_reduce(): Expected dtype int32/int64 for index")
    if input._spec.dtype is not expect_tensor(source, "index_reduce", "source", 3)._spec.dtype:
        raise RuntimeError("index_reduce(): self and source must have the same scalar type")
    return _chosen("index_reduce", reduce, input, source, rows(dim, index), include_self, None)


both(_scatter_reduce, "scatter_reduce")
both(_index_reduce, "index_reduce")
