import warnings

import pytest

import chainrule as torch
from chainrule.autograd import Function, gradcheck, gradgradcheck
from chainrule.autograd.gradcheck import GradcheckError

both_modes = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


def leaf(*shape, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=dtype, generator=generator).requires_grad_()


def scaled(backward):
    """x -> 2x with the given backward."""

    class Scaled(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    Scaled.backward = staticmethod(backward)
    return Scaled.apply


triple = scaled(lambda ctx, grad: grad * 3)


def one_entry_off(ctx, grad):
    result = grad * 2
    result[1] += 0.5 * grad[1]
    return result


class CubeWithConstantSlope(Function):
    """x**3, whose gradient is right and whose second derivative is lost."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x.detach() ** 2


class SquareWithoutConj(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


class TwoOutputs(Function):
    """(2x, 3x), where ``undefined`` says what the backward does with cotangents that are None."""

    undefined = "handled"

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        if a is None and b is None:
            if TwoOutputs.undefined == "error":
                raise RuntimeError("no cotangent at all")
            return torch.ones(3, dtype=torch.float64) if TwoOutputs.undefined == "ones for both" else None
        if b is None:
            wrong = TwoOutputs.undefined == "ones for one" and bool((a == 0).all())
            return torch.ones(3, dtype=torch.float64) if wrong else 2 * a
        return 3 * b if a is None else 2 * a + 3 * b


# Right derivatives

RIGHT = {
    "elementwise": (lambda x: x.sin(), lambda: leaf(3)),
    "inputs in a list": (lambda x: x.sin(), lambda: [leaf(3)]),
    "matrix product": (lambda x, y: x @ y, lambda: (leaf(2, 3), leaf(3, 4, seed=1))),
    "constant input": (lambda x, y: x * y, lambda: (leaf(3), leaf(3, seed=1).detach())),
    "several outputs": (lambda x, y: [x * y, x + y, x.sum()], lambda: (leaf(2, 3), leaf(2, 3, seed=1))),
    "other arguments": (lambda x, n, flag: x**n if flag else x, lambda: (leaf(3), 2, True)),
    "integer input": (lambda x, i: x[i], lambda: (leaf(3), torch.tensor([0, 2, 2]))),
    "integer output": (lambda x: (x * 2, (x > 0).long()), lambda: leaf(3)),
    "bool output": (lambda x: (x > 0, x * 2), lambda: leaf(3)),
    "constant output": (lambda x: (x.detach() * 3, x * 2), lambda: leaf(3)),
    "unused input": (lambda x, y: x * 2, lambda: (leaf(2), leaf(2, seed=1))),
    "same input twice": (lambda x, y: x * y, lambda: (leaf(3),) * 2),
    "identity": (lambda x: x, lambda: leaf(3)),
    "in-place inside": (lambda x: x.clone().mul_(2), lambda: leaf(3)),
    "0-dim": (lambda x: x * x, lambda: leaf()),
    "empty input": (lambda x: x.sum(), lambda: leaf(0, 3)),
    "empty output": (lambda x: x[:0], lambda: leaf(3)),
    "non-contiguous leaf": (lambda x: (x * x).sum(0), lambda: leaf(3, 4).detach().t().requires_grad_()),
    "non-leaf": (lambda x: x * x, lambda: leaf(3) * 2),
    "slice": (lambda x: x * x, lambda: leaf(3, 4)[:, ::2]),
    "views out": (lambda x: x.unbind(), lambda: leaf(3, 2)),
    "handles undefined": (TwoOutputs.apply, lambda: leaf(3)),
    "complex to complex": (lambda x: x * x * 2j, lambda: leaf(2, dtype=torch.complex128)),
    "not holomorphic": (lambda x: x.conj() * x, lambda: leaf(2, dtype=torch.complex128)),
    "complex to real": (lambda x: (x.real * 2, x.imag, x.abs()), lambda: leaf(2, dtype=torch.complex128)),
    "real to complex": (lambda x: x * (1 + 2j), lambda: leaf(2)),
    "real and complex": (lambda x, y: (x * y, x + 1), lambda: (leaf(2), leaf(2, dtype=torch.complex128, seed=2))),
}


@both_modes
@pytest.mark.parametrize("name", RIGHT)
def test_right_derivatives_pass(name, fast):
    func, inputs = RIGHT[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gradcheck(func, inputs(), fast_mode=fast) is True


@both_modes
def test_step_and_tolerances_are_used(fast):
    assert gradcheck(lambda x: x**3, leaf(3), eps=1e-3, atol=1e-4, fast_mode=fast)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(lambda x: x.exp(), leaf(3), eps=0.1, atol=1e-9, rtol=1e-9, fast_mode=fast)


@pytest.mark.parametrize("offset, slow, fast", [(0.0105, True, True), (0.02, False, True), (0.05, False, False)])
def test_fast_mode_allows_what_the_tolerance_of_all_elements_adds_up_to(offset, slow, fast):
    func = scaled(lambda ctx, grad: grad * (2 + offset))
    options = {"atol": 1e-2, "rtol": 1e-3, "raise_exception": False}
    assert gradcheck(func, leaf(4), **options) is slow
    assert gradcheck(func, leaf(4), fast_mode=True, **options) is fast


@both_modes
def test_runs_under_no_grad_as_pytorch_does(fast):
    # The outputs do not require grad there, which promises a derivative of zero.
    with torch.no_grad(), pytest.raises(GradcheckError, match="^Numerical gradient for function expected to be zero$"):
        gradcheck(lambda x: x * 2, leaf(2), fast_mode=fast)


@both_modes
def test_leaves_inputs_and_grad_alone(fast):
    x, before = leaf(3), leaf(3).detach()
    assert gradcheck(lambda x: x.exp(), x, fast_mode=fast)
    assert torch.equal(x, before) and x.grad is None and x._version == 0

    calls = []

    def fails_later(x):
        calls.append(None)
        return x * 2 if len(calls) < 3 else 1 / 0

    with pytest.raises(ZeroDivisionError):
        gradcheck(fails_later, x, fast_mode=fast)
    assert torch.equal(x, before)


def test_fast_mode_leaves_the_global_generator_alone():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    gradcheck(lambda x: x * 2, leaf(2), fast_mode=True)
    assert torch.equal(torch.rand(2), expected)


# Wrong derivatives


def test_mismatch_text_slow():
    with pytest.raises(GradcheckError) as caught:
        gradcheck(triple, leaf(2))
    assert str(caught.value) == (
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[2.0000, 0.0000],\n        [0.0000, 2.0000]], dtype=torch.float64)\n"
        "analytical:tensor([[3., 0.],\n        [0., 3.]], dtype=torch.float64)\n"
    )
    assert isinstance(caught.value, RuntimeError)


def test_jacobian_has_a_row_for_each_input_element():
    wrong_sum = scaled(lambda ctx, grad: grad * torch.tensor([2.0, 2.5], dtype=torch.float64))
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda x: wrong_sum(x).sum(), leaf(2))
    assert "analytical:tensor([[2.0000],\n        [2.5000]], dtype=torch.float64)\n" in str(caught.value)


def test_mismatch_text_fast():
    with pytest.raises(GradcheckError) as caught:
        gradcheck(triple, leaf(3), fast_mode=True)
    lines = str(caught.value).split("\n")
    assert lines[0] == "Jacobian mismatch for output 0 with respect to input 0,"
    # The projections that PyTorch's generator gives at its default seed.
    assert float(lines[1].removeprefix("numerical:")) == pytest.approx(1.9585491364738026, rel=1e-9)
    assert float(lines[2].removeprefix("analytical:")) == pytest.approx(2.937823704623985, rel=1e-12)
    assert "Numerical:" in lines and "Analytical:" in lines
    difference = next(line for line in lines if line.startswith("The max per-element difference"))
    assert float(difference.removesuffix(".").split(": ")[1]) == pytest.approx(1, rel=1e-6)


def test_fast_mode_says_when_slow_mode_would_pass():
    class Difference(Function):
        @staticmethod
        def forward(ctx, x):
            return (x * torch.tensor([1000.0, -1000.0], dtype=torch.float64)).sum()

        @staticmethod
        def backward(ctx, grad):
            return grad * torch.tensor([1000.9, -999.1], dtype=torch.float64)

    assert gradcheck(Difference.apply, leaf(2))
    with pytest.raises(GradcheckError, match="Fast gradcheck failed but element-wise differences are small"):
        gradcheck(Difference.apply, leaf(2), fast_mode=True)


@both_modes
@pytest.mark.parametrize(
    "func, where",
    [
        (triple, "output 0 with respect to input 0"),
        (scaled(one_entry_off), "output 0 with respect to input 0"),
        (scaled(lambda ctx, grad: grad * 0), "output 0 with respect to input 0"),
        (scaled(lambda ctx, grad: None), "output 0 with respect to input 0"),
        (scaled(lambda ctx, grad: grad * 0 + 1), "output 0 with respect to input 0"),
        (lambda x: (x * 2, triple(x)), "output 1 with respect to input 0"),
        (lambda x: ((x > 0).long(), x.detach(), triple(x)), "output 0 with respect to input 0"),
        (lambda x: x * float("nan"), "output 0 with respect to input 0"),
    ],
)
def test_wrong_derivatives_are_found(func, where, fast):
    with pytest.raises(GradcheckError, match=f"^Jacobian mismatch for {where},\n"):
        gradcheck(func, leaf(3), fast_mode=fast)
    assert gradcheck(func, leaf(3), fast_mode=fast, raise_exception=False) is False


@both_modes
def test_wrong_second_input_is_found(fast):
    with pytest.raises(GradcheckError, match="^Jacobian mismatch for output 0 with respect to input 1,\n"):
        gradcheck(lambda x, y: x + triple(y), (leaf(3), leaf(3, seed=1)), fast_mode=fast)
    # Inputs are counted among those that require grad.
    with pytest.raises(GradcheckError, match="^Jacobian mismatch for output 0 with respect to input 0,\n"):
        gradcheck(lambda n, y: n * triple(y), (2, leaf(3)), fast_mode=fast)


@both_modes
@pytest.mark.parametrize(
    "func, dtype, where",
    [
        (triple, torch.complex128, "While considering the imaginary part of complex outputs only, Jacobian mismatch"),
        (SquareWithoutConj.apply, torch.complex128, "While considering the imaginary part of complex outputs only, "),
        (lambda x: triple(x) * (1 + 0j), torch.float64, "While considering the real part of complex outputs only, "),
        (lambda x: (triple(x.abs()), x * 2), torch.complex128, "Jacobian mismatch for output 0 with respect to input"),
        (lambda x: (x.abs(), triple(x)), torch.complex128, "While considering the imaginary part of complex outputs"),
    ],
)
def test_wrong_complex_derivatives_are_found(func, dtype, where, fast):
    with pytest.raises(GradcheckError) as caught:
        gradcheck(func, leaf(2, dtype=dtype), fast_mode=fast)
    assert str(caught.value).startswith(where)


def test_complex_jacobian_is_the_derivative_by_the_real_part_plus_i_times_that_by_the_imaginary_part():
    with pytest.raises(GradcheckError) as caught:
        gradcheck(triple, leaf(2, dtype=torch.complex128))
    assert str(caught.value).endswith(
        "numerical:tensor([[0.+2.0000j, 0.+0.0000j],\n        [0.+0.0000j, 0.+2.0000j]], dtype=torch.complex128)\n"
        "analytical:tensor([[0.+3.j, 0.+0.j],\n        [0.+0.j, 0.+3.j]], dtype=torch.complex128)\n"
    )


@both_modes
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_outputs_cut_from_the_graph(fast, dtype):
    assert gradcheck(lambda x: x.detach() * 0 + 1, leaf(2, dtype=dtype), fast_mode=fast)
    with pytest.raises(GradcheckError, match="^Numerical gradient for function expected to be zero$"):
        gradcheck(lambda x: x.detach() * 2, leaf(2, dtype=dtype), fast_mode=fast)


@both_modes
def test_backward_that_ignores_its_cotangent(fast):
    class Total(Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, grad):
            return torch.ones(3, dtype=torch.float64)

    with pytest.raises(GradcheckError, match="^backward not multiplied by grad_output$"):
        gradcheck(Total.apply, leaf(3), fast_mode=fast)


@both_modes
def test_backward_that_differs_from_run_to_run(fast):
    calls = []

    def backward(ctx, grad):
        calls.append(None)
        return grad * (2 + 1e-6 * len(calls))

    with pytest.raises(GradcheckError) as caught:
        gradcheck(scaled(backward), leaf(2), fast_mode=fast)
    assert str(caught.value).split("\n")[0] == (
        "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
        "different values, although analytical gradient matches numerical gradient."
        "The tolerance for nondeterminism was 0.0."
    )
    assert gradcheck(scaled(backward), leaf(2), fast_mode=fast, nondet_tol=1e-3)


# Undefined cotangents


@both_modes
@pytest.mark.parametrize(
    "undefined, message",
    [
        ("error", "Expected backward function to handle undefined output grads."),
        (
            "ones for both",
            "Expected all input grads to be undefined or zero when all output grads are undefined or zero.",
        ),
        (
            "ones for one",
            "Expected all input grads to be undefined or zero when all output grads are undefined or zero.",
        ),
    ],
)
def test_undefined_cotangents(monkeypatch, undefined, message, fast):
    monkeypatch.setattr(TwoOutputs, "undefined", undefined)
    with (
        pytest.warns(UserWarning, match="New undefined gradient support checking feature is enabled by default"),
        pytest.raises(GradcheckError) as caught,
    ):
        gradcheck(TwoOutputs.apply, leaf(3), fast_mode=fast)
    assert str(caught.value) == (
        message + ' Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
    )
    assert gradcheck(TwoOutputs.apply, leaf(3), fast_mode=fast, check_undefined_grad=False)


# Bad input


def test_no_input_requires_grad():
    message = (
        "^gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.$"
    )
    for inputs in (leaf(2).detach(), (), "abc", (3.0,), (x for x in [leaf(2)])):
        with pytest.raises(ValueError, match=message):
            gradcheck(lambda *xs: xs[0] * 2, inputs, raise_exception=False)


def test_overlapping_memory():
    x = torch.ones(1, dtype=torch.float64).expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match="^The 1th input has a dimension with stride 0. gradcheck only supports"):
        gradcheck(lambda y, x: x * y, (2.0, x))


@both_modes
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_single_precision_warns(dtype, fast):
    with pytest.warns(UserWarning) as caught:
        assert gradcheck(lambda x: x * 2, leaf(3, dtype=dtype), eps=1e-2, atol=0.1, fast_mode=fast)
    assert [str(w.message) for w in caught] == [
        "Input #0 requires gradient and is not a double precision floating point or complex. "
        "This check will likely fail if all the inputs are not of double precision floating point or complex. "
    ]


def test_single_beside_double_precision_is_compared():
    inputs = (leaf(3, dtype=torch.float32), leaf(3, seed=2))
    with pytest.warns(UserWarning, match="Input #0"), pytest.raises(GradcheckError, match="^Jacobian mismatch"):
        gradcheck(lambda x, y: x * y, inputs, fast_mode=True)


@both_modes
def test_outputs_that_change_between_calls(fast):
    def alternating(first, second):
        calls = []

        def func(x):
            calls.append(None)
            return first(x) if len(calls) % 2 else second(x)

        return func

    where = "" if fast else r" on index \(0,\)"
    with pytest.raises(AssertionError, match=f"with the same shape when inputs are perturbed{where} by 1e-06, but got"):
        gradcheck(alternating(lambda x: x * 2, lambda x: x[:1] * 2), leaf(3), fast_mode=fast)
    with pytest.raises(AssertionError, match="but got: dtypes torch.float32 and torch.float64.$"):
        gradcheck(alternating(lambda x: x * 2, lambda x: (x * 2).float()), leaf(3), fast_mode=fast)
    with pytest.raises(AssertionError, match="to return at least 2 outputs when inputs are perturbed, but got 1$"):
        gradcheck(alternating(lambda x: (x * 2, x * 3), lambda x: x * 2), leaf(3), fast_mode=fast)


def test_output_that_is_no_tensor():
    with pytest.raises(AttributeError, match="'int' object has no attribute 'requires_grad'"):
        gradcheck(lambda x: (x * 2, 3), leaf(2))


def test_errors_of_the_function_are_not_swallowed():
    def fails(ctx, grad):
        raise RuntimeError("a fault of the function's own")

    with pytest.raises(RuntimeError, match="^a fault of the function's own$"):
        gradcheck(scaled(fails), leaf(2), raise_exception=False)


def test_tensors_in_a_nested_sequence():
    assert gradcheck(lambda x, weights: x * weights[0], (leaf(2), [2.0]))
    with pytest.raises(
        NotImplementedError, match="^chainrule has no gradcheck of tensors inside a sequence: .*input 1"
    ):
        gradcheck(lambda x, ys: x * ys[0], (leaf(2), [leaf(2)]))


@pytest.mark.parametrize(
    "options, error, message",
    [
        (
            {"check_backward_ad": False},
            AssertionError,
            "Expected at least one of check_forward_ad or check_backward_ad to be True",
        ),
        (
            {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
            AssertionError,
            "Setting check_batched_grad=True requires check_backward_ad to be True",
        ),
        (
            {"check_batched_forward_grad": True},
            AssertionError,
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True",
        ),
        ({"check_batched_grad": True}, NotImplementedError, "chainrule has no vmap in gradcheck"),
        ({"check_forward_ad": True}, NotImplementedError, "chainrule has no forward mode in gradcheck"),
    ],
)
def test_options_of_gradcheck(options, error, message):
    with pytest.raises(error, match=f"^{message}"):
        gradcheck(lambda x: x * 2, leaf(2), **options)


# Second derivatives


@both_modes
@pytest.mark.parametrize(
    "func, inputs",
    [
        (lambda x: x.sin(), lambda: leaf(3)),
        (lambda x: x * 2, lambda: leaf(3)),
        (lambda x, y: x @ y, lambda: (leaf(2, 3), leaf(3, 4, seed=1))),
        (lambda x, n: x**n, lambda: [leaf(2), 3]),
        (lambda x, y: x * y, lambda: (leaf(2), leaf(2, seed=1).detach())),
        (lambda x, y: x * y * y, lambda: (leaf(2, dtype=torch.complex128), leaf(2, dtype=torch.complex128, seed=1))),
        (lambda x: (x.exp(), x.detach() * 2, (x > 0).long()), lambda: leaf(3)),
        (lambda x: x.abs() ** 2, lambda: leaf(2, dtype=torch.complex128)),
    ],
)
def test_right_second_derivatives_pass(func, inputs, fast):
    assert gradgradcheck(func, inputs(), fast_mode=fast) is True


@both_modes
def test_wrong_second_derivative_is_found(fast):
    assert gradcheck(CubeWithConstantSlope.apply, leaf(3), fast_mode=fast)
    with pytest.raises(GradcheckError, match="^Jacobian mismatch for output 0 with respect to input 0,\n"):
        gradgradcheck(CubeWithConstantSlope.apply, leaf(3), fast_mode=fast)
    assert gradgradcheck(CubeWithConstantSlope.apply, leaf(3), fast_mode=fast, raise_exception=False) is False
    with pytest.raises(GradcheckError, match="^While considering the imaginary part of complex outputs only, "):
        gradgradcheck(CubeWithConstantSlope.apply, leaf(3, dtype=torch.complex128), fast_mode=fast)


def test_gradgradcheck_draws_cotangents_from_the_global_generator():
    torch.manual_seed(0)
    with pytest.raises(GradcheckError) as caught:
        gradgradcheck(CubeWithConstantSlope.apply, leaf(3))
    torch.manual_seed(0)
    diagonal = (torch.rand(3, dtype=torch.float64) * 2 - 1) * 6 * leaf(3).detach()
    for value in diagonal.tolist():
        assert f"{value:.4f}" in str(caught.value).split("analytical")[0]


def test_given_cotangents_are_used():
    seen = []

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            seen.append(grad.tolist())
            return grad * 2 * ctx.saved_tensors[0]

    for grad_outputs in (leaf(3, seed=4), [leaf(3, seed=4)], (leaf(3, seed=4).detach(),)):
        seen.clear()
        assert gradgradcheck(Square.apply, leaf(3), grad_outputs)
        assert leaf(3, seed=4).tolist() in seen


def test_non_contiguous_cotangents():
    layouts = []

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.exp())
            return x.exp()

        @staticmethod
        def backward(ctx, grad):
            layouts.append(grad.is_contiguous())
            return grad * ctx.saved_tensors[0]

    gradgradcheck(Exp.apply, leaf(3, 3), check_undefined_grad=False, raise_exception=False)
    assert all(layouts)
    layouts.clear()
    gradgradcheck(
        Exp.apply, leaf(3, 3), check_undefined_grad=False, raise_exception=False, gen_non_contig_grad_outputs=True
    )
    assert not layouts[0]


@pytest.mark.parametrize(
    "options, error, message",
    [
        (
            {"check_rev_over_rev": False},
            AssertionError,
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True",
        ),
        (
            {"check_rev_over_rev": False, "check_fwd_over_rev": True},
            AssertionError,
            "Setting check_undefined_grad=True requires check_rev_over_rev to be True",
        ),
        (
            {
                "check_rev_over_rev": False,
                "check_fwd_over_rev": True,
                "check_undefined_grad": False,
                "check_batched_grad": True,
            },
            AssertionError,
            "Setting check_batched_grad=True requires check_rev_over_rev to be True",
        ),
        ({"check_batched_grad": True}, NotImplementedError, "chainrule has no vmap in gradcheck"),
        ({"check_fwd_over_rev": True}, NotImplementedError, "chainrule has no forward mode in gradgradcheck"),
    ],
)
def test_options_of_gradgradcheck(options, error, message):
    with pytest.raises(error, match=f"^{message}"):
        gradgradcheck(lambda x: x * x, leaf(2), **options)
