"""RDN paper, section VI: the recursive dual-net against the hypercube. Messages of one word, m = 1."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from hdnhw.claims.claim import Case, Claim, Finding, judge, plain_rows
from hdnhw.claims.families import cases_of, compare, dual_net
from hdnhw.claims.rdn_counts import (
    SAMPLED,
    SOURCES,
    algorithm,
    cost_of,
    count,
    inner_network,
    least_words,
    recurrence,
    stages,
    step_words,
)
from hdnhw.claims.words import by_word, is_about
from hdnhw.collectives.cost import Cost
from hdnhw.collectives.operations import operation_schedule
from hdnhw.collectives.schedule import Schedule
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.metrics import num_edges

RDN1, RDN2 = "rdn(cube(3), 1)", "rdn(cube(3), 2)"

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


def cube_times() -> Finding:
    """Run the four operations on hypercubes."""
    cases = []
    for n, operation in product(range(1, 6, 2), OPERATIONS.values()):
        p, spec = 2**n, f"cube({n})"
        words = {"broadcast": n, "exchange": n * p // 2}.get(operation, p - 1)
        got = count(dual_net(spec), operation)
        cases.append(Case(f"{spec} {operation}", p, Cost(n, words), got, holds=got == Cost(n, words)))
    return judge(cases, of="operations on cubes of 1, 3 and 5 dimensions")


def _cells(pattern: str | None = None) -> list[tuple[str, str, Cost]]:
    """Return (pattern, network, published) of the cells of Table II, those of RDNs alone if a pattern is asked for."""
    cells = []
    for name, *row in map(str.split, TABLE2.strip().splitlines()):
        for spec, cell in zip(("cube(7)", RDN1, "cube(15)", RDN2), row, strict=True):
            if pattern is None or (pattern == name and spec in (RDN1, RDN2)):
                cells.append((name, spec, Cost(*map(int, cell.split("+")))))
    return cells


def table2() -> Finding:
    """Run all of Table II: the paper's algorithms without nodes' own messages and with them, and the best schedule."""
    cases, table = [], []
    for pattern, spec, printed in _cells():
        network, operation = dual_net(spec), OPERATIONS[pattern]
        got = letter = best = count(network, operation, own=False)
        if spec in (RDN1, RDN2) and operation in ("allgather", "exchange"):
            letter, best = count(network, operation), cost_of(operation_schedule(network, operation))
        row = {"pattern": pattern, "network": spec, "published": printed, "computed": got, "to the letter": letter}
        row |= {"best schedule": best, "least words": least_words(network, operation)}
        sampled = operation in ("allgather", "exchange") and network.num_nodes >= SAMPLED
        table.append(row | {"sources run": SOURCES if sampled else "all"})
        cases.append(Case(f"{pattern} on {spec}", network.num_nodes, printed, got, holds=got == printed))
    found = judge(cases, of="cells", table=plain_rows(table))
    return replace(found, computed=f"{found.computed}; of 32,768 nodes all-to-all from {SOURCES} sources")


def close_times() -> Finding:
    """Compare the words on RDNs with those on hypercubes of the same size."""
    found = {
        (pattern, spec): [count(dual_net(text), operation, own=False) for text in (cube, spec)]
        for pattern, operation in OPERATIONS.items()
        for cube, spec in (("cube(7)", RDN1), ("cube(15)", RDN2))
    }

    def judged(limit: float) -> Finding:
        cases = []
        for (pattern, spec), (one, other) in found.items():
            ratio = float(Fraction(other.words) / Fraction(one.words))
            cases.append(
                Case(
                    network=f"{pattern} on {spec}",
                    nodes=dual_net(spec).num_nodes,
                    published=f"about {one}",
                    computed=f"{other}, {ratio:.2f} times the words",
                    holds=is_about(ratio, 1, limit),
                )
            )
        return judge(cases, of="patterns and sizes")

    return by_word("about", judged)


def table2_scatter() -> Finding:
    """Check One2All_P, and the sum that is printed for it, which has a term for each crossing and step."""
    cases, found = [], []
    for _, spec, printed in _cells("One2All_P"):
        network = dual_net(spec)
        got, right = count(network, "scatter"), recurrence(network, "scatter")
        found.append(str(got))
        case = Case(spec, network.num_nodes, printed, got, holds=got == printed, corrected=got == right)
        cases.append(case)
    base, one, two = inner_network(dual_net(RDN1)).num_nodes, *(case.nodes for case in cases)
    sums = [two - 1 - one - slip + one * base + one - base + base for slip in (base, one * base)]
    corrected = (
        f"{' and '.join(found)}; in the printed sum, {sums[0]}, a -8 stands for -128 x 8: with that it is {sums[1]}"
    )
    place = "section IV, the recurrence T_oap(k, m), evaluated"
    return judge(cases, corrected=corrected, elsewhere=place)


def _by_own(spec: str, published: Any, counted: Callable[..., Any]) -> list[Case]:
    """Return the cases of a network: `counted` without nodes' own messages, and with them."""
    nodes, cases = dual_net(spec).num_nodes, []
    for own, reading in ((False, "without own messages"), (True, "to the letter")):
        got = counted(own=own)
        cases.append(Case(f"{spec}, {reading}", nodes, published, got, holds=got == published, condition=not own))
    return cases


