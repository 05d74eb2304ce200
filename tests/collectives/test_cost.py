"""The cost model: the papers' printed formulas, and lower bounds by breadth-first search."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from hdnhw.collectives.cost import Cost, corrected_formula, lower_bound, multicast_bound, paper_formula
from hdnhw.networks.build import build

REFERENCE = Path(__file__).parents[1] / "reference" / "networks.json"
EXCHANGES = [row for row in json.loads(REFERENCE.read_text())["instances"] if "total_exchange" in row]


def cost_of(row):
    return Cost(row["startups"], row["words"])


@pytest.mark.parametrize("instance", EXCHANGES, ids=lambda instance: instance["spec"])
def test_total_exchange_is_that_of_the_reference(instance):
    network, expected = build(instance["spec"]), instance["total_exchange"]
    assert lower_bound(network, "exchange").words == Fraction(expected["lower_bound_words"])
    if "theorem3_as_printed" in expected:
        assert paper_formula(network, "exchange") == cost_of(expected["theorem3_as_printed"])
    if "corrected_formula" in expected:
        assert corrected_formula(network) == cost_of(expected["corrected_formula"])
    mix = expected.get("algorithm2_mix") or expected["algorithm2_destN"]
    assert corrected_formula(network) == cost_of(mix)


@pytest.mark.parametrize(
    ("text", "operation", "startups", "words"),
    [
        ("rdn(cube(3), 1)", "broadcast", 8, 8),
        ("rdn(cube(3), 2)", "broadcast", 18, 18),
        ("rdn(cube(3), 1)", "scatter", 8, 191),
        ("rdn(cube(3), 2)", "scatter", 18, 40_846),
        ("rdn(cube(3), 2)", "allgather", 18, 40_846),
        ("rdn(cube(3), 1)", "exchange", 8, 512),
        ("rdn(cube(3), 2)", "exchange", 18, 294_912),
        ("dualcube(4)", "exchange", 8, 512),
        ("cube(7)", "broadcast", 7, 7),
        ("cube(7)", "scatter", 7, 127),
        ("cube(7)", "allgather", 7, 127),
        ("cube(7)", "exchange", 7, 448),
        ("cube(15)", "scatter", 15, 32_767),
    ],
)
def test_formulas_as_printed(text, operation, startups, words):
    assert paper_formula(build(text), operation) == Cost(startups, words)


@pytest.mark.parametrize(("text", "operation"), [("torus(4, 4)", "exchange"), ("hdn(cube(2), [[0]])", "scatter")])
def test_where_the_papers_have_no_formula(text, operation):
    assert paper_formula(build(text), operation) is None
    assert corrected_formula(build("torus(4, 4)")) is None


@pytest.mark.parametrize(
    ("text", "operation", "all_port", "startups", "words"),
    [
        ("torus(5)", "broadcast", False, 3, 3),
        ("torus(5)", "broadcast", True, 2, 2),
        ("torus(5)", "scatter", False, 3, 4),
        ("torus(5)", "scatter", True, 2, 2),
        ("torus(5)", "allgather", True, 2, 2),
        ("torus(5)", "exchange", False, 3, 6),
        ("torus(5)", "exchange", True, 2, 3),
        ("mesh(3)", "allgather", True, 2, 2),
        ("mesh(3)", "exchange", False, 2, Fraction(8, 3)),
    ],
)
def test_lower_bounds(text, operation, all_port, startups, words):
    assert lower_bound(build(text), operation, all_port=all_port) == Cost(startups, words)


@pytest.mark.parametrize("text", ["cube(3)", "rdn(cube(2), 1)", "torus(5)", "complete(6)"])
@pytest.mark.parametrize("all_port", [False, True])
def test_a_multicast_to_all_nodes_is_bound_as_a_broadcast_is(text, all_port):
    network = build(text)
    everyone = range(network.num_nodes)
    assert multicast_bound(network, 0, everyone, all_port=all_port) == lower_bound(
        network, "broadcast", all_port=all_port
    )


@pytest.mark.parametrize(("targets", "startups"), [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4)])
def test_those_who_have_a_message_can_double(targets, startups):
    network = build("complete(9)")
    assert multicast_bound(network, 8, range(targets)) == Cost(startups, startups)
