"""The address map of a system, for the tools that read one: SystemRDL and device tree."""

from collections.abc import Iterator

from hdnhw.endpoints.axi4.spec_blocks import Block

_CELL = 32
"""Bits of a cell of a device tree."""


def _ranges(blocks: tuple[Block, ...]) -> Iterator[tuple[str, Block, int, int]]:
    """Yield each range by its address: its name, its block, base and size."""
    found = [
        (f"{block.name}_mem_{number}" if len(block.ranges) > 1 else f"{block.name}_mem", block, *one)
        for block in blocks
        for number, one in enumerate(block.ranges)
    ]
    yield from sorted(found, key=lambda each: each[2])


def system_rdl(name: str, blocks: tuple[Block, ...]) -> str:
    """Return the map in SystemRDL 2.0, each range as a memory: PeakRDL makes headers, IP-XACT, HTML and UVM of it."""
    lines = [f"// Address map of {name}. Put the registers of a block in place of its memory where there are some.", ""]
    lines.append(f"addrmap {name} {{")
    for label, block, base, size in _ranges(blocks):
        entries = f"mementries = {size * 8 // block.data_width}; memwidth = {block.data_width};"
        lines.append(f"    external mem {{ {entries} }} {label} @ {base:#x};")
    return "\n".join([*lines, "};", ""])


def device_tree(name: str, blocks: tuple[Block, ...], address_width: int) -> str:
    """Return the map as a part of a device tree, to be included, with a node for each block that has addresses."""
    largest = max(size for block in blocks for _, size in block.ranges)
    cells = 2 if max(address_width, largest.bit_length()) > _CELL else 1

    def number(value: int) -> str:
        return " ".join(f"{value >> _CELL * cell & (1 << _CELL) - 1:#x}" for cell in reversed(range(cells)))

    lines = [f'/* Address map of {name}: put a "compatible" into each node. */', "/ {", f"\t{name}: {name} {{"]
    lines += ['\t\tcompatible = "simple-bus";', f"\t\t#address-cells = <{cells}>;", f"\t\t#size-cells = <{cells}>;"]
    lines.append("\t\tranges;")
    for block in sorted((block for block in blocks if block.ranges), key=lambda block: block.ranges[0][0]):
        at = ", ".join(f"<{number(base)} {number(size)}>" for base, size in block.ranges)
        lines += ["", f"\t\t{block.name}: {block.name.replace('_', '-')}@{block.ranges[0][0]:x} {{"]
        lines += [f"\t\t\treg = {at};", "\t\t};"]
    return "\n".join([*lines, "\t};", "};", ""])
