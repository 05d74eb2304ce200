"""The switch of a router: allocation, the crossbar and what leaves by the outputs.

Queues offer whatever they like, one way or none each. In every slot each packet that a queue is told to send stands on
the output and virtual channel of its way, and nothing else does; nothing is sent without a credit, and a packet begins
at its phase, is not interrupted and keeps its virtual channel. In a slot before which a packet is offered for whose way
there is a free buffer, by the rig's count, a packet leaves: no credit is lost, and no order goes round in a circle.
"""

from contextlib import suppress

from hdnhw.proofs.parts import RouterPart
from hdnhw.proofs.rig import RigError
from hdnhw.rtl.allocator import MOST_UNARY
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.verilog.fabric import EmittedFabric


class SwitchRig(RouterPart):
    """A rig around all of a router but its queues: see :class:`RouterPart`."""

    def __init__(self, fabric: EmittedFabric, shape: int, bit: int) -> None:
        super().__init__(fabric, shape, bit)
        # In a slot of fewer cycles than the channel's, what stands on outputs when credits are counted left before.
        self._is_late = self._timing.credit_phase < self._timing.channel_cycles
        self._leave: dict[tuple[int, int], list[str]] = {}
        self._stand: dict[tuple[int, int], list[str]] = {}
        self._joined: dict[tuple[int, int], list[str]] = {}
        self._offered: dict[tuple[int, int], list[str]] = {}
        self._free_ahead: dict[tuple[int, int], str] = {}
        self._gone: list[str] = []
        self._voided: dict[int, list[str]] = {}
        inputs = (*self._shape.ports, self._local)
        for port in inputs:
            name = self._name(port)
            self._cut(f"{name}.flit", self._free(f"f_flit_{name}", self._machine.word_width))
            self._input(port)
        if self._machine.spec.dead_pins:
            self._die()
        for port in self._shape.ports:
            self._output(port)
        self._ejection()
        for way, packets in self._stand.items():
            self._send(way, packets)
        self._cross(inputs)
        self._progress()
        if self._machine.spec.dead_pins:
            self._lose()
        self._hint_orders()

    def _die(self) -> None:
        """Let any channels be dead: from one credit phase to the next, at both ends, what the pins said before it."""
        for pin, inside in (("dead_o", "dead_to"), ("dead_i", "dead_from")):
            said = self._register(f"{pin}_said", self._free(f"f_{pin}", self._local), width=self._local, reset="")
            self._pins.append(f".{pin}(f_{pin})")
            own = self._register(f"own_{inside}", f"counted ? {said} : own_{inside}", width=self._local, reset="")
            is_known = self._register(f"is_{inside}", f"counted || is_{inside}")
            self._look(inside, inside, self._local)
            self.claims.append(("what is dead is taken in wrongly", f"!{is_known} || {inside} == {own}"))
        self._look("dead_ahead", "dead_ahead", self._local)
        self._register("is_dead_ahead", "1'd1")
        self.claims.append(("what is dead ahead is taken in wrongly", "!is_dead_ahead || dead_ahead == dead_o_said"))
        commit = self._at(self._timing.commit_phase)
        self._register("voids", f"{commit} ? dead_to : voids", width=self._local, reset="")

    def _sent(self, port: int, packet: str) -> str:
        """Return the condition that a packet that leaves by an output, when credits are counted, is sent over it."""
        if not self._machine.spec.dead_pins or port == self._local:
            return packet
        counts_following = self._timing.credit_phase == self._timing.commit_phase
        return f"({packet} && !{'dead_to' if counts_following else 'voids'}[{port}])"

    def _input(self, port: int) -> None:
        """Let the queues of an input offer ways, and claim that it is told rightly what to send."""
        name, num_vcs = self._name(port), self._num_vcs(port)
        told = self._look(f"leaves_{name}", f"{name}.queues__pop", num_vcs)
        if num_vcs > 1:
            bits, now = (num_vcs - 1).bit_length(), self._at(self._read_phase)
            reads = self._look(f"reads_{name}", f"{name}.queues__read_vc", bits)
            self._register(f"read_{name}", f"{now} ? {reads} : read_{name}", width=bits)
            self._register(f"is_read_{name}", f"{now} || is_read_{name}")
        for vc in range(num_vcs):
            leaves, way = f"{told}[{vc}]", self._offer(name, vc, len(self._ways(port, vc)))
            self.claims.append(
                (f"{name} is told to send a packet that is not there", f"!{self._told} || !{leaves} || {way} != 0")
            )
            if num_vcs > 1:
                right = f"is_read_{name} && read_{name} == {vc}"
                self.claims.append(
                    (f"{name} is told to send what it has not read", f"!{self._told} || !{leaves} || ({right})")
                )
            if self._timing.registers_routes:
                before = self._register(f"left_{name}_{vc}", leaves, reset="")
                self.claims.append((f"{name} is told too late what to send", f"!counted || {leaves} == {before}"))
            for place, to in enumerate(self._ways(port, vc)):
                packet = {"leaves": f"({leaves} && {way}[{place}])", "offers": f"{way}[{place}]"}
                self._join(port, to, name=f"{name}_{vc}_{place}", **packet)

    def _join(self, port: int, way: tuple[int, int], *, name: str, leaves: str, offers: str) -> None:
        """Note which packets leave by a way and stand on it, come from a port, and are offered for it."""
        sent = self._sent(way[0], leaves)
        self._leave.setdefault(way, []).append(sent)
        stands = sent
        if self._is_late:
            stands = self._register(f"stands_{name}", f"counted ? {sent} : stands_{name}")
        self._stand.setdefault(way, []).append(stands)
        self._gone.append(leaves)
        self._voided.setdefault(way[0], []).append(f"({leaves} && !{sent})")
        self._joined.setdefault((port, way[0]), []).append(stands)
        self._offered.setdefault(way, []).append(offers)

    def _offer(self, name: str, vc: int, width: int) -> str:
        """Let a queue offer one way or none, another one after each update phase."""
        free, way = self._free(f"f_way_{name}_{vc}", width), f"way_{name}_{vc}"
        offered = self._one_of(f"next_{way}", free, width, default=False)
        update, push = self._at(self._timing.update_phase), self._at(self._push_phase)
        self._register(way, f"{update} || ({push} && {way} == 0) ? {offered} : {way}", width=width)
        self._cut(f"{name}.queues__way_{vc}", way)
        return way

    def _send(self, way: tuple[int, int], packets: list[str]) -> None:
        """Claim that what leaves by a way is one packet, that is told to."""
        port, vc = way
        is_ejection = port == self._local
        name = "ejection" if is_ejection else f"{self._name(port)}, virtual channel {vc}"
        sends = "ejects" if is_ejection else f"(out_{self._name(port)} && of_{self._name(port)} == {vc})"
        self.claims.append(
            (f"{name} sends another packet than it should", f"!counted || {sends} == ({' || '.join(packets)})")
        )
        for place, one in enumerate(packets[:-1], 1):
            others = " || ".join(packets[place:])
            self.claims.append((f"{name} is given to two packets", f"!counted || !({one} && ({others}))"))

    def _progress(self) -> None:
        """Claim that a packet leaves if, at the sample phase before, one was offered to whose way there is a buffer."""
        can = " || ".join(f"({self._open(way)} && ({' || '.join(offers)}))" for way, offers in self._offered.items())
        self._register("could", f"{self._at(self._timing.sample_phase)} ? {can} : could")
        self.claims.append(("no packet leaves although one could", f"!counted || !could || {' || '.join(self._gone)}"))

    def _lose(self) -> None:
        """Claim that packets whose channel is dead when they leave are counted, up to the largest value."""
        most, ports = (1 << DROPPED_WIDTH) - 1, self._shape.ports
        width = ((len(ports) + 1) * max(self._machine.most_buffers, *self._plan.num_vcs) + 2 * len(ports)).bit_length()
        lost = self._output_pin("lost", "lost", DROPPED_WIDTH)
        voided = " + ".join(f"(counted && ({' || '.join(self._voided[port])}))" for port in ports)
        self._register("lost_before", lost, width=DROPPED_WIDTH)
        told = self._wire("told", f"{lost} != lost_before")
        self._register("untold", f"{lost} == {most} ? 0 : untold + {voided} - {told}", width=width)
        self._register("silent", f"untold == 0 || {told} ? 0 : silent + 1", width=(2 * self._length).bit_length())
        self.claims += [
            ("lost counts a packet that is not", f"!{told} || (untold != 0 && {lost} == lost_before + 1'd1)"),
            ("lost does not count a packet that is", f"silent < {self._length + 4}"),
        ]
        self._happens(told)

    def _open(self, way: tuple[int, int]) -> str:
        """Return the condition that a packet may leave by a way: there is a buffer for it, or the channel is dead."""
        free, port = self._free_ahead[way], way[0]
        return f"({free} || dead_to[{port}])" if self._machine.spec.dead_pins and port != self._local else free

    def _owed(self, way: tuple[int, int], has: str, comes: str, slots: int) -> str:
        """Return how many packets have left by a way whose credits have not been counted; there must be room.

        The receiver `has` those that it has counted when they come.
        """
        owed = has
        if self._is_late and way in self._leave:
            owed = f"({has} + ({' || '.join(self._stand[way])}))"
            comes = f"counted && ({' || '.join(self._leave[way])})"
        room = self._free_ahead[way] = f"{owed} < {slots}"
        said = "ejection" if way[0] == self._local else self._name(way[0])
        self.claims.append((f"{said} sends a packet without a credit", f"!({comes}) || {room}"))
        return owed

    def _hint_credits(self, out: int, vc: int, slots: int, held: str) -> None:
        """The router has counted the free buffers ahead as the rig has; claim that it knows whether there is one."""
        credits = f"allocator.credits_{out}_{vc}"
        counter, available = f"{credits}.free", self._look(f"available_{out}_{vc}", f"{credits}.available", 1)
        room = self._free_ahead[(*self._shape.ports, self._local)[out], vc]
        when = self._at(self._timing.sample_phase) if self._is_late else "1'd1"
        self.claims.append(("the router is wrong about room ahead", f"!{when} || {available} == ({room})"))
        with suppress(RigError):
            if slots > MOST_UNARY:
                self._look(f"free_{out}_{vc}", counter, slots.bit_length())
                self._hint(f"free_{out}_{vc} == {slots} - {held}")
            else:
                self._look(f"free_{out}_{vc}", counter, slots)
                self._hint(f"free_{out}_{vc} == {{{slots}{{1'd1}}}} >> {held}")

    def _cross(self, inputs: tuple[int, ...]) -> None:
        """Claim that what an output sends is what its packet's input reads; seen late, when that is known."""
        first, traversal = self._timing.credit_phase + 1, 1 + self._timing.channel_registers
        cycles = first - self._timing.head_phase + self._is_late * self._length
        late = {
            port: self._delayed(
                f"late_i_{self._name(port)}", f"f_flit_{self._name(port)}[{self._bit}]", cycles + traversal
            )
            for port in inputs
        }
        for out in inputs:
            sent = self._delayed(f"late_o_{self._name(out)}", f"data_{self._name(out)}[{self._bit}]", cycles)
            for port in inputs:
                packets = self._joined.get((port, out))
                if packets:
                    name = f"joins_{self._name(port)}_{self._name(out)}"
                    joins = self._register(name, f"counted ? {' || '.join(packets)} : {name}")
                    said = (
                        f"{'ejection' if out == self._local else self._name(out)} changes what {self._name(port)} sends"
                    )
                    self.claims.append((said, f"!{joins} || {sent} == {late[port]}"))

    def _output(self, port: int) -> None:
        """A neighbor that receives: it gives credits for packets that it has, and junk where they are not counted."""
        name, num_vcs = self._name(port), self._plan.num_vcs[port]
        slots, gives = self._machine.vc_buffers(port), self._free(f"f_gives_{name}", num_vcs)
        width = index_width(num_vcs)
        out = self._output_pin(f"{name}_o__valid", f"out_{name}")
        self._pins += self._word(f"{name}_o", f"data_{name}")
        soon = self._output_pin(f"{name}_o__vc", f"soon_{name}", width) if num_vcs > 1 else "1'd0"
        of = self._register(f"of_{name}", soon, width=width, reset="")
        self._register(f"was_{name}", out)
        self._register(f"of_was_{name}", of, width=width, reset="")
        credits: list[str] = []
        for each in range(num_vcs):
            has, comes = f"has_{name}_{each}", f"counted && {out} && {of} == {each}"
            has_some = f"{has} != 0"
            if self._timing.matches_early:  # a packet may leave in the slot in which it has come
                has_some += f" || ({comes})"
            give = self._wire(f"give_{name}_{each}", f"{gives}[{each}] && (!counted || {has_some})")
            credits.insert(0, give)
            self._register(has, f"{has} + ({comes}) - (counted && {give})", width=slots.bit_length())
            owed = self._owed((port, each), has, comes, slots)
            self._hint_credits(self._shape.ports.index(port), each, slots, owed)
        self._frame(name, out, f"was_{name}")
        change = f"head || !{out} || {of} == of_was_{name}"
        self.claims.append((f"{name} changes the virtual channel within a packet", change))
        self._pins.append(f".{name}_o__credit({{{', '.join(credits)}}})")

    def _frame(self, name: str, out: str, was: str) -> None:
        """Claim that packets stand in their slots, from the second one after a reset on."""
        self.claims += [
            (f"{name} begins or ends a packet within a slot", f"head || {out} == {was}"),
            (f"{name} sends a packet in the first slot after a reset", f"!fresh || !{out}"),
        ]
        self._happens(out)

    def _ejection(self) -> None:
        """An ejection buffer: it gives credits for packets that it has, as far apart as a packet is long."""
        slots = self._machine.ejection_buffers
        self._output_pin("eject__valid", "ejects")
        self._pins += self._word("eject", "data_injection")
        self._register("ejected", "ejects")
        credit = self._kept(slots, f"{self._free('f_gives')} && kept != 0 && apart == 0")
        self.claims.append(("ejection sends a packet that has no room", f"!(head && ejects) || kept < {slots}"))
        self._register("uncounted", f"!counted && (uncounted || {credit})")
        gone = f"(counted && (uncounted || {credit}))"
        self._register("ahead", f"ahead + (counted && ejects) - {gone}", width=slots.bit_length())
        owed = self._owed((self._local, 0), "ahead", "counted && ejects", slots)
        self._hint_credits(len(self._shape.ports), 0, slots, owed)
        with suppress(RigError):
            self._look("pending", "allocator.pending", 1)
            self._hint("pending == uncounted")
        self._frame("ejection", "ejects", "ejected")
        self._pins.append(f".eject__credit({credit})")
