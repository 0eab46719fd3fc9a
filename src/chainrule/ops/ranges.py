"""arange, range, linspace and logspace, with the roundings of PyTorch's kernels.

A range of floating-point numbers is not one formula but the order of operations of a vectorised loop: the elements are
worked out in blocks, each from its own first element. The comments say what was found by comparing bits.
https://docs.pytorch.org/docs/stable/generated/torch.arange.html
"""

import math
import operator
import warnings

import numpy as np

from ..core import dtype as dtypes
from ..core.dtype import COMPLEX, FLOATING, argument_type_name, as_dtype, bool_, get_default_dtype
from ..core.scalars import number_array, python_number
from ..core.tensor import Tensor
from .creation import _MISSING, allocate, check_options, factory, fill_number, finish, missing, put

_LIMITED = (dtypes.uint16, dtypes.uint32, dtypes.uint64)


def _fma(a: np.ndarray, b, c) -> np.ndarray:
    """a * b + c rounded once, for arrays of float32 or float64 and numbers of the same dtype."""
    from ..random.fused import fma32, fma64  # loaded with the first range of floating-point numbers

    return fma32(a, b, c) if a.dtype.itemsize == 4 else fma64(a, float(b), float(c))


# --- arange and range ------------------------------------------------------------------------------------------------


def _endpoint(name: str, argument: str, value, position: int):
    return fill_number(name, value, argument, position)


def _signature_error(name: str, args: tuple) -> TypeError:
    options = (
        "torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, "
        "bool "
        "requires_grad = False)"
    )
    got = ", ".join(argument_type_name(a) for a in args)
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        f" * (Number end, *, Tensor out = None, {options}\n"
        f" * (Number start, Number end, *, {options}\n"
        f" * (Number start, Number end, Number step = 1, *, Tensor out = None, {options}\n"
    )


@factory
def arange(*args, start=_MISSING, end=_MISSING, step=_MISSING, out=None, dtype=None, layout=None, device=None,
           pin_memory=False, requires_grad=False):  # fmt: skip
    """Numbers from `start` (0) in steps of `step` (1) below `end`; int64 if all three are integers."""
    given = list(args)
    if len(given) > 3:
        raise _signature_error("arange", args)
    if len(given) == 1 and end is _MISSING and step is _MISSING:
        end = given.pop()
        first = _endpoint("arange", "end", end, 1)
        start, end, step = 0, first, 1
    else:
        values = dict(start=start, end=end, step=step)
        for name, value in zip(("start", "end", "step"), given):
            values[name] = value
        if values["end"] is _MISSING:
            raise _signature_error("arange", args)
        start = 0 if values["start"] is _MISSING else _endpoint("arange", "start", values["start"], 1)
        end = _endpoint("arange", "end", values["end"], 2)
        step = 1 if values["step"] is _MISSING else _endpoint("arange", "step", values["step"], 3)
    if dtype is not None:
        dtype = as_dtype(dtype, "arange")
    check_options("arange", layout, device, pin_memory, requires_grad)
    if out is not None:
        return put("arange", out, dtype, lambda d: _resized(out, steps_of("arange", start, end, step, d)))
    if dtype is None:
        whole = all(isinstance(v, int) for v in (start, end, step))
        dtype = dtypes.int64 if whole else get_default_dtype()
    return finish(steps_of("arange", start, end, step, dtype), requires_grad)


def _resized(out: Tensor, array: np.ndarray) -> np.ndarray:
    """The array, after PyTorch's warning where `out` has another number of elements and is resized."""
    if out._spec.numel not in (0, array.size):
        warnings.warn(
            f"The number of elements in the out tensor of shape {list(out._spec.shape)} is {out._spec.numel} which "
            "does not "
            f"match the computed number of elements {array.size}. Note that this may occur as a result of rounding "
            "error. "
            f"The out tensor will be resized to a tensor of shape ({array.size},).",
            UserWarning,
            stacklevel=5,
        )
    elif out._spec.numel == array.size and out._spec.ndim != 1:
        return array.reshape(out._spec.shape)
    return array


@factory
def range(start=_MISSING, end=_MISSING, step=1, *, out=None, dtype=None, layout=None, device=None, pin_memory=False,
          requires_grad=False):  # fmt: skip
    """Numbers from `start` in steps of `step` up to and with `end`, of the default dtype; deprecated in PyTorch."""
    if start is _MISSING:
        raise missing("range", "start", "end")
    if end is _MISSING:
        _endpoint("range", "start", start, 1)
        raise missing("range", "end")
    start, end, step = (
        _endpoint("range", n, v, i + 1) for i, (n, v) in enumerate((("start", start), ("end", end), ("step", step)))
    )
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    if dtype is not None:
        dtype = as_dtype(dtype, "range")
    check_options("range", layout, device, pin_memory, requires_grad)
    if out is not None:
        return put("range", out, dtype, lambda d: steps_of("range", start, end, step, d))
    d = get_default_dtype() if dtype is None else dtype
    return finish(steps_of("range", start, end, step, d), requires_grad)


