"""Reading and writing by index; gather, scatter and relatives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .compare import check, current, deep
from .known import known_of
from .strategies import operands

INDICES = {
    "0": lambda T, x: 0,
    "-1": lambda T, x: -1,
    "5": lambda T, x: 5,
    "slice": lambda T, x: slice(1, None),
    "step": lambda T, x: slice(None, None, 2),
    "negative step": lambda T, x: slice(None, None, -1),
    "...": lambda T, x: ...,
    "None": lambda T, x: None,
    "True": lambda T, x: True,
    "False": lambda T, x: False,
    "pair": lambda T, x: (0, slice(0, 2)),
    "...,0": lambda T, x: (..., 0),
    "None,0": lambda T, x: (None, 0),
    "list": lambda T, x: [0, 0],
    "tensor": lambda T, x: T.tensor([0, -1]),
    "matrix": lambda T, x: T.tensor([[0, 0], [0, -1]]),
    "number": lambda T, x: T.tensor(0),
    "two": lambda T, x: (T.tensor([0, 0]), T.tensor([0, -1])),
    "two apart": lambda T, x: (T.tensor([0, 0]), slice(None), T.tensor([0, -1])),
    "tensor and slice": lambda T, x: (slice(None), T.tensor([0, 0, 0])),
    "tensor and number": lambda T, x: (T.tensor([0]), 0),
    "mask": lambda T, x: x.abs() > 1,
    "row mask": lambda T, x: x.reshape(x.shape[0], -1).abs().sum(1) > 2,
    "mask and number": lambda T, x: (x[..., 0].abs() > 1, 0),
    "uint8": lambda T, x: (x.abs() > 1).to(T.uint8),
    "empty": lambda T, x: T.tensor([], dtype=T.int64),
    "out of range": lambda T, x: T.tensor([7]),
    "float": lambda T, x: 1.5,
    "float tensor": lambda T, x: T.tensor([0.5]),
    "too many": lambda T, x: (0, 0, 0, 0),
    "string": lambda T, x: "a",
    "()": lambda T, x: (),
}


@pytest.mark.parametrize("name", INDICES)
@deep
@given(x=operands(("float32", "complex64", "int64"), max_dims=3, special=False))
def test_reading(name, x):
    current["dtype"] = x.dtype if x.dtype != "int64" else "float32"
    check(lambda T, x: x[INDICES[name](T, x)], [x], known=known_of("reading", x))


@pytest.mark.parametrize("name", INDICES)
@deep
@given(x=operands(("float32", "complex64", "int64"), max_dims=3, special=False), value=st.sampled_from((0, 2.5, "tensor")),
       recorded=st.booleans(), add=st.booleans())  # fmt: skip
def test_writing(name, x, value, recorded, add):
    current["dtype"] = x.dtype if x.dtype != "int64" else "float32"

    def program(T, x):
        y = x * 1 if recorded else x
        index = INDICES[name](T, x.detach())
        written = T.full((1,), 3.0, requires_grad=recorded) if value == "tensor" else value
        if add:
            y[index] += written
        else:
            y[index] = written
        return y, y._version

    check(program, [x], known=known_of("writing", x))


GATHERED = {
    "gather": lambda T, x, i: x.gather(0, i),
    "take_along_dim": lambda T, x, i: T.take_along_dim(x, i, 0),
    "take": lambda T, x, i: x.take(i),
    "index_select": lambda T, x, i: x.index_select(0, i.reshape(-1)),
    "scatter": lambda T, x, i: x.scatter(0, i, 2.0),
    "scatter_add": lambda T, x, i: x.scatter_add(0, i, x),
    "index_add": lambda T, x, i: x.index_add(0, i.reshape(-1)[:1], x[:1]),
    "index_copy": lambda T, x, i: x.index_copy(0, i.reshape(-1)[:1], x[:1] * 2),
    "index_fill": lambda T, x, i: x.index_fill(0, i.reshape(-1), 3.0),
    "masked_select": lambda T, x, i: x.masked_select(x.detach() > 0),
    "masked_scatter": lambda T, x, i: x.masked_scatter(x.detach() > 0, x * 2),
    "put": lambda T, x, i: x.put(i.reshape(-1)[:1], x.reshape(-1)[:1]),
    "nonzero": lambda T, x, i: x.nonzero(),
    "embedding": lambda T, x, i: T.nn.functional.embedding(i, x),
    "one_hot": lambda T, x, i: T.nn.functional.one_hot(i),
    "scatter_reduce": lambda T, x, i: x.scatter_reduce(0, i, x, "amax"),
}


@pytest.mark.parametrize("name", GATHERED)
@deep
@given(x=operands(("float32", "float64"), min_dims=1, max_dims=2, special=False), seed=st.integers(0, 10**6))
def test_gathering(name, x, seed):
    current["dtype"] = x.dtype

    def program(T, x):
        import numpy as np

        n = max(x.shape[0], 1)
        places = np.random.default_rng(seed).integers(0, n, tuple(x.shape))
        return GATHERED[name](T, x, T.tensor(places.tolist(), dtype=T.int64).reshape(tuple(x.shape)))

    check(program, [x], known=known_of(name, x))
