"""Normal numbers from uniform ones by G. E. P. Box and M. E. Muller (1958), rounded as PyTorch's kernels round.

PyTorch fills a contiguous float32 tensor of at least 16 values with single-precision logarithms, sines and cosines of
the Cephes library (S. L. Moshier), compiled with fused multiply-adds. Both arguments are 24-bit integers, so every
shortcut below was held against the long way for all 2**24 of them: the results are the same bits.
"""

from __future__ import annotations

import math

import numpy as np

from chainrule.random.fused import complex_multiply
from chainrule.random.libm import libm

LANES = 8  # a block of 16 words is 8 radii, then 8 angles
_ROW = np.dtype((np.void, 4 * LANES))  # moves 8 lanes at once


def _float(value: float | np.floating) -> np.ndarray:
    return np.array(value, np.float32)


def _int(value: int) -> np.ndarray:
    return np.array(value, np.int32)


def _scalar_step(first: float, second: float) -> np.ndarray:
    """The factor that makes the product with (x, 1) a fused ``first * x + second``."""
    return np.array(complex(np.float32(first), -np.float32(second)), np.complex64)


# Zero-dimensional arrays: a Python number would be converted in every call.
_ONE, _HALF, _MINUS_TWO = _float(1), _float(0.5), _float(-2)
_MASK, _TOP, _MANTISSA = _int(2**24 - 1), _int(2**24), _int(2**23 - 1)
_BIT0, _BIT1, _SHIFT22, _SHIFT23, _SHIFT30 = _int(1), _int(2), _int(22), _int(23), _int(30)

# logf of Cephes: log(1 + x) = x - x**2 / 2 + x**3 * P(x) between sqrt(1/2) and sqrt(2).
_SQRT_HALF_BITS = _int(0x3F3504F3)
_SQRT_HALF_BITS_SCALED = _int(0x3F3504F3 + (24 << 23))
_LOG_FIRST = _scalar_step(7.0376836292e-2, -1.1514610310e-1)
_LOG_REST = [
    _float(-c)
    for c in (
        1.1676998740e-1,
        -1.2420140846e-1,
        1.4249322787e-1,
        -1.6668057665e-1,
        2.0000714765e-1,
        -2.4999993993e-1,
        3.3333331174e-1,
    )
]
_LN2_LOW_NEGATED, _LN2_HIGH = _float(2.12194440e-4), _float(0.693359375)

# sinf and cosf of Cephes: the angle less the nearest multiple of pi/2, which is subtracted in three parts.
_ANGLE = _float(np.float32(2 * np.pi) * np.float32(2.0**-24))
_HALF_QUARTER = _int(2**21)
_QUARTER_PARTS = [2 * np.float32(part) for part in (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)]
_QUARTER_ARRAYS = [_float(part) for part in _QUARTER_PARTS]
_COS_FIRST, _COS_LAST = _scalar_step(2.443315711809948e-5, -1.388731625493765e-3), _float(-4.166664568298827e-2)
_SIN_FIRST, _SIN_LAST = _scalar_step(-1.9515295891e-4, 8.3321608736e-3), _float(1.6666654611e-1)
_TINY = _float(1e-10)


