"""The numbers that PyTorch 2.13 draws on the CPU, as recorded facts: short draws in full, long ones as digests."""

import hashlib

import numpy as np
import pytest

from chainrule.random.distributions import (
    alpha_dropout_noise,
    bernoulli,
    bernoulli_of,
    binomial,
    cauchy,
    dirichlet,
    dropout_noise,
    exponential,
    geometric,
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

F2, F4, F8, C8, I8 = map(np.dtype, ("f2", "f4", "f8", "c8", "i8"))


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


# The draw after seed 7, its values, the words it took, and whether it goes through functions of the C library.
SHORT = [
    (
        lambda g: uniform(g, (8,), F4),
        [
            0.5349225401878357,
            0.19880318641662598,
            0.6592116951942444,
            0.6568902730941772,
            0.23276156187057495,
            0.4250614047050476,
            0.20708602666854858,
            0.6297363638877869,
        ],
        8,
        False,
    ),
    (
        lambda g: uniform(g, (4,), F8),
        [0.279380429906404, 0.27369371365176565, 0.8620929614176255, 0.6566884305882014],
        8,
        False,
    ),
    (
        lambda g: uniform(g, (6,), F2),
        [0.53515625, 0.1988525390625, 0.6591796875, 0.65673828125, 0.2327880859375, 0.425048828125],
        6,
        False,
    ),
    (
        lambda g: uniform(g, (5,), F4, -2.0, 3.0),
        [0.6746127009391785, -1.0059840679168701, 1.2960584163665771, 1.2844513654708862, -0.8361921906471252],
        5,
        False,
    ),
    (
        lambda g: uniform(g, (5,), F8, -2.0, 3.0),
        [-0.60309785046798, -0.6315314317411718, 2.3104648070881275, 1.283442152941007, 2.612646837264936],
        10,
        False,
    ),
    (
        lambda g: uniform(g, (2,), C8),
        [(0.5349225401878357 + 0.19880318641662598j), (0.6592116951942444 + 0.6568902730941772j)],
        4,
        False,
    ),
    (
        lambda g: normal(g, (5,), F4),
        [-0.1467950940132141, 0.7861412763595581, 0.9468216300010681, -1.1143440008163452, 1.6907901763916016],
        12,
        True,
    ),
    (lambda g: normal(g, (3,), F8), [-0.1467950974849952, 0.7861412987235358, 0.9468216090039564], 8, True),
    (
        lambda g: normal(g, (16,), F4),
        [
            -0.8201345205307007,
            0.39563116431236267,
            0.8989084959030151,
            -1.3884038925170898,
            -0.16699601709842682,
            0.2851499617099762,
            -0.641091525554657,
            -0.8936554193496704,
            0.9265429973602295,
            -0.5355122089385986,
            -1.1597203016281128,
            -0.4601571559906006,
            0.7085390686988831,
            1.0127553939819336,
            0.23039686679840088,
            1.090165138244629,
        ],
        16,
        False,
    ),
    (
        lambda g: normal(g, (20,), F4),
        [
            -0.8201345205307007,
            0.39563116431236267,
            0.8989084959030151,
            -1.3884038925170898,
            0.19844505190849304,
            0.7820726633071899,
            1.0391076803207397,
            -0.7245107293128967,
            -0.8489086031913757,
            -1.2169294357299805,
            -0.08102158457040787,
            1.3614851236343384,
            -2.0614778995513916,
            0.6741006970405579,
            -1.3233457803726196,
            -1.3597689867019653,
            -0.866701602935791,
            -0.5640066862106323,
            -2.056462526321411,
            -0.35672253370285034,
        ],
        36,
        False,
    ),
    (
        lambda g: normal(g, (18,), F2),
        [
            -0.8203125,
            0.395751953125,
            -1.5830078125,
            -0.324462890625,
            1.9267578125,
            -0.330078125,
            0.198486328125,
            0.7822265625,
            1.0390625,
            -0.724609375,
            -0.2093505859375,
            -0.21533203125,
            -1.8154296875,
            -0.34521484375,
            -2.060546875,
            0.67431640625,
            -1.3232421875,
            -1.359375,
        ],
        32,
        False,
    ),
    (
        lambda g: normal(g, (17,), F8),
        [
            0.06626753966449943,
            -0.29104147095938915,
            0.45801695358702993,
            1.6932749764073567,
            1.457454937932726,
            1.932214860010293,
            -1.4418139927522924,
            0.7277603478716976,
            -1.3131496578292892,
            -2.42925190670235,
            -0.15213162349367035,
            -2.6909171061771864,
            1.7421050311620636,
            -0.523961020712386,
            -0.28387899021947915,
            0.45257550210102954,
            -1.6677291342328766,
        ],
        66,
        True,
    ),
    (
        lambda g: normal(g, (18,), F4, 1.5, 0.25),
        [
            1.2949663400650024,
            1.5989078283309937,
            1.981592059135437,
            1.4174970388412476,
            1.549611210823059,
            1.695518136024475,
            1.7597769498825073,
            1.318872332572937,
            1.2877728939056396,
            1.1957676410675049,
            1.0460678339004517,
            1.4136894941329956,
            0.9846305251121521,
            1.668525218963623,
            1.1691635847091675,
            1.160057783126831,
            1.2833245992660522,
            1.3589982986450195,
        ],
        34,
        False,
    ),
    (
        lambda g: normal(g, (6,), F4, 0.0, 2.0, contiguous=False),
        [
            -0.2935901880264282,
            1.5722825527191162,
            1.8936432600021362,
            -2.2286880016326904,
            3.381580352783203,
            -1.7896558046340942,
        ],
        12,
        True,
    ),
    (
        lambda g: normal(g, (9,), C8),
        [
            (-0.5799226760864258 + 0.2797534763813019j),
            (1.3621479272842407 - 0.23335352540016174j),
            (0.14032183587551117 + 0.5530088543891907j),
            (0.734760046005249 - 0.5123064517974854j),
            (-0.6002690196037292 - 0.8604990243911743j),
            (-1.2839139699935913 - 0.2441229224205017j),
            (-1.4576849937438965 + 0.47666117548942566j),
            (-0.9357467293739319 - 0.9615018367767334j),
            (-0.612850546836853 - 0.3988129496574402j),
        ],
        34,
        False,
    ),
    (
        lambda g: normal_of(g, np.arange(4.0), np.array([1.0, 2.0, 0.0, 0.5]), F4),
        [-0.1467950940132141, 2.572282552719116, 2.0, 2.4428279399871826],
        8,
        True,
    ),
    (
        lambda g: normal_of(g, np.arange(4.0), 0.5, F4),
        [-0.07339754700660706, 1.3930706977844238, 2.4734108448028564, 2.4428279399871826],
        8,
        True,
    ),
    (
        lambda g: normal_of(g, 2.0, np.array([1.0, 2.0, 0.0, 0.5]), F4),
        [1.8532049655914307, 3.572282552719116, 2.0, 1.4428279399871826],
        8,
        True,
    ),
    (
        lambda g: log_normal(g, (4,), F4, 0.0, 0.5),
        [0.9292313456535339, 1.481523036956787, 1.6054607629776, 0.5728267431259155],
        8,
        True,
    ),
    (
        lambda g: exponential(g, (5,), F4, 1.5),
        [0.21842928230762482, 0.21318897604942322, 1.3207836151123047, 0.7127445936203003, 1.7052375078201294],
        10,
        True,
    ),
    (lambda g: exponential(g, (3,), F8), [0.327643922983079, 0.3197834711021784, 1.9811754542789521], 6, True),
    (
        lambda g: cauchy(g, (4,), F4, 1.0, 2.0),
        [-0.6611115336418152, -0.7224060893058777, 5.323784351348877, 2.0725667476654053],
        8,
        True,
    ),
    (lambda g: geometric(g, (8,), I8, 0.3), [4, 4, 1, 2, 1, 1, 4, 2], 16, False),
    (lambda g: random_from_to(g, (8,), I8, 0, 10), [5, 2, 1, 6, 3, 7, 7, 9], 8, False),
    (lambda g: random_from_to(g, (6,), np.dtype(np.int8), -5, 7), [-2, -1, -4, -3, 2, -2], 6, False),
    (lambda g: random_from_to(g, (4,), I8, 0, 2**28), [171107524, 27798006, 174903507, 77674087], 8, False),
    (
        lambda g: random_from_to(g, (3,), I8, -(2**62), 2**62),
        [-3204046499487750972, 551904368352831990, 3475536756154880211],
        6,
        False,
    ),
    (lambda g: random_from_to(g, (5,), F4, 0, 100), [15.0, 92.0, 21.0, 86.0, 83.0], 5, False),
    (lambda g: random_any(g, (5,), np.dtype(np.uint8)), [175, 196, 25, 246, 67], 5, False),
    (lambda g: random_any(g, (8,), np.dtype(np.bool_)), [True, False, True, False, True, True, True, True], 8, False),
    (lambda g: random_any(g, (2,), I8), [1407639518939636932, 5163590386780219894], 4, False),
    (lambda g: random_any(g, (3,), F4), [8974492.0, 3335306.0, 11059538.0], 3, False),
    (lambda g: random_any(g, (3,), F2), [2016.0, 1873.0, 31.0], 3, False),
    (lambda g: random_any(g, (2,), F8), [2516435200042024.0, 2465213813629881.0], 4, False),
    (lambda g: random_from_to(g, (3,), np.dtype(np.int32), 5, None), [2106346404, 507494213, 1556131752], 6, False),
    (lambda g: random_from_to(g, (2,), I8, -(2**63), None), [1407639518939636932, -4059781650074555914], 4, False),
    (lambda g: bernoulli(g, (10,), F4, 0.3), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], 20, False),
    (lambda g: bernoulli(g, (6,), np.dtype(np.bool_), 0.5), [True, True, False, False, False, False], 12, False),
    (
        lambda g: bernoulli_of(g, np.array([0.1, 0.5, 0.9, 0.5, 0.0, 1.0], F4), F4),
        [0.0, 1.0, 1.0, 0.0, 0.0, 1.0],
        6,
        False,
    ),
    (lambda g: bernoulli_of(g, np.array([0.1, 0.5, 0.9, 0.5]), F8), [0.0, 1.0, 1.0, 0.0], 8, False),
    (lambda g: randperm(g, 10, I8), [5, 0, 3, 4, 1, 7, 9, 6, 8, 2], 9, False),
    (lambda g: randperm(g, 5, F4), [0.0, 1.0, 3.0, 2.0, 4.0], 4, False),
    (lambda g: multinomial(g, np.array([1, 2, 3, 4], F4), 3), [1, 3, 0], 8, False),
    (lambda g: multinomial(g, np.array([[1, 2, 3], [3, 0, 1]], F4), 2), [[1, 0], [0, 2]], 12, False),
    (lambda g: multinomial(g, np.array([1, 2, 3, 4], F4), 8, True), [1, 1, 3, 3, 3, 3, 1, 2], 16, False),
    (
        lambda g: multinomial(g, np.array([[1, 2, 3], [3, 0, 1]], F4), 5, True),
        [[1, 1, 2, 2, 2], [2, 0, 0, 2, 2]],
        20,
        False,
    ),
    (lambda g: multinomial(g, np.array([1, 2, 3, 4], F4), 1), [1], 8, False),
    (
        lambda g: dropout_noise(g, (8,), F4, 0.3),
        [
            1.4285714626312256,
            1.4285714626312256,
            0.0,
            1.4285714626312256,
            0.0,
            0.0,
            1.4285714626312256,
            1.4285714626312256,
        ],
        16,
        False,
    ),
    (
        lambda g: dropout_noise(g, (8,), F2, 0.3),
        [1.4287109375, 1.4287109375, 0.0, 1.4287109375, 0.0, 0.0, 1.4287109375, 1.4287109375],
        16,
        False,
    ),
    (
        lambda g: sum(alpha_dropout_noise(g, (6,), F4, 0.3)),
        [
            1.315044641494751,
            1.315044641494751,
            -1.059548258781433,
            1.315044641494751,
            -1.059548258781433,
            -1.059548258781433,
        ],
        12,
        False,
    ),
    (
        lambda g: poisson(g, np.array([0, 0.5, 3, 9, 10, 50, 1000], F4)),
        [0.0, 0.0, 5.0, 6.0, 6.0, 62.0, 1015.0],
        48,
        False,
    ),
    (
        lambda g: binomial(g, np.array([10, 10, 1000, 1000, 5], F4), np.array([0.3, 0.8, 0.4, 0.9, 1], F4)),
        [3.0, 7.0, 413.0, 918.0, 5.0],
        24,
        False,
    ),
    (
        lambda g: standard_gamma(g, np.array([0.3, 1, 2.5, 50], F4)),
        [0.23634669184684753, 3.911741018295288, 2.8912389278411865, 44.8499755859375],
        18,
        True,
    ),
    (
        lambda g: dirichlet(g, np.array([[1, 2, 3]], F4)),
        [[0.05568761005997658, 0.2917376756668091, 0.6525747179985046]],
        14,
        True,
    ),
]

