"""Short-time Fourier transforms: stft and istft, made of windows, transforms and overlapping sums."""

import warnings

import numpy as np

from ..core.declare import put_method
from ..core.registry import FUNCTIONS, publish
from ..core.tensor import wrap
from .fourier import fft_c2c, fft_c2r, fft_r2c
from .padding import constant_pad
from .slicing import unfold_place

__all__ = ["stft", "istft"]

# --- arguments ---


def _flag(value) -> str:
    return "None" if value is None else str(int(value))


def _described(window) -> str:
    if window is None:
        return "None"
    return f"torch.{window._spec.dtype.scalar_name}Tensor{{{list(window._spec.shape)}}}"


def _padded_window(window, win_length: int, n_fft: int, like):
    """The window in the middle of n_fft points, zeros beside it; None where all its points are 1."""
    left = (n_fft - win_length) // 2
    if window is None:
        if win_length == n_fft:
            return None
        values = np.zeros(n_fft, like._spec.array_dtype)
        values[left : left + win_length] = 1
        return wrap(values)
    if win_length == n_fft:
        return window
    return constant_pad.single(window, ((left, n_fft - win_length - left),), 0)


def _is_complex(t) -> bool:
    return t is not None and t._spec.dtype.is_complex


# --- stft ---


def _centred(input, pad: int, pad_mode: str):
    """The signal with `pad` points before and behind it."""
    shape = input._spec.shape
    extended = input.view((1,) * (3 - len(shape)) + shape)
    padded = FUNCTIONS["nn.functional"]["pad"](extended, [pad, pad], pad_mode)
    return padded.view(padded._spec.shape[-len(shape) :] if shape else padded._spec.shape)


