"""The fabric of a system: its blocks at their nodes, each with ports of its own name, kind, width and clock."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Const, Module
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.blocks import block_channels, leads_in, role_of
from hdnhw.endpoints.axi4.layout import end_of, wires_of
from hdnhw.endpoints.axi4.spec_blocks import Block
from hdnhw.machine.machine import Machine
from hdnhw.rtl.clocks.crossing import ends_of
from hdnhw.rtl.part import Part, place, wires
from hdnhw.rtl.terminal import EndpointFabric, EndpointParts


def block_members(memory: Any, block: Block) -> dict[str, tuple[bool, int]]:
    """Return the ports of a block as they are named in AXI4: name -> whether it is an input, and bits."""
    members: dict[str, tuple[bool, int]] = {f"{block.name}_aresetn": (True, 1)} if block.reset else {}
    for channel, layout in block_channels(memory, block).items():
        members |= wires_of(f"{block.name}_{channel}", layout, leads_in=leads_in(block, channel))
    return members


def crossing_streams(memory: Any, block: Block) -> dict[str, tuple[bool, int]]:
    """Return the streams of a block as the crossing to its clock has them."""
    return {name: (leads_in(block, name), layout.size) for name, layout in block_channels(memory, block).items()}


class SystemFabric(EndpointFabric):
    """A fabric and the blocks of a system.

    Parameters
    ----------
    machine : Machine
        With AXI4 endpoints of a system.
    parts : EndpointParts
    units : mapping of int to Part
        What stands at each node that has blocks.
    crossings, isolations : mapping of str to Part
        By blocks, what stands before those with a clock of their own, and before those that are reset alone.

    Members
    -------
    aclk, aresetn : In(1)
        Clock of the fabric, and reset: synchronous, active low.
    aclk_CLOCK, aresetn_CLOCK : In(1)
        Of each other clock.
    NAME_aresetn : In(1)
        Of each block that is reset alone, by its clock.
    NAME_*
        The port of each block.
    """

    def __init__(
        self,
        machine: Machine,
        parts: EndpointParts,
        units: Mapping[int, Part],
        crossings: Mapping[str, Part],
        isolations: Mapping[str, Part],
    ) -> None:
        self._units, self._crossings, self._isolations = units, crossings, isolations
        super().__init__(machine, parts)

    @property
    def _blocks(self) -> tuple[Block, ...]:
        blocks: tuple[Block, ...] = self.machine.endpoint_format.endpoints.blocks
        return blocks

    def _members(self) -> dict[str, Any]:
        members: dict[str, Any] = {"aclk": In(1), "aresetn": In(1)}
        for block in self._blocks:
            members |= {f"{name}_{block.clock}": In(1) for name in ("aclk", "aresetn") if block.clock}
        for block in self._blocks:
            for name, (is_input, bits) in block_members(self.machine.endpoint_format, block).items():
                members[name] = (In if is_input else Out)(bits)
        return members

    def _unit(self, node: int) -> Part | None:
        return self._units.get(node)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        memory, ends = self.machine.endpoint_format, {}
        for block in self._blocks:
            layouts = block_channels(memory, block)
            port = {name: end_of(self, f"{block.name}_{name}", layout) for name, layout in layouts.items()}
            outside = self._elaborate_isolation(m, block, port) if block.reset else port
            ends[block.name] = self._elaborate_crossing(m, block, outside) if block.clock else outside

        def own(node: int) -> dict[str, Any]:
            members: dict[str, Any] = {}
            for block in (block for block in self._blocks if block.node == node):
                members |= {f"{role_of(block)}_{name}": end for name, end in ends[block.name].items()}
                if block.ranges:
                    bits = memory.endpoints.memory_bits
                    members["base"] = Const(block.ranges[0][0] >> bits, max(1, memory.address_bits - bits))
            return members

        self._elaborate_nodes(m, "node", own, {}, clk=self.aclk, rst=~self.aresetn)
        return m

    def _elaborate_isolation(self, m: Module, block: Block, outside: Mapping[str, Any]) -> dict[str, Any]:
        """Put what ends all that a block has under way before its port; return the channels behind it."""
        own, other = ("near", "far") if block.is_manager else ("far", "near")
        layouts = block_channels(self.machine.endpoint_format, block)
        inside = {
            name: wires(stream.Signature(layout), f"isolated_{block.name}_{name}") for name, layout in layouts.items()
        }
        members = {f"{own}_{name}": end for name, end in outside.items()}
        members |= {f"{other}_{name}": end for name, end in inside.items()}
        members["present"] = getattr(self, f"{block.name}_aresetn")
        end = f"_{block.clock}" if block.clock else ""
        clocks = {"clk": getattr(self, f"aclk{end}"), "rst": ~getattr(self, f"aresetn{end}")}
        place(m, f"isolation_{block.name}", self._isolations[block.name], members, clocks=clocks)
        return inside

    def _elaborate_crossing(self, m: Module, block: Block, outside: Mapping[str, Any]) -> dict[str, Any]:
        """Put the crossing of a block's clock before its port; return the channels behind it."""
        members: dict[str, Any] = {}
        near = {}
        for name, (forth, bits) in crossing_streams(self.machine.endpoint_format, block).items():
            near[name] = wires(stream.Signature(bits), f"near_{block.name}_{name}")
            both = (outside[name], near[name])
            members |= zip(ends_of(name), both if forth else reversed(both), strict=True)
        clocks = {
            "fabric_clk": self.aclk,
            "fabric_rst": ~self.aresetn,
            "node_clk": getattr(self, f"aclk_{block.clock}"),
            "node_rst": ~getattr(self, f"aresetn_{block.clock}"),
        }
        place(m, f"crossing_{block.name}", self._crossings[block.name], members, clocks=clocks)
        return near
