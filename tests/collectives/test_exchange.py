"""Total exchange: the reference figures, the lower bound by breadth-first search, and messages moved one by one."""

import json
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.networks.build import build
from hdnhw.networks.families.dualnets import hdn
from hdnhw.networks.parse import parse
from hdnhw.spec import complete, cube, ghc, torus
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import pair_histogram

REFERENCE = Path(__file__).parents[1] / "reference" / "networks.json"
INSTANCES = json.loads(REFERENCE.read_text())["instances"]
EXCHANGES = [instance for instance in INSTANCES if "total_exchange" in instance]
KEYS = {
    "algorithm2_destN": ("paper", "destination"),
    "algorithm2_srcN": ("paper", "source"),
    "algorithm2_mix": ("paper", "sum"),
    "cluster_first": ("cluster-first", "destination"),
}
FIGURES = ("startups", "nonempty_startups", "words", "words_per_step")
LARGEST = 4096


def lower_bound(network):
    """Return the words that a node sends on average if every message takes a shortest path."""
    return Fraction(sum(hops * pairs for hops, pairs in enumerate(pair_histogram(network))), network.num_nodes)


def is_even(network):
    """Return whether all factors are edges or cycles of even length."""
    return all(factor.is_edge or (factor.kind == "cycle" and factor.size % 2 == 0) for factor in network.factors)


@st.composite
def dual_nets(draw, largest=160):
    """Draw a dual-net of one level or two, nested or not."""
    bases = [cube(1), cube(2), cube(3), torus(3), torus(4), torus(5), torus(2, 3), complete(4), ghc(3, 2)]
    base = draw(st.sampled_from(bases))
    levels = draw(st.integers(1, 2))
    factors = range(len(base.factors))
    super_nodes = [sorted(draw(st.sets(st.sampled_from(factors)))) for _ in range(levels)]
    nodes = sizes = prod(factor.size for factor in base.factors)
    for super_node in super_nodes:
        nodes *= 2 * nodes // prod(base.factors[factor].size for factor in super_node)
    if nodes > largest:
        super_nodes = [list(factors)] * levels
        nodes = sizes << levels
    return hdn(base, super_nodes)


def moved_one_by_one(schedule):
    """Return (messages held at the end, words per step), from the conditions read message by message."""
    network = schedule.network
    nodes = range(network.num_nodes)
    where = {(src, dst): src for src, dst in product(nodes, nodes)}
    words = []
    for step in range(len(schedule.steps)):
        sent = dict.fromkeys(nodes, 0)
        links, moved = set(), {}
        for (src, dst), node in where.items():
            ports = schedule.ports_of(step, node, src, dst)
            assert len(ports) <= 1
            if ports:
                moved[src, dst] = network.neighbors(node)[network.ports[ports[0]].name]
                links.add((node, moved[src, dst]))
                sent[node] += 1
        assert len({one for one, _ in links}) == len({other for _, other in links}) == len(links)
        where |= moved
        words.append(max(sent.values()))
    return where, words


@pytest.mark.parametrize("instance", EXCHANGES, ids=lambda instance: instance["spec"])
def test_counts_are_those_of_the_reference(instance):
    network = build(instance["spec"])
    assert lower_bound(network) == Fraction(instance["total_exchange"]["lower_bound_words"])
    for key, (order, split) in KEYS.items():
        if key in instance["total_exchange"]:
            counted = execute(exchange_schedule(network, order, split=split))
            expected = {name: instance["total_exchange"][key][name] for name in FIGURES}
            expected["words_per_step"] = tuple(expected["words_per_step"])
            assert {name: getattr(counted, name) for name in FIGURES} == expected


@pytest.mark.parametrize(
    "text",
    ["hdn(cube(2), [[0], [0, 1]])", "rdn(torus(3), 1)", "mesh(3, 2)", "torus(4)", "ghc(5)", "dualcube(3)"],
)
@pytest.mark.parametrize("order", ["paper", "cluster-first"])
def test_the_executor_counts_what_messages_moved_one_by_one_do(text, order):
    if (network := build(text)).num_nodes > 64:
        network = build(hdn(cube(1), [[], [0]]))
    schedule = exchange_schedule(network, order)
    where, words = moved_one_by_one(schedule)
    assert all(node == dst for (_, dst), node in where.items())
    assert execute(schedule).words_per_step == tuple(words)


