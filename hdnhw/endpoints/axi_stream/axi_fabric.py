"""The fabric with AXI endpoints: one endpoint a node, the registers, under the port names of AXI."""

from typing import Any

from amaranth.hdl import Cat, Module, Shape, Signal, Value
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi_stream.endpoint import WORD_WIDTH, NodeWord
from hdnhw.endpoints.axi_stream.layout import receive_layout, send_layout
from hdnhw.endpoints.axi_stream.register_block import PORT
from hdnhw.rtl.part import place
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.terminal import EndpointFabric


class AxiFabric(EndpointFabric):
    """A fabric whose terminals are AXI4-Stream, under the names of AXI; see :class:`hdnhw.rtl.fabric.Fabric`.

    Members
    -------
    aclk, aresetn : In(1)
        Clock, and reset: synchronous, active low.
    s_axis_N_* : In
        tdata, tkeep, tlast, tdest, tuser, tvalid and tready (Out) of the frames that node N sends.
    m_axis_N_* : Out
        tdata, tkeep, tlast, tid (packed address of the source), tuser, tvalid and tready (In) of those it receives.
    s_axil_* : In
        See :class:`hdnhw.endpoints.axi_stream.register_block.RegisterBlock`.
    """

    def _members(self) -> dict[str, Any]:
        return {**self._stream_members(), **PORT}

    def _stream_members(self) -> dict[str, Any]:
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
        self._elaborate_all(m, clk=self.aclk, rst=~self.aresetn)
        return m

    def _elaborate_all(self, m: Module, **own_clocks: Value) -> None:
        """Join fabric, endpoints and registers; `own_clocks` are those of the registers, which reset the rest."""
        nodes = range(self.machine.network.num_nodes)
        reset, select = Signal(), Signal(Shape.cast(NodeWord).width, name="select")
        words = [Signal(WORD_WIDTH, name=f"word_{node}") for node in nodes]
        dropped = [Signal(DROPPED_WIDTH, name=f"dropped_{node}") for node in nodes]

        def own(node: int) -> dict[str, Any]:
            return {"select": select, "word": words[node], "dropped": dropped[node], **self._streams(node)}

        self._elaborate_nodes(m, "endpoint", own, {"dropped": dropped}, **own_clocks | {"rst": reset})
        registers = {name: getattr(self, name) for name in PORT}
        registers |= {"reset": reset, "select": select, "words": words}
        place(m, "registers", self.parts.shared, registers, clocks=own_clocks or None)

    def _streams(self, node: int) -> dict[str, Any]:
        """Return both streams of a node, of the AXI ports signal by signal."""
        streams = {}
        for side, layout in (
            ("s_axis", send_layout(self.machine.endpoint_format)),
            ("m_axis", receive_layout(self.machine.endpoint_format)),
        ):
            stem = f"{side}_{node}_t"
            payload = Cat(getattr(self, f"{stem}{name}") for name, _ in layout)
            streams[side] = {
                "payload": payload,
                "valid": getattr(self, f"{stem}valid"),
                "ready": getattr(self, f"{stem}ready"),
            }
        return streams


class AxiComponent(AxiFabric):
    """A fabric with its logic whose terminals are AXI4-Stream, for designs in Amaranth: streams in the domain ``sync``.

    Members
    -------
    s_axis : In(stream of send_layout).array(nodes)
        Frames that each node sends.
    m_axis : Out(stream of receive_layout).array(nodes)
        Frames that each node receives.
    s_axil_* : In
        See :class:`hdnhw.endpoints.axi_stream.register_block.RegisterBlock`.
    """

    def _stream_members(self) -> dict[str, Any]:
        frames, nodes = self.machine.endpoint_format, self.machine.network.num_nodes
        return {
            "s_axis": In(stream.Signature(send_layout(frames))).array(nodes),
            "m_axis": Out(stream.Signature(receive_layout(frames))).array(nodes),
        }

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        self._elaborate_all(m)
        return m

    def _streams(self, node: int) -> dict[str, Any]:
        return {"s_axis": self.s_axis[node], "m_axis": self.m_axis[node]}