def _check_stft(input, n_fft, hop_length, win_length, window, who: str) -> None:
    spec = input._spec
    if not spec.inexact:
        raise RuntimeError(f"{who}expected a tensor of floating point or complex values")
    if spec.ndim not in (1, 2):
        raise RuntimeError(f"{who}expected a 1D or 2D tensor")
    length = spec.shape[-1]
    if not 0 < n_fft <= length:
        raise RuntimeError(f"{who}expected 0 < n_fft < {length}, but got n_fft={win_length}")
    if hop_length <= 0:
        raise RuntimeError(f"{who}expected hop_length > 0, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{who}expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is not None and window._spec.shape != (win_length,):
        raise RuntimeError(
            f"{who}expected a 1D window tensor of size equal to win_length={win_length}, but got window with size "
            f"{list(window._spec.shape)}"
        )


def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """The Fourier transforms of windows of a signal, hop_length apart: frequencies in the last dimension but one, windows
    in the last. input has one dimension, or a batch and one.

    Raises RuntimeError where lengths do not fit, and where return_complex is not given for real input.
    """
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        input = _centred(input, n_fft // 2, pad_mode)
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    either = _is_complex(input) or _is_complex(window)
    if return_complex is None:
        if not either:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if not return_complex:
        _warn_of_real_results()
    shape = ", ".join(map(str, input._spec.shape))
    who = (
        f"stft(torch.{input._spec.dtype.scalar_name}Tensor[{shape}], n_fft={n_fft}, hop_length={hop_length}, "
        f"win_length={win_length}, window={_described(window)}, normalized={_flag(normalized)}, "
        f"onesided={_flag(onesided)}, return_complex={_flag(return_complex)}, align_to_window={_flag(align_to_window)}) : "
    )
    _check_stft(input, n_fft, hop_length, win_length, window, who)
    alone = input._spec.ndim == 1
    x = input.unsqueeze(0) if alone else input
    if align_to_window:
        pad = (n_fft - win_length) // 2
        x = constant_pad.single(x, ((0, 0), (pad, pad)), 0)
    onesided = not either if onesided is None else onesided
    if onesided and either:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    batch, length = x._spec.shape
    count = 1 + (length - n_fft) // hop_length
    steps = x.stride()
    frames = x.as_strided((batch, count, n_fft), (steps[0], hop_length * steps[1], steps[1]))
    whole = _padded_window(window, win_length, n_fft, input)
    if whole is not None:
        frames = frames * whole
    mode = 1 if normalized else 0
    if _is_complex(frames):
        out = fft_c2c.single(frames, (2,), mode, True)
    else:
        out = fft_r2c.single(frames, (2,), mode, bool(onesided))
    out = out.transpose_(1, 2)
    if alone:
        out = out.squeeze_(0)
    return out if return_complex else FUNCTIONS["torch"]["view_as_real"](out)


def _warn_of_real_results() -> None:
    warnings.warn(
        "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors for all "
        "inputs, and return_complex=False will raise an error.\nNote: you can still call torch.view_as_real on the complex "
        "output to recover the old return format.",
        UserWarning,
        stacklevel=3,
    )


# --- istft ---


def _check_istft(input, n_fft, hop_length, win_length, window, onesided, who: str) -> None:
    spec = input._spec
    if not spec.numel:
        raise RuntimeError(f"{who}input tensor cannot be empty.")
    if spec.ndim not in (2, 3):
        raise RuntimeError(f"{who}expected a tensor with 3 or 4 dimensions, but got {spec.ndim + 1}")
    found = spec.shape[-2]
    where = f"{who}expected the frequency dimension (3rd to the last) of the input tensor to match "
    if onesided and n_fft // 2 + 1 != found:
        raise RuntimeError(f"{where}n_fft / 2 + 1 when onesided=True, but got {found}")
    if not onesided and n_fft != found:
        raise RuntimeError(f"{where}n_fft when onesided=False, but got {found}")
    if not 0 < hop_length <= win_length:
        raise RuntimeError(f"{who}expected 0 < hop_length <= win_length")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{who}expected 0 < win_length <= n_fft")
    if window is not None and window._spec.shape != (win_length,):
        raise RuntimeError(f"{who}Invalid window shape. window has to be 1D and length of `win_length`")


def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """The signal whose stft this is: transforms turned back, added where they overlap, divided by the sum of squared
    windows. Raises RuntimeError where that is zero somewhere."""
    if not _is_complex(input):
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    kind = input._spec.dtype.scalar_name
    shape = ", ".join(map(str, input._spec.shape))
    who = (
        f"istft(CPU{kind}Type[{shape}], n_fft={n_fft}, hop_length={hop_length}, win_length={win_length}, "
        f"window={_described(window)}, center={_flag(center)}, normalized={_flag(normalized)}, "
        f"onesided={_flag(onesided)}, length={'None' if length is None else length}, "
        f"return_complex={_flag(return_complex)}) "
    )
    if input._spec.ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-2, 1], but got -3)")
    frequencies = input._spec.shape[-2]
    halved = frequencies != n_fft if onesided is None else onesided
    _check_istft(input, n_fft, hop_length, win_length, window, halved, who + ": ")
    if return_complex and halved:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    pairs = FUNCTIONS["torch"]["view_as_real"](input)
    alone = pairs._spec.ndim == 3
    if alone:
        pairs = pairs.unsqueeze(0)
    spectra = FUNCTIONS["torch"]["view_as_complex"](pairs.transpose(1, 2))
    mode = 1 if normalized else 2
    if return_complex:
        frames = fft_c2c.single(spectra, (2,), mode, False)
    else:
        if not halved:
            spectra = spectra.narrow(-1, 0, n_fft // 2 + 1)
        frames = fft_c2r.single(spectra, (2,), mode, n_fft)
    whole = _padded_window(window, win_length, n_fft, frames)
    if whole is None:
        whole = wrap(np.ones(n_fft, frames._spec.array_dtype))
    return _overlapped(frames, whole, n_fft, hop_length, center, length, alone, who)


def _overlapped(frames, window, n_fft: int, hop: int, center, length, alone: bool, who: str):
    """Frames times their window, added where they overlap, divided by what the squared windows add up to."""
    batch, count = frames._spec.shape[:2]
    total = n_fft + hop * (count - 1)
    added = unfold_place.single(frames * window.view(1, 1, n_fft), (batch, total), 1, n_fft, hop)
    squares = (window * window).expand(1, count, n_fft)
    envelope = unfold_place.single(squares, (1, total), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    kept = max(min(end, total) - start, 0)
    added, envelope = added.narrow(1, start, kept), envelope.narrow(1, start, kept)
    if kept and np.abs(envelope._array).min() < 1e-11:
        raise RuntimeError(f"{who}window overlap add min: 1")
    result = added / envelope
    if alone:
        result = result.squeeze(0)
    if end > total:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center and hop_length settings.",
            UserWarning,
            stacklevel=4,
        )
        result = constant_pad.single(result, ((0, 0),) * (result._spec.ndim - 1) + ((0, end - total),), 0)
    return result


for _function in (stft, istft):
    publish("torch", _function.__name__, _function)
    put_method(_function.__name__, _function)
