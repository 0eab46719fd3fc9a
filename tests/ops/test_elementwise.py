import numpy as np
import pytest

import chainrule as torch
from chainrule.core.registry import OPS
from tests.ops.numeric import check

DTYPES = [torch.float32, torch.float64, torch.float16, torch.complex64, torch.int64, torch.int8, torch.uint8]


def pair(dtype, shape=(2, 3), other=(2, 3), seed=0):
    rng = np.random.default_rng(seed)
    return tuple(torch.tensor(rng.integers(1, 6, s)).to(dtype) for s in (shape, other))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "name, reference", [("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.true_divide)]
)
def test_values_of_every_dtype(name, reference, dtype):
    x, y = pair(dtype, (2, 3), (3,))
    found = getattr(torch, name)(x, y)
    floating = dtype.is_floating_point or dtype.is_complex
    assert found.dtype is (dtype if floating or name != "div" else torch.float32)
    np.testing.assert_allclose(found.numpy(), reference(x.numpy(), y.numpy()).astype(found.numpy().dtype), rtol=2e-3)
    if floating or name != "div":
        twin = x.clone()
        assert getattr(twin, name + "_")(y) is twin and twin._version == 1
        np.testing.assert_array_equal(twin.numpy(), found.numpy())
    out = torch.empty(0, dtype=found.dtype)
    assert getattr(torch, name)(x, y, out=out) is out
    np.testing.assert_array_equal(out.numpy(), found.numpy())


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "rsub", "remainder", "fmod", "floor_divide"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_fast_caller_means_what_the_general_one_means(name, dtype):
    operation = OPS[name]
    x, y = pair(dtype, (2, 3), (3,))
    if dtype.is_complex and name in ("remainder", "fmod", "floor_divide"):
        for run in (operation.fast, operation.general):
            with pytest.raises(NotImplementedError, match="not implemented for 'ComplexFloat'"):
                run(x, y)
        return
    for other in (y, 3, *([2.5] if name != "fmod" else [])):
        if other is not y and "other" not in operation.numbers:
            continue
        for a, b in ((x, other), (x[0], other), (x.t().contiguous().t(), other)):
            fast, general = operation.fast(a, b), operation.apply((a, b))
            assert fast.dtype is general.dtype and fast.stride() == general.stride()
            np.testing.assert_array_equal(fast.numpy(), general.numpy())


def test_derivatives():
    rng = np.random.default_rng(3)
    x, y, z = rng.standard_normal((2, 3)), rng.uniform(0.5, 2, (2, 3)), rng.standard_normal((2, 3)) + 1j
    for function in (torch.add, torch.sub, torch.mul, torch.div, torch.rsub):
        check(function, x, y)
        check(function, z, y + 1j)
    check(lambda a: 3 * a - a / 4 + 2 / (a + 5) - (1 - a), x)
    check(lambda a, b: torch.add(a, b, alpha=2.5) * torch.sub(a, b, alpha=0.5) - torch.rsub(a, b, alpha=2), x, y)
    check(lambda a, b: torch.add(a, b, alpha=2j), z, z)
    check(torch.neg, z)
    check(torch.remainder, [5.3, -5.3, 2.1], [3.0, 3.0, -1.5])
    check(torch.fmod, [5.3, -5.3, 2.1], [3.0, 3.0, -1.5])
    check(lambda a: a % 2 + torch.fmod(a, 3), [5.3, -5.3])


def leaf(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def edges(tensor):
    return [f and f.name() for f, _ in tensor.grad_fn.next_functions]


def test_nodes():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    sink = "torch::autograd::AccumulateGrad"
    for made, name, expected in [
        (x + y, "AddBackward0", [sink, sink]),
        (x + 2, "AddBackward0", [sink, None]),
        (torch.add(x, y, alpha=2), "AddBackward0", [sink, sink]),
        (x - y.detach(), "SubBackward0", [sink, None]),
        (1 - x, "RsubBackward1", [sink]),
        (torch.rsub(x, y), "RsubBackward0", [sink, sink]),
        (2 * x, "MulBackward0", [sink, None]),
        (x / y, "DivBackward0", [sink, sink]),
        (torch.div(x, y, rounding_mode="floor"), "DivBackward2", [sink, sink]),
        (2 / x, "MulBackward0", ["ReciprocalBackward0", None]),
        (x % 2, "RemainderBackward0", [sink]),
        (x % y, "RemainderBackward1", [sink, sink]),
        (torch.fmod(x, 2), "FmodBackward0", [sink]),
        (x // y, "torch::autograd::NotImplemented", [sink, sink]),
        (x // 2, "torch::autograd::NotImplemented", [sink]),
        (-x, "NegBackward0", [sink]),
    ]:
        assert (made.grad_fn.name(), edges(made)) == (name, expected)
    assert (x + y).grad_fn._saved_alpha == 1 and torch.add(x, y, alpha=2).grad_fn._saved_alpha == 2
    assert (x * 2).grad_fn._saved_self is None and (x * 2).grad_fn._saved_other.item() == 2
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        torch.autograd.grad(x // y, x, torch.ones(2))


def test_integer_division():
    x, y = torch.tensor([7, -7, 7, -7]), torch.tensor([2, 2, -2, -2])
    assert (x // y).tolist() == [3, -4, -4, 3]
    assert torch.div(x, y, rounding_mode="trunc").tolist() == [3, -3, -3, 3]
    assert torch.div(x, y, rounding_mode="floor").tolist() == [3, -4, -4, 3]
    assert (x % y).tolist() == [1, 1, -1, -1]
    assert torch.fmod(x, y).tolist() == [1, -1, 1, -1]
    for run in (lambda: x // 0, lambda: x % torch.tensor([0, 1, 1, 1]), lambda: torch.fmod(x, 0)):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            run()
    assert (torch.zeros(0, dtype=torch.int64) % torch.tensor([0])).shape == (0,)
    assert (x / 2).dtype is torch.float32
    with pytest.raises(
        RuntimeError, match="div expected rounding_mode to be one of None, 'trunc', or 'floor' but found"
    ):
        torch.div(x, y, rounding_mode="up")


def test_floating_division_by_zero():
    x = torch.tensor([1.5, -1.5, 0.0])
    assert str((x / 0).tolist()) == "[inf, -inf, nan]"
    assert str((x // 0).tolist()) == "[inf, -inf, nan]"
    assert (-x % float("inf")).tolist()[:2] == [float("inf"), 1.5]


def test_integers_wrap_around():
    small = torch.tensor([100], dtype=torch.int8)
    assert (small + small).item() == -56 and (small + 300).item() == -112 and (small * 2**40).item() == 0
    assert (torch.tensor([1], dtype=torch.uint8) - 3).item() == 254
    with pytest.raises(OverflowError, match="int too big to convert"):
        torch.ones(1) + 2**70


def test_bool():
    b = torch.tensor([True, False])
    assert (b + b).tolist() == [True, False] and (b * b).dtype is torch.bool and (b + 1).tolist() == [2, 1]
    assert (b / b).dtype is torch.float32
    with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with two bool tensors is not supported"):
        b - b
    for run in (lambda: b - 1, lambda: 1 - b, lambda: True - torch.ones(2), lambda: torch.ones(2).sub_(b)):
        with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with a bool tensor is not supported"):
            run()
    with pytest.raises(RuntimeError, match="Negation, the `-` operator, on a bool tensor is not supported"):
        -b


def test_alpha():
    x = torch.tensor([1, 2])
    assert torch.add(x, 3, alpha=2).tolist() == [7, 8]
    assert torch.ones(2).add_(torch.ones(2), alpha=-0.5).tolist() == [0.5, 0.5]
    assert torch.add(torch.ones(2), 2.0, torch.ones(2)).tolist() == [3.0, 3.0]  # the deprecated order
    assert torch.ones(2).sub_(2.0, torch.ones(2)).tolist() == [-1.0, -1.0]
    with pytest.raises(RuntimeError, match="For integral input tensors, argument alpha must not be a floating point"):
        torch.add(x, x, alpha=0.5)
    with pytest.raises(RuntimeError, match="Boolean alpha only supported for Boolean results."):
        torch.add(x, x, alpha=True)
    with pytest.raises(
        RuntimeError, match="For non-complex input tensors, argument alpha must not be a complex number."
    ):
        torch.add(torch.ones(2), 1, alpha=1j)
    with pytest.raises(TypeError, match=r"add\(\) takes 2 positional arguments but 3 were given"):
        torch.add(x, x, 2)


def test_broadcasting():
    with pytest.raises(
        RuntimeError,
        match=r"The size of tensor a \(3\) must match the size of tensor b \(2\) at non-singleton dimension 1",
    ):
        torch.ones(2, 3) + torch.ones(2)
    x, b = torch.ones(2, 3, requires_grad=True), torch.ones(3, requires_grad=True)
    grads = torch.autograd.grad(x * b, (x, b), torch.ones(2, 3))
    assert [tuple(g.shape) for g in grads] == [(2, 3), (3,)]
    assert grads[1].tolist() == [2.0, 2.0, 2.0]


def test_in_place_errors_come_before_any_change():
    x = torch.ones(3)
    for run, words in [
        (lambda: x.add_(torch.ones(2, 3)), r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"),
        (lambda: x.add_(torch.ones(2)), r"The size of tensor a \(3\) must match the size of tensor b \(2\)"),
        (lambda: x.mul_(1j), "result type ComplexFloat can't be cast to the desired output type Float"),
        (lambda: torch.ones(1).expand(3).add_(1), "more than one element of the written-to tensor refers to a single"),
        (lambda: x[1:].add_(x[:-1]), "some elements of the input tensor and the written-to tensor refer to a single"),
    ]:
        with pytest.raises(RuntimeError, match=words):
            run()
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.tensor([1]).div_(2)
    assert x.tolist() == [1.0, 1.0, 1.0] and x._version == 0
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(
        RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation."
    ):
        leaf += 1
    with torch.no_grad():
        leaf -= 0.5
    assert leaf.tolist() == [0.5, 0.5] and leaf._version == 1


def test_in_place_saves_versions_before_it_writes():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for write in (lambda y: y.mul_(y), lambda y: y.div_(y), lambda y: y.exp_().mul_(2)):
        y = x * 1
        write(y)
        with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
            torch.autograd.grad(y, x, torch.ones(2))
    y = (x * 1).add_(x).mul_(3).sub_(x, alpha=2)
    assert torch.autograd.grad(y, x, torch.ones(2))[0].tolist() == [4.0, 4.0]
    y = (x * 1).pow_(2).sin_()
    np.testing.assert_allclose(
        torch.autograd.grad(y, x, torch.ones(2))[0].tolist(),
        2 * x.detach().numpy() * np.cos(x.detach().numpy() ** 2),
        rtol=1e-6,
    )


def test_results_keep_the_memory_order_of_their_operands():
    turned = torch.from_numpy(np.ones((2, 3), np.float32).T)
    assert (turned + turned).stride() == (turned * 2).stride() == (1, 3)
    assert (torch.ones(3, 1) + turned).stride() == (1, 3)
    assert (torch.ones(1).expand(3) + 1).stride() == (1,)


def test_half_with_a_number_is_computed_in_single():
    h = torch.tensor([1.5, 60000.0]).half()
    assert (h * 0.1).tolist() == [0.1500244140625, 6000.0]
    assert (h * 2.0)[1].item() == float("inf")


def test_arguments():
    x = torch.ones(2)
    with pytest.raises(TypeError, match=r"add\(\): argument 'other' \(position 2\) must be Tensor, not numpy.ndarray"):
        torch.add(x, np.ones(2))
    with pytest.raises(TypeError, match=r"add\(\): argument 'input' \(position 1\) must be Tensor, not str"):
        torch.add("a", x)
    with pytest.raises(TypeError, match=r"fmod\(\) received an invalid combination of arguments - got \(int, Tensor\)"):
        torch.fmod(2, x)
    assert torch.add(1, x).tolist() == torch.add(input=x, other=1).tolist() == [2.0, 2.0]
