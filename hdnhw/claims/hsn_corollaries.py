"""HSN paper, corollaries of sections 3 and 4: what is said up to a constant, with the constants that come out.

A claim of Theta(f) is read as: from 1 / :data:`CONSTANT` to :data:`CONSTANT` times f on all networks that are tried.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import ceil, log2
from typing import Any

from hdnhw.claims.claim import Case, Finding, judge
from hdnhw.claims.hsn_algorithms import all_port_steps
from hdnhw.claims.hsn_nuclei import claim_of, diameter_of, network_of
from hdnhw.collectives.emulation import all_port_timetable, emulate
from hdnhw.collectives.executor import execute
from hdnhw.collectives.operations import operation_schedule
from hdnhw.topology.metrics import degree_bounds, pair_histogram

__all__ = ["CLAIMS", "CONSTANT", "least_diameter"]

CONSTANT = 4

SQUARES = (2, 3, 4, 5)
"""l = k of HSN(l, Q_k): l k = log2 N, and so k = sqrt(log2 N)."""

MOVED = (2, 3)
"""Those whose messages are all moved."""

Row = dict[str, Any]


def _in_order(value: float, of: float) -> bool:
    """Return whether a value is Theta of another, as it is read here."""
    return of / CONSTANT <= value <= of * CONSTANT


def _case(network: str, nodes: int, published: str, row: Row, *, holds: bool) -> Case:
    computed = ", ".join(f"{name} {cell}" for name, cell in row.items() if name != "network")
    return Case(network=network, nodes=nodes, published=published, computed=computed, holds=holds)


def _judge(rows: list[Row], cases: list[Case]) -> Finding:
    return replace(
        judge(cases), table=[{"network": case.network, **row} for case, row in zip(cases, rows, strict=True)]
    )


def emulation() -> Finding:
    """Take the steps of the timetables with l = k, and the fewest in which a node can receive log2 N packets."""
    rows, cases = [], []
    for k in SQUARES:
        steps, degree = _steps(k), 2 * k - 1
        least = ceil(k * k / degree)
        rows.append({"sqrt(log2 N)": k, "degree": degree, "steps": steps, "at least": least})
        holds = _in_order(steps, k) and _in_order(degree, k) and steps <= CONSTANT * least
        cases.append(_case(f"hsn({k}, cube({k}))", 2 ** (k * k), "Theta(sqrt(log2 N)) steps", rows[-1], holds=holds))
    return _judge(rows, cases)


def _steps(k: int) -> int:
    """Return the steps of a timetable for HSN(k, Q_k); data of small networks is moved by it."""
    table = all_port_timetable(k, k)
    steps = max(step for hops in table.values() for step, _ in hops)
    if k in MOVED:
        assert emulate(network_of(f"hsn({k}, cube({k}))"), table).steps == steps, "the network keeps to the timetable"
    return steps


def _operation(operation: str, order: Callable[[int, float], float], emulated: Callable[[int], int]) -> Finding:
    """Run an operation with all ports on HSN(k, Q_k), beside `order` of (N, k) and the steps of a cube's, emulated."""
    rows, cases = [], []
    for k in MOVED:
        network = network_of(f"hsn({k}, cube({k}))")
        nodes, degree = network.num_nodes, degree_bounds(network)[1]
        counted = execute(operation_schedule(network, operation, all_port=True), all_port=True)
        hops = sum(hop * pairs for hop, pairs in enumerate(pair_histogram(network)))
        work = hops if operation == "exchange" else nodes * (nodes - 1)
        row: Row = {"at least": ceil(work / (nodes * degree)), "executed, words": counted.words}
        row |= {"emulated, words": emulated(nodes) * _steps(k), "order": round(order(nodes, k))}
        holds = all(_in_order(value, order(nodes, k)) for value in row.values())
        if operation == "exchange":
            mean = hops / (nodes * (nodes - 1))
            holds &= _in_order(mean, log2(nodes))
            row |= {"average distance": f"{mean:.2f}", "log2 N": k * k}
        rows.append(row)
        cases.append(_case(str(network.spec), nodes, f"Theta of {row['order']}", row, holds=holds))
    return _judge(rows, cases)


