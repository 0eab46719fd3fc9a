"""PyTorch's signatures: which arguments a function takes, and what is said of those that it does not take.

    @public("kthvalue", "Tensor input, int k, int dim=-1, bool keepdim=False, *, Tensors out=None")
    def kthvalue(input, k, dim=-1, keepdim=False, *, out=None): ...

Arguments are looked at before the function runs, as PyTorch's argument parser does it: of one signature, or where only
one of several has room for that many arguments, the TypeError names what is wrong; otherwise it names the combination.
A combination of types that was found right once is not looked at again.
"""

import functools
import re

import numpy as np

from ..core.call import own_code
from ..core.declare import put_method
from ..core.dtype import INTEGER, argument_type_name, dtype
from ..core.registry import publish
from ..core.tensor import Tensor

__all__ = ["public", "checked", "explained"]

# --- types ---


def _is_tensor(value) -> bool:
    return isinstance(value, Tensor)


def _is_int(value) -> bool:
    if isinstance(value, (int, np.integer)):
        return not isinstance(value, bool)
    return isinstance(value, Tensor) and _plain(value) and value._spec.dtype.category == INTEGER


def _plain(value) -> bool:
    return value._spec.ndim == 0 and not value.requires_grad


def _is_float(value) -> bool:
    return isinstance(value, (int, float, np.number)) or isinstance(value, Tensor) and _plain(value)


def _is_number(value) -> bool:
    return isinstance(value, complex) or _is_float(value)


def _is_dtype(value) -> bool:
    return isinstance(value, dtype) or value in (float, bool, int, complex)


def _all(accepts):
    return lambda value: isinstance(value, (tuple, list)) and all(map(accepts, value))


_TYPES = {
    "Tensor": ("Tensor", _is_tensor),
    "int": ("int", _is_int),
    "float": ("float", _is_float),
    "Number": ("Number", _is_number),
    "bool": ("bool", lambda value: isinstance(value, (bool, np.bool_))),
    "str": ("str", lambda value: isinstance(value, str)),
    "dtype": ("torch.dtype", _is_dtype),
    "ints": ("tuple of ints", _all(_is_int)),
    "ints1": ("tuple of ints", lambda value: _is_int(value) or _all(_is_int)(value)),
    "any": ("object", lambda value: True),
    "floats": ("tuple of floats", _all(_is_float)),
    "Numbers": ("tuple of Scalars", _all(_is_number)),
    "Tensors": ("tuple of Tensors", _all(_is_tensor)),
}
_ELEMENTS = {"ints": "int", "ints1": "int", "Tensors": "Tensor"}
_ALIASES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
_RENAMED = {alias: name for name, aliases in _ALIASES.items() for alias in aliases}


class Parameter:
    """One parameter: name, type, whether it may be left out, be None, be given by position."""

    __slots__ = ("name", "type", "accepts", "elements", "optional", "nullable", "keyword_only")

    def __init__(self, text: str, keyword_only: bool):
        text, _, default = text.partition("=")
        kind, self.name = text.split()
        self.nullable = kind.endswith("?") or default == "None"
        kind = kind.rstrip("?")
        self.type, self.accepts = _TYPES[kind]
        self.elements = _TYPES[_ELEMENTS[kind]][1] if kind in _ELEMENTS else None
        self.optional = bool(default)
        self.keyword_only = keyword_only

    def wrong_element(self, value):
        """(place, element) of the first element that does not fit; None where the value itself does not."""
        if self.elements is not None and isinstance(value, (tuple, list)):
            for place, element in enumerate(value):
                if not self.elements(element):
                    return place, element
        return None


_ABSENT = object()


class Signature:
    """The parameters of one way to call a function."""

    def __init__(self, parameters: list):
        self.parameters = parameters
        self.names = [p.name for p in parameters]
        self.positional = sum(not p.keyword_only for p in parameters)
        self.least = sum(not p.optional for p in parameters)

    @classmethod
    def read(cls, text: str, method: bool) -> "Signature":
        """A signature from its text; that of the method has neither the first parameter nor `out`."""
        parameters, keyword_only = [], False
        for part in re.split(r", (?![^()]*\))", text):
            if part == "*":
                keyword_only = True
            elif part:
                parameters.append(Parameter(part, keyword_only))
        if method:
            parameters = [p for p in parameters[1:] if p.name != "out"]
        return cls(parameters)

    def problem(self, name: str, args: tuple, kwargs: dict) -> str:
        """What is wrong with these arguments; empty where nothing is."""
        count = len(args)
        if count > self.positional:
            return self._too_many(name, count)
        used = 0
        for i, p in enumerate(self.parameters):
            by_position = i < count
            value = args[i] if by_position else _named(p.name, kwargs)
            used += not by_position and value is not _ABSENT
            if value is _ABSENT:
                if not p.optional:
                    return self._missing(name, i)
            elif not (value is None and p.nullable or p.accepts(value)):
                where = f" (position {i + 1})" if by_position else ""
                wrong = p.wrong_element(value) if by_position else None
                if wrong is not None and wrong[0] and "int" in p.type:  # PyTorch looks at the first element only
                    return (
                        f"{name}(): argument '{p.name}' failed to unpack the object at pos {wrong[0] + 1} with error "
                        f'"type must be {p.type},but got {argument_type_name(wrong[1])}"'
                    )
                if wrong is not None:
                    found = f"found element of type {argument_type_name(wrong[1])} at pos {wrong[0]}"
                    return f"{name}(): argument '{p.name}'{where} must be {p.type}, but {found}"
                return f"{name}(): argument '{p.name}'{where} must be {p.type}, not {argument_type_name(value)}"
        if used < len(kwargs):
            return self._unexpected(name, count, kwargs)
        return ""

    def _too_many(self, name: str, count: int) -> str:
        most, least = self.positional, self.least
        if most != least:
            return f"{name}() takes from {least} to {most} positional arguments but {count} were given"
        were = "was" if count == 1 else "were"
        return f"{name}() takes {most} positional argument{'s' * (most != 1)} but {count} {were} given"

    def _missing(self, name: str, at: int) -> str:
        missing = [p.name for p in self.parameters[at:] if not p.optional]
        listed = ", ".join(f'"{m}"' for m in missing)
        return f"{name}() missing {len(missing)} required positional argument{'s' * (len(missing) == 1)}: {listed}"

    def _unexpected(self, name: str, count: int, kwargs: dict) -> str:
        for key in kwargs:
            known = _RENAMED.get(key, key)
            if key not in self.names and (known not in self.names or self.names.index(known) < count):
                return f"{name}() got an unexpected keyword argument '{key}'"
            if self.names.index(key if key in self.names else known) < count:
                return f"{name}() got multiple values for argument '{key}'"
        return f"{name}(): invalid keyword arguments"


