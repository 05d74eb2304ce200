"""HSN paper, corollaries of sections 3 and 4: what is said up to a constant, with the quotients that come out."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import ceil, log2
from typing import Any

from hdnhw.claims.claim import Case, Finding
from hdnhw.claims.hsn_algorithms import all_port_steps
from hdnhw.claims.hsn_nuclei import claim_of, diameter_of, network_of
from hdnhw.claims.words import by_order, grown
from hdnhw.collectives.emulated import Timetable, all_port_timetable, emulate
from hdnhw.collectives.executor import execute
from hdnhw.collectives.operations import operation_schedule
from hdnhw.topology.metrics import degree_bounds, distances_from, neighbor_table

SQUARES = (2, 3, 4, 5, 8, 16, 32, 64)
"""l = k of HSN(l, Q_k): l k = log2 N, and so k = sqrt(log2 N)."""

SEARCHED = (2, 3, 4)
"""Those whose distances are searched, up to 65,536 nodes."""

MOVED = (2, 3)
"""Those whose messages are all moved."""

Row = dict[str, Any]


def _case(network: str, nodes: int, published: str, row: Row, *, holds: bool = True) -> Case:
    computed = ", ".join(f"{name} {cell}" for name, cell in row.items() if name != "network" and cell != "")
    return Case(network, nodes, published, computed, holds=holds)


def _judge(rows: list[Row], cases: list[Case], quotients: list[dict[str, float]], rate: str) -> Finding:
    """Judge by orders; `rate`: how far the order grows."""
    table = [{"network": case.network, **row} for case, row in zip(cases, rows, strict=True)]
    found = by_order(cases, quotients, table=table)
    return replace(found, computed=f"{found.computed}; {rate}")


def emulation() -> Finding:
    """Take the steps of the timetables with l = k, and the fewest in which a node can receive log2 N packets."""
    rows, cases, quotients = [], [], []
    for k in SQUARES:
        steps, degree = _steps(k), 2 * k - 1
        least = ceil(k * k / degree)
        rows.append({"sqrt(log2 N)": k, "degree": degree, "steps": steps, "at least": least})
        quotients.append({"degree": degree / k, "steps": steps / k, "optimal": steps / least})
        cases.append(_case(f"hsn({k}, cube({k}))", 2 ** (k * k), "Theta(sqrt(log2 N)) steps", rows[-1]))
    return _judge(rows, cases, quotients, grown("sqrt(log2 N)", SQUARES))


def _steps(k: int) -> int:
    """Return the steps of a timetable for HSN(k, Q_k); data of small networks is moved by it."""
    table = all_port_timetable(k, k)
    steps = _most(table)
    if k in MOVED:
        assert emulate(network_of(f"hsn({k}, cube({k}))"), table).steps == steps, "the network keeps to the timetable"
    return steps


def _most(table: Timetable) -> int:
    return max(step for hops in table.values() for step, _ in hops)


def _average_distance(k: int) -> Fraction:
    """Return the average distance of HSN(k, Q_k), from a node of each class of nodes that are alike.

    Adding one bit string to all digits, and permuting X_2 to X_k, keeps all links: X_1 is 0, and the others in order.
    """
    network = network_of(f"hsn({k}, cube({k}))")
    table, hops = neighbor_table(network), 0
    for digits in combinations_with_replacement(range(2**k), k - 1):
        source = sum(digit << k * place for place, digit in enumerate(digits, start=1))
        hops += int(distances_from(network, source, table=table).sum()) * len(set(permutations(digits)))
    return Fraction(hops * 2**k, network.num_nodes * (network.num_nodes - 1))


def _executed(operation: str, k: int) -> int:
    """Return the words of an operation with all ports on HSN(k, Q_k)."""
    network = network_of(f"hsn({k}, cube({k}))")
    assert degree_bounds(network)[1] == 2 * k - 1, "equation 4"
    return execute(operation_schedule(network, operation, all_port=True), all_port=True).words


def _operation(operation: str, order: Callable[[int, int], Fraction], emulated: Callable[[int, int], int]) -> Finding:
    """Take an operation with all ports on HSN(k, Q_k) over `order` of (N, k): executed, as a cube's, and the least."""
    rows, cases, quotients = [], [], []
    for k in SQUARES:
        nodes = 2 ** (k * k)
        words = {"emulated": emulated(nodes, k) * _steps(k)}
        mean = _average_distance(k) if operation == "exchange" and k in SEARCHED else None
        if operation != "exchange" or mean:
            words["at least"] = ceil((mean or 1) * (nodes - 1) / Fraction(2 * k - 1))
        if k in MOVED:
            words["executed"] = _executed(operation, k)
        row: Row = {"sqrt(log2 N)": k, "words executed": words.get("executed", "")}
        found = {name: float(value / order(nodes, k)) for name, value in words.items()}
        row |= {f"{name}, of the order": f"{found[name]:.2f}" if name in found else "" for name in WORDS_OF}
        if operation == "exchange":
            row |= {"average distance": f"{float(mean):.2f}" if mean else "", "log2 N": k * k}
            found |= {"average distance": float(mean) / (k * k)} if mean else {}
        rows.append(row)
        quotients.append(found)
        cases.append(_case(f"hsn({k}, cube({k}))", nodes, "Theta of the order", row))
    rate = grown("sqrt(log2 N)", SQUARES)
    if operation == "exchange":
        rate += f"; of the average distances, {grown('log2 N', [k * k for k in SEARCHED])}"
    return _judge(rows, cases, quotients, rate)


