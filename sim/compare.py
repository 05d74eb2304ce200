"""Compare what the emitted Verilog did with what the model, the plan and breadth-first search say."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.machine.flit import FlitFormat
from hdnhw.machine.machine import Machine
from hdnhw.machine.monitor import (
    IDENTIFICATION,
    IDENTITY,
    LEVEL_WIDTH,
    SENT,
    STALLED,
    STATE,
    WORD_BYTES,
    MonitorMap,
    words_of,
)
from hdnhw.model.counts import Counts
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.topology.metrics import distances_from, neighbor_table

PACKETS_AT_ONCE = 4096
"""Whose bits are taken apart at a time."""


@dataclass(frozen=True)
class StreamVerdict:
    """What packets at bare streams showed.

    Attributes
    ----------
    packets : int
        Packets that had to arrive.
    stranded : int
        Of these, how many had to arrive where their route meets something dead.
    lost : int
        Of these, how many did not.
    misrouted : int
        Packets that came out at another node than they had to.
    payload_mismatches : int
        Packets whose flits are not those sent.
    cycle_mismatches : int
        Ejections that differ from the model's in node, cycle or packet, position by position, and drop counts that do.
    head_mismatches : int
        Packets whose head flit was accepted in another cycle than the model says, or in one of the two alone.
    hop_mismatches : int
        Pairs whose path is not the plan's or whose hop count contradicts breadth-first search (hops test).
    cycles : int
        Cycles until the last packet left.
    word_mismatches : int
        Words of a monitor that are not what the model has counted.
    """

    packets: int
    stranded: int
    lost: int
    misrouted: int
    payload_mismatches: int
    cycle_mismatches: int
    head_mismatches: int
    hop_mismatches: int
    cycles: int
    word_mismatches: int = 0

    @property
    def passed(self) -> bool:
        """Whether nothing differs."""
        return not self.faults

    @property
    def faults(self) -> int:
        """How much differs: the sum of all counts of losses and mismatches."""
        mismatches = self.payload_mismatches + self.cycle_mismatches + self.head_mismatches + self.hop_mismatches
        return self.lost + self.misrouted + mismatches + self.word_mismatches


def _pieces(path: Path) -> list[str]:
    """Return the lines of a log, by what stands between the resets."""
    return path.read_text().split("reset\n")


def log_rows(path: Path) -> list[list[str]]:
    """Return the fields of each line after the last reset."""
    return [line.split() for line in _pieces(path)[-1].splitlines()]


def _table(text: str, *columns: tuple[str, str]) -> npt.NDArray[Any]:
    """Return a log's lines, a row each, with the names and types of its columns."""
    fields = text.split()
    rows = np.empty(len(fields) // len(columns), dtype=list(columns))
    for place, (name, _) in enumerate(columns):
        rows[name] = fields[place :: len(columns)]
    return rows


def _heads(text: str) -> npt.NDArray[Any]:
    """Return the packets of a log of head flits and the cycles in which these were accepted."""
    return _table(text, ("packet", "i8"), ("cycle", "i8"))


def _by_cycle(heads: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return heads[np.lexsort((heads["packet"], heads["cycle"]))]


def _ejections(text: str, flits: FlitFormat) -> npt.NDArray[Any]:
    """Return the nodes, cycles and packets, as the bench writes them, of a log of ejections."""
    return _table(text, ("node", "i8"), ("cycle", "i8"), ("word", f"S{_num_digits(flits)}"))


def _num_digits(flits: FlitFormat) -> int:
    return -(-flits.packet_length * flits.flit_width // 4)


def _words(packets: npt.NDArray[np.uint64], flits: FlitFormat) -> npt.NDArray[np.bytes_]:
    """Return packets as the bench writes them: in hexadecimal, the first flit in the least significant digits."""
    digits = _num_digits(flits)
    words = np.empty(len(packets), f"S{digits}")
    for start in range(0, len(packets), PACKETS_AT_ONCE):
        part = np.ascontiguousarray(packets[start : start + PACKETS_AT_ONCE], dtype="<u8")
        bits = np.zeros((*part.shape, max(64, flits.flit_width)), np.uint8)
        bits[..., :64] = np.unpackbits(part.view(np.uint8), axis=-1, bitorder="little").reshape(*part.shape, 64)
        packed = np.packbits(bits[..., : flits.flit_width].reshape(len(part), -1), axis=-1, bitorder="little")
        text = np.frombuffer(packed[:, ::-1].tobytes().hex().encode(), np.uint8).reshape(len(part), -1)
        words[start : start + PACKETS_AT_ONCE] = np.ascontiguousarray(text[:, -digits:]).view(words.dtype)[:, 0]
    return words


def count_early_mismatches(folder: Path, flits: FlitFormat, resets: Sequence[int]) -> int:
    """Compare what went on before each reset in traffic with the beginning of the case beside the logs.

    Parameters
    ----------
    folder : Path
    flits : FlitFormat
    resets : sequence of int
        Cycles before each.
    """
    if not resets:
        return 0
    with np.load(folder / "case.npz") as case:
        out = _expected(case, flits)
        packet = np.flatnonzero(case["head_cycle"] >= 0)
        heads = np.empty(len(packet), [("packet", "i8"), ("cycle", "i8")])
        heads["packet"], heads["cycle"] = packet, case["head_cycle"][packet]
    heads = _by_cycle(heads)
    wrong, last = 0, -1 - len(resets)
    ejected, accepted = (_pieces(folder / name)[last:-1] for name in ("ejections.log", "heads.log"))
    for cycles, came, taken in zip(resets, ejected, accepted, strict=True):
        wrong += not np.array_equal(_ejections(came, flits), out[out["cycle"] < cycles])
        wrong += not np.array_equal(_by_cycle(_heads(taken)), heads[heads["cycle"] < cycles])
    return wrong


def _expected(case: Any, flits: FlitFormat) -> npt.NDArray[Any]:
    """Return what the log of ejections must say, by the model."""
    out = np.empty(len(case["node"]), _ejections("", flits).dtype)
    out["node"], out["cycle"] = case["node"], case["cycle"]
    out["word"] = _words(case["flits"], flits)[case["packet"]]
    return out


def count_head_mismatches(folder: Path, expected: npt.NDArray[np.int64], cycles: int) -> int:
    """Compare the cycles in which head flits were accepted with the model's, -1 if not within its `cycles`."""
    accepted, heads = np.full(len(expected), -1, np.int64), _heads(_pieces(folder / "heads.log")[-1])
    heads = heads[heads["cycle"] < cycles]
    accepted[heads["packet"]] = heads["cycle"]
    return int((accepted != expected).sum())


def check_ejections(folder: Path, flits: FlitFormat, dropped: int, hop_mismatches: int = 0) -> StreamVerdict:
    """Compare the logs of ejections and of head flits in `folder` with the case beside them.

    Parameters
    ----------
    folder : Path
    flits : FlitFormat
    dropped : int
        Packets that the fabric says it has dropped.
    hop_mismatches : int
        To be carried into the verdict.
    """
    rows = _ejections(_pieces(folder / "ejections.log")[-1], flits)
    with np.load(folder / "case.npz") as case:
        destination, packet, dropped_expected = case["destination"], case["packet"], int(case["dropped"].sum())
        expected, packets, stranded = _expected(case, flits), case["flits"], int(case["stranded"])
        head_mismatches = count_head_mismatches(folder, case["head_cycle"], int(case["cycles"]))
    both = min(len(rows), len(expected))
    as_told = np.zeros(len(rows), bool)
    as_told[:both] = rows[:both] == expected[:both]
    misplaced = as_told.copy()
    misplaced[:both] &= rows["node"][:both] != destination[packet[:both]]
    nodes_of: dict[bytes, set[int]] = {}  # short packets may be alike, and of these some stranded
    others = rows[~as_told | misplaced]
    if len(others):
        for word, due in zip(_words(packets, flits).tolist(), destination.tolist(), strict=True):
            nodes_of.setdefault(word, set()).add(due)
    payload_mismatches = sum(word not in nodes_of for word in others["word"].tolist())
    misrouted = sum(
        word in nodes_of and node not in nodes_of[word]
        for node, word in zip(others["node"].tolist(), others["word"].tolist(), strict=True)
    )
    wanted = int((destination >= 0).sum())
    cycle_mismatches = both - int(as_told.sum()) + abs(len(rows) - len(expected))
    return StreamVerdict(
        packets=wanted,
        stranded=stranded,
        lost=max(0, wanted - len(rows)),
        misrouted=misrouted,
        payload_mismatches=payload_mismatches,
        cycle_mismatches=cycle_mismatches + (dropped != dropped_expected),
        head_mismatches=head_mismatches,
        hop_mismatches=hop_mismatches,
        cycles=int(rows["cycle"][-1]) + 1 if len(rows) else 0,
    )


def count_word_mismatches(folder: Path, machine: Machine, counts: Counts, dropped: npt.NDArray[np.int64]) -> int:
    """Return how many words of a monitor, read when all packets have gone, are not what the model has counted.

    Packets for no node are counted by the model when they are taken; a router, which drops them, does not count them.
    """
    own, sent = MonitorMap.of(machine), counts.sent.copy()
    sent[:, -1, 0] -= dropped
    values = {SENT: sent, STALLED: counts.stalled[..., np.newaxis], STATE: counts.most << LEVEL_WIDTH}
    words = list(map(int, (folder / "words").read_text().split()))
    due = {IDENTITY: IDENTIFICATION}
    for node in range(own.nodes):
        own_words = words_of(machine, machine.plan.shape_of(node))
        for number, word in enumerate(own_words):
            place = node, word.port, word.vc
            due[own.address(node, number)] = int(values[word.kind][place]) if word.kind in values else 0
    return sum(words[address // WORD_BYTES] != value for address, value in due.items())


def count_unbalanced(words: Sequence[int], machine: Machine) -> int:
    """Return how many routers have not sent all packets that came to them, or still have some, by their monitors.

    What a router has sent came to its neighbor, so that words of another router than was asked show. All routers are
    wrong if nothing was sent at all.
    """
    own, network = MonitorMap.of(machine), machine.network
    local, left, moved = len(network.ports), [0] * own.nodes, 0
    for node in range(own.nodes):
        neighbors = network.neighbors(node)
        for number, word in enumerate(words_of(machine, machine.plan.shape_of(node))):
            value = words[own.address(node, number) // WORD_BYTES]
            if word.kind == SENT:
                left[node] += value if word.port > local else -value
                if word.port < local:
                    left[neighbors[network.ports[word.port].name]] += value
                moved += value
            elif word.kind != STALLED:
                left[node] += value & (1 << LEVEL_WIDTH) - 1 if word.kind == STATE else value
    return sum(map(bool, left)) if moved and words[IDENTITY] == IDENTIFICATION else own.nodes


def _hop_table(folder: Path, machine: Machine) -> npt.NDArray[np.int64]:
    """Return (source, destination, cycle, node, port, vc) of every packet that entered a channel, sorted."""
    rows = [(*map(int, row[:4]), int(row[4], 16)) for row in log_rows(folder / "hops.log")]
    table = np.array(rows, dtype=np.int64).reshape(-1, 5)
    address, head = machine.address, table[:, 4]
    number_of: dict[int, int] = {address.of_node(node): node for node in range(machine.network.num_nodes)}
    parts = (machine.flits.head_payload(head), machine.flits.destination_of(head))
    ends = [[number_of.get(int(end), -1) for end in part] for part in parts]
    ordered = np.column_stack([ends[0], ends[1], table[:, 0], table[:, 1:4]])
    return np.asarray(ordered[np.lexsort((ordered[:, 2], ordered[:, 1], ordered[:, 0]))])


def count_hop_mismatches(folder: Path, machine: Machine) -> int:
    """Return how many ordered pairs took a path that is not the plan's, or not as long as it must be.

    The hop count must be at least the breadth-first distance, and equal to it where the rule is known to be shortest
    (see ``is_shortest`` of :class:`hdnhw.rules.hop.HopRule`).
    """
    network, plan = machine.network, machine.plan
    nodes = network.num_nodes
    neighbors = neighbor_table(network)
    paths: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for source, destination, _, node, port, vc in _hop_table(folder, machine).tolist():
        paths.setdefault((source, destination), []).append((node, port, vc))
    shortest = plan.rule.is_shortest
    address: list[Any] = [plan.address.of_node(node) for node in range(nodes)]
    wrong = len(set(paths) - {(u, v) for u in range(nodes) for v in range(nodes) if u != v})
    for source in range(nodes):
        distance = distances_from(network, source)
        for destination in range(nodes):
            if destination == source:
                continue
            path, at, good = paths.get((source, destination), []), source, True
            for node, port, vc in path:
                good &= node == at and plan.plain_route(address[node], address[destination]) == port | vc << VC_SHIFT
                at = int(neighbors[node, port])
            hops = int(distance[destination])
            good &= at == destination and len(path) >= hops and (not shortest or len(path) == hops)
            wrong += not good
    return wrong
