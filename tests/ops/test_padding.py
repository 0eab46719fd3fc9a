import numpy as np
import pytest

import chainrule as torch
from tests.ops.numeric import check

pad = torch.nn.functional.pad
A = np.random.default_rng(0).standard_normal((2, 3, 4))
MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
NODES = {"reflect": "ReflectionPad{}DBackward0", "replicate": "ReplicationPad{}DBackward0"}


def widths(pads, ndim):
    pairs = list(zip(pads[::2], pads[1::2]))
    return [(0, 0)] * (ndim - len(pairs)) + pairs[::-1]


@pytest.mark.parametrize("pads", [(1, 2), (1, 0, 2, 1), (0, 0, 0, 0, 1, 1)])
def test_constant(pads):
    y = pad(torch.tensor(A, requires_grad=True), pads, value=1.5)
    np.testing.assert_array_equal(y.detach().numpy(), np.pad(A, widths(pads, 3), constant_values=1.5))
    assert y.grad_fn.name() == "ConstantPadNdBackward0"
    check(lambda x: pad(x, pads), A)


def test_negative_numbers_take_elements_off():
    np.testing.assert_array_equal(
        pad(torch.tensor(A), (-1, 1, 0, -1)).numpy(), np.pad(A, [(0, 0), (0, 0), (0, 1)])[:, :2, 1:]
    )
    check(lambda x: pad(x, (-1, 1, 0, -1)), A)
    assert pad(torch.tensor([1, 2]), (1, 0), value=3).tolist() == [3, 1, 2]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "pads, ndim", [((1, 2), 2), ((3, 1), 3), ((1, 2, 2, 1), 3), ((1, 0, 1, 1), 4), ((1, 2, 1, 1, 1, 0), 4)]
)
def test_borders_from_the_input(mode, pads, ndim):
    a = A[0] if ndim == 2 else A if ndim == 3 else A[None]
    y = pad(torch.tensor(a, requires_grad=True), pads, mode=mode)
    np.testing.assert_array_equal(y.detach().numpy(), np.pad(a, widths(pads, ndim), mode=MODES[mode]))
    if mode in NODES:
        assert y.grad_fn.name() == NODES[mode].format(len(pads) // 2)
    check(lambda x: pad(x, pads, mode=mode), a)


@pytest.mark.parametrize(
    "arguments, kind, text",
    [
        (((1,),), RuntimeError, "Padding length must be divisible by 2"),
        (
            ((1,) * 8,),
            RuntimeError,
            "Padding length should be less than or equal to two times the input dimension but got",
        ),
        (((-3, -3),), RuntimeError, "narrow(): length must be non-negative."),
        (
            ((4, 1), "reflect"),
            RuntimeError,
            "Argument #4: Padding size should be less than the corresponding input dimension",
        ),
        (((5, 1), "circular"), RuntimeError, "Padding value causes wrapping around more than once."),
        (((1, 1), "mirror"), NotImplementedError, "Unrecognised padding mode mirror"),
        (((1,) * 6, "replicate"), NotImplementedError, "Padding size 6 is not supported for 3D input tensor."),
        (((1, 1), "reflect", 1), RuntimeError, 'Padding mode "reflect" doesn\'t take in value argument'),
        (
            ((1.5, 1),),
            TypeError,
            "pad(): argument 'pad' (position 2) must be tuple of ints, but found element of type float",
        ),
    ],
)
def test_errors(arguments, kind, text):
    with pytest.raises(kind) as found:
        pad(torch.tensor(A), *arguments)
    assert str(found.value).startswith(text)
