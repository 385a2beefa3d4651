VENV := .venv
PEERS := .venv-bench
PYTHON ?= $(shell python3.11 -c 'print("python3.11")' 2>/dev/null || echo python3)
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

.PHONY: help run serve test lint docs bench clean chromium
.DEFAULT_GOAL := help

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST)

run: $(VENV)/.kernels ## open the dashboard in the browser
	$(VENV)/bin/python -m streamlit run app.py $(if $(DEVELOP),--server.fileWatcherType poll)

serve: $(VENV)/.kernels ## open the dashboard to a lecture hall, after saying what that means
	@$(VENV)/bin/python -m dashboard.server.lecture_hall

# Kernels come first: two test processes would compile the same ones side by side. And one thread of
# linear algebra each: there are as many processes as the cores can bear. Bytecode is kept, whatever
# the environment says: pytest takes as long to prepare the modules of all tests as to import them.
test: lint chromium ## check the style, then run all tests
	$(VENV)/bin/python -m dashboard.compute.kernels all
	$(VENV)/bin/python -m tests.kernels
	OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(VENV)/bin/python -m pytest \
	  --numprocesses auto --dist loadscope --no-loadscope-reorder

lint: $(VENV)/.dev ## check style, formatting, types and the direction of imports
	$(VENV)/bin/python -m ruff check .
	$(VENV)/bin/python -m ruff format --check .
	$(VENV)/bin/lint-imports --no-logo
	$(VENV)/bin/python -m mypy

docs: $(VENV)/.dev ## build the API reference of the engine into build/docs
	$(VENV)/bin/python -m pdoc --docformat numpy --output-directory build/docs rhmm

bench: chromium $(PEERS)/.peers ## measure speed side by side with other libraries
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m benchmarks
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m benchmarks.endless
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m benchmarks.sweep
	$(VENV)/bin/python -m benchmarks.compiling
	$(VENV)/bin/python -m benchmarks.browser
	$(VENV)/bin/python -m benchmarks.classroom

clean: ## remove the environments and all caches
	rm -rf $(VENV) $(PEERS) .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

chromium: $(VENV)/.dev
	@$(VENV)/bin/python -m tests.browser.chromium

# Each stamp says "installed as the requirements of that moment asked". The development
# stamp stands on the runtime one, so both stay true whichever target is called first.
$(VENV)/.created $(PEERS)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "rhmm needs Python 3.11 or newer, and '$(PYTHON)' is older or missing;" \
	       "name another one with: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(@D)
	@touch $@

$(VENV)/.runtime: $(VENV)/.created requirements.txt constraints.txt
	@echo "Installing the runtime dependencies into $(VENV)"
	@$(VENV)/bin/python $(PIP_INSTALL) -r requirements.txt
	@touch $@

# What the first page needs is compiled before the server answers, and again after the engine changed.
$(VENV)/.kernels: $(VENV)/.runtime $(shell find rhmm -name '*.py')
	@$(VENV)/bin/python -m dashboard.compute.kernels
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements-dev.txt requirements-cluster.txt
	@echo "Installing the development dependencies into $(VENV)"
	@$(VENV)/bin/python $(PIP_INSTALL) -r requirements-dev.txt
	@touch $@

$(PEERS)/.peers: $(PEERS)/.created benchmarks/requirements-peers.txt
	@echo "Installing the libraries to compare with into $(PEERS)"
	@$(PEERS)/bin/python $(PIP_INSTALL) -r benchmarks/requirements-peers.txt
	@touch $@
