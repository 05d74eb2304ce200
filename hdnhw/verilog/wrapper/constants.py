"""Sizes, fields and addresses of a fabric as constants, for designs in Verilog and VHDL: what the manifest says."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hdnhw.support.manifest import counts_of, top_ports
from hdnhw.verilog.wrapper.ports import port_name


def addresses_of(manifest: Mapping[str, Any]) -> list[int]:
    """Return the packed address of every node; of none if the manifest does not list them."""
    return list(manifest["address"].get("of_node", ()))


def constants_of(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return the numbers that a design on the fabric needs, by their names in capitals.

    Examples
    --------
    >>> ports = {"inject_N_payload": {"direction": "input", "width": 9, "fields": {"data": {"offset": 1, "width": 8}}}}
    >>> sizes = {"routers": 4, "flit_width": 9, "packet_length": 2}
    >>> packet = {"destination": {"flit": 0, "offset": 0, "width": 2}, "payload": {"head_offset": 2, "width": 16}}
    >>> found = constants_of(sizes | {"address": {"width": 2}, "packet": packet, "ports": ports})
    >>> [name for name in found if "INJECT" in name]
    ['INJECT_PAYLOAD_WIDTH', 'INJECT_PAYLOAD_DATA_OFFSET', 'INJECT_PAYLOAD_DATA_WIDTH']
    """
    endpoints, chips = manifest.get("endpoints", {}), manifest.get("chips")
    counts = counts_of(manifest)
    counted = {"CHIPS": len(chips["nodes"]), "PLACES": counts["P"], "LINKS": counts["K"]} if chips else {}
    return {
        "NODES": manifest["routers"],
        **counted,
        "ADDRESS_WIDTH": manifest["address"]["width"],
        "FLIT_WIDTH": manifest["flit_width"],
        "PACKET_LENGTH": manifest["packet_length"],
        **{_capitals(name): value for name, value in endpoints.items() if type(value) is int},
        **dict(_of_ports(top_ports(manifest))),
        **dict(_of_packets(endpoints.get("packet", manifest["packet"]))),
        **{f"OPERATION_{_capitals(name)}": place for place, name in enumerate(endpoints.get("operations", ()))},
        **dict(_of_registers(endpoints.get("registers", {}))),
    }


def _capitals(*words: str) -> str:
    return "_".join(re.sub(r"\W", "_", word).upper() for word in words)


def _of_ports(ports: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for pattern, port in ports.items():
        name = port_name(pattern, ports)
        if name != pattern and not name.endswith(("valid", "ready")):
            yield _capitals(name, "width"), port["width"]
        yield from _of_fields(name, port.get("fields", {}))


def _of_fields(owner: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for name, field in fields.items():
        yield _capitals(owner, name, "offset"), field["offset"]
        yield _capitals(owner, name, "width"), field["width"]


def _of_packets(packet: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    yield from _of_fields("header", packet.get("header", {}))
    if "destination" in packet:
        yield from _of_fields("packet", {"destination": packet["destination"]})
    if "payload" in packet:
        yield "PACKET_PAYLOAD_OFFSET", packet["payload"]["head_offset"]
        yield "PACKET_PAYLOAD_WIDTH", packet["payload"]["width"]
    for name in ("header_flits", "data_flits"):
        if name in packet:
            yield _capitals(name), packet[name]
    for name, number in packet.get("kinds", {}).items():
        yield _capitals("kind", name), number


def _of_registers(registers: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    if not registers:
        return
    for owner, prefix in (("fabric", "register"), ("node", "node_register")):
        for name, address in registers[owner].items():
            yield _capitals(prefix, name), address
    yield "REGISTER_NODE_BASE", registers["node_base"]
    yield "REGISTER_NODE_STRIDE", registers["node_stride"]


def constants_text(manifest: Mapping[str, Any]) -> str:
    """Return localparams in Verilog, to be included in a module or a package of SystemVerilog."""
    top, width, addresses = manifest["top"], manifest["address"]["width"], addresses_of(manifest)
    prefix = f"{_capitals(top)}_"
    lines = [
        f"// Constants of {top}, network on chip {manifest['spec']}: include them in a module, or in a package.",
        *(f"localparam integer {prefix}{name} = {value};" for name, value in constants_of(manifest).items()),
    ]
    if addresses:
        literals = [f"{width}'h{address:x}" for address in reversed(addresses)]
        rows = [", ".join(literals[start : start + 8]) for start in range(0, len(literals), 8)]
        lines += [
            f"// Packed address of node n: {prefix}ADDRESS_OF_NODE[n*{prefix}ADDRESS_WIDTH +: {prefix}ADDRESS_WIDTH]",
            f"localparam [{len(addresses) * width - 1}:0] {prefix}ADDRESS_OF_NODE = {{",
            ",\n".join(f"  {row}" for row in rows),
            "};",
        ]
    return "\n".join(lines) + "\n"
