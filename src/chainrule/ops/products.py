"""Products of matrices and vectors: matmul and the forms it takes, the ones that add, linear layers.

The kernels take the dtype their operands share; half precision is multiplied in single and rounded once. A transposed
operand goes to BLAS as it lies. One call is one node, named after the last of those PyTorch would make.
"""

import math

import numpy as np

from ..core.declare import Array, op, put_method
from ..core.dtype import argument_type_name
from ..core.dtype import of as dtype_of
from ..core.general import broadcast_shapes
from ..core.registry import publish
from ..core.tensor import Tensor
from .precision import HALF
from .reduction import into

__all__ = ["matmul", "mm", "bmm", "mv", "dot", "linear", "multiply"]


def multiply(a, b):
    """a @ b of NumPy for arrays of one dtype, in PyTorch's precision."""
    if a.dtype is HALF:
        return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(HALF)
    if a.ndim <= 2 and b.ndim <= 2:
        return a.dot(b)  # the same product of BLAS, in half the time where it is small
    return np.matmul(a, b)


def transposed(xp, x):
    """The conjugate transpose of the last two dimensions."""
    return xp.swapaxes(xp.conj(x), -1, -2)


def check_alike(a, b) -> None:
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {dtype_of(a.dtype).cpp_name} != {dtype_of(b.dtype).cpp_name}"
        )
    if a.dtype.kind == "b":
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")


def _cannot(a_rows, a_columns, b) -> RuntimeError:
    return RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({a_rows}x{a_columns} and {b.shape[0]}x{b.shape[1]})"
    )


# --- two operands ---


@op(node="MmBackward0", method=False, namespace=None)
def mm_op(self: Array, mat2: Array):
    if self.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    if self.shape[1] != mat2.shape[0]:
        raise _cannot(self.shape[0], self.shape[1], mat2)
    check_alike(self, mat2)
    return multiply(self, mat2)


mm_op.derivative(of="self")(lambda xp, grad, mat2: xp.matmul(grad, transposed(xp, mat2)))
mm_op.derivative(of="mat2")(lambda xp, grad, self: xp.matmul(transposed(xp, self), grad))


@op(node="MvBackward0", method=False, namespace=None)
def mv_op(self: Array, vec: Array):
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({self.shape[0]}), mat ({self.shape[0]}x{self.shape[1]}), vec ({vec.shape[0]})"
        )
    if self.dtype is not vec.dtype:
        matrix, vector = dtype_of(self.dtype).scalar_name, dtype_of(vec.dtype).scalar_name
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {vector}, {matrix}, and {vector}")
    check_alike(self, vec)
    return multiply(self, vec)


mv_op.derivative(of="self")(lambda xp, grad, vec: xp.expand_dims(grad, 1) * xp.conj(vec))
mv_op.derivative(of="vec")(lambda xp, grad, self: xp.matmul(transposed(xp, self), grad))


def _check_dot(name: str, a, b) -> None:
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype is not b.dtype:
        first, second = dtype_of(a.dtype).scalar_name, dtype_of(b.dtype).scalar_name
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {first} and {second}")
    if a.shape != b.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.shape[0]}] and src [{b.shape[0]}] to have the same number of "
            f"elements, but got {a.shape[0]} and {b.shape[0]} elements respectively"
        )
    if a.dtype.kind == "b":
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")


@op(node="DotBackward0", method=False, namespace=None)
def dot_op(self: Array, tensor: Array):
    _check_dot("dot", self, tensor)
    return np.asarray(multiply(self, tensor))


dot_op.derivative(of="self")(lambda xp, grad, tensor: grad * xp.conj(tensor))
dot_op.derivative(of="tensor")(lambda xp, grad, self: grad * xp.conj(self))


@op(node="VdotBackward0", method=False, namespace=None)
def vdot_op(self: Array, other: Array):
    _check_dot("vdot", self, other)
    return np.asarray(multiply(np.conjugate(self), other))


vdot_op.derivative(of="self")(lambda xp, grad, other: xp.conj(grad) * other)
vdot_op.derivative(of="other")(lambda xp, grad, self: grad * self)


