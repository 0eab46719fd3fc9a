"""Linear systems and decompositions: that they multiply up again, their derivatives, singular and odd matrices, errors."""

import pytest

import chainrule as torch
from chainrule.autograd import gradcheck, gradgradcheck

L = torch.linalg
DTYPES = [torch.float64, torch.complex128]


def matrix(*shape, dtype=torch.float64, seed=0):
    torch.manual_seed(seed)
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def close(a, b):
    return bool((a - b).abs().max() < 1e-10)


def hermitian(a):
    return a + a.mH


def positive(a):
    return a @ a.mH + 3 * torch.eye(a.shape[-1], dtype=a.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_multiply_up(dtype):
    for shape in ((3, 3), (2, 4, 3), (3, 4)):
        a = matrix(*shape, dtype=dtype).detach()
        q, r = L.qr(a)
        u, s, vh = L.svd(a, full_matrices=False)
        p, lower, upper = L.lu(a)
        for product in (q @ r, u @ torch.diag_embed(s).to(dtype) @ vh, p @ lower @ upper, a @ L.pinv(a) @ a):
            assert close(product, a)
    a = matrix(3, 3, dtype=dtype).detach()
    values, vectors = L.eigh(hermitian(a))
    assert close(vectors @ torch.diag(values).to(dtype) @ vectors.mH, hermitian(a))
    values, vectors = L.eig(a)
    assert close(vectors @ torch.diag(values) @ L.inv(vectors), a.to(torch.complex128))
    assert close(L.cholesky(positive(a)) @ L.cholesky(positive(a)).mH, positive(a))
    assert close(L.lu_solve(*L.lu_factor(a), a), torch.eye(3, dtype=dtype))
    assert close(a @ L.solve(a, a), a)


CASES = {
    "inv": (L.inv, (2, 3, 3)),
    "det": (L.det, (2, 3, 3)),
    "slogdet": (L.slogdet, (2, 3, 3)),
    "solve": (lambda a: L.solve(a, a.mH[..., :2]), (2, 3, 3)),
    "solve vector": (lambda a: L.solve(a, a[..., 0]), (2, 3, 3)),
    "solve right": (lambda a: L.solve(a, a[..., :2, :], left=False), (2, 3, 3)),
    "triangular": (lambda a: L.solve_triangular(a, a.mH, upper=False, unitriangular=True), (3, 3)),
    "cholesky": (lambda a: L.cholesky(positive(a)), (2, 3, 3)),
    "cholesky upper": (lambda a: L.cholesky(positive(a), upper=True), (3, 3)),
    "cholesky_inverse": (lambda a: torch.cholesky_inverse(a.tril() + 4 * torch.eye(3)), (3, 3)),
    "cholesky_solve": (lambda a: torch.cholesky_solve(a, a.tril() + 4 * torch.eye(3)), (3, 3)),
    "matrix_exp": (L.matrix_exp, (2, 3, 3)),
    "qr tall": (L.qr, (4, 3)),
    "qr wide": (L.qr, (3, 4)),
    "eigh": (lambda a: [t.abs() for t in L.eigh(hermitian(a))], (3, 3)),
    "eig": (lambda a: [t.abs() for t in L.eig(a)], (3, 3)),
    "svd tall": (lambda a: [t.abs() for t in L.svd(a, full_matrices=False)], (4, 3)),
    "svd wide": (lambda a: [t.abs() for t in L.svd(a, full_matrices=False)], (2, 3)),
    "svdvals": (L.svdvals, (2, 4, 3)),
    "lu": (lambda a: L.lu(a)[1:], (3, 3)),
    "lu tall": (lambda a: L.lu(a)[1:], (4, 3)),
    "lu_factor wide": (lambda a: L.lu_factor(a)[0], (3, 4)),
    "pinv": (L.pinv, (4, 3)),
    "lstsq": (lambda a: L.lstsq(a, a[..., :1] ** 2)[:2], (4, 3)),
    "nuclear norm": (lambda a: L.matrix_norm(a, "nuc"), (3, 2)),
    "spectral norm": (lambda a: L.matrix_norm(a, 2), (3, 2)),
    "cond": (lambda a: L.cond(a, 1), (3, 3)),
    "householder_product": (lambda a: L.householder_product(a, a[0, :2]), (4, 3)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_derivatives(name, dtype):
    function, shape = CASES[name]
    a = matrix(*shape, dtype=dtype)
    assert gradcheck(function, a) and gradgradcheck(function, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_determinant_of_singular_matrices(dtype):
    a = matrix(3, 3, dtype=dtype).detach()
    a[2] = a[0] + a[1]
    a.requires_grad_()
    assert gradcheck(L.det, a) and gradgradcheck(L.det, a)
    zero = torch.zeros(2, 2, dtype=dtype, requires_grad=True)
    (g,) = torch.autograd.grad(L.det(zero), zero, torch.ones((), dtype=dtype))
    assert not g.abs().any()


def test_distances():
    a, b = matrix(4, 3), matrix(2, 3, seed=1)
    for p in (0.5, 1.0, 2.0, 3.0, float("inf")):
        assert gradcheck(lambda a, b, p=p: torch.cdist(a, b, p), (a, b))
    assert gradgradcheck(torch.cdist, (a, b))
    (g,) = torch.autograd.grad(torch.cdist(a, a.detach()).sum(), a)  # distances of 0 along the diagonal
    assert bool(torch.isfinite(g).all())


@pytest.mark.parametrize(
    "call, error, text",
    [
        (
            lambda: L.inv(torch.zeros(2, 2)),
            RuntimeError,
            "linalg.inv: The diagonal element 1 is zero, the inversion could",
        ),
        (lambda: L.inv(torch.ones(2, 2)), RuntimeError, "linalg.inv: The diagonal element 2 is zero"),
        (
            lambda: L.inv(torch.ones(3, 2)),
            RuntimeError,
            "linalg.inv: A must be batches of square matrices, but they are 3 by 2",
        ),
        (lambda: L.inv(torch.ones(3)), RuntimeError, "linalg.inv: The input tensor A must have at least 2 dimensions."),
        (
            lambda: L.solve(torch.zeros(2, 2), torch.ones(2)),
            RuntimeError,
            "torch.linalg.solve: The solver failed because",
        ),
        (lambda: L.cholesky(-torch.eye(2)), RuntimeError, "linalg.cholesky: The factorization could not be completed"),
        (lambda: L.qr(torch.ones(2, 2), "x"), RuntimeError, "qr received unrecognized mode 'x' but expected one of"),
        (lambda: L.matrix_norm(torch.ones(2, 2), 3), RuntimeError, "linalg.matrix_norm: Order 3 not supported."),
        (
            lambda: torch.cdist(torch.ones(2), torch.ones(2)),
            RuntimeError,
            "cdist only supports at least 2D tensors, X1 got: 1D",
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error) as found:
        call()
    assert str(found.value).startswith(text)


def test_what_depends_on_the_choice_of_vectors_has_no_derivative():
    a = matrix(3, 3, dtype=torch.complex128)
    with pytest.raises(RuntimeError, match="specified up to multiplication by e\\^{i phi}"):
        L.eigh(hermitian(a))[1].real.sum().backward()
    tall = matrix(4, 3)
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete' and nrows > ncols"):
        L.qr(tall, "complete")[0].sum().backward()
