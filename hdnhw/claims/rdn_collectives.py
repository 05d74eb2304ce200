"""RDN paper, sections IV and V: collective communication. Words are those of messages of one word, m = 1."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import log2, prod
from typing import Any

from hdnhw.claims.claim import Case, Claim, Finding, judge, plain_rows
from hdnhw.claims.families import cases_of, compare, dual_net
from hdnhw.claims.literal.total_exchange import ident_of, literal_broadcast, literal_scatter, sizes_of
from hdnhw.claims.rdn_counts import (
    SAMPLED,
    STEP,
    algorithm,
    cost_of,
    count,
    exchange_at_rest,
    inner_network,
    recurrence,
    stages,
)
from hdnhw.claims.words import by_word, is_about
from hdnhw.collectives.cost import Cost, corrected_formula, paper_formula
from hdnhw.collectives.operations import operation_schedule
from hdnhw.topology.dualnet import DualNetwork

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
RDN2 = "rdn(cube(3), 2)"


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

    def check(network: DualNetwork) -> Case:
        steps = _least_steps(network)
        return compare(network, f"{log2(network.num_nodes):.2f}", steps, holds=2**steps >= network.num_nodes)

    specs = [f"complete({n})" for n in range(2, 8)] + [f"torus({n})" for n in range(3, 9)]
    return judge(cases_of([*specs, "cube(2)", "cube(3)", "mesh(3, 2)", "rdn(cube(1), 1)"], check))


def _bound(operation: str) -> Finding:
    """Compare what is counted with p - 1 words."""

    def check(network: DualNetwork) -> Case:
        got, least = cost_of(operation_schedule(network, operation)).words, network.num_nodes - 1
        return compare(network, least, got, holds=got >= least)

    return judge(cases_of(["cube(2)", "torus(3, 4)", "complete(6)", *FEW[:2]], check))


def scatter_bound() -> Finding:
    """Run one-to-all personalized communication."""
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


def _literal(
    run: Callable[..., list[int]], corrections: dict[str, bool], own: int, corrected: str, elsewhere: str
) -> Finding:
    """Run an algorithm to the letter, and with all corrections.

    Parameters
    ----------
    run : callable
        Takes the nodes of the base network, levels, source and corrections.
    corrections : dict of str to bool
    own : int
        How often the source itself gets its message.
    corrected, elsewhere : str
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
    return judge(cases, corrected=corrected, elsewhere=elsewhere, table=plain_rows(table))


def algorithm1() -> Finding:
    """Run Algorithm 1."""
    corrected = (
        "those send in the third stage that the prose names: the nodes of C(s) but s, and those of C(s'), which is "
        "cluster s_2 of the other type, but s'; then every node is informed once"
    )
    return _literal(
        literal_broadcast, {"right_senders": True}, 0, corrected, "section IV, the prose before Algorithm 1"
    )


def algorithm2() -> Finding:
    """Run Algorithm 2."""
    corrected = (
        "as the prose has it: in the third stage the nodes of C(s) send, and those of C(s') but s', and the scatter in "
        "C(s') starts at s', whose nodeID is s_1"
    )
    corrections = {"right_senders": True, "right_source": True}
    return _literal(literal_scatter, corrections, 1, corrected, "section IV, the prose before Algorithm 2")


def theorem3() -> Finding:
    """Run one-to-all broadcast."""

    def check(network: DualNetwork) -> Case:
        printed, got = paper_formula(network, "broadcast"), count(network, "broadcast")
        return compare(network, printed, got)

    return judge(cases_of(RDNS, check))


def _recurrence_holds(operation: str, specs: Sequence[str]) -> Finding:
    """Compare an algorithm with the recurrence for it."""

    def check(network: DualNetwork) -> Case:
        printed, got = recurrence(network, operation), count(network, operation)
        return compare(network, printed, got)

    return judge(cases_of(specs, check))


def scatter_recurrence() -> Finding:
    """Run Algorithm 2 with the ids of the prose."""
    return _recurrence_holds("scatter", FEW)


def allgather_recurrence() -> Finding:
    """Run Algorithm 3."""
    return _recurrence_holds("allgather", FEW)


def exchange_recurrence() -> Finding:
    """Run Algorithm 4 without the messages of nodes for themselves, of the whole and of every call in a cluster."""
    table = []

    def check(network: DualNetwork) -> Case:
        printed, got = recurrence(network, "exchange"), exchange_at_rest(network)
        only, letter = (count(network, "exchange", own=own) for own in (False, True))
        row = {"network": network.spec, "published": printed, "computed": got}
        table.append(row | {"own messages alone left out": only, "to the letter": letter})
        return compare(network, printed, got)

    return judge(cases_of([*RDNS, "rdn(torus(3), 2)"], check), table=plain_rows(table))


