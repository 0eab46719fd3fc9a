"""`out=`: the dtypes that it may have, what is said of others, that nothing is written before an error."""

import pytest

import chainrule as torch
import chainrule.nn.functional as F

X = torch.tensor([[1.5, -2.0, 0.5], [3.0, 1.0, -1.0]])


def raises(text, function, *arguments, kind=RuntimeError, **options):
    with pytest.raises(kind) as caught:
        function(*arguments, **options)
    assert str(caught.value).split("\n")[0].startswith(text)


LONG = "to have dtype float, but got long int instead"
RULES = [
    (torch.add, (X, X), "result type Float can't be cast to the desired output type Long"),
    (torch.exp, (X,), "result type Float can't be cast to the desired output type Long"),
    (torch.abs, (X,), "Found dtype Long but expected Float"),
    (torch.floor, (X,), "Found dtype Long but expected Float"),
    (torch.mm, (X, X.T), f"Expected out tensor {LONG}"),
    (torch.gather, (X, 0, torch.zeros(1, 3, dtype=torch.int64)), f"Expected out tensor {LONG}"),
    (torch.renorm, (X, 2, 0, 1.0), f"Expected out tensor {LONG}"),
    (torch.index_add, (X, 0, torch.tensor([0]), X[:1]), f"Expected out tensor {LONG}"),
    (torch.tril, (X,), f"Expected out tensor {LONG}"),
    (torch.dot, (X[0], X[1]), "result dtype Long does not match input dtype Float"),
    (torch.mean, (X,), "mean.dtype_out(): input types can't be cast to the desired output type Long"),
    (torch.amax, (X,), "Expected the dtype for input and out to match, but got Float for input's dtype and Long for out's"),
    (torch.index_select, (X, 0, torch.tensor([0])), "index_select(): self and result must have the same scalar type"),
    (torch.signbit, (X,), "signbit does not support non-boolean outputs."),
    (torch.any, (X,), "any only supports bool tensor for result, got: Long"),
    (torch.where, (X > 0, X, X), "Expected out type to be Float but got Long"),
    (torch.linalg.pinv, (X,), "linalg.pinv: Expected result to be safely castable from Float dtype, but got result with"),
    (torch.float_power, (X, 2), "the output given to float_power has dtype Long but the operation's result requires dtype"),
    (F.hardshrink, (X,), "Found dtype Long but expected Float"),
]  # fmt: skip


@pytest.mark.parametrize("function, arguments, text", RULES, ids=[f.__name__ for f, _, _ in RULES])
def test_dtypes_that_do_not_suit(function, arguments, text):
    expected = function(*arguments)
    out = torch.zeros(tuple(expected.shape), dtype=torch.int64)
    raises(text, function, *arguments, out=out)
    assert not out.any()
    suits = torch.zeros(tuple(expected.shape), dtype=expected.dtype)
    assert function(*arguments, out=suits) is suits and suits.equal(expected)


def test_exact_dtypes_cast_neither_up_nor_down():
    raises(
        "Expected out tensor to have dtype float, but got double instead",
        torch.mm,
        X,
        X.T,
        out=torch.zeros(2, 2).double(),
    )
    raises("Found dtype Double but expected Float", torch.abs, X, out=torch.zeros(2, 3).double())
    assert torch.add(X, X, out=torch.zeros(2, 3).double()).equal((X + X).double())


def test_sums_are_computed_in_the_dtype_of_out():
    x = torch.tensor([1.5, 2.5])
    assert torch.sum(x, 0, out=torch.zeros((), dtype=torch.int64)).item() == 3
    assert torch.sum(x, out=torch.zeros((), dtype=torch.float64)).item() == 4
    assert torch.prod(x, 0, out=torch.zeros((), dtype=torch.int64)).item() == 2
    assert torch.cumsum(x, 0, out=torch.zeros(2, dtype=torch.int64)).tolist() == [1, 3]
    out = torch.zeros((), dtype=torch.int64)
    for function in (torch.sum, torch.mean, torch.nansum):
        raises(f"Expected out tensor {LONG}", function, x, 0, dtype=torch.float32, out=out)
    raises(
        f"Expected out tensor {LONG}", torch.cumsum, x, 0, dtype=torch.float32, out=torch.zeros(2, dtype=torch.int64)
    )


