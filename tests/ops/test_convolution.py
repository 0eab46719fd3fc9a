import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as torch
from chainrule.core import windows
from tests.ops.numeric import check

F = torch.nn.functional
pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same'")


def by_definition(x, w, b, stride, padding, dilation, groups):
    """The convolution, one output channel and kernel place after the other."""
    dims = x.ndim - 2
    wide = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    size = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(wide.shape[2:], w.shape[2:], stride, dilation)]
    out = np.zeros((x.shape[0], w.shape[0], *size), np.result_type(x, w))
    per_in, per_out = w.shape[1], w.shape[0] // groups
    for o, c in itertools.product(range(w.shape[0]), range(per_in)):
        image = wide[:, o // per_out * per_in + c]
        for place in itertools.product(*map(range, w.shape[2:])):
            at = tuple(slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, n, s in zip(place, dilation, size, stride))
            out[:, o] += w[(o, c, *place)] * image[(slice(None), *at)]
    return out if b is None else out + b.reshape(-1, *(1,) * dims)


def transposed_by_definition(x, w, size, stride, padding, dilation, groups):
    """Every element of the input puts its multiple of the kernel into the result."""
    out = np.zeros((x.shape[0], w.shape[1] * groups, *size), np.result_type(x, w))
    per_in, per_out = w.shape[0] // groups, w.shape[1]
    for i, o in itertools.product(range(w.shape[0]), range(per_out)):
        for at in itertools.product(*map(range, x.shape[2:])):
            for place in itertools.product(*map(range, w.shape[2:])):
                to = [a * s - p + k * d for a, s, p, k, d in zip(at, stride, padding, place, dilation)]
                if all(0 <= t < n for t, n in zip(to, size)):
                    out[(slice(None), i // per_in * per_out + o, *to)] += x[(slice(None), i, *at)] * w[(i, o, *place)]
    return out


def draw(rng, shape, dtype=np.float64):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


numbers = st.integers(1, 3)


@st.composite
def cases(draw_from, dims):
    line = st.tuples(*[st.integers(1, 3)] * dims)
    groups = draw_from(st.integers(1, 3))
    kernel, stride, dilation = draw_from(line), draw_from(line), draw_from(line)
    padding = draw_from(st.tuples(*[st.integers(0, 2)] * dims))
    extra = draw_from(st.tuples(*[st.integers(0, 4)] * dims))
    size = tuple(max(1, d * (k - 1) + 1 - 2 * p) + e for d, k, p, e in zip(dilation, kernel, padding, extra))
    count = draw_from(st.sampled_from([0, 1, 2, 9]))
    return groups, kernel, stride, padding, dilation, size, count, draw_from(numbers), draw_from(numbers)


@pytest.mark.parametrize("dims", [1, 2, 3])
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_convolution_is_what_its_definition_says(dims, data):
    groups, kernel, stride, padding, dilation, size, count, per_in, per_out = data.draw(cases(dims))
    rng = np.random.default_rng(0)
    dtype = data.draw(st.sampled_from([np.float64, np.complex128, np.int64]))
    x = (10 * draw(rng, (count, groups * per_in, *size), np.float64)).astype(dtype)
    w, b = draw(rng, (groups * per_out, per_in, *kernel), np.float64), draw(rng, (groups * per_out,))
    w, b = (10 * w).astype(dtype), (10 * b).astype(dtype)
    made = getattr(F, f"conv{dims}d")(
        torch.tensor(x), torch.tensor(w), torch.tensor(b), stride, padding, dilation, groups
    )
    wanted = by_definition(x, w, b, stride, padding, dilation, groups)
    assert made.numpy().dtype == dtype
    np.testing.assert_allclose(made.numpy(), wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dims", [1, 2])
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_a_transposed_convolution_is_what_its_definition_says(dims, data):
    groups, kernel, stride, _, dilation, _, count, per_in, per_out = data.draw(cases(dims))
    rng = np.random.default_rng(1)
    extra = tuple(data.draw(st.integers(0, max(s, d) - 1)) for s, d in zip(stride, dilation))
    before = data.draw(st.tuples(*[st.integers(1, 4)] * dims))
    padding = tuple(data.draw(st.integers(0, d * (k - 1) // 2)) for d, k in zip(dilation, kernel))
    size = [
        (n - 1) * s - 2 * p + d * (k - 1) + e + 1
        for n, s, p, d, k, e in zip(before, stride, padding, dilation, kernel, extra)
    ]
    x, w = draw(rng, (count, groups * per_in, *before)), draw(rng, (groups * per_in, per_out, *kernel))
    made = getattr(F, f"conv_transpose{dims}d")(
        torch.tensor(x), torch.tensor(w), None, stride, padding, extra, groups, dilation
    )
    np.testing.assert_allclose(
        made.numpy(), transposed_by_definition(x, w, size, stride, padding, dilation, groups), atol=1e-10
    )


@pytest.mark.parametrize("block", [1, 1 << 17])
def test_the_result_does_not_depend_on_how_the_batch_is_cut(monkeypatch, block):
    monkeypatch.setattr(windows, "BLOCK", block)
    windows.geometry.cache_clear()
    rng = np.random.default_rng(2)
    for count, size in ((40, 6), (9, 30), (3, 21)):  # images innermost, and one after the other
        x, w = draw(rng, (count, 2, size, size)), draw(rng, (4, 2, 3, 3))
        wanted = by_definition(x, w, None, (1, 1), (1, 1), (1, 1), 1)
        settings_ = (1, 1), (1, 1), (1, 1), 1
        np.testing.assert_allclose(windows.convolve(x, w, (size, size), *settings_), wanted, atol=1e-10)
        inner = np.vdot(wanted, wanted)
        assert np.isclose(np.vdot(windows.convolve_input_vjp(wanted, w, (size, size), *settings_), x), inner)
        assert np.isclose(np.vdot(windows.convolve_weight_vjp(wanted, x, (3, 3), *settings_), w), inner)
    windows.geometry.cache_clear()


CHECKED = [
    (1, {}), (2, {}), (3, {}), (1, {"stride": 2, "padding": 1}), (2, {"stride": (2, 1), "padding": (0, 1)}),
    (2, {"dilation": 2, "padding": 2}), (2, {"groups": 2}), (2, {"padding": "same"}), (1, {"groups": 2, "stride": 2}),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("dims, named", CHECKED)
def test_derivatives_of_convolutions(dims, named, dtype):
    rng = np.random.default_rng(3)
    x = draw(rng, (2, 2, *[4, 5, 3][:dims]), dtype)
    w = draw(rng, (2, 2 // named.get("groups", 1), *[2, 3, 2][:dims]), dtype)
    check(lambda x, w, b: getattr(F, f"conv{dims}d")(x, w, b, **named), x, w, draw(rng, (2,), dtype))
    if named.get("padding") != "same":
        back = getattr(F, f"conv_transpose{dims}d")
        check(lambda x, w, b: back(x, w, b, **named), x, w, draw(rng, (2,), dtype))


def test_third_derivatives():
    rng = np.random.default_rng(4)
    check(lambda x, w: F.conv1d(x, w).exp(), 0.3 * draw(rng, (1, 1, 4)), 0.3 * draw(rng, (1, 1, 2)), order=3)


def test_gradcheck_of_the_package():
    x = torch.randn(2, 2, 5, dtype=torch.float64, requires_grad=True)
    w = torch.randn(4, 1, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, w: F.conv1d(x, w, groups=2, padding=1), (x, w))
    assert torch.autograd.gradgradcheck(lambda x, w: F.conv1d(x, w, groups=2, padding=1), (x, w))


def test_nodes_and_what_they_show():
    x, w, b = torch.randn(1, 2, 4, 4, requires_grad=True), torch.randn(3, 2, 2, 2, requires_grad=True), torch.zeros(3)
    made = F.conv2d(x, w, b.requires_grad_(), stride=2, padding=(1, 0))
    node = made.grad_fn
    assert node.name() == "ConvolutionBackward0"
    assert node._saved_stride == (2, 2) and node._saved_padding == (1, 0) and node._saved_dilation == (1, 1)
    assert node._saved_groups == 1 and node._saved_transposed is False and node._saved_output_padding == (0, 0)
    assert node._saved_bias_sym_sizes_opt == (3,) and node._saved_input is x and node._saved_weight is w
    (first,) = torch.autograd.grad(made.sum(), w, create_graph=True)
    assert first.grad_fn.name() == "ConvolutionBackwardBackward0"
    single = F.conv2d(x[0], w)
    assert single.grad_fn.name() == "SqueezeBackward1" and single.shape == (3, 3, 3)
    even = F.conv1d(torch.randn(1, 2, 5, requires_grad=True), torch.randn(3, 2, 2), padding="same")
    assert even.shape == (1, 3, 5) and even.grad_fn.next_functions[0][0].name() == "ConstantPadNdBackward0"


def test_same_padding_puts_more_at_the_end():
    x = torch.arange(1.0, 5.0).reshape(1, 1, 4)
    assert F.conv1d(x, torch.tensor([[[1.0, 10.0]]]), padding="same").tolist() == [[[21, 32, 43, 4]]]


def test_lists_integers_and_tuples_mean_the_same():
    x, w = torch.randn(1, 1, 6, 6), torch.randn(1, 1, 2, 2)
    for stride, padding in ((2, 1), ([2, 2], [1, 1]), ((2,), (1,))):
        for _ in range(2):
            assert torch.equal(F.conv2d(x, w, stride=stride, padding=padding), torch.conv2d(x, w, None, 2, 1))
    assert torch.equal(torch.convolution(x, w, None, [2], [1], [1], False, [0], 1), torch.conv2d(x, w, None, 2, 1))


def test_half_precision_is_summed_in_single():
    x, w = torch.full((1, 1, 4096), 1.0, dtype=torch.float16), torch.full((1, 1, 4096), 1.0, dtype=torch.float16)
    assert F.conv1d(x, w).item() == 4096 and F.conv1d(x, w).dtype is torch.float16


def test_channels_last_stays_channels_last():
    x = torch.randn(2, 3, 5, 5).to(memory_format=torch.channels_last)
    assert F.conv2d(x, torch.randn(4, 3, 3, 3)).stride() == (36, 1, 12, 4)


def test_empty_images():
    x, w = torch.zeros(0, 2, 5, requires_grad=True), torch.randn(3, 2, 2, requires_grad=True)
    made = F.conv1d(x, w, torch.zeros(3))
    assert made.shape == (0, 3, 4)
    made.sum().backward()
    assert x.grad.shape == (0, 2, 5) and not w.grad.any()
    assert F.conv1d(torch.zeros(2, 0, 7), torch.zeros(4, 0, 3)).shape == (2, 0, 5)


def test_conv_tbc():
    rng = np.random.default_rng(5)
    x, w, b = draw(rng, (5, 2, 3)), draw(rng, (3, 3, 4)), draw(rng, (4,))
    made = torch.conv_tbc(torch.tensor(x), torch.tensor(w), torch.tensor(b), 1)
    wanted = by_definition(x.transpose(1, 2, 0), w.transpose(2, 1, 0), b, (1,), (1,), (1,), 1)
    np.testing.assert_allclose(made.numpy(), wanted.transpose(2, 0, 1))
    check(lambda x, w, b: torch.conv_tbc(x, w, b, 1), x, w, b)
    assert torch.conv_tbc(torch.tensor(x, requires_grad=True), torch.tensor(w), torch.tensor(b)).grad_fn.name() == (
        "ConvTbcBackward0"
    )


X, W = torch.zeros(2, 4, 7, 7), torch.zeros(4, 4, 3, 3)
ERRORS = [
    (lambda: F.conv2d(X, torch.zeros(4, 5, 3, 3)), RuntimeError,
     "Given groups=1, weight of size [4, 5, 3, 3], expected input[2, 4, 7, 7] to have 5 channels, but got 4 channels "
     "instead"),
    (lambda: F.conv2d(X, W, groups=3), RuntimeError,
     "Given groups=3, expected weight to be divisible by 3 at dimension 0, but got weight of size [[4, 4, 3, 3]] instead"),
    (lambda: F.conv2d(X, W, torch.zeros(5)), RuntimeError,
     "Given weight of size [4, 4, 3, 3], expected bias to be 1-dimensional with 4 elements, but got bias of size [5] "
     "instead"),
    (lambda: F.conv2d(X, W, stride=0), RuntimeError, "non-positive stride is not supported"),
    (lambda: F.conv2d(X, W, padding=-1), RuntimeError, "negative padding is not supported"),
    (lambda: F.conv2d(X, W, dilation=-1), RuntimeError, "dilation should be greater than zero"),
    (lambda: F.conv2d(X, W, groups=0), RuntimeError, "non-positive groups is not supported"),
    (lambda: F.conv2d(X, W, stride=(1, 1, 1)), RuntimeError,
     "expected stride to be a single integer value or a list of 2 values to match the convolution dimensions, but got "
     "stride=[1, 1, 1]"),
    (lambda: F.conv2d(X, W, padding="same", stride=2), RuntimeError,
     "padding='same' is not supported for strided convolutions"),
    (lambda: F.conv2d(X, W, padding="some"), RuntimeError, "Invalid padding string: 'some'"),
    (lambda: F.conv2d(X[:, :, :2, :2], W), RuntimeError,
     "Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). Kernel size can't be greater than actual "
     "input size"),
    (lambda: F.conv2d(X[0, 0], W), RuntimeError,
     "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [7, 7]"),
    (lambda: F.conv2d(X, W.double()), RuntimeError,
     "Input type (torch.FloatTensor) and weight type (torch.DoubleTensor) should be the same or input should be a MKLDNN "
     "tensor and weight is a dense tensor"),
    (lambda: F.conv2d(X, W, torch.zeros(4).double()), RuntimeError,
     "Input type (float) and bias type (double) should be the same"),
    (lambda: F.conv2d(X.bool(), W.bool()), NotImplementedError, "\"slow_conv2d_cpu\" not implemented for 'Bool'"),
    (lambda: F.conv2d(X, None), TypeError,
     "conv2d() received an invalid combination of arguments - got (Tensor, NoneType), but expected one of:"),
    (lambda: F.conv_transpose2d(X, W, padding="same"), TypeError,
     "conv_transpose2d(): argument 'padding' must be tuple of ints, not str"),
    (lambda: F.conv_transpose2d(X, W, output_padding=1), RuntimeError,
     "output padding must be smaller than either stride or dilation, but got output_padding_height: 1 "
     "output_padding_width: 1 stride_height: 1 stride_width: 1 dilation_height: 1 dilation_width: 1"),
    (lambda: F.conv_transpose2d(torch.zeros(2, 5, 7, 7), W), RuntimeError,
     "Given transposed=1, weight of size [4, 4, 3, 3], expected input[2, 5, 7, 7] to have 4 channels, but got 5 channels "
     "instead"),
]  # fmt: skip


@pytest.mark.parametrize("run, kind, text", ERRORS)
def test_errors(run, kind, text):
    with pytest.raises(kind) as caught:
        run()
    assert str(caught.value) == text
