# Each command sets up what it needs: python3 (3.11 or newer) and make are enough.
#
#   make demo       fit the noisy cubic and the moons, write figures to demo-output/
#   make test       lint and tests, with a portion of those that take long
#   make test-long  the rest of those
#   make test-installed  errors, callbacks and the corpus from a copy in site-packages
#   make test-all   all tests in CPython 3.11, 3.12 and 3.13
#   make docs       the documentation, in docs/_build/html, and a check of its links
#   make lint       ruff (format and rules), mypy --strict
#   make types      pyright: the types that users see are complete
#   make bench      measure speed and memory beside the peers
#   make bench-history  the figures of earlier runs
#   make profile    where a derivative spends its time: FILE=path.py:function [ARGS=name]
#   make coverage  what runs as programs, and why the rest does not; MOST=20 reasons
#   make fuzz       100,000 random programs; N=5000 says how many, SEED=1 which
#   make clean      remove what was built

VENV ?= .venv
N ?= 100000
SEED ?= 0
MOST ?= 40
VERSIONS := 3.11 3.12 3.13
# as many processes as the machine has cores; PYTEST_ARGS="tests/api -k shape" runs a part
PYTEST_ARGS ?= -n auto --dist worksteal

PY = $(VENV)/bin/python
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-at-once test-long test-installed test-all docs lint bench bench-history profile coverage fuzz types clean $(VERSIONS:%=test-%)

demo: $(VENV)/.demo
	$(PY) -m adjoint.demo

test: $(VENV)/.test # types are checked beside the tests
	$(MAKE) --no-print-directory -j 2 lint test-at-once

test-at-once: $(VENV)/.test
	$(PY) -m pytest --at-once $(PYTEST_ARGS)

test-long: $(VENV)/.test
	$(PY) -m pytest --the-rest $(PYTEST_ARGS)

test-installed: $(VENV)/.test
	tools/test-installed $(PY) $(PYTEST_ARGS)

test-all: lint $(VERSIONS:%=test-%)

$(VERSIONS:%=test-%): test-%: .venv-%/.test
	.venv-$*/bin/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.test
	$(PY) -m ruff format --check
	$(PY) -m ruff check
	$(PY) -m mypy

docs: $(VENV)/.docs
	$(PY) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	tools/check-site docs/_build/html
	@echo "docs/_build/html/index.html"

types: $(VENV)/.types
	tools/check-types $(PY)

bench: $(VENV)/.bench
	$(PY) -m benchmarks

bench-history: $(VENV)/.bench
	$(PY) -m benchmarks.history

profile: $(VENV)/.test
	$(PY) -m adjoint.profile $(FILE) $(if $(ARGS),--args $(ARGS))

coverage: $(VENV)/.test
	$(PY) -m tests.program_coverage $(MOST)

fuzz: $(VENV)/.test
	$(PY) -m tests.fuzz $(N) --seed $(SEED)

clean:
	rm -rf docs/_build docs/reference/generated
	rm -rf .venv $(VERSIONS:%=.venv-%) build dist demo-output
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis fuzz-failures
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# ---- environments: a stamp for what each command needs, renewed when pyproject.toml changes ----

.PRECIOUS: .venv-%/.made

$(VENV)/.made: tools/find-python
	python=$$(tools/find-python) && "$$python" -m venv --clear $(VENV)
	touch $@

.venv-%/.made: tools/find-python
	python=$$(tools/find-python $*) && "$$python" -m venv --clear .venv-$*
	touch $@

NEEDS_demo = --editable '.[plots,progress]'
NEEDS_test = --editable '.[all]' --group test
NEEDS_bench = --editable . --group bench
NEEDS_docs = --editable '.[all]' --group docs
NEEDS_types = --editable . --group types

# Groups of dependencies are known to pip 25.1 and newer.
STAMPS = $(addprefix $(VENV)/.,demo test bench docs types)
$(STAMPS): $(VENV)/.%: $(VENV)/.made pyproject.toml
	$(PY) $(PIP_INSTALL) 'pip>=25.1'
	$(PY) $(PIP_INSTALL) $(NEEDS_$*)
	touch $@

.venv-%/.test: .venv-%/.made pyproject.toml
	.venv-$*/bin/python $(PIP_INSTALL) 'pip>=25.1'
	.venv-$*/bin/python $(PIP_INSTALL) $(NEEDS_test)
	touch $@
