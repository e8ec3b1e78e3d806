# Graphwarden on a fresh machine needs Python 3.11, make and a C++ compiler, and two commands:
#
#   make hunt    hunt for compiler bugs for about three minutes; drafts end up in reports/
#   make test    lint, type checks and all tests
#
# XLA=1 installs JAX too (about 380 MB), so that the backend `xla` works and its tests run.
# TF=1 makes a second environment with TensorFlow (about 1.7 GB), for the option keras=tensorflow (docs/keras.md).
#
# pip's own settings (PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS, pip.conf) are used as they are.

VENV        ?= .venv
HUNT_BUDGET ?= 3m
HUNT_DB     ?= hunt.db
HUNT_OUT    ?= reports
HUNT_ARGS   ?=
PYTEST_ARGS ?= -n 2 --dist worksteal
XLA         ?=
TF          ?=

# The first of these that really is Python 3.11 or newer (a version manager's stub may not be).
PYTHON ?= $(shell for p in python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)

PY    := $(VENV)/bin/python
STAMP := $(VENV)/.installed
# Beside the other and named after it: there graphwarden looks for it.
TFENV := $(VENV)-tensorflow
# What plays GitHub in the tests, with a Node of its own.
NODE  := node_modules/.installed
# Everything that is to be installed.
READY := $(STAMP) $(if $(XLA),$(VENV)/.xla) $(if $(TF),$(TFENV)/.installed)
# An environment that was copied from another folder, or whose Python has gone, is not ours.
ifneq ($(shell cat $(STAMP) 2>/dev/null && $(PY) -c ''),$(CURDIR))
$(shell rm -f $(STAMP) $(VENV)/.xla)
endif

.PHONY: help hunt test golden lint format setup lock clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

hunt: $(READY)
	$(VENV)/bin/graphwarden hunt --budget $(HUNT_BUDGET) --db $(HUNT_DB) --out $(HUNT_OUT) $(HUNT_ARGS)
	@echo "reports: $(abspath $(HUNT_OUT))   database: $(abspath $(HUNT_DB))"

test: lint $(NODE)
	$(PY) -m pytest $(PYTEST_ARGS)

# Approves what the signatures' golden cases give today; read the difference before committing it.
golden: $(READY)
	UPDATE_GOLDEN=1 $(PY) -m pytest --quiet tests/triage/test_golden_signatures.py

lint: $(READY)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy bot fuzz triage

format: $(READY)
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

setup: $(READY)

# --no-deps: the lock is complete, so nothing that it does not name is installed; `pip check` verifies that.
$(STAMP): pyproject.toml requirements.lock .ci/no_cuda.py
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer on PATH; install it or set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: PYTHON=$(PYTHON) is not Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "error: $(PYTHON) lacks venv or ensurepip; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@command -v g++ >/dev/null || command -v clang++ >/dev/null || \
		echo "note: no C++ compiler found; the inductor backend will be reported as unavailable (install g++)"
	@# No stamp: the last installation was cut off, failed or belongs elsewhere. Start from nothing.
	@test -e $(STAMP) || test ! -e $(VENV)/pyvenv.cfg || rm -rf "$(VENV)"
	@test -x $(PY) || "$(PYTHON)" -m venv "$(VENV)"
	@rm -f $(STAMP)
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps -r requirements.lock
	@$(PY) .ci/no_cuda.py
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(PY) -m pip --disable-pip-version-check check
	@echo "$(CURDIR)" > $@

$(VENV)/.xla: requirements-xla.lock $(STAMP)
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-xla.lock
	@$(PY) -m pip --disable-pip-version-check check
	@touch $@

$(TFENV)/.installed: requirements-tensorflow.lock $(STAMP)
	@test -e $@ || rm -rf "$(TFENV)"
	@test -x $(TFENV)/bin/python || $(PY) -m venv "$(TFENV)"
	@rm -f $@
	$(TFENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-tensorflow.lock
	@$(TFENV)/bin/python -m pip --disable-pip-version-check check
	@touch $@

$(NODE): package.json package-lock.json .ci/node_packages.py $(STAMP)
	@rm -f $@
	$(PY) .ci/node_packages.py
	@touch $@

# Newest versions that pyproject.toml allows, every transitive one pinned. To be run with the oldest Python that is meant
# to work (3.11.2, Debian 12): some packages want a newer 3.11.
lock:
	rm -rf .venv-lock
	"$(PYTHON)" -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	.venv-lock/bin/python .ci/no_cuda.py
	{ sed -n '/^#/p' requirements.lock; \
	  .venv-lock/bin/python -m pip freeze --all --exclude pip --exclude-editable | sed 's/^torch==\([^+]*\)+.*/torch==\1/'; } > requirements.new
	mv requirements.new requirements.lock
	rm -rf .venv-lock

clean:
	rm -rf $(VENV) $(TFENV) .venv-lock node_modules build dist .mypy_cache .pytest_cache .ruff_cache
