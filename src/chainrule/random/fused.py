"""Fused multiply-add, `a * b + c` rounded once, which NumPy has no function for.

PyTorch's kernels are compiled with fused multiply-adds, so values that are to agree with them to the last bit need
them too. NumPy's complex product is itself compiled to ``re = fma(a.re, b.re, -(a.im * b.im))`` on every processor that
has the instruction: with ``a = (x, 1)`` and ``b = (y, -c)`` its real part is a fused ``x * y + c``, at full speed.
`complex_multiply` is that product, or where a trial shows that it is not fused, the same real part by other means.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

_SPLIT = 2.0**27 + 1


def fma32(a: np.ndarray, b: float | np.floating, c: float | np.floating) -> np.ndarray:
    """`a * b + c` of a float32 array and two numbers, rounded once to float32."""
    wide = a.astype(np.float64)
    wide *= float(np.float32(b))
    wide += float(np.float32(c))
    return wide.astype(np.float32)


def fma64(a: np.ndarray, b: float, c: float) -> np.ndarray:
    """`a * b + c` of a float64 array and two numbers, rounded once to float64."""
    pair = np.empty(a.shape, np.complex128)
    pair.real = a
    pair.imag = 1
    # NumPy multiplies arrays of one element by a loop of their own, which is not fused.
    multiply = complex_multiply(np.float64) if a.size > 1 else _multiply_double
    multiply(pair, np.array(complex(b, -c)), pair)
    return pair.real.copy()


@functools.cache
def complex_multiply(dtype: type) -> Callable[[np.ndarray, np.ndarray, np.ndarray], object]:
    """A product `f(a, b, out)` of complex arrays whose parts are `dtype` and whose real part is fused."""
    parts: np.ndarray = np.random.RandomState(1).random_sample((4, 37)).astype(dtype)
    a = (parts[0] - 0.5 + 1j).astype(np.result_type(dtype, np.complex64))
    b = np.empty_like(a)
    b.real, b.imag = parts[1], parts[2]
    product, scaled, wanted = np.empty_like(a), np.empty_like(a), np.empty_like(a)
    emulated = _multiply_single if dtype is np.float32 else _multiply_double
    np.multiply(a, b, product)
    np.multiply(a, b[0], scaled)
    emulated(a, b, wanted)
    fused = np.array_equal(product.real, wanted.real)
    emulated(a, b[0], wanted)
    return np.multiply if fused and np.array_equal(scaled.real, wanted.real) else emulated


def _multiply_single(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    out.real = a.real.astype(np.float64) * b.real.astype(np.float64) - (a.imag * b.imag).astype(np.float64)


def _multiply_double(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """The product exactly as a sum of two numbers (T. J. Dekker, 1971), then the sum with its error (D. E. Knuth)."""
    x, y, c = a.real, b.real, -(a.imag * b.imag)
    x_high, y_high = _high_half(x), _high_half(y)
    x_low, y_low = x - x_high, y - y_high
    product = x * y
    error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    total = product + c
    part = total - product
    error = error + ((product - (total - part)) + (c - part))
    out.real = total + error


def _high_half(x: np.ndarray) -> np.ndarray:
    scaled = x * _SPLIT
    return scaled - (scaled - x)
