"""Between tensors and the rest of Python: numbers, lists, text, NumPy arrays, subclasses.

Importing this module puts the methods on `Tensor`.
"""

import numbers
import warnings

import numpy as np

from .declare import method
from .dtype import argument_type_name, bfloat16
from .printing import tensor_text
from .registry import METHODS, OPS
from .spec import spec_of
from .tensor import LEAF, Tensor, wrap

__all__ = ["from_array", "make_subclass"]


# --- numbers ---------------------------------------------------------------------------------------------------------


@method
def item(self):
    """The only element as a Python number; RuntimeError unless there is exactly one."""
    try:
        return self._array.item()
    except ValueError:
        raise RuntimeError(f"a Tensor with {self._spec.numel} elements cannot be converted to Scalar") from None


@method
def tolist(self):
    """The elements as Python numbers in nested lists; one number for a 0-dim tensor."""
    return self._array.tolist()


@method
def is_nonzero(self) -> bool:
    """Whether the only element is not zero; RuntimeError unless there is exactly one."""
    return self.__bool__()


def _bool(self):
    if self._spec.numel != 1:
        many = "more than one value" if self._spec.numel else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
    return bool(self._array.item())


_warned: set[str] = set()


def warn_once(text: str) -> None:
    """Warn with this text, once in a process, at the caller of the public function."""
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, UserWarning, stacklevel=4)


def _number(self, c_type: str):
    if self._spec.numel != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    found = self._array.item()
    if c_type != "int64_t" and self.requires_grad:
        warn_once("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.")
    if type(found) is complex and c_type:
        if found.imag != 0:
            raise RuntimeError(f"value cannot be converted to type {c_type} without overflow")
        return found.real
    return found


def _int(self):
    return int(_number(self, "int64_t"))


def _float(self):
    return float(_number(self, "double"))


def _complex(self):
    return complex(_number(self, ""))


def _index(self):
    if self._spec.numel != 1 or self._spec.inexact:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self._array.item())


# --- a tensor as a sequence ------------------------------------------------------------------------------------------


def _len(self):
    if not self._spec.ndim:
        raise TypeError("len() of a 0-d tensor")
    return self._spec.shape[0]


def _iter(self):
    if not self._spec.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def _reversed(self):
    return self.flip(0) if self._spec.ndim else self


def _contains(self, element):
    if isinstance(element, (Tensor, numbers.Number)):
        return (self == element).any().item()
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


# --- text ------------------------------------------------------------------------------------------------------------


def _repr(self, *, tensor_contents=None):
    cls = type(self)
    plain = cls is Tensor or "_prints_as_tensor" in cls.__dict__
    try:
        node = self.grad_fn
        name = None if node is None else node.name().rpartition("::")[2]
    except RuntimeError:  # a view whose history may not be made anew
        name = "Invalid"
    prefix = "tensor(" if plain else f"{cls.__name__}("
    text = tensor_text(
        self._array, self._spec.dtype, grad_fn_name=name, requires_grad=self.requires_grad, prefix=prefix
    )
    return (
        f"Parameter({text})" if not plain and (hasattr(cls, "_prints_as_tensor") or "_is_param" in vars(self)) else text
    )


def _format(self, spec):
    if not self._spec.ndim and type(self) is Tensor:
        return format(self._array.item(), spec)
    return object.__format__(self, spec)


# --- NumPy -----------------------------------------------------------------------------------------------------------


@method
def numpy(self, *, force=False):
    """The array that shares this tensor's memory; with `force` also where the tensor requires grad.

    RuntimeError for a tensor that requires grad, unless `force`.
    """
    if type(force) is not bool:
        raise TypeError(f"numpy(): argument 'force' must be bool, not {argument_type_name(force)}")
    if self.requires_grad and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if self._spec.dtype is bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    # A view: what the caller does to its shape or flags is not done to the tensor.
    return self._array.view()


def _array(self, dtype=None, copy=None):
    array = self.numpy()
    if dtype is None:
        return array.copy() if copy else array
    if copy is False and array.dtype != dtype:
        raise ValueError(
            "Unable to avoid copy while creating an array as requested.\nIf using `np.array(obj, copy=False)` "
            "replace it "
            "with `np.asarray(obj)` to allow a copy when needed (no behavior change in NumPy 1.x)."
        )
    return array.astype(dtype, copy=bool(copy))


