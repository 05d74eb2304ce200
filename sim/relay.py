"""The bench of a fabric with relays: random traffic around what is dead, by waypoints, against the model.

Three witnesses: the model says every cycle, the search for waypoints says which packets can be delivered, and the
relays' own counters must account for all others.
"""

import shutil
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from hdnhw.emit.fabric import emit_fabric
from hdnhw.flit import FlitFormat, RelayFormat, RelayKind
from hdnhw.model.fabric import FabricModel
from hdnhw.model.relay import COUNTS, ModelPacket, Relayed, RelayModel, Sends
from hdnhw.routing.waypoints import Detours, RouteTable
from hdnhw.spec import FabricSpec, RelaySpec, SpecError
from hdnhw.topology.faults import Faults
from hdnhw.traffic.packets import Terminals, terminal_seeds
from sim.check import count_head_mismatches, log_rows
from sim.harness import CAPACITY, harness_text
from sim.simulator import BUILD_ARGUMENTS, BUILD_ROOT, Build, SimulatorError, control_text
from sim.stimulus import ALWAYS_DEAD, dead_words, write_columns

__all__ = ["RelayBench", "RelayCase", "RelayRun", "RelayVerdict"]

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
    """

    sends: Sends
    payloads: list[int]
    faults: Faults
    terminals: Terminals
    deliverable: np.ndarray
    expected: Relayed


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


@dataclass(frozen=True)
class RelayRun:
    """One run on the Verilog; `build_seconds` is 0 if the bench had been built before."""

    verdict: RelayVerdict
    seconds: float
    build_seconds: float


class RelayBench:
    """An emitted fabric with relays, and the bench around it.

    Parameters
    ----------
    spec : FabricSpec
        With a :class:`RelaySpec` and pins that mark what is dead.
    root : Path, optional
        Folder for builds.
    """

    def __init__(self, spec: FabricSpec, *, root: Path = BUILD_ROOT) -> None:
        if not isinstance(spec.endpoints, RelaySpec) or not spec.dead_pins:
            raise ValueError("the bench of relays needs a fabric with relays and dead pins")
        fabric = emit_fabric(spec)
        self.plan, self._relays = fabric.plan, spec.endpoints
        flits = FlitFormat(spec.flit_width, self.plan.address.width, spec.packet_length)
        self.format = RelayFormat(flits, spec.endpoints)
        self.model = FabricModel(
            self.plan, packet_length=spec.packet_length, buffers=spec.buffers, queueing=spec.queueing
        )
        manifest, network = fabric.manifest, self.plan.network
        channels = [
            (node, port, network.ports[port].name)
            for node in range(network.num_nodes)
            for port in self.plan.shape_of(node).ports
        ]
        blocks = [*manifest["router_modules"], manifest["ejection_module"], manifest["endpoints"]["relay_module"]]
        files = {
            "bench.vlt": control_text(blocks),
            **fabric.verilog,
            "bench.sv": harness_text(manifest, channels),
        }
        self.build = Build("relay", files, "bench", arguments=BUILD_ARGUMENTS, root=root)

    def make_case(self, faults: Faults, *, packets: int, seed: int) -> RelayCase:
        """Make uniform traffic of the healthy nodes, by waypoints where the plain route meets something dead.

        The chooser names waypoints with legs healthy in both directions; packets for which there are none go plainly.

        Raises
        ------
        SpecError
            If there are too many packets for the bench, or to tell apart by their payload.
        """
        nodes, width = self.plan.network.num_nodes, self.format.payload_width
        alive = np.flatnonzero(~faults.nodes)
        each = -(-packets // max(1, len(alive)))
        total = each * len(alive)
        if total > min(CAPACITY, 1 << width):
            raise SpecError(f"packets must be at most {min(CAPACITY, 1 << width)} for this bench, not {total}")
        rng = np.random.default_rng(seed)
        table, address = RouteTable(self.plan), self.plan.address
        detours, legs, stops, good = Detours(table, faults), table.legs(faults), [], []
        for source in alive.tolist():
            chosen = detours.choose(source, self._relays.waypoints, two_way=True)
            for target in rng.integers(nodes, size=each).tolist():
                way = (*(chosen[target] or ()), target)
                good.append(_is_healthy(legs, source, way))
                stops.append(tuple(int(address.of_node(node)) for node in way))
        counts = np.where(faults.nodes, 0, each)
        sends = Sends(np.concatenate([[0], np.cumsum(counts)]), stops, np.zeros(total, np.int64))
        above = rng.integers(1 << min(62, max(0, width - 18)), size=total) if width > 18 else np.zeros(total, np.int64)
        payloads = [int(number) | int(high) << 18 for number, high in enumerate(above)]
        pauses = Terminals(sink_stall=SINK_STALL, source_gap=SOURCE_GAP, seed=seed)
        model = RelayModel(self.model.with_faults(faults), self._relays)
        expected = model.run(sends, pauses, max_cycles=10_000 + 400 * each * self.format.flits.packet_length)
        return RelayCase(sends, payloads, faults, pauses, np.array(good, np.bool_), expected)

    def run(self, case: RelayCase, **plusargs: int) -> RelayRun:
        """Run a case and compare it with the model.

        Parameters
        ----------
        case : RelayCase
        plusargs : int
            What the bench is told in place of the case's: `dies`, `revives`, `limit`, all cycles. The model does not
            know of what is dead only for some time.

        Raises
        ------
        SimulatorError
            If the bench cannot be built or does not end.
        """
        build_seconds = self.build.make()
        folder = self.build.clear_run_folder("relay")
        told = self._write(case, folder) | plusargs
        started = time.monotonic()
        self.build.run(
            "sim.bench",
            folder,
            test_filter=r"\.traffic$",
            plusargs=[f"+{name}={value}" for name, value in told.items()],
            extra_env={"HDNHW_DROPPED": str(folder / "dropped")},
        )
        seconds = time.monotonic() - started
        if not (folder / "dropped").exists():
            raise SimulatorError(f"the bench did not end, see {folder / 'simulation.log'}")
        verdict = self._check(case, folder)
        if verdict.passed:
            shutil.rmtree(folder)
        return RelayRun(verdict, seconds, build_seconds)

    def _write(self, case: RelayCase, folder: Path) -> dict[str, object]:
        """Write the files that the bench reads; return its plusargs."""
        sends, format_ = case.sends, self.format
        flits = [format_.pack(stops, payload) for stops, payload in zip(sends.stops, case.payloads, strict=True)]
        write_columns(
            folder,
            flits=[flit for packet in flits for flit in packet],
            earliest=sends.earliest,
            first=sends.first,
            seeds=terminal_seeds(self.plan.network.num_nodes, case.terminals.seed),
            dead=dead_words(case.faults),
        )
        return ALWAYS_DEAD | {
            "folder": folder,
            "packets": len(flits),
            "expected": 1 << 30,  # it goes on to its limit, and sees what comes too much
            "limit": case.expected.cycles + AFTERWARDS,
            "gap": case.terminals.source_gap,
            "stall": case.terminals.sink_stall,
            "hold": 0,
            "watch": 0,
        }

    def _word(self, case: RelayCase, packet: ModelPacket) -> int:
        """Return the bits of a packet as a user gets it."""
        values = {"dst": packet.dst, "src": packet.src, "kind": int(packet.kind), "left": packet.left}
        values |= {f"stop_{left}": stop for left, stop in enumerate(packet.stops, 1)}
        header = sum(value << self.format.header_positions[name]["offset"] for name, value in values.items())
        return header | (case.payloads[packet.number] if packet.number >= 0 else 0) << self.format.header_width

    def _check(self, case: RelayCase, folder: Path) -> RelayVerdict:
        expected = case.expected
        rows = [(int(node), int(cycle), int(data, 16)) for node, cycle, data in log_rows(folder / "ejections.log")]
        said = [
            (int(node), int(cycle), self._word(case, packet))
            for node, cycle, packet in zip(expected.node, expected.cycle, expected.packets, strict=True)
        ]
        differ = sum(one != other for one, other in zip(rows, said, strict=False)) + abs(len(rows) - len(said))
        good, wrong, notices = self._sort(case, rows)
        counted = self._counts(folder)
        total = dict(zip(COUNTS, counted.sum(axis=0).tolist(), strict=True))
        dropped = int((folder / "dropped").read_text())
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

    def _sort(self, case: RelayCase, rows: list[tuple[int, int, int]]) -> tuple[set[int], int, int]:
        """Return the numbers of the packets that came out as they were sent, how many others did, and the notices."""
        positions, width = self.format.header_positions, self.format.header_width
        of_source = np.repeat(np.arange(len(case.sends.first) - 1), np.diff(case.sends.first)).tolist()
        address, good, wrong, notices = self.plan.address, set(), 0, 0
        numbers = {payload: number for number, payload in enumerate(case.payloads)}

        def field(word: int, name: str) -> int:
            return word >> positions[name]["offset"] & (1 << positions[name]["width"]) - 1

        for node, _, word in rows:
            at_home = field(word, "dst") == address.of_node(node)
            if field(word, "kind") == RelayKind.NOTICE:
                notices += 1
                wrong += not at_home
                continue
            number = numbers.get(word >> width, -1)
            is_right = number >= 0 and at_home and number not in good and field(word, "kind") == RelayKind.DATA
            is_right = is_right and case.sends.stops[number][-1] == address.of_node(node)
            if is_right and field(word, "src") == address.of_node(of_source[number]):
                good.add(number)
            else:
                wrong += 1
        return good, wrong, notices

    def _counts(self, folder: Path) -> np.ndarray:
        """Return the counters of all relays, shape (nodes, 6)."""
        words = [int(line, 16) for line in (folder / "counts.log").read_text().split()]
        return np.array([[word >> 16 * place & 0xFFFF for place in range(len(COUNTS))] for word in words], np.int64)


def _is_healthy(legs: np.ndarray, source: int, way: tuple[int, ...]) -> bool:
    """Tell whether a packet can be delivered: a waypoint must be reached, and its answer must come back."""
    there = all(legs[one, other] >= 0 for one, other in pairwise((source, *way)))
    return there and all(legs[other, one] >= 0 for one, other in pairwise((source, *way[:-1])))