NOT_OWN = "no node is sent its own message"


def table2_allgather() -> Finding:
    """Run All2All_B in both readings."""
    cases = []
    for _, spec, printed in _cells("All2All_B"):
        cases += _by_own(spec, printed, partial(count, dual_net(spec), "allgather"))
    return judge(cases, of="readings of two networks", condition=NOT_OWN)


def table2_exchange() -> Finding:
    """Compare All2All_P with the sum of a node's distances, and that with the order that the prose sketches."""
    cases, found = [], []
    for _, spec, printed in _cells("All2All_P"):
        network = dual_net(spec)
        least, best = least_words(network, "exchange"), cost_of(operation_schedule(network, "exchange"))
        found.append(str(best))
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
    corrected = f"{' and '.join(found)}, the least, in the order cluster, cross, cluster, cross of section VI"
    return judge(cases, corrected=corrected)


def _compare(parts: Sequence[tuple[str, Any, Any]], of: str) -> Finding:
    """Judge (what, published, computed) of parts of an example."""
    table = [{"part": what, "published": printed, "computed": got} for what, printed, got in parts]
    cases = [Case(what, place, printed, got, holds=printed == got) for place, (what, printed, got) in enumerate(parts)]
    return judge(cases, of=of, table=plain_rows(table))


def _cube(dimensions: int, printed: Sequence[int]) -> Finding:
    """Run the four operations on a cube, the words being printed in the order of Table II."""
    network = dual_net(f"cube({dimensions})")
    return _compare(
        [
            (f"{name} on {network.spec}", Cost(dimensions, words), count(network, operation))
            for (name, operation), words in zip(OPERATIONS.items(), printed, strict=True)
        ],
        of="patterns",
    )


def three_cube() -> Finding:
    """Run the four operations on the base network."""
    return _cube(3, (3, 7, 7, 12))


def seven_cube() -> Finding:
    """Run the four operations on the 7-cube."""
    return _cube(7, (7, 127, 127, 448))


def _sums(schedule: Schedule, *, own: bool = True, step: int = 1) -> list[int]:
    """Return the words of the stages, or of every other one, the crossings."""
    return [int(sum(stage)) for stage in stages(schedule, own=own)][step - 1 :: step]


def example_broadcast() -> Finding:
    """Run the stages of the one-to-all broadcast."""
    one, two = (_sums(algorithm(dual_net(spec), "broadcast")) for spec in (RDN1, RDN2))
    return _compare(
        [("stages in RDN^1(B)", [1, 3, 1, 3], one), ("stages in RDN^2(B)", [1, 8, 1, 8], two)], of="examples"
    )


def example_scatter() -> Finding:
    """Run the stages of the one-to-all personalized communication."""
    one, two = (stages(algorithm(dual_net(spec), "scatter")) for spec in (RDN1, RDN2))
    steps = [[64 - 8], [32, 16, 8], [8], [4, 2, 1]]
    parts: list[tuple[str, Any, Any]] = [
        (f"stage {number} in RDN^1(B)", printed, _plain(got))
        for number, (printed, got) in enumerate(zip(steps, one, strict=True), start=1)
    ]
    crossings = [("first crossing in RDN^2(B)", [16384 - 128], two[0]), ("second", [128], two[2])]
    return _compare([*parts, *((what, printed, _plain(got)) for what, printed, got in crossings)], of="stages")


def _plain(words: Sequence[Fraction]) -> list[int]:
    return [int(some) for some in words]


def gather_steps() -> Finding:
    """Run the first stage of the all-to-all broadcast."""
    got = _plain(stages(algorithm(dual_net(RDN1), "allgather"))[0])
    case = Case("first stage in RDN^1(B)", 8, [1, 2, 3], got, holds=got == [1, 2, 3], corrected=sum(got) == 7)
    place = "its own sum, 7, and (1), (2), (3) before it, which send 1, 2 and 4 messages"
    return judge([case], of="stages", corrected=f"1 + 2 + 4 = {sum(got)}", elsewhere=place)