@op(node="BmmBackward0", method=False, namespace=None)
def bmm_op(self: Array, mat2: Array):
    for name, array in (("batch1", self), ("batch2", mat2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if mat2.shape[:2] != (self.shape[0], self.shape[2]):
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{self.shape[0]}, {self.shape[2]}] but got: "
            f"[{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    check_alike(self, mat2)
    return multiply(self, mat2)


bmm_op.derivative(of="self")(lambda xp, grad, mat2: xp.matmul(grad, transposed(xp, mat2)))
bmm_op.derivative(of="mat2")(lambda xp, grad, self: xp.matmul(transposed(xp, self), grad))


def _vector_times(node: str, name: str):
    """A vector times a matrix or a stack of them, or a stack times a vector; and stacks that broadcast."""

    def kernel(self: Array, other: Array):
        check_stacks(self, other)
        if self.dtype is not other.dtype:
            raise _unlike(self, other)
        check_alike(self, other)
        return multiply(self, other)

    operation = op(kernel, name=name, node=node, method=False, namespace=None)

    @operation.derivative(of="self")
    def _(xp, grad, other, self_shape):
        vector, by_vector = len(self_shape) == 1, len(other.shape) == 1
        if vector:
            grad = xp.expand_dims(grad, -2)
        if by_vector:
            out = xp.expand_dims(grad, -1) * xp.conj(other)
        else:
            out = xp.matmul(grad, transposed(xp, other))
        return xp.sum_to(out, (1, *self_shape)).reshape(self_shape) if vector else out

    @operation.derivative(of="other")
    def _(xp, grad, self, other_shape):
        vector, by_vector = len(self.shape) == 1, len(other_shape) == 1
        if by_vector:
            rows = xp.reshape(self, (math.prod(self.shape[:-1]), self.shape[-1]))
            return xp.matmul(transposed(xp, rows), xp.reshape(grad, (-1,)))
        if vector:
            return xp.expand_dims(xp.conj(self), -1) * xp.expand_dims(grad, -2)
        if len(other_shape) == 2:
            n = math.prod(self.shape[:-1])
            rows = xp.reshape(self, (n, self.shape[-1]))
            return xp.matmul(transposed(xp, rows), xp.reshape(grad, (n, other_shape[-1])))
        return xp.matmul(transposed(xp, self), grad)

    return operation


def _unlike(a, b) -> RuntimeError:
    """The complaint about two dtypes, which depends on what PyTorch multiplies there."""
    first, second = dtype_of(a.dtype).scalar_name, dtype_of(b.dtype).scalar_name
    if a.ndim == 1 and b.ndim > 2 or b.ndim == 1:
        vector, matrix = (second, first) if b.ndim == 1 else (first, second)
        return RuntimeError(f"addmv input tensors must have the same dtype, but got {vector}, {matrix}, and {vector}")
    if b.ndim > 2:
        return RuntimeError(f"expected scalar type {first} but found {second}")
    return RuntimeError(
        f"expected m1 and m2 to have the same dtype, but got: {dtype_of(a.dtype).cpp_name} != {dtype_of(b.dtype).cpp_name}"
    )


def check_stacks(a, b) -> None:
    """PyTorch's complaints about the shapes of two operands of matmul of which at least one is a stack or a row."""
    inner = a.shape[-1]
    other = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.ndim > 2 and b.ndim > 2:
        batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
        if inner != other:
            n = int(np.prod(batch))
            raise RuntimeError(
                f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {inner}] but got: [{n}, {other}]."
            )
    elif inner != other:
        if b.ndim == 1:
            rows = int(np.prod(a.shape[:-1]))
            raise RuntimeError(f"size mismatch, got input ({rows}), mat ({rows}x{inner}), vec ({other})")
        if a.ndim == 1 and b.ndim > 2:
            rows = int(np.prod(b.shape[:-2])) * b.shape[-1]
            raise RuntimeError(f"size mismatch, got input ({rows}), mat ({rows}x{other}), vec ({inner})")
        if a.ndim == 2 and b.ndim > 2:  # PyTorch multiplies the transposes
            columns = int(np.prod(b.shape[:-2])) * b.shape[-1]
            raise RuntimeError(
                f"mat1 and mat2 shapes cannot be multiplied ({columns}x{other} and {inner}x{a.shape[0]})"
            )
        rows = int(np.prod(a.shape[:-1]))
        raise _cannot(rows if a.ndim > 1 else 1, inner, b)


