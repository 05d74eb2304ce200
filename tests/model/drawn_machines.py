"""Machines and loads drawn at random, of every option of the model: for comparisons of what simulates them."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hdnhw.machine.machine import Machine, make_machine
from hdnhw.machine.timing import HALF_SLOT
from hdnhw.model.core import HOPS, Arrivals
from hdnhw.networks.parse import parse
from hdnhw.rules.plan import UGAL
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import RuleError, SpecError
from hdnhw.topology.faults import Faults, draw_faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals

NETWORKS = (
    (
        "rdn(cube(2), 1)",
        "rdn(torus(3), 1)",
        "hdn(cube(2), [[0]])",
        "hdn(torus(4), [[], [0]])",
        "hdn(cube(1), [[], []])",
    ),
    ("torus(4, 4)", "torus(5, 3)", "torus(9)", "torus(2, 3, 4)", "torus(8, 8)"),
    ("cube(2)", "cube(4)", "mesh(3, 4)", "mesh(7)", "product(mesh(3), torus(5))"),
    ("fat_tree(4)", "concentrated(cube(3), 3)", "flattened_butterfly(3, 3)", "concentrated(torus(5), 2)"),
    ("complete(9)", "ghc(3, 4)", "complete(70)", "complete(33)"),
    ("dualcube(2)", "dualcube(3)", "hsn(2, cube(2))", "hcn(2)", "folded_hsn(2, 3)"),
    (
        "dragonfly(4, 2)",
        "slim_fly(3)",
        "petersen()",
        "jellyfish(20, 4)",
        "kautz(2, 3)",
        "graph([[0, 1], [1, 2], [2, 3], [3, 0]])",
    ),
    (
        "star(4)",
        "ccc(3)",
        "debruijn(2, 4)",
        "folded_cube(4)",
        "crossed_cube(4)",
        "metacube(1, 1)",
        "wk(4, 2)",
        "butterfly(3)",
    ),
)
"""A kind a row. Seeds take turns at them."""

SWITCHES = 3
"""The row of networks whose terminals hang on switches, where UGAL chooses."""

SCHEMES = (None, None, "valiant", "ugal", "adaptive")
END = 1 << 20
"""Cycle by which all packets have left."""

BUFFERS, DEEP = (None, 1, 2, 4, 16), (2, 8, 32, 64, 64)
"""The second with UGAL: what it chooses depends on how many packets wait."""

LENGTHS = (1, 2, 3, 4, 5, 8, 9, 10, 16)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A machine, what is dead, its terminals, and packets that they send.

    Attributes
    ----------
    pace : ndarray of int32, shape (packets,), or None
        See :meth:`hdnhw.model.course.Course.advance`.
    stops : list of int
        Cycles at which a run may be interrupted, ascending, each in the sample phase.
    """

    machine: Machine
    faults: Faults | None
    terminals: Terminals
    arrivals: Arrivals
    pace: np.ndarray | None
    stops: list[int]

    def __str__(self) -> str:
        spec, count = self.machine.spec, len(self.arrivals.cycle)
        return f"{spec}, {self.terminals}, {count} packets, {'faults' if self.faults else 'no faults'}, {self.stops}"

    def rows(self, course) -> list[np.ndarray]:
        """Let a course go on from stop to stop, and until all packets are gone; return those that leave, in order."""
        total, found = len(self.arrivals.cycle), []
        for begin, end in pairwise([0, *self.stops, END]):
            due = self.arrivals.cycle >= begin  # those from `end` on are given again
            arrivals = Arrivals(*(column[due] for column in self.arrivals))
            pace = None if self.pace is None else self.pace[due]
            left = course.advance(arrivals, packets=total if end == END else 1 << 62, limit=end, pace=pace)
            found.append(left[np.lexsort(left.T)])
        return found


def draw(seed: int) -> Drawn:
    """Draw a machine and a load from a seed."""
    rng = np.random.default_rng([seed, 14])
    while True:
        try:
            machine = make_machine(_spec(seed, rng))
        except (SpecError, RuleError):  # options that do not go together
            continue
        break
    network, length = machine.network, machine.timing.packet_length
    faults = None
    if not machine.plan.scheme and not machine.timing.cuts_through and rng.random() < 0.6:
        faults = draw_faults(neighbor_table(network), rng, nodes=int(rng.integers(3)), channel_rate=0.1)
    slots = int(rng.choice((30, 100, 300)))
    share = rng.choice((0.05, 0.3, 1.0) if machine.plan.scheme != UGAL else (0.3, 1.0, 1.0))
    packets = int(min(2000 if len(network.ports) < 32 else 500, network.num_terminals * slots * share))
    arrivals = _arrivals(machine, packets, slots * length, rng)
    terminals, pace = Terminals(), None
    stops = np.unique(rng.integers(2, slots + 60, 3))
    if rng.random() < 0.5:
        gap, stall = rng.choice((0, 20, 128), 2).tolist()
        holds = (0, 1, 12 * length + 3, 20 * length)
        hold = int(rng.choice(holds[2 * machine.timing.cuts_through :]))
        terminals = Terminals(source_gap=gap, sink_stall=stall, sink_hold=hold, seed=seed)
        if terminals.pause and rng.random() < (0.8 if faults else 0.3):
            pace = rng.integers(3, size=packets).astype(np.int32)
            stops = np.arange(slots + 1)  # no packet may leave in the call in which it is offered
    return Drawn(machine, faults, terminals, arrivals, pace, (stops * length + machine.timing.sample_phase).tolist())


