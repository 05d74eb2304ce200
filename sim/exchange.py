"""A total exchange that the emitted hardware runs by itself, against the model, cycle by cycle."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.emit.exchange import EXCHANGE_SUFFIX, exchange_modules, exchange_verilog
from hdnhw.emit.fabric import emit_fabric
from hdnhw.flit import FlitFormat
from hdnhw.model.fabric import FabricModel
from hdnhw.model.replay import exchange_on, replay
from hdnhw.spec import FabricSpec
from hdnhw.traffic.exchange import exchange_trace
from sim.simulator import BUILD_ROOT, Build, SimulatorError, control_text

__all__ = ["ExchangeBench", "ExchangeRun", "ExchangeVerdict", "run_network", "run_network_exchange"]

WAITS = (5, 18)
"""Cycles from reset, or from the end of a run, to the start of the next: there are two runs."""

PATIENCE = 10_000
"""Cycles beyond those of the model after which a run is given up."""

LOGS = ("heads", "tails")
"""What the bench writes down."""

_BENCH = """// Bench of {top}: it writes down every head flit that is accepted and every packet that is taken.
module bench (
  input wire clk /* verilator public_flat_rw */,
  input wire rst /* verilator public_flat_rw */,
  input wire start /* verilator public_flat_rw */,
  output wire done /* verilator public_flat_rw */,
  output wire [31:0] cycles /* verilator public_flat_rw */,
  output wire [31:0] received /* verilator public_flat_rw */,
  output wire [31:0] wrong /* verilator public_flat_rw */
);
  localparam integer NODES = {nodes};
  localparam integer LENGTH = {length};
  localparam integer WIDTH = {width};
  {top} dut (.*);
  wire [WIDTH-1:0] inject_payload [0:NODES-1];
  wire inject_taken [0:NODES-1];
  wire [WIDTH:0] eject_payload [0:NODES-1];
  wire eject_taken [0:NODES-1];
{wires}
  reg [1023:0] path;
  reg [31:0] cycle;
  reg [31:0] position [0:NODES-1];
  reg [LENGTH*WIDTH-1:0] collected [0:NODES-1];
  integer n, heads, tails;
  initial begin
    if (!$value$plusargs("heads=%s", path)) $finish;
    heads = $fopen(path, "w");
    if (!$value$plusargs("tails=%s", path)) $finish;
    tails = $fopen(path, "w");
  end
  always @(posedge clk) begin
    if (rst) begin
      cycle <= 0;
      for (n = 0; n < NODES; n = n + 1) position[n] <= 0;
    end else begin
      cycle <= cycle + 1;
      for (n = 0; n < NODES; n = n + 1) begin
        if (inject_taken[n]) begin
          if (position[n] == 0) $fwrite(heads, "%0d %0d %h\\n", n, cycle, inject_payload[n]);
          position[n] <= position[n] + 1 == LENGTH ? 0 : position[n] + 1;
        end
        if (eject_taken[n]) begin
          if (LENGTH == 1) collected[n] = eject_payload[n][WIDTH-1:0];
          else collected[n] = {{eject_payload[n][WIDTH-1:0], collected[n][LENGTH*WIDTH-1:WIDTH % (LENGTH*WIDTH)]}};
          if (eject_payload[n][WIDTH]) $fwrite(tails, "%0d %0d %h\\n", n, cycle, collected[n]);
        end
      end
    end
  end
  always @(posedge done) begin
    $fflush(heads);
    $fflush(tails);
  end
