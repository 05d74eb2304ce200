"""Circuits: every gate, what is folded and shared, and random expressions against plain Python."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdnhw.circuits.circuit import INTEGER_OPERATIONS, Circuit, Gate

RADICES = {"p": 2, "q": 2, "u": 5, "v": 5, "w": 3}
INPUTS = [dict(zip(RADICES, values, strict=True)) for values in product(*map(range, RADICES.values()))]


def terms_of(circuit):
    """Return the inputs by name and some constants by value."""
    inputs = {name: circuit.input(name, radix) for name, radix in RADICES.items()}
    return inputs | {value: circuit.constant(value) for value in range(-1, 6)}


def value_of(circuit, term, inputs):
    (value,) = circuit.run([term], inputs.__getitem__)
    return value


TRUTHS = st.one_of(st.sampled_from(["p", "q"]), st.sampled_from([0, 1]))
DIGITS = st.one_of(st.sampled_from(["u", "v"]), st.integers(0, 4))
NUMBERS = st.one_of(st.sampled_from(list(RADICES)), st.integers(-7, 7))


@st.composite
def expressions(draw, truth=True, depth=4):
    """Draw an expression: an input's name, a constant, or (operation, *operands)."""
    if depth == 0:
        return draw(TRUTHS if truth else NUMBERS)
    one, number = expressions(depth=depth - 1), expressions(truth=False, depth=depth - 1)
    pair = {True: [one, one], False: [number, number]}
    kinds = {
        True: [("not", [one]), ("and", pair[True]), ("or", pair[True]), ("eq", pair[False]), ("lt", pair[False])],
        False: [("add", pair[False]), ("sub", pair[False]), ("submod", [DIGITS, DIGITS])],
    }[truth]
    name, operands = draw(st.sampled_from([*kinds, ("mux", [one, *pair[truth]]), ("leaf", [])]))
    if name == "leaf":
        return draw(TRUTHS if truth else NUMBERS)
    return (name, *(draw(operand) for operand in operands))


def built(circuit, expression):
    """Return the term of an expression."""
    if isinstance(expression, str):
        return circuit.input(expression, RADICES[expression])
    if isinstance(expression, int):
        return circuit.constant(expression)
    name, *operands = expression
    terms = [built(circuit, operand) for operand in operands]
    return {
        "not": lambda a: ~a,
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "eq": lambda a, b: a.eq(b),
        "lt": lambda a, b: a.lt(b),
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "submod": lambda a, b: a.submod(b, 5),
        "mux": lambda c, a, b: c.mux(a, b),
    }[name](*terms)


def computed(expression, inputs):
    """Return the value of an expression by plain Python, with no circuit."""
    if isinstance(expression, str):
        return inputs[expression]
    if isinstance(expression, int):
        return expression
    name, *operands = expression
    values = [computed(operand, inputs) for operand in operands]
    return {
        "not": lambda a: not a,
        "and": lambda a, b: a and b,
        "or": lambda a, b: a or b,
        "eq": lambda a, b: a == b,
        "lt": lambda a, b: a < b,
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "submod": lambda a, b: (a - b) % 5,
        "mux": lambda c, a, b: a if c else b,
    }[name](*values)


@given(st.one_of(expressions(), expressions(truth=False)))
def test_folding_changes_no_value(expression):
    circuit = Circuit()
    term = built(circuit, expression)
    for inputs in INPUTS:
        value = computed(expression, inputs)
        assert value_of(circuit, term, inputs) == value
        assert term.low <= value <= term.high
        assert term.constant in (None, value)


@given(st.lists(expressions(), min_size=1, max_size=4))
def test_gates_read_earlier_gates_and_none_is_there_twice(drawn):
    circuit = Circuit()
    terms = [built(circuit, expression) for expression in drawn]
    assert len(set(circuit.gates)) == len(circuit.gates)
    assert all(argument < index for index, gate in enumerate(circuit.gates) for argument in gate.args)
    count = len(circuit.gates)
    assert [built(circuit, expression).index for expression in drawn] == [term.index for term in terms]
    assert len(circuit.gates) == count
    assert all(circuit.term(term.index) is term for term in terms)


@pytest.mark.parametrize(
    ("op", "args", "value"),
    [
        ("and", (1, 1), 1),
        ("and", (1, 0), 0),
        ("or", (0, 0), 0),
        ("or", (0, 1), 1),
        ("not", (0,), 1),
        ("not", (1,), 0),
        ("eq", (3, 3), 1),
        ("eq", (3, 2), 0),
        ("lt", (2, 3), 1),
        ("lt", (3, 3), 0),
        ("add", (2, 3), 5),
        ("sub", (2, 3), -1),
        ("submod", (2, 3, 5), 4),
        ("odd", (3,), 1),
        ("odd", (4,), 0),
        ("submod", (3, 2, 5), 1),
        ("mux", (1, 7, 9), 7),
        ("mux", (0, 7, 9), 9),
    ],
)
def test_each_gate(op, args, value):
    circuit = Circuit()
    names = [f"x{position}" for position in range(len(args))]
    terms = [circuit.input(name, 10) for name in names]
    gate = circuit.gate(op, terms, -10, 20)
    assert circuit.gates[gate.index] == Gate(op, tuple(term.index for term in terms))
    result = value_of(circuit, gate, dict(zip(names, args, strict=True)))
    assert (result, type(result)) == (value, int)


