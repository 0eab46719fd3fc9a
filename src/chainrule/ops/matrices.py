"""What is asked of matrices: norms, condition, rank, trace; pseudo-inverses and least squares; products of vectors."""

import math
import warnings

import numpy as np

from ..core.declare import Array, composite, op, put_method
from ..core.dtype import argument_type_name, int64
from ..core.registry import FUNCTIONS, publish
from ..core.return_types import return_type
from ..core.tensor import Tensor, wrap_dim
from .decompositions import eigvalsh, svdvals
from .extremes import named_results
from .norms import norm_of, norm_slope, vector_norm
from .products import transposed
from .reduction import dimensions, into
from .refusal import refuse
from .solving import check_matrix, check_square, inv, inv_op, solve_op

__all__ = ["matrix_norm", "linalg_norm", "pinv", "lstsq", "trace", "cross", "cdist"]
T = FUNCTIONS["torch"]

# --- norms of matrices ---

SINGULAR = (2, -2, "nuc")


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """A norm of matrices: "fro", "nuc", or 1, 2, inf (the largest) and -1, -2, -inf (the smallest) of columns' sums,
    singular values, rows' sums. https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_norm.html
    """
    check_matrix("linalg.matrix_norm", A)
    if not isinstance(dim, (tuple, list)):
        raise TypeError(
            "linalg_matrix_norm() received an invalid combination of arguments - got (Tensor, "
            f"{argument_type_name(ord)}, dim={argument_type_name(dim)}), but expected one of:"
        )
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    supported = ord in ("fro", "nuc") if isinstance(ord, str) else abs(ord) in (1, 2, math.inf)
    if not supported:
        shown = ord if isinstance(ord, str) else f"{ord:g}"
        raise RuntimeError(f"linalg.matrix_norm: Order {shown} not supported.")
    first, second = (wrap_dim(d, A._spec.ndim) for d in dim)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    result = _matrix_norm(A, ord, (first, second), keepdim, dtype)
    return result if out is None else into("linalg_matrix_norm", out, (A,), result)


def _matrix_norm(A, ord, dim, keepdim, dtype):
    if ord == "fro":
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dtype is not None:
        A = A.to(dtype)
    if ord in SINGULAR:
        values = svdvals(A.movedim(dim, (-2, -1)))
        out = (
            values.sum(-1, keepdim)
            if ord == "nuc"
            else values.amax(-1, keepdim)
            if ord == 2
            else values.amin(-1, keepdim)
        )
        return out.unsqueeze(-1).movedim((-2, -1), dim) if keepdim else out
    summed, chosen = dim if abs(ord) == 1 else dim[::-1]
    sums = vector_norm(A, 1, summed, True)
    out = sums.amax(chosen, True) if ord > 0 else sums.amin(chosen, True)
    return out if keepdim else out.squeeze(dim)


publish("linalg", "matrix_norm", matrix_norm)


def linalg_norm(A, ord=None, dim=None, keepdim=False, *, dtype=None, out=None):
    """A norm of vectors or matrices: which of them is told by `dim`, or by `ord` and the number of dimensions.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.norm.html
    """
    if dim is not None:
        dims = (dim,) if not isinstance(dim, (tuple, list)) else tuple(dim)
        if len(dims) not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
        if ord is not None and len(dims) == 2:
            return matrix_norm(A, ord, dims, keepdim, dtype=dtype, out=out)
        return vector_norm(A, 2 if ord is None else ord, dims, keepdim, dtype=dtype, out=out)
    if ord is None:
        return vector_norm(A, 2, None, keepdim, dtype=dtype, out=out)
    if isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1), keepdim, dtype=dtype, out=out)
    if A._spec.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A._spec.ndim}D."
        )
    if A._spec.ndim == 2:
        return matrix_norm(A, ord, (-2, -1), keepdim, dtype=dtype, out=out)
    return vector_norm(A, ord, (0,), keepdim, dtype=dtype, out=out)


publish("linalg", "norm", linalg_norm)


def cond(A, p=None, *, out=None):
    """The condition number: the quotient of the largest and smallest singular values, or ‖A‖ ‖A⁻¹‖ in another norm."""
    check_matrix("linalg.cond", A)
    if p is None or p in (2, -2):
        values = svdvals(A)
        largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, values.size(-1) - 1, 1)
        result = (smallest / largest if p == -2 else largest / smallest).squeeze(-1)
    else:
        if p not in ("fro", "nuc") and (isinstance(p, str) or abs(p) not in (1, math.inf)):
            raise RuntimeError(f"linalg.cond got an invalid norm type: {p if isinstance(p, str) else f'{p:g}'}")
        if p == "nuc":
            check_square("linalg.cond(ord=nuc)", A)
        else:
            check_square(f"linalg.cond(ord={p})", A)
        product = matrix_norm(A, p) * matrix_norm(inv_op.single(A), p)
        result = product.nan_to_num(math.inf, math.inf, -math.inf)
    return result if out is None else into("linalg_cond", out, (A,), result)


