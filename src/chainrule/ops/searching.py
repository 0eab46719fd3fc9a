"""Searching: searchsorted, bucketize, isin, nonzero_static."""

import numpy as np

from ..core.dtype import bool_, int32, int64, of, result_dtype
from ..core.outputs import write_out
from ..core.registry import FUNCTIONS
from ..core.tensor import Tensor, wrap
from .refusal import refuse
from .signature import public
from .sorting import expect_out

__all__ = ["searchsorted", "bucketize", "isin", "nonzero_static"]

# --- in sorted sequences ---


def places_in(sequence, values, right: bool):
    """For each value the place in the sorted last dimension of `sequence` where it belongs: before equal elements, or
    behind them. NaN belongs behind everything, and NaN in the sequence is passed over, as in PyTorch."""
    n = sequence.shape[-1]
    if sequence.ndim == 1 and n and (sequence.dtype.kind != "f" or sequence[-1] == sequence[-1]):
        return np.asarray(np.searchsorted(sequence, values, "right" if right else "left"))
    sequence = np.broadcast_to(sequence, values.shape[:-1] + (n,)) if sequence.ndim == 1 and values.ndim else sequence
    low, high = np.zeros(values.shape, np.int64), np.full(values.shape, n, np.int64)
    for _ in range(n.bit_length()):
        middle = (low + high) >> 1
        element = np.take_along_axis(sequence, np.minimum(middle, n - 1).reshape(values.shape or (1,)), -1)
        element = element.reshape(values.shape)
        open_, before = low < high, ~(element > values if right else element >= values)
        low = np.where(open_ & before, middle + 1, low)
        high = np.where(open_ & ~before, middle, high)
    return low


def _common(sequence, value):
    """The arrays of sorted sequence and value, a Tensor or a number, in the dtype that they promote to."""
    if isinstance(value, Tensor) and isinstance(sequence, Tensor) and sequence._spec.dtype is value._spec.dtype:
        return sequence._array, value._array
    operands = (sequence, value)
    tensors = [o._spec for o in operands if isinstance(o, Tensor)]
    numbers = [type(o) for o in operands if not isinstance(o, Tensor)]
    wanted = result_dtype([s.dtype for s in tensors if s.ndim], [s.dtype for s in tensors if not s.ndim], numbers)
    return [(o._array if isinstance(o, Tensor) else np.asarray(o)).astype(wanted.numpy, copy=False) for o in operands]


def _search(sequence, value, out_int32: bool, right: bool, sorter, out):
    wanted = int32 if out_int32 else int64
    if out is not None and out._spec.dtype is not wanted:
        raise RuntimeError(
            "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on "
            f"whether out_int32 flag is True, but we got output tensor's dtype {out._spec.dtype.scalar_name} and out_int32 "
            f"flag is {out_int32}"
        )
    a, values = _common(sequence, value)
    if sorter is not None:
        a = np.take_along_axis(a, sorter._array, -1)
    if values.size:
        refuse("searchsorted_out_cpu", "bc", a)
    result = places_in(a, values, right)
    if out_int32 or not result.flags.c_contiguous:
        result = result.astype(wanted.numpy, order="C")
    if out is None:
        return wrap(result)
    write_out(out, result)
    return out


def _check_search(sequence, value, side, right: bool, sorter) -> None:
    """RuntimeError where sequence, value and options do not go together."""
    who = "torch.searchsorted(): "
    spec = sequence._spec
    shape = value._spec.shape if isinstance(value, Tensor) else ()
    if side is not None:
        if side not in ("left", "right"):
            raise RuntimeError(f"{who}side can only be 'left' or 'right' but got {side}")
        if right and side == "left":
            raise RuntimeError(f"{who}side and right can't be set to opposites, got side of left while right was True")
    if sorter is not None:
        if sorter._spec.shape != spec.shape:
            raise RuntimeError(
                f"{who}boundary and sorter must have the same size, but got boundary tensor {list(spec.shape)}"
                f"and got sorter tensor {list(sorter._spec.shape)}"
            )
        if sorter._spec.dtype is not int64:
            raise RuntimeError(
                f"{who}sorter must be a tensor of long dtype but got dtype {sorter._spec.dtype.scalar_name}"
            )
        if sorter._array.size and not (sorter._array.min() >= 0 and sorter._array.max() < spec.shape[-1]):
            raise RuntimeError(f"{who}sorter index out of range")
    if spec.ndim != 1 and not shape:
        if spec.ndim or not isinstance(value, Tensor):
            raise RuntimeError(
                f"{who}input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries tensor "
                f"dim({spec.ndim}) and input value's dim(0) numel(1)"
            )
    if not spec.ndim:
        raise RuntimeError(f"{who}boundaries tensor should have positive dimension, but got 0 dimension")
    if spec.ndim > 1 and spec.shape[:-1] != shape[:-1]:
        raise RuntimeError(
            f"{who}boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value "
            f"tensor must match, but we got boundaries tensor {list(spec.shape)} and input value tensor {list(shape)}"
        )


