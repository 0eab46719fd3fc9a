"""Losses with a margin: of pairs, triplets and classes. What is farther apart than the margin costs nothing."""

import math
from typing import NamedTuple

import numpy as np

from ..core.declare import Array, op
from ..core.general import broadcast_shapes
from ..core.registry import FUNCTIONS, OPS, publish
from .loss import apply_reduction, expect_tensors, numbered, reduced, reduction_of
from .refusal import refuse, refuse_half

__all__ = ["multi_margin_loss", "multilabel_margin_loss"]

# --- pairs and triplets ---


def _where(mask, x):
    broadcast_shapes(mask._spec.shape, x._spec.shape)
    return OPS["where"].function(mask, x, 0)


def _hinge_embedding(input, target, margin, reduction):
    expect_tensors("hinge_embedding_loss", input=input, target=target)
    if not input._spec.inexact:
        margin = int(margin)
    far = _where(target != 1, (margin - input).clamp_min(0))
    return apply_reduction(far + _where(target != -1, input), reduction)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """input where the target is 1, and what input falls short of the margin where it is −1."""
    return _hinge_embedding(input, target, margin, reduction_of(reduction, size_average, reduce))


def _margin_ranking(input1, input2, target, margin, reduction):
    expect_tensors("margin_ranking_loss", input1=input1, input2=input2, target=target)
    return apply_reduction((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """What target · (input1 − input2) falls short of the margin; the target is 1 where input1 is to be ranked higher."""
    reduction = reduction_of(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _margin_ranking(input1, input2, target, margin, reduction)


SMALL = 1e-12


def _cosine_embedding(input1, input2, target, margin, reduction):
    expect_tensors("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    ndim = target.dim()
    if ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.dim() != ndim + 1 or input2.dim() != ndim + 1:
        raise RuntimeError(
            f"{ndim}D target tensor expects {ndim + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.size())} and {list(input2.size())}."
        )
    product = (input1 * input2).sum(ndim)
    squares = ((input1 * input1).sum(ndim) + SMALL) * ((input2 * input2).sum(ndim) + SMALL)
    cosine = product / squares.sqrt()
    losses = _where(target == 1, 1 - cosine) + _where(target == -1, (cosine - margin).clamp_min(0))
    return apply_reduction(losses, reduction)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 − the cosine of two vectors where the target is 1, and what the cosine exceeds the margin by where it is −1.

    input1, input2: (N, D) with a target of shape (N,), or (D,) with a 0-dim target.
    """
    return _cosine_embedding(input1, input2, target, margin, reduction_of(reduction, size_average, reduce))


def _same_dimensions(anchor, positive, negative) -> None:
    a, p, n = anchor.dim(), positive.dim(), negative.dim()
    if not a == p == n:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {a}D, positive {p}D, and negative {n}D inputs"
        )


def _positive(margin) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def _triplet(anchor, positive, negative, distance, margin, swap, reduction):
    _same_dimensions(anchor, positive, negative)
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = FUNCTIONS["torch"]["minimum"](far, distance(positive, negative))
    return apply_reduction((margin + near - far).clamp_min(0), reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None,
                        reduce=None, reduction="mean"):  # fmt: skip
    """What the distance to the negative falls short of the distance to the positive and the margin together.

    The distances are p-norms along the last dimension. With `swap` the negative's is the smaller one of those to the anchor
    and to the positive. Balntas et al., Learning shallow convolutional feature descriptors with triplet losses, 2016.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    _positive(margin)
    expect_tensors("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    return _triplet(anchor, positive, negative, _p_distance(p, eps), margin, swap, reduction)


def _p_distance(p, eps):
    return lambda a, b: FUNCTIONS["torch"]["pairwise_distance"](a, b, p, eps)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):  # fmt: skip
    """triplet_margin_loss with a distance of one's own; without one the Euclidean distance."""
    reduction = reduction_of(reduction)
    _positive(margin)
    distance = distance_function or FUNCTIONS["torch"]["pairwise_distance"]
    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


# --- classes ---


class Classes(NamedTuple):
    """places: the right class of each sample, the shape of the input with 1 for its last dimension. weights: of each
    sample, of the same shape; None where all are 1. shape: of the losses that are not reduced."""

    places: np.ndarray
    weights: np.ndarray | None
    shape: tuple


def _check_shape(input) -> None:
    shape = input._spec.shape
    if len(shape) > 2 or 0 in shape[-1:]:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}"
        )


def _check_labels(target) -> None:
    if target._spec.dtype.scalar_name != "Long":
        raise RuntimeError(f"expected scalar type Long but found {target._spec.dtype.scalar_name}")


def _classes(input, target, weight) -> Classes:
    shape = input._spec.shape
    count, samples = shape[-1], shape[0] if len(shape) == 2 else 1
    if target._spec.ndim > 1 or target._spec.numel != samples:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{samples}], but got {list(target._spec.shape)}. Input has shape {list(shape)}."
        )
    if weight is not None and weight._spec.numel != count:
        raise RuntimeError(f"inconsistent weight size, expected {count} but got {list(weight._spec.shape)}")
    _check_labels(target)
    places = target._array
    if places.size and (np.minimum.reduce(places, axis=None) < 0 or np.maximum.reduce(places, axis=None) >= count):
        raise RuntimeError("target out of range")
    wide = places.reshape((*shape[:-1], 1))
    return Classes(wide, None if weight is None else weight._array[wide], places.shape)


