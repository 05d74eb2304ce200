"""Packets between terminals that each have a clock of their own: the case, its run under cocotb, and the verdict."""

import json
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdnhw.sim.runner import TopLevelBench
from hdnhw.verilog.fabric import EmittedFabric

PERIOD_NS = 1000
"""Of the fabric's clock: a period in whole ns is near any ratio."""

RATIOS = (0.37, 1.002, 2.9, 1.0, 0.998)
"""Clocks of the first nodes beside the fabric's; others are drawn."""

IMPOSSIBLE_SHARE = 0.02

Packet = dict[str, Any]
"""``source`` (node), ``dest`` (packed address) and ``flits``."""


def draw_periods(nodes: int, *, seed: str) -> list[int]:
    """Return the period of each node's clock, in ns: no two clocks are in step for long."""
    rng = random.Random(seed)
    ratios = [RATIOS[node] if node < len(RATIOS) else rng.uniform(0.35, 3.0) for node in range(nodes)]
    rng.shuffle(ratios)
    return [2 * round(PERIOD_NS / ratio / 2) for ratio in ratios]


@dataclass(frozen=True)
class ClockVerdict:
    """What a run showed.

    Attributes
    ----------
    packets : int
        Packets that had to arrive.
    lost : int
        Of these, how many did not.
    corrupted : int
        Packets that came and were not sent to that node, or came twice.
    out_of_order : int
        Packets that came before one that the same source had sent there sooner.
    dropped_mismatches : int
        Nodes that do not count as many dropped packets as they sent to no node.
    cycles : int
        Of the fabric's clock, in steps of 100.
    """

    packets: int
    lost: int
    corrupted: int
    out_of_order: int
    dropped_mismatches: int
    cycles: int

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.lost or self.corrupted or self.out_of_order or self.dropped_mismatches)


def check_packets(sent: list[Packet], received: list[dict[str, Any]]) -> tuple[int, int, int]:
    """Compare packets that came with those that had to; no two that were sent are alike.

    Parameters
    ----------
    sent : list of dict
        ``source``, ``node`` (the destination) and ``flits``, in the order in which each source sends.
    received : list of dict
        ``node`` and ``flits``, in the order in which each node takes.

    Returns
    -------
    lost, corrupted, out_of_order : int
    """
    due = {(packet["node"], *packet["flits"]): place for place, packet in enumerate(sent)}
    latest: dict[tuple[int, int], int] = defaultdict(lambda: -1)
    came: set[int] = set()
    corrupted = out_of_order = 0
    for packet in received:
        place = due.get((packet["node"], *packet["flits"]))
        if place is None or place in came:
            corrupted += 1
            continue
        came.add(place)
        pair = sent[place]["source"], packet["node"]
        out_of_order += place < latest[pair]
        latest[pair] = max(place, latest[pair])
    return len(sent) - len(came), corrupted, out_of_order


class ClockBench(TopLevelBench[dict[str, Any], ClockVerdict]):
    """An emitted fabric of bare streams with a clock for each node, under Verilator.

    Parameters
    ----------
    fabric : EmittedFabric
        With clocks, and without endpoints.
    """

    name, module = "clocks", "hdnhw.sim.clocks_bench"

    def __init__(self, fabric: EmittedFabric) -> None:
        if fabric.clocks is None or fabric.endpoints is not None:
            raise ValueError("clocks bench must have a fabric of bare streams with a clock for each node")
        super().__init__(fabric)

    def check(self, case: dict[str, Any], folder: Path) -> ClockVerdict:
        """See :meth:`Bench.check`."""
        received = [json.loads(line) for line in (folder / "packets.log").read_text().splitlines()]
        return self.judge(case, received, json.loads((folder / "result.json").read_text()))

    def make_case(self, *, packets: int, seed: int) -> dict[str, Any]:
        """Return what the bench is told: packets between random nodes, one in fifty to no node, and the clocks."""
        rng, layout, flits = random.Random(f"{seed} packets"), self.machine.address, self.machine.flits
        nodes = range(layout.network.num_nodes)
        impossible = [address for address in range(1 << layout.width) if not layout.is_node(address)]
        sent: list[Packet] = []
        seen: set[tuple[int, ...]] = set()
        while len(sent) < packets:
            dest = layout.of_node(rng.choice(nodes))
            if impossible and rng.random() < IMPOSSIBLE_SHARE:
                dest = rng.choice(impossible)
            words = flits.pack(dest, rng.getrandbits(flits.payload_width) if flits.payload_width else 0)
            if tuple(words) in seen:
                raise ValueError(f"{packets} packets of {flits.payload_width} bits cannot be told from each other")
            seen.add(tuple(words))
            sent.append({"source": rng.choice(nodes), "dest": dest, "flits": words})
        return {
            "seed": seed,
            "period": PERIOD_NS,
            "periods": draw_periods(len(nodes), seed=f"{seed} clocks"),
            "packets": sent,
            "expected": len(self.expected(sent)),
        }

    def expected(self, packets: list[Packet]) -> list[dict[str, Any]]:
        """Return the packets that must arrive, each with the node."""
        node_of = {self.machine.address.of_node(node): node for node in range(self.machine.network.num_nodes)}
        return [packet | {"node": node_of[packet["dest"]]} for packet in packets if packet["dest"] in node_of]

    def judge(self, case: dict[str, Any], received: list[dict[str, Any]], result: dict[str, Any]) -> ClockVerdict:
        """Judge a run by its log of packets and the counters that were read."""
        expected = self.expected(case["packets"])
        lost, corrupted, out_of_order = check_packets(expected, received)
        nodes = self.machine.network.num_nodes
        dropped = [0] * nodes
        for packet in case["packets"]:
            dropped[packet["source"]] += not self.machine.address.is_node(packet["dest"])
        return ClockVerdict(
            packets=len(expected),
            lost=lost,
            corrupted=corrupted,
            out_of_order=out_of_order,
            dropped_mismatches=sum(one != other for one, other in zip(dropped, result["dropped"], strict=True)),
            cycles=result["cycles"],
        )
