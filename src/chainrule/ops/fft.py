"""torch.fft: discrete Fourier transforms in one and several dimensions, made of the three of fourier.py."""

import math

import numpy as np

from ..core import dtype as dtypes
from ..core.dtype import FLOATING, get_default_dtype
from ..core.general import can_cast
from ..core.outputs import refuse_out_gradient, write_out
from ..core.registry import FUNCTIONS, publish
from ..core.tensor import wrap_dim
from .creation import check_options, finish
from .fourier import fft_c2c, fft_c2r, fft_r2c
from .padding import constant_pad
from .signature import checked

__all__: list[str] = []

# --- arguments ---

_MODES = {None: 0, "backward": 0, "ortho": 1, "forward": 2}


def _normalization(norm, forward: bool) -> int:
    """What a transform is divided by, as fourier.py numbers it."""
    if norm not in _MODES:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return _MODES[norm] if forward else 2 - _MODES[norm]


def _promoted(input, to_complex: bool = False):
    """The input as a floating or complex tensor; RuntimeError for half precision."""
    dtype = input._spec.dtype
    if dtype.category < FLOATING:
        dtype = get_default_dtype()
    if dtype.itemsize == 2:
        raise RuntimeError(f"Unsupported dtype {dtype.scalar_name}")
    if to_complex and not dtype.is_complex:
        dtype = dtypes.complex64 if dtype.itemsize == 4 else dtypes.complex128
    return input if dtype is input._spec.dtype else input.to(dtype)


def _axis(input, dim) -> int:
    if not input._spec.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(int(dim), input._spec.ndim)


def _check_points(n: int) -> None:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")


def _resized(x, dims, sizes):
    """x cut off or filled up with zeros at the end of dimensions; a size of -1 leaves one as it is."""
    pads = [(0, 0)] * x._spec.ndim
    for d, n in zip(dims, sizes):
        have = x._spec.shape[d]
        if n == -1 or n == have:
            continue
        if n < have:
            x = x.narrow(d, 0, n)
        else:
            pads[d] = (0, n - have)
    return constant_pad.single(x, tuple(pads), 0) if any(map(any, pads)) else x


def _shape_and_dims(input, s, dim):
    """(sizes, dimensions) of a transform in several dimensions; RuntimeError where they do not go together."""
    ndim = input._spec.ndim
    given = None if s is None else (int(s),) if not isinstance(s, (tuple, list)) else tuple(map(int, s))
    if dim is not None:
        dims = tuple(_axis(input, d) for d in (dim if isinstance(dim, (tuple, list)) else (dim,)))
        if len(set(dims)) < len(dims):
            raise RuntimeError("FFT dims must be unique")
        if given is not None and len(given) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    elif given is not None:
        if len(given) > ndim:
            raise RuntimeError(f"Got shape with {len(given)} values but input tensor only has {ndim} dimensions.")
        dims = tuple(range(ndim - len(given), ndim))
    else:
        dims = tuple(range(ndim))
    sizes = [input._spec.shape[d] for d in dims] if given is None else list(given)
    sizes = [input._spec.shape[d] if n == -1 else n for n, d in zip(sizes, dims)]
    return sizes, dims


def _into(name: str, out, input, result, real: bool):
    if out is None:
        return result
    refuse_out_gradient(name, (input,), (out,))
    found = out._spec.dtype
    if real and not found.is_floating_point or not real and not found.is_complex:
        kind = "floating point" if real else "complex"
        raise RuntimeError(f"{name} expects a {kind} output tensor, but got {found.scalar_name}")
    if not can_cast(result._spec.dtype, found):
        raise RuntimeError(f"result type {result._spec.dtype.scalar_name} can't be cast to {found.scalar_name}")
    write_out(out, result._array)
    return out


# --- one dimension ---