def test_every_operation_is_tested():
    assert sorted(INTEGER_OPERATIONS) == ["add", "and", "eq", "lt", "mux", "not", "odd", "or", "sub", "submod"]


FOLDED = [
    (lambda x: x["p"] & x[1], "p"),
    (lambda x: x[1] & x["p"], "p"),
    (lambda x: x["p"] & x[0], 0),
    (lambda x: x[0] & x["p"], 0),
    (lambda x: x["p"] & x["p"], "p"),
    (lambda x: x["p"] | x[0], "p"),
    (lambda x: x[0] | x["p"], "p"),
    (lambda x: x["p"] | x[1], 1),
    (lambda x: x[1] | x["p"], 1),
    (lambda x: x["p"] | x["p"], "p"),
    (lambda x: ~x[0], 1),
    (lambda x: ~x[1], 0),
    (lambda x: ~~x["p"], "p"),
    (lambda x: x["u"].eq(x["u"]), 1),
    (lambda x: x["u"].eq(x[5]), 0),
    (lambda x: x[-1].eq(x["u"]), 0),
    (lambda x: x[3].eq(x[3]), 1),
    (lambda x: x["p"].eq(x[1]), "p"),
    (lambda x: x["u"].lt(x[5]), 1),
    (lambda x: x["u"].lt(x[0]), 0),
    (lambda x: x[4].lt(x["u"]), 0),
    (lambda x: x[-1].lt(x["u"]), 1),
    (lambda x: x[1].mux(x["u"], x["v"]), "u"),
    (lambda x: x[0].mux(x["u"], x["v"]), "v"),
    (lambda x: x["p"].mux(x["u"], x["u"]), "u"),
    (lambda x: x["p"].mux(x[1], x[0]), "p"),
]


@pytest.mark.parametrize(("make", "folded"), FOLDED, ids=range(len(FOLDED)))
def test_what_needs_no_gate(make, folded):
    circuit = Circuit()
    x = terms_of(circuit)
    term = make(x)
    assert term is x[folded]
    assert term.constant == (folded if isinstance(folded, int) else None)
    assert circuit.needed([term]) == [term.index]


@pytest.mark.parametrize(
    ("make", "op"),
    [
        (lambda x: x["p"].eq(x[0]), "not"),
        (lambda x: x["p"].mux(x[1], x["q"]), "or"),
        (lambda x: x["p"].mux(x["q"], x[0]), "and"),
        (lambda x: x["p"].mux(x[0], x["q"]), "and"),
        (lambda x: x["p"].mux(x["q"], x[1]), "or"),
        (lambda x: x["p"].mux(x["q"], x["u"]), "mux"),
    ],
)
def test_what_becomes_a_plainer_gate(make, op):
    circuit = Circuit()
    assert circuit.gates[make(terms_of(circuit)).index].op == op


def test_all_of_and_any_of():
    circuit = Circuit()
    p, q = circuit.input("p", 2), circuit.input("q", 2)
    assert [circuit.all_of([]).constant, circuit.any_of([]).constant] == [1, 0]
    assert circuit.all_of([p]) is circuit.any_of([p]) is p
    for one, other in product((0, 1), repeat=2):
        values = circuit.run([circuit.all_of([p, q]), circuit.any_of([p, q])], {"p": one, "q": other}.__getitem__)
        assert values == [one & other, one | other]


def test_equal_gates_are_shared():
    circuit = Circuit()
    x = terms_of(circuit)
    assert x["u"] + x["v"] is x["u"] + x["v"]
    assert x["u"] - x["v"] is not x["v"] - x["u"]
    assert circuit.constant(3) is circuit.constant(3)
    assert circuit.input("u", 5) is x["u"]


def test_run_evaluates_what_the_outputs_need_and_nothing_else():
    circuit = Circuit()
    x = terms_of(circuit)
    total = x["u"] + circuit.constant(2)
    unused = x["p"] & x["w"].lt(x["v"])
    asked = []
    assert circuit.run([total, total, x["u"]], lambda name: asked.append(name) or 3) == [5, 5, 3]
    assert asked == ["u"]
    assert unused.index not in circuit.needed([total])
    assert circuit.needed([total]) == sorted({total.index, x["u"].index, circuit.constant(2).index})
    assert circuit.run([], {}.__getitem__) == []


def test_run_on_values_of_another_kind():
    circuit = Circuit()
    x = terms_of(circuit)
    words = {op: lambda *args, op=op: f"{op}({', '.join(args)})" for op in INTEGER_OPERATIONS}
    term = x["u"].lt(x["v"]).mux(x["u"].submod(x["v"], 5), circuit.constant(3))
    told = circuit.run([term], str.upper, words, lambda value: f"#{value}")
    assert told == ["mux(lt(U, V), submod(U, V, #5), #3)"]
