"""Spec: the shape and dtype of an array, one object per pair.

Tensors, nodes and plans share these objects, so "same shape and same dtype" is one `is`, and everything that follows
from shapes and dtypes alone (the dtype of a result, how a gradient is summed back) is worked out once per pair.
Identity is only a shortcut: where two specs are not the same object their contents decide.
"""

from typing import Any

from .dtype import FLOATING, dtype, float16, from_numpy
from .size import Size

__all__ = ["Spec", "make_spec", "spec_of"]


class Spec:
    """`direct` says that NumPy's own rules for this dtype are PyTorch's: floating or complex, and not float16, whose
    numbers operate in float32 there. `scalars` keeps Python numbers turned into 0-dim arrays of this dtype."""

    __slots__ = ("shape", "dtype", "array_dtype", "ndim", "numel", "inexact", "direct", "scalars", "_size")

    shape: tuple[int, ...]
    dtype: Any
    array_dtype: Any
    ndim: int
    numel: int
    inexact: bool
    direct: bool
    scalars: dict
    _size: Any

    def __repr__(self):
        return f"Spec({self.shape}, {self.dtype})"

    @property
    def size(self) -> Size:
        """The shape as the object that `tensor.shape` hands out."""
        try:
            return self._size
        except AttributeError:
            made = self._size = tuple.__new__(Size, self.shape)
            return made

    def with_dtype(self, d) -> "Spec":
        return make_spec(self.shape, d.numpy)


_SPECS: dict[tuple, Spec] = {}
_SCALARS: dict[dtype, dict] = {}
_MOST = 1 << 16


def make_spec(shape: tuple[int, ...], array_dtype) -> Spec:
    """The spec of arrays with this shape and NumPy dtype."""
    key = (shape, array_dtype)
    try:
        return _SPECS[key]
    except KeyError:
        pass
    spec = Spec()
    spec.shape = tuple(shape)
    spec.dtype = d = from_numpy[array_dtype]
    spec.array_dtype = d.numpy
    spec.ndim = len(shape)
    numel = 1
    for n in shape:
        numel *= n
    spec.numel = numel
    spec.inexact = d.category >= FLOATING
    spec.direct = spec.inexact and d is not float16 and d.name != "bfloat16"
    spec.scalars = _SCALARS.setdefault(d, {})
    if len(_SPECS) >= _MOST:  # a program that makes ever new shapes must not grow without end
        _SPECS.clear()
    return _SPECS.setdefault((spec.shape, spec.array_dtype), spec)


def spec_of(array) -> Spec:
    """The spec of an array; TypeError for an array of a type that tensors do not have."""
    key = (array.shape, array.dtype)
    try:
        return _SPECS[key]
    except KeyError:
        return make_spec(*key)
