"""Connectionist temporal classification: the likelihood of a sequence of labels whose times are not known.

A sample's labels, with a blank before, between and behind them, are the states of a machine that at each time stays,
goes on by one state, or skips a blank between two labels that differ. The likelihood is the sum over all ways through the
states; its derivatives are the probabilities of being in a state at a time, of which a pass from the front and a pass from
the back know the logarithms. Both passes run at once, as two samples of one batch, and vectorised over batch and states.
Graves et al., Connectionist temporal classification, 2006.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, op
from ..core.dtype import argument_type_name
from ..core.registry import OPS, publish
from ..core.tensor import Tensor, wrap
from .gathering import Index
from .loss import apply_reduction, expect_tensors, numbered, reduction_of
from .refusal import refuse, refuse_half

__all__ = ["ctc_loss"]

NEVER = -1e30  # the logarithm of no probability at all: finite, so that differences of it are no NaN


class Alignment(NamedTuple):
    """labels: of each sample's states, (N, S). skips: 0 where a state may be reached across a blank, else NEVER, (N, S).
    times, lengths: of each sample, (N,): how many times count, how many labels there are. steps, classes: the input's."""

    labels: np.ndarray
    skips: np.ndarray
    times: np.ndarray
    lengths: np.ndarray
    steps: int
    classes: int


def aligned(labels, times, lengths, blank: int, input) -> Alignment:
    """The states of all samples, whose labels are the rows of a matrix."""
    steps, samples, classes = input.shape
    states = np.full((samples, 2 * labels.shape[1] + 1), blank, np.int64)
    states[:, 1::2] = np.where(np.arange(labels.shape[1]) < lengths[:, None], labels, blank)
    skips = np.full(states.shape, NEVER, input.dtype)
    skips[:, 2:][(states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])] = 0
    return Alignment(states, skips, times, lengths, steps, classes)


class Passes(NamedTuple):
    """What the passes over an alignment need besides the input: arrays of places in it, and of places in what they find.

    emissions: where the flat input has the probabilities of the states, (T, M, S); skips: (M, S); start: before the first
    time, (S,); never: NEVER for two states, (M, 2), all with M = 2 N, the samples from the front and from the back.
    forward: the emissions from the front alone. here, there: where the ways from the front and from the back are that meet
    at a time in a state. valid: the states at times that a sample has, (T, N, S). counted: the times, (T, N, 1).
    """

    emissions: np.ndarray
    skips: np.ndarray
    start: np.ndarray
    never: np.ndarray
    forward: np.ndarray
    here: np.ndarray
    there: np.ndarray
    valid: np.ndarray
    counted: np.ndarray
    nothing: np.ndarray


def both_ways(alignment: Alignment) -> Passes:
    labels, skips, times, lengths, steps, classes = alignment
    samples, states = labels.shape
    time, sample, state = np.arange(steps)[:, None, None], np.arange(samples)[:, None], np.arange(states)
    back_time = np.maximum(times[:, None] - 1 - time, 0)
    back_state = np.maximum(2 * lengths[:, None] - state, 0)
    forward = (time * samples + sample) * classes + labels
    backward = (back_time * samples + sample) * classes + labels[sample, back_state]
    valid = (time < times[:, None]) & (state <= 2 * lengths[:, None])
    here = np.broadcast_to((time * 2 * samples + sample) * states + state, valid.shape)
    return Passes(
        np.concatenate([forward, backward], 1), np.concatenate([skips, _back_skips(alignment, back_state)]),
        _start(states, skips.dtype), np.full((2 * samples, 2), NEVER, skips.dtype), forward, here,
        (back_time * 2 * samples + samples + sample) * states + back_state, valid, time < times[:, None],
        np.full((), NEVER, skips.dtype),
    )  # fmt: skip


def _back_skips(alignment: Alignment, back_state) -> np.ndarray:
    """The skips of the states as they are seen from the back: those that lead here from two states further on."""
    further = back_state + 2
    known = np.take_along_axis(alignment.skips, np.minimum(further, alignment.skips.shape[1] - 1), 1)
    return np.where(further <= 2 * alignment.lengths[:, None], known, alignment.skips.dtype.type(NEVER))


