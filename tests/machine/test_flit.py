"""Packets as flits: field positions, round trips and what does not fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdnhw.machine.flit import FlitFormat
from hdnhw.support.errors import SpecError


@st.composite
def formats(draw):
    width = draw(st.integers(1, 70))
    return FlitFormat(width, draw(st.integers(0, width)), draw(st.integers(1, 9)))


@given(formats(), st.data())
def test_round_trip(flits, data):
    destination = data.draw(st.integers(0, (1 << flits.address_width) - 1))
    payload = data.draw(st.integers(0, (1 << flits.payload_width) - 1))
    words = flits.pack(destination, payload)
    assert len(words) == flits.packet_length
    assert all(0 <= word < 1 << flits.flit_width for word in words)
    assert flits.unpack(words) == (destination, payload)
    assert words[0] & ((1 << flits.address_width) - 1) == destination
    rest = (1 << flits.head_payload_width) - 1
    assert words[0] >> flits.address_width == payload & rest
    for position, word in enumerate(words[1:]):
        assert word == payload >> (flits.head_payload_width + position * flits.flit_width) & (
            (1 << flits.flit_width) - 1
        )


def test_where_the_bits_lie():
    flits = FlitFormat(8, 3, 3)
    assert (flits.head_payload_width, flits.payload_width) == (5, 21)
    assert flits.pack(0b101, 0b11000010_10000001_10110) == [0b10110_101, 0b10000001, 0b11000010]


def test_widths_at_the_limit():
    flits = FlitFormat(4, 4, 1)
    assert (flits.head_payload_width, flits.payload_width) == (0, 0)
    assert flits.pack(15, 0) == [15]
    with pytest.raises(SpecError, match=r"^flit_width must be at least the network's 5 address bits, not 4$"):
        FlitFormat(4, 5, 1)


@pytest.mark.parametrize(("destination", "payload"), [(8, 0), (-1, 0), (0, 1 << 21), (0, -1)])
def test_what_does_not_fit(destination, payload):
    message = f"packet must have 3 bits of destination and 21 of payload, not {destination:#x} and {payload:#x}"
    with pytest.raises(ValueError, match="packet must have") as caught:
        FlitFormat(8, 3, 3).pack(destination, payload)
    assert str(caught.value) == message
