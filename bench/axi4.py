"""Reads and writes through emitted AXI4 endpoints of four nodes: idle cycles, bytes a cycle; a minute."""

import argparse
import sys
from pathlib import Path
from typing import Any

from bench.collectives import table
from bench.rtl.axi_crossbar import DATA_BYTES, Crossbar
from bench.rtl.axi_rates import AxiRates, Load, Lone
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.library.options import fabric_of
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric

NETWORK = "torus(2, 2)"
MACHINES: dict[str, dict[str, Any]] = {
    "default": {},
    "8 flits of 32 bits": {"flit_width": 32},
    "the same, cut-through": {"flit_width": 32, "switching": "cut-through"},
}

FOUR_PORTS = 4
"""Managers, and memories, of a crossbar."""

LONG, PIECE = 64, 64
"""Beats of a long burst, bytes of a short one."""

IDLE = {
    f"{verb} of {what}, {where}": (verb == "write", size, target)
    for what, size in (("one beat", 0), (f"{PIECE} bytes", PIECE))
    for where, target in (("neighbor", 1), ("own memory", 0))
    for verb in ("read", "write")
}
"""Each row in an idle fabric: whether it writes, bytes of a burst, 0 of one beat, and the memory that node 0 asks."""

ONE, FOUR = {0: 1}, dict.fromkeys(range(4), 0)
BUSY = {
    f"{what}, {' '.join(kinds)}": Load(beats=LONG, memories=memories, **dict.fromkeys(kinds[::2], True))
    for what, memories in (("one to one", ONE), ("four to one", FOUR))
    for kinds in (("reads",), ("writes",), ("reads", "and", "writes"))
}
"""Each row under load."""


def fabric(options: dict[str, Any]) -> tuple[AxiRates, int]:
    """Return the bench of a machine, and the bytes of a beat."""
    bench = AxiRates(emit_fabric(fabric_of(NETWORK, AxiMemorySpec.kind, options)))
    return bench, bench.machine.endpoint_format.bytes


def column(bench: AxiRates | Crossbar, width: int) -> list[str]:
    """Return the cells of a bench: the least, mean and most cycles, and bytes a cycle."""
    lone = [
        Lone(beats=max(1, size // width), source=0, destination=memory, write=write)
        for write, size, memory in IDLE.values()
    ]
    measured = bench.measure([*lone, *BUSY.values()])
    cells = [span(timing.latencies) for timing in measured[: len(lone)]]
    loads = zip(BUSY.values(), measured[len(lone) :], strict=True)
    return cells + [f"{width * timing.beats / run.cycles:.2f}" for run, timing in loads]


def span(latencies: list[int]) -> str:
    """Return the least, the mean and the most cycles."""
    return f"{min(latencies)}, {sum(latencies) / len(latencies):.1f}, {max(latencies)}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--axi", type=Path, metavar="DIR", help="pulp-platform/axi, for a column of its axi_xbar")
    parser.add_argument(
        "--common-cells", type=Path, metavar="DIR", help="the pulp-platform/common_cells that it asks for"
    )
    asked = parser.parse_args()
    if (asked.axi is None) != (asked.common_cells is None):
        parser.error("--axi and --common-cells go together")
    columns = {name: column(*fabric(options)) for name, options in MACHINES.items()}
    if asked.axi is not None:
        crossbar = Crossbar(FOUR_PORTS, FOUR_PORTS, asked.axi.absolute(), asked.common_cells.absolute())
        try:
            columns["axi_xbar"] = column(crossbar, DATA_BYTES)
        except SpecError as error:
            sys.exit(f"bench.axi4: {error}")
    print(f"`{NETWORK}`, cycles (least, mean, most) and bytes a cycle.\n")
    rows = zip((*IDLE, *BUSY), *columns.values(), strict=True)
    table(" | ".join(("", *columns)), ([name, *cells] for name, *cells in rows))


if __name__ == "__main__":
    main()