@op(name="multi_margin_loss", method=False, namespace=None, frees=("classes",))
def multi_margin_op(self: Array, classes: Classes, p: int, margin: float, reduction: str):
    right = np.take_along_axis(self, classes.places, -1)
    short = np.maximum((margin - right) + self, 0)
    np.put_along_axis(short, classes.places, 0, -1)
    if p == 2:
        short *= short
    losses = np.add.reduce(short, axis=-1, keepdims=True) / self.shape[-1]
    if classes.weights is not None:
        losses = losses * classes.weights
    return reduced(losses.reshape(classes.shape), reduction)


@multi_margin_op.derivative(of="self")
def _(xp, grad, self, classes, p, margin, reduction):
    places, shape = classes.places, tuple(self.shape)
    short = margin - xp.pick_along(self, places, -1) + self
    slope = xp.select(short > 0, xp.ones_like(short) if p == 1 else 2 * short)
    slope = slope - xp.put_along(xp.pick_along(slope, places, -1), places, -1, shape)
    slope = slope - xp.put_along(xp.sum(slope, -1, True), places, -1, shape)
    if classes.weights is not None:
        slope = slope * xp.constant(classes.weights)
    if reduction == "none":
        grad = xp.reshape(grad, places.shape)
    return grad * slope / (shape[-1] * (max(places.size, 1) if reduction == "mean" else 1))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over the wrong classes of max(0, margin − score of the right class + score of the wrong one) ** p.

    input: (N, C) or (C,), floating point; target: class indices (N,) or (). ValueError, RuntimeError for what does not fit.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    expect_tensors("multi_margin_loss", input=input, target=target)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    if not input._spec.ndim:
        input = input.reshape(1)
    _check_shape(input)
    classes = _classes(input, target, weight)
    refuse("multi_margin_loss_cpu_kernel", "biuc", input._array)
    refuse_half("multi_margin_loss_cpu_kernel", input)
    return multi_margin_op.single(input, classes, int(p), float(margin), reduction)


class Hinges(NamedTuple):
    """losses: of each sample. slopes: their derivatives with respect to the scores, which are steps."""

    losses: np.ndarray
    slopes: np.ndarray


def hinges_of(a, labels) -> Hinges:
    """The losses of a matrix of scores and their slopes; a row of labels ends at its first −1."""
    samples, count = a.shape
    valid = np.logical_and.accumulate(labels >= 0, axis=1)
    is_label = np.zeros(a.shape, bool)
    rows, columns = np.nonzero(valid)
    is_label[rows, labels[rows, columns]] = True
    losses, slopes = np.zeros(samples, a.dtype), np.zeros(a.shape, a.dtype)
    for column in range(int(valid.sum(axis=1).max(initial=0))):
        rows = np.flatnonzero(valid[:, column])
        at = labels[rows, column]
        short = 1 - a[rows, at][:, None] + a[rows]
        active = (short > 0) & ~is_label[rows]
        losses[rows] += np.where(active, short, 0).sum(axis=1)
        slopes[rows] += active
        slopes[rows, at] -= active.sum(axis=1)
    return Hinges(losses / count, slopes / count)


