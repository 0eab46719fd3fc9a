"""`chainrule run` beside plain `python`: same output, exit status and traceback; and what `torch` means in it."""

import os
import signal
import subprocess
import sys
import zipfile

import pytest

PYTHON = [sys.executable]
CHAINRULE_RUN = [sys.executable, "-m", "chainrule", "run"]


def run(command, arguments, folder, text=None):
    return subprocess.run([*command, *arguments], cwd=folder, input=text, capture_output=True, text=True, timeout=120)


def run_chainrule(arguments, folder, text=None):
    return run(CHAINRULE_RUN, arguments, folder, text)


def without_runpy(stderr):
    """The traceback less the lines that `python -m` and `python FOLDER` add for their own frames."""
    return "".join(line for line in stderr.splitlines(keepends=True) if "<frozen runpy>" not in line)


def assert_same_as_python(arguments, folder, text=None):
    expected = run(PYTHON, arguments, folder, text)
    result = run_chainrule(arguments, folder, text)
    assert result.stdout == expected.stdout
    assert result.stderr == without_runpy(expected.stderr)
    assert result.returncode == expected.returncode
    return result


CODE = {
    "names": "import sys; print(__name__, sys.modules['__main__'].__dict__ is globals(), __spec__, __package__)",
    "arguments": "import sys; print(sys.argv, sys.path[0])",
    "file": "print(globals().get('__file__'), globals().get('__cached__', 'none'), type(__loader__).__name__)",
    "exit": "raise SystemExit",
    "exit_number": "import sys; print('before'); sys.exit(7)",
    "exit_text": "import sys; sys.exit('a reason')",
    "error": "def f(x):\n    return 1 / x\nprint('before')\nf(0)\n",
    "error_chain": "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b') from e\n",
    "error_note": "e = ValueError('b')\ne.add_note('more')\nraise e\n",
    "error_in_library": "import json; json.loads('{')",
    "missing_import": "import no_such_module",
    "syntax": "print('never')\ndef f(:\n",
    "group": "raise ExceptionGroup('several', [ValueError(1), TypeError(2)])",
    "hook": "import sys\nsys.excepthook = lambda kind, value, tb: print('hook', kind, value, tb.tb_lineno)\n1 / 0",
    "atexit": "import atexit; atexit.register(print, 'last'); print('first')",
    "future": "x: Unknown = 1\n",
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)\n",
    "interrupt": "raise KeyboardInterrupt",
    "stdin": "import sys; print(repr(sys.stdin.read()))",
    "output_closed": "import os\nos.close(1)\nprint('x')\n",
}


@pytest.mark.parametrize("name", CODE)
def test_script_as_python(name, tmp_path):
    (tmp_path / "script.py").write_text(CODE[name])
    assert_same_as_python(["script.py", "--flag", "-m"], tmp_path, text="typed\n")


@pytest.mark.parametrize("name", [name for name in CODE if "error" not in name and name != "file"])
def test_code_as_python(name, tmp_path):
    assert_same_as_python(["-c", CODE[name], "-h", "x"], tmp_path)


@pytest.mark.parametrize("name", ["names", "arguments", "exit_text", "error", "pickle"])
def test_standard_input_as_python(name, tmp_path):
    assert_same_as_python(["-", "1"], tmp_path, text=CODE[name])


@pytest.mark.parametrize("name", ["arguments", "exit_number", "error", "pickle", "interrupt"])
def test_module_package_folder_and_zip_as_python(name, tmp_path):
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "__init__.py").write_text("import sys; print('init', sys.argv)")
    (folder / "__main__.py").write_text(CODE[name])
    (folder / "part.py").write_text("from . import __name__ as parent\nprint(__package__, __spec__.name, parent)")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.write(folder / "__main__.py", "__main__.py")
    assert_same_as_python(["-m", "package", "1"], tmp_path)
    assert_same_as_python(["-mpackage.part", "1"], tmp_path)
    assert_same_as_python(["package", "1"], tmp_path)
    assert_same_as_python(["archive.zip", "1"], tmp_path)


def test_script_in_another_folder_imports_its_neighbours(tmp_path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "neighbour.py").write_text("value = 3")
    (tmp_path / "scripts" / "script.py").write_text("import neighbour; print(neighbour.value, __file__)")
    (tmp_path / "link.py").symlink_to("scripts/script.py")
    assert_same_as_python(["scripts/script.py"], tmp_path)
    assert_same_as_python(["link.py"], tmp_path)


