"""`torch.Generator` and the seeds: the random stream of `chainrule.random`, with states that are tensors.

https://docs.pytorch.org/docs/stable/generated/torch.Generator.html
"""

import contextlib

import numpy as np

from ..core.dtype import argument_type_name, uint8
from ..core.registry import publish
from ..core.tensor import Tensor, wrap
from ..random import generator as stream

__all__ = ["Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
           "set_rng_state"]  # fmt: skip


class Generator(stream.Generator):
    """A stream of random numbers that equals that of PyTorch's CPU generator for the same seed or state."""

    __slots__ = ()
    __module__ = "torch._C"

    def get_state(self) -> Tensor:  # type: ignore[override]
        """The whole state: 5056 bytes, uint8."""
        return wrap(super().get_state())

    def set_state(self, new_state) -> "Generator":
        """Continue from a state; TypeError unless it is a uint8 tensor, RuntimeError unless it is a state."""
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {argument_type_name(new_state)}")
        if new_state._spec.dtype is not uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        super().set_state(new_state._array)
        return self

    def clone_state(self) -> "Generator":
        """A new generator that stands where this one stands."""
        return Generator(self.device).set_state(self.get_state())

    def __reduce__(self):
        return _rebuild, (str(self.device), self.get_state()._array)


def _rebuild(device: str, state: np.ndarray) -> Generator:
    return Generator(device).set_state(wrap(state))


default_generator = Generator()


def manual_seed(seed) -> Generator:
    """Start the default generator from a seed; returns the generator."""
    return default_generator.manual_seed(int(seed))  # type: ignore[return-value]


def seed() -> int:
    """Start the default generator from a seed that the operating system draws, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator was started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator: 5056 bytes, uint8."""
    return default_generator.get_state()


def set_rng_state(new_state) -> None:
    """Let the default generator continue from a state."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cpu"):
    """Within it the default generator goes on as it stands, and afterwards it stands again where it stood."""
    if not enabled:
        yield
        return
    state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(state)


for _function in (manual_seed, seed, initial_seed, get_rng_state, set_rng_state):
    publish("torch", _function.__name__, _function)
publish("torch", "Generator", Generator)
publish("torch", "default_generator", default_generator)
