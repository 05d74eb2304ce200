"""Verilog of a fabric with AXI endpoints, and what the manifest says of it."""

import hashlib
from typing import Any

from hdnhw.emit.verilog import module_text
from hdnhw.flit import FrameFormat, PacketKind
from hdnhw.rtl.axi.endpoint import Endpoint, NodeWord
from hdnhw.rtl.axi.fabric import AxiFabric, AxiModules
from hdnhw.rtl.axi.layout import receive_layout, send_layout
from hdnhw.rtl.axi.registers import (
    ADDRESS_WIDTH,
    IDENTIFICATION,
    NODE_BASE,
    NODE_STRIDE,
    VERSION,
    GlobalWord,
    RegisterBlock,
)
from hdnhw.topology.address import AddressLayout

__all__ = ["AXI_SUFFIX", "axi_manifest", "axi_verilog"]

AXI_SUFFIX = "_axi"
"""Appended to the fabric's name for the top level with endpoints, and to that for its file."""


def axi_modules(top: str) -> AxiModules:
    """Return the names of the modules below ``top_axi``."""
    return AxiModules(fabric=top, endpoint=f"{top}{AXI_SUFFIX}_endpoint", registers=f"{top}{AXI_SUFFIX}_registers")


def _constants(frames: FrameFormat, num_nodes: int) -> dict[GlobalWord, int]:
    return {
        GlobalWord.IDENTIFICATION: IDENTIFICATION,
        GlobalWord.VERSION: VERSION,
        GlobalWord.NODES: num_nodes,
        GlobalWord.PACKET_LENGTH: frames.flits.packet_length,
        GlobalWord.FLIT_WIDTH: frames.flits.flit_width,
        GlobalWord.MAX_FRAME: frames.endpoints.max_frame,
        GlobalWord.TUSER_WIDTH: frames.endpoints.tuser_width,
    }


def axi_verilog(frames: FrameFormat, layout: AddressLayout, *, top: str) -> str:
    """Return the text of the modules around fabric `top`: endpoint, registers and, last, ``top_axi``."""
    modules, num_nodes = axi_modules(top), layout.network.num_nodes
    texts = [
        module_text(Endpoint(frames, layout), modules.endpoint, flatten=True),
        module_text(RegisterBlock(_constants(frames, num_nodes), num_nodes=num_nodes), modules.registers, flatten=True),
        module_text(AxiFabric(frames, layout, modules), top + AXI_SUFFIX, flatten=False),
    ]
    return "\n".join(texts)


def axi_manifest(frames: FrameFormat, *, top: str, text: str) -> dict[str, Any]:
    """Return the manifest's entry ``endpoints``."""
    modules = axi_modules(top)
    return {
        "type": "axi-stream",
        "top": top + AXI_SUFFIX,
        "file": f"{top}{AXI_SUFFIX}.sv",
        "digest": "sha256:" + hashlib.sha256(text.encode()).hexdigest(),
        "endpoint_module": modules.endpoint,
        "registers_module": modules.registers,
        "max_frame": frames.endpoints.max_frame,
        "tuser_width": frames.endpoints.tuser_width,
        "ports": _ports(frames),
        "packet": {
            "header": frames.header_positions,
            "header_flits": frames.header_flits,
            "data_flits": frames.payload_flits,
            "kinds": {kind.name.lower(): int(kind) for kind in PacketKind},
        },
        "registers": _registers(),
    }


def _ports(frames: FrameFormat) -> dict[str, Any]:
    ports: dict[str, Any] = {
        "aclk": {"direction": "input", "width": 1},
        "aresetn": {"direction": "input", "width": 1, "meaning": "synchronous, active low"},
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
    return ports


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
