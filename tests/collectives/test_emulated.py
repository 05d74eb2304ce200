"""Emulation of products on HSNs: timetables checked by rules of their own, data moved, other ways tried by search."""

from collections import Counter
from dataclasses import replace
from itertools import product as pairs

import networkx as nx
import pytest

from hdnhw.collectives import emulated
from hdnhw.collectives.emulated import (
    all_port_steps,
    all_port_timetable,
    emulate,
    emulate_directly,
    is_direct,
    lower_bound_steps,
    published_steps,
    step_timetable,
)
from hdnhw.collectives.executor import ScheduleError
from hdnhw.collectives.guest import guest_of, host_of
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import neighbor_table
from tests.conftest import each

SPECS = [
    *(f"hsn({levels}, cube({k}))" for levels, k in [(2, 1), (5, 1), (2, 2), (3, 2), (5, 2), (2, 4), (3, 3)]),
    *("hsn(2, complete(5))", "hsn(3, mesh(3, 2))", "hsn(2, ghc(3, 4))", "hsn(2, torus(4))", "hsn(2, star(3))"),
    *("hsn(2, petersen())", "hcn(2)", "hcn3(2)", "hfn(2)", "folded_hsn(2, 2)", "hsn(2, torus(3), diameter_links=True)"),
]
GUESTS = {
    "hsn(3, cube(2))": "cube(6)",
    "hsn(2, complete(3))": "ghc(3, 3)",
    "hsn(2, mesh(3, 2))": "mesh(3, 2, 3, 2)",
    "hsn(2, torus(4))": "torus(4, 4)",
}


def host(text):
    return host_of(build(text), "a test")


def ports_of(network):
    return len(network.nucleus.ports)


@pytest.mark.parametrize("text", GUESTS)
def test_data_go_where_the_neighbors_of_the_product_are(text):
    network, guest = host(text), build(GUESTS[text])
    rows = emulated._Carrier(network).target
    table = neighbor_table(guest)
    links = len(guest.ports) // network.spec.levels
    order = [(level - 1) * links + port for level in range(network.spec.levels, 0, -1) for port in range(links)]
    assert (table == rows[order].T).all()


@each(("levels", "ports"), list(pairs(range(2, 12), range(1, 12))))
def test_a_timetable_asks_each_swap_and_port_for_one_thing_at_a_time(levels, ports):
    table = all_port_timetable(levels, ports)
    assert sorted(table) == sorted(pairs(range(1, levels + 1), range(ports)))
    assert max(Counter(hop for hops in table.values() for hop in hops).values()) == 1
    for (level, port), hops in table.items():
        steps = [step for step, _ in hops]
        swap = ports + level - 2
        assert [over for _, over in hops] == ([port] if level == 1 else [swap, port, swap])
        assert steps == sorted(set(steps))
        assert 1 <= steps[0] <= steps[-1] <= all_port_steps(levels, ports)


def fits(levels, ports, steps):
    """Return whether any timetable of so few steps exists, by trying: first ports, then their swaps by matching."""
    slots = range(2, steps)

    def rows(taken, level):
        if level == levels:
            return True
        for row in pairs(*([slot for slot in slots if slot not in taken[port]] for port in range(ports))):
            ranked = sorted(row)
            early = all(step >= rank + 2 for rank, step in enumerate(ranked))
            late = all(step <= steps - 1 - rank for rank, step in enumerate(reversed(ranked)))
            new = [[*old, slot] for old, slot in zip(taken, row, strict=True)]
            if early and late and 2 * ports <= steps and rows(new, level + 1):
                return True
        return False

    return rows([[] for _ in range(ports)], 1)


@pytest.mark.parametrize(("levels", "ports"), [(2, 1), (3, 1), (2, 2), (3, 2), (4, 2), (5, 2), (2, 3), (3, 3), (5, 3)])
def test_no_timetable_of_fewer_steps_exists(levels, ports):
    steps = all_port_steps(levels, ports)
    assert fits(levels, ports, steps)
    assert not fits(levels, ports, steps - 1)


