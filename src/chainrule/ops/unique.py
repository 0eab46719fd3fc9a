"""The different elements of a tensor: unique and unique_consecutive. PyTorch has no derivative of them."""

import numpy as np

from ..core.declare import Array, op, put_method
from ..core.registry import publish
from ..core.tensor import Tensor, wrap_dim
from .refusal import refuse
from .signature import Signature
from .sorting import order

__all__ = ["unique", "unique_consecutive"]

# --- kernels ---


def _fresh(ranked):
    """Where a run of equal elements (rows) begins."""
    changes = ranked[1:] != ranked[:-1]
    if ranked.ndim > 1:
        changes = changes.any(axis=tuple(range(1, ranked.ndim)))
    return np.concatenate([np.ones(min(len(ranked), 1), bool), changes])


def _counted(starts, n: int):
    return np.diff(np.append(starts, n)).astype(np.int64)


def _runs(a, shape):
    """(elements or rows that differ from the one before, the number of its run for each, how long the runs are)."""
    fresh = _fresh(a)
    starts = np.flatnonzero(fresh)
    return a[starts], (np.cumsum(fresh) - 1).reshape(shape), _counted(starts, len(a))


def _distinct(a, places, shape):
    """As _runs for elements that `places` puts in order."""
    ranked = a[places]
    fresh = _fresh(ranked)
    starts = np.flatnonzero(fresh)
    inverse = np.empty(len(a), np.int64)
    inverse[places] = np.cumsum(fresh) - 1
    return ranked[starts], inverse.reshape(shape), _counted(starts, len(a))


def _rows(a, dim: int):
    """The slices along a dimension as the rows of an array; RuntimeError where they have no elements."""
    if not a.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = wrap_dim(dim, a.ndim)
    if any(n == 0 and i != axis for i, n in enumerate(a.shape)):
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return axis, np.ascontiguousarray(np.moveaxis(a, axis, 0))


def _in_place(axis: int, results):
    values, inverse, counts = results
    return np.moveaxis(values, 0, axis), inverse, counts


@op(name="_unique2", node="Unique2Backward0", nondifferentiable_outputs=(1, 2), method=False, namespace=None)
def unique_of_all(self: Array, inverse: bool, counts: bool):
    refuse("unique", "c", self)
    flat = self.reshape(-1)
    if inverse:
        return _distinct(flat, order(flat, 0), self.shape)
    ranked = np.sort(flat)
    fresh = _fresh(ranked)
    return ranked[fresh], _NONE, _counted(np.flatnonzero(fresh), len(flat)) if counts else _NONE


_NONE = np.empty(0, np.int64)


@op(name="unique_dim", nondifferentiable_outputs=(1, 2), method=False, namespace=None)
def unique_along(self: Array, dim: int):
    refuse("unique_dim", "c", self)
    axis, rows = _rows(self, dim)
    flat = rows.reshape(len(rows), self.size // max(len(rows), 1))
    places = np.lexsort(flat.T[::-1]) if flat.shape[1] else np.arange(len(rows))
    return _in_place(axis, _distinct(rows, places, (len(rows),)))


@op(name="unique_consecutive", nondifferentiable_outputs=(1, 2), method=False, namespace=None)
def unique_consecutive_op(self: Array, dim):
    if dim is None or dim == 0 and self.ndim == 1:
        refuse("unique", "c", self)
        return _runs(self.reshape(-1), self.shape)
    refuse("unique_dim", "c", self)
    axis, rows = _rows(self, dim)
    return _in_place(axis, _runs(rows, (len(rows),)))


def _refuse_derivative(operation) -> None:
    name = operation.name

    def formula(xp, grads):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    operation.derivative(of="self")(formula)


for _operation in (unique_of_all, unique_along, unique_consecutive_op):
    _refuse_derivative(_operation)

# --- functions ---


def _chosen(results, inverse: bool, counts: bool):
    """The values alone, or a tuple of them and what else was asked for."""
    wanted = [r for r, want in zip(results, (True, inverse, counts)) if want]
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def _check(name: str, input, given: dict, signature: str) -> None:
    flags = [v for k, v in given.items() if k.startswith(("return", "sorted"))]
    plain = given.get("dim") is None and "positional" not in given and all(v.__class__ is bool for v in flags)
    if plain and isinstance(input, Tensor):
        return
    problem = Signature.read(signature, False).problem(name, (input, *given.pop("positional", ())), given)
    if problem:
        raise TypeError(problem)


_OPTIONS = "bool sorted=True, bool return_inverse=False, bool return_counts=False"


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements of input in ascending order; with `dim` the different slices along that dimension.

    With return_inverse and return_counts also, as int64, for each element (slice) the place of its value, and how often
    each value occurs. NaN equals nothing. Raises RuntimeError where slices have no elements.
    """
    flags = {"sorted": sorted, "return_inverse": return_inverse, "return_counts": return_counts}
    if dim is not None:
        _check("unique_dim", input, {"positional": (dim,), **flags}, f"Tensor input, int dim, {_OPTIONS}")
        results = unique_along.general(input, int(dim))
    else:
        _check("_unique2", input, flags, f"Tensor input, {_OPTIONS}")
        results = unique_of_all.general(input, return_inverse, return_counts)
    return _chosen(results, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements of input without those that equal the one before; with `dim` slices along that dimension.

    With return_inverse and return_counts also, as int64, for each element (slice) the place of its value, and how often
    each value is repeated.
    """
    _check(
        "unique_consecutive",
        input,
        {"return_inverse": return_inverse, "return_counts": return_counts, "dim": dim},
        "Tensor input, bool return_inverse=False, bool return_counts=False, int? dim=None",
    )
    results = unique_consecutive_op.general(input, None if dim is None else int(dim))
    return _chosen(results, return_inverse, return_counts)


for _function in (unique, unique_consecutive):
    publish("torch", _function.__name__, _function)
    put_method(_function.__name__, _function)
