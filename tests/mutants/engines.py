"""Designs of collective engines whose mutants are looked at by themselves, and the program that their cases run in."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hdnhw.endpoints.collective.bench import CollectiveBench, CollectiveCase
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.fpga.tools import ToolError
from hdnhw.networks.parse import parse
from hdnhw.sim.simulator import BUILD_ARGUMENTS, BUILD_ROOT, control_text
from hdnhw.spec import BARRIER, MOVING, REGISTER_OPERATIONS, FabricSpec, NetworkSpec
from hdnhw.verilog.fabric import EmittedFabric
from tests.mutants.designs import SAMPLE, Design, Trial
from tests.mutants.program import Program

DRIVER = """// What hdnhw.endpoints.collective.bench_cocotb does, without Python.
module driver;
  reg clk = 0, rst = 1;
  wire finished;
  reg [31:0] resets [0:63];
  integer count, place;

  bench bench(.clk(clk), .rst(rst), .finished(finished));

  always #5 clk = !clk;

  initial begin
    if (!$value$plusargs("resets=%d", count)) $finish;
    $readmemh("resets.hex", resets, 0, count);
    @(negedge clk);
    rst = 0;
    for (place = 0; place < count; place = place + 1) begin
      repeat (resets[place]) @(negedge clk);
      if (finished) $fatal(1, "the traffic ended before the reset");
      rst = 1;
      @(negedge clk);
      rst = 0;
    end
    wait (finished);
    repeat (2) @(negedge clk);
    $finish;
  end
endmodule
"""


LIMIT = 20_000
"""Cycles from the last reset after which what has not come is lost: several times as many as a case takes."""


class EngineProgram(Program):
    """The bench of engines as a program, which takes a tenth of the time that a run under cocotb takes.

    Parameters
    ----------
    bench : CollectiveBench
    root : Path
        Folder for builds.
    """

    def __init__(self, bench: CollectiveBench, *, root: Path = BUILD_ROOT) -> None:
        _, files, rules = bench.sources()
        files = {"bench.vlt": control_text(bench.blocks, *rules), **files, "driver.sv": DRIVER}
        super().__init__("engines", files, "driver", arguments=(*BUILD_ARGUMENTS, "-Wno-lint"), root=root)

    def run(self, module: str, folder: Path, **options: Any) -> None:  # noqa: ARG002
        """See :meth:`hdnhw.sim.simulator.Build.run`."""
        resets = [int(cycles) for cycles in options["extra_env"]["HDNHW_RESETS"].split()]
        (folder / "resets.hex").write_text("\n".join(f"{cycles:x}" for cycles in [*resets, 0]))
        others = [word for word in options["plusargs"] if not word.startswith("+limit=")]
        command = [self.path, *others, f"+limit={LIMIT}", f"+resets={len(resets)}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        if done.returncode:
            raise ToolError(f"the program has ended with status {done.returncode}")


def _in_program(fabric: EmittedFabric, cases: dict[str, CollectiveCase]) -> dict[str, Trial]:
    bench = CollectiveBench.of(fabric)
    bench.build = EngineProgram(bench)
    return {name: (bench, case) for name, case in cases.items()}


COMBINING = ("gather", "reduce", "reducescatter", "allreduce")

OPERATORS = ("sum", "max")


def _alternating(operations: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return operations with the operators taking turns, as members of a case."""
    return {"operations": operations, "operators": [OPERATORS[place % 2] for place in range(len(operations))]}


def _pairs(operations: Sequence[str]) -> list[str]:
    """Return operations in an order in which each comes after each, and after itself, once."""
    order: list[str] = []
    for place, one in enumerate(operations):
        order += [one, *(each for other in operations[place + 1 :] for each in (one, other))]
    return [*order, operations[0]]


