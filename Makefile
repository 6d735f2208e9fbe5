# The project's commands. `make` alone lists them.
# Everything runs from .venv, which `make setup` fills with the pinned, hash-checked requirements.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Extra arguments for the command a target runs: make test ARGS="-k taint", make conformance ARGS="--seed 7".
ARGS ?=
# What random cases and examples are drawn from: make test SEED=7 repeats a run's. None: other ones each time.
SEED ?=
# Histories that `make side-by-side` plays.
COUNT ?= 100
OBJECTS ?= 2000
# Processes that tests run in; 0 for none, as a debugger wants.
WORKERS ?= 2
# Processes that tests on real servers run in: they mostly wait.
LIVE_WORKERS ?= 3
# Seconds that the tests on a real API server may take, the first build of its programs included.
LIVE_SECONDS ?= 3600
# Tests on real servers that build Go programs: they run by themselves before the others, whose times a build would change.
BUILDING := $(addprefix tests/live/test_,capacity.py descheduler.py kyverno_policies.py renderers.py side_by_side.py)
# Seconds that Kubernetes' own tests may take, their first build included; `make upstream ARGS=e2e` and others are long.
UPSTREAM_SECONDS ?= 3600
# Seconds that the tests in a browser may take.
BROWSER_SECONDS ?= 900
# Against real servers and a browser a test that fails is played once more, and its first failure printed: what is wrong
# fails twice, or in more than three tests; what a busy machine did does not end a run of hundreds.
AGAIN := --reruns 1 --max-suite-reruns 3 --rerun-show-tracebacks -r aR

# Seconds that `make fuzz` runs.
SECONDS ?= 600

.DEFAULT_GOAL := help
.PHONY: help setup demo test fuzz browser faults live parity calibration side-by-side mutants upstream lint format policies extension bench bench-live \
	bench-quick conformance \
	release-check site playground nightly gallery lock clean
.SUFFIXES:

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv with everything pinned
	@echo "$(VENV) is ready"

$(READY): requirements/dev.txt pyproject.toml src/topospread/version.py
	@test -n "$(PYTHON)" || { echo "python3 is missing; topospread needs Python 3.11 or newer" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "topospread needs Python 3.11 or newer, not %d.%d" % sys.version_info[:2])'
	@test -x $(BIN)/pip || { echo "creating $(VENV) with $$($(PYTHON) --version)"; $(PYTHON) -m venv --clear $(VENV); }
	@echo "installing requirements/dev.txt"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

demo: $(READY) ## place a realistic application and show where it lands
	@PATH="$(CURDIR)/$(BIN):$$PATH" examples/demo/run.sh

test: $(READY) ## run the tests
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(if $(SEED),--hypothesis-seed=$(SEED)) $(ARGS)

fuzz: $(READY) ## run all commands on random files for SECONDS (600); SEED=N repeats a run, ARGS=--one only its first case
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(ARGS)

browser: $(READY) ## run the tests of the page in Chromium, which is installed when it is missing and may be
	@tests/browser/chromium.sh > /dev/null
	@timeout --foreground $(BROWSER_SECONDS) $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile $(AGAIN) tests/browser $(ARGS)

faults: $(READY) ## run the live scheduler behind a proxy that goes wrong, on a small API server (no Go needed)
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal tests/faults $(ARGS)

live: $(READY) ## run the tests on a real API server, helm and kustomize, built from Go modules (needs Go, openssl, curl)
	@$(if $(ARGS),true,timeout --foreground $(LIVE_SECONDS) $(BIN)/python -m pytest -q $(AGAIN) $(BUILDING))
	@timeout --foreground $(LIVE_SECONDS) $(BIN)/python -m pytest -q -n $(LIVE_WORKERS) --dist loadfile $(AGAIN) \
	  $(if $(ARGS),,$(addprefix --ignore=,$(BUILDING))) tests/live $(ARGS)

parity: $(READY) ## play the same faults before ours and kube-scheduler on real control planes, and compare attempts and time
	@$(BIN)/python -m tests.live.parity $(ARGS)

calibration: $(READY) ## compare how often outcomes of drills come true with the real controllers and how often they are drawn
	@$(BIN)/python -m tests.live.calibration $(ARGS)

side-by-side: $(READY) ## play COUNT random histories beside kube-scheduler on two API servers, and compare what came of them
	@$(BIN)/python -m tests.live.side_by_side --count $(COUNT) $(if $(SEED),--seed $(SEED)) $(ARGS)

extension: $(READY) ## build the extension for VS Code and try it beside the server (needs npm); nothing is published
	@cd editors/vscode && npm ci --silent --no-audit --no-fund --ignore-scripts && npx --no-install vsce package \
	  --allow-missing-repository --out topospread.vsix > ../../.venv/vsce.log || { cat ../../.venv/vsce.log; exit 1; }
	@$(BIN)/python editors/vscode/try.py

policies: $(READY) ## ask what `topospread policies` prints and the linter about OBJECTS random objects, on a real API server
	@$(BIN)/python -m tests.live.policies --count $(OBJECTS) $(if $(SEED),--seed $(SEED)) $(ARGS)

mutants: $(READY) ## change the engine at 100 random places; count the changes that its unit tests notice (SEED=N repeats)
	@$(BIN)/python -m tests.mutants $(if $(SEED),--seed $(SEED)) $(ARGS)

upstream: $(READY) ## run some of Kubernetes' own integration tests of the scheduler against ours, built from Go modules (needs Go)
	@timeout --foreground $(UPSTREAM_SECONDS) tests/upstream/run.sh $(or $(ARGS),quick)

