"""The fabric with AXI endpoints: one endpoint a node, the registers, under the port names of AXI."""

from typing import Any

from amaranth.hdl import Cat, Const, Instance, Module, Shape, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine import Machine
from hdnhw.rtl.axi.endpoint import WORD_WIDTH, NodeWord
from hdnhw.rtl.axi.layout import receive_layout, send_layout
from hdnhw.rtl.axi.registers import axi_lite_members
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.terminal import EndpointModules, terminal_pins

__all__ = ["AxiFabric"]


class AxiFabric(wiring.Component):
    """A fabric whose terminals are AXI4-Stream. It instantiates modules by name; :mod:`hdnhw.emit` emits those.

    Parameters
    ----------
    machine : Machine
        With AXI4-Stream endpoints.
    modules : EndpointModules
        They share the registers.

    Members
    -------
    aclk, aresetn : In(1)
        Clock, and reset: synchronous, active low.
    s_axis_N_* : In
        tdata, tkeep, tlast, tdest, tuser, tvalid and tready (Out) of the frames that node N sends.
    m_axis_N_* : Out
        tdata, tkeep, tlast, tid (packed address of the source), tuser, tvalid and tready (In) of those it receives.
    s_axil_* : In
        See :class:`hdnhw.rtl.axi.registers.RegisterBlock`.
    """

    def __init__(self, machine: Machine, modules: EndpointModules) -> None:
        self.machine, self.modules = machine, modules
        frames = machine.endpoint_format
        members: dict[str, Any] = {"aclk": In(1), "aresetn": In(1)}
        for node in range(machine.network.num_nodes):
            for side, transfer, inside, outside in (
                ("s_axis", send_layout(frames), In, Out),
                ("m_axis", receive_layout(frames), Out, In),
            ):
                for name, field in transfer:
                    members[f"{side}_{node}_t{name}"] = inside(field.width)
                members[f"{side}_{node}_tvalid"] = inside(1)
                members[f"{side}_{node}_tready"] = outside(1)
        super().__init__({**members, **axi_lite_members("s_axil_")})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        nodes = range(self.machine.network.num_nodes)
        reset, select = Signal(), Signal(Shape.cast(NodeWord).width)
        words = [Signal(WORD_WIDTH, name=f"word_{node}") for node in nodes]
        fabric: dict[str, Any] = {}
        for node in nodes:
            fabric |= self._elaborate_node(m, node, reset, select, words[node])
        m.submodules.fabric = Instance(self.modules.fabric, i_clk=self.aclk, i_rst=reset, **fabric)
        registers = {
            f"{'i' if member.flow == In else 'o'}_{name}": getattr(self, name)
            for name, member in axi_lite_members("s_axil_").items()
        }
        m.submodules.registers = Instance(
            self.modules.shared,
            i_clk=self.aclk,
            i_rst=~self.aresetn,
            o_reset=reset,
            o_select=select,
            **{f"i_words__{node}": word for node, word in enumerate(words)},
            **registers,
        )
        return m

    def _elaborate_node(self, m: Module, node: int, reset: Signal, select: Signal, word: Signal) -> dict[str, Any]:
        """Add the endpoint of a node; return the pins of the fabric at that node."""
        of_endpoint, of_fabric = terminal_pins(node, self.machine.spec.flit_width)
        dropped = Signal(DROPPED_WIDTH, name=f"dropped_{node}")
        m.submodules[f"endpoint_{node}"] = Instance(
            self.modules.unit,
            i_clk=self.aclk,
            i_rst=reset,
            i_address=Const(self.machine.address.of_node(node), self.machine.address.width),
            i_dropped=dropped,
            i_select=select,
            o_word=word,
            **of_endpoint,
            **self._stream_pins(node),
        )
        return of_fabric | {f"o_dropped__{node}": dropped}

    def _stream_pins(self, node: int) -> dict[str, Any]:
        """Join the AXI ports of a node, signal by signal, to the payloads of its endpoint."""
        pins: dict[str, Any] = {}
        for side, layout, inside, outside in (
            ("s_axis", send_layout(self.machine.endpoint_format), "i", "o"),
            ("m_axis", receive_layout(self.machine.endpoint_format), "o", "i"),
        ):
            signals = [getattr(self, f"{side}_{node}_t{name}") for name, _ in layout]
            pins[f"{inside}_{side}__payload"] = Cat(signals)
            pins[f"{inside}_{side}__valid"] = getattr(self, f"{side}_{node}_tvalid")
            pins[f"{outside}_{side}__ready"] = getattr(self, f"{side}_{node}_tready")
        return pins
