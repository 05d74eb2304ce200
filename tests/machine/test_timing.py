"""The slot clock's figures."""

import numpy as np
import pytest

from hdnhw.machine.timing import SlotTiming, buffers_per_vc
from tests.conftest import each

FIGURES = [
    # length, hop slots, hop cycles, channel cycles, update, sample, head and tail phase, credit slots, buffers
    (1, 3, 3, 1, 0, 0, 0, 0, 1, 8),
    (2, 2, 4, 1, 0, 1, 1, 0, 0, 4),
    (3, 1, 3, 1, 1, 2, 1, 0, 0, 2),
    (4, 1, 4, 2, 2, 3, 2, 1, 0, 2),
    (7, 1, 7, 2, 2, 3, 2, 1, 0, 2),
    (8, 1, 8, 2, 3, 4, 2, 1, 0, 2),
    (256, 1, 256, 2, 3, 4, 2, 1, 0, 2),
]


@pytest.mark.parametrize("figures", FIGURES)
def test_figures(figures):
    timing = SlotTiming(figures[0])
    assert figures[1:] == (
        timing.hop_slots,
        timing.hop_cycles,
        timing.channel_cycles,
        timing.update_phase,
        timing.sample_phase,
        timing.head_phase,
        timing.tail_phase,
        timing.credit_slots,
        timing.full_rate_buffers,
    )


@each("length", range(1, 20))
def test_virtual_output_queues_have_no_register_behind_the_buffer_in_short_slots(length):
    """What they match in these cycles takes as many phases; latencies are the same."""
    fifo, voq = SlotTiming(length), SlotTiming(length, queueing="voq")
    assert (fifo.registers_flits, voq.registers_flits) == (length >= 4, length >= 8)
    assert voq.update_phase == fifo.update_phase - (4 <= length < 8)
    assert voq.zero_load_latency(3, voq.sample_phase) == fifo.zero_load_latency(3, fifo.sample_phase)


