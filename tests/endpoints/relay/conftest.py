"""Relays with their users and the fabric played by the bench, cycle by cycle."""

import random
from collections import deque

import pytest
from amaranth.hdl import Cat, Module, Value

from hdnhw.endpoints.relay.format import RELAY_COUNTS, RelayKind, RelayPacket
from hdnhw.endpoints.relay.relay import Relay
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.machine.machine import make_machine
from hdnhw.spec import FabricSpec, cube, mesh

ADDRESS_WIDTH = 4


class Stream:
    """One side of a stream that the bench drives: flits wait in `flits`, and `pause` is asked before each of them."""

    def __init__(self):
        self.flits, self.offered, self.pause = deque(), False, lambda: False

    def levels(self, noise):
        """Return valid and payload in this cycle."""
        self.offered = bool(self.flits) and (self.offered or not self.pause())
        return self.offered, self.flits[0] if self.offered else noise

    def settle(self, ready):
        """End the cycle; return the flit that was taken."""
        if not (self.offered and ready):
            return None
        self.offered = False
        return self.flits.popleft()


class Sink:
    """One side of a stream that the bench takes: packets come out in `packets`, each (cycle of its first offer, flits).

    The stream rules are checked, and that a packet goes on without a pause if it must.
    """

    def __init__(self, length, *, steady):
        self.length, self.steady, self.pause = length, steady, lambda: False
        self.packets, self.part, self.waiting, self.start = [], [], None, None

    def settle(self, cycle, ready, valid, flit):
        """End the cycle; return the packet that is complete."""
        assert self.waiting is None or (valid and flit == self.waiting), "the stream did not hold"
        assert valid or not (self.steady and self.part), "a packet paused"
        self.waiting = flit if valid and not ready else None
        if valid and not self.part and self.start is None:
            self.start = cycle
        if not (valid and ready):
            return None
        self.part.append(flit)
        if len(self.part) < self.length:
            return None
        packet, self.part = self.part, []
        self.packets.append((self.start, packet))
        self.start = None
        return packet


class Node:
    """A relay, its user and its terminal."""

    def __init__(self, rig, address):
        self.rig, self.address = rig, address
        self.dut = dut = Relay(rig.machine)
        self.restart()
        self.driven = [dut.address, dut.send.valid, dut.send.payload, dut.eject.valid, Value.cast(dut.eject.payload)]
        self.driven += [dut.inject.ready, dut.deliver.ready]
        self.watched = [dut.send.ready, dut.eject.ready, dut.inject.valid, dut.inject.payload, dut.deliver.valid]
        self.watched += [Value.cast(dut.deliver.payload), Value.cast(dut.counts)]

    def restart(self):
        """Begin as after reset."""
        self.send, self.eject = Stream(), Stream()
        self.inject, self.deliver = Sink(self.rig.length, steady=True), Sink(self.rig.length, steady=False)
        self.accepted, self.counts = [], dict.fromkeys(RELAY_COUNTS, 0)

    def levels(self):
        """Return the levels of this cycle."""
        noise = self.rig.noise.getrandbits(self.rig.width + 1)
        self.ready = not self.inject.pause(), not self.deliver.pause()
        return [self.address, *self.send.levels(noise >> 1), *self.eject.levels(noise), *self.ready]

    def settle(self, values):
        """Take what has happened in this cycle; return the packet that has been injected."""
        cycle = self.rig.cycle
        send_ready, eject_ready, inject_valid, inject, deliver_valid, deliver, counts = values
        if self.send.settle(send_ready) is not None:
            self.accepted.append(cycle)
        self.eject.settle(eject_ready)
        self.deliver.settle(cycle, self.ready[1], deliver_valid, deliver)
        self.counts = {name: counts >> 16 * place & 0xFFFF for place, name in enumerate(RELAY_COUNTS)}
        return self.inject.settle(cycle, self.ready[0], inject_valid, inject)

    def bring(self, packet):
        """Let the fabric bring a packet, as its fields or as its flits."""
        flits = packet if isinstance(packet, list) else self.rig.flits(packet)
        last = len(flits) - 1
        self.eject.flits.extend(flit | (place == last) << self.rig.width for place, flit in enumerate(flits))

    @property
    def sent(self):
        """The packets that have gone into the fabric."""
        return [self.rig.packets.unpack(flits) for _, flits in self.inject.packets]

    @property
    def received(self):
        """The packets that the user has got, after checking which of their flits are the last ones."""
        found = []
        for _, flits in self.deliver.packets:
            assert [flit >> self.rig.width for flit in flits] == [0] * (self.rig.length - 1) + [1]
            found.append(self.rig.packets.unpack([flit & ((1 << self.rig.width) - 1) for flit in flits]))
        return found


