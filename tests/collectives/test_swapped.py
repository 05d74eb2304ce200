"""Collective operations on hierarchical swapped networks: figures known by hand, and every one delivers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.collectives.operations import operation_schedule
from hdnhw.collectives.spread import allgather_schedule, broadcast_schedule
from hdnhw.networks.build import build
from hdnhw.networks.families.swapped import folded_hsn, hcn, hcn3, hsn
from hdnhw.spec import EXCHANGE_ORDERS, MOVING, complete, cube, ghc, mesh, torus
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import distances_from

SPECS = [
    *(hsn(levels, cube(k)) for levels, k in [(2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (2, 3)]),
    *(hsn(levels, complete(3)) for levels in (2, 3)),
    *(hsn(2, nucleus) for nucleus in (torus(5), mesh(3, 2), ghc(3, 2), torus(4))),
    hcn(2),
    hcn3(1),
    folded_hsn(2, 2),
    hsn(2, torus(5), diameter_links=True),
    hsn(3, cube(2), top=2),
    hsn(2, ghc(3, 4), top=2),
    hsn(2, torus(6), top=3),
]
EVERY = ("exchange", "allgather")
"""Operations in which every node has messages."""

WORDS = {
    "hsn(2, cube(1))": {"broadcast": 3, "scatter": 5, "allgather": 5},
    "hsn(3, cube(2))": {"scatter": 83, "allgather": 83},
}
"""N - 1 words, and M^j more for each swap (j = 1 .. l - 1); a broadcast as many as steps."""


@pytest.mark.parametrize("text", WORDS)
def test_words_are_those_counted_by_hand(text):
    network = build(text)
    counted = {op: execute(operation_schedule(network, op)).words for op in WORDS[text]}
    assert counted == WORDS[text]


@pytest.mark.parametrize("spec", [hsn(2, cube(2)), hsn(3, cube(1)), hsn(2, mesh(2, 2)), folded_hsn(2, 1)], ids=str)
def test_a_broadcast_from_a_leader_over_a_cube_takes_the_diameter_without_other_links(spec):
    network = build(spec)
    levels, dimensions = network.spec.levels, len(network.nucleus.factors)
    steps = levels * dimensions + levels - 1
    assert execute(broadcast_schedule(network)).startups == steps
    if not network.spec.complement_links:
        assert distances_from(network, 0).max() == steps


@settings(max_examples=5)
@given(st.sampled_from(SPECS), st.sampled_from(MOVING), st.sampled_from(EXCHANGE_ORDERS), st.booleans())
def test_every_one_delivers_and_is_not_below_the_bounds(spec, operation, order, all_port):
    network = build(spec)
    root, last = network.num_nodes // 3, network.num_nodes - 1
    schedule = operation_schedule(network, operation, root=root, order=order, all_port=all_port)
    counted = execute(schedule, all_port=all_port)
    reach = int(distances_from(network, root).max())
    assert counted.startups >= reach
    if operation in ("broadcast", "allgather"):
        sources = 1 if operation == "broadcast" else network.num_nodes
        assert (counted.total_words, counted.repeats) == (sources * last, 0)
    if not all_port and operation != "broadcast":
        assert counted.words >= last


@pytest.mark.parametrize("spec", SPECS[:6], ids=str)
def test_an_exchange_by_the_route_swaps_once_a_level_and_an_emulated_one_twice(spec):
    network = build(spec)
    levels = network.spec.levels
    stages = {
        order: [step.stage for step in exchange_schedule(network, order).steps if step.stage.startswith("swap")]
        for order in EXCHANGE_ORDERS
    }
    assert len(stages["cluster-first"]) == levels - 1
    assert stages["paper"] == [name for name in stages["cluster-first"] for _ in range(2)]


@pytest.mark.parametrize("text", ["hsn(2, cube(2), top=2)", "hsn(2, complete(4), top=2)", "hsn(2, mesh(2, 2), top=2)"])
def test_over_a_divisor_every_message_arrives_once(text):
    network = build(text)
    nodes, reach = network.num_nodes, int(distances_from(network, 1).max())
    for operation in MOVING:
        for order in EXCHANGE_ORDERS:
            counted = execute(operation_schedule(network, operation, root=1, order=order))
            assert (counted.messages, counted.repeats) == (nodes**2 if operation in EVERY else nodes, 0)
            assert counted.startups >= reach


def test_leaders_keep_still_at_a_swap_even_where_they_have_a_link():
    network = build(hcn(2))
    counted = execute(exchange_schedule(network))
    leaders = [node for node in range(network.num_nodes) if node // 4 == node % 4]
    swap = len(network.nucleus.ports)
    assert (counted.neighbors[leaders, swap] >= 0).all()
    assert not counted.sent[:, leaders, swap].any()


@pytest.mark.parametrize("text", ["hsn(2, star(3))", "hsn(2, mesh(3, 2), top=3)", "hfn(2)", "ccc(3)"])
def test_networks_without_a_schedule(text):
    message = r"^a schedule in steps is for products, dual-nets over them, and HSNs of a product .* is none of them$"
    with pytest.raises(SpecError, match=message):
        broadcast_schedule(build(text))


def test_what_is_for_dual_nets_alone():
    network = build(hsn(2, cube(1)))
    with pytest.raises(SpecError, match=r"^an all-gather as printed is for dual-nets$"):
        allgather_schedule(network, as_printed=True)
    with pytest.raises(SpecError, match=r"^split must be destination on hsn\(2, cube\(1\)\), not 'sum'$"):
        exchange_schedule(network, "paper", split="sum")