OWN = ("rdn(cube(3), 1)", RDN2)
"""The networks of section VI."""

DIMENSIONS = range(1, 8)
"""Of the cubes over which two times are compared as the base grows."""

APPROXIMATELY = (
    "approximately: on the two RDNs of section VI the same start-ups, and words that are so; and, for one level and "
    "for two, no farther off over a larger cube"
)

Compared = tuple[Cost, Cost, bool]
"""What is said, what it is compared with, and whether the correction holds."""


def _approximately(
    compared: Callable[[DualNetwork], Compared],
    dimensions: Sequence[int],
    names: Sequence[str] = ("published", "computed"),
    **about: Any,
) -> Finding:
    """Judge what is "approximately" so on RDNs of cubes, of one level and of two; `names` are those of its columns."""
    specs = [[f"rdn(cube({n}), {levels})" for n in dimensions] for levels in (1, 2)]
    found = {spec: compared(dual_net(spec)) for series in specs for spec in series}
    ratios = {spec: float(printed.words / got.words) for spec, (printed, got, _) in found.items()}
    table = [
        {"network": spec, names[0]: printed, names[1]: got, "ratio of words": f"{ratios[spec]:.3f}"}
        for spec, (printed, got, _) in found.items()
    ]

    def judged(limit: float) -> Finding:
        cases = []
        for spec, below in [pair for series in specs for pair in zip(series, [None, *series], strict=False)]:
            printed, got, right = found[spec]
            nearer = below is None or abs(ratios[spec] - 1) <= abs(ratios[below] - 1)
            holds = (
                nearer and printed.startups == got.startups and (spec not in OWN or is_about(ratios[spec], 1, limit))
            )
            case = compare(dual_net(spec), printed, got)
            cases.append(replace(case, holds=holds, corrected=right))
        return judge(cases, table=plain_rows(table), **about)

    found_by_word = by_word("about", judged)
    own = " and ".join(f"{ratios[spec]:.3f}" for spec in OWN if spec in ratios)
    return replace(found_by_word, computed=f"{own} times the words in section VI; {found_by_word.computed}")


def _words(network: DualNetwork, operation: str) -> Cost:
    """Return what is counted on the networks of section VI, and what the recurrence, which holds, gives on others."""
    return (count if str(network.spec) in OWN else recurrence)(network, operation)


def _approximation(operation: str, corrected: str) -> Finding:
    """Compare a theorem that says "approximately" with what is counted, which is what its recurrence gives."""

    def compared(network: DualNetwork) -> Compared:
        printed, got = paper_formula(network, operation), _words(network, operation)
        assert printed is not None
        right = recurrence(network, operation) == got
        return printed, got, right and (operation != "scatter" or got.words == network.num_nodes - 1)

    return _approximately(compared, DIMENSIONS, corrected=corrected)


ROUNDED = "the sum n_k/2 + n_k/4 + ... of k terms was rounded up to n_k"


def theorem4() -> Finding:
    """Run one-to-all personalized communication."""
    return _approximation("scatter", f"n_k - 1 words: the recurrence, solved exactly; {ROUNDED}")


def theorem5() -> Finding:
    """Run all-to-all broadcast as printed."""
    return _approximation("allgather", f"the recurrence, solved exactly; {ROUNDED}")


def theorem6() -> Finding:
    """Run all-to-all personalized communication."""

    def compared(network: DualNetwork) -> Compared:
        got, right, levels = count(network, "exchange"), corrected_formula(network), len(network.levels)
        assert right is not None
        extra = 3 * 2**levels * network.num_nodes - Fraction(3 * network.num_nodes * (2**levels - 1), 2)
        return right + Cost(0, extra), got, got == right

    return _approximately(
        compared,
        DIMENSIONS[:3],
        corrected="(3/2)(2^k - 1) n_k m in place of 3 2^k n_k m",
        elsewhere="the line before the theorem, (3/2)(n_k + 2 n_k + 2^2 n_k + ...) m t_w, a term a level",
    )


def alike() -> Finding:
    """Compare all-to-all broadcast with one-to-all personalized communication."""

    def compared(network: DualNetwork) -> Compared:
        return _words(network, "allgather"), _words(network, "scatter"), True

    return _approximately(compared, DIMENSIONS, names=("all-to-all broadcast", "one-to-all personalized"))


