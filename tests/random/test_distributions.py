"""What the random functions refuse, how their ways to the same numbers agree, and that the numbers are distributed."""

import math

import numpy as np
import pytest

from chainrule.random import boxmuller, continuous, fused, sampling
from chainrule.random.distributions import (
    alpha_dropout_noise,
    bernoulli,
    bernoulli_of,
    binomial,
    cauchy,
    dirichlet,
    dropout_noise,
    exponential,
    feature_shape,
    geometric,
    in_memory_order,
    log_normal,
    multinomial,
    normal,
    normal_of,
    poisson,
    random_any,
    random_from_to,
    randperm,
    standard_gamma,
    uniform,
)
from chainrule.random.generator import Generator

F2, F4, F8, C8, I8, U1, I1, B1 = map(np.dtype, ("f2", "f4", "f8", "c8", "i8", "u1", "i1", "?"))
INF, NAN = math.inf, math.nan

ERRORS = [
    (
        lambda g: uniform(g, (3,), F4, 2, 1),
        "uniform_ expects to return a [from, to) range, but found from=2 > to=1",
    ),
    (lambda g: uniform(g, (3,), F4, -1e39, 1), "from is out of bounds for float"),
    (lambda g: uniform(g, (3,), F2, 0, 70000), "to is out of bounds for c10::Half"),
    (lambda g: uniform(g, (3,), F8, 0, INF), "to is out of bounds for double"),
    (
        lambda g: uniform(g, (3,), F4, -3e38, 3e38),
        "uniform_ expects to-from <= std::numeric_limits<Float>::max(), but found to=3e+38 and from=-3e+38 which "
        "result in to-from to exceed the limit",
    ),
    (lambda g: uniform(g, (0,), I8), "\"check_uniform_bounds\" not implemented for 'Long'"),
    (lambda g: normal(g, (3,), F4, 0, -1), "normal expects std >= 0.0, but found std -1"),
    (lambda g: normal(g, (3,), F4, 0, -1.5), "normal expects std >= 0.0, but found std -1.5"),
    (lambda g: normal(g, (3,), F4, 0, NAN), "normal expects std >= 0.0, but found std nan"),
    (lambda g: normal(g, (3,), B1), "\"normal_kernel_cpu\" not implemented for 'Bool'"),
    (lambda g: normal_of(g, np.zeros(3), -np.ones(3), F4), "normal expects all elements of std >= 0.0"),
    (lambda g: normal_of(g, 0.0, np.array([1, NAN]), F4), "normal expects all elements of std >= 0.0"),
    (lambda g: normal_of(g, np.zeros(3), 1j * np.ones(3), F4), "normal expects standard deviation to be non-complex"),
    (lambda g: log_normal(g, (3,), F4, 0, 0), "log_normal_ expects std > 0.0, but found std=0"),
    (lambda g: log_normal(g, (3,), I8), "\"log_normal_cpu\" not implemented for 'Long'"),
    (lambda g: exponential(g, (3,), F4, -1), "exponential_ expects lambda > 0.0, but found lambda=-1"),
    (
        lambda g: exponential(g, (3,), I8),
        "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
        "specified Long",
    ),
    (lambda g: cauchy(g, (3,), F4, 0, -1.5), "cauchy_ expects sigma > 0.0, but found sigma=-1.5"),
    (
        lambda g: cauchy(g, (0,), C8),
        "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
        "specified c10::complex<float>",
    ),
    (lambda g: geometric(g, (3,), F4, 1), "geometric_ expects p to be in (0, 1), but got p=1"),
    (lambda g: geometric(g, (3,), B1, 0.5), "\"geometric_cpu\" not implemented for 'Bool'"),
    (
        lambda g: random_from_to(g, (3,), F4, 3, 3),
        "random_ expects 'from' to be less than 'to', but got from=3 >= to=3",
    ),
    (lambda g: random_from_to(g, (3,), I1, 0, 129), "to - 1 is out of bounds for signed char"),
    (lambda g: random_from_to(g, (3,), U1, -1, 3), "from is out of bounds for unsigned char"),
    (lambda g: random_from_to(g, (3,), B1, 0, 3), "to - 1 is out of bounds for bool"),
    (
        lambda g: random_from_to(g, (3,), C8, 0, 3),
        "check_random_bounds handles only integral, floating-point and boolean types",
    ),
    (
        lambda g: random_from_to(g, (3,), F2, 3000, None),
        "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but got "
        "from=3000 > to_inc=2048",
    ),
    (
        lambda g: random_from_to(g, (3,), np.dtype("i4"), -(2**63), None),
        "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16",
    ),
    (lambda g: random_any(g, (3,), np.dtype("u2")), "\"random_kernel_cpu\" not implemented for 'UInt16'"),
    (lambda g: bernoulli(g, (0,), F4, -0.1), "bernoulli_ expects p to be in [0, 1], but got p=-0.1"),
    (lambda g: bernoulli(g, (3,), C8, 0.5), "\"bernoulli_scalar_cpu_\" not implemented for 'ComplexFloat'"),
    (lambda g: bernoulli_of(g, np.array([1, 0]), F4), "\"bernoulli_tensor_cpu_p_\" not implemented for 'Long'"),
    (
        lambda g: bernoulli_of(g, np.array([0.5, 1.5]), F4),
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, "
        "please report an enhancement request to PyTorch.)",
    ),
    (lambda g: feature_shape((3,)), "Feature dropout requires at least 2 dimensions in the input"),
    (lambda g: randperm(g, -1, I8), "Trying to create tensor with negative dimension -1: [-1]"),
    (lambda g: randperm(g, 300, U1), "value cannot be converted to type uint8_t without overflow"),
    (lambda g: randperm(g, 2050, F2), "n cannot be greater than 2049 for Half type."),
    (lambda g: randperm(g, 2**24 + 2, F4), "n cannot be greater than 2^24+1 for Float type."),
    (lambda g: randperm(g, 5, B1), "\"randperm\" not implemented for 'Bool'"),
    (
        lambda g: multinomial(g, np.ones(3), 4),
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    ),
    (lambda g: multinomial(g, np.ones(3), 0), "cannot sample n_sample <= 0 samples"),
    (lambda g: multinomial(g, np.ones((2, 3, 4)), 1), "prob_dist must be 1 or 2 dim"),
    (
        lambda g: multinomial(g, np.ones(3, int), 1),
        "multinomial only supports floating-point dtypes for input, got: Long",
    ),
    (
        lambda g: multinomial(g, np.array([1, -1.0]), 1),
        "probability tensor contains either `inf`, `nan` or element < 0",
    ),
    (lambda g: multinomial(g, np.array([1, NAN]), 1), "probability tensor contains either `inf`, `nan` or element < 0"),
    (lambda g: multinomial(g, np.zeros(2), 1), "invalid multinomial distribution (sum of probabilities <= 0)"),
    (
        lambda g: multinomial(g, np.array([[0, 1.0], [0, 0]]), 2, True),
        "invalid multinomial distribution (sum of probabilities <= 0)",
    ),
    (
        lambda g: multinomial(g, np.array([-1, 2.0]), 2, True),
        "invalid multinomial distribution (encountering probability entry < 0)",
    ),
    (
        lambda g: multinomial(g, np.array([1, INF]), 2, True),
        "invalid multinomial distribution (encountering probability entry = infinity or NaN)",
    ),
    (lambda g: poisson(g, np.array([NAN])), "invalid Poisson rate, expected rate to be non-negative"),
    (lambda g: poisson(g, np.array([1])), "\"poisson_cpu\" not implemented for 'Long'"),
    (
        lambda g: binomial(g, np.array([3]), np.array([0.5])),
        "binomial only supports floating-point dtypes for count, got: Long",
    ),
    (lambda g: binomial(g, np.array([3], F4), np.array([0.5])), "Found dtype Double but expected Float"),
    (lambda g: standard_gamma(g, np.array([1])), "\"gamma_cpu\" not implemented for 'Long'"),
]


