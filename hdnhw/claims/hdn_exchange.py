"""HDN paper, section 4: total exchange. Words are those of messages of one word, m = 1."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod

from hdnhw.claims.claim import Case, Claim, Finding, judge, plain_rows
from hdnhw.claims.families import cases_of, compare, dual_net
from hdnhw.claims.hdn_networks import sizes_of_super_nodes
from hdnhw.claims.words import by_word, judge_from_size
from hdnhw.collectives.choices import SPLITS
from hdnhw.collectives.cost import Cost, corrected_formula, lower_bound, paper_formula
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import Execution, execute
from hdnhw.networks.families.dualnets import hdn
from hdnhw.spec import DualNet, cube
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.metrics import distance_histogram, num_edges

SMALL = (
    "hdn(cube(1), [[0]])",
    "rdn(cube(1), 1)",
    "hdn(cube(2), [[0]])",
    "rdn(torus(3), 1)",
    "rdn(complete(4), 1)",
    "hdn(torus(3, 2), [[1]])",
    "hdn(cube(1), [[], [0]])",
    "rdn(cube(1), 2)",
)
FAMILY = (
    "hdn(cube(1), [[0]])",
    "hdn(torus(3), [[0]])",
    "rdn(cube(1), 1)",
    "hdn(cube(2), [[0]])",
    "rdn(torus(3), 1)",
    "rdn(cube(2), 1)",
    "rdn(complete(4), 1)",
    "hdn(torus(3, 2), [[1]])",
    "rdn(torus(5), 1)",
    "hdn(cube(3), [[2]])",
    "hdn(cube(1), [[], [0]])",
    "rdn(cube(3), 1)",
    "rdn(cube(1), 2)",
    "hdn(cube(2), [[0], [0, 1]])",
    "hdn(cube(2), [[0], [0]])",
    "hdn(cube(1), [[0], [0], [0]])",
)
"""Bases are cubes, tori and complete graphs; ``[[], [0]]`` and ``[[0], [0, 1]]`` are not nested."""

EXAMPLES = {"hdn(cube(2), [[0]])": Cost(6, 48), "hdn(cube(2), [[0], [0, 1]])": Cost(14, 896)}
"""The networks of figures 2 and 3, and what the text says that they take."""


def _exchange(network: DualNetwork, order: str = "paper", split: str = "sum") -> Execution:
    return execute(exchange_schedule(network, order, split=split if order == "paper" else "destination"))


def _stages(network: DualNetwork, split: str = "sum") -> tuple[int, int, int, int]:
    """Return the words of the four stages of Algorithm 2."""
    schedule = exchange_schedule(network, "paper", split=split)
    words = execute(schedule).words_per_step
    top = f"cross{len(network.levels)}"
    first, third = (number for number, step in enumerate(schedule.steps) if step.stage == top)
    return words[first], sum(words[first + 1 : third]), words[third], sum(words[third + 1 :])


def _spec(network: DualNetwork) -> DualNet:
    assert isinstance(network.spec, DualNet)
    return network.spec


def _in_clusters(network: DualNetwork) -> Fraction:
    """Return the words of T_(k-1)(n_k/n_(k-1)), T_(k-1) as Algorithm 2 takes there."""
    spec = _spec(network)
    inner = hdn(spec.base, spec.super_nodes[:-1]) if len(spec.super_nodes) > 1 else spec.base
    clusters = dual_net(inner)
    return Fraction(_exchange(clusters).words * network.num_nodes, clusters.num_nodes)


def _theorem3(network: DualNetwork) -> tuple[Cost, Cost]:
    """Return Theorem 3 with T_0(m n_k/2) read as its examples do, and to the letter: messages of m n_k/2 words."""
    favorable = paper_formula(network, "exchange")
    assert favorable is not None
    crossings = (2 ** len(network.levels) - 1) * network.num_nodes
    base = prod(factor.size for factor in network.factors)
    return favorable, Cost(favorable.startups, crossings + (favorable.words - crossings) * Fraction(base, 2))


def _least(network: DualNetwork) -> Fraction | int:
    """Return the fewest words: the sum of a node's distances, on average."""
    if network.node_symmetric:
        return sum(hops * count for hops, count in enumerate(distance_histogram(network, 0)))
    return lower_bound(network, "exchange").words


def delivers() -> Finding:
    """Run Algorithm 2; the executor fails unless every node ends with the messages of all nodes for it."""

    def check(network: DualNetwork) -> Case:
        messages = {_exchange(network, split=split).messages for split in SPLITS}
        square = network.num_nodes**2
        return compare(network, square, sorted(messages), holds=messages == {square})

    return judge(cases_of(SMALL[:6], check), of=f"networks, each with {len(SPLITS)} ways to share a super-node's load")


