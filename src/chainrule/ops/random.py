"""Random tensors: new ones, and draws into existing ones.

Draws whose parameters are tensors are in sampling.py. The numbers come from `chainrule.random`, which knows only
arrays. What is drawn does not depend on the tensor that goes in, so the gradients here are zeros.
https://docs.pytorch.org/docs/stable/torch.html#random-sampling
"""

import operator

import numpy as np

from ..core import dtype as dtypes
from ..core.declare import Array, method, op, put_method
from ..core.dtype import argument_type_name, as_dtype, get_default_dtype
from ..core.general import apply_inplace
from ..core.layout import contiguous_format, preserve_format
from ..core.scalars import python_number
from ..core.tensor import Tensor
from ..random import distributions as draw
from .creation import (
    _MISSING,
    _is_index,
    _must_be_tensor,
    check_options,
    factory,
    finish,
    like,
    plain_shape,
    put,
    shape_of,
)
from .generator import Generator, default_generator

__all__ = ["generator_of"]


def generator_of(name: str, generator) -> Generator:
    """The generator that an argument names: the default one for None."""
    if generator is None:
        return default_generator
    if not isinstance(generator, Generator):
        raise TypeError(f"{name}(): argument 'generator' must be torch.Generator, not {argument_type_name(generator)}")
    return generator


def _combination(name: str, *args, **kwargs) -> TypeError:
    got = [argument_type_name(a) for a in args] + [f"{k}={argument_type_name(v)}" for k, v in kwargs.items()]
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(got)}), but expected one of:\n"
        f" * see https://docs.pytorch.org/docs/stable/generated/torch.{name}.html"
    )


def checked(shape: tuple) -> tuple:
    for n in shape:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(shape)}")
    return shape


def in_order(array: np.ndarray, make) -> np.ndarray:
    """What `make(shape)` draws, in the layout of `array`: PyTorch fills along the memory."""
    if array.flags.c_contiguous:
        return make(array.shape)
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    return make(tuple(array.shape[i] for i in order)).transpose(np.argsort(order))


# --- new tensors -----------------------------------------------------------------------------------------------------


def _drawn(name: str, distribution, doc: str):
    """One of rand and randn."""

    def create(*args, size=None, generator=None, out=None, dtype=None, layout=None, device=None, pin_memory=False,
               requires_grad=False, **unknown):  # fmt: skip
        if unknown or not args and size is None:
            raise _combination(name, *args, **unknown)
        shape = plain_shape(args)
        if shape is None:
            shape = shape_of(name, args, size)
        if generator is not None and not isinstance(generator, Generator):
            raise _combination(name, *args, generator=generator)
        source = default_generator if generator is None else generator
        if dtype is not None:
            dtype = as_dtype(dtype, name)
        if layout is not None or device is not None or pin_memory or requires_grad is not False:
            check_options(name, layout, device, pin_memory, requires_grad)
        checked(shape)
        if out is not None:
            return put(name, out, dtype, lambda d: distribution(source, shape, d.numpy))
        d = get_default_dtype() if dtype is None else dtype
        return finish(distribution(source, shape, d.numpy), requires_grad)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = doc
    return factory(create)


_drawn("rand", draw.uniform, "Uniform numbers from [0, 1).")
_drawn("randn", draw.normal, "Normal numbers with mean 0 and variance 1.")


def _integers(name: str, args: tuple, low, high, size, position: int):
    """Bounds and shape among the arguments of randint, whose first may be the upper bound."""
    given = list(args)
    if size is None and given and not _is_index(given[-1]):
        size = given.pop()
    if len(given) == 1 and high is _MISSING and low is _MISSING:
        high = given.pop()
        low = 0
    elif given:
        bounds = [low, high]
        for at, value in enumerate(given):
            if at > 1 or bounds[at] is not _MISSING:
                raise _combination(name, *args)
            bounds[at] = value
        low, high = bounds
    if high is _MISSING:
        raise _combination(name, *args)
    return _bound(name, "low", 0 if low is _MISSING else low), _bound(name, "high", high), size


