"""What network and injection ports have in common: packet buffers in RAM, and queues of routing decisions."""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any, ClassVar

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine import Machine
from hdnhw.rtl.arbiter import first_in_order, service_order
from hdnhw.rtl.bits import any_of, equals, filled, index_width, number_of
from hdnhw.rtl.queue import DecisionQueue, VirtualOutputQueues

__all__ = ["FifoBuffer", "InputBuffer", "VoqBuffer", "Ways", "ways_of_input"]

Ways = tuple[tuple[int, int], ...]
"""The (output port, virtual channel there) that packets of one queue can take."""


def ways_of_input(ways: Sequence[Ways]) -> list[tuple[int, int]]:
    """Return the ways that packets of any queue of an input can take, in the order of their bits."""
    return list(dict.fromkeys(way for own in ways for way in own))


class InputBuffer:
    """Packet buffers in RAM and a queue a virtual channel.

    Parameters
    ----------
    m : Module
    port : Component
        Has `machine`, `queues`, `at`, `reads` and `flit`.
    ways : sequence of Ways
        Of each virtual channel.

    Attributes
    ----------
    queues : list
        One a virtual channel.
    onwards : list
        With cut-through, for each of them a queue of what the next router does with the packet.
    pops : Value
        A bit a virtual channel: whether a packet leaves it at the end of the update phase.
    chooses_buffers : bool
        Whether a queue chooses the packet buffer of the packet that comes next whenever one may have become free; else
        it takes them in turn.
    selects_early : bool
        Whether what is read next is known two phases before the last one, where flits are registered; else in the last.
    """

    pops: Value
    chooses_buffers: ClassVar[bool]
    selects_early: ClassVar[bool]

    def __init__(self, m: Module, port: Any, ways: Sequence[Ways]) -> None:
        timing, buffers = port.machine.timing, port.machine.buffers_per_vc(len(ways))
        self._m, self._port, self._timing, self._buffers, self._ways = m, port, timing, buffers, ways
        self.queues: list[Any] = []
        self.onwards: list[DecisionQueue] = []
        length, num_vcs = timing.packet_length, len(ways)
        depth = port.machine.buffer_words(num_vcs)
        is_block_ram = port.machine.is_block_ram
        # Nobody reads a word in the cycle in which it is written: what comes out then may be anything.
        attributes = {"ram_style": "block", "no_rw_check": 1} if is_block_ram else {}
        m.submodules.flits = flits = memory.Memory(shape=len(port.flit), depth=depth, init=[], attrs=attributes)
        self._write, read = flits.write_port(), flits.read_port(domain="sync" if is_block_ram else "comb")
        self._elaborate_queues()
        reading_vc = Signal(index_width(num_vcs), reset_less=True)
        reading_slot = Signal(index_width(buffers), reset_less=True)
        read_vc, read_slot = self._elaborate_reading(reading_vc, reading_slot)
        is_early = is_block_ram and self.selects_early
        selects = port.at[length - 1 - (self.lead(port.machine) if is_early else 0)]
        with m.If(selects):
            m.d.sync += [reading_vc.eq(read_vc), reading_slot.eq(read_slot)]
        address = self._address(reading_vc, reading_slot, port.reads)
        if is_block_ram and not is_early:  # the address of the head flit comes from where the next packet is known
            address = Mux(selects, self._address(read_vc, read_slot, port.reads), address)
        m.d.comb += read.addr.eq(address)
        self._elaborate_flit(read.data)
        if timing.cuts_through:
            self._elaborate_onward(reading_vc)

    @classmethod
    def lead(cls, machine: Machine) -> int:
        """Return the phases by which the address of a flit is ahead of the phase in which it is said to be read.

        Block RAM has a register for the address. Then comes that for the word, and as the wires from it may be long,
        another one where there is time for it.
        """
        if not machine.is_block_ram:
            return 0
        return machine.timing.most_lead if cls.selects_early else 1

    def _elaborate_flit(self, word: Value) -> None:
        """Pass a word on as a flit: through as many registers as its address is ahead, or as the slot has time for."""
        m, port = self._m, self._port
        for stage in range(self.lead(port.machine)):
            register = Signal(len(port.flit), name=f"flit_register_{stage}", reset_less=True)
            m.d.sync += register.eq(word)
            word = register
        registers = self._timing.registers_flits and not port.machine.is_block_ram
        m.d["sync" if registers else "comb"] += port.flit.eq(word)

    def _elaborate_onward(self, reading_vc: Signal) -> None:
        """Say, with cut-through, in the commit phase what the next router does with the packet that is read then."""
        raise NotImplementedError

    @staticmethod
    def signature(machine: Machine, ways: Sequence[Ways]) -> wiring.Signature:
        """Return the queues of one input as allocation sees them; `ways` are those of each queue."""
        raise NotImplementedError

    def _elaborate_queues(self) -> None:
        raise NotImplementedError

    def _elaborate_reading(self, reading_vc: Signal, reading_slot: Signal) -> tuple[Value, Value]:
        """Return, valid in the last phase, the virtual channel and the packet buffer of what is read next."""
        raise NotImplementedError

    def _address(self, vc: Any, slot: Any, flit: Any) -> Any:
        return Cat(flit, *([slot] if self._buffers > 1 else []), *([vc] if len(self.queues) > 1 else []))

    def write_slot(self, vc: Value) -> Value:
        """Return the packet buffer of the packet that comes in on a virtual channel."""
        return Array(filled([queue.write_slot for queue in self.queues]))[vc]

    def write(self, *, vc: Any, slot: Any, flit: Any, data: Any, enable: Any, late: bool) -> None:
        """Write a flit of the packet that is coming in; `late`, through registers."""
        m, write = self._m, self._write
        for name, value in (("addr", self._address(vc, slot, flit)), ("data", data), ("en", enable)):
            signal = getattr(write, name)
            if late:
                register = Signal.like(signal, name=f"write_{name}", reset_less=name != "en")
                m.d.sync += register.eq(value)
                value = register
            m.d.comb += signal.eq(value)


