"""A total exchange that the emitted hardware runs by itself, against the model, cycle by cycle."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.fpga.tools import ToolError
from hdnhw.machine.timing import TURN_SLOTS
from hdnhw.measurement.replay import exchange_on, replay
from hdnhw.sim.compare import log_rows
from hdnhw.sim.errors import Flip, write_flips
from hdnhw.sim.harness import FLIP_READ, FLIP_WIRES
from hdnhw.sim.runner import Bench
from hdnhw.sim.simulator import BUILD_ROOT
from hdnhw.traffic.exchange import exchange_trace
from hdnhw.verilog.fabric import EmittedFabric

START_CYCLES = 4
"""Cycles from the end of a wait to the first head flit, where a slot begins then."""

PATIENCE = 10_000
"""Cycles beyond those of the model after which a run is given up."""

_BENCH = """// Bench of {top}: it writes down every head flit that is accepted, every packet that is taken,
// and when the first head flit of a run is offered.
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
  wire inject_offered [0:NODES-1];
  wire inject_taken [0:NODES-1];
  wire [WIDTH:0] eject_payload [0:NODES-1];
  wire eject_taken [0:NODES-1];
{wires}
  reg [31:0] cycle;
  reg [31:0] position [0:NODES-1];
  reg [LENGTH*WIDTH-1:0] collected [0:NODES-1];
  reg began;
  integer n, heads, tails, offers;
{flip_wires}  initial begin
    heads = $fopen("heads.log", "w");
    tails = $fopen("tails.log", "w");
    offers = $fopen("offers.log", "w");
{flip_read}  end
  always @(posedge clk) begin
    if (rst) begin
      cycle <= 0;
      $fwrite(heads, "reset\\n");
      $fwrite(tails, "reset\\n");
      $fwrite(offers, "reset\\n");
      for (n = 0; n < NODES; n = n + 1) position[n] <= 0;
    end else begin
      cycle <= cycle + 1;
      if (start) began = 0;
      for (n = 0; n < NODES; n = n + 1) begin
        if (inject_offered[n] && !began) begin
          $fwrite(offers, "%0d\\n", cycle);
          began = 1;
        end
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
    $fflush(offers);
  end
endmodule
"""


def bench_text(fabric: EmittedFabric, *, flips: bool = False) -> str:
    """Return the bench around a fabric with generators, in SystemVerilog; `flips` as of :class:`ExchangeBench`."""
    flits, nodes = fabric.machine.flits, fabric.machine.network.num_nodes
    wires = [
        f"  assign inject_payload[{node}] = dut.fabric_inject_{node}_payload;\n"
        f"  assign inject_offered[{node}] = dut.fabric_inject_{node}_valid;\n"
        f"  assign inject_taken[{node}] = dut.fabric_inject_{node}_valid & dut.fabric_inject_{node}_ready;\n"
        f"  assign eject_payload[{node}] = dut.fabric_eject_{node}_payload;\n"
        f"  assign eject_taken[{node}] = dut.fabric_eject_{node}_valid & dut.fabric_eject_{node}_ready;"
        for node in range(nodes)
    ]
    sizes = {"nodes": nodes, "length": flits.packet_length, "width": flits.flit_width}
    flipped = {
        "flip_wires": FLIP_WIRES.format(width=flits.flit_width + 1, places=nodes, reset="rst") if flips else "",
        "flip_read": FLIP_READ if flips else "",
    }
    return _BENCH.format(top=fabric.top, wires="\n".join(wires), **sizes, **flipped)


def _splice_flips(text: str) -> str:
    """Return a fabric with generators whose ejected flits the bench's ``flips`` turn over."""
    flipped = r".eject__payload(fabric_eject_\1_payload ^ bench.flips[\1])"
    return re.sub(r"\.eject__payload\(fabric_eject_(\d+)_payload\)", flipped, text)


@dataclass(frozen=True)
class ExchangeCase:
    """Runs of the exchange one after the other.

    Attributes
    ----------
    waits : tuple of int
        For each run, the cycles from reset, or the end of the run before, to its start.
    resets : tuple of int
        For each run that is begun before these, the cycles from its start to a reset.
    flips : tuple of Flip
        Wires between an ejection buffer and its generator that are turned over, by cycle; there are no resets then.
        The channel is the node; the wire of ``last`` stays.
    """

    waits: tuple[int, ...]
    resets: tuple[int, ...] = ()
    flips: tuple[Flip, ...] = ()


def _read_log(path: Path) -> list[tuple[int, int, int]]:
    return [(int(node), int(cycle), int(data, 16)) for node, cycle, data in log_rows(path)]


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
        By how many more or fewer packets than were turned over the hardware calls wrong; and packets that the bench
        calls wrong.
    head_mismatches, cycle_mismatches : int
        Head flits that were accepted, and packets that were taken, at other nodes or in other cycles than the model
        says, or that only one of the two has; and runs whose first head flits are not offered where a slot begins, and
        that have not received as many packets as they should, or are not done, in the end.
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


