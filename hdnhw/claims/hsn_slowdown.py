"""HSN paper, section 3.2: one dimension of a hypercube on an HSN, on cube-connected cycles and on a wrapped butterfly.

Cube-connected cycles and the butterfly of d 2^d nodes, d a power of 2, have a node (w, p) for each node of a hypercube
of d + log2 d dimensions. In a dimension of w all data go round, each crosses where that bit can change, and each stops
at its own place. Bit i of w changes on few links only, which bounds the steps from below whatever ways the data take.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, log2
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.claims.claim import Finding
from hdnhw.claims.families import compare
from hdnhw.claims.hsn_nuclei import claim_of
from hdnhw.claims.words import by_word, judge_from_size
from hdnhw.collectives.emulation import emulate, step_timetable
from hdnhw.collectives.guest import host_of
from hdnhw.spec import parse
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.network import build

__all__ = ["CLAIMS"]

Integers = npt.NDArray[np.int64]

HOSTS = {4: "hsn(2, cube(3))", 8: "hsn(2, cube(6), top=32)", 16: "hsn(2, cube(10))"}
"""d, and an HSN of d 2^d nodes."""

MOVED = (4, 8)
"""Those on whose HSN the data are moved."""


def _move(table: Integers, starts: Integers, hops: Sequence[Integers]) -> Integers:
    """Return where data are after some steps: the port of each in each step, -1 to keep still, one datum a link."""
    at = starts.copy()
    for ports in hops:
        goes = np.flatnonzero(ports >= 0)
        links = at[goes] * table.shape[1] + ports[goes]
        assert len(np.unique(links)) == len(links), "a link carries one datum a step"
        at[goes] = table[at[goes], ports[goes]]
        assert (at >= 0).all(), "data go over links that there are"
    return at


def _cycles_word(table: Integers, d: int, bit: int) -> int:
    """Return the steps for a bit of w on cube-connected cycles: round in + direction, across at place `bit`."""
    nodes = np.arange(len(table))
    before, after = (bit - nodes % d) % d, (nodes % d - bit) % d
    hops = [
        np.where(step < before, 0, np.where(step == before, 2, np.where(step <= before + after, 0, -1)))
        for step in range(d + 1)
    ]
    assert (_move(table, nodes, hops) == (nodes // d ^ 1 << bit) * d + nodes % d).all(), "the neighbours of w"
    return sum(bool((ports >= 0).any()) for ports in hops)


def _cycles_place(table: Integers, d: int, bit: int) -> int:
    """Return the steps for a bit of p on cube-connected cycles: along the ring, both ways."""
    nodes = np.arange(len(table))
    hops = [nodes % d >> bit & 1] * (1 << bit)
    assert (_move(table, nodes, hops) == nodes // d * d + (nodes % d ^ 1 << bit)).all(), "the neighbours of p"
    return len(hops)


def _cycles_ring(table: Integers, d: int, start: int, bit: int) -> int:
    """Return the steps for a bit of w where a ring has one datum, at place `start`, which stays where it crosses."""
    words = np.arange(1 << d)
    ahead = (bit - start) % d
    ways = [np.full(len(words), 0 if ahead <= d // 2 else 1)] * min(ahead, d - ahead)
    hops = [*ways, np.full(len(words), 2)]
    assert (_move(table, words * d + start, hops) == (words ^ 1 << bit) * d + bit).all(), "the neighbours of w"
    return len(hops)


def _butterfly(d: int) -> Integers:
    """Return the neighbours of (w, p): (w, p + 1), (w with bit p changed, p + 1), and the nodes that lead to (w, p)."""
    word, place = np.divmod(np.arange(d << d), d)
    below = (place - 1) % d
    ends = [(word, (place + 1) % d), (word ^ 1 << place, (place + 1) % d), (word, below), (word ^ 1 << below, below)]
    return np.stack([to * d + at for to, at in ends], axis=1)


def _butterfly_word(table: Integers, d: int, bit: int) -> int:
    """Return the steps for a bit of w on a butterfly: once round, across from place `bit`."""
    nodes = np.arange(len(table))
    hops = [np.where((nodes % d + step) % d == bit, 1, 0) for step in range(d)]
    assert (_move(table, nodes, hops) == (nodes // d ^ 1 << bit) * d + nodes % d).all(), "the neighbours of w"
    return len(hops)


def _least(table: Integers, d: int) -> int:
    """Return the fewest steps, whatever ways data take: every datum crosses a link on which a bit of w changes."""
    words, nodes = table // d ^ np.arange(len(table))[:, None] // d, len(table)
    return max(ceil(nodes / int((words >> bit & 1).sum())) for bit in range(d))


def beside_others() -> Finding:
    """Move the data of every dimension on three networks of the same size, and bound the steps from below."""
    rows: list[dict[str, Any]] = []
    networks = []
    for d, text in HOSTS.items():
        host = host_of(build(parse(text)), "a claim of the HSN paper")
        ports, bits = len(host.nucleus.ports), host.num_nodes.bit_length() - 1
        links = [(1, port) for port in range(ports)] + [(2, port) for port in range(2 * ports - bits, ports)]
        tables = [step_timetable(ports, link) for link in links]
        steps = max(step for table in tables for hops in table.values() for step, _ in hops)
        cycles, wings = neighbor_table(build(parse(f"ccc({d})"))).astype(np.int64), _butterfly(d)
        assert len(cycles) == d << d == host.num_nodes, "networks of one size"
        row = {"network": text, "nodes": host.num_nodes, "hypercube": bits, "HSN": steps}
        row |= {"CCC at least": _least(cycles, d), "butterfly at least": _least(wings, d)}
        if d in MOVED:
            assert max(emulate(host, table).steps for table in tables) == steps, "the network keeps to the timetables"
            words = [_cycles_word(cycles, d, bit) for bit in range(d)]
            places = [_cycles_place(cycles, d, bit) for bit in range(round(log2(d)))]
            rings = [_cycles_ring(cycles, d, 0, bit) for bit in range(d)]
            row |= {"CCC": max(words + places)}
            row |= {"butterfly, bits of w": max(_butterfly_word(wings, d, bit) for bit in range(d))}
            row |= {"CCC, one datum a ring": max(rings), "the next bit": rings[1]}
        rows.append(dict.fromkeys(rows[0] if rows else row, "") | row)
        networks.append(host)

    def judged(limit: float) -> Finding:
        cases = []
        for host, row in zip(networks, rows, strict=True):
            least = min(row["CCC at least"], row["butterfly at least"])
            case = compare(host, f"3, and {3 * limit:g} or more on the others", f"{row['HSN']}, and {least} at least")
            cases.append(replace(case, holds=row["HSN"] == 3 and least >= 3 * limit))
        return judge_from_size(cases, of="sizes", table=rows)

    return by_word("much", judged)


CLAIMS = (
    claim_of(
        "section 3.2",
        "slowdown 3 of the HSN in one dimension of a hypercube, beside cube-connected cycles and the butterfly",
        "much better",
        beside_others,
        reading="so many steps there whatever ways data take, with a datum in each node (moved on 64 and 2,048 nodes); "
        "that bound, d on cube-connected cycles of d 2^d nodes and d / 2 on the butterfly, has no limit. Not so for "
        "ascend: with one datum a ring, the next bit takes 2 steps on cube-connected cycles too. The hypernet is not "
        "built: the paper defines neither it nor which of its nodes stands for which of the hypercube",
    ),
)
