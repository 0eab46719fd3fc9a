"""torch.backends: which other libraries compute. None does; scripts may ask, and set what has no effect here."""

from . import cudnn, mps

__all__ = ["cudnn", "mps"]


def __getattr__(name):
    from .._missing import missing_attribute

    raise missing_attribute(__name__, name)