row_times = _vector_times("SqueezeBackward4", "matmul_row")
stacked = _vector_times("UnsafeViewBackward0", "matmul_stack")
transposed_stack = _vector_times("CloneBackward0", "matmul_by_stack")


def _times_a_stack(shape: tuple, other: tuple) -> bool:
    """Whether PyTorch multiplies by the transposed stack as one matrix."""
    n = len(shape)
    return n == 2 or 2 < n <= len(other) and other[0] != 1 and all(k == 1 for k in shape[:-2])


def matmul(input, other, *, out=None):
    """The product of two vectors, matrices, or stacks of matrices that broadcast.

    https://docs.pytorch.org/docs/stable/generated/torch.matmul.html
    """
    try:
        n, m = input._spec.ndim, other._spec.ndim
    except AttributeError:
        for position, (name, value) in enumerate((("input", input), ("other", other))):
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"matmul(): argument '{name}' (position {position + 1}) must be Tensor, not {argument_type_name(value)}"
                ) from None
        raise
    if out is not None:
        return into("matmul", out, (input, other), matmul(input, other))
    if n == 2:
        if m == 2:
            return mm_op.single(input, other)
        if m == 1:
            return mv_op.single(input, other)
    elif n == 1:
        if m == 1:
            return dot_op.single(input, other)
        if m == 2:
            return row_times.single(input, other)
    if n == 0 or m == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {n}D and {m}D")
    if m > 2 and input.requires_grad and _times_a_stack(input._spec.shape, other._spec.shape):
        return transposed_stack.single(input, other)
    return stacked.single(input, other)


for _operation in (row_times, stacked, transposed_stack):
    _operation.function = matmul
for _namespace in ("torch", "linalg"):
    publish(_namespace, "matmul", matmul)
put_method("matmul", matmul)


def _operator(self, other):
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


def _reflected(self, other):
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


put_method("__matmul__", _operator)
put_method("__rmatmul__", _reflected)


def _public(operation, name: str, second: str, doc: str):
    """The function and method of an operation of two tensors."""
    single = operation.single

    def function(input, other=None, *, out=None, **named):
        if named or other is None:
            other = named.pop(second, other)
            if named:
                raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(named))}'")
            if other is None:
                raise TypeError(f'{name}() missing 1 required positional arguments: "{second}"')
        for position, (argument, value) in enumerate((("input", input), (second, other))):
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"{name}(): argument '{argument}' (position {position + 1}) must be Tensor, not "
                    f"{argument_type_name(value)}"
                )
        result = single(input, other)
        return result if out is None else into(name, out, (input, other), result)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    operation.function = function
    operation.name = name
    publish("torch", name, function)
    put_method(name, function)
    return function


mm = _public(mm_op, "mm", "mat2", "The product of two matrices.")
mv = _public(mv_op, "mv", "vec", "The product of a matrix and a vector.")
bmm = _public(bmm_op, "bmm", "mat2", "The products of two stacks of matrices of three dimensions each.")
dot = _public(dot_op, "dot", "tensor", "The sum of the products of two vectors; neither is conjugated.")
vdot = _public(vdot_op, "vdot", "other", "The sum of the products of two vectors, the first conjugated.")

# --- products that are added to something ---


def expanded(self, shape):
    """self broadcast to the shape of a product, with PyTorch's complaint where it does not fit."""
    if self.shape == shape:
        return self
    at = len(shape) - self.ndim
    for i, n in enumerate(self.shape):
        if at < 0 or n != 1 and n != shape[i + at]:
            if at < 0:
                raise RuntimeError(
                    f"The expanded sizes of the tensor ({', '.join(map(str, shape))}) must be greater or equal to the number "
                    f"of dimensions in the tensor ({self.ndim})"
                )
            raise RuntimeError(
                f"The expanded size of the tensor ({shape[i + at]}) must match the existing size ({n}) at non-singleton "
                f"dimension {i + at}.  Target sizes: {list(shape)}.  Tensor sizes: {list(self.shape)}"
            )
    return np.broadcast_to(self, shape)


