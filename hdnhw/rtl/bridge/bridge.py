"""A bridge: one side of a link between two chips, or clock domains, that hold parts of one network."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hdnhw.machine.machine import Machine
from hdnhw.machine.timing import HALF_SLOT
from hdnhw.rtl.bits import any_of, first_of, index_width, next_flit, number_of, selected
from hdnhw.rtl.bridge.arrivals import Arrivals
from hdnhw.rtl.bridge.departures import Departures
from hdnhw.rtl.bridge.frame import LinkFormat
from hdnhw.rtl.bridge.receiver import Receiver
from hdnhw.rtl.bridge.sender import Sender
from hdnhw.rtl.bridge.session import Session
from hdnhw.rtl.bridge.slots import held
from hdnhw.rtl.channel import ChannelSignature, ejection_signature
from hdnhw.rtl.counter import count_events
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

COUNTER_WIDTH = 16
"""Bits of the counters, which stay at their largest value."""

COUNTS = {
    "damaged": "frames that came with an error, or were cut",
    "resent": "frames that were sent once more",
    "lost": "packets dropped as the other chip was reset before it had acknowledged them",
}
"""The counters, and what they count."""

PATIENCE_CYCLES = 1 << 16
"""Cycles for which a link is down, since reset or since it was up, before it is dead."""

LEAST_WORD = 8
"""Bits of the narrowest words."""

LEAST_TURN = 3
"""Cycles from one packet that leaves to the next, at least."""


class Bridge(wiring.Component):
    """One side of a link; at the other one stands such a module, too.

    To each router it is what a neighbor is: packets go by credits, in the slots of the router. Beyond that no cycle of
    the other side matters. Words may be dropped, changed or doubled on their way, and the wires may stop: whatever
    comes is checked, and sent again until it is right. A packet takes part only once a buffer is kept for it at the
    other side, so that no packet waits for one of another queue.

    If the other side was reset, packets are lost that were under way to it, and those alone.

    Parameters
    ----------
    machine : Machine
    ports : tuple of int
        Network port by which each channel leaves its router.
    arrivals : tuple of int
        For each channel the number of the one, at the other side, that it leads to.
    ahead : tuple of int, optional
        Cycles by which the slots of the router at each channel begin before those of most, see
        :meth:`hdnhw.machine.machine.Machine.ahead`; 0 by default.
    word_width : int, optional
        Bits of a word.

    Members
    -------
    from_K : In(ChannelSignature), to_K : Out(ChannelSignature)
        Channel K as it leaves its router, and the one that comes in there.
    tx : Out(stream), rx : In(stream)
        Words, `last` high with the last one of a frame; `ready` of `rx` is always high.
    up : Out(1)
        Whether this side hears the other one, and is known to it.
    dead : Out(1)
        Whether the link has been down for long; absent in machines without dead pins.
    damaged, resent, lost : Out(16)
        Frames since reset that came damaged; that were sent again; packets dropped because the other side was reset.

    Raises
    ------
    SpecError
        If the channels do not match, words are too narrow or too wide, or the machine has cut-through that gives
        notice.
    """

    def __init__(
        self,
        machine: Machine,
        *,
        ports: tuple[int, ...],
        arrivals: tuple[int, ...],
        ahead: tuple[int, ...] | None = None,
        word_width: int = 32,
    ) -> None:
        self._machine, self._ahead = machine, ahead or (0,) * len(ports)
        try:
            _check(machine, ports, arrivals, self._ahead, word_width)
        except SpecError:
            self._MustUse__silence = True  # no warning that it was forgotten
            raise
        self._link = LinkFormat(machine, ports, arrivals, word_width)
        members: dict[str, Any] = {}
        for channel, port in enumerate(ports):
            leaves = ChannelSignature(machine, num_vcs=machine.plan.num_vcs[port])
            comes = ChannelSignature(machine, num_vcs=self._link.num_vcs(channel))
            members |= {f"from_{channel}": In(leaves), f"to_{channel}": Out(comes)}
        words = ejection_signature(flit_width=word_width)
        members |= {"tx": Out(words), "rx": In(words), "up": Out(1)}
        if machine.spec.dead_pins:
            members["dead"] = Out(1)
        super().__init__(members | dict.fromkeys(COUNTS, Out(COUNTER_WIDTH)))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        link = self._link
        m.submodules.session = session = Session(link)
        m.submodules.sender = sender = Sender(link)
        m.submodules.receiver = receiver = Receiver(link)
        connect(m, flipped(self.rx), receiver.rx)
        connect(m, sender.tx, flipped(self.tx))
        self._elaborate_session(m, session, sender, receiver)
        self._elaborate_arrivals(m, sender, receiver)
        self._elaborate_departures(m, sender, receiver)
        m.d.comb += self.up.eq(session.is_up)
        if self._machine.spec.dead_pins:
            patience = Signal(range(PATIENCE_CYCLES + 1), init=PATIENCE_CYCLES)
            with m.If(session.is_up):
                m.d.sync += patience.eq(PATIENCE_CYCLES)
            with m.Elif(patience.any()):
                m.d.sync += patience.eq(patience - 1)
            m.d.sync += self.dead.eq(~patience.any())
        for counter, event in (
            (self.damaged, receiver.ends & ~receiver.good),
            (self.resent, sender.resent),
            (self.lost, sender.dropped),
        ):
            count_events(m, counter, event)
        return m

    @staticmethod
    def _elaborate_session(m: Module, session: Any, sender: Any, receiver: Any) -> None:
        """Join the three that hold the link."""
        m.d.comb += [
            *(
                getattr(session, name).eq(getattr(receiver, name))
                for name in ("good", "hello", "knows", "is_open", "uses")
            ),
            *(getattr(session, name).eq(getattr(receiver, name)) for name in ("seen", "theirs")),
            *(getattr(each, name).eq(getattr(session, name)) for each in (sender, receiver) for name in _STATES),
            sender.knows.eq(session.is_known),
            sender.own.eq(session.own),
            sender.seen.eq(session.peer),
            sender.greets.eq(session.greets),
            sender.nak.eq(receiver.nak),
            sender.ack.eq(receiver.expected),
            sender.asked.eq(receiver.asked),
            sender.acked.eq(receiver.acked),
            sender.acknowledges.eq(receiver.counts),
            sender.renews.eq(receiver.renews),
            receiver.told.eq(sender.told),
        ]

    def _elaborate_arrivals(self, m: Module, sender: Any, receiver: Any) -> None:
        """Lead what comes to the routers."""
        link, moved = self._link, []
        for channel in range(len(link.ports)):
            m.submodules[f"arrivals_{channel}"] = unit = Arrivals(link, channel, ahead=self._ahead[channel])
            connect(m, unit.channel, flipped(getattr(self, f"to_{channel}")))
            m.d.comb += unit.en.eq(receiver.en[channel])
            for name in ("vc", "slot", "place", "data"):
                value = getattr(receiver, name)
                m.d.comb += getattr(unit, name).eq(value[: len(getattr(unit, name))])
            moved.append(unit.moves)
            for queue, (own, vc) in enumerate(link.queues):
                if own == channel:
                    filled, taken = getattr(receiver, f"filled_{queue}"), getattr(unit, f"taken_{vc}")
                    m.d.comb += [
                        getattr(unit, f"filled_{vc}").eq(filled),
                        getattr(receiver, f"taken_{queue}").eq(taken),
                        getattr(sender, f"filled_{queue}").eq(filled),
                        getattr(sender, f"taken_{queue}").eq(taken),
                    ]
        tells, frees, was_up = Signal(), Signal(), Signal()
        m.d.sync += [
            was_up.eq(sender.is_up),
            frees.eq(any_of(moved)),
            tells.eq(receiver.tells | frees | sender.is_up & ~was_up),
        ]
        m.d.comb += sender.tells.eq(tells)

    def _elaborate_departures(self, m: Module, sender: Any, receiver: Any) -> None:
        """Take packets from the routers, one after the other, in turn among queues with buffers at the other side."""
        link, length = self._link, self._link.machine.spec.packet_length
        units = []
        for channel, port in enumerate(link.ports):
            unit = Departures(link.machine, port, ahead=self._ahead[channel])
            m.submodules[f"departures_{channel}"] = unit
            connect(m, flipped(getattr(self, f"from_{channel}")), unit.channel)
            units.append(unit)
        take = Signal(len(link.queues))
        asks = self._elaborate_room(
            m, [units[channel].waits[vc] for channel, vc in link.leaving], take, sender, receiver
        )
        turn, left = Signal(len(link.queues)), Signal(range(max(LEAST_TURN, length)))
        behind = asks & turn
        chosen = first_of(Mux(behind.any(), behind, asks))
        starts = ~left.any() & sender.has_room & sender.is_up & asks.any()
        takes, tag = Signal(), Signal(link.tag_width, reset_less=True)
        m.d.sync += [
            take.eq(Mux(starts, chosen, 0)),
            takes.eq(starts),
            tag.eq(number_of(dict(enumerate(chosen)), link.tag_width)),
        ]
        with m.If(starts):
            m.d.sync += [
                left.eq(max(LEAST_TURN, length) - 1),
                turn.eq(Cat(chosen[:place].any() if place else 0 for place in range(len(chosen)))),
            ]
        with m.Elif(left.any()):
            m.d.sync += left.eq(left - 1)
        for queue, (channel, vc) in enumerate(link.leaving):
            m.d.comb += units[channel].take[vc].eq(take[queue])
        m.d.comb += [sender.take.eq(takes), sender.tag.eq(tag)]
        self._elaborate_copy(m, [unit.take.any() for unit in units], [unit.flit for unit in units], sender)

    def _elaborate_room(self, m: Module, waits: list[Value], take: Signal, sender: Any, receiver: Any) -> Signal:
        """Return the queues with a packet, and a buffer for it at the other side: as they were a cycle before."""
        link, asks = self._link, Signal(len(self._link.queues), name="asks")
        for queue in range(len(link.queues)):
            level = getattr(receiver, f"level_{queue}")
            sent, limit = (Signal(link.number_width, name=f"{name}_{queue}") for name in ("sent", "limit"))
            m.d.sync += asks[queue].eq(waits[queue] & (sent != limit) & sender.is_used)
            with m.If(take[queue]):
                m.d.sync += sent.eq(sent + 1)
            with m.If(sender.acknowledges):
                m.d.sync += limit.eq(level ^ link.buffers)
            with m.If(sender.renews):
                m.d.sync += [sent.eq(level), limit.eq(level)]
        return asks

    def _elaborate_copy(self, m: Module, takes: list[Value], flits: list[Value], sender: Any) -> None:
        """Lead the flits of what is taken to the sender."""
        length = self._link.machine.spec.packet_length
        late = 2 if len(flits) > 1 else 0  # from several block RAMs to one it is far
        place, reads = Signal(index_width(length), name="reading_place"), Signal(name="reads")
        writes = Signal(2 + late, name="writes")
        which = Signal(len(takes))
        following = next_flit(place, length)
        with m.If(reads):
            m.d.sync += [place.eq(following), reads.eq(following.any() if length > 1 else 0)]
        with m.If(Cat(takes).any()):
            m.d.sync += [reads.eq(1), which.eq(Cat(takes))]
        m.d.sync += writes.eq(Cat(reads, writes))
        if late:
            whose: list[Value] = [which]
            for _ in range(1 + late):
                whose = list(held(m, whose))
            flits = list(held(m, [selected(whose[0], held(m, flits))]))
        m.d.comb += [sender.writes.eq(writes[-1]), sender.flit.eq(flits[0])]


_STATES = ("is_up", "is_used")


def _check(
    machine: Machine, ports: tuple[int, ...], arrivals: tuple[int, ...], ahead: tuple[int, ...], word_width: int
) -> None:
    """Raise SpecError unless a bridge can be made."""
    if machine.timing.gives_notice:
        raise SpecError(
            f"bridges do not go with {named('switching', 'cut-through')} of packets of fewer than {HALF_SLOT} flits: "
            "routers are told of them ahead"
        )
    known = len(machine.network.ports)
    if not ports or any(not 0 <= port < known for port in ports):
        raise SpecError(f"ports must be some of the network's 0 to {known - 1}, not {ports}")
    if sorted(arrivals) != list(range(len(ports))) or len(ahead) != len(ports):
        raise SpecError(f"arrivals and ahead must have one number for each of {len(ports)} ports")
    here, there = (
        sum(machine.plan.num_vcs[end] for end in ends)
        for ends in (ports, [machine.network.ports[port].opposite for port in ports])
    )
    if here != there:
        raise SpecError(f"a link must have as many virtual channels one way as the other, not {here} and {there}")
    if not LEAST_WORD <= word_width <= max(LEAST_WORD, machine.word_width):
        most = max(LEAST_WORD, machine.word_width)
        raise SpecError(f"word_width must be {LEAST_WORD} to {most} bits, those of a flit, not {word_width}")
