"""torch.random: the seeds and the generator; below it PyTorch's CPU random stream, draw for draw, over NumPy arrays."""

__all__ = ["Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
           "set_rng_state"]  # fmt: skip


def __getattr__(name):
    # With tensors for states they stand with the operations, which stand on the arrays here.
    if name in __all__:
        from ..ops import generator

        return getattr(generator, name)
    from .._missing import missing_attribute

    raise missing_attribute(__name__, name)
