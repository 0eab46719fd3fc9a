import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import chainrule as torch
from chainrule.autograd import gradcheck, gradgradcheck

NORMS = (None, "backward", "ortho", "forward")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_one_dimension_against_numpy(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=6))
    rng = np.random.default_rng(0)
    real = rng.standard_normal(shape)
    both = real + 1j * rng.standard_normal(shape)
    dim, norm = data.draw(st.integers(-len(shape), len(shape) - 1)), data.draw(st.sampled_from(NORMS))
    n = data.draw(st.none() | st.integers(1, 8))
    for name in ("fft", "ifft", "rfft", "ihfft", "irfft", "hfft"):
        a = real if name in ("rfft", "ihfft") else both
        if name in ("irfft", "hfft") and n is None and shape[dim] == 1:
            continue
        found = getattr(torch.fft, name)(torch.tensor(a), n, dim, norm)
        np.testing.assert_allclose(found.numpy(), getattr(np.fft, name)(a, n, dim, norm), atol=1e-12)
    np.testing.assert_allclose(
        torch.fft.fft(torch.tensor(real), n, dim, norm).numpy(), np.fft.fft(real, n, dim, norm), atol=1e-12
    )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_several_dimensions_against_numpy(data):
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=4, min_side=2, max_side=4))
    rng = np.random.default_rng(0)
    real = rng.standard_normal(shape)
    both = real + 1j * rng.standard_normal(shape)
    norm = data.draw(st.sampled_from(NORMS))
    dims = data.draw(st.permutations(range(len(shape))).map(lambda p: tuple(p[: 1 + p[0] % len(p)])))
    s = data.draw(st.none() | st.tuples(*[st.integers(1, 5)] * len(dims)))
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        a = real if name == "rfftn" else both
        right = getattr(np.fft, name)(a, s, dims, norm)
        np.testing.assert_allclose(getattr(torch.fft, name)(torch.tensor(a), s, dims, norm).numpy(), right, atol=1e-12)
    spectrum = torch.fft.ihfftn(torch.tensor(real), s, dims, norm)
    sizes = tuple(shape[d] for d in dims) if s is None else s
    back = torch.fft.hfftn(spectrum, sizes, dims, norm).numpy()
    if s is None:
        np.testing.assert_allclose(back, real, atol=1e-12)
    np.testing.assert_allclose(
        torch.fft.fft2(torch.tensor(both), norm=norm).numpy(), np.fft.fft2(both, norm=norm), atol=1e-12
    )


def test_dtypes_and_layout():
    x = torch.ones(4, 6)
    assert torch.fft.fft(x).dtype is torch.complex64 and torch.fft.fft(x.double()).dtype is torch.complex128
    assert (
        torch.fft.rfft(torch.arange(6)).dtype is torch.complex64
        and torch.fft.irfft(torch.fft.rfft(x)).dtype is torch.float32
    )
    assert torch.fft.fft(x, dim=0).stride() == (1, 4) and torch.fft.fft(x).stride() == (6, 1)
    assert torch.fft.fftn(torch.ones(2, 3, 4).permute(2, 0, 1)).stride() == (1, 12, 4)
    assert torch.fft.ihfft2(x).stride() == (1, 4)
    out = torch.empty(0, dtype=torch.complex64)
    assert torch.fft.fft(x, out=out) is out and out.shape == (4, 6)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_derivatives(dtype):
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.standard_normal((3, 4)), dtype=dtype) + (0.5j * torch.ones(3, 4) if dtype.is_complex else 0)
    x = x.detach().requires_grad_()
    cases = [
        lambda x: torch.fft.fft(x, 5),
        lambda x: torch.fft.ifft(x, 3, 0, "ortho"),
        lambda x: torch.fft.irfft(x),
        lambda x: torch.fft.irfft(x, 5),
        lambda x: torch.fft.hfft(x, norm="forward"),
        lambda x: torch.fft.fftn(x, (2, 5)),
        lambda x: torch.fft.irfftn(x, dim=(1, 0)),
        lambda x: torch.fft.hfftn(x, (3, 5)),
    ]
    if not dtype.is_complex:
        cases += [
            torch.fft.rfft,
            lambda x: torch.fft.rfft(x, 5, norm="ortho"),
            lambda x: torch.fft.rfft(x, 1),
            torch.fft.ihfft,
            lambda x: torch.fft.rfftn(x, (5, 3)),
            lambda x: torch.fft.ihfftn(x, (4, 4), norm="forward"),
        ]
    for function in cases:
        assert gradcheck(function, (x,)) and gradgradcheck(function, (x,))


