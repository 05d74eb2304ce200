"""Support for tests of routers: a router's rig."""

import random
from collections import deque
from itertools import count

import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib.wiring import connect

from hdnhw.machine.machine import make_machine
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.ejection import EjectionBuffer
from hdnhw.rtl.router import Router
from tests.specs import fabric_spec

FLIT_WIDTH = 16


class _Rig:
    """A router and what stands around it, driven and recorded cycle by cycle.

    A neighbor sends like a router: it looks at its credits in the sample phase, and the packet leaves in the next
    slot. Where packets are gapless, the terminal sends the flits behind a head in consecutive cycles, but `slips` (a
    function) makes it miss one: then it is not valid, and what is there in its place belongs to the packet. What the
    router sends is passed on at once: its credit comes back when the next router would give it, unless
    `hold` (a function of output and virtual channel) keeps it back. Virtual channels are told a cycle ahead of the
    flits. What means nothing is random: data and virtual channels that are not valid, and credits between routers in
    all phases but the credit phase.
    """

    def __init__(self, *, length, buffers=None, text="rdn(cube(2), 1)", modes=None, node=22, terminal=False, **options):
        sizes = {"packet_length": length, "flit_width": FLIT_WIDTH, "buffers": buffers, **options}
        self.machine = machine = make_machine(fabric_spec(text, modes=modes, **sizes))
        self.plan, self.node, self.length, self.timing = machine.plan, node, length, machine.timing
        self.network = machine.network
        self.router, self.dut = Router(machine, self.plan.shape_of(node)), Module()
        self.dut.submodules.router = self.router
        self.local = len(self.network.ports)
        ports = {index: self.network.ports[index].name for index in self.plan.shape_of(node).ports}
        self.inputs = {index: getattr(self.router, f"{name}_i") for index, name in ports.items()}
        self.outputs = {index: getattr(self.router, f"{name}_o") for index, name in ports.items()}
        self.slots = {port: self.machine.input_buffers(port) for port in self.inputs}
        if terminal:
            self.dut.submodules.ejection = ejection = EjectionBuffer(machine)
            connect(self.dut, self.router.eject, ejection.channel)
            self.eject = ejection.eject
        else:
            self.outputs[self.local] = self.router.eject
        self.pause, self.hold, self.slips = lambda: False, lambda *_: False, lambda: False
        self._wire()
        self.restart()

    def restart(self):
        """Begin at cycle 0, as after reset."""
        self.serial, self.noise = count(), random.Random(1)
        self.cycle, self.dropped, self.paused = 0, 0, 0
        self.waiting = {(port, vc): deque() for port, c in self.inputs.items() for vc in range(c.signature.num_vcs)}
        self.room = {(port, vc): self.slots[port] for port, vc in self.waiting}
        self.bus, self.bus_vc = {port: {} for port in self.inputs}, {port: {} for port in self.inputs}
        self.vc_before = dict.fromkeys(self.outputs, 0)
        self.to_inject, self.offering, self.due = deque(), False, False
        self.owed = {(port, vc): deque() for port, c in self.outputs.items() for vc in range(c.signature.num_vcs)}
        self.given_at = -self.length
        self.arrived, self.accepted, self.ready, self.departed = [], [], [], []
        self.credits, self.given, self.injected = [], [], []

    def packet(self, dst, rng, *, address=None):
        """Return the flits of a packet, no two alike, to a node, or to a packed address that may name none."""
        address = self.plan.address.of_node(dst) if address is None else address
        head = next(self.serial) << self.plan.address.width | address
        assert head < 1 << FLIT_WIDTH
        return (head, *(rng.randrange(1 << FLIT_WIDTH) for _ in range(self.length - 1)))

    def way(self, dst):
        """Return (output, virtual channel) by which the plan sends a packet on from here."""
        hop = self.plan.rule.next_hop(self.network.decode(self.node), self.network.decode(dst))
        return hop or (self.local, 0)

    def arrivals(self):
        """Return (port, virtual channel, destination) of all packets that neighbors may send here."""
        here = self.network.decode(self.node)
        found = []
        for port in self.inputs:
            before = self.network.move(here, port)
            for dst in range(self.network.num_nodes):
                hop = self.plan.rule.next_hop(before, self.network.decode(dst))
                if hop and hop[0] == self.network.ports[port].opposite:
                    found.append((port, hop[1], dst))
        return found

    def _wire(self):
        """Join what is driven, and what is watched: a simulation settles once for each assignment."""
        inject = self.router.inject
        driven, watched = [self.router.address, inject.valid, inject.payload], [inject.ready, self.router.dropped]
        self._gapless = self.machine.spec.gapless_packets
        watched += [self.router.paused] if self._gapless else []
        for channel in self.inputs.values():
            driven += [channel.valid, channel.data, *([channel.vc] if channel.signature.num_vcs > 1 else [])]
            watched.append(channel.credit)
        for channel in self.outputs.values():
            watched += [channel.valid, channel.data, *([channel.vc] if channel.signature.num_vcs > 1 else [])]
            driven.append(channel.credit)
        self._driven, self._watched = Cat(driven), watched
        self._offsets = [sum(map(len, driven[:place])) for place in range(len(driven))]

    async def step(self, ctx):
        """Play one cycle."""
        levels = [self.plan.address.of_node(self.node), *self._inject(), *self._arrive(), *self._give_credits()]
        ctx.set(self._driven, sum(level << at for level, at in zip(levels, self._offsets, strict=True)))
        _, _, ready, self.dropped, *values = await ctx.tick().sample(*self._watched)
        if self._gapless:
            self.paused, *values = values
        self._record(ready, iter(values))
        self.cycle += 1

    async def run(self, ctx, cycles):
        """Play a number of cycles."""
        for _ in range(cycles):
            await self.step(ctx)

    def _inject(self):
        self.due = self._gapless and len(self.injected) % self.length > 0
        if self.due and self.slips():
            self.offering, self.to_inject[0] = False, self.noise.getrandbits(FLIT_WIDTH)
            return False, self.to_inject[0]
        self.offering = bool(self.to_inject) and (self.offering or self.due or not self.pause())
        return self.offering, self.to_inject[0] if self.offering else self.noise.getrandbits(FLIT_WIDTH)

    def _arrive(self):
        """Start packets on the channels in the next slot; yield what is on them now."""
        if self.cycle % self.length == self.timing.sample_phase:
            head = (self.cycle // self.length + 1) * self.length + self.timing.channel_cycles
            for port in self.inputs:
                sendable = [vc for at, vc in self.waiting if at == port and self.waiting[at, vc] and self.room[at, vc]]
                if sendable:
                    vc = sendable[head // self.length % len(sendable)]
                    packet = self.waiting[port, vc].popleft()
                    self.room[port, vc] -= 1
                    self.arrived.append((head, port, vc, packet))
                    self.bus[port].update({head + place: (1, flit) for place, flit in enumerate(packet)})
                    self.bus_vc[port].update(dict.fromkeys(range(head - 1, head - 1 + self.length), vc))
        for port, channel in self.inputs.items():
            yield from self.bus[port].pop(self.cycle, (0, self.noise.getrandbits(FLIT_WIDTH)))
            vc = self.noise.getrandbits(index_width(channel.signature.num_vcs))
            if channel.signature.num_vcs > 1:
                yield self.bus_vc[port].pop(self.cycle, vc)

    def updates(self):
        """Return whether credits between routers count in this cycle."""
        return self.cycle % self.length == self.timing.credit_phase

    def _give_credits(self):
        """Return credits: of ejection at any time, but a packet's time apart; of the others in the credit phase."""
        given = {}
        for port, channel in self.outputs.items():
            count = self.updates() if port != self.local else self.cycle - self.given_at >= self.length
            given[port] = 0 if count or port == self.local else self.noise.getrandbits(channel.signature.num_vcs)
            for vc in range(channel.signature.num_vcs if count else 0):
                due = self.owed[port, vc]
                if due and due[0] <= self.cycle and not self.hold(port, vc):
                    due.popleft()
                    given[port] |= 1 << vc
                    self.given.append((self.cycle, port, vc))
        if given.get(self.local):
            self.given_at = self.cycle
        return given.values()

    def _record(self, ready, values):
        self.ready.append(ready)
        assert ready or not self.due
        if (self.offering or self.due) and ready:
            self.injected.append(self.to_inject.popleft())
            self.accepted.append(self.cycle)
            self.offering = False
        for port, channel in self.inputs.items():
            bits = next(values)
            for vc in range(channel.signature.num_vcs):
                if bits >> vc & 1 and self.updates():
                    self.room[port, vc] += 1
                    assert self.room[port, vc] <= self.slots[port]
                    self.credits.append((self.cycle, port, vc))
        for port, channel in self.outputs.items():
            valid, flit, vc = next(values), next(values), self.vc_before[port]
            self.vc_before[port] = next(values) if channel.signature.num_vcs > 1 else 0
            if valid:
                if self.cycle % self.length == self.timing.head_phase:
                    there = self.cycle - self.timing.channel_cycles + self.timing.hop_cycles
                    self.owed[port, vc].append(self.cycle + self.length if port == self.local else there)
                    room = self.machine.ejection_buffers if port == self.local else self.machine.vc_buffers(port)
                    assert len(self.owed[port, vc]) <= room, "a packet was sent without a credit"
                self.departed.append((self.cycle, port, vc, flit))

    def packets(self):
        """Return (cycle of the head, output, virtual channel, flits) of what came out, after checking its form."""
        found = []
        for port in self.outputs:
            flits = [(cycle, vc, flit) for cycle, at, vc, flit in self.departed if at == port]
            for start in range(0, len(flits), self.length):
                cycles, vcs, words = zip(*flits[start : start + self.length], strict=True)
                assert cycles[0] % self.length == self.timing.head_phase
                assert cycles == tuple(range(cycles[0], cycles[0] + self.length))
                assert len(set(vcs)) == 1
                found.append((cycles[0], port, vcs[0], words))
        return sorted(found)


@pytest.fixture
def make_rig():
    """Return ``make_rig(length=..., buffers=..., text=..., modes=..., node=..., terminal=...)``."""
    return _Rig
