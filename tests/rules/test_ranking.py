"""The rank: what the solver proves and refutes, and the rank itself on every route of small networks."""

import re
from dataclasses import replace

import numpy as np
import pytest

from hdnhw.circuits.circuit import Circuit
from hdnhw.networks.build import build
from hdnhw.rules import ranking
from hdnhw.rules.hop import hop_rule
from hdnhw.rules.ranking import channel_rank, prove_ranks_grow
from hdnhw.topology.metrics import neighbor_table

PROVED = [
    ("cube(4)", ""),
    ("mesh(3, 4)", ""),
    ("torus(4, 2)", ""),
    ("torus(5, 6)", ""),
    ("torus(7)", ""),
    ("torus(8)", ""),
    ("ghc(3, 4)", ""),
    ("dualcube(3)", "f"),
    ("rdn(torus(4), 1)", "O"),
    ("rdn(torus(5), 1)", "f"),
    ("rdn(torus(6), 1)", "O"),
    ("rdn(complete(4), 1)", "f"),
    ("hdn(cube(2), [[0, 1]])", "O"),
    ("hdn(cube(2), [[0, 1]])", "f"),
    ("hdn(product(torus(5), cube(1)), [[0]])", "f"),
    ("rdn(cube(1), 2)", "ff"),
    ("hdn(cube(2), [[0], [1]])", "fO"),
    ("hdn(cube(2), [[0, 1], [1]])", "OO"),
    ("hdn(torus(3, 4), [[1], [0, 1]])", "Of"),
    ("hdn(torus(5), [[0], []])", "fO"),
    ("hdn(cube(1), [[0], [], [0]])", "OOf"),
    ("hdn(cube(1), [[0], [0], []])", "fff"),
    ("hdn(cube(1), [[], [0], [0]])", "fOf"),
]


@pytest.mark.parametrize(("text", "modes"), PROVED)
def test_ranks_grow(text, modes):
    assert prove_ranks_grow(hop_rule(build(text), modes)) is None


@pytest.mark.parametrize("text", ["torus(4, 4)", "rdn(torus(5), 1)", "hdn(cube(2), [[0], [0, 1]])"])
def test_ranks_grow_in_each_lane(text):
    rule = hop_rule(build(text), lanes=2)
    assert prove_ranks_grow(rule) is None


def test_lanes_do_not_help_a_rule_that_can_deadlock():
    rule = hop_rule(build("rdn(cube(2), 1)"), lanes=2)
    assert refuted_hop(replace(rule, vc=(rule.vc[0], rule.circuit.constant(0))))


@pytest.mark.parametrize(("text", "nodes"), [("rdn(cube(3), 2)", 32768), ("rdn(torus(5, 5), 2)", 3125000)])
def test_ranks_grow_on_large_networks(text, nodes):
    network = build(text)
    assert network.num_nodes == nodes
    assert prove_ranks_grow(hop_rule(network)) is None


@pytest.mark.parametrize(
    ("reason", "error"), [("interrupted from keyboard", KeyboardInterrupt), ("memout", MemoryError)]
)
def test_a_solver_that_ends_without_an_answer(monkeypatch, reason, error):
    monkeypatch.setattr(ranking.z3.Solver, "check", lambda _: ranking.z3.unknown)
    monkeypatch.setattr(ranking.z3.Solver, "reason_unknown", lambda _: reason)
    with pytest.raises(error):
        prove_ranks_grow(hop_rule(build("cube(3)")))


def refuted_hop(rule):
    """Return (current node, destination) of the solver's counterexample."""
    found = re.fullmatch(
        r"the hop at node (\d+) towards (\d+) is invalid or does not raise the rank", prove_ranks_grow(rule)
    )
    return tuple(map(int, found.groups()))


@pytest.mark.parametrize(
    ("text", "modes"),
    [("torus(5)", ""), ("rdn(cube(2), 1)", "f"), ("rdn(cube(1), 2)", "Of"), ("rdn(cube(3), 2)", "Of")],
)
def test_one_class_is_refuted(text, modes):
    rule = hop_rule(build(text), modes)
    zero = rule.circuit.constant(0)
    broken = replace(rule, vc=(zero,) * len(rule.vc))
    cur, dst = refuted_hop(broken)
    hops = [ranked_hop(broken, node, dst) for node, _, _ in broken.route(cur, dst)[:2]]
    assert hops[0] >= hops[1]


