"""Permutations and draws from given probabilities, value for value what PyTorch's CPU kernels draw.

https://docs.pytorch.org/docs/stable/generated/torch.randperm.html
https://docs.pytorch.org/docs/stable/generated/torch.multinomial.html
"""

from __future__ import annotations

import math

import numpy as np

from chainrule.random.continuous import doubles, exponential
from chainrule.random.errors import not_implemented, scalar_name
from chainrule.random.generator import Generator

_LOOPED = 500  # permutations up to this length are shuffled one exchange after the other
_WIDE = (2**32 - 1) // 20  # from this length on PyTorch draws 64 bits an exchange
_EXACT_FLOATS = {
    "e": ("2049", 2**11 + 1, "Half"),
    "f": ("2^24+1", 2**24 + 1, "Float"),
    "d": ("2^53+1", 2**53 + 1, "Double"),
}
_C_NAMES = {"int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t"}


def randperm(gen: Generator, n: int, dtype: np.dtype) -> np.ndarray:
    """A random permutation of 0 … n - 1: the shuffle of R. A. Fisher and F. Yates from the front."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    _check_length(n, dtype)
    if n < 2:
        return np.arange(n).astype(dtype)
    spans = np.arange(n, 1, -1, dtype=np.uint32)
    draws = gen.words64(n - 1) if n >= _WIDE else gen.words(n - 1)
    partners = (draws % spans).astype(np.int64)
    partners += np.arange(n - 1)
    return (_exchange_loop if n <= _LOOPED else _exchange_all)(partners, n).astype(dtype, copy=False)


def _check_length(n: int, dtype: np.dtype) -> None:
    kind = dtype.char
    if kind in _EXACT_FLOATS:
        text, limit, name = _EXACT_FLOATS[kind]
        if n > limit:
            raise RuntimeError(f"n cannot be greater than {text} for {name} type.")
    elif dtype.name not in _C_NAMES:
        raise not_implemented("randperm", dtype)
    elif n > np.iinfo(dtype).max:
        raise RuntimeError(f"value cannot be converted to type {_C_NAMES[dtype.name]} without overflow")


def _exchange_loop(partners: np.ndarray, n: int) -> np.ndarray:
    """0 … n - 1 after exchanging place i with place partners[i], for i = 0, 1, …"""
    places = list(range(n))
    for i, partner in enumerate(partners.tolist()):
        places[i], places[partner] = places[partner], places[i]
    return np.array(places)


def _exchange_all(partners: np.ndarray, n: int) -> np.ndarray:
    """The same without a loop over the exchanges.

    Exchange i moves into place i for good what place h = partners[i] holds at that time. That is what the last exchange
    k < i with the same h took there out of place k; without one it is h itself. What place k held at its turn is in the
    same way what the last exchange j < k with partners[j] == k took out of place j: a chain, whose end pointer doubling
    finds for all places at once.
    """
    count = n - 1
    turns = np.arange(n)
    last = turns.copy()  # the last exchange that reaches each place, or the place itself
    last[partners] = turns[:count]
    earlier = np.full(count, -1)  # the exchange before each one that reaches the same place
    latest = last.copy()
    waiting = np.flatnonzero(latest[partners] != turns[:count])
    while waiting.size:
        places = partners[waiting]
        after = latest[places]
        latest[places] = waiting  # of several the last remains
        found = latest[places] == waiting
        earlier[after[found]] = waiting[found]
        waiting = waiting[~found]
    source = last
    own = np.flatnonzero(partners == turns[:count])  # an exchange of a place with itself does not count
    source[own] = np.where(earlier[own] >= 0, earlier[own], own)
    while True:
        further = source[source]
        if np.array_equal(further, source):
            break
        source = further
    result = np.empty(n, np.int64)
    result[:count] = partners
    again = np.flatnonzero(earlier >= 0)
    result[again] = source[earlier[again]]
    result[count] = source[count]
    return result


def multinomial(gen: Generator, p: np.ndarray, n_sample: int, replacement: bool = False) -> np.ndarray:
    """Indices drawn with probabilities in proportion to the rows of `p`, 1-d or 2-d: int64 (…, n_sample)."""
    if not 0 < p.ndim <= 2:
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if p.dtype.char not in "efd":
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {scalar_name(p.dtype)}")
    if n_sample <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    categories = p.shape[-1]
    if not replacement and n_sample > categories:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if categories > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if not categories and n_sample == 1:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    if not categories:
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if p.size == 0:
        return np.empty((*p.shape[:-1], n_sample), np.int64)
    if replacement and n_sample > 1:
        return _with_replacement(gen, p, n_sample)
    if not (p.max() < math.inf and p.min() >= 0):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (p.sum(-1) == 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    # The first of several exponential clocks of rates p to ring is category i with probability p[i] / sum(p).
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = p / exponential(gen, p.shape, p.dtype)
    if n_sample == 1:
        return quotients.argmax(-1, keepdims=True)
    return np.argsort(-quotients, -1, kind="stable")[..., :n_sample]


def _with_replacement(gen: Generator, p: np.ndarray, n_sample: int) -> np.ndarray:
    rows = p.reshape(-1, p.shape[-1])
    cumulative = _cumulative(rows)
    result = np.empty((len(rows), n_sample), np.int64)
    for row, chances in zip(result, cumulative, strict=True):
        row[...] = np.searchsorted(chances, doubles(gen, n_sample))
    return result.reshape(*p.shape[:-1], n_sample)


def _cumulative(rows: np.ndarray) -> np.ndarray:
    if not (rows >= 0).all():
        raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
    if not np.isfinite(rows).all():
        raise RuntimeError("invalid multinomial distribution (encountering probability entry = infinity or NaN)")
    sums = np.cumsum(rows, -1, dtype=np.float32 if rows.dtype.char == "e" else rows.dtype)
    if not (sums[:, -1] > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    sums /= sums[:, -1:].copy()
    sums[:, -1] = 1
    return sums.astype(np.float64)
