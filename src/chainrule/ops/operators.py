"""The operators of Tensor. An operand that is neither a tensor nor a number gets NotImplemented, so that Python asks
the other operand, and says which types do not go together."""

import numpy as np

from ..core.call import make_binary_inplace, make_comparison, own_code
from ..core.declare import Op, binary_caller, put_method
from ..core.dtype import bool_
from ..core.general import NUMBERS
from ..core.registry import publish
from ..core.tensor import Tensor, wrap
from . import comparison, elementwise, power

_OPERANDS = (Tensor, *NUMBERS)


def operator(operation: Op):
    """The caller of an operation as an operator: the fast one, and nothing around it."""
    general = operation.general

    def otherwise(self, other):
        return general(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    return binary_caller(operation)(operation, otherwise)


def inplace_operator(operation: Op):
    general = operation.inplace

    def otherwise(self, other):
        return general(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    return make_binary_inplace(operation, otherwise)


def guarded(function):
    """A function of two operands as an operator."""

    def call(self, other):
        return function(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    return own_code(call)


def reflected(function):
    def call(self, other):
        return function(other, self) if isinstance(other, _OPERANDS) else NotImplemented

    return own_code(call)


def _put(name: str, function) -> None:
    function.__name__ = function.__qualname__ = name
    put_method(name, function)


for _symbol, _operation in (
    ("add", elementwise.add),
    ("sub", elementwise.sub),
    ("mul", elementwise.mul),
    ("truediv", elementwise.div),
):
    _put(f"__{_symbol}__", operator(_operation))
    _put(f"__i{_symbol}__", inplace_operator(_operation))
_put("__radd__", operator(elementwise.add))
_put("__rmul__", operator(elementwise.mul))

_put("__rsub__", operator(elementwise.rsub_number))

for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _put(f"__{_name}__", operator(getattr(comparison, _name)))


def _rtruediv(self, other):
    try:
        return self.reciprocal() * other
    except TypeError:
        return NotImplemented


def _equal_array(self, other):
    """== takes a NumPy array as well, as PyTorch's does (and != does not)."""
    if isinstance(other, np.ndarray):
        return comparison.eq.general(self, wrap(other))
    return comparison.eq.general(self, other) if isinstance(other, _OPERANDS) else NotImplemented


def _pow(self, exponent):
    kind = exponent.__class__
    if kind is int or kind is float:
        return _pow_number(self, exponent)
    return power.pow(self, exponent) if isinstance(exponent, _OPERANDS) else NotImplemented


_pow_number = power.pow_number.single
_put("__eq__", make_comparison(comparison.eq, _equal_array))
for _name in ("div", "idiv"):
    put_method(f"__{_name}__", getattr(Tensor, f"__{_name.replace('div', 'truediv')}__"))
put_method("__rdiv__", _rtruediv)
_put("__rtruediv__", _rtruediv)
_put("__pow__", _pow)
_put("__rpow__", reflected(power.pow))
_put("__ipow__", guarded(power.pow_))
_put("__floordiv__", operator(elementwise.floor_divide))
_put("__rfloordiv__", reflected(elementwise.floor_divide.function))
_put("__ifloordiv__", inplace_operator(elementwise.floor_divide))
_put("__mod__", guarded(elementwise.remainder.function))
_put("__rmod__", reflected(elementwise.remainder.function))
_put("__imod__", guarded(Tensor.remainder_))
put_method("__neg__", elementwise.neg.function)

for _symbol, _name in (
    ("and", "bitwise_and"),
    ("or", "bitwise_or"),
    ("xor", "bitwise_xor"),
    ("lshift", "bitwise_left_shift"),
    ("rshift", "bitwise_right_shift"),
):
    _operation = getattr(comparison, _name)
    _put(f"__{_symbol}__", operator(_operation))
    _put(f"__r{_symbol}__", reflected(_operation.function))
    _put(f"__i{_symbol}__", guarded(_operation.inplace))


def _invert(self):
    if self._spec.inexact:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return comparison.bitwise_not.function(self)


_put("__invert__", _invert)


def positive(input):
    """The tensor itself; RuntimeError for bool."""
    if input._spec.dtype is bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


put_method("positive", positive)
put_method("__pos__", positive)
publish("torch", "positive", positive)