publish("linalg", "cond", cond)


def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """How many singular values (of a Hermitian matrix: eigenvalues) are above max(atol, rtol · the largest)."""
    check_matrix("linalg.matrix_rank", A)
    values = eigvalsh(A).abs() if hermitian else svdvals(A)
    atol = tol if tol is not None else atol
    if rtol is None:
        eps = np.finfo(values._spec.array_dtype).eps * max(A._spec.shape[-2:])
        no_bound = atol is None or not isinstance(atol, Tensor) and atol <= 0
        rtol = eps if no_bound or isinstance(atol, Tensor) else 0.0
        if isinstance(atol, Tensor):
            rtol = T["where"](atol > 0, 0.0, eps).to(values.dtype)
    values = values.detach()
    if values.size(-1) == 0:
        return T["zeros"](values.shape[:-1], dtype=int64)
    largest = values.amax(-1)
    bound = largest * rtol
    if atol is not None:
        bound = T["maximum"](bound, atol if isinstance(atol, Tensor) else T["full_like"](bound, atol))
    result = (values > bound.unsqueeze(-1)).sum(-1)
    return result if out is None else into("linalg_matrix_rank", out, (A,), result)


publish("linalg", "matrix_rank", matrix_rank)

# --- pseudo-inverse and least squares ---


def _pinv(a, bound_of, hermitian: bool):
    u, s, vh = _singular(a, hermitian)
    if not s.size:
        return np.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    size = np.abs(s)
    keep = size > bound_of(np.max(size, -1, keepdims=True))
    inverse = np.where(keep, 1 / np.where(keep, s, 1), 0)
    return np.conj(np.swapaxes(vh, -1, -2)) * inverse[..., None, :] @ np.conj(np.swapaxes(u, -1, -2))


def _singular(a, hermitian: bool):
    if hermitian:
        values, vectors = np.linalg.eigh(a)
        return vectors, values, np.conj(np.swapaxes(vectors, -1, -2))
    return np.linalg.svd(a, False)


@op(name="linalg_pinv", method=False, namespace=None, frees=("atol", "rtol"))
def pinv_op(self: Array, atol, rtol, hermitian: bool = False):
    return np.ascontiguousarray(_pinv(self, lambda largest: np.maximum(atol, rtol * largest), hermitian)).astype(
        self.dtype
    )


def pinv_slope(xp, grad, x, inverse):
    """Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems, 1973, eq. 4.12."""
    adjoint = transposed(xp, inverse)
    turned = transposed(xp, grad)
    out = -xp.matmul(adjoint, xp.matmul(grad, adjoint))
    left = turned - xp.matmul(x, xp.matmul(inverse, turned))
    out = out + xp.matmul(left, xp.matmul(inverse, adjoint))
    right = xp.matmul(adjoint, xp.matmul(inverse, turned))
    return out + right - xp.matmul(xp.matmul(right, inverse), x)


pinv_op.derivative(of="self")(lambda xp, grad, self, result: pinv_slope(xp, grad, self, result))


