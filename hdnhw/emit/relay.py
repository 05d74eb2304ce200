"""Verilog of a fabric with relays, and what the manifest says of it."""

import hashlib
from typing import Any

from hdnhw.emit.verilog import module_text
from hdnhw.flit import RelayFormat, RelayKind
from hdnhw.rtl.relay.fabric import RelayFabric
from hdnhw.rtl.relay.relay import NOTICES, Relay, counts_layout
from hdnhw.topology.address import AddressLayout

__all__ = ["RELAY_SUFFIX", "relay_manifest", "relay_verilog"]

RELAY_SUFFIX = "_relay"
"""Appended to the fabric's name for the top level with relays, and to that for its file."""
UNIT_SUFFIX = "_unit"


def relay_verilog(packets: RelayFormat, layout: AddressLayout, *, top: str, dead_pins: bool) -> str:
    """Return the text of the modules around fabric `top`: the relay of a node and, last, ``top_relay``."""
    name, unit = top + RELAY_SUFFIX, top + RELAY_SUFFIX + UNIT_SUFFIX
    relay = Relay(packets, num_nodes=layout.network.num_nodes)
    fabric = RelayFabric(packets, layout, fabric_module=top, relay_module=unit, dead_pins=dead_pins)
    return "\n".join([module_text(relay, unit, flatten=True), module_text(fabric, name, flatten=False)])


def relay_manifest(packets: RelayFormat, *, top: str, text: str, ports: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest's entry ``endpoints``; `ports` are those of the fabric, which stay."""
    endpoints = packets.endpoints
    return {
        "type": "relay",
        "top": top + RELAY_SUFFIX,
        "file": f"{top}{RELAY_SUFFIX}.sv",
        "digest": "sha256:" + hashlib.sha256(text.encode()).hexdigest(),
        "relay_module": top + RELAY_SUFFIX + UNIT_SUFFIX,
        "waypoints": endpoints.waypoints,
        "slots": endpoints.slots,
        "timeout": endpoints.timeout,
        "notices": NOTICES,
        "ports": ports | {"counts__N": _counts()},
        "packet": {
            "header": packets.header_positions,
            "payload": {"head_offset": packets.header_width, "width": packets.payload_width},
            "kinds": {kind.name.lower(): int(kind) for kind in RelayKind},
        },
    }


def _counts() -> dict[str, Any]:
    layout = counts_layout()
    return {
        "direction": "output",
        "width": layout.size,
        "fields": {name: {"offset": field.offset, "width": field.width} for name, field in layout},
        "meaning": "packets at node N since reset; each stays at its maximum",
    }
