import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import chainrule as torch

NAN = math.nan


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_searchsorted_against_numpy(data):
    rows, n, m = data.draw(st.tuples(st.integers(1, 3), st.integers(0, 6), st.integers(0, 5)))
    numbers = st.integers(-3, 3).map(float)
    sequence = np.sort(data.draw(hnp.arrays(np.float64, (rows, n), elements=numbers)), -1)
    values = data.draw(hnp.arrays(np.float64, (rows, m), elements=numbers))
    side = data.draw(st.sampled_from(["left", "right"]))
    right = np.array([np.searchsorted(s, v, side) for s, v in zip(sequence, values)]).reshape(rows, m)
    found = torch.searchsorted(torch.tensor(sequence), torch.tensor(values), side=side)
    assert found.dtype is torch.int64 and found.tolist() == right.tolist()
    one = torch.bucketize(torch.tensor(values), torch.tensor(sequence[0]), right=side == "right", out_int32=True)
    assert one.dtype is torch.int32 and one.tolist() == np.searchsorted(sequence[0], values, side).tolist()
    among = torch.isin(torch.tensor(values), torch.tensor(sequence))
    assert among.tolist() == np.isin(values, sequence).tolist()
    assert torch.isin(torch.tensor(values), torch.tensor(sequence), invert=True).tolist() == (~among).tolist()


def test_numbers_nan_and_sorters():
    s = torch.tensor([1.0, 2.0, 2.0, 3.0])
    assert torch.searchsorted(s, 2).item() == 1 and torch.bucketize(2.0, s, right=True).item() == 3
    assert torch.searchsorted(s, torch.tensor([NAN, 5.0])).tolist() == [4, 4]
    assert torch.searchsorted(torch.tensor([1.0, NAN]), torch.tensor([0.0])).tolist() == [2]
    u = torch.tensor([3.0, 1.0, 2.0])
    assert torch.searchsorted(u, s, sorter=u.argsort()).tolist() == [0, 1, 1, 2]
    assert torch.searchsorted(torch.tensor([1, 2]), 1.5).item() == 1
    assert torch.isin(torch.tensor([NAN]), torch.tensor([NAN])).tolist() == [False]
    assert torch.isin(2, torch.tensor([1, 2])).item() and torch.isin(torch.tensor([1, 2]), 2).tolist() == [False, True]
    out = torch.empty(0, dtype=torch.int64)
    assert torch.searchsorted(s, s, out=out) is out and out.tolist() == [0, 1, 1, 3]


def test_nonzero_static():
    x = torch.tensor([[0, 1], [2, 0]])
    assert torch.nonzero_static(x, size=3).tolist() == [[0, 1], [1, 0], [-1, -1]]
    assert x.nonzero_static(size=1, fill_value=5).tolist() == [[0, 1]]
    with pytest.raises(RuntimeError, match="nonzero_static: 'size' must be an non-negative integer"):
        x.nonzero_static(size=-1)


@pytest.mark.parametrize(
    "run, words",
    [
        (lambda s, m: torch.searchsorted(s, s, side="x"), "side can only be 'left' or 'right' but got x"),
        (lambda s, m: torch.searchsorted(s, s, side="left", right=True), "side and right can't be set to opposites"),
        (
            lambda s, m: torch.searchsorted(m, 2),
            "input value can be a scalar only when boundaries tensor dimension is 1",
        ),
        (lambda s, m: torch.searchsorted(m, s), "boundaries tensor should be 1 dimension or the first N-1 dimensions"),
        (lambda s, m: torch.searchsorted(s, s, sorter=s), "sorter must be a tensor of long dtype but got dtype Float"),
        (lambda s, m: torch.searchsorted(s, s, out=s.clone()), "output tensor's dtype is wrong"),
        (lambda s, m: torch.bucketize(s, m), r"boundaries tensor must be 1 dimension, but got dim\(2\)"),
        (lambda s, m: torch.isin(s, s > 0), r"Unsupported input type encountered for isin\(\): Bool"),
    ],
)
def test_errors(run, words):
    with pytest.raises(RuntimeError, match=words):
        run(torch.tensor([1.0, 2.0]), torch.ones(2, 3))
    with pytest.raises(NotImplementedError, match="\"searchsorted_out_cpu\" not implemented for 'ComplexFloat'"):
        torch.searchsorted(torch.tensor([1j]), torch.tensor([1j]))
    with pytest.raises(TypeError, match=r"isin\(\) received an invalid combination of arguments - got \(int, int\)"):
        torch.isin(2, 2)
