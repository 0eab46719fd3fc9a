"""Where chainrule and PyTorch differ and why: each entry looks at one difference and says whether it is this one.

An entry is (names of rows, function of (difference, theirs, ours, operands) -> bool, reason).
"""

__all__ = ["known_of"]


def _is_error(theirs, ours) -> bool:
    return "error" in theirs and "error" in ours


def _both_refuse(difference, theirs, ours, operands) -> bool:
    return _is_error(theirs, ours) and theirs["error"][0] == ours["error"][0]


def _dtype_of(*dtypes):
    return lambda difference, theirs, ours, operands: any(getattr(o, "dtype", None) in dtypes for o in operands)


def _half_complex(difference, theirs, ours, operands) -> bool:
    return "complex32" in str(ours.get("error")) or "ComplexHalf" in str(theirs.get("error"))


KNOWN: list[tuple] = [
    ("*", _half_complex, "NumPy has no complex type of half precision."),
]


def known_of(row: str, *operands) -> tuple:
    """The entries that hold for a row of a table, ready for `compare.check`."""
    return tuple(
        lambda difference, theirs, ours, look=look: look(difference, theirs, ours, operands)
        for names, look, _ in KNOWN
        if names == "*" or row in names.split()
    )
