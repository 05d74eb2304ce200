"""Operations of circuits on Amaranth values, against those on integers."""

from itertools import product

import pytest
from amaranth.hdl import Const, Module, Signal

from hdnhw.routing.circuit import INTEGER_OPERATIONS, Circuit
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.circuit import OPERATIONS


@pytest.mark.parametrize("radix", range(2, 9))
def test_sums_and_differences(simulate, radix):
    circuit = Circuit()
    a, b = (circuit.input(name, radix) for name in "ab")
    negative = circuit.constant(0).submod(b, radix)
    outputs = [a.submod(b, radix), negative, a.submod(negative, radix)]
    m, sides = Module(), {name: Signal(index_width(radix), name=name) for name in "ab"}
    results = [Signal(index_width(radix), name="result") for _ in outputs]
    values = circuit.run(outputs, sides.__getitem__, OPERATIONS, Const)
    m.d.comb += [result.eq(value) for result, value in zip(results, values, strict=True)]

    async def bench(ctx):
        for one, other in product(range(radix), repeat=2):
            ctx.set(sides["a"], one)
            ctx.set(sides["b"], other)
            due = [(one - other) % radix, -other % radix, (one + other) % radix]
            assert [ctx.get(result) for result in results] == due

    simulate(m, bench)


def test_what_is_there():
    assert set(OPERATIONS) == set(INTEGER_OPERATIONS) - {"add", "sub"}
