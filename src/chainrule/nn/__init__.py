"""torch.nn: parameters and the functions that modules are made of."""

from .._missing import missing_attribute
from . import functional, parameter
from .parameter import Parameter

__all__ = ["Parameter", "functional", "parameter"]


def __getattr__(name):
    raise missing_attribute(__name__, name)