@each("text", SPECS)
def test_data_are_moved_in_so_many_steps(text):
    network = host(text)
    levels, ports = network.spec.levels, ports_of(network)
    counted = emulate(network, all_port_timetable(levels, ports))
    assert counted.steps == all_port_steps(levels, ports)
    assert counted.data == levels * int((neighbor_table(network.nucleus) >= 0).sum()) * network.num_nodes // (
        network.nucleus.num_nodes
    )
    assert (published_steps(network) or counted.steps) >= counted.steps >= (lower_bound_steps(network) or 0)
    for link in pairs(range(1, levels + 1), range(ports)):
        assert emulate(network, step_timetable(ports, link)).steps == (1 if link[0] == 1 else 3)


@pytest.mark.parametrize(
    ("text", "steps"),
    [("hsn(2, complete(3))", 3), ("hsn(2, complete(7))", 7), ("hsn(3, complete(4))", 5), ("hsn(4, complete(5))", 7)],
)
def test_over_one_swap_alone(text, steps):
    network = host(text)
    assert is_direct(network)
    counted = emulate_directly(network)
    assert counted.steps == steps
    if network.spec.levels == 2:
        assert steps == lower_bound_steps(network)
    assert steps < all_port_steps(network.spec.levels, ports_of(network)) < published_steps(network)


def test_what_is_for_complete_nuclei_of_more_nodes_than_levels():
    for text in ("hsn(2, cube(2))", "hsn(3, complete(3))", "hsn(2, petersen())", "hsn(2, complete(2))"):
        with pytest.raises(SpecError, match=r"^data go over one swap alone on hsn\(l, complete\(M\)\), l < M, not on "):
            emulate_directly(host(text))


def broken(hops):
    network = host("hsn(2, cube(2))")
    return network, all_port_timetable(2, 2) | hops


@pytest.mark.parametrize(
    ("hops", "message"),
    [
        ({(2, 0): ((1, 2), (2, 0))}, r"^on hsn\(2, cube\(2\)\): the datum of node 0 is in 2 in the end, not in 8$"),
        ({(2, 0): ((1, 2), (2, 1), (3, 2))}, "in the end, not in"),
        ({(1, 0): ((2, 0),)}, r"^step 2 on hsn\(2, cube\(2\)\): a link carries two data$"),
        ({(1, 0): ((1, 0), (1, 1))}, r"^step 1 on hsn\(2, cube\(2\)\): a (datum moves|link carries) two?"),
    ],
)
def test_a_timetable_that_does_not_work(hops, message):
    with pytest.raises(ScheduleError, match=message):
        emulate(*broken(hops))


def test_a_port_that_is_not_there(monkeypatch):
    network = host("hsn(2, cube(2))")
    carrier = emulated._Carrier(network)
    carrier.leaders = [leaders & False for leaders in carrier.leaders]
    monkeypatch.setattr(emulated, "_Carrier", lambda _: carrier)
    with pytest.raises(ScheduleError, match=r"^step 1 on hsn\(2, cube\(2\)\): node 0 sends over a port that it lacks$"):
        emulate(network, step_timetable(2, (2, 0)))


def test_bounds_that_are_published():
    given = {"hsn(2, cube(3))": 7, "hsn(9, cube(2))": 10, "hsn(2, complete(4))": 9, "hsn(2, mesh(3, 4))": 9}
    assert {text: published_steps(host(text)) for text in given} == given
    assert published_steps(host("hsn(2, petersen())")) is published_steps(host("hsn(2, ghc(3, 4))")) is None
    assert lower_bound_steps(host("folded_hsn(2, 2)")) is None
    assert [lower_bound_steps(host(f"hcn({k})")) for k in (1, 2, 3)] == [1, 4, 5]


