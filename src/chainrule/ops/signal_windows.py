"""Windows for signals: torch.hann_window and its like, torch.signal.windows."""

import math

import numpy as np

from ..core.dtype import FLOATING, argument_type_name, float32, float64, get_default_dtype
from ..core.registry import publish
from .creation import check_options, finish
from .refusal import not_implemented
from .signature import Signature, check

__all__: list[str] = []

# --- torch.<name>_window: `periodic` windows are symmetric ones of one more point without the last ---


def _hamming(n: int, dtype, alpha: float, beta: float):
    angle = np.arange(n, dtype=dtype) * dtype.type(2 * math.pi / (n - 1))
    return np.cos(angle) * dtype.type(-beta) + dtype.type(alpha)


def _blackman(n: int, dtype):
    angle = np.arange(n, dtype=dtype) * dtype.type(math.pi / (n - 1))
    return np.cos(angle * 4) * dtype.type(0.08) - np.cos(angle * 2) * dtype.type(0.5) + dtype.type(0.42)


def _bartlett(n: int, dtype):
    ramp = np.arange(n, dtype=dtype) * dtype.type(2 / (n - 1))
    first = ((n - 1) >> 1) + 1
    ramp[first:] = 2 - ramp[first:]
    return ramp


def _kaiser(n: int, dtype, beta: float):
    import scipy.special

    place = np.arange(n) * 2 / (n - 1) - 1
    return (scipy.special.i0(beta * np.sqrt(np.maximum(1 - place**2, 0))) / scipy.special.i0(beta)).astype(dtype)