@pytest.mark.parametrize("call, text", ERRORS)
def test_errors_come_before_anything_is_drawn(call, text):
    gen = Generator().manual_seed(4)
    before = gen.get_state()
    with pytest.raises((RuntimeError, ValueError, NotImplementedError)) as caught:
        call(gen)
    assert str(caught.value) == text
    assert isinstance(caught.value, NotImplementedError) == ("not implemented" in text)
    assert isinstance(caught.value, ValueError) == text.startswith("binomial")
    np.testing.assert_array_equal(gen.get_state(), before)


@pytest.mark.parametrize(
    "dtype, from_, to, lowest, highest",
    [
        (F2, 2049, 2060, 2048, 2056),
        (F4, 2**24 + 1, 2**24 + 9, 2**24, 2**24 + 8),
        (F8, 2**53 + 1, 2**53 + 9, 2**53, 2**53 + 8),
    ],
)
def test_bounds_beyond_the_mantissa_warn_and_hold(dtype, from_, to, lowest, highest):
    with pytest.warns(UserWarning, match="Due to precision limitations"):
        drawn = random_from_to(Generator().manual_seed(0), (500,), dtype, from_, to)
    assert lowest <= drawn.min() and drawn.max() <= highest


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (2, 3), (3, 4, 5), (17,)])
def test_shapes(shape):
    gen = Generator().manual_seed(0)
    for dtype in (F2, F4, F8, C8):
        for draw in (uniform, normal):
            drawn = draw(gen, shape, dtype)
            assert (drawn.shape, drawn.dtype) == (shape, dtype)
    for draw in (exponential, cauchy, log_normal, bernoulli, random_any):
        drawn = draw(gen, shape, F4)
        assert (drawn.shape, drawn.dtype) == (shape, F4)
    assert geometric(gen, shape, I8, 0.5).shape == shape
    assert random_from_to(gen, shape, I8, 0, 3).shape == shape


