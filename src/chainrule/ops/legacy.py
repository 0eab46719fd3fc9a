"""The older constructors: `Tensor(2, 3)`, `FloatTensor([1, 2])`, `t.new(…)`.

https://docs.pytorch.org/docs/stable/tensors.html
"""

import numpy as np

from ..core.declare import method
from ..core.device import device
from ..core.dtype import DTYPES, argument_type_name, get_default_dtype
from ..core.layout import strided
from ..core.registry import publish
from ..core.size import Size
from ..core.storage import TypedStorage, UntypedStorage, _within
from ..core.tensor import Tensor, wrap
from .creation import _is_index, allocate, finish, shape_of
from .data import array_of, checked_array, like_copy
from .slicing import alias

__all__ = ["tensortype"]


def construct(args: tuple, kwargs: dict, d, strict: bool) -> Tensor:
    """A tensor of the dtype from sizes, data, a storage or a tensor; `strict`: of this dtype only."""
    where = kwargs.pop("device", None)
    if where is not None and device(where).type != "cpu":
        raise RuntimeError(
            f"legacy constructor expects device type: cpu but device type: {device(where).type} was passed"
        )
    if "data" in kwargs and not args:
        args = (kwargs.pop("data"),)
    if kwargs:
        got = [argument_type_name(a) for a in args] + [f"{k}={argument_type_name(v)}" for k, v in kwargs.items()]
        raise TypeError(
            f"new() received an invalid combination of arguments - got ({', '.join(got)}), but expected one of:\n"
            " * (*, torch.device device = None)\n * (torch.Storage storage)\n * (Tensor other)\n"
            " * (tuple of ints size, *, torch.device device = None)\n * (object data, *, torch.device device = None)\n"
        )
    if not args:
        return finish(np.empty(0, d.numpy))
    first = args[0]
    if len(args) > 1 or isinstance(first, Size) or not isinstance(first, Tensor) and _is_index(first):
        return finish(allocate(np.empty, shape_of("new", args), d.numpy))
    if isinstance(first, Tensor):
        if strict and first._spec.dtype is not d:
            raise TypeError(f"expected {_options(d)} (got {_options(first._spec.dtype)})")
        return alias.function(first)
    if isinstance(first, (TypedStorage, UntypedStorage)):
        count = first.nbytes() // d.itemsize
        return wrap(_within(first, d, 0, (count,), (1,)))
    if isinstance(first, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(first).__name__}'")
    if isinstance(first, np.ndarray):
        checked_array(first)
        return finish(like_copy(first, d))
    if not hasattr(first, "__getitem__") or isinstance(first, (dict, np.generic)):
        raise TypeError(f"new(): data must be a sequence (got {argument_type_name(first)})")
    return finish(array_of(first, d))


def _options(d) -> str:
    return (
        f"TensorOptions(dtype={d.cpp_name}, device=cpu, layout=Strided, requires_grad=false (default), "
        "pinned_memory=false (default), memory_format=(nullopt))"
    )


def _new(cls, *args, **kwargs):
    """`Tensor(2, 3)`, `Tensor([1, 2])`, `Tensor(t)`: a tensor of the default dtype, or one that shares memory."""
    made = construct(args, kwargs, get_default_dtype(), False)
    if cls is Tensor:
        return made
    t = object.__new__(cls)
    t._array, t._spec, t._edge, t._view, t._counter = made._array, made._spec, made._edge, made._view, made._counter
    return t


Tensor.__new__ = _new  # type: ignore[method-assign]


@method
def new(self, *args, **kwargs):
    """A tensor of this one's dtype from sizes or data, as the older constructors take them."""
    return construct(args, kwargs, self._spec.dtype, True)


class tensortype(type):
    """The type of `torch.FloatTensor` and its kin: constructors of one dtype, and `isinstance` tests for it."""

    __module__ = "torch"
    layout = strided
    is_cuda = False
    is_sparse = False

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and instance._spec.dtype is cls.dtype

    def __call__(cls, *args, **kwargs):
        return construct(args, kwargs, cls.dtype, True)


for _d in DTYPES.values():
    if not _d.is_complex and not _d.name.startswith(("uint16", "uint32", "uint64")):
        _name = f"{_d.scalar_name}Tensor"
        publish(
            "torch", _name, tensortype(_name, (), {"__module__": "torch", "dtype": _d, "__doc__": f"Tensors of {_d}."})
        )
