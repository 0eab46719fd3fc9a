"""Combinations of three operands: lerp, addcmul, addcdiv; and nan_to_num."""

import math

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, composite, method, op, put_method
from ..core.dtype import FLOATING, finfo, of
from ..core.general import NUMBERS
from ..core.registry import publish
from ..core.tensor import Tensor
from .casting import unrecorded
from .precision import in_single
from .refusal import refuse

__all__ = ["lerp", "nan_to_num"]

# --- lerp ---


@in_single
def _lerp(start, end, weight):
    """From the nearer end, so that both ends are exact."""
    step = np.subtract(end, start, out=...)
    if not isinstance(weight, np.ndarray):
        if abs(weight) < 0.5:
            np.multiply(step, weight, out=step, dtype=step.dtype)
            return np.add(start, step, out=step)
        np.multiply(step, 1 - weight, out=step, dtype=step.dtype)
        return np.subtract(end, step, out=step)
    return vocabulary.where(np.abs(weight) < 0.5, start + weight * step, end - step * (1 - weight))


@op(promote=("self", "end"), node="LerpBackward0", method=False, namespace=None)
def lerp_by_number(self: Array, end: Array, weight):
    refuse("lerp_kernel_scalar", "biu", self)
    return _lerp(self, end, weight)


@op(promote=("self", "end", "weight"), node="LerpBackward1", method=False, namespace=None)
def lerp_by_tensor(self: Array, end: Array, weight: Array):
    refuse("lerp_kernel_tensor", "biu", self)
    return _lerp(self, end, weight)


def _conjugate(number):
    return number.conjugate() if isinstance(number, complex) else number


lerp_by_number.derivative(of="self")(lambda xp, grad, weight: grad * (1 - _conjugate(weight)))
lerp_by_number.derivative(of="end")(lambda xp, grad, weight: grad * _conjugate(weight))
lerp_by_tensor.derivative(of="self")(lambda xp, grad, weight: grad * xp.conj(1 - weight))
lerp_by_tensor.derivative(of="end")(lambda xp, grad, weight: grad * xp.conj(weight))
lerp_by_tensor.derivative(of="weight")(lambda xp, grad, self, end: grad * xp.conj(end - self))
lerp_by_number.name = lerp_by_tensor.name = "lerp"
lerp_by_number.numbers = lerp_by_tensor.numbers = ()


def _choose_lerp(input, end, weight):
    for shown, other in (("end", end), ("weight", weight)):
        if isinstance(other, Tensor) and isinstance(input, Tensor) and other._spec.dtype is not input._spec.dtype:
            raise RuntimeError(
                f"expected dtype {input._spec.dtype.cpp_name} for `{shown}` but got dtype {other._spec.dtype.cpp_name}"
            )
    return lerp_by_tensor if isinstance(weight, Tensor) else lerp_by_number


@composite
def lerp(input, end, weight, *, out=None):
    """input + weight * (end - input)."""
    return _choose_lerp(input, end, weight).general(input, end, weight, out=out)


@method
def lerp_(self, end, weight):
    return _choose_lerp(self, end, weight).inplace(self, end, weight)


lerp_by_tensor.function = lerp

# --- addcmul, addcdiv ---

_INTEGER_DIVISION = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
    "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as "
    "(input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as "
    "(input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter "
    "implementation: (input + value * tensor1 / tensor2), for all dtypes."
)


def _times(array, value):
    return array if value == 1 else array * array.dtype.type(value)


@op(name="addcmul", promote=("self", "tensor1", "tensor2"), method=False, namespace=None)
@in_single
def addcmul_op(self: Array, tensor1: Array, tensor2: Array, value):
    refuse("addcmul_cpu_out", "b", self)
    return self + _times(tensor1, value) * tensor2


@op(name="addcdiv", promote=("self", "tensor1", "tensor2"), method=False, namespace=None)
@in_single
def addcdiv_op(self: Array, tensor1: Array, tensor2: Array, value):
    return self + _times(tensor1, value) / tensor2


