PYTHON ?= python3
BIN    := .venv/bin
READY  := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help lab test lint notebooks bench clean

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@

lab: $(READY)  ## open the workbook in a browser
	$(BIN)/labkit lab

lint: $(READY)  ## format, rules and types
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

test: lint  ## everything: lint, tests, engine coverage, every lesson re-run and compared
	$(BIN)/pytest --cov=labkit
	$(BIN)/pytest --nbval --nbval-cell-timeout=30 notebooks

notebooks: $(READY)  ## re-execute every lesson and write clean outputs
	$(BIN)/python -m labkit.workbook.notebooks

bench: $(READY)  ## measure what a call costs
	$(BIN)/python -m bench

clean:  ## remove what these targets made
	rm -rf .venv .labkit .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache build *.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +
