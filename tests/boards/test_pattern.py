"""The packets of the self-test: nothing is lost in them, and the random bits do not repeat soon."""

import pytest
from amaranth.hdl import Const, Module, Signal

from hdnhw.boards.pattern import LFSR_TAPS, LFSR_WIDTH, HeadFormat, lfsr_step, mix
from hdnhw.machine.flit import FlitFormat
from hdnhw.support.errors import SpecError


def evaluate(simulate, width, function, inputs):
    """Return the values of a combinational function."""
    m = Module()
    i = Signal(width)
    output = function(i)
    o = Signal(len(output))
    m.d.comb += o.eq(output)
    values = []

    async def bench(ctx):
        for value in inputs:
            ctx.set(i, value)
            values.append(ctx.get(o))

    simulate(m, bench)
    return values


@pytest.mark.parametrize("width", [1, 2, 3, 5, 6, 8, 10])
def test_mix_is_one_to_one_and_keeps_no_flit(simulate, width):
    values = evaluate(simulate, width, mix, range(1 << width))
    assert sorted(values) == list(range(1 << width))
    assert width < 3 or sum(value == flit for flit, value in enumerate(values)) <= 2


def test_random_bits_repeat_after_all_states_but_zero(simulate):
    """The step is linear: its order is 2^24 - 1 if that power is the identity and no (2^24 - 1)/p-th is."""
    columns = evaluate(simulate, LFSR_WIDTH, lfsr_step, [1 << bit for bit in range(LFSR_WIDTH)])
    assert columns[0] == LFSR_TAPS

    def apply(matrix, vector):
        image = 0
        for bit, column in enumerate(matrix):
            image ^= column if vector >> bit & 1 else 0
        return image

    def power(exponent):
        result, square = [1 << bit for bit in range(LFSR_WIDTH)], columns
        while exponent:
            if exponent & 1:
                result = [apply(square, column) for column in result]
            square = [apply(square, column) for column in square]
            exponent >>= 1
        return result

    identity, order = [1 << bit for bit in range(LFSR_WIDTH)], (1 << LFSR_WIDTH) - 1
    primes = (3, 5, 7, 13, 17, 241)
    assert order == 3**2 * 5 * 7 * 13 * 17 * 241
    assert power(order) == identity
    assert all(power(order // prime) != identity for prime in primes)


@pytest.mark.parametrize(
    ("flit_width", "address_width", "sequence_width"), [(8, 3, 2), (8, 4, 0), (32, 5, 8), (9, 2, 5)]
)
def test_heads_hold_all_fields_and_every_bit_counts(simulate, flit_width, address_width, sequence_width):
    head = HeadFormat(FlitFormat(flit_width, address_width, 2))
    assert head.sequence_width == sequence_width
    dst, src, sequence = 1, (1 << address_width) - 2, 0b10011101 & ((1 << sequence_width) - 1)
    packed = Const(sequence, sequence_width) if sequence_width else Const(0, 0)
    (word,) = evaluate(
        simulate, 1, lambda _: head.pack(Const(dst, address_width), Const(src, address_width), packed), [0]
    )
    assert word & ((1 << 2 * address_width) - 1) == src << address_width | dst
    flipped = [word ^ 1 << bit for bit in range(flit_width)]
    assert evaluate(simulate, flit_width, head.repack, [word]) == [word]
    fields = 2 * address_width + sequence_width
    again = evaluate(simulate, flit_width, head.repack, flipped)
    assert all(value != flip for value, flip in zip(again[fields:], flipped[fields:], strict=True))


def test_source_and_destination_must_fit():
    with pytest.raises(SpecError, match="flit width must be at least 8 for the self-test, not 7"):
        HeadFormat(FlitFormat(7, 4, 4))
