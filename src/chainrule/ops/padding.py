"""nn.functional.pad: constant, reflected, repeated and circular borders."""

import numpy as np

from ..core.declare import Array, composite, op
from ..core.tensor import wrap
from .casting import fill_value
from .gathering import Index
from .shape import as_ints, expect_tensor
from .slicing import FULL, slice_op

__all__ = ["pad"]


@op(name="constant_pad_nd", method=False, namespace=None)
def constant_pad(self: Array, pads, value):
    """`pads`: (before, after) for each dimension; negative numbers take elements off."""
    inside = tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(self.shape, pads))
    out = np.full([n + a + b for n, (a, b) in zip(self.shape, pads)], value, self.dtype)
    out[tuple(slice(max(a, 0), m - max(b, 0)) for m, (a, b) in zip(out.shape, pads))] = self[inside]
    return out


constant_pad.derivative(of="self")(lambda xp, grad, pads: xp.constant_pad_nd(grad, tuple((-a, -b) for a, b in pads), 0))
constant_pad.function = constant_pad.single


def _picked(name: str, node: str):
    """Padding that takes every element from somewhere in the input: `places` says where, for each dimension (None:
    all)."""

    @op(name=name, node=node, method=False, namespace=None, frees=("places",))
    def pick(self: Array, places):
        for dim, p in enumerate(places):
            if p is not None:
                self = self.take(p, axis=dim)
        return self

    @pick.derivative(of="self")
    def _(xp, grad, self_shape, places):
        shape = list(grad.shape)
        for dim, p in enumerate(places):
            if p is not None:
                shape[dim] = self_shape[dim]
                grad = xp.accumulate(grad, tuple(shape), Index((*(FULL,) * dim, p)))
        return grad

    return pick


_NAMES = {"reflect": "Reflection", "replicate": "Replication"}
_PICKED = {
    (mode, n): _picked(f"{name.lower()}_pad{n}d", f"{name}Pad{n}DBackward0")
    for mode, name in _NAMES.items()
    for n in (1, 2, 3)
}


def _places(mode: str, size: int, before: int, after: int):
    if before == after == 0:
        return None
    at = np.arange(-before, size + after)
    if mode == "replicate":
        return np.clip(at, 0, size - 1)
    at = np.abs(at)
    return np.where(at >= size, 2 * (size - 1) - at, at)


def _bordered(input, pads, mode: str):
    shape = input._spec.shape
    count = len(pads)
    if mode == "reflect":
        for i, (before, after) in enumerate(pads):
            size = shape[-1 - i]
            if before >= size or after >= size:
                raise RuntimeError(
                    f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input dimension, but "
                    f"got: padding ({before}, {after}) at dimension {len(shape) - 1 - i} of input {list(shape)}"
                )
    places = [None] * len(shape)
    for i, (before, after) in enumerate(pads):
        places[-1 - i] = _places(mode, shape[-1 - i], before, after)
    return _PICKED[mode, count].single(input, tuple(places))


def _circular(input, pads):
    """The input continued periodically: its copy in the middle, then the borders from the opposite side, dimension by
    dimension (PyTorch's graph has a node for each of these writes)."""
    shape = list(input._spec.shape)
    for i, (before, after) in enumerate(pads):
        size = shape[-1 - i]
        if before > size or after > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if before + after + size < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        shape[-1 - i] = size + before + after
    out = wrap(np.empty(shape, input._spec.array_dtype))
    target, source = out, input
    for i, (before, after) in enumerate(pads):
        dim = len(shape) - 1 - i
        target = slice_op.single(target, dim, max(before, 0), shape[dim] - max(after, 0), 1)
        source = slice_op.single(source, dim, max(-before, 0), source._spec.shape[dim] - max(-after, 0), 1)
    target.copy_(source)
    for i, (before, after) in enumerate(pads):
        dim = len(shape) - 1 - i
        size, left, right = shape[dim], max(before, 0), max(after, 0)
        if left:
            _copied(out, dim, 0, size - left - right, left)
        if right:
            _copied(out, dim, size - right, left, right)
    return out


def _copied(out, dim: int, to: int, start: int, length: int) -> None:
    source = slice_op.single(out, dim, start, start + length, 1)
    slice_op.single(out, dim, to, to + length, 1).copy_(source)


@composite(method=False, namespace="nn.functional")
def pad(input, pad, mode="constant", value=None):
    """The tensor with a border: `pad` holds (before, after) for the last dimension, then the one before it, and so on.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pad.html"""
    ndim, shape = expect_tensor(input, "pad")._spec.ndim, input._spec.shape
    numbers = as_ints((pad,), "pad", "pad", 2)
    if len(numbers) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(numbers) > 2 * ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(numbers)} and input of dimension {ndim}"
        )
    pads = list(zip(numbers[::2], numbers[1::2]))
    if mode == "constant":
        sizes = [n + a + b for n, (a, b) in zip(reversed(shape), pads)]
        if any(n < 0 for n in sizes):
            raise RuntimeError("narrow(): length must be non-negative.")
        value = fill_value(0 if value is None else value, input._spec.dtype)
        return constant_pad.single(input, tuple(reversed(pads + [(0, 0)] * (ndim - len(pads)))), value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if len(pads) not in (ndim - 1, ndim - 2) or not 1 <= len(pads) <= 3:
        raise NotImplementedError(f"Padding size {len(numbers)} is not supported for {ndim}D input tensor.")
    if mode == "circular":
        return _circular(input, pads)
    if mode not in _NAMES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if 0 in shape[1 if len(shape) == len(pads) + 2 else 0 :]:
        raise RuntimeError(
            f"Expected {len(pads) + 1}D or {len(pads) + 2}D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(shape)}"
        )
    return _bordered(input, pads, mode)
