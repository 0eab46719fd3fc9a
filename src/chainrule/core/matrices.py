"""Functions of matrices and stacks of them that NumPy lacks or that derivatives ask for; part of the vocabulary."""

import numpy as np

from .registry import OPS

__all__ = [
    "adjugate", "all_small", "cholesky_solve", "cross", "eye_like", "inv", "matrix_exp", "pinv", "pivot_matrix", "solve",
    "solve_triangular", "svd",
]  # fmt: skip


def inv(x):
    """The inverses of square matrices."""
    return OPS["linalg_inv_ex"].kernel(x)


def adjugate(x):
    """The adjugates of square matrices, det(x) times the inverse, also of singular ones."""
    n = x.shape[-1]
    if n == 0 or not x.size:
        return np.zeros_like(x)
    # Of x = U S Vᴴ it is det(U) det(Vᴴ) V adj(S) Uᴴ, and of a diagonal matrix the products of all other elements.
    u, s, vh = np.linalg.svd(x)
    ones = np.ones_like(s[..., :1])
    before = np.concatenate([ones, np.cumprod(s[..., :-1], -1)], -1)
    after = np.concatenate([ones, np.cumprod(s[..., :0:-1], -1)], -1)[..., ::-1]
    turn = np.linalg.det(u) * np.linalg.det(vh)
    out = (np.conj(np.swapaxes(vh, -1, -2)) * (before * after)[..., None, :]) @ np.conj(np.swapaxes(u, -1, -2))
    return (out * turn[..., None, None]).astype(x.dtype)


def solve(x, y, left=True):
    """z with x z = y, or z x = y; y has columns."""
    return OPS["linalg_solve_ex"].kernel(x, y, left)


def solve_triangular(x, y, upper, left, unit):
    """The same for triangular x."""
    return OPS["linalg_solve_triangular"].kernel(x, y, upper, left, unit)


def cholesky_solve(y, factor, upper):
    """z with a z = y, for the matrices a with these Cholesky factors."""
    return OPS["cholesky_solve"].kernel(y, factor, upper)


def matrix_exp(x):
    """The exponentials of square matrices."""
    return OPS["linalg_matrix_exp"].kernel(x)


def svd(x):
    """(U, S, Vᴴ) without the vectors that belong to no singular value."""
    return OPS["linalg_svd"].kernel(x, False)


def eye_like(x, rows, columns):
    """A matrix of this size with ones on its diagonal, of the dtype of x."""
    return np.eye(rows, columns, dtype=x.dtype)


def pivot_matrix(pivots, rows, like):
    """The permutation matrix that the pivots of an LU factorisation stand for."""
    out = np.zeros((*pivots.shape[:-1], rows, rows), like.dtype)
    lists = pivots.reshape(int(np.prod(pivots.shape[:-1])), pivots.shape[-1])
    for matrix, found in zip(out.reshape(len(lists), rows, rows), lists):
        order = np.arange(rows)
        for i, p in enumerate(found):
            order[i], order[p - 1] = order[p - 1], order[i]
        matrix[order, np.arange(rows)] = 1
    return out


def all_small(x, bound) -> bool:
    """Whether no element is larger than the bound."""
    return bool((np.abs(x) <= bound).all())


def pinv(x):
    """The Moore–Penrose inverses."""
    return np.linalg.pinv(x)


def cross(x, y, dim):
    """The cross products along an axis."""
    return OPS["linalg_cross"].kernel(x, y, dim)
