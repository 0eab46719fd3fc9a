"""How an operation is declared: pointwise, op, view, composite. One place per operation says everything about it.

A declaration gives a kernel over arrays and one derivative formula per input; from it follow the function, the Tensor
method, the in-place twin, `out=`, the node class and its name, what a node saves, the backward pass over arrays and
over Tensors.

    exp = pointwise("exp", np.exp, self=lambda xp, grad, result: grad * result)

    @op(promote=("self", "end"))
    def lerp_like(self: Array, end: Array, weight: float):
        \"\"\"One sentence.\"\"\"
        return self + weight * (end - self)

    @lerp_like.derivative(of="self")
    def _(xp, grad, weight): return grad * (1 - weight)

    @view
    def narrow(self: Array, dim: int, start: int, length: int): ...      # returns a NumPy view of self

    @composite
    def softsign(self): return self / (1 + self.abs())                   # Tensors in, Tensors out

Parameters annotated `Array`, `Array | None` or `Arrays` are tensors, all others are attributes. The names of a
formula's parameters after `xp` and `grad` say what its node saves: a tensor parameter (the array), `result` (the
output; `result0`, `result1`, … of several), an attribute, `<tensor>_shape` (its shape alone), `<tensor>_dtype`, `needs`
(which inputs want a gradient, in the order of the tensor parameters), `grads` (the gradients of all outputs, instead of
`grad`).
"""

import functools
import types
import typing
from typing import Any

import numpy as np

from .call import (
    make_binary,
    make_binary_inplace,
    make_binary_vjp,
    make_comparison,
    make_single,
    make_single_vjp,
    make_unary,
    make_unary_vjp,
)
from .call_indexed import make_indexed
from .call_pair import make_pair
from .call_several import make_inplace, make_several, make_several_vjp
from .call_views import make_view_caller
from .general import apply
from .node import Node, node_class
from .outputs import apply_out
from .registry import METHODS, OPS, publish
from .saved import read_saved
from .tensor import Tensor
from .vjp import backward

__all__ = ["Array", "Arrays", "Op", "op", "pointwise", "view", "composite", "method"]


if typing.TYPE_CHECKING:
    from typing import Any as Array  # what a kernel is given: arrays, or NumPy scalars
    from typing import Any as Arrays
else:

    class Array:
        """Annotation of a parameter that is one tensor."""

        def __class_getitem__(cls, item):
            return cls

    class Arrays:
        """Annotation of a parameter that is a sequence of tensors."""


def parameter_names(function) -> tuple[str, ...]:
    # inspect.signature, called for every formula, would be a third of the time it takes to import chainrule.
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


class Formula:
    """The derivative with respect to one input, or to several at once: its function and what it asks for."""

    __slots__ = ("function", "names", "of", "joint", "wants_all")

    def __init__(self, function, of, names=None):
        parameters = parameter_names(function)
        self.function = function
        self.of = of
        self.joint = isinstance(of, tuple)
        self.wants_all = parameters[1] == "grads"
        self.names = parameters[2:] if names is None else tuple(names)


_MISSING = object()
ALIASES = {"input": "self", "x": "self", "axis": "dim", "keepdims": "keepdim", "x1": "self", "x2": "other", "a": "self"}


def camel(name: str) -> str:
    """The node name of an operation by PyTorch's rule: log1p gives Log1PBackward0."""
    out, up = [], True
    for c in name:
        if c == "_":
            up = True
            continue
        out.append(c.upper() if up else c)
        up = c.isdigit()
    return "".join(out) + "Backward0"


