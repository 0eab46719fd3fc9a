"""Contractions: einsum, tensordot, inner, outer, kron and what is made of products of matrices."""

import itertools
import math
import warnings

from ..core.declare import composite, put_method
from ..core.dtype import argument_type_name
from ..core.registry import FUNCTIONS, OPS, publish
from ..core.tensor import Tensor
from .products import bmm, matmul, mm
from .reduction import into

__all__ = ["einsum", "tensordot", "inner", "outer", "kron", "multi_dot", "matrix_power"]

# --- einsum ---

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DOTS = "..."


def einsum(*args):
    """Sums of products of elements, named by subscripts: `einsum("ij,jk->ik", a, b)`, or in the form with lists,
    `einsum(a, [0, 1], b, [1, 2], [0, 2])`. https://docs.pytorch.org/docs/stable/generated/torch.einsum.html
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts "
            "list"
        )
    equation, operands = _by_lists(args) if isinstance(args[0], Tensor) else (args[0], args[1:])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    inputs, output, dots = _parsed(equation, operands)
    terms = [_Term(t, labels) for t, labels in zip(operands, inputs)]
    _check_sizes(terms)
    return _contracted(terms, output)


def _by_lists(args: tuple) -> tuple:
    """The equation and the operands of the form with lists of numbers."""

    def written(subscripts) -> str:
        out = ""
        for s in subscripts:
            if s is Ellipsis:
                out += DOTS
            elif 0 <= s < 52:
                out += LETTERS[s]
            else:
                raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        return out

    operands, subscripts = args[::2], args[1::2]
    if len(args) % 2:  # the last list is the output's
        operands = operands[:-1]
        return f"{','.join(written(s) for s in subscripts)}->{written(args[-1])}", operands
    return ",".join(written(s) for s in subscripts), operands


class _Term:
    """An operand with a label for each of its dimensions, of which each occurs once."""

    def __init__(self, tensor, labels: list):
        for label in dict.fromkeys(labels):
            while labels.count(label) > 1:
                first = labels.index(label)
                second = labels.index(label, first + 1)
                tensor = tensor.diagonal(0, first, second)
                labels = [x for i, x in enumerate(labels) if i not in (first, second)] + [label]
        self.tensor = tensor
        self.labels = labels

    def size(self, label) -> int:
        return self.tensor._spec.shape[self.labels.index(label)]

    def ordered(self, labels) -> "Tensor":
        """The tensor with its dimensions in the order of `labels`."""
        order = [self.labels.index(x) for x in labels]
        return self.tensor if order == list(range(len(order))) else self.tensor.permute(order)


def _parsed(equation: str, operands) -> tuple:
    """(labels of each operand, labels of the output, how many dimensions the dots stand for)."""
    for t in operands:
        if not isinstance(t, Tensor):
            raise TypeError(
                f"expected Tensor as element {len(operands) - 1} in argument 1, but got {argument_type_name(t)}"
            )
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    if len(parts) != len(operands):
        more = "more" if len(operands) > len(parts) else "fewer"
        raise RuntimeError(f"einsum(): {more} operands were provided than specified in the equation")
    split = [_split(part, i) for i, part in enumerate(parts)]
    dots = 0
    for i, (labels, t) in enumerate(zip(split, operands)):
        ndim, named = t._spec.ndim, len(labels) - (DOTS in labels)
        if DOTS in labels:
            if named > ndim:
                raise RuntimeError(
                    f"einsum(): the number of subscripts in the equation ({named}) is more than the number of dimensions "
                    f"({ndim}) for operand {i}"
                )
            dots = max(dots, ndim - named)
        elif named != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the number of dimensions "
                f"({ndim}) for operand {i} and no ellipsis was given"
            )
    inputs = []
    for labels, t in zip(split, operands):
        inputs.append(_expand_dots(labels, dots, t._spec.ndim - (len(labels) - 1) if DOTS in labels else 0))
    if arrow:
        output = _expand_dots(_split(right, None), dots, dots)
        seen = set()
        for label in output:
            if type(label) is str:
                if label in seen:
                    raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
                if not any(label in labels for labels in inputs):
                    raise RuntimeError(
                        f"einsum(): output subscript {label} does not appear in the equation for any input operand"
                    )
                seen.add(label)
    else:
        counts = [label for labels in inputs for label in labels if type(label) is str]
        output = [*range(dots), *sorted((x for x in set(counts) if counts.count(x) == 1), key=LETTERS.index)]
    return inputs, output, dots


def _split(part: str, operand) -> list:
    """The subscripts of one operand: letters, and DOTS."""
    labels = []
    i = 0
    while i < len(part):
        c = part[i]
        if c == " ":
            i += 1
            continue
        if c == ".":
            where = f"operand {operand}" if operand is not None else "the output"
            if part[i : i + 3] != DOTS:
                raise RuntimeError(
                    f"einsum(): found '.' {'in' if operand is not None else 'for'} {where} that is not part of any ellipsis"
                    if operand is None
                    else f"einsum(): found '.' in {where} that is not part of any ellipsis"
                )
            if DOTS in labels:
                raise RuntimeError(
                    f"einsum(): found '.' in {where} for which an ellipsis was already found"
                    if operand is not None
                    else "einsum(): found '.' for output but an ellipsis (...) was already found"
                )
            labels.append(DOTS)
            i += 3
            continue
        if c not in LETTERS:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {i} in the equation string, subscripts must be in [a-zA-Z]"
            )
        labels.append(c)
        i += 1
    return labels


def _expand_dots(labels: list, dots: int, own: int) -> list:
    """DOTS replaced by the numbers of the dimensions it stands for, the last of all being `dots` − 1."""
    if DOTS not in labels:
        return list(labels)
    at = labels.index(DOTS)
    return [*labels[:at], *range(dots - own, dots), *labels[at + 1 :]]


def _check_sizes(terms) -> None:
    known: dict = {}
    for i, term in enumerate(terms):
        for label in term.labels:
            n = term.size(label)
            if n != 1:
                if known.setdefault(label, n) != n:
                    shown = label if type(label) is str else DOTS
                    raise RuntimeError(
                        f"einsum(): subscript {shown} has size {n} for operand {i} which does not broadcast with previously "
                        f"seen size {known[label]}"
                    )


def _contracted(terms: list, output: list):
    """The terms multiplied from left to right; a label is summed over as soon as no later term and not the output has it."""
    term = terms[0]
    for i, other in enumerate(terms[1:], 1):
        later = {label for t in terms[i + 1 :] for label in t.labels} | set(output)
        term = _pair(term, other, later)
    rest = [i for i, label in enumerate(term.labels) if label not in output]
    tensor, labels = term.tensor, term.labels
    if rest:
        tensor = term.ordered([x for x in output if x in labels] + [labels[i] for i in rest])
        kept = [x for x in output if x in labels]
        tensor = tensor.sum(tuple(range(len(kept), len(labels))))
        return tensor
    return term.ordered(output) if len(terms) > 1 else term.tensor.permute([labels.index(x) for x in output])


def _pair(left: _Term, right: _Term, later: set) -> _Term:
    """The product of two terms, summed over the labels that nobody needs later."""
    left, right = _prepared(left, right, later), _prepared(right, left, later)
    shared = [x for x in left.labels if x in right.labels]
    batch = [x for x in shared if x in later]
    summed = [x for x in shared if x not in later]
    own = [x for x in left.labels if x not in shared]
    other = [x for x in right.labels if x not in shared]
    labels = [*batch, *own, *other]
    if not summed:
        a = left.ordered([*batch, *own])
        a = a.reshape(*a.shape, *[1] * len(other))
        b = right.ordered([*batch, *other])
        b = b.reshape(*b.shape[: len(batch)], *[1] * len(own), *b.shape[len(batch) :])
        return _Term(a * b, labels)
    sizes = {x: max(t.size(x) for t in (left, right) if x in t.labels) for x in [*labels, *summed]}
    a, b = _full(left, [*batch, *own, *summed], sizes), _full(right, [*batch, *summed, *other], sizes)
    rows, inner, columns = (math.prod(sizes[x] for x in group) for group in (own, summed, other))
    if batch:
        n = math.prod(sizes[x] for x in batch)
        product = bmm(a.reshape(n, rows, inner), b.reshape(n, inner, columns))
    else:
        product = mm(a.reshape(rows, inner), b.reshape(inner, columns))
    return _Term(product.view([sizes[x] for x in labels]), labels)


def _prepared(term: _Term, other: _Term, later: set) -> _Term:
    """A term without the labels that neither the other nor anybody later has, and without those of size 1 that the other
    has in full and that are to be summed over."""
    gone = [
        i
        for i, x in enumerate(term.labels)
        if x not in later and (x not in other.labels or term.size(x) == 1 and other.size(x) != 1)
    ]
    if not gone:
        return term
    return _Term(term.tensor.sum(tuple(gone)), [x for i, x in enumerate(term.labels) if i not in gone])


def _full(term: _Term, labels, sizes: dict):
    """The term in the order of the labels, broadcast to their sizes."""
    t = term.ordered(labels)
    shape = tuple(sizes[x] for x in labels)
    return t if tuple(t.shape) == shape else t.expand(shape)


publish("torch", "einsum", einsum)

# --- tensordot and relatives ---


def tensordot(a, b, dims=2, out=None):
    """The sum of products over dimensions of both: the last `dims` of a and the first of b, or two lists of dimensions.

    https://docs.pytorch.org/docs/stable/generated/torch.tensordot.html
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, (tuple, list)):
        dims_a, dims_b = ([int(d) for d in part] for part in dims)
    else:
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims_a, dims_b = list(range(-dims, 0)), list(range(dims))
    if len(dims_a) != len(dims_b):
        raise RuntimeError("both dimension lists should have same length")
    if a._spec.dtype is not b._spec.dtype:
        raise RuntimeError("both inputs should have same dtype")
    for i, j in zip(dims_a, dims_b):
        m, n = a.size(i), b.size(j)
        if m == 1 != n:
            b = b.sum(j, keepdim=True)
        elif n == 1 != m:
            a = a.sum(i, keepdim=True)
        elif m != n:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {m} in dim {i} and second has size {n} in dim {j}"
            )
    result = _tensordot(a, b, [d % a.dim() for d in dims_a], [d % b.dim() for d in dims_b])
    return result if out is None else into("tensordot", out, (a, b), result)


