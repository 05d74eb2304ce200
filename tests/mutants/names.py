"""25 faults in names of each of three machines, or COUNT, against `hdnhw prove`: none may be proved; half an hour.

These are what :mod:`tests.mutants.schemata` leaves alone: which signal a name stands for and which of its bits, clocks,
what drives a net, what pins of instances are joined to, and words that tools read differently.
"""

import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdnhw.cli.options import Parser
from hdnhw.fpga.tools import ToolError
from hdnhw.proofs.delivery import prove_delivery, prove_waiting
from hdnhw.proofs.finding import Finding
from hdnhw.proofs.netlist import read_modules
from hdnhw.proofs.prove import prove_routing
from hdnhw.proofs.registers import prove_registers
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric
from tests.mutants.check import parse_drawn
from tests.mutants.proofs import answer_of_all, with_text
from tests.mutants.schemata import Mutant
from tests.mutants.sequential import never_different
from tests.specs import fabric_spec

MACHINES = (
    fabric_spec("hdn(cube(1), [[]])"),
    fabric_spec("torus(3)", packet_length=4, crc=True, dead_pins=True),
    fabric_spec("cube(1)", queueing="voq"),
)
"""Two virtual channels; check bits and dead pins; virtual output queues."""

_NAME = r"(?:\\\S+ |[A-Za-z_]\w*)"
_MODULE = re.compile(r"^module (\w+)\(.*?^endmodule\n", re.MULTILINE | re.DOTALL)
_DECLARED = re.compile(rf"^  (?:input|output|wire|reg|output reg) (?:\[(\d+):0\] )?({_NAME})(?: = .*)?;$", re.MULTILINE)
_ALIAS = re.compile(rf"^  assign ({_NAME}) *= ({_NAME})(?:\[(\d+)(?::(\d+))?\])? *;$", re.MULTILINE)
_EDGE = re.compile(rf"@\(posedge ({_NAME}) *\)")
_PIN = re.compile(r"^    \.(\w+)\(([^\n]*)\)(,?)$", re.MULTILINE)
_ASSIGNED = re.compile(rf"^  assign ({_NAME}) *= .*;$", re.MULTILINE)

SECONDS = 100.0
"""CPU seconds of a search."""

TRIES = 50
"""Places that are tried for a kind."""

ROUNDS = 8
"""How far back what a cell reads is compared."""

Draw = random.Random


@dataclass(frozen=True)
class NameFault:
    """A text with a fault.

    Attributes
    ----------
    kind : str
        One of :data:`KINDS`.
    place : str
        What was there, and what stands there now.
    text : str
    """

    kind: str
    place: str
    text: str


@dataclass(frozen=True)
class _Module:
    """A module of a text, with the width of each of its signals."""

    text: str
    widths: dict[str, int]

    def like(self, width: int, name: str, draw: Draw) -> str | None:
        """Return another signal of a width."""
        others = [one for one, bits in self.widths.items() if bits == width and one != name]
        return draw.choice(others) if others else None


def _exchange(text: str, found: re.Match[str], becomes: str) -> str:
    return text[: found.start()] + becomes + text[found.end() :]


def _an_alias(module: _Module, draw: Draw) -> re.Match[str] | None:
    """Return a line by which a name stands for another; a top level may have none."""
    found = [*_ALIAS.finditer(module.text)]
    return draw.choice(found) if found else None


def _alias(change: Callable[[_Module, re.Match[str], str, int, Draw], str | None]) -> "Kind":
    """Make a kind that has another right side for a name that stands for a signal or a part of one."""

    def fault(module: _Module, draw: Draw) -> str | None:
        if (found := _an_alias(module, draw)) is None:
            return None
        name, width = found[2].strip(), module.widths[found[1].strip()]
        becomes = change(module, found, name, width, draw)
        return None if becomes is None else _exchange(module.text, found, f"  assign {found[1]} = {becomes} ;")

    return fault


def _bits(name: str, high: int, low: int) -> str:
    return f"{name} [{high}:{low}]"


def _other_part(module: _Module, found: re.Match[str], name: str, width: int, draw: Draw) -> str | None:
    if found[3] is None:
        return None
    low = int(found[4] or found[3]) + draw.choice((-1, 1))
    return _bits(name, low + width - 1, low) if low >= 0 and low + width <= module.widths[name] else None


def _rotated(_module: _Module, found: re.Match[str], name: str, width: int, _draw: Draw) -> str | None:
    low = int(found[4] or found[3] or 0)
    return None if width == 1 else f"{{ {name} [{low}], {_bits(name, low + width - 1, low + 1)} }}"


def _other_signal(module: _Module, _found: re.Match[str], name: str, width: int, draw: Draw) -> str | None:
    return module.like(width, name, draw)


