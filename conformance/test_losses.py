"""Softmax, losses and likelihoods, with weights, ignored samples, smoothing and every reduction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .compare import check, current, deep
from .known import known_of
from .strategies import operands

FLOATS = ("float32", "float64")
REDUCTION = st.sampled_from(("none", "mean", "sum", "other"))
ALIKE = """mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss kl_div poisson_nll_loss hinge_embedding_loss
multilabel_soft_margin_loss binary_cross_entropy_with_logits""".split()


@pytest.mark.parametrize("name", ALIKE)
@deep
@given(data=st.data(), reduction=REDUCTION)
def test_loss_of_two_tensors(name, data, reduction):
    x = data.draw(operands(FLOATS, min_dims=1, max_dims=2))
    shape = x.shape if data.draw(st.integers(0, 5)) else x.shape[1:]
    y = data.draw(operands((x.dtype,), shape))
    current["dtype"] = x.dtype

    def program(T, x, y):
        target = y.sign() if name == "hinge_embedding_loss" else y
        return getattr(T.nn.functional, name)(x, target, reduction=reduction)

    check(program, [x, y], known=known_of(name, x, y))


@pytest.mark.parametrize("name", ("nll_loss", "cross_entropy"))
@deep
@given(data=st.data(), reduction=REDUCTION)
def test_loss_of_classes(name, data, reduction):
    shape = data.draw(st.sampled_from(((3,), (2, 3), (4, 1), (0, 3), (2, 3, 2), (2, 3, 2, 2), (1, 2, 0))))
    x = data.draw(operands((*FLOATS, "float16"), shape, special=False))
    weighted, smoothing = data.draw(st.booleans()), data.draw(st.sampled_from((0.0, 0.0, 0.2)))
    seed, ignored, wrong = (
        data.draw(st.integers(0, 99)),
        data.draw(st.sampled_from((-100, 0, 1))),
        data.draw(st.integers(0, 9)),
    )
    current["dtype"] = x.dtype

    def program(T, x):
        import numpy as np

        classes = shape[1] if len(shape) > 1 else shape[0]
        target = np.random.default_rng(seed).integers(
            0, classes + (wrong == 0), shape[:1] * (len(shape) > 1) + shape[2:]
        )
        options = {"label_smoothing": smoothing} if name == "cross_entropy" else {}
        weight = T.linspace(0.5, 2, classes, dtype=x.dtype) if weighted else None
        places = T.tensor(target.tolist(), dtype=T.int64).reshape(target.shape)
        return getattr(T.nn.functional, name)(x, places, weight, ignore_index=ignored, reduction=reduction, **options)

    check(program, [x], known=known_of(name, x))


@deep
@given(data=st.data(), reduction=REDUCTION)
def test_cross_entropy_of_probabilities(data, reduction):
    x = data.draw(operands(FLOATS, min_dims=1, max_dims=3, special=False))
    y = data.draw(operands((x.dtype,), x.shape, special=False, low=0.0, high=1.0))
    smoothing = data.draw(st.sampled_from((0.0, 0.3)))
    current["dtype"] = x.dtype

    def program(T, x, y):
        return T.nn.functional.cross_entropy(x, y, reduction=reduction, label_smoothing=smoothing)

    check(program, [x, y], known=known_of("cross_entropy", x, y))


@deep
@given(data=st.data(), reduction=REDUCTION)
def test_binary_cross_entropy(data, reduction):
    x = data.draw(operands(FLOATS, special=False, low=0.0, high=1.0))
    y = data.draw(operands((x.dtype,), x.shape, special=False, low=0.0, high=1.0))
    current["dtype"] = x.dtype
    check(
        lambda T, x, y: T.nn.functional.binary_cross_entropy(x, y, reduction=reduction), [x, y],
        known=known_of("binary_cross_entropy", x, y),
    )  # fmt: skip


@pytest.mark.parametrize("name", ("softmax", "log_softmax", "softmin"))
@deep
@given(x=operands(("float32", "float64", "float16", "int64")), dim=st.sampled_from((0, 1, -1, None)))
def test_softmax(name, x, dim):
    current["dtype"] = x.dtype if x.dtype != "int64" else "float32"
    check(lambda T, x: getattr(T.nn.functional, name)(x, dim), [x], known=known_of(name, x))
