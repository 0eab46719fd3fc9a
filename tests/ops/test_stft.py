import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as torch
from chainrule.autograd import gradcheck, gradgradcheck


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_against_transforms_of_windows_and_back(data):
    n, hop = data.draw(st.sampled_from([4, 5, 8])), data.draw(st.integers(1, 3))
    centred, normalized = data.draw(st.booleans()), data.draw(st.booleans())
    batch = data.draw(st.sampled_from([(), (2,)]))
    a = np.random.default_rng(0).standard_normal((*batch, 20))
    window = np.hanning(n + 2)[1:-1]
    x, w = torch.tensor(a), torch.tensor(window)
    found = torch.stft(x, n, hop, window=w, center=centred, normalized=normalized, return_complex=True)
    signal = np.pad(a, [(0, 0)] * len(batch) + [(n // 2, n // 2)], "reflect") if centred else a
    frames = np.lib.stride_tricks.sliding_window_view(signal, n, axis=-1)[..., ::hop, :]
    right = np.fft.rfft(frames * window, norm="ortho" if normalized else "backward")
    np.testing.assert_allclose(found.numpy(), np.moveaxis(right, -1, -2), atol=1e-12)
    if centred:
        back = torch.istft(found, n, hop, window=w, normalized=normalized, length=18)
        np.testing.assert_allclose(back.numpy()[..., :16], a[..., :16], atol=1e-12)


def test_options():
    x = torch.arange(12.0)
    spectrum = torch.stft(x, 4, return_complex=True)
    assert spectrum.shape == (3, 13) and spectrum.stride() == (1, 3) and x.stft(4, return_complex=True).equal(spectrum)
    assert torch.stft(x, 4, onesided=False, return_complex=True).shape == (4, 13)
    assert torch.stft(x * 1j, 4).shape == (4, 13)
    assert torch.stft(x, 4, 2, 3, torch.ones(3), center=False, return_complex=True).shape == (3, 5)
    with pytest.warns(UserWarning, match="stft with return_complex=False is deprecated"):
        assert torch.stft(x, 4, return_complex=False).shape == (3, 13, 2)
    whole = torch.stft(x * 1j, 4)
    np.testing.assert_allclose(torch.istft(whole, 4, return_complex=True).numpy(), 1j * np.arange(12), atol=1e-6)
    with pytest.warns(UserWarning, match="The length of signal is shorter than the length parameter"):
        assert spectrum.istft(4, length=20).tolist()[14:] == [0.0] * 6


def test_derivatives_and_nodes():
    x = torch.tensor(np.random.default_rng(0).standard_normal(10), requires_grad=True)
    w = torch.tensor(np.hanning(6)[1:-1], requires_grad=True)
    forward = lambda x, w: torch.stft(x, 4, 2, window=w, return_complex=True)
    assert gradcheck(forward, (x, w)) and gradgradcheck(forward, (x, w))
    there_and_back = lambda x, w: torch.istft(forward(x, w), 4, 2, window=w)
    assert gradcheck(there_and_back, (x, w)) and gradgradcheck(there_and_back, (x, w))
    z = forward(x, w)
    names = []
    node = z.grad_fn
    while node is not None:
        names.append(node.name().removesuffix("Backward0"))
        node = node.next_functions[0][0] if node.next_functions else None
    assert names[:6] == ["SqueezeBackward4", "TransposeBackward1", "FftR2C", "Mul", "AsStrided", "Unsqueeze"]
    assert torch.istft(z, 4, 2, window=w).grad_fn.name() == "SqueezeBackward1"


@pytest.mark.parametrize(
    "run, error, words",
    [
        (lambda x: torch.stft(x, 4), RuntimeError, "stft requires the return_complex parameter be given for real inputs"),
        (
            lambda x: torch.stft(x, 8, 0, return_complex=True),
            RuntimeError,
            r"stft\(torch.FloatTensor\[20\], n_fft=8, hop_length=0, win_length=8, window=None, normalized=0, onesided=None, "
            r"return_complex=1, align_to_window=None\) : expected hop_length > 0, but got hop_length=0",
        ),
        (lambda x: torch.stft(x, 8, 2, 9, return_complex=True), RuntimeError, "expected 0 < win_length <= n_fft"),
        (lambda x: torch.stft(x * 1j, 4, onesided=True), RuntimeError, "Cannot have onesided output if window or input is"),
        (lambda x: torch.istft(x, 4), RuntimeError, "istft requires a complex-valued input tensor matching the output"),
        (lambda x: torch.istft(torch.stft(x * 1j, 8), 4), RuntimeError, "expected the frequency dimension"),
        (
            lambda x: torch.istft(torch.stft(x, 8, window=torch.hann_window(8), return_complex=True), 8,
                                  window=torch.hann_window(8), center=False),
            RuntimeError,
            r"istft\(CPUComplexFloatType\[5, 7\], .*window overlap add min: 1",
        ),
    ],
)  # fmt: skip
def test_errors(run, error, words):
    with pytest.raises(error, match=words):
        run(torch.arange(12.0))
