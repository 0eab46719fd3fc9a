"""The READMEs tell the truth: each program in them prints what stands below it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM_AND_OUTPUT = re.compile(r"```python\n(.*?)```\n.*?```text\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_programs_print_what_the_readme_says(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    programs = PROGRAM_AND_OUTPUT.findall(text)
    assert len(programs) == text.count("```python") == 2
    for program, output in programs:
        command = [sys.executable, "-m", "chainrule", "run", "-"]
        result = subprocess.run(command, input=program, capture_output=True, text=True, timeout=120)
        assert (result.stdout, result.stderr) == (output, "")


def test_both_readmes_show_the_same_programs_and_links():
    english, chinese = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md"))
    assert PROGRAM_AND_OUTPUT.findall(english) == PROGRAM_AND_OUTPUT.findall(chinese)
    links = [set(re.findall(r"\]\(([^)]+)\)", text)) - {"README.md", "README.zh-CN.md"} for text in (english, chinese)]
    assert links[0] == links[1]
    assert all((ROOT / link).exists() for link in links[0])
