"""What stands around a unit while it is measured: registers at its ports, so that every path lies between two."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

UNIT, WRAPPER = "synth_unit", "synth_wrapper"
"""Names of the modules of the unit and of what is around it."""

INSTANCE = "dut.of."
"""Prefix of the names inside the unit."""

CLOCK, RESET = "clk", "rst"

_FAN_IN = 4
"""Bits that a step of the serial wrapper joins: what one lookup table takes."""


@dataclass(frozen=True)
class Port:
    """A port of a Verilog module.

    Attributes
    ----------
    name : str
    width : int
        Bits.
    is_input : bool
    """

    name: str
    width: int
    is_input: bool


def ports_of(text: str, module: str) -> list[Port]:
    """Return the ports of a module in emitted Verilog, in the order of their declarations.

    Raises
    ------
    ValueError
        If there is no such module, or not every port in its header is declared.

    Examples
    --------
    >>> ports_of("module m(a, b);\\n  input [7:0] a;\\n  output b;\\nendmodule", "m")
    [Port(name='a', width=8, is_input=True), Port(name='b', width=1, is_input=False)]
    """
    body = re.search(rf"^module {re.escape(module)}\s*\(([^)]*)\);(.*?)^\s*endmodule", text, re.MULTILINE | re.DOTALL)
    if body is None:
        raise ValueError(f"module must be one of the text, not {module!r}")
    declared = re.findall(r"^\s*(input|output)\s+(?:\[(\d+):0\]\s*)?(\w+);", body[2], re.MULTILINE)
    header = {name.strip() for name in body[1].split(",") if name.strip()}
    # Functions have inputs, too.
    ports = [Port(name, int(high or 0) + 1, way == "input") for way, high, name in declared if name in header]
    if {port.name for port in ports} != header:
        raise ValueError(f"{module}: ports must all be declared as vectors from 0, not as {sorted(header)}")
    return ports


def _declared(port: Port) -> str:
    return f"{'input' if port.is_input else 'output'} [{port.width - 1}:0] {port.name}"


def unit_text(module: str, ports: Sequence[Port], constants: Mapping[str, int]) -> tuple[str, list[Port]]:
    """Make the module that is measured: an instance of `module` with some inputs tied to constants.

    The synthesis keeps it apart from the wrapper, so that its cells can be counted. Its own hierarchy is flattened.

    Returns
    -------
    str
        Verilog of module `UNIT`.
    list of Port
        The ports that are left.
    """
    left = [port for port in ports if port.name not in constants]
    pins = [
        f".{port.name}({port.width}'d{constants[port.name]})"
        if port.name in constants
        else f".{port.name}({port.name})"
        for port in ports
    ]
    head = ", ".join(map(_declared, left))
    text = f"(* keep_hierarchy *)\nmodule {UNIT}({head});\n  {module} of({', '.join(pins)});\nendmodule\n"
    return text, left


SHARED = {rf"(\w+_)?{CLOCK}|aclk(_\w+)?": CLOCK, rf"(\w+_)?{RESET}": RESET, r"aresetn(_\w+)?": f"~{RESET}"}
"""Names of clocks and resets -> what is joined to them."""


def with_one_clock(text: str, module: str, name: str) -> str:
    """Return module `name`: an instance of `module` in which all clocks are one, and all resets."""
    pins, left = [], []
    for port in ports_of(text, module):
        shared = next((pin for pattern, pin in SHARED.items() if re.fullmatch(pattern, port.name)), None)
        pins.append(f".{port.name}({shared or port.name})")
        left += [] if shared else [port]
    ports = [Port(CLOCK, 1, True), Port(RESET, 1, True), *left]
    head = "".join(f"  {_declared(port)};\n" for port in ports)
    names = ", ".join(port.name for port in ports)
    return f"module {name}({names});\n{head}  {module} of({', '.join(pins)});\nendmodule\n"


def _wrapper(ports: str, lines: Sequence[str], pins: Sequence[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    unit = f"  {UNIT} dut(.{CLOCK}({CLOCK}), {', '.join(pins)});"
    return f"module {WRAPPER}(input {CLOCK}, {ports});\n{body}\n{unit}\nendmodule\n"


def parallel_wrapper(ports: Sequence[Port]) -> str:
    """Put a register at every port but the clock; as many pins as the unit has."""
    lines, pins, outside = [], [], []
    for port in ports:
        if port.name == CLOCK:
            continue
        near, bits = f"near_{port.name}", f"[{port.width - 1}:0]"
        outside.append(_declared(port))
        pins.append(f".{port.name}({near})")
        if port.is_input:
            lines += [f"reg {bits} {near};", f"always @(posedge {CLOCK}) {near} <= {port.name};"]
        else:
            lines += [f"wire {bits} {near};", f"reg {bits} far_{port.name};", f"assign {port.name} = far_{port.name};"]
            lines.append(f"always @(posedge {CLOCK}) far_{port.name} <= {near};")
    return _wrapper(", ".join(outside), lines, pins)


def serial_wrapper(ports: Sequence[Port], *, global_buffer: str = "", apart: int = 0) -> str:
    """Feed all inputs but the clock from a shift register; register all outputs and join them by XOR, four a step.

    Three pins, whatever the unit has; every step ends in a register. The reset comes over the instance of a buffer with
    ``{i}`` and ``{o}``, `global_buffer`, if that is not empty. Where ports stand far from each other, `apart`
    registers more are between two of them, in the shift register and behind all steps but the first.
    """
    used = [port for port in ports if port.name != CLOCK]
    seen = [port for port in used if not port.is_input]
    pins, lines, offset = [], [], 0
    for port in used:
        if port.is_input:
            bits = f"feed[{offset + port.width - 1}:{offset}]"
            if port.name == RESET and global_buffer:
                lines += [f"wire global_{RESET};", f"{global_buffer.format(i=bits, o=f'global_{RESET}')};"]
                bits = f"global_{RESET}"
            pins.append(f".{port.name}({bits})")
            offset += port.width + apart
        else:
            pins.append(f".{port.name}(near_{port.name})")
            lines.append(f"wire [{port.width - 1}:0] near_{port.name};")
    lines += [f"reg [{offset - 1}:0] feed;", f"always @(posedge {CLOCK}) feed <= {{feed, serial_i}};"]
    joins, last = _joined([f"near_{port.name}" for port in seen], sum(port.width for port in seen), apart)
    lines += [*joins, f"assign serial_o = {last};"]
    return _wrapper("input serial_i, output serial_o", lines, pins)


def _joined(wires: Sequence[str], width: int, apart: int) -> tuple[list[str], str]:
    """Return the lines that join wires to one bit, a register a step, and the name of that bit."""
    lines: list[str] = []
    step, value = 0, f"{{{', '.join(wires)}}}"
    while True:
        for _ in range(1 + apart * (step > 0)):
            name = f"step_{step}"
            lines += [f"reg [{width - 1}:0] {name};", f"always @(posedge {CLOCK}) {name} <= {value};"]
            step, value = step + 1, name
        if width == 1:
            return lines, name
        groups = [f"^{name}[{min(at + _FAN_IN, width) - 1}:{at}]" for at in range(0, width, _FAN_IN)]
        width, value = len(groups), f"{{{', '.join(groups)}}}"
