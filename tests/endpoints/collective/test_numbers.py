"""What is made of two flits of numbers, against numpy."""

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.collective.format import MessageFormat
from hdnhw.endpoints.collective.numbers import combined
from hdnhw.machine.flit import FlitFormat
from hdnhw.spec import INTEGERS, OPERATORS

WIDTH = 64
FUNCTIONS = {
    "sum": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


class Combined(wiring.Component):
    """The function as a component."""

    one: In(WIDTH)
    other: In(WIDTH)
    operator: In(3)
    o: Out(WIDTH)

    def __init__(self, messages):
        self._messages = messages
        super().__init__()

    def elaborate(self, _platform):
        m = Module()
        m.d.comb += self.o.eq(combined(self._messages, self.one, self.other, self.operator))
        return m


@pytest.mark.parametrize("numbers", INTEGERS)
def test_numbers_are_combined_as_by_numpy(simulate, numbers):
    messages = MessageFormat(FlitFormat(WIDTH, 2, 2), OPERATORS, numbers, num_sends=1, has_target=False)
    dut, rng, whole = Combined(messages), np.random.default_rng(1), np.iinfo(numbers)
    random = rng.integers(whole.min, whole.max, (2, 30 * WIDTH // whole.bits), dtype=numbers, endpoint=True)
    ends = np.array([[whole.min, whole.max, whole.min, 0], [whole.max, whole.max, whole.min, 1]], numbers)
    pairs = np.concatenate([np.tile(ends, WIDTH // whole.bits), random], axis=1).reshape(2, -1, WIDTH // whole.bits)

    async def bench(ctx):
        for operator, name in enumerate(OPERATORS):
            ctx.set(dut.operator, operator)
            due = FUNCTIONS[name](*pairs)
            for one, other, result in zip(*pairs, due, strict=True):
                ctx.set(dut.one, int.from_bytes(one.tobytes(), "little"))
                ctx.set(dut.other, int.from_bytes(other.tobytes(), "little"))
                assert ctx.get(dut.o) == int.from_bytes(result.tobytes(), "little"), (name, one, other)
                await ctx.delay(1e-9)

    simulate(dut, bench)
