"""Tensors from nothing: constants, ranges, nested lists, likenesses, the random stream."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from .compare import check, current, deep
from .known import known_of
from .strategies import EVERY, operands

SIZES = st.sampled_from(((), (0,), (3,), (2, 3), (2, 0, 3), 4, (-1,), (2.0,), [2, 2], None))
DTYPES = st.sampled_from((None, *EVERY))
ENDS = st.sampled_from((0, 1, 5, -3, 2.5, -0.75, 0.1, 1e-3, True, 10, float("inf"), 1 + 1j))
NUMBERS = st.sampled_from((0, 1, -2, 300, 2.5, True, float("nan"), float("inf"), 1 + 2j, 2**40))


def options(T, dtype) -> dict:
    return {} if dtype is None else {"dtype": getattr(T, dtype)}


def settled(dtype) -> None:
    current["dtype"] = dtype if dtype in ("float16", "float64", "complex128") else "float32"


@pytest.mark.parametrize("name", ("zeros", "ones", "full", "randn", "rand", "empty"))
@deep
@given(size=SIZES, dtype=DTYPES, fill=NUMBERS)
def test_of_a_size(name, size, dtype, fill):
    settled(dtype)

    def program(T):
        T.manual_seed(3)
        made = getattr(T, name)(size, *((fill,) if name == "full" else ()), **options(T, dtype))
        return (tuple(made.shape), made.dtype, made.stride()) if name == "empty" else made

    check(program, [], known=known_of(name, fill, dtype))


@pytest.mark.parametrize("name", ("arange", "linspace", "logspace", "range"))
@deep
@given(start=ENDS, end=ENDS, step=st.sampled_from((1, 2, 0.5, -1, 0, 0.3, 7, -2.5)), dtype=DTYPES)
def test_ranges(name, start, end, step, dtype):
    if name == "range" and any(v in (float("inf"), 0) for v in (end, step)):
        return  # PyTorch aborts
    settled(dtype)
    last = step if name in ("arange", "range") else int(abs(step) * 2)
    check(
        lambda T: getattr(T, name)(start, end, last, **options(T, dtype)), [], known=known_of(name, start, end, dtype)
    )
    if name == "arange":
        check(lambda T: T.arange(end, **options(T, dtype)), [], known=known_of(name, start, end, dtype))


LISTS = st.recursive(
    st.one_of(
        st.sampled_from((0, 1, -1, 2.5, True, 1j, float("nan"), 2**31, 2**63 - 1, 2**64)), st.just("a"), st.none()
    ),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)
REGULAR = st.sampled_from(
    ([], [[]], [[1, 2], [3, 4]], [[1.0], [2]], [True, 2], [[True]], [1, 2j], ((1, 2), [3, 4]), range(3))
)


@deep
@given(data=st.one_of(LISTS, REGULAR), dtype=st.sampled_from((None, None, *EVERY)))
def test_tensor_of_a_list(data, dtype):
    settled(dtype)
    check(lambda T: T.tensor(data, **options(T, dtype)), [], known=known_of("tensor", data, dtype))
    check(lambda T: T.as_tensor(data, **options(T, dtype)), [], known=known_of("tensor", data, dtype))


@deep
@given(shape=st.sampled_from(((), (3,), (2, 2), (0, 2))), kind=st.sampled_from(EVERY), dtype=DTYPES)
def test_tensor_of_an_array(shape, kind, dtype):
    settled(dtype)
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)
    known = known_of("tensor", array, dtype)
    check(lambda T: T.tensor(array, **options(T, dtype)), [], known=known)
    check(lambda T: T.as_tensor(array, **options(T, dtype)), [], known=known)
    check(lambda T: T.from_numpy(array[..., ::2] if shape else array), [], known=known)


@pytest.mark.parametrize(
    "name", ("zeros_like", "ones_like", "full_like", "rand_like", "new_zeros", "new_ones", "new_full", "new_tensor")
)
@deep
@given(x=operands(EVERY), dtype=DTYPES, fill=NUMBERS)
def test_like_another(name, x, dtype, fill):
    settled(dtype or x.dtype)

    def program(T, x):
        T.manual_seed(3)
        arguments = {"full_like": (fill,), "new_zeros": ((2, 3),), "new_ones": (2, 3), "new_full": ((2,), fill)}.get(
            name, ()
        )
        if name == "new_tensor":
            return x.new_tensor([1, 0], **options(T, dtype))
        function = getattr(T, name) if name.endswith("_like") else getattr(T.Tensor, name)
        return function(x, *arguments, **options(T, dtype))

    check(program, [x], known=known_of(name, x, dtype))


MATRICES = {
    "eye": lambda T, n, m, k: T.eye(n, m),
    "tril_indices": lambda T, n, m, k: T.tril_indices(n, m, k),
    "triu_indices": lambda T, n, m, k: T.triu_indices(n, m, offset=k),
    "vander": lambda T, n, m, k: T.vander(T.arange(float(n)), m),
    "hann_window": lambda T, n, m, k: T.hann_window(n),
    "hamming_window": lambda T, n, m, k: T.hamming_window(n, periodic=bool(m)),
    "blackman_window": lambda T, n, m, k: T.blackman_window(n),
    "bartlett_window": lambda T, n, m, k: T.bartlett_window(n),
    "kaiser_window": lambda T, n, m, k: T.kaiser_window(n, periodic=bool(m), beta=8.0),
    "complex": lambda T, n, m, k: T.complex(T.ones(n), T.ones(m)),
    "polar": lambda T, n, m, k: T.polar(T.arange(float(n)), T.arange(float(n)) * k),
    "cartesian_prod": lambda T, n, m, k: T.cartesian_prod(T.arange(n), T.arange(m)),
    "combinations": lambda T, n, m, k: T.combinations(T.arange(n), max(m, 0), k > 0),
    "meshgrid": lambda T, n, m, k: T.meshgrid(T.arange(n), T.arange(m), indexing="xy" if k else "ij"),
    "block_diag": lambda T, n, m, k: T.block_diag(T.ones(n, m), T.ones(2), T.tensor(3.0)),
    "scalar_tensor": lambda T, n, m, k: T.scalar_tensor(n),
}


@pytest.mark.parametrize("name", MATRICES)
@deep
@given(n=st.integers(-1, 5), m=st.integers(-1, 4), k=st.integers(-3, 3))
def test_of_a_pattern(name, n, m, k):
    current["dtype"] = "float32"
    check(lambda T: MATRICES[name](T, n, m, k), [], known=known_of(name))


RANDOM = {
    "randint": lambda T, x: T.randint(-3, 9, tuple(x.shape)),
    "randint_like": lambda T, x: T.randint_like(x, 2, 7),
    "randperm": lambda T, x: T.randperm(x.numel()),
    "bernoulli": lambda T, x: T.bernoulli(x.abs() / 10),
    "bernoulli_": lambda T, x: x.clone().bernoulli_(0.3),
    "normal": lambda T, x: T.normal(x, 2.0),
    "normal_": lambda T, x: x.clone().normal_(1, 3),
    "uniform_": lambda T, x: x.clone().uniform_(-1, 2),
    "exponential_": lambda T, x: x.clone().exponential_(0.5),
    "geometric_": lambda T, x: x.clone().geometric_(0.5),
    "cauchy_": lambda T, x: x.clone().cauchy_(),
    "log_normal_": lambda T, x: x.clone().log_normal_(),
    "random_": lambda T, x: x.clone().random_(0, 9),
    "poisson": lambda T, x: T.poisson(x.abs()),
    "multinomial": lambda T, x: T.multinomial(x.abs() + 0.1, 2, True),
    "dropout": lambda T, x: T.nn.functional.dropout(x, 0.4),
    "alpha_dropout": lambda T, x: T.nn.functional.alpha_dropout(x, 0.4, True),
    "rrelu": lambda T, x: T.nn.functional.rrelu(x, training=True),
}


@pytest.mark.parametrize("name", RANDOM)
@deep
@given(x=operands(("float32", "float64"), special=False), seed=st.integers(0, 100))
def test_random_stream(name, x, seed):
    current["dtype"] = x.dtype

    def program(T, x):
        T.manual_seed(seed)
        return RANDOM[name](T, x), T.rand(2)

    check(program, [x], known=known_of(name, x))
