"""The bench of a fabric with relays: random traffic around what is dead, by waypoints, against the model.

Three witnesses: the model says every cycle, the search for waypoints says which packets can be delivered, and the
relays' own counters must account for all others.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hdnhw.endpoints.relay.format import RELAY_COUNTS, RelayFormat, RelayKind, RelayPacket
from hdnhw.endpoints.relay.model import ModelPacket, Relayed, RelayModel, Sends
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.measurement.relayed import sends_around
from hdnhw.multipath.waypoints import Detours, RouteTable
from hdnhw.sim.compare import count_head_mismatches, log_rows
from hdnhw.sim.harness import CAPACITY
from hdnhw.sim.stimulus import ALWAYS, dead_plusargs, dead_words, write_columns
from hdnhw.sim.streams import HarnessBench
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.faults import Faults
from hdnhw.traffic.packets import Terminals, terminal_seeds
from hdnhw.verilog.fabric import EmittedFabric

SINK_STALL, SOURCE_GAP = 64, 32
"""Pauses of the users, of 256 (see :class:`Terminals`)."""

AFTERWARDS = 400
"""Cycles that the bench goes on after the model's last: what comes then is too much."""


@dataclass(frozen=True, eq=False)
class RelayCase:
    """Packets of the users of one fabric, and what must come of them.

    Attributes
    ----------
    sends : Sends
    payloads : list of int
    faults : Faults
    terminals : Terminals
    deliverable : ndarray of bool, shape (packets,)
        Whether the packet's legs are healthy: those to waypoints in both directions.
    expected : Relayed
        What the model says.
    dead_cycles : (int, int)
        From which cycle on, and up to which, the faults are there; all the time for the model.
    limit : int
        Cycles after which the bench ends.
    resets : tuple of int
        Cycles after each of which the fabric is reset, and all begins again.
    """

    sends: Sends
    payloads: list[int]
    faults: Faults
    terminals: Terminals
    deliverable: np.ndarray
    expected: Relayed
    dead_cycles: tuple[int, int]
    limit: int
    resets: tuple[int, ...] = ()


@dataclass(frozen=True)
class RelayVerdict:
    """What a run showed.

    Attributes
    ----------
    packets : int
        Packets that users sent.
    by_waypoints : int
        Of these, how many named waypoints.
    deliverable : int
        Of the packets, how many can be delivered by the way that they name.
    delivered : int
        Packets of data that users got.
    lost : int
        Packets that can be delivered and were not.
    wrong : int
        Packets that came out twice, at another node, or with other contents than were sent.
    accounted : int
        Packets that relays and routers say they have dropped.
    unaccounted : int
        Packets neither delivered nor accounted for, or both.
    notices : int
        Notices that sources got.
    untold : int
        Packets accounted for without a notice to their source: its queue was full, or it met something dead itself.
    cycle_mismatches, head_mismatches, count_mismatches : int
        Packets that users got and the model did not say at this place, or in another cycle or form; head flits accepted
        in another cycle than the model says; counters that differ from the model's.
    cycles : int
        Cycles until the last packet came out.
    """

    packets: int
    by_waypoints: int
    deliverable: int
    delivered: int
    lost: int
    wrong: int
    accounted: int
    unaccounted: int
    notices: int
    untold: int
    cycle_mismatches: int
    head_mismatches: int
    count_mismatches: int
    cycles: int

    @property
    def passed(self) -> bool:
        """Whether all is as it must be."""
        mismatches = self.cycle_mismatches + self.head_mismatches + self.count_mismatches
        return not (self.lost or self.wrong or self.unaccounted or mismatches)


