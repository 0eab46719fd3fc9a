"""Random programs of operations, views, in-place changes and backward passes: both libraries do the same at every step."""

import os

import pytest
import torch

import chainrule

from .programs import differences, drawn, shrunk, source

COUNT = int(os.environ.get("CONFORMANCE_EXAMPLES", "0")) or 300
FIRST = int(os.environ.get("CONFORMANCE_SEED", "0"))


@pytest.mark.parametrize("part", range(10))
def test_programs(part):
    for seed in range(FIRST + part, FIRST + COUNT, 10):
        program, often = drawn(torch, seed), seed % 2 == 0
        if differences(torch, chainrule, program, often):
            program = shrunk(program, lambda p, often=often: bool(differences(torch, chainrule, p, often)))
            lines = "\n".join(differences(torch, chainrule, program, often))
            pytest.fail(f"seed {seed}:\n{source(program)}\n{lines}")