class ExchangeBench(Bench[ExchangeCase, ExchangeVerdict]):
    """An emitted fabric with generators under Verilator, against the model.

    Parameters
    ----------
    fabric : EmittedFabric
        With generators of a total exchange.
    flips : bool
        Whether what generators receive can be turned over.
    root : Path, optional
        Folder for builds.
    """

    name, module, kind = "exchange", "hdnhw.endpoints.exchange.bench_cocotb", ExchangeSpec

    def __init__(self, fabric: EmittedFabric, *, flips: bool = False, root: Path = BUILD_ROOT) -> None:
        self._flips = flips
        super().__init__(fabric, root=root)
        at_once = self.machine.endpoint_format.endpoints.at_once
        self._once = exchange_on(self.model, words=self.machine.spec.packet_length, at_once=at_once)

    @property
    def waits(self) -> tuple[int, int]:
        """Two runs: one that begins where routers serve in turn as after reset, and one soon after the first.

        So the first takes as many cycles as :func:`hdnhw.measurement.collective.measure_network_exchange` finds from
        reset.
        """
        return TURN_SLOTS * self.machine.spec.packet_length - START_CYCLES, 18

    def measure(self, *, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
        """Run the exchange twice; return what the command ``exchange --on rtl`` prints.

        Returns
        -------
        dict
            ``delivered``, and the verdict: ``cycles`` of the first run, ``cycles_again`` of the second, beside the
            model's.
        """
        say(f"exchange: {self.machine.network.num_nodes} generators in the emitted Verilog ...")
        try:
            verdict = self.run_case(ExchangeCase(self.waits)).verdict
        except ToolError as error:
            return {"delivered": False, "error": str(error)}
        row = asdict(verdict)
        (cycles, again), (model, _) = row.pop("cycles"), row.pop("model_cycles")
        return {"delivered": verdict.passed, **row, "cycles": cycles, "cycles_again": again, "model_cycles": model}

    def sources(self) -> tuple[str, dict[str, str], list[str]]:
        """See :meth:`Bench.sources`."""
        files = {**self.fabric.checked, "bench.sv": bench_text(self.fabric, flips=self._flips)}
        if self._flips:
            name = f"{self.fabric.top}.sv"
            files[name] = _splice_flips(files[name])
        return "bench", files, []

    def write(self, case: ExchangeCase, folder: Path) -> dict[str, Any]:
        """See :meth:`Bench.write`."""
        limit = replay(self.model, self._once).cycles + PATIENCE
        (folder / "case.json").write_text(json.dumps({"waits": case.waits, "resets": case.resets, "limit": limit}))
        write_flips(case.flips, folder)
        return {}

    def has_ended(self, folder: Path) -> bool:
        """See :meth:`Bench.has_ended`."""
        return (folder / "result.json").exists()

    def check(self, case: ExchangeCase, folder: Path) -> ExchangeVerdict:
        """See :meth:`Bench.check`; the model begins its runs in the cycles in which their first heads are offered."""
        counted: list[dict[str, int]] = json.loads((folder / "result.json").read_text())
        heads, tails = (_read_log(folder / f"{name}.log") for name in ("heads", "tails"))
        nodes, runs = self.machine.network.num_nodes, len(case.waits)
        pairs = nodes * (nodes - 1)
        begins = ([int(cycle) for (cycle,) in log_rows(folder / "offers.log")] + [0] * runs)[:runs]
        expected = self._expected(begins)
        address, packets = self.machine.address, self.machine.endpoint_format
        flits_of = {
            (u, v): packets.pack(address.of_node(u), address.of_node(v)) for u in range(nodes) for v in range(nodes)
        }
        word_of = {pair: packets.flits.word(flits) for pair, flits in flits_of.items()}
        due_heads = {(u, head, flits_of[u, v][0]) for u, v, head, _ in expected.tolist()}
        due_tails = {(v, tail, word_of[u, v]) for u, v, _, tail in expected.tolist()}
        ends = expected[:, 3].reshape(nodes, runs, nodes - 1).max(axis=(0, 2)) + 1
        words, told = set(word_of.values()), np.array([run["wrong"] for run in counted])
        return ExchangeVerdict(
            packets=len(expected),
            lost=max(0, len(expected) - len(tails)),
            wrong=int(abs(told - self._hit(case.flips, expected)).sum()) + sum(word not in words for *_, word in tails),
            head_mismatches=len(due_heads ^ set(heads))
            + sum(begin % self.machine.spec.packet_length > 0 for begin in begins),
            cycle_mismatches=len(due_tails ^ set(tails))
            + sum((run["received"], run["done"]) != (pairs, 1) for run in counted),
            cycles=tuple(run["cycles"] for run in counted),
            model_cycles=tuple((ends - begins).tolist()),
        )

    def _hit(self, flips: Sequence[Flip], expected: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return how many packets of each run were turned over somewhere, of those that :meth:`_expected` returns."""
        nodes, length = self.machine.network.num_nodes, self.machine.spec.packet_length
        hit = np.zeros(len(expected), np.bool_)
        for flip in flips:
            since = expected[:, 3] - flip.cycle  # flits are taken one a cycle
            hit |= (expected[:, 1] == flip.channel) & (since >= 0) & (since < length)
        return np.asarray(hit.reshape(nodes, -1, nodes - 1).sum(axis=(0, 2)))

    def _expected(self, begins: list[int]) -> npt.NDArray[np.int64]:
        """Return source, destination, cycle of the head and of the tail of all packets of runs that begin then.

        They are in the order of sources, and of those of a source in the order of runs.
        """
        shape = (self.machine.network.num_nodes, -1)
        start = np.concatenate([self._once.cycle.reshape(shape) + begin for begin in begins], axis=1)
        destination = np.tile(self._once.destination.reshape(shape), (1, len(begins)))
        trace = exchange_trace(destination, self.machine.spec.packet_length, start)
        run = replay(self.model, trace)
        return np.column_stack([trace.source, trace.destination, run.head, run.tail])


BENCH = ExchangeBench
