"""Modules around a fabric, or a chip of it, in which the ports of all nodes are one array each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hdnhw.verilog.wrapper.ports import WrapperPort, about, joined


def packed_text(manifest: Mapping[str, Any], name: str, ports: Sequence[WrapperPort]) -> str:
    """Return a module of SystemVerilog with packed arrays: element n is of node n, or of place or link n."""
    return _module(manifest, name, ports, _packed_type, _packed_element)


def flat_text(manifest: Mapping[str, Any], name: str, ports: Sequence[WrapperPort]) -> str:
    """Return a module of plain Verilog with vectors: the lowest bits are of node 0, or of place or link 0."""
    return _module(manifest, name, ports, _flat_type, _flat_element)


def _module(
    manifest: Mapping[str, Any],
    name: str,
    ports: Sequence[WrapperPort],
    type_of: Callable[[WrapperPort], str],
    element_of: Callable[[WrapperPort, int], str],
) -> str:
    """Return a module of Verilog around the top level, whose array ports are of a type and have such elements."""
    top = manifest["top"]
    declared = [f"  {'input ' if port.is_input else 'output'} {type_of(port)}{port.name}" for port in ports]
    return "\n".join(
        [
            f"// {top}, network on chip {manifest['spec']}, with the ports of {about(manifest)} side by side,",
            "// those of number 0 in the lowest bits.",
            f"module {name} (",
            ",\n".join(declared),
            ");",
            f"  {top} network (",
            ",\n".join(f"    .{inside}({outside})" for inside, outside in joined(ports, element_of)),
            "  );",
            "endmodule",
            "",
        ]
    )


def _packed_type(port: WrapperPort) -> str:
    sizes = [port.count] * bool(port.count) + [port.width] * (port.width > 1)
    return "logic " + "".join(f"[{size - 1}:0]" for size in sizes) + " " * bool(sizes)


def _packed_element(port: WrapperPort, node: int) -> str:
    return f"{port.name}[{node}]"


def _flat_type(port: WrapperPort) -> str:
    bits = port.width * max(1, port.count)
    return f"wire [{bits - 1}:0] " if port.count or bits > 1 else "wire "


def _flat_element(port: WrapperPort, node: int) -> str:
    low = node * port.width
    return f"{port.name}[{low + port.width - 1}:{low}]" if port.width > 1 else f"{port.name}[{low}]"
