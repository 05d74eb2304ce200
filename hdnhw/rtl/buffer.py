"""What network and injection ports have in common: packet buffers in RAM, and queues of routing decisions."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, ClassVar

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.rtl.arbiter import first_in_order, service_order
from hdnhw.rtl.bits import any_of, equals, filled, index_width, number_of, selected
from hdnhw.rtl.queue import DecisionQueue, VirtualOutputQueues

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
    buffers : int
        Packet buffers of each virtual channel.

    Attributes
    ----------
    queues : list
        One a virtual channel.
    onwards : list
        With cut-through, for each of them a queue of what the next router does with the packet.
    pops : Value
        A bit per virtual channel, right in the credit phase: whether a packet leaves it.
    chooses_buffers : bool
        Whether a queue chooses the packet buffer of the packet that comes next whenever one may have become free; else
        it takes them in turn.
    """

    pops: Value
    chooses_buffers: ClassVar[bool]

    def __init__(self, m: Module, port: Any, ways: Sequence[Ways], *, buffers: int) -> None:
        timing = port.machine.timing
        self._m, self._port, self._timing, self._buffers, self._ways = m, port, timing, buffers, ways
        self.queues: list[Any] = []
        self.onwards: list[DecisionQueue] = []
        length, num_vcs = timing.packet_length, len(ways)
        depth = port.machine.buffer_words(num_vcs, buffers)
        is_block_ram = port.machine.is_block_ram
        # Nobody reads a word in the cycle in which it is written: what comes out then may be anything.
        attributes = {"ram_style": "block", "no_rw_check": 1} if is_block_ram else {}
        m.submodules.flits = flits = memory.Memory(shape=len(port.flit), depth=depth, init=[], attrs=attributes)
        self._write, read = flits.write_port(), flits.read_port(domain="sync" if is_block_ram else "comb")
        self._elaborate_queues()
        self._reading_vc = Signal(index_width(num_vcs), name="reading_vc", reset_less=True)
        self._reading_slot = Signal(index_width(buffers), name="reading_slot", reset_less=True)
        self._elaborate_reading(port.at[length - 1 - self.lead(port.machine)])
        m.d.comb += read.addr.eq(self._address(self._reading_vc, self._reading_slot, port.reads))
        self._elaborate_flit(read.data)
        if timing.gives_notice:
            self._elaborate_onward()

    @staticmethod
    def lead(machine: Machine) -> int:
        """Return the phases by which the address of a flit is ahead of the phase in which it is said to be read.

        Block RAM has a register for the address. Then comes that for the word, and as the wires from it may be long,
        another one where there is time for it.
        """
        return machine.timing.most_lead if machine.is_block_ram else 0

    def _elaborate_flit(self, word: Value) -> None:
        """Pass a word on as a flit: through as many registers as its address is ahead, or as the slot has time for."""
        m, port = self._m, self._port
        for stage in range(self.lead(port.machine)):
            register = Signal(len(port.flit), name=f"flit_register_{stage}", reset_less=True)
            m.d.sync += register.eq(word)
            word = register
        registers = self._timing.registers_flits and not port.machine.is_block_ram
        m.d["sync" if registers else "comb"] += port.flit.eq(word)

    def _elaborate_onward(self) -> None:
        """Say, with cut-through, in the commit phase what the next router does with the packet that is read then."""
        raise NotImplementedError

    @staticmethod
    def signature(machine: Machine, ways: Sequence[Ways]) -> wiring.Signature:
        """Return the queues of one input as allocation sees them; `ways` are those of each queue."""
        raise NotImplementedError

    def _elaborate_queues(self) -> None:
        raise NotImplementedError

    def _elaborate_reading(self, selects: Value) -> None:
        """Set, from the phase behind the one that `selects` on, the virtual channel and packet buffer that is read."""
        raise NotImplementedError

    def _read_from(self, selects: Value, vc: Value, slot: Value) -> None:
        with self._m.If(selects):
            self._m.d.sync += [self._reading_vc.eq(vc), self._reading_slot.eq(slot)]

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

    chooses_buffers = False

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
            if machine.timing.gives_notice:
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
                at_once=self._timing.offset > 0 and not self._timing.gives_notice,
            )
            m.submodules[f"decisions_{vc}"] = queue
            self.queues.append(queue)
            # Long slots know the pops of the update phase in the phase before.
            before = port.at[update - 1 if early else update]
            m.d["sync" if early else "comb"] += queue.pop.eq(port.queues.pop[vc] & before)
            m.d.comb += getattr(port.queues, f"way_{vc}").eq(queue.out)

    def _elaborate_onward(self) -> None:
        m, port = self._m, self._port
        for vc, queue in enumerate(self.queues):
            onward = DecisionQueue(ways=port.onward.shape().size, buffers=self._buffers, once_a_slot=True)
            m.submodules[f"onwards_{vc}"] = onward
            m.d.comb += [onward.pop.eq(queue.pop), onward.close.eq(onward.push)]
            self.onwards.append(onward)
        vc = self._reading_vc if len(self.queues) > 1 else Const(0)
        m.d.comb += port.onward.eq(Array(filled([onward.out for onward in self.onwards]))[vc])

    def _elaborate_reading(self, selects: Value) -> None:
        read_vc = self._port.queues.read_vc if len(self.queues) > 1 else Const(0)
        self._read_from(selects, read_vc, Array(filled([queue.read_slot for queue in self.queues]))[read_vc])


