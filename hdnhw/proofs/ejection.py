"""The ejection buffer: each flit comes out once, in order and unchanged; a packet's credit when its tail is taken.

Around it stand a router that sends whenever it likes and has a credit, and a sink that takes what it likes. The rig
marks one flit, any one, and watches one bit of it, of any value.
"""

from contextlib import suppress

from hdnhw.proofs.rig import Rig, RigError
from hdnhw.rtl.bits import flit_codes
from hdnhw.rtl.check_bits import ERRORS_WIDTH
from hdnhw.verilog.fabric import EmittedFabric


class EjectionRig(Rig):
    """A rig around an ejection buffer.

    Parameters
    ----------
    fabric : EmittedFabric
    bit : int
        Of a flit's data, the one that is looked at.
    """

    def __init__(self, fabric: EmittedFabric, bit: int) -> None:
        super().__init__(fabric, fabric.modules.ejection)
        self._bit, self._flit_width = bit, self._machine.spec.flit_width
        self._room = self._machine.ejection_buffers * self._length
        self._flit_bits = (self._length - 1).bit_length()
        self._slot_bits = self._machine.ejection_buffers.bit_length()
        self._enter()
        self._leave()
        self._credit()
        with suppress(RigError):
            self._hint_all()

    def _enter(self) -> None:
        """Let the router send, and mark a flit."""
        slots, starts = self._machine.ejection_buffers, self._free("f_starts")
        before = self._at(self._timing.head_phase - 1)
        begins = f"!fresh && {starts} && kept + (tail && ejects) - ejection_credit < {slots}"
        self._register("ejects", f"{before} ? {begins} : ejects")
        self._wire("marks", f"{self._free('f_marks')} && ejects && !inside")
        self._constant("value")
        self._forget("flits", "marks", "word")
        self._pins += [".channel__valid(ejects)", f".channel__data({self._data(self._bit, 'marks', self._flit_width)})"]

    def _leave(self) -> None:
        """Let the sink take flits; claim that it gets all that there are, in order and as they came."""
        bits = self._room.bit_length()
        valid = self._output_pin("eject__valid", "out")
        payload = self._output_pin("eject__payload", "payload", self._flit_width + 1)
        takes = self._free("f_takes")
        self._pins.append(f".eject__ready({takes})")
        offered, leaves = self._offered(takes)
        self._wire("taken", leaves)
        self._register("flits", "flits + ejects - taken", width=bits)
        self._number("out", "taken")
        self._wire("is_tail", f"out_number == {self._length - 1}")
        self._wire("goes", "inside && before == 0 && taken")
        self._register("inside", "marks || (inside && !goes)")
        self._register("before", "marks ? flits - taken : before - taken", width=bits)
        self.claims += [
            ("a flit that is there is not offered, or one that is not", f"{valid} == ({offered})"),
            ("a flit comes out changed", f"!inside || before != 0 || {payload}[{self._bit}] == value"),
            ("last is not that of a tail", f"!{valid} || {payload}[{self._flit_width}] == is_tail"),
        ]
        self._happens("goes")

    def _offered(self, takes: str) -> tuple[str, str]:
        """Return the conditions that a flit is offered, and that one leaves if the sink `takes` what is offered."""
        return "flits != 0", f"out && {takes}"

    def _credit(self) -> None:
        """Claim that a credit is given for each packet that is taken, and not sooner than the router may get it."""
        credit = self._output_pin("channel__credit", "credit")
        self._kept(self._machine.ejection_buffers, credit)
        due = self._wire("ends", "taken && is_tail")
        if self._timing.registers_credits:
            due = self._register("ended", due)
        self.claims += [
            ("a credit is given for a packet that is not there", f"!{credit} || kept != 0"),
            ("two credits are less than a packet apart", f"!{credit} || apart == 0"),
            ("a credit is given for another packet than is taken", f"{credit} == {due}"),
        ]
        self._happens(credit)

    def _hint_all(self) -> None:
        """Pointers are as far apart as there are flits, and the memory has the marked one where it was put."""
        self._place()
        slots, flit_bits, slot_bits = self._machine.ejection_buffers, self._flit_bits, self._slot_bits
        self._hint(f"flits == {self._between('in')}")
        self._hint(f"!inside || before == {self._between('own')}")
        self._hint("!inside || before < flits")
        self._look("write_flit", "write_flit", flit_bits)
        self._look("write_slot", "write_slot", slot_bits)
        self._hint("write_flit == in_code && write_slot == in_slot")
        self._look("read_addr", "flits_read_addr", slot_bits + flit_bits)
        self._hint("read_addr == {out_slot, out_code}")
        self._look("ahead_flit", "ahead_flit", flit_bits)
        self._look("ahead_slot", "ahead_slot", slot_bits)
        self._hint("ahead_flit == next_code && ahead_slot == out_slot + is_tail")
        self._look("word_addr", "rig_word_addr", flit_bits + slot_bits - 1)
        self._look("word_word", "rig_word_word", self._flit_width)
        self._hint(f"!inside || word_addr == ({{own_slot, own_code}} & {(1 << flit_bits + slot_bits - 1) - 1})")
        self._hint(f"!inside || word_word[{self._bit}] == value")
        given = " + credit" if self._timing.registers_credits else ""
        self._hint(f"kept == {slot_bits}'(in_slot - out_slot){given}")
        self._hint(f"apart == 0 || out_number + apart < {self._length + self._timing.registers_credits}")
        self._look("packets", "packets", slots)
        self._hint(f"packets == (1 << ({self._packets})) - 1")

    _packets = "kept + (ejects && !head)"
    """How many packets the buffer has."""

    def _place(self) -> None:
        """Say of the flit that comes, the marked one and the one that is taken which of its packet they are."""
        self._number("in", "ejects")
        numbers = self._code_in_phase(range(self._length), -self._timing.head_phase)
        self._hint(f"in_number == (ejects ? {numbers} : 0)")
        self._register("in_slot", f"in_slot + (ejects && in_number == {self._length - 1})", width=self._slot_bits)
        self._register("out_slot", "out_slot + (taken && is_tail)", width=self._slot_bits)
        for name, width in (("slot", self._slot_bits), ("number", self._flit_bits)):
            self._register(f"own_{name}", f"marks ? in_{name} : own_{name}", width=width, reset="")
        for name in ("in", "own", "out"):
            self._wire(f"{name}_code", self._code_of(f"{name}_number"), width=self._flit_bits)
        self._wire("next_code", self._code_of("(is_tail ? 0 : out_number + 1)"), width=self._flit_bits)

    def _number(self, name: str, flit: str) -> None:
        """Count the flits of packets: which of its packet the next one is."""
        number, last = f"{name}_number", self._length - 1
        following = f"{flit} ? ({number} == {last} ? 0 : {number} + 1) : {number}"
        self._register(number, following, width=self._flit_bits)

    def _code_of(self, number: str) -> str:
        """Return the code of the flit of a number."""
        codes = enumerate(flit_codes(self._length))
        return " | ".join(f"({number} == {each} ? {self._flit_bits}'d{code} : 0)" for each, code in codes)

    def _between(self, place: str) -> str:
        """Return how many flits are from the one that is taken next to another."""
        bits = self._room.bit_length()
        packets = f"{self._slot_bits}'({place}_slot - out_slot)"
        return f"{bits}'({self._length} * {bits}'({packets}) + {place}_number - out_number)"


