"""Fabrics and cases drawn at random, for the check that the model is the Verilog (:mod:`tests.soak.lockstep`)."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hdnhw.machine.crc import check_width
from hdnhw.machine.timing import HALF_SLOT, LONG_SLOT
from hdnhw.measurement.load import LoadSpec
from hdnhw.networks.build import build
from hdnhw.networks.families.dualnets import dualcube, hdn, rdn
from hdnhw.spec import FabricSpec, NetworkSpec, Product, complete, cube, ghc, mesh, product, torus
from hdnhw.spec.options import options_of
from hdnhw.support.errors import SpecError
from hdnhw.topology.address import AddressLayout
from hdnhw.topology.coloring import two_colors
from hdnhw.topology.dualnet import DualNetwork, dual_network
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals
from hdnhw.traffic.patterns import parse_pattern

LENGTHS = (1, 2, 3, 4, 5, 8, 9)
"""Packet lengths: of every number of cycles that routers take, see :mod:`hdnhw.machine.timing`."""

SPARE_BITS = (0, 1, 7, 24)
"""Of a flit, beyond the address of the destination."""

RATES = ((0.01, 0.03), (0.03, 0.15), (0.15, 0.5), (0.5, 1.0))
"""Least and most flits per node per cycle of each load of a fabric: from nearly idle to above saturation."""

PACKETS = 2000
"""Packets of a case, about, unless more are asked for."""

MOST_CYCLES, MOST_CYCLES_A_PACKET = 100_000, 4
"""Of a load, whichever is more: one of few flits a cycle has fewer packets than are asked for."""

MOST_RESETS = 8
"""Of a case."""

MOST_LATENCY = 64
"""Cycles of a channel."""

FLIT_CYCLES = (1, 1, 2, 2, 3, 4, 8)
"""That a flit takes over a channel of its own width."""

PAUSES = (0, 32, 64, 128)
"""Of 256: how often terminals pause, where they do."""

LEAST_NODES, MOST_NODES = 4, 64

Generator = np.random.Generator


def _sizes(most: int, rng: Generator) -> list[int]:
    """Draw the sizes of one to three factors."""
    sizes: list[int] = rng.integers(2, most + 1, rng.integers(1, 4)).tolist()
    return sizes


def _cube(rng: Generator) -> Product:
    return cube(int(rng.integers(2, 7)))


def _complete(rng: Generator) -> Product:
    return complete(int(rng.integers(2, 13)))


def _product(rng: Generator) -> Product:
    makers = (torus, mesh, ghc)
    return product(*(makers[rng.integers(3)](*_sizes(4, rng)) for _ in range(rng.integers(1, 4))))


def _base(rng: Generator) -> Product:
    """Draw the base of a dual-net."""
    sizes = _sizes(4, rng)
    makers = (torus, ghc, lambda *_: cube(len(sizes)), lambda *_: product(torus(sizes[0]), ghc(*sizes)))
    return makers[rng.integers(len(makers))](*sizes)


def _hdn(levels: int) -> Callable[[Generator], NetworkSpec]:
    def draw(rng: Generator) -> NetworkSpec:
        base = _base(rng)
        return hdn(base, [np.flatnonzero(rng.integers(2, size=len(base.factors))).tolist() for _ in range(levels)])

    return draw


@dataclass(frozen=True)
class Kind:
    """A kind of network.

    Attributes
    ----------
    draw : callable
        Makes one from a generator, of any size.
    most_nodes : int
    nested : bool
        Whether its super-nodes are nested.
    """

    draw: Callable[[Generator], NetworkSpec]
    most_nodes: int = MOST_NODES
    nested: bool = True


KINDS = (
    Kind(lambda rng: rdn(_base(rng), int(rng.integers(1, 3)))),
    Kind(_hdn(1)),
    Kind(_hdn(2)),
    Kind(_hdn(2), most_nodes=128, nested=False),
    Kind(lambda rng: dualcube(int(rng.integers(2, 5)))),
    Kind(lambda rng: torus(*_sizes(8, rng))),
    Kind(lambda rng: mesh(*_sizes(8, rng))),
    Kind(_product),
    Kind(lambda rng: ghc(*_sizes(8, rng))),
    Kind(_cube),
    Kind(_complete),
    Kind(_hdn(3), most_nodes=256),
)
"""Fabrics take turns at them. No dual-net of three levels has fewer than 256 nodes."""


def _network(kind: Kind, rng: Generator) -> DualNetwork:
    while True:
        try:
            spec = kind.draw(rng)
        except SpecError:  # of three levels, one may have addresses of more bits than are allowed
            continue
        network = dual_network(build(spec), "a drawn fabric")
        if LEAST_NODES <= network.num_nodes <= kind.most_nodes and network.is_nested == kind.nested:
            return network


def draw_fabric(number: int, rng: Generator) -> FabricSpec:
    """Draw a fabric; kinds of networks and packet lengths take turns by its number, all else is left to chance.

    Options have the values that :attr:`hdnhw.spec.options.Option.drawn` says, in the order of the members of the spec.
    """
    network = _network(KINDS[number % len(KINDS)], rng)
    options: dict[str, Any] = {
        "modes": "".join(rng.choice(["f", "O"], len(network.levels))) if network.levels else None,
        "packet_length": LENGTHS[number % len(LENGTHS)],
        "flit_width": AddressLayout(network).width + int(rng.choice(SPARE_BITS)),
    }
    for name, option in options_of(FabricSpec).items():
        if name not in options and option.drawn:
            options[name] = option.drawn[rng.integers(len(option.drawn))]
    options["channel_latency"] = _latency(network, rng)
    if options["packet_length"] < LONG_SLOT:
        options["ram"] = "auto" if options["ram"] == "block" else options["ram"]
    if options["packet_length"] == 1:
        options["gapless_packets"] = False
    if options["switching"] == "cut-through":
        options |= _cutting_through(network, options["packet_length"], rng)
    if options["switching"] != "cut-through" or options["packet_length"] >= HALF_SLOT:
        options |= _narrow(network, options, rng.spawn(1)[0])
    return FabricSpec(network=network.spec, **options)


def _latency(network: DualNetwork, rng: Generator) -> str:
    """Draw the latency of channels: of all the same, or of each type its own, and seldom a long one."""
    if rng.random() < 0.4:
        return "1"
    if rng.random() < 0.3:
        return str(rng.integers(1, 9))
    most = (3, 9, MOST_LATENCY)[rng.integers(3)]
    return ",".join(f"{port.name}={rng.integers(1, most + 1)}" for port in network.ports)


def _narrow(network: DualNetwork, options: dict[str, Any], rng: Generator) -> dict[str, Any]:
    """Return options with which channels are narrow, now and then: of each type its own width, without dead pins."""
    if rng.random() < 0.6:
        return {}
    bits = options["flit_width"] + (check_width(options["flit_width"]) if options["crc"] else 0)
    widths = (f"{port.name}={-(-bits // int(rng.choice(FLIT_CYCLES)))}" for port in network.ports)
    return {"channel_width": ",".join(widths), "dead_pins": False}


def _cutting_through(network: DualNetwork, length: int, rng: Generator) -> dict[str, Any]:
    """Return options with which packets of a fabric cut through if it can be, near the length that it has."""
    table = neighbor_table(network)
    if length < LONG_SLOT or two_colors(table, np.ones(table.shape[1], np.bool_)) is None:
        return {"switching": "store-and-forward"}
    without = {"queueing": "fifo", "crc": False, "dead_pins": False}
    return {"packet_length": int(rng.choice((8, 10, 16))), **without}


@dataclass(frozen=True, kw_only=True)
class DrawnCase:
    """What to send through a fabric.

    Attributes
    ----------
    test : str
        ``random``, ``exchange``, ``load`` or ``faults``.
    seed : int
    faults : str or None
        How many nodes and channels are dead, as ``--faults`` says it, of the faults test.
    load : LoadSpec or None
        Of a load, with the same seed.
    terminals : Terminals
        Of a load, with the same seed.
    resets : tuple of int
        Cycles after each of which the fabric is reset and begins again, of the random test.
    packets : int
        Of the random and faults tests.
    """

    test: str
    seed: int
    faults: str | None = None
    load: LoadSpec | None = None
    terminals: Terminals = field(default_factory=Terminals)
    resets: tuple[int, ...] = ()
    packets: int = PACKETS


def draw_cases(fabric: FabricSpec, rng: Generator, packets: int = PACKETS, *, heavy: bool = False) -> list[DrawnCase]:
    """Draw what to send through a fabric: the random test, reset now and then, the exchange, loads of :data:`RATES`.

    One with dead pins is sent the faults test as well. All but the exchange are of about as many packets, as long as
    loads do not need more than :data:`MOST_CYCLES` for them. Heavy traffic has the upper half of the loads, and no
    exchange.
    """
    network, seeds = build(fabric.network), rng.integers(1, 1 << 16, 1 + len(RATES)).tolist()
    cases = [DrawnCase(test="random", seed=seeds[0], packets=packets)]
    if not heavy:
        cases.append(DrawnCase(test="exchange", seed=1))
    for number, (seed, (least, most)) in enumerate(zip(seeds[1:], RATES, strict=True)):
        if heavy and number < len(RATES) // 2:
            continue
        rate = round(least * (most / least) ** rng.random(), 4)
        cycles = int(packets * fabric.packet_length / (rate * network.num_nodes)) + 100
        load = LoadSpec(
            pattern=_pattern(network, of_levels=number % 2 == 1, rng=rng),
            injection=_injection(rate, rng),
            lengths=f"mix(1, 0.7, {2 * fabric.packet_length + 1}, 0.3)" if rng.random() < 0.25 else None,
            rate=rate,
            cycles=min(cycles, max(MOST_CYCLES, MOST_CYCLES_A_PACKET * packets)),
            seed=seed,
        )
        gap, stall = rng.choice(PAUSES, 2).tolist() if rng.random() < 0.5 else (0, 0)
        terminals = Terminals(source_gap=gap, sink_stall=stall, seed=seed)
        cases.append(DrawnCase(test="load", seed=seed, load=load, terminals=terminals))
    if fabric.dead_pins:
        dead = f"{rng.integers(network.num_nodes // 4 + 1)},{rng.integers(network.num_nodes // 2 + 1)}"
        cases.append(DrawnCase(test="faults", seed=int(rng.integers(1, 1 << 16)), faults=dead, packets=packets))
    sooner = -(-packets // network.num_nodes) * fabric.packet_length  # than all packets can have been injected
    resets = tuple(rng.integers(1, sooner, rng.integers(1, MOST_RESETS + 1)).tolist())
    return [replace(cases[0], resets=resets), *cases[1:]]


def _pattern(network: Network, *, of_levels: bool, rng: Generator) -> str:
    """Draw a pattern that the network can carry; of a dual-net, one of classes and clusters if asked."""
    levels = range(1, len(dual_network(network, "a drawn fabric").levels) + 1)
    texts = [f"{name}({level})" for name in ("cluster", "inter_class") for level in levels]
    if not (of_levels and levels):
        texts += ["uniform", "transpose", "complement", "reverse", "shuffle", "tornado", "neighbor"]
        texts += [f"hotspot({rng.uniform(0.05, 0.5):.2f}, {rng.integers(network.num_nodes)})"]
        texts += [f"permutation({rng.integers(1, 100)})"]
    return str(rng.choice([text for text in texts if _carries(network, text)]))


def _carries(network: Network, pattern: str) -> bool:
    try:
        parse_pattern(pattern, network)
    except SpecError:
        return False
    return True


def _injection(rate: float, rng: Generator) -> str:
    if rng.random() < 0.5:
        return "bernoulli"
    return f"on_off({rng.integers(1, 200)}, {max(rate, round(rng.random(), 2))})"


def command(fabric: FabricSpec, case: DrawnCase) -> str:
    """Return the command that runs a case by itself."""
    options = {name: getattr(fabric, name) for name in options_of(fabric)}
    options |= {
        "test": case.test,
        "seed": case.seed,
        "packets": case.packets if case.test in ("random", "faults") else None,
        "faults": case.faults,
        "resets": ",".join(map(str, case.resets)) or None,
    }
    if case.load is not None:
        names = ("pattern", "injection", "lengths", "rate", "cycles")
        options |= {name: getattr(case.load, name) for name in names}
        options |= {"source_gap": case.terminals.source_gap, "sink_stall": case.terminals.sink_stall}
    words = ["hdnhw", "cosim", str(fabric.network)]
    for name, value in options.items():
        if value is None or value is False:
            continue
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return shlex.join(words)