def _bound(name: str, argument: str, value) -> int:
    if not _is_index(value):
        raise TypeError(f"{name}(): argument '{argument}' (position 1) must be int, not {argument_type_name(value)}")
    value = operator.index(value)
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    return value


@factory
def randint(*args, low=_MISSING, high=_MISSING, size=None, generator=None, out=None, dtype=None, layout=None,
            device=None, pin_memory=False, requires_grad=False):  # fmt: skip
    """Integers from `low` (0) up to but without `high`: `randint(high, size)`, `randint(low, high, size)`; int64."""
    if len(args) == 2 and size is None and args[0].__class__ is int and args[1].__class__ is tuple:
        low, high, size = 0, _bound("randint", "high", args[0]), args[1]
    elif len(args) == 2 and size is None and _is_index(args[1]):
        raise TypeError(
            f"randint(): argument 'size' (position 2) must be tuple of ints, not {argument_type_name(args[1])}"
        )
    else:
        low, high, size = _integers("randint", args, low, high, size, 1)
    if size is None:
        raise _combination("randint", *args)
    shape = checked(plain_shape((size,)) or shape_of("randint", (), size, 2))
    source = default_generator if generator is None else generator_of("randint", generator)
    if dtype is not None:
        dtype = as_dtype(dtype, "randint")
    if layout is not None or device is not None or pin_memory or requires_grad is not False:
        check_options("randint", layout, device, pin_memory, requires_grad)
    if out is not None:
        return put("randint", out, dtype, lambda d: draw.random_from_to(source, shape, d.numpy, low, high))
    d = dtypes.int64 if dtype is None else dtype
    return finish(draw.random_from_to(source, shape, d.numpy, low, high), requires_grad)


@factory
def randperm(n, *, generator=None, out=None, dtype=None, layout=None, device=None, pin_memory=False,
             requires_grad=False):  # fmt: skip
    """A random permutation of the integers from 0 to n - 1; int64 unless `dtype` says otherwise."""
    if not _is_index(n):
        raise TypeError(f"randperm(): argument 'n' (position 1) must be int, not {argument_type_name(n)}")
    n = operator.index(n)
    source = generator_of("randperm", generator)
    if dtype is not None:
        dtype = as_dtype(dtype, "randperm")
    check_options("randperm", layout, device, pin_memory, requires_grad)
    if out is not None:
        return put("randperm", out, dtype, lambda d: draw.randperm(source, n, d.numpy))
    d = dtypes.int64 if dtype is None else dtype
    return finish(draw.randperm(source, n, d.numpy), requires_grad)


def _drawn_like(name: str, distribution, doc: str):
    """One of rand_like and randn_like."""

    def create(input, *, generator=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
               memory_format=None):  # fmt: skip
        source = generator_of(name, generator)
        _must_be_tensor(name, input)
        if memory_format is None or memory_format is preserve_format:
            contiguous = input._array.flags.c_contiguous
        else:
            contiguous = memory_format is contiguous_format

        def make(shape, numpy_dtype):
            return distribution(source, shape, numpy_dtype, contiguous)

        return like(name, make, input, dtype, layout, device, pin_memory, requires_grad, memory_format)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = doc
    return factory(create)


_drawn_like("rand_like", lambda source, shape, d, contiguous: draw.uniform(source, shape, d),
            "Uniform numbers from [0, 1), with the shape, dtype and layout of another tensor.")  # fmt: skip
_drawn_like("randn_like",
            lambda source, shape, d, contiguous: draw.normal(source, shape, d, contiguous=contiguous),
            "Normal numbers of mean 0 and variance 1, with the shape, dtype and layout of another tensor.")  # fmt: skip


