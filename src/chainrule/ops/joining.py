"""Tensors put together: cat, stack and their kin, meshgrid, block_diag."""

import numpy as np

from ..core.call_many import make_many
from ..core.conversion import warn_once
from ..core.declare import Arrays, Op, composite, op
from ..core.dtype import argument_type_name, result_dtype
from ..core.general import apply
from ..core.layout import channels_last, is_laid_out
from ..core.outputs import apply_out
from ..core.spec import spec_of
from ..core.tensor import Tensor, strides_of, wrap
from .shape import as_dim, expect_tensor
from .slicing import at_dim
from .squeezing import atleast_1d, atleast_2d, atleast_3d
from .striding import expand

__all__ = ["cat", "stack"]


# --- cat and stack ---


def _common_dtype(arrays) -> np.dtype:
    first = arrays[0].dtype
    for a in arrays[1:]:
        if a.dtype is not first:
            return result_dtype(
                [spec_of(b).dtype for b in arrays if b.ndim], [spec_of(b).dtype for b in arrays if not b.ndim], []
            ).numpy
    return first


def _joined(arrays, dim):
    """The arrays one after the other along a dimension, in C order."""
    shape = list(arrays[0].shape)
    first = arrays[0].dtype
    for a in arrays:
        if a.dtype is not first or not a.flags.c_contiguous:
            break
    else:
        return np.concatenate(arrays, dim)
    dtype = _common_dtype(arrays)
    shape[dim] = sum([a.shape[dim] for a in arrays])
    if len(shape) == 4 and all(is_laid_out(a.shape, strides_of(a), channels_last) for a in arrays):
        if not all(a.flags.c_contiguous for a in arrays):
            parts = [a.transpose(0, 2, 3, 1) for a in arrays]
            return _joined(parts, (0, 3, 1, 2)[dim]).transpose(0, 3, 1, 2)
    return np.concatenate(arrays, dim, out=np.empty(shape, dtype))


@op(name="cat", method=False, namespace=None)
def cat_op(tensors: Arrays, dim):
    for a in tensors:
        if a.shape == (0,):
            dtype = _common_dtype(tensors)  # what is skipped still has a say in the dtype
            kept = [a for a in tensors if a.shape != (0,)] or tensors[:1]
            return _joined(kept, dim).astype(dtype, copy=False)
    return _joined(tensors, dim)


@cat_op.derivative(of="tensors")
def _(xp, grad, tensors_shapes, dim, needs):
    out, start = [], 0
    for shape, needed in zip(tensors_shapes, needs[0]):
        if shape == (0,) != tuple(grad.shape[:1]) or len(shape) != grad.ndim:
            out.append(xp.zeros(shape, grad))
            continue
        end = start + shape[dim]
        out.append(xp.getitem(grad, at_dim(dim, slice(start, end))) if needed else None)
        start = end
    return out


@op(name="stack", method=False, namespace=None)
def stack_op(tensors: Arrays, dim):
    new = (*(slice(None),) * dim, None)
    return _joined([a[new] for a in tensors], dim)


@stack_op.derivative(of="tensors")
def _(xp, grad, dim, needs):
    return [xp.getitem(grad, at_dim(dim, i)) if needed else None for i, needed in enumerate(needs[0])]


_CALL = {operation: make_many(operation) for operation in (cat_op, stack_op)}


