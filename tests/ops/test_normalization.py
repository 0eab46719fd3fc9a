import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as torch
from chainrule.nn import functional as F
from tests.ops.numeric import check

RNG = np.random.default_rng(0)
EPS = 1e-5


def draw(*shape):
    return RNG.standard_normal(shape)


def standard(x, axes, eps=EPS):
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + eps)


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
    st.data(),
    st.sampled_from([np.float16, np.float32, np.float64]),
)
@settings(max_examples=60, deadline=None)
def test_layers(shape, data, dtype):
    count = data.draw(st.integers(1, len(shape)))
    inner = shape[len(shape) - count :]
    x, w, b = (draw(*s).astype(dtype) for s in (shape, inner, inner))
    axes = tuple(range(len(shape) - count, len(shape)))
    exact = [a.astype(np.float64) for a in (x, w, b)]
    tolerance = {np.float16: 2e-2, np.float32: 2e-4, np.float64: 1e-10}[dtype]
    for weight, bias in ((None, None), (w, None), (None, b), (w, b)):
        found = F.layer_norm(torch.tensor(x), inner, *(None if a is None else torch.tensor(a) for a in (weight, bias)))
        expected = standard(exact[0], axes) * (1 if weight is None else exact[1]) + (0 if bias is None else exact[2])
        assert found.numpy().dtype == dtype
        np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)
    found = F.rms_norm(torch.tensor(x), inner, torch.tensor(w), 0.1)
    root = np.sqrt((exact[0] ** 2).mean(axes, keepdims=True) + 0.1)
    np.testing.assert_allclose(found.numpy(), exact[0] / root * exact[1], rtol=tolerance, atol=tolerance)


def test_many_rows_are_worked_on_in_blocks():
    x, w, b = draw(700, 100), draw(100), draw(100)
    leaves = [torch.tensor(v, requires_grad=True) for v in (x, w, b)]
    weight = torch.tensor(draw(700, 100))
    found = F.layer_norm(leaves[0], (100,), *leaves[1:])
    np.testing.assert_allclose(found.detach().numpy(), standard(x, 1) * w + b, rtol=1e-10)
    (found * weight).sum().backward()
    parts = [torch.tensor(v, requires_grad=True) for v in (x, w, b)]
    for i in range(0, 700, 70):
        (F.layer_norm(parts[0][i : i + 70], (100,), *parts[1:]) * weight[i : i + 70]).sum().backward()
    for whole, part in zip(leaves, parts):
        np.testing.assert_allclose(whole.grad.numpy(), part.grad.numpy(), rtol=1e-8, atol=1e-10)


def test_derivatives():
    check(lambda x, w, b: F.layer_norm(x, (3,), w, b), draw(2, 2, 3), draw(3), draw(3), order=3)
    check(lambda x, w, b: F.layer_norm(x, (2, 3), w, b), draw(2, 2, 3), draw(2, 3), draw(2, 3))
    check(lambda x, w: F.rms_norm(x, (3,), w), draw(2, 2, 3), draw(3))
    check(lambda x, w, b: F.group_norm(x, 2, w, b), draw(2, 4, 2), draw(4), draw(4))
    check(lambda x, w, b: F.batch_norm(x, None, None, w, b, True), draw(3, 2, 2), draw(2), draw(2), order=3)
    check(lambda x, w, b: F.batch_norm(x, None, None, w, b, True), draw(4, 3), draw(3), draw(3))
    check(lambda x: F.batch_norm(x, None, None, training=True), draw(2, 2, 40))
    running = torch.tensor([0.1, 0.2], dtype=torch.float64), torch.tensor([1.0, 2.0], dtype=torch.float64)
    check(lambda x, w, b: F.batch_norm(x, *running, w, b), draw(3, 2, 2), draw(2), draw(2))
    check(lambda x, w, b: F.instance_norm(x, None, None, w, b), draw(2, 2, 3), draw(2), draw(2))
    check(lambda x: F.local_response_norm(x, 2, 0.5, 0.7), draw(2, 3, 3))


