"""Elementary functions of float64 arrays, rounded as the C library rounds them.

PyTorch's random kernels call the C library once a value. NumPy's vector functions differ from it in the last bit now
and then; Python's `math` does not.
"""

from __future__ import annotations

import math

import numpy as np


def libm(name: str, values: np.ndarray, exact: bool = True) -> np.ndarray:
    """`math.<name>` of every element; with `exact` false NumPy's function, for results that become float32."""
    if exact:
        try:
            return np.fromiter(map(getattr(math, name), values.ravel().tolist()), np.float64, values.size)
        except (OverflowError, ValueError):
            pass  # infinities, where `math` raises and C does not
    with np.errstate(all="ignore"):
        return getattr(np, name)(values).reshape(-1)
