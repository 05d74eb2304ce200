"""What is made of two flits of numbers: one number of each two, by an operator."""

from collections.abc import Callable, Mapping

from amaranth.hdl import Cat, Const, Mux, Value

from hdnhw.endpoints.collective.format import NumberFormat
from hdnhw.rtl.bits import equals, selected


def combined(messages: NumberFormat, one: Value, other: Value, operator: Value) -> Value:
    """Return two flits as one.

    Parameters
    ----------
    messages : NumberFormat
        With operators.
    one, other : Value
        Numbers side by side.
    operator : Value
        Place of the operator in those of `messages`; of one alone it says nothing.
    """
    width = messages.number_width
    choices = [equals(operator, place) for place in range(len(messages.operators))]

    def number(place: int) -> Value:
        pair = one[place : place + width], other[place : place + width]
        made = [_OPERATORS[name](*pair, messages.is_signed) for name in messages.operators]
        return made[0] if len(made) == 1 else selected(choices, made)

    return Cat(number(place) for place in range(0, len(one), width))


def identity(messages: NumberFormat, operator: Value) -> Value:
    """Return a flit that changes nothing when it is combined; parameters as of :func:`combined`."""
    width, flit = messages.number_width, messages.flits.flit_width
    ones, sign = (1 << width) - 1, messages.is_signed << width - 1
    values = {"min": ones - sign, "max": sign, "and": ones}
    made = [Cat([Const(values.get(name, 0), width)] * (flit // width)) for name in messages.operators]
    choices = [equals(operator, place) for place in range(len(made))]
    return made[0] if len(made) == 1 else selected(choices, made)


def _less(one: Value, other: Value, is_signed: bool) -> Value:
    return one.as_signed() < other.as_signed() if is_signed else one < other


_OPERATORS: Mapping[str, Callable[[Value, Value, bool], Value]] = {
    "sum": lambda one, other, _: (one + other)[: len(one)],
    "min": lambda one, other, is_signed: Mux(_less(one, other, is_signed), one, other),
    "max": lambda one, other, is_signed: Mux(_less(one, other, is_signed), other, one),
    "and": lambda one, other, _: one & other,
    "or": lambda one, other, _: one | other,
    "xor": lambda one, other, _: one ^ other,
}
"""Of two numbers, and whether they have a sign, one of as many bits."""
