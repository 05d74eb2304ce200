"""All-reduce and scan in registers: results beside sums in plain Python, start-ups known by hand, mutants found."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdnhw.collectives.executor import ScheduleError
from hdnhw.collectives.operators import operator_of
from hdnhw.collectives.prefix import allreduce_schedule, scan_schedule
from hdnhw.collectives.registers import Update, received, run_registers
from hdnhw.collectives.schedule import Send
from hdnhw.networks.build import build
from hdnhw.networks.families.dualnets import dualcube, hdn, rdn
from hdnhw.networks.families.swapped import hsn
from hdnhw.spec import complete, cube, ghc, mesh, torus
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import diameter_corrected
from tests.conftest import each

SPECS = [
    *(torus(size) for size in range(2, 11)),
    *(mesh(size) for size in range(3, 8)),
    *(complete(size) for size in range(3, 18)),
    *(torus(4, 5), mesh(3, 4), ghc(3, 4), ghc(5, 2)),
    *(dualcube(r) for r in (2, 3)),
    *(rdn(base, 1) for base in (cube(2), cube(3), torus(3), complete(5))),
    *(hdn(cube(2), [list(one), list(two)]) for one, two in product([(), (0,), (0, 1)], [(1,), (0, 1)])),
    hdn(torus(3), [[0], [0]]),
    hdn(torus(4), [[0]]),
    *(hsn(levels, nucleus) for levels, nucleus in [(2, cube(2)), (3, cube(2)), (2, torus(4)), (2, mesh(3, 2))]),
    hsn(3, cube(2), top=2),
]
DIVIDED = [hsn(2, torus(6), top=3), hsn(2, ghc(3, 4), top=2)]
STARTUPS = {
    "cube(7)": (7, 7),
    "rdn(cube(3), 1)": (8, 8),
    "hdn(cube(2), [[0], [0]])": (11, 11),
    "hsn(2, cube(3))": (7, 8),
    "torus(8, 16)": (12, 12),
    "torus(5)": (4, 4),
    "mesh(6)": (5, 5),
    "complete(9)": (4, 4),
}
"""Start-ups of an all-reduce and of a scan: of networks of cubes and even cycles, the diameter of all but the last."""


def words_of(network, seed):
    """Return for each node a list of two integers of 64 bits, by its number."""
    rng = np.random.default_rng(seed)
    return [[int(word) for word in rng.integers(0, 1 << 63, 2)] for _ in range(network.num_nodes)]


def add(one, other):
    return [(first + second) % (1 << 64) for first, second in zip(one, other, strict=True)]


def in_order(network):
    """Return the nodes by class, cluster and node in the cluster, or as the digits of any network have it."""
    return sorted(range(network.num_nodes), key=network.decode)


def run(schedule, given):
    results, counted = run_registers(schedule, operator_of("sum", "uint64"), np.array(given, np.uint64))
    return [[int(word) for word in row] for row in results], counted


@each("spec", [*SPECS, *DIVIDED])
def test_every_node_gets_the_sum_of_all(spec):
    network = build(spec)
    given, total = words_of(network, 1), [0, 0]
    for words in given:
        total = add(total, words)
    results, _ = run(allreduce_schedule(network), given)
    assert results == [total] * network.num_nodes


@each("spec", SPECS)
@each("exclusive", [False, True])
def test_every_node_gets_the_sum_of_those_before_it(spec, exclusive):
    network = build(spec)
    given, total, expected = words_of(network, 2), [0, 0], {}
    for node in in_order(network):
        after = add(total, given[node])
        expected[node] = total if exclusive else after
        total = after
    results, _ = run(scan_schedule(network, exclusive=exclusive), given)
    assert dict(enumerate(results)) == expected


@pytest.mark.parametrize("text", STARTUPS)
def test_startups_are_those_counted_by_hand(text):
    network = build(text)
    given = words_of(network, 3)
    counted = [run(schedule, given)[1] for schedule in (allreduce_schedule(network), scan_schedule(network))]
    assert tuple(one.startups for one in counted) == STARTUPS[text]
    assert (counted[0].words > counted[0].startups) == (text == "complete(9)")


@pytest.mark.parametrize("base", [cube(1), cube(2), cube(3), torus(4), torus(6, 2)], ids=str)
def test_startups_are_the_diameter_on_dual_nets_of_edges_and_even_cycles(base):
    sets = [some for size in range(len(base.factors) + 1) for some in combinations(range(len(base.factors)), size)]
    for levels in [*((one,) for one in sets), *product(sets, repeat=2)]:
        network = build(hdn(base, [list(one) for one in levels]))
        for schedule in (allreduce_schedule(network), scan_schedule(network)):
            assert len(schedule.steps) == diameter_corrected(network)


@pytest.mark.parametrize("spec", DIVIDED, ids=str)
def test_a_scan_needs_whole_digits(spec):
    with pytest.raises(SpecError, match="a scan is not for HSNs over a divisor that cuts a digit"):
        scan_schedule(build(spec))


def changed(schedule, step, **members):
    steps = list(schedule.steps)
    steps[step] = replace(steps[step], **members)
    return replace(schedule, steps=tuple(steps))


def test_a_lost_or_doubled_contribution_is_seen_in_the_sums():
    network = build("rdn(cube(2), 1)")
    schedule, given = allreduce_schedule(network), words_of(network, 4)
    right, _ = run(schedule, given)
    for number, step in enumerate(schedule.steps):
        for place in range(len(step.updates)):
            lost, _ = run(changed(schedule, number, updates=step.updates[:place] + step.updates[place + 1 :]), given)
            assert lost != right
        last = step.updates[-1]
        again = Update(last.register, (last.register, received(step.registers[0])), last.when)
        doubled, _ = run(changed(schedule, number, updates=(*step.updates, again)), given)
        assert doubled != right
    assert run(replace(schedule, steps=schedule.steps[::-1]), given)[0] != right


def test_a_port_that_is_not_there_and_two_ports_at_once_are_refused():
    network = build("mesh(3)")
    schedule, given = allreduce_schedule(network), words_of(network, 5)
    one = schedule.circuit.constant(1)
    with pytest.raises(ScheduleError, match=r"step 0 of allreduce on mesh\(3\): node 2 sends over a port that it does"):
        run(changed(schedule, 0, sends=(Send(0, one),)), given)
    network = build("cube(2)")
    schedule, given = allreduce_schedule(network), words_of(network, 5)
    one = schedule.circuit.constant(1)
    with pytest.raises(ScheduleError, match=r"step 1 of allreduce on cube\(2\): node 0 sends over 2 ports"):
        run(changed(schedule, 1, sends=(Send(0, one), Send(1, one))), given)


@settings(max_examples=20)
@given(
    st.sampled_from([cube(1), cube(2), torus(3), torus(2, 3), complete(4)]).flatmap(
        lambda base: st.builds(
            hdn,
            st.just(base),
            st.lists(st.lists(st.integers(0, len(base.factors) - 1), unique=True), min_size=1, max_size=2),
        )
    ),
    st.integers(0, 1000),
)
def test_any_dual_net(spec, seed):
    network = build(spec)
    given, total = words_of(network, seed), [0, 0]
    for node in in_order(network):
        total = add(total, given[node])
    assert run(allreduce_schedule(network), given)[0] == [total] * network.num_nodes
    last = in_order(network)[-1]
    assert run(scan_schedule(network), given)[0][last] == total