class Op:
    """One declared operation. `function` is its public callable; calling the Op calls it."""

    function: Any
    inplace_function: Any
    fast: Any  # of pointwise operations
    shown: dict = {"self": "input"}  # what messages call the operands whose names differ

    def __init__(self, name, kernel, *, node=None, promote=(), result_kind="same", views=False, multi=False,
                 varargs=None, operands=(), nondifferentiable_outputs=(), frees=(), stand_in=None):  # fmt: skip
        self.name = name
        self.kernel = self.ufunc = kernel  # the fast callers of pointwise operations run the ufunc
        self.promote = promote
        # PyTorch names the combination of arguments it was given, not the one that is wrong; True: one must be a tensor.
        self.overloaded: Any = False
        self.numbers = promote  # of these, the ones that may be Python numbers
        self.check: Any = None
        self.result_kind = result_kind  # of promoted inputs: "same", "float" (integers become floating), "bool"
        self.views = views
        self.multi = multi
        self.varargs = varargs
        self.nondifferentiable_outputs = nondifferentiable_outputs
        self.read_parameters(kernel, operands)
        self.tensor_positions = tuple(i for i, k in enumerate(self.kinds) if k)
        self.frees = frees  # attributes that hold memory, to be freed with the saved tensors
        self.stand_in = stand_in  # of one tensor: gives, from the attributes, the array to save in place of it
        self.holds = False  # whether a node saves something to be freed
        self.formulas: dict[str, Formula] = {}
        self.saved_names: tuple[str, ...] = ()
        self.saved_attributes: frozenset[str] = frozenset()
        self.tensor_names: tuple[str, ...] = ()  # of the inputs with edges, in order
        self.node_name = node or camel(name)
        self.node_type: Any = node_class(self.node_name, self)
        self.node_type.vjp = lambda node, grad: backward(node, (grad,), None)
        self.node_type.run = backward
        self.__doc__ = kernel.__doc__
        self.single = (
            make_view_caller(self)
            if views
            else make_indexed(self) or make_single(self) or make_pair(self) or make_several(self)
        )
        self.single_inplace: Any = None  # made when it is first called, when the declaration is complete
        OPS[name] = self

    def read_parameters(self, kernel, operands) -> None:
        """The parameters of the kernel; those of a ufunc, which cannot say them, are `operands`."""
        if operands:
            self.params = tuple(operands)
            self.defaults = (_MISSING,) * len(operands)
            self.kinds = ("one",) * len(operands)
            self.keyword_only = 0
            return
        while hasattr(kernel, "__wrapped__"):
            kernel = kernel.__wrapped__
        self.params = params = parameter_names(kernel)
        self.keyword_only = kernel.__code__.co_kwonlyargcount
        given = kernel.__defaults__ or ()
        values = dict(
            zip(params[len(params) - self.keyword_only - len(given) :], given), **(kernel.__kwdefaults__ or {})
        )
        self.defaults = tuple(values.get(p, _MISSING) for p in params)
        self.kinds = tuple(_kind(kernel.__annotations__.get(p)) for p in params)

    # --- calling ---

    def bind(self, args: tuple, kwargs: dict) -> list:
        """The arguments in the order of the kernel's parameters, defaults filled in; PyTorch's TypeErrors."""
        params, n = self.params, len(self.params)
        positional = n - self.keyword_only
        if self.varargs is not None and len(args) > (at := params.index(self.varargs)):
            rest = args[at:]
            if (
                len(rest) != 1
                or isinstance(rest[0], int)
                or hasattr(rest[0], "__index__")
                and not hasattr(rest[0], "__len__")
            ):
                args = (*args[:at], tuple(rest))
        if len(args) > positional:
            raise TypeError(
                f"{self.name}() takes {positional} positional argument{'s' * (positional != 1)} but {len(args)} "
                f"{'were' if len(args) != 1 else 'was'} given"
            )
        values = list(args)
        values += self.defaults[len(args) :]
        for key, value in kwargs.items():
            name = key if key in params else ALIASES.get(key)
            if name not in params:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{key}'")
            i = params.index(name)
            if i < len(args):
                raise TypeError(f"{self.name}() got multiple values for argument '{key}'")
            values[i] = value
        missing = [("input" if p == "self" else p) for p, v in zip(params, values) if v is _MISSING]
        if missing:
            listed = ", ".join(f'"{m}"' for m in missing)
            raise TypeError(f"{self.name}() missing {len(missing)} required positional arguments: {listed}")
        return values

    def general(self, *args, **kwargs):
        """Run the operation by the general path."""
        if "out" in kwargs and "out" not in self.params:
            out = kwargs.pop("out")
            if out is not None:
                return apply_out(self, self.bind(args, kwargs), out)
        if kwargs or len(args) != len(self.params) or self.varargs is not None:
            args = self.bind(args, kwargs)
        return apply(self, args) if self.single is None else self.single(*args)

    def apply(self, values):
        """Run the operation with all arguments given, by the general path."""
        return apply(self, values)

    def inplace(self, *args, **kwargs):
        """Run the operation and write its result into its first argument."""
        if kwargs or len(args) != len(self.params):
            args = self.bind(args, kwargs)
        if self.single_inplace is None:
            self.single_inplace = make_inplace(self)
        return self.single_inplace(*args)

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    def __repr__(self):
        return f"<operation {self.name}>"

    # --- derivatives ---

    def derivative(self, of, names=None):
        """Decorator: the vjp with respect to the input `of`, or, for a tuple of names, a tuple of vjps at once.

        `names`: what the parameters after `grad` stand for, where a formula serves several operations.
        """

        def add(function):
            self.add_formula(Formula(function, of, names))
            return function

        return add

    def add_formula(self, formula: Formula) -> None:
        for name in formula.of if formula.joint else (formula.of,):
            if name not in self.params:
                raise TypeError(f"{self.name} has no input {name}")
            self.formulas[name] = formula
        self.tensor_names = tuple(p for p in self.params if p in self.formulas)
        wanted = {n for f in self.formulas.values() for n in f.names} - {"needs"}
        order = [*self.params, *sorted(wanted - set(self.params))]
        self.saved_names = tuple(n for n in order if n in wanted)
        tensors = [n for n, kind in zip(self.params, self.kinds) if kind]
        self.holds = any(n in tensors or n in self.frees or n.startswith("result") for n in wanted)
        # Attributes are saved whichever input wants a gradient, as in PyTorch; they hold no memory.
        self.saved_attributes = frozenset(n for n, kind in zip(self.params, self.kinds) if n in wanted and not kind)
        if self.single is not None:
            several = sum(map(bool, self.kinds)) > 1
            vjp = make_several_vjp(self) if several else make_single_vjp(self)
            if vjp is not None:
                self.node_type.vjp = vjp
        for name in self.saved_names:
            setattr(self.node_type, "_saved_" + name, property(functools.partial(read_saved, name)))

    @property
    def differentiable(self) -> bool:
        return bool(self.formulas)


