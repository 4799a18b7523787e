# Everything a developer or CI needs; `make demo` and `make test` set themselves up.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
PAGE := sandbox/web/dist/.built

.PHONY: help setup demo test check format bench pictures contract-clearml contract-kubernetes manifests requirements clean

help: ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

setup: $(VENV)/.ready $(PAGE) ## make .venv with everything pinned, and the playground's page

$(VENV)/.ready: requirements/dev.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is needed; name yours with 'make PYTHON=/path/to/python'." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments; on Debian: apt-get install python3.11-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes --requirement requirements/dev.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Without Node.js it is not made, which is said; and it is tried again the next time.
$(PAGE): $(VENV)/.ready sandbox/web/build $(wildcard sandbox/web/*.json sandbox/web/*.mjs) $(shell find sandbox/web/src -type f)
	@sandbox/web/build

demo: setup ## a company to play with in the browser; ARGS=--once: the worked example, here
	$(BIN)/poolkeeper demo $(ARGS)

test: setup ## the whole test suite; most tests wait for processes, so several run at a time
	@if [ -d sandbox/web/node_modules ]; then sandbox/web/with-node npm test --silent; \
	else echo "NOT TESTED: the playground's page, which needs Node.js 20 or newer."; fi
	$(BIN)/pytest --numprocesses 4 --dist loadfile $(ARGS)

check: setup ## format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if [ -d sandbox/web/node_modules ]; then sandbox/web/with-node npm run --silent check; \
	else echo "Not checked: the playground's page, which needs Node.js 20 or newer."; fi

format: setup ## rewrite in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	@if [ -d sandbox/web/node_modules ]; then sandbox/web/with-node npm run --silent format; fi

bench: setup ## the speed targets, as a table
	$(BIN)/pytest tests/bench --benchmark-columns=min,median,max,rounds $(ARGS)

pictures: setup ## the README's pictures, of the running playground in a browser
	$(BIN)/python -m tests.pictures

contract-clearml: setup ## the door's contract against a real server; see the README
	$(BIN)/pytest tests/contract/test_clearml_door.py $(ARGS)
	@if [ -n "$$POOLKEEPER_CONTRACT_CLEARML_HOST" ]; then \
		echo "Tested: the sandbox, and the real server at $$POOLKEEPER_CONTRACT_CLEARML_HOST."; \
	else \
		echo "Tested: ONLY THE SANDBOX. For a real server set POOLKEEPER_CONTRACT_CLEARML_HOST,"; \
		echo "POOLKEEPER_CONTRACT_CLEARML_ACCESS_KEY and POOLKEEPER_CONTRACT_CLEARML_SECRET_KEY."; \
	fi

contract-kubernetes: setup ## the same for Kubernetes; it touches only what it makes
	$(BIN)/pytest tests/contract/test_kubernetes_door.py $(ARGS)
	@if [ -n "$$POOLKEEPER_CONTRACT_KUBECONFIG" ]; then \
		echo "Tested: the sandbox, and the API server of $$POOLKEEPER_CONTRACT_KUBECONFIG."; \
	else \
		echo "Tested: ONLY THE SANDBOX. For a real API server set POOLKEEPER_CONTRACT_KUBECONFIG."; \
	fi

manifests: setup ## deploy/manifests and the chart's schema, from the chart and the settings
	$(BIN)/python -m deploy.generate

requirements: setup ## pin anew
	$(BIN)/python requirements/pin.py

clean: ## remove what was made
	rm -rf $(VENV) build dist sandbox/web/dist sandbox/web/node_modules sandbox/web/.test .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
