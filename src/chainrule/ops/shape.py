"""Views that change shape or order of dimensions: view, reshape, flatten, transpose, permute, squeeze, expand,
as_strided.

Parts of a tensor (select, slice, split, diagonal …) are in slicing.py.
"""

import math
import operator

from ..core.conversion import warn_once
from ..core.declare import Array, composite, method, op, put_method, view
from ..core.dtype import argument_type_name
from ..core.dtype import dtype as dtype_class
from ..core.layout import contiguous_format
from ..core.registry import OPS
from ..core.size import Size
from ..core.tensor import Tensor, wrap_dim
from .casting import clone_op

__all__ = ["as_int", "as_ints", "as_dim", "expect_tensor", "view_op", "reshape", "reshaped"]


# --- arguments ---


def expect_tensor(value, name: str, shown: str = "input", position: int = 1):
    """The value; TypeError in PyTorch's words unless it is a tensor."""
    if isinstance(value, Tensor):
        return value
    raise TypeError(
        f"{name}(): argument '{shown}' (position {position}) must be Tensor, not {argument_type_name(value)}"
    )


def as_int(value, name: str, shown: str = "dim", position: int = 1) -> int:
    """A Python integer of anything that counts as one; TypeError in PyTorch's words."""
    if value.__class__ is int:
        return value
    try:
        return operator.index(value)
    except TypeError:
        found = argument_type_name(value)
        raise TypeError(f"{name}(): argument '{shown}' (position {position}) must be int, not {found}") from None


def as_dim(value, ndim: int, name: str, shown: str = "dim", position: int = 1) -> int:
    """A dimension counted from the front; TypeError or IndexError in PyTorch's words."""
    return wrap_dim(as_int(value, name, shown, position), ndim)


def as_ints(values, name: str, shown: str = "size", position: int = 1) -> tuple:
    """Integers given one by one or as one sequence, from what `*args` collected."""
    if len(values) == 1:
        first = values[0]
        if isinstance(first, (tuple, list)):
            values = first
        elif first.__class__ is not int:
            try:
                return (operator.index(first),)
            except TypeError:
                raise _not_ints(first, name, shown, position) from None
    for value in values:
        if value.__class__ is not int:
            break
    else:
        return tuple(values)
    try:
        return tuple(operator.index(v) for v in values)
    except TypeError:
        at, value = next(
            (i, v) for i, v in enumerate(values) if not hasattr(v, "__index__") or isinstance(v, Tensor) and v.ndim
        )
        raise TypeError(
            f"{name}(): argument '{shown}' (position {position}) must be tuple of ints, but found element of type "
            f"{argument_type_name(value)} at pos {at}"
        ) from None


def _not_ints(value, name, shown, position) -> TypeError:
    found = argument_type_name(value)
    return TypeError(f"{name}(): argument '{shown}' (position {position}) must be tuple of ints, not {found}")


def _sequence_of_ints(value, name: str, shown: str, position: int) -> tuple:
    if not isinstance(value, (tuple, list)):
        raise _not_ints(value, name, shown, position)
    return as_ints((value,), name, shown, position)


# --- view and reshape ---


@view(name="view", method=False, namespace=None)
def view_op(self: Array, size):
    if self.flags.c_contiguous:
        return self.reshape(size)
    return self.reshape(size, copy=False)


@view(name="_reshape_alias", node="ReshapeAliasBackward0", method=False, namespace=None)
def reshape_alias_op(self: Array, size):
    return self.reshape(size, copy=False)


@op(name="_unsafe_view", node="UnsafeViewBackward0", views=True, method=False, namespace=None)
def unsafe_view_op(self: Array, size):
    return self.reshape(size)


for _operation in (view_op, reshape_alias_op, unsafe_view_op):
    _operation.derivative(of="self")(lambda xp, grad, self_shape: xp.reshape(grad, self_shape))


