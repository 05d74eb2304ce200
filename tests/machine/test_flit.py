"""Packets as flits: field positions, round trips and what does not fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdnhw.machine.flit import (
    FlitFormat,
    FrameFormat,
    JointFormat,
    MessageFormat,
    PacketKind,
    RegisterFormat,
    RelayFormat,
    RelayKind,
    RelayPacket,
)
from hdnhw.spec import AxiStreamSpec, RelaySpec
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


@given(st.integers(1, 16), st.integers(0, 8), st.integers(1, 40), st.sampled_from([16, 64, 1024]), st.integers(1, 70))
def test_frames_fit_their_packets(num_bytes, address, length, longest, user):
    if 8 * num_bytes < address:
        return
    flits, endpoints = FlitFormat(8 * num_bytes, address, length), AxiStreamSpec(max_frame=longest, tuser_width=user)
    width = 2 * address + 3 + max(1, (length - 2).bit_length()) + num_bytes + user
    headers = -(-width // (8 * num_bytes))
    if length <= headers:
        least = f"packet_length must be at least {headers + 1} flits, not {length}"
        with pytest.raises(SpecError, match=f"^{least}: the header of AXI4-Stream endpoints takes {headers}$"):
            FrameFormat(flits, endpoints)
        return
    frames = FrameFormat(flits, endpoints)
    assert (frames.header_width, frames.header_flits) == (width, headers)
    assert frames.payload_flits == length - headers >= 1
    assert frames.payload_flits - 1 < 1 << frames.header_fields["end"]
    assert (frames.max_transfers - 1) * num_bytes < longest <= frames.max_transfers * num_bytes
    assert next(iter(frames.header_fields)) == "dst"
    assert frames.keep_width == num_bytes


def test_flits_of_frames_are_whole_bytes():
    with pytest.raises(SpecError, match=r"^flit_width must be a multiple of 8 bits for AXI4-Stream endpoints, not 12$"):
        FrameFormat(FlitFormat(12, 3, 8), AxiStreamSpec())


def test_bit_1_of_a_kind_says_that_there_is_no_data():
    assert [kind for kind in PacketKind if not kind & 2] == [PacketKind.FIRST, PacketKind.BODY]


@given(
    st.integers(1, 64), st.integers(0, 20), st.integers(1, 40), st.integers(1, 300), st.booleans(), st.integers(1, 256)
)
def test_messages_fit_their_packets(flit_width, address, length, num_sends, has_target, packets):
    if flit_width < address:
        return
    width = (3 if has_target else 2) * address + max(1, (num_sends - 1).bit_length()) + 4 + (packets - 1).bit_length()
    headers = -(-width // flit_width)
    flits = FlitFormat(flit_width, address, length)
    if length <= headers:
        least = f"packet_length must be at least {headers + 1} flits, not {length}"
        with pytest.raises(SpecError, match=f"^{least}: the header of collective engines takes {headers}$"):
            MessageFormat(flits, num_sends, has_target, message_packets=packets)
        return
    messages = MessageFormat(flits, num_sends, has_target, message_packets=packets)
    assert (messages.header_width, messages.header_flits) == (width, headers)
    assert messages.payload_flits == length - headers >= 1
    assert ("target" in messages.header_fields) == (has_target and address > 0)
    assert num_sends - 1 < 1 << messages.header_fields["send"]


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


def joint(flit_width):
    """Return the format of engines with messages and registers on 256 nodes."""
    flits, numbers = FlitFormat(flit_width, 8, 8), {"operators": ("sum",), "numbers": "int8", "has_kind": True}
    parts = MessageFormat(flits, 6, has_target=True, **numbers), RegisterFormat(flits, 9, **numbers)
    return JointFormat(flits, ("sum",), "int8", parts)


def test_a_head_flit_says_of_which_kind_a_packet_is():
    formats = joint(16)
    for kind, part in enumerate(formats.parts):
        assert part.header_positions["kind"] == formats.header_positions["kind"] == {"offset": 8, "width": 1}
        assert formats.part_of(0x2EFF | kind << 8) is part
    with pytest.raises(SpecError, match=r"^flit_width must be at least 9 bits for engines that move messages and comb"):
        joint(8)
