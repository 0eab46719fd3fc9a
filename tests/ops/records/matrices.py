"""Records of linear algebra, distances and Fourier transforms."""

from ..catalogue import X, both, imaginary, real

# --- solving ---


def solid(T, a):
    """A matrix (or a stack of them) with a strong diagonal."""
    return a + 4 * T.eye(a.shape[-1], dtype=a.dtype)


def positive(T, a):
    """A positive definite matrix."""
    return a @ a.mT.conj() + T.eye(a.shape[-1], dtype=a.dtype)


def half(T, a):
    return a + a.mT.conj()


for shape in ((2, 2), (2, 2, 2)):
    both("linalg_inv_ex", lambda T, a: T.linalg.inv(solid(T, a)), X(*shape))
    both("linalg_det", lambda T, a: T.linalg.det(solid(T, a)), X(*shape))
    both("linalg_slogdet", lambda T, a: T.linalg.slogdet(solid(T, a))[1], X(*shape))
    both("linalg_solve_ex", lambda T, a, b: T.linalg.solve(solid(T, a), b), X(*shape), X(*shape))
    both(
        "linalg_solve_triangular",
        lambda T, a, b: T.linalg.solve_triangular(solid(T, a), b, upper=True),
        X(*shape),
        X(*shape),
    )
    both("linalg_cholesky_ex", lambda T, a: T.linalg.cholesky(positive(T, a)), X(*shape))
    both("cholesky", lambda T, a: T.cholesky(positive(T, a)), X(*shape))
    both("linalg_matrix_exp", "linalg.matrix_exp", X(*shape))
both("linalg_det", lambda T, a: T.linalg.det(a @ T.ones(1, 2, dtype=a.dtype)), X(2, 1))
both("linalg_solve_ex", lambda T, a, b: T.linalg.solve(solid(T, a), b), X(2, 2), X(2), node=None)
both("linalg_solve_ex", lambda T, a, b: T.linalg.solve(solid(T, a), b, left=False), X(2, 2), X(3, 2))
both(
    "linalg_solve_triangular",
    lambda T, a, b: T.linalg.solve_triangular(a, b, upper=False, left=False, unitriangular=True),
    X(2, 2),
    X(3, 2),
)
both("linalg_cholesky_ex", lambda T, a: T.linalg.cholesky(positive(T, a), upper=True), X(2, 2))
both("cholesky_solve", lambda T, b, a: T.cholesky_solve(b, solid(T, a).tril()), X(2, 3), X(2, 2))
both("cholesky_inverse", lambda T, a: T.cholesky_inverse(T.linalg.cholesky(positive(T, a))), X(2, 2))

# --- decompositions, by what does not depend on the free phases of their vectors ---

both("linalg_qr", lambda T, a: (lambda q: q @ q.mT.conj())(T.linalg.qr(a)[0]), X(3, 2), node=None)
both("linalg_qr", lambda T, a: T.linalg.qr(solid(T, a))[1].diagonal().abs(), X(2, 2), node=None)
both("linalg_eigh", lambda T, a: T.linalg.eigvalsh(half(T, a)), X(2, 2))
both("linalg_eigh", lambda T, a: T.linalg.eigh(half(T, a))[1].abs(), X(2, 2), node=None)
both(
    "linalg_eig",
    lambda T, a: T.linalg.eigvals(solid(T, a * 0.5) @ T.tensor([[1.0, 0.0], [0.0, 3.0]], dtype=a.dtype)),
    X(2, 2),
)
both(
    "linalg_eig",
    lambda T, a: T.linalg.eig(solid(T, a * 0.5) @ T.tensor([[1.0, 0.0], [0.0, 3.0]], dtype=a.dtype))[1].abs(),
    X(2, 2),
    node=None,
)
both("linalg_svd", lambda T, a: T.linalg.svd(a, full_matrices=False)[0].abs(), X(3, 2), node=None)
both(
    "linalg_svd",
    lambda T, a: (lambda u, s, v: u @ (s**2).diag().to(u.dtype) @ v)(*T.linalg.svd(a, full_matrices=False)),
    X(2, 3),
    node=None,
)
both("svdvals", "linalg.svdvals", X(2, 3), node="LinalgSvdBackward0")
both("linalg_lu_factor_ex", lambda T, a: T.linalg.lu_factor(solid(T, a))[0], X(2, 2))
both("linalg_lu", lambda T, a: T.linalg.lu(solid(T, a))[1:], X(2, 2))
both("linalg_lu", lambda T, a: T.linalg.lu(a)[1:], X(3, 2))
both("linalg_pinv", "linalg.pinv", X(3, 2), node=None)
both("linalg_lstsq", lambda T, a, b: T.linalg.lstsq(a, b)[0], X(3, 2), X(3, 1))

# --- others ---

both("trace", "trace", X(2, 3))
both("linalg_cross", "linalg.cross", X(2, 3), X(2, 3))
both("linalg_cross", "linalg.cross", X(2, 3), X(1, 3))
for p in (0.5, 1, 2, 3, float("inf")):
    real("cdist", "cdist", X(2, 2), X(3, 2), p, node=None)
    real("pdist_norm", "pdist", X(3, 2), p, node="PdistBackward0")

# --- Fourier transforms ---

for norm in ("backward", "ortho", "forward"):
    imaginary("_fft_c2c", "fft.fft", X(3), norm=norm, node="FftC2CBackward0")
    imaginary("_fft_c2c", "fft.ifft", X(2, 3), 4, 0, norm=norm, node="FftC2CBackward0")
    real("_fft_r2c", "fft.rfft", X(2, 4), norm=norm, node="FftR2CBackward0")
    real("_fft_r2c", "fft.rfft", X(5), norm=norm, node="FftR2CBackward0")
    imaginary("_fft_c2r", "fft.irfft", X(2, 3), norm=norm, node="FftC2RBackward0")
    imaginary("_fft_c2r", "fft.irfft", X(3), 5, norm=norm, node="FftC2RBackward0")
imaginary("_fft_c2c", "fft.fft2", X(2, 3), node="FftC2CBackward0")
real("_fft_r2c", "fft.rfft2", X(3, 4), node=None)
imaginary("_fft_c2r", "fft.irfft2", X(3, 3), node="FftC2RBackward0")
