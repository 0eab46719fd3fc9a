import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import chainrule as torch


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_against_numpy(data):
    a = data.draw(hnp.arrays(np.float64, st.integers(1, 20), elements=st.integers(-8, 8).map(lambda n: n / 2)))
    bins = data.draw(st.integers(1, 6))
    low, high = data.draw(st.sampled_from([(-2.0, 3.0), (0.0, 1.0)]))
    x = torch.tensor(a)
    right, edges = np.histogram(a, bins, (low, high))
    found = torch.histogram(x, bins, range=(low, high))
    np.testing.assert_array_equal(found.hist.numpy(), right)
    np.testing.assert_allclose(found.bin_edges.numpy(), edges, atol=1e-15)
    assert x.histc(bins, low, high).sum().item() == right.sum()
    weight = np.arange(len(a), dtype=float)
    cuts = np.array([-2.0, 0.0, 0.5, 3.0])
    found = torch.histogram(x, torch.tensor(cuts), weight=torch.tensor(weight))
    np.testing.assert_allclose(found.hist.numpy(), np.histogram(a, cuts, weights=weight)[0])
    points = np.stack([a, a[::-1]], -1)
    hist, edges = torch.histogramdd(torch.tensor(points), [2, 3], range=[-4, 4, -1, 2])
    np.testing.assert_array_equal(hist.numpy(), np.histogramdd(points, [2, 3], [(-4, 4), (-1, 2)])[0])
    assert [e.shape[0] for e in edges] == [3, 4]
    counted = torch.tensor(np.abs(a).astype(int))
    assert counted.bincount(minlength=3).tolist() == np.bincount(np.abs(a).astype(int), minlength=3).tolist()


def test_bincount():
    i = torch.tensor([1, 0, 2, 1])
    assert i.bincount(torch.tensor([1.0, 2.0, 3.0, 4.0])).tolist() == [2.0, 5.0, 3.0]
    assert i.bincount(torch.ones(4)).dtype is torch.float32 and i.bincount(torch.ones(4).half()).dtype is torch.float64
    assert torch.empty(0, dtype=torch.int64).bincount(minlength=2).tolist() == [0, 0]
    weights = torch.ones(4, requires_grad=True)
    with pytest.raises(RuntimeError, match="derivative for aten::bincount is not implemented"):
        i.bincount(weights).sum().backward()


def test_density_and_equal_elements():
    x = torch.tensor([1.0, 1.0, 2.0, 4.0])
    hist, edges = torch.histogram(x, 4, density=True)
    assert (hist * edges.diff()).sum().item() == pytest.approx(1)
    assert torch.histc(torch.ones(3), 3).tolist() == torch.histogram(torch.ones(3), 3)[0].tolist() == [0, 3, 0]
    assert torch.histogram(torch.ones(2), 2).bin_edges.tolist() == [0.5, 1.0, 1.5]
    assert torch.histogram(torch.empty(0), 2).bin_edges.tolist() == [0.0, 0.5, 1.0]
    assert torch.histc(torch.tensor([1.0, math.nan]), 2, 0, 2).tolist() == [0, 1]


@pytest.mark.parametrize(
    "run, error, words",
    [
        (lambda x: x.bincount(), NotImplementedError, "\"bincount_cpu\" not implemented for 'Float'"),
        (lambda x: (-x.long()).bincount(), RuntimeError, "bincount only supports 1-d non-negative integral inputs."),
        (lambda x: x.long().bincount(x[:1]), RuntimeError, "weights should be 1-d and have the same length as input"),
        (lambda x: x.histc(0), RuntimeError, r"torch.histogram\(\): bins must be > 0, but got 0 for dimension 0"),
        (lambda x: x.histc(3, 2, 1), RuntimeError, "torch.histc: max must be larger than min"),
        (lambda x: x.histc(3, 0, math.inf), RuntimeError, r"torch.histc: range of \[0, inf\] is not finite"),
        (lambda x: x.long().histc(), NotImplementedError, "\"histogram_cpu\" not implemented for 'Long'"),
        (lambda x: torch.histogram(x, 2, range=(1,)), RuntimeError, "range should have 2 elements, but got 1"),
        (lambda x: torch.histogram(x, 2, range=(2, 1)), RuntimeError, "min should not exceed max, but got min 2 max 1"),
        (
            lambda x: torch.histogram(x, 2, weight=x.double()),
            RuntimeError,
            r"but got input\(float\), and weight\(double\)",
        ),
        (lambda x: torch.histogramdd(x, 2), RuntimeError, "input tensor should have at least 2 dimensions"),
        (
            lambda x: torch.histogramdd(torch.ones(2, 2), [2]),
            RuntimeError,
            "The size of bins must be equal to the innermost",
        ),
    ],
)
def test_errors(run, error, words):
    with pytest.raises(error, match=words):
        run(torch.tensor([1.0, 2.0, 3.0]))