def _spec(seed: int, rng: np.random.Generator) -> FabricSpec:
    """Draw a machine; some cannot be built."""
    kind, number = seed % len(NETWORKS), seed // len(NETWORKS)
    schemes = SCHEMES if kind != SWITCHES else (None, "valiant", "ugal", "ugal", "adaptive")
    scheme = schemes[rng.integers(len(schemes))]
    length = int(LENGTHS[(kind + number) % len(LENGTHS)])
    cuts_through = length in (8, 10, 16) and rng.random() < 0.75
    return FabricSpec(
        network=parse(str(rng.choice(NETWORKS[kind]))),
        modes=scheme,
        packet_length=length,
        lanes=int(rng.integers(1, 3)),
        buffers=(BUFFERS if scheme != UGAL else DEEP)[rng.integers(len(BUFFERS))],
        queueing="fifo" if cuts_through else str(rng.choice(("fifo", "voq"))),
        switching="cut-through" if cuts_through else "store-and-forward",
        channel_latency=_latency(rng),
        channel_width=None if cuts_through and length < HALF_SLOT else _width(rng.spawn(1)[0]),
        crc=bool(not cuts_through and rng.random() < 0.2),
        gapless_packets=bool(rng.random() < 0.3),
    )


def _latency(rng: np.random.Generator) -> str:
    """Draw the latency of channels: often none, or one for some ports by the last figure of their names."""
    latency = "1" if rng.random() < 0.5 else str(rng.integers(1, 12))
    if rng.random() < 0.4:
        latency += f",*{rng.choice(['s', '0', '1', '2'])}={rng.integers(1, 70)}"
    return latency


def _width(rng: np.random.Generator) -> str | None:
    """Draw the width of channels: often that of a flit, or one for some ports by the last figure of their names."""
    return None if rng.random() < 0.6 else f"32,*{rng.choice(['s', '0', '1', '2'])}={rng.integers(3, 33)}"


def _arrivals(machine: Machine, packets: int, cycles: int, rng: np.random.Generator) -> Arrivals:
    """Draw packets between terminals: many for one of them, some for no node, some in messages of several."""
    terminals, order = machine.network.num_terminals, np.sort(rng.integers(packets, size=packets))
    numbers = order if rng.random() < 0.5 else np.arange(packets)  # packets of a number are those of a message
    cycle = np.sort(rng.integers(cycles, size=packets))[numbers]
    source, end = rng.integers(terminals, size=(2, packets))
    end[rng.random(packets) < rng.choice((0.0, 0.5))] = rng.integers(terminals)
    destination = np.where(rng.random(packets) < 0.03, -1, machine.address.of_node(end))
    return Arrivals.of(cycle, source[numbers], destination[numbers], np.arange(packets))


def differences(made, expected, drawn):
    """Return what differs between two that simulate what was drawn."""
    found = []
    for number, rows in enumerate(zip(drawn.rows(made), drawn.rows(expected), strict=True)):
        if not np.array_equal(*rows):
            found.append(f"packets of piece {number}")
    names = ["packets_gone", "packets_sent", "slots", "dropped", "sending", "cycles"]
    if drawn.terminals.pause:
        names += ["injected"] if not drawn.machine.timing.gapless_packets else []
        found += ["ejecting"] if not all(map(np.array_equal, made.ejecting(), expected.ejecting())) else []
    waiting = [each.packets[:, : HOPS + 1] for each in (made, expected)]
    found += ["packets"] if not np.array_equal(*(each[np.lexsort(each.T)] for each in waiting)) else []
    found += [name for name in names if not np.array_equal(getattr(made, name), getattr(expected, name))]
    counts = [each.counts() for each in (made, expected)]
    return found + [
        name for name in ("sent", "stalled", "held") if not np.array_equal(*(vars(c)[name] for c in counts))
    ]
