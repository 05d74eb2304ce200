"""Verilog of a system of AXI4 blocks, and what the manifest says of it."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, TypeVar

from hdnhw.endpoints.axi4.blocks import NodeBlocks, block_channels
from hdnhw.endpoints.axi4.emitted_map import device_tree, system_rdl
from hdnhw.endpoints.axi4.isolation import Isolation
from hdnhw.endpoints.axi4.spec_blocks import MOST_NODES, Block
from hdnhw.endpoints.axi4.system_fabric import SystemFabric, block_members, crossing_streams
from hdnhw.rtl.clocks.crossing import Crossing
from hdnhw.rtl.part import Part
from hdnhw.rtl.terminal import EndpointParts
from hdnhw.support.errors import SpecError
from hdnhw.verilog.clocks import CROSSING_SUFFIX, RESET_CYCLES, crossing_constraints
from hdnhw.verilog.endpoint import Clocked, EmittedEndpoints, clocked
from hdnhw.verilog.verilog import module_script, numbered

Key = TypeVar("Key")


class EmittedSystem(EmittedEndpoints):
    """The blocks of a system as text: a module for each node that has some, crossings, and the top level."""

    suffix, unit_suffix = "_system", "_node"
    clock, reset = "aclk", "aresetn"

    @cached_property
    def _blocks(self) -> tuple[Block, ...]:
        blocks: tuple[Block, ...] = self.machine.endpoint_format.endpoints.blocks
        return blocks

    @cached_property
    def _units(self) -> dict[int, Part]:
        """What stands at each node that has blocks: a module for all whose blocks are alike."""
        at = {node: [block for block in self._blocks if block.node == node] for node in range(MOST_NODES)}
        kinds = {node: [self._kind(block) for block in own] for node, own in at.items() if own}
        return _parts(self.modules.unit, kinds, lambda node, _: partial(NodeBlocks, self.machine, at[node]))

    def _kind(self, block: Block) -> tuple[Any, ...]:
        """Return what a block has that counts in the module of its node."""
        sources = self.machine.endpoint_format.endpoints.sources
        return block.kind, block.data_width, block.id_width, block.to, block in sources and sources.index(block)

    @cached_property
    def _isolations(self) -> dict[str, Part]:
        """What stands before each block with a reset of its own: a module for all with channels alike."""
        memory = self.machine.endpoint_format
        kinds = {one.name: (block_channels(memory, one), one.is_manager) for one in self._blocks if one.reset}
        return _parts(f"{self.top}_isolation", kinds, lambda _, kind: partial(Isolation, kind[0], is_manager=kind[1]))

    @cached_property
    def _crossings(self) -> dict[str, Part]:
        """What stands before each block with a clock of its own: a module for all with streams alike."""
        memory = self.machine.endpoint_format
        streams = {block.name: crossing_streams(memory, block) for block in self._blocks if block.clock}
        return _parts(self.top + CROSSING_SUFFIX, streams, lambda _, kind: partial(Crossing, kind))

    @property
    def units(self) -> list[str]:
        """See :attr:`EmittedEndpoints.units`."""
        return [*dict.fromkeys(part.module for part in self._units.values())]

    @property
    def guards(self) -> dict[str, str]:
        """See :attr:`EmittedEndpoints.guards`."""
        modules = {self._isolations[block.name].module: block for block in self._blocks if block.reset}
        return {module: "far" if block.is_manager else "near" for module, block in modules.items()}

    @property
    def blocks(self) -> list[str]:
        """See :attr:`EmittedEndpoints.blocks`."""
        beside = [*self._crossings.values(), *self._isolations.values()]
        return [*self.units, *dict.fromkeys(part.module for part in beside)]

    def unit(self) -> NodeBlocks:
        """Return what stands at the first node that has blocks."""
        return self._units[min(self._units)].make()  # type: ignore[no-any-return]

    def around(self, parts: EndpointParts) -> SystemFabric:
        """Return the fabric with its blocks."""
        return SystemFabric(self.machine, parts, self._units, self._crossings, self._isolations)

    def component(self) -> Any:
        """See :meth:`EmittedEndpoints.component`."""
        raise SpecError("a system of blocks is written as Verilog alone")

    @cached_property
    def text(self) -> str:
        """See :attr:`EmittedEndpoints.text`."""
        crossings = {part.module: part.make.args[0] for part in self._crossings.values()}  # type: ignore[attr-defined]
        made = {part.module: part for part in (*self._units.values(), *self._isolations.values())}
        parts = {name: part.make() for name, part in made.items()}
        parts |= {name: Crossing(streams, alone=True) for name, streams in crossings.items()}
        scripts = [module_script(one, name, flatten=True, initial=self._initial) for name, one in parts.items()]
        return self.joined(scripts)

    def clocked(self, port: str) -> Clocked:
        """See :meth:`EmittedEndpoints.clocked`; that of a block may be its own, and its reset, too."""
        block = next(block for block in self._blocks if port == f"{block.name}_")
        end = f"_{block.clock}" if block.clock else ""
        own = clocked(self.clock + end, self.reset + end)
        return Clocked(own.clk, f"{own.rst} || !{block.name}_aresetn") if block.reset else own

    @property
    def _constraints(self) -> dict[str, str]:
        """Constraints of what crosses between clocks: file name -> text."""
        return crossing_constraints(self.top, "crossing") if self._crossings else {}

    @property
    def beside(self) -> dict[str, str]:
        """See :attr:`EmittedEndpoints.beside`."""
        name, width = self.modules.fabric, self.machine.endpoint_format.address_bits
        found = {**self._constraints, self._wires: self._wires_text()}
        if any(block.ranges for block in self._blocks):
            found[f"{name}.rdl"] = system_rdl(name, self._blocks)
            found[f"{name}.dtsi"] = device_tree(name, self._blocks, width)
        return found

    @property
    def _wires(self) -> str:
        return f"{self.top}_wires.svh"

    def _wires_text(self) -> str:
        """Return what joins the ports of the top level to the wires of a module around it."""
        memory = self.machine.endpoint_format
        lines = [
            f"// Wires to {self.top}: include them where `{self.top} fabric (.*);` stands. Clocks and resets are yours."
        ]
        for block in self._blocks:
            for name, (_, bits) in block_members(memory, block).items():
                lines.append(f"logic [{bits - 1}:0] {name};" if bits > 1 else f"logic {name};")
        for field, alike in (("TID", memory.endpoints.sources), ("TDEST", memory.endpoints.sinks)):
            lines += [f"localparam integer {one.name.upper()}_{field} = {at};" for at, one in enumerate(alike)]
        return "\n".join([*lines, ""])

    def entry(self) -> dict[str, Any]:
        """See :meth:`EmittedEndpoints.entry`."""
        memory = self.machine.endpoint_format
        held = f"synchronous, active low; of all clocks at a time, for {RESET_CYCLES} cycles of the slowest"
        clocks = ["", *dict.fromkeys(f"_{block.clock}" for block in self._blocks if block.clock)]
        ports: dict[str, Any] = {}
        for clock in clocks:
            ports[f"aclk{clock}"] = {"direction": "input", "width": 1}
            ports[f"aresetn{clock}"] = {"direction": "input", "width": 1, "meaning": held}
        for block in self._blocks:
            for name, (is_input, bits) in block_members(memory, block).items():
                ports[name] = {"direction": "input" if is_input else "output", "width": bits}
            if block.reset:
                ports[f"{block.name}_aresetn"]["meaning"] = (
                    "of the block alone, by its clock; active low, a cycle or more"
                )
        return {
            "streams": {
                "sources": {block.name: number for number, block in enumerate(memory.endpoints.sources)},
                "sinks": {block.name: number for number, block in enumerate(memory.endpoints.sinks)},
            },
            "node_modules": {str(node): part.module for node, part in self._units.items()},
            "constraints": [*self._constraints],
            "wires": self._wires,
            "ports": ports,
            "packet": self.packet(),
        }


def _parts(stem: str, kinds: Mapping[Key, Any], make: Callable[[Key, Any], Callable[[], Any]]) -> dict[Key, Part]:
    """Return what stands at each of some places: a module, numbered behind a stem, for all places of a kind."""
    found: list[Any] = []  # kinds need no hash
    for kind in kinds.values():
        if kind not in found:
            found.append(kind)
    names = numbered(stem, len(found))
    return {key: Part(make(key, kind), names[found.index(kind)]) for key, kind in kinds.items()}
