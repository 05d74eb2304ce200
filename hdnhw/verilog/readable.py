"""Verilog for readers: results without a name of their own stand in the one expression that reads them."""

import re
from collections import Counter

LONGEST = 160
"""Most characters of an expression that another one takes in."""

_NAME = r"\\\S+ |[A-Za-z_]\w*\b ?"
_OPERAND = re.compile(rf"(?:(?P<word>\d+)'[bdh][0-9a-fxz_]+|(?P<name>{_NAME}))(?:\[(?P<high>\d+)(?::(?P<low>\d+))?\])?")
_DECLARED = re.compile(rf"^  (?:(?:input|output|wire|reg) )+(?:\[(\d+):0\] )?({_NAME})( *\[\d+:\d+\])?( *= [^;]*)?;$")
_ASSIGNED = re.compile(rf"^  assign ({_NAME}) *= (.*);$")
_TAKEN = re.compile(rf"^( +(?:assign )?({_NAME}) *<?= )(.*)(;)$|^( +if \()(.*)(\)(?: begin)?)$")
_FORMS: dict[str, tuple[int, tuple[int, ...]]] = {"N": (0, ()), "~N": (0, ()), "N?N:N": (1, (1, 2))}
_FORMS |= dict.fromkeys(("!N", "&N", "|N", "^N"), (-1, ()))
_FORMS |= {f"N{sign}N": (0, (0, 1)) for sign in "&|^"}
_FORMS |= {f"N{sign}N": (-1, (0, 1)) for sign in ("==", "!=", "&&", "||")}
"""Forms of expressions -> the operand that is as wide as it, -1 for one bit, and those that must be of equal width."""

_GENERATED = re.compile(
    r"(?:^|\.)(?:and|or|not|xor|xnor|mux|any|all|parity|eq|ne|lt|le|gt|ge|sum|difference|net|gate|route_gate)(?:_\d+)?$"
)
"""What :func:`hdnhw.verilog.rtlil.with_readable_names` calls a result after its cell."""


def readable(text: str) -> str:
    """Return Verilog, as Yosys prints it, with less to read: of the same logic, for no tool.

    A result that has its name from a gate, and that is read once, is written where it is read, if no width changes.
    What nothing reads is left out. Registers, ports, memories and all names of the source that are read stay.
    """
    modules = re.split(r"^(?=module )", text, flags=re.MULTILINE)
    return "".join([modules[0], *(_Module(module).text() for module in modules[1:])])


class _Module:
    """The lines of a module, and what is known of its signals."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._widths, self._wires, self._values = dict[str, int](), dict[str, int](), dict[str, int]()
        for number, line in enumerate(self._lines):
            if found := _DECLARED.match(line):
                name = found[2].strip()
                if line.startswith("  wire ") and name not in self._widths:
                    self._wires[name] = number
                else:
                    self._wires.pop(name, None)
                self._widths[name] = 0 if found[3] else int(found[1] or 0) + 1
            elif found := _ASSIGNED.match(line):
                self._values[found[1].strip()] = number
        self._reads = Counter[str]()
        for number, line in enumerate(self._lines):
            if number not in self._wires.values():
                self._reads.update(self._names(line))

    @staticmethod
    def _names(line: str) -> list[str]:
        return [found["name"].strip() for found in _OPERAND.finditer(line) if found["name"]]

    def text(self) -> str:
        """Return the text anew."""
        gone = self._prune()
        once = {
            name: self._values[name]
            for name, number in self._wires.items()
            if name in self._values and self._reads[name] == 2 and _GENERATED.search(name) and number not in gone
        }
        self._once, self._folded, self._known = once, set[str](), dict[str, tuple[str, str]]()
        lines = {number: self._written(line) for number, line in enumerate(self._lines) if number not in gone}
        for name in self._folded:
            del lines[once[name]], lines[self._wires[name]]
        return "\n".join(lines.values())

    def _prune(self) -> set[int]:
        """Leave out wires that nothing reads; return the lines."""
        gone = set[int]()
        unread = [name for name in self._wires if name in self._values and self._reads[name] == 1]
        while unread:
            name = unread.pop()
            gone |= {self._wires[name], self._values[name]}
            for other in self._names(self._lines[self._values[name]])[2:]:
                self._reads[other] -= 1
                if self._reads[other] == 1 and other in self._wires and other in self._values:
                    unread.append(other)
        return gone

    def _written(self, line: str) -> str:
        """Return a line with what it alone reads written in it."""
        found = _TAKEN.match(line)
        if found is None:
            return line
        before, text, behind = (found[1], found[3], found[4]) if found[1] else found.group(5, 6, 7)
        width = self._widths.get(found[2].strip(), 0) if found[1] else 1
        form = self._form(text, width)
        return f"{before}{self._taken_in(text, form)[0]}{behind}" if form else line

    def _form(self, text: str, width: int) -> str:
        """Return the form of an expression in which nothing is extended to another width, else nothing."""
        operands = list(_OPERAND.finditer(text))
        widths = [self._width(operand) for operand in operands]
        form = re.sub(r"\s", "", _OPERAND.sub("N", text))
        if joined := re.fullmatch(r"([&|]?)\{N(,N)*\}", form):
            return form if all(widths) and width == (1 if joined[1] else sum(widths)) else ""
        if form not in _FORMS or not all(widths):
            return ""
        own, equal = _FORMS[form]
        fits = width == (1 if own < 0 else widths[own]) and len({widths[place] for place in equal}) <= 1
        return form if fits and (form != "N?N:N" or widths[0] == 1) else ""

    def _taken_in(self, text: str, form: str) -> tuple[str, str]:
        """Return an expression of a form with others in it, and the form that it then has."""
        for operand in reversed(list(_OPERAND.finditer(text))):
            name = (operand["name"] or "").strip()
            inner, own = self._value(name) if name in self._once and not operand["high"] else ("", "")
            if not own or len(text) + len(inner) > LONGEST:
                continue
            self._folded.add(name)
            if form == "N":
                return inner, own
            is_plain = own in ("N", "~N") or "{" in (form[0], own[0]) or form == own in ("N&N", "N|N", "N^N")
            inner = inner.rstrip() if is_plain else f"({inner})"
            text = f"{text[: operand.start()]}{inner} {text[operand.end() :].lstrip(' ')}"
        return text, form

    def _value(self, name: str) -> tuple[str, str]:
        """Return what a result is of, with others in it, and the form of that; none if it must keep its line."""
        if name not in self._known:
            found = _ASSIGNED.match(self._lines[self._once[name]])
            assert found is not None
            form = self._form(found[2], self._widths[name])
            self._known[name] = self._taken_in(found[2], form) if form else ("", "")
        return self._known[name]

    def _width(self, operand: "re.Match[str]") -> int:
        """Return the bits of an operand, 0 if they are not known."""
        if operand["word"]:
            return int(operand["word"])
        if operand["high"]:
            return int(operand["high"]) - int(operand["low"] or operand["high"]) + 1
        return self._widths.get(operand["name"].strip(), 0)