def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The Moore–Penrose inverse; singular values up to max(atol, rtol · the largest) count as 0.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.pinv.html
    """
    if A._spec.ndim < 2 or not A._spec.inexact:
        raise RuntimeError(
            f"linalg.pinv({A._spec.dtype.scalar_name}{{{list(A._spec.shape)}}}): expected a tensor with 2 or more dimensions of "
            "float, double, cfloat or cdouble types"
        )
    if hermitian:
        check_square("linalg.eigh", A)
    rtol = rcond if rcond is not None else rtol
    if rtol is None:
        eps = float(np.finfo(A._spec.array_dtype).eps) * max(A._spec.shape[-2:])
        rtol = 0.0 if atol is not None and not isinstance(atol, Tensor) and atol > 0 else eps
    bounds = [_bound(b) for b in (0.0 if atol is None else atol, rtol)]
    result = pinv_op.single(A, *bounds, hermitian)
    return result if out is None else into("linalg_pinv", out, (A,), result)


def _bound(value):
    return value._array[..., None] if isinstance(value, Tensor) else value


pinv_op.function = pinv
publish("linalg", "pinv", pinv)


def pinverse(input, rcond=1e-15):
    """The Moore–Penrose inverse; singular values up to rcond · the largest count as 0."""
    return pinv(input, rcond)


publish("torch", "pinverse", pinverse)
put_method("pinverse", pinverse)


@op(name="linalg_lstsq", nondifferentiable_outputs=(2, 3), method=False, namespace=None)
def lstsq_op(self: Array, b: Array, rcond=None, driver: str = "gelsy"):
    rows, columns = self.shape[-2:]
    vector = b.ndim == self.ndim - 1
    right = b[..., None] if vector else b
    u, s, vh = np.linalg.svd(self, False)
    eps = np.finfo(s.dtype).eps * max(rows, columns) if rcond is None else rcond
    keep = s > eps * np.max(s, -1, keepdims=True, initial=0)
    inverse = np.where(keep, 1 / np.where(keep, s, 1), 0)
    x = np.conj(np.swapaxes(vh, -1, -2)) @ (inverse[..., None] * (np.conj(np.swapaxes(u, -1, -2)) @ right))
    rank = np.add.reduce(keep, -1, dtype=np.int64)
    full = rows > columns and driver != "gelsy" and bool((rank == columns).all())
    off = right - self @ x
    residuals = np.add.reduce(np.abs(off) ** 2, -2) if full else np.empty(0, s.dtype)
    solution = np.ascontiguousarray(x[..., 0] if vector else x)
    with_rank = driver != "gels"
    return (
        solution.astype(self.dtype), residuals, rank if with_rank else np.empty(0, np.int64),
        s if driver in ("gelsd", "gelss") else np.empty(0, s.dtype),
    )  # fmt: skip


@lstsq_op.derivative(of=("self", "b"))
def _(xp, grads, self, b):
    grad, grad_residuals = grads[0], grads[1]
    vector = b.ndim == self.ndim - 1
    if vector:
        b, grad = xp.expand_dims(b, -1), xp.expand_dims(grad, -1)
    inverse = xp.pinv(self)
    by_a = pinv_slope(xp, xp.matmul(grad, transposed(xp, b)), self, inverse)
    by_b = xp.matmul(transposed(xp, inverse), grad)
    if 0 not in grad_residuals.shape:
        off = xp.matmul(self, xp.matmul(inverse, b)) - b
        pull = 2 * off * xp.expand_dims(grad_residuals, -2)
        by_a = by_a + xp.matmul(pull, transposed(xp, xp.matmul(inverse, b)))
        by_b = by_b - pull
    return by_a, xp.reshape(by_b, by_b.shape[:-1]) if vector else by_b


LSTSQ = return_type("linalg_lstsq", "solution residuals rank singular_values")
DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(A, B, rcond=None, *, driver=None, out=None):
    """The X with the smallest ‖A X − B‖ (of several the smallest X), with the squared residuals, rank, singular values.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.lstsq.html
    """
    check_matrix("torch.linalg.lstsq", A, argument="input")
    if B._spec.ndim < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if driver is not None and driver not in DRIVERS:
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if A._spec.dtype is not B._spec.dtype:
        raise RuntimeError("torch.linalg.lstsq: input and other must have the same dtype")
    dim = -1 if B._spec.ndim == A._spec.ndim - 1 else -2
    if B._spec.ndim < A._spec.ndim - 1 or A.size(-2) != B.size(dim):
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({dim})")
    return named_results("linalg_lstsq", LSTSQ, lstsq_op.general(A, B, rcond, driver or "gelsy"), out, (A, B))


lstsq_op.function = lstsq
publish("linalg", "lstsq", lstsq)

# --- trace and products of vectors ---


@op(name="trace", method=False, namespace=None)
def trace_op(self: Array):
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    refuse("trace", "b", self)
    return np.asarray(np.trace(self, dtype=np.int64 if self.dtype.kind in "iu" else None))


@trace_op.derivative(of="self")
def _(xp, grad, self_shape):
    n = min(self_shape)
    return xp.diagonal_place(xp.broadcast_to(grad, (n,)), self_shape, 0, 0, 1)


def trace(input):
    """The sum of the diagonal of a matrix."""
    return trace_op.single(input)


trace_op.function = trace
publish("torch", "trace", trace)
put_method("trace", trace)


def _cross(a, b, axis: int):
    x, y = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), a.dtype)
    z = np.moveaxis(out, axis, 0)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        z[i] = x[j] * y[k] - x[k] * y[j]
    return out


@op(name="linalg_cross", promote=("self", "other"), method=False, namespace=None)
def cross_op(self: Array, other: Array, dim: int = -1):
    return _cross(self, other, dim % max(self.ndim, other.ndim))


cross_op.numbers = ()
cross_op.derivative(of="self")(lambda xp, grad, other, dim: xp.cross(xp.conj(other), grad, dim))
cross_op.derivative(of="other")(lambda xp, grad, self, dim: xp.cross(grad, xp.conj(self), dim))


def linalg_cross(input, other, *, dim=-1, out=None):
    """The cross products of vectors of three elements along a dimension; input and other broadcast."""
    if input._spec.ndim != other._spec.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if input.size(dim) != 3 or other.size(dim) != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.size(dim)} and {other.size(dim)}"
        )
    result = cross_op.general(input, other, wrap_dim(dim, input._spec.ndim) - input._spec.ndim)
    return result if out is None else into("linalg_cross", out, (input, other), result)


def cross(input, other, dim=None, *, out=None):
    """The cross products of vectors of three elements, along a dimension or (in the old way) the first of size 3."""
    if dim is None:
        warnings.warn(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or simply "
            "use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross in a future "
            "release.",
            stacklevel=2,
        )
        if 3 not in input._spec.shape:
            raise RuntimeError("no dimension of size 3 in input")
        dim = input._spec.shape.index(3)
    return linalg_cross(input, other, dim=dim, out=out)


cross_op.function = cross
publish("linalg", "cross", linalg_cross)
publish("torch", "cross", cross)
put_method("cross", cross)

# --- distances between all pairs ---


@op(name="cdist", method=False, namespace=None)
def cdist_op(self: Array, other: Array, p=2.0):
    return norm_of(self[..., :, None, :] - other[..., None, :, :], p, (-1,), False)


def _pairs(xp, grad, self, other, result, p):
    off = xp.expand_dims(self, -2) - xp.expand_dims(other, -3)
    return norm_slope(xp, xp.expand_dims(grad, -1), off, xp.expand_dims(result, -1), p, (off.ndim - 1,))


cdist_op.derivative(of="self")(
    lambda xp, grad, self, other, result, p: xp.sum(_pairs(xp, grad, self, other, result, p), -2)
)
cdist_op.derivative(of="other")(
    lambda xp, grad, self, other, result, p: -xp.sum(_pairs(xp, grad, self, other, result, p), -3)
)


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The p-norm distances between all rows of x1 and all rows of x2."""
    for name, x in (("X1", x1), ("X2", x2)):
        if not x._spec.dtype.is_floating_point:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {x._spec.dtype.scalar_name}")
    for name, x in (("X1", x1), ("X2", x2)):
        if x._spec.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x._spec.ndim}D")
    if x1.size(-1) != x2.size(-1):
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.size(-1)} X2: {x2.size(-1)}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if compute_mode not in (
        "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist",
    ):  # fmt: skip
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return cdist_op.single(x1, x2, float(p))


