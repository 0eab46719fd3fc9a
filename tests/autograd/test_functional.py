import pytest

import chainrule as torch
from chainrule.autograd import Function, grad
from chainrule.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

F64 = torch.float64


def tensor(values, **options):
    return torch.tensor(values, dtype=F64, **options)


X = [0.5, -1.0, 2.0]
PARAMETER = tensor([2.0, 3.0, 5.0], requires_grad=True)


def close(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    assert torch.allclose(a, b, rtol=1e-12, atol=1e-12)
    return True


# Values


def test_vjp():
    x, v = tensor(X), tensor([1.0, 2.0, 3.0])
    outputs, product = vjp(torch.exp, x, v)
    assert close(outputs, x.exp()) and close(product, x.exp() * v)
    assert not outputs.requires_grad and not product.requires_grad and x.grad is None


def test_vjp_without_v():
    outputs, products = vjp(lambda x, y: (x * x * y).sum(), (tensor(X), tensor([1.0, 2.0, 3.0])))
    assert close(outputs, tensor(14.25))
    assert isinstance(products, tuple)
    assert close(products[0], tensor([1.0, -4.0, 12.0])) and close(products[1], tensor([0.25, 1.0, 4.0]))


def test_vjp_of_a_tuple():
    v = (tensor([1.0, 2.0, 3.0]), tensor(10.0))
    outputs, product = vjp(lambda x: (x**2, x.sum()), tensor(X), v)
    assert close(outputs[0], tensor([0.25, 1.0, 4.0])) and close(outputs[1], tensor(1.5))
    assert close(product, tensor([11.0, 6.0, 22.0]))


def test_jvp():
    outputs, product = jvp(lambda x: torch.stack([x.prod(), x.sum()]), tensor(X), tensor([1.0, 10.0, 100.0]))
    assert close(outputs, tensor([-1.0, 1.5])) and close(product, tensor([-2.0 + 10.0 - 50.0, 111.0]))


def test_jvp_of_tuples():
    inputs = (tensor(X), tensor(3.0))
    outputs, products = jvp(lambda x, y: (x * y, y * y), inputs, (tensor([1.0, 2.0, 3.0]), tensor(10.0)))
    assert close(products[0], tensor([8.0, -4.0, 29.0])) and close(products[1], tensor(60.0))


def test_jvp_without_v():
    assert close(jvp(lambda x: x * tensor(X), tensor(2.0))[1], tensor(X))
    assert close(jvp(lambda x: x**2, tensor([[3.0]]))[1], tensor([[6.0]]))


def test_complex_products():
    z = torch.tensor([1 + 2j, -3j], dtype=torch.complex128)
    v = torch.tensor([1j, 2 + 1j], dtype=torch.complex128)
    # The backward pass multiplies by the conjugate; the product Jv does not.
    assert close(vjp(lambda z: z * z, z, v)[1], v * (2 * z).conj())
    assert close(jvp(lambda z: z * z, z, v)[1], v * 2 * z)
    real = tensor([1.0, 2.0])
    assert close(jvp(lambda x: x * (1 + 2j), real, real)[1], real * (1 + 2j))


@pytest.mark.parametrize("vectorize", [False, True])
def test_jacobian(vectorize):
    x = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    found = jacobian(lambda x: (x * x).sum(1), x, vectorize=vectorize)
    expected = torch.zeros(2, 2, 3, dtype=F64)
    expected[0, 0], expected[1, 1] = 2 * x[0], 2 * x[1]
    assert close(found, expected) and not found.requires_grad


@pytest.mark.parametrize("vectorize", [False, True])
def test_jacobian_of_tuples(vectorize):
    inputs = (tensor([1.0, 2.0]), tensor([3.0, 4.0]))
    found = jacobian(lambda x, y: (x * y, (x + y).sum()), inputs, vectorize=vectorize)
    assert isinstance(found, tuple) and isinstance(found[0], tuple)
    assert close(found[0][0], tensor([[3.0, 0.0], [0.0, 4.0]])) and close(found[0][1], tensor([[1.0, 0.0], [0.0, 2.0]]))
    assert close(found[1][0], tensor([1.0, 1.0])) and close(found[1][1], tensor([1.0, 1.0]))


def test_result_is_a_tuple_where_the_function_or_the_inputs_are():
    x = tensor([2.0])
    assert close(jacobian(lambda x: (x * x,), x)[0], tensor([[4.0]]))
    assert close(jacobian(lambda x: x * x, (x,))[0], tensor([[4.0]]))
    assert close(jacobian(lambda x: (x * x,), (x,))[0][0], tensor([[4.0]]))
    assert close(hessian(lambda x: x**3, (x,))[0][0], tensor([[12.0]]))


def test_complex_jacobian():
    z = torch.tensor([1 + 2j, -3j], dtype=torch.complex128)
    assert close(jacobian(lambda z: (z * z.conj()).real.sum(), z), 2 * z)
    assert close(jacobian(lambda z: z * z, z, vectorize=True), torch.diag((2 * z).conj()))
    with pytest.raises(RuntimeError, match="^grad can be implicitly created only for real scalar outputs but got"):
        jacobian(lambda z: z * z, z)


@pytest.mark.parametrize("vectorize", [False, True])
def test_jacobian_of_empty_tensors(vectorize):
    x = tensor([1.0, 2.0])
    assert close(jacobian(lambda x: x[:0], x, vectorize=vectorize), torch.zeros(0, 2, dtype=F64))
    assert close(jacobian(torch.sum, x[:0], vectorize=vectorize), torch.zeros(0, dtype=F64))
    assert close(hessian(torch.sum, x[:0], vectorize=vectorize), torch.zeros(0, 0, dtype=F64))


@pytest.mark.parametrize("vectorize", [False, True])
def test_hessian(vectorize):
    a, b, c = X
    found = hessian(torch.prod, tensor(X), vectorize=vectorize)
    assert close(found, tensor([[0, c, b], [c, 0, a], [b, a, 0]])) and not found.requires_grad


def test_hessian_of_a_tuple():
    (xx, xy), (yx, yy) = hessian(lambda x, y: (x * x).sum() * y, (tensor([1.0, 2.0]), tensor(3.0)))
    assert close(xx, tensor([[6.0, 0.0], [0.0, 6.0]])) and close(xy, tensor([2.0, 4.0]))
    assert close(yx, tensor([2.0, 4.0])) and close(yy, tensor(0.0))


def test_hessian_of_one_element_in_any_shape():
    x = tensor([1.0, 2.0])
    assert close(hessian(lambda x: (x**3).sum().reshape(1, 1), x), tensor([[6.0, 0.0], [0.0, 12.0]]))


@pytest.mark.parametrize("product", [hvp, vhp])
def test_products_with_the_hessian(product):
    x, v = tensor(X), tensor([1.0, 10.0, 100.0])
    outputs, found = product(torch.prod, x, v)
    assert close(outputs, tensor(-1.0)) and close(found, hessian(torch.prod, x) @ v)
    _, found = product(lambda x, y: (x * x).sum() * y, (tensor([1.0, 2.0]), tensor(3.0)), (v[:2], v[2]))
    assert close(found[0], tensor([206.0, 460.0])) and close(found[1], tensor(42.0))
    assert close(product(lambda x: x**3, tensor(2.0))[1], tensor(12.0))


def test_hvp_and_vhp_differ_where_the_second_derivatives_do():
    class Skew(Function):
        """x[0] + x[1] with (x[1], -x[0]) for a gradient: a Hessian that is not symmetric."""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sum()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * torch.stack([x[1], -x[0]])

    x, v = tensor([1.0, 2.0]), tensor([1.0, 10.0])
    assert close(hvp(Skew.apply, x, v)[1], tensor([10.0, -1.0]))
    assert close(vhp(Skew.apply, x, v)[1], tensor([-10.0, 1.0]))


# Independent outputs and inputs


@pytest.mark.parametrize("create_graph", [False, True])
def test_zeros_where_nothing_depends(create_graph):
    def constant(x):
        return torch.ones((), dtype=torch.float32)

    x, v = tensor(X), tensor(X)
    zeros = torch.zeros(3, dtype=F64)
    assert close(vjp(constant, x, create_graph=create_graph)[1], zeros)
    assert close(jvp(constant, x, v, create_graph=create_graph)[1], torch.zeros(()))
    assert close(hvp(constant, x, v, create_graph=create_graph)[1], zeros)
    assert close(vhp(constant, x, v, create_graph=create_graph)[1], zeros)
    assert close(jacobian(constant, x, create_graph=create_graph), zeros)
    assert close(hessian(constant, x, create_graph=create_graph), torch.zeros(3, 3, dtype=F64))
    found = hessian(lambda x, y: x.exp().sum(), (x, tensor(1.0)), create_graph=create_graph)
    assert close(found[0][1], zeros) and close(found[1][0], zeros) and close(found[1][1], tensor(0.0))


# create_graph


def test_results_can_be_differentiated():
    x = tensor(X, requires_grad=True)
    v = tensor([1.0, 2.0, 3.0], requires_grad=True)

    outputs, product = vjp(lambda x: x**3, x, v, create_graph=True)
    assert close(grad(product.sum(), x, retain_graph=True)[0], 6 * x.detach() * v.detach())
    assert close(grad(product.sum(), v)[0], 3 * x.detach() ** 2)
    assert close(grad(outputs.sum(), x)[0], 3 * x.detach() ** 2)

    _, product = jvp(lambda x: x**3, x, v, create_graph=True)
    assert close(grad(product.sum(), x)[0], 6 * x.detach() * v.detach())

    assert close(grad(jacobian(lambda x: x**3, x, create_graph=True).sum(), x)[0], 6 * x.detach())
    third = grad(hessian(lambda x: (x**3).sum(), x, create_graph=True).sum(), x)[0]
    assert close(third, tensor([6.0, 6.0, 6.0]))
    for product in (hvp, vhp):
        _, found = product(lambda x: (x**3).sum(), x, v, create_graph=True)
        assert close(grad(found.sum(), x)[0], 6 * v.detach())


def test_the_graph_of_the_inputs_is_cut_without_create_graph():
    x = tensor(X, requires_grad=True)
    for found in (*vjp(torch.sum, x * 2), jacobian(torch.sum, x * 2), hessian(torch.prod, x * 2)):
        assert not found.requires_grad
    assert x.grad is None


def test_inputs_are_given_on_as_leaves_or_as_views():
    seen = []

    def func(x):
        seen.append((x.is_leaf, x.requires_grad))
        return x.sum()

    x = tensor(X, requires_grad=True)
    vjp(func, x)
    vjp(func, x, create_graph=True)
    vjp(func, x.detach(), create_graph=True)
    assert seen == [(True, True), (False, True), (True, True)]


def test_a_cotangent_that_is_itself_the_result_is_no_leaf():
    x, v = tensor(X), tensor(X, requires_grad=True)
    _, product = vjp(lambda x: x, x, v, create_graph=True)
    assert close(product.detach(), v.detach()) and not product.is_leaf


def test_works_under_no_grad():
    x, v = tensor(X), tensor(X)
    with torch.no_grad():
        assert close(jacobian(torch.exp, x), torch.diag(x.exp()))
        assert close(hvp(torch.prod, x, v)[1], hessian(torch.prod, x) @ v)
        assert not torch.is_grad_enabled()


# Strict mode

NOT_STRICT = " This is not allowed in strict mode."
NOT_STRICT_GRAPH = " This is not allowed in strict mode when create_graph=True."
OUTPUT = "The output of the user-provided function is independent of input {}." + NOT_STRICT
GRADIENT = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
    "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for "
    "example)."
)


