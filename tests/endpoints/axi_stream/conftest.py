"""Frames and packets as plain Python, and an endpoint with the rest of the network played by the bench."""

import random
from dataclasses import dataclass, replace

import pytest

from hdnhw.endpoints.axi_stream.endpoint import Endpoint
from hdnhw.endpoints.axi_stream.format import PacketKind
from hdnhw.endpoints.axi_stream.format_pool import pool_of
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.machine.machine import make_machine
from tests.specs import fabric_spec

SIZES = {
    "one header flit": ("torus(5)", 32, 8, AxiStreamSpec(max_frame=128, tuser_width=3)),
    "three header flits": ("hdn(cube(2), [[0]])", 8, 7, AxiStreamSpec(max_frame=32, tuser_width=2, tuser="last")),
    "tables in block RAM": ("cube(6)", 32, 8, AxiStreamSpec(max_frame=128)),
    "one data flit": ("complete(3)", 64, 2, AxiStreamSpec(max_frame=64, prompt_packets=2)),
    "three bytes per flit": ("torus(3, 3)", 24, 5, AxiStreamSpec(max_frame=64)),
    "frames of one packet": ("complete(2)", 16, 12, AxiStreamSpec(max_frame=16)),
}


@dataclass(frozen=True)
class Frame:
    """A frame: source and destination addresses, transfers, tkeep of the last one, user bits."""

    src: int
    dst: int
    data: tuple[int, ...]
    keep: int
    user: int


@dataclass(frozen=True)
class Packet:
    """A packet: the fields of its header, and the data flits that count; one that is not the last `asks`."""

    kind: int
    dst: int
    src: int
    last: int = 0
    data: tuple[int, ...] = ()
    keep: int = 0
    user: int = 0
    asks: int = 0


class Rig:
    """One endpoint, its sizes, and what turns frames into packets and flits and back."""

    def __init__(self, name, node=1):
        text, width, length, endpoints = SIZES[name]
        spec = fabric_spec(text, flit_width=width, packet_length=length, endpoints=endpoints)
        self.machine = make_machine(spec)
        self.layout, self.format = self.machine.address, self.machine.endpoint_format
        self.pool = pool_of(self.machine)
        self.width, self.length = width, length
        self.address = self.layout.of_node(node)
        self.dut = Endpoint(self.machine)
        self.others = [self.layout.of_node(n) for n in range(self.layout.network.num_nodes) if n != node]
        self.impossible = [a for a in range(1 << self.layout.width) if not self.layout.is_node(a)]

    def frame(self, rng, *, src=None, dst=None, transfers):
        """Return a random frame; the node itself stands at the end that is not given."""
        src, dst = self.address if src is None else src, self.address if dst is None else dst
        data = tuple(rng.randrange(1 << self.width) for _ in range(transfers))
        keep = rng.randrange(1 << self.width // 8)  # any pattern passes, none at all included
        return Frame(src, dst, data, keep, rng.randrange(1 << self.format.endpoints.tuser_width))

    def transfers(self, frame):
        """Return a frame as an AXI4-Stream source gives it; what does not count is noise."""
        noise, full = random.Random(str(frame)), (1 << self.width // 8) - 1
        for position, word in enumerate(frame.data):
            last = position == len(frame.data) - 1
            dest, user, keep = frame.dst, frame.user, frame.keep if last else noise.randrange(full + 1)
            if position:
                dest = noise.randrange(1 << self.layout.width)
            if not (last if self.format.endpoints.tuser == "last" else position == 0):
                user = noise.randrange(2)
            yield {"data": word, "keep": keep, "last": last, "dest": dest, "user": user}

    def packets(self, frame):
        """Return the data packets of a frame, which ask for nothing."""
        step = self.format.payload_flits
        parts = [frame.data[start : start + step] for start in range(0, len(frame.data), step)]
        kinds = [PacketKind.FIRST] + [PacketKind.BODY] * (len(parts) - 1)
        *most, last = [Packet(kind, frame.dst, frame.src, 0, part) for kind, part in zip(kinds, parts, strict=True)]
        return [*most, replace(last, last=1, keep=frame.keep, user=frame.user)]

    def flits(self, packet, rng):
        """Return the flits of a packet as the ejection stream gives them, padded with noise."""
        fields = self.format.header_fields
        values = {name: getattr(packet, name) for name in fields if name != "end"}
        values["end"] = max(0, len(packet.data) - 1)
        if not packet.last:
            values |= {"end": packet.asks & (1 << fields["end"]) - 1, "keep": packet.asks >> fields["end"]}
        header = offset = 0
        for name, width in fields.items():
            assert values[name] >> width == 0
            header, offset = header | values[name] << offset, offset + width
        mask = (1 << self.width) - 1
        words = [header >> self.width * n & mask for n in range(self.format.header_flits)] + list(packet.data)
        words += [rng.randrange(mask + 1) for _ in range(self.length - len(words))]
        return [{"data": word, "last": n == self.length - 1} for n, word in enumerate(words)]

    def packet(self, words):
        """Return the packet of `length` injected flits; what does not count is left out."""
        header = sum(word << self.width * n for n, word in enumerate(words))
        values, offset = {}, 0
        for name, width in self.format.header_fields.items():
            values[name], offset = header >> offset & ((1 << width) - 1), offset + width
        kind, end = values.pop("kind"), values.pop("end")
        start = self.format.header_flits
        if kind == PacketKind.GRANT:
            return Packet(kind, values["dst"], values["src"])
        if values["last"]:
            return Packet(kind, data=tuple(words[start : start + end + 1]), **values)
        asks = values["keep"] << self.format.header_fields["end"] | end
        return Packet(kind, values["dst"], values["src"], data=tuple(words[start:]), asks=asks)

    def received(self, beats):
        """Return the frames of a list of transfers out of the endpoint, each a (source, user, data, keep)."""
        width, full = self.width, (1 << self.width // 8) - 1
        fields = [("data", width), ("keep", width // 8), ("last", 1), ("id", self.layout.width)]
        fields.append(("user", self.format.endpoints.tuser_width))
        frames, data = [], []
        for beat in beats:
            values = {}
            for name, size in fields:
                values[name], beat = beat & ((1 << size) - 1), beat >> size
            data.append(values)
            if values["last"]:
                assert len({(v["id"], v["user"]) for v in data}) == 1
                assert all(v["keep"] == full for v in data[:-1])
                words = tuple(v["data"] for v in data)
                frames.append(Frame(values["id"], self.address, words, values["keep"], values["user"]))
                data = []
        assert not data
        return frames

    async def read(self, ctx, word):
        """Return a counter."""
        ctx.set(self.dut.select, word)
        await ctx.tick()
        return ctx.get(self.dut.word)


@pytest.fixture(params=SIZES)
def rig(request):
    """Return an endpoint of each size."""
    return Rig(request.param)


@pytest.fixture
def make_rig():
    """Return ``make_rig(name)`` for one size."""
    return Rig


@pytest.fixture
def packet_type():
    """Return the class of packets."""
    return Packet