def _complex_1d(input, n, dim, norm, forward: bool):
    x = _promoted(input)
    axis = _axis(x, dim)
    size = x._spec.shape[axis] if n is None else int(n)
    _check_points(size)
    mode = _normalization(norm, forward)
    if x._spec.dtype.is_complex:
        return fft_c2c.single(_resized(x, (axis,), (size,)), (axis,), mode, forward)
    x = fft_r2c.single(_resized(x, (axis,), (size,)), (axis,), mode, False)
    return x if forward else x.conj()


def _real_to_half(name: str, input, n, dim, norm, forward: bool):
    if input._spec.dtype.is_complex:
        raise RuntimeError(f"{name} expects a real input tensor, but got {input._spec.dtype.scalar_name}")
    x = _promoted(input)
    axis = _axis(x, dim)
    size = x._spec.shape[axis] if n is None else int(n)
    _check_points(size)
    x = fft_r2c.single(_resized(x, (axis,), (size,)), (axis,), _normalization(norm, forward), True)
    return x if forward else x.conj()


def _half_to_real(input, n, dim, norm, forward: bool):
    x = _promoted(input, to_complex=True)
    axis = _axis(x, dim)
    size = 2 * (x._spec.shape[axis] - 1) if n is None else int(n)
    _check_points(size)
    x = _resized(x, (axis,), (size // 2 + 1,))
    return fft_c2r.single(x.conj() if forward else x, (axis,), _normalization(norm, forward), size)


# --- several dimensions ---


def _complex_nd(input, s, dim, norm, forward: bool):
    sizes, dims = _shape_and_dims(input, s, dim)
    for n in sizes:
        _check_points(n)
    x = _promoted(input, to_complex=True)
    return fft_c2c.single(_resized(x, dims, sizes), dims, _normalization(norm, forward), forward)


def _real_to_half_nd(input, s, dim, norm, forward: bool):
    if forward and input._spec.dtype.is_complex:
        raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {input._spec.dtype.scalar_name}")
    if not forward and input._spec.dtype.is_complex:
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {input._spec.dtype.scalar_name}")
    sizes, dims = _shape_and_dims(input, s, dim)
    if not dims:
        raise RuntimeError(f"{'rfftn' if forward else 'ihfftn'} must transform at least one axis")
    for n in sizes:
        _check_points(n)
    x = _resized(_promoted(input), dims, sizes)
    mode = _normalization(norm, forward)
    if forward:
        return fft_r2c.single(x, dims, mode, True)
    half = fft_r2c.single(x, dims[-1:], mode, True)
    if len(dims) == 1:
        return half.conj()
    return fft_c2c.single(FUNCTIONS["torch"]["conj_physical"](half), dims[:-1], mode, False)


def _half_to_real_nd(input, s, dim, norm, forward: bool):
    sizes, dims = _shape_and_dims(input, s, dim)
    if not dims:
        raise RuntimeError(f"{'hfftn' if forward else 'irfftn'} must transform at least one axis")
    given = s[-1] if isinstance(s, (tuple, list)) else s
    last = sizes[-1] if given not in (None, -1) else 2 * (input._spec.shape[dims[-1]] - 1)
    for n in (*sizes, last):
        _check_points(n)
    x = _resized(_promoted(input, to_complex=True), dims, [*sizes[:-1], last // 2 + 1])
    mode = _normalization(norm, forward)
    if not forward:
        return fft_c2r.single(x, dims, mode, last)
    if len(dims) > 1:
        x = fft_c2c.single(x, dims[:-1], mode, True)
    return fft_c2r.single(x.conj(), dims[-1:], mode, last)


# --- the public functions ---

_OUT = "str? norm=None, *, Tensor out=None"


def _declare(name: str, transform, real: bool, doc: str) -> None:
    """torch.fft.<name> in one dimension, in two and in any number of them."""
    one, several = transform

    def function(input, n=None, dim=-1, norm=None, *, out=None):
        return _into(name, out, input, one(input, n, dim, norm), real)

    def function_2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
        return _into(("fft" if name == "ifft" else name) + "n", out, input, several(input, s, dim, norm), real)

    def function_n(input, s=None, dim=None, norm=None, *, out=None):
        return _into(("fft" if name == "ifft" else name) + "n", out, input, several(input, s, dim, norm), real)

    for suffix, made, sizes in (
        ("", function, "int? n=None, int dim=-1"),
        ("2", function_2, "ints1? s=None, ints1 dim=(-2, -1)"),
        ("n", function_n, "ints1? s=None, ints1? dim=None"),
    ):
        along = {"": "a dimension", "2": "the last two dimensions", "n": "several dimensions"}[suffix]
        made.__doc__ = (
            f"The {doc} along {along}.\n\n"
            "The sizes, where given, cut the input off or fill it up with zeros. norm: backward (the inverse transform is\n"
            "divided by the number of points), ortho, or forward. Raises RuntimeError for half precision."
        )
        made = checked(f"fft_{name}{suffix}", (f"Tensor input, {sizes}, {_OUT}",), made)
        publish("fft", name + suffix, made)


def _both(one, several, forward: bool):
    return (lambda x, n, dim, norm: one(x, n, dim, norm, forward)), (
        lambda x, s, dim, norm: several(x, s, dim, norm, forward)
    )


def _half(name: str, forward: bool):
    return _both(lambda *arguments: _real_to_half(name, *arguments), _real_to_half_nd, forward)


_declare("fft", _both(_complex_1d, _complex_nd, True), False, "Fourier transform")
_declare("ifft", _both(_complex_1d, _complex_nd, False), False, "inverse Fourier transform")
_declare("rfft", _half("rfft", True), False, "Fourier transform of real input, its half without the redundant one,")
_declare("ihfft", _half("ihfft", False), False, "inverse of hfft")
_declare("irfft", _both(_half_to_real, _half_to_real_nd, False), True, "inverse of rfft")
_declare("hfft", _both(_half_to_real, _half_to_real_nd, True), True, "Fourier transform of half a Hermitian signal")

# --- frequencies and shifts ---


def _frequencies(name: str, count, start):
    """torch.fft.fftfreq or rfftfreq: numbers of cycles per unit of the sample spacing d."""

    def function(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
        check_options(name, layout, device, False, requires_grad)
        wanted = get_default_dtype() if dtype is None else dtype
        if wanted.category < FLOATING:
            raise RuntimeError(f"{name} requires a floating point or complex dtype")
        if wanted.is_complex:
            raise NotImplementedError(f"\"arange_cpu\" not implemented for '{wanted.scalar_name}'")
        if count(n) < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
        numbers = np.arange(count(n)).astype(wanted.numpy)
        numbers[start(n) :] -= n
        result = numbers * wanted.numpy.type(1.0 / (n * d) if n * d else math.inf)
        if out is None:
            return finish(result, requires_grad)
        write_out(out, result.astype(out._spec.array_dtype))
        return out

    function.__doc__ = f"The frequencies of the {'half of the ' if name == 'rfftfreq' else ''}spectrum of n samples."
    options = "dtype? dtype=None, any layout=None, any device=None, bool requires_grad=False"
    publish("fft", name, checked(f"fft_{name}", (f"int n, float d=1.0, *, Tensor out=None, {options}",), function))


_frequencies("fftfreq", lambda n: n, lambda n: (n + 1) // 2)
_frequencies("rfftfreq", lambda n: n // 2 + 1, lambda n: n)


def _shift(name: str, by, doc: str) -> None:
    def function(input, dim=None):
        dims = tuple(range(input._spec.ndim)) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
        axes = tuple(_axis(input, d) for d in dims)
        return FUNCTIONS["torch"]["roll"](input, tuple(by(input._spec.shape[a]) for a in axes), axes)

    function.__doc__ = doc
    publish("fft", name, checked(f"fft_{name}", ("Tensor input, ints1? dim=None",), function))


_shift("fftshift", lambda n: n // 2, "A spectrum with the frequency 0 moved from the front to the middle.")
_shift("ifftshift", lambda n: (n + 1) // 2, "The inverse of fftshift.")