# The draw after seed 11, the digest of its bytes, and that of the state afterwards.
LONG = [
    (lambda g: uniform(g, (100000,), F4), "858c56f8d3a34d2d", "4bfe235b2b8107cc"),
    (lambda g: uniform(g, (100000,), F2), "04ee1adf13095eba", "4bfe235b2b8107cc"),
    (lambda g: uniform(g, (30000,), F8), "9f999114c1c325f4", "592731b1e959e1e8"),
    (lambda g: normal(g, (50001,), F4), "84fd8e7d6e5a3ce7", "2f4cee7646343c9e"),
    (lambda g: normal(g, (50001,), F2), "4381ec07d40ec4aa", "c065c2f62e1d2bd4"),
    (lambda g: normal(g, (40000,), F4, -1.0, 0.02), "d023f5aa40d7ba88", "55547744945a5ab3"),
    (lambda g: uniform(g, (70000,), F4, -0.3, 0.7), "dfdf864ed03e7155", "ba497f6000ea97f6"),
    (lambda g: uniform(g, (40000,), F8, -0.3, 0.7), "2b92347a9db583b7", "cfdf148e02b5559d"),
    (lambda g: random_from_to(g, (70000,), I8, -3, 1000), "368a6d896dcbc624", "ba497f6000ea97f6"),
    (lambda g: random_from_to(g, (30000,), I8, 0, 10**12), "5479f4cadc379fc4", "592731b1e959e1e8"),
    (lambda g: random_from_to(g, (30000,), np.dtype(np.uint8), 0, 200), "f770da94d73f944e", "9a80cea619041dc2"),
    (lambda g: bernoulli(g, (60000,), F4, 0.37), "d0c2cb87ce44b991", "4a6b163a5bc6be18"),
    (lambda g: randperm(g, 499, I8), "8430a5fb4291aacb", "271d807057211f54"),
    (lambda g: randperm(g, 501, I8), "5c9a51945189eb18", "1b227776b57bf681"),
    (lambda g: randperm(g, 20000, I8), "491abe55674d08f2", "a8b23510397dd19f"),
    (lambda g: multinomial(g, np.arange(1, 2000, dtype=F4), 500), "f29065730598ea58", "3f30fb33d5672b58"),
    (lambda g: multinomial(g, np.arange(1, 2000, dtype=F4), 5000, True), "1b984dbe67458041", "3f079fcf7fa8d4e2"),
]


@pytest.mark.parametrize("draw, values, words, through_libm", SHORT)
def test_short_draw(draw, values, words, through_libm):
    gen = Generator().manual_seed(7)
    drawn = draw(gen)
    expected = np.array(values).astype(drawn.dtype)
    if through_libm:
        np.testing.assert_array_max_ulp(drawn, expected, maxulp=2)
    else:
        np.testing.assert_array_equal(drawn, expected)
    assert drawn.shape == expected.shape
    assert gen.get_state().view("<u8")[2] == words


@pytest.mark.parametrize("draw, values, state", LONG)
def test_long_draw(draw, values, state):
    gen = Generator().manual_seed(11)
    assert (digest(draw(gen)), digest(gen.get_state())) == (values, state)