@op(name="multilabel_margin_loss", method=False, namespace=None, frees=("hinges",))
def multilabel_margin_op(self: Array, hinges: Hinges, reduction: str):
    return reduced(hinges.losses.reshape(self.shape[:-1]), reduction)


@multilabel_margin_op.derivative(of="self")
def _(xp, grad, self_shape, hinges, reduction):
    slopes = hinges.slopes.reshape(self_shape)
    if reduction == "none":
        grad = xp.expand_dims(grad, -1)
    elif reduction == "mean":
        grad = grad / max(math.prod(self_shape[:-1]), 1)
    return grad * xp.constant(slopes)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """The sum over right and wrong classes of max(0, 1 − score of the right one + score of the wrong one), over C.

    input: (N, C) or (C,), floating point; target: as many class indices, of which those before the first −1 count.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    expect_tensors("multilabel_margin_loss", input=input, target=target)
    shape = input._spec.shape
    _check_shape(input)
    if target._spec.shape != shape:
        raise RuntimeError(f"inconsistent target size: {list(target._spec.shape)} for input of size: {list(shape)}")
    if not shape:
        input, target = input.reshape(1), target.reshape(1)
    refuse("multilabel_margin_loss_forward_out_frame", "biuc", input._array)
    refuse_half("multilabel_margin_loss_forward_out_frame", input)
    _check_labels(target)
    scores = np.atleast_2d(input._array)
    labels = np.atleast_2d(target._array)
    if labels.size and not (-1 <= labels.min() and labels.max() < scores.shape[-1]):
        raise RuntimeError("argument #2 'target' is out of range")
    return multilabel_margin_op.single(input, hinges_of(scores, labels), reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over the classes of binary cross entropy of sigmoid(input)."""
    if size_average is not None or reduce is not None:
        reduction = reduction_of(reduction, size_average, reduce)
    logsigmoid = FUNCTIONS["nn.functional"]["logsigmoid"]
    losses = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    losses = losses.sum(-1) / input.size(-1)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    return apply_reduction(losses, reduction)


# --- the functions of torch itself, which know reductions by numbers ---


def _hinge_by_number(input, target, margin=1.0, reduction=0):
    """hinge_embedding_loss with the reduction as a number: 0 none, 1 mean, 2 sum."""
    return _hinge_embedding(input, target, margin, numbered(reduction, "hinge_embedding_loss"))


def _ranking_by_number(input1, input2, target, margin=0.0, reduction=0):
    """margin_ranking_loss with the reduction as a number: 0 none, 1 mean, 2 sum."""
    return _margin_ranking(input1, input2, target, margin, numbered(reduction, "margin_ranking_loss"))


def _cosine_by_number(input1, input2, target, margin=0.0, reduction=0):
    """cosine_embedding_loss with the reduction as a number: 0 none, 1 mean, 2 sum."""
    return _cosine_embedding(input1, input2, target, margin, numbered(reduction, "cosine_embedding_loss"))


def _triplet_by_number(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=0):
    """triplet_margin_loss with the reduction as a number: 0 none, 1 mean, 2 sum."""
    reduction = numbered(reduction, "triplet_margin_loss")
    return _triplet(anchor, positive, negative, _p_distance(p, eps), margin, swap, reduction)


for _function in (hinge_embedding_loss, margin_ranking_loss, cosine_embedding_loss, triplet_margin_loss,
                  triplet_margin_with_distance_loss, multi_margin_loss, multilabel_margin_loss,
                  multilabel_soft_margin_loss):  # fmt: skip
    publish("nn.functional", _function.__name__, _function)
multi_margin_op.function = multi_margin_loss
multilabel_margin_op.function = multilabel_margin_loss
publish("torch", "hinge_embedding_loss", _hinge_by_number)
publish("torch", "margin_ranking_loss", _ranking_by_number)
publish("torch", "cosine_embedding_loss", _cosine_by_number)
publish("torch", "triplet_margin_loss", _triplet_by_number)