@factory
def randint_like(input, *args, low=_MISSING, high=_MISSING, generator=None, dtype=None, layout=None, device=None,
                 pin_memory=False, requires_grad=False, memory_format=None):  # fmt: skip
    """Integers from `low` (0) up to but without `high`, with the shape, dtype and layout of another tensor."""
    low, high, _ = _integers("randint_like", args, low, high, (), 2)
    source = generator_of("randint_like", generator)

    def make(shape, numpy_dtype):
        return draw.random_from_to(source, shape, numpy_dtype, low, high)

    return like("randint_like", make, input, dtype, layout, device, pin_memory, requires_grad, memory_format)


# --- in place --------------------------------------------------------------------------------------------------------


def nothing(xp, grad):
    """The gradient of what does not matter to the result."""
    return xp.zeros_like(grad)


def _operation(name: str, kernel, node: str, of=("self",)):
    """A declared operation without a public name, whose gradients are zeros."""
    operation = op(kernel, name=name, method=False, namespace=None, node=node)
    for argument in of:
        operation.derivative(of=argument)(nothing)
    return operation


def _distribution(name: str, node: str, params: tuple, distribution, doc: str) -> None:
    """Declare an in-place draw; `params` are (name, default) of the numbers that it takes."""
    defaults = [default for _, default in params]
    names = [n for n, _ in params]

    def kernel(self: Array, values: tuple, source: Generator):
        return in_order(self, lambda shape: distribution(source, shape, self, *values))

    operation = _operation(name, kernel, node)
    required = sum(d is _MISSING for d in defaults)

    def fill(self, *args, generator=None, **kwargs):
        if len(args) > len(names):
            takes = f"{len(names)}" if required == len(names) else f"from {required} to {len(names)}"
            raise TypeError(f"{name}() takes {takes} positional arguments but {len(args)} were given")
        values = [*args, *defaults[len(args) :]]
        for key, value in kwargs.items():
            if key not in names:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            values[names.index(key)] = value
        for at, value in enumerate(values):
            if value is _MISSING:
                raise TypeError(f'{name}() missing 1 required positional arguments: "{names[at]}"')
            values[at] = _float(name, names[at], at + 1, value)
        return apply_inplace(operation, (self, tuple(values), generator_of(name, generator)))

    fill.__name__ = fill.__qualname__ = name
    fill.__doc__ = doc
    put_method(name, fill)


def _float(name: str, argument: str, position: int, value) -> float:
    if isinstance(value, Tensor) and not value._spec.ndim:
        value = value._array.item()
    number = python_number(value)
    if number is None or isinstance(number, complex):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be float, not {argument_type_name(value)}"
        )
    return float(number)


_distribution("uniform_", "UniformBackward0", (("from", 0.0), ("to", 1.0)),
              lambda g, shape, a, low, high: draw.uniform(g, shape, a.dtype, low, high),
              "Uniform numbers from [from, to), in place.")  # fmt: skip
_distribution("normal_", "NormalBackward0", (("mean", 0.0), ("std", 1.0)),
              lambda g, shape, a, mean, std: draw.normal(g, shape, a.dtype, mean, std, a.flags.c_contiguous),
              "Normal numbers, in place.")  # fmt: skip
_distribution("log_normal_", "LogNormalBackward0", (("mean", 1.0), ("std", 2.0)),
              lambda g, shape, a, mean, std: draw.log_normal(g, shape, a.dtype, mean, std),
              "Exponentials of normal numbers, in place.")  # fmt: skip
_distribution("exponential_", "ExponentialBackward0", (("lambd", 1.0),),
              lambda g, shape, a, rate: draw.exponential(g, shape, a.dtype, rate),
              "Exponential numbers of rate `lambd`, in place.")  # fmt: skip
_distribution("cauchy_", "CauchyBackward0", (("median", 0.0), ("sigma", 1.0)),
              lambda g, shape, a, median, sigma: draw.cauchy(g, shape, a.dtype, median, sigma),
              "Cauchy numbers, in place.")  # fmt: skip
