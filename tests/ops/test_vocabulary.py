"""The two vocabularies are one list, and formulas use nothing else."""

import dis
import inspect
import types

import numpy as np
import pytest

from chainrule.core import vocabulary
from chainrule.core.registry import OPS
from chainrule.ops import differentiable

# What the functions of the vocabulary are made of; they ask where memory lies, which no formula does.
RAW_ALONE = {"owner_of", "strided_index"}
NAMES = sorted(
    name
    for name, value in vars(vocabulary).items()
    if callable(value) and not name.startswith("_") and name not in RAW_ALONE | {"ndarray"}
)
FORMULAS = sorted({(name, f.function) for name, op in OPS.items() for f in op.formulas.values()}, key=lambda p: p[0])

# Formulas that make masks, places and sizes with NumPy, constants all: nothing that is differentiated passes through it.
CONSTANTS = {
    "affine_grid_generator", "embedding_bag", "grid_sampler_2d", "grid_sampler_3d", "index_reduce_prod", "scatter_reduce_prod"
}  # fmt: skip


def positions(function) -> tuple:
    """(how many positional arguments a function needs, how many it takes)."""
    if isinstance(function, np.ufunc):
        return function.nin, function.nin
    taken = [
        p
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)
    ]
    if any(p.kind == p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values()):
        return 0, 99
    return sum(p.default is p.empty for p in taken), len(taken)


@pytest.mark.parametrize("name", NAMES)
def test_every_function_has_a_differentiable_twin_with_the_same_parameters(name):
    raw, twin = getattr(vocabulary, name), getattr(differentiable, name)
    assert callable(twin)
    if twin.__module__ == differentiable.__name__ and isinstance(raw, types.FunctionType):
        ours, theirs = inspect.signature(twin).parameters, inspect.signature(raw).parameters
        if (raw.__module__ or "").startswith("chainrule"):
            assert list(ours) == list(theirs)
            assert [p.default for p in ours.values()] == [p.default for p in theirs.values()]
        else:  # NumPy's own, of whose parameters the first ones are in use
            assert list(ours) == list(theirs)[: len(ours)]
        return
    try:
        need, take = positions(raw)
    except ValueError:  # written in C, without a signature
        return
    # PyTorch's function under its own parameter names: formulas give arguments by position.
    needs, takes = positions(twin)
    if raw.__module__.startswith("chainrule"):
        assert needs <= need and take <= takes
    else:
        assert needs <= take and need <= takes


def test_the_differentiable_vocabulary_has_no_function_of_its_own():
    functions = {n: f for n, f in vars(differentiable).items() if isinstance(f, types.FunctionType)}
    own = {n for n, f in functions.items() if not n.startswith("_") and f.__module__ == differentiable.__name__}
    assert own <= set(NAMES)


def reached(function):
    """A formula and the functions of its module that it hands `xp` to."""
    stack, seen = [function], []
    while stack:
        f = stack.pop()
        if f in seen:
            continue
        seen.append(f)
        for code in codes(f.__code__):
            for name in code.co_names:
                g = f.__globals__.get(name)
                if isinstance(g, types.FunctionType) and g.__code__.co_varnames[:1] == ("xp",):
                    stack.append(g)
    return seen


def codes(code):
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from codes(inner)


def attributes_of(code, variable: str) -> set:
    """The names that code loads as attributes of a variable."""
    found, before = set(), None
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_METHOD", "LOAD_ATTR") and before is not None:
            if before.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) and before.argval == variable:
                found.add(instruction.argval)
        before = instruction
    return found


@pytest.mark.parametrize("name, formula", FORMULAS, ids=lambda v: v if isinstance(v, str) else "")
def test_formulas_use_the_vocabulary_alone(name, formula):
    for function in reached(formula):
        xp = function.__code__.co_varnames[0]
        for code in codes(function.__code__):
            assert attributes_of(code, xp) <= set(NAMES)
            modules = {n for n in code.co_names if isinstance(function.__globals__.get(n), types.ModuleType)}
            assert modules <= {"math"} or name in CONSTANTS and modules <= {"math", "np"}
            assert "import" not in {i.opname.split("_")[0].lower() for i in dis.get_instructions(code)}


def test_first_parameters_of_formulas():
    for _, formula in FORMULAS:
        assert formula.__code__.co_varnames[0] == "xp"
        assert formula.__code__.co_varnames[1] in ("grad", "grads")
