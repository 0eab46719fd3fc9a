"""What everything stands on: tensors, the graph, the backward pass, and how an operation is declared."""

from . import attributes, conversion, storage  # noqa: F401  (put methods on Tensor)
from . import differentiate  # noqa: F401  (puts the backward pass on Tensor)
