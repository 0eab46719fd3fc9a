import math

import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

rng = np.random.default_rng(4)
x, y, z = rng.standard_normal((3, 2, 3))


def test_lerp():
    assert torch.lerp(torch.tensor([1.0]), torch.tensor([3.0]), 0.25).tolist() == [1.5]
    assert (
        torch.lerp(torch.tensor([0.1]), torch.tensor([0.7]), 1.0).item() == torch.tensor(0.7).item()
    )  # both ends exact
    for weight in (0.3, 0.8):
        check(lambda a, b, w=weight: torch.lerp(a, b, w), x, y)
    check(torch.lerp, x, y, z)
    leaf = torch.ones(1, requires_grad=True)
    assert torch.lerp(leaf, leaf, 0.5).grad_fn.name() == "LerpBackward0"
    assert torch.lerp(leaf, leaf, leaf).grad_fn.name() == "LerpBackward1"
    with pytest.raises(RuntimeError, match="expected dtype float for `end` but got dtype double"):
        torch.lerp(leaf, leaf.double(), 0.5)
    with pytest.raises(NotImplementedError, match="\"lerp_kernel_scalar\" not implemented for 'Long'"):
        torch.lerp(torch.tensor([1]), torch.tensor([1]), 0.5)
    w = torch.zeros(2)
    assert w.lerp_(torch.ones(2), 0.1).tolist() == [pytest.approx(0.1)] * 2 and w._version == 1


@pytest.mark.parametrize("name, reference", [("addcmul", np.multiply), ("addcdiv", np.divide)])
def test_addcmul_and_addcdiv(name, reference):
    function = getattr(torch, name)
    a, b, c = torch.tensor(x), torch.tensor(y), torch.tensor(z)
    np.testing.assert_allclose(function(a, b, c, value=0.5).numpy(), x + 0.5 * reference(y, z), rtol=1e-12)
    np.testing.assert_allclose(
        function(a, 0.5, b, c).numpy(), x + 0.5 * reference(y, z), rtol=1e-12
    )  # the deprecated order
    twin = a.clone()
    assert getattr(twin, name + "_")(b, c, value=2) is twin and twin._version == 1
    np.testing.assert_allclose(twin.numpy(), x + 2 * reference(y, z), rtol=1e-12)
    check(lambda p, q, r: function(p, q, r, value=1.5), x, y[:1], z)
    check(lambda p, q, r: function(p, q, r, value=1.5), x + 1j, y - 1j, z + 0.5j)
    made = function(a.requires_grad_(), b, c)
    assert made.grad_fn.name() == f"{name.title()}Backward0" and made.grad_fn._saved_value == 1


def test_addcdiv_of_integers():
    with pytest.raises(RuntimeError, match="Integer division with addcdiv is no longer supported"):
        torch.addcdiv(torch.ones(1), torch.tensor([1]), torch.tensor([1]))
    assert torch.addcmul(torch.tensor([1]), torch.tensor([2]), torch.tensor([3]), value=2.5).tolist() == [13]


def test_nan_to_num():
    a = torch.tensor([math.nan, math.inf, -math.inf, 1.0], requires_grad=True)
    made = torch.nan_to_num(a, nan=0.5, posinf=2.0)
    assert made.tolist() == [0.5, 2.0, torch.finfo(torch.float32).min, 1.0]
    assert torch.autograd.grad(made, a, torch.ones(4))[0].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert torch.nan_to_num(torch.tensor([3])).tolist() == [3]
    assert torch.nan_to_num(torch.tensor([complex(math.nan, 1)])).tolist() == [1j]
