"""nn.functional.unfold and fold: the windows of images as columns, and columns added back where windows lie."""

import functools
import math

from ..core import vocabulary
from ..core.declare import Array, op
from ..core.dtype import bool_
from .planes import Settings, settled, show_settings, sizes_of
from .pooling import publish_functional, refuse
from .shape import expect_tensor

__all__ = ["unfold_op", "fold_op"]


# --- each the transpose of the other ---


@op(method=False, namespace=None)
def unfold_windows(self: Array, kernel, stride, padding, dilation):
    """The windows of images as columns."""
    return vocabulary.unfold_windows(self, kernel, stride, padding, dilation)


@op(method=False, namespace=None)
def fold_windows(self: Array, size, kernel, stride, padding, dilation):
    """Columns added where the windows of images lie."""
    return vocabulary.fold_windows(self, size, kernel, stride, padding, dilation)


@unfold_windows.derivative(of="self")
def _(xp, grad, self_shape, kernel, stride, padding, dilation):
    return xp.fold_windows(grad, tuple(self_shape[2:]), kernel, stride, padding, dilation)


@fold_windows.derivative(of="self")
def _(xp, grad, kernel, stride, padding, dilation):
    return xp.unfold_windows(grad, kernel, stride, padding, dilation)


# --- the operations of the graph: also of a single image ---


def _windows(s) -> tuple:
    return s.kernel_size, s.stride, s.padding, s.dilation


@op(name="im2col", node="Im2ColBackward0", method=False, namespace=None)
def unfold_op(self: Array, settings):
    if self.ndim == 3:
        return vocabulary.unfold_windows(self[None], *_windows(settings))[0]
    return vocabulary.unfold_windows(self, *_windows(settings))


@unfold_op.derivative(of="self")
def _(xp, grad, settings):
    if len(grad.shape) == 3:
        return xp.fold_windows(grad, settings.size, *_windows(settings))
    made = xp.fold_windows(xp.expand_dims(grad, 0), settings.size, *_windows(settings))
    return xp.reshape(made, made.shape[1:])


@op(name="col2im", node="Col2ImBackward0", method=False, namespace=None)
def fold_op(self: Array, settings):
    if self.ndim == 2:
        return vocabulary.fold_windows(self[None], settings.size, *_windows(settings))[0]
    return vocabulary.fold_windows(self, settings.size, *_windows(settings))


@fold_op.derivative(of="self")
def _(xp, grad, settings):
    if len(grad.shape) == 4:
        return xp.unfold_windows(grad, *_windows(settings))
    made = xp.unfold_windows(xp.expand_dims(grad, 0), *_windows(settings))
    return xp.reshape(made, made.shape[1:])


show_settings(unfold_op, "kernel_size", "stride", "padding", "dilation", "self_sym_argsize_minus_1",
              "self_sym_argsize_minus_2")  # fmt: skip
show_settings(fold_op, "kernel_size", "stride", "padding", "dilation")


# --- arguments ---


def _pair(name: str, shown: str, value, position: int) -> tuple:
    """Two integers of one or two; what is wrong with them in PyTorch's words, which counts those that it was given."""
    values = (value, value) if hasattr(value, "__index__") or isinstance(value, float) else value
    found = sizes_of(values, name, shown, position)
    if len(found) != 2:
        raise RuntimeError(f"It is expected {shown} equals to 2, but got size {len(found)}")
    return found


def _check_numbers(kernel, dilation, padding, stride) -> None:
    for values, what, shown in ((kernel, "kernel size", "kernel"), (stride, "stride", "stride")):
        if values[0] <= 0 or values[1] <= 0:
            raise RuntimeError(
                f"{what} should be greater than zero, but got {shown}_height: {values[0]} {shown}_width: {values[1]}"
            )
    if dilation[0] <= 0 or dilation[1] <= 0:
        raise RuntimeError(
            f"dilation should be greater than zero, but got dilation_height: {dilation[0]} dilation_width: {dilation[1]}"
        )
    if padding[0] < 0 or padding[1] < 0:
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}")