def _window(name: str, make, parameters: str, doc: str, **defaults) -> None:
    options = "dtype? dtype=None, any layout=None, any device=None, bool pin_memory=False, bool requires_grad=False"
    texts = [f"int window_length, *, {options}", f"int window_length, bool periodic, *, {options}"]
    given = [p for p in parameters.split(", ") if p]
    for i in range(len(given)):
        texts.append(f"int window_length, bool periodic, {', '.join(given[: i + 1])}, *, {options}")
    signatures: list = []
    order = ("window_length", "periodic", *defaults)

    def function(*args, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, **named):
        if not signatures:
            signatures.extend(Signature.read(text, False) for text in texts)
        options = {"dtype": dtype, "requires_grad": requires_grad}
        check(name, signatures, args, {**named, **{k: v for k, v in options.items() if v not in (None, False)}})
        check_options(name, layout, device, pin_memory, requires_grad)
        values = {"periodic": True, **defaults, **dict(zip(order, args)), **named}
        n = int(values.pop("window_length"))
        periodic = values.pop("periodic")
        wanted = get_default_dtype() if dtype is None else dtype
        if wanted.category < FLOATING:
            raise RuntimeError(
                f"{name} expects floating point dtypes, got: TensorOptions(dtype={wanted.cpp_name}, device=cpu, layout=Strided "
                "(default), requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))"
            )
        if n < 0:
            raise RuntimeError(f"{name} requires non-negative window_length, got window_length={n}")
        if wanted.is_complex:
            raise not_implemented("arange_cpu", np.empty(0, wanted.numpy))
        if n < 2:
            return finish(np.ones(n, wanted.numpy), requires_grad)
        half = wanted.itemsize == 2
        made = make(n + bool(periodic), np.dtype(np.float32) if half else wanted.numpy, **values)
        return finish(np.ascontiguousarray(made[:n]).astype(wanted.numpy), requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    publish("torch", name, function)


_window("hann_window", lambda n, dtype: _hamming(n, dtype, 0.5, 0.5), "", "The Hann window.")
_window(
    "hamming_window", _hamming, "float alpha, float beta", "The Hamming window alpha - beta cos.", alpha=0.54, beta=0.46
)
_window("blackman_window", _blackman, "", "The Blackman window.")
_window("bartlett_window", _bartlett, "", "The Bartlett (triangular) window.")
_window("kaiser_window", _kaiser, "float beta", "The Kaiser window of shape beta.", beta=12.0)

# --- torch.signal.windows ---


def _points(start: float, step: float, n: int, dtype):
    """n points from `start` on, a step apart, as linspace makes them."""
    from .ranges import linspace

    return linspace(start, start + (n - 1) * step, n, dtype=dtype)._array


def _declare(name: str, make, parameters: tuple = (), doc: str = "", check_values=None) -> None:
    """torch.signal.windows.<name>(M, *, …, sym=True, dtype=None, …); make takes points per period, M, dtype and options."""
    known = dict(parameters)

    def function(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False, **options):
        for key in options:
            if key not in known:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        values = {**known, **options}
        for key, value in values.items():
            if value is _REQUIRED:
                raise TypeError(f"{name}() missing 1 required keyword-only argument: '{key}'")
        wanted = get_default_dtype() if dtype is None else dtype
        if not isinstance(M, int):
            raise TypeError(f"'<' not supported between instances of '{argument_type_name(M)}' and 'int'")
        if M < 0:
            made_of = "general_cosine" if name in _COSINES else name
            raise ValueError(f"{made_of} requires non-negative window length, got M={M}")
        if wanted not in (float32, float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {wanted}")
        check_options(name, layout, device, False, requires_grad)
        if check_values is not None:
            check_values(sym, **values)
        if M < 2:
            return finish(np.ones(M, wanted.numpy), requires_grad)
        made = make(M, M - 1 if sym else M, wanted, **values)
        return finish(np.asarray(made).astype(wanted.numpy), requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc + " Symmetric, or periodic with sym=False."
    publish("signal.windows", name, function)


_REQUIRED = object()
_COSINES = ("general_hamming", "hamming", "hann", "nuttall")


def _general_cosine(M, period, dtype, a):
    angle = _points(0.0, 2 * math.pi / period, M, dtype)
    total = np.zeros(M, angle.dtype)
    for i, weight in enumerate(a):
        total += np.cos(angle * i) * angle.dtype.type((-1) ** i * weight)
    return total


def _exponential(M, period, dtype, center, tau):
    middle = period / 2 if center is None else center
    return np.exp(-np.abs(_points(-middle / tau, 1 / tau, M, dtype)))


def _gaussian(M, period, dtype, std):
    step = 1 / (std * math.sqrt(2))
    return np.exp(-(_points(-period / 2 * step, step, M, dtype) ** 2))


def _kaiser_window(M, period, dtype, beta):
    import scipy.special

    place = np.minimum(_points(-beta, 2 * beta / period, M, float64), beta)
    return scipy.special.i0(np.sqrt(np.maximum(beta * beta - place**2, 0))) / scipy.special.i0(beta)


def _cosine(M, period, dtype):
    step = math.pi / (period + 1)
    return np.sin(_points(0.5 * step, step, M, dtype))


def _check_exponential(sym, center, tau) -> None:
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")


def _check_gaussian(sym, std) -> None:
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")


def _check_kaiser(sym, beta) -> None:
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")


def _check_coefficients(sym, a) -> None:
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")


def _weights(*a):
    return lambda M, period, dtype: _general_cosine(M, period, dtype, a)


_declare("bartlett", lambda M, p, dtype: 1 - np.abs(_points(-1.0, 2 / p, M, dtype)), (), "The triangular window.")
_declare("blackman", _weights(0.42, 0.5, 0.08), (), "The Blackman window.")
_declare("cosine", _cosine, (), "The cosine window.")
_declare("exponential", _exponential, (("center", None), ("tau", 1.0)), "exp(-|n - center| / tau).", _check_exponential)
_declare("gaussian", _gaussian, (("std", 1.0),), "The Gaussian window.", _check_gaussian)
_declare(
    "general_cosine", _general_cosine, (("a", _REQUIRED),), "A sum of cosines with weights a.", _check_coefficients
)
_declare(
    "general_hamming",
    lambda M, p, dtype, alpha: _general_cosine(M, p, dtype, (alpha, 1 - alpha)),
    (("alpha", 0.54),),
    "alpha - (1 - alpha) cos.",
)
_declare("hamming", _weights(0.54, 0.46), (), "The Hamming window.")
_declare("hann", _weights(0.5, 0.5), (), "The Hann window.")
_declare("kaiser", _kaiser_window, (("beta", 12.0),), "The Kaiser window of shape beta.", _check_kaiser)
_declare("nuttall", _weights(0.3635819, 0.4891775, 0.1365995, 0.0106411), (), "The Nuttall window.")
