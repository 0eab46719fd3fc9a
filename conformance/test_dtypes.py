"""Dtypes: promotion of every pair, conversions, what a dtype says of itself, printed numbers."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import chainrule

from .compare import check, current, deep
from .strategies import EVERY, operands

NUMBERS = (1, 2.5, True, 1 + 2j)


def of(T, name):
    return getattr(T, name)


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("first", EVERY)
def test_promotion_of_every_pair(first):
    for second in EVERY:
        pair = [of(torch, first), of(torch, second)]
        ours = [of(chainrule, first), of(chainrule, second)]
        if "16" not in first + second or "complex" not in first + second:
            assert str(torch.promote_types(*pair)) == str(chainrule.promote_types(*ours)), (first, second)
        assert torch.can_cast(*pair) == chainrule.can_cast(*ours), (first, second)
        for shapes in itertools.product(((), (2,)), repeat=2):
            results = []
            for T, (a, b) in ((torch, pair), (chainrule, ours)):
                x, y = T.ones(shapes[0], dtype=a), T.ones(shapes[1], dtype=b)
                try:
                    results.append(
                        [str(T.result_type(x, y)), str((x * y).dtype), str((x / y).dtype), str((x == y).dtype)]
                    )
                except (RuntimeError, NotImplementedError) as error:
                    results.append(
                        "complex32" if "omplexHalf" in str(error) or "complex32" in str(error) else str(error)
                    )
            if "ComplexHalf" not in str(results) and "complex32" not in str(results):
                assert results[0] == results[1], (first, second, shapes)


@pytest.mark.parametrize("name", EVERY)
def test_promotion_with_numbers(name):
    for shape, number in itertools.product(((), (2,)), NUMBERS):
        if name == "float16" and isinstance(number, complex):
            continue
        results = []
        for T in (torch, chainrule):
            x = T.ones(shape, dtype=of(T, name))
            made = (x * number, number / x, x + number)
            results.append([str(T.result_type(x, number)), *[str(t.dtype) for t in made]])
        assert results[0] == results[1], (shape, number)


@pytest.mark.parametrize("name", EVERY)
def test_what_a_dtype_says(name):
    theirs, ours = of(torch, name), of(chainrule, name)
    for ask in ("is_floating_point", "is_complex", "is_signed", "itemsize"):
        assert getattr(theirs, ask) == getattr(ours, ask)
    assert repr(theirs) == repr(ours)
    if name != "bool":
        info = "finfo" if theirs.is_floating_point or theirs.is_complex else "iinfo"
        assert str(getattr(torch, info)(theirs)) == str(getattr(chainrule, info)(ours))


@pytest.mark.parametrize("target", EVERY)
@deep
@given(x=operands(EVERY))
def test_conversion(target, x):
    current["dtype"] = "float16" if "float16" in (target, x.dtype) else "float32"

    def overflows(difference, theirs, ours) -> bool:  # what C++ leaves undefined
        return x.special and "float" in x.dtype + "complex" and target not in ("float16", "float32", "float64", "bool")

    check(lambda T, x: x.to(of(T, target)), [x], known=[overflows])


OPTIONS = (
    {},
    {"precision": 2},
    {"sci_mode": True},
    {"threshold": 4, "edgeitems": 1},
    {"linewidth": 30},
    {"profile": "full"},
)
VALUES = st.sampled_from(
    (0.0, 1.0, -1.5, 1e-7, 123456.0, 1e10, 3.14159265, float("nan"), float("inf"), -0.0, 7.0, 0.001)
)


@deep
@given(data=st.data(), options=st.sampled_from(OPTIONS), dtype=st.sampled_from(EVERY))
def test_printed_text(data, options, dtype):
    shape = data.draw(st.sampled_from(((), (3,), (2, 2), (0,), (2, 0, 3), (2, 2, 2), (1100,), (7, 1))))
    n = 1
    for k in shape:
        n *= k
    values = data.draw(st.lists(VALUES, min_size=min(n, 8), max_size=min(n, 8)))
    if "int" in dtype or dtype == "bool":
        values = [v if abs(v) < 100 else 5 for v in values]
    values = (values * (n // 8 + 1))[:n]
    texts = []
    for T in (torch, chainrule):
        T.set_printoptions(profile="default")
        T.set_printoptions(**options)
        try:
            t = T.tensor([int(v) if "int" in dtype else v for v in values], dtype=of(T, dtype)).reshape(shape)
            texts.append((repr(t), str(t), f"{t}", repr(t.tolist())))
        finally:
            T.set_printoptions(profile="default")
    assert texts[0] == texts[1]
