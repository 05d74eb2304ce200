"""Networks in chips of 16 nodes with long, narrow links between them; schedules predicted and in slices; 20 minutes."""

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import prod
from typing import Any

import numpy as np

from bench.collectives import table
from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.dual import dual_step
from hdnhw.circuits.step import Step
from hdnhw.collectives.baselines import baseline_of
from hdnhw.collectives.comparison import Algorithm, compared
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import Execution, execute
from hdnhw.machine.machine import make_machine
from hdnhw.measurement.collective import measure_allreduce, measure_steps
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.predicted import predicted_cycles
from hdnhw.measurement.replay import replay
from hdnhw.measurement.results import ResultsFile
from hdnhw.measurement.slices import measure_slices
from hdnhw.measurement.sweep import Sweep
from hdnhw.model.fabric import model_of
from hdnhw.networks import registry
from hdnhw.networks.build import build
from hdnhw.networks.families.graph import Graph
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec, NetworkSpec, Product
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.edges import EdgeNetwork
from hdnhw.topology.family import Family
from hdnhw.topology.graph import Digits, Network, Port
from hdnhw.topology.metrics import neighbor_table, summarize_distances
from hdnhw.traffic.exchange import exchange_order, exchange_trace

LINK = "link"
"""How types of channels between chips begin."""


@dataclass(frozen=True)
class CutTorus(NetworkSpec):
    """A torus of which each dimension is cut into parts of equal length.

    Attributes
    ----------
    torus : Product
        Each dimension has 4 nodes or more.
    parts : tuple of int
        Of each dimension: at least 2, each of 2 nodes or more.
    """

    torus: Product
    parts: tuple[int, ...]

    def __str__(self) -> str:
        return str(self.torus)


class CutTorusNetwork(Network):
    """A torus whose ports are others where they lead to another chip: ``link0_plus`` in place of ``dim0_plus``."""

    spec: CutTorus

    def __init__(self, spec: CutTorus) -> None:
        self.spec, self.whole, self.radices = spec, DualNetwork(spec.torus), spec.torus.radices
        own = self.whole.ports
        links = [Port(port.name.replace("dim", LINK), port.opposite + len(own)) for port in own]
        self.ports = (*own, *links)

    @property
    def digit_names(self) -> tuple[str, ...]:
        """Those of the torus."""
        return self.whole.digit_names

    @property
    def node_symmetric(self) -> bool:
        """It is a torus."""
        return True

    @property
    def diameter_formula(self) -> int:
        """That of the torus."""
        return self.whole.diameter_formula

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        return self.whole.move(digits, port % len(self.whole.ports))

    def ends(self, port: int) -> tuple[int, list[int]]:
        """Return the place of the digit that a port of the torus changes, and its values where it leaves a chip."""
        about = self.whole.ports[port]
        size, parts = self.radices[about.factor], self.spec.parts[about.factor]
        long = size // parts
        return about.factor, [part * long + (long - 1 if about.step == 1 else 0) for part in range(parts)]

    def has_port(self, digits: Digits, port: int) -> Any:
        """Return whether the node has an edge behind `port`."""
        place, values = self.ends(port % len(self.whole.ports))
        leaves = sum(digits[place] == value for value in values)
        return (leaves == 1) == (port >= len(self.whole.ports))

    def port_count(self, port: int) -> int:
        """Return how many nodes have `port`."""
        place, values = self.ends(port % len(self.whole.ports))
        leaving = self.num_nodes // self.radices[place] * len(values)
        return leaving if port >= len(self.whole.ports) else self.num_nodes - leaving

    @cached_property
    def port_sets(self) -> frozenset[tuple[int, ...]]:
        """The distinct sets of ports that nodes have."""
        nodes = (self.decode(node) for node in range(self.num_nodes))
        return frozenset(
            tuple(port for port in range(len(self.ports)) if self.has_port(digits, port)) for digits in nodes
        )


def _step(circuit: Circuit, network: CutTorusNetwork, cur: Sequence[Term], dst: Sequence[Term], modes: str) -> Step:
    """Decide as on the torus, and leave by the port that the node has."""
    found = dual_step(circuit, network.whole, cur, dst, modes)
    take: dict[int, Term] = {}
    bits: dict[int, list[Term]] = {}
    for port, taken in found.take.items():
        place, values = network.ends(port)
        leaves = circuit.any_of(cur[place].eq(circuit.constant(value)) for value in values)
        take |= {port: taken & ~leaves, port + len(network.whole.ports): taken & leaves}
        bits |= dict.fromkeys((port, port + len(network.whole.ports)), found.class_bits[port])
    return Step(found.matched, take, bits)


FAMILY = Family(makers=(), spec=CutTorus, network=CutTorusNetwork, step=_step, is_shortest=True)


def add_family() -> None:
    """Make tori in chips known in this process."""
    known = registry.families()
    registry.families = cache(lambda: (*known, FAMILY))


