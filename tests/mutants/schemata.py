"""All single mutants of emitted Verilog in one text, of which one is chosen when it runs.

A mutant is the text with one place of its logic changed: an operator, an operand, a condition, a constant, an address
or the order of a concatenation. Number 0 is the text as it was. Names, declarations, initial values and instances stay.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

NUMBER = "mutant"
"""The signal that chooses, and the plusarg of the simulation that sets it."""

_NAME = r"(?:\\\S+ |[A-Za-z_]\w*)"
_TERM = rf"(?:{_NAME}(?:\[\d+(?::\d+)?\])?|\d+'[hbd][0-9a-f]+)"
_CONCATENATION = rf"\{{ {_TERM} *(?:, {_TERM} *)*\}}"
_OPERAND = rf"(?:{_TERM}|{_CONCATENATION}|\$signed\({_TERM}\))"

_BINARY = re.compile(rf"({_OPERAND}) *(&|\||\^|[=!]=|[<>]=?|\+|-) ({_OPERAND}) *")
_NOT = re.compile(rf"~ ({_OPERAND}) *")
_REDUCTION = re.compile(rf"([&|^]) ({_OPERAND}) *")
_CHOICE = re.compile(rf"({_OPERAND}) *\? ({_OPERAND}) *: ({_OPERAND}) *")
_CELL = re.compile(rf"({_NAME})\[({_NAME}(?:\[\d+:\d+\])?|{_CONCATENATION})\]")
_LIST = re.compile(rf"{_CONCATENATION} *")
_LITERAL = re.compile(r"\d+'[hbd][0-9a-f]+")

_ASSIGNMENT = re.compile(r"( +(?:assign )?)(\S.*?)( *<?= )(.*);")
_CONDITION = re.compile(r"( +(?:if|casez) )\((.*)\)(.*)")
_INITIAL = re.compile(r"^  initial begin\n.*?^  end\n", re.MULTILINE | re.DOTALL)
_MODULE = re.compile(r"^module (\w+)\((.*?)\);\n(.*?)^endmodule$", re.MULTILINE | re.DOTALL)

_COMPARED = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_OTHER = {"&": "|", "|": "&", "^": "|", "+": "-", "-": "+", **_COMPARED}
_WITHOUT_LOWEST = {"&": "{} | 1'h1", "|": "{} & ~1'h1", "^": "{} & ~1'h1"}

Change = tuple[str, str]
"""What is done to an expression, and what comes of it."""


@dataclass(frozen=True)
class Mutant:
    """One change of a text.

    Attributes
    ----------
    number : int
        From 1, in the order of the text.
    module : str
    place : str
        The line, with what it decides first if it is a condition, and without the backslashes of names.
    change : str
        What is done to it.
    occurrence : int
        Which of the places in the module that read alike, from 1.
    line : int
        From 0.
    before, expression, behind : str
        What the line is made of.
    mutated : str
        What stands in place of the expression.
    """

    number: int
    module: str
    place: str
    change: str
    occurrence: int
    line: int
    before: str
    expression: str
    behind: str
    mutated: str

    @property
    def key(self) -> str:
        """A name that it keeps while its place reads as it does."""
        again = f" #{self.occurrence}" if self.occurrence > 1 else ""
        return f"{self.module}: {self.place}: {self.change}{again}"


@dataclass(frozen=True)
class _Site:
    """An expression in a line, between what stands before and behind it, and its changes."""

    line: int
    before: str
    expression: str
    behind: str
    changes: tuple[Change, ...]


def all_mutants(text: str, modules: Collection[str]) -> tuple[Mutant, ...]:
    """Return the mutants of some modules of emitted Verilog.

    Raises
    ------
    ValueError
        If a line of a module reads as no other that hdnhw emits.
    """
    lines = text.split("\n")
    mutants: list[Mutant] = []
    seen = Counter[tuple[str, str, str]]()
    for module, site in _sites(text, modules):
        place = _place(lines, site.line)
        for change, mutated in site.changes:
            seen[module, place, change] += 1
            occurrence = seen[module, place, change]
            where = (site.line, site.before, site.expression, site.behind)
            mutants.append(Mutant(len(mutants) + 1, module, place, change, occurrence, *where, mutated))
    return tuple(mutants)


def with_mutants(text: str, mutants: Sequence[Mutant], *, bits: bool = False) -> str:
    """Return emitted Verilog with some of its mutants.

    Parameters
    ----------
    text : str
        The top level comes last. A simulation reads the number from the plusarg :data:`NUMBER` there.
    mutants : sequence of Mutant
    bits : bool
        In place of the number, every module has an input with a bit for each mutant, from 0; no top level sets it.
    """
    last = max(one.number for one in mutants)
    width = last + 1 if bits else last.bit_length()
    lines = text.split("\n")
    for line, group in groupby(sorted(mutants, key=lambda one: one.number), key=lambda one: one.line):
        here = list(group)
        original = whole = f"({here[0].expression})"
        for one in here:
            chosen = f"{NUMBER}[{one.number}]" if bits else f"{NUMBER} == {width}'d{one.number}"
            whole = f"({chosen} ? ({one.mutated}) : {whole})"
        if not bits and len(here) > 1:  # a place that is not the chosen one costs one comparison
            range_ = f"{NUMBER} >= {width}'d{here[0].number} && {NUMBER} <= {width}'d{here[-1].number}"
            whole = f"({range_} ? {whole} : {original})"
        lines[line] = f"{here[0].before}{whole}{here[0].behind}"
    return _with_input("\n".join(lines), width)


def modules_of(text: str) -> list[str]:
    """Return the names of the modules of emitted Verilog, in its order."""
    return [found[1] for found in _MODULE.finditer(text)]


def _with_input(text: str, width: int) -> str:
    """Give every module but the last one the input that chooses, which the last one has from a plusarg."""
    names = modules_of(text)
    instance = re.compile(rf"^(  (?:{'|'.join(map(re.escape, names))}) .* \()$", re.MULTILINE)

    def module(found: re.Match[str]) -> str:
        body = instance.sub(rf"\1\n    .{NUMBER}({NUMBER}),", found[3])
        if found[1] != names[-1]:
            return f"module {found[1]}({NUMBER}, {found[2]});\n  input [{width - 1}:0] {NUMBER};\n{body}endmodule"
        read = f'  initial if (!$value$plusargs("{NUMBER}=%d", {NUMBER})) {NUMBER} = 0;\n'
        return f"module {found[1]}({found[2]});\n  reg [{width - 1}:0] {NUMBER};\n{read}{body}endmodule"

    return _MODULE.sub(module, text)


def _sites(text: str, modules: Collection[str]) -> Iterator[tuple[str, _Site]]:
    """Yield the expressions of some modules that can be changed, with the module, in the order of the text."""
    for found in _MODULE.finditer(text):
        if found[1] not in modules:
            continue
        first = text.count("\n", 0, found.start(3))
        body = _INITIAL.sub(lambda part: "\n" * part[0].count("\n"), found[3])
        for number, line in enumerate(body.split("\n"), first):
            yield from ((found[1], site) for site in _sites_of(number, line))


def _sites_of(number: int, line: str) -> Iterator[_Site]:
    condition = _CONDITION.fullmatch(line)
    if condition:
        start, expression, end = condition.groups()
        yield _Site(number, f"{start}(", expression, f"){end}", tuple(_changes_of_condition(line, expression)))
        return
    if line.startswith(("  reg ", "  wire ", "  input ", "  output ", "  (* ")):
        return
    assignment = _ASSIGNMENT.fullmatch(line)
    if assignment:
        start, target, sign, expression = assignment.groups()
        cell = _CELL.fullmatch(target)
        if cell:
            yield _Site(
                number, f"{start}{cell[1]}[", cell[2], f"]{sign}{expression};", (("address", f"{cell[2]} ^ 1'h1"),)
            )
        else:
            yield _Site(number, f"{start}{target}{sign}", expression, ";", tuple(_changes(expression)))


def _changes_of_condition(line: str, condition: str) -> Iterator[Change]:
    """Yield the changes of what decides: of a reset, that it is lost, or that it stays."""
    if line.lstrip().startswith("casez"):
        yield "other case", f"{condition} ^ 1'h1"
        return
    yield "never", "1'h0"
    yield "always", "1'h1"
    if not re.search(r"(^|\.)rst *$", condition.lstrip("\\")):
        yield "negated", f"!({condition})"


def _changes(expression: str) -> Iterator[Change]:
    """Yield the changes of an expression; there are none of another name for a signal, or of a part of one."""
    for form, changed in _FORMS:
        found = form.fullmatch(expression)
        if found:
            yield from changed(found)
            break
    else:
        if not re.fullmatch(rf"{_TERM} *", expression):
            raise ValueError(f"expression must be of a form that hdnhw emits, not {expression!r}")
    for place, literal in enumerate(_LITERAL.finditer(expression), 1):
        if not _LIST.fullmatch(expression):
            changed_one = f"({literal[0]} ^ {literal[0].split(chr(39))[0]}'h1)"
            yield f"constant {place}", expression[: literal.start()] + changed_one + expression[literal.end() :]


def _of_binary(found: re.Match[str]) -> Iterator[Change]:
    left, operator, right = found.groups()
    other = _OTHER[operator]
    yield f"{other} for {operator}", f"{left} {other} {right}"
    if operator in _COMPARED:
        yield "always", "1'h1"
        return
    yield "left alone", left
    if operator != "-":
        yield "right alone", right


def _of_not(found: re.Match[str]) -> Iterator[Change]:
    yield "not inverted", found[1]


def _of_reduction(found: re.Match[str]) -> Iterator[Change]:
    operator, operand = found.groups()
    other = _OTHER[operator]
    yield f"{other} for {operator}", f"{other} {operand}"
    terms = _terms(operand)
    if len(terms) < 2:
        yield "lowest left out", f"{operator}({_WITHOUT_LOWEST[operator].format(operand)})"
        return
    for place in range(len(terms)):
        rest = terms[:place] + terms[place + 1 :]
        yield f"term {place + 1} left out", f"{operator} {{ {', '.join(rest)} }}"


def _of_choice(found: re.Match[str]) -> Iterator[Change]:
    condition, first, second = found.groups()
    yield "exchanged", f"{condition} ? {second} : {first}"
    yield "first always", first
    yield "second always", second


def _of_cell(found: re.Match[str]) -> Iterator[Change]:
    yield "address", f"{found[1]}[{found[2]} ^ 1'h1]"


def _of_list(found: re.Match[str]) -> Iterator[Change]:
    terms = _terms(found[0])
    if len(terms) > 1:
        yield "rotated", f"{{ {', '.join([*terms[1:], terms[0]])} }}"


def _terms(operand: str) -> list[str]:
    """Return the terms of a concatenation; anything else is one itself."""
    if not _LIST.fullmatch(operand):
        return [operand]
    return [f"{term.strip()} " for term in operand.strip()[1:-1].split(",")]


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Iterator[Change]]], ...] = (
    (_BINARY, _of_binary),
    (_NOT, _of_not),
    (_REDUCTION, _of_reduction),
    (_CHOICE, _of_choice),
    (_CELL, _of_cell),
    (_LIST, _of_list),
)


def _place(lines: list[str], number: int) -> str:
    """Return what a line reads, a condition with what it decides first; the numbers of lines are left out."""
    words = [lines[number].strip()]
    while _CONDITION.fullmatch(lines[number]) or lines[number].strip().endswith(":"):
        number += 1
        words.append(lines[number].strip())
    plain = re.sub(r"\\(\S+) ", r"\1", " ".join(words))
    return re.sub(r" +", " ", plain.replace(" begin", "")).removeprefix("assign ").rstrip(";")