def _added(self, product, shape, beta, alpha):
    """beta · self + alpha · product, written over the product; self is not looked at where beta is 0."""
    self = expanded(self, shape)
    if alpha != 1:
        product = product * product.dtype.type(alpha)
    if beta == 0:
        return product
    if beta != 1:
        self = self * self.dtype.type(beta)
    if product.dtype is self.dtype and type(product) is np.ndarray and product.flags.writeable:
        return np.add(self, product, out=product)
    return self + product


def _wide(*arrays):
    """Half precision in single; others as they are."""
    return tuple(a.astype(np.float32) for a in arrays) if arrays[0].dtype is HALF else arrays


def _check_self(self, other) -> None:
    if self.dtype is not other.dtype:
        raise RuntimeError(
            "self and mat2 must have the same dtype, but got "
            f"{dtype_of(self.dtype).scalar_name} and {dtype_of(other.dtype).scalar_name}"
        )


def _sum_product(self, a, b, shape, beta, alpha):
    wide = _wide(self, a, b)
    out = _added(wide[0], np.matmul(wide[1], wide[2]), shape, beta, alpha)
    return out if wide[0] is self else out.astype(HALF)


@op(node="AddmmBackward0", method=False, namespace=None)
def addmm_op(self: Array, mat1: Array, mat2: Array, beta=1, alpha=1):
    if mat1.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(f"mat{1 if mat1.ndim != 2 else 2} must be a matrix, got "
                           f"{mat1.ndim if mat1.ndim != 2 else mat2.ndim}-D tensor")  # fmt: skip
    if mat1.shape[1] != mat2.shape[0]:
        raise _cannot(mat1.shape[0], mat1.shape[1], mat2)
    check_alike(mat1, mat2)
    _check_self(self, mat2)
    return _sum_product(self, mat1, mat2, (mat1.shape[0], mat2.shape[1]), beta, alpha)


def _scaled(xp, grad, factor):
    return grad if factor == 1 else grad * xp_conj(factor)


def xp_conj(number):
    return number.conjugate() if isinstance(number, complex) else number


def _declare_added(operation, first: str, second: str, left, right):
    """The derivatives of beta · self + alpha · product, from those of the product."""
    operation.derivative(of="self")(lambda xp, grad, beta: _scaled(xp, grad, beta))
    for of, saved, formula in ((first, second, left), (second, first, right)):
        operation.derivative(of=of, names=(saved, "alpha"))(
            lambda xp, grad, other, alpha, formula=formula: _scaled(xp, formula(xp, grad, other), alpha)
        )


def by_second(xp, grad, other):
    return xp.matmul(grad, transposed(xp, other))


def by_first(xp, grad, other):
    return xp.matmul(transposed(xp, other), grad)


_declare_added(addmm_op, "mat1", "mat2", by_second, by_first)


@op(node="AddmvBackward0", method=False, namespace=None)
def addmv_op(self: Array, mat: Array, vec: Array, beta=1, alpha=1):
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}")
    rows = mat.shape[0]
    if mat.shape[1] != vec.shape[0] or self.size not in (rows, 1):
        raise RuntimeError(f"size mismatch, got input ({self.size}), mat ({rows}x{mat.shape[1]}), vec ({vec.shape[0]})")
    check_alike(mat, vec)
    return _sum_product(self, mat, vec, (rows,), beta, alpha)


_declare_added(addmv_op, "mat", "vec", lambda xp, grad, vec: xp.expand_dims(grad, 1) * xp.conj(vec), by_first)


@op(node="AddrBackward0", method=False, namespace=None)
def addr_op(self: Array, vec1: Array, vec2: Array, beta=1, alpha=1):
    if vec1.ndim != 1 or vec2.ndim != 1:
        number, ndim = (1, vec1.ndim) if vec1.ndim != 1 else (2, vec2.ndim)
        raise RuntimeError(f"addr: Expected 1-D argument vec{number}, but got {ndim}-D")
    if self.dtype.kind not in "fc" and (isinstance(beta, float) or isinstance(alpha, float)):
        which = "beta" if isinstance(beta, float) else "alpha"
        raise RuntimeError(f"For integral input tensors, argument {which} must not be a floating point number.")
    return _added(self, np.multiply.outer(vec1, vec2), (vec1.size, vec2.size), beta, alpha)


