"""Distributions drawn by rejection: a sample takes as many uniform numbers as it needs, so they are drawn one by one.

https://docs.pytorch.org/docs/stable/generated/torch.poisson.html and torch.binomial.html
"""

from __future__ import annotations

import math

import numpy as np

from chainrule.random.boxmuller import fill_pairs
from chainrule.random.errors import not_implemented, scalar_name
from chainrule.random.generator import Generator

_STIRLING = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.0104112652619720,
    0.00925546218271273,
    0.00833056343336287,
)


class Source:
    """Uniform and normal numbers one by one. `remaining` samples are still to be drawn, each from at least one number:
    so many are taken from the generator at a time, never one too many."""

    def __init__(self, gen: Generator, remaining: int) -> None:
        self.gen = gen
        self.remaining = remaining
        self.stored: list[float] = []

    def uniform(self) -> float:
        """A uniform number in [0, 1)."""
        if not self.stored:
            self.stored = self.gen.doubles(min(max(self.remaining, 1), 4096)).tolist()
            self.stored.reverse()
        return self.stored.pop()

    def normal(self) -> float:
        """A standard normal number; every second is kept by the generator meanwhile."""
        kept = self.gen.next_double_normal
        if kept is not None:
            self.gen.next_double_normal = None
            return kept
        pair = np.empty(2)
        fill_pairs(np.array([self.uniform(), self.uniform()]), pair, True)
        self.gen.next_double_normal = float(pair[1])
        return float(pair[0])


def poisson(gen: Generator, rate: np.ndarray) -> np.ndarray:
    """Poisson numbers of the given rates, in their dtype: `poisson`."""
    if rate.dtype.char not in "efd":
        raise not_implemented("poisson_cpu", rate.dtype)
    if rate.size and not rate.min() >= 0:
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    source = Source(gen, int(np.count_nonzero(rate)))
    result = []
    for lam in rate.astype(np.float64).ravel().tolist():
        if lam == 0:
            result.append(0)
            continue
        result.append(_poisson_by_rejection(source, lam) if lam >= 10 else _poisson_by_product(source, lam))
        source.remaining -= 1
    return np.array(result, np.float64).astype(rate.dtype).reshape(rate.shape)


def _poisson_by_product(source: Source, lam: float) -> int:
    """Count the factors until a product of uniform numbers falls to exp(-lam) (D. E. Knuth)."""
    limit = math.exp(-lam)
    count, product = 0, 1.0
    while True:
        product *= source.uniform()
        if product <= limit:
            return count
        count += 1


def _poisson_by_rejection(source: Source, lam: float) -> int:
    """Transformed rejection with squeeze, PTRS (W. Hörmann, 1993, doi:10.1016/0167-6687(93)90997-4)."""
    log_lam = math.log(lam)
    b = 0.931 + 2.53 * math.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = source.uniform() - 0.5
        v = source.uniform()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + lam + 0.43) if us else -1
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if math.log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b) <= (
            -lam + k * log_lam - math.lgamma(k + 1)
        ):
            return k


def binomial(gen: Generator, count: np.ndarray, prob: np.ndarray) -> np.ndarray:
    """Binomial numbers, in the dtype of `count`; both arrays have the shape of the result: `binomial`."""
    dtype = count.dtype
    for label, array in (("count", count), ("prob", prob)):
        if array.dtype.char not in "efd":
            raise ValueError(
                f"binomial only supports floating-point dtypes for {label}, got: {scalar_name(array.dtype)}"
            )
    if prob.dtype != dtype:
        raise RuntimeError(f"Found dtype {scalar_name(prob.dtype)} but expected {scalar_name(dtype)}")
    if dtype.char == "e":
        raise not_implemented("binomial_cpu", dtype)
    drawn = (count > 0) & (prob > 0) & (prob < 1)
    source = Source(gen, int(np.count_nonzero(drawn)))
    result = np.where(count > 0, np.where(prob > 0, count, prob * 0), 0 * count)
    result[(count <= 0) | (prob <= 0)] = 0
    result[(count > 0) & np.isnan(prob)] = np.nan
    for place in np.flatnonzero(drawn):
        n, p = count.flat[place], prob.flat[place]
        if p <= 0.5:
            result.flat[place] = _binomial(source, n, p)
        else:
            result.flat[place] = n - dtype.type(_binomial(source, n, dtype.type(1.0 - float(p))))
        source.remaining -= 1
    return result


