"""Decompositions of matrices and of stacks of them: QR, eigenvalues, singular values, LU.

Where vectors are determined up to a sign or a phase only (the gauge), what depends on the choice has no derivative;
complex eigenvectors and singular vectors are checked for it, as in PyTorch. Derivatives of eigenvectors: Giles 2008; of
singular vectors: Wan and Zhang, Automatic differentiation for complex valued SVD, 2019; of QR: Walter and Lehmann,
Algorithmic differentiation of linear algebra functions, 2018.
"""

import math
import warnings
from typing import Any

import numpy as np

from ..core import vocabulary
from ..core.declare import Array, op, put_method
from ..core.registry import FUNCTIONS, publish
from ..core.return_types import return_type
from ..core.tensor import wrap
from .extremes import named_results
from .products import transposed
from .reduction import into
from .solving import LinAlgError, check_matrix, check_square

__all__ = ["qr", "eigh", "eig", "svd", "lu", "lu_factor"]


def diagonal_matrix(xp, x):
    """Matrices with x on their diagonals."""
    n = x.ndim
    return xp.diagonal_place(x, (*x.shape, x.shape[-1]), 0, n - 1, n)


def diagonal_of(xp, x):
    return xp.diagonal(x, 0, x.ndim - 2, x.ndim - 1)


def columns_times(xp, x, scale):
    """x with its columns scaled."""
    return x * xp.expand_dims(scale, -2)


def rows_times(xp, x, scale):
    """x with its rows scaled."""
    return x * xp.expand_dims(scale, -1)


def differences(xp, values):
    """values_j − values_i at (i, j), and 1 on the diagonal."""
    out = xp.expand_dims(values, -2) - xp.expand_dims(values, -1)
    return out + diagonal_matrix(xp, xp.ones_like(values))


def refuse_phase(xp, name: str, what: str, product) -> None:
    """RuntimeError where a loss depends on the phase of complex vectors: Im diag(Vᴴ ḡ) must be 0."""
    turn = diagonal_of(xp, product)
    if xp.is_complex(product) and not xp.all_small(xp.imag(turn), 1e-2):
        raise RuntimeError(
            f"{name}: The {what} in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss "
            "function depends on this quantity, so it is ill-defined."
        )


# --- QR ---


@op(name="linalg_qr", method=False, namespace=None)
def qr_op(self: Array, mode: Any = "reduced"):
    if mode == "r":
        return np.empty(0, self.dtype), np.linalg.qr(self, "r")
    q, r = np.linalg.qr(self, mode)
    return q, r


def _hermitian_once(xp, x):
    """x + xᴴ, with the real diagonal counted once: the adjoint of taking an upper triangle with a real diagonal."""
    both = x + transposed(xp, x)
    return both - diagonal_matrix(xp, xp.astype(xp.real(diagonal_of(xp, x)), x.dtype))


@qr_op.derivative(of="self")
def _(xp, grads, self, result0, result1, mode):
    grad_q, grad_r = grads
    rows, columns = self.shape[-2:]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and rows > columns:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    if rows >= columns:
        return _qr_slope(xp, grad_q, grad_r, result0, result1)
    # A = [A1 A2] = Q [R1 R2]: the square part as above, and A2 through R2 = Qᴴ A2.
    rest = columns - rows
    a2, grad_r2 = xp.narrow(self, -1, rows, rest), xp.narrow(grad_r, -1, rows, rest)
    grad_q = grad_q + xp.matmul(a2, transposed(xp, grad_r2))
    first = _qr_slope(xp, grad_q, xp.narrow(grad_r, -1, 0, rows), result0, xp.narrow(result1, -1, 0, rows))
    return xp.concatenate([first, xp.matmul(result0, grad_r2)], -1)


def _qr_slope(xp, grad_q, grad_r, q, r):
    inner = xp.matmul(grad_r, transposed(xp, r)) - xp.matmul(transposed(xp, q), grad_q)
    whole = grad_q + xp.matmul(q, _hermitian_once(xp, xp.triu(inner)))
    return xp.solve_triangular(transposed(xp, r), whole, False, False, False)


LINALG_QR, QR = return_type("linalg_qr", "Q R"), return_type("qr", "Q R")


