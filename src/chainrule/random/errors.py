"""The errors of PyTorch's random functions: what it calls dtypes in them, and how it writes numbers."""

from __future__ import annotations

import numpy as np

_NAMES = {
    "bool": ("Bool", "bool"),
    "uint8": ("Byte", "unsigned char"),
    "int8": ("Char", "signed char"),
    "int16": ("Short", "short int"),
    "int32": ("Int", "int"),
    "int64": ("Long", "long int"),
    "uint16": ("UInt16", "short unsigned int"),
    "uint32": ("UInt32", "unsigned int"),
    "uint64": ("UInt64", "long unsigned int"),
    "float16": ("Half", "c10::Half"),
    "bfloat16": ("BFloat16", "c10::BFloat16"),
    "float32": ("Float", "float"),
    "float64": ("Double", "double"),
    "complex64": ("ComplexFloat", "c10::complex<float>"),
    "complex128": ("ComplexDouble", "c10::complex<double>"),
}


def scalar_name(dtype: np.dtype) -> str:
    """PyTorch's name of the scalar type, as `Long`."""
    return _NAMES[dtype.name][0]


def cpp_name(dtype: np.dtype) -> str:
    """The C++ type, as `long int`."""
    return _NAMES[dtype.name][1]


def number(value: float) -> str:
    """A number as a C++ stream writes it."""
    return format(value, "g")


def not_implemented(kernel: str, dtype: np.dtype) -> NotImplementedError:
    """The error for a dtype that the kernel does not know."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(dtype)}'")