class VoqBuffer(InputBuffer):
    """Packets leave in order only among those of a virtual channel that go the same way.

    Of several virtual channels with packets of a way, the one comes first that has sent there longest ago.
    """

    chooses_buffers = True

    @staticmethod
    def signature(_machine: Machine, ways: Sequence[Ways]) -> wiring.Signature:
        """See :meth:`InputBuffer.signature`.

        - ways : Out, the output virtual channels that the packets of the input take, see :func:`ways_of_input`.
        - take : In, in the last cycle of a slot, that of the packet that leaves in the next one, one-hot; 0 if none
          does. If matching is early, that of what is matched in a round, in the phase in which this is known.
        """
        count = len(ways_of_input(ways))
        return wiring.Signature({"ways": Out(count), "take": In(count)})

    def _elaborate_queues(self) -> None:
        for vc, ways in enumerate(self._ways):
            apart = self._timing.matches_early
            queue = VirtualOutputQueues(ways=len(ways), buffers=self._buffers, apart=apart)
            self._m.submodules[f"decisions_{vc}"] = queue
            self.queues.append(queue)
            if apart:
                self._m.d.comb += queue.opens.eq(self._port.at[self._timing.update_phase])

    def _elaborate_first(self, number: int, asked: dict[int, Value], update: Value) -> dict[int, Value]:
        """Choose one of the virtual channels with packets of a way, in the order of service there."""
        vcs, served = list(asked), Signal(len(asked), name=f"first_{number}")
        order = service_order(self._m, served, update=update, name=f"queue_order_{number}")
        first = first_in_order(asked, {(vcs[i], vcs[j]): before for (i, j), before in order.items()})
        self._m.d.comb += served.eq(Cat(first.values()))
        return dict(zip(vcs, served, strict=True))

    def _elaborate_reading(self, selects: Value) -> None:
        if self._timing.matches_early:
            self._elaborate_early(selects)
            return
        reading_vc, reading_slot = self._reading_vc, self._reading_slot
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
        self._read_from(selects, read_vc, read_slot)

    def _elaborate_early(self, selects: Value) -> None:
        """Look up what leaves when it is matched, in the first round or the second; forget it a phase later."""
        m, port = self._m, self._port
        num_vcs, (first_round, second_round) = len(self.queues), self._timing.match_phases
        leaves, self.pops = Signal(num_vcs, name="leaves"), Signal(num_vcs, name="pops")
        slot = Signal.like(self._reading_slot, name="leaving_slot", reset_less=True)
        wanted, places = [], []
        for number, (way, take) in enumerate(zip(ways_of_input(self._ways), port.queues.take, strict=True)):
            place = {vc: own.index(way) for vc, own in enumerate(self._ways) if way in own}
            places.append(Mux(take, self._elaborate_first_place(number, place, leaves), 0))
            comes = [self.queues[vc].push & self.queues[vc].i[index] for vc, index in place.items()]
            wanted.append(any_of([*(self.queues[vc].out[index] for vc, index in place.items()), *comes]))
        m.d.comb += port.queues.ways.eq(Cat(wanted))
        found = reduce(or_, places)
        gathered = Signal(len(found), name="gathered", reset_less=True)
        with m.If(port.at[first_round]):
            m.d.sync += gathered.eq(found)
        with m.If(port.at[second_round]):
            m.d.sync += slot.eq((gathered | found)[num_vcs:])
        leaving = leaves | self.pops  # from the phase behind the second round on
        m.d.sync += [
            leaves.eq(Mux(port.at[second_round], (gathered | found)[:num_vcs], 0)),
            self.pops.eq(Mux(port.at[second_round], 0, leaving)),
        ]
        for queue, pop in zip(self.queues, leaves, strict=True):
            m.d.comb += [queue.pop.eq(pop), queue.pop_slot.eq(slot)]
        vc = number_of(dict(enumerate(leaving)), len(self._reading_vc))
        if self._timing.packet_length - 1 - self.lead(port.machine) == second_round:  # it is known just in time
            m.d.comb += [self._reading_vc.eq(vc), self._reading_slot.eq(slot)]
        else:
            self._read_from(selects, vc, slot)

    def _elaborate_first_place(self, number: int, place: Mapping[int, int], leaves: Value) -> Value:
        """Return virtual channel, one-hot, and packet buffer of the packet that goes a way first, by order of service.

        `place` has for each virtual channel with such packets the bit of its decisions that says so.
        """
        m, take = self._m, self._port.queues.take[number]
        asked = {vc: self.queues[vc].out[index] for vc, index in place.items()}
        vcs, taken = list(asked), Signal(name=f"taken_{number}")
        m.d.sync += taken.eq(Mux(self._port.at[0], 0, taken | take))
        order = service_order(m, Cat(leaves[vc] for vc in vcs), update=taken, name=f"queue_order_{number}")
        first: Mapping[int, Value] = dict.fromkeys(asked, Const(1))
        if len(asked) > 1:
            first = first_in_order(asked, {(vcs[i], vcs[j]): before for (i, j), before in order.items()})
        slots = [getattr(self.queues[vc], f"slot_{index}") for vc, index in place.items()]
        kept = Signal(len(leaves) + len(self._reading_slot), name=f"place_{number}", reset_less=True)
        places = [first.get(vc, Const(0)) for vc in range(len(leaves))]
        m.d.sync += kept.eq(Cat(*places, selected(first.values(), slots)))
        return kept if len(asked) > 1 else Cat(*places, kept[len(leaves) :])
