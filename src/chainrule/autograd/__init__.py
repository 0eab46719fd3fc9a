"""torch.autograd: backward, grad, Function, gradcheck and what stands around the engine."""

from ..core.differentiate import backward, grad
from ..core.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..core.tensor import Tensor as Variable
from . import function, graph
from .function import Function
from .gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function", "Variable", "backward", "enable_grad", "function", "grad", "gradcheck", "gradgradcheck", "graph",
    "inference_mode", "no_grad", "set_grad_enabled",
]  # fmt: skip


def __getattr__(name):
    if name == "functional":  # for study: loaded when asked for
        from importlib import import_module

        return import_module(".functional", __name__)
    from .._missing import missing_attribute

    raise missing_attribute("torch.autograd", name)