WORDS_OF = ("at least", "executed", "emulated")


def total_exchange() -> Finding:
    """Run a total exchange, and emulate one: N / 2 steps on a hypercube with all ports."""
    return _operation("exchange", lambda nodes, k: Fraction(nodes * k), lambda nodes, _: nodes // 2)


def multinode_broadcast() -> Finding:
    """Run an all-gather, and emulate one: (N - 1) / log2 N steps on a hypercube with all ports."""
    return _operation("allgather", Fraction, lambda nodes, k: -(-(nodes - 1) // (k * k)))


def _complete() -> list[tuple[int, int]]:
    """Return (l, M), M from log2 N / log2 log2 N on."""
    sizes = [(levels, size, levels * log2(size)) for levels, size in product(range(2, 17), range(4, 65))]
    return [(levels, size) for levels, size, digits in sizes if size >= digits / log2(digits)]


def least_diameter(nodes: int, degree: int) -> int:
    """Return the least diameter that a network of so many nodes of a degree can have (Moore)."""
    reached, ring, hops = 1, degree, 0
    while reached < nodes:
        reached, ring, hops = reached + ring, ring * (degree - 1), hops + 1
    return hops


def optimal_diameter() -> Finding:
    """Compare the diameter of HSN(l, K_M) with the Moore bound of its size and degree."""
    cases, ratios = [], []
    for levels, size in _complete():
        nodes, degree, diameter = size**levels, size + levels - 2, 2 * levels - 1
        name = f"hsn({levels}, complete({size}))"
        if nodes <= 1024:
            network = network_of(name)
            found = network.num_nodes, degree_bounds(network)[1], diameter_of(network)
            assert found == (nodes, degree, diameter), "Theorem 2.1, searched"
        least = least_diameter(nodes, degree)
        ratios.append(diameter / least)
        cases.append(_case(name, nodes, "of the order of the least", {"D": diameter, "least": least}))
    ratio, name = max((ratio, case.network) for ratio, case in zip(ratios, cases, strict=True))
    found_all = by_order(cases, [{"D": ratio} for ratio in ratios])
    return replace(found_all, computed=f"{found_all.computed}; at most {ratio:.2f} times the least, {name}")


def constant_diameter() -> Finding:
    """Search HSN(l, K_M) for one l and more and more nodes: M = N^(1 / l)."""
    rows, cases, quotients = [], [], []
    for levels, sizes in SIZES.items():
        networks = [network_of(f"hsn({levels}, complete({size}))") for size in sizes]
        found = [diameter_of(network) for network in networks]
        rows.append({"nodes": f"{networks[0].num_nodes} to {networks[-1].num_nodes}", "D": str(sorted(set(found)))})
        name = f"hsn({levels}, complete(M))"
        holds = len(set(found)) == 1
        cases.append(_case(name, networks[0].num_nodes, "one diameter", rows[-1], holds=holds))
        quotients.append({"D": found[0] / levels})
    return _judge(rows, cases, quotients, grown("l", SIZES))


SIZES = {2: (4, 8, 16, 32), 3: (4, 6, 8, 10), 4: (3, 4, 5, 6), 5: (3, 4), 6: (3, 4), 7: (2, 3), 8: (2, 3)}
"""M of HSN(l, K_M), by l."""

SLOWED = ((2, 4), (3, 4), (3, 5), (3, 6), (4, 4), (4, 5), (5, 4))
"""l and M of HSN(l, K_M) whose data are moved."""


def radix_slowdown() -> Finding:
    """Move the data of all dimensions of a radix-M hypercube, beside what its degree asks of a node's ports."""
    rows, cases, quotients = [], [], []
    for levels, size in (*SLOWED, *((size, size) for size in SQUARES if size > 5)):
        name = f"hsn({levels}, complete({size}))"
        if (levels, size) in SLOWED:
            two, one = all_port_steps(network_of(name))
            steps = min(two, one or two)
        else:
            steps = _most(all_port_timetable(levels, size - 1))
        degree, guest, digits = size + levels - 2, levels * (size - 1), levels * log2(size)
        order, least = digits / log2(digits), ceil(guest / degree)
        row = {"degree": degree, "of the hypercube": guest, "steps": steps, "at least": least}
        quotients.append({name: value / order for name, value in row.items()} | {"of the hypercube": guest / order**2})
        rows.append(row | {"log2 N / log2 log2 N": f"{order:.2f}"})
        cases.append(_case(name, size**levels, "Theta of the order", rows[-1]))
    orders = [float(row["log2 N / log2 log2 N"]) for row in rows]
    return _judge(rows, cases, quotients, grown("log2 N / log2 log2 N", orders))


CLAIMS = (
    claim_of(
        "Corollary 3.4",
        "a step of a hypercube with all ports, emulated on an HSN of degree Theta(sqrt(log N))",
        "Theta(sqrt(log N)) steps, optimal",
        emulation,
        reading="HSN(l, Q_l), by the timetables; optimal: beside the fewest steps in which log2 N packets come in",
    ),
    claim_of(
        "Corollary 3.5",
        "total exchange on an HSN of degree Theta(sqrt(log N)); in the proof, its average distance",
        "Theta(N sqrt(log N)) time, optimal; Theta(log N)",
        total_exchange,
        reading="HSN(l, Q_l), all ports, words: emulated by the timetables, executed for l = 2 and 3, and what "
        "distances ask for, searched for l = 2 to 4",
    ),
    claim_of(
        "Corollary 3.6",
        "multiple-node broadcast on an HSN of degree Theta(sqrt(log N))",
        "Theta(N / sqrt(log N)) time, optimal",
        multinode_broadcast,
        reading="HSN(l, Q_l), all ports, words: emulated by the timetables, executed for l = 2 and 3, and what a node "
        "receives",
    ),
    claim_of(
        "Theorem 4.1",
        "diameter of HSN(l, K_M) for its degree, M = Omega(log N / log log N)",
        "within a constant factor of the least",
        optimal_diameter,
        reading="M from log2 N / log2 log2 N on, 4 to 64, l from 2 to 16; the least is the Moore bound",
    ),
    claim_of(
        "section 4.1",
        "diameter of HSN(l, K_M) for constant l and M = N^(1 / l)",
        "constant, Theta(l)",
        constant_diameter,
        reading="one diameter for each l from 2 to 8",
    ),
    claim_of(
        "Corollary 4.4",
        "HSN(l, K_M) of degree Theta(log N / log log N): steps with all ports, degree of the hypercube",
        "Theta(log N / log log N), Theta((log N / log log N)^2)",
        radix_slowdown,
        reading="data moved on seven networks with M near l; larger ones, M = l, by their timetables",
    ),
)
