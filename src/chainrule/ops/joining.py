"""Tensors put together: cat, stack and their kin, meshgrid, block_diag."""

import numpy as np

from ..core.declare import Array, Arrays, Op, composite, op
from ..core.dtype import argument_type_name, result_dtype
from ..core.general import apply, apply_out
from ..core.layout import channels_last, is_laid_out
from ..core.registry import OPS
from ..core.spec import spec_of
from ..core.tensor import Tensor, strides_of
from .shape import as_dim, as_int, expect_tensor
from .slicing import at_dim

__all__ = ["cat", "stack"]


# --- cat and stack ---


def _common_dtype(arrays) -> np.dtype:
    first = arrays[0].dtype
    for a in arrays:
        if a.dtype is not first:
            return result_dtype([spec_of(b).dtype for b in arrays if b.ndim], [spec_of(b).dtype for b in arrays if not b.ndim], []).numpy
    return first


def _joined(arrays, dim):
    """The arrays one after the other along a dimension, in C order."""
    shape = list(arrays[0].shape)
    shape[dim] = sum([a.shape[dim] for a in arrays])
    dtype = _common_dtype(arrays)
    if len(shape) == 4 and all(is_laid_out(a.shape, strides_of(a), channels_last) for a in arrays):
        if not all(a.flags.c_contiguous for a in arrays):
            parts = [a.transpose(0, 2, 3, 1) for a in arrays]
            return _joined(parts, (0, 3, 1, 2)[dim]).transpose(0, 3, 1, 2)
    return np.concatenate(arrays, dim, out=np.empty(shape, dtype))


@op(name="cat", method=False, namespace=None)
def cat_op(tensors: Arrays, dim):
    kept = [a for a in tensors if a.shape != (0,)] or tensors[:1]
    return _joined(kept, dim)


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


def tensor_list(tensors, name: str) -> list:
    """The tensors as a list; TypeError in PyTorch's words for anything else."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {argument_type_name(tensors)}")
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {argument_type_name(t)}")
    return list(tensors)


def _run(operation: Op, tensors: list, dim: int, out):
    return apply(operation, (tensors, dim)) if out is None else apply_out(operation, (tensors, dim), out)


@composite(method=False, aliases=("concat", "concatenate"))
def cat(tensors, dim=0, *, axis=None, out=None):
    """The tensors one after the other along an existing dimension; their other sizes agree. Tensors of shape (0,) are skipped."""
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
                f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for tensor number "
                f"{number} in the list."
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
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and {list(t._spec.shape)} at entry {i}"
            )
    return _run(stack_op, tensors, dim, out)


cat_op.function, stack_op.function = cat, stack