def _cases(operations: Sequence[str]) -> dict[str, CollectiveCase]:
    """Return cases of some operations by name: once as they are, and each after each and after itself."""
    once, often = CollectiveCase(**_alternating(operations)), CollectiveCase(**_alternating(_pairs(operations)))
    return {
        "each operation": once,
        "operations, back to back": replace(often, ahead=True, early=True),
        "operations, hosts stall": replace(often, stall=240, pause=60, seed=2),
        "operations, hosts stall, back to back": replace(often, stall=200, ahead=True, early=True, seed=3),
        "operations, hosts pause, messages first": replace(often, pause=500, early=True, seed=4),
        "operations, resets": replace(often, ahead=True, resets=[7, *range(30, 300, 11), *range(301, 331)]),
        "operations, hosts stall, resets": replace(often, stall=200, pause=30, resets=range(100, 700, 23), seed=5),
    }


def _moving(fabric: EmittedFabric) -> dict[str, Trial]:
    return _in_program(fabric, _cases(MOVING))


def _combining(fabric: EmittedFabric) -> dict[str, Trial]:
    return _in_program(fabric, _cases(COMBINING))


def _variable(fabric: EmittedFabric) -> dict[str, Trial]:
    return _in_program(fabric, _cases(("exchange", "allgather")))


def _registers(fabric: EmittedFabric) -> dict[str, Trial]:
    return _in_program(fabric, _cases(REGISTER_OPERATIONS))


def _barriers(fabric: EmittedFabric) -> dict[str, Trial]:
    """Barriers that nodes enter all at once, or one long after the others, beside broadcasts."""
    most = CollectiveCase([*[BARRIER] * 15, "broadcast"] * 4)
    cases = {
        "barriers": most,
        "barriers, back to back": replace(most, ahead=True),
        **{f"barriers, pauses of {pause}": replace(most, pause=pause, seed=pause) for pause in (3, 6, 12, 40)},
        "barriers, resets": replace(most, ahead=True, resets=[*range(2, 40), *range(100, 120)]),
        "barriers, pauses, resets": replace(most, pause=6, resets=[*range(2, 40), *range(100, 120)]),
    }
    return _in_program(fabric, cases)


RINGS = parse("hdn(torus(3), [[0]])")
"""Six nodes: on a ring of three a node sends to one neighbor and receives from another, so that each tells the other
that it is ready; cross-edges are paired; addresses have a radix that is no power of two; conditions look at classes."""


PATH = parse("mesh(4)")
"""A barrier on it has three rounds, and nodes that miss a neighbor; signals stand in registers on their way."""


def _spec(network: NetworkSpec, *operations: str, packets: int = 1, varies: bool = False, **machine: Any) -> FabricSpec:
    sizes: dict[str, Any] = {"message_packets": packets, "variable_messages": varies}
    endpoints = CollectiveSpec(operations=operations, operators=OPERATORS, numbers="int8", **sizes)
    return FabricSpec(network=network, endpoints=endpoints, flit_width=16, **machine)


OF_BARRIERS = r"\bbarrier\.|at_barrier|at_behind"
"""What an engine has only if it has a barrier."""

OF_LENGTHS = r"\bcounter\."
"""What an engine has only if messages are variable."""

ENGINES = {
    "collective": Design(_spec(RINGS, *MOVING, packets=2, packet_length=4), _moving, sample=SAMPLE, runs=True),
    "combining": Design(_spec(RINGS, *COMBINING, packets=2, packet_length=4), _combining, sample=SAMPLE, runs=True),
    "lengths": Design(
        _spec(RINGS, "exchange", "allgather", packets=3, varies=True, packet_length=4),
        _variable,
        sample=SAMPLE,
        about=OF_LENGTHS,
        runs=True,
    ),
    "registers": Design(_spec(RINGS, *REGISTER_OPERATIONS, packet_length=4), _registers, sample=SAMPLE, runs=True),
    "barrier": Design(
        _spec(PATH, "broadcast", BARRIER, channel_latency="2"), _barriers, sample=SAMPLE, about=OF_BARRIERS, runs=True
    ),
}
"""By name."""
