import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import chainrule as torch
from chainrule.autograd import gradcheck, gradgradcheck

WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_against_numpy(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5))
    a = data.draw(hnp.arrays(np.float64, shape, elements=st.floats(-4, 4, width=32)))
    dim = data.draw(st.none() | st.integers(-a.ndim, a.ndim - 1))
    levels = data.draw(st.sampled_from([0.0, 0.3, 0.5, 1.0]) | st.just([0.2, 0.5, 1.0]))
    way, keep = data.draw(st.sampled_from(WAYS)), data.draw(st.booleans())
    right = np.quantile(a, levels, axis=dim, method=way, keepdims=keep)
    q = torch.tensor(levels, dtype=torch.float64) if isinstance(levels, list) else levels
    for x in (torch.tensor(a), torch.tensor(a, requires_grad=True)):
        found = torch.quantile(x, q, dim, keep, interpolation=way)
        assert found.shape == right.shape
        np.testing.assert_allclose(found.detach().numpy(), right, rtol=1e-12, atol=1e-12)


def test_nan():
    x = torch.tensor([[1.0, math.nan, 3.0], [1.0, 2.0, 3.0], [math.nan] * 3])
    assert str(x.quantile(0.5, 1).tolist()) == "[nan, 2.0, nan]"
    assert str(x.nanquantile(0.25, 1).tolist()) == "[1.5, 1.5, nan]"
    assert x.nanquantile(0.5).item() == 2.0


def test_shapes_dtypes_and_out():
    x = torch.rand(2, 3, 4)
    assert x.quantile(0.5).shape == () and x.quantile(torch.tensor([0.1, 0.2]), 1, True).shape == (2, 2, 1, 4)
    assert x.quantile(torch.tensor([0.1, 0.2]), 1).stride() == (1, 8, 2)
    assert torch.tensor(3.0).quantile(0.3, 0, True).shape == () and x.double().quantile(0.1).dtype is torch.float64
    out = torch.empty(0)
    assert torch.quantile(x, 0.5, out=out) is out and out.item() == x.quantile(0.5).item()


def test_derivatives_and_graph():
    x = torch.tensor(np.random.default_rng(0).standard_normal((3, 5)), requires_grad=True)
    q = torch.tensor([0.3, 0.55], dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x, q: x.quantile(q, 1), (x, q)) and gradgradcheck(lambda x, q: x.quantile(q, 1), (x, q))
    for way in WAYS:
        function = lambda x: x.nanquantile(0.4, 0, interpolation=way)  # noqa: B023
        assert gradcheck(function, (x,)) and gradgradcheck(function, (x,))
    node = x.quantile(0.5, 0).grad_fn
    names = []
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    assert names[:6] == [
        "SqueezeBackward4", "LerpBackward1", "GatherBackward0", "ViewBackward0", "SortBackward0", "TransposeBackward0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "run, words",
    [
        (lambda x: x.quantile(2), r"quantile\(\) q must be in the range \[0, 1\] but got 2"),
        (lambda x: x.quantile(torch.tensor([0.5, 2])), r"quantile\(\) q values must be in the range \[0, 1\]"),
        (lambda x: x.quantile(torch.ones(1, 1)), r"quantile\(\) q must be a scalar or 1D tensor"),
        (
            lambda x: x.quantile(torch.tensor(0.5).double()),
            r"quantile\(\) q tensor must be same dtype as the input tensor",
        ),
        (lambda x: x.half().quantile(0.5), r"quantile\(\) input tensor must be either float or double dtype"),
        (lambda x: x[:0].nanquantile(0.5), r"quantile\(\) input tensor must be non-empty"),
        (
            lambda x: x.quantile(0.5, interpolation="cubic"),
            r"quantile\(\) interpolation must be one of linear, lower, higher, midpoint or nearest, but got cubic",
        ),
    ],
)
def test_errors(run, words):
    with pytest.raises(RuntimeError, match=words):
        run(torch.tensor([1.0, 2.0, 3.0]))
