"""Comparisons, logic and bits, elementwise, and the questions about whole tensors: equal, allclose."""

import numpy as np

from ..core.declare import pointwise
from .refusal import only_real

__all__ = ["eq", "ne", "lt", "le", "gt", "ge"]

eq = pointwise("eq", np.equal, kind="bool", binary=True)
ne = pointwise("ne", np.not_equal, kind="bool", binary=True, aliases=("not_equal",))
lt = pointwise("lt", only_real("lt_cpu", np.less), kind="bool", binary=True, aliases=("less",))
le = pointwise("le", only_real("le_cpu", np.less_equal), kind="bool", binary=True, aliases=("less_equal",))
gt = pointwise("gt", only_real("gt_cpu", np.greater), kind="bool", binary=True, aliases=("greater",))
ge = pointwise("ge", only_real("ge_cpu", np.greater_equal), kind="bool", binary=True, aliases=("greater_equal",))
