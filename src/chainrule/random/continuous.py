"""Continuous distributions, value for value what PyTorch's CPU kernels draw.

Each function takes the generator, the shape and the NumPy dtype of the result, and then PyTorch's parameters. Errors
are raised before anything is drawn. https://docs.pytorch.org/docs/stable/torch.html#in-place-random-sampling
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from chainrule.random import boxmuller
from chainrule.random.errors import cpp_name, not_implemented, number, scalar_name
from chainrule.random.fused import fma32, fma64
from chainrule.random.generator import Generator
from chainrule.random.libm import libm

Shape = tuple[int, ...]

EXACT_NORMALS = 2**18
"""Up to so many float32 normals in one call carry PyTorch's very bits. More are drawn with NumPy's logarithm, cosine
and sine, twice as fast, and may differ from PyTorch's in the last two bits."""

SMALL = 256  # draws of so few words are cut from tables over the generator's block
_CHUNK = 2**14  # words worked on at a time, to stay in the cache
_EXACT_CHUNK = 2**15
_MASK24 = np.array(2**24 - 1, np.int32)
_UNIT24 = np.array(2.0**-24, np.float32)
_PAIRED = 16  # from so many values on, a contiguous normal is drawn in blocks of 16
_FLOATS = "efd"


def narrow(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """float64 values as `dtype`: float16 by way of float32, as PyTorch converts, and too large ones to infinity."""
    if dtype.char == "d":
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.char == "e":
            values = values.astype(np.float32)
        return values.astype(dtype)


# -- uniform ----------------------------------------------------------------------------------------------------------


def unit_table(words: np.ndarray) -> np.ndarray:
    """Words as uniform float32 numbers in [0, 1): their low 24 bits."""
    unit = np.bitwise_and(words.view(np.int32), _MASK24).astype(np.float32)
    unit *= _UNIT24
    return unit


def units(gen: Generator, count: int) -> np.ndarray:
    """`count` uniform numbers in [0, 1), float32."""
    if count <= SMALL:
        found = gen.block_slice(count, "unit", unit_table)
        if found is not None:
            table, start = found
            return table[start : start + count].copy()
    return by_chunks(count, np.float32, lambda size: unit_table(gen.words(size)))


def by_chunks(count: int, dtype: Any, draw: Callable[[int], np.ndarray]) -> np.ndarray:
    """`draw(count)`, in pieces that stay in the cache."""
    if count <= _CHUNK:
        return draw(count)
    result = np.empty(count, dtype)
    for start in range(0, count, _CHUNK):
        part = result[start : start + _CHUNK]
        part[...] = draw(part.size)
    return result


def uniform(gen: Generator, shape: Shape, dtype: np.dtype, from_: float = 0.0, to: float = 1.0) -> np.ndarray:
    """Uniform on [from_, to): `rand`, `uniform_`. float16, float32, float64, and complex part by part."""
    kind = dtype.char
    if from_ == 0.0 and to == 1.0:
        if kind == "f":
            return units(gen, math.prod(shape)).reshape(shape)
        if kind == "d":
            return doubles(gen, math.prod(shape)).reshape(shape)
    if kind in "FD":
        return uniform(gen, (*shape, 2), _part(dtype), from_, to).view(dtype)[..., 0]
    if kind not in _FLOATS:
        raise not_implemented("check_uniform_bounds", dtype)
    _check_bounds(dtype, from_, to)
    end = dtype.type(to)

    def draw(size: int) -> np.ndarray:
        if kind == "d":
            values = fma64(gen.doubles(size), to - from_, from_)
        else:
            low, high = np.float32(from_), np.float32(to)
            values = fma32(units(gen, size), high - low, low).astype(dtype, copy=False)
        values[values == end] = from_  # rounding may reach the open end
        return values

    return by_chunks(math.prod(shape), dtype, draw).reshape(shape)


def doubles(gen: Generator, count: int) -> np.ndarray:
    """`count` uniform numbers in [0, 1) with 53 random bits, float64."""
    if count <= SMALL:
        found = gen.block_slice(2 * count, "double", double_table)
        if found is not None:
            (high, low), start = found
            stop = start + 2 * count
            return np.add(high[start:stop:2], low[start + 1 : stop : 2])
    return by_chunks(count, np.float64, gen.doubles)


def double_table(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each word adds to a uniform float64 number as its first and as its second word."""
    return (words & np.uint32(2**21 - 1)) * 2.0**-21, words * 2.0**-53


def _check_bounds(dtype: np.dtype, from_: float, to: float) -> None:
    limit = float(np.finfo(dtype).max)
    for label, bound in (("from", from_), ("to", to)):
        if not -limit <= bound <= limit:
            raise RuntimeError(f"{label} is out of bounds for {cpp_name(dtype)}")
    if from_ > to:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={number(from_)} > to={number(to)}"
        )
    if to - from_ > limit:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{scalar_name(dtype)}>::max(), but found to={number(to)} "
            f"and from={number(from_)} which result in to-from to exceed the limit"
        )


def _part(dtype: np.dtype) -> np.dtype:
    return np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)


# -- normal -----------------------------------------------------------------------------------------------------------


def normal(
    gen: Generator, shape: Shape, dtype: np.dtype, mean: float = 0.0, std: float = 1.0, contiguous: bool = True
) -> np.ndarray:
    """Normal numbers: `randn`, `normal_`. float16, float32, float64, and complex with the variance split in halves.

    `contiguous` says whether the tensor that PyTorch would fill is contiguous: another one is filled value by value.
    """
    if not std >= 0.0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {number(std)}")
    count = math.prod(shape)
    if count == 0:
        return np.empty(shape, dtype)
    kind = dtype.char
    if kind in "FD":
        return normal(gen, (*shape, 2), _part(dtype), mean, std / math.sqrt(2), contiguous).view(dtype)[..., 0]
    if kind not in _FLOATS:
        raise not_implemented("normal_kernel_cpu", dtype)
    if count < _PAIRED or not contiguous:
        return narrow(_normal_singly(gen, count, mean, std, kind == "d"), dtype).reshape(shape)
    if kind == "d":
        return _normal64(gen, count, mean, std).reshape(shape)
    result = np.empty(count, np.float32)
    # float16 is drawn block by block, so that the words after the last whole block are not passed over.
    _normal32(gen, result, count if kind == "f" else count // _PAIRED * _PAIRED, mean, std)
    return (result if kind == "f" else narrow(result, dtype)).reshape(shape)


def _normal32(gen: Generator, out: np.ndarray, drawn: int, mean: float, std: float) -> None:
    """Fill `out` from `drawn` words, and once more its last 16 values where the blocks leave a rest."""
    count = out.size
    rest = count % _PAIRED
    whole = count - rest
    if count <= SMALL:
        found = gen.block_slice(drawn + _PAIRED if rest else drawn, "normal", boxmuller.block_table)
        if found is not None:
            table, start = found
            boxmuller.from_table(table, start, out[:whole] if rest else out)
            _scale32(out[:whole], mean, std)
            if rest:
                boxmuller.from_table(table, start + drawn, out[-_PAIRED:])
                _scale32(out[-_PAIRED:], mean, std)
            return
    exact = count <= EXACT_NORMALS
    kind, chunk = (boxmuller.Lanes, _EXACT_CHUNK) if exact else (boxmuller.FastLanes, _CHUNK)
    chunk = min(chunk, whole)
    lanes = kind(chunk // 2)
    for start in range(0, whole, chunk):
        part = out[start : min(start + chunk, whole)]
        if part.size < chunk:
            lanes = kind(part.size // 2)
        boxmuller.fill(lanes, gen.words(part.size).astype(np.int32), part)
        _scale32(part, mean, std)
    if rest:
        gen.words(drawn - whole)
        last = out[-_PAIRED:]
        boxmuller.fill(kind(_PAIRED // 2), gen.words(_PAIRED).astype(np.int32), last)
        _scale32(last, mean, std)


def _scale32(values: np.ndarray, mean: float, std: float) -> None:
    """`values * std + mean`, rounded once."""
    if std == 1.0:
        if mean != 0.0:
            values += np.float32(mean)
    elif mean == 0.0 and std != 0.0:
        values *= np.float32(std)
    else:
        values[...] = fma32(values, std, mean)


def _normal64(gen: Generator, count: int, mean: float, std: float) -> np.ndarray:
    exact = count <= EXACT_NORMALS
    rest = count % _PAIRED
    whole = count - rest
    result = np.empty(count, np.float64)
    for start in range(0, whole, _CHUNK):
        part = result[start : min(start + _CHUNK, whole)]
        part[...] = boxmuller.fill64(gen.doubles(part.size).reshape(-1, 2, boxmuller.LANES), exact).reshape(-1)
        part[...] = _scale64(part, mean, std)
    if rest:
        gen.words(2 * rest)
        last = boxmuller.fill64(gen.doubles(_PAIRED).reshape(-1, 2, boxmuller.LANES), exact).reshape(-1)
        result[-_PAIRED:] = _scale64(last, mean, std)
    return result


def _scale64(values: np.ndarray, mean: float, std: float) -> np.ndarray:
    """`values * std + mean`, rounded once."""
    if std == 1.0:
        return values + mean
    if mean == 0.0 and std != 0.0:
        return values * std
    return fma64(values, std, mean)


def _normal_singly(gen: Generator, count: int, mean: float, std: float, exact: bool) -> np.ndarray:
    """Normal numbers one at a time, in pairs of which the generator keeps the second: float64."""
    kept = gen.next_double_normal
    head = 0 if kept is None else 1
    pairs = (count - head + 1) // 2
    samples = np.empty(head + 2 * pairs, np.float64)
    if kept is not None:
        samples[0] = kept
    boxmuller.fill_pairs(doubles(gen, 2 * pairs), samples[head:], exact)
    gen.next_double_normal = float(samples[-1]) if samples.size > count else None
    return _scale64(samples[:count], mean, std)


def normal_of(gen: Generator, mean: Any, std: Any, dtype: np.dtype) -> np.ndarray:
    """`torch.normal` where mean or std or both are arrays: standard normals, times std, plus mean, each rounded."""
    if isinstance(std, np.ndarray):
        if std.dtype.kind == "c":
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if std.size and not std.min() >= 0:
            raise RuntimeError("normal expects all elements of std >= 0.0")
        shape = np.broadcast_shapes(np.shape(mean), std.shape)
        result = normal(gen, shape, dtype)
        result *= std.astype(dtype)
    else:
        result = normal(gen, mean.shape, dtype, 0.0, std)
    result += np.asarray(mean).astype(dtype)
    return result


def log_normal(gen: Generator, shape: Shape, dtype: np.dtype, mean: float = 1.0, std: float = 2.0) -> np.ndarray:
    """The exponential of normal numbers: `log_normal_`."""
    if not std > 0.0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={number(std)}")
    count = math.prod(shape)
    if count == 0:
        return np.empty(shape, dtype)
    if dtype.char not in _FLOATS:
        raise not_implemented("log_normal_cpu", dtype)
    exact = dtype.itemsize == 8
    result = libm("exp", _normal_singly(gen, count, mean, std, exact), exact)
    return narrow(result, dtype).reshape(shape)


# -- by inversion -----------------------------------------------------------------------------------------------------


def exponential(gen: Generator, shape: Shape, dtype: np.dtype, lambd: float = 1.0) -> np.ndarray:
    """Exponential numbers of rate `lambd`: `exponential_`."""
    if not lambd > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={number(lambd)}")
    count = math.prod(shape)
    if count == 0:
        return np.empty(shape, dtype)
    if dtype.char not in _FLOATS:
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {scalar_name(dtype)}"
        )
    result = libm("log1p", -doubles(gen, count), dtype.itemsize == 8)
    result *= -1.0 / lambd
    return narrow(result, dtype).reshape(shape)


def cauchy(gen: Generator, shape: Shape, dtype: np.dtype, median: float = 0.0, sigma: float = 1.0) -> np.ndarray:
    """Cauchy numbers: `cauchy_`."""
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={number(sigma)}")
    if dtype.char not in _FLOATS:
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {cpp_name(dtype)}"
        )
    angle = doubles(gen, math.prod(shape))
    angle -= 0.5
    angle *= math.pi
    result = _scale64(libm("tan", angle, dtype.itemsize == 8), median, sigma)
    return narrow(result, dtype).reshape(shape)
