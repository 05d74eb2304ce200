"""The fabric with generators: one a node, and what they share."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import ClockSignal, Const, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.flit import FlitFormat
from hdnhw.rtl.exchange.control import TOTAL_WIDTH
from hdnhw.rtl.exchange.generator import count_width
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.topology.address import AddressLayout

__all__ = ["ExchangeFabric", "ExchangeModules"]


@dataclass(frozen=True)
class ExchangeModules:
    """Module names of what an :class:`ExchangeFabric` instantiates.

    Attributes
    ----------
    fabric, generator, control : str
    """

    fabric: str
    generator: str
    control: str


class ExchangeFabric(wiring.Component):
    """A fabric that runs a total exchange by itself. It instantiates modules by name; :mod:`hdnhw.emit` emits those.

    Parameters
    ----------
    layout : AddressLayout
    flits : FlitFormat
    modules : ExchangeModules
    at_once : bool
        See :class:`hdnhw.rtl.exchange.generator.ExchangeGenerator`.

    Members
    -------
    start, done, cycles, received, wrong
        See :class:`hdnhw.rtl.exchange.control.ExchangeControl`.
    """

    def __init__(self, layout: AddressLayout, flits: FlitFormat, modules: ExchangeModules, *, at_once: bool) -> None:
        self._layout, self._flits, self._modules, self._at_once = layout, flits, modules, at_once
        totals = {name: Out(TOTAL_WIDTH) for name in ("cycles", "received", "wrong")}
        super().__init__({"start": In(1), "done": Out(1), **totals})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        clocked = {"i_clk": ClockSignal(), "i_rst": ResetSignal()}
        shared = {"clear": Signal(name="clear"), "go": Signal(name="go")}
        shared["offset"] = Signal(self._layout.width, name="offset")
        fabric, control = {}, {f"o_{name}": signal for name, signal in shared.items()}
        for node in range(self._layout.network.num_nodes):
            at_fabric, at_control = self._elaborate_node(m, node, clocked, shared)
            fabric |= at_fabric
            control |= at_control
        m.submodules.fabric = Instance(self._modules.fabric, **clocked, **fabric)
        m.submodules.control = Instance(
            self._modules.control,
            **clocked,
            i_start=self.start,
            o_done=self.done,
            o_cycles=self.cycles,
            o_received=self.received,
            o_wrong=self.wrong,
            **control,
        )
        return m

    def _elaborate_node(
        self, m: Module, node: int, clocked: dict[str, Any], shared: dict[str, Signal]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Add the generator of a node; return the pins at that node of the fabric, and of the control."""
        width, count = self._flits.flit_width, count_width(self._layout.network.num_nodes)
        streams = {
            f"{side}_{name}": Signal(bits, name=f"{side}_{node}_{name}")
            for side, payload in (("inject", width), ("eject", width + 1))
            for name, bits in (("valid", 1), ("ready", 1), ("payload", payload))
        }
        counts = {
            name: Signal(bits, name=f"{name}_{node}")
            for name, bits in (("received", count), ("wrong", count), ("done", 1))
        }
        m.submodules[f"generator_{node}"] = Instance(
            self._modules.generator,
            **clocked,
            i_address=Const(self._layout.of_node(node), self._layout.width),
            i_clear=shared["clear"],
            i_start=shared["go"],
            **({} if self._at_once else {"i_offset": shared["offset"]}),
            o_inject__valid=streams["inject_valid"],
            i_inject__ready=streams["inject_ready"],
            o_inject__payload=streams["inject_payload"],
            i_eject__valid=streams["eject_valid"],
            o_eject__ready=streams["eject_ready"],
            i_eject__payload=streams["eject_payload"],
            **{f"o_{name}": signal for name, signal in counts.items()},
        )
        return {
            f"i_inject__{node}__valid": streams["inject_valid"],
            f"o_inject__{node}__ready": streams["inject_ready"],
            f"i_inject__{node}__payload": streams["inject_payload"],
            f"o_eject__{node}__valid": streams["eject_valid"],
            f"i_eject__{node}__ready": streams["eject_ready"],
            f"o_eject__{node}__payload": streams["eject_payload"],
            f"o_dropped__{node}": Signal(DROPPED_WIDTH, name=f"dropped_{node}"),
        }, {f"i_nodes__{node}__{name}": signal for name, signal in counts.items()}