def _check_size(shape: tuple, size: tuple) -> None:
    """RuntimeError unless a tensor of `shape` has as many elements as `size` says (one -1 left open)."""
    if size.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    for i, n in enumerate(size):
        if n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(size)}")
    numel, known = math.prod(shape), math.prod(n for n in size if n != -1)
    if -1 in size and known == 0 and numel == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension size -1 "
            "can be any value and is ambiguous"
        )
    if numel != known and (-1 not in size or known == 0 or numel % known):
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {numel}")


def _as_view(self, size: tuple, operation=view_op):
    """The view of this size; None where the strides do not allow one."""
    for n in size:
        if n < -1:
            _check_size(self._spec.shape, size)
    try:
        return operation.single(self, size)
    except ValueError:
        _check_size(self._spec.shape, size)
        return None


def _view(self, *shape, size=None, dtype=None):
    sizes = shape
    if len(shape) == 1:
        first = shape[0]
        if first.__class__ is tuple or first.__class__ is Size:
            sizes = first
        elif first.__class__ is dtype_class:
            return view_dtype(self, first)
    if shape:
        for n in sizes:
            if n.__class__ is not int or n < -1:
                break
        else:
            try:
                return view_op.single(self, sizes)
            except ValueError:
                pass  # the careful way finds the right words
    return _view_carefully(self, shape if size is None else (size,), dtype)


def _view_carefully(self, size, dtype):
    if dtype is not None and not size:
        return view_dtype(self, dtype)
    try:
        if not size:
            raise TypeError
        shape = as_ints(size, "view")
    except TypeError:
        got = ", ".join(argument_type_name(s) for s in size)
        raise TypeError(
            f"view() received an invalid combination of arguments - got ({got}), but expected one of:\n"
            " * (torch.dtype dtype)\n * (tuple of ints size)\n"
        ) from None
    out = _as_view(self, shape)
    if out is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return out


_view.__name__ = "view"
_view.__doc__ = """The same memory in another shape (view(2, -1)) or read as another dtype (view(torch.int32));
    RuntimeError where the strides do not allow it."""
put_method("view", _view)
view_op.function = _view


def reshaped(self, size: tuple):
    out = _as_view(self, size, view_op if self._array.flags.c_contiguous else reshape_alias_op)
    if out is not None:
        return out
    out = unsafe_view_op.single(clone_op.single(self, contiguous_format), size)
    out._view = None  # a tensor of its own: nobody else holds the copy
    return out


@composite(method=False)
def reshape(input, shape):
    """The elements in another shape: a view where the strides allow it, otherwise a copy."""
    return reshaped(expect_tensor(input, "reshape"), _sequence_of_ints(shape, "reshape", "shape", 2))


def _reshape(self, *sizes, shape=None):
    if shape is not None:
        sizes = (shape,)
    if not sizes:
        raise TypeError('reshape() missing 1 required positional arguments: "shape"')
    return reshaped(self, as_ints(sizes, "reshape", "shape"))


_reshape.__name__, _reshape.__doc__ = "reshape", reshape.__doc__
put_method("reshape", _reshape)


@method
def view_as(self, other):
    """A view with the shape of another tensor."""
    return self.view(expect_tensor(other, "view_as", "other")._spec.shape)


@method
def reshape_as(self, other):
    """The elements in the shape of another tensor."""
    return reshaped(self, expect_tensor(other, "reshape_as", "other")._spec.shape)


