"""Operations that PyTorch refuses to differentiate: a call of each, and what the backward pass says."""


def _seeded(call):
    return lambda T, x: (T.manual_seed(0), call(T, x))[1]


REFUSED = {
    "floor_divide": (lambda T, x: x.floor_divide(x * 2), "derivative for aten::floor_divide is not implemented"),
    "remainder_of_number": (lambda T, x: T.remainder(2.0, x), "derivative for aten::remainder is not implemented"),
    "heaviside": (lambda T, x: T.heaviside(x, x * 2), "derivative for aten::heaviside is not implemented"),
    "scatter_by": (
        lambda T, x: x.scatter(0, T.tensor([0]), 0.5, reduce="multiply"),
        "derivative for aten::scatter is not implemented",
    ),
    "_unique2": (lambda T, x: T.unique(x), "the derivative for '_unique2' is not implemented."),
    "unique_dim": (lambda T, x: T.unique(x, dim=0), "the derivative for 'unique_dim' is not implemented."),
    "unique_consecutive": (
        lambda T, x: T.unique_consecutive(x),
        "the derivative for 'unique_consecutive' is not implemented.",
    ),
    "bincount": (lambda T, x: T.bincount(T.tensor([0, 1, 1]), x), "derivative for aten::bincount is not implemented"),
    "histogram": (lambda T, x: T.histogram(x, 3).hist, "derivative for aten::histogram is not implemented"),
    "_histogramdd_from_bin_cts": (
        lambda T, x: T.histogramdd(x.reshape(3, 1), [3]).hist,
        "derivative for aten::_histogramdd_from_bin_cts is not implemented",
    ),
    "special_zeta_by_number": (lambda T, x: T.special.zeta(x, 2.0), "the derivative for 'zeta' is not implemented."),
    "bernoulli_p": (_seeded(lambda T, x: T.bernoulli(x, 0.5)), "derivative for aten::bernoulli is not implemented"),
    "binomial_of": (_seeded(lambda T, x: T.binomial(x, x / 4)), "derivative for aten::binomial is not implemented"),
}
