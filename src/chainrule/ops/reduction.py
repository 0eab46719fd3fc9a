"""Sums, means and products over all elements or some dimensions; any and all."""

import operator
from typing import Any

import numpy as np

from ..core.call_whole import make_whole, make_whole_vjp
from ..core.declare import Array, op, put_method
from ..core.dtype import FLOATING, argument_type_name, bool_, dtype, uint8
from ..core.outputs import CAST, check_out, refuse_out_gradient, write_out
from ..core.registry import publish
from ..core.tensor import Tensor
from .precision import HALF

__all__ = ["dimensions", "reduction_function", "shown_dtype"]

MISSING = object()

# --- arguments ---


def dimensions(dim, ndim: int):
    """Dimensions as axes of NumPy: None for all (None or an empty sequence), a tuple of numbers counted from the front.

    IndexError for one that does not exist, RuntimeError for one that is named twice.
    """
    if dim.__class__ is int:
        if -ndim <= dim < ndim:
            return (dim if dim >= 0 else dim + ndim,)
        _check(dim, ndim)
        return ()
    if dim is None:
        return None
    if isinstance(dim, (tuple, list)):
        if not len(dim):
            return None
        found: list[int] = []
        for d in dim:
            d = operator.index(d)
            _check(d, ndim)
            d = d + max(ndim, 1) if d < 0 else d
            if d in found:
                raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
            found.append(d)
        return tuple(found) if ndim else ()
    return dimensions(operator.index(dim), ndim)


def _check(dim: int, ndim: int) -> None:
    most = max(ndim, 1)
    if not -most <= dim < most:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {dim})")


def is_dim(value) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def is_dims(value) -> bool:
    return value is None or is_dim(value) or isinstance(value, (tuple, list)) and all(is_dim(v) for v in value)


def combination_error(name: str, args: tuple, kwargs: dict) -> TypeError:
    """PyTorch's complaint about a function with several signatures, none of which fits."""
    got = ", ".join(argument_type_name(a) for a in args)
    named = "".join(f"{k}={argument_type_name(v)}, " for k, v in kwargs.items())
    shown = ", ".join(part for part in (got, named) if part)
    return TypeError(f"{name}() received an invalid combination of arguments - got ({shown}), but expected one of:")


def expect_tensor(name: str, value) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {argument_type_name(value)}")


def expect_bool(name: str, value, argument: str = "keepdim", position: int = 2) -> None:
    if not isinstance(value, bool):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be bool, not {argument_type_name(value)}"
        )


def shown_dtype(d: dtype) -> str:
    """A dtype as error messages of reductions name it: "Long" for int64."""
    return d.scalar_name


def into(name: str, out, inputs, result):
    """A result written into `out=`, which nobody may differentiate through."""
    refuse_out_gradient(name, inputs, (out,))
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {argument_type_name(out)}")
    check_out(name, out, result._spec.dtype)
    write_out(out, result._array)
    return out


# --- summing ---

ROW, SHORT = 1024, 128
_ONES: dict = {}
small_total = getattr(np.vdot, "__wrapped__", np.vdot)


def ones(size: int, dtype_) -> np.ndarray:
    """A kept row of ones, of at most ROW elements."""
    row = _ONES.get((size, dtype_))
    if row is None:
        row = _ONES[size, dtype_] = np.ones(size, dtype_)
    return row


def total(a):
    """The sum of all elements, as a 0-dim array or NumPy number."""
    kind = a.dtype.kind
    if kind in "fc":
        if a.dtype is HALF:
            return np.add.reduce(a, axis=None, dtype=np.float32).astype(HALF)
        if a.size <= ROW and kind == "f":  # for so few a product with ones takes half the time of a sum
            return small_total(a, ones(a.size, a.dtype))
        if a.size > 16 * ROW and kind == "f" and a.flags.c_contiguous:
            # Rows of ones through BLAS: several times faster than NumPy's own sum. Short rows keep it as exact.
            flat = a.reshape(-1)
            rows = flat.size // SHORT
            sums = flat[: rows * SHORT].reshape(rows, SHORT) @ ones(SHORT, a.dtype)
            return np.add.reduce(sums) + np.add.reduce(flat[rows * SHORT :])
        return np.add.reduce(a, axis=None)
    return np.add.reduce(a, axis=None, dtype=np.int64)


