"""torch.signal: windows."""

from .._missing import missing_attribute
from . import windows

__all__ = ["windows"]


def __getattr__(name):
    raise missing_attribute(__name__, name)
