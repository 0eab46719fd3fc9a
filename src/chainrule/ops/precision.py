"""Half precision: PyTorch computes it in single precision and rounds once, at the end."""

import functools

import numpy as np

from ..core import vocabulary

__all__ = ["HALF", "in_single"]

HALF = np.dtype(np.float16)


def in_single(kernel):
    """Make a kernel of several steps compute float16 arrays in float32."""

    @functools.wraps(kernel)
    def call(*arguments, **options):
        if arguments[0].dtype is not HALF:
            return kernel(*arguments, **options)
        wide = [vocabulary.astype(a, np.float32) if isinstance(a, np.ndarray) else a for a in arguments]
        return kernel(*wide).astype(np.float16)

    return call
