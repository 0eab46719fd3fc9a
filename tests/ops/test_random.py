"""The Tensor-level API of the random stream; the numbers were drawn by PyTorch 2.13 (see also tests/random)."""

import copy
import pickle
import warnings

import pytest

import chainrule as torch
import chainrule.nn.functional as F
from chainrule.random import fork_rng


@pytest.fixture(autouse=True)
def seed():
    state = torch.get_rng_state()
    torch.manual_seed(0)
    yield
    torch.set_rng_state(state)


@pytest.fixture
def x():
    return torch.ones(3)


def leaf(*shape):
    return torch.ones(*(shape or (3,)), requires_grad=True)


def raises(kind, text, function, *args, **kwargs):
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    assert str(caught.value).split("\n")[0] == text


def other():
    return torch.Generator().manual_seed(3)


# --- seeds and generators ---


def test_seeds():
    assert torch.manual_seed(5) is torch.default_generator and torch.initial_seed() == 5
    assert torch.manual_seed(-1).initial_seed() == 2**64 - 1
    torch.manual_seed(torch.tensor(3))
    assert torch.initial_seed() == 3 and torch.random.initial_seed() == 3
    assert torch.seed() == torch.initial_seed()
    raises(ValueError, "Overflow when unpacking long long", torch.manual_seed, 2**64)
    raises(RuntimeError, "manual_seed expected a long, but got str", torch.Generator().manual_seed, "a")
    assert torch.random.default_generator is torch.default_generator


def test_states():
    state = torch.get_rng_state()
    assert state.shape == (5056,) and state.dtype is torch.uint8
    first = torch.rand(3)
    torch.set_rng_state(state)
    assert torch.rand(3).tolist() == first.tolist()
    g = torch.Generator().set_state(state)
    assert torch.rand(3, generator=g).tolist() == first.tolist()
    raises(TypeError, "expected a torch.ByteTensor, but got int", torch.set_rng_state, 3)
    raises(TypeError, "RNG state must be a torch.ByteTensor", torch.set_rng_state, torch.zeros(3))
    with pytest.raises(RuntimeError, match="Expected a CPUGeneratorImplState of size 5056 but found"):
        torch.set_rng_state(torch.zeros(3, dtype=torch.uint8))


def test_copies_of_generators_go_on_alike():
    g = other()
    torch.rand(5, generator=g)
    for twin in (copy.deepcopy(g), pickle.loads(pickle.dumps(g)), g.clone_state()):
        assert type(twin) is torch.Generator and twin.initial_seed() == 3
        assert torch.randn(20, generator=twin).tolist() == torch.randn(20, generator=g.clone_state()).tolist()


def test_fork_rng():
    with fork_rng():
        torch.rand(3)
    assert torch.rand(1).item() == 0.49625658988952637
    with fork_rng(enabled=False):
        torch.rand(1)
    assert torch.rand(1).item() == 0.08847743272781372


# --- new tensors ---


def test_rand_and_randn():
    assert repr(torch.rand(2, 3)) == "tensor([[0.4963, 0.7682, 0.0885],\n        [0.1320, 0.3074, 0.6341]])"
    torch.manual_seed(0)
    assert repr(torch.randn(2, 2)) == "tensor([[ 1.5410, -0.2934],\n        [-2.1788,  0.5684]])"
    assert (
        repr(torch.rand(2, generator=other()))
        == repr(torch.rand((2,), generator=other()))
        == "tensor([0.0043, 0.1056])"
    )
    assert torch.rand(2, dtype=torch.complex64).is_complex() and torch.randn(2, requires_grad=True).requires_grad
    out = torch.empty(0, dtype=torch.float64)
    assert torch.rand(2, out=out) is out and out.shape == (2,)
    raises(NotImplementedError, "\"check_uniform_bounds\" not implemented for 'Long'", torch.rand, 2, dtype=torch.int64)
    for args, got in (((), "()"), ((2,), "(int, generator=int)")):
        text = f"rand() received an invalid combination of arguments - got {got}, but expected one of:"
        raises(TypeError, text, torch.rand, *args, **({"generator": 3} if args else {}))


def test_randint():
    assert torch.randint(5, (3,)).tolist() == [4, 4, 3]
    torch.manual_seed(0)
    assert torch.randint(2, 5, (3,)).tolist() == [4, 2, 4]
    assert torch.randint(5, (3,), generator=other()).tolist() == [1, 3, 2]
    assert torch.randint(high=5, size=(2,)).dtype is torch.int64
    assert torch.randint(low=1, high=2, size=(2,), dtype=torch.float32).tolist() == [1.0, 1.0]
    assert torch.randint(torch.tensor(1), (2,)).tolist() == [0, 0]
    raises(TypeError, "randint(): argument 'size' (position 2) must be tuple of ints, not int", torch.randint, 5, 3)
    raises(TypeError, "randint(): argument 'high' (position 1) must be int, not float", torch.randint, 5.0, (2,))
    raises(
        RuntimeError,
        "random_ expects 'from' to be less than 'to', but got from=5 >= to=2",
        torch.randint,
        5,
        2,
        (2,),
    )
    raises(RuntimeError, "to - 1 is out of bounds for unsigned char", torch.randint, 300, (2,), dtype=torch.uint8)
    text = "randint() received an invalid combination of arguments - got (int), but expected one of:"
    raises(TypeError, text, torch.randint, 5)


