import math
import subprocess
import sys

import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

# name, NumPy's function, the interval it is tried on, whether it takes complex numbers
FUNCTIONS = [
    ("exp", np.exp, (-2, 2), True),
    ("exp2", np.exp2, (-2, 2), False),
    ("expm1", np.expm1, (-2, 2), True),
    ("log", np.log, (0.2, 3), True),
    ("log2", np.log2, (0.2, 3), True),
    ("log10", np.log10, (0.2, 3), True),
    ("log1p", np.log1p, (-0.6, 2), True),
    ("sqrt", np.sqrt, (0.2, 3), True),
    ("sin", np.sin, (-3, 3), True),
    ("cos", np.cos, (-3, 3), True),
    ("tan", np.tan, (-1, 1), True),
    ("sinh", np.sinh, (-2, 2), True),
    ("cosh", np.cosh, (-2, 2), True),
    ("tanh", np.tanh, (-2, 2), True),
    ("asin", np.arcsin, (-0.8, 0.8), True),
    ("acos", np.arccos, (-0.8, 0.8), True),
    ("atan", np.arctan, (-0.8, 0.8), True),
    ("asinh", np.arcsinh, (-2, 2), True),
    ("acosh", np.arccosh, (1.2, 3), True),
    ("atanh", np.arctanh, (-0.8, 0.8), True),
    ("sinc", np.sinc, (0.2, 2), False),
    ("deg2rad", np.deg2rad, (-200, 200), False),
    ("rad2deg", np.rad2deg, (-4, 4), False),
    ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), (-3, 3), True),
    ("logit", lambda x: np.log(x / (1 - x)), (0.1, 0.9), False),
    ("erf", np.vectorize(math.erf), (-2, 2), False),
    ("erfc", np.vectorize(math.erfc), (-2, 2), False),
    ("lgamma", np.vectorize(math.lgamma), (0.3, 4), False),
]
names = [row[0] for row in FUNCTIONS]


def sample(interval, kind="f", shape=(2, 3)):
    rng = np.random.default_rng(1)
    made = rng.uniform(*interval, shape)
    return made + 1j * rng.uniform(0.1, 0.5, shape) if kind == "c" else made


@pytest.mark.parametrize("name, reference, interval, complex_too", FUNCTIONS, ids=names)
def test_value_and_derivatives(name, reference, interval, complex_too):
    x = sample(interval)
    function = getattr(torch, name)
    np.testing.assert_allclose(function(torch.tensor(x)).numpy(), reference(x), rtol=1e-12)
    np.testing.assert_allclose(getattr(torch.tensor(x), name)().numpy(), reference(x), rtol=1e-12)
    check(function, x)
    if complex_too:
        z = sample(interval, "c")
        np.testing.assert_allclose(function(torch.tensor(z)).numpy(), reference(z), rtol=1e-9)
        check(function, z)


@pytest.mark.parametrize("name, reference, interval, complex_too", FUNCTIONS, ids=names)
def test_dtypes_layouts_and_twins(name, reference, interval, complex_too):
    x = sample(interval).astype(np.float32)
    function = getattr(torch, name)
    half = function(torch.tensor(x).half())
    assert half.dtype is torch.float16
    np.testing.assert_allclose(half.float().numpy(), reference(x.astype(np.float16).astype(np.float32)), rtol=3e-3)
    whole = function(torch.tensor([1, 2] if name == "acosh" else [0, 1]))
    assert whole.dtype is torch.float32
    turned = torch.from_numpy(x.T)
    assert function(turned).stride() == turned.stride()
    assert function(torch.tensor(x[0, 0])).shape == ()
    assert function(torch.zeros(0, 3)).shape == (0, 3)
    written = torch.tensor(x)
    assert getattr(written, name + "_")() is written
    np.testing.assert_array_equal(written.numpy(), function(torch.tensor(x)).numpy())
    out = torch.zeros(2, 3)
    assert function(torch.tensor(x), out=out) is out
    np.testing.assert_array_equal(out.numpy(), written.numpy())


@pytest.mark.parametrize(
    "name, node, saved",
    [
        ("exp", "ExpBackward0", "_saved_result"),
        ("log1p", "Log1PBackward0", "_saved_self"),
        ("log2", "Log2Backward0", "_saved_self"),
        ("exp2", "Exp2Backward0", "_saved_result"),
        ("deg2rad", "Deg2RadBackward0", None),
        ("sigmoid", "SigmoidBackward0", "_saved_result"),
    ],
)
def test_node(name, node, saved):
    x = torch.tensor([0.5], requires_grad=True)
    made = getattr(torch, name)(x).grad_fn
    assert made.name() == node
    assert [n for n in dir(made) if n.startswith("_saved")] == ([saved] if saved else [])
    assert made.next_functions[0][0].variable is x


