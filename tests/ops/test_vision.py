import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as torch
from tests.ops.numeric import check

F = torch.nn.functional


def reflected(i, n, align):
    low, high = (0, n - 1) if align else (-0.5, n - 0.5)
    while not low <= i <= high and low < high:
        i = 2 * low - i if i < low else 2 * high - i
    return i if low < high else 0


def moved(at, n, padding, align):
    if padding == "reflection":
        at = reflected(at, n, align)
    return at if padding == "zeros" else min(max(at, 0), n - 1)


def weights(mode, at):
    """(place, weight) of the neighbours of a coordinate."""
    if mode == "nearest":
        return [(round(at), 1)]
    k = int(np.floor(at))
    t = at - k
    if mode == "bilinear":
        return [(k, 1 - t), (k + 1, t)]
    a = -0.75
    inner = lambda d: (a + 2) * d**3 - (a + 3) * d**2 + 1  # noqa: E731
    outer = lambda d: a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a  # noqa: E731
    return [(k - 1, outer(t + 1)), (k, inner(t)), (k + 1, inner(1 - t)), (k + 2, outer(2 - t))]


def by_definition(x, grid, mode, padding, align):
    n, c, height, width = x.shape
    out = np.zeros((n, c, *grid.shape[1:3]))
    for i, row, column in np.ndindex(n, *grid.shape[1:3]):
        lines = []
        for g, size in zip(grid[i, row, column][::-1], (height, width)):
            at = (g + 1) / 2 * (size - 1) if align else ((g + 1) * size - 1) / 2
            if mode != "bicubic":
                lines.append(weights(mode, moved(at, size, padding, align)))
            else:
                lines.append([(int(moved(k, size, padding, align)), w) for k, w in weights(mode, at)])
        for y, wy in lines[0]:
            for z, wz in lines[1]:
                if 0 <= y < height and 0 <= z < width:
                    out[i, :, row, column] += wy * wz * x[i, :, y, z]
    return out


MODES = [(m, p, a) for m in ("bilinear", "nearest", "bicubic") for p in ("zeros", "border", "reflection")
         for a in (True, False)]  # fmt: skip


@pytest.mark.parametrize("mode, padding, align", MODES)
@settings(max_examples=8, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_images_at_the_points_of_a_grid(mode, padding, align, height, width, seed):
    rng = np.random.default_rng(seed)
    x, grid = rng.standard_normal((2, 3, height, width)), rng.uniform(-2.2, 2.2, (2, 2, 3, 2))
    made = F.grid_sample(torch.tensor(x), torch.tensor(grid), mode, padding, align)
    np.testing.assert_allclose(made.numpy(), by_definition(x, grid, mode, padding, align), atol=1e-9)


@pytest.mark.parametrize("mode, padding, align", MODES)
def test_derivatives_of_grid_sample(mode, padding, align):
    rng = np.random.default_rng(0)
    x, grid = rng.standard_normal((1, 2, 3, 4)), rng.uniform(-1.3, 1.3, (1, 2, 3, 2))
    check(lambda x, g: F.grid_sample(x, g, mode, padding, align) ** 2, x, grid)
    if mode != "bicubic":
        x, grid = rng.standard_normal((1, 1, 2, 3, 2)), rng.uniform(-1.3, 1.3, (1, 1, 2, 2, 3))
        check(lambda x, g: F.grid_sample(x, g, mode, padding, align), x, grid)


def test_the_grid_of_the_identity_gives_the_image_back():
    x = torch.randn(2, 3, 4, 5, dtype=torch.float64)
    maps = torch.eye(2, 3, dtype=torch.float64).expand(2, 2, 3)
    for align in (True, False):
        grid = F.affine_grid(maps, x.shape, align)
        assert grid.shape == (2, 4, 5, 2)
        np.testing.assert_allclose(F.grid_sample(x, grid, align_corners=align).numpy(), x.numpy(), atol=1e-12)
    solid = torch.randn(1, 1, 2, 3, 4, dtype=torch.float64)
    grid = F.affine_grid(torch.eye(3, 4, dtype=torch.float64)[None], solid.shape, False)
    np.testing.assert_allclose(F.grid_sample(solid, grid, align_corners=False).numpy(), solid.numpy(), atol=1e-12)


def test_what_lies_outside_is_not_read():
    x = torch.full((1, 1, 2, 2), float("inf"))
    grid = torch.full((1, 1, 1, 2), 5.0)
    assert F.grid_sample(x, grid, align_corners=False).item() == 0


def test_affine_grid():
    check(lambda t: F.affine_grid(t, (2, 1, 3, 2), False), np.random.default_rng(1).standard_normal((2, 2, 3)))
    check(lambda t: F.affine_grid(t, (1, 1, 2, 3, 2), True), np.random.default_rng(2).standard_normal((1, 3, 4)))
    made = F.affine_grid(torch.eye(2, 3)[None].requires_grad_(), (1, 1, 1, 2), False)
    assert made.grad_fn.name() == "AffineGridGeneratorBackward0"
    assert made.tolist() == [[[[-0.5, 0.0], [0.5, 0.0]]]]


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.sampled_from([(), (2,), (2, 2)]))
def test_pixels_and_channels(r, channels, height, width, outer):
    x = torch.arange(float(np.prod(outer) * channels * r * r * height * width))
    x = x.reshape(*outer, channels * r * r, height, width)
    made = F.pixel_shuffle(x, r)
    assert made.shape == (*outer, channels, height * r, width * r)
    assert torch.equal(F.pixel_unshuffle(made, r), x)
    if r > 1:
        assert made[..., 0, 0, 1].tolist() == x[..., 1, 0, 0].tolist()


