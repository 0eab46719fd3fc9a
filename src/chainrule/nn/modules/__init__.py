"""The modules of torch.nn."""

from .module import Module

__all__ = ["Module"]
