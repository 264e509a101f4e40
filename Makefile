# Every target creates and uses .venv; nothing else on the machine is touched.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed-dev
# Hundreds of tests start the program: it is compiled once and not each time, whoever runs them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-oldest test-newest lint lock api figures audit fuzz faults histories mutants docs clean

demo: .venv/installed-demo  ## anonymize the embedded example and say where the results are
	$(BIN)/sacofa demo -o demo --force

test: $(STAMP)  ## lint, type-check and run all tests
	$(BIN)/ruff check src tests benchmarks docs examples
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist worksteal --durations=20

# What depends on other libraries: readers, mechanisms, and what a release is written and read with.
VERSIONED := tests/base tests/kernel tests/synthesis tests/mechanisms tests/events tests/release tests/test_trace_variant_query.py
WORKERS ?= 2

# The oldest libraries have no wheels for the newest Python.
test-oldest: RESOLUTION := lowest-direct
test-oldest: PYTHONS ?= 3.11
test-newest: RESOLUTION := highest
test-newest: PYTHONS ?= 3.13
test-oldest test-newest: $(BIN)/uv  ## test with the oldest or newest libraries declared; PYTHONS="3.12" names versions
	failed=; \
	for python in $(PYTHONS); do \
		folder=.venv/$(RESOLUTION)-$$python; \
		if ! $(BIN)/uv venv --quiet --clear --python $$python $$folder; then \
			echo "Python $$python was not tested: it is not installed and uv cannot download it." \
				"Install it, or set PYTHONS to versions that \"$(BIN)/uv python list --only-installed\" shows." >&2; \
			failed=1; \
			continue; \
		fi; \
		$(BIN)/uv pip install --quiet --python $$folder/bin/python --resolution $(RESOLUTION) -e '.[test]' && \
		$$folder/bin/python -m pytest -n $(WORKERS) --dist worksteal $(VERSIONED) || failed=1; \
	done; \
	test -z "$$failed"

figures: $(STAMP)  ## measure what documents show, on the logs in SACOFA_LOGS; ONLY="speed papers" names groups
	$(BIN)/python benchmarks/figures.py "$${SACOFA_LOGS:?must be set to the folder of the logs}" $(if $(ONLY),--only $(ONLY))
	$(BIN)/python docs/make/figures.py

audit: $(STAMP)  ## try to refute every mechanism, with 100,000 runs on each log
	$(BIN)/python benchmarks/audit.py

fuzz: $(STAMP)  ## feed 20,000 damaged files to the readers, with a seed that changes
	$(BIN)/python -m tests.hardening.fuzz 20000 $$(date +%s)

faults: $(STAMP)  ## kill, break and crowd releases and the web app, for a minute each
	$(BIN)/python benchmarks/faults.py

histories: $(STAMP)  ## compare a ledger with its model in 10,000 random histories
	$(BIN)/python -m tests.hardening.histories run 10000 $$(date +%s)

mutants: $(STAMP)  ## break the trusted core in 200 ways; fails unless tests notice 97 % of them
	$(BIN)/python -m tests.mutants

docs: $(STAMP)  ## build the documentation into site/; a dead link fails
	$(BIN)/python docs/make/cli.py
	$(BIN)/python docs/make/figures.py
	$(BIN)/python docs/make/pictures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Open site/index.html"

lint: $(STAMP)  ## lint and format
	$(BIN)/ruff check --fix src tests benchmarks docs examples
	$(BIN)/ruff format src tests benchmarks docs examples

lock: $(BIN)/uv  ## write anew which versions the tools of development have
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --extra dev --no-annotate \
		--custom-compile-command "make lock" --output-file constraints.txt pyproject.toml

api: $(STAMP)  ## write anew which names and signatures are public
	$(BIN)/python -m tests.api

clean:  ## remove what the targets made
	rm -rf .venv demo build dist site

$(BIN)/uv:
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet uv

# The demo needs the package alone; everything else needs the tools of development. Both are installed
# in the versions of constraints.txt, if there are such for this machine.
.venv/installed-%: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.$(if $(filter demo,$*),,[$*])' || \
		$(BIN)/python -m pip install --quiet -e '.$(if $(filter demo,$*),,[$*])'
	touch $@
