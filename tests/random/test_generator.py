"""Seeds, words and saved states, against facts recorded from PyTorch 2.13."""

import copy
import hashlib
import pickle

import numpy as np
import pytest

from chainrule.random.distributions import bernoulli, normal, random_from_to, randperm, uniform
from chainrule.random.generator import BLOCK, Generator, default_generator

F4, F8, I8 = map(np.dtype, ("f4", "f8", "i8"))


def digest(array):
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


@pytest.mark.parametrize(
    "seed, initial, fresh, values, later",
    [
        (0, 0, "1ccf17250133dec5", [0.4962565899, 0.7682217956, 0.0884774327], "30ba57011b00a77f"),
        (1, 1, "f5defda135ec2e0d", [0.7576315999, 0.2793108821, 0.4030692577], "45210c3214c21282"),
        (42, 42, "5feb54a46230d321", [0.8822692633, 0.9150039554, 0.3828637600], "24cd8cfe1085c822"),
        (-1, 2**64 - 1, "74c65bce05a4fcdd", [0.9937993884, 0.5713063478, 0.5700080395], "a387a2249ed52b0a"),
        (2**32 + 5, 2**32 + 5, "53de43f464fbbbb0", [0.8302518725, 0.1261109114, 0.9074696898], "bc7cfd3dc8fa4471"),
        (2**63, 2**63, "b7855dcbdb9da86a", [0.4962565899, 0.7682217956, 0.0884774327], "5d98f042589309d1"),
        (-(2**63), 2**63, "b7855dcbdb9da86a", [0.4962565899, 0.7682217956, 0.0884774327], "5d98f042589309d1"),
    ],
)
def test_seed(seed, initial, fresh, values, later):
    gen = Generator()
    assert gen.manual_seed(seed) is gen
    assert gen.initial_seed() == initial
    assert digest(gen.get_state()) == fresh
    np.testing.assert_allclose(uniform(gen, (3,), F4), values, rtol=1e-7)
    assert digest(gen.get_state()) == later


def test_a_new_generator_has_the_default_seed():
    assert Generator().initial_seed() == 67280421310721
    assert isinstance(default_generator, Generator)
    assert Generator().device.type == "cpu"


def test_state_after_many_kinds_of_draws_and_with_a_kept_normal():
    gen = Generator().manual_seed(123)
    uniform(gen, (3,), F4)
    normal(gen, (5,), F4)
    normal(gen, (20,), F4)
    random_from_to(gen, (7,), I8, 0, 5)
    uniform(gen, (700,), F8)
    normal(gen, (3,), F4)
    randperm(gen, 9, I8)
    bernoulli(gen, (5,), F4, 0.5)
    normal(gen, (1,), F4)
    state = gen.get_state()
    assert state[:24].view("<u8")[[0, 2]].tolist() == [123, 236]
    assert state[8:12].view("<i4")[0] == 389
    assert state[5016:5024].tolist() == [0] * 8
    assert state[5024:5032].view("<f8")[0] == pytest.approx(-0.6297993708679438, rel=1e-15)
    assert state[5032:].tolist() == [0] * 8 + [1] + [0] * 15
    np.testing.assert_allclose(normal(gen, (2,), F8), [-0.6297993708679438, -0.520772280804839], rtol=1e-14)
    np.testing.assert_allclose(uniform(gen, (2,), F4), [0.5513673424720764, 0.3976019024848938])


@pytest.mark.parametrize("drawn", [0, 1, 3, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3000])
def test_state_round_trip(drawn):
    gen = Generator().manual_seed(5)
    gen.words(drawn)
    normal(gen, (3,), F4)
    state = gen.get_state()
    assert state.dtype == np.uint8 and state.shape == (5056,)
    others = [
        Generator().set_state(state),
        gen.clone_state(),
        copy.deepcopy(gen),
        copy.copy(gen),
        pickle.loads(pickle.dumps(gen)),
    ]
    expected = [normal(gen, (1,), F8), uniform(gen, (1300,), F4), normal(gen, (33,), F4)]
    for other in others:
        assert digest(other.get_state()) == digest(state)
        assert other.initial_seed() == 5
        for array in expected:
            again = (uniform if array.size == 1300 else normal)(other, array.shape, array.dtype)
            np.testing.assert_array_equal(again, array)
        assert digest(other.get_state()) == digest(gen.get_state())


def test_a_cached_float_normal_survives_in_the_state():
    state = Generator().manual_seed(5).get_state()
    state[5048:5052] = np.array([0.25], "<f4").view(np.uint8)
    state[5052] = 1
    gen = Generator().set_state(state)
    assert gen.next_float_normal == 0.25
    np.testing.assert_array_equal(gen.get_state(), state)


def test_seeding_drops_the_kept_normal():
    gen = Generator().manual_seed(5)
    first = normal(gen, (3,), F8)
    assert gen.next_double_normal is not None
    np.testing.assert_array_equal(normal(gen.manual_seed(5), (3,), F8), first)


@pytest.mark.parametrize("pieces", [[1] * 40, [623, 1, 624, 2], [7, 700, 1, 1241, 3, 2000]])
def test_words_do_not_depend_on_how_they_are_taken(pieces):
    whole = Generator().manual_seed(3)
    parts = Generator().manual_seed(3)
    np.testing.assert_array_equal(np.concatenate([parts.words(n) for n in pieces]), whole.words(sum(pieces)))
    np.testing.assert_array_equal(parts.get_state(), whole.get_state())


def test_words_already_given_out_do_not_change():
    gen = Generator().manual_seed(3)
    given = gen.words(10)
    kept = given.copy()
    gen.words(2000)
    gen.manual_seed(9).words(10)
    np.testing.assert_array_equal(given, kept)


def test_seed_draws_a_new_seed():
    gen = Generator()
    seeds = {gen.seed() for _ in range(4)}
    assert len(seeds) == 4 and all(0 <= seed < 2**64 for seed in seeds)
    assert gen.initial_seed() in seeds


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda g: g.manual_seed(1.5), RuntimeError, "manual_seed expected a long, but got float"),
        (lambda g: g.manual_seed("a"), RuntimeError, "manual_seed expected a long, but got str"),
        (lambda g: g.manual_seed(True), RuntimeError, "manual_seed expected a long, but got bool"),
        (lambda g: g.manual_seed(2**64), ValueError, "Overflow when unpacking long long"),
        (lambda g: g.manual_seed(-(2**63) - 1), ValueError, "Overflow when unpacking long long"),
        (lambda g: g.set_state(5), TypeError, "expected a torch.ByteTensor, but got int"),
        (lambda g: g.set_state(np.zeros(5056)), TypeError, "RNG state must be a torch.ByteTensor"),
        (
            lambda g: g.set_state(np.zeros(5, np.uint8)),
            RuntimeError,
            "Expected a CPUGeneratorImplState of size 5056 but found the input RNG state size to be 5",
        ),
        (lambda g: g.set_state(np.zeros(5056, np.uint8)), RuntimeError, "Invalid mt19937 state"),
    ],
)
def test_errors_leave_the_stream_alone(call, error, text):
    gen = Generator().manual_seed(4)
    gen.words(5)
    before = gen.get_state()
    with pytest.raises(error) as caught:
        call(gen)
    assert str(caught.value) == text
    np.testing.assert_array_equal(gen.get_state(), before)


def test_other_devices_are_refused():
    with pytest.raises(RuntimeError, match="Cannot get CUDA generator"):
        Generator("cuda")
