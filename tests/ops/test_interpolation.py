import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as torch
from tests.ops.numeric import check

F = torch.nn.functional


def source(i, n, m, align, factor):
    """Where the centre of element i of m lies among n."""
    if align:
        return i * (n - 1) / (m - 1) if m > 1 else 0.0
    return (i + 0.5) * (1 / factor if factor else n / m) - 0.5


def linear(line, m, align, factor):
    out = []
    for i in range(m):
        at = max(source(i, len(line), m, align, factor), 0.0)
        k = min(int(at), len(line) - 1)
        t = min(at - k, 1)
        out.append((1 - t) * line[k] + t * line[min(k + 1, len(line) - 1)])
    return out


def cubic(line, m, align, factor, a=-0.75):
    def weight(d):
        d = abs(d)
        if d < 1:
            return (a + 2) * d**3 - (a + 3) * d**2 + 1
        return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0

    out, last = [], len(line) - 1
    for i in range(m):
        at = source(i, len(line), m, align, factor)
        k = math.floor(at)
        out.append(sum(weight(at - j) * line[min(max(j, 0), last)] for j in range(k - 1, k + 3)))
    return out


def each_axis(x, sizes, align, factors, line):
    for axis, (m, f) in enumerate(zip(sizes, factors), start=2):
        if m != x.shape[axis] or line is cubic:
            x = np.apply_along_axis(line, axis, x, m, align, f)
    return x


@pytest.mark.parametrize("mode, dims, line", [("linear", 1, linear), ("bilinear", 2, linear), ("bicubic", 2, cubic),
                                              ("trilinear", 3, linear)])  # fmt: skip
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_between_neighbours(mode, dims, line, data):
    before = data.draw(st.tuples(*[st.integers(1, 6)] * dims))
    align = data.draw(st.booleans())
    x = np.random.default_rng(0).standard_normal((1, 2, *before))
    if data.draw(st.booleans()):
        sizes, factors, named = data.draw(st.tuples(*[st.integers(1, 9)] * dims)), (None,) * dims, {}
        named["size"] = sizes
    else:
        factors = data.draw(st.tuples(*[st.sampled_from([1.0, 1.5, 2.0, 2.6])] * dims))
        sizes, named = [math.floor(n * f) for n, f in zip(before, factors)], {"scale_factor": factors}
    made = F.interpolate(torch.tensor(x), mode=mode, align_corners=align, **named).numpy()
    np.testing.assert_allclose(made, each_axis(x, sizes, align, factors, line), atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(1, 20))
