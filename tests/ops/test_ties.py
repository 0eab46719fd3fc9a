import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import chainrule as torch
from chainrule.ops import ties

MANY = [
    3,
    2,
    2,
    1,
    1,
    0,
    0,
    0,
    0,
    3,
    2,
    3,
    2,
    2,
    3,
    2,
    2,
    2,
    2,
    3,
    1,
    3,
    2,
    0,
    1,
    3,
    2,
    0,
    3,
    2,
    3,
    0,
    0,
    3,
    0,
    2,
    0,
    1,
    1,
    1,
]


def test_equal_elements_are_chosen_as_by_pytorch():
    """The right places were read off PyTorch 2.13."""
    x = torch.tensor(MANY)
    assert torch.ones(7).topk(3).indices.tolist() == [5, 4, 3]
    assert x.topk(5).indices.tolist() == [11, 33, 30, 9, 25]
    assert x.topk(5, largest=False, sorted=False).indices.tolist() == [31, 8, 34, 32, 7]
    assert x.topk(30).indices.tolist() == [
        25, 0, 28, 21, 33, 30, 9, 11, 19, 14, 1, 26, 22, 29, 18, 17, 16, 15, 13, 12, 10, 35, 2, 37, 38, 39, 3, 24, 20, 4,
    ]  # fmt: skip
    assert [x.kthvalue(k).indices.item() for k in (1, 7, 20, 33, 40)] == [23, 31, 2, 21, 19]
    assert x.mode().indices.item() == 16
    assert (torch.arange(300) % 3).topk(4).indices.tolist() == [8, 5, 11, 2]


@settings(max_examples=150, deadline=None)
@given(hnp.arrays(np.float64, st.integers(1, 150), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan])), st.data())
def test_the_algorithms_sort_and_select(a, data):
    k = data.draw(st.integers(1, len(a)))
    up, down = np.sort(a), np.sort(a)[::-1]
    order = ties.sort_unstable(a)
    assert sorted(order) == list(range(len(a)))
    np.testing.assert_array_equal(a[order], up)
    np.testing.assert_array_equal(a[ties.select(a, k, True, True)], down[:k])
    np.testing.assert_array_equal(np.sort(a[ties.select(a, k, False, False)]), up[:k])
    np.testing.assert_array_equal(a[ties.kth_of(a, k - 1)], up[k - 1])


def test_sequences_that_quicksort_is_slow_on():
    n = 3000  # the median of three is a bad pivot everywhere: selection goes over to heaps
    a = np.concatenate([np.arange(n // 2) * 2, np.arange(n // 2)[::-1] * 2 + 1]) % 1000
    killer = np.zeros(n)
    for i in range(n // 2):
        killer[i] = i if i % 2 else n // 2 + i
        killer[n // 2 + i] = 2 * i
    for values in (a, killer // 2):
        np.testing.assert_array_equal(values[ties.sort_unstable(values)], np.sort(values))
        np.testing.assert_array_equal(values[ties.select(values, n // 2, True, True)], np.sort(values)[::-1][: n // 2])


def test_along_any_dimension():
    x = torch.tensor(MANY).reshape(2, 20)
    for row in (0, 1):
        assert x.topk(7, 1).indices[row].tolist() == x[row].topk(7).indices.tolist()
        assert x.t().topk(7, 0).indices[:, row].tolist() == x[row].topk(7).indices.tolist()
        assert x.kthvalue(9, 1).indices[row].item() == x[row].kthvalue(9).indices.item()
        assert x.mode(1).indices[row].item() == x[row].mode().indices.item()
