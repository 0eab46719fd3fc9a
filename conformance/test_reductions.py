"""Reductions, running sums, sorting, softmax, norms, over all dimensions, some and none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .compare import check, current, deep
from .known import known_of
from .strategies import COMPLEX, FLOATING, INTEGERS, operands

DTYPES = (*FLOATING, *COMPLEX, *INTEGERS, "bool")
DIMS = st.sampled_from((None, 0, 1, -1, -2, 2, (0,), (0, 1), (-1, 0), ()))
ORDERS = (1, 2, 3, 0, 1.5, float("inf"), float("-inf"))
MANY = "sum mean prod amax amin any all nansum logsumexp var std argmax argmin count_nonzero nanmean".split()
ONE = "max min median nanmedian mode cumsum cumprod cummax cummin logcumsumexp sort argsort softmax log_softmax msort".split()


@pytest.mark.parametrize("name", MANY)
@deep
@given(x=operands(DTYPES), dim=DIMS, keepdim=st.booleans())
def test_reduction(name, x, dim, keepdim):
    current["dtype"] = x.dtype if x.dtype in (*FLOATING, *COMPLEX) else "float32"
    known = known_of(name, x)
    if name != "logsumexp":
        check(lambda T, x: getattr(T, name)(x), [x], known=known)
    if name == "count_nonzero":
        check(lambda T, x: x.count_nonzero(dim), [x], known=known)
        return
    check(lambda T, x: getattr(x, name)(dim, keepdim=keepdim), [x], known=known)


@pytest.mark.parametrize("name", ONE)
@deep
@given(x=operands(DTYPES), dim=st.sampled_from((0, 1, -1, -2, 3)))
def test_along_a_dimension(name, x, dim):
    current["dtype"] = x.dtype if x.dtype in (*FLOATING, *COMPLEX) else "float32"
    if name == "msort":
        check(lambda T, x: T.msort(x), [x], known=known_of(name, x))
        return
    options = {"stable": True} if name in ("sort", "argsort") else {}
    check(lambda T, x: getattr(T, name)(x, dim=dim, **options), [x], known=known_of(name, x))


@deep
@given(x=operands((*FLOATING, "int64", "int32"), special=False), k=st.integers(0, 4), dim=st.sampled_from((0, -1)),
       largest=st.booleans())  # fmt: skip
def test_topk(x, k, dim, largest):
    current["dtype"] = x.dtype if x.dtype in FLOATING else "float32"
    # Which of several equal elements comes first is PyTorch's accident: the values are compared, not the indices.
    check(lambda T, x: x.topk(k, dim, largest)[0], [x], known=known_of("topk", x))
    check(lambda T, x: x.kthvalue(max(k, 1), dim)[0], [x], known=known_of("kthvalue", x))


@deep
@given(x=operands((*FLOATING, *COMPLEX, "int64"), special=False), p=st.sampled_from(ORDERS), dim=DIMS,
       keepdim=st.booleans())  # fmt: skip
def test_norms(x, p, dim, keepdim):
    current["dtype"] = x.dtype if x.dtype != "int64" else "float32"
    check(lambda T, x: x.norm(p, dim, keepdim), [x], known=known_of("norm", x))
    check(lambda T, x: T.linalg.vector_norm(x, p, dim, keepdim), [x], known=known_of("norm", x))


@deep
@given(x=operands(FLOATING), correction=st.sampled_from((0, 1, 2, 0.5)), dim=DIMS)
def test_deviation(x, correction, dim):
    current["dtype"] = x.dtype
    known = known_of("var", x)
    check(lambda T, x: x.var(dim, correction=correction), [x], known=known)
    check(lambda T, x: x.std(dim, correction=correction), [x], known=known)
    check(lambda T, x: T.var_mean(x, dim, correction=correction), [x], known=known)
    check(lambda T, x: T.std_mean(x, dim, correction=correction), [x], known=known)
