"""Run a script as `python` runs it, with `torch` meaning chainrule.

Exit codes, SystemExit, KeyboardInterrupt and broken pipes are left to the interpreter: whatever the script raises
leaves this process as it would leave a plain one. Only the traceback is shortened, so that it begins in the script.
"""

import builtins
import io
import os
import sys
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType, TracebackType

from chainrule.cli import alias


def run_path(path: str, arguments: list[str]) -> int:
    """Run a file, or the __main__.py of a folder or zip file."""
    location = os.path.abspath(path)
    importer = importer_for(location)
    if importer is not None:
        return run_container(path, importer, arguments)
    try:
        with io.open_code(location) as file:
            source = file.read()
    except OSError as error:
        return complain(f"can't open {path!r}: {error.strerror}", 2)
    set_command_line(path, os.path.dirname(os.path.realpath(path)), arguments)
    main = new_main(__file__=location, __cached__=None, __loader__=SourceFileLoader("__main__", location))
    return execute(source, location, main)


def run_container(path: str, importer, arguments: list[str]) -> int:
    spec = importer.find_spec("__main__")
    if spec is None:
        return complain(f"can't find a __main__.py in {path!r}", 1)
    set_command_line(path, os.path.abspath(path), arguments, always=True)
    return execute_spec(spec)


def run_module(name: str, arguments: list[str]) -> int:
    """Run a module by its name in the import system, or the `__main__` of a package."""
    set_command_line("-m", os.getcwd(), arguments)
    try:
        spec = find_module(name)
    except ImportError as error:
        missing = error.name
        if missing is None or not f"{name}.".startswith(f"{missing}."):
            return leave(error)  # an import inside a package on the way to the module
        return complain(str(error), 1)
    except BaseException as error:
        return leave(error)
    if spec is None or not hasattr(spec.loader, "get_code"):
        return complain(f"no module named {name!r} that can be run", 1)
    sys.argv[0] = spec.origin or name
    return execute_spec(spec)


def find_module(name: str):
    import importlib.util

    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        return importlib.util.find_spec(f"{name}.__main__")
    return spec


def run_code(source: str, arguments: list[str]) -> int:
    """Run source text given on the command line."""
    set_command_line("-c", "", arguments)
    if sys.version_info >= (3, 13):  # from here on Python's tracebacks show the lines of `-c`
        import linecache

        linecache.cache["<string>"] = (len(source), None, source.splitlines(keepends=True), "<string>")
    return execute(source, "<string>", new_main())


def run_stdin(arguments: list[str]) -> int:
    """Run source text read from standard input."""
    set_command_line("-", "", arguments)
    return execute(sys.stdin.buffer.read(), "<stdin>", new_main())


def importer_for(path: str):
    """What imports from a folder or zip file; None for an ordinary file."""
    for hook in sys.path_hooks:
        try:
            return hook(path)
        except ImportError:
            continue
    return None


def set_command_line(script: str, folder: str, arguments: list[str], *, always: bool = False) -> None:
    """Set sys.argv, and sys.path[0] to where the script's own modules are, unless `python -P` forbids it."""
    sys.argv = [script, *arguments]
    if not sys.flags.safe_path:
        sys.path[0] = folder
    elif always:
        sys.path.insert(0, folder)
    alias.install()


def new_main(**attributes) -> ModuleType:
    """A fresh `__main__`, in its place in sys.modules: pickle, multiprocessing and unittest look there."""
    main = ModuleType("__main__")
    main.__dict__.update(attributes, __builtins__=builtins)
    sys.modules["__main__"] = main
    return main


def execute_spec(spec) -> int:
    try:
        code = spec.loader.get_code(spec.name)
    except BaseException as error:
        return leave(error)
    main = new_main(
        __file__=spec.origin, __cached__=spec.cached, __loader__=spec.loader, __package__=spec.parent, __spec__=spec
    )
    return execute(code, spec.origin, main)


def execute(source: str | bytes | CodeType, filename: str, main: ModuleType) -> int:
    try:
        if not isinstance(source, CodeType):
            source = compile(source, filename, "exec", dont_inherit=True)
        exec(source, main.__dict__)
    except BaseException as error:
        return leave(error)
    return 0


def leave(error: BaseException) -> int:
    """Let the error end the process, and have it shown without the frames of this runner."""
    traceback = without_runner(error.__traceback__)
    show = sys.excepthook

    def show_shortened(kind: type[BaseException], value: BaseException, full: TracebackType | None) -> None:
        if value is error:
            value.__traceback__ = full = traceback
        show(kind, value, full)

    sys.excepthook = show_shortened
    raise error


def without_runner(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the script's first frame on, and up to an import that the alias refused."""
    while traceback is not None and is_runner(traceback):
        traceback = traceback.tb_next
    last = traceback
    while last is not None and last.tb_next is not None:
        if last.tb_next.tb_next is None and last.tb_next.tb_frame.f_code.co_filename == alias.__file__:
            last.tb_next = None
        else:
            last = last.tb_next
    return traceback


def is_runner(traceback: TracebackType) -> bool:
    filename = traceback.tb_frame.f_code.co_filename
    return filename == __file__ or filename.startswith("<frozen ")


def complain(problem: str, status: int) -> int:
    print(f"chainrule run: {problem}", file=sys.stderr)
    return status