def test_error_on_the_way_to_a_module_is_shown(tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "__init__.py").write_text("import no_such_module")
    result = run_chainrule(["-m", "broken.part"], tmp_path)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "Traceback (most recent call last):",
        f'  File "{tmp_path}/broken/__init__.py", line 1, in <module>',
        "    import no_such_module",
        "ModuleNotFoundError: No module named 'no_such_module'",
    ]


def test_reader_that_goes_away(tmp_path):
    (tmp_path / "script.py").write_text("for i in range(100_000):\n    print(i)\n")
    outcomes = []
    for command in (PYTHON, CHAINRULE_RUN):
        process = subprocess.Popen(
            [*command, "script.py"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        process.stdout.close()
        outcomes.append((process.stderr.read(), process.wait()))
        process.stderr.close()
    assert outcomes[1] == outcomes[0]
    assert "BrokenPipeError" in outcomes[1][0]


def test_interrupt_from_outside_ends_with_the_signal(tmp_path):
    code = "import time\nprint('ready', flush=True)\ntime.sleep(60)\n"
    process = subprocess.Popen(
        [*CHAINRULE_RUN, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert "chainrule" not in stderr


def test_torch_is_chainrule_module_for_module(tmp_path):
    code = """
import chainrule.autograd
import torch, torch.autograd, sys
from torch import autograd
from torch.autograd import Function
import torch.autograd as also
print(torch is chainrule, autograd is chainrule.autograd is also, Function is chainrule.autograd.Function)
print(torch.__spec__.name, autograd.__spec__.name, autograd.__name__)
print(sys.modules["torch"] is sys.modules["chainrule"], sys.modules["torch.autograd"] is autograd)
"""
    result = run_chainrule(["-c", code], tmp_path)
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "True True True",
        "chainrule chainrule.autograd chainrule.autograd",
        "True True",
    ]


def test_an_installed_torch_is_passed_over(tmp_path):
    (tmp_path / "site" / "torch").mkdir(parents=True)
    (tmp_path / "site" / "torch" / "__init__.py").write_text("raise AssertionError('the other torch')")
    (tmp_path / "site" / "torch" / "only_there.py").write_text("")
    code = "import sys; sys.path.append('site'); import torch; print(torch.__file__); import torch.only_there"
    result = run_chainrule(["-c", code], tmp_path)
    assert result.stdout.endswith("chainrule/__init__.py\n")
    assert result.stderr.splitlines()[-1] == "ModuleNotFoundError: chainrule has no module torch.only_there"


def test_what_is_missing_is_named(tmp_path):
    (tmp_path / "script.py").write_text("def f():\n    import torch.no_such.deeper\nf()\n")
    result = run_chainrule(["script.py"], tmp_path)
    assert result.returncode == 1
    lines = [line for line in result.stderr.splitlines() if set(line) != set(" ~^")]  # Python 3.13 marks the call
    assert lines == [
        "Traceback (most recent call last):",
        f'  File "{tmp_path}/script.py", line 3, in <module>',
        "    f()",
        f'  File "{tmp_path}/script.py", line 2, in f',
        "    import torch.no_such.deeper",
        "ModuleNotFoundError: chainrule has no module torch.no_such",
    ]
    result = run_chainrule(["-c", "import torch; torch.no_such_thing"], tmp_path)
    expected = "AttributeError: module 'torch' has no attribute 'no_such_thing' (chainrule has no torch.no_such_thing)"
    assert result.stderr.splitlines()[-1].startswith(expected)


def test_asking_whether_a_module_exists(tmp_path):
    code = """
import importlib.util
import torch
print(importlib.util.find_spec("torch.no_such"), importlib.util.find_spec("torch.autograd") is not None)
print(hasattr(torch, "no_such"), getattr(torch, "no_such", 3))
try:
    import torch.no_such
except ImportError as error:
    print(error.name)
"""
    assert run_chainrule(["-c", code], tmp_path).stdout.splitlines() == ["None True", "False 3", "torch.no_such"]


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_multiprocessing_children_find_torch(method, tmp_path):
    (tmp_path / "script.py").write_text(
        f"""
import multiprocessing
import torch

class Job:
    pass

def work(job):
    import chainrule, torch.autograd
    return torch is chainrule, torch.autograd is chainrule.autograd, type(job).__name__

if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(1) as pool:
        print(pool.apply(work, (Job(),)))
"""
    )
    result = run_chainrule(["script.py"], tmp_path)
    assert result.stdout == "(True, True, 'Job')\n", result.stderr


def test_safe_path_keeps_the_working_folder_out(tmp_path):
    (tmp_path / "neighbour.py").write_text("")
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    result = subprocess.run(
        [*CHAINRULE_RUN, "-c", "import torch, neighbour"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert result.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'neighbour'"
