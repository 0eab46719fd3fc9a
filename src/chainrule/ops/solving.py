"""Linear systems: inverse, determinant, solve, Cholesky, matrices made of triangles; over stacks of matrices.

Derivatives: Giles, An extended collection of matrix derivative results for forward and reverse mode automatic
differentiation, 2008; for complex matrices with conjugate transposes.
"""

import math

import numpy as np

from ..core.declare import Array, op, put_method
from ..core.dtype import argument_type_name
from ..core.registry import FUNCTIONS, publish
from ..core.return_types import return_type
from ..core.tensor import Tensor, wrap
from .extremes import named_results
from .products import transposed
from .reduction import into

__all__ = ["LinAlgError", "check_square", "check_matrix", "inv_op", "solve_op", "det"]


class _LinAlgError(RuntimeError):
    """A matrix has no inverse, no factor, no eigenvalues that could be found."""


_LinAlgError.__module__ = "torch._C"
LinAlgError = _LinAlgError

# --- what is required of matrices ---


def check_matrix(name: str, a, *, argument: str = "A", floating: bool = True) -> None:
    """RuntimeError unless `a` is a matrix or a stack of them, of floating or complex numbers."""
    if not isinstance(a, Tensor):
        raise TypeError(
            f"{name.replace('.', '_')}(): argument '{argument}' (position 1) must be Tensor, not {argument_type_name(a)}"
        )
    if a._spec.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")
    if floating and not a._spec.inexact:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {a._spec.dtype.scalar_name}"
        )


def check_square(name: str, a, *, argument: str = "A") -> None:
    check_matrix(name, a, argument=argument, floating=False)
    rows, columns = a._spec.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: {argument} must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
    check_matrix(name, a, argument=argument)


def stacked(a):
    """A stack of matrices in three dimensions."""
    return a.reshape(math.prod(a.shape[:-2]), *a.shape[-2:])


def where_in_stack(a, number: int) -> str:
    """The words that name one matrix of a stack in an error message."""
    return f"(Batch element {number}): " if a.ndim > 2 else ""


def first_singular(a) -> tuple[int, int]:
    """The number in the stack of the first matrix with a zero on the diagonal of U, and which diagonal element that is."""
    from scipy.linalg import lapack

    for number, matrix in enumerate(stacked(a)):
        (getrf,) = lapack.get_lapack_funcs(("getrf",), (matrix,))
        info = getrf(matrix)[2]
        if info > 0:
            return number, info
    return 0, a.shape[-1]


def check_finite_pivots(a) -> np.ndarray:
    """Per matrix, the number of the first zero pivot of its LU factors, counted from 1, or 0."""
    from scipy.linalg import lapack

    flat = stacked(a)
    info = np.zeros(len(flat), np.int32)
    if flat.size:
        (getrf,) = lapack.get_lapack_funcs(("getrf",), (flat,))
        for i, matrix in enumerate(flat):
            info[i] = getrf(matrix)[2]
    return info.reshape(a.shape[:-2])


# --- inverse ---


def _inverse(a):
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        flat = stacked(a)
        out = np.full_like(flat, np.nan)
        for i, matrix in enumerate(flat):
            try:
                out[i] = np.linalg.inv(matrix)
            except np.linalg.LinAlgError:
                pass
        return out.reshape(a.shape)


@op(name="linalg_inv_ex", method=False, namespace=None)
def inv_op(self: Array):
    if self.dtype == np.float16:
        raise RuntimeError("linalg.inv: Low precision dtypes not supported. Got Half")
    return _inverse(self)


@inv_op.derivative(of="self")
def _(xp, grad, result):
    adjoint = transposed(xp, result)
    return -xp.matmul(adjoint, xp.matmul(grad, adjoint))


def inv(A, *, out=None):
    """The inverse of a square matrix, or of each of a stack; LinAlgError for a singular one."""
    check_square("linalg.inv", A)
    if A._spec.numel:
        pivots = check_finite_pivots(A._array)
        if pivots.any():
            number = int(np.flatnonzero(pivots)[0])
            raise _LinAlgError(
                f"linalg.inv: {where_in_stack(A._array, number)}The diagonal element {pivots.reshape(-1)[number]} is zero, the "
                "inversion could not be completed because the input matrix is singular."
            )
    result = inv_op.single(A)
    return result if out is None else into("linalg_inv", out, (A,), result)


INV_EX = return_type("linalg_inv_ex", "inverse info")


