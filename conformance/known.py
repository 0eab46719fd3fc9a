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


def _refused_gradient(difference, theirs, ours, operands) -> bool:
    return difference.startswith(".gradients") and "Subtraction, the `-` operator" in str(theirs.get("gradients"))


def _argument_named(difference, theirs, ours, operands) -> bool:
    texts = [str(side.get("error")) for side in (theirs, ours)]
    return all("TypeError" in t and ("argument '" in t or "combination of arguments" in t) for t in texts)


def _mixed_layouts(difference, theirs, ours, operands) -> bool:
    layouts = {o.layout for o in operands if hasattr(o, "layout")}
    return (
        difference.startswith(".results[0].strides")
        and len(operands) > 1
        and bool(layouts & {"transposed", "expanded"})
    )


def _special_values(difference, theirs, ours, operands) -> bool:
    return any(getattr(o, "special", False) for o in operands)


def _complex(difference, theirs, ours, operands) -> bool:
    return any(str(getattr(o, "dtype", "")).startswith("complex") for o in operands)


def _empty(difference, theirs, ours, operands) -> bool:
    return any(0 in getattr(o, "shape", ()) for o in operands)


def _product_nodes(difference, theirs, ours, operands) -> bool:
    names = [str(side.get("results")) for side in (theirs, ours)]
    return difference.startswith(".results[0].node") and all("Backward0" in n for n in names)


def _both_name_sizes(difference, theirs, ours, operands) -> bool:
    texts = [str(side.get("error")) for side in (theirs, ours)]
    return all("RuntimeError" in t and ("size" in t or "type" in t) for t in texts)


def _layout(*names):
    return lambda difference, theirs, ours, operands: any(getattr(o, "layout", "") in names for o in operands)


def _texts(*words):
    """Both raise, and both texts have one of the words."""
    return lambda difference, theirs, ours, operands: any(
        all(word in str(side.get("error")) for side in (theirs, ours)) for word in words
    )


def _theirs(*words):
    """PyTorch raises with one of the words."""
    return lambda difference, theirs, ours, operands: any(word in str(theirs.get("error")) for word in words)


KNOWN: list[tuple] = [
    (
        "soft_margin_loss",
        _theirs("is not differentiable with respect to argument 'target'"),
        "PyTorch has no formula there.",
    ),
    ("expand- writing", _theirs("numel: integer multiplication overflow"), "A size computed before it is looked at."),
    ("expand- writing", _texts("the number of sizes provided"), "How a type is written."),
    ("split1 writing", _texts("split_with_sizes expects"), "A dimension counted from the end or from the front."),
    ("meshgrid writing", _texts("Expected 0D or 1D tensor"), "A tensor as C++ prints it."),
    ("unflatten writing", _texts("unflatten got an unexpected error"), "The second line names places in C++ code."),
    ("as_strided writing", lambda d, t, o, x: True, "Elements that share memory are written in no fixed order."),
    ("adjoint writing", _complex, "conj makes a copy, where PyTorch makes a view that conjugates when it is read."),
    (
        "writing view reading put flip rot90",
        _layout("expanded"),
        "Writing to elements that share memory, and their strides.",
    ),
    ("put", _layout("transposed"), "The strides of the copy that is written to."),
    ("writing reading", _empty, "Which of two mistakes in an index of an empty tensor is found first."),
    ("writing", _theirs("a leaf Variable that requires grad"), "Whether the index is looked at before the tensor."),
    ("writing", _theirs("masked_fill_ only supports boolean masks"), "chainrule takes uint8 masks, as reading does."),
    ("cummax cummin", _empty, "PyTorch does not check the dimension of an empty tensor."),
    (
        "acosh acos asin",
        lambda d, t, o, x: _complex(d, t, o, x) and _special_values(d, t, o, x),
        "Complex values at poles.",
    ),
    ("addmv addbmm", _empty, "Products with nothing to add up, whose shapes and dtypes PyTorch does not check."),
    ("matmul", _product_nodes, "The last of several nodes depends on how PyTorch folds a stack of matrices."),
    ("matmul", _both_name_sizes, "Which sizes the message names depends on how PyTorch folds a stack of matrices."),
    ("addmv", lambda d, t, o, _: "IndexError" in str(t), "Which of two mistakes PyTorch finds first."),
    (
        "bitwise_and bitwise_or bitwise_xor & | bitwise_left_shift",
        lambda d, t, o, _: "Half" in str(t),
        "The dtype named.",
    ),
    ("*", _refused_gradient, "PyTorch's own backward subtracts a bool tensor, which it refuses."),
    ("*", _argument_named, "Which position or which of several signatures a TypeError names."),
    ("*", _mixed_layouts, "Strides of what operands of different layouts give follow NumPy's order."),
    ("var std", _special_values, "PyTorch's running mean turns an infinity into NaN."),
    ("var std", _complex, "NaN in one part or in both of a gradient that is NaN."),
    (
        "clamp_min_",
        lambda d, t, o, _: "can't be cast" in str(t) and "can't be cast" in str(o),
        "The name of a C++ type.",
    ),
    (
        "mode cummax cummin log_softmax softmax",
        _complex,
        "Complex tensors that PyTorch takes because they have one element.",
    ),
    (
        "logspace",
        lambda d, t, o, x: x[-1] in ("complex64", "complex128") and ".text" in d,
        "The last digits of complex powers decide how many are printed.",
    ),
    ("*", _half_complex, "NumPy has no complex type of half precision."),
]


def known_of(row: str, *operands) -> tuple:
    """The entries that hold for a row of a table, ready for `compare.check`."""
    return tuple(
        lambda difference, theirs, ours, look=look: look(difference, theirs, ours, operands)
        for names, look, _ in KNOWN
        if names == "*" or row in names.split()
    )