def grad(function, *values):
    leaves = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
    return [g.item() for g in torch.autograd.grad(function(*leaves), leaves)]


def test_gradients_at_the_edge():
    assert grad(torch.sinc, 0.0) == [0.0]
    assert grad(torch.expm1, -40.0) == [4.248354255291589e-18]
    assert grad(torch.sqrt, 0.0) == [math.inf]
    assert grad(torch.atan2, 0.0, 0.0) == [0.0, -0.0]
    assert grad(torch.xlogy, 0.0, 2.0) == [math.log(2), 0.0]
    assert grad(torch.xlogy, 0.0, 0.0)[0] == 0.0
    assert grad(torch.logaddexp, math.inf, 1.0) == [1.0, 0.0]
    assert grad(torch.acos, 1.0) == [-math.inf]
    assert grad(lambda x: torch.logit(x, eps=0.1), 0.05) == [0.0]
    assert math.isnan(grad(torch.logit, 2.0)[0])


def test_sigmoid_neither_overflows_nor_loses_small_values():
    found = torch.sigmoid(torch.tensor([-1000.0, -20.0, 1000.0])).numpy()
    np.testing.assert_allclose(found, [0.0, 2.0611537e-09, 1.0], rtol=1e-6)


@pytest.mark.parametrize(
    "name, reference",
    [("atan2", np.arctan2), ("hypot", np.hypot), ("logaddexp", np.logaddexp), ("logaddexp2", np.logaddexp2)],
)
def test_two_operands(name, reference):
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((3, 1)), rng.standard_normal(4)
    function = getattr(torch, name)
    np.testing.assert_allclose(function(torch.tensor(x), torch.tensor(y)).numpy(), reference(x, y), rtol=1e-12)
    check(function, x, y)
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'other' \(position 2\) must be Tensor, not int"):
        function(torch.tensor(x), 2)


def test_xlogy_with_numbers():
    x = torch.tensor([0.0, 0.5, 2.0], requires_grad=True)
    assert torch.xlogy(x, 2).grad_fn.name() == "XlogyBackward2"
    assert torch.xlogy(2, x).grad_fn.name() == "XlogyBackward1"
    assert torch.xlogy(x, x).grad_fn.name() == "XlogyBackward0"
    assert torch.xlogy(torch.tensor([0.0]), torch.tensor([0.0])).item() == 0.0
    check(torch.xlogy, [0.5, 2.0], [0.3, 4.0])
    check(torch.special.xlog1py, [0.5, 2.0], [0.3, 4.0])


def test_erfinv_digamma_polygamma():
    x = np.array([-0.7, 0.1, 0.9])
    np.testing.assert_allclose(torch.erf(torch.erfinv(torch.tensor(x))).numpy(), x, rtol=1e-12)
    check(torch.erfinv, x)
    check(torch.digamma, [0.4, 2.5])
    check(lambda a: torch.polygamma(2, a), [0.4, 2.5])
    euler = 0.5772156649015329
    np.testing.assert_allclose(torch.digamma(torch.tensor([1.0], dtype=torch.float64)).item(), -euler, rtol=1e-12)
    assert torch.digamma(torch.tensor([0.0, -0.0])).tolist() == [-math.inf, math.inf]
    assert torch.polygamma(1, torch.tensor(1.0, dtype=torch.float64)).item() == pytest.approx(math.pi**2 / 6)


@pytest.mark.parametrize("name", ["erf", "lgamma", "digamma", "logit"])
def test_complex_numbers_are_refused(name):
    with pytest.raises(NotImplementedError, match="not implemented for 'ComplexFloat'"):
        getattr(torch, name)(torch.tensor([1j]))


def test_arguments():
    with pytest.raises(TypeError, match=r"exp\(\): argument 'input' \(position 1\) must be Tensor, not float"):
        torch.exp(1.0)
    with pytest.raises(TypeError, match=r"exp\(\) missing 1 required positional argument"):
        torch.exp()
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.exp(torch.ones(2), out=torch.zeros(2, dtype=torch.int64))


def test_scipy_is_loaded_only_when_needed():
    code = (
        "import sys, chainrule as torch; torch.exp(torch.ones(2));"
        "assert not any(m.startswith('scipy') for m in sys.modules);"
        "torch.erf(torch.ones(2)); assert 'scipy.special' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