def tensor_list(tensors, name: str) -> list:
    """The tensors as a list; TypeError in PyTorch's words for anything else."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {argument_type_name(tensors)}"
        )
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {argument_type_name(t)}")
    return list(tensors)


def _run(operation: Op, tensors: list, dim: int, out):
    return _CALL[operation](tensors, dim) if out is None else apply_out(operation, (tensors, dim), out)


@composite(method=False, aliases=("concat", "concatenate"))
def cat(tensors, dim=0, *, axis=None, out=None):
    """The tensors one after the other along an existing dimension; their other sizes agree. Tensors of shape (0,) are
    skipped."""
    tensors = tensor_list(tensors, "cat")
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    first, at = None, 0
    for i, t in enumerate(tensors):
        shape = t._spec.shape
        if not shape:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
        if first is None and shape != (0,):
            first = shape
            at = as_dim(dim if axis is None else axis, len(shape), "cat", position=2)
        elif shape != first and shape != (0,):
            _check_sizes(first, shape, at, i)
    if first is None:
        at = as_dim(dim if axis is None else axis, 1, "cat", position=2)
    return _run(cat_op, tensors, at, out)


def _check_sizes(first: tuple, shape: tuple, dim: int, number: int) -> None:
    if len(first) != len(shape):
        raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
    for d, (n, m) in enumerate(zip(first, shape)):
        if n != m and d != dim:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for "
                f"tensor number {number} in the list."
            )


@composite(method=False)
def stack(tensors, dim=0, *, axis=None, out=None):
    """The tensors, all of one shape, along a new dimension."""
    tensors = tensor_list(tensors, "stack")
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    shape = tensors[0]._spec.shape
    dim = as_dim(dim if axis is None else axis, len(shape) + 1, "stack", position=2)
    for i, t in enumerate(tensors):
        if t._spec.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                f"{list(t._spec.shape)} at entry {i}"
            )
    return _run(stack_op, tensors, dim, out)


cat_op.function, stack_op.function = cat, stack


# --- after adding dimensions ---


@composite(method=False)
def hstack(tensors, *, out=None):
    """The tensors side by side: along the second dimension, vectors along their only one."""
    tensors = [atleast_1d(t) for t in _non_empty(tensors, "hstack")]
    return cat(tensors, 0 if tensors[0]._spec.ndim == 1 else 1, out=out)


@composite(method=False, aliases=("row_stack",))
def vstack(tensors, *, out=None):
    """The tensors one below the other; vectors as rows."""
    return cat([atleast_2d(t) for t in _non_empty(tensors, "vstack")], 0, out=out)


@composite(method=False)
def dstack(tensors, *, out=None):
    """The tensors one behind the other, along the third dimension."""
    return cat([atleast_3d(t) for t in _non_empty(tensors, "dstack")], 2, out=out)


@composite(method=False)
def column_stack(tensors, *, out=None):
    """The tensors side by side; vectors as columns."""
    parts = [t if t._spec.ndim > 1 else t.reshape((t._spec.numel, 1)) for t in _non_empty(tensors, "column_stack")]
    return cat(parts, 1, out=out)


def _non_empty(tensors, name: str) -> list:
    tensors = tensor_list(tensors, name)
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tensors


# --- grids and products ---


def _listed(tensor) -> str:
    """A tensor as PyTorch's C++ code prints it, its first line."""
    rows = tensor.detach().reshape(-1, tensor.size(-1) or 1).tolist()
    return " " + "  ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in rows[0]) if rows else ""


@composite(method=False)
def meshgrid(*tensors, indexing=None):
    """Vectors seen as the coordinates of a grid: element i of the k-th vector lies at index i of dimension k ("ij"),
    the first two dimensions exchanged with indexing="xy"."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tensors[0]
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors:
        if expect_tensor(t, "meshgrid", "tensors")._spec.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {_listed(t)}")
        if t._spec.dtype is not tensors[0]._spec.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing is None:
        warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    order = list(range(len(tensors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = 1, 0
    shape = [0] * len(tensors)
    for t, d in zip(tensors, order):
        shape[d] = t._spec.numel
    grids = []
    for t, d in zip(tensors, order):
        size = [1] * len(shape)
        size[d] = t._spec.numel
        grids.append(expand(t.view(size), tuple(shape)))
    return tuple(grids)


def _vector(t, name: str):
    if expect_tensor(t, name)._spec.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(t._spec.shape)}")
    return t


@composite(method=False)
def cartesian_prod(*tensors):
    """All ways to take one element of each vector, a row each."""
    for t in tensors:
        _vector(t, "cartesian_prod")
    if len(tensors) == 1:
        return tensors[0]
    return stack([grid.flatten() for grid in meshgrid(*tensors, indexing="ij")], 1)


@composite
def combinations(input, r=2, with_replacement=False):
    """All ways to take r elements of a vector in their order, a row each."""
    _vector(input, "combinations")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.empty((0,), input._spec.array_dtype))
    places = np.indices((input._spec.numel,) * r)
    keep = np.ones(places.shape[1:], np.bool)
    for a, b in zip(places[:-1], places[1:]):
        keep &= a <= b if with_replacement else a < b
    mask = wrap(keep)
    return stack([grid.masked_select(mask) for grid in meshgrid(*[input] * r, indexing="ij")], 1)


@op(name="block_diag", method=False, namespace=None)
def block_diag_op(tensors: Arrays):
    blocks = [a.reshape((1,) * (2 - a.ndim) + a.shape) for a in tensors]
    out = np.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)), _common_dtype(tensors))
    row = column = 0
    for b in blocks:
        out[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return out


@block_diag_op.derivative(of="tensors")
def _(xp, grad, tensors_shapes):
    out, row, column = [], 0, 0
    for shape in tensors_shapes:
        rows, columns = ((1, 1) + tuple(shape))[-2:]
        out.append(xp.reshape(xp.getitem(grad, (slice(row, row + rows), slice(column, column + columns), ...)), shape))
        row, column = row + rows, column + columns
    return out


@composite(method=False)
def block_diag(*tensors):
    """A matrix with the given matrices (vectors as rows) along its diagonal and zeros elsewhere."""
    for i, t in enumerate(tensors):
        if expect_tensor(t, "block_diag", "tensors")._spec.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t._spec.ndim} "
                "dimensions"
            )
    if not tensors:
        return wrap(np.empty((1, 0), np.float32))
    return apply(block_diag_op, (list(tensors),))


block_diag_op.function = block_diag