def _array_wrap(self, array, context=None, return_scalar=False):
    """A tensor from what a NumPy function made of one; truth values become uint8, as in PyTorch."""
    if array.dtype == bool:
        array = array.astype(np.uint8)
    return from_array(array)


class _Foreign:
    """Memory that chainrule did not allocate, as a place where storages begin; kept alive by this object."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, array):
        self.owner = array
        self.__array_interface__ = {
            "data": (array.__array_interface__["data"][0], False),
            "shape": array.shape,
            "strides": array.strides,
            "typestr": array.dtype.str,
            "version": 3,
        }


def from_array(array) -> Tensor:
    """A tensor over the memory of a NumPy array; its storage begins at the array's first element.

    ValueError or TypeError for dtypes, byte orders and strides that tensors do not have. Memory that NumPy holds to be
    read-only can be written to through the tensor, after a warning, as in PyTorch.
    """
    spec_of(array)  # raises for what no tensor can hold
    if not array.flags.writeable:
        warn_once(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
            "writing "
            "to this tensor will result in undefined behavior. You may want to copy the array to protect its data "
            "or make "
            "it writable before converting it to a tensor. This type of warning will be suppressed for the rest of "
            "this "
            "program."
        )
    if array.flags.c_contiguous and array.base is None and array.flags.writeable:
        return wrap(array.view(np.ndarray))
    item = array.itemsize
    for stride in array.strides:
        if stride < 0:
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
                "currently supported. (You can probably work around this by making a copy of your array  with "
                "array.copy().) "
            )
        if stride % item:
            raise ValueError(
                "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate "
                "the memory."
            )
    return wrap(foreign(array))


def foreign(array: np.ndarray) -> np.ndarray:
    """The array as one whose memory begins with itself, whatever larger array it is a view of; writable."""
    if array.dtype.kind == "V":  # ml_dtypes' bfloat16 has no type string that NumPy reads back
        return foreign(array.view(np.uint16)).view(array.dtype)
    return np.asarray(_Foreign(array))


@method
def __dlpack__(self, *, stream=-1, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule of the tensor's memory; BufferError for one that requires grad."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._array.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)


@method
def __dlpack_device__(self):
    """(1, 0): the CPU."""
    return self._array.__dlpack_device__()


# --- subclasses ------------------------------------------------------------------------------------------------------


def make_subclass(cls, data, require_grad=False):
    """A leaf of class `cls` over the memory and version counter of `data`."""
    if not isinstance(data, Tensor):
        raise TypeError(
            f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {argument_type_name(data)}"
        )
    if require_grad and not data._spec.inexact:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    t = object.__new__(cls)
    t._array = data._array
    t._spec = data._spec
    t._edge = LEAF if require_grad else None
    t._view = None
    t._counter = data._counter
    return t


@method
def as_subclass(self, cls):
    """This tensor, in the graph, as an instance of `cls`; TypeError unless that is a subclass of Tensor."""
    if not issubclass(cls, Tensor):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
            "class inherits from Tensor."
        )
    seen = OPS["alias"].function(self)
    t = object.__new__(cls)
    t._array, t._spec, t._edge, t._view, t._counter = seen._array, seen._spec, seen._edge, seen._view, seen._counter
    return t


_SPECIAL = {
    "__bool__": _bool,
    "__int__": _int,
    "__float__": _float,
    "__complex__": _complex,
    "__index__": _index,
    "__len__": _len,
    "__iter__": _iter,
    "__reversed__": _reversed,
    "__contains__": _contains,
    "__repr__": _repr,
    "__str__": _repr,
    "__format__": _format,
    "__array__": _array,
    "__array_wrap__": _array_wrap,
}
for _name, _function in _SPECIAL.items():
    _function.__name__ = _name
    _function.__qualname__ = f"Tensor.{_name}"
    setattr(Tensor, _name, _function)
METHODS.update(_SPECIAL)
Tensor._make_subclass = staticmethod(make_subclass)  # type: ignore[method-assign]