addcmul_op.derivative(of="self")(lambda xp, grad: grad)
addcmul_op.derivative(of="tensor1")(lambda xp, grad, tensor2, value: grad * xp.conj(tensor2 * value))
addcmul_op.derivative(of="tensor2")(lambda xp, grad, tensor1, value: grad * xp.conj(tensor1 * value))
addcdiv_op.derivative(of="self")(lambda xp, grad: grad)
addcdiv_op.derivative(of="tensor1")(lambda xp, grad, tensor2, value: grad * xp.conj(value / tensor2))


@addcdiv_op.derivative(of="tensor2")
def _(xp, grad, tensor1, tensor2, value):
    return -grad * xp.conj(value * tensor1 / (tensor2 * tensor2))


for _operation in (addcmul_op, addcdiv_op):
    _operation.numbers = ()


def _check_addcdiv(operands) -> None:
    if all(o._spec.dtype.category < FLOATING for o in operands[1:3]):
        raise RuntimeError(_INTEGER_DIVISION)


addcdiv_op.check = _check_addcdiv


def _three(name: str, operation, doc: str) -> None:
    """Publish an operation with `value`, and its deprecated order (input, value, tensor1, tensor2)."""
    ufunc = np.multiply if name == "addcmul" else np.true_divide

    def call(input, tensor1, tensor2, *rest, value=1, out=None):
        if rest:
            value, tensor1, tensor2 = _old_order(name, tensor1, tensor2, rest)
        return operation.general(input, tensor1, tensor2, value, out=out)

    def call_inplace(self, tensor1, tensor2, *rest, value=1):
        if rest:
            value, tensor1, tensor2 = _old_order(name + "_", tensor1, tensor2, rest)
        if isinstance(tensor1, Tensor) and isinstance(tensor2, Tensor) and type(value) is not complex:
            spec = self._spec
            if spec.direct and tensor1._spec is spec and tensor2._spec is spec and unrecorded(self, tensor1, tensor2):
                step = _times(tensor1._array, value)
                # The product of a 0-dim array and a number is no array.
                step = ufunc(step, tensor2._array, out=... if step is tensor1._array or not spec.ndim else step)
                np.add(self._array, step, out=self._array)
                self._counter[0] += 1
                return self
        return operation.inplace(self, tensor1, tensor2, value)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    operation.function = call
    publish("torch", name, call)
    put_method(name, call)
    put_method(name + "_", call_inplace)


def _old_order(name: str, value, tensor1, rest):
    if len(rest) > 1 or not isinstance(value, NUMBERS):
        raise TypeError(f"{name}() takes 3 positional arguments but {3 + len(rest)} were given")
    return value, tensor1, rest[0]


_three("addcmul", addcmul_op, "input + value * tensor1 * tensor2.")
_three("addcdiv", addcdiv_op, "input + value * tensor1 / tensor2.")

# --- nan_to_num ---


def _nan_to_num(a, nan, posinf, neginf):
    if a.dtype.kind == "c":
        out = np.empty_like(a)
        out.real = _nan_to_num(a.real, nan, posinf, neginf)
        out.imag = _nan_to_num(a.imag, nan, posinf, neginf)
        return out
    out = a.copy("K")
    if a.dtype.kind == "f":
        limit = finfo(of(a.dtype)).max
        np.copyto(out, 0.0 if nan is None else nan, where=np.isnan(a), casting="unsafe")
        np.copyto(out, limit if posinf is None else posinf, where=a == math.inf, casting="unsafe")
        np.copyto(out, -limit if neginf is None else neginf, where=a == -math.inf, casting="unsafe")
    return out


@op(inplace=True)
def nan_to_num(self: Array, nan=None, posinf=None, neginf=None):
    """NaN replaced by nan (0), infinity by posinf (the largest number), minus infinity by neginf (the smallest)."""
    return _nan_to_num(self, nan, posinf, neginf)


nan_to_num.derivative(of="self")(lambda xp, grad, self: xp.select(xp.isfinite(self), grad))
