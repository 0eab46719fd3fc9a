import numpy as np
import pytest
import scipy.signal

import chainrule as torch

SAME = {
    "hann": "hann",
    "hamming": "hamming",
    "blackman": "blackman",
    "bartlett": "bartlett",
    "kaiser": ("kaiser", 12.0),
}


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 33])
def test_windows_against_scipy(n):
    for name, theirs in SAME.items():
        function = getattr(torch, f"{name}_window")
        for periodic in (True, False):
            right = scipy.signal.get_window(theirs, n, fftbins=periodic) if n else np.zeros(0)
            np.testing.assert_allclose(function(n, periodic, dtype=torch.float64).numpy(), right, atol=1e-12)
            np.testing.assert_allclose(function(n, periodic).numpy(), right, atol=1e-6)
            if n:
                found = getattr(torch.signal.windows, name)(n, sym=not periodic, dtype=torch.float64)
                np.testing.assert_allclose(found.numpy(), right, atol=1e-12)
    for theirs, found in (
        ("cosine", torch.signal.windows.cosine),
        ("nuttall", torch.signal.windows.nuttall),
        (("gaussian", 2.0), lambda n, **o: torch.signal.windows.gaussian(n, std=2.0, **o)),
        (("exponential", None, 1.5), lambda n, **o: torch.signal.windows.exponential(n, tau=1.5, **o)),
        (("general_hamming", 0.6), lambda n, **o: torch.signal.windows.general_hamming(n, alpha=0.6, **o)),
    ):
        if n:
            for sym in (True, False):
                right = scipy.signal.get_window(theirs, n, fftbins=not sym)
                np.testing.assert_allclose(found(n, sym=sym, dtype=torch.float64).numpy(), right, atol=1e-6)


def test_options_and_dtypes():
    assert torch.hamming_window(5, False, 0.5, 0.5).tolist() == torch.hann_window(5, periodic=False).tolist()
    assert torch.hann_window(3, dtype=torch.float16).dtype is torch.float16
    assert torch.kaiser_window(4, True, beta=6.0, requires_grad=True).requires_grad
    cosines = torch.signal.windows.general_cosine(6, a=[0.42, 0.5, 0.08])
    np.testing.assert_allclose(cosines.numpy(), torch.signal.windows.blackman(6).numpy(), atol=1e-7)


@pytest.mark.parametrize(
    "run, error, words",
    [
        (
            lambda: torch.hann_window(-1),
            RuntimeError,
            "hann_window requires non-negative window_length, got window_length=-1",
        ),
        (
            lambda: torch.hann_window(2.5),
            TypeError,
            r"hann_window\(\): argument 'window_length' \(position 1\) must be int",
        ),
        (
            lambda: torch.hann_window(3, "a"),
            TypeError,
            r"received an invalid combination of arguments - got \(int, str\)",
        ),
        (
            lambda: torch.bartlett_window(3, dtype=torch.int64),
            RuntimeError,
            "bartlett_window expects floating point dtypes",
        ),
        (lambda: torch.signal.windows.hann(-1), ValueError, "requires non-negative window length, got M=-1"),
        (
            lambda: torch.signal.windows.gaussian(3, std=0),
            ValueError,
            "Standard deviation must be positive, got: 0 instead.",
        ),
        (
            lambda: torch.signal.windows.kaiser(3, dtype=torch.float16),
            ValueError,
            "kaiser expects float32 or float64 dtypes",
        ),
        (
            lambda: torch.signal.windows.exponential(3, center=1.0),
            ValueError,
            "Center must be None for symmetric windows",
        ),
        (lambda: torch.signal.windows.general_cosine(3, a=[]), ValueError, "Coefficients cannot be empty"),
    ],
)
def test_errors(run, error, words):
    with pytest.raises(error, match=words):
        run()
