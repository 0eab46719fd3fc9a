"""Storages, and what copies or restores whole tensors: copy, deepcopy, pickle.

A storage is the memory that a tensor and all its views share. It is made when somebody asks for it; two storages of one
memory are equal. A pickled tensor is its storage, its offset and its strides, so that views stay views:
https://docs.pytorch.org/docs/stable/notes/serialization.html
"""

import copy
from collections import OrderedDict

import numpy as np

from .declare import method
from .device import cpu
from .dtype import dtype as DType
from .spec import spec_of
from .tensor import LEAF, Tensor, strides_of, wrap
from .vocabulary import owner_of

__all__ = ["UntypedStorage", "TypedStorage"]


class _Memory:
    """Bytes at an address, as NumPy takes them; keeps their owner alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner, address: int, nbytes: int):
        self.owner = owner
        self.__array_interface__ = {
            "data": (address, not owner.flags.writeable),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }


def _bytes_of(owner) -> np.ndarray:
    """All memory of an array that owns it, from its first element to its last, as uint8."""
    if not owner.size:
        return np.empty(0, np.uint8)
    nbytes = owner.itemsize + sum((n - 1) * s for n, s in zip(owner.shape, owner.strides))
    return np.asarray(_Memory(owner, owner.__array_interface__["data"][0], nbytes))


class _Storage:
    """What both kinds of storage can do; `_flat` is their memory as a one-dimensional array."""

    __slots__ = ("_flat",)
    __module__ = "torch.storage"
    device = cpu
    is_cuda = False

    _flat: np.ndarray

    def data_ptr(self) -> int:
        """The address of the first byte; 0 where there is none."""
        return self._flat.__array_interface__["data"][0] if self._flat.size else 0

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._flat.nbytes

    def size(self) -> int:
        """The number of elements."""
        return self._flat.size

    __len__ = size

    def element_size(self) -> int:
        """Bytes per element."""
        return self._flat.itemsize

    def tolist(self) -> list:
        """The elements as Python numbers."""
        return self._flat.tolist()

    def __iter__(self):
        return iter(self._flat.tolist())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)._over(self._flat[index], self)
        return self._flat[index].item()

    def __setitem__(self, index, value):
        self._flat[index] = value

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return self.data_ptr() == other.data_ptr() and self.nbytes() == other.nbytes()

    def __hash__(self):
        return hash((self.data_ptr(), self.nbytes()))

    @property
    def _cdata(self) -> int:
        return self.data_ptr()

    def is_shared(self) -> bool:
        return False

    def is_pinned(self) -> bool:
        return False

    def cpu(self):
        return self

    def clone(self):
        """A storage of its own with the same elements."""
        return type(self)._over(self._flat.copy(), self)

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        key = ("storage", self.data_ptr(), self.nbytes())
        if key not in memo:
            memo[key] = self.clone()
        return memo[key]


class UntypedStorage(_Storage):
    """Memory as bytes; `UntypedStorage(n)` makes one of n bytes. https://docs.pytorch.org/docs/stable/storage.html"""

    __slots__ = ()
    __module__ = "torch.storage"
    dtype = None

    def __init__(self, data=0):
        self._flat = np.zeros(data, np.uint8) if isinstance(data, int) else np.array(data, np.uint8)

    @classmethod
    def _over(cls, flat, like=None) -> "UntypedStorage":
        made = object.__new__(cls)
        made._flat = flat
        return made

    def untyped(self) -> "UntypedStorage":
        return self

    def __repr__(self):
        listed = "".join(f" {v}\n" for v in self._flat.tolist())
        return f"{listed}[torch.storage.UntypedStorage(device=cpu) of size {len(self)}]"

    def __reduce__(self):
        return _storage_of_bytes, (self._flat.tobytes(),)


class TypedStorage(_Storage):
    """Memory as elements of one dtype, as the older interface of PyTorch shows it."""

    __slots__ = ("dtype",)
    __module__ = "torch.storage"
    dtype: DType

    def __init__(self, *, wrap_storage: UntypedStorage, dtype: DType):
        self._flat = wrap_storage._flat.view(dtype.numpy)
        self.dtype = dtype

    @classmethod
    def _over(cls, flat, like) -> "TypedStorage":
        made = object.__new__(cls)
        made._flat = flat
        made.dtype = like.dtype
        return made

    @property
    def _untyped_storage(self) -> UntypedStorage:
        return self.untyped()

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return UntypedStorage._over(self._flat.view(np.uint8))

    def __repr__(self):
        listed = "".join(f" {v}\n" for v in self._flat.tolist())
        return f"{listed}[torch.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size {len(self)}]"

    def __reduce__(self):
        return _rebuild_storage, (self.untyped(), self.dtype)