endmodule
"""


def bench_text(*, top: str, nodes: int, flits: FlitFormat) -> str:
    """Return the bench around the module `top`, a fabric with generators, in SystemVerilog."""
    wires = [
        f"  assign inject_payload[{node}] = dut.inject_{node}_payload;\n"
        f"  assign inject_taken[{node}] = dut.inject_{node}_valid & dut.inject_{node}_ready;\n"
        f"  assign eject_payload[{node}] = dut.eject_{node}_payload;\n"
        f"  assign eject_taken[{node}] = dut.eject_{node}_valid & dut.eject_{node}_ready;"
        for node in range(nodes)
    ]
    sizes = {"nodes": nodes, "length": flits.packet_length, "width": flits.flit_width}
    return _BENCH.format(top=top, wires="\n".join(wires), **sizes)


def _read_log(path: Path) -> list[tuple[int, int, int]]:
    rows = (line.split() for line in path.read_text().splitlines())
    return [(int(node), int(cycle), int(data, 16)) for node, cycle, data in rows]


def packet_word(flits: FlitFormat, source: int, destination: int) -> int:
    """Return a packet of the generators as one number, its head flit in the least significant bits."""
    mask, flit, word = (1 << flits.flit_width) - 1, source << flits.address_width | destination, 0
    for position in range(flits.packet_length):
        word |= flit << flits.flit_width * position
        flit = ~(flit << 1 | flit >> flits.flit_width - 1) & mask
    return word


@dataclass(frozen=True)
class ExchangeVerdict:
    """What two runs one after the other showed.

    Attributes
    ----------
    packets : int
        Packets that had to arrive, in both.
    lost : int
        Of these, how many did not.
    wrong : int
        Packets that the hardware calls wrong, or the bench.
    head_mismatches, cycle_mismatches : int
        Head flits that were accepted, and packets that were taken, at other nodes or in other cycles than the model
        says, or that only one of the two has.
    cycles, model_cycles : tuple of int
        Of each run: as the hardware counts them, and on the model, where runs begin when they do in the hardware.
    """

    packets: int
    lost: int
    wrong: int
    head_mismatches: int
    cycle_mismatches: int
    cycles: tuple[int, ...]
    model_cycles: tuple[int, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing differs."""
        faults = self.lost + self.wrong + self.head_mismatches + self.cycle_mismatches
        return not faults and self.cycles == self.model_cycles


@dataclass(frozen=True)
class ExchangeRun:
    """Two runs.

    Attributes
    ----------
    verdict : ExchangeVerdict
    seconds : float
        Simulation alone.
    build_seconds : float
        0 if the bench had been built before.
    """

    verdict: ExchangeVerdict
    seconds: float
    build_seconds: float