def test_channels_by_turns():
    x = torch.arange(6.0).reshape(1, 6, 1)
    assert F.channel_shuffle(x, 2).flatten().tolist() == [0, 3, 1, 4, 2, 5]
    assert torch.equal(F.channel_shuffle(F.channel_shuffle(x, 2), 3), x)


def test_derivatives_and_nodes_of_rearranged_channels():
    rng = np.random.default_rng(3)
    check(lambda x: F.pixel_shuffle(x, 2) ** 2, rng.standard_normal((1, 4, 2, 3)))
    check(lambda x: F.pixel_unshuffle(x, 2) ** 2, rng.standard_normal((2, 4, 2)))
    check(lambda x: F.channel_shuffle(x, 3) ** 2, rng.standard_normal((2, 6, 2)))
    x = torch.randn(1, 4, 2, 2, requires_grad=True)
    assert F.pixel_shuffle(x, 2).grad_fn.name() == "PixelShuffleBackward0"
    assert F.pixel_unshuffle(x, 2).grad_fn.name() == "PixelUnshuffleBackward0"
    assert F.channel_shuffle(x, 2).grad_fn.name() == "ChannelShuffleBackward0"
    node = F.grid_sample(x, torch.zeros(1, 1, 1, 2), align_corners=False).grad_fn
    assert node.name() == "GridSampler2DBackward0" and node._saved_interpolation_mode == 0


def test_corners_not_said_warn():
    with pytest.warns(
        UserWarning, match="Default grid_sample and affine_grid behavior has changed to align_corners=False"
    ):
        F.grid_sample(torch.zeros(1, 1, 2, 2), torch.zeros(1, 1, 1, 2))


X, G = torch.zeros(2, 3, 5, 6), torch.zeros(2, 4, 4, 2)
ERRORS = [
    (lambda: F.grid_sample(X, G, "x"), ValueError,
     "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: 'x'"),
    (lambda: F.grid_sample(X[:1], G, align_corners=True), RuntimeError,
     "grid_sampler(): expected grid and input to have same batch size, but got input with sizes [1, 3, 5, 6] and grid with "
     "sizes [2, 4, 4, 2]"),
    (lambda: F.grid_sample(X, G[..., :1], align_corners=True), RuntimeError,
     "grid_sampler(): expected grid to have size 2 in last dimension, but got grid with sizes [2, 4, 4, 1]"),
    (lambda: F.grid_sample(X, G.double(), align_corners=True), RuntimeError,
     "expected scalar type Float but found Double"),
    (lambda: F.affine_grid(torch.zeros(2, 3), (2, 3, 4, 5), True), ValueError,
     "Expected a batch of 2D affine matrices of shape Nx2x3 for size (2, 3, 4, 5). Got torch.Size([2, 3])."),
    (lambda: F.pixel_shuffle(torch.zeros(1, 3, 2, 2), 2), RuntimeError,
     "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
     "input.size(-3)=3 is not divisible by 4"),
    (lambda: F.pixel_unshuffle(X, 2), RuntimeError,
     "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=5 is not divisible by 2"),
    (lambda: F.channel_shuffle(X, 2), RuntimeError,
     "Number of channels must be divisible by groups. Got 3 channels and 2 groups."),
]  # fmt: skip


@pytest.mark.parametrize("run, kind, text", ERRORS)
def test_errors(run, kind, text):
    with pytest.raises(kind) as caught:
        run()
    assert str(caught.value) == text