cdist_op.function = cdist
publish("torch", "cdist", cdist)


def pdist(input, p=2.0):
    """The p-norm distances between all pairs of rows, in one row."""
    if input._spec.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input._spec.ndim}D")
    n = input.size(0)
    i, j = (FUNCTIONS["torch"]["from_numpy"](a) for a in np.triu_indices(n, 1))
    return _pair_norm.single(input[i] - input[j], float(p))


@op(name="pdist_norm", node="PdistBackward0", method=False, namespace=None)
def _pair_norm(self: Array, p):
    return norm_of(self, p, (-1,), False)


@_pair_norm.derivative(of="self")
def _(xp, grad, self, result, p):
    return norm_slope(xp, xp.expand_dims(grad, -1), self, xp.expand_dims(result, -1), p, dimensions(-1, self.ndim))


publish("nn.functional", "pdist", pdist)
publish("torch", "pdist", pdist)


def bilinear(input1, input2, weight, bias=None):
    """x1ᵀ W x2 + b for each output: input1 (…, i), input2 (…, j), weight (o, i, j), bias (o,)."""
    for k, x in ((1, input1), (2, input2)):
        if x.size(-1) != weight.size(k):
            raise RuntimeError(
                f"bilinear(): input{k} size does not match weight size: got {x.size(-1)} but expected {weight.size(k)}"
            )
    lead = input1.shape[:-1]
    if lead != input2.shape[:-1]:
        raise RuntimeError("bilinear(): input batch dimensions do not match")
    x1, x2 = input1.reshape(-1, input1.size(-1)), input2.reshape(-1, input2.size(-1))
    out = FUNCTIONS["torch"]["einsum"]("ni,oij,nj->no", x1, weight, x2).view(*lead, weight.size(0))
    return out if bias is None else out + bias


