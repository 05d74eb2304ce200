"""A chip of a network on several: its routers, and a bridge for each of its links to other chips."""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from amaranth.hdl import Cat, Const, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.chips import Chips, Link, lay_chips
from hdnhw.machine.machine import Machine
from hdnhw.machine.timing import HALF_SLOT
from hdnhw.rtl.bridge.bridge import COUNTER_WIDTH, COUNTS, LEAST_WORD, Bridge
from hdnhw.rtl.bridge.parallel import ParallelWires, pins_of
from hdnhw.rtl.channel import ChannelSignature, ejection_signature
from hdnhw.rtl.fabric import Fabric, FabricModules
from hdnhw.rtl.part import Part, place, wires
from hdnhw.rules.plan import RouterShape
from hdnhw.spec.chips import ChipOptions
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named


def states_of(machine: Machine) -> dict[str, int]:
    """Return what a chip tells of a link, and its bits."""
    dead = {"dead": 1} if machine.spec.dead_pins else {}
    return {"up": 1, **dead, **dict.fromkeys(COUNTS, COUNTER_WIDTH)}


def link_signature(machine: Machine, word_width: int) -> wiring.Signature:
    """Return what a chip has of a link: words both ways, of a frame the last one with `last`, and its state."""
    words, states = ejection_signature(flit_width=word_width), states_of(machine).items()
    return wiring.Signature({"tx": Out(words), "rx": In(words), **{name: Out(width) for name, width in states}})


def ahead_of(machine: Machine, chips: Chips, link: Link) -> tuple[int, ...]:
    """Return by how much the slots of the router at each channel of a link begin before those of most, in cycles."""
    return tuple(machine.ahead(int(chips.nodes[0, at])) for at, _ in link.ends)


def bridge_of(machine: Machine, chips: Chips, link: Link, *, word_width: int) -> Bridge:
    """Return the bridge of a link."""
    ahead = ahead_of(machine, chips, link)
    return Bridge(machine, ports=link.ports, arrivals=link.arrivals, ahead=ahead, word_width=word_width)


def address_on(chips: Chips, chip: Value, place: int, *, width: int) -> Value:
    """Return the packed address of a place on a chip, of so many bits, by the number of the chip."""
    constant, bits = chips.address_at(place), chips.chip_bits
    return Cat(chip[bits.index(bit)] if bit in bits else Const(constant >> bit & 1, 1) for bit in range(width))


class Chip(Fabric):
    """The routers of one chip, joined, and the bridges to others; all chips of a network are this one.

    Which chip it is comes in on pins. What it has of nodes is numbered by their places on it, see
    :class:`hdnhw.machine.chips.Chips`.

    Parameters
    ----------
    machine : Machine
    chips : Chips
        Of its network.
    modules : FabricModules, optional
        As of :class:`hdnhw.rtl.fabric.Fabric`.
    bridges : tuple of str, optional
        The module of the bridge of each link, with `modules`.
    word_width : int
        Bits of a word on a link.

    Members
    -------
    chip : In(chip bits)
        :meth:`hdnhw.machine.chips.Chips.chip_number` of this chip, constant.
    link : Out(link_signature).array(links)
        Words to the other chip and from it, and what the bridge counts.
    those of Fabric
        For each place in place of each node.
    """

    def __init__(
        self,
        machine: Machine,
        chips: Chips,
        modules: FabricModules | None = None,
        *,
        bridges: tuple[str, ...] = (),
        word_width: int,
    ) -> None:
        self.chips, self.word_width = chips, word_width
        self._bridges = bridges or ("",) * len(chips.links)
        super().__init__(machine, modules)

    def _members(self) -> dict[str, Any]:
        own = {"chip": In(len(self.chips.chip_bits))}
        links = Out(link_signature(self.machine, self.word_width)).array(len(self.chips.links))
        return own | super()._members() | {"link": links}

    @cached_property
    def _shapes(self) -> list[RouterShape]:
        return [self.machine.plan.shape_of(node) for node in self.chips.nodes[0].tolist()]

    def _behind(self, node: int, port: int) -> tuple[int, int] | None:
        there = int(self.chips.inside[node, port])
        return None if there < 0 else (there, self.machine.network.ports[port].opposite)

    def _elaborate_links(
        self, m: Module, begins: Mapping[tuple[int, int], Any], clocks: Sequence[Any]
    ) -> dict[tuple[int, int], Any]:
        machine, coming = self.machine, {}
        for number, (link, module) in enumerate(zip(self.chips.links, self._bridges, strict=True)):
            make = partial(bridge_of, machine, self.chips, link, word_width=self.word_width)
            members: dict[str, Any] = {
                name: getattr(self.link[number], name) for name in self.link[number].signature.members
            }
            for channel, (at, port) in enumerate(link.ends):
                own = machine.network.ports[port]
                signature = ChannelSignature(machine, num_vcs=machine.plan.num_vcs[own.opposite])
                coming[at, port] = wires(signature, f"arrival_{at}_{own.name}")
                members |= {f"from_{channel}": begins[at, port], f"to_{channel}": coming[at, port]}
            place(m, f"bridge_{number}", Part(make, module), members, clocks=clocks[link.ends[0][0]])
        return coming

    def _dead_of(self, node: int) -> tuple[list[Value], list[Value]]:
        leaving, coming = super()._dead_of(node)
        for link, about in zip(self.link, self.chips.links, strict=True):
            for port in (port for at, port in about.ends if at == node):
                leaving[port] = self.dead[node][len(leaving)] | self.dead[node][port] | link.dead
        return leaving, coming  # what comes from a bridge is taken: it counts credits

    def _pins(self, node: int) -> dict[str, Value]:
        address = address_on(self.chips, self.chip, node, width=self.machine.address.width)
        return super()._pins(int(self.chips.nodes[0, node])) | {"address": address}


