"""Random integers and coin flips, value for value what PyTorch's CPU kernels draw; dropout's noise.

https://docs.pytorch.org/docs/stable/torch.html#in-place-random-sampling
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from chainrule.random.continuous import SMALL, Shape, by_chunks, doubles, narrow, units
from chainrule.random.errors import cpp_name, not_implemented, number
from chainrule.random.generator import Generator

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_DIGITS = {"e": 11, "f": 24, "d": 53}  # bits of the mantissa
_WIDE_RANGE = 2**28  # from here on PyTorch draws 64 bits a number
_ALPHA = 1.7580993408473766  # the limit of SELU, https://arxiv.org/abs/1706.02515
_BITS53 = np.array(2**53 - 1, np.uint64)


# -- integers ---------------------------------------------------------------------------------------------------------


def random_from_to(gen: Generator, shape: Shape, dtype: np.dtype, from_: int, to: int | None) -> np.ndarray:
    """Integers of [from_, to), or up to the largest of the dtype where `to` is None: `randint`, `random_(from, to)`."""
    if to is None and from_ == _LOWEST:
        return _all_64_bits(gen, shape, dtype)
    if to is None:
        from_, last = _open_bounds(dtype, from_)
    else:
        from_, last = _closed_bounds(dtype, from_, to)
    _check_range(dtype, from_, last)
    span = last - from_ + 1
    if span >= _WIDE_RANGE:
        return by_chunks(math.prod(shape), dtype, lambda n: _within64(gen.words64(n), span, from_, dtype)).reshape(
            shape
        )
    return by_chunks(math.prod(shape), dtype, lambda n: _within32(gen.words(n), span, from_, dtype)).reshape(shape)


def random_any(gen: Generator, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """`random_()`: from 0 to the largest integer that the dtype holds exactly."""
    kind = dtype.char
    count = math.prod(shape)
    if count == 0:
        return np.empty(shape, dtype)
    if kind in _DIGITS:
        span = 2 ** _DIGITS[kind] + 1
    elif dtype.kind == "b":
        span = 2
    elif dtype.kind == "i" or kind == "B":
        span = int(np.iinfo(dtype).max) + 1
    else:
        raise not_implemented("random_kernel_cpu", dtype)
    if dtype.itemsize == 8:
        return by_chunks(count, dtype, lambda n: _within64(gen.words64(n), span, 0, dtype)).reshape(shape)
    return by_chunks(count, dtype, lambda n: _within32(gen.words(n), span, 0, dtype)).reshape(shape)


def _within32(words: np.ndarray, span: int, base: int, dtype: np.dtype) -> np.ndarray:
    """`words % span + base`. NumPy divides by a number in SIMD, but has no such loop for the remainder."""
    if span & (span - 1) == 0:
        rest = words & np.uint32(span - 1)
    else:
        rest = words // np.uint32(span)
        rest *= np.uint32(span)
        np.subtract(words, rest, rest)
    if base == 0:
        return _converted(rest, dtype)
    wide = rest.astype(np.int64)
    wide += base
    return _converted(wide, dtype)


def _within64(words: np.ndarray, span: int, base: int, dtype: np.dtype) -> np.ndarray:
    if span & (span - 1) == 0:
        words &= np.uint64(span - 1)
    else:
        quotient = words // np.uint64(span)
        quotient *= np.uint64(span)
        words -= quotient
    words += np.uint64(base % 2**64)
    return _converted(words.view(np.int64), dtype)


def _converted(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return narrow(values, dtype) if dtype.char == "e" else values.astype(dtype)


def _all_64_bits(gen: Generator, shape: Shape, dtype: np.dtype) -> np.ndarray:
    if math.prod(shape) == 0:
        return np.empty(shape, dtype)
    if dtype.char == "e" or dtype.kind in "bc" or dtype.name in ("uint16", "uint32", "uint64"):
        raise not_implemented("random_full_64_bits_range_kernel_cpu", dtype)
    if dtype.name not in ("int64", "float64", "float32"):
        raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
    return gen.words64(math.prod(shape)).view(np.int64).astype(dtype).reshape(shape)


def _open_bounds(dtype: np.dtype, from_: int) -> tuple[int, int]:
    if dtype.char in _DIGITS:
        last = 2 ** _DIGITS[dtype.char]
        from_ = _rounded_from(dtype, from_)
        if from_ >= last:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but got "
                f"from={from_} > to_inc={last}"
            )
        return from_, last
    if dtype.kind == "c":
        raise RuntimeError("random_from_to_impl handles only integral, floating-point and boolean types")
    if dtype.kind == "b":
        return from_, 1
    largest = int(np.iinfo(dtype).max)
    return from_, largest if largest <= _HIGHEST else -1


def _closed_bounds(dtype: np.dtype, from_: int, to: int) -> tuple[int, int]:
    if from_ >= to:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={from_} >= to={to}")
    if dtype.char in _DIGITS:
        from_, to = _rounded_from(dtype, from_), _rounded_to(dtype, to)
        if from_ >= to:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got "
                f"from={from_} >= to={to}"
            )
    return from_, to - 1


def _rounded_from(dtype: np.dtype, from_: int) -> int:
    """The lowest bound at or above `from_` that the floating dtype does not round down."""
    nearest = _through(dtype, from_ + 1)
    if nearest < from_:
        return nearest + _spacing(dtype, from_ + 1)
    return from_


def _rounded_to(dtype: np.dtype, to: int) -> int:
    """The highest bound at or below `to` whose predecessor the floating dtype does not round up to it."""
    nearest = _through(dtype, to - 1)
    if nearest >= to:
        return nearest - _spacing(dtype, to - 1)
    return to


def _through(dtype: np.dtype, value: int) -> int:
    """`value` rounded to the dtype; beyond 64 bits the lowest integer, as processors convert."""
    with np.errstate(over="ignore"):
        rounded = float(narrow(np.array(float(value)), dtype))
    return int(rounded) if abs(rounded) < 2.0**63 else _LOWEST


def _spacing(dtype: np.dtype, value: int) -> int:
    return 1 << max(abs(value).bit_length() - _DIGITS[dtype.char], 0)


def _check_range(dtype: np.dtype, from_: int, last: int) -> None:
    kind = dtype.char
    if dtype.kind == "c":
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if kind in _DIGITS:
        highest: float = float(np.finfo(dtype).max)
        lowest = -highest
    elif dtype.kind == "b":
        lowest, highest = 0, 1
    else:
        lowest, highest = int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), _HIGHEST)
    for label, bound in (("from", from_), ("to - 1", last)):
        if not lowest <= bound <= highest:
            raise RuntimeError(f"{label} is out of bounds for {cpp_name(dtype)}")
    if kind in _DIGITS:
        digits = _DIGITS[kind]
        for label, bound in (("from", from_), ("to - 1", last)):
            if abs(bound) > 2**digits:
                warnings.warn(
                    f"{label} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations "
                    f"{cpp_name(dtype)} can support discrete uniform distribution only within this range. This warning "
                    "will become an error in version 1.7 release, please fix the code in advance",
                    stacklevel=4,
                )


# -- coins ------------------------------------------------------------------------------------------------------------


def bernoulli(gen: Generator, shape: Shape, dtype: np.dtype, p: float = 0.5) -> np.ndarray:
    """Ones with probability `p`: `bernoulli_(p)`."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={number(p)}")
    count = math.prod(shape)
    if count == 0:
        return np.empty(shape, dtype)
    _check_flips("bernoulli_scalar_cpu_", dtype)
    # A uniform number below p is a 53-bit integer below p * 2**53.
    bound = np.uint64(math.ceil(p * 2.0**53))

    def draw(size: int) -> np.ndarray:
        words = gen.words64(size)
        words &= _BITS53
        return words < bound

    flips = doubles(gen, count) < p if count <= SMALL else by_chunks(count, np.bool_, draw)
    return flips.astype(dtype, copy=False).reshape(shape)