def test_cat_raises_a_type_error():
    raises("torch.cat(): input types can't be cast to the desired output type Long",
           torch.cat, [X, X], out=torch.zeros(4, 3, dtype=torch.int64), kind=TypeError)  # fmt: skip


def test_values_and_indices():
    values, indices = torch.zeros(3), torch.zeros(3, dtype=torch.int64)
    torch.max(X, 0, out=(values, indices))
    assert values.tolist() == [3.0, 1.0, 0.5] and indices.tolist() == [1, 1, 0]
    raises(
        "Expected out tensor to have dtype float, but got double instead",
        torch.max,
        X,
        0,
        out=(values.double(), indices),
    )


def test_functions_whose_methods_take_none():
    index = torch.tensor([[0, 1, 0]])
    assert torch.scatter(X, 0, index, 9.0, out=torch.empty(0)).equal(X.scatter(0, index, 9.0))
    out = torch.empty(2, 3)
    assert torch.scatter_add(X, 0, index, X, out=out) is out and out.equal(X.scatter_add(0, index, X))
    raises("index_add(): functions with out=... arguments don't support automatic differentiation",
           torch.index_add, X.clone().requires_grad_(), 0, torch.tensor([0]), X[:1], out=out)  # fmt: skip
    with pytest.raises(TypeError):
        X.scatter(0, index, 9.0, out=out)


SIGNATURES = [
    (torch.clamp_max, (2, torch.tensor([1]))), (torch.clamp_min, (torch.tensor([1]), "a")), (torch.max, (2, 3)),
    (torch.min, (torch.tensor([1]), [1])), (torch.bitwise_and, (2, 3)), (torch.bitwise_left_shift, (torch.tensor([1]), None)),
    (torch.remainder, (2, 3)), (torch.pow, (2, 3)), (torch.pow, (torch.tensor([1]), "a")), (torch.xlogy, (None, 1)),
    (torch.float_power, ("a", torch.tensor([1]))), (torch.floor_divide, (torch.tensor([1]), [1])),
    (torch.rsub, (torch.tensor([1]), "a")), (torch.where, (2, 3)),
]  # fmt: skip


@pytest.mark.parametrize("function, arguments", SIGNATURES)
def test_operands_that_no_signature_takes(function, arguments):
    got = ", ".join(type(a).__name__ for a in arguments)
    text = f"{function.__name__}() received an invalid combination of arguments - got ({got}), but expected one of:"
    raises(text, function, *arguments, kind=TypeError)


def test_two_numbers_where_pytorch_takes_them():
    assert torch.floor_divide(7, 2).item() == 3 and torch.add(2, 3).item() == 5


def test_heaviside_names_its_second_operand():
    raises("heaviside(): argument 'values' (position 2) must be Tensor, not int", torch.heaviside, X, 2, kind=TypeError)


def test_alpha_of_truth_values():
    b, c = torch.tensor([True, False]), torch.tensor([True, True])
    assert torch.add(b, c, alpha=False).tolist() == torch.add(b, c, alpha=0).tolist() == [True, False]
    assert torch.add(b, c, alpha=2).tolist() == [True, True]


def test_zero_dimensions_in_place():
    z = torch.tensor(3.0)
    assert z.clone().addcmul_(z, z, value=2).item() == 21 and z.clone().addcdiv_(z, z, value=2).item() == 5


def test_out_whose_elements_share_memory():
    text = "unsupported operation: more than one element of the written-to tensor refers to a single memory location."
    raises(text, torch.add, X[0], X[0], out=torch.zeros(1).expand(3))
    raises(text, torch.bernoulli, X.abs() / 4, out=torch.zeros(1).expand(2, 3))
    text = "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory"
    memory = torch.ones(4)
    raises(text, torch.add, memory[:3], 1, out=memory[1:])