class Lanes:
    """Room for `count` numbers, and the two functions that fill it with radii and with sines and cosines."""

    def __init__(self, count: int) -> None:
        self.multiply = complex_multiply(np.float32)
        self.base = np.full(count, 1j, np.complex64)  # (x, 1) throughout
        self.poly = np.zeros(count, np.complex64)  # (y, -c): the running value and the next coefficient
        self.base_real = self.base.real
        self.poly_real, self.poly_imag = self.poly.real, self.poly.imag
        self.whole, self.quarter = np.empty((2, count), np.int32)
        self.x, self.z, self.e = np.empty((3, count), np.float32)

    def radius(self, k: np.ndarray, out: np.ndarray) -> None:
        """``sqrt(-2 * log(1 - k / 2**24))`` of int32 `k` below 2**24."""
        multiply, base, poly, poly_real, poly_imag = self.multiply, self.base, self.poly, self.poly_real, self.poly_imag
        whole, x, z, e = self.whole, self.x, self.z, self.e
        np.subtract(_TOP, k, whole)
        x[...] = whole
        # The exponent that leaves a mantissa between sqrt(1/2) and sqrt(2), and that mantissa less 1.
        np.subtract(x.view(np.int32), _SQRT_HALF_BITS_SCALED, whole)
        np.right_shift(whole, _SHIFT23, self.quarter)
        e[...] = self.quarter
        np.bitwise_and(whole, _MANTISSA, whole)
        np.add(whole, _SQRT_HALF_BITS, whole)
        np.subtract(whole.view(np.float32), _ONE, x)
        self.base_real[...] = x
        multiply(base, _LOG_FIRST, poly)
        for coefficient in _LOG_REST:
            poly_imag[...] = coefficient
            multiply(base, poly, poly)
        np.multiply(poly_real, x, poly_real)
        np.multiply(x, x, z)
        self.base_real[...] = z
        np.multiply(e, _LN2_LOW_NEGATED, poly_imag)
        multiply(base, poly, poly)
        np.multiply(z, _HALF, z)
        np.subtract(poly_real, z, z)
        np.add(x, z, x)
        np.multiply(e, _LN2_HIGH, e)
        np.add(x, e, x)
        np.multiply(x, _MINUS_TWO, x)
        np.sqrt(x, out)

    def angle(self, k: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> None:
        """``cos(2 * pi * k / 2**24)`` and the sine of int32 `k` below 2**24."""
        multiply, base, poly, poly_real, poly_imag = self.multiply, self.base, self.poly, self.poly_real, self.poly_imag
        whole, quarter, x, z, e = self.whole, self.quarter, self.x, self.z, self.e
        np.add(k, _HALF_QUARTER, quarter)
        np.right_shift(quarter, _SHIFT22, quarter)
        x[...] = k
        np.multiply(x, _ANGLE, x)
        e[...] = quarter
        for part in _QUARTER_ARRAYS:
            np.multiply(e, part, z)
            np.subtract(x, z, x)
        np.multiply(x, x, z)
        if z.min() < _TINY:
            # Here the third product, which is rounded above, would have to be fused.
            close = np.flatnonzero(z < _TINY)
            x[close] = _reduced(k[close], quarter[close])
            np.multiply(x, x, z)
        self.base_real[...] = z
        multiply(base, _COS_FIRST, poly)
        poly_imag[...] = _COS_LAST
        multiply(base, poly, poly)
        np.multiply(poly_real, z, poly_real)
        np.multiply(z, _HALF, poly_imag)
        multiply(base, poly, poly)
        np.add(poly_real, _ONE, cosine)
        multiply(base, _SIN_FIRST, poly)
        poly_imag[...] = _SIN_LAST
        multiply(base, poly, poly)
        np.multiply(poly_real, z, poly_real)
        self.base_real[...] = x
        np.negative(x, poly_imag)
        multiply(base, poly, poly)
        sine[...] = poly_real
        self._turn(quarter, whole, cosine.view(np.int32), sine.view(np.int32), z.view(np.int32))

    @staticmethod
    def _turn(quarter: np.ndarray, mask: np.ndarray, cosine: np.ndarray, sine: np.ndarray, spare: np.ndarray) -> None:
        """Exchange and negate cosine and sine, seen as integers, by the number of quarter turns taken off."""
        np.bitwise_and(quarter, _BIT0, mask)
        np.negative(mask, mask)
        np.bitwise_xor(sine, cosine, spare)
        np.bitwise_and(spare, mask, spare)
        np.bitwise_xor(sine, spare, sine)
        np.bitwise_xor(cosine, spare, cosine)
        np.bitwise_and(quarter, _BIT1, mask)
        np.left_shift(mask, _SHIFT30, mask)
        np.bitwise_xor(sine, mask, sine)
        np.add(quarter, _BIT0, quarter)
        np.bitwise_and(quarter, _BIT1, quarter)
        np.left_shift(quarter, _SHIFT30, quarter)
        np.bitwise_xor(cosine, quarter, cosine)


class FastLanes:
    """The same two functions by NumPy's own logarithm, cosine and sine: the last bit or two may differ."""

    def __init__(self, count: int) -> None:
        self.whole = np.empty(count, np.int32)
        self.x = np.empty(count, np.float32)

    def radius(self, k: np.ndarray, out: np.ndarray) -> None:
        np.subtract(_TOP, k, self.whole)
        out[...] = self.whole
        np.multiply(out, _float(2.0**-24), out)
        np.log(out, out)
        np.multiply(out, _MINUS_TWO, out)
        np.sqrt(out, out)

    def angle(self, k: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> None:
        self.x[...] = k
        np.multiply(self.x, _ANGLE, self.x)
        np.cos(self.x, cosine)
        np.sin(self.x, sine)


def _reduced(k: np.ndarray, quarter: np.ndarray) -> np.ndarray:
    angle = k.astype(np.float32) * _ANGLE
    parts = [float(part) for part in _QUARTER_PARTS]
    return ((angle.astype(np.float64) - quarter * parts[0]) - quarter * parts[1]) - quarter * parts[2]


def block_table(words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Radius, cosine and sine of every word, each word taken for either part, and whether a radius is 0."""
    lanes = Lanes(words.size)
    radius, cosine, sine = np.empty((3, words.size), np.float32)
    k = words.astype(np.int32) & _MASK
    lanes.radius(k, radius)
    lanes.angle(k, cosine, sine)
    return radius, cosine, sine, bool(radius.min() == 0.0)


def from_table(table: tuple[np.ndarray, np.ndarray, np.ndarray, bool], start: int, out: np.ndarray) -> None:
    """Standard normal numbers into flat float32 `out`, whole blocks, from the words at `start` of a `block_table`."""
    radius, cosine, sine, zero = table
    size = out.size
    if size == 2 * LANES:
        middle = start + LANES
        r = radius[start:middle]
        np.multiply(r, cosine[middle : middle + LANES], out[:LANES])
        np.multiply(r, sine[middle : middle + LANES], out[LANES:])
    else:
        radius, cosine, sine = (part[start : start + size].reshape(-1, 2, LANES) for part in (radius, cosine, sine))
        blocks = out.reshape(-1, 2, LANES)
        np.multiply(radius[:, 0], cosine[:, 1], blocks[:, 0])
        np.multiply(radius[:, 0], sine[:, 1], blocks[:, 1])
    if zero:
        out += 0.0


def fill(lanes: Lanes | FastLanes, words: np.ndarray, out: np.ndarray) -> None:
    """Standard normal numbers from int32 `words` into float32 `out`, both flat and of 16 values a block.

    `words` is overwritten, and `lanes` has room for half as many.
    """
    np.bitwise_and(words, _MASK, words)
    rows, results = words.view(_ROW).reshape(-1, 2), out.view(_ROW).reshape(-1, 2)
    k = rows[:, 0].copy().view(np.int32)
    radius, cosine, sine = np.empty((3, k.size), np.float32)
    lanes.radius(k, radius)
    k.view(_ROW)[...] = rows[:, 1]
    lanes.angle(k, cosine, sine)
    zero = radius.min() == 0.0
    for column, part in enumerate((cosine, sine)):
        np.multiply(radius, part, part)
        if zero:
            part += 0.0  # PyTorch adds the mean last, which turns -0 into 0
        results[:, column] = part.view(_ROW)


def fill64(uniform: np.ndarray, exact: bool) -> np.ndarray:
    """Standard normal numbers from float64 uniforms of shape (blocks, 2, 8); `exact`: with the C library's log."""
    radius = libm("log", 1.0 - uniform[:, 0], exact)
    radius *= -2.0
    np.sqrt(radius, radius)
    radius = radius.reshape(-1, LANES)
    angle = uniform[:, 1] * (2 * math.pi)
    result = np.empty_like(uniform)
    np.multiply(radius, np.cos(angle), result[:, 0])
    np.multiply(radius, np.sin(angle), result[:, 1])
    return result


def fill_pairs(uniform: np.ndarray, out: np.ndarray, exact: bool) -> None:
    """Standard normal numbers from float64 uniforms, two by two, as PyTorch draws normals one at a time.

    The last pair is always that of the C library: PyTorch may keep its second half in the state.
    """
    start = 0
    if uniform.size > 16:
        radius = libm("log1p", -uniform[1::2], exact)
        radius *= -2.0
        np.sqrt(radius, radius)
        theta = uniform[::2] * (2 * math.pi)
        np.multiply(radius, np.cos(theta), out[::2])
        np.multiply(radius, np.sin(theta), out[1::2])
        start = uniform.size - 2
    values = uniform[start:].tolist()
    last: list[float] = []
    for u1, u2 in zip(values[::2], values[1::2], strict=True):
        single = math.sqrt(-2.0 * math.log1p(-u2))
        angle = 2.0 * math.pi * u1
        last += (single * math.cos(angle), single * math.sin(angle))
    out[start:] = last
