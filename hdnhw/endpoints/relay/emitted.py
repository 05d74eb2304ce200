"""Verilog of a fabric with relays, and what the manifest says of it."""

from typing import Any

from hdnhw.endpoints.relay.format import MOST_NOTICES, RelayKind
from hdnhw.endpoints.relay.relay import Relay, counts_layout
from hdnhw.endpoints.relay.relay_fabric import RelayFabric
from hdnhw.rtl.terminal import EndpointParts
from hdnhw.rules.relays import prove_relays
from hdnhw.verilog.endpoint import EmittedEndpoints


class EmittedRelays(EmittedEndpoints):
    """Relays as text; their top level has the ports of the bare fabric, and counters."""

    suffix, unit_suffix, has_streams = "_relay", "_unit", True

    def unit(self) -> Relay:
        """Return the relay of a node."""
        return Relay(self.machine)

    def around(self, parts: EndpointParts) -> RelayFabric:
        """Return the fabric with its relays."""
        return RelayFabric(self.machine, parts)

    def entry(self) -> dict[str, Any]:
        """See :meth:`EmittedEndpoints.entry`; the proof is made here."""
        packets = self.machine.endpoint_format
        endpoints = packets.endpoints
        return {
            "relay_module": self.modules.unit,
            "waypoints": endpoints.waypoints,
            "relay_buffers": endpoints.relay_buffers,
            "relay_queues": packets.queues,
            "timeout": endpoints.timeout,
            "notices": MOST_NOTICES,
            "ports": self.fabric_ports | {"counts_N": _counts()},
            "packet": {
                "header": packets.header_positions,
                "payload": {"head_offset": packets.header_width, "width": packets.payload_width},
                "kinds": {kind.name.lower(): int(kind) for kind in RelayKind},
            },
            "proof": str(prove_relays(self.machine.plan, endpoints.waypoints, packets.queues)),
        }


def _counts() -> dict[str, Any]:
    layout = counts_layout()
    return {
        "direction": "output",
        "width": layout.size,
        "fields": {name: {"offset": field.offset, "width": field.width} for name, field in layout},
        "meaning": "packets at node N since reset; each stays at its maximum",
    }


EMITTED = EmittedRelays