def _tensordot(a, b, dims_a: list, dims_b: list):
    rest_a = [i for i in range(a.dim()) if i not in dims_a]
    rest_b = [i for i in range(b.dim()) if i not in dims_b]
    shape = [a.size(i) for i in rest_a] + [b.size(i) for i in rest_b]
    inner = math.prod(a.size(i) for i in dims_a)
    rows, columns = math.prod(a.size(i) for i in rest_a), math.prod(b.size(i) for i in rest_b)
    left = a.permute(rest_a + dims_a).reshape(rows, inner)
    right = b.permute(dims_b + rest_b).reshape(inner, columns)
    return mm(left, right).view(shape)


publish("torch", "tensordot", tensordot)


def inner(input, other, *, out=None):
    """The sums of products over the last dimensions of both; of a number with a tensor their product."""
    if input.dim() == 0 or other.dim() == 0:
        result = input * other
    else:
        if input.size(-1) != other.size(-1):
            raise RuntimeError(
                "inner() the last dimension must match on both input tensors but got shapes "
                f"{list(input.shape)} and {list(other.shape)}"
            )
        result = tensordot(input, other, ([-1], [-1]))
    return result if out is None else into("inner", out, (input, other), result)


def outer(input, vec2, *, out=None):
    """The matrix of the products of the elements of two vectors."""
    for name, value in (("self", input), ("vec2", vec2)):
        if not isinstance(value, Tensor):
            position = 1 if name == "self" else 2
            raise TypeError(
                f"outer(): argument '{'input' if name == 'self' else name}' (position {position}) must be Tensor, not "
                f"{argument_type_name(value)}"
            )
        if value._spec.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {value._spec.ndim}-D")
    result = input.reshape(-1, 1) * vec2
    return result if out is None else into("outer", out, (input, vec2), result)


