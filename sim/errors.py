"""Errors on channels: wires turned over at random between the routers, and what must become of every packet."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.machine.crc import check_of
from hdnhw.machine.machine import Machine
from hdnhw.rtl.check_bits import ERRORS_WIDTH
from hdnhw.sim.compare import log_rows
from hdnhw.sim.harness import Channels
from hdnhw.sim.stimulus import Case, make_case, write_case
from hdnhw.sim.streams import HarnessBench
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.metrics import neighbor_table
from hdnhw.verilog.fabric import EmittedFabric

MOST_COUNTED = (1 << ERRORS_WIDTH) - 1

AT_ONCE = 1 << 14
"""Errors drawn at a time."""


@dataclass(frozen=True)
class Flip:
    """Wires of a channel turned over in one cycle; check bits stand above the data in `mask`."""

    cycle: int
    channel: int
    mask: int


@dataclass(frozen=True)
class ErrorVerdict:
    """What a run with errors showed.

    Attributes
    ----------
    packets : int
        Packets with a possible destination.
    flits : int
        Flits that crossed channels, each counted at every one.
    errors_injected : int
        Of these, how many had wires turned over.
    packets_hit : int
        Packets to which that happened.
    detected : int
        Of these, how many had flits that are not what their check bits say, at an input of a router.
    dropped : int
        Packets that ejection buffers have dropped and counted.
    delivered : int
        Packets that came out.
    delivered_wrong : int
        Of these, how many with bits that were not sent, at another node than their destination, or a second time.
    lost : int
        Packets that did not come out though all their flits were right when they should have.
    counter_mismatches : int
        Counters, of ports and of ejection buffers, that are not what the errors injected say.
    cycles : int
        Cycles until the last packet left.
    """

    packets: int
    flits: int
    errors_injected: int
    packets_hit: int
    detected: int
    dropped: int
    delivered: int
    delivered_wrong: int
    lost: int
    counter_mismatches: int
    cycles: int

    @property
    def passed(self) -> bool:
        """Whether every packet was delivered as it was sent, or was hit, dropped and counted."""
        return not (self.delivered_wrong or self.lost or self.counter_mismatches)


@dataclass(frozen=True, eq=False)
class ErrorCase:
    """Packets, and the errors that they meet."""

    case: Case
    flips: list[Flip]


def check_error_rate(rate: float) -> None:
    """Raise SpecError if `rate` is no probability between 0 and 1."""
    if not 0 < rate < 1:
        raise SpecError(f"{named('error_rate')} must be above 0 and below 1, not {rate}")


def draw_flips(rate: float, *, channels: int, wires: int, cycles: int, rng: np.random.Generator) -> list[Flip]:
    """Draw for every wire of every channel and every cycle from 1 on whether it is turned over.

    Raises
    ------
    SpecError
        If `rate` is no probability.
    """
    check_error_rate(rate)
    total, last = channels * wires * cycles, -1
    masks: dict[int, int] = {}
    while last < total:
        places = last + np.cumsum(rng.geometric(rate, size=AT_ONCE))
        for place in places[places < total].tolist():
            flit, wire = divmod(place, wires)
            masks[flit] = masks.get(flit, 0) | 1 << wire
        last = int(places[-1])
    return [Flip(1 + flit // channels, flit % channels, mask) for flit, mask in masks.items()]


def write_flips(flips: Iterable[Flip], folder: Path) -> None:
    """Write flips as :data:`hdnhw.sim.harness.FLIP_WIRES` reads them."""
    (folder / "flips.txt").write_text("".join(f"{flip.cycle} {flip.channel} {flip.mask:x}\n" for flip in flips))


class _Replay:
    """What the flips have done to each packet, told by the channels that it entered.

    Parameters
    ----------
    machine : Machine
    channels : Channels
    case : ErrorCase
    hops : ndarray of int64, shape (hops, 3)
        Packet, cycle of its head flit and channel of every packet that entered a channel, in the order of cycles.

    Attributes
    ----------
    errors_injected, packets_hit, detected : int
        See :class:`ErrorVerdict`.
    strays : int
        Packets that went on with a wrong head flit, or stopped short of their destination with a right one.
    bad : dict of int to int
        Node that drops each packet that is dropped.
    errors : ndarray of int64, shape (nodes, ports)
        Packets with wrong flits that came to each node by each port.
    """

    def __init__(self, machine: Machine, channels: Channels, case: ErrorCase, hops: npt.NDArray[np.int64]) -> None:
        network = machine.network
        self._width, self._length = machine.spec.flit_width, machine.spec.packet_length
        self._destination = case.case.destination.tolist()
        table = neighbor_table(network)
        self._ends = [(int(table[node, port]), network.ports[port].opposite) for node, port, _ in channels]
        self.errors = np.zeros((network.num_nodes, len(network.ports)), np.int64)
        self.bad: dict[int, int] = {}
        self.errors_injected = self.packets_hit = self.detected = 0
        self.strays = int((hops[:, 0] < 0).sum())
        self._good_check = check_of(0, self._width)
        for packet, path in self._paths(hops, self._hits(case.flips, hops)).items():
            if packet >= 0:
                self._follow(packet, path)

    def _hits(self, flips: list[Flip], hops: npt.NDArray[np.int64]) -> dict[int, dict[int, int]]:
        """Return for each row of `hops` with flips the masks of its flits."""
        span = int(max(hops[:, 1].max(initial=0), max((flip.cycle for flip in flips), default=0))) + 1
        keys = hops[:, 2] * span + hops[:, 1]
        order = np.argsort(keys)
        asked = np.array([flip.channel * span + flip.cycle for flip in flips], np.int64)
        places = np.searchsorted(keys[order], asked, side="right") - 1
        hits: dict[int, dict[int, int]] = {}
        for flip, place in zip(flips, places.tolist(), strict=True):
            row = int(order[place]) if place >= 0 else -1
            position = flip.cycle - int(hops[row, 1]) if row >= 0 else self._length
            if position < self._length and hops[row, 2] == flip.channel:
                hits.setdefault(row, {})[position] = flip.mask
                self.errors_injected += 1
        return hits

    def _paths(
        self, hops: npt.NDArray[np.int64], hits: dict[int, dict[int, int]]
    ) -> dict[int, list[tuple[int, dict[int, int]]]]:
        """Return the channels of each packet that was hit, each with the masks of its flits there."""
        packets = np.unique(hops[list(hits), 0]) if hits else np.zeros(0, np.int64)
        rows = np.flatnonzero(np.isin(hops[:, 0], packets))
        paths: dict[int, list[tuple[int, dict[int, int]]]] = {int(packet): [] for packet in packets}
        for row in rows.tolist():
            paths[int(hops[row, 0])].append((int(hops[row, 2]), hits.get(row, {})))
        return paths

    def _is_wrong(self, mask: int) -> bool:
        return check_of(mask & (1 << self._width) - 1, self._width) ^ self._good_check != mask >> self._width

    def _follow(self, packet: int, path: list[tuple[int, dict[int, int]]]) -> None:
        """Count what a packet that was hit has shown on its way."""
        self.packets_hit += 1
        masks = [0] * self._length
        node, wrong, seen, stops = -1, False, False, False
        for channel, own in path:
            self.strays += stops
            for position, mask in own.items():
                masks[position] ^= mask
            node, port = self._ends[channel]
            wrong, stops = any(map(self._is_wrong, masks)), self._is_wrong(masks[0])
            seen |= wrong
            self.errors[node, port] += wrong
        self.detected += seen
        self.strays += not stops and node != self._destination[packet]
        if wrong:
            self.bad[packet] = node


def _read_hops(folder: Path, channels: Channels, case: Case) -> npt.NDArray[np.int64]:
    """Return packet, cycle and channel of every packet that entered a channel, in the order of cycles.

    A packet with a head flit that was never sent is -1: it had an error there, and should not have gone on.
    """
    channel_of = {(str(node), str(port)): number for number, (node, port, _) in enumerate(channels)}
    packet_of = {head: packet for packet, head in enumerate(case.flits[:, 0].tolist())}
    rows = [
        (packet_of.get(int(head, 16), -1), int(cycle), channel_of[node, port])
        for cycle, node, port, _, head in log_rows(folder / "hops.log")
    ]
    return np.array(rows, np.int64).reshape(-1, 3)


class ErrorBench(HarnessBench[ErrorCase, ErrorVerdict]):
    """A fabric with check bits, and wires between its routers that can be turned over, see :class:`HarnessBench`."""

    def __init__(self, fabric: EmittedFabric, *, simulator: str = "verilator") -> None:
        if not fabric.machine.spec.crc:
            raise ValueError("the bench of errors needs a fabric with check bits")
        super().__init__(fabric, flips=True, simulator=simulator)

    def test_name(self, case: ErrorCase) -> str:
        """See :meth:`hdnhw.sim.runner.Bench.test_name`."""
        return case.case.test

    def make_case(self, *, packets: int, rate: float, seed: int = 1) -> ErrorCase:
        """Make random traffic, and the errors that it meets.

        Parameters
        ----------
        packets, seed : int
            See :func:`hdnhw.sim.stimulus.make_case`.
        rate : float
            Probability that a wire of a channel, data or check, is turned over in a cycle.

        Raises
        ------
        SpecError
            If the packets do not fit, or `rate` is no probability.
        """
        case = make_case("errors", self.model, packets=packets, seed=seed)
        case = replace(case, limit=2 * case.limit)
        sizes = {"channels": len(self.channels), "wires": self.machine.word_width, "cycles": case.limit}
        return ErrorCase(case, draw_flips(rate, **sizes, rng=np.random.default_rng(seed)))

    def write(self, case: ErrorCase, folder: Path) -> dict[str, Any]:
        """See :meth:`hdnhw.sim.runner.Bench.write`."""
        write_flips(case.flips, folder)
        return self.options(write_case(case.case, folder, self.machine))

    def check(self, case: ErrorCase, folder: Path) -> ErrorVerdict:
        """Compare the logs and the counters of a run with what the flips must have done."""
        packets, flits, nodes = case.case, self.machine.flits, self.machine.network.num_nodes
        hops = _read_hops(folder, self.channels, packets)
        told = _Replay(self.machine, self.channels, case, hops)
        number_of = {flits.word(packet): number for number, packet in enumerate(packets.flits.tolist())}
        rows, came = log_rows(folder / "ejections.log"), set()
        for node, _, data in rows:
            packet = number_of.get(int(data, 16), -1)
            if packet >= 0 and packets.destination[packet] == int(node):
                came.add(packet)
        wanted = set(np.flatnonzero(packets.destination >= 0).tolist())
        bad, errors = _read_counters(folder, told.errors.shape[1])
        bad_told = np.bincount(np.array(list(told.bad.values()), np.int64), minlength=nodes)
        dropped_otherwise = self.dropped(folder) - int(bad.sum())
        mismatches = int((errors != np.minimum(told.errors, MOST_COUNTED)).sum())
        mismatches += int((bad != np.minimum(bad_told, MOST_COUNTED)).sum())
        return ErrorVerdict(
            packets=len(wanted),
            flits=len(hops) * flits.packet_length,
            errors_injected=told.errors_injected,
            packets_hit=told.packets_hit,
            detected=told.detected,
            dropped=int(bad.sum()),
            delivered=len(rows),
            delivered_wrong=len(rows) - len(came - set(told.bad)),
            lost=len(wanted - came - set(told.bad)),
            counter_mismatches=mismatches + told.strays + int(dropped_otherwise != (packets.destination < 0).sum()),
            cycles=int(rows[-1][1]) + 1 if rows else 0,
        )


def _read_counters(folder: Path, ports: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the counters of bad packets, shape (nodes,), and of errors, shape (nodes, ports)."""
    counters = log_rows(folder / "checks.log")
    bad = np.array([int(count) for count, _ in counters])
    places = [ERRORS_WIDTH * port for port in range(ports)]
    return bad, np.array([[int(bits, 16) >> place & MOST_COUNTED for place in places] for _, bits in counters])
