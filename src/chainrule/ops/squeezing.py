"""Dimensions of size 1: squeeze, unsqueeze, atleast_1d and their in-place twins; t_ and transpose_."""

from ..core.declare import Array, composite, method, put_method, view
from ..core.dtype import argument_type_name
from ..core.placing import strided
from ..core.registry import publish
from ..core.tensor import Tensor
from .shape import MISSING, as_dim, as_int, expect_tensor, reshaped, t_op, transpose_op

__all__ = ["squeeze", "unsqueeze_op", "atleast_1d", "atleast_2d", "atleast_3d"]


def squeeze_kernel(self):
    return self.squeeze()


def squeeze_dim_kernel(self, dim: int):
    dim = as_dim(dim, self.ndim, "squeeze")
    return self.squeeze(dim) if self.ndim and self.shape[dim] == 1 else self.view()


def squeeze_dims_kernel(self, dim):
    ndim = self.ndim
    dims = [as_dim(d, ndim, "squeeze") for d in dim]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return self.squeeze(tuple(d for d in dims if self.shape[d] == 1)) if ndim else self.view()


def unsqueeze_kernel(self, dim: int):
    at = dim if dim.__class__ is int else as_int(dim, "unsqueeze")
    ndim = self.ndim + 1
    if at < 0:
        at += ndim
    if not 0 <= at < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    shape = self.shape
    if self.flags.c_contiguous and 1 not in shape:
        return self.reshape((*shape[:at], 1, *shape[at:]))
    strides = self.strides
    new = self.itemsize if at == self.ndim else shape[at] * strides[at]
    return strided(self, (*shape[:at], 1, *shape[at:]), (*strides[:at], new, *strides[at:]))


def _declare_pair(kernel, name: str, node: str, inplace_node: str, formula):
    """A view and its in-place twin, whose nodes PyTorch numbers apart."""
    parameters = kernel.__annotations__
    parameters["self"] = Array
    out = []
    for suffix, node_name in (("", node), ("_inplace", inplace_node)):
        operation = view(kernel, name=name + suffix, node=node_name, method=False, namespace=None)
        operation.derivative(of="self")(formula)
        operation.name = name.partition("_")[0] + ("_" if suffix else "")
        out.append(operation)
    return out


def _undone(xp, grad, self_shape):
    return xp.reshape(grad, self_shape)


squeeze_op, squeeze_op_ = _declare_pair(squeeze_kernel, "squeeze", "SqueezeBackward0", "SqueezeBackward3", _undone)
squeeze_dim, squeeze_dim_ = _declare_pair(
    squeeze_dim_kernel, "squeeze_dim", "SqueezeBackward1", "SqueezeBackward4", _undone
)
squeeze_dims, squeeze_dims_ = _declare_pair(
    squeeze_dims_kernel, "squeeze_dims", "SqueezeBackward2", "SqueezeBackward5", _undone
)
unsqueeze_op, unsqueeze_op_ = _declare_pair(
    unsqueeze_kernel, "unsqueeze", "UnsqueezeBackward0", "UnsqueezeBackward1", _undone
)


def _squeeze_arguments(self, dim):
    if dim is None or isinstance(dim, (tuple, list)):
        return
    if not hasattr(dim, "__index__"):
        raise TypeError(
            f"squeeze() received an invalid combination of arguments - got ({argument_type_name(dim)}), but expected "
            "one of:\n"
            " * ()\n * (int dim)\n * (tuple of ints dim)\n * (name dim)\n"
        )


@composite
def squeeze(input, dim=None):
    """Without the dimensions of size 1: all of them, or those named by an integer or a tuple."""
    expect_tensor(input, "squeeze")
    if dim is None:
        return squeeze_op.single(input)
    _squeeze_arguments(input, dim)
    return (squeeze_dims if isinstance(dim, (tuple, list)) else squeeze_dim).single(input, dim)


@composite
def squeeze_(input, dim=None):
    """Take the dimensions of size 1 off this tensor: all of them, or those named by an integer or a tuple."""
    expect_tensor(input, "squeeze_")
    if dim is None:
        return squeeze_op_.inplace(input)
    _squeeze_arguments(input, dim)
    return (squeeze_dims_ if isinstance(dim, (tuple, list)) else squeeze_dim_).inplace(input, dim)


def _unsqueeze(input, dim=MISSING):
    return unsqueeze_op.general(input) if dim is MISSING else unsqueeze_op.single(input, dim)


def _unsqueeze_(*args, **kwargs):
    return unsqueeze_op_.inplace(*args, **kwargs)


_unsqueeze.__doc__ = "With a new dimension of size 1 at `dim`."
_unsqueeze_.__doc__ = "Give this tensor a new dimension of size 1 at `dim`."
for _name, _function in (("unsqueeze", _unsqueeze), ("unsqueeze_", _unsqueeze_)):
    _function.__name__ = _name
    put_method(_name, _function)
publish("torch", "unsqueeze", _unsqueeze)
squeeze_op.function, unsqueeze_op.function = squeeze, _unsqueeze


def _t_kernel(self: Array):
    if self.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.transpose()


t_inplace = view(_t_kernel, name="t_inplace", node="TBackward1", method=False, namespace=None)
t_inplace.derivative(of="self")(t_op.formulas["self"].function)
transpose_inplace = view(
    transpose_op.kernel, name="transpose_inplace", node="TransposeBackward1", method=False, namespace=None
)
transpose_inplace.derivative(of="self")(transpose_op.formulas["self"].function)


@method
def t_(self):
    """Transpose this matrix in place."""
    return t_inplace.inplace(self)


def _transpose_(self, dim0, dim1):
    """Exchange two dimensions of this tensor in place."""
    return transpose_inplace.inplace(self, dim0, dim1)


for _name in ("transpose_", "swapaxes_", "swapdims_"):
    put_method(_name, _transpose_)


@composite
def atleast_1d(*tensors):
    """Tensors with at least one dimension: one tensor, or a tuple of them."""
    return _atleast(tensors, lambda x: reshaped(x, (1,)) if x._spec.ndim == 0 else x)


@composite
def atleast_2d(*tensors):
    """Tensors with at least two dimensions: one tensor, or a tuple of them."""

    def widen(x):
        ndim = x._spec.ndim
        return reshaped(x, (1, 1)) if ndim == 0 else unsqueeze_op.single(x, 0) if ndim == 1 else x

    return _atleast(tensors, widen)


@composite
def atleast_3d(*tensors):
    """Tensors with at least three dimensions: one tensor, or a tuple of them."""

    def widen(x):
        ndim = x._spec.ndim
        if ndim == 0:
            return reshaped(x, (1, 1, 1))
        if ndim == 1:
            return unsqueeze_op.single(unsqueeze_op.single(x, 0), -1)
        return unsqueeze_op.single(x, -1) if ndim == 2 else x

    return _atleast(tensors, widen)


def _atleast(tensors, widen):
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return widen(tensors[0])
    if len(tensors) == 1:
        tensors = tensors[0]
    return tuple(widen(x) for x in tensors)