def bernoulli_of(gen: Generator, p: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Ones with the probabilities `p`, in the shape of `p`: `bernoulli(p)`, `bernoulli_(p)`."""
    if p.size == 0:
        return np.empty(p.shape, dtype)
    _check_flips("bernoulli_tensor_cpu_self_", dtype)
    if p.dtype.char not in _DIGITS:
        raise not_implemented("bernoulli_tensor_cpu_p_", p.dtype)
    if not (p.min() >= 0 and p.max() <= 1):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  "
            "If so, please report an enhancement request to PyTorch.)"
        )
    drawn = doubles(gen, p.size) if p.dtype.char == "d" else units(gen, p.size)
    return (drawn.reshape(p.shape) < p).astype(dtype)


def _check_flips(kernel: str, dtype: np.dtype) -> None:
    if dtype.kind == "c" or dtype.name in ("uint16", "uint32", "uint64"):
        raise not_implemented(kernel, dtype)


def geometric(gen: Generator, shape: Shape, dtype: np.dtype, p: float) -> np.ndarray:
    """The number of trials up to the first success: `geometric_(p)`."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={number(p)}")
    count = math.prod(shape)
    if count == 0:
        return np.empty(shape, dtype)
    if dtype.kind in "bc" or dtype.name in ("uint16", "uint32", "uint64"):
        raise not_implemented("geometric_cpu", dtype)
    trials = doubles(gen, count)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.log(trials, trials)
        trials /= math.log1p(-p)
        np.ceil(trials, trials)
        return narrow(trials, dtype).reshape(shape)


# -- dropout ----------------------------------------------------------------------------------------------------------


def dropout_noise(gen: Generator, shape: Shape, dtype: np.dtype, p: float) -> np.ndarray:
    """What `dropout` multiplies by in training, for 0 < p < 1: 0 with probability `p`, else 1 / (1 - p)."""
    noise = bernoulli(gen, shape, dtype, 1 - p)
    noise *= dtype.type(1 / _wide(dtype)(1 - p))
    return noise


def alpha_dropout_noise(gen: Generator, shape: Shape, dtype: np.dtype, p: float) -> tuple[np.ndarray, np.ndarray]:
    """What `alpha_dropout` multiplies by in training, for 0 < p < 1, and what it then adds."""
    noise = bernoulli(gen, shape, dtype, 1 - p)
    a = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    wide = _wide(dtype)
    kept = dtype.type(_ALPHA * a * p)
    dropped = dtype.type(wide(dtype.type(wide(-_ALPHA * a))) + wide(kept))
    shift = np.where(noise != 0, kept, dropped)
    noise *= dtype.type(a)
    return noise, shift


def _wide(dtype: np.dtype) -> type:
    """The type in which PyTorch computes with numbers of `dtype`."""
    return np.float32 if dtype.char == "e" else dtype.type


def feature_shape(shape: Shape) -> Shape:
    """The shape of the noise that drops whole feature maps of an input of `shape`."""
    if len(shape) < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return (*shape[:2], *(1 for _ in shape[2:]))
