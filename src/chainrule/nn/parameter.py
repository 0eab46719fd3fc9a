"""`Parameter`: a tensor that a module learns."""

from collections import OrderedDict

import numpy as np

from ..core.conversion import make_subclass
from ..core.dtype import get_default_dtype
from ..core.storage import _rebuild_parameter, _rebuild_parameter_with_state
from ..core.tensor import Tensor, wrap

__all__ = ["Buffer", "Parameter"]


class _ParameterType(type):
    """A tensor of another subclass that was made a parameter counts as a Parameter."""

    def __instancecheck__(cls, instance):
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterType):
    """A leaf tensor that requires grad (unless told otherwise) and shares its memory with `data`.

    Results of operations on it are plain tensors. https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
    """

    __slots__ = ()
    __module__ = "torch.nn.parameter"
    _prints_as_tensor = True

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = wrap(np.empty(0, get_default_dtype().numpy))
        if type(data) is Tensor or type(data) is Parameter:
            return make_subclass(cls, data, requires_grad)
        data.detach()  # what is no tensor fails here, as in PyTorch
        made = make_subclass(type(data), data, requires_grad)
        made._is_param = True
        return made

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        made = type(self)(wrap(self._array.copy(order="K")), self.requires_grad)
        memo[id(self)] = made
        return made

    def __repr__(self, **options):
        return "Parameter containing:\n" + super().__repr__(**options)

    def __str__(self, **options):
        return self.__repr__(**options)

    def __reduce_ex__(self, protocol):
        args = (self.data, self.requires_grad, OrderedDict())
        if self.__dict__:
            return _rebuild_parameter_with_state, (*args, dict(self.__dict__))
        return _rebuild_parameter, args


class _BufferType(type):
    """Any tensor that was made a buffer counts as a Buffer."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferType):
    """Makes a tensor that a module registers as a buffer when it is assigned to an attribute.

    The result is an ordinary tensor that shares memory with `data`; `persistent` says whether it belongs to the
    `state_dict`. https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Buffer.html
    """

    __slots__ = ()
    __module__ = "torch.nn.parameter"

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = wrap(np.empty(0, get_default_dtype().numpy))
        made = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made
