"""Compare what the emitted Verilog did with what the model, the plan and breadth-first search say."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.flit import FlitFormat
from hdnhw.machine import Machine
from hdnhw.routing.compiled import VC_SHIFT
from hdnhw.topology.metrics import distances_from, neighbor_table

__all__ = [
    "StreamVerdict",
    "check_ejections",
    "count_early_mismatches",
    "count_head_mismatches",
    "count_hop_mismatches",
    "log_rows",
]


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

    @property
    def passed(self) -> bool:
        """Whether nothing differs."""
        return not self.faults

    @property
    def faults(self) -> int:
        """How much differs: the sum of all counts of losses and mismatches."""
        mismatches = self.payload_mismatches + self.cycle_mismatches + self.head_mismatches + self.hop_mismatches
        return self.lost + self.misrouted + mismatches


def _pieces(path: Path) -> list[list[list[str]]]:
    """Return the fields of each line, by what stands between the resets."""
    pieces: list[list[list[str]]] = [[]]
    for line in path.read_text().splitlines():
        if line == "reset":
            pieces.append([])
        else:
            pieces[-1].append(line.split())
    return pieces


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
        words = [flits.word(packet) for packet in case["flits"].tolist()]
        out = list(zip(case["node"].tolist(), case["cycle"].tolist(), case["packet"].tolist(), strict=True))
        heads = sorted((cycle, packet) for packet, cycle in enumerate(case["head_cycle"].tolist()) if cycle >= 0)
    wrong, last = 0, -1 - len(resets)
    ejected, accepted = (_pieces(folder / name)[last:-1] for name in ("ejections.log", "heads.log"))
    for cycles, came, taken in zip(resets, ejected, accepted, strict=True):
        due = [(node, cycle, words[packet]) for node, cycle, packet in out if cycle < cycles]
        wrong += [(int(node), int(cycle), int(data, 16)) for node, cycle, data in came] != due
        begun = sorted((int(cycle), int(packet)) for packet, cycle in taken)
        wrong += begun != [head for head in heads if head[0] < cycles]
    return wrong


def log_rows(path: Path) -> list[list[str]]:
    """Return the fields of each line after the last reset."""
    return _pieces(path)[-1]


def count_head_mismatches(folder: Path, expected: npt.NDArray[np.int64], cycles: int) -> int:
    """Compare the cycles in which head flits were accepted with the model's, -1 if not within its `cycles`."""
    accepted = np.full(len(expected), -1, np.int64)
    for packet, cycle in log_rows(folder / "heads.log"):
        if int(cycle) < cycles:
            accepted[int(packet)] = int(cycle)
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
    rows = log_rows(folder / "ejections.log")
    with np.load(folder / "case.npz") as case:
        destination, packets, dropped_expected = case["destination"], case["flits"], int(case["dropped"].sum())
        stranded = int(case["stranded"])
        expected = list(zip(case["node"].tolist(), case["cycle"].tolist(), case["packet"].tolist(), strict=True))
        head_mismatches = count_head_mismatches(folder, case["head_cycle"], int(case["cycles"]))
    words = [flits.word(packet) for packet in packets.tolist()]
    wrong_payload = wrong_cycle = misrouted = 0
    nodes_of: dict[int, set[int]] = {}  # short packets may be alike, and of these some stranded
    for word, due in zip(words, destination.tolist(), strict=True):
        nodes_of.setdefault(word, set()).add(due)
    for position, (node, cycle, data) in enumerate(rows):
        word = int(data, 16)
        if word not in nodes_of:
            wrong_payload += 1
        elif int(node) not in nodes_of[word]:
            misrouted += 1
        if position < len(expected):
            model_node, model_cycle, packet = expected[position]
            wrong_cycle += (int(node), int(cycle), word) != (model_node, model_cycle, words[packet])
    wanted = int((destination >= 0).sum())
    return StreamVerdict(
        packets=wanted,
        stranded=stranded,
        lost=max(0, wanted - len(rows)),
        misrouted=misrouted,
        payload_mismatches=wrong_payload,
        cycle_mismatches=wrong_cycle + abs(len(rows) - len(expected)) + (dropped != dropped_expected),
        head_mismatches=head_mismatches,
        hop_mismatches=hop_mismatches,
        cycles=int(rows[-1][1]) + 1 if rows else 0,
    )


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
    (see ``is_shortest`` of :class:`hdnhw.routing.hop.HopRule`).
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
                good &= node == at and plan.route(address[node], address[destination]) == port | vc << VC_SHIFT
                at = int(neighbors[node, port])
            hops = int(distance[destination])
            good &= at == destination and len(path) >= hops and (not shortest or len(path) == hops)
            wrong += not good
    return wrong
