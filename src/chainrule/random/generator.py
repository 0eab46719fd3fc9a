"""The Mersenne Twister of PyTorch's CPU generator: its seeds, its words in order, its saved state.

https://docs.pytorch.org/docs/stable/generated/torch.Generator.html
M. Matsumoto, T. Nishimura: Mersenne Twister (1998), doi:10.1145/272991.272995
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from chainrule.core.device import device as device_type

DEFAULT_SEED = 67280421310721
BLOCK = 624  # words that one twist of the state yields
STATE_BYTES = 5056

# PyTorch still saves the layout of the Torch7 generator, followed by the cached float32 normal. The normal cached in
# double precision stands in "y"; "x" and "rho" are no longer used.
_STATE = np.dtype(
    {
        "names": ["seed", "left", "seeded", "next", "key", "x", "y", "rho", "has_double", "float", "has_float"],
        "formats": ["<u8", "<i4", "<i4", "<u8", ("<u8", BLOCK), "<f8", "<f8", "<f8", "<i4", "<f4", "u1"],
        "offsets": [0, 8, 12, 16, 24, 5016, 5024, 5032, 5040, 5048, 5052],
        "itemsize": STATE_BYTES,
    }
)

_HALF, _MASK53, _UNIT53 = np.array(32, np.uint64), np.array(2**53 - 1, np.uint64), np.array(2.0**-53)


class Generator:
    """A stream of random words that equals the one of ``torch.Generator(device="cpu")`` for the same seed or state.

    The words of the current twist are kept in an array that is never written to again, so that a small draw is a slice
    of it (and of the tables that the distributions derive from it).
    """

    __slots__ = (
        "_bits",
        "_block",
        "_device",
        "_fresh",
        "_position",
        "_seed",
        "_seeded",
        "_tables",
        "next_double_normal",
        "next_float_normal",
        "__weakref__",
    )

    def __init__(self, device: Any = "cpu") -> None:
        self._device = device_type(device)
        if self._device.type != "cpu":
            raise RuntimeError(
                f"Cannot get {self._device.type.upper()} generator: chainrule has the CPU generator only"
            )
        self._bits: Any = None
        self._start(DEFAULT_SEED)

    @property
    def device(self) -> device_type:
        """The CPU."""
        return self._device

    # -- seeds --------------------------------------------------------------------------------------------------------

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed` (any 64-bit integer, signed or unsigned; the twister uses its low 32 bits)."""
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._start(seed % 2**64)
        return self

    def seed(self) -> int:
        """Start from a seed that the operating system draws, and return it."""
        seed = int.from_bytes(os.urandom(8), "little")
        self._start(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed that the stream was started from."""
        return self._seed

    def _start(self, seed: int) -> None:
        self._seed = seed
        self._seeded = False
        self._block = np.empty(0, np.uint32)
        self._tables: dict[Any, Any] = {}
        self._position = BLOCK
        self._fresh = True
        self.next_float_normal: float | None = None
        self.next_double_normal: float | None = None

    def _twister(self) -> Any:
        """NumPy's twister, seeded when first asked for: importing `numpy.random` takes a while."""
        if self._bits is None:
            self._bits = np.random.MT19937(0)
        if not self._seeded:
            self._bits._legacy_seeding(self._seed % 2**32)
            self._seeded = True
        return self._bits

    # -- words --------------------------------------------------------------------------------------------------------

    def words(self, count: int) -> np.ndarray:
        """The next `count` words, uint32. Read only: a short result is a slice of the current block."""
        start = self._position
        stop = start + count
        if stop <= BLOCK:
            self._position = stop
            return self._block[start:stop]
        head = self._block[start:]
        whole, last = divmod(stop - BLOCK, BLOCK)
        result = np.empty(count, np.uint32)
        result[: head.size] = head
        middle = head.size + whole * BLOCK
        if whole:
            result[head.size : middle] = self._twister().random_raw(whole * BLOCK)
        if last:
            self._next_block()
            result[middle:] = self._block[:last]
        else:
            self._block = result[middle - BLOCK :].copy()
            self._tables = {}
        self._position = last or BLOCK
        self._fresh = False
        return result

    def words64(self, count: int) -> np.ndarray:
        """The next `count` 64-bit words, uint64: two words each, the first one high. The caller may write to it."""
        pairs = self.words(2 * count).astype("<u4", copy=False).view("<u8")
        result = np.left_shift(pairs, _HALF)
        result |= np.right_shift(pairs, _HALF)
        return result

    def doubles(self, count: int) -> np.ndarray:
        """The next `count` uniform numbers in [0, 1) with 53 random bits, float64. The caller may write to it."""
        words = self.words64(count)
        words &= _MASK53
        result = words.view(np.int64).astype(np.float64)
        result *= _UNIT53
        return result

    def block_slice(self, count: int, name: str, make: Callable[[np.ndarray], Any]) -> tuple[Any, int] | None:
        """The next `count` words as a place in the table `make(block)`, or None where they cross into the next block.

        Returns the table and the index of the first word. Tables live as long as their block.
        """
        start = self._position
        if start == BLOCK and count <= BLOCK:
            self._next_block()
            self._fresh = False
            start = 0
        stop = start + count
        if stop > BLOCK:
            return None
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = make(self._block)
        self._position = stop
        return table, start

    def _next_block(self) -> None:
        self._block = self._twister().random_raw(BLOCK).astype(np.uint32)
        self._tables = {}

    # -- state --------------------------------------------------------------------------------------------------------

    def get_state(self) -> np.ndarray:
        """The whole state as 5056 bytes (uint8), laid out as ``torch.get_rng_state()``."""
        state = np.zeros((), _STATE)
        state["seed"] = self._seed
        state["left"] = 1 if self._fresh else BLOCK + 1 - self._position
        state["seeded"] = 1
        state["next"] = 0 if self._fresh else self._position
        state["key"] = self._twister().state["state"]["key"]
        if self.next_double_normal is not None:
            state["y"] = self.next_double_normal
            state["has_double"] = 1
        if self.next_float_normal is not None:
            state["float"] = self.next_float_normal
            state["has_float"] = 1
        return state.reshape(1).view(np.uint8)

    def set_state(self, new_state: np.ndarray) -> Generator:
        """Continue from a state that `get_state` here or in PyTorch returned."""
        if not isinstance(new_state, np.ndarray):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if new_state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if new_state.size != STATE_BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state size to be "
                f"{new_state.size}"
            )
        state = np.ascontiguousarray(new_state).reshape(-1).view(_STATE)[0]
        left, following = int(state["left"]), int(state["next"])
        if not (state["seeded"] and 0 < left <= BLOCK and following <= BLOCK):
            raise RuntimeError("Invalid mt19937 state")
        # From position 0 the bit generator yields the words of this very key, and then stands before the next twist.
        self._twister().state = {
            "bit_generator": "MT19937",
            "state": {"key": state["key"].astype(np.uint32), "pos": 0},
        }
        self._next_block()
        self._seed = int(state["seed"])
        self._fresh = left == 1 and following == 0
        self._position = BLOCK + 1 - left
        self.next_double_normal = float(state["y"]) if state["has_double"] else None
        self.next_float_normal = float(state["float"]) if state["has_float"] else None
        return self

    def clone_state(self) -> Generator:
        """A new generator that stands where this one stands."""
        return Generator(self._device).set_state(self.get_state())

    def __copy__(self) -> Generator:
        return self.clone_state()

    def __deepcopy__(self, memo: dict[int, Any]) -> Generator:
        return self.clone_state()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._device, self.get_state())


def _rebuild(device: device_type, state: np.ndarray) -> Generator:
    return Generator(device).set_state(state)


default_generator = Generator()
