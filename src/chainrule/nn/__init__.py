"""torch.nn: parameters, modules and the functions that modules are made of."""

from .._missing import missing_attribute
from . import functional, modules, parameter
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter

__all__ = [*modules.__all__, "Buffer", "Parameter", "functional", "modules", "parameter"]


def __getattr__(name):
    raise missing_attribute(__name__, name)
