"""Evaluate an expression with both libraries and compare all that can be seen of the outcome."""

import os
import warnings

import numpy as np
import torch
from hypothesis import HealthCheck, settings

import chainrule

EXAMPLES = int(os.environ.get("CONFORMANCE_EXAMPLES", "0"))
deep = settings(
    max_examples=EXAMPLES or 12,
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)

# Relative and absolute tolerance per dtype, in units of what the dtype resolves.
TOLERANCE = {"float16": (4e-3, 2e-3), "float32": (4e-6, 2e-6), "float64": (1e-12, 1e-13)}
TOLERANCE["complex64"], TOLERANCE["complex128"] = TOLERANCE["float32"], TOLERANCE["float64"]


def outcome(T, expression, operands, *, text=True, gradient=True):
    """What one library makes of the expression: a dictionary of what can be seen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensors = [o.build(T) if hasattr(o, "build") else o for o in operands]
        try:
            result = expression(T, *tensors)
        except Exception as error:
            return {"error": (type(error).__name__, str(error).split("\n")[0])}
        seen = {"results": [describe(r, tensors, text) for r in results_of(result)]}
        if gradient:
            seen["gradients"] = gradients(T, results_of(result), tensors)
        return seen


def results_of(result) -> list:
    if isinstance(result, (tuple, list)):
        return [r for part in result for r in results_of(part)]
    return [result]


def is_tensor(value) -> bool:
    return isinstance(value, (torch.Tensor, chainrule.Tensor))


def describe(result, tensors, text: bool):
    if not is_tensor(result):
        return {"python": result if isinstance(result, (int, float, complex, bool, str)) else str(result)}
    plain = result.detach()
    if getattr(plain, "_is_zerotensor", bool)():  # zeros that PyTorch has not written down
        plain = plain.clone()
    seen = {
        "values": np.array(plain.tolist(), dtype=complex if plain.is_complex() else None) if plain.numel() else None,
        "dtype": str(result.dtype),
        "shape": tuple(result.shape),
        "strides": strides(result),
        "shared": any(shares(result, t) for t in tensors if is_tensor(t)),
        "requires_grad": result.requires_grad,
        "node": None if result.grad_fn is None else result.grad_fn.name(),
    }
    if text:
        seen["text"] = repr(plain)
    return seen


def strides(tensor):
    """The strides that say something: those of dimensions with more than one element, where there are elements."""
    if tensor.numel() == 0:
        return None
    return tuple(s for n, s in zip(tensor.shape, tensor.stride()) if n > 1)


def shares(a, b) -> bool:
    return bool(a.numel() and b.numel()) and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def cotangent(T, result):
    """The same cotangent in both libraries: small numbers that differ from element to element."""
    n = result.numel()
    weights = np.cos(np.arange(n) + 1.0).reshape(tuple(result.shape))
    if result.is_complex():
        weights = weights + 1j * np.sin(np.arange(n) + 1.0).reshape(tuple(result.shape))
    return T.tensor(weights.tolist(), dtype=result.dtype).reshape(tuple(result.shape))


def gradients(T, results, tensors):
    """The gradients of the operands that require one, or the error of the backward pass."""
    roots = [r for r in results if is_tensor(r) and r.requires_grad]
    leaves = [t for t in tensors if is_tensor(t) and t.requires_grad]
    if not roots or not leaves:
        return None
    try:
        found = T.autograd.grad(roots, leaves, [cotangent(T, r) for r in roots], allow_unused=True)
    except Exception as error:
        return [(type(error).__name__, str(error).split("\n")[0])]
    seen = [g if g is None else describe(g, [], False) for g in found]
    for (
        g
    ) in seen:  # how a gradient lies in memory follows from the order of PyTorch's kernels, which is nobody's business
        if g is not None:
            assert g["strides"] is None or all(s >= 0 for s in g.pop("strides"))
    return seen


def check(expression, operands, *, known=(), text=True, gradient=True) -> None:
    """AssertionError where the libraries differ."""
    theirs = outcome(torch, expression, operands, text=text, gradient=gradient)
    ours = outcome(chainrule, expression, operands, text=text, gradient=gradient)
    differences = list(compared(theirs, ours))
    differences = [d for d in differences if not any(k(d, theirs, ours) for k in known)]
    assert not differences, "\n".join([*map(str, operands), *differences])


def compared(theirs, ours, path=""):
    """Yield a line for each thing that differs."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs.keys() | ours.keys():
            yield from compared(theirs.get(key), ours.get(key), f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for i, (a, b) in enumerate(zip(theirs, ours)):
            yield from compared(a, b, f"{path}[{i}]")
    elif isinstance(theirs, np.ndarray) and isinstance(ours, np.ndarray):
        if not same_values(theirs, ours):
            yield f"{path}: PyTorch {theirs.tolist()} chainrule {ours.tolist()}"
    elif isinstance(theirs, float) and isinstance(ours, float):
        if not same_values(np.array(theirs), np.array(ours)):
            yield f"{path}: PyTorch {theirs} chainrule {ours}"
    elif path.endswith(".text") and theirs is not None and ours is not None:
        if not same_text(theirs, ours):
            yield f"{path}: PyTorch {theirs!r} chainrule {ours!r}"
    elif theirs != ours:
        yield f"{path}: PyTorch {theirs!r} chainrule {ours!r}"


current = {"dtype": "float32"}  # what the values compared are rounded to; set by the tests


def same_values(a, b) -> bool:
    if a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc" and b.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    rtol, atol = TOLERANCE[current["dtype"]]
    with np.errstate(all="ignore"):
        parts = [(a, b)] if a.dtype.kind != "c" else [(a.real, b.real), (a.imag, b.imag)]
        scale = max((np.abs(p[np.isfinite(p)]).max(initial=0) for p, _ in parts), default=0)
        return all(np.allclose(p, q, rtol=rtol, atol=atol * max(1.0, scale), equal_nan=True) for p, q in parts)


def same_text(a: str, b: str) -> bool:
    """The same but for the last digits of numbers: those are the business of `values`."""
    import re

    number = re.compile(r"\d+\.?\d*(e[+-]\d+)?")
    return (
        number.sub("#", a).replace(" ", "").replace("-", "") == number.sub("#", b).replace(" ", "").replace("-", "")
        if a != b
        else True
    )
