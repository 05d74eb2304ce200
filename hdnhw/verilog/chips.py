"""A network on several chips as text: the chip, which is the same for all, and a system of them for simulation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hdnhw.machine.chips import Chips
from hdnhw.machine.machine import Machine
from hdnhw.rtl.bridge.bridge import COUNTS
from hdnhw.rtl.bridge.parallel import ParallelWires
from hdnhw.rtl.chip import Chip, PinnedChip, ahead_of, bridge_of, states_of
from hdnhw.rtl.fabric import FabricModules
from hdnhw.spec.chips import ChipOptions
from hdnhw.spec.options import options_of
from hdnhw.verilog.clocks import crossing_constraints
from hdnhw.verilog.endpoint import EmittedEndpoints
from hdnhw.verilog.verilog import ADVANCE, digest_of, module_script, module_texts, numbered

CHIP_SUFFIX, BRIDGE_SUFFIX, PINS_SUFFIX, WIRES_SUFFIX = "_chip", "_bridge", "_pins", "_wires"
"""What a chip is called behind the fabric's name; behind that a bridge, the chip with pins, and its wires."""

SYSTEM_SUFFIX, WIRE_SUFFIX = "_system", "_wire"
"""What a system is called behind the fabric's name, and a wire behind that."""

_HEAD = """\
// {about}, for simulation: {takes}.
// Of 2^32, errors words have a bit turned over, or a few; while it is cut, nothing comes.
module {name} #(
  parameter integer WIDTH = {width},
  parameter integer DELAY = 4,
  parameter [31:0] SEED = 1
) (
  input wire [31:0] errors,
  input wire cut,
"""

_ERRORS = f"""\
  reg [31:0] first, second;
  integer stage;

{ADVANCE}"""
_ERRORS += """
  wire [31:0] some = second[31:29] == 0 ? {24'd0, second[28:21]} : 32'd1;
  wire [WIDTH+31:0] moved = {{WIDTH{1'b0}}, some} << ({16'd0, second[15:0]} % WIDTH);
  wire [WIDTH-1:0] turned = first < errors ? moved[WIDTH-1:0] : {WIDTH{1'b0}};

  always @(posedge clk_i) begin
    first <= advance(first);
    second <= advance(second ^ first);
  end
"""

_PINS = """\
  input wire clk_i,
  input wire [WIDTH-1:0] pins_i,
  output wire clk_o,
  output reg [WIDTH-1:0] pins_o
);
  reg [WIDTH-1:0] past [0:DELAY-1];
{errors}
  initial begin
    first = SEED;
    second = ~SEED;
    pins_o = 0;
    for (stage = 0; stage < DELAY; stage = stage + 1) past[stage] = 0;
  end

  assign clk_o = clk_i & ~cut;

  always @(posedge clk_i) begin
    past[0] <= pins_i ^ turned;
    for (stage = 1; stage < DELAY; stage = stage + 1) past[stage] <= past[stage-1];
  end
  always @(negedge clk_i) pins_o <= past[DELAY-1];
endmodule
"""

_STREAM = """\
  input wire clk_i,
  input wire clk_o,
  input wire valid_i,
  output wire ready_i,
  input wire [WIDTH-1:0] data_i,
  output reg valid_o,
  output reg [WIDTH-1:0] data_o
);
  localparam integer DEPTH = 64 + 2 * DELAY;

  reg [WIDTH-1:0] words [0:DEPTH-1];
  reg [31:0] written, read;
  reg [31:0] past [0:DELAY-1]; // what was written so many cycles ago
{errors}
  initial begin
    first = SEED;
    second = ~SEED;
    written = 0;
    read = 0;
    valid_o = 0;
    for (stage = 0; stage < DELAY; stage = stage + 1) past[stage] = 0;
  end

  assign ready_i = written - read < DEPTH - 1;

  always @(posedge clk_i) begin
    past[0] <= written;
    for (stage = 1; stage < DELAY; stage = stage + 1) past[stage] <= past[stage-1];
    if (valid_i && ready_i && !cut) begin
      words[written % DEPTH] <= data_i ^ turned;
      written <= written + 1;
    end
  end

  always @(posedge clk_o) begin
    valid_o <= read != past[DELAY-1];
    data_o <= words[read % DEPTH];
    if (read != past[DELAY-1]) read <= read + 1;
  end
endmodule
"""


