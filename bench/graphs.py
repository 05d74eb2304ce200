"""Networks of 1000 nodes side by side, with a figure (docs/results/08-networks-of-1000-nodes.md); half an hour."""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hdnhw
from bench.booksim import SETTINGS, call_booksim, numbers

NETWORKS = (
    "concentrated(dragonfly(8, 4), 4)",
    "concentrated(slim_fly(9), 7)",
    "fat_tree(16)",
    "torus(10, 10, 10)",
    "cube(10)",
    "hdn(cube(5), [[0]])",
    "rdn(torus(4, 6), 1)",
    "dualcube(5)",
)
PUBLISHED = ("concentrated(dragonfly(8, 4), 4)", "concentrated(slim_fly(9), 7)")
"""Those whose papers simulate packets of one flit."""

BUFFERS, VCS, RATES, PERIOD = 64, 4, (0.02, 0.4, 0.6), 200
"""Flits a port; on BookSim2 its virtual channels, rates and the cycles of warm-up and of what is measured."""

MACHINE: dict[str, Any] = {"buffers": 32, "queueing": "voq"}

HEAD = (
    "network",
    "nodes",
    "ports",
    "edges per node",
    "diameter",
    "average distance",
    "bisection",
    "classes",
    "zero load",
    "saturation",
    "bound",
)


def row(found: dict[str, Any]) -> Iterator[str]:
    """Yield the cells of a network, given its row of the sweep's ``saturation``."""
    spec = found["spec"]
    info, routing = hdnhw.info(spec), hdnhw.routing(spec)
    between = info.edges - info.terminals * (info.terminals < info.nodes)
    yield from (f"`{spec}`", str(info.terminals), str(info.degree_max), f"{between / info.terminals:.2f}")
    cut = f"{'' if info.bisection['exact'] else '<= '}{info.bisection['edges']}"
    yield from (str(info.diameter), f"{info.average_distance:.3f}", cut, str(routing.num_vcs))
    yield from (f"{found['zero_load_latency']:.1f}", share(found["saturation_throughput"]))
    yield f"{routing.saturation_bound:.3f}"


def share(value: float | None) -> str:
    """Return a rate as it is shown."""
    return "-" if value is None else f"{value:.3f}"


def table(head: tuple[str, ...], rows: Iterator[list[str]]) -> None:
    """Print a table as it is made."""
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for cells in rows:
        print(f"| {' | '.join(cells)} |", flush=True)


def published(results: str | None) -> Iterator[list[str]]:
    """Yield the rows of the networks with packets of one flit."""
    for one in hdnhw.sweep(*PUBLISHED, packet_length=1, buffers=BUFFERS, cycles=4000, results=results).saturation:
        figures = f"{one['zero_load_latency']:.2f}", share(one["saturation_throughput"])
        yield [f"`{one['spec']}`", *figures, share(one["saturation_bound"])]


def of_booksim(binary: Path) -> Iterator[list[str]]:
    """Yield latency at a low rate and what is accepted at others, of BookSim2 on the exported networks."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for spec, speedup in product(PUBLISHED, (1, 2)):
            hdnhw.export(spec, folder / "net.anynet")
            network = {"topology": "anynet", "routing_function": "min", "network_file": folder / "net.anynet"}
            shape = {"num_vcs": VCS, "vc_buf_size": BUFFERS // VCS, "internal_speedup": f"{speedup}.0"}
            texts = [
                call_booksim(
                    binary, SETTINGS | network | shape | {"injection_rate": rate, "sample_period": PERIOD}, folder
                )[1]
                for rate in RATES
            ]
            latency, hops = (numbers(texts[0], f"{what} average")[-1] for what in ("Packet latency", "Hops"))
            accepted = [f"{numbers(text, 'Accepted flit rate average')[-1]:.3f}" for text in texts[1:]]
            yield [f"`{spec}`", str(speedup), f"{hops:.3f}", f"{latency:.1f}", *accepted]


def main() -> None:
    """Print the tables and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="docs/graphs-1000.svg", metavar="FILE", help="figure to write")
    parser.add_argument("--results", metavar="FILE", help="Parquet file that is kept up to date, and gone on from")
    parser.add_argument("--booksim", type=Path, metavar="PATH", help="program of BookSim2, to run on the same networks")
    parser.add_argument("--published", action="store_true", help="only packets of one flit, as the papers have")
    options = parser.parse_args()
    if not options.published:
        swept = hdnhw.sweep(
            *NETWORKS, **MACHINE, cycles=4000, plot=options.plot, results=options.results, command="make bench-graphs"
        )
        table(HEAD, (list(row(found)) for found in swept.saturation))
    table(("network", "zero load", "saturation", "bound"), published(options.results))
    if options.booksim:
        head = ("network", "speedup", "hops", "zero load", *(f"accepted of {rate}" for rate in RATES[1:]))
        table(head, of_booksim(options.booksim))


if __name__ == "__main__":
    main()