def _counts(size, kernel, stride, padding, dilation) -> list:
    return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, stride, padding, dilation)]


@functools.lru_cache(1024)
def _unfold_settings(spec, kernel_size, dilation, padding, stride) -> Settings:
    name = "im2col"
    kernel, dilation = _pair(name, "kernel_size", kernel_size, 2), _pair(name, "dilation", dilation, 3)
    padding, stride = _pair(name, "padding", padding, 4), _pair(name, "stride", stride, 5)
    _check_numbers(kernel, dilation, padding, stride)
    shape = list(spec.shape)
    if spec.ndim < 3:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-max(spec.ndim, 1)}, {max(spec.ndim, 1) - 1}], but got "
            f"{2 if spec.ndim else 1})"
        )
    if spec.ndim > 4 or 0 in shape[spec.ndim - 3 :]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {shape}"
        )
    counts = _counts(shape[-2:], kernel, stride, padding, dilation)
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size ({shape[-2]}, {shape[-1]}), kernel_size={kernel}, dilation={dilation}, "
            f"padding={padding}, calculated shape of the array of sliding blocks as ({counts[0]}, {counts[1]}), but its "
            "components must be at least one."
        )
    refuse("im2col_out_cpu", spec, spec.inexact or spec.dtype is bool_)
    return Settings(
        kernel_size=kernel, stride=stride, padding=padding, dilation=dilation, size=spec.shape[-2:],
        self_sym_argsize_minus_1=shape[-1], self_sym_argsize_minus_2=shape[-2],
    )  # fmt: skip


@functools.lru_cache(1024)
def _fold_settings(spec, output_size, kernel_size, dilation, padding, stride) -> Settings:
    name = "col2im"
    size, kernel = _pair(name, "output_size", output_size, 2), _pair(name, "kernel_size", kernel_size, 3)
    dilation, padding = _pair(name, "dilation", dilation, 4), _pair(name, "padding", padding, 5)
    stride = _pair(name, "stride", stride, 6)
    _check_numbers(kernel, dilation, padding, stride)
    shape = list(spec.shape)
    if spec.ndim not in (2, 3) or 0 in shape[spec.ndim - 2 :]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {shape}"
        )
    if shape[-2] % math.prod(kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)="
            f"{shape[-2]} and kernel_size={kernel}."
        )
    counts = _counts(size, kernel, stride, padding, dilation)
    given = f"Given output_size={size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}, "
    if counts[0] * counts[1] != shape[-1]:
        raise RuntimeError(
            f"{given}expected size of input's dimension 2 to match the calculated number of sliding blocks {counts[0]} * "
            f"{counts[1]} = {counts[0] * counts[1]}, but got input.size(2)={shape[-1]}."
        )
    if min(counts) < 1:
        raise RuntimeError(
            f"{given}expected size of input's dimension 2 to match the calculated number of sliding blocks {counts[0]} * "
            f"{counts[1]}, but got input.size(2)={shape[-1]}."
        )
    if min(size) < 1:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {[*shape[:-2], *size]}")
    refuse("col2im_out_cpu", spec, spec.inexact or spec.dtype is bool_)
    return Settings(kernel_size=kernel, stride=stride, padding=padding, dilation=dilation, size=size)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    spec = expect_tensor(input, "im2col")._spec
    return unfold_op.single(input, settled(_unfold_settings, spec, kernel_size, dilation, padding, stride))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    spec = expect_tensor(input, "col2im")._spec
    return fold_op.single(input, settled(_fold_settings, spec, output_size, kernel_size, dilation, padding, stride))


publish_functional(unfold, "unfold", "The windows of images (batch, channels, height, width), a column each.")
publish_functional(fold, "fold", "Columns added up in images, each where its window lies; overlaps add.")
unfold_op.function, fold_op.function = unfold, fold
