"""Which of equal elements topk, kthvalue and mode name: those that the sorting of the C++ library leaves in front.

PyTorch selects with `std::nth_element`, `std::partial_sort` and `std::sort`, which are not stable, but the same on every
machine with the GNU C++ library: introselect, introsort and heap selection (D. Musser, "Introspective sorting and
selection algorithms", 1997) with the median of three as pivot. Here they run on lists of integers, ranks in which equal
elements are equal; the callers come here only where there are equal elements.
"""

import numpy as np

__all__ = ["MOST", "dense_ranks", "equal", "kth_of", "select", "settle", "sort_unstable"]

MOST = 1 << 14  # arrays of more elements are not looked at: these algorithms run in Python
_SMALL = 16


def equal(x, y):
    """Where elements are equal, and where both are NaN."""
    same = x == y
    return same | ((x != x) & (y != y)) if x.dtype.kind == "f" else same


def settle(a, places, axis: int, rows, choose) -> None:
    """Write what `choose` says of a slice of `a` along an axis into the same slice of `places`, where `rows` holds."""
    source, target = np.moveaxis(a, axis, -1), np.moveaxis(places, axis, -1)
    for index in np.argwhere(rows):
        target[tuple(index)] = choose(source[tuple(index)])


def dense_ranks(a) -> list:
    """For each element of a 1-dim array how many different smaller ones there are; NaN is one value, the largest."""
    order = np.argsort(a, kind="stable")
    ranked = a[order]
    fresh = ranked[1:] != ranked[:-1]
    if a.dtype.kind == "f":
        fresh &= ~np.isnan(ranked[:-1])
    ranks = np.empty(len(a), np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(fresh)])
    return ranks.tolist()


# --- the algorithms; each rearranges `items`, pairs of (key, place), between first and last ---


def _insertion_sort(items: list, first: int, last: int) -> None:
    for i in range(first + 1, last):
        item, at = items[i], i
        if item[0] < items[first][0]:
            items[first + 1 : i + 1] = items[first:i]
            at = first
        else:
            while item[0] < items[at - 1][0]:
                items[at] = items[at - 1]
                at -= 1
        items[at] = item


def _median_to_first(items: list, to: int, a: int, b: int, c: int) -> None:
    x, y, z = items[a][0], items[b][0], items[c][0]
    if x < y:
        chosen = b if y < z else c if x < z else a
    else:
        chosen = a if x < z else c if y < z else b
    items[to], items[chosen] = items[chosen], items[to]


def _partition(items: list, first: int, last: int) -> int:
    """Put what is smaller than the pivot, the median of three, before what is larger; where the second part begins."""
    _median_to_first(items, first, first + 1, first + (last - first) // 2, last - 1)
    pivot = items[first][0]
    low, high = first + 1, last
    while True:
        while items[low][0] < pivot:
            low += 1
        high -= 1
        while pivot < items[high][0]:
            high -= 1
        if low >= high:
            return low
        items[low], items[high] = items[high], items[low]
        low += 1


def _sift(items: list, first: int, hole: int, length: int, item) -> None:
    """Let an item sink from a hole in a heap to the bottom, and rise from there to its place."""
    top, child = hole, hole
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if items[first + child][0] < items[first + child - 1][0]:
            child -= 1
        items[first + hole] = items[first + child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * (child + 1)
        items[first + hole] = items[first + child - 1]
        hole = child - 1
    parent = (hole - 1) // 2
    while hole > top and items[first + parent][0] < item[0]:
        items[first + hole] = items[first + parent]
        hole, parent = parent, (parent - 1) // 2
    items[first + hole] = item


def _heap_select(items: list, first: int, middle: int, last: int) -> None:
    length = middle - first
    for parent in range((length - 2) // 2, -1, -1):
        _sift(items, first, parent, length, items[first + parent])
    for i in range(middle, last):
        if items[i][0] < items[first][0]:
            item, items[i] = items[i], items[first]
            _sift(items, first, 0, length, item)


def _partial_sort(items: list, first: int, middle: int, last: int) -> None:
    _heap_select(items, first, middle, last)
    for end in range(middle - 1, first, -1):
        item, items[end] = items[end], items[first]
        _sift(items, first, 0, end - first, item)


def _depth(n: int) -> int:
    return 2 * (n.bit_length() - 1)


def _nth_element(items: list, nth: int) -> None:
    first, last = 0, len(items)
    depth = _depth(last)
    while last - first > 3:
        if depth == 0:
            _heap_select(items, first, nth + 1, last)
            items[first], items[nth] = items[nth], items[first]
            return
        depth -= 1
        cut = _partition(items, first, last)
        if cut <= nth:
            first = cut
        else:
            last = cut
    _insertion_sort(items, first, last)


def _sort(items: list, last: int) -> None:
    stack = [(0, last, _depth(last) if last else 0)]
    while stack:  # the parts are independent of each other
        first, end, depth = stack.pop()
        while end - first > _SMALL:
            if depth == 0:
                _partial_sort(items, first, end, end)
                break
            depth -= 1
            cut = _partition(items, first, end)
            stack.append((cut, end, depth))
            end = cut
    # What is left are runs of at most 16 in order; insertion sort goes through them as one.
    _insertion_sort(items, 0, min(last, _SMALL))
    for i in range(_SMALL, last):
        item, at = items[i], i
        while item[0] < items[at - 1][0]:
            items[at] = items[at - 1]
            at -= 1
        items[at] = item


# --- what the operations ask for ---


def select(a, k: int, largest: bool, ordered: bool) -> list:
    """The places of the k largest or smallest elements of a 1-dim array, in PyTorch's order."""
    ranks = dense_ranks(a)
    items = [(-r if largest else r, i) for i, r in enumerate(ranks)]
    if 64 * k <= len(items):
        _partial_sort(items, 0, k, len(items))
    else:
        _nth_element(items, k - 1)
        if ordered:
            _sort(items, k - 1)
    return [place for _, place in items[:k]]


def sort_unstable(a) -> list:
    """The places that sort a 1-dim array, in the order in which `std::sort` leaves equal elements."""
    items = [(r, i) for i, r in enumerate(dense_ranks(a))]
    _sort(items, len(items))
    return [place for _, place in items]


def kth_of(a, k: int) -> int:
    """The place that PyTorch's quickselect gives for element number k (from 0) of a 1-dim array."""
    items = [(r, i) for i, r in enumerate(dense_ranks(a))]
    low, high = 0, len(items) - 1
    while high > low + 1:
        middle = (low + high) >> 1
        _swap(items, middle, low + 1)
        for x, y in ((low + 1, high), (low, high), (low + 1, low)):
            if items[x][0] > items[y][0]:
                _swap(items, x, y)
        i, j, pivot = low + 1, high, items[low][0]
        while True:
            i += 1
            while pivot > items[i][0]:
                i += 1
            j -= 1
            while items[j][0] > pivot:
                j -= 1
            if j < i:
                break
            _swap(items, i, j)
        _swap(items, low, j)
        if j <= k:
            low = i
        if j >= k:
            high = j - 1
    if high == low + 1 and items[low][0] > items[high][0]:
        _swap(items, low, high)
    return items[k][1]


def _swap(items: list, i: int, j: int) -> None:
    items[i], items[j] = items[j], items[i]