def error_of(call):
    with pytest.raises(RuntimeError) as caught:
        call()
    return str(caught.value)


def strict_calls(func, inputs, v, create_graph=False):
    options = {"strict": True, "create_graph": create_graph}
    return {
        "vjp": lambda: vjp(func, inputs, **options),
        "jvp": lambda: jvp(func, inputs, v, **options),
        "hvp": lambda: hvp(func, inputs, v, **options),
        "vhp": lambda: vhp(func, inputs, v, **options),
        "jacobian": lambda: jacobian(func, inputs, **options),
        "hessian": lambda: hessian(func, inputs, **options),
    }


def test_strict_output_without_gradient():
    for call in strict_calls(lambda x: x.detach().sum(), tensor(X), tensor(X)).values():
        assert error_of(call) == (
            "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a "
            "differentiable manner from the input when running in strict mode."
        )


def test_strict_output_independent_of_an_input():
    func, x = lambda x, y: (x.exp() * y.exp()).sum() if x is y else x.exp().sum(), tensor(X)
    errors = {name: error_of(call) for name, call in strict_calls(func, (x, x), (x, x)).items()}
    assert errors == {
        "vjp": OUTPUT.format(1),
        "jvp": OUTPUT.format(1),
        "hvp": OUTPUT.format(1),
        "vhp": OUTPUT.format(1),
        "jacobian": "Output 0 of the user-provided function is independent of input 1." + NOT_STRICT,
        "hessian": GRADIENT.format(1),
    }


