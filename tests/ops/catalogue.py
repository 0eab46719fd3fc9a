"""The catalogue: how every differentiable operation is called, and at which inputs; tests run over all records alike.

A record names the operation whose node has to appear in the graph, how it is called (a function of the library's
namespace, a dotted name, or a method), its arguments and keywords, and PyTorch's name of the result's grad_fn. Arguments
that are a `Draw` are the inputs to be differentiated, a `Const` is a tensor without gradient; all others are given as
they are. The records stand by family in the modules of `records/`, written with `real` (float64 only) and `both`
(float64 and complex128).
"""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["RECORDS", "Const", "Draw", "G", "P", "Record", "U", "X", "both", "imaginary", "real", "seeded", "vjp"]


@dataclass(frozen=True)
class Draw:
    """An input: numbers with sizes from `low` to `high`, no two of them the same, of both signs if `signed`."""

    shape: tuple
    low: float
    high: float
    signed: bool
    stays_real: bool = False  # whether it is real also where the record is run for complex numbers

    def values(self, rng, complex_too: bool) -> np.ndarray:
        out = self.part(rng)
        return out + 1j * (self.part(rng) - 0.1) if complex_too and not self.stays_real else out

    def part(self, rng) -> np.ndarray:
        n = int(np.prod(self.shape))
        sizes = self.low + (self.high - self.low) * (rng.permutation(n) + rng.uniform(0.2, 0.8, n)) / max(n, 1)
        return np.asarray((sizes * rng.choice([-1, 1], n) if self.signed else sizes).reshape(self.shape))

    @property
    def as_real(self):
        return Draw(self.shape, self.low, self.high, self.signed, True)


def X(*shape) -> Draw:
    """Numbers of both signs, away from 0, whose sizes keep away from 1/2 and 1."""
    return Draw(shape, 0.55, 0.95, True) if not shape or shape == (1,) else Draw(shape, 0.2, 1.9, True)


def P(*shape) -> Draw:
    """Positive numbers."""
    return Draw(shape, 0.3, 1.8, False)


def U(*shape) -> Draw:
    """Numbers between -1 and 1, away from all three of -1, 0 and 1."""
    return Draw(shape, 0.15, 0.8, True)


def G(*shape) -> Draw:
    """Numbers greater than 1."""
    return Draw(shape, 1.2, 2.5, False)


@dataclass(frozen=True)
class Const:
    """A tensor without gradient, of whole numbers or bools, or of a dtype by name."""

    values: Any
    dtype: str = ""


@dataclass(frozen=True)
class Record:
    op: str
    call: Any  # a name, or a function of (namespace, *arguments)
    args: tuple
    kwargs: dict
    node: str | None
    worlds: tuple  # of False (float64) and True (complex128): where it is run
    number: int

    def __str__(self):
        return f"{self.op}-{self.number}"

    def arrays(self, complex_too: bool = False) -> list:
        """The values of the inputs, the same at every call."""
        rng = np.random.default_rng(zlib.crc32(str(self).encode()))
        return [d.values(rng, complex_too) for d in draws((self.args, tuple(self.kwargs.values())))]

    def run(self, T, *inputs):
        """Call the operation in the namespace `T` with these tensors for its inputs."""
        args, kwargs = self.filled(T, inputs)
        return called(T, self.call, *args, **kwargs)

    def inplace(self, T):
        """The name of the in-place twin, None where there is none."""
        if not isinstance(self.call, str):
            return None
        name = self.call.rpartition(".")[2] + "_"
        return name if hasattr(T.Tensor, name) and isinstance(self.args[0], Draw) else None

    def filled(self, T, inputs):
        left = iter(inputs)

        def fill(value):
            if isinstance(value, Draw):
                return next(left)
            if isinstance(value, Const):
                return T.tensor(value.values, **({"dtype": getattr(T, value.dtype)} if value.dtype else {}))
            if isinstance(value, (tuple, list)):
                return type(value)(fill(v) for v in value)
            return value

        args = [fill(a) for a in self.args]
        return args, {k: fill(v) for k, v in self.kwargs.items()}


def called(T, call, *args, **kwargs):
    if not isinstance(call, str):
        return call(T, *args, **kwargs)
    found = T
    for part in call.split("."):
        found = getattr(found, part, None)
    return (found or getattr(T.Tensor, call))(*args, **kwargs)


def vjp(call):
    """The derivative of what `call` says, as a function of the gradient of its first result and its arguments."""

    def run(T, grad, *args, **kwargs):
        leaves = [a for a in flat(args) if isinstance(a, T.Tensor) and a.requires_grad]
        found = called(T, call, *args, **kwargs)
        found = found[0] if isinstance(found, (tuple, list)) else found
        grads = T.autograd.grad(found, leaves, grad, create_graph=True, allow_unused=True)
        return [g for g in grads if g is not None and g.requires_grad]

    return run


def flat(values):
    for v in values:
        if isinstance(v, (tuple, list)):
            yield from flat(v)
        else:
            yield v


def draws(value):
    return [v for v in flat(value) if isinstance(v, Draw)]


def node_name(name: str) -> str:
    """PyTorch's rule for the names of nodes: log1p gives Log1PBackward0."""
    out, up = "", True
    for letter in name:
        if letter != "_":
            out += letter.upper() if up else letter
        up = letter == "_" or letter.isdigit()
    return out + "Backward0"


RECORDS: list[Record] = []


def seeded(call, differentiable=True):
    """`call` with the generator set back before it, a function like others.

    differentiable: False where PyTorch takes what is drawn for a constant though it depends on the inputs.
    """

    def run(T, *args, **kwargs):
        T.manual_seed(0)
        return call(T, *args, **kwargs)

    run.drawn = True
    run.differentiable = differentiable
    return run


def add(op, call, args, kwargs, node, worlds):
    number = sum(r.op == op for r in RECORDS)
    RECORDS.append(Record(op, call, args, kwargs, node_name(op) if node == "" else node, worlds, number))


def real(op, call, *args, node="", **kwargs) -> None:
    """A record for float64.

    node: PyTorch's name of the result's grad_fn, where it does not follow from that of the operation; None where
    PyTorch's graph is made in another way.
    """
    add(op, call, args, kwargs, node, (False,))


def imaginary(op, call, *args, node="", **kwargs) -> None:
    """A record for complex128 alone."""
    add(op, call, args, kwargs, node, (True,))


def both(op, call, *args, node="", **kwargs) -> None:
    """A record for float64 and complex128."""
    add(op, call, args, kwargs, node, (False, True))