def test_draws_are_fresh_arrays():
    gen = Generator().manual_seed(0)
    first = uniform(gen, (4, 4), F4)
    kept = first.copy()
    uniform(gen, (4, 4), F4)[...] = 7
    first += 0
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(uniform(gen.manual_seed(0), (4, 4), F4), kept)
    assert first.flags.writeable


@pytest.mark.parametrize("count", [16, 17, 48, 100, 256])
def test_small_draws_from_tables_equal_direct_ones(count, monkeypatch):
    tables = Generator().manual_seed(1)
    direct = Generator().manual_seed(1)
    draws = [
        lambda g: normal(g, (count,), F4),
        lambda g: normal(g, (count,), F4, 2.0, 0.5),
        lambda g: uniform(g, (count,), F4),
        lambda g: uniform(g, (count,), F8),
        lambda g: bernoulli(g, (count,), F4, 0.3),
    ]
    for draw in draws * 4:
        drawn = draw(tables)
        with monkeypatch.context() as patch:
            patch.setattr(Generator, "block_slice", lambda *args: None)
            np.testing.assert_array_equal(draw(direct), drawn)
        np.testing.assert_array_equal(direct.get_state(), tables.get_state())


@pytest.mark.parametrize("dtype", [F4, F8])
def test_large_normals_differ_from_exact_ones_in_the_last_bits_only(dtype, monkeypatch):
    fast = normal(Generator().manual_seed(1), (300_001,), dtype)
    monkeypatch.setattr(continuous, "EXACT_NORMALS", 10**9)
    exact = normal(Generator().manual_seed(1), (300_001,), dtype)
    np.testing.assert_allclose(fast, exact, rtol=3 * np.finfo(dtype).eps, atol=2 * np.finfo(dtype).eps)
    assert (fast == exact).mean() > 0.5


def test_a_radius_of_zero_gives_positive_zeros():
    words = np.zeros(32, np.int32)
    words[8:16] = 2**23  # half a turn, where the cosine is negative
    out = np.empty(32, np.float32)
    boxmuller.fill(boxmuller.Lanes(16), words.copy(), out)
    assert not np.signbit(out).any() and not out.any()
    table = boxmuller.block_table(words.view(np.uint32))
    for stop in (16, 32):
        boxmuller.from_table(table, 0, out[:stop])
        assert not np.signbit(out).any() and not out.any()


def test_angles_close_to_whole_quarters():
    k = np.arange(-4, 5, dtype=np.int32)[:, None] + np.array([4, 2**22, 2**23, 3 * 2**22], np.int32)
    k = np.sort(k.ravel())
    cosine, sine = np.empty((2, k.size), np.float32)
    boxmuller.Lanes(k.size).angle(k, cosine, sine)
    angle = (k.astype(np.float32) * (np.float32(2 * np.pi) * np.float32(2.0**-24))).astype(float)
    np.testing.assert_allclose(cosine, np.cos(angle), rtol=5e-7)
    np.testing.assert_allclose(sine, np.sin(angle), rtol=5e-7)


def test_angles_whose_last_product_has_to_be_fused():
    k = np.array([12582909, 12582912, 12582913], np.int32)
    cosine, sine = np.empty((2, 3), np.float32)
    boxmuller.Lanes(3).angle(k, cosine, sine)
    assert cosine.tolist() == np.array([-9.417494e-07, 1.1924875e-08, 4.8876205e-07], np.float32).tolist()
    assert sine.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("dtype, single", [(np.float32, fused._multiply_single), (np.float64, fused._multiply_double)])
def test_emulated_product_is_fused(dtype, single):
    rng = np.random.default_rng(0)
    pair = np.dtype(np.complex64 if dtype is np.float32 else np.complex128)
    a = (rng.standard_normal(1000) + 1j).astype(pair)
    b = (rng.standard_normal(1000) + 1j * rng.standard_normal(1000)).astype(pair)
    out = np.empty_like(a)
    single(a, b, out)
    wide = np.longdouble if dtype is np.float64 else np.float64
    exact = a.real.astype(wide) * b.real - b.imag
    np.testing.assert_array_max_ulp(out.real, exact.astype(dtype), maxulp=1)
    fused.complex_multiply(dtype)(a, b, a)
    np.testing.assert_array_equal(a.real, out.real)


