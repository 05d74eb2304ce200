"""Narrow channels: each packet comes out once, in its order, unchanged and in the cycle in which it is due.

Around the channel stand a router that sends whenever it likes and the queue has room, and one that gives any credits.
The rig knows when packets are due. It marks one packet, any one, and watches one bit of one of its flits, of any value.
"""

from contextlib import suppress

from hdnhw.machine.channels import narrow_cycles
from hdnhw.proofs.rig import Rig, RigError
from hdnhw.rtl.bits import index_width
from hdnhw.verilog.fabric import EmittedFabric


class ChannelRig(Rig):
    """A rig around a narrow channel.

    Parameters
    ----------
    fabric : EmittedFabric
    port : int
        By which the channel leaves a router.
    bit : int
        Of a flit with its check bits, the one that is looked at.
    """

    def __init__(self, fabric: EmittedFabric, port: int, bit: int) -> None:
        super().__init__(fabric, fabric.modules.channels[port])
        machine, channels = self._machine, self._machine.channels
        self._bit, self._vcs = bit, machine.plan.num_vcs[port]
        self._vc_bits = index_width(self._vcs) if self._vcs > 1 else 0
        self._packets = self._vcs * machine.vc_buffers(port)
        self._interval, self._stages = channels.intervals[port], channels.stages[port]
        self._credit_stages, self._wires = channels.credit_stages[port], machine.channel_wires(port)
        self._crossing = self.slot = self._interval * self._length  # cycles of a packet
        self._late = self._stages - narrow_cycles(self._length, self._interval)  # registers on the wires
        self._enter()
        self._be_due()
        self._leave()
        with suppress(RigError):
            self._hint_all()

    def _enter(self) -> None:
        """Let the router send, and mark a packet."""
        ends, bits = self._at(self._length - 1), self._packets.bit_length()
        self._wire("begins", f"{ends} && {self._free('f_begins')} && kept < {self._packets}")
        self._register("kept", "kept + begins - leaves", width=bits)
        self._wire("going", f"{ends} ? begins : sends")
        self._register("sends", "going")
        self._wire("arrives", f"sends && {self._at(0)}")
        self._constant("value")
        number = self._constant("own", index_width(self._length))
        self._wire("marks", f"{self._free('f_marks')} && arrives && !inside && {number} < {self._length}")
        self._register("inside", "marks || (inside && !goes)")
        self._register("enters", f"!{ends} && (marks || enters)")
        self._wire("written", f"(marks || enters) && sends && at[{number}]")
        self._register("was_written", "inside ? written || was_written : written")
        self._forget("queue", "written", "word")
        self._pins.append(".i__valid(sends)")
        self._pins += self._word("i", "came", self._data(self._bit, "written", self._machine.word_width))
        if self._vc_bits:  # it is told a cycle ahead
            free, junk = self._free("f_vc", self._vc_bits), self._free("f_junk", self._vc_bits)
            self._wire("next_vc", f"{ends} ? {free} % {self._vcs} : sent_vc", width=self._vc_bits)
            self._register("sent_vc", "next_vc", width=self._vc_bits, reset="")
            self._register("own_vc", "marks ? sent_vc : own_vc", width=self._vc_bits, reset="")
            self._hint("!enters || sent_vc == own_vc")
            self._pins.append(f".i__vc(going ? next_vc : {junk})")

    def _be_due(self) -> None:
        """Know when packets begin to cross, one a number of slots, and the cycles since each did; which is marked."""
        bits, line = self._packets.bit_length(), self._stages + self._length - 1
        self._wire("starts", "busy == 0 && (arrives || waits != 0)")
        width = self._crossing.bit_length()
        self._register("busy", f"starts ? {self._crossing - 1} : busy == 0 ? 0 : busy - 1", width=width)
        self._register("waits", "waits + arrives - starts", width=bits)
        self._register("line", f"{{line[{line - 2}:0], starts}}", width=line)
        self._wire("due", f"|line[{line - 1}:{self._stages - 1}]")
        self._wire("leaves", f"line[{line - 1}]")
        self._wire("own_starts", "starts && (marks ? waits == 0 : queued && ahead == 0)")
        self._register("queued", "marks ? !own_starts : queued && !own_starts")
        self._register("ahead", "(marks ? waits : ahead) - (starts && !own_starts)", width=bits)
        self._register("own_line", f"goes ? 0 : {{own_line[{line - 2}:0], own_starts}}", width=line)
        outs = (f"own == {flit} && own_line[{self._stages - 1 + flit}]" for flit in range(self._length))
        self._wire("goes", " || ".join(f"({out})" for out in outs))

    def _leave(self) -> None:
        """Claim what comes out, and in which cycle; and of credits that they are passed on."""
        valid = self._output_pin("o__valid", "out")
        self._pins += self._word("o", "payload")
        self.claims += [
            ("a flit that is due does not come out, or one that is not", f"{valid} == due"),
            ("a flit comes out changed", f"!goes || payload[{self._bit}] == value"),
        ]
        if self._vc_bits:
            self._output_pin("o__vc", "out_vc", self._vc_bits)
            for name, value in (("was_vc", "out_vc"), ("last_vc", "was_vc")):
                self._register(name, value, width=self._vc_bits, reset="")
            self.claims += [
                ("a packet comes by another virtual channel", "!goes || own != 0 || was_vc == own_vc"),
                (
                    "the virtual channel changes within a packet",
                    f"!due || line[{self._stages - 1}] || was_vc == last_vc",
                ),
            ]
        credits = self._free("f_credit", self._vcs)
        self._output_pin("i__credit", "credit", self._vcs)
        self._pins.append(f".o__credit({credits})")
        given = credits
        for stage in range(self._credit_stages):
            given = self._register(f"credit_{stage}", given, width=self._vcs)
        self.claims.append(("a credit comes that was not given so many cycles ago, or does not", f"credit == {given}"))
        for seen in ("goes", "queued", "credit != 0"):
            self._happens(seen)

    def _hint_all(self) -> None:
        """Registers of the channel are those of the packets that cross, and memories have the marked flit."""
        self._hint_model()
        self._hint_sending()
        self._hint_coming()
        self._hint_flit()

    def _hint_model(self) -> None:
        """One packet crosses at a time, and all begin in one phase."""
        cross, line = self._crossing, self._stages + self._length - 1
        self._hint(f"kept <= {self._packets} && waits <= {self._packets} && busy < {cross}")
        for place in range(cross - 1):
            self._hint(f"line[{place}] == (busy == {cross - 1 - place})")
        for place in range(cross - 1, line):
            self._hint(f"!line[{place}] || line[{place - 1}:{place - cross + 1}] == 0")
        for place in range(line):
            self._hint(f"!line[{place}] || {self._at(place + 1)}")
        self._hint(f"busy != 0 || waits == 0 || {self._at(0)}")
        self._hint(f"enters || !queued || !sends || {self._at(0)} || ahead < waits - 1")
        self._hint(f"!enters || (!{self._at(0)} && (queued ? ahead == waits - 1 : waits == 0))")
        for phase in range(1, self._length):
            self._hint(f"!enters || !{self._at(phase)} || was_written == (own < {phase})")
            self._hint(f"!enters || !{self._at(phase)} || queued || own_line[{phase - 1}]")
            self._hint(f"enters || !sends || !{self._at(phase)} || !own_line[{phase - 1}] || waits != 0")
            self._hint(f"!sends || !{self._at(phase)} || waits != 0 || line[{phase - 1}]")
        for flit in range(self._length - 1):
            self._hint(f"!inside || own != {flit} || own_line[{line - 1}:{self._stages + flit}] == 0")
        self._hint("(own_line & ~line) == 0")
        self._hint("(own_line & (own_line - 1'd1)) == 0")
        self._hint("inside ? queued == (own_line == 0) : (!queued && own_line == 0)")
        self._hint("!queued || ahead < waits")
        self._hint("!enters || (sends && inside)")
        self._hint(f"!inside || own < {self._length}")
        self._hint("!inside || was_written || enters")
        self._register("crossed", "crossed + starts - leaves", width=self._packets.bit_length() + 1)
        self._hint(f"kept == waits + crossed + (sends && {self._at(0)})")
        bits = " + ".join(f"line[{place}]" for place in range(line))
        self._hint(f"crossed == {bits}")

    def _hint_sending(self) -> None:
        """The queue has the flits that have come and not been taken; a counter says which piece is on the wires."""
        cross, last = self._crossing, self._interval - 1
        words = (self._packets * self._length).bit_length()
        self._wire("takes", f"|{{{', '.join(f'line[{1 + self._interval * flit}]' for flit in range(self._length))}}}")
        self._register("left", f"starts ? {self._length} : left - takes", width=words)
        self._wire("sent", f"line[{cross + 1}:2]", width=cross)
        self._look("does_take", "takes", 1)
        self._hint("does_take == takes")
        self._look("number", "number", index_width(self._interval))
        numbers = self._selected(
            [place % self._interval for place in range(cross)], "sent", index_width(self._interval)
        )
        self._hint(f"number == (sent == 0 ? {last} : ({numbers}))")
        self._look("flit", "flit", index_width(self._length))
        flits = self._selected([(place // self._interval + 1) % self._length for place in range(cross)], "sent")
        self._hint(f"flit == ({flits})")
        self._hint(f"left <= {self._length}")
        self._hint(f"left == 0 || line[{cross - 1}:0] != 0")
        for place in range(cross):
            taken = min(self._length, max(0, (place - 1 + last) // self._interval))
            self._hint(f"!line[{place}] || left == {self._length - taken}")
        self._look("level", "level", words)
        self._look("held", "held", 1)
        short = " | ".join(f"({self._at(phase)} ? {self._length - phase} : 0)" for phase in range(1, self._length))
        self._wire("missing", f"sends ? {short or 0} : 0", width=words)
        self._hint(f"level + missing == left + {words}'({self._length} * waits)")
        self._hint(f"level <= {self._packets * self._length}")
        self._hint(f"held || level == 0 || (level == 1 && sends && {self._at(1)})")
        self._hint("!held || level != 0")
        self._look("begins_to_send", "begins", 1)
        self._hint("begins_to_send == line[2]")
        for stage in range(self._late):
            self._look(f"begins_late_{stage}", f"begins_{stage}", 1)
            self._hint(f"begins_late_{stage} == line[{3 + stage}]")

    def _hint_coming(self) -> None:
        """Counters at the end say which piece comes, and which flit is given out."""
        cross, gives, begin = self._crossing, self._length * (self._interval - 1), 2 + self._late
        self._wire("come", f"line[{begin + cross - 1}:{begin}]", width=cross)
        self._look("goes_on", "goes_on", 1)
        self._hint(f"goes_on == |come[{cross - 1}:1]")
        places, bits = range(cross), index_width(self._interval)
        self._look("come_number", "come_number", bits)
        self._hint(f"come_number == ({self._selected([place % self._interval for place in places], 'come', bits)})")
        self._look("gives_on", "gives_on", 1)
        self._hint(f"gives_on == {f'|come[{cross - 1}:{gives + 1}]' if self._length > 1 else 0}")
        if self._length > 1:
            self._look("come_flit", "come_flit", index_width(self._length))
            self._hint(f"come_flit == ({self._selected([place // self._interval for place in places], 'come')})")
            self._look("out_flit", "out", index_width(self._length))
            self._hint(f"out_flit == ({self._selected([max(0, place - gives) for place in places], 'come')})")

    def _hint_flit(self) -> None:
        """Where the marked flit is: in the queue, behind it, on the wires, or put together again."""
        depth, interval, width = max(2, self._packets * self._length), self._interval, self._machine.word_width
        bits, words = index_width(depth), (self._packets * self._length).bit_length()
        if self._vc_bits:
            self._look("vc_of_flit", "vc", self._vc_bits)
            self._hint("!sends || vc_of_flit == sent_vc")
        self._look("write_addr", "queue_write_addr", bits)
        self._look("first_addr", "first", bits)
        self._look("read_data", "read__data", width + self._vc_bits)
        self._look("word_addr", "rig_word_addr", bits)
        self._look("word_word", "rig_word_word", width + self._vc_bits)
        self._hint(f"write_addr == {self._modulo('first_addr + level', depth)}")
        self._hint(f"first_addr < {depth}")
        before = f"queued ? left + {words}'({self._length} * ahead) + own : left - ({self._length} - own)"
        self._wire("before", before, width=words)
        self._register("taken", "inside && !goes && !marks && (taken || is_taken)")
        self._wire("is_taken", f"inside && !queued && !taken && takes && left == {self._length} - own")
        self._wire("waiting", "inside && was_written && !taken")
        self._wire("is_first", "waiting && before == 0 && held")
        self._hint(f"!waiting || word_addr == {self._modulo('first_addr + before', depth)}")
        for name, place in (("waiting", "word_word"), ("is_first", "read_data")):
            self._hint(f"!{name} || {place}[{self._bit}] == value")
            if self._vc_bits:
                self._hint(f"!{name} || {place}[{width + self._vc_bits - 1}:{width}] == own_vc")
        self._mine(interval)

    def _modulo(self, place: str, depth: int) -> str:
        """Return a place in the queue, that may be behind its end."""
        bits = index_width(depth)
        return f"{bits}'({place})" if depth == 1 << bits else f"{bits}'(({place}) % {depth})"

    def _mine(self, interval: int) -> None:
        """Say where the marked flit is since it was taken, and that of the marked packet's begin."""
        piece, at, count = *divmod(self._bit, self._wires), interval + self._late
        self._register("mine", f"{{mine[{count - 2}:0], is_taken}}", width=count)
        self._register("stored", f"(stored || mine[{count - 1}]) && !goes")
        for flit in range(self._length):
            begin, end = 2 + flit * interval, self._stages + flit - 1
            self._hint(f"!inside || own != {flit} || mine == own_line[{begin + count - 1}:{begin}]")
            self._hint(f"!inside || own != {flit} || stored == (|own_line[{end}:{begin + count}])")
            self._hint(f"!inside || own != {flit} || taken == (|own_line[{end}:{begin}])")
        self._hint("inside || (mine == 0 && !stored)")
        self._look("pieces", "pieces", self._wires * interval)
        for number in range(piece + 1):
            self._hint(f"!mine[{number}] || pieces[{self._bit - number * self._wires}] == value")
        for stage in range(self._late):
            self._look(f"wire_{stage}", f"piece_{stage}", self._wires)
            self._hint(f"!mine[{piece + 1 + stage}] || wire_{stage}[{at}] == value")
        self._look("come_pieces", "come", self._wires * (interval - 1))
        for number in range(interval - 1 - piece):
            place = (interval - 2 - number) * self._wires + at
            self._hint(f"!mine[{piece + self._late + 1 + number}] || come_pieces[{place}] == value")
        if self._length > 1:
            self._peek("flits", "own", "stored")
            self._look("stored_word", "rig_stored_word", self._machine.word_width)
            tail = self._length - 1
            self._hint(f"!stored || own == {tail} || stored_word[{self._bit}] == value")
        if self._vc_bits:
            for place, name in enumerate(["sent_vc", *(f"vc_{stage}" for stage in range(self._late))]):
                self._look(f"own_{name}", name, self._vc_bits)
                self._hint(f"own != 0 || !inside || !own_line[{2 + place}] || own_{name} == own_vc")
            self._look("given", "given_vc", self._vc_bits)
            end, begin = self._stages + self._length - 2, 4 + self._late
            self._hint(f"line[{end}:{begin}] == 0 || out_vc == was_vc")
            self._hint(f"line[{end}:{begin + 1}] == 0 || was_vc == last_vc")
            until = self._stages - 1
            self._hint(f"own != 0 || !inside || own_line[{until}:{3 + self._late}] == 0 || given == own_vc")
