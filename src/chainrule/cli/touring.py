"""The tour: the project's examples, run one after the other."""

import importlib.util
import os

import chainrule
from chainrule.cli import running

# Each example and the packages it needs beyond chainrule's own.
EXAMPLES = {"autograd_walk": (), "digits": ("sklearn", "tqdm")}


def tour(names: list[str]) -> int:
    """Run the examples called `names`; one whose packages are missing is left out with a sentence."""
    folder = examples_folder()
    for name in names:
        if all(importlib.util.find_spec(package) for package in EXAMPLES[name]):
            print(f"\n# {name}.py\n", flush=True)
            status = running.run_path(os.path.join(folder, f"{name}.py"), [])
            if status:
                return status
        else:
            print(f"\n{name}.py is left out: it needs scikit-learn and tqdm (pip install scikit-learn tqdm).")
    return 0


def examples_folder() -> str:
    """Where the examples are: inside an installed chainrule, at the root of a checkout."""
    package = os.path.dirname(chainrule.__file__)
    installed = os.path.join(package, "examples")
    return installed if os.path.isdir(installed) else os.path.join(package, "..", "..", "examples")
