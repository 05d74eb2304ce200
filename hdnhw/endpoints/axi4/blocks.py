"""What stands at a node of a system: its endpoint, and the ports of its blocks, of their own kind and width."""

from collections.abc import Iterable
from typing import Any

from amaranth.hdl import Cat, Const, Module, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.axi4.accesses import AccessPlayer
from hdnhw.endpoints.axi4.endpoint import PORTS, MemoryEndpoint
from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.lanes import LaneSteering
from hdnhw.endpoints.axi4.layout import CHANNELS, INSIDE_ID, STREAM, Burst, channels, is_forth, port_layouts
from hdnhw.endpoints.axi4.spec_blocks import Block
from hdnhw.endpoints.axi4.streams import FramePlayer, stream_layout
from hdnhw.machine.machine import Machine
from hdnhw.rtl.channel import ejection_signature, injection_signature


def block_channels(memory: MemoryFormat, block: Block) -> dict[str, data.StructLayout]:
    """Return the transfers of the channels of a block's port."""
    bits, address_width = block.data_width, memory.address_bits
    if block.is_stream:
        return {STREAM: stream_layout(memory, block)}
    if block.is_lite:
        address = data.StructLayout({"addr": address_width, "prot": memory.attributes["prot"]})
        word = data.StructLayout({"data": bits, "strb": bits // 8})
        answers = {"b": data.StructLayout({"resp": 2}), "r": data.StructLayout({"data": bits, "resp": 2})}
        return {"aw": address, "w": word, "ar": address, **answers}
    id_width = block.id_width if block.is_manager else INSIDE_ID
    return port_layouts(id_width=id_width, address_width=address_width, data_width=bits, attributes=memory.attributes)


def role_of(block: Block) -> str:
    """Return what a block is called in the module of its node, which may be that of others."""
    return "manager" if block.is_manager else "subordinate"


def leads_in(block: Block, channel: str) -> bool:
    """Return whether a channel of a block's port leads into the fabric."""
    return is_forth(channel) == block.is_manager


class NodeBlocks(wiring.Component):
    """The endpoint of a node with the ports of its blocks: a manager or source, a subordinate or sink, or one of each.

    Parameters
    ----------
    machine : Machine
        With AXI4 endpoints of a system.
    blocks : iterable of Block
        At the node.

    Members
    -------
    address : In(address width)
        The node's packed address; constant.
    inject : Out(injection_signature)
    eject : In(ejection_signature)
    base : In
        Of a subordinate, the bits of its addresses that no packet carries; constant.
    manager_CHANNEL, subordinate_CHANNEL : In(stream) or Out(stream)
        Of each block the channels of its port, see :func:`block_channels`.
    """

    def __init__(self, machine: Machine, blocks: Iterable[Block]) -> None:
        self.machine, self.blocks, memory = machine, tuple(blocks), machine.endpoint_format
        width = memory.flits.flit_width
        members: dict[str, Any] = {
            f"{role_of(block)}_{name}": (In if leads_in(block, name) else Out)(stream.Signature(layout))
            for block in self.blocks
            for name, layout in block_channels(memory, block).items()
        }
        members["address"] = In(memory.flits.address_width)
        if any(block.ranges for block in self.blocks):
            members["base"] = In(max(1, memory.address_bits - memory.endpoints.memory_bits))
        members["inject"] = Out(injection_signature(flit_width=width))
        members["eject"] = In(ejection_signature(flit_width=width))
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        endpoints = self.machine.endpoint_format.endpoints
        source = next((block for block in self.blocks if block in endpoints.sources), None)
        others = [block for block in self.blocks if block is not source]
        ports = [port for port, inside in PORTS.items() if any(block.is_manager != inside for block in others)]
        sources = sum(block.is_manager for block in endpoints.blocks)
        m.submodules.endpoint = endpoint = MemoryEndpoint(self.machine, ports, sources=sources, block=source)
        m.d.comb += endpoint.address.eq(self.address)
        connect(m, endpoint.inject, wiring.flipped(self.inject))
        connect(m, wiring.flipped(self.eject), endpoint.eject)
        if source is not None:
            connect(m, wiring.flipped(getattr(self, f"manager_{STREAM}")), endpoint.frames)
        for block in others:
            join = self._elaborate_manager if block.is_manager else self._elaborate_subordinate
            join(m, block, endpoint)
        return m

    def _ends(self, block: Block) -> dict[str, Any]:
        """Return the channels of a block's port."""
        return {name: getattr(self, f"{role_of(block)}_{name}") for name in CHANNELS}

    def _elaborate_manager(self, m: Module, block: Block, endpoint: Any) -> None:
        """Join a manager: a burst of one beat for each access of AXI4-Lite, lanes for narrower data."""
        memory = self.machine.endpoint_format
        near = self._ends(block)
        far = {name: getattr(endpoint, f"s_axi_{name}") for name in CHANNELS}
        fixed: dict[str, Any] = {"id": 0, "last": 1, **dict.fromkeys(memory.attributes, 0)}
        if block.is_lite:
            fixed |= {"len": 0, "size": (block.data_width // 8).bit_length() - 1, "burst": Burst.INCR}
        if block.data_width < memory.flits.flit_width:
            steering = LaneSteering(
                *(channels(memory, inside=False, data_width=bits) for bits in (block.data_width, 0))
            )
            m.submodules.lanes = steering
            far = _behind(m, steering, "far", far, "near")
        _join(m, near, far, fixed)

    def _elaborate_subordinate(self, m: Module, block: Block, endpoint: Any) -> None:
        """Join a subordinate: access by access for AXI4-Lite and narrower data; and put the address together."""
        memory = self.machine.endpoint_format
        near = {name: getattr(endpoint, f"m_axi_{name}") for name in CHANNELS}
        if block.is_stream:
            player = FramePlayer(channels(memory, inside=True), stream_layout(memory, block))
            m.submodules.frames = player
            _behind(m, player, "near", near, "near")
            connect(m, player.far, wiring.flipped(getattr(self, f"subordinate_{STREAM}")))
            return
        fixed: dict[str, Any] = {"id": 0, "len": 0, "last": 1, "burst": Burst.INCR}
        if block.is_lite or block.data_width < memory.flits.flit_width:
            player = AccessPlayer(channels(memory, inside=True), block.data_width)
            m.submodules.accesses = player
            near = _behind(m, player, "near", near, "far")
        above = self.base if memory.address_bits > memory.endpoints.memory_bits else Const(0, 0)
        low = (block.data_width // 8).bit_length() - 1 if block.is_lite else 0
        _join(m, near, self._ends(block), fixed, place=lambda at: Cat(Const(0, low), at[low:], above))


def _behind(m: Module, between: Any, side: str, port: dict[str, Any], other: str) -> dict[str, Any]:
    """Join one side of what stands between two ports to a port; return its other side."""
    for name, end in port.items():
        own = getattr(between, f"{side}_{name}")
        connect(m, *((own, end) if CHANNELS[name] == (side == "far") else (end, own)))
    return {name: getattr(between, f"{other}_{name}") for name in port}


def _join(
    m: Module, managers: dict[str, Any], subordinates: dict[str, Any], fixed: dict[str, Any], place: Any = None
) -> None:
    """Join two ports field by field; what only the receiver has is `fixed`; `place` makes an address of one."""
    for name, forth in CHANNELS.items():
        source, sink = (managers, subordinates) if forth else (subordinates, managers)
        source, sink = source[name], sink[name]
        m.d.comb += [sink.valid.eq(source.valid), source.ready.eq(sink.ready)]
        given = {field for field, _ in source.payload.shape()}
        for field, _ in sink.payload.shape():
            value: Value | int = getattr(source.payload, field) if field in given else fixed[field]
            if field == "addr" and place is not None:
                value = place(value)
            m.d.comb += getattr(sink.payload, field).eq(value)
