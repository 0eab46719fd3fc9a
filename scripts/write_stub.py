"""Write src/chainrule/core/tensor.pyi: what the Tensor class has once all operations are declared, for editors.

python scripts/write_stub.py            writes the file
python scripts/write_stub.py --check    exits with 1 where the file is out of date
"""

import inspect
import pathlib
import sys

import chainrule
from chainrule.core import tensor as module
from chainrule.core.registry import OPS
from chainrule.core.tensor import Tensor

PATH = pathlib.Path(module.__file__).with_suffix(".pyi")

HEAD = '''"""Written by scripts/write_stub.py: the methods that the declarations of the operations put on Tensor."""

from builtins import bool as Bool, complex as Complex, float as Float, int as Int, str as Str
from collections.abc import Iterator
from typing import Any

import numpy as np

from .device import device as Device
from .dtype import dtype as DType
from .layout import layout as Layout
from .node import Node, RemovableHandle
from .size import Size
from .spec import Spec
from .storage import TypedStorage, UntypedStorage

# Tensor has methods called int, float and bool: inside the class the types go by these names.
Number = Int | Float | Complex

LEAF: Any
CPU: Device
'''

# What annotations in the source do not say, or say in names that mean something else here.
PROPERTIES = {
    "shape": "Size", "dtype": "DType", "device": "Device", "layout": "Layout", "grad": "Tensor | None",
    "data": "Tensor", "ndim": "int", "itemsize": "int", "nbytes": "int", "requires_grad": "bool", "is_leaf": "bool",
    "_version": "int",
    "grad_fn": "Node | None", "output_nr": "int", "retains_grad": "bool", "_base": "Tensor | None", "is_cpu": "bool",
    "grad_dtype": "DType", "name": "None", "T": "Tensor", "mT": "Tensor", "H": "Tensor", "mH": "Tensor",
    "real": "Tensor", "imag": "Tensor", "_grad_fn": "Node | None",
}  # fmt: skip
RETURNS = {
    "item": "Number", "tolist": "Any", "numpy": "np.ndarray", "__bool__": "bool", "__int__": "int",
    "__float__": "float", "__complex__": "complex", "__index__": "int", "__len__": "int", "__contains__": "bool",
    "__iter__": "Iterator[Tensor]",
    "__repr__": "str", "__str__": "str", "__format__": "str", "__array__": "np.ndarray", "__hash__": "int",
    "stride": "Any", "size": "Any", "untyped_storage": "UntypedStorage", "storage": "TypedStorage",
    "_typed_storage": "TypedStorage", "detach": "Tensor", "detach_": "Tensor", "requires_grad_": "Tensor",
    "is_floating_point": "bool", "is_complex": "bool", "is_signed": "bool", "is_same_size": "bool",
}  # fmt: skip
OPERATORS = {
    f"__{side}{name}__"
    for side in ("", "r", "i")
    for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
} | {"__neg__", "__pos__", "__abs__", "__invert__", "__getitem__", "__reversed__", "__deepcopy__", "__array_wrap__"}
SLOTS = {"_array": "np.ndarray", "_spec": "Spec", "_edge": "Any", "_view": "Any", "_counter": "Any", "_grad": "Any",
         "_leaf": "Any"}  # fmt: skip
SKIPPED = {"__module__", "__doc__", "__slots__", "__annotations__", "__weakref__", "__dict__", "__hash__",
           "__static_attributes__", "__firstlineno__", "__annotate_func__", "__annotations_cache__", "_kind",
           "__array_priority__", *SLOTS}  # fmt: skip
BUILT_IN = ("int", "bool", "float", "str", "None", "tuple[int, ...]", "RemovableHandle", "Node | None",
            "UntypedStorage", "TypedStorage", "Tensor")  # fmt: skip


def operations() -> dict:
    """The operation that stands behind each function that was put on the class, and whether it is the in-place twin."""
    found = {}
    for operation in OPS.values():
        found[getattr(operation, "function", None)] = operation, False
        found[getattr(operation, "inplace_function", None)] = operation, True
    found.pop(None, None)
    return found


NAMED = {
    "bool": "Bool",
    "int": "Int",
    "float": "Float",
    "complex": "Complex",
    "str": "Str",
    "tuple[int, ...]": "tuple[Int, ...]",
}


