"""The types of results with names: `values, indices = x.max(0)`, or `x.max(0).values`."""

import operator
from typing import Any

__all__ = ["return_type"]


def return_type(name: str, fields: str):
    """A tuple type whose elements are also attributes, shown as torch.return_types.<name>.

    `written` is the type, shown as <name>_out, of results that were written into tensors given as `out=`.
    """
    kind = _named_tuple(name, tuple(fields.split()))
    kind.written = _named_tuple(f"{name}_out", tuple(fields.split()))
    return kind


def _named_tuple(name: str, names: tuple):

    def new(cls, elements):
        made = tuple.__new__(cls, elements)
        if len(made) != len(names):
            raise TypeError(f"torch.return_types.{name}() takes a {len(names)}-sequence ({len(made)}-sequence given)")
        return made

    def text(self) -> str:
        return f"torch.return_types.{name}(\n" + ",\n".join(f"{n}={v!r}" for n, v in zip(names, self)) + ")"

    members = {
        "__slots__": (),
        "__module__": "torch.return_types",
        "__new__": new,
        "__repr__": text,
        "__reduce__": lambda self: (type(self), (tuple(self),)),
        "n_fields": len(names),
        "n_sequence_fields": len(names),
    }
    members.update({n: property(operator.itemgetter(i)) for i, n in enumerate(names)})
    made: Any = type(name, (tuple,), members)
    return made
