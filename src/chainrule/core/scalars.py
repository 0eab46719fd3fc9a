"""Python numbers on their way into tensors, with PyTorch's checks of what a dtype can hold."""

import math

import numpy as np

from .dtype import COMPLEX, FLOATING, bfloat16, bool_, default_for, dtype, float16

__all__ = ["number_array", "python_number", "number_dtype"]

# What the messages call the types that a number cannot be converted to.
_C_NAMES = {
    "uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t", "uint16": "uint16_t",
    "uint32": "uint32_t", "uint64": "uint64_t", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float",
    "float64": "double", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip
_LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}


def python_number(value):
    """A Python number from one of Python or NumPy; None for what is no number."""
    kind = type(value)
    if kind is int or kind is float or kind is bool or kind is complex:
        return value
    if isinstance(value, np.generic):
        # PyTorch takes a NumPy truth value for a floating-point number here.
        found = value.item()
        return float(found) if type(found) is bool else found if isinstance(found, (int, float, complex)) else None
    if isinstance(value, (int, float, complex)):
        return value
    return None


def number_dtype(number) -> dtype:
    """The dtype that a number has by itself."""
    for kind in (bool, int, float, complex):
        if isinstance(number, kind):
            return default_for(kind)
    raise TypeError(f"{number!r} is no number")


def number_array(number, d: dtype) -> np.ndarray:
    """A number as a 0-dim array; RuntimeError where the dtype cannot hold it."""
    if d.category >= FLOATING:
        return _floating(number, d)
    if d is bool_:
        return np.array(bool(number))
    if isinstance(number, complex):
        if number.imag:
            raise overflow(d)
        number = number.real
    return np.array(within(number, d, _C_NAMES[d.name]), d.numpy)


def within(number: int | float, d: dtype, c_name: str) -> int:
    """A number as an integer dtype holds it, cut off behind the point; RuntimeError for one out of its range.

    Negative integers become unsigned ones by counting back from the largest, down to its negative.
    """
    bits = 8 * d.itemsize
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if d.is_signed else (0, (1 << bits) - 1)
    if not d.is_signed and isinstance(number, int):
        low = -high
    if not low <= number <= high:  # true of NaN too
        raise RuntimeError(f"value cannot be converted to type {c_name} without overflow")
    number = int(number)
    return number if d.is_signed else number % (1 << bits)


def overflow(d: dtype) -> RuntimeError:
    return RuntimeError(f"value cannot be converted to type {_C_NAMES[d.name]} without overflow")


def _floating(number, d: dtype) -> np.ndarray:
    try:
        if isinstance(number, complex):
            if d.category < COMPLEX:
                if number.imag:
                    raise overflow(d)
                number = number.real
        else:
            number = float(number)
    except OverflowError:
        raise overflow(d) from None
    largest = _LARGEST.get(d.to_real().name)
    if largest is not None:
        for part in (number.real, number.imag):
            if math.isfinite(part) and abs(part) > largest:
                raise overflow(d)
    if d is float16 or d is bfloat16:  # through float32, as PyTorch rounds
        return np.array(number, np.float32).astype(d.numpy)
    return np.array(number, d.numpy)
