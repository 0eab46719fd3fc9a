"""The other forms of an operation: method, in-place, operator, second names, `out=`; with their gradients and errors."""

import operator

import torch

import chainrule

from .translate import counterpart_named

__all__ = ["variants_of", "with_out", "out_like"]


def variants_of(info):
    """Yield (what it is, PyTorch's function, chainrule's function, whether it changes its first argument)."""
    for attribute, in_place in (
        ("method_variant", False),
        ("inplace_variant", True),
        ("operator_variant", False),
        ("inplace_operator_variant", True),
    ):
        theirs = getattr(info, attribute, None)
        if theirs is None:
            continue
        name = theirs.__name__
        word = attribute.removesuffix("_variant").replace("inplace", "in-place").replace("_", " ")
        if getattr(operator, name, None) is theirs:
            yield word, theirs, theirs, in_place
        elif hasattr(torch.Tensor, name):
            ours = getattr(chainrule.Tensor, name, None)
            yield f"{word} {name}", theirs, ours or absent(f"Tensor.{name}"), in_place
    for alias in info.aliases:
        name = alias.name.removeprefix("torch.")
        yield f"alias {name}", alias.op, counterpart_named(name) or absent(name), False


def absent(name: str):
    def missing(*_, **__):
        raise AttributeError(f"chainrule has no {name}")

    return missing


def out_like(T, result, how: str):
    """What is given as `out=`: tensors like a result, with no elements yet, or of another dtype."""
    if isinstance(result, (tuple, list)):
        return tuple(out_like(T, r, how) for r in result)
    if how == "empty":
        return T.empty(0, dtype=result.dtype)
    if how == "other dtype":
        return T.empty(tuple(result.shape), dtype=T.int64 if result.dtype.is_floating_point else T.float32)
    if how == "transposed":
        return T.empty(tuple(reversed(result.shape)), dtype=result.dtype).permute(tuple(range(result.dim()))[::-1])
    return T.empty(tuple(result.shape), dtype=result.dtype)


def with_out(T, function, result, how: str):
    """The function with `out=`, which also says whether what it returns is what it was given."""

    def call(*args, **kwargs):
        out = out_like(T, result, how)
        back = function(*args, **kwargs, out=out)
        same = back is out or isinstance(back, (tuple, list)) and all(a is b for a, b in zip(back, out))
        return [*(back if isinstance(back, (tuple, list)) else [back]), T.tensor(bool(same))]

    return call
