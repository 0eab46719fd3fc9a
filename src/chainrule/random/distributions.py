"""Every distribution of the random stream, as functions of a generator, a shape and a NumPy dtype."""

from __future__ import annotations

import numpy as np

from chainrule.random.continuous import cauchy, exponential, log_normal, normal, normal_of, uniform
from chainrule.random.discrete import (
    alpha_dropout_noise,
    bernoulli,
    bernoulli_of,
    dropout_noise,
    feature_shape,
    geometric,
    random_any,
    random_from_to,
)
from chainrule.random.rejection import binomial, dirichlet, poisson, standard_gamma
from chainrule.random.sampling import multinomial, randperm

__all__ = [
    "alpha_dropout_noise",
    "bernoulli",
    "bernoulli_of",
    "binomial",
    "cauchy",
    "dirichlet",
    "dropout_noise",
    "exponential",
    "feature_shape",
    "geometric",
    "in_memory_order",
    "log_normal",
    "multinomial",
    "normal",
    "normal_of",
    "poisson",
    "random_any",
    "random_from_to",
    "randperm",
    "standard_gamma",
    "uniform",
]


def in_memory_order(array: np.ndarray) -> np.ndarray:
    """The view of `array` whose elements, in C order, are those that an in-place draw of PyTorch fills one by one.

    PyTorch fills a transposed tensor along its memory: ``view[...] = uniform(gen, view.shape, view.dtype)``.
    """
    if array.flags.c_contiguous:
        return array
    return array.transpose(sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis])))