def dense(out):
    """A result in the order of its dimensions, as PyTorch allocates those of reductions."""
    return out if out.flags.c_contiguous else np.asarray(out, order="C")


def sum_over(a, axes, keepdims: Any = False):
    """The sum over some axes."""
    return dense(_sum_over(a, axes, keepdims))


def _sum_over(a, axes, keepdims: Any):
    kind = a.dtype.kind
    if kind not in "fc":
        return np.add.reduce(a, axis=axes, keepdims=keepdims, dtype=np.int64)
    if a.dtype is HALF:
        return np.add.reduce(a, axis=axes, keepdims=keepdims, dtype=np.float32).astype(HALF)
    if axes is None and not keepdims:
        return total(a)
    if kind == "f" and a.size > ROW:
        if axes == (a.ndim - 1,) and 8 < a.shape[-1] <= SHORT and a.flags.c_contiguous:
            out = a @ ones(a.shape[-1], a.dtype)
            return out[..., None] if keepdims else out
        if axes == (0,) and a.shape[0] > ROW and a.ndim > 1:
            out = down_the_rows(a)
            return out[None] if keepdims else out
    return np.add.reduce(a, axis=axes, keepdims=keepdims)


def down_the_rows(a):
    """The sum over the first axis. Adding row after row into one loses digits; sums of groups of rows keep them."""
    if a[0].size < 16:
        return np.add.reduce(np.ascontiguousarray(np.moveaxis(a, 0, -1)), axis=-1)  # NumPy adds these in pairs
    group = 32
    while a.shape[0] > 2 * group:
        whole = a.shape[0] // group * group
        grouped = np.add.reduce(a[:whole].reshape(-1, group, *a.shape[1:]), axis=1)
        a = grouped if whole == a.shape[0] else np.concatenate([grouped, a[whole:]])
    return np.add.reduce(a, axis=0)


def cast(a, wanted):
    return a if wanted is None or a.dtype is wanted.numpy else a.astype(wanted.numpy)


@op(name="sum_all", node="SumBackward0", method=False, namespace=None)
def sum_all(self: Array, dtype=None):
    return _typed(total(self if dtype is None else cast(self, dtype)), dtype)


@sum_all.derivative(of="self")
def _(xp, grad, self_shape):
    return xp.broadcast_to(grad, self_shape)


@op(name="sum_dim", node="SumBackward1", method=False, namespace=None)
def sum_dim(self: Array, dim, keepdim: bool = False, dtype=None):
    return _typed(sum_over(self if dtype is None else cast(self, dtype), dimensions(dim, self.ndim), keepdim), dtype)


def spread(xp, grad, dim, keepdim, shape):
    """A gradient of a result without some dimensions, ready to be broadcast to the shape with them."""
    axes = dimensions(dim, len(shape))
    if not keepdim and axes is not None and axes != ():
        grad = xp.expand_dims(grad, axes)
    return grad


@sum_dim.derivative(of="self")
def _(xp, grad, dim, keepdim, self_shape):
    return xp.broadcast_to(spread(xp, grad, dim, keepdim, self_shape), self_shape)


def count(shape, dim) -> int:
    """How many elements of an array of this shape go into one result."""
    axes = dimensions(dim, len(shape))
    n = 1
    for size in shape if axes is None else [shape[a] for a in axes]:
        n *= size
    return n


@op(name="mean_all", node="MeanBackward0", method=False, namespace=None)
def mean_all(self: Array, dtype=None):
    a = self if dtype is None else cast(self, dtype)
    if a.dtype is HALF:
        return (np.add.reduce(a, axis=None, dtype=np.float32) / np.float32(a.size)).astype(HALF)
    if not a.size:
        return np.full((), complex(np.nan, np.nan) if a.dtype.kind == "c" else np.nan, a.dtype)
    return total(a) / a.size


