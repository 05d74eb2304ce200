"""Messages as packets: what fits, and which engine a packet is for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdnhw.endpoints.collective.format import JointFormat, MessageFormat, RegisterFormat
from hdnhw.machine.flit import FlitFormat
from hdnhw.support.errors import SpecError


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
            MessageFormat(flits, num_sends=num_sends, has_target=has_target, message_packets=packets)
        return
    messages = MessageFormat(flits, num_sends=num_sends, has_target=has_target, message_packets=packets)
    assert (messages.header_width, messages.header_flits) == (width, headers)
    assert messages.payload_flits == length - headers >= 1
    assert ("target" in messages.header_fields) == (has_target and address > 0)
    assert num_sends - 1 < 1 << messages.header_fields["send"]


def joint(flit_width):
    """Return the format of engines with messages and registers on 256 nodes."""
    flits, numbers = FlitFormat(flit_width, 8, 8), {"operators": ("sum",), "numbers": "int8", "has_kind": True}
    parts = MessageFormat(flits, num_sends=6, has_target=True, **numbers), RegisterFormat(flits, packets=9, **numbers)
    return JointFormat(flits, ("sum",), "int8", parts=parts)


def test_a_head_flit_says_of_which_kind_a_packet_is():
    formats = joint(16)
    for kind, part in enumerate(formats.parts):
        assert part.header_positions["kind"] == formats.header_positions["kind"] == {"offset": 8, "width": 1}
        assert formats.part_of(0x2EFF | kind << 8) is part
    with pytest.raises(SpecError, match=r"^flit_width must be at least 9 bits for engines that move messages and comb"):
        joint(8)
