"""RDN paper, sections IV to VI: collective communication. Words are those of messages of one word, m = 1."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby, product
from math import log2, prod
from typing import Any

from hdnhw.collective.cost import Cost, corrected_formula, paper_formula
from hdnhw.collective.executor import execute
from hdnhw.collective.literal import ident_of, literal_broadcast, literal_scatter, sizes_of
from hdnhw.collective.operations import operation_schedule
from hdnhw.collective.schedule import Schedule
from hdnhw.collective.spread import allgather_schedule
from hdnhw.papers.claim import Case, Claim, Finding, judge
from hdnhw.papers.instances import cases_of, dual_net
from hdnhw.spec import DualNet, rdn
from hdnhw.topology.dualnet import DualNetwork

__all__ = ["CLAIMS"]

RDNS = (
    "rdn(cube(1), 1)",
    "rdn(torus(3), 1)",
    "rdn(cube(2), 1)",
    "rdn(complete(4), 1)",
    "rdn(torus(5), 1)",
    "rdn(cube(3), 1)",
    "rdn(cube(1), 2)",
)
FEW = ("rdn(cube(1), 1)", "rdn(torus(3), 1)", "rdn(complete(4), 1)", "rdn(cube(1), 2)")
RDN1, RDN2 = "rdn(cube(3), 1)", "rdn(cube(3), 2)"
SAMPLED = 1 << 14
"""Networks of this many nodes and more have too many messages to move all: those of some sources are."""

SOURCES = 8
STEP = 509
"""Sources of a sample are that far apart."""

TABLE2 = """
One2All_B 7+7 8+8 15+15 18+18
One2All_P 7+127 8+127 15+32767 18+33783
All2All_B 7+127 8+134 15+32767 18+33925
All2All_P 7+448 8+512 15+245760 18+294912
"""
"""As printed, t_s + m t_w: 7-cube, RDN^1(B), 15-cube, RDN^2(B)."""

OPERATIONS = {
    "One2All_B": "broadcast",
    "One2All_P": "scatter",
    "All2All_B": "allgather",
    "All2All_P": "exchange",
}


def _schedule(network: DualNetwork, operation: str) -> Schedule:
    """Return the schedule of the paper's algorithm."""
    if operation == "allgather":
        return allgather_schedule(network, as_printed=True)
    return operation_schedule(network, operation, order="paper")


def _words(schedule: Schedule) -> list[Fraction]:
    """Return the words of each step, the most that a node sends; of a sample of the sources, what one sends on average.

    All nodes of an RDN and of a cube are alike.
    """
    nodes = schedule.network.num_nodes
    if schedule.root is not None or nodes < SAMPLED:
        return [Fraction(words) for words in execute(schedule).words_per_step]
    sent = execute(schedule, sources=[STEP * number % nodes for number in range(SOURCES)]).sent
    return [Fraction(int(words), SOURCES) for words in sent.sum(axis=(1, 2))]


def _cost(schedule: Schedule) -> Cost:
    return Cost(len(schedule.steps), sum(_words(schedule)))


def _count(network: DualNetwork, operation: str) -> Cost:
    return _cost(_schedule(network, operation))


def _stages(schedule: Schedule) -> list[list[Fraction]]:
    """Return the words of the steps of every stage; a crossing of the highest level is a stage."""
    top = max(step.stage for step in schedule.steps if step.stage.startswith("cross"))
    stages = groupby(zip(schedule.steps, _words(schedule), strict=True), key=lambda pair: pair[0].stage == top)
    return [[words for _, words in stage] for _, stage in stages]


def _inner(network: DualNetwork) -> DualNetwork:
    """Return the network that the clusters of the highest level are."""
    assert isinstance(network.spec, DualNet)
    base, levels = network.spec.base, len(network.levels)
    return dual_net(rdn(base, levels - 1) if levels > 1 else base)


def _base(network: DualNetwork) -> DualNetwork:
    """Return the base network."""
    assert isinstance(network.spec, DualNet)
    return dual_net(network.spec.base)


