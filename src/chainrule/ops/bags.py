"""nn.functional.embedding_bag: sums, means and maxima of rows of a matrix, bag by bag."""

import warnings

import numpy as np

from ..core.declare import Array, composite, op
from ..core.dtype import argument_type_name, int32, int64
from ..core.registry import publish
from ..core.tensor import Tensor, wrap
from .gathering import Index, renormed
from .planes import expect_tensor
from .precision import HALF

__all__ = ["embedding_bag"]

SUM, MEAN, MAX = 0, 1, 2


class Bags:
    """Which rows go into which bag: `rows` of the matrix, in the order of the bags, the `bag` of each, its `place` among
    all that were given, how many each of the `sizes` bags has; `mode`, and the frequencies to divide gradients by."""

    def __init__(self, indices, offsets, last: int, mode: int, padding, by_frequency: bool, rows: int, guards):
        indices = indices.astype(np.int64, copy=False)
        ends = np.append(offsets[1:], last)
        bag = np.repeat(np.arange(offsets.size), ends - offsets)
        place = np.arange(bag.size)
        if padding is not None:
            place = place[indices[: bag.size] != padding]
            bag = bag[place]
        self.all_bags = np.repeat(np.arange(offsets.size), ends - offsets)
        self.place = place
        self.rows = indices[place]
        self.bag, self.mode, self.count = bag, mode, offsets.size
        self.sizes = np.bincount(bag, minlength=offsets.size).astype(np.int64)
        self.total = indices.size
        self.frequencies = np.bincount(indices, minlength=rows)[self.rows] if by_frequency else None
        self.of_rows, self.of_bags = Index.of((self.rows,), *guards), Index((self.bag,))

    def reduced(self, ufunc, values):
        """The values of each bag taken together by a ufunc; zeros for empty bags."""
        out = np.zeros((self.count, values.shape[1]), values.dtype)
        filled = np.flatnonzero(self.sizes)
        if filled.size:
            starts = np.cumsum(self.sizes) - self.sizes
            out[filled] = ufunc.reduceat(values, starts[filled], axis=0)
        return out

    def factors(self, dtype):
        """What the gradient of each row is multiplied by, apart from the weights of samples: (rows, 1); None for 1."""
        made = None
        if self.mode == MEAN:
            made = 1 / self.sizes[self.bag]
        if self.frequencies is not None:
            made = 1 / self.frequencies if made is None else made / self.frequencies
        return None if made is None else made.astype(dtype)[:, None]

    def largest(self, values):
        """Where the largest value of each bag and column lies among the rows, the first of equals: (bags, columns)."""
        best = self.reduced(np.maximum, values)
        hits = (values == best[self.bag]) | np.isnan(values)
        order = np.where(hits, np.arange(self.rows.size)[:, None], self.rows.size)
        return self.reduced(np.minimum, order)


def _plain(dtype) -> np.dtype:
    return getattr(dtype, "numpy", dtype)


@op(name="embedding_bag", method=False, namespace=None, frees=("bags",))
def bag_op(weight: Array, per_sample_weights: Array | None, bags):
    values = weight.take(bags.rows, axis=0)
    if values.dtype is HALF:
        values = values.astype(np.float32)
    if bags.mode == MAX:
        return bags.reduced(np.maximum, values).astype(weight.dtype, copy=False)
    if per_sample_weights is not None:
        values = values * per_sample_weights[bags.place, None]
    out = bags.reduced(np.add, values)
    if bags.mode == MEAN:
        out /= np.maximum(bags.sizes, 1).astype(out.dtype)[:, None]
    return out.astype(weight.dtype, copy=False)


@bag_op.derivative(of="weight")
def _(xp, grad, weight, per_sample_weights, bags):
    index = bags.of_rows.checked()
    if bags.mode == MAX:
        return _largest_vjp(xp, grad, weight, bags)
    parts = xp.index(grad, bags.of_bags)
    factors = bags.factors(_plain(grad.dtype))
    if factors is not None:
        parts = parts * xp.constant(factors)
    if per_sample_weights is not None:
        parts = parts * xp.expand_dims(xp.index(per_sample_weights, Index((bags.place,))), 1)
    return xp.accumulate(parts, tuple(weight.shape), index)


def _largest_vjp(xp, grad, weight, bags):
    array = getattr(weight, "_array", weight)
    rows = bags.rows[bags.largest(array.take(bags.rows, axis=0))] if bags.rows.size else np.zeros(grad.shape, np.int64)
    filled = np.broadcast_to(bags.sizes[:, None] > 0, rows.shape)
    columns = np.broadcast_to(np.arange(rows.shape[1]), rows.shape)
    return xp.accumulate(
        xp.select(xp.constant(filled), grad), tuple(weight.shape), Index((rows, np.ascontiguousarray(columns)))
    )


@bag_op.derivative(of="per_sample_weights")
def _(xp, grad, weight, bags):
    parts = xp.sum(xp.index(grad, bags.of_bags) * xp.index(weight, bags.of_rows.checked()), 1)
    return xp.accumulate(parts, (bags.total,), Index((bags.place,)))


def _check_types(weight, indices, offsets, samples) -> None:
    for t in (indices, offsets):
        if t._spec.dtype not in (int64, int32):
            raise RuntimeError(
                "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
                f"{t._spec.dtype.type_name} instead (while checking arguments for embedding_bag)"
            )
    d = weight._spec.dtype
    if not d.is_floating_point:
        shown = d.type_name
        if d.is_complex:
            shown = "CPUComplexFloatType" if d.itemsize == 8 else "CPUComplexDoubleType"
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, "
            f"Double; but got {shown} instead (while checking arguments for embedding_bag)"
        )
    if samples is not None and samples._spec.dtype is not d:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {d.type_name} does not equal {samples._spec.dtype.type_name} (while checking "
            "arguments for embedding_bag)"
        )


