"""torch.fft: discrete Fourier transforms; declared with the operations."""

from .._missing import missing_attribute
from ..core.registry import FUNCTIONS

__all__ = sorted(FUNCTIONS.get("fft", ()))

globals().update(FUNCTIONS.get("fft", {}))


def __getattr__(name):
    raise missing_attribute(__name__, name)