def inv_ex(A, *, check_errors=False, out=None):
    """(inverse, info): info is 0, or which pivot of a singular matrix is zero; with `check_errors` LinAlgError."""
    check_square("linalg.inv_ex", A)
    if check_errors:
        inv(A)
    info = _wrapped(check_finite_pivots(A._array).astype(np.int32))
    return named_results("linalg_inv_ex", INV_EX, (inv_op.single(A), info), out, (A,))


def _wrapped(array):
    return wrap(np.asarray(array))


inv_op.function = inv
for _name, _function in (("inv", inv), ("inv_ex", inv_ex)):
    publish("linalg", _name, _function)


def inverse(input, *, out=None):
    """The inverse of a square matrix, or of each of a stack; LinAlgError for a singular one."""
    return inv(input, out=out)


publish("torch", "inverse", inverse)
put_method("inverse", inverse)

# --- determinant ---


@op(name="linalg_det", method=False, namespace=None)
def det_op(self: Array):
    return np.linalg.det(self)


@det_op.derivative(of="self")
def _(xp, grad, self):
    adjugate = xp.conj(xp.swapaxes(xp.adjugate(self), -1, -2))
    return xp.expand_dims(xp.expand_dims(grad, -1), -1) * adjugate


def det(A, *, out=None):
    """The determinant of a square matrix, or of each of a stack."""
    check_square("linalg.det", A)
    result = det_op.single(A)
    return result if out is None else into("linalg_det", out, (A,), result)


det_op.function = det
publish("linalg", "det", det)
publish("torch", "det", det)
put_method("det", det)


@op(name="linalg_slogdet", method=False, namespace=None)
def slogdet_op(self: Array):
    sign, logabs = np.linalg.slogdet(self)
    return np.asarray(sign), np.asarray(logabs)


@slogdet_op.derivative(of="self")
def _(xp, grads, self, result0):
    grad_sign, grad = grads
    if xp.is_complex(self):
        # A change of log det by t changes log|det| by Re t and turns the sign by Im t.
        turn = xp.imag(grad_sign * xp.conj(result0))
        grad = grad + 1j * turn
    return xp.expand_dims(xp.expand_dims(grad, -1), -1) * transposed(xp, xp.inv(self))


LINALG_SLOGDET = return_type("linalg_slogdet", "sign logabsdet")
SLOGDET = return_type("slogdet", "sign logabsdet")


def linalg_slogdet(A, *, out=None):
    """(sign, logarithm of the absolute value) of the determinant."""
    check_square("linalg.slogdet", A)
    return named_results("linalg_slogdet", LINALG_SLOGDET, slogdet_op.general(A), out, (A,))


def slogdet(input, *, out=None):
    """(sign, logarithm of the absolute value) of the determinant."""
    check_square("linalg.slogdet", input)
    return named_results("slogdet", SLOGDET, slogdet_op.general(input), out, (input,))


def logdet(input):
    """The logarithm of the determinant; NaN where that is negative."""
    check_square("logdet", input)
    sign, logabs = slogdet_op.general(input)
    if input.is_complex():
        return logabs + sign.log()
    return FUNCTIONS["torch"]["where"](sign == -1.0, math.nan, logabs)


slogdet_op.function = slogdet
publish("linalg", "slogdet", linalg_slogdet)
for _name, _public in (("slogdet", slogdet), ("logdet", logdet)):
    publish("torch", _name, _public)
    put_method(_name, _public)

# --- linear systems ---


def is_vector(a_shape: tuple, b_shape: tuple) -> bool:
    """Whether B of A X = B is one vector for each matrix."""
    return len(b_shape) == 1 or len(a_shape) - 1 == len(b_shape) and b_shape == a_shape[:-1]


@op(name="linalg_solve_ex", method=False, namespace=None)
def solve_op(self: Array, B: Array, left: bool = True):
    vector = is_vector(self.shape, B.shape)
    a, b = self, B[..., None] if vector else B
    if not left:
        a, b = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)
    try:
        out = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise _LinAlgError(_singular(self)) from None
    if not left:
        out = np.swapaxes(out, -1, -2)
    return np.ascontiguousarray(out[..., 0] if vector else out)


def _singular(a) -> str:
    number, _ = first_singular(a)
    return f"torch.linalg.solve: {where_in_stack(a, number)}The solver failed because the input matrix is singular."


