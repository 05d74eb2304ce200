"""Broadcast, scatter and all-gather: the reference figures, and every spec delivers."""

import json
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdnhw.collectives.executor import execute
from hdnhw.collectives.operations import operation_schedule
from hdnhw.collectives.scatter import scatter_schedule
from hdnhw.collectives.spread import allgather_schedule, broadcast_schedule
from hdnhw.networks.build import build
from hdnhw.networks.families.dualnets import dualcube, hdn, rdn
from hdnhw.spec import complete, cube, ghc, mesh, torus
from hdnhw.topology.metrics import distances_from, pair_histogram

REFERENCE = Path(__file__).parents[1] / "reference" / "networks.json"
EXECUTED = {
    instance["spec"]: instance["collectives_001_executed"]
    for instance in json.loads(REFERENCE.read_text())["instances"]
    if "collectives_001_executed" in instance
}
SPECS = [
    *(torus(*sizes) for sizes in [(2,), (3,), (4,), (5,), (6, 3), (5, 2, 4)]),
    *(mesh(*sizes) for sizes in [(3,), (5,), (4, 3), (2, 5)]),
    *(ghc(*sizes) for sizes in [(3,), (7,), (6, 4)]),
    *(dualcube(r) for r in (1, 2, 3, 4)),
    *(rdn(base, 1) for base in (cube(3), torus(5), complete(5), torus(3, 3))),
    *(hdn(cube(2), [list(one), list(two)]) for one, two in product([(), (0,), (0, 1)], [(0,), (1,), (0, 1)])),
    *(hdn(torus(3, 2), [list(one)]) for one in [(0,), (1,), (0, 1)]),
    hdn(torus(3), [[0], [0]]),
    hdn(cube(1), [[], [0]]),
]
DUAL_NETS = (
    st.sampled_from([cube(1), cube(2), cube(3), torus(3), torus(5), torus(2, 3), complete(4)])
    .flatmap(
        lambda base: st.builds(
            hdn,
            st.just(base),
            st.lists(st.lists(st.integers(0, len(base.factors) - 1), unique=True), min_size=1, max_size=3),
        )
    )
    .filter(lambda spec: build(spec).num_nodes <= 160)
)


def figures(execution):
    return [execution.startups, execution.words]


def test_the_reference_has_two_networks():
    assert sorted(EXECUTED) == ["rdn(cube(3), 1)", "rdn(cube(3), 2)"]


@pytest.mark.parametrize("text", EXECUTED)
@pytest.mark.parametrize("share", [0, 0.37, 1])
def test_one_to_all_counts_are_those_of_the_reference(text, share):
    network = build(text)
    root = int(share * (network.num_nodes - 1))
    assert execute(broadcast_schedule(network, root)).words_per_step == (1,) * EXECUTED[text]["oab"]
    assert figures(execute(scatter_schedule(network, root))) == EXECUTED[text]["oap"]


@pytest.mark.parametrize("text", EXECUTED)
@pytest.mark.parametrize(("key", "as_printed"), [("aab_literal", True), ("aab_nopartner", False)])
def test_all_gather_counts_are_those_of_the_reference(text, key, as_printed):
    counted = execute(allgather_schedule(build(text), as_printed=as_printed))
    assert figures(counted) == EXECUTED[text][key]
    assert (counted.repeats > 0) == as_printed


@pytest.mark.parametrize(
    "spec", [hdn(cube(1), [[], [0]]), hdn(cube(2), [[0], [0, 1]]), hdn(torus(4), [[], [0]])], ids=str
)
@pytest.mark.parametrize("operation", ["broadcast", "reduce", "allgather", "reducescatter"])
def test_startups_are_the_diameter_if_super_nodes_are_not_nested(spec, operation):
    network = build(spec)
    counted = execute(operation_schedule(network, operation), sources=[0])
    assert counted.startups == len(pair_histogram(network)) - 1


def neighbor(network, node, port):
    return network.neighbors(node)[network.ports[port].name]


@pytest.mark.parametrize("spec", [spec for spec in SPECS if build(spec).num_nodes <= 64], ids=str)
@pytest.mark.parametrize("all_port", [False, True])
def test_conditions_read_node_by_node_bring_the_message_to_every_node_once(spec, all_port):
    network = build(spec)
    root = network.num_nodes // 3
    for schedule in (
        broadcast_schedule(network, root, all_port=all_port),
        allgather_schedule(network, all_port=all_port),
    ):
        informed = {root}
        for step in range(len(schedule.steps)):
            links = [
                (node, neighbor(network, node, port))
                for node in range(network.num_nodes)
                for port in schedule.ports_of(step, node, root, 0)
            ]
            reached = [other for _, other in links]
            assert {node for node, _ in links} <= informed
            assert len(set(reached)) == len(reached)
            assert informed.isdisjoint(reached)
            informed |= set(reached)
        assert len(informed) == network.num_nodes


@settings(max_examples=5)
@given(st.sampled_from(SPECS) | DUAL_NETS, st.floats(0, 1), st.booleans())
def test_one_to_all_delivers_and_is_not_below_the_bounds(spec, share, all_port):
    network = build(spec)
    root, last = int(share * (network.num_nodes - 1)), network.num_nodes - 1
    reach = int(distances_from(network, root).max())
    broadcast = execute(broadcast_schedule(network, root, all_port=all_port), all_port=all_port)
    assert (broadcast.total_words, broadcast.repeats) == (last, 0)
    assert broadcast.startups >= max(reach, 0 if all_port else last.bit_length())
    scatter = execute(scatter_schedule(network, root, all_port=all_port), all_port=all_port)
    assert scatter.messages == network.num_nodes
    if not all_port:
        assert scatter.words == last if network.is_nested else scatter.words >= last


@settings(max_examples=5)
@given(st.sampled_from(SPECS) | DUAL_NETS, st.booleans())
def test_all_gather_delivers_and_is_not_below_the_bound(spec, all_port):
    network = build(spec)
    counted = execute(allgather_schedule(network, all_port=all_port), all_port=all_port)
    last = network.num_nodes - 1
    assert (counted.total_words, counted.repeats) == (network.num_nodes * last, 0)
    if not all_port and all(factor.is_symmetric for factor in network.factors):
        assert counted.words == last


@pytest.mark.parametrize("spec", [rdn(cube(3), 1), hdn(cube(3), [[2]]), hdn(cube(2), [[0], [0]]), dualcube(4)], ids=str)
def test_a_broadcast_on_cubes_with_nested_super_nodes_takes_the_diameter(spec):
    network = build(spec)
    assert execute(broadcast_schedule(network, 5)).startups == distances_from(network, 5).max()


def test_a_node_needs_no_address_but_the_source():
    network = build("hdn(cube(2), [[0], [0, 1]])")
    assert broadcast_schedule(network, 3).reads == ("own",)
    assert scatter_schedule(network, 3).reads == ("own", "dst")
    assert allgather_schedule(network).reads == ("own", "src")


@pytest.mark.parametrize("make", [broadcast_schedule, scatter_schedule])
def test_a_root_that_is_no_node(make):
    with pytest.raises(ValueError, match=r"^node of cube\(3\) must be 0 to 7, not 8$"):
        make(build("cube(3)"), 8)
