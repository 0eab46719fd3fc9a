"""torch.signal.windows: windows for signals; declared with the operations."""

from ..._missing import missing_attribute
from ...core.registry import FUNCTIONS

__all__ = sorted(FUNCTIONS.get("signal.windows", ()))

globals().update(FUNCTIONS.get("signal.windows", {}))


def __getattr__(name):
    raise missing_attribute(__name__, name)
