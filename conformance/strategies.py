"""What Hypothesis draws: dtypes, shapes, layouts and values of tensors."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

FLOATING = ("float32", "float64", "float16")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
EVERY = (*FLOATING, *COMPLEX, *INTEGERS, "bool")
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 2.0, 100.0)


@dataclass(frozen=True)
class Operand:
    """A tensor as it is to be built with either library."""

    dtype: str
    shape: tuple
    layout: str  # how it lies in memory: "plain", "transposed", "stepped", "expanded", "offset"
    seed: int
    special: bool  # whether NaN, infinities, zeros and ties are among the values
    grad: bool
    low: float = -3.0
    high: float = 3.0

    def values(self, shape) -> np.ndarray:
        rng = np.random.default_rng(self.seed)
        if self.dtype == "bool":
            return rng.integers(0, 2, shape).astype(bool)
        if "int" in self.dtype:
            low, high = (0 if self.dtype == "uint8" else max(-5, int(self.low)), 6)
            return rng.integers(max(low, int(np.ceil(self.low)) if self.low >= 0 else low), high, shape)
        out = rng.uniform(self.low, self.high, shape)
        if self.dtype.startswith("complex"):
            out = out + 1j * rng.uniform(self.low, self.high, shape)
        if self.special:
            chosen = rng.random(shape) < 0.35
            out = np.where(chosen, rng.choice(SPECIAL, shape), out)
        return out

    def build(self, T):
        dtype = getattr(T, self.dtype)
        shape, layout = self.shape, self.layout
        if layout == "transposed" and len(shape) > 1:
            t = make(T, self.values(shape[::-1]), dtype).permute(tuple(reversed(range(len(shape)))))
        elif layout == "stepped" and shape:
            t = make(T, self.values((*shape[:-1], 2 * shape[-1])), dtype)[..., ::2]
        elif layout == "offset" and shape:
            t = make(T, self.values((shape[0] + 1, *shape[1:])), dtype)[1:]
        elif layout == "expanded" and shape:
            t = make(T, self.values((1, *shape[1:])), dtype).expand(shape)
        else:
            t = make(T, self.values(shape), dtype)
        t = t.detach()
        return t.requires_grad_() if self.grad and (dtype.is_floating_point or dtype.is_complex) else t


def make(T, values: np.ndarray, dtype):
    return T.tensor(values.tolist(), dtype=dtype).reshape(values.shape)


LAYOUTS = ("plain", "plain", "transposed", "stepped", "offset", "expanded")
SIZES = st.sampled_from((1, 2, 3, 3, 4, 0, 5))


@st.composite
def operands(draw, dtypes=FLOATING, shape=None, min_dims=0, max_dims=3, special=True, grad=None, low=-3.0, high=3.0,
             layouts=LAYOUTS):  # fmt: skip
    if shape is None:
        shape = draw(shapes(min_dims, max_dims))
    return Operand(
        draw(st.sampled_from(dtypes)), tuple(shape), draw(st.sampled_from(layouts)), draw(st.integers(0, 10**6)),
        special and draw(st.booleans()), draw(st.booleans()) if grad is None else grad, low, high,
    )  # fmt: skip


@st.composite
def shapes(draw, min_dims=0, max_dims=3):
    return tuple(draw(SIZES) for _ in range(draw(st.integers(min_dims, max_dims))))


@st.composite
def broadcast_shapes(draw, count=2, wrong=0.1):
    """Shapes that broadcast, mostly."""
    full = draw(shapes(0, 3))
    out = []
    for _ in range(count):
        shape = [n if draw(st.integers(0, 3)) else 1 for n in full]
        shape = shape[draw(st.integers(0, len(shape))) if draw(st.booleans()) else 0 :]
        if shape and draw(st.integers(0, 99)) < 100 * wrong:
            shape[draw(st.integers(0, len(shape) - 1))] = 7
        out.append(tuple(shape))
    return out