def test_randperm():
    assert torch.randperm(5).tolist() == [4, 0, 1, 3, 2]
    assert torch.randperm(5, generator=other(), dtype=torch.int32).dtype is torch.int32
    assert torch.randperm(0).tolist() == []
    raises(TypeError, "randperm(): argument 'n' (position 1) must be int, not float", torch.randperm, 5.0)


def test_like(x):
    assert repr(torch.rand_like(x)) == "tensor([0.4963, 0.7682, 0.0885])"
    torch.manual_seed(0)
    assert torch.randint_like(x, 5).tolist() == [4.0, 4.0, 3.0]
    assert torch.randn_like(leaf()).requires_grad is False
    transposed = torch.zeros(3, 2).t()
    torch.manual_seed(0)
    drawn = torch.rand_like(transposed)
    assert repr(drawn) == "tensor([[0.4963, 0.0885, 0.3074],\n        [0.7682, 0.1320, 0.6341]])"
    assert drawn.stride() == (1, 2)
    # a normal draw of 16 or more values goes by blocks only into contiguous memory
    wide = torch.zeros(9, 2).t()
    torch.manual_seed(0)
    assert repr(torch.randn_like(wide)[0, :2]) == "tensor([ 1.5410, -2.1788])"
    torch.manual_seed(0)
    assert repr(torch.randn_like(wide, memory_format=torch.contiguous_format)[0, :2]) == "tensor([-1.1258, -1.1524])"


# --- in place ---


@pytest.mark.parametrize(
    "name, args, node, expected",
    [
        ("uniform_", (), "UniformBackward0", [0.4963, 0.7682, 0.0885]),
        ("uniform_", (1, 2), "UniformBackward0", [1.4963, 1.7682, 1.0885]),
        ("normal_", (), "NormalBackward0", [1.5410, -0.2934, -2.1788]),
        ("normal_", (1, 2), "NormalBackward0", [4.0820, 0.4131, -3.3576]),
        ("random_", (), "RandomBackward2", [8325664, 12888472, 1484222]),
        ("random_", (5,), "RandomBackward1", [4, 4, 3]),
        ("random_", (2, 5), "RandomBackward0", [4, 2, 4]),
        ("exponential_", (), "ExponentialBackward0", [3.5083, 1.2304, 0.6150]),
        ("geometric_", (0.5,), "GeometricBackward0", [1, 1, 2]),
        ("cauchy_", (), "CauchyBackward0", [10.5977, 0.7648, -0.1283]),
        ("log_normal_", (), "LogNormalBackward0", [59.2634, 1.5116, 0.0348]),
        ("bernoulli_", (), "BernoulliBackward2", [0, 0, 1]),
    ],
)
def test_in_place(name, args, node, expected):
    t = torch.zeros(3)
    assert getattr(t, name)(*args) is t and t._version == 1
    assert t.tolist() == pytest.approx(expected, abs=6e-5)
    raises(
        RuntimeError,
        "a leaf Variable that requires grad is being used in an in-place operation.",
        getattr(leaf(), name),
        *args,
    )
    x = leaf()
    y = x * 2
    getattr(y, name)(*args)
    assert y.grad_fn.name() == node and [n.name() for n, _ in y.grad_fn.next_functions] == ["MulBackward0"]
    y.backward(torch.ones_like(y))
    assert x.grad.tolist() == [0, 0, 0]
    text = (
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please "
        "clone() the tensor before performing the operation."
    )
    raises(RuntimeError, text, getattr(torch.ones(2, 1).expand(2, 2), name), *args)


def test_nothing_is_drawn_for_a_refused_tensor():
    with pytest.raises(RuntimeError):
        leaf().uniform_()
    assert repr(torch.rand(1)) == "tensor([0.4963])"


def test_bernoulli_by_a_tensor(x):
    assert torch.zeros(3).bernoulli_(x * 0.5).tolist() == [1, 0, 1]
    p = leaf()
    y = (leaf() * 1).bernoulli_(p)
    assert y.grad_fn.name() == "BernoulliBackward1" and len(y.grad_fn.next_functions) == 2
    y.backward(torch.ones_like(y))
    assert p.grad.tolist() == [0, 0, 0]
    text = (
        "The expanded size of the tensor (2) must match the existing size (3) at non-singleton dimension 0.  Target "
        "sizes: "
        "[2].  Tensor sizes: [3]"
    )
    raises(RuntimeError, text, torch.zeros(2).bernoulli_, x)