for _function in (inner, outer):
    publish("torch", _function.__name__, _function)
    put_method(_function.__name__, _function)
publish("torch", "ger", outer)
put_method("ger", outer)


def kron(input, other, *, out=None):
    """The Kronecker product: every element of input times the whole of other, block by block."""
    n = max(input.dim(), other.dim())
    a, b = ((1,) * (n - t.dim()) + tuple(t.shape) for t in (input, other))
    left = input.reshape([k for m in a for k in (m, 1)])
    right = other.reshape([k for m in b for k in (1, m)])
    result = OPS["_unsafe_view"].single(left * right, tuple(i * j for i, j in zip(a, b)))
    return result if out is None else into("kron", out, (input, other), result)


publish("torch", "kron", kron)
put_method("kron", kron)

# --- several matrices ---


def multi_dot(tensors, *, out=None):
    """The product of several matrices in the cheapest order; the first and the last may be vectors.

    The order is found by the dynamic programme of Cormen et al., Introduction to Algorithms, section 15.2.
    """
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    shapes = [tuple(t.shape) for t in tensors]
    for i, s in enumerate(shapes):
        if len(s) != 2 and not (i in (0, n - 1) and len(s) == 1):
            if i in (0, n - 1):
                which = "the first" if i == 0 else "the last"
                raise RuntimeError(f"multi_dot(): {which} tensor must be 1D or 2D but got {len(s)}D")
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {len(s)}D")
    first, last = tensors[0], tensors[-1]
    matrices = list(tensors)
    if first.dim() == 1:
        matrices[0] = first.unsqueeze(0)
    if last.dim() == 1:
        matrices[-1] = last.unsqueeze(-1)
    for i, (a, b) in enumerate(itertools.pairwise(matrices)):
        if a.size(1) != b.size(0):
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(shapes[i])} and {list(shapes[i + 1])} cannot be "
                "multiplied"
            )
    shape = [matrices[0].size(0)] * (first.dim() == 2) + [matrices[-1].size(1)] * (last.dim() == 2)
    result = _multiplied(matrices).view(shape)
    return result if out is None else into("multi_dot", out, tensors, result)


