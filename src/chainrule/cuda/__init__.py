"""torch.cuda as PyTorch built for the CPU has it: there is no such device, and asking is allowed."""

from .._missing import missing_attribute

__all__ = ["current_device", "device_count", "empty_cache", "is_available", "is_initialized", "manual_seed",
           "manual_seed_all", "synchronize"]  # fmt: skip


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: there is no generator to seed."""


def manual_seed_all(seed: int) -> None:
    """Nothing: there is no generator to seed."""


def empty_cache() -> None:
    """Nothing: there is no cache."""


def synchronize(device=None) -> None:
    """AssertionError: there is no device to wait for."""
    raise AssertionError("Torch not compiled with CUDA enabled")


def current_device() -> int:
    """AssertionError: there is no device."""
    raise AssertionError("Torch not compiled with CUDA enabled")


def __getattr__(name):
    raise missing_attribute(__name__, name)
