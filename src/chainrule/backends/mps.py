"""torch.backends.mps: not there."""


def is_available() -> bool:
    """False."""
    return False


def is_built() -> bool:
    """False."""
    return False
