"""What is changed in the text of a component between Amaranth and Yosys: names, and initial values."""

import re
from collections.abc import Iterator, Mapping
from itertools import count

from hdnhw.rtl.bits import UNINITIALIZED

_INIT = re.compile(r"^ *attribute \\init .*\n", re.MULTILINE)
_NEEDLESS_INIT = re.compile(rf"{_INIT.pattern}(?= *attribute \\{re.escape(UNINITIALIZED)} )", re.MULTILINE)
_MEMORY_INIT = re.compile(
    r"^ *cell \$meminit_v2 .*?^ *connect \\DATA \d+'([01]*)$.*?^ *end\n", re.MULTILINE | re.DOTALL
)

_MODULE = re.compile(r"^module (\S+)\n(.*?)^end$", re.MULTILINE | re.DOTALL)
_CELL = re.compile(r"^  cell (\S+) (\S+)\n(.*?)^  end$", re.MULTILINE | re.DOTALL)
_WIRE = re.compile(r"^  wire .*?(\S+)$", re.MULTILINE)
_PIN = re.compile(r"^    connect (\S+) ([\\$]\S+)(?: \[[\d:]+\])?$", re.MULTILINE)
_MEMORY = re.compile(r'^    parameter \\MEMID "\\\\(.*)"$', re.MULTILINE)
_ALIAS = re.compile(r"^connect (\S+) ([\\$]\S+)(?: \[[\d:]+\])?$", re.MULTILINE)
_UNNAMED = re.compile(r"^connect (\\\$\S+) .*\n", re.MULTILINE)
_TOKEN = re.compile(r"(?<=\s)[\\$][^\s]+")
_WORDS = re.compile(r"^ *(attribute|parameter) ")

_OPERATORS = {"reduce_or": "any", "reduce_and": "all", "reduce_xor": "parity", "add": "sum", "sub": "difference"}
"""What the results of cells are called, if not as the cells are."""


def without_initial_values(text: str) -> str:
    """Return the RTLIL of a component whose registers and memories begin with anything.

    Raises
    ------
    ValueError
        If a memory begins with more than zeros: the words of a table would be lost.
    """
    if any("1" in bits for bits in _MEMORY_INIT.findall(text)):
        raise ValueError("a memory must begin with zeros where it has no initial values; a table is logic")
    return _INIT.sub("", _MEMORY_INIT.sub("", text))


def without_needless_initial_values(text: str) -> str:
    """Return the RTLIL of a component without initial values of the registers that are marked as not needing one."""
    return _NEEDLESS_INIT.sub("", text)


def with_readable_names(text: str, ports: Mapping[str, str]) -> str:
    """Return the RTLIL of a component in which every signal has a name without ``$``, which says what it is.

    What a register takes next is called as the register is, with ``.next`` behind it; what a process decides for a
    signal, with ``.chosen``; the result of a cell as the cell, with a number; and what goes to a module inside as that
    module and its port. Signals without a name of their own that nothing reads are left out.

    Parameters
    ----------
    text : str
    ports : mapping of str to str
        New names of ports of the top level, the last module but for those inside it.
    """
    bodies = {name: _read_alone(body) for name, body in _MODULE.findall(text)}
    names = {module: _names(body, {} if "." in module else ports) for module, body in bodies.items()}
    return _MODULE.sub(
        lambda found: f"module {found[1]}\n{_renamed(bodies[found[1]], names[found[1]], names)}end", text
    )


def _names(body: str, ports: Mapping[str, str]) -> dict[str, str]:
    """Return the new names of the signals of a module that get one."""
    wires = _WIRE.findall(body)
    names = {wire: renamed for wire in wires if (renamed := _port_name(wire, ports)) != wire}
    unreadable = [wire for wire in wires if "$" in wire]
    taken = {names.get(wire, wire) for wire in wires} - set(unreadable)
    after, hints = _names_by_use(body)

    def name(wire: str) -> str:
        if wire not in names and "$" in wire:
            owner, suffix = after.get(wire, ("", ""))
            plain = f"\\net_{wire[1:]}" if wire.startswith("$") else _plain(wire)
            hint = name(owner) + suffix if owner else hints.get(wire, plain)
            names[wire] = next(one for one in _numbered(hint) if one not in taken)
            taken.add(names[wire])
        return names.get(wire, wire)

    for wire in unreadable:
        name(wire)
    return names


def _port_name(wire: str, ports: Mapping[str, str]) -> str:
    """Return the new name of a port, or of a field of its."""
    port, dot, member = wire[1:].partition(".")
    return f"\\{ports[port]}{dot}{member}" if port in ports else wire


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(2))


def _names_by_use(body: str) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Return what signals are called after: another signal, with a suffix, or what they come from."""
    after, hints = dict[str, tuple[str, str]](), dict[str, str]()
    for kind, name, text in _CELL.findall(body):
        pins = dict(_PIN.findall(text))
        if kind in ("$dff", "$adff"):
            after[pins.get("\\D", "")] = (pins["\\Q"], ".next")
        elif kind.startswith("$mem"):
            direction = "write" if kind == "$memwr_v2" else "read"
            memory = _MEMORY.findall(text)[0]
            hints |= {wire: f"\\{memory}_{direction}_{pin[1:].lower()}" for pin, wire in pins.items()}
        elif kind.startswith("$"):
            operator = kind[1:]
            hints |= {y: f"\\{_OPERATORS.get(operator, operator)}_{y[1:]}" for y in [pins["\\Y"]] if y.startswith("$")}
        else:
            hints |= {wire: _plain(name + "_" + _plain(pin)[1:]) for pin, wire in pins.items() if wire not in hints}
    for wire, value in _ALIAS.findall(body):
        if value.startswith("$") and value not in hints:
            after.setdefault(value, (wire, ".chosen"))
    return {wire: use for wire, use in after.items() if wire.startswith("$") and wire != use[0]}, hints


def _read_alone(body: str) -> str:
    """Leave out of a module what has no name of its own and is not read."""
    for found in _UNNAMED.finditer(body):
        wire = found[1]
        if len(re.findall(rf"(?<=\s){re.escape(wire)}(?=\s)", body)) == 2:  # where it is declared and driven
            body = body.replace(found[0], "")
            body = re.sub(rf"^(  attribute .*\n)*  wire .*{re.escape(wire)}\n", "", body, flags=re.MULTILINE)
    return body


def _renamed(body: str, names: Mapping[str, str], modules: Mapping[str, Mapping[str, str]]) -> str:
    """Return the body of a module with new names; pins of modules inside are called as these call their ports."""
    lines, pins = [], dict[str, str]()
    for line in body.splitlines(keepends=True):
        if _WORDS.match(line):
            lines.append(line)
        elif line.startswith("  cell "):
            _, kind, name = line.split()
            pins = dict(modules.get(kind, {}))
            lines.append(f"  cell {kind} {_plain(name) if name.startswith(chr(92)) else name}\n")
        elif line.startswith("    connect "):
            _, pin, value = line.split(maxsplit=2)
            lines.append(
                f"    connect {pins.get(pin, pin)} {_TOKEN.sub(lambda one: names.get(one[0], one[0]), ' ' + value)}"
            )
        else:
            lines.append(_TOKEN.sub(lambda one: names.get(one[0], one[0]), line))
    return "".join(lines)


def _plain(name: str) -> str:
    r"""Return a name such as ``\gate$10`` or ``\$like`` as ``\gate_10`` and ``\like``."""
    return "\\" + re.sub(r"\$+", "_", name.lstrip("\\").lstrip("$"))
