"""What stands at the terminals of a fabric: modules or components, and the wires to the fabric."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Const, Module, Value
from amaranth.lib import wiring

from hdnhw.machine.machine import Machine
from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.chip import address_on
from hdnhw.rtl.monitor.port import monitor_members
from hdnhw.rtl.part import Part, place, wires


@dataclass(frozen=True)
class EndpointModules:
    """Names of the modules that a fabric with endpoints instantiates.

    Attributes
    ----------
    fabric : str
        The bare fabric.
    unit : str
        What stands at each terminal.
    shared : str
        What all terminals share; empty if there is nothing.
    """

    fabric: str
    unit: str
    shared: str = ""


@dataclass(frozen=True)
class EndpointParts:
    """What a fabric with endpoints is joined from; members as of :class:`EndpointModules`.

    Attributes
    ----------
    chip : Chip or PinnedChip or None
        What `fabric` is, if that is a chip of several.
    """

    fabric: Part
    unit: Part
    shared: Part
    chip: Any = None


class EndpointFabric(wiring.Component):
    """A fabric and what stands at its terminals; see :class:`hdnhw.rtl.fabric.Fabric`. Members are those of the kind.

    Around a chip it has the members of the chip's links, too, and those of nodes are of its places. With a monitor it
    has the fabric's `monitor`.

    Parameters
    ----------
    machine : Machine
        With endpoints.
    parts : EndpointParts
    """

    def __init__(self, machine: Machine, parts: EndpointParts) -> None:
        self.machine, self.parts = machine, parts
        super().__init__(self._members() | self._fabric_members())

    def _members(self) -> dict[str, Any]:
        """Return all members."""
        raise NotImplementedError

    @property
    def nodes(self) -> range:
        """Numbers of the nodes, or of the places of a chip."""
        chip = self.parts.chip
        return range(self.machine.network.num_nodes if chip is None else chip.chips.num_places)

    def _unit(self, node: int) -> Part | None:
        """Return what stands at a node, if there is something."""
        del node
        return self.parts.unit

    def _fabric_members(self) -> dict[str, Any]:
        """Return the members that it has from the fabric, or the chip: a monitor, links."""
        chip = self.parts.chip
        if chip is None:
            return monitor_members(self.machine)
        members = chip.signature.members
        return {name: members[name] for name in ("chip", "wire_clk", "link") if name in members}

    def _address(self, node: int) -> Value:
        address, parts = self.machine.address, self.parts
        if parts.chip is None:
            return Const(address.of_node(node), address.width)
        return address_on(parts.chip.chips, self.chip, node, width=address.width)

    def _elaborate_nodes(
        self, m: Module, unit: str, own: Callable[[int], dict[str, Any]], told: Mapping[str, Any], **clocks: Value
    ) -> None:
        """Join the fabric, which is `told` more than its streams, and a `unit` a node; `own` returns its own members.

        `clocks` are as :func:`hdnhw.rtl.part.place` has them.
        """
        terminals = _terminal_wires(len(self.nodes), self.machine.spec.flit_width)
        for node in self.nodes:
            if (part := self._unit(node)) is not None:
                members = {"address": self._address(node), **own(node)}
                members |= {name: streams[node] for name, streams in terminals.items()}
                place(m, f"{unit}_{node}", part, members, clocks=clocks or None)
        members = {**terminals, **told, **{name: getattr(self, name) for name in self._fabric_members()}}
        own_clocks: Mapping[str, Value] | None = clocks or None
        if self.parts.chip is not None and {*clocks} <= {*self.parts.chip.signature.members}:
            members, own_clocks = members | clocks, {}  # a chip with pins has them among its members
        place(m, "fabric", self.parts.fabric, members, clocks=own_clocks, unread=True)


def _terminal_wires(num_nodes: int, flit_width: int) -> dict[str, list[Any]]:
    """Make the wires of both streams of every node, by the names that endpoints and the fabric have for them."""
    signatures = {
        "inject": injection_signature(flit_width=flit_width),
        "eject": ejection_signature(flit_width=flit_width),
    }
    return {
        side: [wires(signature, f"fabric_{side}_{node}") for node in range(num_nodes)]
        for side, signature in signatures.items()
    }
