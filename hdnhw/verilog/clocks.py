"""A clock for each terminal as text: the crossings, the top level with them, the manifest and the constraints."""

from functools import cached_property
from typing import Any

from hdnhw.rtl.clocks.clocked_fabric import ClockedFabric
from hdnhw.rtl.clocks.crossing import Crossing
from hdnhw.rtl.clocks.queue import DEPTH
from hdnhw.verilog.endpoint import Clocked, clocked
from hdnhw.verilog.verilog import digest_of, module_script, module_texts

CLOCKS_SUFFIX, CROSSING_SUFFIX = "_clocks", "_crossing"
"""What the top level is called behind the fabric's, and the crossing behind that."""

RESET_CYCLES = 16
"""Cycles of the slower clock for which a reset is held, and is away, at least."""

_CROSSINGS = {
    "xdc": """\
# The crossings of {top}, for Vivado: read it after the clocks are defined, and put in the shortest period, in ns.
# What crosses in Gray code must be skewed by less than that; data have stood still for two cycles when they are read.
# No set_clock_groups and no set_false_path between these clocks: they would come before the limits below.
set hdnhw_period 5.000
set_max_delay -datapath_only -from [get_cells -hierarchical -filter {{{sources}}}] \\
  -to [get_cells -hierarchical -filter {{NAME =~ *{cells}_*_near_reg*}}] $hdnhw_period
set_max_delay -datapath_only -from [get_cells -hierarchical -filter {{NAME =~ *{cells}_*words_reg*}}] \\
  -to [get_cells -hierarchical -filter {{NAME =~ *{cells}_*payload_reg*}}] $hdnhw_period
""",
    "sdc": """\
# The crossings of {top}, for Quartus: read it after the clocks are defined, which are asynchronous to each other
# (set_clock_groups -asynchronous, one group each). What crosses in Gray code must be skewed by less than a period.
set_max_skew -from [get_registers {{*{cells}_*_code*}}] -to [get_registers {{*{cells}_*_near*}}] \\
  -get_skew_value_from_clock_period min_clock_period -skew_value_multiplier 0.8
set_net_delay -max -from [get_registers {{*{cells}_*_code*}}] -to [get_registers {{*{cells}_*_near*}}] \\
  -get_value_from_clock_period min_clock_period -value_multiplier 0.8
set_net_delay -max -from [get_registers {{*{cells}_*words*}}] -to [get_registers {{*{cells}_*payload*}}] \\
  -get_value_from_clock_period min_clock_period -value_multiplier 0.8
""",
}
"""Suffix -> constraints of what crosses from clock to clock, in cells whose names are `cells` and a number."""


def crossing_constraints(top: str, cells: str) -> dict[str, str]:
    """Return the constraints of the crossings in a module: file name -> text.

    Parameters
    ----------
    top : str
        Name of the module.
    cells : str
        What the names of its instances that have crossings begin with, before a number.
    """
    sources = " || ".join(f"NAME =~ *{cells}_*_{name}_reg*" for name in ("code", "asks", "stop"))
    return {
        f"{top}.{suffix}": text.format(top=top, cells=cells, sources=sources) for suffix, text in _CROSSINGS.items()
    }


class EmittedClocks:
    """The top level whose terminals have clocks of their own.

    Parameters
    ----------
    inside : Component
        The top level of the fabric, with endpoints or without.
    fabric : str
        Name of its module.
    clock, reset : str
        Names of its clock and reset.
    ports : dict
        Its ports, as the manifest has them.
    nodes : int
    initial : bool
        Whether registers and memories have initial values.
    """

    def __init__(
        self, inside: Any, *, fabric: str, clock: str, reset: str, ports: dict[str, Any], nodes: int, initial: bool
    ) -> None:
        self.top, self._initial = fabric + CLOCKS_SUFFIX, initial
        self.crossing = self.top + CROSSING_SUFFIX
        self._clock, self._reset, self._ports = clock, reset, ports
        inside._MustUse__silence = True  # its ports are read, and no more: it is emitted elsewhere
        self._around = ClockedFabric(
            inside, fabric=fabric, crossing=self.crossing, clock=clock, reset=reset, nodes=nodes
        )

    @property
    def file(self) -> str:
        """Name of the Verilog file."""
        return f"{self.top}.sv"

    @cached_property
    def text(self) -> str:
        """The crossing and the top level in Verilog."""
        streams = {each.label: (each.leads_in, each.width) for each in self._around.streams}
        crossing = module_script(Crossing(streams, alone=True), self.crossing, flatten=True, initial=self._initial)
        return "\n".join(module_texts([crossing, module_script(self._around, self.top, flatten=False)]))

    def clocked(self, port: str) -> Clocked:
        """See :meth:`hdnhw.verilog.endpoint.EmittedEndpoints.clocked`."""
        node = next(part for part in port.split("_") if part.isdecimal())
        return clocked(f"{self._clock}_{node}", f"{self._reset}_{node}")

    @property
    def constraints(self) -> dict[str, str]:
        """Constraints of what crosses: file name -> text."""
        return crossing_constraints(self.top, "crossing")

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest's entry ``clocks``."""
        held = f"hold for {RESET_CYCLES} cycles or more of this clock, and of any that is slower"
        sense = "active low" if self._reset.endswith("n") else "active high"
        ports = {
            self._clock: {"direction": "input", "width": 1, "meaning": "the fabric's"},
            self._reset: {"direction": "input", "width": 1, "meaning": f"the fabric's; synchronous, {sense}; {held}"},
            f"{self._clock}_N": {"direction": "input", "width": 1, "meaning": "of all streams of node N"},
            f"{self._reset}_N": {
                "direction": "input",
                "width": 1,
                "meaning": f"node N's; synchronous, {sense}; {held}",
            },
        }
        return {
            "file": self.file,
            "digest": digest_of(self.text.encode()),
            "crossing_module": self.crossing,
            "depth": DEPTH,
            "streams": [each.label for each in self._around.streams],
            "constraints": list(self.constraints),
            "ports": ports | {name: port for name, port in self._ports.items() if name not in ports},
        }
