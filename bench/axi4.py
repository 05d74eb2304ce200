"""Reads and writes through emitted AXI4 endpoints of 4 and of 16 nodes: idle cycles, bytes a cycle; three minutes."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import hdnhw
from bench.collectives import table
from bench.rtl.axi_peers import DATA_BYTES, Crossbar, Mesh, Peer
from bench.rtl.axi_rates import AxiRates, Load, Lone
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.library.options import fabric_of
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import distances_from
from hdnhw.verilog.fabric import emit_fabric

PIECE, LONG = 64, 64
"""Bytes of a short burst, beats of those under load."""

CYCLES = 4000
"""Of those under load, that count."""

KINDS = ("reads",), ("writes",), ("reads", "writes")


@dataclass(frozen=True)
class Size:
    """What is measured of so many nodes.

    Attributes
    ----------
    network : str
    idle : list of (int, str)
        Bytes of a burst of node 0, 0 of one beat, and whose memory it asks.
    busy : dict of str to (list of int, list of int)
        Name -> nodes whose managers ask, and whose memories they ask.
    kinds : tuple
        What they ask for at once.
    """

    network: str
    idle: list[tuple[int, str]]
    busy: dict[str, tuple[list[int], list[int]]]
    kinds: tuple[tuple[str, ...], ...]

    def column(self, bench: AxiRates | Peer, width: int, farthest: int) -> list[str]:
        """Return the cells of a bench: the least, mean and most cycles, and bytes a cycle."""
        places = {"own memory": 0, "neighbor": 1, "farthest node": farthest}
        lone = [
            Lone(beats=max(1, size // width), source=0, destination=places[where], write=write)
            for (size, where), write in product(self.idle, (False, True))
            if places[where] or bench.reaches_own
        ]
        loads = [
            Load(beats=LONG, cycles=CYCLES, managers=managers, memories=memories, **dict.fromkeys(kinds, True))
            for (managers, memories), kinds in product(self.busy.values(), self.kinds)
        ]
        runs = bench.measure([*lone, *loads])
        spans = iter([span(run.latencies) for run in runs[: len(lone)]])
        rows = [next(spans) if places[where] or bench.reaches_own else "-" for _, where in self.idle for _ in range(2)]
        return rows + [f"{width * run.beats / CYCLES:.1f}" for run in runs[len(lone) :]]

    def rows(self) -> list[str]:
        """Return the names of the rows."""
        idle = [
            f"{verb} of {f'{size} bytes' if size else 'one beat'}, {where}"
            for (size, where), verb in product(self.idle, ("read", "write"))
        ]
        return idle + [f"{what}, {' and '.join(kinds)}" for what, kinds in product(self.busy, self.kinds)]


MACHINES: dict[str, dict[str, Any]] = {
    "default": {},
    "8 flits": {"packet_length": 8},
    "8 flits, cut-through": {"packet_length": 8, "switching": "cut-through"},
}
"""Name of a column -> options of its machine."""

FOUR = Size(
    "torus(2, 2)",
    [(size, where) for size in (0, PIECE) for where in ("neighbor", "own memory")],
    {"one to one": ([0], [1]), "three to one": ([1, 2, 3], [0]), "all to all": ([0, 1, 2, 3], [0, 1, 2, 3])},
    KINDS,
)
NODES, DIAGONAL = list(range(16)), [0, 5, 10, 15]
SIXTEEN = Size(
    "torus(4, 4)",
    [(0, where) for where in ("neighbor", "farthest node", "own memory")],
    {
        "15 to 1": ([node for node in NODES if node != 5], [5]),
        "16 to 4": (NODES, DIAGONAL),
        "16 to 8": (NODES, [*DIAGONAL, 3, 6, 9, 12]),
        "all to all": (NODES, NODES),
    },
    KINDS[:2],
)
"""The memories are on one diagonal or on both: such are the best places of Abts et al. (ISCA 2009) in a mesh."""


def span(latencies: list[int]) -> str:
    """Return the least, the mean and the most cycles, or the only ones."""
    least, most = min(latencies), max(latencies)
    return f"{least}" if least == most else f"{least}, {sum(latencies) / len(latencies):.1f}, {most}"


def own_column(size: Size, options: dict[str, Any]) -> list[str]:
    """Return the cells of a machine."""
    bench = AxiRates(emit_fabric(fabric_of(size.network, AxiMemorySpec.kind, options)))
    farthest = int(distances_from(bench.machine.network, 0).argmax())
    return size.column(bench, bench.machine.endpoint_format.bytes, farthest)


DEVICE_ROWS = (
    "LUT4", "flip-flops", "RAMs of 16 x 4 bits", "block RAMs", "sites", "fmax, MHz", "of each seed",
    "read of one beat, neighbor, ns", "one to one, reads, GB/s", "all to all, reads, GB/s",
)  # fmt: skip


def on_a_device(cells: list[str], result: Mapping[str, Any]) -> list[str]:
    """Return the cells of what was measured on ECP5, with what its clock makes of cycles; see `DEVICE_ROWS`."""
    times, rams, mhz = dict(zip(FOUR.rows(), cells, strict=True)), result["ram_cells"], result["fmax_mhz"]
    first, *more = times["read of one beat, neighbor"].split(", ")
    cycles = float(more[0] if more else first)
    return [
        *(str(result[name]) for name in ("luts", "ff")),
        *(str(rams.get(name, 0)) for name in ("TRELLIS_DPR16X4", "DP16KD")),
        *(str(result[name]) for name in ("comb_sites", "fmax_mhz")),
        ", ".join(str(each) for each in result["fmax_of_seed"]),
        f"{1000 * cycles / mhz:.0f}",
        *(f"{float(times[what]) * mhz / 1000:.2f}" for what in ("one to one, reads", "all to all, reads")),
    ]


def asked() -> tuple[bool, dict[str, tuple[type[Peer], dict[str, Path]]]]:
    """Return whether to synthesize, and the interconnects of other projects, with the folders of their libraries."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--synth", action="store_true", help="area and clock of those with 4 nodes on ECP5, too; half an hour"
    )
    parser.add_argument("--axi", type=Path, metavar="DIR", help="pulp-platform/axi, for a column of its axi_xbar")
    parser.add_argument("--common-cells", type=Path, metavar="DIR", help="the pulp-platform/common_cells it asks for")
    parser.add_argument("--floonoc", type=Path, metavar="DIR", help="pulp-platform/FlooNoC, for a column of its mesh")
    folders = vars(parser.parse_args())
    is_synthesized = folders.pop("synth")
    folders = {name: path for name, path in folders.items() if path is not None}
    if folders and not {"axi", "common_cells"} <= set(folders):
        parser.error("--axi and --common-cells go together, and --floonoc goes with both")
    peers: dict[str, tuple[type[Peer], dict[str, Path]]] = {}
    if folders:
        peers["axi_xbar"] = Crossbar, folders
    if "floonoc" in folders:
        peers["FlooNoC"] = Mesh, folders
    try:
        for kind, paths in peers.values():
            kind(4, paths).files()
    except SpecError as error:
        parser.error(str(error))
    return is_synthesized, peers


def main() -> None:
    """Print the tables."""
    is_synthesized, peers = asked()
    for size in (FOUR, SIXTEEN):
        columns = {name: own_column(size, options) for name, options in MACHINES.items()}
        ports = len(size.busy["all to all"][0])
        for name, (kind, folders) in peers.items():
            columns[name] = size.column(kind(ports, folders), DATA_BYTES, ports - 1)
        print(f"`{size.network}`, cycles (least, mean, most) and bytes a cycle.\n")
        rows = zip(size.rows(), *columns.values(), strict=True)
        table(" | ".join(("", *columns)), ([name, *cells] for name, *cells in rows))
        print()
        if is_synthesized and size is FOUR:
            results: dict[str, Mapping[str, Any]] = {}
            results["default"] = hdnhw.synth(size.network, unit="fabric", endpoints=AxiMemorySpec.kind)
            results |= {name: kind(ports, folders).synthesize() for name, (kind, folders) in peers.items()}
            made = [on_a_device(columns[name], result) for name, result in results.items()]
            table(" | ".join(("", *results)), ([name, *cells] for name, *cells in zip(DEVICE_ROWS, *made, strict=True)))
            print()


if __name__ == "__main__":
    main()
