# Needs make and Python 3.11 or newer; everything else is installed into virtual environments in this folder.
#   make run           install, then the tour
#   make test          install, then the test suite           (ARGS="tests/cli -k name" picks tests)
#   make lint          ruff and mypy
#   make conformance   chainrule held against PyTorch itself   (installs torch into .venv-conformance)
#   make bench         time per operation beside PyTorch       (the same environment)
#   make package       build the wheel, install it alone, run the tour from it
#   make clean         remove the environments and what was built
PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
TORCH_BIN := .venv-conformance/bin
WHEEL_BIN := .venv-package/bin

.PHONY: run test lint conformance bench package clean
.NOTPARALLEL:

run: .venv/.examples-installed
	$(BIN)/chainrule tour

test: .venv/.test-installed
	$(BIN)/python -m pytest -n 2 $(ARGS)

lint: .venv/.dev-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

conformance: .venv-conformance/.conformance-installed
	$(TORCH_BIN)/python -m pytest conformance -n 2 $(ARGS)

bench: .venv-conformance/.conformance-installed
	$(TORCH_BIN)/python benchmarks/micro.py $(ARGS)

package: .venv-package/.created
	rm -rf build/wheel
	$(WHEEL_BIN)/pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(WHEEL_BIN)/pip install --quiet build/wheel/chainrule-*.whl
	$(WHEEL_BIN)/pip install --quiet --force-reinstall --no-deps build/wheel/chainrule-*.whl
	cd build && ../$(WHEEL_BIN)/chainrule --version && ../$(WHEEL_BIN)/chainrule tour

clean:
	rm -rf .venv .venv-conformance .venv-package build dist

# A stamp says that an environment exists, or that an extra is installed in it. The install is editable: a change of
# the sources needs no new one, a change of pyproject.toml does.
.venv/.created .venv-conformance/.created .venv-package/.created:
	@$(PYTHON) -c 'import sys; sys.exit("chainrule needs Python 3.11 or newer: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(@D)
	@touch $@

.venv/.%-installed: .venv/.created pyproject.toml
	$(BIN)/pip install --quiet --editable '.[$*]'
	@touch $@

.venv-conformance/.conformance-installed: .venv-conformance/.created pyproject.toml
	$(TORCH_BIN)/pip install --quiet --editable '.[test,conformance]'
	@touch $@
