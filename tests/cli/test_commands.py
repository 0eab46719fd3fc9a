"""The command line itself: help, version, what it says to wrong usage, and the tour."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import chainrule
from chainrule._missing import missing_attribute
from chainrule._version import __version__
from chainrule.cli import touring

CHAINRULE = [sys.executable, "-m", "chainrule"]


def chainrule_command(*arguments, folder=None):
    return subprocess.run([*CHAINRULE, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"]])
def test_help(arguments):
    result = chainrule_command(*arguments)
    assert result.returncode == 0
    assert result.stdout.startswith("usage: chainrule COMMAND")
    assert "examples:" in result.stdout


@pytest.mark.parametrize("command", ["run", "tour"])
def test_help_of_a_command(command):
    result = chainrule_command(command, "--help")
    assert result.returncode == 0
    assert result.stdout.startswith(f"usage: chainrule {command}")
    assert "examples:" in result.stdout
    assert chainrule_command("help", command).stdout == result.stdout


def test_version():
    assert re.fullmatch(
        rf"chainrule {__version__} \(NumPy \d\S*, Python 3\S+\)\n", chainrule_command("--version").stdout
    )


@pytest.mark.parametrize(
    "arguments, says",
    [
        ([], "usage: chainrule COMMAND"),
        (["fly"], "chainrule: no command 'fly', only run and tour\n"),
        (["--fly"], "chainrule: no option --fly\n"),
        (["script.py"], "no command 'script.py', only run and tour; to run a script: chainrule run script.py\n"),
        (["run"], "chainrule run: no script given\n"),
        (["run", "-x", "script.py"], "chainrule run: no option -x; the script's own options come after the script\n"),
        (["run", "-m"], "chainrule run: -m needs a module after it\n"),
        (["run", "-c"], "chainrule run: -c needs code after it\n"),
        (["run", "no_such.py"], "chainrule run: can't open 'no_such.py': No such file or directory\n"),
        (["tour", "moon"], "chainrule tour: no example 'moon', only autograd_walk and digits\n"),
    ],
)
def test_wrong_usage_gets_a_sentence(arguments, says, tmp_path):
    (tmp_path / "script.py").write_text("")
    result = chainrule_command(*arguments, folder=tmp_path)
    assert result.returncode == 2
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["-m", "no_such_module"], "chainrule run: no module named 'no_such_module' that can be run\n"),
        (["-m", "no_such.module"], "chainrule run: No module named 'no_such'\n"),
        (["."], "chainrule run: can't find a __main__.py in '.'\n"),
    ],
)
def test_what_cannot_be_run_ends_as_in_python(arguments, says, tmp_path):
    result = chainrule_command("run", *arguments, folder=tmp_path)
    assert (result.returncode, result.stderr) == (1, says)


def test_tour_is_the_walk_that_pytorch_prints(tmp_path):
    expected = Path(__file__).with_name("autograd_walk.out").read_text(encoding="utf-8")
    result = chainrule_command("tour", "autograd_walk", folder=tmp_path)
    assert result.stderr == ""
    assert result.stdout == "\n# autograd_walk.py\n\n" + expected
    assert result.returncode == 0


def test_tour_learns_the_digits(tmp_path):
    start = time.perf_counter()
    result = chainrule_command("tour", "digits", folder=tmp_path)
    assert time.perf_counter() - start < 60
    assert result.returncode == 0, result.stderr
    assert "30/30" in result.stderr
    right, of = map(int, re.search(r"test accuracy: (\d+) of (\d+) = ", result.stdout).groups())
    assert of == 360
    assert right / of > 0.95


def test_tour_leaves_out_what_cannot_run(monkeypatch, capsys):
    monkeypatch.setitem(touring.EXAMPLES, "digits", ("no_such_package",))
    assert touring.tour(["digits"]) == 0
    assert capsys.readouterr().out == (
        "\ndigits.py is left out: it needs scikit-learn and tqdm (pip install scikit-learn tqdm).\n"
    )


def test_tour_knows_every_example():
    assert sorted(touring.EXAMPLES) == sorted(path.stem for path in Path(touring.examples_folder()).glob("*.py"))


def test_reader_of_the_help_may_go_away():
    command = [*CHAINRULE, "run", "-c", "from chainrule.cli import main\nfor _ in range(1000): main(['--help'])"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait(timeout=60)


def test_missing_attribute_speaks_as_pytorch_and_names_the_torch_module():
    error = missing_attribute("chainrule.nn.functional", "foo")
    assert isinstance(error, AttributeError)
    assert str(error) == (
        "module 'torch.nn.functional' has no attribute 'foo' (chainrule has no torch.nn.functional.foo)"
    )
    with pytest.raises(AttributeError, match="^module 'torch' has no attribute 'no_such'"):
        chainrule.no_such


def test_runner_adds_little_to_the_start():
    """Modules that the runner brings in beyond chainrule's own: reading arguments must not cost an argparse."""
    code = "import sys; before = set(sys.modules); import chainrule.cli.running; print(*set(sys.modules) - before)"
    command = [sys.executable, "-c", f"import chainrule\n{code}"]
    added = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert all(name.startswith("chainrule.") for name in added), added