DIVISORS = {
    "hsn(2, cube(3), top=2)": "cube(4)",
    "hsn(3, cube(2), top=2)": "cube(5)",
    "hsn(2, complete(6), top=3)": "product(complete(3), complete(6))",
    "hsn(2, torus(6), top=3)": "product(mesh(3), torus(6))",
    "hsn(3, mesh(4), top=2)": "product(mesh(2), mesh(4), mesh(4))",
    "hsn(2, ghc(4, 3), top=6)": "product(complete(2), complete(3), ghc(4, 3))",
    "hsn(2, mesh(2, 6), top=3)": "product(mesh(3), mesh(2, 6))",
}


@pytest.mark.parametrize("text", DIVISORS)
def test_over_a_divisor_data_go_where_the_neighbors_of_a_product_are(text):
    network, guest = host(text), build(DIVISORS[text])
    assert guest_of(network) == guest.spec
    rows, there = emulated._Carrier(network).target, neighbor_table(guest)
    assert all(
        {int(node) for node in own if node >= 0} == {int(node) for node in other if node >= 0}
        for own, other in zip(rows.T, there, strict=True)
    )
    levels, ports = network.spec.levels, ports_of(network)
    counted = emulate(network, all_port_timetable(levels, ports))
    assert counted.data == int((there >= 0).sum())
    assert all_port_steps(levels, ports) == counted.steps >= lower_bound_steps(network) > 1
    assert all(
        emulate(network, step_timetable(ports, link)).steps <= 3 for link in pairs(range(1, levels + 1), range(ports))
    )


@pytest.mark.parametrize(
    "text",
    ["hsn(2, petersen(), top=5)", "hsn(2, star(3), top=2)", "hsn(2, mesh(3, 2), top=3)", "hsn(2, star(4), top=6)"],
)
def test_networks_whose_blocks_differ_emulate_nothing(text):
    message = r"^x over \d top clusters needs a nucleus that falls into connected blocks of \d nodes .*; .* does not$"
    with pytest.raises(SpecError, match=message):
        host_of(build(text), "x")


def test_other_networks_emulate_nothing():
    with pytest.raises(SpecError, match=r"^x is for HSNs without switches, not cube\(3\)$"):
        host_of(build("cube(3)"), "x")


def test_too_many_data(monkeypatch):
    monkeypatch.setattr(emulated, "MOST_DATA", 63)
    with pytest.raises(SpecError, match=r"^an emulation moves at most 63 data; hsn\(2, cube\(2\)\) has 64$"):
        emulate(host("hsn(2, cube(2))"), step_timetable(2, (1, 0)))


def test_what_is_counted():
    counted = emulate(host("hsn(2, cube(1))"), all_port_timetable(2, 1))
    assert counted == replace(counted, steps=3, data=8, moved=(6, 4, 2), links=6)
    assert counted.hops == 12


@pytest.mark.parametrize(
    "text",
    ["hsn(2, cube(3))", "hsn(3, cube(2))", "hsn(2, star(3))", "hsn(2, mesh(3, 2))", "hsn(2, mesh(3, 3))", "hcn(3)"],
)
def test_the_bound_is_that_of_data_and_swaps_between_sides_counted_one_by_one(text):
    network = host(text)
    graph = nx.Graph(
        (node, int(to)) for node, row in enumerate(neighbor_table(network.nucleus)) for to in row if to >= 0
    )
    side = nx.bipartite.color(graph)
    size = len(graph)

    def color(node):
        return side[node // size % size]

    data = sum(len(graph[node // size % size]) for node in range(network.num_nodes) if color(node))
    table = neighbor_table(network)
    links = sum(color(node) > color(int(to)) for node, row in enumerate(table) for to in row if to >= 0)
    most = all_port_steps(network.spec.levels, ports_of(network))
    assert -(-data // links) <= lower_bound_steps(network) <= most
    assert (lower_bound_steps(network) == most) == (text in {"hsn(2, cube(3))", "hsn(3, cube(2))", "hsn(2, star(3))"})


@each(("levels", "ports"), list(pairs(range(2, 7), range(2, 6))))
def test_no_schedule_on_cubes_is_shorter(levels, ports):
    assert lower_bound_steps(host(f"hsn({levels}, cube({ports}))")) == max(2 * ports, levels + 1)
