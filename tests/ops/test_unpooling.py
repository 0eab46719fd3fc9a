import math

import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

F = torch.nn.functional
SIZES = {1: (6,), 2: (6, 4), 3: (4, 6, 4)}


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_values_go_back_to_their_places(dims):
    x = torch.rand(2, 3, *SIZES[dims]) + 1
    pool, unpool = getattr(F, f"max_pool{dims}d"), getattr(F, f"max_unpool{dims}d")
    values, places = pool(x, 2, return_indices=True)
    made = unpool(values, places, 2)
    assert made.shape == x.shape and torch.equal(pool(made, 2), values)
    assert torch.equal(made[made != 0], x[made != 0]) and int((made != 0).sum()) == values.numel()
    larger = [n + 1 for n in SIZES[dims]]
    assert unpool(values, places, 2, output_size=larger).shape == (2, 3, *larger)
    assert unpool(values[0], places[0], 2).shape == x[0].shape
    check(lambda v: unpool(v, places, 2) ** 2, values.numpy().astype(float))


def test_of_values_for_one_place_the_last_stays_and_gets_the_gradient():
    values = torch.tensor([[[1.0, 2.0]]], requires_grad=True)
    made = F.max_unpool1d(values, torch.tensor([[[3, 3]]]), 2)
    assert made.tolist() == [[[0, 0, 0, 2]]]
    assert torch.autograd.grad(made.sum(), values)[0].tolist() == [[[0, 1]]]


def test_nodes():
    values, places = F.max_pool2d(torch.randn(1, 1, 4, 4, requires_grad=True), 2, return_indices=True)
    assert F.max_unpool2d(values, places, 2).grad_fn.name() == "MaxUnpool2DBackward0"
    made = F.fractional_max_pool3d(torch.randn(1, 1, 5, 5, 5, requires_grad=True), 2, output_size=3)
    assert made.grad_fn.name() == "FractionalMaxPool3DBackward0" and made.grad_fn._saved_output_size == (3, 3, 3)


@pytest.mark.parametrize("dims", [2, 3])
def test_fractional_windows_cover_the_image_and_hold_the_largest(dims):
    rng = np.random.default_rng(0)
    x = rng.permutation(2 * 3 * math.prod((7, 6, 8)[:dims])).reshape(2, 3, *(7, 6, 8)[:dims]).astype(float)
    samples = torch.tensor(rng.random((2, 3, dims)))
    pool = getattr(F, f"fractional_max_pool{dims}d")
    values, places = pool(torch.tensor(x), 2, output_size=4, return_indices=True, _random_samples=samples)
    found = np.take_along_axis(x.reshape(2, 3, -1), places.numpy().reshape(2, 3, -1), -1)
    np.testing.assert_array_equal(found.reshape(values.shape), values.numpy())
    rows = np.unravel_index(places.numpy(), x.shape[2:])[0]
    assert (np.diff(rows, axis=2) >= -1).all()  # windows move on, and overlap by one row at most
    check(lambda x: pool(x, 2, output_size=4, _random_samples=samples) ** 2, x / 10)
    assert pool(torch.tensor(x), 2, output_ratio=(0.5,) * dims).shape == (2, 3, *[int(n / 2) for n in x.shape[2:]])


def test_fractional_windows_by_hand():
    # Steps of (5 - 2) / (3 - 1) = 1.5 from a sample of 0.5: 0, then int(2.25) - int(0.75) = 2, and the last at the end.
    x = torch.tensor([[[9.0, 1, 2, 3, 4]] * 2])
    samples = torch.tensor([[[0.5, 0.0]]])
    assert F.fractional_max_pool2d(x, (2, 2), output_size=(1, 3), _random_samples=samples).tolist() == [[[9, 3, 4]]]


def test_the_generator_places_the_windows():
    x = torch.randn(1, 4, 9, 9)
    torch.manual_seed(3)
    first = F.fractional_max_pool2d(x, 2, output_size=5)
    torch.manual_seed(3)
    samples = torch.rand(1, 4, 2)
    assert torch.equal(first, F.fractional_max_pool2d(x, 2, output_size=5, _random_samples=samples))


V, I = torch.zeros(1, 1, 2, 2), torch.tensor([[[[0, 2], [8, 10]]]])
ERRORS = [
    (lambda: F.max_unpool2d(V, I.int(), 2), RuntimeError, "elements in indices should be type int64 but got: Int"),
    (lambda: F.max_unpool2d(V, I[..., :1], 2), RuntimeError,
     "Expected shape of indices to be same as that of the input tensor ([1, 1, 2, 2]) but got indices tensor with shape: "
     "[1, 1, 2, 1]"),
    (lambda: F.max_unpool2d(V, I + 12, 2), RuntimeError, "Found an invalid max index: 22 (output volumes are of size 4x4)"),
    (lambda: F.max_unpool2d(V, I, 2, output_size=[9, 9]), ValueError,
     'invalid output_size "[9, 9]" (dim 0 must be between 2 and 6)'),
    (lambda: F.max_unpool2d(V.long(), I, 2), NotImplementedError, "\"max_unpool2d\" not implemented for 'Long'"),
    (lambda: F.fractional_max_pool2d(V, 2), ValueError,
     "fractional_max_pool2d requires specifying either an output_size or an output_ratio"),
    (lambda: F.fractional_max_pool2d(V, 2, output_size=2), RuntimeError,
     "fractional_max_pool2d(): pool height 2 too large relative to input height 2"),
]  # fmt: skip


@pytest.mark.parametrize("run, kind, text", ERRORS)
def test_errors(run, kind, text):
    with pytest.raises(kind) as caught:
        run()
    assert str(caught.value) == text