def _start(states: int, dtype) -> np.ndarray:
    """Before the first time: 0 for the two states that a sample may begin with, else NEVER."""
    start = np.full(states, NEVER, dtype)
    start[:2] = 0
    return start


def passed(xp, emissions, skips, start, never):
    """The logarithms of the probabilities of all ways to a state at a time. emissions: (T, M, S)."""
    states = emissions.shape[2]
    skips, never = xp.constant(skips), xp.constant(never)
    now = xp.getitem(emissions, (0, Ellipsis)) + xp.constant(start)
    found = [now]
    for t in range(1, emissions.shape[0]):
        wide = xp.concatenate([never, now], 1)
        one, two = xp.narrow(wide, 1, 1, states), xp.narrow(wide, 1, 0, states) + skips
        most = xp.maximum(xp.maximum(now, one), two)  # faster than logaddexp twice
        total = xp.exp(now - most) + xp.exp(one - most) + xp.exp(two - most)
        now = xp.log(total) + (most + xp.getitem(emissions, (t, Ellipsis)))
        found.append(now)
    return xp.stack(found)


def taken(xp, flat, places):
    """Elements of a flat array at places of any shape."""
    return xp.reshape(xp.index(flat, Index((places.reshape(-1),))), places.shape)


@op(name="ctc_loss", node="CtcLossBackward0", method=False, namespace=None, frees=("alignment",))
def ctc_op(self: Array, alignment: Alignment, zero_infinity: bool):
    labels, skips, times, lengths, steps, classes = alignment
    samples, states = labels.shape
    sample = np.arange(samples)
    places = (np.arange(steps)[:, None, None] * samples + sample[:, None]) * classes + labels
    emissions = np.maximum(self.reshape(-1)[places], NEVER)
    never = np.full((samples, 2), NEVER, self.dtype)
    ways = passed(vocabulary, emissions, skips, _start(states, self.dtype), never)
    last = ways[np.maximum(times - 1, 0), sample]
    end = last[sample, 2 * lengths]
    total = np.where(lengths > 0, np.logaddexp(end, last[sample, np.maximum(2 * lengths - 1, 0)]), end)
    total = np.where(times > 0, total, np.where(lengths > 0, NEVER, 0))
    return np.where(total < NEVER / 2, math.inf, -total).astype(self.dtype)


@ctc_op.derivative(of="self")
def _(xp, grad, self, result, alignment, zero_infinity):
    shape = tuple(self.shape)
    passes = both_ways(alignment)
    nothing = xp.constant(passes.nothing)
    flat = xp.maximum(xp.reshape(self, (-1,)), nothing)
    ways = passed(xp, taken(xp, flat, passes.emissions), passes.skips, passes.start, passes.never)
    ways = xp.reshape(ways, (-1,))
    met = taken(xp, ways, passes.here) + taken(xp, ways, passes.there) - taken(xp, flat, passes.forward)
    impossible = xp.expand_dims(xp.isinf(result), -1)
    valid = xp.logical_and(xp.constant(passes.valid), xp.logical_not(impossible))
    met = xp.where(valid, met + xp.expand_dims(result, -1), nothing)
    slope = -xp.exp(met) * xp.expand_dims(grad, -1)
    out = xp.accumulate(xp.reshape(slope, (-1,)), (math.prod(shape),), Index((passes.forward.reshape(-1),)))
    out = xp.reshape(out, shape)
    if not zero_infinity:  # the derivative of an infinite loss is NaN at all times that count
        lost = xp.logical_and(xp.constant(passes.counted), impossible)
        out = xp.where(lost, nothing * math.nan, out)
    return out


# --- the functions ---


def _lengths(name: str, given, samples: int, most: int | None) -> np.ndarray:
    """Lengths given as integers or as a tensor of them."""
    if isinstance(given, Tensor):
        if given._spec.inexact:
            raise RuntimeError(f"{name} must be integral")
        given = given._array.reshape(-1)
    found = np.asarray(given, np.int64).reshape(-1)
    if len(found) != samples:
        raise RuntimeError(f"{name} must be of size batch_size")
    where = "(while checking arguments for ctc_loss_allocate_outputs)"
    if found.size and found.min() < 0:
        raise RuntimeError(f"Expected {name} to have value at least 0, but got value {found[found < 0][0]} {where}")
    if most is not None and found.size and found.max() > most:
        wrong = found[found > most][0]
        raise RuntimeError(f"Expected {name} to have value at most {most}, but got value {wrong} {where}")
    return found


