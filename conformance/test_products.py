"""Products of matrices, einsum, linear layers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .compare import check, current, deep
from .known import known_of
from .strategies import operands

N = st.sampled_from((1, 2, 3, 3, 0))
DTYPES = ("float32", "float64", "complex64", "int64", "float16")


@st.composite
def pair(draw, first, second):
    sizes = {letter: draw(N) for letter in set(first + second)}
    other = dict(sizes)
    if draw(st.integers(0, 9)) == 0 and second:
        other[second[0]] = sizes[second[0]] + 1
    dtype = draw(st.sampled_from(DTYPES))
    x = draw(operands((dtype,), [sizes[i] for i in first], special=False))
    y = draw(operands((dtype,) if draw(st.integers(0, 9)) else DTYPES, [other[i] for i in second], special=False))
    return x, y


SHAPES = "i,i ij,j i,ij ij,jk bij,j i,bij bij,jk ij,bjk bij,bjk cbij,bjk cij,bjk ,i i, ij,ij".split()


@pytest.mark.parametrize("letters", SHAPES)
@deep
@given(data=st.data())
def test_matmul(letters, data):
    x, y = data.draw(pair(*letters.split(",")))
    current["dtype"] = coarse(x)
    check(lambda T, x, y: x @ y, [x, y], known=known_of("matmul", x, y))


NAMED = {
    "mm": "ij,jk", "bmm": "bij,bjk", "mv": "ij,j", "dot": "i,i", "vdot": "i,i", "outer": "i,j", "inner": "ij,kj",
    "kron": "ij,kl", "tensordot": "ij,ij",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
@deep
@given(data=st.data())
def test_named_product(name, data):
    x, y = data.draw(pair(*NAMED[name].split(",")))
    current["dtype"] = coarse(x)
    check(lambda T, x, y: getattr(T, name)(x, y), [x, y], known=known_of(name, x, y))


@pytest.mark.parametrize("rank", (1, 2, 3))
@deep
@given(data=st.data(), bias=st.booleans())
def test_linear(rank, data, bias):
    x, w = data.draw(pair("abi"[3 - rank :], "oi"))
    b = data.draw(operands((w.dtype,), w.shape[:1], special=False))
    current["dtype"] = coarse(x)

    def program(T, x, w, b):
        return T.nn.functional.linear(x, w, b if bias else None)

    check(program, [x, w, b], known=known_of("linear", x, w))


@pytest.mark.parametrize("name", ("addmm", "addmv", "addr", "baddbmm", "addbmm"))
@deep
@given(data=st.data(), beta=st.sampled_from((0, 1, 2, 0.5)), alpha=st.sampled_from((1, 0, -1, 0.5)))
def test_added_product(name, data, beta, alpha):
    own, letters = {
        "addmm": ("ik", "ij,jk"), "addmv": ("i", "ij,j"), "addr": ("ij", "i,j"), "baddbmm": ("bik", "bij,bjk"),
        "addbmm": ("ik", "bij,bjk"),
    }[name]  # fmt: skip
    first, second = letters.split(",")
    x, y = data.draw(pair(first, second))
    sizes = dict(zip(first, x.shape)) | dict(zip(second, y.shape))
    s = data.draw(operands((x.dtype,), [sizes[i] for i in own][data.draw(st.integers(0, 1)) :], special=False))
    current["dtype"] = coarse(x)
    check(
        lambda T, s, x, y: getattr(T, name)(s, x, y, beta=beta, alpha=alpha), [s, x, y], known=known_of(name, s, x, y)
    )


EQUATIONS = "ij,jk->ik|ij,jk|bij,bjk->bik|ij->ji|ii->i|ij->|ij,ij->i|i,j->ij|ij,j->i|ij,kj,k->i|...ij,...jk->...ik"


@pytest.mark.parametrize("equation", EQUATIONS.split("|"))
@deep
@given(data=st.data())
def test_einsum(equation, data):
    inputs = equation.split("->")[0].replace("...", "b").split(",")
    sizes = {letter: data.draw(N) for letter in set("".join(inputs))}
    dtype = data.draw(st.sampled_from(("float32", "float64", "complex64")))
    xs = [data.draw(operands((dtype,), [sizes[i] for i in letters], special=False)) for letters in inputs]
    current["dtype"] = dtype
    check(lambda T, *xs: T.einsum(equation, *xs), xs, known=known_of("einsum", *xs))


def coarse(x) -> str:
    return x.dtype if x.dtype != "int64" else "float32"
