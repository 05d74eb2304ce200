"""What the kinds of endpoints have in common when they are emitted: the modules around a fabric, and their manifest."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

from hdnhw.machine.machine import Machine
from hdnhw.rtl.fabric import Fabric
from hdnhw.rtl.part import Part, unused
from hdnhw.rtl.terminal import EndpointModules, EndpointParts
from hdnhw.verilog.verilog import digest_of, module_script, module_texts

MONITOR = "monitor_"
"""What the names of the ports of a monitor begin with."""


class Clocked(NamedTuple):
    """A clock and a condition in which a reset by it is on, in Verilog, by names of a module."""

    clk: str
    rst: str


def clocked(clock: str, reset: str) -> Clocked:
    """Return a clock and a reset by their names; one whose name has ``aresetn`` is active low."""
    return Clocked(clock, f"!{reset}" if "resetn" in reset else reset)


class EmittedEndpoints(ABC):
    """The endpoints of a fabric as text: what stands at a terminal, what they share, and the top level.

    Parameters
    ----------
    machine : Machine
        With endpoints of the kind.
    fabric : str
        Name of the bare fabric's module, or that of a chip.
    ports : dict
        Ports of the bare fabric, as the manifest has them.
    initial : bool
        Whether registers and memories have initial values.
    chip : EmittedChips, optional
        What they are around in place of the fabric.

    Attributes
    ----------
    suffix : str
        Appended to the fabric's name for the top level.
    unit_suffix, shared_suffix : str
        Appended to that for the modules below; `shared_suffix` is empty if terminals share nothing.
    clock, reset : str
        Names of the top level's clock and reset; a reset whose name ends in ``n`` is active low.
    has_streams : bool
        Whether its users meet it at streams alone, so that each may have a clock of its own.
    on_chips : bool
        Whether it may stand around a chip of several.
    """

    suffix: ClassVar[str]
    unit_suffix: ClassVar[str]
    shared_suffix: ClassVar[str] = ""
    clock, reset = "clk", "rst"
    has_streams: ClassVar[bool] = False
    on_chips: ClassVar[bool] = False

    def __init__(
        self,
        machine: Machine,
        fabric: str,
        ports: dict[str, Any],
        *,
        initial: bool = True,
        chip: Any = None,
    ) -> None:
        self.machine, self.fabric_ports, self.top = machine, ports, fabric + self.suffix
        self._initial, self._chip = initial, chip
        shared = self.top + self.shared_suffix if self.shared_suffix else ""
        self.modules = EndpointModules(fabric, self.top + self.unit_suffix, shared)

    @classmethod
    def of(cls, machine: Machine) -> type["EmittedEndpoints"]:
        """Return the class that is meant for a machine."""
        del machine
        return cls

    @property
    def longest_frame(self) -> int:
        """Transfers of the longest frame that comes out by AXI4-Stream, 0 if frames are mixed and have no limit."""
        return 0

    def clocked(self, port: str) -> Clocked:
        """Return clock and reset of a stream, or of a port of AXI, of the top level, by what its names begin with."""
        del port
        return clocked(self.clock, self.reset)

    @property
    def beside(self) -> dict[str, str]:
        """Files beside the Verilog, of constraints and others: name -> text."""
        return {}

    @property
    def file(self) -> str:
        """Name of the Verilog file."""
        return f"{self.top}.sv"

    @property
    def units(self) -> list[str]:
        """Names of the modules at terminals."""
        return [self.modules.unit]

    @property
    def guards(self) -> Mapping[str, str]:
        """Names of modules before those -> what the names of those of their streams begin with that lead to them."""
        return {}

    @property
    def blocks(self) -> list[str]:
        """Names of the modules below the top level, the one at a terminal first."""
        return [name for name in (self.modules.unit, self.modules.shared) if name]

    @abstractmethod
    def unit(self) -> Any:
        """Return a new component as it stands at each terminal."""

    def shared(self) -> Any:
        """Return the component that all terminals share."""
        raise NotImplementedError

    @abstractmethod
    def around(self, parts: EndpointParts) -> Any:
        """Return the component that joins the fabric and its endpoints."""

    def component(self) -> Any:
        """Return that component with the logic of all."""
        return self.around(self.parts(emitted=False))

    def parts(self, *, emitted: bool = True) -> EndpointParts:
        """Return what it is joined from: the modules that are emitted, or components with their logic."""
        fabric, unit, shared = (
            (self.modules.fabric, self.modules.unit, self.modules.shared) if emitted else ("", "", "")
        )
        return EndpointParts(
            Part(partial(Fabric, self.machine) if self._chip is None else self._chip.component, fabric, joint="_"),
            Part(self.unit, unit),
            Part(self.shared, shared),
            self._chip and unused(self._chip.component()),
        )

    @abstractmethod
    def entry(self) -> dict[str, Any]:
        """Return what the manifest says beyond the names, the file and its digest."""

    def packet(self) -> dict[str, Any]:
        """Return what the manifest says of packets with a header and data flits behind it."""
        header = self.machine.endpoint_format
        return {
            "header": header.header_positions,
            "header_flits": header.header_flits,
            "data_flits": header.payload_flits,
        }

    @cached_property
    def text(self) -> str:
        """The modules in Verilog, the top level last."""
        scripts = [module_script(self.unit(), self.modules.unit, flatten=True, initial=self._initial)]
        if self.modules.shared:
            scripts.append(module_script(self.shared(), self.modules.shared, flatten=True, initial=self._initial))
        return self.joined(scripts)

    def joined(self, scripts: list[str]) -> str:
        """Return the modules that scripts make, and the top level."""
        return "\n".join(module_texts([*scripts, module_script(self.around(self.parts()), self.top, flatten=False)]))

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest's entry ``endpoints``."""
        endpoints, entry = self.machine.spec.endpoints, self.entry()
        assert endpoints is not None
        entry["ports"] |= {name: port for name, port in self.fabric_ports.items() if name.startswith(MONITOR)}
        if self._chip is not None:
            entry["ports"] = self._chip.placed(entry["ports"])
            entry["ports"][self.reset] |= {"meaning": "synchronous, active low; of all chips at a time, for 16 cycles"}
        return {
            "type": endpoints.kind,
            "file": self.file,
            "digest": digest_of(self.text.encode()),
            "options": endpoints.said,
            **entry,
        }