class ExchangeBench:
    """An emitted fabric with generators under Verilator.

    Parameters
    ----------
    spec : FabricSpec
    at_once : bool
        See :func:`hdnhw.emit.exchange.exchange_verilog`.
    root : Path, optional
        Folder for builds.
    """

    def __init__(self, spec: FabricSpec, *, at_once: bool = False, root: Path = BUILD_ROOT) -> None:
        fabric = emit_fabric(spec)
        self.plan, top = fabric.plan, fabric.manifest["top"]
        self.flits = FlitFormat(spec.flit_width, self.plan.address.width, spec.packet_length)
        modules = [*fabric.manifest["router_modules"], fabric.manifest["ejection_module"]]
        modules += [exchange_modules(top).generator, exchange_modules(top).control]
        nodes = self.plan.network.num_nodes
        files = {
            "bench.vlt": control_text(modules),
            **fabric.verilog,
            "exchange.sv": exchange_verilog(self.plan, spec, top=top, at_once=at_once),
            "bench.sv": bench_text(top=top + EXCHANGE_SUFFIX, nodes=nodes, flits=self.flits),
        }
        self.build = Build("exchange", files, "bench", root=root)
        self._model = FabricModel(
            self.plan,
            packet_length=spec.packet_length,
            buffers=spec.buffers,
            queueing=spec.queueing,
            crc=spec.crc,
        )
        self._once = exchange_on(self._model, words=spec.packet_length, at_once=at_once)

    def run(self, *, keep: bool = False) -> ExchangeRun:
        """Run the exchange twice and compare both with the model.

        Parameters
        ----------
        keep : bool
            Whether to keep the files of runs that passed; those of one that failed are kept.

        Raises
        ------
        SimulatorError
            If the bench cannot be built or does not end.
        """
        build_seconds = self.build.make()
        folder = self.build.clear_run_folder()
        case = {"waits": WAITS, "limit": replay(self._model, self._once).cycles + PATIENCE}
        (folder / "case.json").write_text(json.dumps(case))
        started = time.monotonic()
        self._simulate(folder)
        seconds = time.monotonic() - started
        verdict = self.check(folder)
        if verdict.passed and not keep:
            shutil.rmtree(folder)
        return ExchangeRun(verdict, seconds, build_seconds)

    def _simulate(self, folder: Path) -> None:
        self.build.run(
            "sim.exchange_bench",
            folder,
            plusargs=[f"+{name}={folder / name}.log" for name in LOGS],
            extra_env={"HDNHW_FOLDER": str(folder)},
        )
        if not (folder / "result.json").exists():
            raise SimulatorError(f"the bench did not end, see {folder / 'simulation.log'}")

    def check(self, folder: Path) -> ExchangeVerdict:
        """Judge the logs in `folder`; the model begins its runs in the cycles of the first heads there."""
        counted: list[dict[str, int]] = json.loads((folder / "result.json").read_text())
        heads, tails = (_read_log(folder / f"{name}.log") for name in LOGS)
        nodes, runs = self.plan.network.num_nodes, len(counted)
        pairs = nodes * (nodes - 1)
        begins = [heads[run * pairs][1] if run * pairs < len(heads) else 0 for run in range(runs)]
        expected = self._expected(begins)
        address = np.asarray(self.plan.address.of_node(np.arange(nodes, dtype=np.int64))).tolist()
        word_of = {(u, v): packet_word(self.flits, address[u], address[v]) for u in range(nodes) for v in range(nodes)}
        mask = (1 << self.flits.flit_width) - 1
        due_heads = {(u, head, word_of[u, v] & mask) for u, v, head, _ in expected.tolist()}
        due_tails = {(v, tail, word_of[u, v]) for u, v, _, tail in expected.tolist()}
        ends = expected[:, 3].reshape(nodes, runs, nodes - 1).max(axis=(0, 2)) + 1
        words = set(word_of.values())
        return ExchangeVerdict(
            packets=len(expected),
            lost=max(0, len(expected) - len(tails)),
            wrong=sum(run["wrong"] for run in counted) + sum(word not in words for *_, word in tails),
            head_mismatches=len(due_heads ^ set(heads)),
            cycle_mismatches=len(due_tails ^ set(tails)) + sum(run["received"] != pairs for run in counted),
            cycles=tuple(run["cycles"] for run in counted),
            model_cycles=tuple((ends - begins).tolist()),
        )

    def _expected(self, begins: list[int]) -> npt.NDArray[np.int64]:
        """Return source, destination, cycle of the head and of the tail of all packets of runs that begin then.

        They are in the order of sources, and of those of a source in the order of runs.
        """
        shape = (self.plan.network.num_nodes, -1)
        start = np.concatenate([self._once.cycle.reshape(shape) + begin for begin in begins], axis=1)
        destination = np.tile(self._once.destination.reshape(shape), (1, len(begins)))
        trace = exchange_trace(destination, self.flits.packet_length, start)
        run = replay(self._model, trace)
        return np.column_stack([trace.source, trace.destination, run.head, run.tail])


def run_network_exchange(spec: FabricSpec, *, at_once: bool = False, root: Path = BUILD_ROOT) -> ExchangeRun:
    """Run a total exchange by the hardware of :mod:`hdnhw.rtl.exchange` under Verilator, twice, against the model."""
    return ExchangeBench(spec, at_once=at_once, root=root).run()


def run_network(spec: FabricSpec, *, at_once: bool, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Run a total exchange simply routed on generators in the emitted Verilog, twice.

    Returns
    -------
    dict
        ``delivered``, and the verdict: ``cycles`` of the first run, ``cycles_again`` of the second, beside the model's.
    """
    bench = ExchangeBench(spec, at_once=at_once)
    say(f"exchange: {bench.plan.network.num_nodes} generators in the emitted Verilog ...")
    try:
        verdict = bench.run().verdict
    except SimulatorError as error:
        return {"delivered": False, "error": str(error)}
    row = asdict(verdict)
    (cycles, again), (model, _) = row.pop("cycles"), row.pop("model_cycles")
    return {"delivered": verdict.passed, **row, "cycles": cycles, "cycles_again": again, "model_cycles": model}
