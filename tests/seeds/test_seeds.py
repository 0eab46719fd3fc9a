"""The first scripts that chainrule was made for, and what they print, character for character."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted(path for path in Path(__file__).parent.glob("*.py") if path.with_suffix(".out").exists())


def test_every_seed_was_found():
    assert len(SCRIPTS) == len(list(Path(__file__).parent.glob("*.out"))) > 0


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_seed_prints_what_pytorch_prints(script):
    command = [sys.executable, "-m", "chainrule", "run", str(script)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.stderr == ""
    assert result.stdout == script.with_suffix(".out").read_text()
    assert result.returncode == 0
