"""Results written into tensors that are given as `out=`, and what is said of a tensor that does not suit."""

import numpy as np

from .dtype import argument_type_name, can_cast
from .general import compute, edge_of, flat, unwrap
from .inplace import bump, check_overlap, check_writable
from .modes import state
from .spec import spec_of
from .tensor import Tensor

# By the name of an operation: the rule for the dtype of `out=` and the sentence about one that does not suit. Rules:
# "exact" (the dtype of the result alone), "cast" (a dtype that the result's can be cast to), "inexact" (any floating or
# complex dtype), "any". What is not here is exact, except for operations that promote their operands, which cast.
OUT_RULES: dict[str, tuple] = {}
EXACT = "exact", "Expected out tensor to have dtype {result.cpp_name}, but got {out.cpp_name} instead"
CAST = "cast", "result type {result.scalar_name} can't be cast to the desired output type {out.scalar_name}"


def check_out(name: str, out, dtype, default=EXACT) -> None:
    """PyTorch's error where a tensor given as `out=` cannot take a result of this dtype."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {argument_type_name(out)}")
    found = out._spec.dtype
    if found is dtype:
        check_writable(out)
        return
    rule, text, *kind = OUT_RULES.get(name, default)
    if rule == "exact" or rule == "cast" and not can_cast(dtype, found) or rule == "inexact" and not out._spec.inexact:
        raise (kind[0] if kind else RuntimeError)(text.format(name=name, result=dtype, out=found))
    check_writable(out)


def apply_out(op, values, out):
    """Run an operation and put its result into `out`, which takes the result's shape."""
    operands = unwrap(op, values)
    outs = out if isinstance(out, (tuple, list)) else (out,)
    for o in outs:
        if not isinstance(o, Tensor):
            raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {argument_type_name(o)}")
    if op.formulas:
        refuse_out_gradient(op.name, [o for o in flat(operands) if isinstance(o, Tensor)], outs)
    result, _ = compute(op, operands)
    if not isinstance(result, (tuple, list)):
        result = (result,)
    result = [np.asarray(r) for r in result]
    for o, r in zip(outs, result):
        check_out(op.name, o, spec_of(r).dtype, CAST if op.promote else EXACT)
        check_overlap(o, flat(operands))
    for o, r in zip(outs, result):
        write_out(o, r)
    return out


def refuse_out_gradient(name: str, inputs, outs) -> None:
    if state.grad_enabled:
        if any(edge_of(t) is not None for t in inputs):
            raise RuntimeError(
                f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                "arguments requires grad."
            )
        if any(edge_of(t) is not None for t in outs):
            raise RuntimeError(
                f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                "arguments requires grad."
            )


def write_out(out, array) -> None:
    """Put an array into a tensor given as `out=`: in place where the shapes agree, otherwise the tensor is resized."""
    if out._spec.shape == array.shape:
        np.copyto(out._array, array, casting="unsafe")
    else:
        if out._spec.numel:
            import warnings

            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(out._spec.shape)}, which does "
                f"not match the required output shape {list(array.shape)}. This behavior is deprecated, and in a future "
                "PyTorch release outputs will not be resized unless they have zero elements. You can explicitly reuse an "
                "out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
                UserWarning,
                stacklevel=5,
            )
        out._array = array.astype(out._spec.array_dtype)
        out._spec = spec_of(out._array)
    bump(out)