_IO_SDC = """\
# Clocks and pins of {top} as the top level, for Vivado, Quartus, OpenSTA and others that read all of SDC; read it
# before other constraints. Put in the periods, in ns. The clock of a link rises in the middle of a word. Words may
# change up to a quarter of its period before or after it falls; the rest is for the wires and the other chip.
set hdnhw_period {period:.3f}
set hdnhw_wire_period {period:.3f}
set hdnhw_quarter [expr {{$hdnhw_wire_period / 4}}]
create_clock -name {clock} -period $hdnhw_period [get_ports {{{clock}}}]
create_clock -name wire_clk -period $hdnhw_wire_period [get_ports {{wire_clk}}]
set_false_path -from [get_ports {{chip*}}]
"""

_IO_SDC_LINK = """\

create_clock -name {at}_clk_i -period $hdnhw_wire_period [get_ports {{{at}_clk_i}}]
set_input_delay -clock {at}_clk_i -clock_fall -max $hdnhw_quarter [get_ports {{{at}_data_i* {at}_mark_i}}]
set_input_delay -clock {at}_clk_i -clock_fall -min -$hdnhw_quarter [get_ports {{{at}_data_i* {at}_mark_i}}]
create_generated_clock -name {at}_clk_o -source [get_ports {{wire_clk}}] -divide_by 1 -invert [get_ports {{{at}_clk_o}}]
set_output_delay -clock {at}_clk_o -max $hdnhw_quarter [get_ports {{{at}_data_o* {at}_mark_o}}]
set_output_delay -clock {at}_clk_o -min -$hdnhw_quarter [get_ports {{{at}_data_o* {at}_mark_o}}]
"""

_RESETS = {
    "xdc": "set_false_path -to [get_cells -hierarchical -filter {NAME =~ *wires_*_reset_near_reg*}]\n",
    "sdc": "set_false_path -to [get_registers {*wires_*_reset_near*}]\n",
}
"""Suffix -> constraint of the reset of a chip, which goes to the clocks of the wires."""

_IO_PERIOD = 10.0
"""Nanoseconds, an example."""


@dataclass(frozen=True)
class Outer:
    """The module that users meet of a chip: itself, or with endpoints around it.

    Attributes
    ----------
    top : str
    clock, reset : str
        Names of its clock and reset.
    ports : dict
        Those that it has for each node, and of the fabric as a whole, as the fabric's manifest has them.
    """

    top: str
    clock: str
    reset: str
    ports: Mapping[str, Any]


CHIP_SUFFIXES = (
    CHIP_SUFFIX,
    rf"{CHIP_SUFFIX}{BRIDGE_SUFFIX}(_\d+)?",
    CHIP_SUFFIX + PINS_SUFFIX,
    CHIP_SUFFIX + WIRES_SUFFIX,
    SYSTEM_SUFFIX,
    SYSTEM_SUFFIX + WIRE_SUFFIX,
)
"""What the names of its modules have behind that of the fabric, as patterns."""


