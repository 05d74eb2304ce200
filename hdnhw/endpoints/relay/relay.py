"""The relay of a node: packets that go by waypoints, on their way from one to the next."""

from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hdnhw.endpoints.relay.format import MOST_NOTICES, RELAY_COUNTS
from hdnhw.endpoints.relay.pending import PendingRequest, notice_layout, request_layout
from hdnhw.endpoints.relay.queues import SharedQueues
from hdnhw.endpoints.relay.receiver import FabricReceiver, UserReceiver
from hdnhw.endpoints.relay.sender import Sender
from hdnhw.endpoints.relay.store import PacketMemory, PacketQueue, buffer_of, queues_at
from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import any_of, selected
from hdnhw.rtl.channel import ejection_signature, injection_signature

COUNT_WIDTH = 16
"""Bits of a counter, which stays at its maximum."""


def counts_layout() -> data.StructLayout:
    """Return the counters of a relay, see :data:`hdnhw.endpoints.relay.format.RELAY_COUNTS`."""
    return data.StructLayout(dict.fromkeys(RELAY_COUNTS, COUNT_WIDTH))


class Relay(wiring.Component):
    """Sends packets by the waypoints that they name: asks the next for a buffer, goes there, asks the one behind it.

    Cycle by cycle it is what docs/decisions/0013-waypoints-by-request-and-grant.md says.

    Parameters
    ----------
    machine : Machine
        With relays.

    Members
    -------
    address : In(address width)
        The node's packed address; constant.
    send : In(injection_signature)
        Packets of the user, see :class:`hdnhw.endpoints.relay.receiver.UserReceiver`.
    deliver : Out(ejection_signature)
        Packets for the user, and notices of those that were lost. It must take them in the end, whether or not it can
        send.
    inject : Out(injection_signature)
    eject : In(ejection_signature)
        Of the fabric; taken without condition but for what is delivered.
    counts : Out(counts_layout)
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, self._packets = machine, machine.endpoint_format
        packets = self._packets
        width = packets.flits.flit_width
        super().__init__(
            {
                "address": In(packets.flits.address_width),
                "send": In(injection_signature(flit_width=width)),
                "deliver": Out(ejection_signature(flit_width=width)),
                "inject": Out(injection_signature(flit_width=width)),
                "eject": In(ejection_signature(flit_width=width)),
                "counts": Out(counts_layout()),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        packets = self._packets
        m.submodules.fabric = fabric = FabricReceiver(packets)
        m.submodules.user = user = UserReceiver(packets)
        m.submodules.sender = sender = Sender(packets)
        connect(m, flipped(self.send), user.send)
        connect(m, flipped(self.eject), fabric.eject)
        connect(m, fabric.deliver, flipped(self.deliver))
        connect(m, sender.inject, flipped(self.inject))
        m.d.comb += [part.address.eq(self.address) for part in (fabric, user, sender)]
        queues = [PacketQueue(packets, relayed=number < packets.relayed_queues) for number in range(packets.num_queues)]
        pending = [PendingRequest(packets) for _ in queues[1:]]
        for number, part in enumerate(queues):
            m.submodules[f"queue_{number}"] = part
        for number, part in enumerate(pending, 1):
            m.submodules[f"pending_{number}"] = part
        self._elaborate_memory(m, fabric, user, sender)
        self._elaborate_queues(m, queues, fabric, user, sender)
        self._elaborate_grants(m, queues, fabric, sender)
        discards = self._elaborate_pending(m, queues, pending, fabric, sender)
        untold = self._elaborate_notices(m, discards, pending, fabric, sender)
        events = {name: getattr(fabric, name) for name in ("stranded", "unreserved", "astray")}
        self._elaborate_counts(m, events | {"expired": discards.any(), "refused": user.refused, "untold": untold})
        return m

    def _elaborate_memory(self, m: Module, fabric: Any, user: Any, sender: Any) -> None:
        """Write what the fabric brings, else what the user sends."""
        m.submodules.memory = store = PacketMemory(self._packets)
        first = fabric.write.enable
        m.d.comb += [user.busy.eq(first), store.write.enable.eq(first | user.write.enable)]
        for name in ("slot", "flit", "data"):
            m.d.comb += getattr(store.write, name).eq(
                Mux(first, getattr(fabric.write, name), getattr(user.write, name))
            )
        connect(m, sender.read, store.read)

    def _elaborate_queues(self, m: Module, queues: list[Any], fabric: Any, user: Any, sender: Any) -> None:
        """Join the buffers with who fills them and who sends from them."""
        for number, part in enumerate(queues):
            m.d.comb += [
                part.open.eq(user.open[number]),
                part.close.eq(user.close[number]),
                part.leave.eq(sender.send[number]),
                part.free.eq(sender.free[number]),
                user.room[number].eq(part.room),
                user.places[number].eq(part.place),
                sender.firsts[number].eq(buffer_of(self._packets, number, part.first_relayed, part.first_place)),
            ]
        for number, part in enumerate(queues[: self._packets.relayed_queues]):
            m.d.comb += [
                part.fill.eq(fabric.fill[number]),
                part.finish.eq(fabric.finish[number]),
                part.comes.eq(fabric.comes),
                part.free_relayed.eq(sender.free[len(queues) + number]),
                fabric.reserved[number].eq(part.reserved),
                fabric.places[number].eq(part.place_relayed),
            ]

    def _elaborate_grants(self, m: Module, queues: list[Any], fabric: Any, sender: Any) -> None:
        """Queue the requests of others, a queue for each class; each is granted while there is room."""
        packets, layout = self._packets, request_layout(self._packets)
        waypoints, nodes = packets.endpoints.waypoints, self.machine.network.num_nodes
        m.submodules.requests = requests = SharedQueues(count=waypoints, depth=nodes, width=layout.size)
        m.d.comb += [
            requests.push.eq(fabric.requests),
            requests.i.eq(fabric.asker),
            requests.pop.eq(sender.grant),
            fabric.full.eq(requests.full),
        ]
        for kind in range(waypoints):
            first, parts = Signal(layout, name=f"first_{kind}"), [queues[n] for n in packets.queues_of(kind)]
            m.d.comb += [first.eq(requests.firsts[kind]), sender.requests[kind].eq(first.src)]
            asked = queues_at(packets, kind, first.queue) if len(parts) > 1 else [Const(1)]
            room = any_of(each & part.room_relayed for each, part in zip(asked, parts, strict=True))
            m.d.comb += sender.can_grant[kind].eq(requests.valid[kind] & room)
            m.d.comb += [part.reserve.eq(sender.grant[kind] & each) for each, part in zip(asked, parts, strict=True)]

    def _elaborate_pending(self, m: Module, queues: list[Any], pending: list[Any], fabric: Any, sender: Any) -> Signal:
        """Ask, and send what is granted; return the queues whose packet is discarded, one at most."""
        discards, before = Signal(len(pending)), fabric.loses
        m.d.comb += sender.can_go[0].eq(queues[0].valid)
        for number, (part, waiting) in enumerate(zip(pending, queues[1:], strict=True)):
            m.d.comb += [
                sender.can_go[number + 1].eq(waiting.valid & part.ready),
                sender.must_ask[number].eq(~part.granted),
                part.ask.eq(sender.ask[number]),
                part.offers.eq(sender.offers[number]),
                part.header.eq(sender.header),
                part.send.eq(sender.send[number + 1]),
                part.grants.eq(fabric.grants[number]),
                part.granter.eq(fabric.src),
                fabric.accepts[number].eq(part.accepts),
                part.discard.eq(discards[number]),
                waiting.discard.eq(discards[number]),
            ]
            m.d.sync += discards[number].eq(part.overdue & ~before)
            before = before | part.overdue
        return discards

    def _elaborate_notices(self, m: Module, discards: Signal, pending: list[Any], fabric: Any, sender: Any) -> Value:
        """Queue notices to the sources of packets that are lost; return whether there is one without a place."""
        notice, due = Signal(notice_layout(self._packets)), Signal()
        m.submodules.notices = queue = SharedQueues(count=1, depth=MOST_NOTICES, width=notice.shape().size)
        discarded = selected(discards, [part.notice.as_value() for part in pending])
        m.d.sync += [
            due.eq(fabric.lost | discards.any()),
            notice.eq(Mux(fabric.lost, fabric.notice.as_value(), discarded)),
        ]
        m.d.comb += [
            queue.push.eq(due & ~queue.full),
            queue.i.eq(notice),
            queue.pop.eq(sender.tell),
            sender.can_tell.eq(queue.valid),
            sender.notice.eq(queue.firsts[0]),
        ]
        return due & queue.full

    def _elaborate_counts(self, m: Module, events: dict[str, Value]) -> None:
        for name, event in events.items():
            count, counts, most = getattr(self.counts, name), Signal(name=f"{name}_counts"), Signal(name=f"{name}_most")
            m.d.sync += counts.eq(event)
            with m.If(counts & ~most):
                m.d.sync += [count.eq(count + 1), most.eq(count[1:].all())]
