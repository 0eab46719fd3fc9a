"""torch.linalg: linear algebra; declared with the operations."""

from .._missing import missing_attribute
from ..core.registry import FUNCTIONS

__all__ = sorted(FUNCTIONS.get("linalg", ()))

globals().update(FUNCTIONS.get("linalg", {}))


def __getattr__(name):
    raise missing_attribute(__name__, name)