def test_draws_follow_the_memory():
    t = torch.zeros(3, 2).t().uniform_()
    assert repr(t) == "tensor([[0.4963, 0.0885, 0.3074],\n        [0.7682, 0.1320, 0.6341]])"


def test_drawing_into_a_view_changes_the_base():
    y = leaf() * 1
    part = y[:2]
    part.uniform_()
    assert repr(y) == "tensor([0.4963, 0.7682, 1.0000], grad_fn=<CopySlices>)"


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda t: t.uniform_(from_=1), TypeError, "uniform_() got an unexpected keyword argument 'from_'"),
        (lambda t: t.uniform_("a"), TypeError, "uniform_(): argument 'from' (position 1) must be float, not str"),
        (lambda t: t.uniform_(generator=3), TypeError,
         "uniform_(): argument 'generator' must be torch.Generator, not int"),
        (lambda t: t.uniform_(0, 1, 2), TypeError,
         "uniform_() takes from 0 to 2 positional arguments but 3 were given"),
        (lambda t: t.geometric_(), TypeError, 'geometric_() missing 1 required positional arguments: "p"'),
        (lambda t: t.uniform_(2, 1), RuntimeError,
         "uniform_ expects to return a [from, to) range, but found from=2 > to=1"),
        (lambda t: t.normal_(std=-1), RuntimeError, "normal expects std >= 0.0, but found std -1"),
        (lambda t: t.random_(2.0), TypeError,
         "random_() received an invalid combination of arguments - got (float), but expected one of:"),
        (lambda t: t.bernoulli_(1.5), RuntimeError, "bernoulli_ expects p to be in [0, 1], but got p=1.5"),
        (lambda t: t.long().normal_(), NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Long'"),
    ],
)  # fmt: skip
def test_in_place_refuses(call, kind, text):
    t = torch.zeros(3)
    raises(kind, text, call, t)
    assert t._version == 0 and t.tolist() == [0, 0, 0]


def test_keyword_from():
    assert torch.zeros(3).random_(**{"from": 2, "to": 5}).tolist() == [4, 2, 4]
    assert torch.zeros(3).random_(2, None).tolist()[0] > 2


# --- parameters that are tensors ---


def test_normal(x):
    assert repr(torch.normal(0.0, 1.0, (2,))) == "tensor([ 1.5410, -0.2934])"
    for args, node in (((leaf(), 1.0), 1), ((0.0, leaf()), 2), ((leaf(), x), 3), ((x, leaf()), 3)):
        torch.manual_seed(0)
        t = torch.normal(*args)
        assert t.grad_fn.name() == f"NormalBackward{node}"
        mean = 1.0 if isinstance(args[0], torch.Tensor) else 0.0
        assert t.tolist() == pytest.approx([1.5410 + mean, -0.2934 + mean, -2.1788 + mean], abs=6e-5)
        t.backward(torch.ones_like(t))
        assert [a.grad.tolist() for a in args if isinstance(a, torch.Tensor) and a.requires_grad] == [[0, 0, 0]]
    assert torch.normal(torch.zeros(2, 1), torch.ones(3)).shape == (2, 3)
    raises(RuntimeError, "normal expects all elements of std >= 0.0", torch.normal, x, -x)
    raises(
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0",
        torch.normal,
        x,
        torch.ones(2),
    )


def test_bernoulli(x):
    assert torch.bernoulli(x * 0.5).tolist() == [1, 0, 1]
    assert (x * 0.5).bernoulli(generator=other()).tolist() == [1, 1, 1]
    torch.manual_seed(0)
    assert torch.bernoulli(x, 0.2).tolist() == [0, 0, 0]
    p = leaf()
    t = torch.bernoulli(p)
    assert t.grad_fn.name() == "BernoulliBackward0"
    t.backward(torch.ones_like(t))
    assert p.grad.tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="Expected p_in >= 0 && p_in <= 1 to be true"):
        torch.bernoulli(x * 2)
    raises(TypeError, "bernoulli(): argument 'input' (position 1) must be Tensor, not float", torch.bernoulli, 0.5)


def test_poisson_and_binomial(x):
    assert torch.poisson(x * 3).tolist() == [6, 3, 2]
    assert torch.poisson(leaf()).grad_fn.name() == "PoissonBackward0"
    torch.manual_seed(0)
    assert torch.binomial(x * 5, x * 0.5).tolist() == [4, 2, 3]
    with pytest.raises(RuntimeError, match="derivative for aten::binomial is not implemented"):
        torch.binomial(leaf() * 5, x * 0.5).backward(x)


