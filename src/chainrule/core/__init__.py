"""What everything stands on: tensors, the graph, the backward pass, and how an operation is declared."""

from . import (  # noqa: F401  (put methods on Tensor)
    attributes,
    conversion,
    differentiate,  # noqa: F401  (puts the backward pass on Tensor)
    storage,
)
