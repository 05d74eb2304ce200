"""Packets by waypoints: round trips, where the bits lie, and what does not fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdnhw.endpoints.relay.format import RelayFormat, RelayKind, RelayPacket
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.machine.flit import FlitFormat
from hdnhw.support.errors import SpecError


@given(st.integers(1, 8), st.integers(1, 12), st.integers(0, 40), st.integers(1, 9), st.data())
def test_packets_by_waypoints_make_round_trips(most, address, spare, length, data):
    header = 2 * address + 2 + most.bit_length() + most * address
    packets = RelayFormat(FlitFormat(header + spare, address, length), RelaySpec(waypoints=most))
    assert (packets.header_width, packets.header_flits) == (header, 1)
    assert packets.payload_width == spare + (length - 1) * (header + spare)
    stops = data.draw(st.lists(st.integers(0, (1 << address) - 1), min_size=1, max_size=most + 1))
    payload = data.draw(st.integers(0, (1 << packets.payload_width) - 1))
    words = packets.pack(stops, payload)
    assert len(words) == length
    # Stops are counted from the destination, which is the first one.
    behind = tuple(reversed(stops[1:]))
    assert packets.unpack(words) == RelayPacket(
        dst=stops[0],
        src=0,
        kind=RelayKind.DATA,
        left=len(stops) - 1,
        stops=behind + (0,) * (most - len(behind)),
        payload=payload,
    )


def test_where_the_bits_of_stops_lie():
    packets = RelayFormat(FlitFormat(24, 4, 2), RelaySpec(waypoints=2))
    assert packets.header_positions == {
        "dst": {"offset": 0, "width": 4},
        "src": {"offset": 4, "width": 4},
        "kind": {"offset": 8, "width": 2},
        "left": {"offset": 10, "width": 2},
        "stop_1": {"offset": 12, "width": 4},
        "stop_2": {"offset": 16, "width": 4},
    }
    assert packets.pack([0xA, 0xB, 0xC], 0x7654321) == [0x1BC_80A, 0x765432]
    assert packets.unpack([0x1BC_BFA, 0]) == RelayPacket(dst=10, src=15, kind=3, left=2, stops=(12, 11), payload=1)


@pytest.mark.parametrize(
    ("stops", "payload"), [([], 0), ([1] * 4, 0), ([1, 16], 0), ([1, -1], 0), ([1], 1 << 28), ([1], -1)]
)
def test_packets_by_waypoints_that_do_not_fit(stops, payload):
    packets = RelayFormat(FlitFormat(24, 4, 2), RelaySpec(waypoints=2))
    with pytest.raises(ValueError, match="packet must have") as caught:
        packets.pack(stops, payload)
    rule = "packet must have 1 to 3 stops of 4 bits and 28 bits of payload"
    assert str(caught.value) == f"{rule}, not {stops} and {payload:#x}"


def test_headers_of_relays_are_in_the_head_flit():
    assert RelayFormat(FlitFormat(15, 4, 1), RelaySpec()).payload_width == 0
    with pytest.raises(SpecError, match=r"^flit_width must be at least the 15 header bits of relays, not 14$"):
        RelayFormat(FlitFormat(14, 4, 8), RelaySpec())
