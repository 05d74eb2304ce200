"""Rules in the core decide as the interpreted ones do, at addresses that name no node, too."""

import numpy as np
import pytest

from hdnhw.core.rule import OPERATIONS, CoreRule, assigned
from hdnhw.networks.build import build
from hdnhw.rules.compiled import core_rule, interpret_rule
from hdnhw.rules.of_network import rule_of
from hdnhw.rules.table import TableRule
from hdnhw.topology.address import AddressLayout
from tests.conftest import each

PAIRS = 5000
"""Drawn for each rule; of a small network these are all, and many twice."""

SIZES = (1, 7, 8, 9, 31, 32, 33, 127, 128, 129, 1000)
"""Of calls: decisions are made in vectors of 8, 32 and 128."""


def agrees(text, modes=None):
    """Compare drawn decisions of one rule; return it."""
    rule = rule_of(build(text), modes)
    width = AddressLayout(rule.network).width
    rng = np.random.default_rng(1)
    at = rule.network.num_nodes if isinstance(rule, TableRule) else 1 << width
    cur, dst = rng.integers(at, size=PAIRS), rng.integers(1 << width, size=PAIRS)
    dst[::7] = cur[::7]
    route, in_core = interpret_rule(rule), core_rule(rule)
    expected = np.array([route(*pair) for pair in zip(cur.tolist(), dst.tolist(), strict=True)])
    assert len(np.unique(expected)) > 1
    assert np.array_equal(in_core.decide(cur, dst), expected)
    for size in SIZES:
        assert np.array_equal(in_core.decide(cur[:size], dst[:size]), expected[:size]), size
    return rule


@each(
    ("text", "modes"),
    [
        ("cube(1)", None),
        ("mesh(4, 3)", None),
        ("ghc(3, 5)", None),
        ("torus(6, 3)", None),
        ("product(mesh(2, 3), torus(4), complete(3))", None),
        ("dualcube(3)", None),
        ("rdn(cube(3), 1)", None),
        ("rdn(torus(6), 1)", "O"),
        ("rdn(cube(3), 2)", None),
        ("hdn(cube(3), [[2], [0, 1, 2]])", None),
        ("hdn(cube(2), [[0, 1], [1]])", "Of"),
        ("hdn(torus(5), [[0], []])", "ff"),
    ],
)
def test_gates_decide_as_the_interpreted_rule(text, modes):
    assert not isinstance(agrees(text, modes), TableRule)


@each("text", ["kautz(2, 3)", "debruijn(2, 4)", "hsn(2, mesh(2, 6), top=4)"])
def test_tables_decide_as_the_interpreted_rule(text):
    assert isinstance(agrees(text), TableRule)


def test_pairs_are_broadcast():
    rule = core_rule(rule_of(build("rdn(cube(2), 1)")))
    nodes = np.arange(32)
    matrix = rule.decide(nodes[:, None], nodes)
    assert matrix.shape == (32, 32)
    assert all(matrix[a, b] == rule.decide(a, b) for a in nodes for b in nodes[::5])


NAMES = list(OPERATIONS)


def drawn_gates(rng, count, wide):
    """Draw gates that each may read all before, inputs first; small constants keep numbers small."""
    gates = [(OPERATIONS["cur"], 0, 1, 0, 0, wide or 7), (OPERATIONS["dst"], 1, 0, 0, 0, wide or 3)]
    for number in range(2, count):
        name = rng.choice([name for name in NAMES if name not in ("add", "attach") or rng.random() < 0.3])
        places = rng.integers(4 if name in ("cur", "dst") else number, size=3).tolist()
        gates.append((OPERATIONS[name], number, *places, int(rng.choice([1, 3]))))
    return gates


def meaning(name, at, a, b, c, value):
    """Return what an operation gives for a pair of addresses, three arguments (of inputs: an offset) and a constant."""
    match name:
        case "const":
            return value
        case "cur" | "dst":
            return at[name == "dst"] // 2**a % (value + 1)
        case "and":
            return a & b
        case "or":
            return a | b
        case "not":
            return 1 - a
        case "eq":
            return int(a == b)
        case "lt":
            return int(a < b)
        case "add":
            return a + b
        case "sub":
            return a - b
        case "submod":
            return a - b if a >= b else a - b + value
        case "odd":
            return a % 2
        case "mux":
            return b if a else c
        case "select":
            return value if a else b
        case "attach":
            return a | b * 2**value


def values_of(gates, at):
    """Return what each gate is for a pair of addresses, without any register."""
    values = []
    for op, _, *places, value in gates:
        is_input = NAMES[op] in ("cur", "dst")
        values.append(meaning(NAMES[op], at, *(place if is_input else values[place] for place in places), value))
    return values


@each(("wide", "bits"), [(0, 15), ((1 << 16) - 1, 31)])
def test_every_operation_and_every_register_is_right(wide, bits):
    """Of programs at random any gate may be the result, long after the registers of others were used again."""
    rng = np.random.default_rng(2)
    pairs = rng.integers(0, wide or 64, (20, 2))
    seen = set()
    for _ in range(100):
        gates = drawn_gates(rng, 24, wide)
        values = [values_of(gates, pair) for pair in pairs.tolist()]
        if not all(abs(value) < 1 << bits for row in values for value in row):
            continue
        for result in rng.integers(0, 24, 3).tolist():
            found = CoreRule.of_gates(gates, result).decide(pairs[:, 0], pairs[:, 1])
            assert found.tolist() == [row[result] for row in values], (gates, result)
        seen |= {NAMES[gate[0]] for gate in gates}
    assert seen == OPERATIONS.keys()


def test_registers_are_used_again():
    first = (OPERATIONS["cur"], 0, 0, 0, 0, 1)
    chain = [first, *((OPERATIONS["not"], number, number - 1, 0, 0, 0) for number in range(1, 50))]
    assert assigned(chain, 49)[1] <= 2


def test_an_address_that_is_too_wide_is_refused():
    rule = core_rule(rule_of(build("cube(2)")))
    with pytest.raises(OverflowError):
        rule.decide(1 << 40, 0)