def qr(A, mode="reduced", *, out=None):
    """(Q, R): A as orthonormal columns times an upper triangle; mode "reduced", "complete" or "r" (R alone)."""
    check_matrix("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return named_results("linalg_qr", LINALG_QR, qr_op.general(A, mode), out, (A,))


def old_qr(input, some=True, *, out=None):
    """(Q, R), reduced or (some=False) complete; linalg.qr is PyTorch's newer name."""
    warnings.warn(
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\nThe boolean "
        "parameter 'some' has been replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, some)\nshould be replaced "
        "with\nQ, R = torch.linalg.qr(A, 'reduced' if some else 'complete')",
        stacklevel=2,
    )
    check_matrix("linalg.qr", input)
    return named_results("qr", QR, qr_op.general(input, "reduced" if some else "complete"), out, (input,))


old_qr.__name__ = "qr"
qr_op.function = qr
publish("linalg", "qr", qr)
publish("torch", "qr", old_qr)
put_method("qr", old_qr)

# --- Hermitian eigenvalues ---


@op(name="linalg_eigh", method=False, namespace=None)
def eigh_op(self: Array, UPLO: Any = "L"):
    try:
        values, vectors = np.linalg.eigh(self, UPLO)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
            "repeated eigenvalues (error code: 1)."
        ) from None
    return values, vectors


@eigh_op.derivative(of="self")
def _(xp, grads, result0, result1):
    grad_values, grad_vectors = grads
    vectors = result1
    inner = xp.matmul(transposed(xp, vectors), grad_vectors)
    refuse_phase(xp, "linalg_eigh_backward", "eigenvectors", inner)
    inner = (inner - transposed(xp, inner)) * 0.5  # eigenvectors turn: of their change only the skew part counts
    off = inner - diagonal_matrix(xp, diagonal_of(xp, inner))
    middle = off / differences(xp, result0)
    middle = middle + xp.astype(diagonal_matrix(xp, grad_values), middle.dtype)
    return xp.matmul(vectors, xp.matmul(middle, transposed(xp, vectors)))


LINALG_EIGH = return_type("linalg_eigh", "eigenvalues eigenvectors")


def eigh(A, UPLO="L", *, out=None):
    """(eigenvalues in ascending order, eigenvectors) of a Hermitian matrix, of which one triangle is read."""
    check_square("linalg.eigh", A)
    return named_results("linalg_eigh", LINALG_EIGH, eigh_op.general(A, _triangle_named(UPLO)), out, (A,))


def _triangle_named(uplo: str) -> str:
    if uplo.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")
    return uplo.upper()


def eigvalsh(A, UPLO="L", *, out=None):
    """The eigenvalues of a Hermitian matrix, in ascending order."""
    check_square("linalg.eigvalsh", A)
    values = eigh_op.general(A, _triangle_named(UPLO))[0]
    return values if out is None else into("linalg_eigvalsh", out, (A,), values)


eigh_op.function = eigh
publish("linalg", "eigh", eigh)
publish("linalg", "eigvalsh", eigvalsh)

# --- eigenvalues of any square matrix ---


@op(name="linalg_eig", method=False, namespace=None)
def eig_op(self: Array):
    kind = np.result_type(self.dtype, np.complex64)
    if not self.size:
        return np.empty(self.shape[:-1], kind), np.empty(self.shape, kind)
    if not np.isfinite(self).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = np.linalg.eig(self)
    return values.astype(kind), vectors.astype(kind)


@eig_op.derivative(of="self")
def _(xp, grads, self_dtype, result0, result1):
    grad_values, grad_vectors = grads
    vectors = result1
    adjoint = transposed(xp, vectors)
    inner = xp.matmul(adjoint, grad_vectors)
    refuse_phase(xp, "linalg_eig_backward", "eigenvectors", inner)
    # The columns have length 1: what would stretch them does not count.
    stretch = xp.astype(xp.real(diagonal_of(xp, inner)), inner.dtype)
    inner = inner - columns_times(xp, xp.matmul(adjoint, vectors), stretch)
    middle = inner / xp.conj(differences(xp, result0))
    middle = middle - diagonal_matrix(xp, diagonal_of(xp, middle)) + diagonal_matrix(xp, grad_values)
    return xp.solve(adjoint, xp.matmul(middle, adjoint))


LINALG_EIG = return_type("linalg_eig", "eigenvalues eigenvectors")


def eig(A, *, out=None):
    """(eigenvalues, eigenvectors) of a square matrix, complex, in no particular order."""
    check_square("linalg.eig", A)
    return named_results("linalg_eig", LINALG_EIG, eig_op.general(A), out, (A,))


def eigvals(A, *, out=None):
    """The eigenvalues of a square matrix, complex, in no particular order."""
    check_square("linalg.eigvals", A)
    values = eig_op.general(A)[0]
    return values if out is None else into("linalg_eigvals", out, (A,), values)