def test_strict_linear_function():
    calls = strict_calls(lambda x: (3 * x).sum(), tensor(X), tensor(X), create_graph=True)
    constant = "The jacobian of the user-provided function is independent of input 0." + NOT_STRICT_GRAPH
    assert {name: error_of(call) for name, call in calls.items()} == {
        "vjp": constant,
        "jvp": constant,
        "hvp": GRADIENT.format(0),
        "vhp": GRADIENT.format(0),
        "jacobian": constant,
        "hessian": GRADIENT.format(0),
    }
    for call in (vjp, jacobian):
        call(lambda x: (3 * x).sum(), tensor(X), strict=True)


def test_strict_quadratic_function():
    func = lambda x: (x * x).sum()
    calls = strict_calls(func, tensor(X), tensor(X), create_graph=True)
    constant = "The hessian of the user-provided function is independent of input 0." + NOT_STRICT_GRAPH
    assert error_of(calls["hvp"]) == error_of(calls["vhp"]) == constant
    assert error_of(calls["hessian"]).startswith("The jacobian of the user-provided function is independent of input 0")
    hvp(func, tensor(X), tensor(X), strict=True)


def test_strict_where_the_gradient_depends_on_something_else_only():
    errors = {
        name: error_of(call)
        for name, call in strict_calls(lambda x: (x * PARAMETER).sum(), tensor(X), tensor(X)).items()
        if name in ("hvp", "vhp", "hessian")
    }
    assert errors == {
        "hvp": (
            "The hessian of the user-provided function is independent of entry 0 in the grad_jacobian. This is not "
            "allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD."
        ),
        "vhp": "The jacobian of the user-provided function is independent of input 0." + NOT_STRICT,
        "hessian": "Output 0 of the user-provided function is independent of input 0." + NOT_STRICT,
    }