def stub() -> str:
    """The text of the stub."""
    known = operations()
    lines = [HEAD, "class Tensor:"]
    lines += [f"    {name}: {kind}" for name, kind in SLOTS.items()]
    lines += [
        "    __array_priority__: int",
        "    def __new__(cls, *args: Any, device: Any = ..., **kwargs: Any) -> Tensor: ...",
    ]
    for name in sorted(vars(Tensor)):
        if name not in SKIPPED and name != "__new__":
            lines += member(name, vars(Tensor)[name], known)
    lines.append("")
    for name, value in sorted(vars(module).items()):
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
            lines.append(f"def {name}{signature(value)}: ...")
        elif inspect.isclass(value) and value.__module__ == module.__name__ and value is not Tensor and name[0] != "_":
            slots = value.__slots__ if isinstance(value.__slots__, tuple) else ()
            lines += [f"class {name}:", *(f"    {slot}: Any" for slot in slots)]
    return "\n".join(lines) + "\n"


def member(name: str, value, known: dict) -> list[str]:
    """The lines for one attribute of the class."""
    if isinstance(value, property):
        kind = PROPERTIES.get(name) or ("bool" if name.startswith("is_") else "Any")
        kind = NAMED.get(kind, kind)
        lines = ["    @property", f"    def {name}(self) -> {kind}: ..."]
        if value.fset is not None:
            lines += [f"    @{name}.setter", f"    def {name}(self, value: Any) -> None: ..."]
        if value.fdel is not None:
            lines += [f"    @{name}.deleter", f"    def {name}(self) -> None: ..."]
        return lines
    if isinstance(value, staticmethod):
        return ["    @staticmethod", f"    def {name}{signature(value.__func__)}: ..."]
    if isinstance(value, classmethod):
        return ["    @classmethod", f"    def {name}{signature(value.__func__)}: ..."]
    if not callable(value):
        return [f"    {name}: Any"]
    if value in known and all(
        p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in inspect.signature(value).parameters.values()
    ):
        operation, inplace = known[value]
        return [f"    def {name}{operation_signature(operation, inplace)}: ..."]
    returns = RETURNS.get(name) or ("Tensor" if name in OPERATORS else None)
    return [f"    def {name}{signature(value, returns)}: ..."]


def operation_signature(operation, inplace: bool) -> str:
    """The parameters of a declared operation: tensors where it takes tensors, numbers too where it promotes."""
    parts = []
    starred = len(operation.params) - operation.keyword_only
    for i, (name, kind) in enumerate(zip(operation.params, operation.kinds)):
        if i == 0:
            parts.append("self")
            continue
        if operation.varargs == name:
            parts.append(f"*{name}: Any")
            starred = -1
            continue
        if i == starred:
            parts.append("*")
        tensor = "Tensor | Number" if name in operation.promote else "Tensor"
        text = {"one": tensor, "optional": "Tensor | None", "many": "Any"}.get(kind, "Any")
        required = type(operation.defaults[i]) is object
        parts.append(f"{name}: {text}" + ("" if required else " = ..."))
    if operation.params and operation.params[0] != "self":
        parts[0] = "self"
    several = operation.multi or operation.nondifferentiable_outputs
    returns = "Any" if several and not inplace else "Tensor"
    return f"({', '.join(parts)}, **kwargs: Any) -> {returns}"


def signature(function, returns: str | None = None) -> str:
    """The parameters of a plain function, typed where its own annotations can be read here."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return "(self, *args: Any, **kwargs: Any) -> Any"
    parts, starred = [], False
    for i, p in enumerate(found.parameters.values()):
        name, default = p.name, "" if p.default is p.empty else " = ..."
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{name}: Any")
            starred = True
        elif p.kind is p.VAR_KEYWORD:
            parts.append(f"**{name}: Any")
        else:
            if p.kind is p.KEYWORD_ONLY and not starred:
                parts.append("*")
                starred = True
            first = i == 0 and name in ("self", "cls", "input")
            parts.append(name.replace("input", "self") if first else f"{name}: Any{default}")
    said = found.return_annotation
    said = said if isinstance(said, str) else getattr(said, "__name__", "") if said is not found.empty else ""
    if returns is None:
        returns = said if said in BUILT_IN else "None" if said == "NoneType" else "Any"
    returns = NAMED.get(returns, returns)
    return f"({', '.join(parts)}) -> {returns}"


def main() -> int:
    text = stub()
    if "--check" in sys.argv[1:]:
        return 0 if PATH.exists() and PATH.read_text() == text else 1
    PATH.write_text(text)
    print(f"{PATH}: {text.count('def ')} definitions, chainrule {chainrule.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
