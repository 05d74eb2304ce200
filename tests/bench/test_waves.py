"""Recordings of the emitted Verilog: they show what the manifest promises."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.rtl.waves import Packet, Recorder
from hdnhw.machine.timing import SlotTiming
from hdnhw.support.errors import SpecError
from tests.specs import fabric_spec

DOCS = Path(__file__).parents[2] / "docs"
LENGTH = 4
TIMING = SlotTiming(LENGTH)


@pytest.fixture(scope="module")
def recorder() -> Recorder:
    """Return the recorder of a fabric of two nodes."""
    return Recorder(fabric_spec("complete(2)", packet_length=LENGTH, flit_width=16))


@pytest.mark.parametrize("cycle", [4, 6, 7])
def test_latency_is_the_formula(recorder: Recorder, cycle: int) -> None:
    traces = recorder.record([Packet(0, 1, cycle)], cycles=40)
    assert traces.cycles == 40
    taken = traces.head_cycles("inject_0_payload", "inject_0_valid", "inject_0_ready")
    (delivered,) = traces.head_cycles("eject_1_payload", "eject_1_valid", "eject_1_ready")
    assert taken == [cycle]
    assert delivered + LENGTH - 1 - cycle == TIMING.zero_load_latency(1, cycle % LENGTH)


def test_lanes_name_the_packets(recorder: Recorder) -> None:
    traces = recorder.record([Packet(0, 1, 4), Packet(1, 0, 6)], cycles=40)
    sent = ["A"] * 4
    valid, ready, flits = traces.stream("inject_0", "in")
    assert [text for text in flits.values if text] == sent
    taken = [cycle for cycle in range(40) if valid.values[cycle] and ready.values[cycle]]
    assert taken[0] == 4
    assert taken == [cycle for cycle, text in enumerate(flits.values) if text]
    passing, credit = traces.channel("channel_0_dim0", "link")
    assert [text for text in passing.values if text] == sent
    assert any(credit.values)
    back, _ = traces.channel("channel_1_dim0", "back")
    assert [text for text in back.values if text] == ["B"] * 4
    assert set(back.colors) == {-1, 1}
    assert traces.phases().values[:6] == ["0", "1", "2", "3", "0", "1"]


def test_a_stalled_sink_takes_nothing(recorder: Recorder) -> None:
    stall = (20, 44)
    traces = recorder.record([Packet(0, 1, 0)] * 10, cycles=120, stall=stall)
    flits = traces.stream("eject_1", "out")[2].values
    assert set(flits[slice(*stall)]) == {""}
    assert [text for text in flits if text] == [name for name in "ABCDEFGHIJ" for _ in range(LENGTH)]
    assert not all(traces.wires["inject_0_ready"])


def test_marks_need_room() -> None:
    with pytest.raises(SpecError, match=r"^flit width must be at least 14 to mark flits, not 8$"):
        Recorder(fabric_spec("complete(2)", flit_width=8))


def test_the_page_shows_every_diagram() -> None:
    shown = re.findall(r"\]\((cycles-[\w-]+\.svg)\)", (DOCS / "hardware.md").read_text())
    assert sorted(shown) == sorted(path.name for path in DOCS.glob("cycles-*.svg"))
    for name in shown:
        assert ElementTree.parse(DOCS / name).getroot().tag == "{http://www.w3.org/2000/svg}svg"
