"""HSN paper, section 3.2: one dimension of a hypercube on an HSN and on other networks of as many nodes.

Cube-connected cycles and the butterfly of d 2^d nodes, d a power of 2, have a node (w, p) for each node of a hypercube
of d + log2 d dimensions. In a dimension of w all data go round, each crosses where that bit can change, and each stops
at its own place. Bit i of w changes on few links only, which bounds the steps from below whatever ways the data take.

A node of a hypernet stands for the node of the hypercube with its number. In a dimension of the highest level h all
2^(h - 1) data that share a link of that level go to its node one after another, and over it; there the dimension is one
of level h - 1; then they go the same way back.
"""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from math import ceil, log2
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.claims.claim import Finding
from hdnhw.claims.families import compare
from hdnhw.claims.hsn_nuclei import claim_of
from hdnhw.claims.words import by_word, judge_from_size
from hdnhw.collectives.emulated import emulate, step_timetable
from hdnhw.collectives.guest import host_of
from hdnhw.networks.build import build
from hdnhw.topology.metrics import neighbor_table

Integers = npt.NDArray[np.int64]

HOSTS = {
    4: ("hsn(2, cube(3))", "hypernet(2, 5)"),
    8: ("hsn(2, cube(6), top=32)", "hypernet(6, 2)"),
    16: ("hsn(2, cube(10))", "hypernet(6, 3)"),
}
"""d, and an HSN and a hypernet of d 2^d nodes."""

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
    assert (_move(table, nodes, hops) == (nodes // d ^ 1 << bit) * d + nodes % d).all(), "the neighbors of w"
    return sum(bool((ports >= 0).any()) for ports in hops)


def _cycles_place(table: Integers, d: int, bit: int) -> int:
    """Return the steps for a bit of p on cube-connected cycles: along the ring, both ways."""
    nodes = np.arange(len(table))
    hops = [nodes % d >> bit & 1] * (1 << bit)
    assert (_move(table, nodes, hops) == nodes // d * d + (nodes % d ^ 1 << bit)).all(), "the neighbors of p"
    return len(hops)


def _cycles_ring(table: Integers, d: int, start: int, bit: int) -> int:
    """Return the steps for a bit of w where a ring has one datum, at place `start`, which stays where it crosses."""
    words = np.arange(1 << d)
    ahead = (bit - start) % d
    ways = [np.full(len(words), 0 if ahead <= d // 2 else 1)] * min(ahead, d - ahead)
    hops = [*ways, np.full(len(words), 2)]
    assert (_move(table, words * d + start, hops) == (words ^ 1 << bit) * d + bit).all(), "the neighbors of w"
    return len(hops)


def _butterfly(d: int) -> Integers:
    """Return the neighbors of (w, p): (w, p + 1), (w with bit p changed, p + 1), and the nodes that lead to (w, p)."""
    word, place = np.divmod(np.arange(d << d), d)
    below = (place - 1) % d
    ends = [(word, (place + 1) % d), (word ^ 1 << place, (place + 1) % d), (word, below), (word ^ 1 << below, below)]
    return np.stack([to * d + at for to, at in ends], axis=1)


def _butterfly_word(table: Integers, d: int, bit: int) -> int:
    """Return the steps for a bit of w on a butterfly: once round, across from place `bit`."""
    nodes = np.arange(len(table))
    hops = [np.where((nodes % d + step) % d == bit, 1, 0) for step in range(d)]
    assert (_move(table, nodes, hops) == (nodes // d ^ 1 << bit) * d + nodes % d).all(), "the neighbors of w"
    return len(hops)


def _hypernet_steps(sizes: Sequence[int], bit: int) -> list[tuple[int, int]]:
    """Return the steps for a bit of the number of a node: a port, and the level of the links that are used.

    `sizes` are the bits of a node of a cubelet, then those of the number of a copy, level by level.
    """
    level = bisect([*accumulate(sizes)], bit) + 1
    if level == 1:
        return [(sizes[0] - 1 - bit, level)]
    inward = [(sizes[0], level)]
    for turn in range(1, 1 << level - 1):
        inward += [*_hypernet_steps(sizes, (turn & -turn).bit_length() - 1), (sizes[0], level)]
    return [*inward, *_hypernet_steps(sizes, bit - sizes[level - 1]), *inward[::-1]]


def _hypernet_bit(table: Integers, sizes: Sequence[int], bit: int) -> int:
    """Return the steps for a bit of the number of a node of a hypernet, one dimension or level of links at a time."""
    nodes = at = np.arange(len(table))
    steps = _hypernet_steps(sizes, bit)
    for port, level in steps:
        uses = (table[at, port] >= 0) & ((level == 1) | ((at ^ at + 1) == (1 << level - 1) - 1))
        at = _move(table, at, [np.where(uses, port, -1)])
    assert (at == nodes ^ 1 << bit).all(), "the neighbors in the hypercube"
    return len(steps)


def _least(words: Integers, table: Integers, bits: int) -> int:
    """Return the fewest steps, whatever ways data take: every datum crosses a link on which a bit changes."""
    changed = np.where(table >= 0, words[table] ^ words[:, None], 0)
    return max(ceil(len(table) / int((changed >> bit & 1).sum())) for bit in range(bits))


def beside_others() -> Finding:
    """Move the data of every dimension on three networks of the same size, and bound the steps from below."""
    rows: list[dict[str, Any]] = []
    networks = []
    for d, (text, other) in HOSTS.items():
        host = host_of(build(text), "a claim of the HSN paper")
        ports, bits = len(host.nucleus.ports), host.num_nodes.bit_length() - 1
        links = [(1, port) for port in range(ports)] + [(2, port) for port in range(2 * ports - bits, ports)]
        tables = [step_timetable(ports, link) for link in links]
        steps = max(step for table in tables for hops in table.values() for step, _ in hops)
        others = [build(name) for name in (f"ccc({d})", other)]
        cycles, cubelets = (neighbor_table(network).astype(np.int64) for network in others)
        wings, nodes = _butterfly(d), np.arange(d << d)
        assert len(cycles) == len(cubelets) == d << d == host.num_nodes, "networks of one size"
        row = {"network": text, "nodes": host.num_nodes, "hypercube": bits, "HSN": steps}
        row |= {"CCC at least": _least(nodes // d, cycles, d), "butterfly at least": _least(nodes // d, wings, d)}
        row |= {"hypernet": other, "hypernet at least": _least(nodes, cubelets, bits)}
        if d in MOVED:
            assert max(emulate(host, table).steps for table in tables) == steps, "the network keeps to the timetables"
            words = [_cycles_word(cycles, d, bit) for bit in range(d)]
            places = [_cycles_place(cycles, d, bit) for bit in range(round(log2(d)))]
            rings = [_cycles_ring(cycles, d, 0, bit) for bit in range(d)]
            row |= {"CCC": max(words + places)}
            row |= {"butterfly, bits of w": max(_butterfly_word(wings, d, bit) for bit in range(d))}
            sizes = others[1].groups[::-1]
            row |= {"hypernet, all bits": max(_hypernet_bit(cubelets, sizes, bit) for bit in range(bits))}
            row |= {"CCC, one datum a ring": max(rings), "the next bit": rings[1]}
        rows.append(dict.fromkeys(rows[0] if rows else row, "") | row)
        networks.append(host)

    def judged(limit: float) -> Finding:
        cases = []
        for host, row in zip(networks, rows, strict=True):
            least = min(count for name, count in row.items() if name.endswith(" at least"))
            case = compare(host, f"3, and {3 * limit:g} or more on the others", f"{row['HSN']}, and {least} at least")
            cases.append(replace(case, holds=row["HSN"] == 3 and least >= 3 * limit))
        return judge_from_size(cases, of="sizes", table=rows)

    return by_word("much", judged)


CLAIMS = (
    claim_of(
        "section 3.2",
        "slowdown 3 of the HSN in one dimension of a hypercube, beside hypernet, cube-connected cycles and butterfly",
        "much better",
        beside_others,
        reading="so many steps there whatever ways data take, with a datum in each node (moved on 64 and 2,048 nodes); "
        "that bound, d on cube-connected cycles of d 2^d nodes, d / 2 on the butterfly, 2^h on a hypernet of h levels, "
        "has no limit, but is 4 on all hypernets of two levels. Not so for ascend: with one datum a ring, the next bit "
        "takes 2 steps on cube-connected cycles too. The paper does not define the hypernet, nor which of its nodes "
        "stands for which of the hypercube: here it is Hwang and Ghosh's, nodes have the "
        "same numbers, and the bound is the same whichever half of the links each level uses",
    ),
)
