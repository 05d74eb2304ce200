"""Fabrics without initial values: whatever registers and memories hold, a short reset is enough."""

import dataclasses
import shutil
from typing import Any

import numpy as np
import pytest

from hdnhw.endpoints.axi_stream.bench import AxiBench
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.endpoints.collective.bench import CollectiveBench
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.exchange.bench import ExchangeBench
from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.endpoints.relay.bench import RelayBench
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.sim.streams import StreamBench
from hdnhw.topology.faults import draw_faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

STARTS = (1, 2, 3)
"""Seeds of what registers and memories hold before the reset."""


def emitted(text: str, **options: Any) -> Any:
    return emit_fabric(fabric_spec(text, **options), initial=False)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("rdn(cube(1), 1)", {"queueing": "voq", "buffers": 8, "dead_pins": True, "crc": True}),
        ("mesh(2, 3)", {"queueing": "voq", "buffers": 8, "packet_length": 4}),
        ("torus(5)", {"packet_length": 1, "queueing": "voq", "buffers": 16}),
        ("mesh(2, 3)", {"flit_width": 8, "crossbar": "output"}),
        ("mesh(3)", {"dead_pins": True, "crc": True}),
        ("cube(2)", {"switching": "cut-through"}),
        ("cube(2)", {"channel_latency": "2", "ram": "distributed"}),
        ("torus(5)", {"packet_length": 4, "lanes": 2}),
        ("rdn(cube(1), 1)", {"packet_length": 2}),
        ("torus(5)", {"packet_length": 1}),
    ],
)
def test_packets_after_one_cycle_of_reset(text: str, options: dict[str, Any]) -> None:
    bench = StreamBench(emitted(text, **options))
    for bench.start in STARTS:
        for test, packets in (("hops", 0), ("random", 300)):
            verdict = bench.run(test, packets=packets, seed=bench.start).verdict
            assert verdict.passed, (bench.start, test, verdict)
            assert verdict.packets >= 0.9 * packets  # the others are for no node


def test_what_starts_at_random_needs_the_reset() -> None:
    """The seeds reach the modules: with the reset cut off, nothing comes out as it should."""
    fabric = emitted("complete(2)", packet_length=4)
    text = fabric.files["fabric.sv"]
    assert text.count(".rst(rst)") == 4
    cut = dataclasses.replace(fabric, files=fabric.files | {"fabric.sv": text.replace(".rst(rst)", ".rst(1'h0)")})
    bench = StreamBench(cut)
    verdicts = []
    for bench.start in STARTS:
        verdicts.append(bench.run("hops").verdict)
    assert not any(verdict.passed for verdict in verdicts)
    assert len({str(verdict) for verdict in verdicts}) > 1


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="iverilog is not installed")
def test_no_x_is_left_under_icarus() -> None:
    """Its registers begin as X, and an X that reaches a stream is a mismatch."""
    bench = StreamBench(emitted("rdn(cube(1), 1)", queueing="voq", buffers=8), simulator="icarus")
    verdict = bench.run("random", packets=60).verdict
    assert verdict.passed, verdict


@pytest.mark.parametrize("sizes", [{}, {"packet_length": 4, "flit_width": 64}])
def test_frames_after_two_cycles_of_reset(sizes: dict[str, int]) -> None:
    bench = AxiBench(emitted("torus(3)", endpoints=AxiStreamSpec(max_frame=64), **sizes))
    for bench.start in STARTS:
        verdict = bench.run_case(bench.make_case(frames=100, seed=bench.start)).verdict
        assert verdict.passed, (bench.start, verdict)


def test_relays_after_one_cycle_of_reset() -> None:
    bench = RelayBench(emitted("cube(2)", dead_pins=True, endpoints=RelaySpec()))
    faults = draw_faults(neighbor_table(bench.machine.network), np.random.default_rng(1), channels=1)
    for bench.start in STARTS:
        verdict = bench.run_case(bench.make_case(faults, packets=300, seed=bench.start)).verdict
        assert verdict.passed, (bench.start, verdict)


@pytest.mark.parametrize("at_once", [False, True])
def test_generators_after_one_cycle_of_reset(at_once: bool) -> None:
    bench = ExchangeBench(emitted("hdn(cube(1), [[]])", endpoints=ExchangeSpec(at_once=at_once)))
    for bench.start in STARTS:
        assert bench.measure()["delivered"], bench.start


def test_engines_after_one_cycle_of_reset() -> None:
    bench = CollectiveBench(emitted("hdn(cube(1), [[]])", endpoints=CollectiveSpec()))
    for bench.start in STARTS:
        assert bench.measure("exchange")["delivered"], bench.start