def _recurrence(network: DualNetwork, operation: str) -> Cost:
    """Return what the paper's recurrence gives, with what is counted on the base network."""
    base, levels = _base(network), len(network.levels)
    once, sizes = _count(base, operation), sizes_of(base.num_nodes, levels)
    rule = {"scatter": _oap, "allgather": _aab, "exchange": _aap}[operation]

    def cost(level: int, words: int) -> Cost:
        return rule(sizes[level - 1], words, lambda m: cost(level - 1, m)) if level else once * words

    return cost(levels, 1)


def _oap(inner: int, m: int, cost: Callable[[int], Cost]) -> Cost:
    """Return T_oap(k, m), n_k = 2 n_(k-1)^2."""
    return Cost(1, (inner**2 - inner) * m) + cost(inner * m) + Cost(1, inner * m) + cost(m)


def _aab(inner: int, m: int, cost: Callable[[int], Cost]) -> Cost:
    """Return T_aab(k, m)."""
    return cost(m) + Cost(1, inner * m) + cost(inner * m) + Cost(1, inner**2 * m)


def _aap(inner: int, m: int, cost: Callable[[int], Cost]) -> Cost:
    """Return T_aap(k, m)."""
    return Cost(1, (inner**2 - 1) * m) + cost(2 * inner * m) + Cost(1, (2 * inner**2 - 1) * m) + cost(2 * inner * m)


def _without_own(network: DualNetwork) -> Cost:
    """Return what Algorithm 4 takes without the message of each node for itself."""
    schedule = _schedule(network, "exchange")
    sent = execute(schedule).sent.sum(axis=2)
    for node in range(network.num_nodes):
        here = node
        for step in range(len(schedule.steps)):
            for port in schedule.ports_of(step, here, node, node):
                sent[step, here] -= 1
                here = network.neighbors(here)[network.ports[port].name]
    return Cost(len(schedule.steps), int(sent.max(axis=1).sum()))


def _least_steps(network: DualNetwork) -> int:
    """Return the fewest steps of a broadcast from node 0, by a search of all there are."""
    links = [list(network.neighbors(node).values()) for node in range(network.num_nodes)]
    reached, steps = {frozenset([0])}, 0
    while all(len(some) < network.num_nodes for some in reached):
        following = set()
        for informed in reached:
            choices = [[node, *(to for to in links[node] if to not in informed)] for node in informed]
            following |= {informed.union(choice) for choice in product(*choices)}
        reached, steps = following, steps + 1
    return steps


def broadcast_bound() -> Finding:
    """Search for the fastest broadcast on small networks."""

    def check(network: DualNetwork) -> dict[str, Any]:
        steps = _least_steps(network)
        return {
            "published": f"{log2(network.num_nodes):.2f}",
            "computed": steps,
            "holds": 2**steps >= network.num_nodes,
        }

    specs = [f"complete({n})" for n in range(2, 8)] + [f"torus({n})" for n in range(3, 9)]
    return judge(cases_of([*specs, "cube(2)", "cube(3)", "mesh(3, 2)", "rdn(cube(1), 1)"], check))


def _bound(operation: str) -> Finding:
    """Compare what is counted with p - 1 words."""

    def check(network: DualNetwork) -> dict[str, Any]:
        got, least = _cost(operation_schedule(network, operation)).words, network.num_nodes - 1
        return {"published": least, "computed": got, "holds": got >= least}

    return judge(cases_of(["cube(2)", "torus(5)", "torus(3, 4)", "complete(6)", *FEW], check))


def scatter_bound() -> Finding:
    """Run one-to-all personalised communication."""
    return _bound("scatter")


def allgather_bound() -> Finding:
    """Run all-to-all broadcast, nothing sent to a node that has it."""
    return _bound("allgather")


def _sources(nodes: int) -> list[int]:
    """Return all nodes of a small network and some of a large one."""
    count = nodes if nodes <= 128 else 16 if nodes < SAMPLED else 3
    return [STEP * number % nodes for number in range(count)]


