"""In-place operations that write to a part of a tensor: they change its memory directly, without a copy of the rest."""

import numpy as np

from ..core.general import edge_of, edges_of, make_inplace_node, unwrap
from ..core.inplace import bump, check_inplace, check_writable, rebase_history
from ..core.modes import state
from ..core.tensor import Tensor

__all__ = ["write_inplace"]


def write_inplace(op, values):
    """Run the `writer` of an operation, `writer(array, *arguments)`, on the memory of its first operand, and record it.

    A writer raises before it changes anything, and no formula of such an operation asks for the old values."""
    operands = unwrap(op, values)
    target = operands[0]
    check_writable(target)
    edges = None
    if state.grad_enabled:
        edges = edges_of(op, operands)
        if edges is not None or edge_of(target) is not None:
            check_inplace(target)
    array = target._array
    arguments = [o._array if isinstance(o, Tensor) else o for o in operands]
    others = [a.copy() if type(a) is np.ndarray and np.may_share_memory(a, array) else a for a in arguments[1:]]
    op.writer(array, *others)
    bump(target)
    if edges is not None and target._spec.inexact:
        rebase_history(target, make_inplace_node(op, operands, arguments, edges, target))
    return target
