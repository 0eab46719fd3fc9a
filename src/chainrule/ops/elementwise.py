"""Arithmetic, elementwise: + - * / // %, with the scaled and rounded forms, negation and absolute value."""

import numpy as np

from ..core.call import make_binary_inplace
from ..core.declare import Array, Op, composite, op, pointwise, put_method
from ..core.dtype import INTEGER, bool_
from ..core.general import promotion, unwrap
from ..core.modes import state
from ..core.registry import publish
from ..core.tensor import Tensor, wrap
from .precision import in_single
from .refusal import not_implemented, refuse

__all__ = ["add", "sub", "mul", "div", "neg"]

_BOOL_PAIR = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
    "instead."
)
_BOOL_ONE = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
    "`~` or `logical_not()` operator instead."
)
_BOOL_NEGATION = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
    "`logical_not()` operator instead."
)

# --- + - * / ---


def _subtract_check(operands) -> None:
    """RuntimeError where one of the operands of a subtraction is a bool: a tensor, or a number."""
    bools = [isinstance(o, bool) or isinstance(o, Tensor) and o.dtype is bool_ for o in operands[:2]]
    if all(bools):
        raise RuntimeError(_BOOL_PAIR)
    if any(bools):
        raise RuntimeError(_BOOL_ONE)


def _negative(a):
    if a.dtype.kind == "b":
        raise RuntimeError(_BOOL_NEGATION)
    return np.negative(a)


def _reversed_subtract(a, b, out=...):
    return np.subtract(b, a, out=out)


add = pointwise("add", np.add, self=lambda xp, grad: grad, other=lambda xp, grad: grad, namespace=None, method=False)
sub = pointwise(
    "sub",
    np.subtract,
    check=_subtract_check,
    self=lambda xp, grad: grad,
    other=lambda xp, grad: -grad,
    namespace=None,
    method=False,
)
mul = pointwise(
    "mul",
    np.multiply,
    self=lambda xp, grad, other: grad * xp.conj(other),
    other=lambda xp, grad, self: grad * xp.conj(self),
    aliases=("multiply",),
)
div = pointwise(
    "div",
    np.true_divide,
    kind="float",
    self=lambda xp, grad, other: grad / xp.conj(other),
    other=lambda xp, grad, self, other: -grad * xp.conj(self / other / other),
    aliases=("true_divide",),
    namespace=None,
    method=False,
)
neg = pointwise("neg", np.negative, checked=_negative, self=lambda xp, grad: -grad, aliases=("negative",))
rsub = pointwise(
    "rsub",
    _reversed_subtract,
    check=_subtract_check,
    self=lambda xp, grad: -grad,
    other=lambda xp, grad: grad,
    namespace=None,
    method=False,
    inplace=False,
)
rsub.numbers = ("other",)
rsub.overloaded = True
rsub_number = pointwise(
    "rsub_number",
    _reversed_subtract,
    check=_subtract_check,
    binary=True,
    self=lambda xp, grad: -grad,
    node="RsubBackward1",
    namespace=None,
    method=False,
    inplace=False,
)
rsub_number.name, rsub_number.overloaded = "rsub", True
for _operation in (add, sub, rsub, rsub_number):
    _operation.node_type._saved_alpha = 1


# --- self + alpha * other ---


def _scaled(other, alpha):
    return np.logical_and(other, alpha) if other.dtype.kind == "b" else other * other.dtype.type(alpha)


@op(promote=("self", "other"), node="AddBackward0", method=False, namespace=None)
@in_single
def add_scaled(self: Array, other: Array, alpha):
    return np.add(self, _scaled(other, alpha))


@op(promote=("self", "other"), node="SubBackward0", method=False, namespace=None)
@in_single
def sub_scaled(self: Array, other: Array, alpha):
    return np.subtract(self, _scaled(other, alpha))


@op(promote=("self", "other"), node="RsubBackward0", method=False, namespace=None)
@in_single
def rsub_scaled(self: Array, other: Array, alpha):
    return np.subtract(other, _scaled(self, alpha))


@op(promote=("self", "other"), node="RsubBackward1", method=False, namespace=None)
@in_single
def rsub_number_scaled(self: Array, other: Array, alpha):
    return np.subtract(other, _scaled(self, alpha))


def _scale(grad, alpha):
    return grad * (alpha.conjugate() if isinstance(alpha, complex) else alpha)