@composite
def flatten(input, start_dim=0, end_dim=-1):
    """The dimensions from start_dim to end_dim as one; the tensor itself where that changes nothing."""
    shape = expect_tensor(input, "flatten")._spec.shape
    if start_dim == 0 and end_dim == -1 and len(shape) > 1:
        return reshaped(input, (input._spec.numel,))
    start = as_dim(start_dim, len(shape), "flatten", "start_dim")
    end = as_dim(end_dim, len(shape), "flatten", "end_dim", 2)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshaped(input, (1,))
    if start == end:
        return input
    return reshaped(input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


@composite
def unflatten(input, dim, sizes):
    """One dimension as several, whose sizes (one may be -1) multiply up to its size."""
    shape = expect_tensor(input, "unflatten")._spec.shape
    dim = as_dim(dim, len(shape), "unflatten")
    if not shape:
        raise RuntimeError(
            f"unflatten got an unexpected error:\nDimension specified as {dim} but tensor has no dimensions"
        )
    sizes = as_ints((sizes,), "unflatten", "sizes", 2)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if sizes.count(-1) > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    known = math.prod(n for n in sizes if n != -1)
    if known != shape[dim] and (-1 not in sizes or not known or shape[dim] % known):
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) in the "
            "input tensor"
        )
    if -1 in sizes:
        sizes = tuple(shape[dim] // known if n == -1 and known else max(n, 0) for n in sizes)
    return input.view((*shape[:dim], *sizes, *shape[dim + 1 :]))


@composite
def ravel(input):
    """All elements in one dimension: a view of the contiguous tensor."""
    return expect_tensor(input, "ravel").contiguous().view(-1)


@view(name="view_dtype", method=False, namespace=None)
def view_dtype_op(self: Array, dtype):
    return self.view(dtype.numpy)


def view_dtype(self, target):
    """The same memory read as another dtype; RuntimeError where the sizes of the elements do not go together."""
    source = self._spec.dtype
    if source is target:
        return view_op.single(self, self._spec.shape)
    before, after = self.element_size(), target.itemsize
    if before != after:
        what = f"to view {source.scalar_name} as {target.scalar_name} (different element sizes)"
        if not self._spec.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 {what}")
        ratio = after // before
        if after > before and self._spec.shape[-1] % ratio:
            raise RuntimeError(f"self.size(-1) must be divisible by {ratio} {what}, but got {self._spec.shape[-1]}")
        if after > before and self.storage_offset() % ratio:
            raise RuntimeError(
                f"self.storage_offset() must be divisible by {ratio} {what}, but got {self.storage_offset()}"
            )
        for i, stride in enumerate(self.stride()[:-1]) if after > before else ():
            if stride % ratio:
                raise RuntimeError(f"self.stride({i}) must be divisible by {ratio} {what}, but got {stride}")
        if self.stride(-1) != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 {what}, but got {self.stride(-1)}")
    out = view_dtype_op.single(self, target)
    if not out._spec.inexact:  # what is no number cannot carry a gradient: memory shared, history not
        out = out.detach()
    return out


# --- the order of dimensions ---


@view(name="transpose", method=False, namespace=None)
def transpose_op(self: Array, dim0: int, dim1: int):
    try:
        return self.swapaxes(dim0, dim1)
    except (IndexError, TypeError, ValueError):
        ndim = self.ndim
        dim0, dim1 = as_dim(dim0, ndim, "transpose", "dim0"), as_dim(dim1, ndim, "transpose", "dim1", 2)
        return self.swapaxes(dim0, dim1) if ndim else self.view()


@transpose_op.derivative(of="self")
def _(xp, grad, dim0, dim1):
    return xp.swapaxes(grad, dim0, dim1) if grad.ndim else grad


MISSING = object()


@composite
def transpose(input, dim0=MISSING, dim1=MISSING):
    """Two dimensions exchanged."""
    if dim1 is MISSING:
        return transpose_op.general(*([input] if dim0 is MISSING else [input, dim0]))
    return transpose_op.single(input, dim0, dim1)


@composite
def swapaxes(input, axis0, axis1):
    """Two dimensions exchanged."""
    return transpose_op.single(input, axis0, axis1)


@composite
def swapdims(input, dim0, dim1):
    """Two dimensions exchanged."""
    return transpose_op.single(input, dim0, dim1)


transpose_op.function = transpose


@view(name="t", method=False, namespace=None)
def t_op(self: Array):
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.transpose()


t_op.derivative(of="self")(lambda xp, grad: xp.swapaxes(grad, 0, 1) if grad.ndim == 2 else grad)


@composite
def t(input):
    """A matrix transposed; tensors of fewer dimensions as they are."""
    return t_op.single(input)


t_op.function = t


@view(name="permute", method=False, namespace=None)
def permute_op(self: Array, dims):
    return self.transpose(dims)


@permute_op.derivative(of="self")
def _(xp, grad, dims):
    return xp.transpose(grad, tuple(inverse_order(dims)))


def inverse_order(dims) -> list:
    inverse = [0] * len(dims)
    for i, d in enumerate(dims):
        inverse[d] = i
    return inverse


def _permuted(self, dims: tuple):
    ndim = self._spec.ndim
    if len(dims) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(dims)}"
        )
    dims = tuple([wrap_dim(d, ndim) for d in dims])
    if len(set(dims)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return permute_op.single(self, dims)


@composite(method=False)
def permute(input, dims):
    """The dimensions in another order."""
    return _permuted(expect_tensor(input, "permute"), _sequence_of_ints(dims, "permute", "dims", 2))


def _permute(self, *dims, **named):
    if named:
        dims = (named["dims"],) if set(named) == {"dims"} else dims
    if not dims and not named:
        raise TypeError('permute() missing 1 required positional arguments: "dims"')
    return _permuted(self, as_ints(dims, "permute", "dims"))


_permute.__name__, _permute.__doc__ = "permute", permute.__doc__
put_method("permute", _permute)
permute_op.function = permute


@composite(aliases=("moveaxis",))
def movedim(input, source, destination):
    """The dimensions `source` moved to the places `destination`, the others in their order."""
    ndim = expect_tensor(input, "movedim")._spec.ndim
    source, destination = as_ints((source,), "movedim", "source"), as_ints((destination,), "movedim", "destination", 2)
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same "
            f"number of dims as destination ({list(destination)} dims)"
        )
    froms, tos = [wrap_dim(d, ndim) for d in source], [wrap_dim(d, ndim) for d in destination]
    for name, given, dims in (("source", source, froms), ("destination", destination, tos)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    if not ndim:
        return OPS["alias"].single(input)
    order = [-1] * ndim
    for s, d in zip(froms, tos):
        order[d] = s
    rest = iter(i for i in range(ndim) if i not in froms)
    return permute_op.single(input, tuple(next(rest) if s < 0 else s for s in order))


def _reversed_dims(self):
    ndim = self._spec.ndim
    if ndim == 0:
        warn_once("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif ndim != 2:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )
    return permute_op.single(self, tuple(range(ndim - 1, -1, -1)))


def _matrices(self, what: str, advice: str):
    """The last two dimensions exchanged; the tensor itself, after a warning, where it has none."""
    ndim = self._spec.ndim
    if ndim == 0:
        warn_once(
            f"{what.removeprefix('tensor.') if '(' in what else what.capitalize()} is deprecated on 0-D tensors. "
            f"{advice}"
        )
        return self
    if ndim == 1:
        raise RuntimeError(f"{what} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return transpose_op.single(self, -2, -1)


def _conjugated(self):
    return self.conj() if self._spec.dtype.is_complex else self


def _hermitian(self):
    ndim = self._spec.ndim
    if ndim not in (0, 2):
        advice = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{advice}")
    return _conjugated(_matrices(self, "Tensor.H", "Consider using x.conj()."))


put_method("T", property(_reversed_dims, doc="The dimensions in reverse order."))
put_method("mT", property(
    lambda self: _matrices(self, "tensor.mT", "This function is the identity in these cases."),
    doc="The last two dimensions exchanged.",
))  # fmt: skip
put_method("H", property(_hermitian, doc="The conjugate transpose of a matrix."))
put_method("mH", property(
    lambda self: _conjugated(_matrices(self, "tensor.mH", "Consider using x.conj().")),
    doc="The conjugate transpose over the last two dimensions.",
))  # fmt: skip


@composite
def adjoint(input):
    """The conjugate transpose over the last two dimensions."""
    return _conjugated(_matrices(expect_tensor(input, "adjoint"), "tensor.adjoint()", "Consider using x.conj()."))