def _binomial(source: Source, count: np.floating, prob: np.floating) -> float:
    """`count` and `prob` in the dtype of the result, which some of the products are rounded to."""
    if count * prob >= 10:
        return _binomial_by_rejection(source, count, prob)
    log_fail = float(np.log1p(-prob)) if count.dtype.char == "f" else math.log1p(-prob)
    total, successes, n = 0.0, 0, float(count)
    while True:
        u = source.uniform()
        total += math.ceil(math.log(u) / log_fail) if u else math.inf
        if total > n:
            return successes
        successes += 1


def _binomial_by_rejection(source: Source, count: np.floating, prob: np.floating) -> float:
    """Transformed rejection, BTRS (W. Hörmann, 1993, doi:10.1080/00949659308811496)."""
    one = count.dtype.type(1)
    stddev = float(np.sqrt(count * prob * (one - prob)))
    b = 1.15 + 2.53 * stddev
    a = -0.0873 + 0.0248 * b + 0.01 * float(prob)
    c = float(count * prob) + 0.5
    v_r = 0.92 - 4.2 / b
    r = float(prob / (one - prob))
    alpha = (2.83 + 5.1 / b) * stddev
    m = float(np.floor((count + one) * prob))
    n, above = float(count), float(count + one)
    while True:
        u = source.uniform() - 0.5
        v = source.uniform()
        us = 0.5 - abs(u)
        k = float(math.floor((2 * a / us + b) * u + c)) if us else -1.0
        if k < 0 or k > n:
            continue
        if us >= 0.07 and v <= v_r:
            return k
        v = math.log(v * alpha / (a / (us * us) + b)) if v else -math.inf
        bound = (
            (m + 0.5) * math.log((m + 1) / (r * (n - m + 1)))
            + above * math.log((n - m + 1) / (n - k + 1))
            + (k + 0.5) * math.log(r * (n - k + 1) / (k + 1))
            + _stirling_tail(m)
            + _stirling_tail(n - m)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        if v <= bound:
            return k


def _stirling_tail(k: float) -> float:
    """What Stirling's formula leaves of log(k!)."""
    if k < len(_STIRLING):
        return _STIRLING[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def standard_gamma(gen: Generator, alpha: np.ndarray) -> np.ndarray:
    """Gamma numbers of shape `alpha` and scale 1, in its dtype: `_standard_gamma`."""
    if alpha.dtype.char not in "fd":
        raise not_implemented("gamma_cpu", alpha.dtype)
    source = Source(gen, int(np.count_nonzero(alpha)))
    samples = np.array([_gamma(source, a) for a in alpha.ravel()], np.float64).astype(alpha.dtype)
    return np.fmax(samples, np.finfo(alpha.dtype).tiny).reshape(alpha.shape)


def dirichlet(gen: Generator, alpha: np.ndarray) -> np.ndarray:
    """Points of the simplex of the last dimension, in the dtype of `alpha`: `_sample_dirichlet`."""
    if alpha.dtype.char not in "fd":
        raise not_implemented("dirichlet", alpha.dtype)
    source = Source(gen, int(np.count_nonzero(alpha)))
    samples = np.array([_gamma(source, a) for a in alpha.astype(np.float64).ravel()]).reshape(alpha.shape)
    info = np.finfo(alpha.dtype)
    ratios = (samples / samples.sum(-1, keepdims=True)).astype(alpha.dtype)
    return np.clip(ratios, info.tiny, np.nextafter(alpha.dtype.type(1), alpha.dtype.type(0)))


def _gamma(source: Source, alpha: np.floating) -> float:
    """Acceptance and rejection of a cubed normal (G. Marsaglia, W. W. Tsang, 2000, doi:10.1145/358407.358414)."""
    kind = alpha.dtype.type
    scale = 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale = float(np.float64(1 - source.uniform()) ** np.float64(kind(1) / alpha))
        alpha = alpha + kind(1)
    d = float(alpha - kind(np.float32(1) / np.float32(3)))
    c = 1.0 / math.sqrt(9.0 * d) if d > 0 else math.nan
    while True:
        x = source.normal()
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1 - source.uniform()
        square = x * x
        if u < 1.0 - float(np.float32(0.0331)) * square * square or (
            math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v))
        ):
            source.remaining -= 1
            return scale * d * v