@pytest.mark.parametrize(("split", "words"), [("sum", [8, 8, 8, 16, 8, 8]), ("first", [8, 16, 16, 32, 16, 8])])
def test_how_the_nodes_of_a_super_node_share_the_load(split, words):
    schedule = exchange_schedule(build("hdn(cube(2), [[0]])"), "paper", split=split)
    where, counted = moved_one_by_one(schedule)
    assert all(node == dst for (_, dst), node in where.items())
    assert sorted(counted) == sorted(words)


@settings(max_examples=12)
@given(dual_nets(), st.sampled_from(sorted(KEYS.values())), st.booleans())
def test_every_spec_delivers_and_no_order_is_below_the_bound(spec, key, all_port):
    network, (order, split) = build(spec), key
    counted = execute(exchange_schedule(network, order, split=split, all_port=all_port), all_port=all_port)
    assert counted.messages == network.num_nodes**2
    total = lower_bound(network) * network.num_nodes
    assert counted.total_words >= total
    if order == "cluster-first" and network.is_nested:
        assert counted.total_words == total
        assert all_port or counted.words == lower_bound(network)
    if order == "cluster-first" and not all_port and is_even(network):
        assert counted.startups == len(pair_histogram(network)) - 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hdn(cube(1), [[], [0]])", (32, 48, 32, 16, 56, 48, 32, 16, 24)),
        ("hdn(cube(2), [[0], [0, 1]])", (64, 64, 96, 64, 32, 112, 96, 64, 32, 48)),
        ("hdn(cube(2), [[0, 1], [0]])", (32, 32, 32, 56, 32, 32, 24)),
        ("hdn(torus(6), [[0]])", (6, 8, 4, 6)),
        ("hdn(torus(2, 4), [[1], [0, 1]])", None),
    ],
)
def test_cluster_first_takes_as_many_startups_as_the_diameter(text, words):
    network = build(text)
    counted = execute(exchange_schedule(network))
    sent = counted.sent.sum(axis=2)
    assert counted.startups == counted.nonempty_startups == len(pair_histogram(network)) - 1
    assert (sent == sent[:, :1]).all()
    assert words in (None, counted.words_per_step)


def nested_specs():
    """Yield every nested dual-net of up to LARGEST nodes on some bases."""
    cubes = ["cube(1)", "cube(2)", "cube(3)", "cube(4)"]
    tori = ["torus(3)", "torus(5)", "torus(3, 3)", "torus(3, 4)", "torus(5, 5)", "torus(2, 3, 5)"]
    for text in [*cubes, *tori, "complete(4)"]:
        base = parse(text)
        stack = [(f"hdn({text}, [", frozenset(range(len(base.factors))), prod(f.size for f in base.factors))]
        while stack:
            head, within, nodes = stack.pop()
            for mask in product((False, True), repeat=len(base.factors)):
                chosen = frozenset(index for index, taken in enumerate(mask) if taken)
                size = 2 * nodes * nodes // prod(base.factors[index].size for index in chosen)
                if chosen <= within and size <= LARGEST and head.count("[") < 5:
                    yield f"{head}{sorted(chosen)}])"
                    stack.append((f"{head}{sorted(chosen)}, ", chosen, size))


SMALL = [text for text in nested_specs() if build(text).num_nodes <= 100]


@pytest.mark.parametrize("text", SMALL)
def test_cluster_first_meets_the_bound_on_nested_specs(text):
    network = build(text)
    assert execute(exchange_schedule(network)).words == lower_bound(network)


@pytest.mark.parametrize("text", sorted(set(nested_specs()) - set(SMALL)))
def test_cluster_first_meets_the_bound_on_large_nested_specs(text):
    network = build(text)
    assert execute(exchange_schedule(network)).words == lower_bound(network)


def test_two_to_the_thirty_messages():
    counted = execute(exchange_schedule(build("rdn(cube(3), 2)")))
    assert (counted.startups, counted.words, counted.messages) == (18, 335_616, 1 << 30)


def test_which_addresses_a_node_needs():
    network = build("hdn(cube(2), [[0], [0, 1]])")
    assert exchange_schedule(network).reads == exchange_schedule(network, "paper").reads == ("own", "dst")
    assert exchange_schedule(network, "paper", split="source").reads == ("own", "src", "dst")


@pytest.mark.parametrize(
    ("order", "split", "message"),
    [
        ("fast", "sum", "schedule must be one of paper, cluster-first, not 'fast'"),
        ("paper", "half", "split must be one of destination, source, sum, first, not 'half'"),
        ("cluster-first", "sum", "split must be destination in the order cluster-first, not 'sum'"),
    ],
)
def test_what_cannot_be(order, split, message):
    with pytest.raises(SpecError, match=f"^{message}$"):
        exchange_schedule(build("rdn(cube(2), 1)"), order, split=split)