def _is_equal(source: int, sizes: Sequence[int]) -> bool:
    """Return whether s_1 = s_2 at every level."""
    if not sizes:
        return True
    ident = ident_of(source, sizes[-1])
    return ident.cluster == ident.node and _is_equal(ident.node, sizes[:-1])


def _literal(run: Callable[..., list[int]], corrections: dict[str, bool], own: int, corrected: str) -> Finding:
    """Run an algorithm to the letter, and with all corrections.

    Parameters
    ----------
    run : callable
        Takes the nodes of the base network, levels, source and corrections.
    corrections : dict of str to bool
    own : int
        How often the source itself gets its message.
    corrected : str
    """
    cases, table = [], []
    for base, levels in ((2, 1), (3, 1), (4, 1), (8, 1), (2, 2), (3, 2), (8, 2)):
        sizes = sizes_of(base, levels)
        nodes, sources = sizes[-1], _sources(sizes[-1])
        informed = [sum(run(base, levels, source)) + 1 - own for source in sources]
        row = {"base nodes": base, "levels": levels, "nodes": nodes, "sources run": len(sources)}
        row |= {"fewest informed": min(informed), "sources that inform all": informed.count(nodes)}
        row["sources with s_1 = s_2 at every level"] = sum(_is_equal(source, sizes[:-1]) for source in sources)
        table.append(row)
        cases.append(
            Case(
                network=f"RDN^{levels}(B({base}))",
                nodes=nodes,
                published=nodes,
                computed=f"{min(informed)} nodes from the worst source",
                holds=min(informed) == nodes,
                corrected=all(
                    run(base, levels, source, **corrections) == [own if node == source else 1 for node in range(nodes)]
                    for source in sources
                ),
            )
        )
    return judge(cases, corrected=corrected, elsewhere=True, table=table)


def algorithm1() -> Finding:
    """Run Algorithm 1."""
    corrected = (
        "those send in the third stage that the prose names: the nodes of C(s) but s, and those of C(s'), which is "
        "cluster s_2 of the other type, but s'; then every node is informed once"
    )
    return _literal(literal_broadcast, {"right_senders": True}, 0, corrected)


def algorithm2() -> Finding:
    """Run Algorithm 2."""
    corrected = (
        "as the prose has it: in the third stage the nodes of C(s) send, and those of C(s') but s', and the scatter in "
        "C(s') starts at s', whose nodeID is s_1"
    )
    return _literal(literal_scatter, {"right_senders": True, "right_source": True}, 1, corrected)


def theorem3() -> Finding:
    """Run one-to-all broadcast."""

    def check(network: DualNetwork) -> dict[str, Any]:
        printed, got = paper_formula(network, "broadcast"), _count(network, "broadcast")
        return {"published": printed, "computed": got, "holds": got == printed}

    return judge(cases_of(RDNS, check))


def _recurrence_holds(operation: str, specs: Sequence[str]) -> Finding:
    """Compare an algorithm with the recurrence for it."""

    def check(network: DualNetwork) -> dict[str, Any]:
        printed, got = _recurrence(network, operation), _count(network, operation)
        return {"published": printed, "computed": got, "holds": got == printed}

    return judge(cases_of(specs, check))


def scatter_recurrence() -> Finding:
    """Run Algorithm 2 with the ids of the prose."""
    return _recurrence_holds("scatter", FEW)


def allgather_recurrence() -> Finding:
    """Run Algorithm 3."""
    return _recurrence_holds("allgather", FEW)


def exchange_recurrence() -> Finding:
    """Run Algorithm 4 without the messages of nodes for themselves."""

    def check(network: DualNetwork) -> dict[str, Any]:
        printed, got = _recurrence(network, "exchange"), _without_own(network)
        return {"published": printed, "computed": got, "holds": got == printed}

    return judge(cases_of(RDNS[:4], check), of="networks of one level")


