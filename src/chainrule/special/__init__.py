"""torch.special: special functions; declared with the operations."""

from .._missing import missing_attribute
from ..core.registry import FUNCTIONS

__all__ = sorted(FUNCTIONS.get("special", ()))

globals().update(FUNCTIONS.get("special", {}))


def __getattr__(name):
    raise missing_attribute(__name__, name)