def cut_torus(sizes: Sequence[int], parts: Sequence[int]) -> CutTorus:
    """Return a torus in chips."""
    spec = parse(f"torus({', '.join(map(str, sizes))})")
    assert isinstance(spec, Product)
    assert all(size % part == 0 and size // part > 1 < part for size, part in zip(sizes, parts, strict=True))
    return CutTorus(spec, tuple(parts))


def dragonfly(routers: int, links: int) -> NetworkSpec:
    """Return a dragonfly whose channels between groups are of type ``link``."""
    text = f"dragonfly({routers}, {links})"
    table = neighbor_table(build(text))
    edges = sorted((node, int(other)) for node, row in enumerate(table) for other in row if other > node)
    types = tuple("chip" if one // routers == other // routers else LINK for one, other in edges)
    return Graph(text, len(table), len(table), tuple(edges), (), types)


def chip_of(network: Network, size: int) -> Any:
    """Return the chip of each node: of a cut torus its part, of others so many nodes one behind the other."""
    nodes = np.arange(network.num_nodes)
    if not isinstance(network, CutTorusNetwork):
        return nodes // size
    parts = network.spec.parts
    assert network.num_nodes // prod(parts) == size
    digits = network.decode(nodes)
    places = [digit * part // radix for digit, part, radix in zip(digits, parts, network.radices, strict=True)]
    return np.ravel_multi_index(places, parts)


CHIP = 16
"""Nodes of a chip."""

CYCLES, FULL, QUARTER, WIRES = 40, 32, 8, 256
"""Cycles of a link, bits of a flit, wires of a quarter, and wires each way of a chip where pins are equal."""

NETWORKS: dict[str, tuple[NetworkSpec, str]] = {
    "`rdn(cube(4), 1)`": (parse("rdn(cube(4), 1)"), "cross1"),
    "`torus(16, 32)`, chips of 4 x 4": (cut_torus((16, 32), (4, 8)), f"{LINK}*"),
    "`torus(8, 8, 8)`, chips of 4 x 2 x 2": (cut_torus((8, 8, 8), (2, 4, 4)), f"{LINK}*"),
    "`cube(9)`": (parse("cube(9)"), "dim0={0},dim1={0},dim2={0},dim3={0},dim4"),
    "`dragonfly(16, 2)`": (dragonfly(16, 2), f"{LINK}*"),
}
"""Networks of about 512 nodes, and their types of channels that leave a chip."""

PATTERNS = ("uniform", "complement", "permutation(1)")
INTERVAL = 5000
"""Cycles that a load is measured."""

VECTOR_WORDS, EXCHANGED = 4096, 16
"""Of an all-reduce, and of a message of a total exchange that is predicted or in slices."""

SMALL = (
    ("hdn(cube(2), [[0]])", "cross1"),
    ("rdn(cube(2), 1)", "cross1"),
    ("rdn(cube(3), 1)", "cross1"),
    ("hdn(cube(2), [[0], [0]])", "cross2"),
    ("rdn(cube(2), 2)", "cross2"),
)
"""Dual-nets, and the cross-edges between their chips."""

SLICED = (("rdn(cube(2), 1)", "cross1"), ("rdn(cube(3), 1)", "cross1"), ("rdn(cube(4), 1)", "cross1"))
SLICES = (2, 4, 8, 16, 32, 64, 128)
"""Numbers that are tried."""

BUFFERS = 16
"""Packet buffers of a port, so that what waits for a link stands before it, and not in the way of other packets."""


def said(links: str, number: int) -> str:
    """Return what an option says of links alone."""
    return f"{links.format(number)}={number}"


def linked(spec: NetworkSpec, links: str, wires: int, **machine: int) -> FabricSpec:
    """Return a machine whose links have so many wires."""
    return FabricSpec(
        network=spec,
        channel_latency=said(links, CYCLES),
        channel_width=said(links, wires),
        **machine,  # type: ignore[arg-type]
    )


def leaving(network: Network) -> int:
    """Return the channels that leave a chip, as many of each."""
    there, chips = neighbor_table(network), chip_of(network, CHIP)
    leaves = ((there >= 0) & (chips[there] != chips[:, None])).sum(axis=1)
    counts = np.bincount(chips, leaves)
    assert (counts == counts[0]).all(), network.spec
    return int(counts[0])


def on_ports(network: Network, run: Execution) -> Execution:
    """Return what a torus sends with the ports of its chips."""
    if not isinstance(network, CutTorusNetwork):
        return run
    table = neighbor_table(network)
    sent = np.concatenate([run.sent, run.sent], axis=2) * (table >= 0)
    assert sent.sum() == run.sent.sum()
    return replace(run, sent=sent, neighbors=table)


def schedules(network: Network, exchanged: int) -> Iterator[tuple[str, Execution, int]]:
    """Yield total exchange and all-reduce with their words of a message."""
    yield f"exchange, {exchanged} words", execute(exchange_schedule(network)), exchanged
    for each in compared(network)[:2]:
        assert isinstance(each.run, Execution)
        yield f"all-reduce, {each.name}, {VECTOR_WORDS} words", each.run, each.words(VECTOR_WORDS)


def in_this_process() -> Any:
    """Return what measures here, where the families of all these networks are known."""
    executor: Any = ThreadPoolExecutor(1)
    executor.workers = 1
    return executor


def figures(spec: NetworkSpec, links: str, wires: int) -> Iterator[str]:
    """Yield the cells of a network."""
    network, fabric = build(spec), linked(spec, links, wires)
    channels = leaving(network)
    yield from (str(channels), str(wires), str(2 * channels * wires))
    yield str(summarize_distances(network).diameter)
    load = LoadSpec(rate=0.1, cycles=INTERVAL)
    run = Sweep([fabric], load, patterns=PATTERNS, rates=None, results=ResultsFile(None))
    curves = run.run(in_this_process)
    yield f"{curves[0]['zero_load_latency']:.0f}"
    yield f"{curves[0]['saturation_bound']:.3f}"
    yield from (f"{curve['saturation_throughput']:.3f}" for curve in curves)
    whole = network.whole if isinstance(network, CutTorusNetwork) else network
    yield fastest(exchanges(fabric, whole))
    yield fastest(allreduces(fabric, whole))


def fastest(cycles: dict[str, int]) -> str:
    """Return the least cycles, and of what."""
    name = min(cycles, key=lambda one: cycles[one])
    return f"{cycles[name]} {name}"


def exchanges(fabric: FabricSpec, whole: Network) -> dict[str, int]:
    """Return the cycles of a total exchange of one packet each, by how it is done.

    Packets are routed at once, in the same relative order at all nodes or in one that each node has drawn; or go by
    steps, where there are some.
    """
    relative, rng = exchange_order(whole), np.random.default_rng(1)
    found = {
        name: replay(model_of(fabric), exchange_trace(order, 8)).cycles
        for name, order in (("in relative order", relative), ("in drawn order", rng.permuted(relative, axis=1)))
    }
    if not isinstance(whole, EdgeNetwork):
        run = on_ports(build(fabric.network), execute(exchange_schedule(whole)))
        found["in steps"] = measure_steps(fabric, run, words=8)["cycles"]
    return found


def allreduces(fabric: FabricSpec, whole: Network) -> dict[str, int]:
    """Return the cycles of an all-reduce, by algorithm."""
    network, ring = build(fabric.network), Algorithm("ring", baseline_of("ring", whole), whole.num_nodes)
    found = [ring] if isinstance(whole, EdgeNetwork) else compared(whole)
    told = [replace(one, run=on_ports(network, one.run)) if isinstance(one.run, Execution) else one for one in found]
    return {one.name: measure_allreduce(fabric, one, vector_words=VECTOR_WORDS)["cycles"] for one in told}


def print_networks() -> None:
    """Print networks with links of a quarter of the wires, then with equal pins."""
    head = (
        "network | channels that leave a chip | wires | pins a chip | diameter | lone packet | bound | "
        f"{' | '.join(PATTERNS)} | exchange | all-reduce"
    )
    for equal in (False, True):
        widths = {
            name: min(FULL, WIRES // leaving(build(spec))) if equal else QUARTER for name, (spec, _) in NETWORKS.items()
        }
        table(head, ([name, *figures(*NETWORKS[name], widths[name])] for name in NETWORKS))
        print()


def print_predicted() -> None:
    """Print predicted beside measured cycles."""
    rows = []
    for text, links in SMALL:
        fabric = linked(parse(text), links, QUARTER)
        rows.append([f"`{text}`"])
        for _, run, words in schedules(build(fabric.network), EXCHANGED):
            predicted = sum(predicted_cycles(make_machine(fabric), run, words))
            rows[-1].append(f"{predicted} / {measure_steps(fabric, run, words=words)['cycles']}")
    head = f"exchange, {EXCHANGED} words | all-reduce, short, {VECTOR_WORDS} words | all-reduce, long"
    table(f"network | {head}", rows)
    print()


def best_slices(fabric: FabricSpec, run: Execution, words: int) -> tuple[int, int, int]:
    """Return the least cycles in slices, in how many, and the lower bound."""
    found = [measure_slices(fabric, run, words=words, slices=count) for count in SLICES if count <= words]
    best = min(found, key=lambda row: (row["sliced_cycles"], row["slices"]))
    return best["sliced_cycles"], best["slices"], best["lower_bound_cycles"]


def print_sliced() -> None:
    """Print cycles in steps and in slices."""
    rows = []
    for text, links in SLICED:
        fabric = linked(parse(text), links, QUARTER, buffers=BUFFERS)
        for name, run, words in schedules(build(fabric.network), EXCHANGED):
            steps = measure_steps(fabric, run, words=words)["cycles"]
            cycles, slices, least = best_slices(fabric, run, words)
            rows.append([f"`{text}`", name, *map(str, (steps, cycles, slices, least)), f"{steps / cycles:.2f}"])
    table("network | schedule | steps | slices | how many | bound | gain", rows)


PARTS = {"networks": print_networks, "predicted": print_predicted, "sliced": print_sliced}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=PARTS, help="print this table alone")
    only = parser.parse_args().part
    add_family()
    for part, show in PARTS.items():
        if only in (None, part):
            show()