_declare_added(
    addr_op, "vec1", "vec2", lambda xp, grad, vec2: xp.matmul(grad, xp.conj(vec2)),
    lambda xp, grad, vec1: xp.matmul(xp.swapaxes(grad, 0, 1), xp.conj(vec1)),
)  # fmt: skip


def _check_batches(batch1, batch2) -> None:
    for name, array in (("batch1", batch1), ("batch2", batch2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    expected = (batch1.shape[0], batch1.shape[2])
    if batch2.shape[:2] != expected:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{expected[0]}, {expected[1]}] but got: "
            f"[{batch2.shape[0]}, {batch2.shape[1]}]."
        )
    check_alike(batch1, batch2)


@op(node="BaddbmmBackward0", method=False, namespace=None)
def baddbmm_op(self: Array, batch1: Array, batch2: Array, beta=1, alpha=1):
    if batch1.ndim == batch2.ndim == 3:
        expanded(self, (batch1.shape[0], batch1.shape[1], batch2.shape[2]))
    _check_batches(batch1, batch2)
    shape = (batch1.shape[0], batch1.shape[1], batch2.shape[2])
    return _sum_product(self, batch1, batch2, shape, beta, alpha)


_declare_added(baddbmm_op, "batch1", "batch2", by_second, by_first)


@op(node="AddbmmBackward0", method=False, namespace=None)
def addbmm_op(self: Array, batch1: Array, batch2: Array, beta=1, alpha=1):
    for name, array in (("batch1", batch1), ("batch2", batch2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {batch1.shape[0]} and {batch2.shape[0]}"
        )
    if batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({batch1.shape[1]}x{batch1.shape[2]} and "
            f"{batch2.shape[1]}x{batch2.shape[2]})"
        )
    check_alike(batch1, batch2)
    n, rows, inner = batch1.shape
    left = np.swapaxes(batch1, 0, 1).reshape(rows, n * inner)  # one product sums over the stack as well
    right = batch2.reshape(n * inner, batch2.shape[2])
    return _sum_product(self, left, right, (rows, batch2.shape[2]), beta, alpha)


_declare_added(
    addbmm_op, "batch1", "batch2",
    lambda xp, grad, batch2: xp.matmul(xp.expand_dims(grad, 0), transposed(xp, batch2)),
    lambda xp, grad, batch1: xp.matmul(transposed(xp, batch1), xp.expand_dims(grad, 0)),
)  # fmt: skip


def _public_added(operation, name: str, names: tuple, doc: str):
    single, inplace = operation.single, operation.inplace

    def arguments(input, first, second, beta, alpha):
        if not isinstance(input, Tensor) and isinstance(alpha, Tensor):  # the old form: (beta, input, …)
            raise combination(input, first, second)
        for position, (argument, value) in enumerate(zip(("input", *names), (input, first, second))):
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"{name}(): argument '{argument}' (position {position + 1}) must be Tensor, not "
                    f"{argument_type_name(value)}"
                )
        return input, first, second, beta, alpha

    def combination(*values):
        got = ", ".join(argument_type_name(v) for v in values)
        return TypeError(f"{name}() received an invalid combination of arguments - got ({got}), but expected one of:")

    def function(input, first=None, second=None, *, beta=1, alpha=1, out=None, **named):
        first, second = named.pop(names[0], first), named.pop(names[1], second)
        if named:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(named))}'")
        values = arguments(input, first, second, beta, alpha)
        result = single(*values)
        return result if out is None else into(name, out, values[:3], result)

    def function_(input, first=None, second=None, *, beta=1, alpha=1, **named):
        first, second = named.pop(names[0], first), named.pop(names[1], second)
        return inplace(*arguments(input, first, second, beta, alpha))

    function.__doc__ = function_.__doc__ = doc
    operation.function = function
    operation.inplace_function = function_
    operation.name = name
    for suffix, made in (("", function), ("_", function_)):
        made.__name__ = made.__qualname__ = name + suffix
        put_method(name + suffix, made)
        if suffix == "" or name in ("addmv", "addr"):
            publish("torch", name + suffix, made)