def _approximation(operation: str) -> Finding:
    """Compare a theorem that says "approximately" with what is counted, which is what its recurrence gives."""
    table = []

    def check(network: DualNetwork) -> dict[str, Any]:
        printed, got = paper_formula(network, operation), _count(network, operation)
        assert printed is not None
        table.append({"network": network.spec, "published": printed, "computed": got})
        table[-1]["ratio of words"] = f"{float(printed.words / got.words):.3f}"
        right = _recurrence(network, operation) == got
        if operation == "scatter":
            right &= got.words == network.num_nodes - 1
        return {"published": printed, "computed": got, "holds": got == printed, "corrected": right}

    cases = cases_of([*RDNS, RDN2], check)
    corrected = {
        "scatter": "n_k - 1 words: the recurrence, solved exactly",
        "allgather": "the recurrence, solved exactly",
    }
    return judge(cases, corrected=corrected[operation], elsewhere=True, table=table)


def theorem4() -> Finding:
    """Run one-to-all personalised communication."""
    return _approximation("scatter")


def theorem5() -> Finding:
    """Run all-to-all broadcast as printed."""
    return _approximation("allgather")


def theorem6() -> Finding:
    """Run all-to-all personalised communication."""

    def check(network: DualNetwork) -> dict[str, Any]:
        got, right, levels = _count(network, "exchange"), corrected_formula(network), len(network.levels)
        assert right is not None
        extra = 3 * 2**levels * network.num_nodes - Fraction(3 * network.num_nodes * (2**levels - 1), 2)
        printed = right + Cost(0, extra)
        return {"published": printed, "computed": got, "holds": got == printed, "corrected": got == right}

    corrected = "(3/2)(2^k - 1) n_k m in place of 3 2^k n_k m: its own sum (3/2)(n_k + 2 n_k + ... + 2^(k-1) n_k)"
    return judge(cases_of(RDNS, check), corrected=corrected, elsewhere=True)


def message_sizes() -> Finding:
    """Compare what the exchange in the clusters takes with messages of 2 n_(k-1) words."""

    def check(network: DualNetwork) -> dict[str, Any]:
        inner = _inner(network)
        length = sum(_stages(_schedule(network, "exchange"))[1]) / Fraction(_count(inner, "exchange").words)
        printed = 2 * inner.num_nodes
        return {"published": printed, "computed": length, "holds": length == printed}

    return judge(cases_of(FEW, check))


def identities() -> Finding:
    """Compare the two forms of r, and the products in the solutions of the recurrences."""
    cases = []
    for base, levels in product(range(2, 10), range(1, 4)):
        sizes = sizes_of(base, levels)
        r = Fraction(sizes[-1], 2**levels * base)
        forms = (Fraction((2 * base) ** (2**levels - 1), 2**levels), Fraction(prod(sizes[:-1])))
        longest = 2**levels * prod(sizes[:-1]) == Fraction(sizes[-1], base)
        cases.append(
            Case(
                network=f"RDN^{levels}(B({base}))",
                nodes=sizes[-1],
                published=" = ".join(map(str, forms)),
                computed=r,
                holds=longest and forms == (r, r),
            )
        )
    return judge(cases)