def steps_of(name: str, start, end, step, d) -> np.ndarray:
    """The elements of arange or range in the dtype."""
    if d is bool_ or d.category == COMPLEX or d in _LIMITED:
        if not any(isinstance(v, complex) for v in (start, end, step)):
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{d.scalar_name}'")
    for v in (start, end, step):
        if isinstance(v, complex) and v.imag:
            raise RuntimeError("value cannot be converted to type double without overflow")
    # arange checks the steps of int64 as integers, those of narrower ones before they are cut off.
    whole = d is dtypes.int64 if name == "arange" else d.category < FLOATING
    accumulate = dtypes.int64 if whole else dtypes.float64
    if not all(map(math.isfinite, (start, end))):
        raise RuntimeError(f"unsupported range: {_shown(start)} -> {_shown(end)}")
    a, b, s = (number_array(v, accumulate).item() for v in (start, end, step))
    if not s or s != s:
        raise RuntimeError("step must be nonzero")
    if (b < a) if s > 0 else (b > a):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if name == "range":
        count = int((b - a) / s + 1)
    elif d is dtypes.int64:
        count = -((a - b) // s) if s > 0 else -((b - a) // -s)
    else:
        count = math.ceil((end - start) / step)
    if count * d.itemsize >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes=[{count}]")
    if d.category < FLOATING:
        return _integer_steps(int(a), int(s), count, d)
    return _float_steps(a, s, count, d, name == "arange")


def _shown(value) -> str:
    return format(float(value), "g")


def _integer_steps(start: int, step: int, count: int, d) -> np.ndarray:
    steps = allocate(lambda shape, t: np.arange(shape[0], dtype=t), (count,), np.dtype(np.int64))
    if step != 1:
        steps *= step
    if start:
        steps += start
    return steps if d is dtypes.int64 else steps.astype(d.numpy)


# Elements that PyTorch's vector registers hold; two registers a round, and the rest one by one.
_LANES = {2: 16, 4: 8, 8: 4}


def _float_steps(start: float, step: float, count: int, d, blocks: bool) -> np.ndarray:
    """start + i * step: rounded to the dtype once in `range`; in `arange` first for each block, then for each "
    "element."""
    target = d.numpy
    accumulate = np.float32 if d.itemsize == 2 else np.float64
    index = allocate(lambda shape, t: np.arange(shape[0], dtype=t), (count,), np.dtype(accumulate))
    start, step = accumulate(start), accumulate(step)
    if not blocks or not count:
        return (start + index * step).astype(target)
    lanes = _LANES[d.itemsize]
    whole = count // (2 * lanes) * (2 * lanes)
    fused = d is dtypes.float64
    out = np.empty(count, target)
    if whole:
        lane = np.arange(lanes, dtype=accumulate)
        first = _fma(index[:whole:lanes], step, start) if fused else start + index[:whole:lanes] * step
        first = first.astype(target).astype(accumulate).reshape(-1, 1)
        rows = out[:whole].reshape(-1, lanes)
        if fused:
            for k in (0, 1, 2, 3):
                rows[:, k] = _add_multiple(first[:, 0], k, step)
        else:
            rows[...] = first + lane * step
    rest = index[whole:]
    out[whole:] = _fma(rest, step, start) if fused and rest.size else start + rest * step
    return out


def _add_multiple(first: np.ndarray, k: int, step: float) -> np.ndarray:
    """first + k * step rounded once; k * step itself is exact except for 3 * step, whose error is made up for."""
    product = k * step
    error = 0.0
    if k == 3:
        double = 2 * step
        back = product - double
        error = (double - (product - back)) + (step - back)
    total = first + product
    if not error:
        return total
    part = total - first
    lost = (first - (total - part)) + (product - part)
    return total + (lost + error)


# --- linspace and logspace -------------------------------------------------------------------------------------------


def _bounds(name: str, start, end, steps, dtype, out):
    """Checked start, end and number of steps, and the dtype."""
    numbers = []
    for argument, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor):
            if value._spec.ndim:
                raise RuntimeError(
                    f"{name} only supports 0-dimensional start and end tensors, but got {argument} with "
                    f"{value._spec.ndim} dimension(s)."
                )
            value = value._array.item()
        number = python_number(value)
        if number is None:
            raise _bounds_error(name, start, end, steps)
        numbers.append(number)
    if isinstance(steps, Tensor) and not steps._spec.ndim and not steps._spec.inexact:
        steps = steps._array.item()
    if isinstance(steps, bool) or not hasattr(steps, "__index__"):
        raise _bounds_error(name, start, end, steps)
    steps = operator.index(steps)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if out is not None and isinstance(out, Tensor):
        found = out._spec.dtype
    else:
        found = dtype
    if any(isinstance(n, complex) for n in numbers):
        inferred = dtypes.default_complex()
        if found is None:
            found = inferred
        elif found.category < COMPLEX:
            raise RuntimeError(
                f"torch.{name}(): inferred dtype {inferred.cpp_name} can't be safely cast to passed dtype "
                f"{found.scalar_name}"
            )
    return *numbers, steps, get_default_dtype() if found is None else found


