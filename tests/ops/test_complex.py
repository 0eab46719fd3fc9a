import math

import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

z = np.array([[1 + 2j, -0.5 + 0.3j], [2 - 1j, 0.7j]])


def test_conj():
    c, x = torch.tensor(z, requires_grad=True), torch.ones(2, requires_grad=True)
    np.testing.assert_array_equal(torch.conj(c).detach().numpy(), z.conj())
    assert c.conj().grad_fn.name() == "ConjBackward0" and x.conj() is x and torch.real(x) is x and x.resolve_conj() is x
    check(torch.conj, z)
    check(torch.conj_physical, z)
    assert torch.tensor(z).conj_physical_().tolist() == z.conj().tolist()


def test_parts_are_views():
    c = torch.tensor(z)
    parts = torch.view_as_real(c)
    assert parts.shape == (2, 2, 2) and parts.dtype is torch.float64 and parts._base is c
    assert c.real.tolist() == z.real.tolist() and c.imag.tolist() == z.imag.tolist() and c.real._base is c
    c.real.zero_()
    assert c.tolist() == (1j * z.imag).tolist()
    c.imag = torch.ones(2, 2)
    assert c.tolist() == [[1j, 1j], [1j, 1j]]
    back = torch.view_as_complex(torch.view_as_real(c))
    assert back.tolist() == c.tolist() and back._base is c


def test_parts_have_derivatives():
    check(lambda a: a.real * a.imag, z)
    check(torch.view_as_real, z)
    check(lambda a: torch.view_as_complex(a) ** 2, np.stack([z.real, z.imag], -1))
    leaf = torch.tensor(z, requires_grad=True)
    assert leaf.real.grad_fn.name() == "SelectBackward0"
    assert leaf.real.grad_fn.next_functions[0][0].name() == "ViewAsRealBackward0"


def test_errors():
    for run, words in [
        (lambda: torch.ones(1).imag, "imag is not implemented for tensors with non-complex dtypes."),
        (lambda: torch.view_as_real(torch.ones(1)), "view_as_real is only supported for complex tensors"),
        (lambda: torch.view_as_complex(torch.ones(3)), "Tensor must have a last dimension of size 2"),
        (
            lambda: torch.view_as_complex(torch.ones(2, dtype=torch.int64)),
            "only supported for half, float and double tensors",
        ),
        (lambda: torch.view_as_complex(torch.ones(2, 2).t()), "Tensor must have a last dimension with stride 1"),
        (
            lambda: torch.complex(torch.ones(1), torch.tensor([1])),
            "Expected both inputs to be Half, Float or Double tensors",
        ),
        (
            lambda: torch.complex(torch.ones(1), torch.ones(1).double()),
            "Expected object of scalar type Float but got scalar",
        ),
    ]:
        with pytest.raises(RuntimeError, match=words):
            run()


def test_complex_and_polar():
    x, y = np.array([[0.5], [2.0]]), np.array([1.5, -0.3])
    np.testing.assert_array_equal(torch.complex(torch.tensor(x), torch.tensor(y)).numpy(), x + 1j * y)
    np.testing.assert_allclose(torch.polar(torch.tensor(x), torch.tensor(y)).numpy(), x * np.exp(1j * y), rtol=1e-12)
    check(torch.complex, x, y)
    check(torch.polar, x, y)


def test_angle():
    np.testing.assert_allclose(torch.angle(torch.tensor(z)).numpy(), np.angle(z))
    check(torch.angle, z)
    found = torch.angle(torch.tensor([-1.0, 0.0, 2.0, math.nan])).tolist()
    assert found[:3] == [pytest.approx(math.pi), 0.0, 0.0] and math.isnan(found[3])
    assert torch.angle(torch.tensor([-1])).dtype is torch.float32