def cube_times() -> Finding:
    """Run the four operations on hypercubes."""
    cases = []
    for n, operation in product(range(1, 8, 2), OPERATIONS.values()):
        p, spec = 2**n, f"cube({n})"
        words = {"broadcast": n, "exchange": n * p // 2}.get(operation, p - 1)
        got = _count(dual_net(spec), operation)
        cases.append(
            Case(
                network=f"{spec} {operation}",
                nodes=p,
                published=Cost(n, words),
                computed=got,
                holds=got == Cost(n, words),
            )
        )
    return judge(cases, of="operations on cubes of 1, 3, 5 and 7 dimensions")


def _least(network: DualNetwork, operation: str) -> int:
    """Return the fewest words, all nodes being alike."""
    histogram = distance_histogram(network, 0)
    if operation == "exchange":
        return sum(hops * count for hops, count in enumerate(histogram))
    last = network.num_nodes - 1
    return max(len(histogram) - 1, last.bit_length()) if operation == "broadcast" else last


def _cells(pattern: str | None = None) -> list[tuple[str, str, Cost]]:
    """Return (pattern, network, published) of the cells of Table II, those of RDNs alone if a pattern is asked for."""
    cells = []
    for name, *row in map(str.split, TABLE2.strip().splitlines()):
        for spec, cell in zip(("cube(7)", RDN1, "cube(15)", RDN2), row, strict=True):
            if pattern is None or (pattern == name and spec in (RDN1, RDN2)):
                cells.append((name, spec, Cost(*map(int, cell.split("+")))))
    return cells


def table2() -> Finding:
    """Run all of Table II: the paper's algorithms, and the best schedule there is."""
    cases, table = [], []
    for pattern, spec, printed in _cells():
        network, operation = dual_net(spec), OPERATIONS[pattern]
        got = best = _count(network, operation)
        if operation in ("allgather", "exchange"):
            best = _cost(operation_schedule(network, operation))
        row = {"pattern": pattern, "network": spec, "published": printed, "computed": got}
        row |= {"best schedule": best, "least words": _least(network, operation)}
        sampled = operation in ("allgather", "exchange") and network.num_nodes >= SAMPLED
        table.append(row | {"sources run": SOURCES if sampled else "all"})
        cases.append(
            Case(
                network=f"{pattern} on {spec}",
                nodes=network.num_nodes,
                published=printed,
                computed=got,
                holds=got == printed,
            )
        )
    found = judge(cases, of="cells", table=table)
    return replace(found, computed=f"{found.computed}; of 32,768 nodes all-to-all from {SOURCES} sources")


def _misprinted(pattern: str) -> Finding:
    """Compare cells of Table II with what is counted, and that with the recurrence."""
    cases = []
    for _, spec, printed in _cells(pattern):
        network = dual_net(spec)
        got, right = _count(network, OPERATIONS[pattern]), _recurrence(network, OPERATIONS[pattern])
        case = Case(
            network=spec,
            nodes=network.num_nodes,
            published=printed,
            computed=got,
            holds=got == printed,
            corrected=got == right,
        )
        cases.append(case)
    text = " and ".join(str(case.computed) for case in cases)
    return judge(cases, corrected=f"{text}, as the paper's own recurrence gives", elsewhere=True)


def table2_scatter() -> Finding:
    """Check One2All_P."""
    return _misprinted("One2All_P")


def table2_allgather() -> Finding:
    """Check All2All_B."""
    return _misprinted("All2All_B")


def table2_exchange() -> Finding:
    """Compare All2All_P with the sum of a node's distances, and that with the order that the prose sketches."""
    cases = []
    for _, spec, printed in _cells("All2All_P"):
        network = dual_net(spec)
        least, best = _least(network, "exchange"), _cost(operation_schedule(network, "exchange"))
        cases.append(
            Case(
                network=spec,
                nodes=network.num_nodes,
                published=printed,
                computed=f"at least {least} t_w",
                holds=printed.words >= least,
                corrected=best == Cost(printed.startups, least),
            )
        )
    text = " and ".join(str(_cost(operation_schedule(dual_net(spec), "exchange"))) for spec in (RDN1, RDN2))
    return judge(cases, corrected=f"{text}, the least, in the order cluster, cross, cluster, cross of section VI")


def _compare(parts: Sequence[tuple[str, Any, Any]], of: str) -> Finding:
    """Judge (what, published, computed) of parts of an example."""
    table = [{"part": what, "published": printed, "computed": got} for what, printed, got in parts]
    cases = [
        Case(network=what, nodes=place, published=printed, computed=got, holds=printed == got)
        for place, (what, printed, got) in enumerate(parts)
    ]
    return judge(cases, of=of, table=table)


CLAIMS: tuple[Claim, ...] = ()
