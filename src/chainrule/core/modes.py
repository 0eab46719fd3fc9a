"""What is switched on, per thread, and the two flags that keep all of it off the hot path.

A caller of an operation looks at `modes.detour` before it starts and at `modes.unusual` before it records; both are
false in ordinary use. Whoever switches something on raises the flag that covers it, for as long as it is on anywhere,
and only then does a caller look up the state of its own thread.
"""

import os
import threading

__all__ = ["modes", "state", "raise_flag", "lower_flag"]


class Modes:
    """`detour`: operations must take the general path (inference mode, subclasses, the fast path switched off).
    `unusual`: recording must look at the thread's state (grad mode off, hooks on saved tensors, anomaly mode)."""

    __slots__ = ("detour", "unusual", "_detours", "_unusuals")

    def __init__(self):
        self.detour = self.unusual = False
        self._detours = self._unusuals = 0


class ThreadState(threading.local):
    """What holds for the running thread alone; a new thread starts with the class's values."""

    grad_enabled = True
    inference = False
    multithreading = True
    saved_hooks = ()  # stack of (pack, unpack), the innermost last
    saved_hooks_disabled = None  # the message to raise instead
    anomaly = False
    check_nan = True
    node = None  # the node that a backward pass of this thread is running


modes = Modes()
state = ThreadState()
_lock = threading.Lock()


def raise_flag(detour: bool = False) -> None:
    """Announce that something unusual is now on in some thread."""
    with _lock:
        if detour:
            modes._detours += 1
            modes.detour = True
        else:
            modes._unusuals += 1
            modes.unusual = True


def lower_flag(detour: bool = False) -> None:
    """Take back one `raise_flag`."""
    with _lock:
        if detour:
            modes._detours -= 1
            modes.detour = modes._detours > 0
        else:
            modes._unusuals -= 1
            modes.unusual = modes._unusuals > 0


if os.environ.get("CHAINRULE_FAST") == "0":  # the suite runs once without the fast path: both must mean the same
    raise_flag(detour=True)
