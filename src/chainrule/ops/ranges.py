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

_INT64 = np.dtype(np.int64)
_LIMITED = (dtypes.uint16, dtypes.uint32, dtypes.uint64)


def _fma(a: np.ndarray, b, c) -> np.ndarray:
    """a * b + c rounded once, for a float64 array and two numbers."""
    from ..random.fused import fma64  # loaded with the first range of float64

    return fma64(a, float(b), float(c))


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
    if len(args) == 1 and args[0].__class__ is int and dtype is None and out is None and 0 <= args[0] < 1 << 31:
        if end is step is start is _MISSING:
            check_options("arange", layout, device, pin_memory, requires_grad)
            return finish(np.arange(args[0], dtype=_INT64), requires_grad)
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
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{d.scalar_name}'")
    if any(isinstance(v, complex) for v in (start, end, step)):
        if any(complex(v).imag for v in (start, end, step)):
            kind = "int64_t" if name == "range" and d.category < FLOATING else "double"
            raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
        start, end, step = (complex(v).real for v in (start, end, step))
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {_shown(start)} -> {_shown(end)}")
    # arange checks the steps of int64 as integers, those of narrower ones before they are cut off.
    if d is dtypes.int64 if name == "arange" else d.category < FLOATING:
        a, b, s = (number_array(v, dtypes.int64).item() for v in (start, end, step))
    else:
        a, b, s = float(start), float(end), float(step)
    if not step or step != step or not s and name == "range":
        raise RuntimeError("step must be nonzero")
    if (b < a) if step > 0 else (b > a):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if not s:  # cut off to an integer
        raise ValueError("step must be nonzero")
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


def _counted(shape: tuple, numpy_dtype) -> np.ndarray:
    return np.arange(shape[0], dtype=numpy_dtype)


def _shown(value) -> str:
    return format(float(value), "g")


def _integer_steps(start: int, step: int, count: int, d) -> np.ndarray:
    steps = allocate(_counted, (count,), np.int64)
    if step != 1:
        steps *= step
    if start:
        steps += start
    return steps if d is dtypes.int64 else steps.astype(d.numpy)


# Elements that PyTorch's vector registers hold; two registers a round, and the rest one by one.
_LANES = {2: 16, 4: 8, 8: 4}


def _float_steps(start: float, step: float, count: int, d, blocks: bool) -> np.ndarray:
    """start + i * step: in `range` rounded to the dtype once; in `arange` for each block, then for each element."""
    target = d.numpy
    index = allocate(_counted, (count,), np.float64)
    if d.itemsize == 2:
        start, step = float(np.float32(start)), float(np.float32(step))
    lanes = _LANES[d.itemsize]
    whole = count // (2 * lanes) * (2 * lanes) if blocks else 0
    out = np.empty(count, target)
    if d is dtypes.float64 and blocks:
        if whole:
            first = _fma(index[:whole:lanes], step, start)
            for lane in (0, 1, 2, 3):
                out[lane:whole:lanes] = _add_multiple(first, lane, step)
        if whole < count:
            out[whole:] = _fma(index[whole:], step, start)
        return out
    if d.itemsize == 2 and not blocks:
        index = index.astype(np.float32)  # here nothing is fused
    # Products of float32 numbers are exact in float64, so these are roundings of fused multiply-adds.
    index *= step
    index += start
    if whole:
        first = _rounded(index[:whole:lanes], d).astype(np.float64).reshape(-1, 1)
        index[:whole].reshape(-1, lanes)[...] = first + np.arange(lanes) * step
    return _rounded(index, d)


def _rounded(values: np.ndarray, d) -> np.ndarray:
    """float64 values in the dtype, half precision by way of float32."""
    if d.itemsize == 2:
        values = values.astype(np.float32)
    return values.astype(d.numpy, copy=False)


def _add_multiple(first: np.ndarray, k: int, step: float) -> np.ndarray:
    """first + k * step rounded once; k * step itself is exact for k = 1 and 2."""
    if k < 3:
        return first + k * step
    from ..random.fused import complex_multiply

    pair = np.empty(first.shape, np.complex128)
    pair.real = step
    pair.imag = -first
    complex_multiply(np.float64)(pair, np.array(complex(k, 1)), pair)
    return pair.real


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
    if (d is bool_ or d in _LIMITED) and steps > 1:
        raise NotImplementedError(f"\"linspace_cpu\" not implemented for '{d.scalar_name}'")
    start, end = number_array(start, d)[()], number_array(end, d)[()]
    if steps < 2:
        return np.full(steps, start, d.numpy)
    try:
        return _between(start, end, steps, d)
    except RuntimeWarning:  # where NumPy's warnings are errors
        with np.errstate(all="ignore"):
            return _between(start, end, steps, d)


def _between(start, end, steps: int, d) -> np.ndarray:
    half = steps // 2
    index = allocate(_counted, (steps,), np.float64)
    last = steps - 1
    if d.category == COMPLEX:
        out = np.empty(steps, d.numpy)
        part = dtypes.float32 if d is dtypes.complex64 else dtypes.float64
        out.real = _between(start.real, end.real, steps, part)
        out.imag = _between(start.imag, end.imag, steps, part)
        return out
    if d is dtypes.float32:
        step = float(np.float32(np.float32(end - start) / np.float32(last)))
        # The product of two float32 numbers is exact in float64: one rounding, as of a fused multiply-add.
        out = index * step
        out[:half] += float(start)
        np.multiply(last - index[half:], -step, out[half:])
        out[half:] += float(end)
        return out.astype(np.float32)
    if d.itemsize == 2 and d.category == FLOATING:
        step = (end - start) / d.numpy.type(last)
        up, down = index[:half].astype(d.numpy), (last - index[half:]).astype(d.numpy)
        return np.concatenate((start + step * up, end - step * down))
    start, end = float(start), float(end)
    step = (end - start) / last
    out = np.concatenate((_fma(index[:half], step, start), _fma(last - index[half:], -step, end)))
    return out if d is dtypes.float64 else out.astype(np.int64).astype(d.numpy)


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
    if steps < 2:  # the only case that every dtype has
        return np.full(steps, number_array(_power_of(base, start), d)[()] if steps else 0, d.numpy)
    if d is bool_ or d in _LIMITED:
        raise NotImplementedError(f"\"logspace_cpu\" not implemented for '{d.scalar_name}'")
    start, end = number_array(start, d)[()], number_array(end, d)[()]
    if d.category == COMPLEX:
        exponents = _linspace(start.item(), end.item(), steps, d)
        return np.power(d.numpy.type(base), exponents)
    index = np.arange(steps)
    difference = int(end) - int(start) if d.category < FLOATING else end - start
    step = float(difference) / (steps - 1)
    half = steps // 2
    exponents = np.concatenate((float(start) + step * index[:half], float(end) - step * (steps - 1 - index)[half:]))
    powers = np.array([_power(float(base), x) for x in exponents.tolist()])
    if d.category < FLOATING:
        return powers.astype(np.int64).astype(d.numpy)
    if d.itemsize == 2:
        powers = powers.astype(np.float32)
    with np.errstate(over="ignore"):
        return powers.astype(d.numpy)


def _power_of(base, exponent):
    return base**exponent if isinstance(exponent, complex) else _power(float(base), float(exponent))


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf
    except ValueError:  # a negative base, or 0 to a negative power
        with np.errstate(all="ignore"):
            return float(np.power(base, exponent))