def _bounds_error(name: str, start, end, steps) -> TypeError:
    got = ", ".join(argument_type_name(v) for v in (start, end, steps) if v is not _MISSING)
    rest = (
        "int steps, "
        + ("float base = 10.0, " if name == "logspace" else "")
        + (
            "*, Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, torch.device device = "
            "None, bool "
            "pin_memory = False, bool requires_grad = False)"
        )
    )
    kinds = (("Tensor", "Tensor"), ("Number", "Tensor"), ("Tensor", "Number"), ("Number", "Number"))
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        + "".join(f" * ({a} start, {b} end, {rest}\n" for a, b in kinds)
    )


@factory
def linspace(start=_MISSING, end=_MISSING, steps=_MISSING, *, out=None, dtype=None, layout=None, device=None,
             pin_memory=False, requires_grad=False):  # fmt: skip
    """`steps` numbers from `start` to `end`, both included, at equal distances."""
    if dtype is not None:
        dtype = as_dtype(dtype, "linspace")
    start, end, steps, d = _bounds("linspace", start, end, steps, dtype, out)
    check_options("linspace", layout, device, pin_memory, requires_grad)
    if out is not None:
        return put("linspace", out, dtype, lambda d: _linspace(start, end, steps, d))
    return finish(_linspace(start, end, steps, d), requires_grad)


def _linspace(start, end, steps: int, d) -> np.ndarray:
    """From the start in the first half and from the end in the second, with fused steps of the dtype."""
    if d is bool_ or d in _LIMITED:
        raise NotImplementedError(f"\"linspace_cpu\" not implemented for '{d.scalar_name}'")
    start, end = number_array(start, d)[()], number_array(end, d)[()]
    index = allocate(lambda shape, t: np.arange(shape[0], dtype=t), (steps,), np.dtype(np.int64))
    if steps < 2:
        return np.full(steps, start, d.numpy)
    half = steps // 2
    up, down = index[:half], (steps - 1 - index)[half:]
    with np.errstate(all="ignore"):
        if d.category < FLOATING:
            step = (float(end) - float(start)) / (steps - 1)
            out = np.concatenate((float(start) + step * up, float(end) - step * down))
            return out.astype(np.int64).astype(d.numpy)
        step = (end - start) / d.numpy.type(steps - 1)
        if d.itemsize == 2 or d.category == COMPLEX:
            return np.concatenate((start + step * up.astype(d.numpy), end - step * down.astype(d.numpy)))
        return np.concatenate((_fma(up.astype(d.numpy), step, start), _fma(down.astype(d.numpy), -step, end)))


@factory
def logspace(start=_MISSING, end=_MISSING, steps=_MISSING, base=10.0, *, out=None, dtype=None, layout=None, device=None,
             pin_memory=False, requires_grad=False):  # fmt: skip
    """`steps` powers of `base` whose exponents run from `start` to `end` at equal distances."""
    if dtype is not None:
        dtype = as_dtype(dtype, "logspace")
    start, end, steps, d = _bounds("logspace", start, end, steps, dtype, out)
    check_options("logspace", layout, device, pin_memory, requires_grad)
    if out is not None:
        return put("logspace", out, dtype, lambda d: _logspace(start, end, steps, base, d))
    return finish(_logspace(start, end, steps, base, d), requires_grad)


def _logspace(start, end, steps: int, base, d) -> np.ndarray:
    """Exponents in float64 from bounds of the dtype, each power by the C library, as PyTorch's kernel does."""
    if d is bool_ or d in _LIMITED:
        raise NotImplementedError(f"\"logspace_cpu\" not implemented for '{d.scalar_name}'")
    start, end = number_array(start, d)[()], number_array(end, d)[()]
    if d.category == COMPLEX:
        exponents = _linspace(start.item(), end.item(), steps, d)
        return np.power(d.numpy.type(base), exponents)
    index = np.arange(steps)
    difference = int(end) - int(start) if d.category < FLOATING else end - start
    step = float(difference) / (steps - 1) if steps > 1 else 0.0
    half = max(steps // 2, steps == 1)
    exponents = np.concatenate((float(start) + step * index[:half], float(end) - step * (steps - 1 - index)[half:]))
    powers = np.array([_power(float(base), x) for x in exponents.tolist()])
    if d.category < FLOATING:
        return powers.astype(np.int64).astype(d.numpy)
    if d.itemsize == 2:
        powers = powers.astype(np.float32)
    with np.errstate(over="ignore"):
        return powers.astype(d.numpy)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf
    except ValueError:  # a negative base, or 0 to a negative power
        with np.errstate(all="ignore"):
            return float(np.power(base, exponent))
