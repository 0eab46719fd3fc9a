"""Every operation by name, and every public function by namespace; filled by the declarations."""

from typing import Any

OPS: dict[str, Any] = {}
FUNCTIONS: dict[str, dict[str, Any]] = {"torch": {}}
METHODS: set[str] = set()


def publish(namespace: str, name: str, function) -> None:
    """Offer a function under `chainrule.<namespace>.<name>` ("torch" is the top)."""
    FUNCTIONS.setdefault(namespace, {})[name] = function
