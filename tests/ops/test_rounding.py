import math

import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check


def grad(function, *values):
    leaves = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
    return [g.item() for g in torch.autograd.grad(function(*leaves), leaves)]


@pytest.mark.parametrize(
    "name, reference", [("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("round", np.rint)]
)
def test_rounding(name, reference):
    x = np.array([-2.5, -1.2, 0.5, 1.5, 2.7])
    function = getattr(torch, name)
    assert function(torch.tensor(x)).tolist() == reference(x).tolist()
    assert function(torch.tensor([3, -4])).tolist() == [3, -4]
    assert getattr(torch.tensor(x), name + "_")().tolist() == reference(x).tolist()
    made = function(torch.tensor(x, requires_grad=True))
    assert made.grad_fn.name() == f"{name.title()}Backward0" and grad(function, 1.2) == [0.0]
    with pytest.raises(NotImplementedError):
        function(torch.tensor([True]))
    with pytest.raises(NotImplementedError):
        function(torch.tensor([1j]))


def test_round_to_decimals():
    x = torch.tensor([2.5, 0.125, 1234.5], dtype=torch.float64, requires_grad=True)
    made = torch.round(x, decimals=2)
    assert made.tolist() == [2.5, 0.12, 1234.5] and made.grad_fn.name() == "RoundBackward1"
    assert torch.round(x, decimals=-2).tolist() == [0.0, 0.0, 1200.0]


def test_frac():
    assert torch.frac(torch.tensor([-1.5, 2.25])).tolist() == [-0.5, 0.25]
    assert grad(torch.frac, -1.5) == [1.0]


def test_abs():
    assert torch.abs(torch.tensor([-128], dtype=torch.int8)).item() == -128
    assert torch.abs(torch.tensor([3 + 4j])).tolist() == [5.0]
    assert grad(torch.abs, 0.0) == [0.0] and grad(torch.abs, math.nan) == [0.0] and grad(torch.abs, -2.0) == [-1.0]
    check(torch.abs, [1.5, -2.0])
    check(torch.abs, [1.5 + 1j, -2.0 + 0.3j])
    with pytest.raises(NotImplementedError, match="\"abs_cpu\" not implemented for 'Bool'"):
        torch.tensor([True]).abs()
    with pytest.raises(RuntimeError, match="In-place abs is not supported for complex tensors."):
        torch.tensor([1j]).abs_()


def test_signs():
    assert torch.sign(torch.tensor([-2.0, 0.0, 3.0, math.nan])).tolist() == [-1.0, 0.0, 1.0, 0.0]
    assert torch.sgn(torch.tensor([3 + 4j, 0j])).tolist() == [pytest.approx(0.6 + 0.8j), 0j]
    check(torch.sgn, [1.5 + 1j, -2.0 + 0.3j])
    assert grad(torch.sign, 2.0) == [0.0]
    with pytest.raises(NotImplementedError, match="torch.sign is not intended to support complex numbers"):
        torch.sign(torch.tensor([1j]))


def test_copysign():
    x = torch.tensor([2.0, 0.0], requires_grad=True)
    assert torch.copysign(x, torch.tensor([-0.0, 1.0])).tolist() == [-2.0, 0.0]
    assert torch.copysign(x, -1).grad_fn.name() == "CopysignBackward1"
    assert grad(torch.copysign, 2.0, -1.0) == [-1.0, 0.0] and grad(torch.copysign, 0.0, 1.0) == [0.0, 0.0]
    assert torch.copysign(torch.tensor([3]), -1).tolist() == [-3.0]


def test_nextafter_ldexp_frexp():
    assert torch.nextafter(torch.tensor([1.0]), torch.tensor([2.0])).item() == 1 + 2**-23
    assert torch.ldexp(torch.tensor([1.5]), torch.tensor([3])).item() == 12.0
    check(torch.ldexp, [1.5, -0.5], [2.0, 0.3])
    x = torch.tensor([1.5, -8.0], dtype=torch.float64, requires_grad=True)
    found = torch.frexp(x)
    assert found.mantissa.tolist() == [0.75, -0.5] and found.exponent.tolist() == [1, 4]
    assert found.exponent.dtype is torch.int32 and not found.exponent.requires_grad
    assert torch.autograd.grad(found[0], x, torch.ones(2, dtype=torch.float64))[0].tolist() == [0.5, 0.0625]
    assert repr(torch.frexp(torch.ones(1))).startswith("torch.return_types.frexp(\nmantissa=")
    with pytest.raises(RuntimeError, match=r"torch.frexp\(\) only supports floating-point dtypes"):
        torch.frexp(torch.tensor([1]))


def test_heaviside():
    found = torch.heaviside(torch.tensor([-1.0, 0.0, 2.0, math.nan]), torch.tensor(0.5))
    assert found.tolist() == [0.0, 0.5, 1.0, 0.0]
    assert torch.zeros(2).heaviside_(torch.tensor([0.5, 2.0])).tolist() == [0.5, 2.0]
    x = torch.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="derivative for aten::heaviside is not implemented"):
        torch.autograd.grad(torch.heaviside(x, x), x, torch.ones(2))
    with pytest.raises(RuntimeError, match="heaviside is not yet implemented for tensors with different dtypes."):
        torch.heaviside(x, x.double())
