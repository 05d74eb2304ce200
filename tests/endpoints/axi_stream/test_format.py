"""Frames as packets: what fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdnhw.endpoints.axi_stream.format import FrameFormat, PacketKind
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.machine.flit import FlitFormat
from hdnhw.support.errors import SpecError


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