@each("queueing", ["fifo", "voq"])
@each("length", [*range(1, 20), 64, 256])
def test_relations(length, queueing):
    timing = SlotTiming(length, queueing=queueing)
    pipeline = timing.channel_cycles + 2 + timing.registers_routes
    assert timing.hop_cycles == max(length, -(-pipeline // length) * length)
    assert 0 <= timing.update_phase <= timing.sample_phase < length
    assert timing.sample_phase - timing.update_phase == (length > 1)
    assert timing.tail_phase == (timing.head_phase + length - 1) % length
    # A head flit is in its queue one or two cycles after it was on the channel: just in time for a slot's allocation,
    # or the one after that has it.
    in_queue = timing.channel_cycles + 1 + timing.registers_routes
    assert (timing.hop_slots - 1) * length + timing.sample_phase >= in_queue
    assert timing.hop_slots == 1 or (timing.hop_slots - 2) * length + timing.sample_phase < in_queue
    buffers, needed = timing.full_rate_buffers, timing.hop_slots + timing.credit_slots + 1
    assert buffers & (buffers - 1) == 0
    assert buffers // 2 < needed <= buffers


@pytest.mark.parametrize("length", [8, 9, 16])
@pytest.mark.parametrize("queueing", ["fifo", "voq"])
def test_a_register_on_the_channel_delays_what_comes_and_no_hop(length, queueing):
    without, timing = (SlotTiming(length, queueing=queueing, channel_registers=number) for number in (0, 1))
    assert timing.hop_cycles == without.hop_cycles == length
    for name in ("channel_cycles", "head_phase", "tail_phase", "update_phase", "sample_phase", "ejection_cycles"):
        assert getattr(timing, name) == getattr(without, name) + 1
    assert timing.zero_load_latency(3, timing.sample_phase) == without.zero_load_latency(3, without.sample_phase)
    assert timing.ejection_slots == without.ejection_slots


@each("length", [8, 9, 10, 16])
@each("options", [{}, {"channel_registers": 1}, {"switching": "cut-through"}])
def test_the_address_of_a_flit_in_block_ram_is_no_sooner_than_its_packet_is_known(length, options):
    timing = SlotTiming(length, **options)
    lead = timing.most_lead
    assert lead in (1, 2)
    assert length - lead > timing.sample_phase + ("credit" in timing.allocation_cuts(chooses=True))
    if timing.cuts_through and length % 2 == 0:  # in cycles from the one in which the sender reads the flit
        assert timing.channel_cycles + 1 <= timing.offset - lead


@each("length", range(8, 34, 2))
def test_a_packet_that_cuts_through_is_there_when_it_is_read(length):
    """All cycles are counted from the one in which the sender reads the head flit; the neighbor reads it L/2 later."""
    timing = SlotTiming(length, switching="cut-through")
    begins = timing.offset
    assert (timing.hop_cycles, timing.hop_slots, begins) == (length // 2, 1, length // 2)
    on_channel = timing.channel_cycles
    assert timing.head_phase == (on_channel - begins) % length
    assert timing.tail_phase == (on_channel + length - 1 - begins) % length
    assert on_channel + 1 < begins  # written, and a cycle to address block RAM
    assert timing.gives_notice == (length < 16)
    if timing.gives_notice:
        assert timing.update_phase == -begins % length  # the notice comes when the head flit is read
    else:
        assert timing.update_phase == timing.head_phase + 1 < length - 4  # the route has been computed
    assert timing.sample_phase == timing.update_phase + 1
    assert len(timing.allocation_cuts(chooses=True)) >= 3
    assert timing.buffer_slots == 1 + timing.gives_notice


@pytest.mark.parametrize("length", [8, 10, 16])
def test_zero_load_latency_to_cut_through_by_counting_cycles(length):
    """The neighbor's slot begins half a slot later: a packet that leaves with a slot is read when that begins."""
    timing = SlotTiming(length, switching="cut-through")
    for phase in range(length):
        for hops in range(4):
            tail = phase + length - 1
            while tail % length != timing.update_phase:
                tail += 1
            begin = (tail + 1) // length + 1
            read = begin * length + hops * (length // 2)
            head_out = read + timing.channel_cycles + 1
            assert timing.zero_load_latency(hops, phase) == head_out + length - 1 - phase


@each("length", [*range(1, 20), 64, 256])
@each("chooses", [False, True])
def test_what_the_registers_of_allocation_cut_is_done_when_the_slot_ends(length, chooses):
    timing = SlotTiming(length)
    cuts = timing.allocation_cuts(chooses=chooses)
    assert timing.sample_phase + len(cuts) <= length - 1 + timing.registers_flits
    # The virtual channel that is read in the next slot is told in the last phase.
    assert timing.sample_phase + len(cuts & {"credit", "choice"}) < length
    assert cuts <= ({"credit", "choice", "want", "grant"} if chooses else {"grant"})


@each("length", [*range(1, 20), 64, 256])
def test_what_leaves_is_counted_before_the_next_matching_and_matched_before_it_is_read(length):
    timing, plain = SlotTiming(length, queueing="voq"), SlotTiming(length)
    assert timing.matches_early == (length >= 8) == (timing.credit_phase != timing.update_phase)
    assert not plain.matches_early
    assert plain.credit_phase == plain.update_phase
    if timing.matches_early:
        first, second = timing.grant_phases
        # Requests are made a phase before grants: of the second round, in the phase in which packets come in.
        assert timing.credit_sample_phase <= first - 1
        assert second - 1 == timing.update_phase
        # The address of the first flit goes to block RAM in the last phase; what is matched is looked up before.
        assert timing.match_phases[0] < timing.match_phases[1] <= length - 2
        assert first + 1 <= second - 1  # who is taken in the first round makes no request in the second


@each(("length", "registers"), [*((length, 0) for length in (1, 2, 3, 5, 7, 8, 9)), (8, 1), (9, 1)])
@each("crc", [False, True])
def test_zero_load_latency_by_counting_cycles(length, registers, crc):
    """Count: the tail is accepted, the next sample phase is awaited, slots pass, the tail follows the head out.

    A head that is checked comes out two cycles after the tail was on the channel, in place of one after itself.
    """
    timing = SlotTiming(length, crc=crc, channel_registers=registers)
    for phase in range(length):
        for hops in range(4):
            tail = phase + length - 1
            while tail % length != timing.update_phase:
                tail += 1
            sample = tail + 1
            assert sample % length == timing.sample_phase
            slot = sample // length + 1 + hops * timing.hop_slots
            on_channel = slot * length + timing.channel_cycles
            head_out = on_channel + length - 1 + 2 if crc else on_channel + 1
            assert timing.zero_load_latency(hops, phase) == head_out + length - 1 - phase


GAPLESS = [
    *({"packet_length": length} for length in (2, 3, 4, 5, 7, 8, 9, 16)),
    *({"packet_length": length, "queueing": "voq"} for length in (2, 4, 7, 8, 9)),
    *({"packet_length": length, "switching": "cut-through"} for length in (8, 10, 16)),
    {"packet_length": 8, "channel_registers": 1},
    {"packet_length": 8, "crc": True},
]


@each("options", GAPLESS)
def test_zero_load_latency_of_gapless_packets_by_counting_cycles(options):
    """Count: the head is taken in its phase, its route is there in the update phase, it is read in the next slot."""
    paced, timing = SlotTiming(**options), SlotTiming(**options, gapless_packets=True)
    length = timing.packet_length
    for phase in range(length):
        for hops in range(4):
            head = phase
            while head % length != timing.injection_phase:
                head += 1
            pushed = head + timing.registers_routes
            assert pushed % length == timing.update_phase
            read = (pushed // length + 1) * length + hops * timing.hop_cycles
            tail_out = read + timing.ejection_cycles + length - 1
            assert timing.zero_load_latency(hops, phase) == tail_out - phase
    means = [np.mean([each.zero_load_latency(4, phase) for phase in range(length)]) for each in (paced, timing)]
    assert means[0] - means[1] == length - 1 - timing.registers_routes


@each("options", GAPLESS)
def test_each_flit_of_a_gapless_packet_is_written_before_it_is_read(options):
    """A flit is written as many cycles after the head as it is read after it; at most two registers are in between."""
    timing = SlotTiming(**options, gapless_packets=True)
    lead = timing.most_lead if timing.reads_block_ram else 0
    assert timing.injection_phase + 1 < timing.packet_length - lead


@each("length", [*range(1, 20), 64, 256])
@each("crc", [False, True])
@each("matches", [False, True])
def test_a_terminal_that_takes_all_at_once_sustains_one_flit_a_cycle(length, crc, matches):
    """Its buffer has a slot for each slot from sending a packet to the allocation that sees the credit."""
    timing = SlotTiming(length, crc=crc, queueing="voq" if matches else "fifo")
    tail_out = timing.ejection_cycles + length - 1
    known = tail_out + (length >= 8)  # a register in front of the credit counter, in long slots
    looks = 1 if matches and length >= 8 else timing.sample_phase
    sees = next(slot for slot in range(1, 9) if slot * length + looks > known + length)
    assert timing.ejection_slots == sees
    assert timing.ejection_slots <= timing.ejection_buffers(timing.buffers_of(1, timing.buffer_slots))
    assert timing.ejection_buffers(1) == 1 + crc
    assert timing.ejection_buffers(64) < 2 * sees


@pytest.mark.parametrize(("length", "buffers"), [(1, (8, 16, 32)), (2, (4, 8, 16)), (4, (2, 4, 8)), (8, (4, 4, 8))])
def test_default_buffers_are_those_for_full_rate_of_each_virtual_channel_and_fill_block_ram(length, buffers):
    timing = SlotTiming(length)
    assert tuple(timing.buffers_of(num_vcs, timing.buffer_slots) for num_vcs in (1, 2, 4)) == buffers
    assert timing.buffers_of(2, 200) == 256


@each("num_vcs", range(1, 9))
def test_slots_of_a_port_are_shared_evenly(num_vcs):
    for buffers in (1 << bit for bit in range(9)):
        slots = buffers_per_vc(buffers, num_vcs)
        assert slots & (slots - 1) == 0
        assert slots == 1 or slots * num_vcs <= buffers
        assert 2 * slots * num_vcs > buffers


def test_no_flits_no_packet():
    for length in (0, -1):
        with pytest.raises(ValueError, match=rf"^packet length must be at least 1 flit, not {length}$"):
            SlotTiming(length)
    with pytest.raises(TypeError):
        SlotTiming(2.0)
    assert SlotTiming(np.int64(8)) == SlotTiming(8)