@solve_op.derivative(of="self")
def _(xp, grad, self, result, left, B_shape):
    by_b, x, _ = _columns(xp, grad, self, result, left, B_shape)
    return -xp.matmul(by_b, transposed(xp, x)) if left else -xp.matmul(transposed(xp, x), by_b)


@solve_op.derivative(of="B")
def _(xp, grad, self, result, left, B_shape):
    by_b, _, vector = _columns(xp, grad, self, result, left, B_shape)
    return xp.reshape(by_b, by_b.shape[:-1]) if vector else by_b


def _columns(xp, grad, self, result, left, b_shape) -> tuple:
    """(the gradient of B, the solution, whether they stand for vectors), both as matrices."""
    vector = is_vector(tuple(self.shape), tuple(b_shape))
    if vector:
        grad, result = xp.expand_dims(grad, -1), xp.expand_dims(result, -1)
    return xp.solve(transposed(xp, self), grad, left), result, vector


def solve(A, B, *, left=True, out=None):
    """X with A X = B, or with left=False X A = B; B is a vector or a matrix for each matrix of A."""
    check_system("linalg.solve", A, B, left)
    result = solve_op.single(A, B, left)
    return result if out is None else into("linalg_solve", out, (A, B), result)


def check_system(name: str, A, B, left: bool) -> None:
    check_square(name, A)
    if not isinstance(B, Tensor):
        raise TypeError(
            f"{name.replace('.', '_')}(): argument 'B' (position 2) must be Tensor, not {argument_type_name(B)}"
        )
    if A._spec.dtype is not B._spec.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {A._spec.dtype.scalar_name} and B of type "
            f"{B._spec.dtype.scalar_name} instead"
        )
    a, b = A._spec.shape, B._spec.shape
    if is_vector(a, b):
        if not left:
            raise RuntimeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this "
                               f"case linalg.solve is equivalent to B / A.squeeze(-1)")  # fmt: skip
        if b[-1] != a[-1]:
            raise RuntimeError(
                f"{name}: Incompatible shapes of A and B for the equation AX = B ({a[-2]}x{a[-1]} and {b[-1]}x1)"
            )
        return
    if (b[-2] if left else b[-1]) != a[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})"
        )


SOLVE_EX = return_type("linalg_solve_ex", "result info")


def solve_ex(A, B, *, left=True, check_errors=False, out=None):
    """(solution, info): info is 0, or which pivot of a singular matrix is zero."""
    check_system("linalg.solve_ex", A, B, left)
    info = _wrapped(check_finite_pivots(A._array).astype(np.int32))
    return named_results("linalg_solve_ex", SOLVE_EX, (solve_op.single(A, B, left), info), out, (A, B))


solve_op.function = lambda A, B, left=True: solve_op.single(A, B, left)
publish("linalg", "solve", solve)
publish("linalg", "solve_ex", solve_ex)


@op(name="linalg_solve_triangular", method=False, namespace=None)
def triangular_op(self: Array, B: Array, upper: bool, left: bool = True, unitriangular: bool = False):
    return _triangular(self, B, upper, left, unitriangular)


def _triangle(a, upper: bool, unit: bool):
    out = np.triu(a, int(unit)) if upper else np.tril(a, -int(unit))
    return out + np.eye(a.shape[-1], dtype=a.dtype) if unit else out


def _triangular(a, b, upper, left, unit):
    a = _triangle(a, upper, unit)
    if not left:
        a, b = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)
    try:
        out = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        with np.errstate(all="ignore"):
            out = np.full(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:], np.inf, a.dtype)
    return np.ascontiguousarray(out if left else np.swapaxes(out, -1, -2))


def _triangular_gradient(xp, grad, self, upper, left, unitriangular):
    return xp.solve_triangular(transposed(xp, self), grad, not upper, left, unitriangular)


@triangular_op.derivative(of="self")
def _(xp, grad, self, result, upper, left, unitriangular):
    by_b = _triangular_gradient(xp, grad, self, upper, left, unitriangular)
    x = transposed(xp, result)
    whole = -xp.matmul(by_b, x) if left else -xp.matmul(x, by_b)
    return xp.triu(whole, int(unitriangular)) if upper else xp.tril(whole, -int(unitriangular))


@triangular_op.derivative(of="B")
def _(xp, grad, self, upper, left, unitriangular):
    return _triangular_gradient(xp, grad, self, upper, left, unitriangular)


