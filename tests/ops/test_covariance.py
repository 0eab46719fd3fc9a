import numpy as np
import pytest

import chainrule as torch
from chainrule.autograd import gradcheck, gradgradcheck


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_against_numpy_with_derivatives(dtype):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 6)).astype(dtype)
    if dtype is np.complex128:
        a += 1j * rng.standard_normal((3, 6))
    x, often, much = torch.tensor(a), rng.integers(1, 4, 6), rng.random(6)
    for options in ({}, {"fweights": often}, {"aweights": much}, {"fweights": often, "aweights": much}):
        for correction in (0, 1, 2):
            given = {k: torch.tensor(v) for k, v in options.items()}
            found = x.cov(correction=correction, **given)
            np.testing.assert_allclose(found.numpy(), np.cov(a, ddof=correction, **options), atol=1e-12)
    np.testing.assert_allclose(torch.corrcoef(x).numpy(), np.corrcoef(a), atol=1e-12)
    np.testing.assert_allclose(torch.cov(x[0]).numpy(), np.cov(a[0]), atol=1e-12)
    leaf = torch.tensor(a, requires_grad=True)
    weights = torch.tensor(much, requires_grad=True)
    assert gradcheck(torch.corrcoef, (leaf,)) and gradgradcheck(torch.corrcoef, (leaf,))
    function = lambda x, w: torch.cov(x, aweights=w)
    assert gradcheck(function, (leaf, weights)) and gradgradcheck(function, (leaf, weights))
    assert torch.cov(leaf).grad_fn.name() == "SqueezeBackward0"
    if dtype is np.float64:
        assert torch.corrcoef(leaf).grad_fn.name() == "ClampBackward1"


def test_special_cases():
    assert torch.cov(torch.tensor([1, 2, 3])).item() == 1.0 and torch.corrcoef(torch.tensor([1.0, 2.0])).item() == 1.0
    with np.errstate(all="ignore"), pytest.warns(UserWarning, match=r"cov\(\): degrees of freedom is <= 0"):
        assert torch.cov(torch.tensor([[1.0], [2.0]])).isnan().all()


@pytest.mark.parametrize(
    "run, words",
    [
        (
            lambda x: torch.cov(torch.ones(1, 1, 1)),
            "expected input to have two or fewer dimensions but got an input with 3",
        ),
        (lambda x: torch.corrcoef(x > 0), r"cov\(\): bool dtype is not supported for input"),
        (
            lambda x: torch.cov(x, fweights=torch.ones(3)),
            "expected fweights to have integral dtype but got fweights with Float",
        ),
        (lambda x: torch.cov(x, aweights=torch.ones(2)), "as there are observations in the input but got 2 != 3"),
        (lambda x: torch.cov(x, aweights=-torch.ones(3)), r"cov\(\): aweights cannot be negative"),
        (lambda x: torch.cov(x, aweights=torch.zeros(3)), r"cov\(\): weights sum to zero, can't be normalized"),
    ],
)
def test_errors(run, words):
    with pytest.raises(RuntimeError, match=words):
        run(torch.ones(2, 3))