class FifoBuffer(InputBuffer):
    """Packets leave a virtual channel first in, first out."""

    chooses_buffers, selects_early = False, True

    @staticmethod
    def signature(machine: Machine, ways: Sequence[Ways]) -> wiring.Signature:
        """See :meth:`InputBuffer.signature`.

        - way_Q : Out, output virtual channel of the packet at the head of queue Q, one-hot; 0 if there is none.
        - pop : In(queues), the head of a queue has been granted: it leaves the queue at the end of the update phase.
        - read_vc : In, in the last cycle of a slot, or in the last three where flits are registered, the queue that is
          read in the next one; absent if there is one.
        - tells_Q, told_Q : Out, with cut-through, in the sample phase, whether queue Q is empty and a packet comes that
          the input has been told of, and what `way_Q` will be in the next cycle; absent if there is one queue, as
          allocation has time to wait there.
        """
        members = {f"way_{queue}": Out(len(own)) for queue, own in enumerate(ways)} | {"pop": In(len(ways))}
        if len(ways) > 1:
            members["read_vc"] = In(index_width(len(ways)))
            if machine.timing.cuts_through:
                members |= {f"told_{queue}": Out(len(own)) for queue, own in enumerate(ways)}
                members |= {f"tells_{queue}": Out(1) for queue in range(len(ways))}
        return wiring.Signature(members)

    def _elaborate_queues(self) -> None:
        m, port = self._m, self._port
        self.pops = port.queues.pop
        update, early = self._timing.update_phase, self._timing.registers_routes
        for vc, ways in enumerate(self._ways):
            queue = DecisionQueue(
                ways=len(ways),
                buffers=self._buffers,
                once_a_slot=self._timing.registers_flits,
            )
            m.submodules[f"decisions_{vc}"] = queue
            self.queues.append(queue)
            # Long slots know the pops of the update phase in the phase before.
            before = port.at[update - 1 if early else update]
            m.d["sync" if early else "comb"] += queue.pop.eq(port.queues.pop[vc] & before)
            m.d.comb += getattr(port.queues, f"way_{vc}").eq(queue.out)

    def _elaborate_onward(self, reading_vc: Signal) -> None:
        m, port = self._m, self._port
        for vc, queue in enumerate(self.queues):
            onward = DecisionQueue(ways=port.onward.shape().size, buffers=self._buffers, once_a_slot=True)
            m.submodules[f"onwards_{vc}"] = onward
            m.d.comb += [onward.pop.eq(queue.pop), onward.close.eq(onward.push)]
            self.onwards.append(onward)
        vc = reading_vc if len(self.queues) > 1 else Const(0)
        m.d.comb += port.onward.eq(Array(filled([onward.out for onward in self.onwards]))[vc])

    def _elaborate_reading(self, reading_vc: Signal, reading_slot: Signal) -> tuple[Value, Value]:
        read_vc = self._port.queues.read_vc if len(self.queues) > 1 else Const(0)
        return read_vc, Array(filled([queue.read_slot for queue in self.queues]))[read_vc]