publish("nn.functional", "bilinear", bilinear)
publish("torch", "bilinear", bilinear)

# --- tensors as matrices ---


def tensorinv(A, ind=2, *, out=None):
    """The inverse of A as a map from its last dimensions to its first `ind`."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    first, last = A.shape[:ind], A.shape[ind:]
    m, n = math.prod(first), math.prod(last)
    if m != n:
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {n} != {m}"
        )
    result = inv(A.reshape(m, n)).reshape((*last, *first))
    return result if out is None else into("linalg_tensorinv", out, (A,), result)


def tensorsolve(A, B, dims=None, *, out=None):
    """X with A X = B, the last dimensions of A summed over with those of X."""
    if dims is not None:
        dims = [wrap_dim(d, A.dim()) for d in dims]
        A = A.permute([d for d in range(A.dim()) if d not in dims] + dims)
    rest = A.shape[B.dim() :]
    n = math.prod(rest)
    if math.prod(A.shape[: B.dim()]) != n:
        raise RuntimeError(f"shape '[{n}, {n}]' is invalid for input of size {A.numel()}")
    result = solve_op.single(A.reshape(n, n), B.reshape(-1), True).view(rest)
    return result if out is None else into("linalg_tensorsolve", out, (A, B), result)


publish("linalg", "tensorinv", tensorinv)
publish("linalg", "tensorsolve", tensorsolve)


def _vander(x, n: int):
    powers = x.unsqueeze(-1).expand(*x.shape, n - 1).cumprod(-1) if n > 1 else x.new_empty((*x.shape, 0))
    return T["cat"]([T["ones_like"](x).unsqueeze(-1), powers], -1)


def linalg_vander(x, *, N=None):
    """The powers 0 to N − 1 of each element, along a new last dimension."""
    if not x.dim():
        x = x.reshape(1)
    n = x.size(-1) if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    return _vander(x, n)


def vander(x, N=None, increasing=False):
    """The powers of each element of a vector, from the highest down or (increasing) from 0 up."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.size(0) if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    if n == 0:
        return x.new_empty((x.size(0), 0))
    out = _vander(x, n)
    return out if increasing else out.flip(1)


publish("linalg", "vander", linalg_vander)
publish("torch", "vander", vander)


@composite(name="diagonal", method=False, namespace="linalg")
def linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of matrices, as a view."""
    return A.diagonal(offset, dim1, dim2)


# --- reflections ---


def householder_product(A, tau, *, out=None):
    """The first columns of the product of the reflections 1 − τ v vᴴ, whose vectors lie below the diagonal of A."""
    check_matrix("torch.linalg.householder_product", A, argument="input")
    m, n = A.shape[-2:]
    if m < n:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    k = tau.size(-1)
    if n < k:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    result = _reflected(A, tau, T["eye"](m, n, dtype=A.dtype).expand(*A.shape[:-2], m, n), range(k - 1, -1, -1))
    return result if out is None else into("linalg_householder_product", out, (A, tau), result)


def _reflected(A, tau, x, order, conjugated: bool = False):
    m = A.size(-2)
    vectors = A.tril(-1) + T["eye"](m, A.size(-1), dtype=A.dtype)
    for i in order:
        v = vectors.narrow(-1, i, 1)
        t = tau.narrow(-1, i, 1).unsqueeze(-1)
        x = x - (t.conj() if conjugated else t) * v @ (v.mH @ x)
    return x


publish("linalg", "householder_product", householder_product)
publish("torch", "orgqr", householder_product)
put_method("orgqr", householder_product)


def ormqr(input, tau, other, left=True, transpose=False, *, out=None):
    """The product of the orthogonal matrix that `input` and `tau` stand for (or its adjoint) and `other`."""
    k = tau.size(-1)
    if not left:
        result = ormqr(input, tau, other.mH, True, not transpose).mH
    else:
        order = range(k) if transpose else range(k - 1, -1, -1)
        result = _reflected(input, tau, other, order, transpose)
    return result if out is None else into("ormqr", out, (input, tau, other), result)


publish("torch", "ormqr", ormqr)
put_method("ormqr", ormqr)
