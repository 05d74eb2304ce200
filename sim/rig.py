"""Each router of an emitted fabric alone, among neighbors that keep the channel protocol and are not routers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hdnhw.rtl.router import node_pins
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.sim.rig_check import RigVerdict, check_rig, onward_bits
from hdnhw.sim.rig_harness import DESTINATIONS, Sizes, rig_text
from hdnhw.sim.runner import Bench
from hdnhw.sim.stimulus import write_columns
from hdnhw.verilog.fabric import EmittedFabric

VISITS = 24
"""Nodes in whose place a router stands, one after the other."""

MOST_SLOTS = 12
"""Slots for each packet after which a router is not waited for."""

MOST_SOUGHT = 2048
"""Nodes among which destinations are drawn."""


@dataclass(frozen=True)
class RigCase:
    """How many packets a router takes in, and the seed of all that is random."""

    packets: int
    seed: int = 1


class RigBench(Bench[RigCase, RigVerdict]):
    """A router of a fabric, see :class:`Bench`.

    Parameters
    ----------
    fabric : EmittedFabric
    number : int
        Of the router's shape in the plan.
    """

    name, module = "rig", "hdnhw.sim.rig_bench"

    def __init__(self, fabric: EmittedFabric, number: int = 0) -> None:
        plan = fabric.machine.plan
        self.number, self.sizes = number, Sizes(fabric.machine, number)
        nodes = range(plan.network.num_nodes)
        self._nodes = [node for node in nodes if plan.shape_of(node) is plan.shapes[number]]
        super().__init__(fabric)

    @property
    def blocks(self) -> list[str]:
        """See :attr:`Bench.blocks`."""
        return []

    def sources(self) -> tuple[str, dict[str, str], list[str]]:
        """See :meth:`Bench.sources`."""
        return "bench", {"rig_bench.sv": rig_text(self.fabric, self.number, VISITS)}, []

    def write(self, case: RigCase, folder: Path) -> dict[str, Any]:
        """See :meth:`Bench.write`."""
        rng, machine = np.random.default_rng(case.seed), self.machine
        visits = self._visits(case)
        drawn = [own for node in visits for own in self._queues(node, rng)]
        pins = [node_pins(machine, node) for node in visits]
        nothing = [(0, 0)] * DESTINATIONS
        write_columns(
            folder,
            visits=[own["address"][0] for own in pins],
            odds=[own.get("odd", (0, 1))[0] for own in pins],
            around=[own.get("neighbors", (0, 1))[0] for own in pins],
            used=[bool(own) for own in drawn],
            destinations=[dst for own in drawn for dst, _ in own or nothing],
            onwards=[onward << 1 for own in drawn for _, onward in own or nothing],
            nowhere=self._nowhere(rng) if machine.address.has_holes else [0] * DESTINATIONS,
        )
        limit = 20_000 + MOST_SLOTS * machine.spec.packet_length * case.packets
        plusargs = {"packets": case.packets, "limit": limit, "start": case.seed}
        return {"plusargs": [f"+{name}={value}" for name, value in plusargs.items()]}

    def has_ended(self, folder: Path) -> bool:
        """See :meth:`Bench.has_ended`."""
        return (folder / "rig.log").read_text().rpartition("\nX ")[1] != ""

    def check(self, case: RigCase, folder: Path) -> RigVerdict:
        """See :meth:`Bench.check`."""
        return check_rig(folder, self.sizes, self._visits(case), case.packets)

    def _visits(self, case: RigCase) -> list[int]:
        """Draw the nodes in whose place the router stands."""
        chosen: list[int] = np.random.default_rng([case.seed, 1]).choice(self._nodes, VISITS).tolist()
        return chosen

    def _queues(self, node: int, rng: np.random.Generator) -> list[list[tuple[int, int]]]:
        """Draw destinations of packets for each queue of a router, and what is told ahead of them; none if it has none.

        Each way that packets of a queue can take is as likely as any other.
        """
        network, plan, sizes = self.machine.network, self.machine.plan, self.sizes
        sought = rng.permutation(network.num_nodes)[:MOST_SOUGHT]
        ends = np.unique(np.append(sought, node))
        addresses: list[int] = np.atleast_1d(plan.address.of_node(ends)).tolist()
        here, near = plan.address.of_node(node), network.neighbors(node)
        ways = {dst: plan.plain_route(here, dst) for dst in addresses}
        own: list[dict[int, list[int]]] = [{} for _ in range(sizes.queues)]
        for number, port in enumerate(sizes.ports):
            before, leaves = plan.address.of_node(near[network.ports[port].name]), network.ports[port].opposite
            for dst, way in ways.items():
                came = plan.plain_route(before, dst)
                if came & (1 << VC_SHIFT) - 1 == leaves:
                    own[number * sizes.vcs + (came >> VC_SHIFT)].setdefault(way, []).append(dst)
        for dst, way in ways.items():
            own[-1].setdefault(way, []).append(dst)
        drawn = [self._drawn(each, rng) for each in own]
        if self.machine.address.has_holes:
            drawn[-1][::8] = [(dst, 0) for dst in self._nowhere(rng)[::8]]
        return drawn

    def _drawn(self, ways: dict[int, list[int]], rng: np.random.Generator) -> list[tuple[int, int]]:
        if not ways:
            return []
        turns = [sorted(ways)[place % len(ways)] for place in range(DESTINATIONS)]
        return [(int(rng.choice(ways[way])), onward_bits(way, self.sizes)) for way in turns]

    def _nowhere(self, rng: np.random.Generator) -> list[int]:
        """Draw addresses that are of no node."""
        address = self.machine.address
        found: list[int] = []
        while len(found) < DESTINATIONS:
            drawn = rng.integers(1 << address.width, size=DESTINATIONS)
            found += drawn[~np.asarray(address.is_node(drawn))].tolist()
        return found[:DESTINATIONS]