def _named(name: str, kwargs: dict):
    if name in kwargs:
        return kwargs[name]
    for alias in _ALIASES.get(name, ()):
        if alias in kwargs:
            return kwargs[alias]
    return _ABSENT


def check(name: str, signatures, args: tuple, kwargs: dict) -> None:
    """TypeError in PyTorch's words where the arguments fit none of the signatures."""
    if args and not signatures[0].parameters and len(signatures) == 1:
        raise TypeError(f"Tensor.{name}() takes no arguments ({len(args)} given)")
    problem = ""
    for signature in signatures:
        problem = signature.problem(name, args, kwargs)
        if not problem:
            return
    count = len(args) + len(kwargs)
    likely = [s for s in signatures if s.least <= count <= len(s.parameters)]
    if len(signatures) > 1 and len(likely) != 1:
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got {_shown(args, kwargs)}, but expected one of:"
        )
    raise TypeError(problem if len(signatures) == 1 else likely[0].problem(name, args, kwargs))


def _shown(args: tuple, kwargs: dict) -> str:
    shown = [argument_type_name(a) for a in args] + [f"{k}={argument_type_name(v)}" for k, v in sorted(kwargs.items())]
    return f"({', '.join(shown)}{', ' if kwargs and not args else ''})"


def _types_say_all(signatures, args: tuple, kwargs: dict) -> bool:
    """Whether other arguments of these types are right as well: no lists, and tensors only where tensors are meant."""
    first = signatures[0]
    for i, value in enumerate(args):
        if isinstance(value, (list, tuple)):
            return False
        if isinstance(value, Tensor) and (i >= len(first.parameters) or first.parameters[i].type != "Tensor"):
            return False
    for name, value in kwargs.items():
        if isinstance(value, (list, tuple)):
            return False
        if isinstance(value, Tensor) and not any(p.name == name and p.type == "Tensor" for p in first.parameters):
            return False
    return True


def checked(name: str, signatures: tuple, function, method: bool = False):
    """`function` with its arguments looked at first, as function or as Tensor method."""
    read: list = []  # the texts are read at the first call: reading all of them takes milliseconds
    right: set = set()

    def slow(key: tuple, args: tuple, kwargs: dict):
        if not read:
            read.extend(Signature.read(text, method) for text in signatures)
        given = args[1:] if method else args
        check(name, read, given, kwargs)
        renamed = _without_aliases(kwargs, read)
        if renamed.keys() == kwargs.keys() and _types_say_all(read, given, kwargs):
            right.add(key)
        return function(*args, **renamed)

    @functools.wraps(function)
    def call(*args, **kwargs):
        if kwargs:
            key = (*map(type, args), *kwargs, *map(type, kwargs.values()))
            return function(*args, **kwargs) if key in right else slow(key, args, kwargs)
        key = tuple(map(type, args))
        return function(*args) if key in right else slow(key, args, kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def _without_aliases(kwargs: dict, signatures) -> dict:
    """Keyword arguments under their first names: dim for axis."""
    renamed = {k: v for k, v in kwargs.items() if k not in _RENAMED or any(k in s.names for s in signatures)}
    renamed.update({_RENAMED[k]: v for k, v in kwargs.items() if k not in renamed})
    return renamed


def explained(name: str, signatures: tuple, function, method: bool = False):
    """`function`, which raises TypeError or AttributeError for arguments that do not fit, in PyTorch's words: only then
    are they looked at by the signatures. It need not know aliases of keyword arguments."""
    read: list = []

    def corrected(args: tuple, kwargs: dict):
        if method and not args:
            return kwargs
        if not read:
            read.extend(Signature.read(text, method) for text in signatures)
        try:
            check(name, read, args[1:] if method else args, kwargs)
        except TypeError as error:
            raise error from None
        return _without_aliases(kwargs, read)

    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (TypeError, AttributeError):
            renamed = corrected(args, kwargs)
            if renamed.keys() == kwargs.keys():
                raise
        return function(*args, **renamed)

    call = functools.update_wrapper(own_code(call), function)
    call.__name__ = call.__qualname__ = name
    return call


def public(name: str, *signatures: str, method=True, namespace="torch"):
    """Decorator: publish a function of Tensors under `name`, as function and as Tensor method, with its arguments checked."""

    def declare(function):
        made = checked(name, signatures, function)
        if namespace:
            publish(namespace, name, made)
        if method:
            put_method(name, checked(name, signatures, function, method=True))
        return made

    return declare
