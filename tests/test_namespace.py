"""The torch-shaped namespace: what is there, what is not, and what an import costs."""

import json
import math
import pathlib
import subprocess
import sys

import pytest

import chainrule as torch


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_loads_no_scipy_and_no_numpy_random():
    code = """
import json, sys
import chainrule
heavy = [m for m in sys.modules if m.partition(".")[0] == "scipy" or m == "numpy.random"]
print(json.dumps([heavy, "chainrule.nn" in sys.modules]))
"""
    assert json.loads(run(code)) == [[], False]


def test_constants():
    assert torch.pi == math.pi and torch.e == math.e and torch.inf == math.inf and math.isnan(torch.nan)
    assert torch.newaxis is None


def test_dtypes_and_layouts():
    assert torch.float is torch.float32 and torch.long is torch.int64 and torch.half is torch.float16
    assert repr(torch.bool) == "torch.bool" and torch.cdouble is torch.complex128
    assert repr(torch.strided) == "torch.strided" and isinstance(torch.strided, torch.layout)
    assert isinstance(torch.channels_last, torch.memory_format)
    with pytest.raises(TypeError, match="cannot create 'torch.layout' instances"):
        torch.layout()


def test_layouts_survive_copies():
    import copy
    import pickle

    for named in (torch.strided, torch.channels_last):
        assert copy.deepcopy(named) is named and pickle.loads(pickle.dumps(named)) is named


def test_questions():
    x = torch.arange(3.0)
    assert torch.is_tensor(x) and not torch.is_tensor(3)
    assert torch.is_floating_point(x) and not torch.is_complex(x) and torch.is_signed(x)
    assert torch.numel(x) == torch.numel(input=x) == 3
    assert torch.is_storage(x.untyped_storage()) and not torch.is_storage(x)
    for name in ("is_floating_point", "is_complex", "numel"):
        with pytest.raises(TypeError) as caught:
            getattr(torch, name)(3)
        assert str(caught.value) == f"{name}(): argument 'input' (position 1) must be Tensor, not int"


def test_typename():
    import numpy as np

    assert torch.typename(torch.arange(3)) == "torch.LongTensor"
    assert torch.typename(torch.Tensor) == "torch.Tensor"
    assert torch.typename(3) == "int" and torch.typename([]) == "list"
    assert torch.typename(np.zeros(1)) == "numpy.ndarray"


def test_print_options():
    before = torch.get_printoptions()
    try:
        torch.set_printoptions(precision=2)
        assert torch.get_printoptions()["precision"] == 2 and repr(torch.tensor(1.234)) == "tensor(1.23)"
    finally:
        torch.set_printoptions(**before)


def test_default_device():
    torch.set_default_device("cpu")
    assert torch.get_default_device() == torch.device("cpu")


def test_packages_load_when_asked_for():
    code = """
import chainrule as torch
assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
torch.backends.cudnn.benchmark = True
assert not torch.backends.mps.is_available()
import chainrule.nn.functional as F
from chainrule.nn import Parameter
from chainrule.nn.parameter import Parameter as same
assert same is Parameter and torch.nn.functional is F
torch.linalg, torch.special, torch.autograd, torch.random
print(F.dropout.__name__)
"""
    assert run(code) == "dropout\n"


@pytest.mark.parametrize(
    "path, text",
    [
        ("no_such", "module 'torch' has no attribute 'no_such' (chainrule has no torch.no_such)"),
        ("nn.NoSuch", "module 'torch.nn' has no attribute 'NoSuch' (chainrule has no torch.nn.NoSuch)"),
        ("nn.functional.no_such", "module 'torch.nn.functional' has no attribute 'no_such' "
                                  "(chainrule has no torch.nn.functional.no_such)"),
        ("random.no_such", "module 'torch.random' has no attribute 'no_such' (chainrule has no torch.random.no_such)"),
        ("cuda.no_such", "module 'torch.cuda' has no attribute 'no_such' (chainrule has no torch.cuda.no_such)"),
    ],
)  # fmt: skip
def test_what_is_missing_says_so(path, text):
    *parents, name = path.split(".")
    module = torch
    for parent in parents:
        module = getattr(module, parent)
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert str(caught.value) == text


def test_all_lists_what_is_there():
    assert {"Tensor", "tensor", "zeros", "float32", "pi", "no_grad", "manual_seed", "autograd"} <= set(torch.__all__)
    assert not [name for name in torch.__all__ if name.startswith("_")]
    for name in torch.__all__:
        assert hasattr(torch, name)


def test_version_is_our_own():
    assert torch.__version__.startswith("2.13.0+chainrule.")


def test_every_public_function_is_documented():
    def bare(name):
        found = getattr(torch, name)
        return callable(found) and not found.__doc__

    # an in-place twin may leave it to its original
    assert [name for name in torch.__all__ if bare(name) and (name[-1] != "_" or bare(name[:-1]))] == []


SCRIPT = pathlib.Path(__file__).parents[1] / "scripts" / "write_stub.py"


@pytest.mark.skipif(not SCRIPT.exists(), reason="the script is not part of an installed copy")
def test_the_stub_says_what_the_class_has():
    written = subprocess.run([sys.executable, SCRIPT, "--check"])
    assert written.returncode == 0, "run: python scripts/write_stub.py"
