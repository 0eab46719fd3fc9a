"""`import torch` gives chainrule: the finder that makes it so, module object for module object.

The alias is a second name in sys.modules, never a copy: `torch.nn is chainrule.nn`, whichever was imported first.
"""

import importlib
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

import chainrule
from chainrule._missing import missing_module

# A folder that holds a package `torch`, which does nothing but install the alias. Processes started by multiprocessing
# (and pytest-xdist's workers) take over sys.path, not sys.meta_path: through this folder they find chainrule as well.
FOLDER_FOR_CHILDREN = os.path.join(os.path.dirname(__file__), "as_torch")


def install() -> None:
    """Make `torch` and `torch.*` mean chainrule in this process, and in those that multiprocessing starts from it."""
    for name in [name for name in sys.modules if name == "torch" or name.startswith("torch.")]:
        del sys.modules[name]
    if not any(isinstance(finder, TorchFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, TorchFinder())
    sys.modules["torch"] = chainrule
    if FOLDER_FOR_CHILDREN not in sys.path:
        # Before site-packages, where PyTorch itself may be; behind the script's own folder.
        sys.path.insert(1, FOLDER_FOR_CHILDREN)


class TorchFinder:
    """Finds `torch.x` where chainrule has `chainrule.x`."""

    def find_spec(self, fullname: str, path=None, target=None) -> ModuleSpec | None:
        if not fullname.startswith("torch."):
            return None
        real_name = "chainrule" + fullname.removeprefix("torch")
        if real_name in sys.modules or PathFinder.find_spec(real_name, path) is not None:
            return ModuleSpec(fullname, AliasLoader(real_name))  # type: ignore[arg-type]  # a loader by its methods
        # importlib.util.find_spec asks whether a module exists and wants None; an import statement wants the reason.
        if sys._getframe(2).f_code.co_name == "_find_and_load_unlocked":
            raise missing_module(fullname)
        return None


class AliasLoader:
    """Loads a module by importing it under its own name."""

    def __init__(self, real_name: str):
        self.real_name = real_name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.real_name)
        self.real_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The module ran when it was imported; the import system has just given it the alias's spec.
        module.__spec__ = self.real_spec