def _constant(_module: _Module, _found: re.Match[str], _name: str, width: int, draw: Draw) -> str | None:
    return f"{width}'d{draw.choice((0, (1 << width) - 1))}"


def _late(module: _Module, draw: Draw) -> str | None:
    if (found := _an_alias(module, draw)) is None:
        return None
    width, right = module.widths[found[1].strip()], found[0].partition("= ")[2]
    line = (
        f"  reg [{width - 1}:0] later = {width}'h0; always @(posedge clk) later <= {right} assign {found[1]} = later ;"
    )
    return _exchange(module.text, found, line) if "clk" in module.widths else None


def _edge(becomes: Callable[[str, str, _Module, Draw], str | None]) -> "Kind":
    def fault(module: _Module, draw: Draw) -> str | None:
        places = [*_EDGE.finditer(module.text)]
        if not places:
            return None
        found = draw.choice(places)
        edge = becomes(found[1], module.like(1, "clk", draw) or "rst", module, draw)
        return None if edge is None else _exchange(module.text, found, f"@({edge})")

    return fault


def _gated(module: _Module, draw: Draw) -> str | None:
    places = [found for found in _ALIAS.finditer(module.text) if found[1].strip().endswith(".clk")]
    if not places:
        return None
    found = draw.choice(places)
    return _exchange(module.text, found, f"  assign {found[1]} = {found[2]} & {module.like(1, 'clk', draw)} ;")


def _second_driver(module: _Module, draw: Draw) -> str | None:
    found = draw.choice([*_ASSIGNED.finditer(module.text)])
    other = module.like(module.widths[found[1].strip()], found[1].strip(), draw)
    return other and _exchange(module.text, found, f"{found[0]}\n  assign {found[1]} = {other} ;")


def _directive(module: _Module, draw: Draw) -> str | None:
    if (found := _an_alias(module, draw)) is None:
        return None
    name = draw.choice(("FORMAL", "YOSYS", "SYNTHESIS"))
    width = module.widths[found[1].strip()]
    return _exchange(module.text, found, f"`ifdef {name}\n{found[0]}\n`else\n  assign {found[1]} = {width}'d0;\n`endif")


def _pin(change: Callable[[list[re.Match[str]], re.Match[str], Draw], str | None]) -> "Kind":
    def fault(module: _Module, draw: Draw) -> str | None:
        places = [found for found in _PIN.finditer(module.text) if found[2].strip()]
        if not places:
            return None
        found = draw.choice(places)
        becomes = change(places, found, draw)
        return None if becomes is None else _exchange(module.text, found, f"    .{found[1]}({becomes}){found[3]}")

    return fault


def _other_net(places: list[re.Match[str]], found: re.Match[str], draw: Draw) -> str | None:
    others = [one[2] for one in places if one[1] == found[1] and one[2] != found[2]]
    return draw.choice(others) if others else None


def _turned(_places: list[re.Match[str]], found: re.Match[str], _draw: Draw) -> str | None:
    terms = found[2].strip("{} ").split(", ")
    return f"{{ {', '.join([*terms[1:], terms[0]])} }}" if len(set(terms)) > 1 else None


Kind = Callable[[_Module, Draw], str | None]

KINDS: dict[str, Kind] = {
    "other part": _alias(_other_part),
    "bits rotated": _alias(_rotated),
    "other signal": _alias(_other_signal),
    "constant": _alias(_constant),
    "a cycle late": _late,
    "falling edge": _edge(lambda clock, _other, _module, _draw: f"negedge {clock}"),
    "other clock": _edge(lambda _clock, other, _module, _draw: f"posedge {other} "),
    "asynchronous reset": _edge(lambda clock, _other, _module, _draw: f"posedge {clock}, posedge rst"),
    "gated clock": _gated,
    "second driver": _second_driver,
    "directive": _directive,
    "pin of another": _pin(_other_net),
    "pins turned": _pin(_turned),
    "pin open": _pin(lambda _places, _found, _draw: ""),
    "pin tied": _pin(lambda _places, _found, _draw: "'0"),
}
"""What is done to a module; it may be impossible."""


def name_faults(text: str, count: int, draw: Draw) -> Iterator[NameFault]:
    """Yield faults of a text, of each kind in turn if it is possible; none that leaves the circuit as it was."""
    found = [*_MODULE.finditer(text)]
    top, seen = found[-1][1], {text}
    before = _circuit(text, top)
    for number in range(count):
        kind = [*KINDS][number % len(KINDS)]
        for _ in range(TRIES):
            module = draw.choice(found)
            widths = {name.strip(): int(high or 0) + 1 for high, name in _DECLARED.findall(module[0])}
            becomes = KINDS[kind](_Module(module[0], widths), draw)
            if becomes is None or (whole := _exchange(text, module, becomes)) in seen:
                continue
            seen.add(whole)
            if kind == "directive" or _circuit(whole, top) != before:
                lines = [*zip(module[0].split("\n"), becomes.split("\n"), strict=False)]
                old, new = next(pair for pair in lines if pair[0] != pair[1])
                yield NameFault(kind, f"{module[1]}: {old.strip()} -> {new.strip()}", whole)
                break


