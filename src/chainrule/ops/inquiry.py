"""What may be asked of a tensor by a function: is_tensor, numel, is_floating_point, typename."""

import inspect

from ..core.dtype import argument_type_name
from ..core.registry import publish
from ..core.storage import TypedStorage, UntypedStorage
from ..core.tensor import Tensor

__all__ = ["is_storage", "is_tensor", "typename"]


def is_tensor(obj, /) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj, /) -> bool:
    """Whether an object is a storage."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


def typename(obj, /) -> str:
    """The name of an object's type: "torch.FloatTensor" for a tensor, the qualified name of a class or function."""
    if isinstance(obj, Tensor):
        return obj._spec.dtype.type_name
    module = getattr(obj, "__module__", None) or ""
    name = ""
    if hasattr(obj, "__qualname__"):
        name = obj.__qualname__
    elif hasattr(obj, "__name__"):
        name = obj.__name__
    else:
        module = obj.__class__.__module__ or ""
        name = obj.__class__.__qualname__
    return name if module in ("", "builtins") else f"{module}.{name}"


for _function in (is_tensor, is_storage, typename):
    publish("torch", _function.__name__, _function)


def _asking(name: str):
    """The function form of a method that asks something of a tensor."""
    ask = inspect.getattr_static(Tensor, name)

    def function(input, *args):
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {argument_type_name(input)}")
        return ask(input, *args)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = ask.__doc__ or f"What the method `{name}` of the tensor says."
    publish("torch", name, function)


for _name in (
    "is_complex", "is_conj", "is_distributed", "is_floating_point", "is_inference", "is_neg", "is_nonzero",
    "is_same_size", "is_signed", "numel", "get_device",
):  # fmt: skip
    _asking(_name)