class CheckedEjectionRig(EjectionRig):
    """A rig around an ejection buffer that looks at check bits.

    What its checker says of a flit is told by the rig, and may be anything: that it is right is claimed in a rig of its
    own. A packet with a wrong flit is taken by the buffer itself.
    """

    def _enter(self) -> None:
        """Let flits be wrong."""
        super()._enter()
        self._be_wrong("ejects", "checker")
        self._count("bad", "done && hurt", "bad", width=ERRORS_WIDTH)

    def _offered(self, takes: str) -> tuple[str, str]:
        """Remember which of the packets that have been checked are bad; the first of them is that of the lowest bit."""
        slots = self._machine.ejection_buffers
        left = self._wire("left", "taken && is_tail")
        self._register("checked", f"checked + done - {left}", width=slots.bit_length())
        self._register("bads", f"(bads >> {left}) | ((done && hurt) << (checked - {left}))", width=slots)
        self._happens("taken && bads[0]")
        return "checked != 0 && !bads[0]", f"checked != 0 && ({takes} || bads[0])"

    _packets = "checked"

    def _hint_all(self) -> None:
        """The buffer has marked which of its packets are bad."""
        super()._hint_all()
        slots, slot_bits = self._machine.ejection_buffers, self._slot_bits
        self._hint(f"kept + (ejects && !head) <= {slots}")
        self._look("checked_slot", "checked_slot", slot_bits)
        self._hint(f"checked_slot == {slot_bits}'(in_slot - done)")
        self._hint(f"checked == {slot_bits}'(in_slot - out_slot - done)")
        self._hint("(bads >> checked) == 0")
        self._look("marks_of", "marks", slots)
        for place in range(slots):
            bad = f"marks_of[{slot_bits - 1}'(out_slot + {place})]"
            self._hint(f"checked <= {place} || {bad} == bads[{place}]")
