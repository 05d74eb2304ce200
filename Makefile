# `make demo` and `make test` are the two commands of the README; `make help` lists all. Each sets up what it needs in a fresh clone.
PYTHON ?= python3
# Hundreds of processes import the same: what they compile of Python is kept.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --quiet --disable-pip-version-check install --no-compile --no-deps
# What a requirements file lists and no more, each wheel with a hash that stands there.
PINNED := $(PIP) --require-hashes --only-binary :all: --requirement
# What `hdnhw` and its demo need, with the core, and all that anything here needs.
INSTALLED := $(VENV)/.installed
CORE := hdnhw/core
READY := $(CORE)/libcore.so
COMPLETE := $(VENV)/.complete
SITE_TOOLS := build/site-tools
SITE_READY := $(SITE_TOOLS)/.ready
RISCV_TOOLS := build/riscv-tools
RISCV_READY := $(RISCV_TOOLS)/.ready
SITE_PYTHON := PYTHONPATH=$(CURDIR):$(CURDIR)/$(SITE_TOOLS) JUPYTER_PATH=$(CURDIR)/$(SITE_TOOLS)/share/jupyter $(BIN)/python

EXAMPLES := $(patsubst examples/%/run.sh,example-%,$(wildcard examples/*/run.sh))
BENCHES := $(patsubst bench/%.py,bench-%,$(subst _,-,$(wildcard bench/*.py)))

# What each check runs, whose first line says what it does.
check-fuzz := tests.fuzz
check-fuzz-files := tests.fuzz --files
check-lockstep := tests.soak.lockstep
check-soak := tests.soak.lockstep --hours 1 --packets 190000 --rounds 20
check-soak-engines := tests.soak.engine_soak --hours 1
check-mutants := tests.mutants.check
check-mutants-engines := tests.mutants.check combining registers barrier lengths
check-mutants-proved := tests.mutants.proofs
check-mutants-names := tests.mutants.names
check-netlist := tests.netlist
check-verilog := tests.verilog.readers
check-front-ends := tests.verilog.frontends
check-drawn := tests.drawn
check-sanitizers := tests.sanitizers
check-model := tests.model.fuzz
check-explore := tests.browser.check
check-pages := tests.browser.pages
CHECKS := $(filter check-%,$(.VARIABLES))

# Options of checks and benches: `SEED=2` on the command line is `--seed 2` of the script.
OPTIONS = $(foreach name,SEED COUNT HOURS SLICES BOOKSIM PICTURES,$(if $(filter command,$(origin $(name))),--$(shell echo $(name) | tr A-Z a-z) "$($(name))"))

.PHONY: $(BENCHES) $(CHECKS) $(EXAMPLES) check check-axi check-cosim check-fixed check-heavy check-notebooks clean core costs demo docs docs-machines help lint quick set-up site test $(VENV)

demo: $(READY) ## the main job on a small network: plan, prove, emit, build under Verilator, compare with the model; two minutes
	$(BIN)/hdnhw demo

test: $(COMPLETE) ## format, lint, types, each feature once, and dear tests set up: about 9 minutes on 2 processors
	$(MAKE) --no-print-directory -j 2 lint set-up
	$(BIN)/python -m pytest

quick: $(COMPLETE) ## of `make test`, what the changes since the last run that passed can concern
	$(BIN)/python -m tests.quick

lint: $(COMPLETE) ## format, lint and types alone
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@rm -rf build/types && mkdir -p build/types/hdnhw && ln -s $(CURDIR)/hdnhw/* $(CURDIR)/boards $(CURDIR)/sim build/types/hdnhw
	$(BIN)/mypy

set-up: $(COMPLETE) ## set up all tests that are dear, without running them
	$(BIN)/python -m pytest -n 0 --tier fixed,drawn --set-up

core: $(READY) ## compile the core anew where its sources have changed; seconds

help: ## this list
	@{ sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile; \
	$(foreach name,$(EXAMPLES),sed -n '2s/^# \([^;]*\).*/$(name)|\1/p' examples/$(name:example-%=%)/run.sh;) \
	$(foreach name,$(CHECKS) $(BENCHES),$(call described,$(or $($(name)),bench.$(subst -,_,$(name:bench-%=%))));) \
	} | LC_ALL=C sort -t '|' -k 1,1 | awk -F '|' '{ printf "%-22s  %s\n", $$1, $$2 }'
# The first line of a script, and what it is given.
described = sed -n '1s/^"""\([^"]*\).*/$(name)|\1$(if $(word 2,$(1)), [$(wordlist 2,9,$(1))])/p' $(subst .,/,$(firstword $(1))).py

check: check-fuzz check-fuzz-files check-model check-lockstep check-heavy check-sanitizers check-verilog check-notebooks site ## checks without measuring, on far more fabrics than `make test`; hours

check-fixed: $(COMPLETE) ## for every commit: features that need more time, old faults, one seed of fuzz and of lockstep; seven minutes
	$(BIN)/python -m pytest --tier fixed
	$(BIN)/python -m tests.fuzz --seed 1 --count 200 --files & \
	$(BIN)/python -m tests.fuzz --seed 1 --count 300; lines=$$?; wait $$! && exit $$lines
	$(BIN)/python -m tests.soak.lockstep --seed 1 --count 2

check-heavy: $(COMPLETE) ## all tests that `make test` leaves out: longer packets, larger fabrics, all tables of the docs; hours
	$(BIN)/python -m pytest --tier fixed,drawn

check-cosim: $(COMPLETE) ## of these, seven fabrics with all tests, then 100,000 packets on 128 routers; an hour
	$(BIN)/python -m pytest --tier fixed,drawn tests/sim/test_matrix.py

costs: $(COMPLETE) ## measure every test anew, on a quiet machine, for tests/costs.json; hours
	rm -rf build/costs.jsonl build/sim
	for tier in test fixed drawn; do $(BIN)/python -m pytest --tier $$tier --record build/costs.jsonl || exit 1; done
	$(BIN)/python -m tests.tiers build/costs.jsonl

check-axi: $(COMPLETE) ## frames and bursts at random through AXI endpoints by cocotbext-axi, unrelated clocks too; an hour and a half
	$(BIN)/hdnhw cosim "hdn(cube(2), [[0]])" --test axi --frames 10000 --tuser-width 8
	$(BIN)/hdnhw cosim "hdn(cube(2), [[0]])" --test axi --frames 2000 --tuser-width 8 --node-clocks
	$(BIN)/hdnhw cosim "hdn(cube(2), [[0]])" --test random --packets 20000 --node-clocks
	$(BIN)/hdnhw cosim "hdn(cube(2), [[0]])" --test axi4 --bursts 100000
	$(BIN)/hdnhw cosim "rdn(cube(1), 1)" --test axi4 --bursts 10000 --node-clocks

check-notebooks: $(SITE_READY) ## every tutorial of docs/notebooks executed anew; three minutes
	$(SITE_PYTHON) -m website.notebooks --all

check-explore check-pages: .browser/.ready

check-pages: site

$(CHECKS): $(COMPLETE)
	$(BIN)/python -m $($@) $(OPTIONS)

$(BENCHES): bench-%: $(COMPLETE)
	$(BIN)/python -m bench.$(subst -,_,$*) $(OPTIONS)

$(EXAMPLES): example-%: $(COMPLETE)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/$*/run.sh

example-riscv: export PYTHONPATH := $(CURDIR)/$(RISCV_TOOLS)
example-riscv: $(RISCV_READY)

docs: $(COMPLETE) docs-machines ## pictures, consoles and tables of README and docs anew, and docs/papers; TRACES names a folder with those of Netrace
	for made in pictures waves consoles tables; do $(BIN)/python -m bench.$$made || exit; done
	$(BIN)/hdnhw papers -o docs/papers

docs-machines: $(COMPLETE) ## of these what is measured by synthesis, docs/machines.md; half an hour the first time
	$(BIN)/hdnhw machines "torus(4, 4)" --plot docs/machines-torus.svg
	$(BIN)/hdnhw machines "rdn(cube(3), 1)" --plot docs/machines-rdn.svg
	$(BIN)/python -m bench.tables docs/machines.md
	touch build/synth/docs-machines

site: $(SITE_READY) ## the documentation in build/site (`python3 -m http.server -d build/site` shows it); minutes the first time
	$(SITE_PYTHON) -m website.notebooks
	NO_MKDOCS_2_WARNING=1 $(SITE_PYTHON) -m mkdocs build --strict --config-file website/mkdocs.yml
	$(BIN)/python -m website.links build/site

$(VENV): $(COMPLETE)

# The folder of the sources is newer than the core if a file is gone.
$(READY): CMakeLists.txt $(CORE)/src $(wildcard $(CORE)/src/*) $(INSTALLED)
	@$(BIN)/cmake -S . -B build/core -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja >/dev/null
	$(BIN)/cmake --build build/core -- --quiet
	@$(BIN)/cmake --install build/core --prefix . >/dev/null
	@touch $@

$(INSTALLED): requirements.txt pyproject.toml
	@for tool in $(PYTHON) g++ perl; do \
	  command -v $$tool >/dev/null || { echo "hdnhw needs $$tool from the system: please install it" >&2; exit 1; }; done
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "hdnhw needs Python 3.11 or later; $(PYTHON) is older: set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "hdnhw needs Python's venv module: please install it (Debian: python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(PINNED) requirements.txt
	$(PIP) --no-build-isolation --editable .
	touch $@

# What is installed need not be so anew when the core is compiled.
$(COMPLETE): requirements-tests.txt $(INSTALLED) | $(READY)
	$(PINNED) requirements-tests.txt
	touch $@

# The site's tools, Chromium and the compiler of an example stand in folders of their own, so that what is tested has nothing of them.
$(SITE_READY): website/requirements.txt $(COMPLETE)
	rm -rf $(SITE_TOOLS)
	$(PINNED) website/requirements.txt --target $(SITE_TOOLS)
	touch $@

$(RISCV_READY): examples/riscv/requirements.txt | $(COMPLETE)
	rm -rf $(RISCV_TOOLS)
	$(PINNED) examples/riscv/requirements.txt --target $(RISCV_TOOLS)
	touch $@

.browser/.ready: requirements-browser.txt | $(COMPLETE)
	$(PINNED) requirements-browser.txt --upgrade --target .browser
	touch $@

clean: ## remove what is installed, built and kept
	rm -rf $(VENV) build $(CORE)/*.so .pytest_cache .mypy_cache .ruff_cache