def total_exchange() -> Finding:
    """Run a total exchange, and emulate one: N / 2 steps on a hypercube with all ports."""
    return _operation("exchange", lambda nodes, k: nodes * k, lambda nodes: nodes // 2)


def multinode_broadcast() -> Finding:
    """Run an all-gather, and emulate one: (N - 1) / log2 N steps on a hypercube with all ports."""
    return _operation("allgather", lambda nodes, k: nodes / k, lambda nodes: ceil((nodes - 1) / log2(nodes)))


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
    rows: list[Row] = []
    cases = []
    for levels, size in _complete():
        nodes, degree, diameter = size**levels, size + levels - 2, 2 * levels - 1
        if nodes <= 1024:
            network = network_of(f"hsn({levels}, complete({size}))")
            found = network.num_nodes, degree_bounds(network)[1], diameter_of(network)
            assert found == (nodes, degree, diameter), "Theorem 2.1, searched"
        least = least_diameter(nodes, degree)
        row = {"nodes": nodes, "degree": degree, "D": diameter, "least": least, "ratio": f"{diameter / least:.2f}"}
        rows.append({"network": f"hsn({levels}, complete({size}))", **row})
        published = f"at most {CONSTANT} times the least"
        cases.append(_case(rows[-1]["network"], nodes, published, row, holds=diameter <= CONSTANT * least))
    worst = max(rows, key=lambda row: float(row["ratio"]))
    found_all = judge(cases)
    most = f"at most {worst['ratio']} times the least, {worst['network']}"
    return replace(found_all, computed=f"{found_all.computed}; {most}")


def constant_diameter() -> Finding:
    """Search HSN(l, K_M) for one l and more and more nodes: M = N^(1 / l)."""
    rows, cases = [], []
    for levels, sizes in ((2, (4, 8, 16, 32)), (3, (4, 6, 8, 10)), (4, (3, 4, 5, 6)), (5, (3, 4))):
        networks = [network_of(f"hsn({levels}, complete({size}))") for size in sizes]
        found = [diameter_of(network) for network in networks]
        rows.append({"nodes": f"{networks[0].num_nodes} to {networks[-1].num_nodes}", "D": str(sorted(set(found)))})
        name = f"hsn({levels}, complete(M))"
        cases.append(_case(name, networks[0].num_nodes, "one diameter", rows[-1], holds=_is_one(found, levels)))
    return _judge(rows, cases)


def _is_one(diameters: list[int], levels: int) -> bool:
    return len(set(diameters)) == 1 and _in_order(diameters[0], levels)


def radix_slowdown() -> Finding:
    """Move the data of all dimensions of a radix-M hypercube, beside what its degree asks of a node's ports."""
    rows, cases = [], []
    for levels, size in ((2, 4), (3, 4), (3, 5), (3, 6), (4, 4), (4, 5), (5, 4)):
        network = network_of(f"hsn({levels}, complete({size}))")
        two, one = all_port_steps(network)
        steps, degree, guest = min(two, one or two), size + levels - 2, levels * (size - 1)
        digits = log2(network.num_nodes)
        order, least = digits / log2(digits), ceil(guest / degree)
        row = {"degree": degree, "of the hypercube": guest, "steps": steps, "at least": least}
        rows.append(row | {"log2 N / log2 log2 N": f"{order:.2f}"})
        holds = all(_in_order(value, order) for value in (degree, steps, least)) and _in_order(guest, order**2)
        cases.append(_case(str(network.spec), network.num_nodes, f"Theta of {order:.2f}", rows[-1], holds=holds))
    return _judge(rows, cases)


ORDER = f"Theta of something is from 1/{CONSTANT} to {CONSTANT} times it, on all that are tried"

CLAIMS = (
    claim_of(
        "Corollary 3.4",
        "a step of a hypercube with all ports, emulated on an HSN of degree Theta(sqrt(log N))",
        "Theta(sqrt(log N)) steps, optimal",
        emulation,
        reading=f"HSN(l, Q_l); {ORDER}; optimal: at most {CONSTANT} times the fewest in which log2 N packets come in",
    ),
    claim_of(
        "Corollary 3.5",
        "total exchange on an HSN of degree Theta(sqrt(log N)); in the proof, its average distance",
        "Theta(N sqrt(log N)) time, optimal; Theta(log N)",
        total_exchange,
        reading=f"HSN(l, Q_l), l = 2 and 3, all ports, words; executed, emulated and the sum of distances; {ORDER}",
    ),
    claim_of(
        "Corollary 3.6",
        "multiple-node broadcast on an HSN of degree Theta(sqrt(log N))",
        "Theta(N / sqrt(log N)) time, optimal",
        multinode_broadcast,
        reading=f"HSN(l, Q_l), l = 2 and 3, all ports, words; executed, emulated and what a node receives; {ORDER}",
    ),
    claim_of(
        "Theorem 4.1",
        "diameter of HSN(l, K_M) for its degree, M = Omega(log N / log log N)",
        "within a constant factor of the least",
        optimal_diameter,
        reading=f"M from log2 N / log2 log2 N on, 4 to 64, l from 2 to 16; at most {CONSTANT} times the Moore bound",
    ),
    claim_of(
        "section 4.1",
        "diameter of HSN(l, K_M) for constant l and M = N^(1 / l)",
        "constant, Theta(l)",
        constant_diameter,
        reading=f"one diameter for each l from 2 to 5; {ORDER}",
    ),
    claim_of(
        "Corollary 4.4",
        "HSN(l, K_M) of degree Theta(log N / log log N): steps with all ports, degree of the hypercube",
        "Theta(log N / log log N), Theta((log N / log log N)^2)",
        radix_slowdown,
        reading=f"seven networks with M near l; {ORDER}",
    ),
)
