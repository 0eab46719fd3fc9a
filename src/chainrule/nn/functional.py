"""torch.nn.functional: the functions that layers are made of; they are declared with the operations."""

from .._missing import missing_attribute
from ..core.registry import FUNCTIONS

__all__ = sorted(FUNCTIONS.get("nn.functional", ()))

globals().update(FUNCTIONS.get("nn.functional", {}))


def __getattr__(name):
    raise missing_attribute(__name__, name)
