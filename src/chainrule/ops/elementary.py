"""Exponentials, logarithms, roots, trigonometric and hyperbolic functions and their inverses."""

import math

import numpy as np

from ..core.declare import pointwise

__all__ = ["exp", "log", "sqrt"]

exp = pointwise("exp", np.exp, kind="float", self=lambda xp, grad, result: grad * xp.conj(result))
log = pointwise("log", np.log, kind="float", self=lambda xp, grad, self: grad / xp.conj(self))
sqrt = pointwise("sqrt", np.sqrt, kind="float", self=lambda xp, grad, result: grad / (2 * xp.conj(result)))
