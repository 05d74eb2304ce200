"""Hypercube algorithms on dual-nets: results, steps and words, and what a value that is not moved does."""

import numpy as np
import pytest

from hdnhw.collectives.ascend import machine_of, run_algorithm
from hdnhw.collectives.choices import ALGORITHMS, SWAPS
from hdnhw.collectives.cube_machine import CubeMachine
from hdnhw.collectives.executor import ScheduleError
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from tests.conftest import each

SPECS = [
    "dualcube(1)",
    "dualcube(3)",
    "cube(4)",
    "rdn(cube(2), 1)",
    "rdn(cube(1), 2)",
    "hdn(cube(2), [[0, 1]])",
    "hdn(cube(3), [[0, 2], [2]])",
    "hdn(cube(1), [[0], [0], []])",
    "hdn(cube(1), [[], [0]])",
    "hdn(cube(2), [[1], [0, 1]])",
]
"""The last two have super-nodes that are not nested."""


@each("text", SPECS)
@each("name", ALGORITHMS)
@each("swaps", SWAPS)
def test_results_are_right(text, name, swaps):
    run = run_algorithm(build(text), name, swaps, seed=3)
    assert (run.verified, run.checked) == (True, build(text).num_nodes)


@pytest.mark.parametrize("r", [2, 3, 4, 6])
@pytest.mark.parametrize("spec", ["dualcube({r})", "rdn(cube({base}), 1)"])
def test_steps_and_words_of_an_ascend_algorithm(r, spec):
    """Home between classes: 2r - 1 dimensions, 4 crossings; else one crossing less, and no link for the highest."""
    text = spec.format(r=r, base=r - 1)
    home, lazy = (run_algorithm(build(text), "ascend", swaps) for swaps in SWAPS)
    assert (home.dimension_steps, home.exchange_steps, home.words) == (2 * r - 1, 4, 4 * (r - 1) + 1 + 4)
    assert (lazy.dimension_steps, lazy.exchange_steps, lazy.words) == (2 * r - 2, 3, 4 * (r - 1) + 1 + 2 + 1)
    assert run_algorithm(build(text), "prefix").words == 2 * home.words


@each("text", SPECS)
@each("swaps", SWAPS)
def test_each_dimension_meets_the_partner_of_the_hypercube_over_edges(text, swaps):
    """Values are their own numbers; that they only move over edges is seen in the neighbors of the network."""
    host = build(text)
    nodes, bits = np.arange(host.num_nodes), host.num_nodes.bit_length() - 1
    machine = machine_of(host, nodes)
    move, beside = CubeMachine.move, [{node, *host.neighbors(node).values()} for node in range(host.num_nodes)]

    def moved(machine, moving, port):
        before = machine.at.copy()
        move(machine, moving, port)
        assert all(int(there) in beside[here] for here, there in zip(before, machine.at, strict=True))

    def rule(own, other, numbers, bit):
        assert (own == numbers).all()
        assert (other == own ^ 1 << bit).all()
        return own

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CubeMachine, "move", moved)
        for bit in np.random.default_rng(1).permutation(np.arange(2 * bits) % bits):
            machine.combine(int(bit), rule)
            if swaps == "paper":
                machine.home()
        machine.home()
    assert machine.is_home
    assert sorted(machine.at) == list(nodes)


def test_digits_of_super_nodes_need_no_crossing():
    for text in ("hdn(cube(2), [[0, 1]])", "cube(4)"):
        for swaps in SWAPS:
            run = run_algorithm(build(text), "ascend", swaps)
            assert (run.exchange_steps, run.dimension_steps) == (0, build(text).num_nodes.bit_length() - 1)
    shared = machine_of(build("hdn(cube(3), [[0, 2], [2]])"), np.arange(1024))
    shared.combine(0, lambda own, *_: own)
    assert shared.is_home


@pytest.mark.parametrize("text", ["hdn(cube(1), [[], [0]])", "hdn(cube(2), [[1], [0, 1]])"])
def test_steps_by_routes_are_told_by_the_ports_that_they_take(text, monkeypatch):
    move, taken = CubeMachine.move, []

    def moved(machine, moving, port):
        taken.extend([machine.network.ports[port].level > 0] * bool(len(moving)))
        move(machine, moving, port)

    monkeypatch.setattr(CubeMachine, "move", moved)
    run = run_algorithm(build(text), "ascend")
    assert (run.dimension_steps, run.exchange_steps) == (taken.count(False), taken.count(True))


def test_two_ports_in_a_step_and_a_port_that_is_not_there_are_found():
    machine = machine_of(build("cube(2)"), np.arange(4))
    machine.at = np.array([0, 1, 2, 0])
    with pytest.raises(ScheduleError, match=r"on cube\(2\): a node sends over two ports in a step"):
        machine.combine(0, lambda own, *_: own)
    leader = machine_of(build("hsn(2, cube(1))"), np.arange(4))
    with pytest.raises(ScheduleError, match=r"on hsn\(2, cube\(1\)\): a node sends over a port that it lacks"):
        leader.move(np.array([0]), 1)


@pytest.mark.parametrize("text", ["dualcube(3)", "rdn(cube(1), 2)", "hdn(cube(1), [[], [0]])", "hsn(3, cube(1))"])
def test_a_move_that_moves_too_little_is_found(text, monkeypatch):
    move = CubeMachine.move
    monkeypatch.setattr(CubeMachine, "move", lambda machine, moving, port: move(machine, moving[1:], port))
    with pytest.raises(ScheduleError):
        run_algorithm(build(text), "ascend", "lazy")


def test_partners_that_are_no_neighbors_are_found():
    machine = machine_of(build("dualcube(3)"), np.arange(32))
    machine.at = np.roll(machine.at, 1)
    with pytest.raises(ScheduleError, match=r"on dualcube\(3\): a value and its partner are not in neighbors"):
        machine.combine(0, lambda own, *_: own)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rdn(complete(4), 1)", r"for dual-nets and HSNs over cubes, not rdn\(complete\(4\), 1\)"),
        ("rdn(petersen(), 1)", r"for dual-nets and HSNs over cubes, not rdn\(petersen\(\), 1\)"),
        ("hsn(2, rdn(cube(1), 1))", r"for dual-nets and HSNs over cubes, not hsn\("),
        ("dualcube(12)", "at most 1048576 nodes"),
    ],
)
def test_other_networks_are_refused(text, message):
    with pytest.raises(SpecError, match=message):
        run_algorithm(build(text), "sort")
