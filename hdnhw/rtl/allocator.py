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
    seen, choice : Signal
        One-hot, the input and the virtual channel chosen there, while it is being chosen.
    who, queue : Signal
        The same when it is granted.
    want : Signal
        One-hot, the output that the chosen packet takes; 0 if none may be sent.
    vc : Signal
        The packet's virtual channel there.
    """

    def __init__(self, number: int, *, inputs: int, outputs: int, num_vcs: int, vc_width: int) -> None:
        self.seen = Signal(inputs, name=f"seen_{number}")
        self.choice = Signal(num_vcs, name=f"choice_{number}")
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
        update = self.at[timing.update_phase]
        commit = self.at[timing.commit_phase]
        served = Signal()  # the first queue sends: it is ready, and nobody comes before it
        first, prefer = self._elaborate_order(m, update, served)
        spends = [[Signal(name=f"spend_{o}_{vc}") for vc in range(n)] for o, (n, _) in enumerate(self._outputs)]
        available = self._elaborate_credits(m, update, spends)
        scanned = self._elaborate_scan(m, first, update, *timing.scan_shape(count, self._num_vcs))
        lanes = [self._elaborate_choice(m, number, who, prefer, available) for number, who in enumerate(scanned)]
        granted, taken = self._elaborate_grants(m, lanes, commit)
        self._elaborate_outputs(m, lanes, granted, taken, commit, spends)
        winners = self._elaborate_winners(m, lanes, granted)
        self._elaborate_served(m, served, lanes[0], prefer, winners[0][1])
        self._elaborate_pops(m, winners, update)
        self._elaborate_reads(m, lanes)
        return m

    def _elaborate_order(self, m: Module, update: Value, served: Signal) -> tuple[Signal, Signal]:
        """Keep the queue that is scanned first; return (its input, one-hot; the preferred virtual channel, one-hot)."""
        timing, count = self._timing, len(self._inputs)
        # The first allocation starts at queue 0: where an idle router moves on before it, reset stands one before.
        before = timing.order_moves_at_reset(self._num_vcs)
        first = Signal(count, init=1 << (count - 1) if before else 1)
        vc = Signal(self._num_vcs, init=1 << (self._num_vcs - 1) if before else 1)
        prefer = Signal(self._num_vcs, init=1)
        waits = []
        for number, (num_vcs, _) in enumerate(self._inputs):
            queues = getattr(self, f"queues_{number}")
            waits += [first[number] & vc[v] & queues.valid[v] for v in range(num_vcs)]
        phases = timing.order_phases(self._num_vcs)
        window = Signal(init=timing.packet_length == 1)
        m.d.sync += window.eq(_any(self.at[phase - 1] for phase in phases))
        waiting = Signal()
        m.d["comb" if timing.packet_length == 1 else "sync"] += waiting.eq(_any(waits))
        moves, next_first, next_vc = Signal(name="first_moves"), Signal(count), Signal(self._num_vcs)
        m.d.comb += [
            moves.eq(window & (served | ~waiting)),
            next_first.eq(Mux(moves, Cat(first[-1], first[:-1]), first)),
            next_vc.eq(Mux(moves & first[-1], Cat(vc[-1], vc[:-1]), vc)),
        ]
        m.d.sync += [first.eq(next_first), vc.eq(next_vc)]
        if timing.packet_length == 1:
            return first, vc
        moves_late = timing.update_phase in phases
        with m.If(update):
            m.d.sync += prefer.eq(next_vc if moves_late else vc)
        return next_first if moves_late else first, prefer

    def _elaborate_served(self, m: Module, served: Signal, lane: _Lane, prefer: Signal, sends: Signal) -> None:
        """Tell in the first phase in which the order may move whether the first queue sends."""
        timing = self._timing
        first = timing.order_phases(self._num_vcs)[0]
        if timing.packet_length == 1:
            m.d.comb += served.eq((sends & prefer).any())
        elif timing.registers_pops and self._num_vcs == 1:
            m.d.comb += served.eq(sends.any() & self.at[first])
        else:
            m.d.sync += served.eq(lane.want.any() & (lane.queue & prefer).any() & self.at[first - 1])

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
        stages, outputs = self._timing.request_stages(self._num_vcs), range(len(self._outputs))
        sizes = {"inputs": len(self._inputs), "outputs": len(self._outputs)}
        lane = _Lane(number, **sizes, num_vcs=self._num_vcs, vc_width=self._vc_width)
        heads = [self._head(who, queue) for queue in range(self._num_vcs)]
        who, *heads = self._stage(m, stages > 2, who, *heads)
        vcs = [head[len(outputs) :] for head in heads]
        may = [
            Cat(head[o] & self._free(available[o], vc) for o in outputs) for head, vc in zip(heads, vcs, strict=True)
        ]
        ready = Cat(wanted.any() for wanted in may)
        who, ready, *rest = self._stage(m, stages > 2, who, ready, *may, *vcs)
        may, vcs = rest[: self._num_vcs], rest[self._num_vcs :]
        m.d.comb += [
            lane.seen.eq(who),
            lane.choice.eq(_cyclic_first(ready, prefer) if self._num_vcs > 1 else ready),
        ]
        chosen = [
            lane.who.eq(who),
            lane.queue.eq(lane.choice if self._num_vcs > 1 else 1),
            lane.want.eq(_one_of(lane.choice, may) if self._num_vcs > 1 else may[0]),
            lane.vc.eq(_one_of(lane.choice, vcs) if self._num_vcs > 1 else vcs[0]),
        ]
        m.d["sync" if stages else "comb"] += chosen
        return lane

    def _head(self, who: Signal, queue: int) -> Value:
        """Return the decision at the head of a queue of the scanned input: outputs, one-hot, then virtual channel."""
        members = [i for i, (num_vcs, _) in enumerate(self._inputs) if queue < num_vcs]
        queues = {i: getattr(self, f"queues_{i}") for i in members}
        out = []
        for output in range(len(self._outputs)):
            able = [i for i in members if output in self._inputs[i][1]]
            bits = [queues[i].out[queue][self._inputs[i][1].index(output)] for i in able]
            out.append(_one_of([who[i] for i in able], bits)[:1])
        return Cat(*out, _one_of([who[i] for i in members], [queues[i].vc[queue] for i in members]))

    def _stage(self, m: Module, registered: bool, *values: Value) -> list[Any]:
        """Return the values behind registers, or as wires: named ones, or each use would print its expression again."""
        signals = [Signal(len(value), name="stage") for value in values]
        m.d["sync" if registered else "comb"] += [
            signal.eq(value) for signal, value in zip(signals, values, strict=True)
        ]
        return signals

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
            selects = [Cat(lane.who[i] for i in self.inputs_of(output)) for lane in lanes]
            self._keep(m, getattr(self, f"idle_{output}"), selects, grants, commit, invert=True)
            with m.If(commit):
                m.d.sync += getattr(self, f"valid_{output}").eq(taken[output])
            if num_vcs > 1:
                vcs = [lane.vc[: index_width(num_vcs)] for lane in lanes]
                self._keep(m, getattr(self, f"vc_{output}"), vcs, grants, commit)
            if self._timing.packet_length == 1:
                valid, vc = _any(grants), _one_of(grants, vcs) if num_vcs > 1 else None
            else:
                valid, vc = getattr(self, f"valid_{output}"), getattr(self, f"vc_{output}", None)
            for number, spend in enumerate(spends[output]):
                m.d.comb += spend.eq(valid if vc is None else valid & equals(vc, number))

    def _keep(
        self,
        m: Module,
        result: Signal,
        values: list[Value],
        grants: list[Value],
        commit: Value,
        *,
        invert: bool = False,
    ) -> None:
        """Set `result` for the next slot to the value of the lane that was granted in this one, to 0 if none was.

        Nothing is reset: it means nothing while ``valid`` is low, and so the reset inputs are free for `commit`.
        """
        shape = len(self._inputs), self._num_vcs
        steps, lanes = self._timing.scan_shape(*shape)
        late = self._timing.last_grant(*shape) == self._timing.packet_length - 1 + self._timing.registers_flits
        last = len(self._inputs) - (steps - 1) * lanes if late else 0  # the lanes granted in the commit phase too
        latest: list[Value] = [_one_of(grants[:last], values[:last])] if last else []
        if steps > 1 or not late:
            for lane, (value, grant) in enumerate(zip(values, grants, strict=True)):
                kept = Signal(len(result), name=f"next_{result.name}_{lane}", reset_less=True)
                with m.If(commit):
                    m.d.sync += kept.eq(0)
                with m.Elif(grant):
                    m.d.sync += kept.eq(value)
                latest.append(kept)
        held = Signal(len(result), name=f"held_{result.name}", reset_less=True)
        with m.If(commit):
            m.d.sync += held.eq(~_any(latest) if invert else _any(latest))
        m.d.comb += result.eq(held)

    def _elaborate_winners(self, m: Module, lanes: list[_Lane], granted: list[Signal]) -> list[tuple[Signal, Signal]]:
        """Return for each lane (the input granted, one-hot; its virtual channel, one-hot, 0 if nothing was granted)."""
        winners = []
        for number, (grant, lane) in enumerate(zip(granted, lanes, strict=True)):
            pairs = [grant[place : place + 2].any() for place in range(0, len(grant), 2)]
            seen = [lane.who, lane.queue, Cat(pairs)]
            seen = self._stage(m, self._timing.registers_pops, *seen)
            queue = Signal(self._num_vcs, name=f"sends_{number}")
            m.d.comb += queue.eq(Mux(seen[2].any(), seen[1], 0))
            winners.append((seen[0], queue))
        return winners

    def _elaborate_pops(self, m: Module, winners: list[tuple[Signal, Signal]], update: Value) -> None:
        """Tell the inputs which packets leave."""
        for number, (num_vcs, _) in enumerate(self._inputs):
            pop = getattr(self, f"queues_{number}").pop
            for vc in range(num_vcs):
                won = _any(who[number] & queue[vc] for who, queue in winners)
                if self._timing.packet_length == 1:
                    m.d.comb += pop[vc].eq(won)
                else:
                    m.d.sync += pop[vc].eq(won | (pop[vc] & ~update))

    def _elaborate_reads(self, m: Module, lanes: list[_Lane]) -> None:
        """Tell each input which virtual channel it reads in the next slot."""
        shape = len(self._inputs), self._num_vcs
        early = self._timing.last_choice(*shape) < self._timing.packet_length - 1
        for number, (num_vcs, _) in enumerate(self._inputs):
            if num_vcs == 1:
                continue
            read_vc, width = getattr(self, f"queues_{number}").read_vc, index_width(num_vcs)
            seen = Signal(name=f"seen_at_{number}")
            m.d.comb += seen.eq(_any(lane.seen[number] for lane in lanes))
            codes = [
                Cat(_any(lane.choice[v] for v in range(num_vcs) if v >> bit & 1) for bit in range(width))
                for lane in lanes
            ]
            vc = _first_of([lane.seen[number] for lane in lanes], codes)
            if not early and self._timing.scan_shape(*shape)[0] == 1:
                m.d.comb += read_vc.eq(vc)
                continue
            kept = Signal(width, name=f"read_{number}", reset_less=True)
            with m.If(seen):
                m.d.sync += kept.eq(vc)
            m.d.comb += read_vc.eq(kept if early else Mux(seen, vc, kept))


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
