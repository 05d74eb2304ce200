"""Verilog of a fabric with AXI4 endpoints, and what the manifest says of it."""

from typing import Any

from hdnhw.endpoints.axi4.emitted_system import EmittedSystem
from hdnhw.endpoints.axi4.endpoint import MemoryEndpoint, port_members
from hdnhw.endpoints.axi4.format import MemoryFormat, MemoryKind
from hdnhw.endpoints.axi4.layout import wires_of
from hdnhw.endpoints.axi4.memory_fabric import MemoryComponent, MemoryFabric
from hdnhw.machine.machine import Machine
from hdnhw.rtl.terminal import EndpointParts
from hdnhw.verilog.endpoint import EmittedEndpoints

COUNTERS = ("dropped_N", "paused_N")
"""Ports of the bare fabric that its top level has as well."""


class EmittedMemory(EmittedEndpoints):
    """AXI4 endpoints as text."""

    suffix, unit_suffix = "_axi4", "_endpoint"
    clock, reset, has_streams, on_chips = "aclk", "aresetn", True, True

    @classmethod
    def of(cls, machine: Machine) -> type[EmittedEndpoints]:
        """See :meth:`EmittedEndpoints.of`."""
        return EmittedSystem if machine.endpoint_format.endpoints.blocks else cls

    def unit(self) -> MemoryEndpoint:
        """Return the endpoint of a node."""
        return MemoryEndpoint(self.machine)

    def around(self, parts: EndpointParts) -> MemoryFabric:
        """Return the fabric with its endpoints."""
        return MemoryFabric(self.machine, parts)

    def component(self) -> MemoryComponent:
        """See :meth:`EmittedEndpoints.component`."""
        return MemoryComponent(self.machine, self.parts(emitted=False))

    def entry(self) -> dict[str, Any]:
        """See :meth:`EmittedEndpoints.entry`."""
        memory = self.machine.endpoint_format
        endpoints = memory.endpoints
        return {
            "endpoint_module": self.modules.unit,
            "memory_bits": endpoints.memory_bits,
            "address_bits": memory.address_bits,
            "id_width": endpoints.id_width,
            "outstanding": endpoints.outstanding,
            "ports": _ports(memory) | {name: port for name, port in self.fabric_ports.items() if name in COUNTERS},
            "packet": {**self.packet(), "kinds": {kind.name.lower(): int(kind) for kind in MemoryKind}},
        }


def _ports(memory: MemoryFormat) -> dict[str, Any]:
    ports: dict[str, Any] = {
        "aclk": {"direction": "input", "width": 1},
        "aresetn": {"direction": "input", "width": 1, "meaning": "synchronous, active low; hold for a cycle or more"},
    }
    for (port, name), (leads_in, layout) in port_members(memory).items():
        for wire, (is_input, bits) in wires_of(f"{port}_N_{name}", layout, leads_in=leads_in).items():
            ports[wire] = {"direction": "input" if is_input else "output", "width": bits}
    meaning = "the packed address of a node (address.of_node) above memory_bits of the place in its memory"
    for channel in ("aw", "ar"):
        ports[f"s_axi_N_{channel}addr"]["meaning"] = meaning
    return ports


EMITTED = EmittedMemory