_distribution("geometric_", "GeometricBackward0", (("p", _MISSING),),
              lambda g, shape, a, p: draw.geometric(g, shape, a.dtype, p),
              "Numbers of trials up to the first success of probability `p`, in place.")  # fmt: skip


def _random_kernel(self: Array, low: int, high: int, source: Generator):
    return in_order(self, lambda shape: draw.random_from_to(source, shape, self.dtype, low, high))


def _random_any_kernel(self: Array, source: Generator):
    return in_order(self, lambda shape: draw.random_any(source, shape, self.dtype))


_random_between = _operation("random_between", _random_kernel, "RandomBackward0")
_random_below = _operation("random_below", _random_kernel, "RandomBackward1")
_random_any = _operation("random_any", _random_any_kernel, "RandomBackward2")


@method
def random_(self, *args, generator=None, **kwargs):
    """Integers, in place: `random_()` over all that the dtype holds exactly, `random_(to)`, `random_(from, to)`."""
    bounds = dict(zip(("from", "to") if len(args) > 1 else ("to",), args))
    bounds.update(kwargs)
    if len(args) > 2 or not bounds.keys() <= {"from", "to"} or len(bounds) < len(args) + len(kwargs):
        raise _combination("random_", *args, **kwargs)
    for key, value in bounds.items():
        if not _is_index(value) and not (key == "to" and value is None and "from" in bounds):
            raise _combination("random_", *args, **kwargs)
    source = generator_of("random_", generator)
    if not bounds:
        return apply_inplace(_random_any, (self, source))
    high = None if bounds.get("to") is None else operator.index(bounds["to"])
    if "from" in bounds:
        return apply_inplace(_random_between, (self, operator.index(bounds["from"]), high, source))
    return apply_inplace(_random_below, (self, 0, high, source))


def _flip_kernel(self: Array, p: float, source: Generator):
    return in_order(self, lambda shape: draw.bernoulli(source, shape, self.dtype, p))


def _flip_by_kernel(self: Array, p: Array, source: Generator):
    if p.shape != self.shape:
        p = _expanded(p, self.shape)
    if self.flags.c_contiguous:
        return draw.bernoulli_of(source, p, self.dtype)
    order = sorted(range(self.ndim), key=lambda axis: -abs(self.strides[axis]))
    return draw.bernoulli_of(source, p.transpose(order), self.dtype).transpose(np.argsort(order))


def _expanded(p: np.ndarray, shape: tuple) -> np.ndarray:
    try:
        return np.broadcast_to(p, shape)
    except ValueError:
        pass
    if p.ndim > len(shape):
        raise RuntimeError(
            f"expand({list(p.shape)}, size={list(shape)}): the number of sizes provided ({len(shape)}) must be "
            "greater or "
            f"equal to the number of dimensions in the tensor ({p.ndim})"
        )
    for i in range(-1, -p.ndim - 1, -1):
        if p.shape[i] not in (1, shape[i]):
            raise RuntimeError(
                f"The expanded size of the tensor ({shape[i]}) must match the existing size ({p.shape[i]}) at "
                f"non-singleton dimension {i + len(shape)}.  Target sizes: {list(shape)}.  Tensor sizes: "
                f"{list(p.shape)}"
            )
    raise AssertionError("the shapes expand")


_flip = _operation("bernoulli_number", _flip_kernel, "BernoulliBackward2")
_flip_by = _operation("bernoulli_tensor", _flip_by_kernel, "BernoulliBackward1", of=("self", "p"))


@method
def bernoulli_(self, p=0.5, *, generator=None):
    """Ones with probability `p`, a number or a tensor, and zeros, in place."""
    source = generator_of("bernoulli_", generator)
    if isinstance(p, Tensor):
        return apply_inplace(_flip_by, (self, p, source))
    number = python_number(p)
    if number is None or isinstance(number, complex):
        raise _combination("bernoulli_", p)
    return apply_inplace(_flip, (self, float(number), source))
