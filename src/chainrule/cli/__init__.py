"""The command line: `chainrule run`, `chainrule tour`.

Arguments are read by hand: everything after the script belongs to the script, and a runner adds nothing to the time a
script takes to start.
"""

import os
import sys
from collections.abc import Sequence

HELP = """\
usage: chainrule COMMAND ...

PyTorch's Tensor and autograd in plain Python on NumPy and SciPy.

commands:
  run       run a Python script in which `import torch` means chainrule
  tour      run the examples, a walk through autograd first

options:
  -h, --help     show this help; `chainrule COMMAND --help` shows a command's
  -V, --version  show the version

examples:
  chainrule tour
  chainrule run train.py --epochs 3
  chainrule run -c "import torch; print(torch.ones(2, 2))"
"""

RUN_HELP = """\
usage: chainrule run SCRIPT [ARGUMENT ...]
       chainrule run -m MODULE [ARGUMENT ...]
       chainrule run -c CODE [ARGUMENT ...]
       chainrule run - [ARGUMENT ...]

Run Python code as `python` would, with `import torch` and every `torch.` module
resolved to chainrule, even where PyTorch is installed. Nothing in the code needs
to change. SCRIPT is a file, or a folder or zip file that holds a __main__.py.

options:
  -m MODULE      run a module or a package, as `python -m`
  -c CODE        run the code given
  -              read the code from standard input
  -h, --help     show this help

Everything after SCRIPT, MODULE or CODE is passed on in sys.argv.
Processes that the script starts through multiprocessing resolve torch to chainrule
too; other programs that it starts do not, unless started by `chainrule run`.

examples:
  chainrule run train.py --epochs 3
  chainrule run -m pytest tests
  chainrule run -c "import torch; print(torch.arange(3) ** 2)"
  echo "import torch; print(torch.pi)" | chainrule run -
"""

TOUR_HELP = """\
usage: chainrule tour [EXAMPLE ...]

Run the examples that come with chainrule, one after the other: ordinary PyTorch
scripts that show their code and what it prints.

  autograd_walk  tensors, gradients and the graph between them
  digits         a network that learns to read digits (needs scikit-learn and tqdm)

examples:
  chainrule tour
  chainrule tour digits
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments[:1] == ["run"]:
        return run(arguments[1:])
    try:
        status = other_command(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output, `head` perhaps, has seen enough. Nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    return status


def other_command(arguments: list[str]) -> int:
    if not arguments:
        print(HELP, end="", file=sys.stderr)
        return 2
    command, *rest = arguments
    if command in ("-h", "--help", "help"):
        print({"run": RUN_HELP, "tour": TOUR_HELP}.get("".join(rest[:1]), HELP), end="")
        return 0
    if command in ("-V", "--version"):
        print_version()
        return 0
    if command == "tour":
        return tour(rest)
    if command.startswith("-"):
        return wrong_usage("chainrule", f"no option {command}")
    hint = f"; to run a script: chainrule run {command}" if os.path.exists(command) else ""
    return wrong_usage("chainrule", f"no command {command!r}, only run and tour{hint}")


def run(arguments: list[str]) -> int:
    from chainrule.cli import running

    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    elif arguments and arguments[0] in ("-h", "--help"):
        return main(["help", "run"])
    elif arguments and arguments[0][:2] in ("-m", "-c"):
        option, attached = arguments[0][:2], arguments[0][2:]
        rest = [attached, *arguments[1:]] if attached else arguments[1:]
        if not rest:
            return wrong_usage("chainrule run", f"{option} needs {'a module' if option == '-m' else 'code'} after it")
        start = running.run_module if option == "-m" else running.run_code
        return start(rest[0], rest[1:])
    elif arguments and arguments[0] == "-":
        return running.run_stdin(arguments[1:])
    elif arguments and arguments[0].startswith("-"):
        return wrong_usage("chainrule run", f"no option {arguments[0]}; the script's own options come after the script")
    if not arguments:
        return wrong_usage("chainrule run", "no script given")
    return running.run_path(arguments[0], arguments[1:])


def tour(arguments: list[str]) -> int:
    from chainrule.cli import touring

    if any(argument in ("-h", "--help") for argument in arguments):
        print(TOUR_HELP, end="")
        return 0
    unknown = [name for name in arguments if name not in touring.EXAMPLES]
    if unknown:
        return wrong_usage("chainrule tour", f"no example {unknown[0]!r}, only {' and '.join(touring.EXAMPLES)}")
    return touring.tour(arguments or list(touring.EXAMPLES))


def print_version() -> None:
    import numpy

    from chainrule._version import __version__

    print(f"chainrule {__version__} (NumPy {numpy.__version__}, Python {sys.version.split()[0]})")


def wrong_usage(command: str, problem: str) -> int:
    print(f"{command}: {problem}\nTry '{command} --help'.", file=sys.stderr)
    return 2
