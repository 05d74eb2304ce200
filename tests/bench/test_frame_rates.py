"""The bench that measures frames: what it counts agrees with what packets allow."""

import pytest

from bench.rtl.frame_rates import FrameRates, FrameTiming, FrameTimings, Latencies, Rates
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec


@pytest.fixture(scope="module")
def bench() -> FrameRates:
    """Return the bench of a small fabric."""
    return FrameRates(emit_fabric(fabric_spec("torus(3)", endpoints=AxiStreamSpec(prompt_packets=2))))


def test_frames_of_one_packet_fill_the_link(bench: FrameRates) -> None:
    """A packet has eight flits, so a sink takes a frame in eight cycles at the soonest, whoever sends."""
    one, many, lone = bench.measure(
        [
            Rates(bytes=28, destinations={0: [1]}, warmup=400, cycles=800),
            Rates(bytes=3, destinations={0: [1], 2: [1]}, warmup=400, cycles=800),
            Latencies(bytes=28, source=0, destination=1),
        ]
    )
    assert (one.frames, many.frames) == (100, 100)
    assert lone.frames == 0
    assert len(lone.latencies) == 8
    assert max(lone.latencies) - min(lone.latencies) < 8


def test_frames_of_several_packets_fill_the_link(bench: FrameRates) -> None:
    """Two packets go without a grant; three and ten ask ahead of time."""
    packets = {56: 2, 64: 3, 256: 10}
    runs = [Rates(bytes=size, destinations={0: [1]}, warmup=800, cycles=2400) for size in packets]
    runs += [Rates(bytes=size, destinations={0: [1], 2: [1]}, warmup=800, cycles=2400) for size in packets]
    for run, timing in zip(runs, bench.measure(runs), strict=True):
        assert timing.frames * packets[run.bytes] * 8 >= 0.9 * run.cycles, run


def test_a_run_without_frames_has_failed() -> None:
    assert FrameTimings(1, [FrameTiming(1, [])]).passed
    assert not FrameTimings(1, [FrameTiming(0, [])]).passed
    assert not FrameTimings(2, [FrameTiming(1, [])]).passed