def test_normals_without_fused_products(monkeypatch):
    expected = normal(Generator().manual_seed(1), (5000,), F4)
    monkeypatch.setattr(boxmuller, "complex_multiply", lambda dtype: fused._multiply_single)
    np.testing.assert_array_equal(normal(Generator().manual_seed(1), (5000,), F4), expected)


@pytest.mark.parametrize("n", [2, 3, 10, 100, 1000])
def test_both_shuffles_agree(n):
    rng = np.random.default_rng(n)
    for crowd in (1, 7, n):  # exchanges that reach few places make long chains
        partners = np.maximum(np.arange(n - 1), n - 1 - rng.integers(0, crowd, n - 1))
        looped = sampling._exchange_loop(partners, n)
        np.testing.assert_array_equal(sampling._exchange_all(partners, n), looped)
        np.testing.assert_array_equal(np.sort(looped), np.arange(n))


def test_in_memory_order():
    memory = np.zeros((2, 3, 4))
    in_memory_order(memory.transpose(2, 0, 1))[...] = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(memory.ravel(), np.arange(24))
    assert in_memory_order(memory) is memory


def test_dropout_noise():
    noise = dropout_noise(Generator().manual_seed(0), (20000,), F4, 0.25)
    assert set(noise.tolist()) == {0.0, np.float32(1 / 0.75)}
    assert noise.mean() == pytest.approx(1, abs=0.02)
    scale, shift = alpha_dropout_noise(Generator().manual_seed(0), (20000,), F4, 0.25)
    normals = normal(Generator().manual_seed(1), (20000,), F4)
    kept = normals * scale + shift
    assert kept.mean() == pytest.approx(0, abs=0.03) and kept.std() == pytest.approx(1, abs=0.03)
    assert feature_shape((2, 3, 4, 5)) == (2, 3, 1, 1)


@pytest.mark.parametrize(
    "draw, mean, std",
    [
        (lambda g, n: uniform(g, n, F4, -1.0, 3.0), 1, 4 / math.sqrt(12)),
        (lambda g, n: normal(g, n, F4, 1.0, 2.0), 1, 2),
        (lambda g, n: normal(g, n, F8, 1.0, 2.0, contiguous=False), 1, 2),
        (lambda g, n: np.log(log_normal(g, n, F8, 0.5, 0.25)), 0.5, 0.25),
        (lambda g, n: exponential(g, n, F4, 2.0), 0.5, 0.5),
        (lambda g, n: np.arctan(cauchy(g, n, F8)), 0, math.pi / math.sqrt(12)),
        (lambda g, n: geometric(g, n, F4, 0.25), 4, math.sqrt(0.75) / 0.25),
        (lambda g, n: random_from_to(g, n, I8, -10, 11), 0, math.sqrt((21**2 - 1) / 12)),
        (lambda g, n: bernoulli(g, n, F4, 0.3), 0.3, math.sqrt(0.21)),
        (lambda g, n: poisson(g, np.full(n, 2.5)), 2.5, math.sqrt(2.5)),
        (lambda g, n: poisson(g, np.full(n, 40.0)), 40, math.sqrt(40)),
        (lambda g, n: binomial(g, np.full(n, 12.0), np.full(n, 0.7)), 8.4, math.sqrt(12 * 0.21)),
        (lambda g, n: binomial(g, np.full(n, 200.0), np.full(n, 0.7)), 140, math.sqrt(200 * 0.21)),
        (lambda g, n: standard_gamma(g, np.full(n, 0.6)), 0.6, math.sqrt(0.6)),
        (lambda g, n: standard_gamma(g, np.full(n, 9.0)), 9, 3),
        (lambda g, n: dirichlet(g, np.full((n[0], 2), 3.0))[:, 0], 0.5, math.sqrt(0.25 / 7)),
    ],
)
def test_mean_and_deviation(draw, mean, std):
    drawn = draw(Generator().manual_seed(2), (6000,)).astype(float)
    assert drawn.mean() == pytest.approx(mean, abs=5 * std / math.sqrt(6000))
    assert drawn.std() == pytest.approx(std, rel=0.1)


def test_multinomial_frequencies():
    p = np.array([1.0, 2.0, 3.0, 4.0])
    rows = np.tile(p, (6000, 1))
    for drawn in (
        multinomial(Generator().manual_seed(0), p, 6000, True),
        multinomial(Generator().manual_seed(0), rows, 2)[:, 0],
    ):
        assert np.bincount(drawn) / 6000 == pytest.approx(p / 10, abs=0.03)


def test_binomial_edges():
    count = np.array([3.0, 3, 3, -1, 0, 3])
    prob = np.array([NAN, 1.5, 0, 0.5, NAN, 1])
    drawn = binomial(Generator().manual_seed(0), count, prob)
    np.testing.assert_array_equal(drawn, [NAN, 3, 0, 0, 0, 3])
