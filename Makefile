# `make demo` and `make test` are the two commands of the README; each sets up all it needs in a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --quiet --disable-pip-version-check install --no-compile
# What `hdnhw` and its demo need, and all that anything here needs.
READY := $(VENV)/.ready
COMPLETE := $(VENV)/.complete
SITE_TOOLS := build/site-tools
SITE_READY := $(SITE_TOOLS)/.ready
SITE_PYTHON := PYTHONPATH=$(CURDIR):$(CURDIR)/$(SITE_TOOLS) JUPYTER_PATH=$(CURDIR)/$(SITE_TOOLS)/share/jupyter $(BIN)/python

EXAMPLES := $(patsubst examples/%/run.sh,example-%,$(wildcard examples/*/run.sh))

.PHONY: $(EXAMPLES) bench-allreduce bench-bisections bench-boards bench-booksim bench-collectives bench-cost-ratios bench-counting bench-emission bench-emulation bench-engines bench-errors bench-frames bench-graphs bench-long-vectors bench-node-symmetry bench-paths bench-registers bench-scale bench-simulation bench-synth bench-threads bench-total-exchange bench-wide-diameter check check-axi check-cosim check-explore check-fuzz check-heavy check-lockstep check-mutants check-mutants-engines check-mutants-proved check-notebooks check-soak check-soak-engines check-verilog clean demo docs docs-machines kernels lint site test

demo: $(READY)
	$(BIN)/hdnhw demo

# A design on a fabric that stands in examples/, built and run: it moves frames, and checks them.
$(EXAMPLES): example-%: $(COMPLETE)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/$*/run.sh

# Each feature once: about 20 minutes on 2 processors.
test: $(COMPLETE)
	$(MAKE) --no-print-directory -j 2 lint kernels
	$(BIN)/python -m pytest

lint: $(COMPLETE)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# Compile what is compiled at first use, for all processes that follow.
kernels: $(READY)
	@$(BIN)/hdnhw warm-up > /dev/null

# All that checks without measuring, hours: what `make test` covers once, on many more fabrics. SEED draws fabrics and
# the order of tests; no test and no fabric begins after UNTIL, seconds since 1970 as `date +%s` prints them.
SEED ?= 1
UNTIL ?=
COUNT ?=
check: check-fuzz check-lockstep check-heavy check-verilog check-notebooks site

# Random command lines: accepted, or refused in one line with nothing left behind. COUNT=5000 takes about 40 minutes.
check-fuzz: $(COMPLETE) kernels
	$(BIN)/python tests/fuzz.py --seed $(SEED) --count $(or $(COUNT),1000) $(addprefix --until ,$(UNTIL))

# Fabrics drawn at random, each under six kinds of traffic, seven with dead pins: the Verilog equal to the model; about an hour.
check-lockstep: $(COMPLETE)
	$(BIN)/python -m hdnhw.sim.lockstep --seed $(SEED) --count $(or $(COUNT),20) $(addprefix --until ,$(UNTIL))

# The same without an end, for HOURS, up to the first mismatch, whose command is printed: many packets through each fabric,
# some minutes each; SEED=$$(date +%s) for other fabrics each time.
HOURS ?= 1
check-soak: $(COMPLETE)
	$(BIN)/python -m hdnhw.sim.lockstep --seed $(SEED) --hours $(HOURS) --packets 190000 --rounds 20

# Random operations on collective engines drawn at random, on up to 16 nodes, for HOURS, up to the first mismatch, whose command is
# printed: message engines, register machines and barriers, with hosts that pause, stall or go ahead, and resets.
check-soak-engines: $(COMPLETE)
	$(BIN)/python -m hdnhw.sim.engine_soak --seed $(SEED) --hours $(HOURS)

# Mutants of emitted text against the benches: all of a router and ejection buffer, some of what options and endpoints add;
# those that survive must be listed, with a reason. COUNT draws as many of each by SEED; about 20 minutes.
check-mutants: $(COMPLETE)
	$(BIN)/python -m tests.mutants.check --seed $(SEED) $(addprefix --count ,$(COUNT))

# The same of engines that combine, register machines and barriers: 40 of each, or COUNT, drawn by SEED. Those that no bench tells
# apart are compared by ABC with the original in all runs; about 20 minutes.
check-mutants-engines: $(COMPLETE)
	$(BIN)/python -m tests.mutants.check --seed $(SEED) $(addprefix --count ,$(COUNT)) combining registers barrier lengths

# Random mutants of routers against the proofs, and those that are proved against the benches: no packet may be lost, misled or
# changed then. COUNT of each router, drawn by SEED; about ten minutes.
check-mutants-proved: $(COMPLETE)
	$(BIN)/python -m tests.mutants.proofs --seed $(SEED) --count $(or $(COUNT),30)

# Every kind of emitted text, read by slang, Verilator, Yosys and GHDL, and by Icarus and verible where they are installed.
check-verilog: $(COMPLETE)
	$(BIN)/python tests/verilog/readers.py

# The tests that `make test` leaves out.
check-heavy: $(COMPLETE)
	$(BIN)/python -m pytest -m heavy --dist worksteal --shuffle $(SEED) $(addprefix --until ,$(UNTIL))

# Every acceptance network under cocotb, with 100,000 random packets on 128 routers; part of check-heavy, about an hour.
check-cosim: $(COMPLETE)
	$(BIN)/python -m pytest -m heavy --dist worksteal tests/sim/test_matrix.py

# Pages of `hdnhw explore` in Chromium, without a screen: clicks, keys, what is shown, no errors, frames a second; a minute. PICTURES
# names a folder for what was seen. Chromium comes with PySide6 from PyPI, into a folder of its own: 700 MB on disk.
PICTURES ?=
check-explore: .browser/.ready kernels
	PYTHONPATH="$(CURDIR)/.browser" $(BIN)/python -m tests.browser.check $(addprefix --output ,$(PICTURES))

.browser/.ready: requirements-browser.txt | $(COMPLETE)
	$(PIP) --upgrade --target .browser --requirement requirements-browser.txt
	touch $@

# 10,000 random frames between random nodes through cocotbext-axi with random pauses; with unrelated clocks 2,000, and packets;
# 100,000 AXI4 bursts, and 10,000 with unrelated clocks.
check-axi: $(COMPLETE)
	$(BIN)/hdnhw cosim "hdn(cube(2), [[0]])" --test axi --frames 10000 --tuser-width 8
	$(BIN)/hdnhw cosim "hdn(cube(2), [[0]])" --test axi --frames 2000 --tuser-width 8 --node-clocks
	$(BIN)/hdnhw cosim "hdn(cube(2), [[0]])" --test random --packets 20000 --node-clocks
	$(BIN)/hdnhw cosim "hdn(cube(2), [[0]])" --test axi4 --bursts 100000
	$(BIN)/hdnhw cosim "rdn(cube(1), 1)" --test axi4 --bursts 10000 --node-clocks

# All-reduce on up to 256 nodes on the model, beside a ring and recursive doubling, on up to 32,768 by the cost model; 20 minutes.
bench-allreduce: $(COMPLETE)
	$(BIN)/python -m bench.allreduce

# Bisections of dual-nets against their bound (docs/results/04-bisection.md); half a minute.
bench-bisections: $(COMPLETE)
	$(BIN)/python -m bench.bisections

# Three bitstreams; about half an hour.
bench-boards: $(COMPLETE)
	$(BIN)/python bench/bitstreams.py

# The model beside BookSim2, github.com/booksim/booksim2, built elsewhere: BOOKSIM names its program. About 10 minutes.
BOOKSIM ?=
bench-booksim: $(COMPLETE)
	$(BIN)/python bench/booksim.py "$(BOOKSIM)"

# Collective operations on six dual-nets, and hypercubes and tori of as many nodes; about 10 minutes.
bench-collectives: $(COMPLETE)
	$(BIN)/python bench/collectives.py

# Total exchanges on engines in the emitted Verilog, up to 256 nodes; about half an hour.
bench-engines: $(COMPLETE)
	$(BIN)/python -m bench.engines

# All-reduces of one packet and scans on engines in the emitted Verilog, up to 256 nodes; about half an hour.
bench-registers: $(COMPLETE)
	$(BIN)/python -m bench.registers

# Errors on the channels of 16 routers, two million packets; about four minutes.
bench-errors: $(COMPLETE)
	$(BIN)/python -m bench.errors

# Frames through AXI4-Stream endpoints, emitted; about three minutes.
bench-frames: $(COMPLETE)
	$(BIN)/python -m bench.frames

# The least CR_w of dual-nets and products up to 2^20 nodes, beside the Moore bound (docs/results/05-cost-ratio.md); ten seconds.
bench-cost-ratios: $(COMPLETE)
	$(BIN)/python -m bench.cost_ratios --plot docs/results/cost-ratio.svg

bench-counting: $(COMPLETE)
	$(BIN)/python bench/counting.py

bench-emission: $(COMPLETE)
	$(BIN)/python bench/emission.py

# Emulation on HSNs with all ports: steps executed, their bounds, and searches (docs/results/06-emulation.md); two minutes.
bench-emulation: $(COMPLETE)
	$(BIN)/python -m bench.emulation_steps

# docs/results/01: how few start-ups and words a total exchange takes; half a minute.
bench-total-exchange: $(COMPLETE)
	$(BIN)/python -m bench.total_exchange

# docs/results/02: disjoint paths between all pairs of all dual-nets of up to 600 nodes; a minute.
bench-wide-diameter: $(COMPLETE)
	$(BIN)/python -m bench.wide_diameter

# docs/results/03: automorphisms and closed walks of all dual-nets of up to 1152 nodes; half a minute.
bench-node-symmetry: $(COMPLETE)
	$(BIN)/python -m bench.node_symmetry

# docs/results/07: long vectors along trees against the least time, on networks of up to 300 nodes; a minute.
bench-long-vectors: $(COMPLETE)
	$(BIN)/python -m bench.long_vectors

# docs/results/08: networks of about 1000 nodes beside each other on the model, with a figure; about half an hour.
bench-graphs: $(COMPLETE)
	$(BIN)/python -m bench.graphs --plot docs/graphs-1000.svg

# Disjoint paths: lengths and waypoints on all pairs from every kind of source, time on networks of 64 to 2^31 nodes; minutes.
bench-paths: $(COMPLETE)
	$(BIN)/python bench/paths.py

# Networks of up to three million nodes on the model; about 15 minutes and 5 GiB of memory.
bench-scale: $(COMPLETE)
	$(BIN)/python bench/scale.py

# One simulation on one thread and on two; about 2 minutes.
bench-threads: $(COMPLETE)
	$(BIN)/python bench/threads.py

bench-simulation: $(COMPLETE)
	$(BIN)/python bench/simulation.py

# Place-and-route, with three seeds but for the largest fabrics; hours the first time.
bench-synth: $(COMPLETE)
	$(BIN)/python bench/synth.py

# The pictures in docs/, from the networks and from simulations of the emitted Verilog; then the output below every command
# line that README and docs show (bench/consoles.py), their tables (bench/tables.py), and docs/papers.md. TRACES names a folder
# with the traces of Netrace.
TRACES ?=
docs: $(COMPLETE) docs-machines
	$(BIN)/hdnhw picture "rdn(cube(2), 1)" -o docs/rdn-cube2-1.svg
	$(BIN)/hdnhw picture "rdn(cube(3), 1)" --paths 0 1.1/1.0.1 -o docs/paths-rdn-cube3-1.svg
	$(BIN)/hdnhw picture "hdn(cube(3), [[0]])" --route 0 36 --dead-nodes 4 32 --dead-channels 1:dim1 -o docs/waypoints-hdn-cube3.svg
	$(BIN)/hdnhw design --nodes 1024 --degree 5 --plot docs/front-1024.svg
	$(BIN)/hdnhw faults "hdn(cube(3), [[2], [0, 1, 2]])" --by-case --paths short mended --trials 20 --plot docs/path-faults.svg
	$(BIN)/hdnhw collective "hdn(cube(3), [[2]])" --op broadcast --plot docs/broadcast-hdn-cube3.svg
	$(BIN)/hdnhw collective "rdn(cube(3), 1)" --op allreduce --bandwidth docs/allreduce-rdn-cube3.svg --on model --buffers 8
	$(BIN)/hdnhw collective "torus(8, 16)" --op allreduce --bandwidth docs/allreduce-torus.svg --on model --buffers 8
	$(BIN)/hdnhw sweep "rdn(cube(3), 1)" "torus(8, 16)" "cube(7)" --buffers 8 --plot docs/curves-128.svg
	$(BIN)/python bench/waves.py
	$(addprefix TRACES=,$(TRACES)) $(BIN)/python bench/consoles.py
	$(BIN)/python -m bench.tables
	$(BIN)/hdnhw papers -o docs

# Of these, the page that a user chooses a machine by: its pictures and tables; about half an hour the first time.
docs-machines: $(COMPLETE)
	$(BIN)/hdnhw machines "torus(4, 4)" --plot docs/machines-torus.svg
	$(BIN)/hdnhw machines "rdn(cube(3), 1)" --plot docs/machines-rdn.svg
	$(BIN)/python bench/consoles.py docs/machines.md
	touch build/synth/docs-machines

# The documentation as a site in build/site, without a warning or a link that leads nowhere; minutes the first time, as its tutorials are
# executed. To read it: `python3 -m http.server -d build/site`.
site: $(SITE_READY)
	$(SITE_PYTHON) -m website.notebooks
	NO_MKDOCS_2_WARNING=1 $(SITE_PYTHON) -m mkdocs build --strict --config-file website/mkdocs.yml
	$(BIN)/python -m website.links build/site

# Every notebook of docs/notebooks, executed; about a minute.
check-notebooks: $(SITE_READY)
	$(SITE_PYTHON) -m website.notebooks --all

# The environment alone.
.venv: $(COMPLETE)

# The site's tools stand in a folder of their own, so that what is tested has nothing of them.
$(SITE_READY): website/requirements.txt $(COMPLETE)
	rm -rf $(SITE_TOOLS)
	$(PIP) --target $(SITE_TOOLS) --requirement website/requirements.txt
	touch $(SITE_READY)

$(READY): requirements.txt pyproject.toml
	@for tool in $(PYTHON) g++ perl; do \
	  command -v $$tool >/dev/null || { echo "hdnhw needs $$tool from the system: please install it" >&2; exit 1; }; done
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "hdnhw needs Python 3.11 or later; $(PYTHON) is older: set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "hdnhw needs Python's venv module: please install it (Debian: python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) --requirement requirements.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

$(COMPLETE): requirements-tests.txt requirements-alone.txt $(READY)
	$(PIP) --requirement requirements-tests.txt
	$(PIP) --no-deps --requirement requirements-alone.txt
	touch $@

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache
