"""Orthogonal polynomials p_n(x) by their recurrence relations (DLMF 18.9), which PyTorch does not differentiate."""

import numpy as np

from ..core.declare import Array, op
from ..core.registry import publish
from .refusal import not_implemented
from .signature import checked
from .special import check_half

__all__: list[str] = []

# Each: p_1(x), and p_{k+1} from k, x, p_k and p_{k-1}.
_CHEBYSHEV = lambda k, x, p, q: 2 * x * p - q
_RELATIONS = {
    "chebyshev_polynomial_t": (lambda x: x, _CHEBYSHEV),
    "chebyshev_polynomial_u": (lambda x: 2 * x, _CHEBYSHEV),
    "chebyshev_polynomial_v": (lambda x: 2 * x - 1, _CHEBYSHEV),
    "chebyshev_polynomial_w": (lambda x: 2 * x + 1, _CHEBYSHEV),
    "hermite_polynomial_h": (lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q),
    "hermite_polynomial_he": (lambda x: x, lambda k, x, p, q: x * p - k * q),
    "laguerre_polynomial_l": (lambda x: 1 - x, lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1)),
    "legendre_polynomial_p": (lambda x: x, lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1)),
}
# Inside [-1, 1] a Chebyshev polynomial of high degree is a quotient of trigonometric functions (DLMF 18.5.1-4).
_TRIGONOMETRIC = {
    "t": lambda n, angle: np.cos(n * angle),
    "u": lambda n, angle: np.sin((n + 1) * angle) / np.sin(angle),
    "v": lambda n, angle: np.cos((n + 0.5) * angle) / np.cos(angle / 2),
    "w": lambda n, angle: np.sin((n + 0.5) * angle) / np.sin(angle / 2),
}
_CHAIN = 64


def _by_recurrence(first, step, x, n):
    """p_n(x) elementwise; 0 where n is negative."""
    result = np.where(n < 0, 0.0, 1.0)
    before, now = np.ones_like(x), first(x)
    for k in range(1, int(n.max(initial=0)) + 1):
        result = np.where(n == k, now, result)
        before, now = now, step(k, x, now, before)
    return result


def _evaluate(name: str, x, n):
    family, _, letter = name.rpartition("_")
    if family.startswith("shifted_"):
        return _evaluate(name.removeprefix("shifted_"), 2 * x - 1, n)
    first, step = _RELATIONS[name]
    high = (n > _CHAIN) & (np.abs(x) < 1) if family == "chebyshev_polynomial" else np.zeros(x.shape, bool)
    result = _by_recurrence(first, step, x, np.where(high, 0, n))
    if high.any():
        inside = np.where(high, x, 0.5)
        result = np.where(high, _TRIGONOMETRIC[letter](n, np.arccos(inside)), result)
    return np.where(np.isnan(x), np.nan, result) if name.startswith("chebyshev") else result


def _declare(name: str) -> None:
    def kernel(self: Array, other: Array):
        if self.dtype.kind != "f" or self.dtype.itemsize == 2:
            raise not_implemented(f"{name}_cpu", self)
        x, n = np.broadcast_arrays(self.astype(np.float64), np.trunc(other).astype(np.int64))
        with np.errstate(all="ignore"):
            return _evaluate(name, x, n).astype(self.dtype)

    operation = op(kernel, name=f"special_{name}", promote=("self", "other"), result_kind="float", method=False,
                   namespace=None)  # fmt: skip
    operation.check = check_half(f"{name}_cpu")

    def function(x, n, *, out=None):
        return operation.general(x, n, out=out)

    function.__doc__ = f"The {name.replace('_', ' ')} of degree n at x, which broadcast; either may be a number."
    out = "*, Tensor out=None"
    ways = (f"Tensor x, Tensor n, {out}", f"Number x, Tensor n, {out}", f"Tensor x, Number n, {out}")
    operation.function = checked(f"special_{name}", ways, function)
    publish("special", name, operation.function)


for _name in _RELATIONS:
    _declare(_name)
for _letter in "tuvw":
    _declare(f"shifted_chebyshev_polynomial_{_letter}")