def test_the_nearest(n, m):
    x = torch.arange(n, dtype=torch.float32).reshape(1, 1, n)
    assert F.interpolate(x, m).tolist() == [[[i * n // m for i in range(m)]]]
    exact = [[[(2 * i + 1) * n // (2 * m) for i in range(m)]]]
    assert F.interpolate(x, m, mode="nearest-exact").tolist() == exact


def test_areas_are_averages():
    x = torch.randn(2, 3, 6, 5)
    assert torch.equal(F.interpolate(x, (3, 2), mode="area"), F.adaptive_avg_pool2d(x, (3, 2)))
    assert F.interpolate(x, scale_factor=0.5, mode="area").shape == (2, 3, 3, 2)


def test_antialiasing_averages_what_becomes_smaller():
    x = torch.arange(8, dtype=torch.float64).reshape(1, 1, 1, 8)
    # A triangle of width 4 around the centres 1, 3, 5, 7 of the new elements, cut at the borders.
    made = F.interpolate(x, (1, 4), mode="bilinear", antialias=True)
    weights = np.array([0.25, 0.75, 0.75, 0.25])
    assert np.isclose(made[0, 0, 0, 1].item(), weights @ [1, 2, 3, 4] / 2)
    assert np.isclose(made[0, 0, 0, 0].item(), weights[1:] @ [0, 1, 2] / 1.75)
    for mode in ("bilinear", "bicubic", "lanczos"):
        flat = F.interpolate(torch.full((1, 1, 9, 7), 2.5, dtype=torch.float64), (4, 3), mode=mode, antialias=True)
        np.testing.assert_allclose(flat.numpy(), 2.5)
        same = F.interpolate(torch.randn(1, 1, 3, 4, dtype=torch.float64), (3, 4), mode=mode, antialias=True)
        assert same.shape == (1, 1, 3, 4)


def test_rows_differ_where_the_result_has_one_column():
    """PyTorch repeats the first row here."""
    x = torch.arange(8.0).reshape(1, 1, 4, 2)
    tall = F.interpolate(x, (2, 1), mode="bilinear", antialias=True)
    wide = F.interpolate(x.mT.contiguous(), (1, 2), mode="bilinear", antialias=True)
    assert torch.allclose(tall.mT, wide) and tall[0, 0, 0, 0] != tall[0, 0, 1, 0]


def test_bytes_are_rounded():
    x = torch.tensor([[[[0, 100], [200, 255]]]], dtype=torch.uint8)
    made = F.interpolate(x, (4, 4), mode="bilinear")
    assert made.dtype is torch.uint8 and made[0, 0, 0].tolist() == [0, 25, 75, 100]
    assert F.interpolate(x, (4, 4), mode="bicubic").numpy().max() == 255
    assert F.interpolate(x, 4)[0, 0, 3].tolist() == [200, 200, 255, 255]


def test_the_matrix_and_the_taps_agree():
    x = np.random.default_rng(1).standard_normal((2, 8, 40, 40))
    made = F.interpolate(torch.tensor(x), (70, 90), mode="bilinear").numpy()  # large: a product with matrices
    np.testing.assert_allclose(made[:1, :1], F.interpolate(torch.tensor(x[:1, :1]), (70, 90), mode="bilinear").numpy())
    x[0, 0, 5, 5] = np.inf  # must not spoil the rest
    made = F.interpolate(torch.tensor(x), (80, 80), mode="bilinear").numpy()
    assert np.isinf(made[0, 0, 11, 11]) and np.isfinite(made[0, 0, 30:, 30:]).all() and np.isfinite(made[1]).all()


CHECKED = [("nearest", 1), ("nearest", 2), ("nearest", 3), ("nearest-exact", 2), ("linear", 1), ("bilinear", 2),
           ("bicubic", 2), ("trilinear", 3), ("area", 2)]  # fmt: skip


@pytest.mark.parametrize("mode, dims", CHECKED)
def test_derivatives(mode, dims):
    x = np.random.default_rng(2).standard_normal((1, 2, *[4, 3, 2][:dims]))
    check(lambda x: F.interpolate(x, size=3, mode=mode), x)
    check(lambda x: F.interpolate(x, scale_factor=1.7, mode=mode) ** 2, x)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
def test_derivatives_with_antialiasing(mode):
    x = np.random.default_rng(3).standard_normal((1, 2, 7, 5))
    check(lambda x: F.interpolate(x, size=(3, 4), mode=mode, antialias=True), x)


def test_the_gradient_of_the_nearest_in_three_dimensions_is_that_of_the_result():
    """PyTorch's goes to other elements where a scale factor does not divide."""
    x = np.random.default_rng(4).standard_normal((1, 1, 3, 4, 5))
    check(lambda x: F.interpolate(x, scale_factor=1.3), x)


def test_nodes_and_what_they_show():
    x = torch.randn(1, 2, 4, 4, requires_grad=True)
    node = F.interpolate(x, scale_factor=2.5, mode="bilinear", align_corners=True).grad_fn
    assert node.name() == "UpsampleBilinear2DBackward0" and node._saved_align_corners is True
    assert node._saved_output_size == (10, 10) and node._saved_scales_h == node._saved_scales_w == 2.5
    assert F.interpolate(x, 3).grad_fn.name() == "UpsampleNearest2DBackward0"
    assert F.interpolate(x, 3).grad_fn._saved_scales_h is None
    assert F.interpolate(x, 3, mode="nearest-exact").grad_fn.name() == "UpsampleNearestExact2DBackward0"
    smooth = F.interpolate(x, 3, mode="bicubic", antialias=True)
    assert smooth.grad_fn.name() == "UpsampleBicubic2DAaBackward0"
    assert F.interpolate(x, 3, mode="area").grad_fn.name() == "AdaptiveAvgPool2DBackward0"
    assert F.interpolate(x[0], 3, mode="linear").grad_fn.name() == "UpsampleLinear1DBackward0"


def test_older_names_warn():
    x = torch.randn(1, 1, 2, 2)
    with pytest.warns(UserWarning, match="`nn.functional.upsample` is deprecated"):
        assert torch.equal(F.upsample(x, 4), F.interpolate(x, 4))
    with pytest.warns(UserWarning, match="`nn.functional.upsample_bilinear` is deprecated"):
        made = F.upsample_bilinear(x, scale_factor=2)
    assert torch.equal(made, F.interpolate(x, 4, mode="bilinear", align_corners=True))
    with pytest.warns(UserWarning, match="`nn.functional.upsample_nearest` is deprecated"):
        F.upsample_nearest(x, scale_factor=2)


X = torch.zeros(2, 3, 4, 4)
ERRORS = [
    (lambda: F.interpolate(X), ValueError, "either size or scale_factor should be defined"),
    (lambda: F.interpolate(X, 2, 2), ValueError, "only one of size or scale_factor should be defined"),
    (lambda: F.interpolate(X, 2, align_corners=True), ValueError,
     "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"),
    (lambda: F.interpolate(X, 2, mode="linear"), NotImplementedError, "Got 4D input, but linear mode needs 3D input"),
    (lambda: F.interpolate(X, 2, mode="x"), NotImplementedError,
     "Input Error: Only 3D, 4D and 5D input Tensors supported (got 4D) for the modes: nearest | linear | bilinear | "
     "bicubic | trilinear | lanczos | area | nearest-exact (got x)"),
    (lambda: F.interpolate(X, 0), RuntimeError,
     "Input and output sizes should be greater than 0, but got input (H: 4, W: 4) output (H: 0, W: 0)"),
    (lambda: F.interpolate(X, (1, 2, 3)), ValueError,
     "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of [4, 4] "
     "and output size of (1, 2, 3). Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, "
     "o2, ...,oK) format."),
    (lambda: F.interpolate(X, 2, antialias=True), ValueError,
     "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"),
    (lambda: F.interpolate(X, 2, mode="bilinear", recompute_scale_factor=True), ValueError,
     "recompute_scale_factor is not meaningful with an explicit size."),
    (lambda: F.interpolate(X.long(), 2), NotImplementedError,
     "\"upsample_nearest2d_channels_last\" not implemented for 'Long'"),
    (lambda: F.interpolate(torch.zeros(2, 0, 4, 4), 2), RuntimeError,
     "Non-empty 4D data tensor expected but got a tensor with sizes [2, 0, 4, 4]"),
]  # fmt: skip


@pytest.mark.parametrize("run, kind, text", ERRORS)
def test_errors(run, kind, text):
    with pytest.raises(kind) as caught:
        run()
    assert str(caught.value) == text