def test_multinomial(x):
    assert torch.multinomial(x, 2).tolist() == [2, 1]
    torch.manual_seed(0)
    assert x.multinomial(4, replacement=True).tolist() == [2, 2, 1, 2]
    torch.manual_seed(0)
    t = torch.multinomial(torch.ones(2, 3), 2)
    assert t.tolist() == [[2, 1], [1, 2]] and t.is_contiguous()
    assert not torch.multinomial(leaf(), 1).requires_grad
    raises(RuntimeError, "multinomial expects Long tensor out, got: Float", torch.multinomial, x, 2, out=torch.empty(0))
    raises(
        TypeError,
        "multinomial(): argument 'num_samples' (position 2) must be int, not float",
        torch.multinomial,
        x,
        2.0,
    )


# --- dropout ---


def test_dropout():
    x = leaf()
    y = F.dropout(x)
    assert y.tolist() == [0, 0, 2] and y.grad_fn.name() == "MulBackward0"
    assert [n and n.name() for n, _ in y.grad_fn.next_functions] == ["torch::autograd::AccumulateGrad", None]
    y.backward(torch.ones_like(y))
    assert x.grad.tolist() == [0, 0, 2]
    assert F.dropout(x, 0.0) is x and F.dropout(x, 0.5, training=False) is x
    gone = F.dropout(x, 1.0)
    assert gone.tolist() == [0, 0, 0] and gone.grad_fn.name() == "MulBackward0"
    for p in (1.5, -0.1):
        raises(ValueError, f"dropout probability has to be between 0 and 1, but got {p}", F.dropout, x, p)
    raises(RuntimeError, "dropout probability has to be between 0 and 1, but got 2", torch.dropout, x, 2.0, True)
    text = "result type Float can't be cast to the desired output type Long"
    raises(RuntimeError, text, F.dropout, torch.ones(3, dtype=torch.int64))


def test_dropout_in_place():
    t = torch.ones(3)
    assert F.dropout(t, inplace=True) is t and t.tolist() == [0, 0, 2]
    raises(
        RuntimeError,
        "a leaf Variable that requires grad is being used in an in-place operation.",
        F.dropout,
        leaf(),
        inplace=True,
    )


def test_alpha_dropout():
    y = F.alpha_dropout(leaf(6), training=True)
    assert repr(y).startswith("tensor([-0.7792, -0.7792,  1.6656, -0.7792, -0.7792, -0.7792]")
    assert y.grad_fn.name() == "AddBackward0"
    x = leaf()
    assert F.alpha_dropout(x) is x


def test_dropout_of_channels():
    y = F.dropout1d(leaf(2, 3, 4))
    assert y[:, :, 0].tolist() == [[0, 0, 2], [0, 0, 0]] and y.grad_fn.name() == "MulBackward0"
    torch.manual_seed(0)
    unbatched = F.dropout1d(leaf(3, 4))
    assert unbatched[:, 0].tolist() == [0, 0, 2] and unbatched.grad_fn.name() == "SqueezeBackward1"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.dropout2d(leaf(2, 3, 2, 2))
        F.dropout3d(leaf(2, 3, 2, 2, 2))
    with pytest.warns(UserWarning, match="dropout2d: Received a 3D input to dropout2d and assuming that channel-wise"):
        F.dropout2d(leaf(2, 3, 4))
    with pytest.raises(RuntimeError, match="dropout1d: Expected 2D or 3D input, but received a 4D input"):
        F.dropout1d(leaf(2, 3, 4, 5))
    text = "Feature dropout requires at least 2 dimensions in the input"
    raises(RuntimeError, text, torch.feature_dropout, leaf(), 0.5, True)


def test_native_dropout():
    x = leaf()
    y, mask = torch.native_dropout(x, 0.5, True)
    assert y.grad_fn.name() == "NativeDropoutBackward0" and mask.dtype is torch.bool and not mask.requires_grad
    assert y.tolist() == [2.0 * kept for kept in mask.tolist()] == [0, 0, 2]
    y.backward(torch.ones_like(y))
    assert x.grad.tolist() == y.tolist()
    y, mask = torch.native_dropout(x, 0.5, False)
    assert y.tolist() == [1, 1, 1] and all(mask.tolist())


def test_bernoulli_draws_in_the_order_of_its_result():
    torch.manual_seed(0)
    expected = torch.bernoulli(torch.full((3, 2), 0.5))
    torch.manual_seed(0)
    drawn = torch.bernoulli(torch.full((2, 3), 0.5).T)
    assert drawn.stride() == (2, 1) and drawn.equal(expected)


def test_multinomial_of_no_categories():
    with pytest.raises(RuntimeError, match="sum of probabilities <= 0"):
        torch.multinomial(torch.zeros(2, 0), 2, True)
    with pytest.raises(RuntimeError, match="aminmax"):
        torch.multinomial(torch.zeros(0), 1, True)