# Pickles name functions of this module, since classes go by PyTorch's names for their modules.


def _storage_of_bytes(data: bytes) -> UntypedStorage:
    return UntypedStorage._over(np.frombuffer(bytearray(data), np.uint8))


def _rebuild_storage(untyped: UntypedStorage, dtype: DType) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=dtype)


# --- of a tensor -----------------------------------------------------------------------------------------------------


@method
def untyped_storage(self) -> UntypedStorage:
    """The memory that this tensor and all its views share, as bytes."""
    return UntypedStorage._over(_bytes_of(owner_of(self._array)))


@method
def _typed_storage(self) -> TypedStorage:
    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self._spec.dtype)


@method
def storage(self) -> TypedStorage:
    """The memory that this tensor and all its views share, as elements of its dtype."""
    return self._typed_storage()


@method
def is_set_to(self, tensor) -> bool:
    """Whether both show the same elements of the same storage with the same shape and strides."""
    a, b = self._array, tensor._array
    same = a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype
    return same and self.data_ptr() == tensor.data_ptr()


def _within(storage, d: DType, offset: int, size, stride) -> np.ndarray:
    """The array with this place in the memory of a storage, all counted in elements."""
    item = d.numpy.itemsize
    flat = storage._flat.view(np.uint8)
    if 0 in size:
        return np.empty(tuple(size), d.numpy)
    return np.ndarray(tuple(size), d.numpy, flat, offset * item, tuple(s * item for s in stride))


# --- pickle ----------------------------------------------------------------------------------------------------------


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    t = wrap(_within(storage, storage.dtype, storage_offset, size, stride))
    t._edge = LEAF if requires_grad else None
    return t


def _rebuild_parameter(data, requires_grad, backward_hooks):
    from ..nn.parameter import Parameter  # a layer above: asked for only when a Parameter is restored

    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    made = _rebuild_parameter(data, requires_grad, backward_hooks)
    made.__dict__.update(state)
    return made


def _rebuild_from_type_v2(func, new_type, args, state):
    made = func(*args)
    if new_type is not None:
        made = Tensor._make_subclass(new_type, made, made.requires_grad)
    made.__dict__.update(state)
    return made


def _reduce_ex(self, protocol):
    place = (self._typed_storage(), self.storage_offset(), tuple(self._spec.shape), strides_of(self._array))
    args = (*place, self.requires_grad, OrderedDict())
    if type(self) is Tensor and not self.__dict__:
        return _rebuild_tensor_v2, args
    kind = None if type(self) is Tensor else type(self)
    return _rebuild_from_type_v2, (_rebuild_tensor_v2, kind, args, dict(self.__dict__))


def _setstate(self, state):
    """Take over what PyTorch before version 0.4 pickled: (requires_grad, …, hooks)."""
    requires_grad, _, self_hooks = state
    self.requires_grad_(requires_grad)


# --- deepcopy --------------------------------------------------------------------------------------------------------


def _deepcopy(self, memo):
    if self._node() is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
            "moment.  If "
            "you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        return memo[id(self)]
    t = object.__new__(type(self))
    memo[id(self)] = t
    t._array = _deep_array(self, memo)
    t._spec = spec_of(t._array)
    t._edge = LEAF if self.requires_grad else None
    t._view = None
    t._counter = [0]
    grad = getattr(self, "_grad", None)
    if grad is not None:
        t._grad = copy.deepcopy(grad, memo)
    if self.__dict__:
        t.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return t


def _deep_array(self, memo) -> np.ndarray:
    """The tensor's array over a copy of its whole storage, which views of that storage in one deepcopy share."""
    copied = copy.deepcopy(self.untyped_storage(), memo)
    return _within(copied, self._spec.dtype, self.storage_offset(), self._spec.shape, strides_of(self._array))


for _name, _function in {"__reduce_ex__": _reduce_ex, "__setstate__": _setstate, "__deepcopy__": _deepcopy}.items():
    _function.__name__ = _name
    _function.__qualname__ = f"Tensor.{_name}"
    setattr(Tensor, _name, _function)
