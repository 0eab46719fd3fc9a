"""torch.backends.cudnn: not there. Its switches may be set, since scripts do so before they look for a GPU."""

enabled = True
deterministic = False
benchmark = False
benchmark_limit = 10
allow_tf32 = True


def is_available() -> bool:
    """False."""
    return False


def version() -> None:
    """None: there is no version."""
