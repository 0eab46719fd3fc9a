import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import chainrule as torch
from chainrule.autograd import gradcheck, gradgradcheck

NAN = math.nan


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_against_ranks_and_counts(data):
    a = data.draw(hnp.arrays(np.float64, st.integers(1, 90), elements=st.integers(0, 9)))
    x, ranked = torch.tensor(a), np.argsort(a, kind="stable")
    k = data.draw(st.integers(1, len(a)))
    value, place = x.kthvalue(k)
    assert value.item() == a[ranked[k - 1]] == a[place.item()]
    middle = ranked[(len(a) - 1) // 2]
    assert [r.item() for r in x.median(0)] == [r.item() for r in x.nanmedian(0)] == [a[middle], middle]
    assert x.median().item() == statistics.median_low(a)
    value, place = x.mode()
    counts = {v: int((a == v).sum()) for v in a}
    best = min(v for v in counts if counts[v] == max(counts.values()))
    assert value.item() == best == a[place.item()]
    assert len(a) > 16 or place.item() == np.flatnonzero(a == best)[-1]


def test_nan():
    x = torch.tensor([3.0, NAN, 1.0, 2.0, NAN])
    assert math.isnan(x.median()) and x.median(0).indices.item() == 1
    assert x.nanmedian().item() == 2.0 and [r.item() for r in x.nanmedian(0)] == [2.0, 3]
    assert math.isnan(torch.tensor([NAN, NAN]).nanmedian()) and x.kthvalue(4).indices.item() == 1
    wide = torch.tensor([[3.0, NAN], [1.0, NAN], [2.0, NAN]])
    assert torch.nanmedian(wide, 0).indices.tolist() == [2, 0]


def test_shapes_and_empty_tensors():
    x = torch.arange(24.0).reshape(2, 3, 4)
    for function in (torch.median, torch.nanmedian, torch.mode, lambda *a: torch.kthvalue(x, 2, *a[1:])):
        assert function(x, 1)[0].shape == (2, 4) and function(x, -2, True)[1].shape == (2, 1, 4)
    assert math.isnan(torch.empty(0).median()) and torch.empty(0, dtype=torch.int64).median().item() == -(2**63)
    assert torch.empty(3, 0).median(0).values.shape == (0,)
    assert torch.tensor(5).mode() == (5, 0) and torch.tensor(5.0).kthvalue(1).values.item() == 5
    half = torch.tensor([1, 3, 2], dtype=torch.float16)
    assert half.median().dtype is torch.float16 and half.median().item() == 2


def test_derivatives_and_nodes():
    x = torch.tensor(np.random.default_rng(0).standard_normal((3, 5)), requires_grad=True)
    cases = {
        "KthvalueBackward0": lambda x: x.kthvalue(2, 0)[0],
        "MedianBackward0": lambda x: x.median(),
        "MedianBackward1": lambda x: x.median(1, True).values,
        "NanmedianBackward0": lambda x: x.nanmedian(),
        "NanmedianBackward1": lambda x: x.nanmedian(0).values,
        "ModeBackward0": lambda x: x.mode(1)[0],
    }
    for name, function in cases.items():
        assert function(x).grad_fn.name() == name
        assert gradcheck(function, (x,)) and gradgradcheck(function, (x,))
    # Over all elements those that equal the median share the gradient; along a dimension the index gets all of it.
    y = torch.tensor([1.0, 2.0, 2.0, 3.0], requires_grad=True)
    assert torch.autograd.grad(y.median(), y)[0].tolist() == [0, 0.5, 0.5, 0]
    assert torch.autograd.grad(y.median(0)[0], y)[0].tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    "run, error, words",
    [
        (lambda x: x.kthvalue(4), RuntimeError, r"kthvalue\(\): selected number k out of range for dimension 0"),
        (
            lambda x: torch.empty(2, 0).median(1),
            IndexError,
            r"median\(\): Expected reduction dim 1 to have non-zero size.",
        ),
        (lambda x: torch.empty(2, 0).mode(), IndexError, r"mode\(\): Expected reduction dim 1 to have non-zero size."),
        (lambda x: (x > 1).median(), NotImplementedError, "\"median_cpu\" not implemented for 'Bool'"),
        (lambda x: (x * 1j).mode(), NotImplementedError, "\"mode_cpu\" not implemented for 'ComplexFloat'"),
        (lambda x: x.median("a"), TypeError, r"median\(\): argument 'dim' \(position 1\) must be int, not str"),
        (lambda x: torch.median(), TypeError, r"median\(\) received an invalid combination of arguments - got \(\)"),
        (
            lambda x: torch.mode(x, out=(x.clone(), x.clone())),
            RuntimeError,
            "expected scalar type 'Long' but got 'Float' for indices output",
        ),
        (
            lambda x: torch.median(x, 0, out=(x.clone(), x.clone())),
            RuntimeError,
            "Expected tensor for argument #1 'indices'",
        ),
    ],
)
def test_errors(run, error, words):
    with pytest.raises(error, match=words):
        run(torch.tensor([1.0, 2.0, 3.0]))