class PinnedChip(wiring.Component):
    """A chip whose links go over pins, see :class:`hdnhw.rtl.bridge.parallel.ParallelWires`.

    It instantiates both modules by name.

    Parameters
    ----------
    chip : Chip
    module, wires : str
        Names of the chip's module, and of that of the wires of a link.

    Members
    -------
    clk, rst, wire_clk : In(1)
        Of the chip, and the clock by which words leave it.
    link : Out(Signature).array(links)
        The pins of each link, and what its bridge counts.
    all other members of Chip
    """

    def __init__(self, chip: Chip, module: str, wires: str) -> None:
        self._chip, self._module, self._wires, self.chips = chip, module, wires, chip.chips
        members = dict(chip.signature.members.items())
        self._own = [name for name in members if name != "link"]
        states = {name: Out(width) for name, width in states_of(chip.machine).items()}
        links = Out(wiring.Signature(pins_of(chip.word_width) | states)).array(len(chip.chips.links))
        clocks = dict.fromkeys(("clk", "rst", "wire_clk"), In(1))
        super().__init__(clocks | {name: members[name] for name in self._own} | {"link": links})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        inside = []
        part = Part(partial(ParallelWires, word_width=self._chip.word_width), self._wires)
        for number, link in enumerate(self.link):
            words = wires(link_signature(self._chip.machine, self._chip.word_width), f"words_{number}")
            states = {name: getattr(link, name) for name in states_of(self._chip.machine)}
            inside.append({"tx": words.tx, "rx": words.rx, **states})
            pins = {name: getattr(link, name) for name in pins_of(self._chip.word_width)}
            clocks = {"chip_clk": self.clk, "chip_rst": self.rst, "wire_clk": self.wire_clk}
            place(m, f"wires_{number}", part, {**clocks, **pins, "tx": words.tx, "rx": words.rx}, clocks={})
        members = {name: getattr(self, name) for name in self._own} | {"link": inside}
        chip = Part(lambda: self._chip, self._module, joint="_")
        place(m, "chip", chip, members, clocks={"clk": self.clk, "rst": self.rst})
        return m


def cut_into_chips(machine: Machine, cut: ChipOptions, *, node_clocks: bool) -> Chips:
    """Return the chips of a machine, whose nodes may have clocks.

    Raises
    ------
    SpecError
        If it cannot stand on several chips with such links.
    """
    assert cut.chips is not None
    if node_clocks:
        raise SpecError("node clocks do not go with chips: all nodes of a chip have its clock")
    if machine.timing.gives_notice:
        raise SpecError(f"{named('chips')} does not go with cut-through of packets of fewer than {HALF_SLOT} flits")
    width, most = cut.link_width, max(LEAST_WORD, machine.word_width)
    if width > most:
        raise SpecError(f"{named('link_width')} must be {LEAST_WORD} to {most} bits, those of a flit, not {width}")
    chips = lay_chips(machine.network, cut.chips)
    for port, (one, wide) in enumerate(zip(chips.inside.T, machine.network.ports, strict=True)):
        own = {"channel_latency": machine.channels.latency[port], "channel_width": machine.channels.intervals[port]}
        for name, value in own.items():
            if value > 1 and (one < 0).all():
                raise SpecError(f"{named(name)} is of channels on a chip, and {wide.name} leaves it")
    return chips
