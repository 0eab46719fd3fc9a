"""PyTorch's CPU random stream, draw for draw, over plain NumPy arrays."""

from chainrule.random.generator import Generator, default_generator

__all__ = ["Generator", "default_generator"]