_REST = "*, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None, Tensor out=None"


@public(
    "searchsorted",
    f"Tensor sorted_sequence, Tensor input, {_REST}",
    f"Tensor sorted_sequence, Number self, {_REST}",
    method=False,
)
def searchsorted(
    sorted_sequence, input=None, *, self=None, out_int32=False, right=False, side=None, sorter=None, out=None
):
    """Where in the sorted last dimension of a sequence each value belongs, so that the order is kept: int64, or int32.

    right (or side="right") puts a value behind elements that equal it. Raises RuntimeError where the dimensions before
    the last differ.
    """
    value = self if input is None else input
    _check_search(sorted_sequence, value, side, right, sorter)
    return _search(sorted_sequence, value, bool(out_int32), bool(right) or side == "right", sorter, out)


@public(
    "bucketize",
    "Tensor input, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor out=None",
    "Number self, Tensor boundaries, *, bool out_int32=False, bool right=False",
    method=False,
)
def bucketize(input=None, boundaries=None, *, self=None, out_int32=False, right=False, out=None):
    """The number of the bucket between sorted 1-dim boundaries that each value falls into: int64, or int32."""
    if boundaries._spec.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._spec.ndim})")
    return _search(boundaries, self if input is None else input, bool(out_int32), bool(right), None, out)


# --- in sets ---


def _is_in(elements, among, invert: bool):
    for operand in (elements, among):
        kind = operand._spec.dtype if isinstance(operand, Tensor) else of(np.asarray(operand).dtype)
        if kind.is_complex or kind is bool_:
            raise RuntimeError(f"Unsupported input type encountered for isin(): {kind.scalar_name}")
    if not isinstance(among, Tensor):
        return elements._spec.shape, FUNCTIONS["torch"]["ne" if invert else "eq"](elements, among)._array
    a, b = _common(elements, among)
    if b.size < 10 * max(a.size, 1) ** 0.145:  # comparing with each is faster than sorting all
        found = (a[..., None] == b.reshape(-1)).any(axis=-1)
        return a.shape, ~found if invert else found
    return a.shape, np.isin(a, b, invert=invert)


@public(
    "isin",
    "Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None",
    "Number element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None",
    "Tensor elements, Number test_element, *, bool assume_unique=False, bool invert=False, Tensor out=None",
    method=False,
)
def isin(
    elements=None,
    test_elements=None,
    *,
    element=None,
    test_element=None,
    assume_unique=False,
    invert=False,
    out=None,
):
    """For each element whether it is among the test elements: bools of the shape of elements. NaN is in no set."""
    elements = element if elements is None else elements
    shape, result = _is_in(elements, test_element if test_elements is None else test_elements, bool(invert))
    result = np.ascontiguousarray(result).reshape(shape)
    if out is None:
        return wrap(result)
    expect_out(out, result)
    write_out(out, result)
    return out


# --- what is not zero ---


@public("nonzero_static", "Tensor input, *, int size, int fill_value=-1, Tensor out=None")
def nonzero_static(input, *, size, fill_value=-1, out=None):
    """The first `size` index tuples of what is not zero, a row each: int64, filled up with fill_value."""
    size = int(size)
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    if out is not None and out._spec.dtype is not int64:
        raise RuntimeError(
            "nonzero_static: Expected out tensor to have scalar type Long but got scalar type"
            f"{out._spec.dtype.scalar_name}"
        )
    found = np.argwhere(input._array)[:size]
    result = np.full((size, input._spec.ndim), int(fill_value), np.int64)
    result[: len(found)] = found
    if out is None:
        return wrap(result)
    write_out(out, result)
    return out