eig_op.function = eig
publish("linalg", "eig", eig)
publish("linalg", "eigvals", eigvals)

# --- singular values ---


@op(name="linalg_svd", method=False, namespace=None)
def svd_op(self: Array, full_matrices: bool = True):
    try:
        u, s, vh = np.linalg.svd(self, full_matrices)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
            "repeated singular values (error code: 1)."
        ) from None
    return u, s, vh


@svd_op.derivative(of="self")
def _(xp, grads, self_shape, result0, result1, result2):
    grad_u, grad_s, grad_vh = grads
    rows, columns = self_shape[-2:]
    k = min(rows, columns)
    u, s, vh = xp.narrow(result0, -1, 0, k), result1, xp.narrow(result2, -2, 0, k)
    grad_u, grad_vh = xp.narrow(grad_u, -1, 0, k), xp.narrow(grad_vh, -2, 0, k)
    v, grad_v = transposed(xp, vh), transposed(xp, grad_vh)
    by_u, by_v = xp.matmul(transposed(xp, u), grad_u), xp.matmul(vh, grad_v)
    refuse_phase(xp, "svd_backward", "singular vectors", by_u + by_v)
    skew_u, skew_v = by_u - transposed(xp, by_u), by_v - transposed(xp, by_v)
    squares = differences(xp, s * s)
    middle = columns_times(xp, skew_u / squares, s) + rows_times(xp, skew_v / squares, s)
    if xp.is_complex(u):
        middle = middle - diagonal_matrix(xp, diagonal_of(xp, middle))
        middle = middle + diagonal_matrix(xp, diagonal_of(xp, skew_u) / (2 * s))
    middle = middle + xp.astype(diagonal_matrix(xp, grad_s), middle.dtype)
    out = xp.matmul(u, xp.matmul(middle, vh))
    if rows > k:
        outside = grad_u - xp.matmul(u, by_u)
        out = out + xp.matmul(columns_times(xp, outside, 1 / s), vh)
    if columns > k:
        outside = grad_v - xp.matmul(v, by_v)
        out = out + xp.matmul(columns_times(xp, u, 1 / s), transposed(xp, outside))
    return out


@op(name="svdvals", node="LinalgSvdBackward0", method=False, namespace=None)
def svdvals_op(self: Array):
    return np.linalg.svd(self, compute_uv=False)


@svdvals_op.derivative(of="self")
def _(xp, grad, self):
    u, _, vh = xp.svd(self)
    return xp.matmul(columns_times(xp, u, grad), vh)


LINALG_SVD, SVD = return_type("linalg_svd", "U S Vh"), return_type("svd", "U S V")


def svd(A, full_matrices=True, *, driver=None, out=None):
    """(U, S, Vᴴ): orthonormal columns, singular values in descending order, orthonormal rows."""
    _check_driver("linalg.svd", driver)
    check_matrix("linalg.svd", A)
    return named_results("linalg_svd", LINALG_SVD, svd_op.general(A, bool(full_matrices)), out, (A,))