def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    """X with A X = B (or X A = B) for a triangular A, of which only that triangle is read."""
    check_square("linalg.solve_triangular", A)
    check_matrix("linalg.solve_triangular", B, argument="B")
    a, b = A._spec.shape, B._spec.shape
    if (b[-2] if left else b[-1]) != a[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"linalg.solve_triangular: Incompatible shapes of A and B for the equation {equation} ({a[-2]}x{a[-1]} and "
            f"{b[-2]}x{b[-1]})"
        )
    result = triangular_op.single(A, B, bool(upper), bool(left), bool(unitriangular))
    return result if out is None else into("linalg_solve_triangular", out, (A, B), result)


triangular_op.function = lambda A, B, upper, left=True, unit=False: triangular_op.single(A, B, upper, left, unit)
publish("linalg", "solve_triangular", solve_triangular)

# --- Cholesky ---


def _cholesky(a, upper: bool):
    """(factors, info): of each matrix the factor, and 0 or the order of the first minor that is not positive."""
    flat = stacked(a)
    try:
        factors = np.linalg.cholesky(a)
        info = np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        factors = np.zeros_like(flat)
        info = np.zeros(len(flat), np.int32)
        for i, matrix in enumerate(flat):
            for n in range(1, len(matrix) + 1):
                try:
                    factor = np.linalg.cholesky(matrix[:n, :n])
                except np.linalg.LinAlgError:
                    info[i] = n
                    break
                factors[i, :n, :n] = factor
        factors, info = factors.reshape(a.shape), info.reshape(a.shape[:-2])
    return (np.conj(np.swapaxes(factors, -1, -2)).copy() if upper else factors), info


@op(name="linalg_cholesky_ex", nondifferentiable_outputs=(1,), method=False, namespace=None)
def cholesky_op(self: Array, upper: bool = False):
    factors, info = _cholesky(self, upper)
    return factors, np.asarray(info, np.int32)


@op(name="cholesky", method=False, namespace=None)
def old_cholesky_op(self: Array, upper: bool = False):
    return _cholesky(self, upper)[0]


def cholesky_slope(xp, grad, factor, upper: bool):
    """Φ(Lᴴ ḡ) turned by L⁻ᴴ and L⁻¹ and made Hermitian: Murray, Differentiation of the Cholesky decomposition, 2016."""
    if upper:
        factor, grad = transposed(xp, factor), transposed(xp, grad)
    phi = xp.tril(xp.matmul(transposed(xp, factor), grad))
    phi = (phi + transposed(xp, xp.tril(phi, -1))) * 0.5
    if xp.is_complex(phi):  # the diagonal of what is Hermitian is real
        n = phi.ndim
        along = xp.diagonal(phi, 0, n - 2, n - 1)
        phi = phi - xp.diagonal_place(along - xp.real(along), tuple(phi.shape), 0, n - 2, n - 1)
    adjoint = transposed(xp, factor)
    left = xp.solve_triangular(adjoint, phi, True, True, False)
    return xp.solve_triangular(factor, left, False, False, False)


cholesky_op.derivative(of="self")(lambda xp, grad, result0, upper: cholesky_slope(xp, grad, result0, upper))
old_cholesky_op.derivative(of="self")(lambda xp, grad, result, upper: cholesky_slope(xp, grad, result, upper))


def cholesky(A, *, upper=False, out=None):
    """The lower (or upper) triangular factor of a Hermitian positive-definite matrix; LinAlgError for any other."""
    check_square("linalg.cholesky", A)
    factor, info = cholesky_op.general(A, upper)
    _check_positive("linalg.cholesky", info._array)
    return factor if out is None else into("linalg_cholesky", out, (A,), factor)


def _check_positive(name: str, info) -> None:
    if info.any():
        number = int(np.flatnonzero(info)[0])
        raise _LinAlgError(
            f"{name}: {where_in_stack(np.empty((1,) * (info.ndim + 2)), number)}The factorization could not be completed because "
            f"the input is not positive-definite (the leading minor of order {info.reshape(-1)[number]} is not "
            "positive-definite)."
        )


CHOLESKY_EX = return_type("linalg_cholesky_ex", "L info")


def cholesky_ex(A, *, upper=False, check_errors=False, out=None):
    """(factor, info): info is 0, or the order of the first minor that is not positive-definite."""
    check_square("linalg.cholesky_ex", A)
    results = cholesky_op.general(A, upper)
    if check_errors:
        _check_positive("linalg.cholesky_ex", results[1]._array)
    return named_results("linalg_cholesky_ex", CHOLESKY_EX, results, out, (A,))