_public_added(addmm_op, "addmm", ("mat1", "mat2"), "beta · input + alpha · (mat1 @ mat2).")
_public_added(addmv_op, "addmv", ("mat", "vec"), "beta · input + alpha · (mat @ vec).")
_public_added(addr_op, "addr", ("vec1", "vec2"), "beta · input + alpha · (the outer product of vec1 and vec2).")
_public_added(baddbmm_op, "baddbmm", ("batch1", "batch2"), "beta · input + alpha · (batch1 @ batch2), stack by stack.")
_public_added(addbmm_op, "addbmm", ("batch1", "batch2"), "beta · input + alpha · (the sum of batch1 @ batch2).")

# --- linear layers ---


def _rows(x):
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1]) if x.ndim != 2 else x


def _check_linear(input, weight) -> None:
    if input.shape[-1] != weight.shape[1]:
        rows = int(np.prod(input.shape[:-1]))
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input.shape[-1]} and {weight.shape[1]}x{weight.shape[0]})"
        )
    check_alike(input, weight)


def _linear_kernel(input: Array, weight: Array, bias: Array):
    _check_linear(input, weight)
    if bias.dtype is not input.dtype:
        _check_self(bias, input)
    rows = _rows(input)
    wide = _wide(bias, rows, weight)
    out = np.matmul(wide[1], wide[2].T)
    np.add(out, expanded(wide[0], out.shape), out=out)
    if wide[0] is not bias:
        out = out.astype(HALF)
    return out if input.ndim == 2 else out.reshape(*input.shape[:-1], weight.shape[0])


def _plain_kernel(input: Array, weight: Array):
    _check_linear(input, weight)
    out = multiply(_rows(input), weight.T)
    return out if input.ndim == 2 else out.reshape(*input.shape[:-1], weight.shape[0])


def _declare_linear(kernel, name: str, node: str):
    operation = op(kernel, name=name, node=node, method=False, namespace=None)

    @operation.derivative(of="input")
    def _(xp, grad, weight, input_shape):
        if len(input_shape) == 2:
            return xp.matmul(grad, xp.conj(weight))
        rows = xp.reshape(grad, (math.prod(input_shape[:-1]), weight.shape[0]))
        return xp.reshape(xp.matmul(rows, xp.conj(weight)), input_shape)

    @operation.derivative(of="weight")
    def _(xp, grad, input):
        if len(input.shape) != 2:
            n = math.prod(input.shape[:-1])
            input, grad = xp.reshape(input, (n, input.shape[-1])), xp.reshape(grad, (n, grad.shape[-1]))
        return xp.matmul(xp.swapaxes(grad, 0, 1), xp.conj(input))

    if "bias" in operation.params:
        operation.derivative(of="bias")(lambda xp, grad: grad)
    return operation


linear_2d = _declare_linear(_linear_kernel, "linear_2d", "AddmmBackward0")
linear_nd = _declare_linear(_linear_kernel, "linear_nd", "ViewBackward0")
linear_plain_2d = _declare_linear(_plain_kernel, "linear_plain_2d", "MmBackward0")
linear_plain_nd = _declare_linear(_plain_kernel, "linear_plain_nd", "UnsafeViewBackward0")
linear_plain_1d = _declare_linear(_plain_kernel, "linear_plain_1d", "SqueezeBackward4")


def linear(input, weight, bias=None):
    """input @ weight.T + bias: `input` (…, in), `weight` (out, in) or (in,), `bias` (out,) or ().

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.linear.html
    """
    for position, (name, value) in enumerate((("input", input), ("weight", weight), ("bias", bias))):
        if not isinstance(value, Tensor) and (value is not None or name != "bias"):
            raise TypeError(
                f"linear(): argument '{name}' (position {position + 1}) must be Tensor, not {argument_type_name(value)}"
            )
    n = input._spec.ndim
    if weight._spec.ndim != 2 or n == 0:
        out = matmul(input, weight.t())
        return out if bias is None else out + bias
    if bias is None:
        return (linear_plain_2d if n == 2 else linear_plain_1d if n == 1 else linear_plain_nd).single(input, weight)
    if n == 2:
        return linear_2d.single(input, weight, bias)
    if not (bias._array.flags.c_contiguous and input._array.flags.c_contiguous):
        return linear(input, weight) + bias
    return linear_nd.single(input, weight, bias)


for _operation in (linear_2d, linear_nd, linear_plain_2d, linear_plain_nd, linear_plain_1d):
    _operation.function = linear
    _operation.name = "linear"
publish("nn.functional", "linear", linear)