@mean_all.derivative(of="self")
def _(xp, grad, self_shape):
    n = 1
    for size in self_shape:
        n *= size
    return xp.filled(grad / n if n else grad, self_shape)


sum_whole, mean_whole = make_whole(sum_all, total), make_whole(mean_all, mean_all.kernel)
for _operation in (sum_all, mean_all):
    _operation.node_type.vjp = make_whole_vjp(_operation)


@op(name="mean_dim", node="MeanBackward1", method=False, namespace=None)
def mean_dim(self: Array, dim, keepdim: Any = False, dtype=None):
    a = self if dtype is None else cast(self, dtype)
    axes = dimensions(dim, a.ndim)
    n = count(a.shape, dim)
    if a.dtype is HALF:
        sums = np.add.reduce(a, axis=axes, keepdims=keepdim, dtype=np.float32)
        return (sums / np.float32(n)).astype(HALF)
    sums = np.asarray(sum_over(a, axes, keepdim))
    return np.divide(sums, n, out=sums) if sums.flags.writeable else sums / n


@mean_dim.derivative(of="self")
def _(xp, grad, dim, keepdim, self_shape):
    n = count(self_shape, dim)
    grad = spread(xp, grad, dim, keepdim, self_shape)
    return xp.filled(grad / n if n else grad, self_shape)


# --- products ---


def product(a, axes, keepdims=False):
    return dense(_product(a, axes, keepdims))


def _product(a, axes, keepdims: Any):
    kind = a.dtype.kind
    if kind not in "fc":
        return np.multiply.reduce(a, axis=axes, keepdims=keepdims, dtype=np.int64)
    if a.dtype is HALF:
        return np.multiply.reduce(a, axis=axes, keepdims=keepdims, dtype=np.float32).astype(HALF)
    return np.multiply.reduce(a, axis=axes, keepdims=keepdims)


def _typed(out, dtype):
    """A result in the dtype that was asked for, which for integers and bools is not the one computed in."""
    return out if dtype is None else np.asarray(out).astype(dtype.numpy, copy=False)


@op(name="prod_all", node="ProdBackward0", method=False, namespace=None)
def prod_all(self: Array, dtype=None):
    return _typed(product(self if dtype is None else cast(self, dtype), None), dtype)


def _others(xp, x, axis):
    """For each element the product of all others along an axis: of those before it times those after it."""
    ones = xp.ones_like(xp.narrow(x, axis, 0, 1))
    n = x.shape[axis]
    before = xp.concatenate([ones, xp.cumprod(xp.narrow(x, axis, 0, n - 1), axis)], axis)
    back = xp.flip(x, axis)
    after = xp.flip(xp.concatenate([ones, xp.cumprod(xp.narrow(back, axis, 0, n - 1), axis)], axis), axis)
    return before * after


@prod_all.derivative(of="self")
def _(xp, grad, self, result):
    if not xp.any_zero(self):
        return grad * xp.conj(result / self)
    flat = xp.reshape(self, (-1,))
    return grad * xp.reshape(xp.conj(_others(xp, flat, 0)), self.shape)


@op(name="prod_dim", node="ProdBackward1", method=False, namespace=None)
def prod_dim(self: Array, dim: int, keepdim: bool = False, dtype=None):
    return _typed(product(self if dtype is None else cast(self, dtype), dimensions(dim, self.ndim), keepdim), dtype)


@prod_dim.derivative(of="self")
def _(xp, grad, self, result, dim, keepdim):
    shape = self.shape
    grad, result = spread(xp, grad, dim, keepdim, shape), spread(xp, result, dim, keepdim, shape)
    if not shape:
        return grad
    if not xp.any_zero(self):
        return grad * xp.conj(result / self)
    return grad * xp.conj(_others(xp, self, dim % len(shape)))


# --- any and all ---


