"""Multiplying and dividing by a number inside of other operations, where PyTorch's graph shows nodes of their own."""

from ..core.declare import Array, op

__all__ = ["scale", "divide"]


@op(name="scale", node="MulBackward1", method=False, namespace=None)
def scale_op(self: Array, factor):
    return self * self.dtype.type(factor)


scale_op.derivative(of="self")(lambda xp, grad, factor: grad * factor)


@op(name="divide_by_number", node="DivBackward1", method=False, namespace=None)
def divide_op(self: Array, number):
    return self / self.dtype.type(number)


divide_op.derivative(of="self")(lambda xp, grad, number: grad / number)


def scale(x, factor):
    """x times a number; a 0-dim tensor, or a number that changes the dtype, is an ordinary factor."""
    if x._spec.inexact and type(factor) in (int, float):
        return scale_op.single(x, factor)
    return x * factor


def divide(x, number):
    """x divided by a number; see scale."""
    if x._spec.inexact and type(number) in (int, float):
        return divide_op.single(x, number)
    return x / number
