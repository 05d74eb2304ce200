"""The memories of AXI4-Stream endpoints: room for what decision 26 says must have room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdnhw.endpoints.axi_stream.format import FrameFormat
from hdnhw.endpoints.axi_stream.format_pool import FramePool
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.machine.flit import FlitFormat
from hdnhw.support.errors import SpecError


def pool_of(nodes, longest, length=8, width=32, **options):
    flits = FlitFormat(width, max(1, (nodes - 1).bit_length()), length)
    return FramePool(FrameFormat(flits, AxiStreamSpec(max_frame=longest, **options)), nodes)


@given(
    st.integers(1, 256),
    st.integers(4, 14).map(lambda bits: 1 << bits),
    st.integers(5, 20),
    st.sampled_from((8, 16, 32, 64)),
    st.none() | st.integers(2, 6),
)
def test_a_full_pool_holds_a_complete_frame(nodes, longest, length, width, prompt):
    try:
        pool = pool_of(nodes, longest, length, width, prompt_packets=prompt)
    except SpecError:
        return
    frames = pool.frames
    assert (pool.most_packets - 1) * frames.payload_flits < frames.max_transfers
    assert pool.most_packets * frames.payload_flits >= frames.max_transfers
    assert pool.slots & pool.slots - 1 == 0
    assert pool.slots >= nodes * (pool.prompt - 1) + pool.reserve
    if not pool.grants:
        assert pool.reserve >= 1
        return
    assert pool.reserve >= pool.longest_need >= 2
    assert 2 <= pool.most_asked <= pool.reserve
    assert pool.most_asked < (1 << pool.request_width) - 1
    assert len({pool.count(packets) for packets in range(1, pool.most_packets + 1)}) == pool.most_packets
    assert pool.count(pool.most_packets) == pool.longest_need


def test_defaults_take_64_bytes_without_a_grant_up_to_32_nodes():
    for nodes in (2, 8, 16, 32):
        pool = pool_of(nodes, 1024)
        assert pool.prompt * pool.frames.payload_flits * 4 >= 64
    assert pool_of(64, 1024).prompt == 2


def test_no_more_than_the_longest_frame_goes_without_a_grant():
    assert pool_of(8, 64, prompt_packets=3).grants is False
    with pytest.raises(SpecError, match=r"^prompt_packets must be at most 3, not 4: the longest frame has 3$"):
        pool_of(8, 64, prompt_packets=4)