class RelayBench(HarnessBench[RelayCase, RelayVerdict]):
    """A fabric with relays and dead pins, see :class:`HarnessBench`."""

    name, kind = "relay", RelaySpec

    def __init__(self, fabric: EmittedFabric) -> None:
        super().__init__(fabric)
        if not self.machine.spec.dead_pins:
            raise ValueError("relay bench must have a fabric with dead pins, not one without")

    @property
    def format(self) -> RelayFormat:
        """The packets."""
        packets: RelayFormat = self.machine.endpoint_format
        return packets

    def make_case(self, faults: Faults, *, packets: int, seed: int, wander: bool = False) -> RelayCase:
        """Make uniform traffic of the healthy nodes, by waypoints where the plain route meets something dead.

        The chooser names waypoints with legs healthy in both directions; packets for which there are none go plainly,
        or, if packets `wander`, by a waypoint drawn at random, as all do that need none.

        Raises
        ------
        SpecError
            If there are too many packets for the bench, or to tell apart by their payload.
        """
        nodes, width = self.machine.network.num_nodes, self.format.payload_width
        alive = np.flatnonzero(~faults.nodes)
        each = -(-packets // max(1, len(alive)))
        total = each * len(alive)
        if total > min(CAPACITY, 1 << width):
            raise SpecError(
                f"{named('packets')} must be at most {min(CAPACITY, 1 << width)} for this bench, not {total}"
            )
        rng = np.random.default_rng(seed)
        source, destination = np.repeat(alive, each), rng.integers(nodes, size=total)
        table = RouteTable(self.machine.plan)
        detours, legs, now = Detours(table, faults), table.legs(faults), np.zeros(total, np.int64)
        sends, ways = sends_around(
            self.machine.plan, detours, self.format.endpoints.waypoints, source, destination, now
        )
        if wander:
            address = [self.machine.address.of_node(node) for node in range(nodes)]
            drawn = rng.integers(nodes, size=total).tolist()
            through = [way or (other,) for way, other in zip(ways, drawn, strict=True)]
            met = zip(through, destination.tolist(), strict=True)
            sends = replace(sends, stops=[tuple(address[node] for node in (*way, target)) for way, target in met])
            ways = [*through]
        routes = zip(source.tolist(), ways, destination.tolist(), strict=True)
        good = [_is_healthy(legs, start, (*(way or ()), target)) for start, way, target in routes]
        above = rng.integers(1 << min(62, max(0, width - 18)), size=total) if width > 18 else np.zeros(total, np.int64)
        payloads = [int(number) | int(high) << 18 for number, high in enumerate(above)]
        pauses = Terminals(sink_stall=SINK_STALL, source_gap=SOURCE_GAP, seed=seed)
        model = RelayModel(self.model.with_faults(faults))
        expected = model.run(sends, pauses, max_cycles=10_000 + 400 * each * self.format.flits.packet_length)
        limit = expected.cycles + AFTERWARDS
        return RelayCase(sends, payloads, faults, pauses, np.array(good, np.bool_), expected, ALWAYS, limit)

    def write(self, case: RelayCase, folder: Path) -> dict[str, Any]:
        """See :meth:`hdnhw.sim.runner.Bench.write`."""
        sends, format_ = case.sends, self.format
        flits = [format_.pack(stops, payload) for stops, payload in zip(sends.stops, case.payloads, strict=True)]
        write_columns(
            folder,
            flits=[flit for packet in flits for flit in packet],
            earliest=sends.earliest,
            first=sends.first,
            seeds=terminal_seeds(self.machine.network.num_nodes, case.terminals.seed),
            dead=dead_words(case.faults),
        )
        plusargs = {
            "packets": len(flits),
            "expected": 1 << 30,  # it goes on to its limit, and sees what comes too much
            "limit": case.limit,
            "gap": case.terminals.source_gap,
            "stall": case.terminals.sink_stall,
            "hold": 0,
            "watch": 0,
            **dead_plusargs(case.dead_cycles),
        }
        return self.options(plusargs, case.resets)

    def _flits(self, case: RelayCase, packet: ModelPacket) -> list[int]:
        """Return the flits of a packet as a user gets it."""
        payload = case.payloads[packet.number] if packet.number >= 0 else 0
        header = {"dst": packet.dst, "src": packet.src, "kind": int(packet.kind), "left": packet.left}
        return self.format.flits_of(RelayPacket(**header, stops=packet.stops, payload=payload))

    def check(self, case: RelayCase, folder: Path) -> RelayVerdict:
        """See :meth:`hdnhw.sim.runner.Bench.check`."""
        expected = case.expected
        rows = [
            (int(node), int(cycle), self.machine.flits.split(int(data, 16)))
            for node, cycle, data in log_rows(folder / "ejections.log")
        ]
        said = [
            (int(node), int(cycle), self._flits(case, packet))
            for node, cycle, packet in zip(expected.node, expected.cycle, expected.packets, strict=True)
        ]
        differ = sum(one != other for one, other in zip(rows, said, strict=False)) + abs(len(rows) - len(said))
        good, wrong, notices = self._sort(case, rows)
        counted = self._counts(folder)
        total = dict(zip(RELAY_COUNTS, counted.sum(axis=0).tolist(), strict=True))
        dropped = self.dropped(folder)
        accounted = sum(total[name] for name in ("stranded", "expired", "unreserved", "refused")) + dropped
        packets = len(case.payloads)
        return RelayVerdict(
            packets=packets,
            by_waypoints=sum(len(stops) > 1 for stops in case.sends.stops),
            deliverable=int(case.deliverable.sum()),
            delivered=len(good),
            lost=sum(number not in good for number in np.flatnonzero(case.deliverable).tolist()),
            wrong=wrong,
            accounted=accounted,
            unaccounted=abs(packets - len(good) - accounted),
            notices=notices,
            untold=accounted - notices,
            cycle_mismatches=differ + (dropped != int(expected.dropped.sum())),
            head_mismatches=count_head_mismatches(folder, expected.head_cycle, expected.cycles),
            count_mismatches=int((counted != expected.counts).sum()),
            cycles=rows[-1][1] + 1 if rows else 0,
        )

    def _sort(self, case: RelayCase, rows: list[tuple[int, int, list[int]]]) -> tuple[set[int], int, int]:
        """Return the numbers of the packets that came out as they were sent, how many others did, and the notices."""
        of_source = np.repeat(np.arange(len(case.sends.first) - 1), np.diff(case.sends.first)).tolist()
        address, good, wrong, notices = self.machine.address, set(), 0, 0
        numbers = {payload: number for number, payload in enumerate(case.payloads)}
        for node, _, flits in rows:
            packet = self.format.unpack(flits)
            at_home = packet.dst == address.of_node(node)
            if packet.kind == RelayKind.NOTICE:
                notices += 1
                wrong += not at_home
                continue
            number = numbers.get(packet.payload, -1)
            is_right = number >= 0 and at_home and number not in good and packet.kind == RelayKind.DATA
            is_right = is_right and case.sends.stops[number][-1] == packet.dst
            if is_right and packet.src == address.of_node(of_source[number]):
                good.add(number)
            else:
                wrong += 1
        return good, wrong, notices

    def _counts(self, folder: Path) -> np.ndarray:
        """Return the counters of all relays, shape (nodes, 6)."""
        words = [int(line, 16) for line in (folder / "counts.log").read_text().split()]
        return np.array(
            [[word >> 16 * place & 0xFFFF for place in range(len(RELAY_COUNTS))] for word in words], np.int64
        )


def _is_healthy(legs: np.ndarray, source: int, way: tuple[int, ...]) -> bool:
    """Tell whether a packet can be delivered: a waypoint must be reached, and its answer must come back."""
    there = all(legs[one, other] >= 0 for one, other in pairwise((source, *way)))
    return there and all(legs[other, one] >= 0 for one, other in pairwise((source, *way[:-1])))


BENCH = RelayBench
