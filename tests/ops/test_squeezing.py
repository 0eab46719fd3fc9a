import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

X = np.random.default_rng(0).standard_normal((1, 3, 1, 2))
CASES = [
    (lambda x: x.squeeze(), (3, 2), "SqueezeBackward0"),
    (lambda x: x.squeeze(0), (3, 1, 2), "SqueezeBackward1"),
    (lambda x: x.squeeze(1), (1, 3, 1, 2), "SqueezeBackward1"),
    (lambda x: x.squeeze((0, -2)), (3, 2), "SqueezeBackward2"),
    (lambda x: x.unsqueeze(-1), (1, 3, 1, 2, 1), "UnsqueezeBackward0"),
    (lambda x: torch.unsqueeze(x, dim=0), (1, 1, 3, 1, 2), "UnsqueezeBackward0"),
    (lambda x: (x * 1).squeeze_(), (3, 2), "SqueezeBackward3"),
    (lambda x: (x * 1).squeeze_(0), (3, 1, 2), "SqueezeBackward4"),
    (lambda x: (x * 1).squeeze_((0,)), (3, 1, 2), "SqueezeBackward5"),
    (lambda x: (x * 1).unsqueeze_(1), (1, 1, 3, 1, 2), "UnsqueezeBackward1"),
    (lambda x: (x * 1).transpose_(1, 3), (1, 2, 1, 3), "TransposeBackward1"),
    (lambda x: (x * 1)[0, :, 0].t_(), (2, 3), "TBackward1"),
]


@pytest.mark.parametrize("function, shape, node", CASES)
def test_values_nodes_and_derivatives(function, shape, node):
    y = function(torch.tensor(X, requires_grad=True))
    assert y.shape == shape and y.grad_fn.name() == node
    if "Transpose" not in node and node != "TBackward1":
        np.testing.assert_array_equal(y.detach().numpy().ravel(), X.ravel())
    check(function, X)


def test_the_strides_of_new_dimensions():
    x = torch.zeros(2, 3, 4).transpose(0, 2)
    assert x.unsqueeze(1).stride() == (1, 12, 4, 12) and x.unsqueeze(3).stride() == (1, 4, 12, 1)
    assert torch.zeros(2, 3).unsqueeze(0).stride() == (6, 3, 1)


def test_in_place_changes_of_shape_count_as_changes():
    x = torch.zeros(1, 2)
    assert x.squeeze_() is x and x.shape == (2,) and x._version == 1
    assert torch.zeros(2, 3).t_().stride() == (1, 3)
    with pytest.raises(
        RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation."
    ):
        torch.zeros(2, 2, requires_grad=True).t_()


def test_atleast():
    s, v, m = torch.tensor(1.0), torch.zeros(2), torch.zeros(2, 3)
    assert [t.shape for t in torch.atleast_1d(s, v)] == [(1,), (2,)] and torch.atleast_1d(v) is v
    assert torch.atleast_2d(s).shape == (1, 1) and torch.atleast_2d(v).shape == (1, 2)
    assert [t.shape for t in torch.atleast_3d((s, v, m))] == [(1, 1, 1), (1, 2, 1), (2, 3, 1)]


@pytest.mark.parametrize(
    "function, kind, text",
    [
        (lambda x: x.squeeze(5), IndexError, "Dimension out of range (expected to be in range of [-4, 3], but got 5)"),
        (lambda x: x.squeeze((0, 0)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
        (lambda x: x.squeeze("a"), TypeError, "squeeze() received an invalid combination of arguments - got (str)"),
        (
            lambda x: x.unsqueeze(5),
            IndexError,
            "Dimension out of range (expected to be in range of [-5, 4], but got 5)",
        ),
        (lambda x: x.unsqueeze(1.5), TypeError, "unsqueeze(): argument 'dim' (position 1) must be int, not float"),
        (lambda x: x.unsqueeze(), TypeError, 'unsqueeze() missing 1 required positional arguments: "dim"'),
    ],
)
def test_errors(function, kind, text):
    with pytest.raises(kind) as found:
        function(torch.tensor(X))
    assert str(found.value).startswith(text)