def _multiplied(matrices):
    sizes = [m.size(0) for m in matrices] + [matrices[-1].size(1)]
    n = len(matrices)
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )

    def product(i: int, j: int):
        return matrices[i] if i == j else mm(product(i, split[i][j]), product(split[i][j] + 1, j))

    return product(0, n - 1)


publish("linalg", "multi_dot", multi_dot)


def chain_matmul(*matrices, out=None):
    """The product of several matrices; deprecated in PyTorch, which recommends linalg.multi_dot."""
    warnings.warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters.",
        stacklevel=2,
    )
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    return matrices[0].clone() if len(matrices) == 1 else multi_dot(matrices, out=out)


publish("torch", "chain_matmul", chain_matmul)


@composite(name="matrix_power")
def matrix_power(input, n, *, out=None):
    """A square matrix, or each of a stack, multiplied with itself n times; for negative n its inverse."""
    shape = tuple(input.shape)
    if len(shape) < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if shape[-1] != shape[-2]:
        raise RuntimeError(
            f"linalg.matrix_power: A must be batches of square matrices, but they are {shape[-2]} by {shape[-1]} matrices"
        )
    if n == 0:
        eye = FUNCTIONS["torch"]["eye"](shape[-1], dtype=input.dtype)
        result = input.clone().copy_(eye)
    else:
        base = FUNCTIONS["linalg"]["inv"](input) if n < 0 else input
        result = None
        for bit in reversed(bin(abs(n))[2:]):
            if bit == "1":
                result = base if result is None else matmul(result, base)
            if (n := abs(n) >> 1) == 0:
                break
            base = matmul(base, base)
        if result is input:
            result = input.clone()
    return result if out is None else into("matrix_power", out, (input,), result)


publish("linalg", "matrix_power", matrix_power)


def vecdot(x, y, *, dim=-1, out=None):
    """The sums of conj(x) · y along a dimension; x and y broadcast."""
    result = (x.conj() * y if x.is_complex() else x * y).sum(dim)
    return result if out is None else into("linalg_vecdot", out, (x, y), result)


publish("linalg", "vecdot", vecdot)