def message_sizes() -> Finding:
    """Compare what the exchange in the clusters takes with messages of 2 n_(k-1) words."""

    def check(network: DualNetwork) -> Case:
        inner = inner_network(network)
        length = sum(stages(algorithm(network, "exchange"))[1]) / Fraction(count(inner, "exchange").words)
        printed = 2 * inner.num_nodes
        return compare(network, printed, length)

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
                f"RDN^{levels}(B({base}))", sizes[-1], " = ".join(map(str, forms)), r, holds=longest and forms == (r, r)
            )
        )
    return judge(cases)


_claim = partial(Claim, "RDN")


CLAIMS = (
    _claim(
        "section IV",
        "one-to-all broadcast takes at least, on any architecture",
        "(log p)(t_s + m t_w)",
        broadcast_bound,
    ),
    _claim("Algorithm 1", "informs all nodes, from any source", "pseudo-code", algorithm1, "E11"),
    _claim(
        "Theorem 3",
        "time of one-to-all broadcast",
        "(2^(k+1) - 2)(t_s + m t_w) + 2^k T_oab(0, m)",
        theorem3,
    ),
    _claim("section IV", "one-to-all personalized communication takes at least", "(p - 1) m t_w", scatter_bound),
    _claim("Algorithm 2", "brings every node its message, from any source", "pseudo-code", algorithm2, "E11"),
    _claim(
        "section IV",
        "recurrence for one-to-all personalized communication",
        "(t_s + (n_k/2 - n_(k-1)) m t_w) + T_oap(k-1, n_(k-1) m) + (t_s + n_(k-1) m t_w) + T_oap(k-1, m)",
        scatter_recurrence,
    ),
    _claim(
        "sections IV and V",
        "lengths in the solutions of the recurrences",
        "r = n_k/(2^k n_0) = (2 n_0)^(2^k - 1)/2^k = n_(k-1) ... n_0; 2^k n_(k-1) ... n_0 = n_k/n_0",
        identities,
    ),
    _claim(
        "Theorem 4",
        "time of one-to-all personalized communication",
        "about (2^(k+1) - 2) t_s + n_k m t_w + T(0, r m) + T(0, r/n_0 m) + (2^k - 2) T(0, m)",
        theorem4,
        "E12",
        APPROXIMATELY,
    ),
    _claim("section V", "all-to-all broadcast takes at least", "(p - 1) m t_w", allgather_bound),
    _claim(
        "section V",
        "recurrence for all-to-all broadcast, Algorithm 3",
        "T_aab(k-1, m) + (t_s + n_(k-1) m t_w) + T_aab(k-1, n_(k-1) m) + (t_s + n_(k-1)^2 m t_w)",
        allgather_recurrence,
        reading="Algorithm 3 to the letter, nodes being sent their own messages too",
    ),
    _claim(
        "Theorem 5",
        "time of all-to-all broadcast",
        "about (2^(k+1) - 2) t_s + n_k m t_w + T(0, r m) + T(0, r/n_0 m) + (2^k - 2) T(0, m)",
        theorem5,
        "E12",
        f"{APPROXIMATELY}; Algorithm 3 to the letter, nodes being sent their own messages too",
    ),
    _claim(
        "section V",
        "times of all-to-all broadcast and of one-to-all personalized communication",
        "approximately the same",
        alike,
        reading=f"{APPROXIMATELY}; Algorithms 2 and 3 to the letter",
    ),
    _claim("section V", "length of msg_q in Algorithm 4", "2 n_(k-1) m", message_sizes),
    _claim(
        "section V",
        "recurrence for all-to-all personalized communication, Algorithm 4, p(p - 1) messages",
        "(t_s + (n_k/2 - 1) m t_w) + T_aap(k-1, 2 n_(k-1) m) + (t_s + (n_k - 1) m t_w) + T_aap(k-1, 2 n_(k-1) m)",
        exchange_recurrence,
        reading="messages of nodes for themselves are not moved, as there are p(p - 1), nor, in a call in a cluster, "
        "what begins and ends it at one node",
    ),
    _claim(
        "Theorem 6",
        "time of all-to-all personalized communication",
        "about (2^(k+1) - 2) t_s + 3 2^k n_k m t_w + 2^k T_aap(0, n_k m/n_0)",
        theorem6,
        "E12",
        f"{APPROXIMATELY}; Algorithm 4 to the letter, messages of nodes for themselves being moved too",
    ),
)
