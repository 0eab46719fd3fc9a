import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as torch
from tests.ops.numeric import check

F = torch.nn.functional
pair = st.tuples(st.integers(1, 3), st.integers(1, 3))


@settings(max_examples=40, deadline=None)
@given(pair, pair, pair, st.tuples(st.integers(0, 2), st.integers(0, 2)), pair, st.sampled_from([0, 1, 2]))
def test_columns_are_the_windows_and_fold_adds_them_up(kernel, stride, dilation, padding, extra, count):
    size = [max(1, d * (k - 1) + 1 - 2 * p) + e for d, k, p, e in zip(dilation, kernel, padding, extra)]
    x = np.random.default_rng(0).standard_normal((count, 2, *size))
    wide = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(wide.shape[2:], dilation, kernel, stride)]
    wanted = np.empty((count, 2, *kernel, *counts))
    for place in np.ndindex(*kernel):
        at = tuple(slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, n, s in zip(place, dilation, counts, stride))
        wanted[(slice(None), slice(None), *place)] = wide[(..., *at)]
    settings_ = {"dilation": dilation, "padding": padding, "stride": stride}
    columns = F.unfold(torch.tensor(x), kernel, **settings_)
    np.testing.assert_array_equal(columns.numpy(), wanted.reshape(columns.shape))
    # fold is the transpose of unfold
    other = np.random.default_rng(1).standard_normal(columns.shape)
    back = F.fold(torch.tensor(other), size, kernel, **settings_)
    assert np.isclose(np.vdot(back.numpy(), x), np.vdot(other, columns.numpy()))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_derivatives(dtype):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2, 2, 5, 4)).astype(dtype)
    check(lambda x: F.unfold(x, (2, 3), padding=1, stride=(2, 1)) ** 2, x)
    check(lambda x: F.unfold(x, 2), x[0])
    check(lambda x: F.fold(x, (4, 3), 2) ** 2, rng.standard_normal((2, 4, 6)).astype(dtype))
    check(lambda x: F.fold(x, (4, 3), 2), rng.standard_normal((4, 6)).astype(dtype))


def test_nodes_and_single_images():
    x = torch.randn(2, 5, 6, requires_grad=True)
    made = F.unfold(x, 2)
    assert made.shape == (8, 20) and made.grad_fn.name() == "Im2ColBackward0"
    assert made.grad_fn._saved_kernel_size == (2, 2) and made.grad_fn._saved_self_sym_argsize_minus_1 == 6
    back = F.fold(made, (5, 6), 2)
    assert back.shape == (2, 5, 6) and back.grad_fn.name() == "Col2ImBackward0"
    assert F.fold(F.unfold(torch.ones(1, 1, 3, 3), 2), 3, 2).tolist() == [[[[1, 2, 1], [2, 4, 2], [1, 2, 1]]]]


X, Y = torch.zeros(2, 3, 5, 6), torch.zeros(2, 12, 20)
ERRORS = [
    (lambda: F.unfold(X, 9), RuntimeError,
     "Given input with spatial size (5, 6), kernel_size=(9, 9), dilation=(1, 1), padding=(0, 0), calculated shape of the "
     "array of sliding blocks as (-3, -2), but its components must be at least one."),
    (lambda: F.unfold(X, (2, 2, 2)), RuntimeError, "It is expected kernel_size equals to 2, but got size 3"),
    (lambda: F.unfold(X, 0), RuntimeError,
     "kernel size should be greater than zero, but got kernel_height: 0 kernel_width: 0"),
    (lambda: F.unfold(X.long(), 2), NotImplementedError, "\"im2col_out_cpu\" not implemented for 'Long'"),
    (lambda: F.unfold(X[:, :0], 2), RuntimeError,
     "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: "
     "[2, 0, 5, 6]"),
    (lambda: F.fold(Y[:, :11], (5, 6), 2), RuntimeError,
     "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=11 and "
     "kernel_size=(2, 2)."),
    (lambda: F.fold(Y[..., :19], (5, 6), 2), RuntimeError,
     "Given output_size=(5, 6), kernel_size=(2, 2), dilation=(1, 1), padding=(0, 0), stride=(1, 1), expected size of "
     "input's dimension 2 to match the calculated number of sliding blocks 4 * 5 = 20, but got input.size(2)=19."),
]  # fmt: skip


@pytest.mark.parametrize("run, kind, text", ERRORS)
def test_errors(run, kind, text):
    with pytest.raises(kind) as caught:
        run()
    assert str(caught.value) == text