def _truth(name: str, ufunc, doc: str):
    def kernel(self: Array, dim=None, keepdim: Any = False):
        axes = () if dim in ((), []) else dimensions(dim, self.ndim)
        out = dense(ufunc.reduce(self if self.dtype.kind == "b" else self != 0, axis=axes, keepdims=keepdim))
        return out.astype(np.uint8) if self.dtype == np.uint8 else out

    kernel.__doc__ = doc
    operation = op(kernel, name=name, method=False, namespace=None)

    def function(input, dim=MISSING, keepdim=False, *, axis=MISSING, out=None):
        expect_tensor(name, input)
        dim = axis if dim is MISSING and axis is not MISSING else dim
        if dim is not MISSING and not is_dims(dim):
            raise combination_error(name, (dim,), {})
        expect_bool(name, keepdim)
        result = operation.single(input, None if dim is MISSING else dim, keepdim)
        return (
            result if out is None else into(name, out, (input,), result.to(out.dtype if out.dtype is uint8 else bool_))
        )

    return _published(name, function, operation, doc)


def _published(name: str, function, operation, doc: str):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    operation.function = function
    operation.name = name
    publish("torch", name, function)
    put_method(name, function)
    return function


any_ = _truth(
    "any", np.logical_or, "Whether any element is not zero: of all, or along dimensions (an empty tuple: along none)."
)
all_ = _truth("all", np.logical_and, "Whether no element is zero: of all, or along dimensions.")

# --- the functions ---


def reduction_function(name: str, whole, part, doc: str, *, several_dims: bool = True, check=None, fast=None):
    """The public function `name(input, dim=…, keepdim=False, *, dtype=None, out=None)` over two operations: of all elements,
    and of some dimensions (`several_dims`: a tuple of them too; None and () then mean all). `fast` is the caller of the
    first with nothing but a floating or complex tensor."""
    whole_call = whole.single
    fast = fast or (lambda input: whole_call(input, None))

    def function(input, dim=MISSING, keepdim=False, *, dtype=None, out=None, axis=MISSING, **wrong):
        if dim is MISSING and axis is MISSING and dtype is None and out is None and not wrong and keepdim is False:
            if input.__class__ is Tensor and input._spec.inexact:
                return fast(input)
        if wrong:
            _refuse_keywords(name, dim, wrong)
        expect_tensor(name, input)
        if axis is not MISSING:
            dim = axis
        if dim is not MISSING and not (is_dims(dim) if several_dims else is_dim(dim)):
            raise combination_error(name, (dim,), {})
        expect_bool(name, keepdim)
        if check is not None:
            check(input, dtype)
        if dtype is not None and not dtype.category >= FLOATING and input.requires_grad:
            raise RuntimeError(f"Autograd not support dtype: {dtype.scalar_name}")
        if out is not None:
            dtype = _dtype_for(name, out, dtype)
        result = whole_call(input, dtype) if dim is MISSING else part.single(input, dim, keepdim, dtype)
        if out is not None and name == "mean" and dim is not MISSING:
            check_out("mean along dimensions", out, result._spec.dtype, CAST)
        return result if out is None else into(name, out, (input,), result)

    for operation in (whole, part):
        operation.name = name
    _published(name, function, whole, doc)
    part.function = function
    return function


def _dtype_for(name: str, out, dtype):
    """The dtype to reduce in where the result goes into `out`: sums and products are computed in that of `out`."""
    if dtype is not None:
        check_out("with dtype=", out, dtype)
    elif name != "mean" and isinstance(out, Tensor):
        return out._spec.dtype
    return dtype


def _refuse_keywords(name: str, dim, wrong: dict):
    if dim is MISSING:
        raise combination_error(name, (), wrong)
    raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(wrong))}'")


def _check_mean(input, wanted) -> None:
    found, which = (input._spec.dtype, "Input") if wanted is None else (wanted, "Optional")
    if found.category < FLOATING:
        raise RuntimeError(
            f"mean(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. Got: "
            f"{found.scalar_name}"
        )


