"""Shapes, views and what is written through them; joining and splitting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .compare import check, current, deep
from .known import known_of
from .strategies import operands

DTYPES = ("float32", "float64", "complex64", "int64", "bool")
VIEWS = {
    "t": lambda T, x: x.t(),
    "T": lambda T, x: x.T,
    "mT": lambda T, x: x.mT,
    "transpose": lambda T, x: x.transpose(0, -1),
    "permute": lambda T, x: x.permute(tuple(reversed(range(x.dim())))),
    "view": lambda T, x: x.view(-1),
    "view0": lambda T, x: x.view(0, -1),
    "view shape": lambda T, x: x.view(*x.shape, 1),
    "reshape": lambda T, x: x.reshape(-1),
    "reshape2": lambda T, x: x.reshape(2, -1),
    "flatten": lambda T, x: x.flatten(),
    "flatten1": lambda T, x: x.flatten(1),
    "ravel": lambda T, x: x.ravel(),
    "squeeze": lambda T, x: x.squeeze(),
    "squeeze0": lambda T, x: x.squeeze(0),
    "unsqueeze": lambda T, x: x.unsqueeze(1),
    "unsqueeze-": lambda T, x: x.unsqueeze(-1),
    "expand": lambda T, x: x.expand(3, *x.shape),
    "expand-": lambda T, x: x.expand(-1, 4),
    "expand_as": lambda T, x: x[:1].expand_as(x),
    "broadcast_to": lambda T, x: x.broadcast_to((2, *x.shape)),
    "narrow": lambda T, x: x.narrow(0, 1, 1),
    "select": lambda T, x: x.select(-1, 0),
    "diagonal": lambda T, x: x.diagonal(),
    "diagonal1": lambda T, x: x.diagonal(1, -1, 0),
    "movedim": lambda T, x: x.movedim(0, -1),
    "swapaxes": lambda T, x: x.swapaxes(0, 1),
    "unfold": lambda T, x: x.unfold(0, 2, 1),
    "unflatten": lambda T, x: x.unflatten(0, (-1, 1)),
    "as_strided": lambda T, x: x.as_strided((2, 2), (1, 1)),
    "detach": lambda T, x: x.detach(),
    "contiguous": lambda T, x: x.contiguous(),
    "clone": lambda T, x: x.clone(),
    "real": lambda T, x: T.real(x),
    "imag": lambda T, x: x.imag,
    "view_as_real": lambda T, x: T.view_as_real(x),
    "view dtype": lambda T, x: x.view(T.int32),
    "adjoint": lambda T, x: x.adjoint(),
    "atleast_2d": lambda T, x: T.atleast_2d(x),
    "split": lambda T, x: x.split(2),
    "split1": lambda T, x: T.split(x, [1, 2], -1),
    "chunk": lambda T, x: x.chunk(2, -1),
    "unbind": lambda T, x: x.unbind(),
    "tensor_split": lambda T, x: x.tensor_split(2),
    "hsplit": lambda T, x: T.hsplit(x, 1),
    "flip": lambda T, x: x.flip(0),
    "roll": lambda T, x: x.roll(1, 0),
    "rot90": lambda T, x: x.rot90(1, (0, 1)),
    "repeat": lambda T, x: x.repeat(2, 1),
    "tile": lambda T, x: x.tile(2),
    "repeat_interleave": lambda T, x: x.repeat_interleave(2, 0),
    "tril": lambda T, x: x.tril(),
    "triu": lambda T, x: x.triu(1),
    "diag": lambda T, x: x.diag(),
    "diag_embed": lambda T, x: x.diag_embed(),
    "cat": lambda T, x: T.cat([x, x]),
    "cat1": lambda T, x: T.cat((x, x * 2), -1),
    "stack": lambda T, x: T.stack([x, x], -1),
    "hstack": lambda T, x: T.hstack([x, x]),
    "meshgrid": lambda T, x: T.meshgrid(x, x, indexing="ij"),
    "pad": lambda T, x: T.nn.functional.pad(x, (1, 2), value=3),
    "to": lambda T, x: x.to(T.float64),
    "type": lambda T, x: x.type(T.complex64),
    "int": lambda T, x: x.int(),
    "bool": lambda T, x: x.bool(),
}
SHAPES = [name for name in VIEWS if name not in ("as_strided",)]


@pytest.mark.parametrize("name", VIEWS)
@deep
@given(x=operands(DTYPES, max_dims=3))
def test_view(name, x):
    current["dtype"] = x.dtype if x.dtype not in ("int64", "bool") else "float32"
    check(VIEWS[name], [x], known=known_of(name, x))


@pytest.mark.parametrize("name", VIEWS)
@deep
@given(x=operands(("float32", "complex64"), max_dims=3, special=False), recorded=st.booleans(),
       second=st.sampled_from(("transpose", "select", "view", "expand", "detach", "diagonal", "unsqueeze-")))  # fmt: skip
def test_writing_through_a_view(name, second, x, recorded):
    current["dtype"] = x.dtype

    def program(T, x):
        base = x * 1 if recorded else x
        view = VIEWS[name](T, base)
        view = view[-1] if isinstance(view, (tuple, list)) else view
        other = VIEWS[second](T, base)
        view.mul_(2)
        after = other * 1
        again = VIEWS[second](T, view)
        again.add_(1)
        return base, view, other, after, base._version, view._version, again._version, view._is_view()

    check(program, [x], known=(*known_of("writing", x), *known_of(name, x)), text=False)
