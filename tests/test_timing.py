"""The slot clock's figures."""

import numpy as np
import pytest

from hdnhw.timing import SlotTiming


@pytest.mark.parametrize(
    ("length", "hop_slots", "hop_cycles", "sample_phase", "credit_slots", "registers_requests", "buffers"),
    [
        (1, 3, 3, 0, 1, False, 8),
        (2, 2, 4, 1, 0, False, 4),
        (3, 1, 3, 2, 0, False, 2),
        (4, 1, 4, 2, 0, True, 2),
        (8, 1, 8, 2, 0, True, 2),
        (256, 1, 256, 2, 0, True, 2),
    ],
)
def test_figures(length, hop_slots, hop_cycles, sample_phase, credit_slots, registers_requests, buffers):
    timing = SlotTiming(length)
    assert (timing.hop_slots, timing.hop_cycles) == (hop_slots, hop_cycles)
    assert (timing.sample_phase, timing.credit_slots) == (sample_phase, credit_slots)
    assert timing.registers_requests == registers_requests
    assert timing.full_rate_buffers == buffers


@pytest.mark.parametrize("length", range(1, 20))
def test_relations(length):
    timing = SlotTiming(length)
    assert timing.hop_cycles == max(length, -(-3 // length) * length)
    assert 0 <= timing.sample_phase < length
    buffers, needed = timing.full_rate_buffers, timing.hop_slots + timing.credit_slots + 1
    assert buffers & (buffers - 1) == 0
    assert buffers // 2 < needed <= buffers


@pytest.mark.parametrize("length", [1, 2, 3, 5, 8])
def test_zero_load_latency_by_counting_cycles(length):
    """Count: the tail is accepted, the next sample phase is awaited, slots pass, the tail follows the head out."""
    timing = SlotTiming(length)
    for phase in range(length):
        for hops in range(4):
            cycle = phase + length
            while cycle % length != timing.sample_phase:
                cycle += 1
            slot = cycle // length + 1 + hops * timing.hop_slots
            head_out = slot * length + 2
            assert timing.zero_load_latency(hops, phase) == head_out + length - 1 - phase


def test_no_flits_no_packet():
    for length in (0, -1):
        with pytest.raises(ValueError, match=rf"^packet length must be at least 1 flit, not {length}$"):
            SlotTiming(length)
    with pytest.raises(TypeError):
        SlotTiming(2.0)
    assert SlotTiming(np.int64(8)) == SlotTiming(8)