@pytest.mark.parametrize("shape", [(5, 3), (4, 3, 2), (2, 3, 4, 5), (2, 3, 2, 2, 2)])
def test_batches(shape):
    x, w, b = draw(*shape), draw(3), draw(3)
    axes = (0, *range(2, len(shape)))
    beside = (3, *[1] * (len(shape) - 2))
    mean, var = draw(3), RNG.random(3) + 0.5
    running = [torch.tensor(mean), torch.tensor(var)]
    found = F.batch_norm(torch.tensor(x), *running, torch.tensor(w), torch.tensor(b))
    expected = (x - mean.reshape(beside)) / np.sqrt(var.reshape(beside) + EPS) * w.reshape(beside) + b.reshape(beside)
    np.testing.assert_allclose(found.numpy(), expected)
    assert running[0].tolist() == mean.tolist()
    found = F.batch_norm(torch.tensor(x), *running, torch.tensor(w), torch.tensor(b), True, 0.25)
    np.testing.assert_allclose(found.numpy(), standard(x, axes) * w.reshape(beside) + b.reshape(beside))
    np.testing.assert_allclose(running[0].numpy(), 0.75 * mean + 0.25 * x.mean(axes))
    np.testing.assert_allclose(running[1].numpy(), 0.75 * var + 0.25 * x.var(axes, ddof=1))
    assert running[0]._version == 0  # PyTorch does not count it as a change either
    found = torch.native_batch_norm(torch.tensor(x), None, None, None, None, True, 0.1, EPS)
    np.testing.assert_allclose(found[1].numpy(), x.mean(axes))
    np.testing.assert_allclose(found[2].numpy(), 1 / np.sqrt(x.var(axes) + EPS))
    assert [len(v) for v in torch.native_batch_norm(torch.tensor(x), None, None, *running, False, 0.1, EPS)[1:]] == [
        0,
        0,
    ]


def test_groups_and_instances():
    x, w, b = draw(2, 6, 3, 2), draw(6), draw(6)
    weight, bias = torch.tensor(w), torch.tensor(b)
    for groups in (1, 2, 3, 6):
        expected = standard(x.reshape(2, groups, -1), 2).reshape(x.shape) * w[:, None, None] + b[:, None, None]
        np.testing.assert_allclose(F.group_norm(torch.tensor(x), groups, weight, bias).numpy(), expected)
    np.testing.assert_allclose(F.instance_norm(torch.tensor(x), None, None, weight, bias).numpy(), expected)
    out, mean, rstd = torch.native_group_norm(torch.tensor(x), weight, bias, 2, 6, 6, 3, EPS)
    np.testing.assert_allclose(mean.numpy(), x.reshape(2, 3, -1).mean(2))
    np.testing.assert_allclose(rstd.numpy(), 1 / np.sqrt(x.reshape(2, 3, -1).var(2) + EPS))
    running = torch.zeros(6, dtype=torch.float64), torch.ones(6, dtype=torch.float64)
    F.instance_norm(torch.tensor(x), *running, momentum=0.5)
    np.testing.assert_allclose(running[0].numpy(), x.mean((2, 3)).mean(0) / 2)
    np.testing.assert_allclose(running[1].numpy(), 0.5 + x.var((2, 3), ddof=1).mean(0) / 2)
    used = F.instance_norm(torch.tensor(x), *running, use_input_stats=False)
    scale = np.sqrt(running[1].numpy() + EPS)[:, None, None]
    np.testing.assert_allclose(used.numpy(), (x - running[0].numpy()[:, None, None]) / scale)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(2, 5, 3), (2, 5, 3, 2), (1, 5, 2, 2, 2)])
