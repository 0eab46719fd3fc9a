"""In-place operations that write to a part of a tensor: they change its memory directly, without a copy of the rest."""

import numpy as np

from ..core.general import edges_inplace, make_inplace_node, rebase_inplace, unwrap
from ..core.inplace import bump, byte_bounds, check_writable
from ..core.tensor import Tensor

__all__ = ["write_inplace"]


def write_inplace(op, values, check=None, expanded=False):
    """Run the `writer` of an operation, `writer(array, *arguments)`, on the memory of its first operand, and record it.

    `check` is called with the operands before. `expanded`: it may write to a tensor whose elements share memory. A
    writer raises before it changes anything, and no formula of such an operation asks for the old values."""
    operands = unwrap(op, values)
    target = operands[0]
    check_writable(target, expanded)
    edges = edges_inplace(op, operands)
    check_disjoint(target, operands[1:])
    if check is not None:
        check(*operands)
    array = target._array
    arguments = [o._array if isinstance(o, Tensor) else o for o in operands]
    node = None
    if edges is not None and target._spec.inexact:
        node = make_inplace_node(op, operands, arguments, edges, target)
    others = [a.copy() if type(a) is np.ndarray and np.may_share_memory(a, array) else a for a in arguments[1:]]
    op.writer(array, *others)
    bump(target)
    if node is not None:
        rebase_inplace(op, node, target)
    return target


def check_disjoint(target, operands) -> None:
    """RuntimeError where an operand shares memory with the tensor to be written, as far as PyTorch sees it."""
    array = target._array
    for operand in operands:
        other = operand._array if isinstance(operand, Tensor) else None
        if other is None or operand is not target and (other.size == 1 or not np.may_share_memory(array, other)):
            continue
        bounds, others = byte_bounds(array), byte_bounds(other)
        dense = bounds[1] - bounds[0] == array.nbytes and others[1] - others[0] == other.nbytes  # neither has gaps
        if operand is target or dense:
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                "single memory location. Please clone() the tensor before performing the operation."
            )
