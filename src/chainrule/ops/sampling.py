"""Draws whose parameters are tensors: normal, bernoulli, poisson, binomial, multinomial.

https://docs.pytorch.org/docs/stable/torch.html#random-sampling
"""

import operator

import numpy as np

from ..core.declare import Array, _no_derivative, _show_no_derivative, composite, op
from ..core.dtype import argument_type_name, as_dtype, get_default_dtype, int64
from ..core.general import broadcast_shapes
from ..core.outputs import refuse_out_gradient, write_out
from ..core.scalars import python_number
from ..core.tensor import Tensor
from ..random import distributions as draw
from .creation import _is_index, _must_be_tensor, check_options, factory, finish, put, shape_of
from .random import _combination, _operation, checked, generator_of

__all__: list[str] = []


# --- normal ----------------------------------------------------------------------------------------------------------


def _mean_kernel(self: Array, std: float, source):
    return draw.normal_of(source, self, std, self.dtype)


def _std_kernel(mean: float, self: Array, source):
    return draw.normal_of(source, mean, self, self.dtype)


def _both_kernel(mean: Array, std: Array, source):
    broadcast_shapes(mean.shape, std.shape)
    return draw.normal_of(source, mean, std, mean.dtype)


_normal_of_mean = _operation("normal_of_mean", _mean_kernel, "NormalBackward1")
_normal_of_std = _operation("normal_of_std", _std_kernel, "NormalBackward2")
_normal_of_both = _operation("normal_of_both", _both_kernel, "NormalBackward3", of=("mean", "std"))


@factory
def normal(mean=0.0, std=1.0, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None,
           pin_memory=False, requires_grad=False):  # fmt: skip
    """Normal numbers: of the shape of the tensor or tensors `mean` and `std`, or of `size` where both are numbers."""
    numbers = [m if isinstance(m, Tensor) else python_number(m) for m in (mean, std)]
    if any(n is None or isinstance(n, complex) for n in numbers):
        raise _combination("normal", mean, std)
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        if size is not None:
            raise _combination("normal", mean, std, size)
        source = generator_of("normal", generator)
        if not isinstance(std, Tensor):
            operation, std = _normal_of_mean, float(numbers[1])
        elif not isinstance(mean, Tensor):
            operation, mean = _normal_of_std, float(numbers[0])
        else:
            operation = _normal_of_both
        return operation.general(mean, std, source, out=out)
    if not isinstance(size, (tuple, list)):
        raise _combination("normal", mean, std, *(() if size is None else (size,)))
    source = generator_of("normal", generator)
    shape = checked(shape_of("normal", (size,)))
    if dtype is not None:
        dtype = as_dtype(dtype, "normal")
    check_options("normal", layout, device, pin_memory, requires_grad)
    mean, std = float(mean), float(std)
    if out is not None:
        return put("normal", out, dtype, lambda d: draw.normal(source, shape, d.numpy, mean, std))
    d = get_default_dtype() if dtype is None else dtype
    return finish(draw.normal(source, shape, d.numpy, mean, std), requires_grad)


# --- coins, counts ---------------------------------------------------------------------------------------------------


def _bernoulli_kernel(self: Array, source):
    # The result is contiguous and drawn in its own order, however the probabilities lie.
    return draw.bernoulli_of(source, self, self.dtype)


_bernoulli = _operation("bernoulli", _bernoulli_kernel, "BernoulliBackward0")


def _flip_out_kernel(self: Array, p: float, source):
    return draw.bernoulli(source, self.shape, self.dtype, p)


_bernoulli_number = _operation("bernoulli_p", _flip_out_kernel, "NotImplemented")
_bernoulli_number.derivative(of="self")(_no_derivative("bernoulli"))
_show_no_derivative(_bernoulli_number.node_type)


@composite
def bernoulli(input, p=None, *, generator=None, out=None):
    """Ones with the probabilities that the tensor says, or all with probability `p`, and zeros elsewhere."""
    _must_be_tensor("bernoulli", input)
    source = generator_of("bernoulli", generator)
    if p is None:
        return _bernoulli.general(input, source, out=out)
    return _bernoulli_number.general(input, float(p), source, out=out)


def _poisson_kernel(self: Array, source):
    return draw.poisson(source, self)


_poisson = _operation("poisson", _poisson_kernel, "PoissonBackward0")


@composite(method=False)
def poisson(input, generator=None):
    """Poisson numbers of the rates that the tensor says, in its dtype."""
    _must_be_tensor("poisson", input)
    return _poisson.general(input, generator_of("poisson", generator))


@op(name="binomial_of", method=False, namespace=None, node="NotImplemented")
def _binomial(count: Array, prob: Array, source):
    broadcast_shapes(count.shape, prob.shape)
    return draw.binomial(source, *np.broadcast_arrays(count, prob))


_binomial.derivative(of=("count", "prob"))(_no_derivative("binomial"))
_show_no_derivative(_binomial.node_type)


@composite(method=False)
def binomial(count, prob, generator=None):
    """Binomial numbers: successes of probability `prob` among `count`, in the dtype of both. It has no derivative."""
    for position, (name, value) in enumerate((("count", count), ("prob", prob))):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"binomial(): argument '{name}' (position {position + 1}) must be Tensor, not "
                f"{argument_type_name(value)}"
            )
    return _binomial.general(count, prob, generator_of("binomial", generator))


@composite
def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    """Indices (…, num_samples) drawn with probabilities in proportion to the rows of a 1-d or 2-d tensor; int64."""
    _must_be_tensor("multinomial", input)
    if not _is_index(num_samples):
        raise TypeError(
            f"multinomial(): argument 'num_samples' (position 2) must be int, not {argument_type_name(num_samples)}"
        )
    source = generator_of("multinomial", generator)
    if out is not None:
        if out._spec.dtype is not int64:
            raise RuntimeError(f"multinomial expects Long tensor out, got: {out._spec.dtype.scalar_name}")
        refuse_out_gradient("multinomial", [input], [out])
    drawn = draw.multinomial(source, input._array, operator.index(num_samples), bool(replacement)).copy("C")
    if out is None:
        return finish(drawn)
    write_out(out, drawn)
    return out