def _kind(annotation) -> str:
    """ "" for an attribute, "one", "optional" or "many" for tensors."""
    if annotation is Array:
        return "one"
    if annotation is Arrays:
        return "many"
    if typing.get_origin(annotation) in (types.UnionType, typing.Union) and Array in typing.get_args(annotation):
        return "optional"
    return ""


def _public(operation: Op, function, *, method, inplace, namespace, aliases):
    """Publish a callable as function, method and in-place twin, under its name and its aliases."""
    operation.function = function
    for name in (operation.name, *aliases):
        if namespace:
            publish(namespace, name, function)
        if method:
            put_method(name, function)
        if inplace:
            put_method(name + "_", operation.inplace_function)
            if namespace == "torch":
                publish("torch", name + "_", operation.inplace_function)


def put_method(name: str, function) -> None:
    setattr(Tensor, name, function)
    METHODS.add(name)


def _wrapper(operation: Op, target, name: str):
    """A plain function (so that it binds as a method) around `target`."""
    if target == "general":

        def call(*args, **kwargs):
            return operation.general(*args, **kwargs)

    else:

        def call(*args, **kwargs):
            return operation.inplace(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = operation.__doc__
    return call


def op(kernel=None, *, name=None, method=True, inplace=False, namespace="torch", aliases=(), **options):
    """Declare an operation by its kernel.

    Options: see `Op`; `promote` names the inputs that share one dtype by PyTorch's promotion and broadcast; `method`,
    `inplace`, `namespace` ("torch", "nn.functional", "linalg", None …) say where it is public.
    """

    def declare(kernel):
        operation = Op(name or kernel.__name__, kernel, **options)
        operation.inplace_function = _wrapper(operation, "inplace", operation.name + "_")
        function = _wrapper(operation, "general", operation.name)
        _public(operation, function, method=method, inplace=inplace, namespace=namespace, aliases=aliases)
        return operation

    return declare if kernel is None else declare(kernel)


def view(kernel=None, **options):
    """Declare an operation whose kernel returns a NumPy view of its first argument (or a list of such, with `multi=True`)."""
    return op(kernel, views=True, **options)


def pointwise(name, kernel, *, kind="same", method=True, inplace=True, namespace="torch", aliases=(), node=None,
              doc="", binary=False, numbers=None, checked=None, check=None, no_derivative="", **formulas):  # fmt: skip
    """Declare an elementwise operation of one or two operands by a ufunc and a formula for each.

    kind: "same" (dtype of the promoted operands), "float" (integers become the default dtype), "bool" (a comparison).
    numbers: the operands that may be Python numbers (default: none for one operand, both for two). checked: the kernel
    of the general path, where the ufunc does not do for every dtype what PyTorch does. check: called with the operands
    as they were given, to raise what PyTorch raises. no_derivative: the name under which PyTorch refuses to
    differentiate it.
    """
    binary = binary or "other" in formulas
    if no_derivative:
        formulas = dict.fromkeys(("self", "other") if binary else ("self",), _no_derivative(no_derivative))
    names = ("self", "other") if binary else ("self",)
    operation = Op(name, kernel, node=node, promote=names, result_kind=kind, operands=names)
    operation.check = check
    operation.numbers = (names if binary else ()) if numbers is None else numbers
    operation.__doc__ = doc or f"{name}, elementwise."
    for of, function in formulas.items():
        operation.add_formula(Formula(function, of))
    if no_derivative:
        _show_no_derivative(operation.node_type)
    operation.fast = (binary_caller(operation) if binary else make_unary)(operation)
    operation.single = None
    if formulas:
        vjp = make_binary_vjp(operation) if "other" in formulas else make_unary_vjp(operation)
        if vjp is not None:
            operation.node_type.vjp = vjp
    operation.inplace_function = _wrapper(operation, "inplace", name + "_")
    if binary and isinstance(kernel, np.ufunc) and kind == "same":
        operation.inplace_function = _named(make_binary_inplace(operation, operation.inplace), name + "_", operation)
    function = _binary_function(operation) if binary else operation.fast
    operation.kernel = checked or kernel
    _named(function, name, operation)
    _public(operation, function, method=method, inplace=inplace, namespace=namespace, aliases=aliases)
    return operation


def binary_caller(operation: Op):
    """The maker of fast callers that suits an operation of two operands."""
    return make_comparison if operation.result_kind == "bool" else make_binary


def _no_derivative(name: str):
    def formula(xp, grad):
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return formula


def _show_no_derivative(node_type) -> None:
    """Make a node look like PyTorch's for what has no derivative; it has no edge for a number."""
    node_type.__name__ = node_type.__qualname__ = "NotImplemented"
    node_type.name = lambda node: "torch::autograd::NotImplemented"
    every: Any = Node.next_functions.fget  # type: ignore[attr-defined]
    node_type.next_functions = property(lambda node: tuple(edge for edge in every(node) if edge[0] is not None))


def _named(function, name: str, operation: Op):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = operation.__doc__
    return function


def _binary_function(operation: Op):
    general, fast = operation.general, operation.fast

    def call(input, other, *, out=None):
        if out is not None or not isinstance(input, Tensor):
            return general(input, other, out=out)
        return fast(input, other)

    return call


def composite(function=None, *, name=None, method=True, namespace="torch", aliases=()):
    """Declare a function of Tensors that is made of other operations; its derivatives follow from theirs."""

    def declare(function):
        for n in (name or function.__name__, *aliases):
            if namespace:
                publish(namespace, n, function)
            if method:
                put_method(n, function)
        return function

    return declare if function is None else declare(function)


def method(function):
    """Declare a function that is a Tensor method only."""
    put_method(function.__name__, function)
    return function