lint: $(READY) ## check style, types and the direction of imports
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || { echo "not formatted (make format): "; $(BIN)/ruff format --check . ; exit 1; }
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/python -m release.docstrings
	@$(BIN)/lint-imports --no-cache > .venv/lint-imports.log || { cat .venv/lint-imports.log; exit 1; }
	@echo "lint: clean"

format: $(READY) ## format the code and mend what ruff can mend
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .

bench: $(READY) ## measure, beside kube-scheduler's own cycle when Go is there
	@$(BIN)/python -m benchmarks.run $(ARGS)

bench-live: $(READY) ## measure a live scheduler beside kube-scheduler on a real API server (build/live needs kube-scheduler, too)
	@$(BIN)/python -m benchmarks.live $(ARGS)

bench-quick: $(READY) ## measure in under a minute
	@$(BIN)/python -m benchmarks.run --quick $(ARGS)

conformance: $(READY) ## judge fresh random cases beside kube-scheduler's own plugins (needs Go)
	@$(BIN)/python -m conformance.run $(if $(SEED),--seed $(SEED)) $(ARGS)
	@$(if $(ARGS),true,$(BIN)/python -m conformance.field --check kube-scheduler)
	@$(if $(ARGS),true,$(BIN)/python -m conformance.tables)

# Not part of the development environment either: what builds and checks releases.
RELEASE := build/release/tools

$(RELEASE)/.ready: requirements/release.txt
	@$(PYTHON) -m venv --clear $(RELEASE)
	@$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/release.txt
	@touch $@

SITE := build/site/tools

$(SITE)/.ready: requirements/site.txt
	@$(PYTHON) -m venv --clear $(SITE)
	@$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/site.txt
	@touch $@

PLAYGROUND := build/playground/tools
# Pyodide's Python.
PYTHON_312 ?= $(shell command -v $(firstword $(wildcard $(HOME)/.pyenv/versions/3.12*/bin/python3.12) python3.12))

$(PLAYGROUND)/.ready: requirements/runtime.txt requirements/playground.txt
	@test -n "$(PYTHON_312)" || { echo "python3.12 is missing: it compiles what Pyodide runs" >&2; exit 1; }
	@$(PYTHON_312) -m venv --clear $(PLAYGROUND)
	@$(PLAYGROUND)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	  -r requirements/runtime.txt -r requirements/playground.txt
	@touch $@

playground: $(PLAYGROUND)/.ready ## put together what the site's playground loads (needs npm and Python 3.12 with its headers)
	@$(PLAYGROUND)/bin/python -m release.playground.assemble build/playground/assets

nightly: playground site $(READY) ## what takes too long for every change: many random examples, the playground and the site in Chromium
	@tests/browser/chromium.sh > /dev/null
	@$(BIN)/python -m pytest -q tests/playground $(ARGS)
	@SITE_PAGES=all $(BIN)/python -m pytest -q tests/release/test_site_in_browser.py
	@$(BIN)/python -m conformance.run --flavours KEP-5980,KEP-5980-replicas
	@PROMISED_WORKLOADS=50 $(BIN)/python -m pytest -q tests/live/test_promises.py
	@ATTACKED_COURSES=1000 $(BIN)/python -m pytest -q tests/property/test_course_attack.py
	@LONG=10 $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal
	@LONG=3 $(BIN)/python -m pytest -q $(addprefix tests/live/test_,capacity.py descheduler.py side_by_side.py suggestions.py \
	  policies.py minute_away.py scheduler_soak.py)

site: $(SITE)/.ready ## build the documentation as a site, strictly, into build/site/html; among its versions in build/site/versions
	@release/site_versions.sh $(SITE)/bin build/site

gallery: $(READY) ## make the pictures of the gallery anew
	@tests/browser/chromium.sh > /dev/null
	@$(BIN)/python docs/write_gallery.py

release-check: site $(READY) $(RELEASE)/.ready ## build what would be released, and check it, installed by every Python that is here
	@$(BIN)/python -m release.check
	@$(BIN)/python -m pytest -q tests/release $(ARGS)

# Not part of the development environment: pip-tools lives in a folder of its own.
PIP_COMPILE = CUSTOM_COMPILE_COMMAND="make lock" build/pip-tools/bin/pip-compile --quiet \
	--generate-hashes --strip-extras --allow-unsafe --newline lf \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links

lock: ## pin the requirements anew (ARGS="--upgrade" takes newer versions)
	@test -x build/pip-tools/bin/pip-compile || { $(PYTHON) -m venv build/pip-tools && build/pip-tools/bin/pip install --quiet pip-tools; }
	@$(PIP_COMPILE) $(ARGS) -o requirements/runtime.txt pyproject.toml
	@$(PIP_COMPILE) $(ARGS) -o requirements/dev.txt -c requirements/runtime.txt --extra live --extra dask --extra solver --extra web --extra frames --extra lsp --extra mcp pyproject.toml requirements/dev.in
	@$(PIP_COMPILE) $(ARGS) -o requirements/image.txt -c requirements/dev.txt --extra live --extra solver --extra web pyproject.toml
	@$(PIP_COMPILE) $(ARGS) -o requirements/build.txt -c requirements/dev.txt requirements/build.in
	@$(PIP_COMPILE) $(ARGS) -o requirements/release.txt -c requirements/dev.txt requirements/release.in
	@$(PIP_COMPILE) $(ARGS) -o requirements/site.txt -c requirements/release.txt requirements/site.in
	@$(PIP_COMPILE) $(ARGS) -o requirements/playground.txt -c requirements/release.txt requirements/playground.in
	@git diff --stat -- requirements

clean: ## remove what the targets above made, .venv included
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests conformance benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
