"""Elementwise operations: one and two operands, promotion, comparisons, selection, in-place twins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .compare import check, current, deep
from .known import known_of
from .strategies import COMPLEX, EVERY, FLOATING, INTEGERS, broadcast_shapes, operands

ONE = """abs acos acosh angle asin asinh atan atanh bitwise_not ceil conj_physical cos cosh deg2rad digamma erf erfc erfinv exp
exp2 expm1 floor frac isfinite isinf isnan isneginf isposinf lgamma log log10 log1p log2 logical_not logit neg positive rad2deg
reciprocal relu round rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc nan_to_num""".split()
IN_PLACE = """abs_ ceil_ cos_ exp_ floor_ neg_ reciprocal_ relu_ round_ sigmoid_ sin_ sqrt_ square_ tanh_ trunc_ zero_ log_
sign_ clamp_min_ erf_""".split()
FUNCTIONAL = """celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu relu6 selu silu
softplus softshrink softsign tanhshrink threshold""".split()
TWO = """add sub mul div true_divide atan2 copysign eq ne lt le gt ge fmax fmin fmod heaviside hypot logaddexp logaddexp2
logical_and logical_or logical_xor maximum minimum nextafter pow remainder floor_divide bitwise_and bitwise_or bitwise_xor
bitwise_left_shift gcd lcm xlogy float_power dist""".split()
OPERATORS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    "**": lambda a, b: a**b, "//": lambda a, b: a // b, "%": lambda a, b: a % b, "<": lambda a, b: a < b,
    "==": lambda a, b: a == b, "&": lambda a, b: a & b, "|": lambda a, b: a | b,
}  # fmt: skip
NUMBERS = st.sampled_from((2, -1, 0, 3, 0.5, -1.5, True, 2.0, 1e-3, 2 + 1j))


@pytest.mark.parametrize("name", ONE)
@deep
@given(x=operands(EVERY))
def test_one_operand(name, x):
    current["dtype"] = x.dtype if x.dtype in (*FLOATING, *COMPLEX) else "float32"
    check(lambda T, x: getattr(T, name)(x), [x], known=known_of(name, x))


@pytest.mark.parametrize("name", FUNCTIONAL)
@deep
@given(x=operands(FLOATING))
def test_activation(name, x):
    arguments = (0.5, 1.5) if name == "threshold" else ()
    current["dtype"] = x.dtype
    check(lambda T, x: getattr(T.nn.functional, name)(x, *arguments), [x], known=known_of(name, x))


@pytest.mark.parametrize("name", IN_PLACE)
@deep
@given(x=operands((*FLOATING, "int64", "complex64")), recorded=st.booleans())
def test_in_place(name, x, recorded):
    current["dtype"] = x.dtype if x.dtype != "int64" else "float32"

    def program(T, x):
        y = x.clone() if recorded else x
        arguments = (0.5,) if name == "clamp_min_" else ()
        z = getattr(y, name)(*arguments)
        return z, y._version, z is y

    check(program, [x], known=known_of(name, x))


@pytest.mark.parametrize("name", TWO)
@deep
@given(data=st.data())
def test_two_operands(name, data):
    a, b = data.draw(broadcast_shapes())
    x = data.draw(operands(EVERY, a))
    y = data.draw(st.one_of(operands(EVERY, b), operands((x.dtype,), b), NUMBERS))
    kinds = [o.dtype for o in (x, y) if hasattr(o, "dtype")]
    current["dtype"] = coarsest(kinds)
    check(lambda T, x, y: getattr(T, name)(x, y), [x, y], known=known_of(name, x, y))


@pytest.mark.parametrize("symbol", OPERATORS)
@deep
@given(data=st.data())
def test_operators(symbol, data):
    a, b = data.draw(broadcast_shapes())
    x = data.draw(st.one_of(operands(EVERY, a), NUMBERS))
    y = data.draw(operands((*FLOATING, *INTEGERS[:2], "complex64"), b))
    if data.draw(st.booleans()):
        x, y = y, x
    current["dtype"] = coarsest([o.dtype for o in (x, y) if hasattr(o, "dtype")])
    check(lambda T, x, y: OPERATORS[symbol](x, y), [x, y], known=known_of(symbol, x, y))


@pytest.mark.parametrize("name", ["add_", "sub_", "mul_", "div_", "pow_", "maximum", "copy_", "addcmul_", "lerp_"])
@deep
@given(data=st.data())
def test_two_operands_in_place(name, data):
    a, b = data.draw(broadcast_shapes(wrong=0.05))
    x = data.draw(operands((*FLOATING, "int64", "complex64"), a))
    y = data.draw(st.one_of(operands((*FLOATING, "int64", "complex64"), b), st.sampled_from((2, 0.5))))
    current["dtype"] = coarsest([o.dtype for o in (x, y) if hasattr(o, "dtype")])

    def program(T, x, y):
        z = x * 1
        more = {"addcmul_": (y, y), "lerp_": (y, 0.25)}.get(name, (y,))
        return getattr(z, name)(*more), z._version

    check(program, [x, y], known=known_of(name, x, y))


@deep
@given(data=st.data())
def test_selection(data):
    a, b = data.draw(broadcast_shapes(wrong=0.05))
    x = data.draw(operands(FLOATING, a))
    y = data.draw(st.one_of(operands((x.dtype,), b), st.sampled_from((0.0, 1, -1.5))))
    current["dtype"] = x.dtype
    low, high = data.draw(st.sampled_from(((-1, 1), (0.5, None), (None, 0.0), (1, -1), (0, 2.0))))
    check(lambda T, x, y: T.where(x > 0, x, y), [x, y], known=known_of("where", x, y))
    check(lambda T, x, y: x.clamp(low, high), [x, y], known=known_of("clamp", x, y))
    check(lambda T, x, y: x.masked_fill(x > 0.5, 3), [x, y], known=known_of("masked_fill", x, y))
    check(lambda T, x, y: T.lerp(x, y if hasattr(y, "shape") else x, 0.3), [x, y], known=known_of("lerp", x, y))
    check(lambda T, x, y: T.addcdiv(x, x, x + 5, value=0.5), [x, y], known=known_of("addcdiv", x, y))


def coarsest(dtypes) -> str:
    for d in ("float16", "complex64", "float32"):
        if d in dtypes:
            return d
    return "float64" if any(d in ("float64", "complex128") for d in dtypes) else "float32"
