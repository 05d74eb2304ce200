"""Virtual-channel and switch allocation: which packet leaves by which output in the next slot."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import equals, index_width
from hdnhw.rtl.ports import QueueSignature
from hdnhw.timing import SlotTiming

__all__ = ["CreditCounter", "SwitchAllocator"]


def _any(bits: Iterable[Value]) -> Value:
    return reduce(or_, bits, Const(0))


def _one_of(select: Iterable[Value], values: Iterable[Value]) -> Value:
    """Return the value whose select bit is set, 0 if none is."""
    return _any(Mux(bit, value, 0) for bit, value in zip(select, values, strict=True))


def _first_of(select: Sequence[Value], values: Sequence[Value]) -> Value:
    """Return the value whose select bit is set; any of them if none is."""
    result = values[-1]
    for bit, value in zip(select[-2::-1], values[-2::-1], strict=True):
        result = Mux(bit, value, result)
    return result


class CreditCounter(wiring.Component):
    """Free packet slots of one virtual channel downstream.

    Parameters
    ----------
    slots : int
        Packet slots; all are free after reset.

    Members
    -------
    update : In(1)
        Whether `give` and `spend` count in this cycle.
    give, spend : In(1)
        A slot has become free; a packet has been granted.
    available : Out(1)
        Whether a packet may be sent.
    """

    def __init__(self, *, slots: int) -> None:
        self._slots = slots
        super().__init__({"update": In(1), "give": In(1), "spend": In(1), "available": Out(1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        if self._slots > 4:
            free = Signal(range(self._slots + 1), init=self._slots)
            with m.If(self.update):
                m.d.sync += free.eq(free + self.give - self.spend)
            m.d.comb += self.available.eq(free.any())
            return m
        free = Signal(self._slots, init=-1)  # ones in as many low bits as slots are free
        stays, more, less = self.give | ~self.spend, self.give & ~self.spend, ~self.give
        below, above = Cat(Const(1, 1), free[:-1]), Cat(free[1:], Const(0, 1))
        with m.If(self.update):
            m.d.sync += [free[i].eq(free[i] & stays | below[i] & more | above[i] & less) for i in range(self._slots)]
        m.d.comb += self.available.eq(free[0])
        return m


class _Lane:
    """One input of a scan step: what it wants, and whether it gets it.

    Attributes
    ----------
    who, queue : Signal
        One-hot, the input scanned and the virtual channel chosen there.
    want : Signal
        One-hot, the output that the chosen packet takes; 0 if none may be sent.
    vc : Signal
        The packet's virtual channel there.
    """

    def __init__(self, number: int, *, inputs: int, outputs: int, num_vcs: int, vc_width: int) -> None:
        self.who = Signal(inputs, name=f"who_{number}")
        self.queue = Signal(num_vcs, name=f"queue_{number}")
        self.want = Signal(outputs, name=f"want_{number}")
        self.vc = Signal(vc_width, name=f"vc_wanted_{number}")


class SwitchAllocator(wiring.Component):
    """A greedy match once a slot: the inputs are scanned in a rotating order and take their output if it is free.

    An input offers one packet: of the preferred virtual channel if that has one with a credit, else of the next one in
    cyclic order. The scan starts at a queue, a pair of input and virtual channel, and that is the preferred one. It
    stays first until its packet has left, and queues that are empty or have just sent are passed over; so no packet
    starves. Long slots scan a few inputs a cycle, so that the logic is small; short ones scan all at once.

    Parameters
    ----------
    inputs : sequence of (int, tuple of int)
        For each input, its virtual channels and the outputs it can reach, as indices into `outputs`.
    outputs : sequence of (int, int)
        For each output, its virtual channels and the packet slots of each downstream. The last one is ejection.
    vc_width : int
        Bits of a virtual channel number in a request.
    timing : SlotTiming

    Members
    -------
    at : In(L)
        Phase of the slot, one-hot.
    queues_I : In(QueueSignature)
        The queues of input I.
    credit_O : In
        Credits coming back at output O, a bit a virtual channel, looked at in the update phase; of ejection, in every.
    idle_O : Out
        One bit for each input that can reach output O, low while its packet leaves by that output.
    valid_O : Out(1)
        Whether a packet leaves by output O in this slot.
    vc_O : Out
        Virtual channel of that packet; absent for an output with one.
    """

    def __init__(
        self,
        *,
        inputs: Sequence[tuple[int, tuple[int, ...]]],
        outputs: Sequence[tuple[int, int]],
        vc_width: int,
        timing: SlotTiming,
    ) -> None:
        self._inputs, self._outputs, self._vc_width, self._timing = tuple(inputs), tuple(outputs), vc_width, timing
        self._num_vcs = max(num_vcs for num_vcs, _ in self._inputs)
        members: dict[str, Any] = {"at": In(timing.packet_length)}
        for number, (num_vcs, reachable) in enumerate(self._inputs):
            signature = QueueSignature(num_vcs=num_vcs, outputs=len(reachable), vc_width=vc_width)
            members[f"queues_{number}"] = In(signature)
        for number, (num_vcs, _) in enumerate(self._outputs):
            members[f"credit_{number}"] = In(num_vcs)
            members[f"idle_{number}"] = Out(len(self.inputs_of(number)), init=-1)
            members[f"valid_{number}"] = Out(1)
            if num_vcs > 1:
                members[f"vc_{number}"] = Out(index_width(num_vcs))
        super().__init__(members)

    def inputs_of(self, output: int) -> list[int]:
        """Return the inputs that can reach `output`, in the order of the bits of its ``idle``."""
        return [number for number, (_, reachable) in enumerate(self._inputs) if output in reachable]

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        timing, count = self._timing, len(self._inputs)
        steps, lanes = timing.scan_shape(count, self._num_vcs)
        update = self.at[timing.update_phase]
        commit = self.at[timing.commit_phase]
        first, prefer = self._elaborate_order(m, update)
        spends = [[Signal(name=f"spend_{o}_{vc}") for vc in range(n)] for o, (n, _) in enumerate(self._outputs)]
        available = self._elaborate_credits(m, update, spends)
        scanned = self._elaborate_scan(m, first, update, steps, lanes)
        chosen = [self._elaborate_choice(m, number, who, prefer, available) for number, who in enumerate(scanned)]
        granted, taken = self._elaborate_grants(m, chosen, commit)
        self._elaborate_outputs(m, chosen, granted, taken, commit, spends)
        self._elaborate_pops(m, chosen, granted, update)
        return m

    def _elaborate_order(self, m: Module, update: Value) -> tuple[Signal, Signal]:
        """Keep the queue that is scanned first; return (its input, one-hot; the preferred virtual channel, one-hot)."""
        timing, count = self._timing, len(self._inputs)
        # The first allocation starts at queue 0: where an idle router moves on before it, reset stands one before.
        before = timing.order_moves_at_reset
        first = Signal(count, init=1 << (count - 1) if before else 1)
        vc = Signal(self._num_vcs, init=1 << (self._num_vcs - 1) if before else 1)
        prefer = Signal(self._num_vcs, init=1)
        waits = []
        for number, (num_vcs, _) in enumerate(self._inputs):
            queues = getattr(self, f"queues_{number}")
            waiting = queues.valid & ~queues.pop
            if timing.packet_length == 2:  # of what the last allocation saw, not of what has come since
                seen = Signal(num_vcs, name=f"waiting_{number}")
                m.d.sync += seen.eq(queues.valid)
                waiting = seen & ~queues.pop
            if timing.registers_pops:
                waiting = Signal(num_vcs, name=f"waiting_{number}", reset_less=True)
                for v in range(num_vcs):
                    with m.If(queues.pop[v]):
                        m.d.sync += waiting[v].eq(0)
                    with m.Else():
                        m.d.sync += waiting[v].eq(queues.valid[v])
            waits += [first[number] & vc[v] & waiting[v] for v in range(num_vcs)]
        window = self.at[timing.order_phases[0]]
        if len(timing.order_phases) > 1:
            window = Signal()
            m.d.sync += window.eq(_any(self.at[phase - 1] for phase in timing.order_phases))
        moves, next_first, next_vc = Signal(name="first_moves"), Signal(count), Signal(self._num_vcs)
        m.d.comb += [
            moves.eq(window & ~_any(waits)),
            next_first.eq(Mux(moves, Cat(first[-1], first[:-1]), first)),
            next_vc.eq(Mux(moves & first[-1], Cat(vc[-1], vc[:-1]), vc)),
        ]
        m.d.sync += [first.eq(next_first), vc.eq(next_vc)]
        if timing.packet_length == 1:
            return first, vc
        moves_late = timing.update_phase in timing.order_phases
        with m.If(update):
            m.d.sync += prefer.eq(next_vc if moves_late else vc)
        return next_first if moves_late else first, prefer

    def _elaborate_credits(self, m: Module, update: Value, spends: list[list[Signal]]) -> list[list[Value]]:
        """Count credits; return for each output and virtual channel whether a packet may be sent."""
        available = []
        for output, (num_vcs, slots) in enumerate(self._outputs):
            give = getattr(self, f"credit_{output}")
            if output == len(self._outputs) - 1 and self._timing.packet_length > 1:
                pending, now = Signal(num_vcs, name="pending"), Signal(num_vcs, name="given")
                m.d.comb += now.eq(pending | give)
                m.d.sync += pending.eq(Mux(update, 0, now))
                give = now
            counters = []
            for vc in range(num_vcs):
                m.submodules[f"credits_{output}_{vc}"] = counter = CreditCounter(slots=slots)
                m.d.comb += [counter.update.eq(update), counter.give.eq(give[vc]), counter.spend.eq(spends[output][vc])]
                counters.append(counter.available)
            available.append(counters)
        return available

    def _elaborate_scan(self, m: Module, first: Signal, update: Value, steps: int, lanes: int) -> list[Signal]:
        """Walk over the inputs; return for each lane the input scanned in this cycle, one-hot, or 0."""
        timing, count = self._timing, len(self._inputs)
        scanned = []
        for lane in range(lanes):
            start = Cat(first[(number - lane) % count] for number in range(count))
            who = Signal(count, name=f"scanned_{lane}")
            scanned.append(who)
            if timing.packet_length == 1:
                m.d.comb += who.eq(start)
                continue
            taken_part = steps if (steps - 1) * lanes + lane < count else steps - 1
            last = self.at[timing.sample_phase + taken_part - 1]
            with m.If(update):
                m.d.sync += who.eq(start)
            with m.Elif(last):
                m.d.sync += who.eq(0)
            if taken_part > 1:
                with m.Else():
                    m.d.sync += who.eq(Cat(who[(number - lanes) % count] for number in range(count)))
        return scanned

    def _elaborate_choice(
        self, m: Module, number: int, who: Signal, prefer: Signal, available: list[list[Value]]
    ) -> _Lane:
        """Virtual-channel allocation: look at the heads of the scanned input's queues and choose one."""
        sizes = {"inputs": len(self._inputs), "outputs": len(self._outputs)}
        lane = _Lane(number, **sizes, num_vcs=self._num_vcs, vc_width=self._vc_width)
        ready, outs, vcs = [], [], []
        for queue in range(self._num_vcs):
            members = [i for i, (num_vcs, _) in enumerate(self._inputs) if queue < num_vcs]
            heads = {i: getattr(self, f"queues_{i}") for i in members}
            out = Signal(len(self._outputs), name=f"out_{number}_{queue}")
            vc = Signal(self._vc_width, name=f"vc_{number}_{queue}")
            for output in range(len(self._outputs)):
                able = [i for i in members if output in self._inputs[i][1]]
                bits = [heads[i].out[queue][self._inputs[i][1].index(output)] for i in able]
                m.d.comb += out[output].eq(_one_of([who[i] for i in able], bits))
            m.d.comb += vc.eq(_one_of([who[i] for i in members], [heads[i].vc[queue] for i in members]))
            free = Cat(self._free(available[output], vc) for output in range(len(self._outputs)))
            may = Signal(len(self._outputs), name=f"may_{number}_{queue}")
            m.d.comb += may.eq(out & free)
            ready.append(may.any())
            outs.append(may)
            vcs.append(vc)
        choice = Signal(self._num_vcs, name=f"choice_{number}")
        m.d.comb += choice.eq(_cyclic_first(Cat(ready), prefer) if self._num_vcs > 1 else 1)
        update = [
            lane.who.eq(who),
            lane.queue.eq(choice),
            lane.want.eq(_one_of(choice, outs) if self._num_vcs > 1 else outs[0]),
            lane.vc.eq(_one_of(choice, vcs) if self._num_vcs > 1 else vcs[0]),
        ]
        if self._timing.registers_requests:
            m.d.sync += update
        else:
            m.d.comb += update
        return lane

    def _free(self, available: list[Value], vc: Value) -> Value:
        if len(available) == 1:
            return available[0]
        return _any(free & equals(vc, number) for number, free in enumerate(available))

    def _elaborate_grants(self, m: Module, lanes: list[_Lane], commit: Value) -> tuple[list[Signal], Signal]:
        """Switch allocation: return (the output granted to each lane, one-hot; the outputs granted in this slot)."""
        outputs = len(self._outputs)
        before, taken = Signal(outputs, name="taken_before"), Signal(outputs)
        granted, busy = [], before
        for number, lane in enumerate(lanes):
            grant = Signal(outputs, name=f"grant_{number}")
            m.d.comb += grant.eq(lane.want & ~busy)
            busy = busy | lane.want
            granted.append(grant)
        m.d.comb += taken.eq(busy)
        if self._timing.scan_shape(len(self._inputs), self._num_vcs)[0] > 1:
            m.d.sync += before.eq(Mux(commit, 0, taken))
        return granted, taken

    def _elaborate_outputs(
        self,
        m: Module,
        lanes: list[_Lane],
        granted: list[Signal],
        taken: Signal,
        commit: Value,
        spends: list[list[Signal]],
    ) -> None:
        """Keep what has been granted until the slot ends, and hold it through the next one."""
        for output, (num_vcs, _) in enumerate(self._outputs):
            grants = [grant[output] for grant in granted]
            here = Signal(name=f"granted_{output}")
            m.d.comb += here.eq(_any(grants))
            select = Cat(_first_of(grants, [lane.who[i] for lane in lanes]) for i in self.inputs_of(output))
            self._keep(m, getattr(self, f"idle_{output}"), select, here, commit, invert=True)
            with m.If(commit):
                m.d.sync += getattr(self, f"valid_{output}").eq(taken[output])
            if num_vcs > 1:
                granted_vc = _first_of(grants, [lane.vc[: index_width(num_vcs)] for lane in lanes])
                self._keep(m, getattr(self, f"vc_{output}"), granted_vc, here, commit)
            if self._timing.packet_length == 1:
                valid, vc = here, granted_vc if num_vcs > 1 else None
            else:
                valid, vc = getattr(self, f"valid_{output}"), getattr(self, f"vc_{output}", None)
            for number, spend in enumerate(spends[output]):
                m.d.comb += spend.eq(valid if vc is None else valid & equals(vc, number))

    def _keep(
        self, m: Module, result: Signal, value: Value, now: Value, commit: Value, *, invert: bool = False
    ) -> None:
        """Set `result` for the next slot to the `value` that came with `now` in this one, to 0 if none did.

        Neither is reset: they mean nothing while ``valid`` is low, and so have their reset inputs free for `commit`.
        """
        count = len(self._inputs), self._num_vcs
        early = self._timing.last_grant(*count) < self._timing.packet_length - 1 + self._timing.registers_flits
        if self._timing.scan_shape(*count)[0] == 1 and not early:
            latest = Mux(now, value, 0)
        else:
            kept = Signal(len(result), name=f"next_{result.name}", reset_less=True)
            with m.If(commit):
                m.d.sync += kept.eq(0)
            with m.Elif(now):
                m.d.sync += kept.eq(value)
            latest = kept if early else kept | Mux(now, value, 0)  # kept is 0 where something is granted now
        held = Signal(len(result), name=f"held_{result.name}", reset_less=True)
        with m.If(commit):
            m.d.sync += held.eq(~latest if invert else latest)
        m.d.comb += result.eq(held)

    def _elaborate_pops(self, m: Module, lanes: list[_Lane], granted: list[Signal], update: Value) -> None:
        """Tell the inputs which packet leaves, and which virtual channel to read in the next slot."""
        early = self._timing.last_grant(len(self._inputs), self._num_vcs) < self._timing.packet_length - 1
        winners = []
        for number, (grant, lane) in enumerate(zip(granted, lanes, strict=True)):
            seen = [lane.who, lane.queue, grant]
            if self._timing.registers_pops:
                held = [Signal(len(value), name=f"winner_{number}_{i}") for i, value in enumerate(seen)]
                m.d.sync += [signal.eq(value) for signal, value in zip(held, seen, strict=True)]
                seen = held
            winners.append((*seen[:2], seen[2].any()))
        for number, (num_vcs, _) in enumerate(self._inputs):
            queues = getattr(self, f"queues_{number}")
            for vc in range(num_vcs):
                won = _any(who[number] & queue[vc] & any_grant for who, queue, any_grant in winners)
                if self._timing.packet_length == 1:
                    m.d.comb += queues.pop[vc].eq(won)
                else:
                    m.d.sync += queues.pop[vc].eq(won | (queues.pop[vc] & ~update))
            if num_vcs == 1:
                continue
            seen = Signal(name=f"seen_{number}")
            m.d.comb += seen.eq(_any(lane.who[number] for lane in lanes))
            width = index_width(num_vcs)
            codes = [
                Cat(_any(lane.queue[v] for v in range(num_vcs) if v >> bit & 1) for bit in range(width))
                for lane in lanes
            ]
            vc = _one_of([lane.who[number] for lane in lanes], codes)
            if not early and self._timing.scan_shape(len(self._inputs), self._num_vcs)[0] == 1:
                m.d.comb += queues.read_vc.eq(vc)
                continue
            kept = Signal(width, name=f"read_{number}")
            with m.If(seen):
                m.d.sync += kept.eq(vc)
            m.d.comb += queues.read_vc.eq(kept if early else Mux(seen, vc, kept))


def _cyclic_first(requests: Value, start: Value) -> Value:
    """Return the first request, one-hot, at or after the place marked in `start`, one-hot, in cyclic order."""
    count = len(requests)
    bits = []
    for place in range(count):
        # A request wins if between the start and itself there is none: one term for each possible start.
        terms = []
        for distance in range(count):
            begin = (place - distance) % count
            others = [requests[(begin + step) % count] for step in range(distance)]
            terms.append(start[begin] & ~_any(others) if others else start[begin])
        bits.append(requests[place] & _any(terms) if count > 1 else requests[place])
    return Cat(bits)
