import math

import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

F = torch.nn.functional


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


SELU = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "hardtanh": lambda x: np.clip(x, -1, 1),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x: SELU[0] * np.where(x > 0, x, SELU[1] * np.expm1(x)),
    "gelu": lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "silu": lambda x: x * sigmoid(x),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "tanhshrink": lambda x: x - np.tanh(x),
    "hardshrink": lambda x: np.where(abs(x) > 0.5, x, 0),
    "softshrink": lambda x: np.where(abs(x) > 0.5, x - 0.5 * np.sign(x), 0),
    "logsigmoid": lambda x: np.log(sigmoid(x)),
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "tanh": np.tanh,
    "sigmoid": sigmoid,
}
x = np.array([[-4.2, -0.7, -0.2], [0.3, 0.9, 6.5]])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_value_and_derivatives(name):
    function = getattr(F, name)
    np.testing.assert_allclose(function(torch.tensor(x)).numpy(), ACTIVATIONS[name](x), rtol=1e-7, atol=1e-15)
    check(function, x)
    half = function(torch.tensor(x).half())
    assert half.dtype is torch.float16
    np.testing.assert_allclose(
        half.float().numpy(), ACTIVATIONS[name](x.astype(np.float16).astype(float)), rtol=2e-3, atol=5e-4
    )
    assert function(torch.zeros(0, 4)).shape == (0, 4) and function(torch.tensor(0.3)).shape == ()


@pytest.mark.parametrize("name", [n for n in ACTIVATIONS if n not in ("tanh", "sigmoid", "softsign", "tanhshrink")])
def test_large_arrays(name):
    wide = np.random.default_rng(5).standard_normal(20001).astype(np.float32) * 3
    leaf = torch.tensor(wide, requires_grad=True)
    made = getattr(F, name)(leaf)
    np.testing.assert_allclose(made.detach().numpy(), ACTIVATIONS[name](wide.astype(float)), rtol=1e-5, atol=1e-6)
    found = torch.autograd.grad(made, leaf, torch.ones(20001))[0].numpy()
    small = torch.tensor(wide[:100], requires_grad=True)
    expected = torch.autograd.grad(getattr(F, name)(small), small, torch.ones(100))[0].numpy()
    np.testing.assert_allclose(found[:100], expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "name, node",
    [
        ("relu", "Relu"),
        ("relu6", "Hardtanh"),
        ("elu", "Elu"),
        ("selu", "Elu"),
        ("silu", "Silu"),
        ("logsigmoid", "LogSigmoid"),
    ],
)
def test_nodes(name, node):
    assert getattr(F, name)(torch.ones(1, requires_grad=True)).grad_fn.name() == f"{node}Backward0"


@pytest.mark.parametrize(
    "name",
    ["relu", "relu6", "hardtanh", "leaky_relu", "elu", "celu", "selu", "silu", "mish", "hardswish", "hardsigmoid"],
)
def test_in_place(name):
    leaf = torch.tensor(x, requires_grad=True)
    start = leaf * 1
    made = getattr(F, name)(start, inplace=True)
    assert made is start and made._version == 1
    np.testing.assert_allclose(made.detach().numpy(), ACTIVATIONS[name](x), rtol=1e-7)
    found = torch.autograd.grad(made, leaf, torch.ones(2, 3, dtype=torch.float64))
    expected = torch.autograd.grad(getattr(F, name)(leaf), leaf, torch.ones(2, 3, dtype=torch.float64))
    np.testing.assert_allclose(found[0].numpy(), expected[0].numpy(), rtol=1e-9, atol=1e-12)


def grad(function, value):
    leaf = torch.tensor(value, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(function(leaf), leaf)[0].item()


def test_gradients_at_kinks():
    assert grad(F.relu, 0.0) == 0 and grad(F.relu, math.nan) == 1 and grad(F.leaky_relu, 0.0) == 0.01
    assert grad(F.relu6, 0.0) == grad(F.relu6, 6.0) == grad(F.hardtanh, 1.0) == grad(F.hardtanh, -1.0) == 0
    assert grad(F.hardshrink, 0.5) == grad(F.softshrink, 0.5) == 0 and grad(F.elu, 0.0) == 1
    assert grad(F.hardswish, 3.0) == 1 and grad(F.hardswish, -3.0) == grad(F.hardsigmoid, 3.0) == 0
    assert grad(lambda a: F.threshold(a, 1.0, 5.0), 1.0) == 0


def test_softplus_with_beta_and_threshold():
    found = F.softplus(torch.tensor([0.03, 0.05]), beta=10, threshold=0.4).tolist()
    assert found == [pytest.approx(0.0854355), pytest.approx(0.05)]
    check(lambda a: F.softplus(a, 3, 2), x)
    assert F.softplus(torch.tensor([1000.0, -1000.0])).tolist() == [1000.0, 0.0]


def test_parameters():
    check(
        lambda a: F.elu(a, 2.0) + F.celu(a, 0.5) + F.leaky_relu(a, 0.3) + F.leaky_relu(a, -0.5) + F.leaky_relu(a, 2), x
    )
    check(lambda a: F.gelu(a, approximate="tanh"), x)
    check(lambda a: F.threshold(a, 0.5, 3.0), x)
    check(F.prelu, x, [0.2, 0.3, 0.4])
    check(F.prelu, x, [0.2])
    assert F.logsigmoid(torch.tensor([-1000.0, 1000.0])).tolist() == [-1000.0, 0.0]
    np.testing.assert_allclose(F.glu(torch.tensor(x.T), 1).numpy()[:, 0], x[0] * sigmoid(x[1]))


def test_rrelu():
    torch.manual_seed(3)
    leaf = torch.arange(-4.0, 4.0).requires_grad_()
    made = F.rrelu(leaf, training=True)
    slopes = torch.autograd.grad(made, leaf, torch.ones(8))[0].numpy()
    np.testing.assert_allclose(made.detach().numpy(), slopes * leaf.detach().numpy())
    assert (slopes[:5] >= 1 / 8).all() and (slopes[:5] < 1 / 3).all() and (slopes[5:] == 1).all()
    assert F.rrelu(torch.tensor([-1.0])).item() == pytest.approx(-(1 / 8 + 1 / 3) / 2)


def test_errors():
    for run, kind, words in [
        (lambda: F.relu(torch.tensor([True])), RuntimeError, "Boolean inputs not supported for relu"),
        (lambda: F.elu(torch.tensor([1])), NotImplementedError, "\"elu_cpu\" not implemented for 'Long'"),
        (lambda: F.hardtanh(torch.ones(1), 1, -1), ValueError, "min_val cannot be greater than max_val"),
        (lambda: F.celu(torch.ones(1), 0), RuntimeError, "ZeroDivisionError: alpha cannot be 0 for CELU"),
        (
            lambda: F.softshrink(torch.ones(1), -1),
            RuntimeError,
            r"lambda must be in range \[0, 3.40282e\+38\] for input dtype",
        ),
        (lambda: F.gelu(torch.ones(1), "tanh"), TypeError, r"gelu\(\) takes 1 positional argument but 2 were given"),
        (lambda: F.glu(torch.ones(5)), RuntimeError, "Halving dimension must be even, but dimension 0 is size 5"),
        (
            lambda: F.prelu(torch.ones(1, 5), torch.ones(2)),
            RuntimeError,
            "Mismatch of parameter numbers and input channel",
        ),
        (lambda: torch.relu("a"), TypeError, r"relu\(\): argument 'input' \(position 1\) must be Tensor, not str"),
    ]:
        with pytest.raises(kind, match=words):
            run()
