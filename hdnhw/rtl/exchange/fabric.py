"""The fabric with generators: one a node, and what they share."""

from typing import Any

from amaranth.hdl import Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine import Machine
from hdnhw.rtl.exchange.control import TOTAL_WIDTH
from hdnhw.rtl.exchange.generator import count_width
from hdnhw.rtl.part import place
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.terminal import EndpointModules, EndpointParts, terminal_pins


class ExchangeFabric(wiring.Component):
    """A fabric that runs a total exchange by itself; see :class:`hdnhw.rtl.fabric.Fabric`.

    Parameters
    ----------
    machine : Machine
        With generators.
    modules : EndpointModules or EndpointParts
        They share the control.

    Members
    -------
    start, done, cycles, received, wrong
        See :class:`hdnhw.rtl.exchange.control.ExchangeControl`.
    """

    def __init__(self, machine: Machine, modules: EndpointModules | EndpointParts) -> None:
        self.machine, self.modules = machine, modules
        self._at_once = machine.endpoint_format.endpoints.at_once
        totals = {name: Out(TOTAL_WIDTH) for name in ("cycles", "received", "wrong")}
        super().__init__({"start": In(1), "done": Out(1), **totals})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        shared = {"clear": Signal(name="clear"), "go": Signal(name="go")}
        shared["offset"] = Signal(self.machine.address.width, name="offset")
        fabric: dict[str, Any] = {}
        control = {f"o_{name}": signal for name, signal in shared.items()}
        for node in range(self.machine.network.num_nodes):
            at_fabric, at_control = self._elaborate_node(m, node, shared)
            fabric |= at_fabric
            control |= at_control
        place(m, "fabric", self.modules.fabric, fabric)
        pins: dict[str, Any] = {
            "i_start": self.start,
            "o_done": self.done,
            "o_cycles": self.cycles,
            "o_received": self.received,
            "o_wrong": self.wrong,
        }
        place(m, "control", self.modules.shared, pins | control)
        return m

    def _elaborate_node(self, m: Module, node: int, shared: dict[str, Signal]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Add the generator of a node; return the pins at that node of the fabric, and of the control."""
        count = count_width(self.machine.network.num_nodes)
        of_endpoint, of_fabric = terminal_pins(node, self.machine.spec.flit_width)
        counts = {
            name: Signal(bits, name=f"{name}_{node}")
            for name, bits in (("received", count), ("wrong", count), ("done", 1))
        }
        pins: dict[str, Any] = {
            "i_address": Const(self.machine.address.of_node(node), self.machine.address.width),
            "i_clear": shared["clear"],
            "i_start": shared["go"],
            **({} if self._at_once else {"i_offset": shared["offset"]}),
            **of_endpoint,
            **{f"o_{name}": signal for name, signal in counts.items()},
        }
        place(m, f"generator_{node}", self.modules.unit, pins)
        of_fabric[f"o_dropped_{node}"] = Signal(DROPPED_WIDTH, name=f"dropped_{node}")
        if self.machine.spec.gapless_packets:
            of_fabric[f"o_paused_{node}"] = Signal(DROPPED_WIDTH, name=f"paused_{node}")
        return of_fabric, {f"i_nodes__{node}__{name}": signal for name, signal in counts.items()}
