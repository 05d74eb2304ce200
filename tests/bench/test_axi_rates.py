"""The bench that measures bursts: what it counts agrees with what packets allow, and wrong answers are seen."""

import pytest

from bench.rtl.axi_rates import AxiRates, BurstTiming, BurstTimings, Load, Lone
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.verilog.fabric import emit_fabric


@pytest.fixture(scope="module")
def bench() -> AxiRates:
    """Return the bench of a small fabric."""
    endpoints = AxiMemorySpec(outstanding=16)
    return AxiRates(emit_fabric(FabricSpec(network=parse("torus(3)"), endpoints=endpoints, gapless_packets=True)))


def test_a_part_leaves_in_every_slot(bench: AxiRates) -> None:
    """A part has as many beats as a packet has data flits, and a burst of one more has two parts."""
    memory, length = bench.machine.endpoint_format, bench.machine.spec.packet_length
    beats, slots = memory.payload_flits, 100
    kinds = ({"reads": True}, {"writes": True})
    reads, writes, lone, longer, own = bench.measure(
        [
            *(Load(beats=beats, memories={0: 1}, warmup=400, cycles=slots * length, **kind) for kind in kinds),
            Lone(beats=1, source=0, destination=1, write=False),
            Lone(beats=beats + 1, source=0, destination=1, write=True),
            Lone(beats=1, source=0, destination=0, write=False),
        ]
    )
    for load in (reads, writes):
        assert abs(load.beats - slots * beats) <= beats
    assert max(lone.latencies) - min(lone.latencies) < len(lone.latencies) == length
    assert min(longer.latencies) > max(lone.latencies)
    assert max(own.latencies) <= 8


def test_a_run_with_wrong_or_no_answers_has_failed() -> None:
    assert BurstTimings(1, [BurstTiming(1, [], 0)]).passed
    assert not BurstTimings(1, [BurstTiming(0, [], 0)]).passed
    assert not BurstTimings(1, [BurstTiming(1, [], 1)]).passed
    assert not BurstTimings(2, [BurstTiming(1, [], 0)]).passed