add_scaled.derivative(of="self")(lambda xp, grad: grad)
add_scaled.derivative(of="other")(lambda xp, grad, alpha: _scale(grad, alpha))
sub_scaled.derivative(of="self")(lambda xp, grad: grad)
sub_scaled.derivative(of="other")(lambda xp, grad, alpha: -_scale(grad, alpha))
rsub_scaled.derivative(of="self")(lambda xp, grad, alpha: -_scale(grad, alpha))
rsub_scaled.derivative(of="other")(lambda xp, grad: grad)
rsub_number_scaled.derivative(of="self")(lambda xp, grad, alpha: -_scale(grad, alpha))


def _check_alpha(alpha, operation: Op, operands) -> None:
    dtype = promotion(operation, unwrap(operation, operands))[0]
    if operation.check is not None:
        operation.check(operands)
    if isinstance(alpha, bool) and dtype is not bool_:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and dtype.category <= INTEGER:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and not dtype.is_complex:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


def _floating_pair(input, other) -> bool:
    """Whether both are tensors of one floating or complex dtype, which go with every floating alpha."""
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        return False
    return input._spec.inexact and input._spec.dtype is other._spec.dtype


def _with_alpha(plain: Op, scaled: Op, doc: str, aliases=()):
    """The function and methods of an operation with `alpha`; the deprecated order (input, alpha, other) too."""
    name, fast, fast_inplace = plain.name, plain.fast, plain.inplace_function
    scaled.name = name

    def call(input, other, *rest, alpha=1, out=None):
        if rest:
            alpha, other = _old_order(name, other, rest)
        if alpha == 1 and alpha is not True and isinstance(input, Tensor) and out is None:
            return fast(input, other)
        if alpha == 1 and alpha is not True:
            return plain.general(input, other, out=out)
        if alpha.__class__ is not float or not _floating_pair(input, other):
            _check_alpha(alpha, plain, (input, other))
        return scaled.general(input, other, alpha, out=out)

    def call_inplace(self, other, *rest, alpha=1):
        if rest:
            alpha, other = _old_order(name + "_", other, rest)
        if alpha == 1 and alpha is not True:
            return fast_inplace(self, other)
        if isinstance(other, Tensor) and (other._edge is other._view is None or not state.grad_enabled):
            spec = other._spec
            if spec.direct and spec.dtype is self._spec.dtype and type(alpha) is not complex:
                return fast_inplace(self, wrap(np.multiply(other._array, spec.array_dtype.type(alpha), out=...)))
        _check_alpha(alpha, plain, (self, other))
        return scaled.inplace(self, other, alpha)

    call.__doc__ = doc
    for alias in (name, *aliases):
        publish("torch", alias, call)
        put_method(alias, call)
        put_method(alias + "_", call_inplace)
    plain.function = call


def _old_order(name: str, alpha, rest):
    if len(rest) > 1 or isinstance(alpha, Tensor) or not isinstance(rest[0], Tensor):
        raise TypeError(f"{name}() takes 2 positional arguments but {2 + len(rest)} were given")
    return alpha, rest[0]


_with_alpha(add, add_scaled, "input + alpha * other.")
_with_alpha(sub, sub_scaled, "input - alpha * other.", aliases=("subtract",))


@composite(name="rsub", method=False)
def _rsub(input, other, *, alpha=1):
    """other - alpha * input."""
    number = not isinstance(other, Tensor)
    if not isinstance(input, Tensor):
        unwrap(rsub, (input, other))
    if alpha == 1 and alpha is not True:
        return rsub_number.fast(input, other) if number else rsub.fast(input, other)
    _check_alpha(alpha, rsub, (input, other))
    return (rsub_number_scaled if number else rsub_scaled).general(input, other, alpha)


_rsub.__name__ = _rsub.__qualname__ = "rsub"


# --- division ---


def _check_divisor(out, b) -> None:
    if b.dtype.kind in "iu" and out.size and not b.all():
        raise RuntimeError("ZeroDivisionError")


def _floor_divide(a, b, out=...):
    if a.dtype.kind in "bc":
        raise not_implemented("div_floor_cpu", a)
    out = np.floor_divide(a, b, out=out)
    _check_divisor(out, b)
    return out


@in_single
def _trunc_divide(a, b):
    refuse("div_trunc_cpu", "bc", a)
    if a.dtype.kind == "f":
        return np.trunc(np.true_divide(a, b))
    down = np.floor_divide(a, b)
    _check_divisor(down, b)
    inexact = np.multiply(down, b) != a
    return down + (inexact & ((a < 0) != (b < 0))).astype(a.dtype)


