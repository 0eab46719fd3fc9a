import math

import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as torch
from chainrule.autograd import gradcheck, gradgradcheck

UNARY = {
    "airy_ai": lambda x: scipy.special.airy(x)[0], "bessel_j0": scipy.special.j0, "bessel_j1": scipy.special.j1,
    "bessel_y0": scipy.special.y0, "bessel_y1": scipy.special.y1, "entr": scipy.special.entr,
    "erfcx": scipy.special.erfcx, "i0": scipy.special.i0, "i0e": scipy.special.i0e, "i1": scipy.special.i1,
    "i1e": scipy.special.i1e, "log_ndtr": scipy.special.log_ndtr, "ndtr": scipy.special.ndtr,
    "modified_bessel_i0": scipy.special.i0, "modified_bessel_i1": scipy.special.i1,
    "modified_bessel_k0": scipy.special.k0, "modified_bessel_k1": scipy.special.k1,
    "scaled_modified_bessel_k0": scipy.special.k0e, "scaled_modified_bessel_k1": scipy.special.k1e,
    "spherical_bessel_j0": lambda x: scipy.special.spherical_jn(0, x),
}  # fmt: skip
POLYNOMIALS = {
    "chebyshev_polynomial_t": "eval_chebyt", "chebyshev_polynomial_u": "eval_chebyu", "hermite_polynomial_h": "eval_hermite",
    "hermite_polynomial_he": "eval_hermitenorm", "laguerre_polynomial_l": "eval_laguerre",
    "legendre_polynomial_p": "eval_legendre", "shifted_chebyshev_polynomial_t": "eval_sh_chebyt",
    "shifted_chebyshev_polynomial_u": "eval_sh_chebyu",
}  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.1, 9), min_size=1, max_size=6), st.integers(0, 9))
def test_against_scipy(values, n):
    a = np.array(values)
    for name, right in UNARY.items():
        np.testing.assert_allclose(
            getattr(torch.special, name)(torch.tensor(a)).numpy(), right(a), rtol=1e-12, atol=1e-15
        )
        single = getattr(torch.special, name)(torch.tensor(a, dtype=torch.float32))
        assert single.dtype is torch.float32
        np.testing.assert_allclose(single.numpy(), right(a), rtol=3e-5, atol=1e-5)
    for name, right in POLYNOMIALS.items():
        found = getattr(torch.special, name)(torch.tensor(a), n).numpy()
        np.testing.assert_allclose(found, getattr(scipy.special, right)(n, a), rtol=1e-9, atol=1e-9)
    x = torch.tensor(a)
    np.testing.assert_allclose(torch.special.gammainc(x, x.flip(0)).numpy(), scipy.special.gammainc(a, a[::-1]))
    np.testing.assert_allclose(torch.igammac(x, x.flip(0)).numpy(), scipy.special.gammaincc(a, a[::-1]))
    np.testing.assert_allclose(torch.special.zeta(x + 1, 2.5).numpy(), scipy.special.zeta(a + 1, 2.5))
    np.testing.assert_allclose(torch.special.multigammaln(x + 2, 3).numpy(), scipy.special.multigammaln(a + 2, 3))
    np.testing.assert_allclose(torch.special.xlog1py(x, 2.0).numpy(), scipy.special.xlog1py(a, 2.0))
    np.testing.assert_allclose(torch.special.ndtri(x / 10).numpy(), scipy.special.ndtri(a / 10), atol=1e-15)


def test_chebyshev_polynomials_of_the_third_and_fourth_kind():
    angle = np.linspace(0.1, 3.0, 7)
    x = torch.tensor(np.cos(angle))
    for n in (0, 1, 5, 90):
        for letter, right in (
            ("v", np.cos((n + 0.5) * angle) / np.cos(angle / 2)),
            ("w", np.sin((n + 0.5) * angle) / np.sin(angle / 2)),
        ):
            for name, at in (
                (f"chebyshev_polynomial_{letter}", x),
                (f"shifted_chebyshev_polynomial_{letter}", (x + 1) / 2),
            ):
                found = getattr(torch.special, name)(at, torch.tensor(n))
                np.testing.assert_allclose(found.numpy(), right, rtol=1e-9, atol=1e-9)
    assert torch.special.chebyshev_polynomial_t(2, torch.tensor([-1, 0, 3])).tolist() == [0, 1, 26]