def test_nodes():
    def chain(t):
        node, names = t.grad_fn, []
        while node is not None:
            names.append(node.name().removesuffix("Backward0"))
            node = node.next_functions[0][0] if node.next_functions else None
        return names[:-1]

    x, c = torch.ones(4, 6, requires_grad=True), torch.ones(4, 6, dtype=torch.complex64, requires_grad=True)
    assert chain(torch.fft.fft(x)) == ["FftR2C"] and chain(torch.fft.ifft(x)) == ["Conj", "FftR2C"]
    assert chain(torch.fft.fft(c)) == ["FftC2C"] and chain(torch.fft.fft2(x)) == ["FftC2C", "ToCopy"]
    assert chain(torch.fft.hfft(c, 5)) == ["FftC2R", "Conj", "Slice"] and chain(torch.fft.fft(x, 8)) == [
        "FftR2C",
        "ConstantPadNd",
    ]
    assert chain(torch.fft.ihfft2(x)) == ["FftC2C", "ConjPhysical", "FftR2C"]
    node = torch.fft.fft(c, norm="ortho").grad_fn
    assert node._saved_dim == (1,) and node._saved_normalization == 1 and node._saved_forward is True


def test_frequencies_and_shifts():
    for n in range(1, 9):
        for d in (1.0, 0.3):
            right = np.fft.fftfreq(n, d)
            np.testing.assert_allclose(torch.fft.fftfreq(n, d, dtype=torch.float64).numpy(), right, rtol=1e-14)
            np.testing.assert_allclose(torch.fft.rfftfreq(n, d).numpy(), np.fft.rfftfreq(n, d), rtol=1e-6)
        x = torch.arange(2.0 * n).reshape(2, n)
        assert torch.fft.fftshift(x).tolist() == np.fft.fftshift(x.numpy()).tolist()
        assert torch.fft.ifftshift(torch.fft.fftshift(x, 1), (1,)).tolist() == x.tolist()
    assert torch.fft.fftfreq(3, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    "run, error, words",
    [
        (lambda f, x: f.fft(x, 0), RuntimeError, r"Invalid number of data points \(0\) specified"),
        (lambda f, x: f.fft(x, dim=2), IndexError, "Dimension out of range"),
        (lambda f, x: f.fft(torch.tensor(1.0)), IndexError, "Dimension specified as -1 but tensor has no dimensions"),
        (lambda f, x: f.fft(x, norm="foo"), RuntimeError, 'Invalid normalization mode: "foo"'),
        (lambda f, x: f.fft(x.half()), RuntimeError, "Unsupported dtype Half"),
        (lambda f, x: f.fft("a"), TypeError, r"fft_fft\(\): argument 'input' \(position 1\) must be Tensor, not str"),
        (lambda f, x: f.rfft(x * 1j), RuntimeError, "rfft expects a real input tensor, but got ComplexFloat"),
        (lambda f, x: f.rfft2(x * 1j), RuntimeError, "rfftn expects a real-valued input tensor, but got ComplexFloat"),
        (lambda f, x: f.fft2(x, dim=(0, 0)), RuntimeError, "FFT dims must be unique"),
        (lambda f, x: f.fftn(x, (3, 2), (0,)), RuntimeError, "dim and shape arguments must have the same length"),
        (
            lambda f, x: f.fftn(x, (3, 2, 1)),
            RuntimeError,
            "Got shape with 3 values but input tensor only has 2 dimensions.",
        ),
        (lambda f, x: f.rfftn(x, dim=()), RuntimeError, "rfftn must transform at least one axis"),
        (lambda f, x: f.fft(x, out=x.clone()), RuntimeError, "fft expects a complex output tensor, but got Float"),
        (
            lambda f, x: f.fftfreq(3, dtype=torch.int64),
            RuntimeError,
            "fftfreq requires a floating point or complex dtype",
        ),
    ],
)
def test_errors(run, error, words):
    with pytest.raises(error, match=words):
        run(torch.fft, torch.ones(2, 3))


def test_empty_batches_and_sizes():
    assert torch.fft.fft(torch.empty(0, 3)).shape == (0, 3)
    assert math.isclose(torch.fft.irfft(torch.tensor([3.0 + 1j]), 1).item(), 3.0)
