"""The fabric with AXI endpoints: one endpoint a node, the registers, under the port names of AXI."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine import Machine
from hdnhw.rtl.axi.endpoint import WORD_WIDTH, NodeWord
from hdnhw.rtl.axi.layout import receive_layout, send_layout
from hdnhw.rtl.axi.registers import axi_lite_members
from hdnhw.rtl.part import place
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.terminal import EndpointModules, EndpointParts, terminal_pins


class AxiFabric(wiring.Component):
    """A fabric whose terminals are AXI4-Stream, under the names of AXI; see :class:`hdnhw.rtl.fabric.Fabric`.

    Parameters
    ----------
    machine : Machine
        With AXI4-Stream endpoints.
    modules : EndpointModules or EndpointParts
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

    def __init__(self, machine: Machine, modules: EndpointModules | EndpointParts) -> None:
        self.machine, self.modules = machine, modules
        super().__init__({**self._members(), **axi_lite_members("s_axil_")})

    def _members(self) -> dict[str, Any]:
        """Return all members but those of the registers."""
        frames = self.machine.endpoint_format
        members: dict[str, Any] = {"aclk": In(1), "aresetn": In(1)}
        for node in range(self.machine.network.num_nodes):
            for side, transfer, inside, outside in (
                ("s_axis", send_layout(frames), In, Out),
                ("m_axis", receive_layout(frames), Out, In),
            ):
                for name, field in transfer:
                    members[f"{side}_{node}_t{name}"] = inside(field.width)
                members[f"{side}_{node}_tvalid"] = inside(1)
                members[f"{side}_{node}_tready"] = outside(1)
        return members

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        self._elaborate_all(m, self.aclk, ~self.aresetn)
        return m

    def _elaborate_all(self, m: Module, clock: Value | None, own_reset: Value | None) -> None:
        """Join fabric, endpoints and registers; `own_reset` is that of the registers, which reset the rest."""
        nodes = range(self.machine.network.num_nodes)
        reset, select = Signal(), Signal(Shape.cast(NodeWord).width)
        words = [Signal(WORD_WIDTH, name=f"word_{node}") for node in nodes]
        fabric: dict[str, Any] = {}
        for node in nodes:
            fabric |= self._elaborate_node(m, node, clock, reset, select, words[node])
        place(m, "fabric", self.modules.fabric, fabric, clock=clock, reset=reset)
        registers: dict[str, Any] = {
            f"{'i' if member.flow == In else 'o'}_{name}": getattr(self, name)
            for name, member in axi_lite_members("s_axil_").items()
        }
        pins = {"o_reset": reset, "o_select": select, **{f"i_words__{node}": word for node, word in enumerate(words)}}
        place(m, "registers", self.modules.shared, pins | registers, clock=clock, reset=own_reset)

    def _elaborate_node(
        self, m: Module, node: int, clock: Value | None, reset: Signal, select: Signal, word: Signal
    ) -> dict[str, Any]:
        """Add the endpoint of a node; return the pins of the fabric at that node."""
        of_endpoint, of_fabric = terminal_pins(node, self.machine.spec.flit_width)
        dropped = Signal(DROPPED_WIDTH, name=f"dropped_{node}")
        pins: dict[str, Any] = {
            "i_address": Const(self.machine.address.of_node(node), self.machine.address.width),
            "i_dropped": dropped,
            "i_select": select,
            "o_word": word,
        }
        pins |= of_endpoint | self._stream_pins(node)
        place(m, f"endpoint_{node}", self.modules.unit, pins, clock=clock, reset=reset)
        return of_fabric | {f"o_dropped_{node}": dropped}

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


class AxiComponent(AxiFabric):
    """A fabric with its logic whose terminals are AXI4-Stream, for designs in Amaranth: streams in the domain ``sync``.

    Parameters
    ----------
    machine : Machine
        With AXI4-Stream endpoints.
    modules : EndpointParts

    Members
    -------
    s_axis : In(stream of send_layout).array(nodes)
        Frames that each node sends.
    m_axis : Out(stream of receive_layout).array(nodes)
        Frames that each node receives.
    s_axil_* : In
        See :class:`hdnhw.rtl.axi.registers.RegisterBlock`.
    """

    def _members(self) -> dict[str, Any]:
        frames, nodes = self.machine.endpoint_format, self.machine.network.num_nodes
        return {
            "s_axis": In(stream.Signature(send_layout(frames))).array(nodes),
            "m_axis": Out(stream.Signature(receive_layout(frames))).array(nodes),
        }

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        self._elaborate_all(m, None, None)
        return m

    def _stream_pins(self, node: int) -> dict[str, Any]:
        pins: dict[str, Any] = {}
        for side, one, inside, outside in (
            ("s_axis", self.s_axis[node], "i", "o"),
            ("m_axis", self.m_axis[node], "o", "i"),
        ):
            pins[f"{inside}_{side}__payload"] = one.payload.as_value()
            pins[f"{inside}_{side}__valid"] = one.valid
            pins[f"{outside}_{side}__ready"] = one.ready
        return pins