def _circuit(text: str, top: str) -> object:
    """Return the same for texts of the same circuit, whatever nets and cells are called; the message if it is none."""
    try:
        module = read_modules(text, top, "proc\nflatten\nopt_clean -purge")[top]
    except ToolError as error:
        return str(error)
    drivers: dict[Any, tuple[Any, ...]] = {}
    cells, ports = module["cells"], module["ports"]
    for port, pin in ports.items():
        drivers |= {bit: (port, place) for place, bit in enumerate(pin["bits"]) if pin["direction"] == "input"}
    for cell, about in cells.items():
        for port, bits in about["connections"].items():
            if about["port_directions"][port] == "output":
                drivers |= {bit: (cell, port, place) for place, bit in enumerate(bits)}
    own = {"src", "MEMID", "PRIORITY"}
    names, inputs = {}, {}
    for cell, about in cells.items():
        read = sorted(
            (port, bits) for port, bits in about["connections"].items() if about["port_directions"][port] == "input"
        )
        parameters = tuple(value for key, value in sorted(about["parameters"].items()) if key not in own)
        names[cell] = hash((about["type"], parameters, tuple((port, len(bits)) for port, bits in read)))
        inputs[cell] = [bit for _, bits in read for bit in bits]
    for _ in range(ROUNDS):
        said = {bit: (names[one[0]], *one[1:]) if one[0] in names else one for bit, one in drivers.items()}
        names = {cell: hash((names[cell], *(said.get(bit, bit) for bit in bits))) for cell, bits in inputs.items()}
    said = {bit: (names[one[0]], *one[1:]) if one[0] in names else one for bit, one in drivers.items()}
    return sorted(names.values()), {port: [said.get(bit, bit) for bit in pin["bits"]] for port, pin in ports.items()}


def prove_text(fabric: EmittedFabric, *, seconds: float) -> tuple[str, str]:
    """Prove a text part by part until one is refuted; return the answer, and what is said of it."""
    with tempfile.TemporaryDirectory() as root:
        try:
            return answer_of_all(_findings(fabric, seconds, Path(root)))
        except ToolError as error:
            return "refused", str(error)


def _findings(fabric: EmittedFabric, seconds: float, root: Path) -> Iterator[Finding]:
    """Yield what is found, the cheapest first; nothing behind what is refuted need be looked for."""
    yield from prove_registers(fabric)
    yield from prove_routing(fabric)
    yield from prove_delivery(fabric, seconds=seconds, root=root)
    yield from prove_waiting(fabric, seconds=seconds, root=root)


def never_seen(text: str, fault: NameFault) -> bool:
    """Tell whether a fault in what one name stands for never changes what its module gives."""
    before, after = text.split("\n"), fault.text.split("\n")
    changed = [number for number, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]]
    old, new = (re.fullmatch(r"(.*  ?assign .*?= *)(.*);", lines[changed[0]]) for lines in (before, after))
    if len(before) != len(after) or len(changed) > 1 or old is None or new is None:
        return False
    module = fault.place.partition(":")[0]
    mutant = Mutant(1, module, fault.place, fault.kind, 1, changed[0], new[1], old[2], ";", new[2])
    after[changed[0]] = f"{new[1]}{old[2]};"
    return never_different("\n".join(after), [mutant], [1], seconds=SECONDS, workers=1) == {1}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove texts with faults; return 1 if one is proved."""
    options = parse_drawn(Parser(prog="tests/mutants/names.py", description=__doc__), arguments, count=25)
    answers: Counter[str] = Counter()
    for spec in MACHINES:
        fabric = emit_fabric(spec)
        name = f"{fabric.modules.top}.sv"
        print(f"{spec.network}", flush=True)
        for fault in name_faults(fabric.files[name], options.count, random.Random(options.seed)):
            answer, why = prove_text(with_text(fabric, fault.text), seconds=SECONDS)
            if answer != "refuted" and never_seen(fabric.files[name], fault):
                answer = "equivalent"
            answers[answer] += 1
            print(f"  {answer}: {fault.kind}, {fault.place} ({why.splitlines()[0] if why else ''})", flush=True)
    print(", ".join(f"{answer} {count}" for answer, count in answers.items()))
    print(f"passed {'false' if answers['proved'] else 'true'}")
    return int(answers["proved"] > 0)


if __name__ == "__main__":
    sys.exit(main())