def test_strict_jvp_of_backwards_that_lose_their_cotangent():
    class Constant(Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, grad):
            return torch.ones(3, dtype=F64)

    assert error_of(lambda: jvp(Constant.apply, tensor(X), tensor(X), strict=True)) == (
        "The gradient with respect to input 0 is independent of the inputs of the user-provided function." + NOT_STRICT
    )
    func = lambda x: (x.exp().sum(), PARAMETER.sum())
    assert error_of(lambda: jvp(func, tensor(X), tensor(X), strict=True)) == (
        "The gradient with respect to the input is independent of entry 1 in the grad_outputs when using the double "
        "backward trick to compute forward mode gradients." + NOT_STRICT
    )


def test_strict_names_the_output_where_pytorch_does_and_the_input_in_a_note():
    with pytest.raises(RuntimeError) as caught:
        jacobian(lambda x, y: x.exp().sum() + y.sum(), (tensor(X), tensor(X)), create_graph=True, strict=True)
    assert str(caught.value).startswith("The jacobian of the user-provided function is independent of input 0.")
    assert "input 1" in caught.value.__notes__[0]


def test_strict_goes_not_with_vectorize():
    message = (
        "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
        "Please either set `strict=False` or `vectorize=False`."
    )
    assert error_of(lambda: jacobian(torch.exp, tensor(X), strict=True, vectorize=True)) == message
    assert error_of(lambda: hessian(torch.prod, tensor(X), strict=True, vectorize=True)) == message


# Bad input


@pytest.mark.parametrize("api", [vjp, jvp, hvp, vhp, jacobian, hessian])
def test_what_is_not_a_tensor(api):
    x = tensor(2.0)
    must_be = "must be either a Tensor or a tuple of Tensors but"
    for inputs, found in (
        ([x], "the given inputs has type <class 'list'>."),
        ("a", "the given inputs has type <class 'str'>."),
        ((x, 3), "the value at index 1 has type <class 'int'>."),
    ):
        with pytest.raises(TypeError) as caught:
            api(lambda *xs: xs[0], inputs)
        assert str(caught.value) == f"The inputs given to {api.__name__} {must_be} {found}"
    what = "outputs of the user-provided function"
    for output, found in (
        ([x], f"the given {what} has type <class 'list'>."),
        (None, f"the given {what} has type <class 'NoneType'>."),
        ((x, 3.0), "the value at index 1 has type <class 'float'>."),
    ):
        with pytest.raises(TypeError) as caught:
            api(lambda x, output=output: output, x)
        assert str(caught.value) == f"The {what} given to {api.__name__} {must_be} {found}"


