"""Expressions of bits against Python, on all small values."""

import pytest
from amaranth.hdl import Cat, Const, Module, Signal, Value

from hdnhw.rtl.bits import (
    add,
    below,
    counted,
    equal,
    equals,
    filled,
    first_of,
    index_width,
    less,
    next_flit,
    subtract_modulo,
)
from tests.conftest import each

WIDTHS = [1, 2, 3, 4]


def tabulate(simulate, widths, expressions):
    """Return the value of each of `expressions` for all values of signals of `widths`, by these values."""
    m, signals = Module(), [Signal(width) for width in widths]
    results = [Signal.like(Value.cast(expression), name="result") for expression in expressions(*signals)]
    m.d.comb += [result.eq(expression) for result, expression in zip(results, expressions(*signals), strict=True)]
    table = {}

    async def bench(ctx):
        for number in range(1 << sum(widths)):
            ctx.set(Cat(signals), number)
            table[tuple(ctx.get(signal) for signal in signals)] = [ctx.get(result) for result in results]

    simulate(m, bench)
    assert len(table) == 1 << sum(widths)
    return table


@pytest.mark.parametrize("width", WIDTHS)
def test_equals(simulate, width):
    constants = range(1 << width)
    table = tabulate(simulate, [width], lambda value: [equals(value, constant) for constant in constants])
    assert table == {(value,): [value == constant for constant in constants] for value in range(1 << width)}


@pytest.mark.parametrize("width", WIDTHS)
def test_below(simulate, width):
    constants = range((1 << width) + 3)
    table = tabulate(simulate, [width], lambda value: [below(value, constant) for constant in constants])
    assert table == {(value,): [value < constant for constant in constants] for value in range(1 << width)}


@pytest.mark.parametrize("widths", [(1, 1), (1, 3), (3, 2), (2, 4)])
def test_values_of_any_widths(simulate, widths):
    table = tabulate(
        simulate, widths, lambda one, other: [equal(one, other), less(one, other), add(one, other), add(one, Const(2))]
    )
    for (one, other), found in table.items():
        assert found == [one == other, one < other, one + other, one + 2]


def test_filled_up_to_a_power_of_two():
    values = [Signal(name=f"value_{number}") for number in range(5)]
    assert filled(values[:1]) == values[:1]
    assert filled(values[:4]) == values[:4]
    assert [value.name for value in filled(values)] == [f"value_{min(number, 4)}" for number in range(8)]


@pytest.mark.parametrize("width", WIDTHS)
def test_subtract_modulo(simulate, width):
    moduli = range(1, (1 << width) + 1)
    table = tabulate(
        simulate, [width, width], lambda one, other: [subtract_modulo(one, other, modulus) for modulus in moduli]
    )
    for (one, other), differences in table.items():
        for modulus, difference in zip(moduli, differences, strict=True):
            if max(one, other) < modulus:
                assert difference == (one - other) % modulus


@pytest.mark.parametrize("width", WIDTHS)
def test_results_are_as_wide_as_they_must_be(width):
    value = Signal(width)
    assert len(equals(value, 1)) == len(below(value, 1)) == len(below(value, 1 << width)) == 1
    assert all(len(subtract_modulo(value, value, modulus)) == width for modulus in range(1, (1 << width) + 1))


def test_index_width():
    assert [index_width(count) for count in (1, 2, 3, 4, 5, 8, 9)] == [1, 1, 2, 2, 3, 3, 4]


@each("length", range(1, 41))
def test_next_flit_passes_every_code_once_and_comes_back_to_0(simulate, length):
    width = index_width(length)
    table = tabulate(simulate, [width], lambda flit: [next_flit(flit, length)])
    codes = [0]
    for _ in range(length):
        codes.append(table[codes[-1],][0])
    assert codes[-1] == 0
    assert len(set(codes[:-1])) == length
    assert len(next_flit(Signal(width), length)) == width


@pytest.mark.parametrize("width", WIDTHS)
def test_counted(simulate, width):
    table = tabulate(simulate, [width, 1, 1], lambda level, up, down: [counted(level, up, down)])
    assert table == {
        (level, up, down): [(level + up - down) % (1 << width)]
        for level in range(1 << width)
        for up in (0, 1)
        for down in (0, 1)
    }


@pytest.mark.parametrize("width", WIDTHS)
def test_first_of(simulate, width):
    table = tabulate(simulate, [width], lambda bits: [first_of(bits)])
    assert table == {(bits,): [bits & -bits] for bits in range(1 << width)}