sum = reduction_function(
    "sum", sum_all, sum_dim, "The sum of all elements, or along dimensions; integers and bools are summed as int64.",
    fast=sum_whole,
)  # fmt: skip
mean = reduction_function("mean", mean_all, mean_dim, "The mean of all elements, or along dimensions.", check=_check_mean,
                          fast=mean_whole)  # fmt: skip
prod = reduction_function(
    "prod", prod_all, prod_dim, "The product of all elements, or along one dimension; of integers in int64.",
    several_dims=False,
)  # fmt: skip

# --- skipping NaN ---


@op(name="nansum", node="NansumBackward0", method=False, namespace=None)
def nansum_op(self: Array, dim=None, keepdim: bool = False, dtype=None):
    a = self if dtype is None else cast(self, dtype)
    axes = dimensions(dim, a.ndim)
    if a.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if a.dtype.kind == "f":
        a = np.where(np.isnan(a), np.zeros((), a.dtype), a)
    return sum_over(a, axes, keepdim)


@nansum_op.derivative(of="self")
def _(xp, grad, self, dim, keepdim):
    grad = xp.broadcast_to(spread(xp, grad, dim, keepdim, self.shape), self.shape)
    return xp.select(xp.logical_not(xp.isnan(self)), grad)


def nansum(input, dim=None, keepdim=False, *, dtype=None, axis=None, out=None):
    expect_tensor("nansum", input)
    dim = axis if dim is None else dim
    expect_dims("nansum", dim)
    expect_bool("nansum", keepdim)
    if dtype is not None and dtype.category < FLOATING and input.requires_grad:
        raise RuntimeError(f"Autograd not support dtype: {dtype.scalar_name}")
    result = nansum_op.single(input, dim, keepdim, dtype)
    if out is not None and dtype is not None:
        check_out("with dtype=", out, dtype)
    return result if out is None else into("nansum", out, (input,), result)


_published("nansum", nansum, nansum_op, "The sum of what is not NaN: of all elements, or along dimensions.")


def expect_dims(name: str, dim, position: int = 1, none: bool = True) -> None:
    """TypeError unless `dim` is an integer or a sequence of them (or None)."""
    if not is_dims(dim) or dim is None and not none:
        raise TypeError(
            f"{name}(): argument 'dim' (position {position}) must be tuple of ints, not {argument_type_name(dim)}"
        )


def nanmean(input, dim=None, keepdim=False, *, dtype=None, axis=None, out=None):
    """The mean of what is not NaN: of all elements, or along dimensions."""
    expect_tensor("nanmean", input)
    if not input._spec.inexact:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {input._spec.dtype.scalar_name}"
        )
    dim = axis if dim is None else dim
    expect_dims("nanmean", dim)
    expect_bool("nanmean", keepdim)
    if dtype is not None:
        _check_nanmean(dtype)
    found = input.isnan().logical_not_()
    result = nansum(input, dim, keepdim, dtype=dtype).div(sum(found, dim, keepdim))
    return result if out is None else into("nanmean", out, (input,), result)


def _check_nanmean(wanted) -> None:
    if wanted.category < FLOATING:
        raise RuntimeError(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: "
            f"{wanted.scalar_name}"
        )


publish("torch", "nanmean", nanmean)
put_method("nanmean", nanmean)

# --- counting ---


@op(name="count_nonzero", method=False, namespace=None)
def count_nonzero_op(self: Array, dim=None):
    return np.add.reduce(self if self.dtype.kind == "b" else self != 0, axis=dimensions(dim, self.ndim), dtype=np.int64)


def count_nonzero(input, dim=None, *more, axis=None, **wrong):
    """How many elements are not zero: of all, or along dimensions."""
    if wrong:
        named = wrong if dim is None else {**wrong, "dim": dim}
        raise combination_error("count_nonzero", (), named)
    expect_tensor("count_nonzero", input)
    dim = axis if dim is None else dim
    if not is_dims(dim):
        raise combination_error("count_nonzero", (dim,), {})
    return count_nonzero_op.single(input, (dim, *map(int, more)) if more else dim)


_published("count_nonzero", count_nonzero, count_nonzero_op, count_nonzero.__doc__ or "")
