"""The records of the catalogue, by family."""

from ..catalogue import RECORDS
from . import elementwise, images, layout, matrices, neural

__all__ = ["RECORDS"]
