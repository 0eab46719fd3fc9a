"""torch.autograd.graph: nodes and edges as objects; https://pytorch.org/docs/stable/autograd.html#autograd-graph."""

from ..core.differentiate import GradientEdge
from ..core.node import AccumulateGrad, Node
from ..core.tensor import Tensor

__all__ = ["GradientEdge", "Node", "get_gradient_edge"]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place in the graph whose gradient is that of `tensor`; RuntimeError where it requires none."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    return GradientEdge(AccumulateGrad.of(tensor) if node is None else node, tensor.output_nr)