def _label_rows(targets, lengths, classes: int) -> np.ndarray:
    """The labels of each sample as a row of a matrix, given as such or one sample behind the other."""
    most = int(lengths.max(initial=0))
    array = targets._array.astype(np.int64)
    where = "for argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)"
    if array.ndim == 1:
        needed = int(lengths.sum())
        if array.size != needed:
            raise RuntimeError(
                f"Expected tensor to have size {needed} at dimension 0, but got size {array.size} {where}"
            )
        starts = np.cumsum(lengths) - lengths
        places = np.minimum(starts[:, None] + np.arange(most), max(array.size - 1, 0))
        rows = array[places] if array.size else np.zeros(places.shape, np.int64)
    else:
        if array.shape[1] < most:
            raise RuntimeError(
                f"Expected tensor to have size at least {most} at dimension 1, but got size {array.shape[1]} {where}"
            )
        rows = array[:, :most]
    used = rows[np.arange(most) < lengths[:, None]]
    if used.size and (used.min() < 0 or used.max() >= classes):
        wrong = used[(used < 0) | (used >= classes)][0]
        raise RuntimeError(f"Expected targets to be labels from 0 to {classes - 1}, but got {wrong}")
    return rows


def _is_lengths(value) -> bool:
    return isinstance(value, (Tensor, tuple, list))


def _ctc(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    expect_tensors("ctc_loss", log_probs=log_probs, targets=targets)
    if not _is_lengths(input_lengths) or not _is_lengths(target_lengths):
        arguments = (log_probs, targets, input_lengths, target_lengths, blank, 0, zero_infinity)
        got = ", ".join(argument_type_name(a) for a in arguments)
        raise TypeError(f"ctc_loss() received an invalid combination of arguments - got ({got}), but expected one of:")
    single = log_probs._spec.ndim != 3
    if single:
        log_probs = log_probs.unsqueeze(1)
        if log_probs._spec.ndim != 3:
            raise RuntimeError(
                f"Expected 3-dimensional tensor, but got {log_probs._spec.ndim}-dimensional tensor for argument #1 "
                "'log_probs' (while checking arguments for ctc_loss_allocate_outputs)"
            )
    steps, samples, classes = log_probs._spec.shape
    if not log_probs._spec.numel:
        raise RuntimeError("log_probs tensor must not be empty")
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    refuse("ctc_loss_cpu", "biuc", log_probs._array)
    refuse_half("ctc_loss_cpu", log_probs)
    times = _lengths("input_lengths", input_lengths, samples, None)
    lengths = _lengths("target_lengths", target_lengths, samples, None)
    rows = _label_rows(targets, lengths, classes)
    _lengths("input_lengths", input_lengths, samples, steps)
    losses = ctc_op.single(log_probs, aligned(rows, times, lengths, blank, log_probs._array), bool(zero_infinity))
    if zero_infinity:
        losses = OPS["where"].function(losses == math.inf, 0, losses)
    if reduction == "mean":
        return (losses / wrap(np.maximum(lengths, 1).astype(losses._spec.array_dtype))).mean()
    return losses.squeeze(0) if single and reduction == "none" else apply_reduction(losses, reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Minus the logarithm of the likelihood of a sequence of labels at unknown times.

    log_probs: (T, N, C) or (T, C), logarithms of probabilities; targets: (N, S), or all labels one behind the other.
    "mean" divides by the number of labels first. With `zero_infinity` a sequence that is too long for its times costs
    nothing. RuntimeError for lengths, labels and a blank that do not fit.
    """
    reduction = reduction_of(reduction)
    return _ctc(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)


def _by_number(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False):
    """ctc_loss with the reduction as a number: 0 none, 1 mean, 2 sum."""
    reduction = numbered(reduction, "ctc_loss", 6)
    return _ctc(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)


ctc_op.function = ctc_loss
publish("nn.functional", "ctc_loss", ctc_loss)
publish("torch", "ctc_loss", _by_number)