def gather_stages() -> Finding:
    """Run the stages of the all-to-all broadcast in both readings; of the larger network crossings are printed."""
    cases = []
    for spec, printed in ((RDN1, [7, 8, 8 + 16 + 32, 63]), (RDN2, [128, 16383])):
        counted = partial(_sums, algorithm(dual_net(spec), "allgather"), step=4 // len(printed))
        cases += _by_own(spec, printed, counted)
    return judge(cases, of="readings of two networks", condition=NOT_OWN)


def exchange_stages() -> Finding:
    """Run the all-to-all personalized communication in the order of the example: cluster, cross, cluster, cross."""
    table, cases = [], []
    for spec, printed in ((RDN1, [64] * 8), (RDN2, [16384] * 18)):
        network = dual_net(spec)
        schedule = operation_schedule(network, "exchange")
        got = _plain(step_words(schedule))
        for step, words, said in zip(schedule.steps, got, printed, strict=True):
            table.append({"network": spec, "step": step.stage, "published": said, "computed": words})
        cases.append(
            Case(
                network=spec,
                nodes=network.num_nodes,
                published=f"{sum(printed)} words",
                computed=f"{sum(got)} in steps of {', '.join(map(str, got))}",
                holds=got == printed,
                corrected=sum(got) == least_words(network, "exchange"),
            )
        )
    corrected = (
        "the crossings carry what the table shows; in all the fewest words possible, the sum of a node's distances"
    )
    return judge(cases, corrected=corrected, table=plain_rows(table))


def links() -> Finding:
    """Count the links of RDNs and of cubes of the same size."""

    def check(network: DualNetwork) -> Case:
        same = dual_net(f"cube({network.num_nodes.bit_length() - 1})")
        few, many = num_edges(network), num_edges(same)
        holds = same.num_nodes == network.num_nodes and few < many
        return compare(network, "more links in the cube", f"{few} and {many}", holds=holds)

    return judge(cases_of([RDN1, RDN2], check))


_claim = partial(Claim, "RDN")

OWN = (
    "no node is sent its own message, as the p(p - 1) messages of section V have it; to the letter Algorithm 3 sends it"
)


CLAIMS = (
    _claim(
        "section VI",
        "times on hypercubes",
        "(lg p)(t_s + m t_w); (lg p) t_s + (p - 1) m t_w, twice; (lg p)(t_s + (p/2) m t_w)",
        cube_times,
    ),
    _claim("section VI", "times on the 3-cube", "3 t_s and 3, 7, 7, 12 m t_w", three_cube),
    _claim("section VI", "times on the 7-cube", "7 t_s and 7, 127, 127, 448 m t_w", seven_cube),
    _claim(
        "section VI, figure 2",
        "stages of one-to-all broadcast",
        "1 + 3 + 1 + 3 and 1 + 8 + 1 + 8 words",
        example_broadcast,
    ),
    _claim(
        "section VI",
        "stages of one-to-all personalized communication",
        "(64-8) + (32+16+8) + 8 + (4+2+1) words; crossings of 16384-128 and 128",
        example_scatter,
    ),
    _claim("section VI", "first stage of all-to-all broadcast", "(1+2+3) m t_w = 7 m t_w", gather_steps, "E12"),
    _claim(
        "section VI",
        "stages of all-to-all broadcast",
        "7 + 8 + (8+16+32) + 63; crossings of 128 and 16383",
        gather_stages,
        "E12",
        OWN,
    ),
    _claim(
        "section VI",
        "steps of all-to-all personalized communication",
        "64 words in each of 8; 16384 in each of 18",
        exchange_stages,
        "E4",
    ),
    _claim("Table II", "communication times", "16 cells", table2, "E12", OWN),
    _claim(
        "section VI, Table II",
        "one-to-all personalized communication",
        "8 t_s + 127 m t_w; 18 t_s + (32767-128-8+1024+128-8+8) m t_w = 18 t_s + 33783 m t_w",
        table2_scatter,
        "E12",
    ),
    _claim(
        "section VI, Table II",
        "all-to-all broadcast",
        "8 t_s + 134 m t_w; 18 t_s + (32767+8-1+128+1024-1) m t_w = 18 t_s + 33925 m t_w",
        table2_allgather,
        "E12",
        OWN,
    ),
    _claim(
        "section VI, Table II",
        "all-to-all personalized communication is possible: not below the sum of a node's distances",
        "8 t_s + 512 m t_w; 18 t_s + 16384 18 m t_w = 18 t_s + 294912 m t_w",
        table2_exchange,
        "E4",
    ),
    _claim(
        "section VI",
        "times on RDNs and on hypercubes of the same size",
        "very close",
        close_times,
        reading=f"as many words; {OWN}",
    ),
    _claim("section VI", "links of RDNs and of hypercubes", "more links in hypercubes", links),
)
