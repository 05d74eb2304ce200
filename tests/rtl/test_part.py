# amaranth: UnusedElaboratable=no
"""Parts are joined by their members, all of them, to as many bits."""

import re

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Signal
from amaranth.hdl._ir import DriverConflict
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.part import Part, place, wires

STREAM = stream.Signature(4)
MISSING = object()


class Stage(wiring.Component):
    """A stream that goes through, and a constant."""

    def __init__(self):
        super().__init__({"number": In(2), "i": In(STREAM), "o": Out(STREAM), "taken": Out(1)})

    def elaborate(self, _):
        m = Module()
        wiring.connect(m, wiring.flipped(self.i), wiring.flipped(self.o))
        m.d.comb += self.taken.eq(self.i.valid & self.o.ready & self.number.any())
        return m


class Line(wiring.Component):
    """Two stages, the second behind the first; what the first is joined to is changed."""

    def __init__(self, module, changes, options):
        self.part, self.changes, self.options = Part(Stage, module), changes, options
        super().__init__({"i": In(STREAM), "o": Out(STREAM), "taken": Out(1).array(2)})

    def elaborate(self, _):
        m = Module()
        between = wires(STREAM, "between")
        first = {"number": Signal(2), "i": self.i, "o": between, "taken": self.taken[0]} | self.changes
        first = {name: getattr(self, value[1:]) if str(value)[0] == "." else value for name, value in first.items()}
        place(m, "first", self.part, {name: one for name, one in first.items() if one is not MISSING}, **self.options)
        second = {"number": Signal(2), "i": between, "o": self.o, "taken": self.taken[1]}
        place(m, "second", self.part, second)
        return m


def text_of(module, changes=None, **options):
    return rtlil.convert(Line(module, changes or {}, options), name="line", emit_src=False)


def test_a_wire_between_two_parts_is_one_signal_called_after_its_path():
    text = text_of("stage")
    assert len(re.findall(r"wire width 4 \\between_payload$", text, re.MULTILINE)) == 1
    assert sorted(re.findall(r"connect \\(\w+) \\between_(\w+)", text)) == sorted(
        (f"{end}__{member}", member) for end in "io" for member in ("payload", "valid", "ready")
    )


FAULTS = {
    "an input left out": ({"number": MISSING}, "first.number must be joined"),
    "an output left out": ({"taken": MISSING}, "first.taken must be joined"),
    "a channel left out": ({"o": MISSING}, "first.o.payload must be joined"),
    "a member that it does not have": ({"j": Signal()}, "first.j is not a member of it"),
    "a value of other width": ({"number": Signal(3)}, "first.number must be joined to 2 bits, not 3"),
    "a stream of other width": (
        {"o": wires(stream.Signature(5), "wide")},
        "first.o.payload must be joined to 4 bits, not 5",
    ),
    "a channel with a member more": (
        {"o": wires(wiring.Signature({**STREAM.members, "check": Out(1)}), "more")},
        "first.o.check is not a member of it",
    ),
    "a channel with a member less": (
        {"o": wires(wiring.Signature({"valid": Out(1), "ready": In(1)}), "less")},
        "first.o.payload must be joined",
    ),
    "a signal for a stream": ({"o": Signal(4)}, "first.o.payload must be joined"),
}


@pytest.mark.parametrize(("changes", "message"), FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("module", ["", "stage"])
def test_a_part_that_is_joined_otherwise_is_refused(module, changes, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        text_of(module, changes)


@pytest.mark.parametrize("module", ["", "stage"])
def test_an_output_on_a_wire_that_is_driven_is_refused(module):
    with pytest.raises(DriverConflict):
        text_of(module, {"o": ".i"})


def test_outputs_may_be_unread_if_said_so_and_inputs_are_joined():
    first = re.findall(r"cell \\stage \\first$.*?end$", text_of("stage", {"taken": MISSING}, unread=True), re.S | re.M)
    assert "connect \\taken $" in first[0]
    with pytest.raises(ValueError, match=r"first\.number must be joined"):
        text_of("stage", {"number": MISSING}, unread=True)


def test_a_part_that_stands_often_is_made_once_to_be_read():
    made = []
    part = Part(lambda: made.append(Stage()) or made[-1], "stage")
    assert part.ports is part.ports
    assert len(made) == 1
