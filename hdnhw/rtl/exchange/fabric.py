"""The fabric with generators: one a node, and what they share."""

from typing import Any

from amaranth.hdl import Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.rtl.exchange.control import TOTAL_WIDTH
from hdnhw.rtl.exchange.generator import count_width
from hdnhw.rtl.part import place
from hdnhw.rtl.terminal import EndpointParts, at_node, terminal_wires


class ExchangeFabric(wiring.Component):
    """A fabric that runs a total exchange by itself; see :class:`hdnhw.rtl.fabric.Fabric`.

    Parameters
    ----------
    machine : Machine
        With generators.
    parts : EndpointParts
        They share the control.

    Members
    -------
    start, done, cycles, received, wrong
        See :class:`hdnhw.rtl.exchange.control.ExchangeControl`.
    """

    def __init__(self, machine: Machine, parts: EndpointParts) -> None:
        self.machine, self.parts = machine, parts
        self._at_once = machine.endpoint_format.endpoints.at_once
        totals = {name: Out(TOTAL_WIDTH) for name in ("cycles", "received", "wrong")}
        super().__init__({"start": In(1), "done": Out(1), **totals})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        clear, go, offset = Signal(), Signal(), Signal(self.machine.address.width)
        nodes, address = range(self.machine.network.num_nodes), self.machine.address
        terminals = terminal_wires(len(nodes), self.machine.spec.flit_width)
        count = count_width(len(nodes))
        counts = [
            {
                name: Signal(bits, name=f"{name}_{node}")
                for name, bits in (("received", count), ("wrong", count), ("done", 1))
            }
            for node in nodes
        ]
        for node in nodes:
            own = {"address": Const(address.of_node(node), address.width), "clear": clear, "start": go}
            own |= {} if self._at_once else {"offset": offset}
            place(m, f"generator_{node}", self.parts.unit, own | at_node(terminals, node) | counts[node])
        place(m, "fabric", self.parts.fabric, terminals, unread=True)
        told = {name: getattr(self, name) for name in self.signature.members}
        shared = {"clear": clear, "go": go, "offset": offset, "nodes": counts}
        place(m, "control", self.parts.shared, told | shared)
        return m
