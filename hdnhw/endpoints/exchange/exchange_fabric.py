"""The fabric with generators: one a node, and what they share."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.exchange.control import TOTAL_WIDTH
from hdnhw.endpoints.exchange.generator import count_width
from hdnhw.rtl.part import place
from hdnhw.rtl.terminal import EndpointFabric


class ExchangeFabric(EndpointFabric):
    """A fabric that runs a total exchange by itself; see :class:`hdnhw.rtl.fabric.Fabric`.

    Members
    -------
    start, done, cycles, received, wrong
        See :class:`hdnhw.endpoints.exchange.control.ExchangeControl`.
    """

    def _members(self) -> dict[str, Any]:
        return {"start": In(1), "done": Out(1), **{name: Out(TOTAL_WIDTH) for name in ("cycles", "received", "wrong")}}

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        clear, go, offset = Signal(), Signal(), Signal(self.machine.address.width)
        nodes = self.machine.network.num_nodes
        count = count_width(nodes)
        counts = [
            {
                name: Signal(bits, name=f"{name}_{node}")
                for name, bits in (("received", count), ("wrong", count), ("done", 1))
            }
            for node in range(nodes)
        ]
        all_told = {"clear": clear, "start": go}
        all_told |= {} if self.machine.endpoint_format.endpoints.at_once else {"offset": offset}
        self._elaborate_nodes(m, "generator", lambda node: all_told | counts[node], {})
        told = {name: getattr(self, name) for name in self._members()}
        shared = {"clear": clear, "go": go, "offset": offset, "nodes": counts}
        place(m, "control", self.parts.shared, told | shared)
        return m