class VoqBuffer(InputBuffer):
    """Packets leave in order only among those of a virtual channel that go the same way.

    Of several virtual channels with packets of a way, the one comes first that has sent there longest ago.
    """

    chooses_buffers, selects_early = True, False

    @staticmethod
    def signature(_machine: Machine, ways: Sequence[Ways]) -> wiring.Signature:
        """See :meth:`InputBuffer.signature`.

        - ways : Out, the output virtual channels that the packets of the input take, see :func:`ways_of_input`.
        - take : In, in the last cycle of a slot, that of the packet that leaves in the next one, one-hot; 0 if none
          does.
        """
        count = len(ways_of_input(ways))
        return wiring.Signature({"ways": Out(count), "take": In(count)})

    def _elaborate_queues(self) -> None:
        for vc, ways in enumerate(self._ways):
            queue = VirtualOutputQueues(ways=len(ways), buffers=self._buffers)
            self._m.submodules[f"decisions_{vc}"] = queue
            self.queues.append(queue)

    def _elaborate_first(self, number: int, asked: dict[int, Value], update: Value) -> dict[int, Value]:
        """Choose one of the virtual channels with packets of a way, in the order of service there."""
        vcs, served = list(asked), Signal(len(asked), name=f"first_{number}")
        order = service_order(self._m, served, update=update, name=f"queue_order_{number}")
        first = first_in_order(asked, {(vcs[i], vcs[j]): before for (i, j), before in order.items()})
        self._m.d.comb += served.eq(Cat(first.values()))
        return dict(zip(vcs, served, strict=True))

    def _elaborate_reading(self, reading_vc: Signal, reading_slot: Signal) -> tuple[Value, Value]:
        m, port, timing = self._m, self._port, self._timing
        update, last = port.at[timing.update_phase], port.at[timing.packet_length - 1]
        self.pops = pops = Signal(len(self.queues), name="pops")
        wanted, vcs, buffers = [], [], []
        for number, way in enumerate(ways_of_input(self._ways)):
            place = {vc: own.index(way) for vc, own in enumerate(self._ways) if way in own}
            asked = {vc: self.queues[vc].out[index] for vc, index in place.items()}
            first = self._elaborate_first(number, asked, port.queues.take[number] & last)
            slot = reduce(or_, (Mux(first[vc], getattr(self.queues[vc], f"slot_{place[vc]}"), 0) for vc in place))
            kept = Signal(len(reading_vc) + len(reading_slot), name=f"place_{number}", reset_less=True)
            m.d["sync" if timing.matching_rounds > 1 else "comb"] += kept.eq(
                Cat(number_of(first, len(reading_vc)), slot)
            )
            wanted.append(any_of(asked.values()))
            vcs.append(Mux(port.queues.take[number], kept[: len(reading_vc)], 0))
            buffers.append(Mux(port.queues.take[number], kept[len(reading_vc) :], 0))
        read_vc, read_slot, sends = reduce(or_, vcs), reduce(or_, buffers), port.queues.take.any()
        m.d.comb += port.queues.ways.eq(Cat(wanted))
        leaving = Signal(name="leaving")
        if timing.packet_length == 1:
            m.d.comb += leaving.eq(sends)
            leaving_vc, leaving_slot = read_vc, read_slot
        else:
            with m.If(last):
                m.d.sync += leaving.eq(sends)
            leaving_vc, leaving_slot = reading_vc, reading_slot
        for vc, queue in enumerate(self.queues):
            here = equals(leaving_vc, vc) if len(self.queues) > 1 else Const(1)
            m.d.comb += [
                pops[vc].eq(leaving & here),
                queue.pop.eq(pops[vc] & update),
                queue.pop_slot.eq(leaving_slot),
            ]
        return read_vc, read_slot
