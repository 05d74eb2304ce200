"""Verilog of a fabric with AXI endpoints, and what the manifest says of it."""

import re
from functools import cached_property
from typing import Any

from hdnhw.endpoints.axi_stream.axi_fabric import AxiComponent, AxiFabric
from hdnhw.endpoints.axi_stream.endpoint import Endpoint, NodeWord
from hdnhw.endpoints.axi_stream.format import FrameFormat, PacketKind
from hdnhw.endpoints.axi_stream.format_pool import pool_of
from hdnhw.endpoints.axi_stream.layout import receive_layout, send_layout
from hdnhw.endpoints.axi_stream.register_block import (
    ADDRESS_WIDTH,
    IDENTIFICATION,
    NODE_BASE,
    NODE_STRIDE,
    PORT,
    VERSION,
    GlobalWord,
    RegisterBlock,
)
from hdnhw.rtl.axi_lite import described_members
from hdnhw.rtl.terminal import EndpointParts
from hdnhw.verilog.endpoint import Clocked, EmittedEndpoints


class EmittedAxi(EmittedEndpoints):
    """AXI4-Stream endpoints as text; they share the registers."""

    suffix, unit_suffix, shared_suffix = "_axi", "_endpoint", "_registers"
    clock, reset, has_streams = "aclk", "aresetn", True

    def unit(self) -> Endpoint:
        """Return the endpoint of a node."""
        return Endpoint(self.machine)

    def shared(self) -> RegisterBlock:
        """Return the registers."""
        frames, num_nodes = self.machine.endpoint_format, self.machine.network.num_nodes
        constants = {
            GlobalWord.IDENTIFICATION: IDENTIFICATION,
            GlobalWord.VERSION: VERSION,
            GlobalWord.NODES: num_nodes,
            GlobalWord.PACKET_LENGTH: frames.flits.packet_length,
            GlobalWord.FLIT_WIDTH: frames.flits.flit_width,
            GlobalWord.MAX_FRAME: frames.endpoints.max_frame,
            GlobalWord.TUSER_WIDTH: frames.endpoints.tuser_width,
        }
        return RegisterBlock(constants, num_nodes=num_nodes)

    def around(self, parts: EndpointParts) -> AxiFabric:
        """Return the fabric with its endpoints."""
        return AxiFabric(self.machine, parts)

    def component(self) -> AxiComponent:
        """See :meth:`EmittedEndpoints.component`: its terminals are streams."""
        return AxiComponent(self.machine, self.parts(emitted=False))

    @property
    def longest_frame(self) -> int:
        """See :attr:`EmittedEndpoints.longest_frame`."""
        frames = self.machine.endpoint_format
        return int(8 * frames.endpoints.max_frame // frames.flits.flit_width)

    def clocked(self, port: str) -> Clocked:
        """See :meth:`EmittedEndpoints.clocked`: all but the registers are reset by these, too."""
        own = super().clocked(port)
        if port.startswith("s_axil"):
            return own
        return Clocked(own.clk, f"{own.rst} || {self._soft_reset}")

    @cached_property
    def _soft_reset(self) -> str:
        """The wire of the top level by which the registers reset the rest."""
        return str(re.findall(r"^    \.reset\((\w+)\)", self.text, re.MULTILINE)[-1])

    def entry(self) -> dict[str, Any]:
        """See :meth:`EmittedEndpoints.entry`."""
        frames = self.machine.endpoint_format
        return {
            "endpoint_module": self.modules.unit,
            "registers_module": self.modules.shared,
            "max_frame": frames.endpoints.max_frame,
            "tuser_width": frames.endpoints.tuser_width,
            "tuser": frames.endpoints.tuser,
            "prompt_packets": pool_of(self.machine).prompt,
            "slots": pool_of(self.machine).slots,
            "ports": _ports(frames),
            "packet": {**self.packet(), "kinds": {kind.name.lower(): int(kind) for kind in PacketKind}},
            "registers": _registers(),
        }


def _ports(frames: FrameFormat) -> dict[str, Any]:
    ports: dict[str, Any] = {
        "aclk": {"direction": "input", "width": 1},
        "aresetn": {
            "direction": "input",
            "width": 1,
            "meaning": "synchronous, active low; hold for two cycles or more",
        },
    }
    for side, transfer, inside, outside in (
        ("s_axis", send_layout(frames), "input", "output"),
        ("m_axis", receive_layout(frames), "output", "input"),
    ):
        for name, field in transfer:
            ports[f"{side}_N_t{name}"] = {"direction": inside, "width": field.width}
        ports[f"{side}_N_tvalid"] = {"direction": inside, "width": 1}
        ports[f"{side}_N_tready"] = {"direction": outside, "width": 1}
    ports["s_axis_N_tdest"]["meaning"] = "packed address of the destination, see address.of_node; first transfer counts"
    ports["m_axis_N_tid"]["meaning"] = "packed address of the source"
    return ports | described_members(PORT)


def _registers() -> dict[str, Any]:
    return {
        "prefix": "s_axil",
        "address_width": ADDRESS_WIDTH,
        "data_width": 32,
        "fabric": {word.name.lower(): 4 * word for word in GlobalWord},
        "node_base": NODE_BASE,
        "node_stride": NODE_STRIDE,
        "node": {word.name.lower(): 4 * word for word in NodeWord},
    }


EMITTED = EmittedAxi