def first_stage() -> Finding:
    """Count the words of the first crossing."""

    def check(network: DualNetwork) -> Case:
        words, half = _stages(network)[0], network.num_nodes // 2
        return compare(network, half, words)

    return judge(cases_of(SMALL, check))


def third_stage() -> Finding:
    """Count the words of the second crossing."""

    def check(network: DualNetwork) -> Case:
        words, nodes = _stages(network)[2], network.num_nodes
        return compare(network, nodes // 2, words, corrected=nodes)

    place = "the first sentence on this stage: a single message of length n_k m"
    return judge(cases_of(SMALL, check), corrected="t_s + t_w m n_k", elsewhere=place)


def inner_stages() -> Finding:
    """Compare what the exchanges in the clusters take with the recurrence, one node of a super-node getting msg_q."""

    def check(network: DualNetwork) -> Case:
        expected = _in_clusters(network)
        words = {split: list(_stages(network, split)[1::2]) for split in ("first", "sum")}
        return replace(
            compare(
                network,
                f"{expected} + {expected} words",
                " + ".join(map(str, words["first"])),
                holds=words["first"] == [expected] * 2,
                condition=not any(level.super_node_factors for level in network.levels),
            ),
            corrected=words["sum"] == [expected] * 2,
        )

    corrected = (
        "msg_q goes to super-node q, each message to its node N = (N_source + N_destination) mod s_k, digit by digit"
    )
    return judge(cases_of(SMALL, check), condition="all s_i = 1", corrected=corrected)


def word_factor() -> Finding:
    """Compare T_(k-1)(n_k/n_(k-1)) with what the cluster exchanges take with messages of one word and of two."""

    def check(length: int, network: DualNetwork) -> Case:
        words, printed = _stages(network)[1] * length, _in_clusters(network)
        return compare(
            network, f"{printed} words with m = {length}", words, holds=words == printed, corrected=printed * length
        )

    cases = [case for m in (1, 2) for case in cases_of(SMALL[:4], partial(check, m))]
    place = "the solution of the recurrence, T_k(m), which has m"
    return judge(cases, of="networks and message lengths", corrected="T_(k-1)(m n_k/n_(k-1))", elsewhere=place)


def argument() -> Finding:
    """Find the length of a base network's messages from what all base exchanges of Algorithm 2 take."""

    def check(network: DualNetwork) -> Case:
        schedule = exchange_schedule(network, "paper", split="sum")
        words = zip(schedule.steps, execute(schedule).words_per_step, strict=True)
        inside = sum(count for step, count in words if step.stage.startswith("dim"))
        base = dual_net(_spec(network).base)
        length = Fraction(inside, 2 ** len(network.levels) * _exchange(base).words)
        half, ratio = network.num_nodes // 2, Fraction(network.num_nodes, base.num_nodes)
        return compare(network, f"messages of {half} words", length, holds=length == half, corrected=ratio)

    place = "the recurrence of stages 2 and 4, T_(k-1)(n_k/n_(k-1)), unrolled with m"
    return judge(cases_of(SMALL, check), corrected="T_0(m n_k/n_0)", elsewhere=place)


def base_cube() -> Finding:
    """Run a total exchange on n-cubes."""

    def check(network: DualNetwork) -> Case:
        counted, n = _exchange(network), len(network.factors)
        got, printed = Cost(counted.startups, counted.words), Cost(n, n * 2**n // 2)
        return compare(network, printed, got)

    return judge(cases_of([f"cube({n})" for n in range(1, 9)], check))


def base_square() -> Finding:
    """Run a total exchange on the 2-cube."""

    def check(network: DualNetwork) -> Case:
        counted = _exchange(network)
        got, printed = Cost(counted.startups, counted.words), Cost(2, 2)
        return compare(network, printed, got, corrected=Cost(2, 2 * 2))

    place = "T_0(m) = n(t_s + t_w m 2^n/2) for n = 2"
    return judge(cases_of(["cube(2)"], check), corrected="2(t_s + 2 t_w m)", elsewhere=place)


EVENLY, ONE_N = "sum", ("destination", "source")
"""Ways to share a super-node's load: among all its nodes alike, or by the digits N of destination or source."""


def _theorem3_cases(specs: Sequence[str]) -> list[Case]:
    """Return a case for each network and way to share a super-node's load."""
    cases = []
    for spec, split in product(specs, (EVENLY, *ONE_N)):
        network = dual_net(spec)
        counted, printed, right = _exchange(network, split=split), _theorem3(network), corrected_formula(network)
        got = Cost(counted.startups, counted.words)
        two = all(size == 2 for size in sizes_of_super_nodes(network))
        cases.append(
            Case(
                network=f"{spec}, split {split}",
                nodes=network.num_nodes,
                published=f"{printed[0]}, or {printed[1]} to the letter of T_0(m n_k/2),",
                computed=got,
                holds=got in printed,
                corrected=split != EVENLY or got == right,
                condition=two and split in ONE_N,
            )
        )
    return cases


WHERE_TWO = "every s_i = 2 and messages cross from the node with the digits N of their destination, or their own"

CORRECTED = "with a super-node's load shared evenly, T_k(m) = (2^k - 1)(2 t_s + (3/2) n_k m t_w) + 2^k T_0(m n_k/n_0)"

OF_SPLITS = "networks and ways to share a super-node's load"


def one_level() -> Finding:
    """Compare T_1 with what Algorithm 2 takes."""
    specs = [spec for spec in FAMILY if len(dual_net(spec).levels) == 1]
    corrected = "with a super-node's load shared evenly, T_1(m) = 2 t_s + (3/2) n_1 m t_w + 2 T_0(m n_1/n_0)"
    return judge(_theorem3_cases(specs[:8]), of=OF_SPLITS, condition=WHERE_TWO, corrected=corrected)


def theorem3() -> Finding:
    """Compare T_k with what Algorithm 2 takes, and with the other order of its stages."""
    cases, table = _theorem3_cases(FAMILY), []
    found = {case.network: case.computed for case in cases}
    for spec in FAMILY:
        network = dual_net(spec)
        favorable, letter = _theorem3(network)
        row = {"network": spec, "nodes": network.num_nodes, "nested": network.is_nested}
        row |= {"published": favorable, "to the letter": letter}
        row |= {f"split {split}": found[f"{spec}, split {split}"] for split in (EVENLY, *ONE_N)}
        counted = _exchange(network, "cluster-first")
        row |= {"cluster first": Cost(counted.startups, counted.words)}
        table.append(row | {"least words": _least(network)})
    return judge(cases, of=OF_SPLITS, condition=WHERE_TWO, corrected=CORRECTED, table=plain_rows(table))


def within_theorem3() -> Finding:
    """See where T_k suffices if a message crosses from the node with its destination's digits in SN^k."""

    def check(network: DualNetwork) -> Case:
        counted, printed = _exchange(network, split="destination"), _theorem3(network)[0]
        return compare(
            network,
            printed,
            Cost(counted.startups, counted.words),
            holds=counted.words <= printed.words and counted.startups <= printed.startups,
            condition=all(level.super_node_factors for level in network.levels),
        )

    condition = "all s_i > 1 and messages cross from the node with the digits N of their destination"
    return judge(cases_of(FAMILY, check), condition=condition)


def against_least() -> Finding:
    """Compare T_k with the fewest words there can be."""
    corrected = CORRECTED

    def check(network: DualNetwork) -> Case:
        printed, least, right = _theorem3(network)[0], _least(network), corrected_formula(network)
        return replace(
            compare(network, printed, f"at least {least} t_w", holds=printed.words >= least),
            corrected=right is not None and right.words >= least,
        )

    return judge(cases_of([*FAMILY, "rdn(cube(2), 2)", "rdn(cube(3), 2)"], check), corrected=corrected)


def _example(spec: str) -> Finding:
    """Run Algorithm 2 on one of the paper's networks, with every way to share a super-node's load."""
    network, printed = dual_net(spec), EXAMPLES[spec]
    cases, table = [], []
    for split in sorted(SPLITS, reverse=True):
        counted = _exchange(network, split=split)
        got = Cost(counted.startups, counted.words)
        holds = got == printed
        cases.append(
            Case(
                network=f"{spec}, split {split}",
                nodes=network.num_nodes,
                published=printed,
                computed=got,
                holds=holds,
                condition=split in ("destination", "source"),
            )
        )
        table.append(
            {"split": split, "published": printed, "computed": got, "start-ups used": counted.nonempty_startups}
        )
    first = _exchange(network, "cluster-first")
    row = {"split": "cluster first", "published": "", "computed": Cost(first.startups, first.words)}
    table.append(row | {"start-ups used": first.nonempty_startups})
    condition = "messages cross from the node with the digits N of their destination, or their own"
    return judge(cases, of="ways to share a super-node's load", condition=condition, table=plain_rows(table))


def figure2() -> Finding:
    """Run the example of figure 2."""
    return _example(next(iter(EXAMPLES)))


def figure3() -> Finding:
    """Run the example of figure 3."""
    return _example(list(EXAMPLES)[1])


def hypercubes() -> Finding:
    """Run the hypercubes of the same sizes."""

    def check(network: DualNetwork) -> Case:
        counted, printed = _exchange(network), {4: Cost(4, 32), 7: Cost(7, 448)}[len(network.factors)]
        got = Cost(counted.startups, counted.words)
        return compare(network, printed, got)

    return judge(cases_of(["cube(4)", "cube(7)"], check))


LARGER = ("rdn(cube(3), 1)", "rdn(cube(2), 2)", "rdn(cube(3), 2)")
"""Of 128, 2,048 and 32,768 nodes."""


def longer_with_fewer_links() -> Finding:
    """Compare the examples and RDNs, at the fewest words there can be, with hypercubes of the same size."""
    found = []
    for network in map(dual_net, (*EXAMPLES, *LARGER)):
        same = dual_net(str(cube(network.num_nodes.bit_length() - 1)))
        assert same.num_nodes == network.num_nodes
        words = _least(network), same.num_nodes // 2 * len(same.factors)
        found.append((network, words, [num_edges(one) for one in (network, same)]))

    def judged(limit: float) -> Finding:
        cases = []
        for network, words, links in found:
            got = f"at least {words[0]} words against {words[1]}, {links[0]} links against {links[1]}"
            case = compare(network, f"longer, with 1/{limit:g} of the links", got)
            cases.append(replace(case, holds=words[0] > words[1] and limit * links[0] <= links[1]))
        return judge_from_size(cases)

    return by_word("much", judged)


_claim = partial(Claim, "HDN")

EITHER = (
    "T_0(m n_k/2) as in the examples, or to the letter, and msg_q to any node of super-node q: that with the digits N "
    "of the destination, or of the source, or of their sum, which loads all nodes alike"
)


CLAIMS = (
    _claim("Algorithm 2", "delivers all messages", "each node stores all p messages, p^2 in all", delivers),
    _claim("section 4, stage 1", "first crossing", "t_s + t_w m n_k/2", first_stage),
    _claim(
        "section 4, stages 2 and 4",
        "exchanges in the clusters if msg_q is sent to the node with node ID = q",
        "T_(k-1)(n_k/n_(k-1)) each",
        inner_stages,
        "E14",
    ),
    _claim("section 4, stages 2 and 4", "dependence on m", "T_(k-1)(n_k/n_(k-1))", word_factor, "E13"),
    _claim("section 4, stage 3", "second crossing", "t_s + t_w m n_k/2", third_stage, "E4"),
    _claim("section 4", "total exchange on an n-cube", "T_0(m) = n(t_s + t_w m 2^n/2)", base_cube),
    _claim("section 4", "total exchange on a 2-cube", "T_0(m) = 2(t_s + t_w m)", base_square, "E13"),
    _claim(
        "section 4, T_1 and T_k; Theorem 3",
        "length of the messages that a base network exchanges",
        "T_0(m n_k/2), T_0(m) for messages of length m",
        argument,
        "E13",
    ),
    _claim(
        "section 4",
        "time on HDN(B, 1, S)",
        "T_1(m) = 2(t_s + m t_w n_1/2) + 2 T_0(m n_1/2)",
        one_level,
        "E4",
        EITHER,
    ),
    _claim(
        "abstract, section 4, Theorem 3",
        "time of Algorithm 2, the messages of a stage of equal size",
        "T_k(m) = (2^(k+1) - 2)(t_s + t_w m n_k/2) + 2^k T_0(m n_k/2)",
        theorem3,
        "E4",
        EITHER,
    ),
    _claim(
        "Theorem 3",
        "T_k(m) suffices, with the better choice of nodes in a super-node",
        "T_k(m), T_0 as in the examples",
        within_theorem3,
        "E4",
    ),
    _claim(
        "Theorem 3",
        "T_k(m) is possible: not below the sum of a node's distances",
        "T_k(m), T_0 as in the examples",
        against_least,
        "E4",
    ),
    _claim("section 4, figure 2", "HDN(2-cube, 1, {2}), 16 nodes", "T_1 = 6(t_s + 8 t_w m)", figure2, "E4"),
    _claim("section 4, figure 3", "HDN(2-cube, 2, {2, 4}), 128 nodes", "T_2 = 14(t_s + 64 t_w m)", figure3, "E4"),
    _claim("section 4", "hypercubes of these sizes", "4(t_s + 8 t_w m), 7(t_s + 64 t_w m)", hypercubes),
    _claim(
        "section 4",
        "HDNs against hypercubes of the same size",
        "times are longer, but an HDN has much less links",
        longer_with_fewer_links,
    ),
)