def _check_values(indices, offsets, rows: int, padding, include_last: bool):
    """Whether offsets and indices are in range; the padding row counted from the front."""
    if padding is not None:
        if not -rows <= padding < rows:
            raise RuntimeError(
                f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got {padding}"
            )
        padding %= rows
    if include_last and not offsets.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if offsets.size and offsets[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
            f"{offsets[0]}"
        )
    if offsets.size and offsets[-1] > indices.size:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {indices.size} but got offsets[-1] of {offsets[-1]}"
        )
    if offsets.size > 1 and (np.diff(offsets) < 0).any():
        raise RuntimeError("Expected offsets that do not descend")
    outside = (indices < 0) | (indices >= rows)
    if outside.any():
        at = int(np.argmax(outside))
        raise RuntimeError(f"Index {at} of input takes value {indices[at]} which is not in the valid range [0, {rows})")
    return padding


def _bagged(weight, indices, offsets, by_frequency, mode: int, samples, include_last, padding) -> tuple:
    """(result, bags)."""
    _check_types(weight, indices, offsets, samples)
    places, starts = indices._array, offsets._array.astype(np.int64, copy=False)
    rows = weight._spec.shape[0]
    padding = _check_values(places, starts, rows, padding, include_last)
    last = places.size
    if include_last:
        last, starts = int(starts[-1]), starts[:-1]
    bags = Bags(places, starts, last, mode, padding, bool(by_frequency), rows, (indices,))
    return bag_op.single(weight, samples, bags), bags


_MODES = {"sum": SUM, "mean": MEAN, "max": MAX}


def _arranged(input, weight, offsets, samples) -> tuple:
    """Input, weight and offsets of one dimension, and the weights of samples likewise; ValueError for other shapes."""
    if weight._spec.dtype is int64 and input._spec.dtype.is_floating_point:
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            UserWarning,
            stacklevel=3,
        )
        input, weight = weight, input
    if samples is not None and samples._spec.shape != input._spec.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({samples.shape}) is not None, then it must have the same shape as the "
            f"input ({input.shape})"
        )
    if weight._spec.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight._spec.ndim}")
    if input._spec.ndim == 2:
        if offsets is not None:
            shown = "<class 'torch.Tensor'>" if isinstance(offsets, Tensor) else str(type(offsets))
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {shown}"
            )
        count, width = input._spec.shape
        if not width:
            raise RuntimeError("step must be nonzero")
        offsets = wrap(np.arange(0, count * width, width, dtype=input._spec.array_dtype))
        return input.reshape(-1), weight, offsets, None if samples is None else samples.reshape(-1)
    if input._spec.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input._spec.ndim}")
    if offsets is None or not isinstance(offsets, Tensor):
        raise ValueError(f"offsets has to be a 1D Tensor but got {offsets}")
    if offsets._spec.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return input, weight, offsets, samples


@composite(method=False, namespace="nn.functional")
def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean",
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):  # fmt: skip
    """The sum, mean or maximum of the rows of `weight` that each bag names: a bag is a row of a two-dimensional input, or
    what lies between two offsets of a one-dimensional one.

    Raises ValueError, RuntimeError for shapes, dtypes and indices that do not fit, NotImplementedError for sparse=True.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html
    """
    expect_tensor(input, "embedding_bag")
    expect_tensor(weight, "embedding_bag", "weight", 2)
    input, weight, offsets, samples = _arranged(input, weight, offsets, per_sample_weights)
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        renormed(weight, input._array, max_norm, norm_type)
    if samples is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )
    if sparse:
        raise NotImplementedError("chainrule has no sparse tensors: embedding_bag(…, sparse=True) is not supported")
    return _bagged(weight, input, offsets, scale_grad_by_freq, _MODES[mode], samples, include_last_offset, padding_idx)[
        0
    ]


def embedding_bag_function(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False,
                           per_sample_weights=None, include_last_offset=False, padding_idx=None):  # fmt: skip
    """(result, bag of each index, sizes of the bags, places of the maxima); mode: 0 sum, 1 mean, 2 max."""
    for position, (shown, t) in enumerate((("weight", weight), ("indices", indices), ("offsets", offsets)), 1):
        expect_tensor(t, "embedding_bag", shown, position)
    if sparse:
        raise NotImplementedError("chainrule has no sparse tensors: embedding_bag(…, sparse=True) is not supported")
    if mode not in (SUM, MEAN, MAX):
        raise TypeError(f"embedding_bag(): argument 'mode' must be 0, 1 or 2, not {argument_type_name(mode)}")
    out, bags = _bagged(
        weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx
    )
    none = np.zeros(bags.count, np.int64)
    if mode == SUM:
        return out, wrap(np.zeros(0, np.int64)), wrap(none), wrap(none.copy())
    largest = bags.sizes.copy()
    if mode == MAX:
        largest = np.zeros(out._spec.shape, np.int64)
        if bags.rows.size:
            filled = bags.sizes > 0
            found = bags.largest(weight._array.take(bags.rows, axis=0))
            largest[filled] = bags.rows[found[filled]]
    return out, wrap(bags.all_bags), wrap(bags.sizes), wrap(largest)


publish("torch", "embedding_bag", embedding_bag_function)
bag_op.function = embedding_bag_function
