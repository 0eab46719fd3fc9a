import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as torch
from tests.ops.numeric import check

F = torch.nn.functional


def windows(n, k, s, p, d, ceil):
    """The places of every window of one dimension, in the image and in the padding."""
    count = -(-(n + 2 * p - d * (k - 1) - 1) // s) + 1 if ceil else (n + 2 * p - d * (k - 1) - 1) // s + 1
    if ceil and (count - 1) * s >= n + p:
        count -= 1
    return [[i * s - p + j * d for j in range(k)] for i in range(count)]


def by_definition(x, kernel, stride, padding, dilation, ceil, reduce):
    lines = [windows(*one, ceil) for one in zip(x.shape[-len(kernel) :], kernel, stride, padding, dilation)]
    outer = x.shape[: x.ndim - len(kernel)]
    out = np.empty((*outer, *map(len, lines)), x.dtype)
    for at in np.ndindex(*map(len, lines)):
        places = [line[i] for line, i in zip(lines, at)]
        out[(..., *at)] = reduce(x, places)
    return out


def inside(x, places):
    kept = [[p for p in line if 0 <= p < n] for line, n in zip(places, x.shape[-len(places) :])]
    return x[(..., *np.ix_(*kept))].reshape(*x.shape[: x.ndim - len(places)], math.prod(map(len, kept)))


def average(include_pad, divisor, padding):
    def reduce(x, places):
        found = inside(x, places)
        sizes = x.shape[-len(places) :]
        padded = [[p for p in line if p < n + pad] for line, n, pad in zip(places, sizes, padding)]
        count = math.prod(map(len, padded)) if include_pad else found.shape[-1]
        return found.sum(-1) / (divisor or count)

    return reduce


@st.composite
def images(draw, dims):
    line = lambda low, high: st.tuples(*[st.integers(low, high)] * dims)  # noqa: E731
    kernel, stride, dilation = draw(line(1, 3)), draw(line(1, 3)), draw(line(1, 2))
    padding = tuple(draw(st.integers(0, k // 2)) for k in kernel)
    extra = draw(line(0, 3))
    size = tuple(d * (k - 1) + 1 + e for d, k, e in zip(dilation, kernel, extra))
    outer = draw(st.sampled_from([(2, 3), (3,), (0, 2)]))
    return outer, size, kernel, stride, padding, dilation, draw(st.booleans())


@pytest.mark.parametrize("dims", [1, 2, 3])
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_averages(dims, data):
    outer, size, kernel, stride, padding, _, ceil = data.draw(images(dims))
    include = data.draw(st.booleans())
    divisor = data.draw(st.sampled_from([None, 3])) if dims > 1 else None
    x = np.random.default_rng(0).standard_normal((*outer, *size))
    more = [divisor] if dims > 1 else []
    made = getattr(F, f"avg_pool{dims}d")(torch.tensor(x), kernel, stride, padding, ceil, include, *more)
    reduce = average(include, divisor, padding)
    wanted = by_definition(x, kernel, stride, padding, (1,) * dims, ceil, reduce)
    np.testing.assert_allclose(made.numpy(), wanted, atol=1e-12)


@pytest.mark.parametrize("dims", [1, 2, 3])
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_maxima_and_their_places(dims, data):
    outer, size, kernel, stride, padding, dilation, ceil = data.draw(images(dims))
    rng = np.random.default_rng(1)
    x = rng.integers(-3, 3, (*outer, *size)).astype(data.draw(st.sampled_from([np.float64, np.float32, np.float16])))
    if data.draw(st.booleans()):
        x[rng.random(x.shape) < 0.2] = data.draw(st.sampled_from([np.nan, -np.inf]))
    values, places = getattr(F, f"max_pool{dims}d")(
        torch.tensor(x), kernel, stride, padding, dilation, ceil, return_indices=True
    )
    wanted = by_definition(
        x, kernel, stride, padding, dilation, ceil, lambda x, p: inside(x, p).max(-1, initial=-np.inf)
    )
    np.testing.assert_array_equal(values.numpy(), wanted)
    flat = x.reshape(*outer, math.prod(size))
    found = np.take_along_axis(flat, places.numpy().reshape(*outer, math.prod(wanted.shape[-dims:])), -1)
    np.testing.assert_array_equal(found.reshape(wanted.shape), wanted)
    plain = getattr(F, f"max_pool{dims}d")(torch.tensor(x), kernel, stride, padding, dilation, ceil)
    np.testing.assert_array_equal(plain.numpy(), wanted)


@pytest.mark.parametrize("size", [4, 80])  # all windows at once, and one pass for each element of a window
def test_of_equals_the_first_is_taken_of_nans_the_last(size):
    x = torch.zeros(1, 1, size, size)
    assert F.max_pool2d(x, 2, return_indices=True)[1][0, 0, 0, 0].item() == 0
    x[0, 0, 0, 0] = x[0, 0, 1, 0] = math.nan
    values, places = F.max_pool2d(x, 2, return_indices=True)
    assert math.isnan(values[0, 0, 0, 0].item()) and places[0, 0, 0, 0].item() == size
    x[...] = -math.inf
    assert F.max_pool2d(x, 3, 2, 1, return_indices=True)[1][0, 0, 0, 0].item() == 0


def test_integers():
    x = torch.arange(-8, 8).reshape(1, 4, 4)
    assert F.max_pool2d(x, 2).tolist() == [[[-3, -1], [5, 7]]] and F.max_pool2d(x, 2).dtype is torch.int64
    assert F.avg_pool2d(x, 2).tolist() == [[[-5, -3], [2, 4]]]  # rounded towards zero
    assert F.max_pool2d(x.to(torch.uint8), 3, 1, 1).dtype is torch.uint8


@pytest.mark.parametrize("dims", [1, 2, 3])
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_windows_that_adapt(dims, data):
    size = data.draw(st.tuples(*[st.integers(1, 9)] * dims))
    out = data.draw(st.tuples(*[st.integers(1, 5)] * dims))
    x = np.random.default_rng(2).standard_normal((2, 3, *size))
    bounds = [[(i * n // m, -(-(i + 1) * n // m)) for i in range(m)] for n, m in zip(size, out)]
    mean, most = np.empty((2, 3, *out)), np.empty((2, 3, *out))
    for at in np.ndindex(*out):
        part = x[(..., *[slice(*line[i]) for line, i in zip(bounds, at)])].reshape(2, 3, -1)
        mean[(..., *at)], most[(..., *at)] = part.mean(-1), part.max(-1)
    sizes = out if dims > 1 else out[0]
    np.testing.assert_allclose(getattr(F, f"adaptive_avg_pool{dims}d")(torch.tensor(x), sizes).numpy(), mean)
    values, places = getattr(F, f"adaptive_max_pool{dims}d")(torch.tensor(x), sizes, return_indices=True)
    np.testing.assert_array_equal(values.numpy(), most)
    found = np.take_along_axis(x.reshape(2, 3, -1), places.numpy().reshape(2, 3, -1), -1)
    np.testing.assert_array_equal(found.reshape(most.shape), most)


def test_one_large_window_among_few():
    x = torch.randn(2, 40, 40)
    x[1, 3, 4] = x[1, 5, 6] = math.nan
    values, places = F.adaptive_max_pool2d(x, (3, 1), return_indices=True)
    assert torch.equal(values[0, 0, 0], x[0, :14].max()) and places[1, 0, 0].item() == 5 * 40 + 6
    assert torch.allclose(F.adaptive_avg_pool2d(x, (3, 1))[0, 2, 0], x[0, 26:].mean())


def test_sizes_taken_from_the_input():
    assert F.adaptive_avg_pool2d(torch.zeros(1, 3, 5, 7), (None, 2)).shape == (1, 3, 5, 2)
    made = F.adaptive_avg_pool2d(torch.zeros(1, 3, 5, 7, requires_grad=True), 1)
    assert made.grad_fn.name() == "MeanBackward1" and made.shape == (1, 3, 1, 1)


def test_the_power_average():
    x = torch.rand(1, 2, 6, 6) + 0.1
    wanted = (x[..., 0:2, 0:2] ** 3).sum((-1, -2)) ** (1 / 3)
    assert torch.allclose(F.lp_pool2d(x, 3, 2)[..., 0, 0], wanted)
    assert F.lp_pool1d(x[0], 2, 3).shape == (2, 6, 2) and F.lp_pool3d(x, 2, 2).shape == (1, 1, 3, 3)


SIZES = {1: (7,), 2: (6, 5), 3: (4, 3, 4)}


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_derivatives(dims):
    x = np.random.default_rng(3).permutation(2 * math.prod(SIZES[dims])).reshape(1, 2, *SIZES[dims]) / 7.0

    def pool(name, *arguments, **named):
        check(lambda x: getattr(F, f"{name}{dims}d")(x, *arguments, **named), x)

    pool("max_pool", 3, 2, 1)
    pool("max_pool", 2, dilation=2)
    pool("avg_pool", 3, 2, 1, ceil_mode=True, count_include_pad=False)
    pool("avg_pool", 2)
    pool("adaptive_avg_pool", 3)
    pool("adaptive_avg_pool", 2)
    pool("adaptive_max_pool", 3)
    pool("adaptive_max_pool", 2)
    check(lambda x: getattr(F, f"lp_pool{dims}d")(x, 3, 2), x + 1)


def test_second_derivatives_go_through_the_places():
    x = torch.tensor([[[1.0, 3.0, 2.0]]], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad((F.max_pool1d(x, 2, 1) ** 3).sum(), x, create_graph=True)
    assert first.tolist() == [[[0, 54, 0]]]
    assert torch.autograd.grad(first.sum(), x)[0].tolist() == [[[0, 36, 0]]]


def test_nodes_and_what_they_show():
    x = torch.randn(1, 2, 4, 4, requires_grad=True)
    node = F.max_pool2d(x, 2, padding=1).grad_fn
    assert node.name() == "MaxPool2DWithIndicesBackward0" and node._saved_kernel_size == (2, 2)
    assert node._saved_stride == () and node._saved_padding == (1, 1) and node._saved_ceil_mode is False
    assert node._saved_result1.dtype is torch.int64
    node = F.avg_pool2d(x, 2, 1).grad_fn
    assert node.name() == "AvgPool2DBackward0" and node._saved_stride == (1, 1)
    assert node._saved_count_include_pad is True and node._saved_divisor_override is None
    assert F.adaptive_avg_pool2d(x, 2).grad_fn.name() == "AdaptiveAvgPool2DBackward0"
    assert F.adaptive_max_pool2d(x, 2).grad_fn.name() == "AdaptiveMaxPool2DBackward0"
    line = F.avg_pool1d(x[0], 2).grad_fn
    assert line.name() == "SqueezeBackward1" and line.next_functions[0][0].name() == "AvgPool2DBackward0"


def test_channels_last_stays_channels_last():
    x = torch.randn(2, 3, 6, 6).to(memory_format=torch.channels_last)
    for made in (F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 3), F.adaptive_max_pool2d(x, 3)):
        assert made.stride() == (27, 1, 9, 3)


X = torch.zeros(2, 3, 7, 7)
ERRORS = [
    (lambda: F.max_pool2d(X, 0), RuntimeError, "stride should not be zero"),
    (lambda: F.max_pool2d(X, -1), RuntimeError, "kernel size should be greater than zero, but got kH: -1 kW: -1"),
    (lambda: F.max_pool2d(X, (2, 2, 2)), RuntimeError,
     "max_pool2d: kernel_size must either be a single int, or a tuple of two ints"),
    (lambda: F.max_pool2d(X, 9), RuntimeError,
     "Given input size: (3x7x7). Calculated output size: (3x0x0). Output size is too small"),
    (lambda: F.max_pool2d(X, 2, padding=2), RuntimeError,
     "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and dilation=1"),
    (lambda: F.max_pool2d(X, 2, padding=2, dilation=3), RuntimeError,
     "pad should be smaller than or equal to half of kernel size, but got padW = 2, padH = 2, kW = 2, kH = 2"),
    (lambda: F.max_pool2d(X, "a"), TypeError,
     "max_pool2d(): argument 'kernel_size' (position 2) must be tuple of ints, not str"),
    (lambda: F.max_pool2d(X[0, 0], 2), RuntimeError, "non-empty 3D or 4D (batch mode) tensor expected for input"),
    (lambda: F.max_pool2d(X.bool(), 2), NotImplementedError, "\"max_pool2d\" not implemented for 'Bool'"),
    (lambda: F.max_pool1d(X[0], 2, dilation=0), RuntimeError,
     "max_pool1d() dilation must be greater than zero, but got 0"),
    (lambda: F.max_pool1d(X[0].long(), 2), NotImplementedError, "\"max_pool1d_impl\" not implemented for 'Long'"),
    (lambda: F.avg_pool2d(X, 2, divisor_override=0), RuntimeError, "divisor must be not zero"),
    (lambda: F.avg_pool2d(X.int(), 2), NotImplementedError, "\"avg_pool2d\" not implemented for 'Int'"),
    (lambda: F.avg_pool1d(X[0], (2, 2)), RuntimeError,
     "avg_pool1d() argument 'kernel_size' should contain one int (got 2)"),
    (lambda: F.avg_pool3d(X, 9), RuntimeError,
     "input image (T: 3 H: 7 W: 7) smaller than kernel size (kT: 9 kH: 9 kW: 9)"),
    (lambda: F.adaptive_avg_pool2d(X, -1), RuntimeError,
     "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but received {-1, -1}"),
    (lambda: F.adaptive_avg_pool2d(X, (2, 2, 2)), RuntimeError, "adaptive_avg_pool2d: output_size must be 2"),
    (lambda: F.adaptive_max_pool2d(X[0, 0], 2), RuntimeError,
     "adaptive_max_pool2d(): Expected 3D or 4D tensor, but got: [7, 7]"),
]  # fmt: skip


@pytest.mark.parametrize("run, kind, text", ERRORS)
def test_errors(run, kind, text):
    with pytest.raises(kind) as caught:
        run()
    assert str(caught.value) == text


def test_every_setting_is_told_apart():
    """Results are kept by their settings; none may stand for another."""
    x = torch.randn(1, 1, 6, 6)
    seen = {}
    for stride, ceil, pad in itertools.product((1, 2), (False, True), (0, 1)):
        seen[stride, ceil, pad] = F.avg_pool2d(x, 3, stride, pad, ceil)
    for (stride, ceil, pad), made in seen.items():
        assert torch.equal(made, F.avg_pool2d(x, [3, 3], [stride, stride], [pad, pad], ceil))
