"""Disjoint paths among failed nodes on the disjoint-path paper's network: ``make bench-path-faults``."""

import argparse
from pathlib import Path

from hdnhw.report.curves import check_plot
from hdnhw.report.path_faults import plot_path_faults
from hdnhw.routing.disjoint import short_routes
from hdnhw.routing.disjoint_literal import mended_routes
from hdnhw.routing.path_faults import FaultPoint, hops_of_pairs, pairs_of_case, try_faults
from hdnhw.spec import parse
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.network import build

SPEC = "hdn(cube(3), [[2], [0, 1, 2]])"
MAKERS = {"Algorithm 6, mended": mended_routes, "short": short_routes}
RATES = tuple(percent / 100 for percent in range(0, 31))
SHOWN = (0, 0.05, 0.1, 0.2, 0.3)


def main() -> None:
    """Print a row for each kind of paths, case and shown rate, and draw all rates."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=1000, help="drawn of each case")
    parser.add_argument("--trials", type=int, default=1_000_000, help="at each rate, for each case and kind of paths")
    parser.add_argument("--plot", type=Path, help="file to draw to")
    options = parser.parse_args()
    if options.plot:
        check_plot(options.plot)
    network = build(parse(SPEC))
    assert isinstance(network, DualNetwork)
    found: dict[str, dict[str, list[FaultPoint]]] = {kind: {} for kind in MAKERS}
    print(f"{'paths':20} case {'rate':>5} {'all':>8} {'any':>8} {'hops':>7}")
    for kind, make in MAKERS.items():
        for case in "ABC":
            hops = hops_of_pairs(network, pairs_of_case(network, case, options.pairs, 1), make)
            points = try_faults(network.num_nodes, hops, RATES, trials=options.trials, seed=1)
            found[kind][case] = points
            for point in points:
                if point.rate in SHOWN:
                    shown = f"{point.all_paths:8.5f} {point.any_path:8.5f} {point.mean_hops:7.3f}"
                    print(f"{kind:20} {case:4} {point.rate:5.2f} {shown}", flush=True)
    if options.plot:
        plot_path_faults(found, options.plot)


if __name__ == "__main__":
    main()
