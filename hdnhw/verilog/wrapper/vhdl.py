"""VHDL around a fabric: a package of its constants and types, and an entity with an array for all nodes."""

from collections.abc import Mapping, Sequence
from typing import Any

from hdnhw.verilog.wrapper.constants import addresses_of, constants_of
from hdnhw.verilog.wrapper.ports import WrapperPort, about, joined

_LIBRARY = "library ieee;\nuse ieee.std_logic_1164.all;\n"


def package_text(manifest: Mapping[str, Any], name: str, ports: Sequence[WrapperPort]) -> str:
    """Return the package: it is VHDL-93, as is the entity."""
    widths = sorted({port.width for port in ports if port.count and port.width > 1})
    return "\n".join(
        [
            f"-- Constants and types of {manifest['top']}, network on chip {manifest['spec']}.",
            f"{_LIBRARY}",
            f"package {name} is",
            *(f"  constant {constant} : natural := {value};" for constant, value in constants_of(manifest).items()),
            *_addresses(manifest),
            "  -- One word per node.",
            *(
                f"  type words_of_{width} is array (natural range <>) of std_logic_vector({width - 1} downto 0);"
                for width in widths
            ),
            "end package;",
            "",
        ]
    )


def entity_text(manifest: Mapping[str, Any], name: str, package: str, ports: Sequence[WrapperPort]) -> str:
    """Return an entity whose array ports have an element a node, and its architecture: the component in Verilog."""
    top = manifest["top"]
    return "\n".join(
        [
            f"-- {top}, network on chip {manifest['spec']}, with an array for the ports of {about(manifest)}.",
            f"{_LIBRARY}use work.{package}.all;",
            "",
            f"entity {name} is",
            "  port (",
            ";\n".join(f"    {port.name} : {_direction(port)} {_type(port)}" for port in ports),
            "  );",
            "end entity;",
            "",
            f"architecture structure of {name} is",
            "  -- The fabric in Verilog.",
            f"  component {top} is",
            "    port (",
            ";\n".join(
                f"      {inside} : {_direction(port)} {_bits(port.width)}"
                for port in ports
                for inside in ([port.inside(node) for node in range(port.count)] if port.count else [port.pattern])
            ),
            "    );",
            "  end component;",
            "begin",
            f"  {top}_inside : {top}",
            "    port map (",
            ",\n".join(f"      {inside} => {outside}" for inside, outside in joined(ports, _element)),
            "    );",
            "end architecture;",
            "",
        ]
    )


def _addresses(manifest: Mapping[str, Any]) -> list[str]:
    """Declare the packed addresses by the numbers of the nodes, where the manifest lists them."""
    width, addresses = manifest["address"]["width"], addresses_of(manifest)
    if not addresses:
        return []
    values = [f'"{address:0{width}b}"' for address in addresses]
    rows = [", ".join(values[start : start + 4]) for start in range(0, len(values), 4)]
    return [
        f"  type addresses is array (natural range <>) of std_logic_vector({width - 1} downto 0);",
        f"  constant ADDRESS_OF_NODE : addresses(0 to {len(addresses) - 1}) := (",
        ",\n".join(f"    {row}" for row in rows),
        "  );",
    ]


def _direction(port: WrapperPort) -> str:
    return "in" if port.is_input else "out"


def _bits(width: int) -> str:
    return f"std_logic_vector({width - 1} downto 0)" if width > 1 else "std_logic"


def _type(port: WrapperPort) -> str:
    if not port.count:
        return _bits(port.width)
    name = f"words_of_{port.width}" if port.width > 1 else "std_logic_vector"
    return f"{name}({port.count - 1} downto 0)"


def _element(port: WrapperPort, node: int) -> str:
    return f"{port.name}({node})"