@op(promote=("self", "other"), node="DivBackward2", method=False, namespace=None)
def div_rounded(self: Array, other: Array, rounding_mode):
    return _floor_divide(self, other) if rounding_mode == "floor" else _trunc_divide(self, other)


@div_rounded.derivative(of="self")
def _(xp, grad, other, rounding_mode):
    return xp.zeros_like(grad)


@div_rounded.derivative(of="other")
def _(xp, grad, self, other, rounding_mode):
    return xp.zeros_like(grad)


div_rounded.name = "div"


def _check_mode(rounding_mode) -> None:
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )


def _div(input, other, *, rounding_mode=None, out=None):
    """input / other, rounded towards zero ("trunc") or down ("floor") where a rounding_mode is given."""
    if rounding_mode is None:
        if out is None and isinstance(input, Tensor):
            return div.fast(input, other)
        return div.general(input, other, out=out)
    _check_mode(rounding_mode)
    return div_rounded.general(input, other, rounding_mode, out=out)


def _div_(self, other, *, rounding_mode=None):
    if rounding_mode is None:
        return div_inplace(self, other)
    _check_mode(rounding_mode)
    return div_rounded.inplace(self, other, rounding_mode)


div_inplace = make_binary_inplace(div, div.inplace)
for _name in ("div", "divide"):
    publish("torch", _name, _div)
    put_method(_name, _div)
    put_method(_name + "_", _div_)
publish("torch", "true_divide", div.function)
put_method("true_divide", div.function)
put_method("true_divide_", div_inplace)
div.function = _div


def _remainder(a, b, out=...):
    refuse("remainder_cpu", "bc", a)
    out = np.remainder(a, b, out=out)
    _check_divisor(out, b)
    return out


def _fmod(a, b, out=...):
    refuse("fmod_cpu", "bc", a)
    out = np.fmod(a, b, out=out)
    _check_divisor(out, b)
    return out


_HIDDEN: dict = {"method": False, "inplace": False, "namespace": None}
floor_divide = pointwise("floor_divide", _floor_divide, binary=True, no_derivative="floor_divide")
remainder = pointwise(
    "remainder",
    _remainder,
    node="RemainderBackward1",
    self=lambda xp, grad: grad,
    other=lambda xp, grad, self, other: -grad * xp.floor_divide(self, other),
    **_HIDDEN,
)
remainder_by_number = pointwise(
    "remainder_by_number", _remainder, binary=True, node="RemainderBackward0", self=lambda xp, grad: grad, **_HIDDEN
)
remainder_of_number = pointwise("remainder_of_number", _remainder, binary=True, no_derivative="remainder", **_HIDDEN)
fmod = pointwise(
    "fmod",
    _fmod,
    node="FmodBackward1",
    self=lambda xp, grad: grad,
    other=lambda xp, grad, self, other: -grad * xp.trunc(self / other),
    **_HIDDEN,
)
fmod_by_number = pointwise(
    "fmod_by_number",
    _fmod,
    binary=True,
    node="FmodBackward0",
    self=lambda xp, grad: grad,
    numbers=("other",),
    **_HIDDEN,
)
fmod.numbers = ()
floor_divide.overloaded = "numbers too"


def by_operands(name: str, both: Op, by_number: Op, of_number: Op | None = None, doc: str = "") -> None:
    """Publish one function (and its methods) over the operation of two tensors and those with a number."""

    def choose(input, other):
        if isinstance(other, Tensor):
            return both if of_number is None or isinstance(input, Tensor) else of_number
        return by_number

    def call(input, other, *, out=None):
        operation = choose(input, other)
        if out is None and isinstance(input, Tensor):
            return operation.fast(input, other)
        return operation.general(input, other, out=out)

    def call_inplace(self, other):
        return choose(self, other).inplace(self, other)

    call.__name__ = call.__qualname__ = name
    for operation in (both, by_number, of_number):
        if operation is not None:
            operation.name, operation.overloaded = name, True
    call.__doc__ = doc
    both.function = call
    publish("torch", name, call)
    put_method(name, call)
    put_method(name + "_", call_inplace)


by_operands(
    "remainder",
    remainder,
    remainder_by_number,
    remainder_of_number,
    "The remainder of division, with the sign of other.",
)
by_operands("fmod", fmod, fmod_by_number, doc="The remainder of division, with the sign of input.")