def old_cholesky(input, upper=False, *, out=None):
    """The triangular factor of a Hermitian positive-definite matrix; linalg.cholesky is PyTorch's newer name."""
    check_square("cholesky", input)
    _check_positive("cholesky", _cholesky(input._array, upper)[1])
    result = old_cholesky_op.single(input, upper)
    return result if out is None else into("cholesky", out, (input,), result)


old_cholesky.__name__ = "cholesky"
cholesky_op.function = cholesky
old_cholesky_op.function = old_cholesky
publish("linalg", "cholesky", cholesky)
publish("linalg", "cholesky_ex", cholesky_ex)
publish("torch", "cholesky", old_cholesky)
put_method("cholesky", old_cholesky)


@op(name="cholesky_solve", method=False, namespace=None)
def cholesky_solve_op(self: Array, L: Array, upper: bool = False):
    first = (
        _triangular(L, self, False, True, False) if not upper else _triangular(_adjoint(L), self, False, True, False)
    )
    return _triangular(_adjoint(L) if not upper else L, first, True, True, False)


def _adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


@cholesky_solve_op.derivative(of="self")
def _(xp, grad, L, upper):
    return xp.cholesky_solve(grad, L, upper)


@cholesky_solve_op.derivative(of="L")
def _(xp, grad, L, result, upper):
    by_b = xp.cholesky_solve(grad, L, upper)
    product = xp.matmul(by_b, transposed(xp, result))
    both = product + transposed(xp, product)
    return xp.triu(-xp.matmul(L, both)) if upper else xp.tril(-xp.matmul(both, L))


def cholesky_solve(input, L, upper=False, *, out=None):
    """X with A X = input, for the matrix A whose Cholesky factor is L."""
    check_square("cholesky_solve", L, argument="A")
    result = cholesky_solve_op.single(input, L, upper)
    return result if out is None else into("cholesky_solve", out, (input, L), result)


cholesky_solve_op.function = cholesky_solve
publish("torch", "cholesky_solve", cholesky_solve)
put_method("cholesky_solve", cholesky_solve)


@op(name="cholesky_inverse", method=False, namespace=None)
def cholesky_inverse_op(self: Array, upper: bool = False):
    factor = _triangle(self, upper, False)
    return _inverse(_adjoint(factor) @ factor if upper else factor @ _adjoint(factor))


@cholesky_inverse_op.derivative(of="self")
def _(xp, grad, self, result, upper):
    both = xp.matmul(result, xp.matmul(grad + transposed(xp, grad), result))
    return xp.triu(-xp.matmul(self, both)) if upper else xp.tril(-xp.matmul(both, self))


def cholesky_inverse(L, upper=False, *, out=None):
    """The inverse of the matrix whose Cholesky factor is L."""
    check_square("cholesky_inverse", L)
    result = cholesky_inverse_op.single(L, upper)
    return result if out is None else into("cholesky_inverse", out, (L,), result)


cholesky_inverse_op.function = cholesky_inverse
publish("torch", "cholesky_inverse", cholesky_inverse)
put_method("cholesky_inverse", cholesky_inverse)

# --- exponential ---


@op(name="linalg_matrix_exp", method=False, namespace=None)
def matrix_exp_op(self: Array):
    from scipy.linalg import expm

    return np.asarray(expm(self), self.dtype) if self.size else self.copy()


@matrix_exp_op.derivative(of="self")
def _(xp, grad, self):
    # The upper right block of exp([[Aᴴ, ḡ], [0, Aᴴ]]): Higham, Functions of Matrices, section 3.2.
    n = self.shape[-1]
    adjoint = transposed(xp, self)
    upper = xp.concatenate([adjoint, grad], -1)
    lower = xp.concatenate([xp.zeros_like(adjoint), adjoint], -1)
    whole = xp.matrix_exp(xp.concatenate([upper, lower], -2))
    return xp.narrow(xp.narrow(whole, -2, 0, n), -1, n, n)


def matrix_exp(A):
    """The exponential of a square matrix, or of each of a stack."""
    check_square("linalg.matrix_exp", A)
    return matrix_exp_op.single(A)


matrix_exp_op.function = matrix_exp
publish("linalg", "matrix_exp", matrix_exp)
publish("torch", "matrix_exp", matrix_exp)
put_method("matrix_exp", matrix_exp)
