"""Bounds of flows beside the worst that a search for bad traffic finds; five minutes."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.collectives import table
from hdnhw.machine.machine import make_machine
from hdnhw.measurement.calculus import Calculus
from hdnhw.measurement.guarantees import Guarantees
from hdnhw.model.fabric import Ejections, FabricModel
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.traffic.declared import Flow, all_flows
from hdnhw.traffic.packets import Traffic

MACHINES: tuple[tuple[str, dict[str, Any], float, int], ...] = (
    ("mesh(4)", {}, 0.2, 16),
    ("mesh(3, 3)", {"packet_length": 4, "buffers": 2}, 0.1, 32),
    ("mesh(3, 3)", {"channel_latency": "12"}, 0.1, 32),
    ("torus(4, 4)", {}, 0.1, 32),
    ("torus(4, 4)", {"gapless_packets": True}, 0.1, 32),
    ("torus(5)", {}, 0.2, 32),
    ("torus(5)", {"lanes": 2}, 0.2, 32),
    ("cube(3)", {}, 0.2, 16),
    ("cube(3)", {"packet_length": 2}, 0.2, 32),
    ("cube(3)", {"packet_length": 16, "switching": "cut-through"}, 0.2, 16),
    ("cube(4)", {"crc": True}, 0.1, 32),
    ("dualcube(2)", {}, 0.1, 32),
    ("hdn(cube(1), [[]])", {}, 0.1, 32),
    ("hsn(2, cube(2))", {}, 0.05, 32),
    ("rdn(cube(2), 1)", {}, 0.05, 128),
)
"""Networks, options, and the declared rate of a node with the packet buffers for it."""

PACKETS = 60
"""Of each source, of traffic that is not declared."""

MOST_CYCLES = 1 << 24

Created = Sequence[tuple[int, int]]
"""Cycles in which packets are created, and their flows."""


class Seen(NamedTuple):
    """How near the packets of a run come to bounds."""

    share: float  # of the bound, of the packet that comes nearest
    latency: int
    bound: int
    rate: float  # the least rate as a share of that seen, of the source where it is most


class Judge:
    """What the model shows of flows, beside their bounds in cycles."""

    def __init__(self, found: Guarantees, bounds: Sequence[int]) -> None:
        self.found, self.bounds, self.rates = found, np.array(bounds, float), found.rate
        self._model, self._length = FabricModel(found.machine), found.machine.spec.packet_length
        self._targets = [int(found.machine.address.of_nodes[flow.destination]) for flow in found.flows]

    def see(self, created: Mapping[int, Created]) -> Seen:
        """Run packets of each source; look at the rate of those that send one flow as fast as they can."""
        sources = [sorted(created.get(node, ())) for node in range(self.found.machine.network.num_nodes)]
        flows = np.array([flow for own in sources for _, flow in own])
        left = self.run(sources)
        latency = left.cycle - left.head_cycle[left.packet]
        shares = latency / self.bounds[flows[left.packet]]
        nearest, first, rate = int(shares.argmax()), 0, 0.0
        for own in sources:
            heads, first = left.head_cycle[first : first + len(own)], first + len(own)
            if len(own) > 2 and len({flow for _, flow in own}) == 1 and own[-1][0] - own[0][0] < len(own):
                rate = max(rate, self._slowest(heads) * self.rates[own[0][1]])
        return Seen(shares[nearest], latency[nearest], int(self.bounds[flows[left.packet[nearest]]]), rate)

    def run(self, sources: Sequence[Created]) -> Ejections:
        """Run packets of all nodes, until all have left."""
        lists = [[(self._targets[flow], cycle) for cycle, flow in own] for own in sources]
        left = self._model.run(Traffic.from_lists(lists), max_cycles=MOST_CYCLES)
        assert len(left.packet) == sum(map(len, sources))
        return left

    def _slowest(self, heads: Any) -> float:
        """Return the most cycles for each flit of a source, less those by which a head may wait for its phase."""
        apart = len(heads) // 3
        return float((heads[apart:] - heads[:-apart] - self._length).max()) / (apart * self._length)


def climb(judge: Callable[[Any], Seen], starts: Sequence[Any], change: Callable[[Any], Any], steps: int) -> Seen:
    """Change the worst of some starts for so many steps, and keep what is no better; return the worst seen."""
    runs = sorted(((judge(start), start) for start in starts), key=lambda run: -run[0].share)
    rate, best = max(seen.rate for seen, _ in runs), runs[0][0]
    for seen, state in runs[:3]:
        for _ in range(steps):
            other = change(state)
            tried = judge(other)
            rate = max(rate, tried.rate)
            if tried.share >= seen.share:
                seen, state = tried, other
        best = max(best, seen)
    return best._replace(rate=rate)


def worst_of_any(found: Guarantees, rng: random.Random, starts: int = 40, steps: int = 150) -> Seen:
    """Search traffic of any kind: sources that send to a few nodes in turn, as fast as they can, from some cycle on."""
    judge = Judge(found, found.latency)
    own: dict[int, dict[int, int]] = {}
    for number, flow in enumerate(found.flows):
        own.setdefault(flow.source, {})[flow.destination] = number
    length = found.machine.spec.packet_length

    def see(state: Mapping[int, tuple[int, tuple[int, ...]]]) -> Seen:
        return judge.see(
            {
                node: [(begin + place, own[node][turns[place % len(turns)]]) for place in range(PACKETS)]
                for node, (begin, turns) in state.items()
            }
        )

    def turns(node: int, wanted: Sequence[int]) -> tuple[int, ...]:
        able = [target for target in wanted if target in own[node]] or list(own[node])
        return tuple(rng.choices(able, k=rng.choice((1, 1, 2, 3))))

    def start() -> dict[int, tuple[int, tuple[int, ...]]]:
        hot = [rng.randrange(found.machine.network.num_terminals)] if rng.random() < 0.5 else []
        return {node: (rng.randrange(3 * length), turns(node, hot)) for node in own}

    def change(state: dict[int, tuple[int, tuple[int, ...]]]) -> dict[int, tuple[int, tuple[int, ...]]]:
        other = dict(state)
        for node in rng.sample(list(own), k=min(len(own), rng.choice((1, 1, 2, 3)))):
            if rng.random() < 0.3:
                other[node] = rng.randrange(40 * length), state[node][1]
            else:
                wanted = [state[rng.choice(list(own))][1][0], *rng.choices(list(own[node]), k=2)]
                other[node] = state[node][0], turns(node, wanted)
        return other

    return climb(see, [start() for _ in range(starts)], change, steps)


def worst_of_declared(
    found: Guarantees, bounds: Sequence[int], rng: random.Random, starts: int = 20, steps: int = 100, packets: int = 4
) -> Seen:
    """Search traffic that keeps its rates: each flow sends its burst in some cycle, then as fast as it may."""
    judge, length = Judge(found, bounds), found.machine.spec.packet_length

    def see(begins: Sequence[int]) -> Seen:
        created: dict[int, list[tuple[int, int]]] = {}
        for number, (flow, begin) in enumerate(zip(found.flows, begins, strict=True)):
            assert flow.rate is not None
            later = (-(-place * length // flow.rate) for place in range(1, packets))
            cycles = [begin] * flow.burst + [begin + int(each) for each in later]
            created.setdefault(flow.source, []).extend((cycle, number) for cycle in cycles)
        return judge.see(created)

    def start() -> list[int]:
        most = rng.choice((1, length, 8 * length))
        return [rng.randrange(most) for _ in found.flows]

    def change(begins: Sequence[int]) -> list[int]:
        return [rng.randrange(40 * length) if rng.random() < 0.1 else begin for begin in begins]

    return climb(see, [start() for _ in range(starts)], change, steps)


def guaranteed(text: str, flows: Sequence[Flow] | None = None, rate: float | None = None, **options: Any) -> Guarantees:
    """Return the bounds of flows, by default of all pairs, on a machine."""
    machine = make_machine(FabricSpec(network=parse(text), **options))
    return Guarantees(machine, all_flows(machine.network, rate, 1) if flows is None else flows)


def any_row(text: str, options: dict[str, Any]) -> list[str]:
    """Return the cells of a machine under any traffic."""
    found = guaranteed(text, **options)
    seen = worst_of_any(found, random.Random(1))
    assert seen.share <= 1 >= seen.rate
    figures = max(found.latency), seen.bound, seen.latency
    return [*names(text, options), *(f"{each:,}" for each in figures), f"{1 / seen.share:.1f}", f"{1 / seen.rate:.1f}"]


def declared_row(text: str, options: dict[str, Any], rate: float, buffers: int) -> list[str]:
    """Return the cells of a machine at a declared rate."""
    options = options | {"buffers": buffers}
    found = guaranteed(text, rate=rate, **options)
    bounds = Calculus(found).declared().latency
    assert bounds is not None
    seen = worst_of_declared(found, bounds, random.Random(1))
    assert seen.share <= 1
    figures = max(bounds), seen.bound, seen.latency
    return [*names(text, options), str(rate), *(f"{each:,}" for each in figures), f"{1 / seen.share:.1f}"]


def names(text: str, options: Mapping[str, Any]) -> list[str]:
    """Return the cells that say which machine it is."""
    flags = (f"--{name.replace('_', '-')}" + f" {value}" * (value is not True) for name, value in options.items())
    return [f"`{text}`", " ".join(f"`{flag}`" for flag in flags)]


def main() -> None:
    """Print the tables."""
    rows = (any_row(text, options) for text, options, _, _ in MACHINES)
    table("network | options | longest bound | bound | worst seen | factor | factor of the rate", rows)
    print()
    table(
        "network | options | rate | longest bound | bound | worst seen | factor",
        (declared_row(*row) for row in MACHINES),
    )


if __name__ == "__main__":
    main()