def ranked_hop(rule, node, dst):
    """Return the rank of one hop from node towards dst."""
    cur = rule.network.decode(node)
    port, vc = rule.next_hop(cur, rule.network.decode(dst))
    circuit = Circuit()
    rank = channel_rank(circuit, rule.network, rule.modes, port)
    inputs = {f"cur{i}": digit for i, digit in enumerate(cur)} | {f"vc{i}": vc >> i & 1 for i in range(len(rule.vc))}
    return circuit.run([rank], inputs.__getitem__)[0]


def test_a_rule_that_runs_off_a_path_is_refuted():
    """From the last node of a path to the first by an edge that only a cycle has: all else of this rule is right."""
    rule = hop_rule(build("mesh(3)"))
    circuit, (plus, minus) = rule.circuit, rule.take
    wraps = circuit.input("cur0", 3).eq(circuit.constant(2)) & circuit.input("dst0", 3).eq(circuit.constant(0))
    assert refuted_hop(replace(rule, take=(plus | wraps, minus & ~wraps))) == (2, 0)


def test_a_rule_that_takes_two_ports_is_refuted():
    rule = hop_rule(build("cube(2)"))
    first, second = rule.take
    cur, dst = refuted_hop(replace(rule, take=(first | second, second)))
    assert cur ^ dst == 1
    cur, dst = refuted_hop(replace(rule, take=(first | rule.arrived, second)))
    assert cur == dst


def test_a_rule_that_does_not_stop_where_it_should_is_refuted():
    rule = hop_rule(build("cube(2)"))
    one, zero = rule.circuit.constant(1), rule.circuit.constant(0)
    cur, dst = refuted_hop(replace(rule, arrived=one, take=(zero, zero)))
    assert cur != dst
    assert refuted_hop(replace(rule, arrived=zero, take=(one, zero)))


def test_equal_ranks_are_refuted():
    """Round a triangle in one direction: every channel has the same rank, and the ring can deadlock."""
    rule = hop_rule(build("complete(3)"))
    by_1, by_2 = rule.take
    cur, dst = refuted_hop(replace(rule, take=(by_1 | by_2, rule.circuit.constant(0))))
    assert (dst - cur) % 3 == 2


def test_a_rule_that_goes_round_for_ever_is_refuted():
    rule = hop_rule(build("torus(7)"))
    plus, minus = rule.take
    assert refuted_hop(replace(rule, take=(minus, plus)))


def ranks(rule, every_hop):
    """Return the rank of every hop, index: current node, destination; -1 where it has arrived."""
    network = rule.network
    n = network.num_nodes
    port, vc = every_hop(rule)
    digits = network.decode(np.arange(n))
    result = np.full((n, n), -1)
    operations = {
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "not": lambda a: 1 - a,
        "eq": lambda a, b: np.equal(a, b) * 1,
        "add": np.add,
        "sub": np.subtract,
        "submod": lambda a, b, n: (a - b) % n,
        "mux": lambda condition, one, zero: np.where(condition, one, zero),
    }
    for index in range(len(network.ports)):
        cur, dst = np.nonzero(port == index)
        inputs = {f"cur{i}": digit[cur] for i, digit in enumerate(digits)}
        inputs |= {f"vc{weight}": vc[cur, dst] >> weight & 1 for weight in range(len(rule.vc))}
        circuit = Circuit()
        rank = channel_rank(circuit, network, rule.modes, index)
        told = {gate.value for gate in circuit.gates if gate.op == "input"}
        assert told <= set(inputs)
        result[cur, dst] = circuit.run([rank], inputs.__getitem__, operations)[0]
    return result


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("mesh(3, 3)", ""),
        ("torus(6, 4)", ""),
        ("torus(8)", ""),
        ("rdn(torus(5), 1)", "f"),
        ("rdn(torus(4), 1)", "O"),
        ("hdn(cube(2), [[0], [0, 1]])", "Of"),
        ("hdn(torus(3), [[0], []])", "ff"),
        ("hdn(cube(1), [[0], [0], [0]])", "OfO"),
    ],
)
def test_rank_grows_along_every_route(text, modes, every_hop):
    rule = hop_rule(build(text), modes)
    n = rule.network.num_nodes
    port, vc = every_hop(rule)
    rank = ranks(rule, every_hop)
    cur, dst = np.nonzero(port >= 0)
    following = neighbor_table(rule.network)[cur, port[cur, dst]]
    onward = following != dst
    assert (rank[cur, dst] < rank[following, dst])[onward].all()
    of_channel = {}
    for key, value in zip(zip(cur, port[cur, dst], vc[cur, dst], strict=True), rank[cur, dst], strict=True):
        assert of_channel.setdefault(key, value) == value
    assert len(set(of_channel.values())) > 1
    assert n * (n - 1) == len(cur)