class EmittedChips:
    """The chip of a network on several, and a system of them.

    Parameters
    ----------
    machine : Machine
    modules : FabricModules
        Names of its modules.
    chips : Chips
        Its network, cut.
    cut : ChipOptions
        How.
    ports : dict
        The fabric's, as its manifest has them.
    initial : bool
        Whether registers and memories have initial values.

    Attributes
    ----------
    chips, cut
    top, chip, system : str
        Names of the modules of the chip, of the one whose links are streams, and of the system.
    outer : Outer
        What users meet.
    bridges : tuple of str
        The module of the bridge of each link.
    """

    def __init__(
        self,
        machine: Machine,
        modules: FabricModules,
        chips: Chips,
        cut: ChipOptions,
        *,
        ports: dict[str, Any],
        initial: bool,
    ) -> None:
        self.machine, self.cut, self.chips = machine, cut, chips
        self._modules, self._ports, self._initial = modules, ports, initial
        self.chip, self.system = modules.top + CHIP_SUFFIX, modules.top + SYSTEM_SUFFIX
        self.top = self.chip + PINS_SUFFIX if self.has_pins else self.chip
        self.outer = Outer(self.top, "clk", "rst", ports)
        links = self.chips.links
        kinds = [(self._kind(link.ports), link.arrivals, ahead_of(machine, self.chips, link)) for link in links]
        own = list(dict.fromkeys(kinds))
        names = numbered(self.chip + BRIDGE_SUFFIX, len(own))
        self.bridges = tuple(names[own.index(kind)] for kind in kinds)

    @property
    def has_pins(self) -> bool:
        """Whether its links go over pins."""
        return self.cut.link == "parallel"

    def _kind(self, ports: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """Return all of some ports that a bridge depends on."""
        machine, network = self.machine, self.machine.network
        vcs = machine.plan.num_vcs
        return tuple(
            (vcs[port], vcs[back], machine.vc_buffers(port), machine.input_buffers(port))
            for port, back in ((port, network.ports[port].opposite) for port in ports)
        )

    @property
    def summary(self) -> str:
        """The chips in a line."""
        chips = self.chips
        places, links = (
            f"{n} {what}{'s' * (n > 1)}" for n, what in ((chips.num_places, "router"), (len(chips.links), "link"))
        )
        return f"{chips.num_chips} of {places} and {links}"

    @property
    def file(self) -> str:
        """Name of the Verilog file of the chip."""
        return f"{self.chip}.sv"

    @property
    def blocks(self) -> list[str]:
        """Names of the modules of which there may be several instances."""
        pins = [self.chip + WIRES_SUFFIX, self.top] if self.has_pins else []
        return [*dict.fromkeys(self.bridges), self.chip, *pins]

    def _chip(self) -> Chip:
        width = self.cut.link_width
        return Chip(self.machine, self.chips, self._modules, bridges=self.bridges, word_width=width)

    def put_around(self, endpoints: EmittedEndpoints | None) -> None:
        """Take endpoints for what users meet, if there are some."""
        if endpoints is not None:
            self.outer = Outer(endpoints.top, endpoints.clock, endpoints.reset, endpoints.entry()["ports"])

    def component(self) -> Any:
        """Return the chip as it is instantiated."""
        return self.pinned() if self.has_pins else self._chip()

    def pinned(self) -> PinnedChip:
        """Return the chip whose links go over pins."""
        return PinnedChip(self._chip(), self.chip, self.chip + WIRES_SUFFIX)

    @cached_property
    def text(self) -> str:
        """The bridges and the chip in Verilog."""
        links, width = dict(zip(self.bridges, self.chips.links, strict=True)), self.cut.link_width
        parts = {name: bridge_of(self.machine, self.chips, link, word_width=width) for name, link in links.items()}
        if self.has_pins:
            parts[self.chip + WIRES_SUFFIX] = ParallelWires(word_width=width)
        scripts = [module_script(one, name, flatten=True, initial=self._initial) for name, one in parts.items()]
        scripts.append(module_script(self._chip(), self.chip, flatten=False))
        if self.has_pins:
            scripts.append(module_script(self.pinned(), self.top, flatten=False))
        return "\n".join(module_texts(scripts))

    @property
    def constraints(self) -> dict[str, str]:
        """Constraints of a chip with pins: file name -> text."""
        if not self.has_pins:
            return {}
        links = [f"link_{link}" for link in range(len(self.chips.links))]
        outer = self.outer
        sdc = _IO_SDC.format(top=outer.top, clock=outer.clock, period=_IO_PERIOD)
        sdc += "".join(_IO_SDC_LINK.format(at=at) for at in links)
        clocks = [outer.clock, "wire_clk", *(f"{at}_clk_i" for at in links)]
        lpf = [f"# Clocks of {outer.top} as the top level, for nextpnr-ecp5 and Diamond. Put in frequencies, and pins."]
        lpf += [f'FREQUENCY PORT "{clock}" {1000 / _IO_PERIOD:.1f} MHZ;' for clock in clocks]
        pins = {f"{outer.top}_io.sdc": sdc, f"{outer.top}_io.lpf": "\n".join([*lpf, ""])}
        crossings = crossing_constraints(self.top, "wires").items()
        return {name: text + _RESETS[name.rpartition(".")[2]] for name, text in crossings} | pins

    @property
    def system_file(self) -> str:
        """Name of the file of the system, which is for simulation alone."""
        return f"{self.system}.sv"

    @cached_property
    def _system_ports(self) -> dict[str, Any]:
        """Describe the ports of the system, as manifests do."""
        links = len(self.chips.links)
        wire = {"wire_clk_C": {"direction": "input", "width": 1, "meaning": "clock by which words leave chip C"}}
        outer = self.outer
        own: dict[str, Any] = {
            f"{outer.clock}_C": _port("input", 1, meaning="clock of chip C"),
            f"{outer.reset}_C": outer.ports[outer.reset] | {"meaning": "reset of chip C, as that of a chip"},
            **(wire if self.has_pins else {}),
            "errors": {"direction": "input", "width": 32, "meaning": "of 2^32 words on a wire, how many are damaged"},
            "cut": {"direction": "input", "width": len(self.cables), "meaning": "which of `cables` are cut"},
        }
        for name, width in states_of(self.machine).items():
            own[f"link_{name}_C"] = _port("output", width * links, meaning=f"of each link of chip C: {_STATES[name]}")
        return own | {name: port for name, port in outer.ports.items() if name not in (outer.clock, outer.reset)}

    @cached_property
    def cables(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Both ends of each cable: a chip, and one of its links."""
        ends = [((chip, link), peer) for chip, peers in enumerate(self._peers) for link, peer in enumerate(peers)]
        return [(one, other) for one, other in ends if one < other]

    @cached_property
    def _peers(self) -> list[list[tuple[int, int]]]:
        """The chip at the other end of each link of each chip, and which of its links that is."""
        return [[(there, back) for there, back in peers] for peers in self.chips.peers.tolist()]

    @cached_property
    def system_text(self) -> str:
        """The chips joined by wires, in SystemVerilog for simulators."""
        chips, wire = self.chips, self.system + WIRE_SUFFIX
        about = f"{self.machine.network.spec} on {chips.num_chips} chips, for simulation"
        lines = [f"// {about}.", f"module {self.system} #(", "  parameter integer DELAY = 4,"]
        lines += ["  parameter [31:0] SEED = 1", ") ("]
        lines += [",\n".join(f"  {direction} wire {bits}{name}" for name, direction, bits in self._listed()), ");"]
        cable_of = {end: number for number, ends in enumerate(self.cables) for end in ends}
        wide = [name for name in _ENDS[self.has_pins] if name.startswith(("pins", "data"))]
        for name in (f"wire_{chip}_{link}" for chip, peers in enumerate(self._peers) for link in range(len(peers))):
            lines += [f"  wire {', '.join(f'{name}_{pin}' for pin in _ENDS[self.has_pins] if pin not in wide)};"]
            lines += [f"  wire [{self.cut.link_width}:0] {', '.join(f'{name}_{pin}' for pin in wide)};"]
        for chip, peers in enumerate(self._peers):
            lines += self._chip_lines(chip)
            for link, (there, _) in enumerate(peers):
                name, seed = f"wire_{chip}_{link}", f"SEED * 32'd2654435761 + 32'd{chip * len(peers) + link + 1}"
                pins = {"errors": "errors", "cut": f"cut[{cable_of[chip, link]}]"}
                pins |= {pin: f"{name}_{pin}" for pin in _ENDS[self.has_pins]}
                clock = self.outer.clock
                pins |= {} if self.has_pins else {"clk_i": f"{clock}_{chip}", "clk_o": f"{clock}_{there}"}
                joined = ",\n".join(f"    .{pin}({value})" for pin, value in pins.items())
                lines += [f"  {wire} #(.DELAY(DELAY), .SEED({seed})) {name} (", joined, "  );"]
        return "\n".join([self.wire_text(wire), *lines, "endmodule", ""])

    def wire_text(self, name: str) -> str:
        """Return the module of a wire between two chips, in SystemVerilog for simulators."""
        width = self.cut.link_width + 1
        kind, takes = ("pins", "DELAY cycles") if self.has_pins else ("stream", "DELAY cycles, and one of clk_o")
        head = _HEAD.format(about=f"A wire between two chips, a {kind}", takes=takes, name=name, width=width)
        return head + (_PINS if self.has_pins else _STREAM).replace("{errors}", _ERRORS)

    def _chip_lines(self, chip: int) -> list[str]:
        """Return the text of one chip of the system."""
        chips, width, clocked = self.chips, self.cut.link_width, (self.outer.clock, self.outer.reset)
        pins = {name: f"{name}_{chip}" for name in (*clocked, *["wire_clk"] * self.has_pins)}
        pins["chip"] = f"{len(chips.chip_bits)}'d{chips.chip_number(chip)}"
        own = [name for name in self.outer.ports if name not in clocked]
        for place, node in enumerate(chips.nodes[chip].tolist()):
            pins |= {name.replace("_N", f"_{place}"): name.replace("_N", f"_{node}") for name in own}
        for link, (there, back) in enumerate(self._peers[chip]):
            wire, came, at = f"wire_{chip}_{link}", f"wire_{there}_{back}", f"link_{link}"
            if self.has_pins:
                pins |= {f"{at}_clk_o": f"{wire}_clk_i", f"{at}_clk_i": f"{came}_clk_o"}
                for pin, bits in (("data", f"[{width - 1}:0]"), ("mark", f"[{width}]")):
                    pins |= {f"{at}_{pin}_o": f"{wire}_pins_i{bits}", f"{at}_{pin}_i": f"{came}_pins_o{bits}"}
            else:
                pins |= {f"{at}_tx_valid": f"{wire}_valid_i", f"{at}_tx_ready": f"{wire}_ready_i"}
                pins |= {f"{at}_tx_payload": f"{wire}_data_i", f"{at}_rx_payload": f"{came}_data_o"}
                pins |= {f"{at}_rx_valid": f"{came}_valid_o", f"{at}_rx_ready": ""}
            states = states_of(self.machine).items()
            pins |= {f"{at}_{name}": f"link_{name}_{chip}[{bits * link} +: {bits}]" for name, bits in states}
        joined = ",\n".join(f"    .{pin}({value})" for pin, value in pins.items())
        return [f"  {self.outer.top} chip_{chip} (", joined, "  );"]

    def _listed(self) -> list[tuple[str, str, str]]:
        """Return the ports of the system: name, direction, and bits as they are declared."""
        found, numbers = [], {"N": self.machine.network.num_nodes, "C": self.chips.num_chips}
        for name, port in self._system_ports.items():
            stem, mark, rest = re.findall(r"^([a-z_]+?)(?:_([NC])(.*))?$", name)[0]
            vector = port["width"] > 1 or stem in ("link_up", "link_dead", "cut")
            bits = f"[{port['width'] - 1}:0] " if vector else ""
            names = [f"{stem}_{one}{rest}" for one in range(numbers[mark])] if mark else [name]
            found += [(each, port["direction"], bits) for each in names]
        return found

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest's entry ``chips``."""
        chips, names = self.chips, [port.name for port in self.machine.network.ports]
        system = {"file": self.system_file, "module": self.system, "ports": self._system_ports, "cables": self.cables}
        return {
            **{name: getattr(self.cut, name) for name in options_of(ChipOptions)},
            "file": self.file,
            "digest": digest_of(self.text.encode()),
            "module": self.top,
            "constraints": [name for name in self.constraints if "_io." not in name],
            "bridge_modules": list(dict.fromkeys(self.bridges)),
            "numbers": [chips.chip_number(chip) for chip in range(chips.num_chips)],
            "nodes": chips.nodes.tolist(),
            "links": [[{"place": place, "port": names[port]} for place, port in link.ends] for link in chips.links],
            "peers": self._peers,
            "ports": self.placed(self._ports),
            "system": system,
        }

    def placed(self, ports: Mapping[str, Any]) -> dict[str, Any]:
        """Return ports of a fabric as a chip has them: by places in place of nodes, and with its own."""
        return {name.replace("_N", "_P"): port for name, port in ports.items()} | self._of_links

    @cached_property
    def _of_links(self) -> dict[str, Any]:
        """The ports of a chip that a fabric has not."""
        bits, width = len(self.chips.chip_bits), self.cut.link_width
        own = {"chip": _port("input", bits, meaning="constant: which chip it is, as `numbers` says")}
        if self.has_pins:
            own["wire_clk"] = _port("input", 1, meaning="clock by which words leave")
            for end, way in (("o", "output"), ("i", "input")):
                meaning = "rises in the middle of a word" if way == "output" else "rises when a word is taken"
                own[f"link_K_clk_{end}"] = _port(way, 1, meaning=meaning)
                own |= {f"link_K_data_{end}": _port(way, width), f"link_K_mark_{end}": _port(way, 1)}
        else:
            fields = {"data": {"offset": 0, "width": width}, "last": {"offset": width, "width": 1}}
            for name, sends, takes in (("tx", "output", "input"), ("rx", "input", "output")):
                own |= {f"link_K_{name}_valid": _port(sends, 1), f"link_K_{name}_ready": _port(takes, 1)}
                own[f"link_K_{name}_payload"] = _port(sends, width + 1, fields=fields)
        for name, bits in states_of(self.machine).items():
            own[f"link_K_{name}"] = _port("output", bits, meaning=_STATES[name])
        return own


_ENDS = (("valid_i", "ready_i", "data_i", "valid_o", "data_o"), ("clk_i", "pins_i", "clk_o", "pins_o"))
"""Ports of a wire of a system: of streams, and of pins."""


_STATES = {
    "up": "whether both chips hear each other",
    "dead": "whether it has been down for long, so that its channels are dead",
    **{name: f"{meaning}; stays at its maximum" for name, meaning in COUNTS.items()},
}
"""What a chip tells of a link, and its meaning."""


def _port(direction: str, width: int, **about: Any) -> dict[str, Any]:
    return {"direction": direction, "width": width, **about}
