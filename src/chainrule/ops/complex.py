"""Complex numbers: conjugate, real and imaginary part as views, complex and polar, angle."""

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, composite, op, put_method, view
from ..core.dtype import float16, of
from ..core.registry import FUNCTIONS, publish

__all__ = ["conj", "real", "imag", "view_as_real", "view_as_complex"]


@op(name="conj", node="ConjBackward0", method=False, namespace=None)
def conj_op(self: Array):
    return np.conjugate(self)


@op(name="conj_physical", inplace=True, method=False, namespace=None)
def conj_physical_op(self: Array):
    return np.conjugate(self) if self.dtype.kind == "c" else self.copy("K")


conj_op.derivative(of="self")(lambda xp, grad: xp.conj(grad))
conj_physical_op.derivative(of="self")(lambda xp, grad: xp.conj(grad))


@composite
def conj(input):
    """The complex conjugate; a real tensor itself."""
    return conj_op.single(input) if input._spec.dtype.is_complex else input


@composite
def conj_physical(input, *, out=None):
    """The complex conjugate; a real tensor itself."""
    if input._spec.dtype.is_complex or out is not None:
        return conj_physical_op.general(input, out=out)
    return input


put_method("conj_physical_", conj_physical_op.inplace_function)
publish("torch", "conj_physical_", conj_physical_op.inplace_function)
conj_op.function = conj
conj_physical_op.function = conj_physical


@composite
def resolve_conj(input):
    """The tensor itself: conjugates are never lazy here."""
    return input


@composite
def resolve_neg(input):
    """The tensor itself: negation is never lazy here."""
    return input


@composite
def is_conj(input) -> bool:
    """False: conjugates are never lazy here."""
    return False


@composite
def is_neg(input) -> bool:
    """False: negation is never lazy here."""
    return False


# --- the parts ---


@view(name="view_as_real", method=False, namespace=None)
def view_as_real_op(self: Array):
    return vocabulary.view_as_real(self)


view_as_real_op.derivative(of="self")(lambda xp, grad: xp.view_as_complex(grad))


@composite(method=False)
def view_as_real(input):
    """A complex tensor as a real one with a last dimension of 2 for the parts, in the same memory."""
    if not input._spec.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return view_as_real_op.single(input)


@view(name="view_as_complex", method=False, namespace=None)
def view_as_complex_op(self: Array):
    return vocabulary.view_as_complex(self)


view_as_complex_op.derivative(of="self")(lambda xp, grad: xp.view_as_real(grad))


@composite(method=False)
def view_as_complex(input):
    """A real tensor whose last dimension has size 2 as a complex one, in the same memory."""
    dtype, shape = input._spec.dtype, input._spec.shape
    if not dtype.is_floating_point or dtype.name == "bfloat16":
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{dtype.scalar_name}"
        )
    if not shape:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if dtype is float16:
        raise NotImplementedError("chainrule has no complex32 tensors: NumPy has no complex type of half precision")
    if input.stride(-1) != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % 2 for s in input.stride()[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if input.storage_offset() % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return view_as_complex_op.single(input)


view_as_real_op.function = view_as_real
view_as_complex_op.function = view_as_complex


def _part(input, number: int):
    return FUNCTIONS["torch"]["select"](view_as_real(input), input._spec.ndim, number)


@composite(method=False)
def real(input):
    """The real part of a complex tensor, as a view; a real tensor itself."""
    return _part(input, 0) if input._spec.dtype.is_complex else input


@composite(method=False)
def imag(input):
    """The imaginary part of a complex tensor, as a view; RuntimeError for a real tensor."""
    if not input._spec.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _part(input, 1)


put_method("real", property(real, lambda self, value: real(self).copy_(value)))
put_method("imag", property(imag, lambda self, value: imag(self).copy_(value)))

# --- made of parts ---


def _check_parts(operands) -> None:
    a, b = (o._spec.dtype for o in operands)
    if not a.is_floating_point or not b.is_floating_point:
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {a.scalar_name} and {b.scalar_name}"
        )
    if a is not b:
        raise RuntimeError(
            f"Expected object of scalar type {a.scalar_name} but got scalar type {b.scalar_name} for second argument"
        )


@op(name="complex", promote=("real", "imag"), result_kind="complex", method=False)
def complex_op(real: Array, imag: Array):
    """The complex numbers with these real and imaginary parts."""
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), of(real.dtype).to_complex().numpy)
    out.real = real
    out.imag = imag
    return out


complex_op.numbers = ()
complex_op.check = _check_parts
complex_op.derivative(of="real")(lambda xp, grad, imag: xp.real(grad))
complex_op.derivative(of="imag")(lambda xp, grad, real: xp.imag(grad))


@op(promote=("abs", "angle"), result_kind="complex", method=False)
def polar(abs: Array, angle: Array):
    """The complex numbers with these absolute values and angles."""
    out = np.empty(np.broadcast_shapes(abs.shape, angle.shape), of(abs.dtype).to_complex().numpy)
    out.real = abs * np.cos(angle)
    out.imag = abs * np.sin(angle)
    return out


polar.numbers = ()
polar.check = _check_parts
polar.derivative(of="abs")(lambda xp, grad, result: xp.real(grad * xp.conj(xp.sgn(result))))
polar.derivative(of="angle")(lambda xp, grad, result: xp.real(grad * xp.conj(result * 1j)))


@op
def angle(self: Array):
    """The angle of a complex number; 0 or pi for a real one."""
    if self.dtype.kind == "c":
        return np.arctan2(self.imag, self.real)
    if self.dtype.kind == "f":
        return np.where(np.isnan(self), self, np.where(self < 0, self.dtype.type(np.pi), self.dtype.type(0)))
    return np.where(self < 0, np.float32(np.pi), np.float32(0))


@angle.derivative(of="self")
def _(xp, grad, self):
    if not xp.is_complex(self):
        return xp.zeros_like(grad)
    slope = 1j / xp.conj(self)
    return xp.where(self == 0, xp.zeros_like(slope), grad * slope)