@pytest.mark.parametrize("api", [vjp, jvp, hvp, vhp])
def test_bad_v(api):
    def func(x, *rest):
        return (x * x).sum()

    x = tensor(X) if api is not vjp else tensor(2.0)
    shape = "torch.Size([3])" if api is not vjp else "torch.Size([])"
    must_be = "must be either a Tensor or a tuple of Tensors but"
    for v, error, message in (
        (3, TypeError, f"The v given to {api.__name__} {must_be} the given v has type <class 'int'>."),
        ([x], TypeError, f"The v given to {api.__name__} {must_be} the given v has type <class 'list'>."),
        (
            (None,),
            TypeError,
            f"The v given to {api.__name__} {must_be} the value at index 0 has type <class 'NoneType'>.",
        ),
        ((x, x), RuntimeError, "The given v should contain a single Tensor."),
        (tensor([1.0] * 7), RuntimeError, f"v has invalid size: should be {shape} but got torch.Size([7])."),
    ):
        with pytest.raises(error) as caught:
            api(func, x, v)
        assert str(caught.value) == message


@pytest.mark.parametrize("api", [jvp, hvp, vhp])
def test_bad_tuple_for_v(api):
    inputs = (tensor(X), tensor(2.0))
    for v, message in (
        (tensor(X), "v is a tuple of invalid length: should be 2 but got 1."),
        ((tensor(X),) * 3, "v is a tuple of invalid length: should be 2 but got 3."),
        ((tensor(X),) * 2, "Entry 1 in v has invalid size: should be torch.Size([]) but got torch.Size([3])."),
    ):
        assert error_of(lambda v=v: api(lambda x, y: x.sum() * y, inputs, v)) == message
        if api is jvp:
            assert error_of(lambda v=v: vjp(lambda x: (x * 2, x.sum()), tensor(X), v)) == message


def test_v_is_needed():
    for api in (jvp, hvp, vhp):
        assert error_of(lambda api=api: api(torch.sum, tensor(X))) == (
            "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
            "single element."
        )
    assert error_of(lambda: vjp(torch.exp, tensor(X))) == (
        "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
    )


@pytest.mark.parametrize("api", [hvp, vhp, hessian])
def test_hessians_are_of_one_element(api):
    name, v = api.__name__, () if api is hessian else (tensor(X),)
    assert error_of(lambda: api(torch.exp, tensor(X), *v)) == (
        f"The Tensor returned by the function given to {name} should contain a single element"
    )
    assert error_of(lambda: api(lambda x: (x.sum(), x.sum()), tensor(X), *v)) == (
        f"The function given to {name} should return a single Tensor"
    )
    assert error_of(lambda: api(lambda x: (x.sum(),), tensor(X), *v)) == (
        f"The function given to {name} should return a single Tensor"
    )


def test_integers_have_no_derivatives():
    with pytest.raises(RuntimeError, match="^only Tensors of floating point dtype can require gradients$"):
        jacobian(torch.sum, torch.tensor([1, 2]))


def test_strategies():
    x = tensor(X)
    with pytest.raises(AssertionError) as caught:
        jacobian(torch.exp, x, strategy="sideways")
    assert str(caught.value) == (
        'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
        'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
    )
    with pytest.raises(AssertionError, match='^Expected strategy to be either "forward-mode" or "reverse-mode".$'):
        hessian(torch.prod, x, outer_jacobian_strategy="sideways")
    for call in (
        lambda **options: jacobian(torch.exp, x, strategy="forward-mode", **options),
        lambda **options: hessian(torch.prod, x, outer_jacobian_strategy="forward-mode", **options),
    ):
        with pytest.raises(NotImplementedError, match="Hessian isonly implemented for `vectorize=True`.$"):
            call()
        with pytest.raises(NotImplementedError, match="^chainrule has no forward mode in jacobian: "):
            call(vectorize=True)
        with pytest.raises(NotImplementedError, match='`create_graph=True` and `strategy="forward-mode"` are not'):
            call(create_graph=True)
        with pytest.raises(RuntimeError, match='`strict=True` and `strategy="forward-mode"` are not supported'):
            call(strict=True)
