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
from hdnhw.rtl.queue import RoundRobinArbiter

__all__ = ["CreditCounter", "SwitchAllocator"]


def _one_of(select: Value, values: Iterable[Value]) -> Value:
    """Return the value whose bit of `select` is set, 0 if none is."""
    return reduce(or_, (Mux(select[bit], value, 0) for bit, value in enumerate(values)), Const(0))


class CreditCounter(wiring.Component):
    """Free packet slots of one virtual channel downstream.

    Parameters
    ----------
    buffers : int
        Packet slots; all are free after reset.

    Members
    -------
    give, spend : In(1)
        A slot has become free; a packet has been granted.
    available : Out(1)
        Whether a packet may be sent.
    """

    def __init__(self, *, buffers: int) -> None:
        self._buffers = buffers
        super().__init__({"give": In(1), "spend": In(1), "available": Out(1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        free = Signal(range(self._buffers + 1), init=self._buffers)
        m.d.sync += free.eq(free + self.give - self.spend)
        m.d.comb += self.available.eq(free.any())
        return m


class SwitchAllocator(wiring.Component):
    """A separable allocator, one match a slot: each input picks a virtual channel, each output picks an input.

    Both choices are round-robin, and the turn moves on only behind a packet that leaves, so no packet starves.

    Parameters
    ----------
    inputs : sequence of (int, tuple of int)
        For each input, its virtual channels and the outputs it can reach, as indices into `outputs`.
    outputs : sequence of int
        For each output, its virtual channels.
    vc_width : int
        Bits of a virtual channel number in a request.
    buffers : int
        Packet slots a virtual channel downstream.
    register_requests : bool
        Whether a register stands between the two choices.

    Members
    -------
    sample, commit : In(1)
        The cycle in which queues and credits are looked at; the last cycle of the slot. One and the same if L is 1.
    queues_I : In(QueueSignature)
        The queues of input I.
    credit_O : In
        Credits coming back at output O, a bit a virtual channel.
    select_O : Out
        One bit for each input that can reach output O, one-hot during the slot in which its packet leaves.
    vc_O : Out
        Virtual channel of that packet; absent for an output with one.
    """

    def __init__(
        self,
        *,
        inputs: Sequence[tuple[int, tuple[int, ...]]],
        outputs: Sequence[int],
        vc_width: int,
        buffers: int,
        register_requests: bool,
    ) -> None:
        self._inputs, self._outputs, self._vc_width = tuple(inputs), tuple(outputs), vc_width
        self._buffers, self._register_requests = buffers, register_requests
        members: dict[str, Any] = {"sample": In(1), "commit": In(1)}
        for number, (num_vcs, reachable) in enumerate(self._inputs):
            signature = QueueSignature(num_vcs=num_vcs, outputs=len(reachable), vc_width=vc_width)
            members[f"queues_{number}"] = In(signature)
        for number, num_vcs in enumerate(self._outputs):
            members[f"credit_{number}"] = In(num_vcs)
            members[f"select_{number}"] = Out(len(self.inputs_of(number)))
            if num_vcs > 1:
                members[f"vc_{number}"] = Out(index_width(num_vcs))
        super().__init__(members)

    def inputs_of(self, output: int) -> list[int]:
        """Return the inputs that can reach `output`, in the order of the bits of its ``select``."""
        return [number for number, (_, reachable) in enumerate(self._inputs) if output in reachable]

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        counters = self._elaborate_credits(m)
        requests = [self._elaborate_input(m, number, counters) for number in range(len(self._inputs))]
        won = [Const(0)] * len(self._inputs)
        for output, num_vcs in enumerate(self._outputs):
            members = self.inputs_of(output)
            m.submodules[f"arbiter_{output}"] = arbiter = RoundRobinArbiter(count=max(1, len(members)))
            wants = [requests[i][0][self._inputs[i][1].index(output)] for i in members]
            m.d.comb += [arbiter.requests.eq(Cat(wants)), arbiter.served.eq(Mux(self.commit, arbiter.grant, 0))]
            for bit, number in enumerate(members):
                won[number] = won[number] | arbiter.grant[bit]
            granted_vc = _one_of(arbiter.grant, [requests[number][1] for number in members])
            with m.If(self.commit):
                m.d.sync += getattr(self, f"select_{output}").eq(arbiter.grant)
                if num_vcs > 1:
                    m.d.sync += getattr(self, f"vc_{output}").eq(granted_vc)
            for vc in range(num_vcs):
                here = equals(granted_vc, vc) if num_vcs > 1 else Const(1)
                m.d.comb += counters[output][vc].spend.eq(self.commit & arbiter.grant.any() & here)
        for number, taken in enumerate(won):
            m.d.comb += requests[number][2].eq(self.commit & taken)
        return m

    def _elaborate_credits(self, m: Module) -> list[list[CreditCounter]]:
        counters = []
        for output, num_vcs in enumerate(self._outputs):
            counters.append([CreditCounter(buffers=self._buffers) for _ in range(num_vcs)])
            for vc, counter in enumerate(counters[-1]):
                m.submodules[f"credits_{output}_{vc}"] = counter
                m.d.comb += counter.give.eq(getattr(self, f"credit_{output}")[vc])
        return counters

    def _elaborate_input(
        self, m: Module, number: int, counters: list[list[CreditCounter]]
    ) -> tuple[Value, Value, Signal]:
        """Choose a virtual channel; return (request a reachable output, its virtual channel there, it has won)."""
        num_vcs, reachable = self._inputs[number]
        queues, won = getattr(self, f"queues_{number}"), Signal(name=f"won_{number}")
        m.submodules[f"chooser_{number}"] = chooser = RoundRobinArbiter(count=num_vcs)
        for vc in range(num_vcs):
            ready = [
                queues.out[vc][bit] & self._available(counters[o], queues.vc[vc]) for bit, o in enumerate(reachable)
            ]
            m.d.comb += chooser.requests[vc].eq(queues.valid[vc] & Cat(ready).any())
        out, out_vc = _one_of(chooser.grant, queues.out), _one_of(chooser.grant, queues.vc)
        chosen = Signal(num_vcs, name=f"chosen_{number}")
        request, request_vc = Signal(len(reachable), name=f"request_{number}"), Signal(self._vc_width)
        update = [chosen.eq(chooser.grant), request.eq(out), request_vc.eq(out_vc)]
        if self._register_requests:
            with m.If(self.sample):
                m.d.sync += update
        else:
            m.d.comb += update
        m.d.comb += [queues.pop.eq(Mux(won, chosen, 0)), chooser.served.eq(queues.pop)]
        return request, request_vc, won

    def _available(self, counters: list[CreditCounter], vc: Value) -> Value:
        if len(counters) == 1:
            return counters[0].available
        return Cat(counter.available & equals(vc, number) for number, counter in enumerate(counters)).any()
