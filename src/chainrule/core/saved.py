"""`node._saved_self` and its like: what a node keeps, read by name."""

import numpy as np

from .node import FREED, modified_error
from .vjp import revive

__all__ = ["read_saved"]


def read_saved(name: str, node):
    """The saved value of that name, a Tensor where an array was saved; RuntimeError when freed or changed since."""
    if node.saved is None:
        raise RuntimeError(FREED)
    at = node.op.saved_names.index(name)
    value, counter, version = node.saved[3 * at : 3 * at + 3]
    if counter is not None and counter[0] != version:
        raise modified_error(node, at, value, counter[0], version)
    return revive(node, name, value) if isinstance(value, (np.ndarray, tuple)) else value