def test_derivatives():
    x = torch.tensor([-2.0, -0.3, 0.0, 0.5, 3.0], dtype=torch.float64, requires_grad=True)
    p = torch.tensor([0.2, 0.5, 0.9, 2.5, 4.0], dtype=torch.float64, requires_grad=True)
    for name in ("i0", "i1", "erfcx", "log_ndtr", "ndtr"):
        function = getattr(torch.special, name)
        assert gradcheck(function, (x,)) and gradgradcheck(function, (x,))
    for name in ("i0e", "i1e", "entr"):
        function = getattr(torch.special, name)
        assert gradcheck(function, (p,)) and gradgradcheck(function, (p,))
    functions = [
        (lambda t: torch.special.ndtri(t / 5), p),
        (lambda t: torch.special.gammainc(torch.tensor([1.5, 0.5, 2, 3, 1], dtype=torch.float64), t), p),
        (lambda t: torch.special.gammaincc(torch.tensor(2.5, dtype=torch.float64), t), p),
        (lambda t: torch.special.zeta(2.5, t), p),
        (lambda t: torch.mvlgamma(t + 2, 3), p),
        (lambda t: torch.special.xlog1py(t, t + 1), p),
        (lambda t: torch.special.xlog1py(1.5, t), p),
        (lambda t: torch.special.xlog1py(t, 1.5), p),
    ]
    for function, at in functions:
        assert gradcheck(function, (at,)) and gradgradcheck(function, (at,))
    # Far out, where Bessel functions overflow and SciPy's of order 2 give up
    far = torch.tensor([1e12, -1e12], dtype=torch.float64, requires_grad=True)
    slope = torch.autograd.grad(torch.special.i1e(far).sum(), far)[0]
    assert slope.isfinite().all()
    tail = torch.tensor([-100.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.grad(torch.special.log_ndtr(tail).sum(), tail)[0].item() == pytest.approx(100.00999, rel=1e-6)


def test_sinc_to_any_order_at_zero_and_near_it():
    for at, slopes in (
        (0.0, [0.0, -(math.pi**2) / 3, 0.0, math.pi**4 / 5]),
        (1e-7, [-(math.pi**2) / 3 * 1e-7, -(math.pi**2) / 3, math.pi**4 / 5 * 1e-7]),
    ):
        x = torch.tensor(at, dtype=torch.float64, requires_grad=True)
        y = torch.sinc(x)
        for slope in slopes:
            (y,) = torch.autograd.grad(y, x, create_graph=True)
            assert y.item() == pytest.approx(slope, rel=1e-12, abs=1e-20)
    for dtype in (torch.float64, torch.complex128):
        x = torch.tensor([-2.3, -0.31, 0.0, 0.2, 1.0], dtype=dtype, requires_grad=True)
        assert gradcheck(torch.sinc, (x,)) and gradgradcheck(torch.sinc, (x,))
    one = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.grad(torch.igamma(torch.tensor(1.0, dtype=torch.float64), one), one)[0].item() == 1.0


def test_nodes_and_what_has_no_derivative():
    x = torch.tensor([0.5], requires_grad=True)
    for name, node in (("i0", "I0"), ("i0e", "SpecialI0E"), ("i1", "SpecialI1"), ("entr", "SpecialEntr"), ("ndtr", "Mul"),
                       ("erfcx", "SpecialErfcx"), ("log_ndtr", "SpecialLogNdtr"), ("ndtri", "SpecialNdtri")):  # fmt: skip
        suffix = "1" if node == "Mul" else "0"
        assert getattr(torch.special, name)(x).grad_fn.name() == f"{node}Backward{suffix}"
    assert torch.special.zeta(2.0, x).grad_fn.name() == "SpecialZetaBackward1"
    assert torch.special.xlog1py(x, 2.0).grad_fn.name() == "SpecialXlog1PyBackward2"
    assert torch.mvlgamma(x + 3, 2).grad_fn.name() == "MvlgammaBackward0"
    for name in ("bessel_j0", "modified_bessel_k1", "airy_ai"):
        assert not getattr(torch.special, name)(x).requires_grad
    assert not torch.special.legendre_polynomial_p(x, 3).requires_grad
    for run, words in (
        (lambda: torch.special.zeta(x, 2.0), "the derivative for 'zeta' is not implemented."),
        (lambda: torch.igamma(x, torch.ones(1)), "the derivative for 'igamma: input' is not implemented."),
    ):
        with pytest.raises(NotImplementedError, match=words):
            run().sum().backward()


def test_dtypes_and_special_values():
    assert torch.special.i0(torch.tensor([1, 2])).dtype is torch.float32
    assert torch.special.i0(torch.tensor([1.0], dtype=torch.float16)).dtype is torch.float16
    assert torch.special.legendre_polynomial_p(torch.tensor([1, 2]), 2).dtype is torch.float32
    assert str(torch.special.entr(torch.tensor([0.0, -1.0, math.nan])).tolist()) == "[0.0, -inf, nan]"
    assert torch.special.xlog1py(torch.tensor([0.0]), torch.tensor([-1.0])).item() == 0.0
    x = torch.tensor([1.0, 2.0])
    assert x.clone().i0_().tolist() == x.i0().tolist() and x.igamma(x).tolist() == torch.igamma(x, x).tolist()
    out = torch.empty(0)
    assert torch.special.bessel_j0(x, out=out) is out and out.shape == (2,)


@pytest.mark.parametrize(
    "run, error, words",
    [
        (lambda s, x: s.bessel_j0(x.half()), NotImplementedError, "\"bessel_j0_cpu\" not implemented for 'Half'"),
        (lambda s, x: s.zeta(x.half(), 2), NotImplementedError, "\"zeta_cpu\" not implemented for 'Half'"),
        (lambda s, x: s.i1(x * 1j), NotImplementedError, "\"i1_cpu\" not implemented for 'ComplexFloat'"),
        (lambda s, x: s.gammainc(x.int(), x.int()), NotImplementedError, "\"igamma_cpu\" not implemented for 'Int'"),
        (
            lambda s, x: s.zeta(1, 2),
            TypeError,
            r"special_zeta\(\) received an invalid combination of arguments - got \(int",
        ),
        (
            lambda s, x: s.gammainc(x, 2.0),
            TypeError,
            r"special_gammainc\(\): argument 'other' \(position 2\) must be Tensor",
        ),
        (lambda s, x: s.airy_ai(1.0), TypeError, r"special_airy_ai\(\): argument 'x' \(position 1\) must be Tensor"),
        (lambda s, x: torch.mvlgamma(x, 0), RuntimeError, "p has to be greater than or equal to 1"),
    ],
)
def test_errors(run, error, words):
    with pytest.raises(error, match=words):
        run(torch.special, torch.ones(2))
