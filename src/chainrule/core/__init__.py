"""What everything stands on: tensors, the graph, the backward pass, and how an operation is declared."""

# These put their part on Tensor: what it says about itself, the ways out of it, the backward pass, copies and pickles.
from . import attributes, conversion, differentiate, storage  # noqa: F401
