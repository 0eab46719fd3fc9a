"""Every operation, one file a family, its kernel and its derivative side by side. Importing this declares them all."""

from . import elementwise, elementary, power, comparison, operators, casting, rounding, selection, blending, complex, activation, reduction, picking, extremes, deviation, norms, cumulative, shape, squeezing, striding, slicing, writing, joining, arranging, padding, gathering, scattering, reducing_scatter, indexing, creation, ranges, data, legacy, inquiry, products, linalg, sorting, medians, quantiles, searching, unique, counting, differences, covariance, softmax, loss, likelihood, generator, random, sampling, dropout  # noqa: F401, I001
from . import convolution, planes, pooling  # noqa: F401
from . import differentiable  # noqa: F401