def test_neighbouring_channels(size, shape):
    x = draw(*shape)
    expected = np.empty_like(x)
    for c in range(5):
        around = x[:, max(c - size // 2, 0) : c + (size - 1) // 2 + 1]
        expected[:, c] = x[:, c] / (2 + 0.3 * (around**2).sum(1) / size) ** 0.6
    np.testing.assert_allclose(F.local_response_norm(torch.tensor(x), size, 0.3, 0.6, 2).numpy(), expected)


def test_nodes_and_native_layer_norm():
    x = torch.tensor(draw(2, 4, 3), requires_grad=True)
    for made, name in (
        (F.layer_norm(x, (3,)), "NativeLayerNorm"), (F.group_norm(x, 2), "NativeGroupNorm"), (F.rms_norm(x, (3,)), "Mul"),
        (F.batch_norm(x, None, None, training=True), "NativeBatchNorm"), (F.instance_norm(x), "View"),
        (F.local_response_norm(x, 2), "Div"), (F.rms_norm(x.half(), (3,)), "ToCopy"),
        (torch.layer_norm(x, (3,), None, None, 1e-5, True), "NativeLayerNorm"),
        (torch.group_norm(x, 2), "NativeGroupNorm"),
        (torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, True), "NativeBatchNorm"),
        (torch.instance_norm(x, None, None, None, None, True, 0.1, 1e-5, True), "View"),
    ):  # fmt: skip
        assert made.grad_fn.name() == name + "Backward0"
    out, mean, rstd = torch.native_layer_norm(x, (4, 3), None, None, EPS)
    assert mean.shape == (2, 1, 1) and not mean.requires_grad
    np.testing.assert_allclose(mean.reshape(-1).numpy(), x.detach().numpy().mean((1, 2)))
    np.testing.assert_allclose(rstd.reshape(-1).numpy(), 1 / np.sqrt(x.detach().numpy().var((1, 2)) + EPS))


def test_half_precision_beside_single():
    x, w = torch.tensor(draw(4, 6)).half(), torch.tensor(draw(6)).float().requires_grad_()
    for made in (F.layer_norm(x, (6,), w), F.batch_norm(x, None, None, w, training=True), F.group_norm(x, 2, w)):
        assert made.dtype is torch.float16
        (g,) = torch.autograd.grad(made.float().sum(), w)
        assert g.dtype is torch.float32
    with pytest.raises(RuntimeError, match=r"mixed dtype \(CPU\): expect parameter to have scalar type of Float"):
        F.layer_norm(x.float(), (6,), w.double())


def test_empty_and_constant_inputs():
    leaf = torch.zeros(0, 5, requires_grad=True)
    weight = torch.ones(5, requires_grad=True)
    F.layer_norm(leaf, (5,), weight).sum().backward()
    assert weight.grad.tolist() == [0.0] * 5 and leaf.grad.shape == (0, 5)
    assert F.layer_norm(torch.zeros(3, 0), (0,)).shape == (3, 0)
    assert F.batch_norm(torch.zeros(0, 4, 2), None, None, training=True).shape == (0, 4, 2)
    assert F.layer_norm(torch.full((2, 4), 3.0), (4,)).tolist() == [[0.0] * 4] * 2
    assert F.layer_norm(torch.tensor([1.0, math.nan]), (2,)).isnan().all()


def test_refusals():
    x, image = torch.ones(2, 5), torch.ones(2, 4, 3, 3)
    cases = [
        (TypeError, r"argument 'normalized_shape' \(position 2\) must be tuple of ints, not int",
         lambda: F.layer_norm(x, 5)),
        (RuntimeError, r"Given normalized_shape=\[4\], expected input with shape \[\*, 4\], but got input of size\[2, 5\]",
         lambda: F.layer_norm(x, (4,))),
        (RuntimeError, "Expected normalized_shape to be at least 1-dimensional", lambda: F.layer_norm(x, ())),
        (RuntimeError, r"Expected weight to be of same shape as normalized_shape, but got weight of shape \[4\]",
         lambda: F.layer_norm(x, (5,), torch.ones(4))),
        (NotImplementedError, "\"LayerNormKernelImpl\" not implemented for 'Long'", lambda: F.layer_norm(x.long(), (5,))),
        (RuntimeError, r"expected input with shape \[\*4\]", lambda: F.rms_norm(x, (4,))),
        (RuntimeError, "Expected number of channels in input to be divisible by num_groups",
         lambda: F.group_norm(image, 3)),
        (ZeroDivisionError, "by zero", lambda: F.group_norm(image, 0)),
        (RuntimeError, "Expected at least 2 dimensions for input tensor but received 1", lambda: F.group_norm(x[0], 1)),
        (RuntimeError, "Expected weight to be a vector of size equal to the number of channels in input",
         lambda: F.group_norm(image, 2, torch.ones(5))),
        (ValueError, r"Expected more than 1 value per channel when training, got input size \[1, 1\]",
         lambda: F.group_norm(x[:1, :1], 1)),
        (ValueError, r"Expected more than 1 value per channel when training, got input size torch.Size\(\[1, 5\]\)",
         lambda: F.batch_norm(x[:1], None, None, training=True)),
        (RuntimeError, "running_mean must be defined in evaluation mode", lambda: F.batch_norm(image, None, None)),
        (RuntimeError, "running_mean should contain 4 elements not 3",
         lambda: F.batch_norm(image, torch.ones(3), torch.ones(4))),
        (RuntimeError, "weight should contain 4 elements not 5",
         lambda: F.batch_norm(image, torch.ones(4), torch.ones(4), torch.ones(5))),
        (ValueError, "running_mean and running_var must either both be None or neither be None",
         lambda: F.batch_norm(image, torch.ones(4), None, training=True)),
        (IndexError, "Dimension out of range", lambda: F.batch_norm(x[0], None, None, training=True)),
        (NotImplementedError, "\"batch_norm\" not implemented for 'Long'",
         lambda: F.batch_norm(x.long(), torch.ones(5), torch.ones(5))),
        (TypeError, r"batch_norm\(\): argument 'momentum' \(position 7\) must be float, not NoneType",
         lambda: F.batch_norm(image, None, None, training=True, momentum=None)),
        (ValueError, r"Expected more than 1 spatial element when training, got input size torch.Size\(\[2, 5\]\)",
         lambda: F.instance_norm(x)),
        (RuntimeError, "Expected running_mean and running_var to be defined when use_input_stats is false",
         lambda: F.instance_norm(image, use_input_stats=False)),
        (ValueError, "Expected 3D or higher dimensionality", lambda: F.local_response_norm(x, 2)),
    ]  # fmt: skip
    for error, text, call in cases:
        with pytest.raises(error, match=text):
            call()