def _check_driver(name: str, driver) -> None:
    if driver is not None:
        raise RuntimeError(
            f"{name}: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


def svdvals(A, *, driver=None, out=None):
    """The singular values, in descending order."""
    _check_driver("linalg.svd", driver)
    check_matrix("linalg.svd", A)
    values = svdvals_op.single(A)
    return values if out is None else into("linalg_svdvals", out, (A,), values)


def old_svd(input, some=True, compute_uv=True, *, out=None):
    """(U, S, V); linalg.svd is PyTorch's newer name and gives Vᴴ."""
    check_matrix("linalg.svd", input)
    if not compute_uv:
        rows, columns = input._spec.shape[-2:]
        zeros = FUNCTIONS["torch"]["zeros"]
        lead = input._spec.shape[:-2]
        parts = (
            zeros((*lead, rows, rows), dtype=input.dtype), svdvals_op.single(input),
            zeros((*lead, columns, columns), dtype=input.dtype),
        )  # fmt: skip
        return named_results("svd", SVD, parts, out, (input,))
    u, s, vh = svd_op.general(input, not some)
    v = vh.conj().transpose(-2, -1) if vh.is_complex() else vh.transpose(-2, -1)
    return named_results("svd", SVD, (u, s, v), out, (input,))


old_svd.__name__ = "svd"
svd_op.function, svdvals_op.function = svd, svdvals
publish("linalg", "svd", svd)
publish("linalg", "svdvals", svdvals)
publish("torch", "svd", old_svd)
put_method("svd", old_svd)

# --- LU ---


def _lu(a) -> tuple:
    """(L and U in one, pivots counted from 1, info) of each matrix."""
    from scipy.linalg import lapack

    rows, columns = a.shape[-2:]
    k = min(rows, columns)
    flat = a.reshape(math.prod(a.shape[:-2]), rows, columns)
    factors, pivots, info = np.empty_like(flat), np.empty((len(flat), k), np.int32), np.zeros(len(flat), np.int32)
    if flat.size:
        (getrf,) = lapack.get_lapack_funcs(("getrf",), (flat,))
        for i, matrix in enumerate(flat):
            factors[i], found, info[i] = getrf(matrix)
            pivots[i] = found + 1
    lead = a.shape[:-2]
    return factors.reshape(a.shape), pivots.reshape(*lead, k), info.reshape(lead)


@op(name="linalg_lu_factor_ex", nondifferentiable_outputs=(1, 2), method=False, namespace=None)
def lu_factor_op(self: Array):
    return _lu(self)


@op(name="linalg_lu", nondifferentiable_outputs=(0,), method=False, namespace=None)
def lu_op(self: Array):
    factors, pivots, _ = _lu(self)
    rows, columns = self.shape[-2:]
    k = min(rows, columns)
    lower = np.tril(factors[..., :, :k], -1) + np.eye(rows, k, dtype=self.dtype)
    return vocabulary.pivot_matrix(pivots, rows, self), lower, np.triu(factors[..., :k, :])


def lu_slope(xp, grad_l, grad_u, p, lower, upper):
    """The vjp of A = P L U; of a wide or a tall matrix the square part first, the rest through it."""
    rows, k = lower.shape[-2:]
    columns = upper.shape[-1]
    if rows == columns:
        middle = xp.tril(xp.matmul(transposed(xp, lower), grad_l), -1) + xp.triu(
            xp.matmul(grad_u, transposed(xp, upper))
        )
        left = xp.solve_triangular(transposed(xp, lower), middle, True, True, True)
        return xp.matmul(p, xp.solve_triangular(transposed(xp, upper), left, False, False, False))
    if rows < columns:
        u1, u2 = xp.narrow(upper, -1, 0, k), xp.narrow(upper, -1, k, columns - k)
        g1, g2 = xp.narrow(grad_u, -1, 0, k), xp.narrow(grad_u, -1, k, columns - k)
        # U2 = L⁻¹ Pᵀ A2
        right = xp.solve_triangular(transposed(xp, lower), g2, True, True, True)
        grad_l = grad_l - xp.tril(xp.matmul(right, transposed(xp, u2)), -1)
        return xp.concatenate([lu_slope(xp, grad_l, g1, p, lower, u1), xp.matmul(p, right)], -1)
    l1, l2 = xp.narrow(lower, -2, 0, k), xp.narrow(lower, -2, k, rows - k)
    g1, g2 = xp.narrow(grad_l, -2, 0, k), xp.narrow(grad_l, -2, k, rows - k)
    # L2 = (Pᵀ A)2 U⁻¹
    below = xp.solve_triangular(transposed(xp, upper), g2, False, False, False)
    grad_u = grad_u - xp.triu(xp.matmul(transposed(xp, l2), below))
    middle = xp.tril(xp.matmul(transposed(xp, l1), g1), -1) + xp.triu(xp.matmul(grad_u, transposed(xp, upper)))
    above = xp.solve_triangular(transposed(xp, l1), middle, True, True, True)
    above = xp.solve_triangular(transposed(xp, upper), above, False, False, False)
    return xp.matmul(p, xp.concatenate([above, below], -2))


@lu_op.derivative(of="self")
def _(xp, grads, result0, result1, result2):
    return lu_slope(xp, grads[1], grads[2], result0, result1, result2)


@lu_factor_op.derivative(of="self")
def _(xp, grad, result0, result1):
    rows, columns = result0.shape[-2:]
    k = min(rows, columns)
    lower = xp.tril(xp.narrow(result0, -1, 0, k), -1) + xp.eye_like(result0, rows, k)
    upper = xp.triu(xp.narrow(result0, -2, 0, k))
    grad_l, grad_u = xp.tril(xp.narrow(grad, -1, 0, k), -1), xp.triu(xp.narrow(grad, -2, 0, k))
    return lu_slope(xp, grad_l, grad_u, xp.pivot_matrix(result1, rows, result0), lower, upper)


LINALG_LU = return_type("linalg_lu", "P L U")
LU_FACTOR = return_type("linalg_lu_factor", "LU pivots")
LU_FACTOR_EX = return_type("linalg_lu_factor_ex", "LU pivots info")


def _check_pivot(name: str, pivot: bool) -> None:
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU")


def lu(A, *, pivot=True, out=None):
    """(P, L, U) with A = P L U: a permutation, a lower triangle with ones on its diagonal, an upper triangle."""
    check_matrix("linalg.lu", A)
    _check_pivot("linalg.lu", pivot)
    return named_results("linalg_lu", LINALG_LU, lu_op.general(A), out, (A,))


def lu_factor(A, *, pivot=True, out=None):
    """(L and U in one matrix, pivots counted from 1); RuntimeError where U has a zero on its diagonal."""
    check_matrix("torch.lu_factor", A)
    _check_pivot("linalg.lu_factor", pivot)
    factors, pivots, info = lu_factor_op.general(A)
    if info._array.any():
        number = int(np.flatnonzero(info._array)[0])
        where = f"(Batch element {number}): " if A._spec.ndim > 2 else ""
        raise LinAlgError(
            f"torch.linalg.lu_factor: {where}U[{info._array.reshape(-1)[number]},{info._array.reshape(-1)[number]}] is zero "
            "and using it on lu_solve would result in a division by zero. If you still want to perform the factorization, "
            "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )
    return named_results("linalg_lu_factor", LU_FACTOR, (factors, pivots), out, (A,))


def lu_factor_ex(A, *, pivot=True, check_errors=False, out=None):
    """(L and U in one matrix, pivots counted from 1, info): info is 0 or the number of a zero on the diagonal of U."""
    check_matrix("torch.lu_factor", A)
    _check_pivot("linalg.lu_factor", pivot)
    return named_results("linalg_lu_factor_ex", LU_FACTOR_EX, lu_factor_op.general(A), out, (A,))


lu_op.function, lu_factor_op.function = lu, lu_factor_ex
for _function in (lu, lu_factor, lu_factor_ex):
    publish("linalg", _function.__name__, _function)


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    """(P, L, U) of what lu_factor returns; empty tensors for the parts that are not asked for."""
    rows, columns = LU_data._spec.shape[-2:]
    k = min(rows, columns)
    empty = FUNCTIONS["torch"]["empty"]
    p = lower = upper = empty(0, dtype=LU_data.dtype)
    if unpack_pivots:
        p = wrap(vocabulary.pivot_matrix(LU_pivots._array, rows, LU_data._array))
    if unpack_data:
        lower = LU_data.narrow(-1, 0, k).tril(-1) + FUNCTIONS["torch"]["eye"](rows, k, dtype=LU_data.dtype)
        upper = LU_data.narrow(-2, 0, k).triu()
    return named_results("lu_unpack", LU_UNPACK, (p, lower, upper), out, (LU_data,))


LU_UNPACK = return_type("lu_unpack", "P L U")
publish("torch", "lu_unpack", lu_unpack)


def lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None):
    """X with A X = B (or X A = B, or with Aᴴ), for the A whose factors and pivots lu_factor returned."""
    p, lower, upper = lu_unpack(LU, pivots)
    solve = FUNCTIONS["linalg"]["solve_triangular"]
    if not left:
        turned = lu_solve(LU, pivots, B.mH, adjoint=not adjoint)
        result = turned.mH
    elif adjoint:
        inner = solve(lower.mH, solve(upper.mH, B, upper=False), upper=True, unitriangular=True)
        result = p @ inner
    else:
        result = solve(upper, solve(lower, p.mT @ B, upper=False, unitriangular=True), upper=True)
    return result if out is None else into("linalg_lu_solve", out, (LU, B), result)


def old_lu_solve(b, LU_data, LU_pivots, *, out=None):
    """X with A X = b; linalg.lu_solve is PyTorch's newer name."""
    return lu_solve(LU_data, LU_pivots, b, out=out)


old_lu_solve.__name__ = "lu_solve"
publish("linalg", "lu_solve", lu_solve)
publish("torch", "lu_solve", old_lu_solve)
put_method("lu_solve", old_lu_solve)


def old_lu(A, pivot=True, get_infos=False, out=None):
    """(L and U in one matrix, pivots) and, with `get_infos`, info."""
    factors, pivots, info = lu_factor_op.general(A)
    return (factors, pivots, info) if get_infos else (factors, pivots)


old_lu.__name__ = "lu"
publish("torch", "lu", old_lu)
put_method("lu", old_lu)