class Rig:
    """Nodes 0, 1, ... with relays; `carry` gets every packet that one of them injects."""

    def __init__(
        self, *, nodes=1, length=3, waypoints=1, relay_buffers=2, relay_queues=1, timeout=None, num_nodes=16, width=None
    ):
        self.length, self.num_nodes, self.width = length, num_nodes, width or 6 + ADDRESS_WIDTH * (waypoints + 2) + 3
        timeout = timeout or 1 << (512 * length - 1).bit_length()
        endpoints = RelaySpec(
            waypoints=waypoints, relay_buffers=relay_buffers, relay_queues=relay_queues, timeout=timeout
        )
        network = cube(ADDRESS_WIDTH) if num_nodes == 1 << ADDRESS_WIDTH else mesh(num_nodes)
        spec = FabricSpec(network=network, packet_length=length, flit_width=self.width, endpoints=endpoints)
        self.machine = make_machine(spec)
        self.packets = self.machine.endpoint_format
        self.timeout, self.lapse, self.waypoints, self.relay_buffers = (
            timeout,
            endpoints.lapse,
            waypoints,
            relay_buffers,
        )
        self.noise, self.cycle, self.carry = random.Random(1), 0, lambda *_: None
        self.nodes = [Node(self, address) for address in range(nodes)]
        self.dut = Module()
        for node in self.nodes:
            self.dut.submodules[f"relay_{node.address}"] = node.dut
        self.driven = Cat(signal for node in self.nodes for signal in node.driven)
        widths = [len(signal) for node in self.nodes for signal in node.driven]
        self.offsets = [sum(widths[:place]) for place in range(len(widths))]
        self.watched = [signal for node in self.nodes for signal in node.watched]

    def flits(self, packet):
        """Return the flits of a packet's fields."""
        values = {"dst": packet.dst, "src": packet.src, "kind": packet.kind, "left": packet.left}
        values |= {f"stop_{left}": stop for left, stop in enumerate(packet.stops, 1)}
        word, offset = 0, 0
        for name, width in self.packets.header_fields.items():
            assert values[name] >> width == 0
            word, offset = word | values[name] << offset, offset + width
        word |= packet.payload << offset
        return [word >> self.width * place & ((1 << self.width) - 1) for place in range(self.length)]

    def packet(self, dst, src=0, kind=RelayKind.DATA, left=0, stops=(), payload=0):
        """Return the fields of a packet; stops that are not given are 0."""
        stops = (*stops, *[0] * (self.waypoints - len(stops)))
        return RelayPacket(dst=dst, src=src, kind=kind, left=left, stops=stops, payload=payload)

    def request(self, dst, src=0, left=0, stop=0):
        """Return the fields of a request for a buffer of class `left`, of a packet that goes to `stop` from there."""
        queue = stop % self.packets.queues if left else 0
        return self.packet(dst, src, RelayKind.REQUEST, left, stops=(queue,))

    def data(self, rng, dst, src=0, left=0, stops=None):
        """Return the fields of a packet of data with random payload, and random stops that are not given."""
        stops = [rng.randrange(1 << ADDRESS_WIDTH) for _ in range(self.waypoints)] if stops is None else stops
        return self.packet(dst, src, RelayKind.DATA, left, stops, rng.getrandbits(self.packets.payload_width))

    async def step(self, ctx):
        """Play one cycle."""
        levels = [level for node in self.nodes for level in node.levels()]
        ctx.set(self.driven, sum(level << at for level, at in zip(levels, self.offsets, strict=True)))
        _, _, *values = await ctx.tick().sample(*self.watched)
        for node in self.nodes:
            count = len(node.watched)
            packet = node.settle(values[:count])
            values = values[count:]
            if packet is not None:
                self.carry(node, packet)
        self.cycle += 1

    async def run(self, ctx, cycles):
        """Play a number of cycles."""
        for _ in range(cycles):
            await self.step(ctx)

    async def until(self, ctx, done):
        """Play until something is true; the bench's cycle limit ends it."""
        while not done():
            await self.step(ctx)


@pytest.fixture
def make_rig():
    """Return :class:`Rig`, which takes what it is made of by name."""
    return Rig


@pytest.fixture(params=[(3, 1, 1), (1, 2, 4), (3, 2, 2)], ids=lambda sizes: "L{}-W{}-K{}".format(*sizes))
def rig(request):
    """Return one relay of each size, with random pauses on all sides."""
    length, waypoints, queues = request.param
    rig, rng = Rig(length=length, waypoints=waypoints, relay_queues=queues), random.Random(str(request.param))
    for side in (rig.nodes[0].send, rig.nodes[0].eject, rig.nodes[0].inject, rig.nodes[0].deliver):
        side.pause = lambda: rng.random() < 0.4
    return rig
