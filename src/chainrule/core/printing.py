"""The printed form of tensors, to the character that of PyTorch.

All numbers of one tensor are written alike: as integers with a trailing point, in fixed notation, or in scientific
notation, and padded to one width. What decides are the finite nonzero values, as float64: scientific where the largest
is over 1000 times the smallest or over 1e8, or where, among values that are not all whole, the smallest is below 1e-4.
Tensors of more than `threshold` elements are cut to the first and last `edgeitems` along every long dimension.
https://pytorch.org/docs/stable/generated/torch.set_printoptions.html
"""

import math
from collections.abc import Callable
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from . import dtype as dtypes
from .dtype import dtype

# Digits after the point, size over which a tensor is cut and how much of it stays, characters a line, and whether
# scientific notation is forced on or off (None: the values decide).
PRINT_OPTS = SimpleNamespace(precision=4, threshold=1000, edgeitems=3, linewidth=80, sci_mode=None)

_PROFILES: dict[str, dict] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print; `profile` is "default", "short" or "full". Every call sets `sci_mode` anew."""
    chosen = dict(_PROFILES.get(profile.lower(), {})) if profile is not None else {}
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen.update({name: value for name, value in given.items() if value is not None})
    for name, value in chosen.items():
        setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict:
    """The options in use, as keyword arguments of `set_printoptions`."""
    return dict(vars(PRINT_OPTS))


@contextmanager
def printoptions(**options):
    """Within it tensors print with these options of `set_printoptions`."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def tensor_text(
    array: np.ndarray,
    dtype: dtype,
    *,
    grad_fn_name: str | None = None,
    requires_grad: bool = False,
    prefix: str = "tensor(",
) -> str:
    """What `repr` of a tensor with these elements shows; its lines are indented to the end of `prefix`."""
    indent = len(prefix) - prefix.rfind("\n") - 1
    text = prefix + (_array_text(array, dtype, indent) if array.size else "[]")
    suffixes = _describe(array, dtype)
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    parts = [text]
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > PRINT_OPTS.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            column = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            column += len(suffix) + 2
    parts.append(")")
    return "".join(parts)


def format_element(array: np.ndarray, spec: str) -> str:
    """`format` of a 0-dim tensor: that of the Python number it holds."""
    return format(array.item(), spec)


def _describe(array, dtype) -> list[str]:
    """The size and dtype, where the elements alone do not tell them."""
    suffixes = []
    default = dtypes.get_default_dtype()
    if array.size == 0:
        if array.ndim != 1:
            suffixes.append(f"size={array.shape}")
        usual = dtype is default
    else:
        if not PRINT_OPTS.edgeitems:
            suffixes.append(f"size={array.shape}")
        default_complex = dtypes.complex128 if default is dtypes.float64 else dtypes.complex64
        usual = dtype in (default, default_complex, dtypes.int64, dtypes.bool_)
    if not usual:
        suffixes.append(f"dtype={dtype}")
    return suffixes


# --- the elements of an array --------------------------------------------------------------------------------------


def _array_text(array, dtype, indent) -> str:
    cut = [False] * array.ndim
    if array.size > PRINT_OPTS.threshold and array.ndim:
        edge = PRINT_OPTS.edgeitems
        if not edge:
            return "[...]"
        cut = [n > 2 * edge for n in array.shape]
        array = array[np.ix_(*(_kept(n, edge) if c else range(n) for n, c in zip(array.shape, cut, strict=True)))]
    texts, width = _element_texts(array, dtype)
    if not array.ndim:
        return texts[0]
    per_line = max(1, (PRINT_OPTS.linewidth - indent - array.ndim + 1) // (width + 2))
    return _nest(texts, array.shape, cut, indent, per_line)


def _kept(n, edge):
    return [*range(edge), *range(n - edge, n)]


def _nest(texts, shape, cut, indent, per_line) -> str:
    """Bracket the texts of the elements, innermost dimension first, so that no depth of recursion is needed."""
    innermost = indent + len(shape)
    n = shape[-1]
    line_break = ",\n" + " " * innermost
    rows = []
    for start in range(0, len(texts), n):
        row = texts[start : start + n]
        if cut[-1]:
            row.insert(n // 2, " ...")
        lines = [", ".join(row[i : i + per_line]) for i in range(0, len(row), per_line)]
        rows.append("[" + line_break.join(lines) + "]")
    for axis in range(len(shape) - 2, -1, -1):
        n = shape[axis]
        separator = "," + "\n" * (len(shape) - 1 - axis) + " " * (indent + axis + 1)
        outer = []
        for start in range(0, len(rows), n):
            row = rows[start : start + n]
            if cut[axis]:
                row.insert(n // 2, "...")
            outer.append("[" + separator.join(row) + "]")
        rows = outer
    return rows[0]


def _element_texts(array, dtype) -> tuple[list[str], int]:
    """The texts of all elements, padded to the same width, and that width."""
    if dtype.is_complex:
        flat = array.reshape(-1)
        reals, imaginaries = flat.real.tolist(), flat.imag.tolist()
        write_real, real_width = _float_style(reals)
        write_imaginary, imaginary_width = _float_style(imaginaries)
        texts = [_complex_text(write_real(a), write_imaginary(b)) for a, b in zip(reals, imaginaries, strict=True)]
        return texts, real_width + imaginary_width + 1
    values = array.reshape(-1).tolist()
    if dtype.is_floating_point:
        write, width = _float_style(values)
        return [write(v) for v in values], width
    texts = list(map(str, values))
    width = max(map(len, texts))
    return [t.rjust(width) for t in texts], width


def _complex_text(real: str, imaginary: str) -> str:
    imaginary = imaginary.lstrip() + "j"
    return real + imaginary if imaginary[0] in "+-" else f"{real}+{imaginary}"


def _float_style(values: list[float]) -> tuple[Callable[[float], str], int]:
    """How the numbers of a tensor are to be written: a function from one of them to its text, and the width."""
    precision = PRINT_OPTS.precision
    forced = PRINT_OPTS.sci_mode
    significant = [v for v in values if v and v - v == 0]
    whole = all(map(float.is_integer, significant))
    scientific = bool(forced and significant)
    if forced is None and significant:
        sizes = list(map(abs, significant))
        smallest, largest = min(sizes), max(sizes)
        scientific = largest / smallest > 1000 or largest > 1e8 or (not whole and smallest < 1e-4)
    code = f"%.{precision}e" if scientific else "%.0f." if whole else f"%.{precision}f"
    width = max([len(code % v) for v in significant], default=1)
    if scientific:
        return f"%{width}.{precision}e".__mod__, width
    if not whole:
        return f"%{width}.{precision}f".__mod__, width

    def write_whole(value):
        text = f"{value:.0f}." if value - value == 0 else str(value)
        return text.rjust(width)

    return write_whole, width
