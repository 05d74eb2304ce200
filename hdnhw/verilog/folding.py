"""Verilog for people: results without a name of their own stand in the expressions that they are for.

Yosys prints a line for every gate. Here a result that one expression reads is written there, one that is another name
for a signal is called as the signal, and one that nothing reads is left out. What has a name in the source keeps its
line, so that it can be looked at; the logic stays as it is, and with it how it is synthesized.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

MARK = "@"
"""Behind a name that no source gave to a signal; it is taken away from those that stay."""

LONGEST = 200
"""Most characters of an expression that another one takes in."""

MOST = 1 << 21
"""Most characters of a module that is folded: a larger one, which no one reads, would take longer than all else."""

_NAME = r"\\\S+(?=\s|$)|[A-Za-z_$][\w$]*"
_TOKEN = re.compile(
    rf"\s*(?:(?P<name>{_NAME})|(?P<word>\d+'[bodh][0-9a-fxz_]+)|(?P<number>\d+)"
    r"|(?P<sign><<<|>>>|[=!]==|[=!<>]=|<<|>>|&&|\|\||~[&|^]|[-~!&|^+*<>?:{}()\[\],]))"
)
_DECLARED = re.compile(rf"^  (?:(?:input|output|wire|reg) )+(?:\[(\d+):0\] )?({_NAME})( *= [^;]*)? *;$")
_ASSIGNED = re.compile(rf"^  assign ({_NAME}) *= (.*);$")
_TAKEN = re.compile(rf"^( +(?:assign )?)((?:{_NAME})(?: *\[[\d:]+\])? *)(<?= )(.*);$")
_ASKED = re.compile(r"^( +if )\((.*)\)( begin)?$")
_NAMES = re.compile(_NAME)
_DECIDES = re.compile(rf"  (?:assign|always\w*\b.*\n(?: *(?:begin|if .*|casez .*|\S+:)\n)*) *\{{? ?({_NAME})")
_BITWISE, _SUMS, _COMPARED = ("&", "|", "^", "~^"), ("+", "-", "*"), ("==", "!=", "===", "!==", "<", "<=", ">", ">=")
_SHIFTS, _BOTH, _REDUCED = ("<<", ">>"), ("&&", "||"), ("!", "&", "|", "^", "~&", "~|", "~^")


class _UnreadError(Exception):
    """An expression of a form that is left as it is."""


@dataclass(frozen=True)
class _Term:
    """An expression.

    Attributes
    ----------
    sign : str
        An operator, ``{}`` of a concatenation, or empty of a leaf.
    parts : tuple of _Term
        What it is of.
    text : str
        Of a leaf, without a range.
    width : int
        Bits that it has by itself.
    low, high : int
        Range of a signal; -1 for all of it.
    """

    sign: str
    parts: tuple["_Term", ...]
    width: int
    text: str = ""
    low: int = -1
    high: int = -1

    def __str__(self) -> str:
        if not self.sign:
            places = f"[{self.high}:{self.low}]" if self.high > self.low else f"[{self.low}]" if self.low >= 0 else ""
            return f"{self.text} {places}" if self.text[0] == "\\" else self.text + places
        if self.sign == "{}":
            return f"{{ {', '.join(map(str, self.parts))} }}"
        if len(self.parts) == 1:
            return f"{self.sign} {self._inner(0)}" if not self.parts[0].sign else f"{self.sign}{self._inner(0)}"
        if self.sign == "?":
            return f"{self._inner(0)} ? {self._inner(1)} : {self._inner(2)}"
        return f"{self._inner(0)} {self.sign} {self._inner(1)}"

    def _inner(self, place: int) -> str:
        """Return a part, in parentheses unless it reads the same without."""
        part = self.parts[place]
        is_alone = part.sign in ("", "{}") or (part.sign == "~" and len(self.parts) > 1)
        is_alike = part.sign == self.sign and len(part.parts) == len(self.parts) == 2 and part.sign in ("&", "|", "^")
        return str(part) if is_alone or is_alike else f"({part})"

    def leaves(self, width: int | None) -> Iterator[tuple["_Term", int | None]]:
        """Return the signals in it, and to what width each is extended there; None if to no other than its own."""
        if not self.sign:
            yield self, width
        for part, own in zip(self.parts, self._widths(width), strict=True):
            yield from part.leaves(own)

    def with_leaves(self, values: Mapping[str, "_Term"]) -> "_Term":
        """Return it with expressions in place of signals."""
        if self.sign:
            return replace(self, parts=tuple(part.with_leaves(values) for part in self.parts))
        value = values.get(self.text)
        if value is None or self.low < 0:
            return value or self
        first = max(value.low, 0)
        return replace(value, width=self.width, low=first + self.low, high=first + self.high)

    def _widths(self, width: int | None) -> tuple[int | None, ...]:
        """Return the width to which each part is extended where it is extended to `width` itself."""
        context = max(self.width, width or 0)
        if self.sign == "?":
            return None, context, context
        if len(self.parts) == 2 and self.sign in _COMPARED:
            widest = max(part.width for part in self.parts)
            return widest, widest
        if self.sign in _SHIFTS:
            return context, None
        if (len(self.parts) == 2 and self.sign in (*_BITWISE, *_SUMS)) or self.sign in ("~", "-"):
            return (context,) * len(self.parts)
        return (None,) * len(self.parts)


class _Reader:
    """Read an expression as Yosys prints them: of operands without parentheses."""

    def __init__(self, text: str, widths: Mapping[str, int]) -> None:
        self._tokens, self._widths, self._place = list(_tokens(text)), widths, 0

    def read(self) -> _Term:
        """Return all of it."""
        term = self._unary()
        kind, sign = self._peek()
        if kind == "sign":
            self._place += 1
            if sign == "?":
                middle = self._operand()
                self._expect(":")
                other = self._operand()
                term = _Term("?", (term, middle, other), max(middle.width, other.width))
            else:
                term = self._binary(term, sign)
        if self._place != len(self._tokens):
            raise _UnreadError
        return term

    def _binary(self, term: _Term, sign: str) -> _Term:
        other = self._operand()
        if sign in (*_BITWISE, *_SUMS):
            return _Term(sign, (term, other), max(term.width, other.width))
        if sign in (*_COMPARED, *_BOTH):
            return _Term(sign, (term, other), 1)
        if sign in _SHIFTS:
            return _Term(sign, (term, other), term.width)
        raise _UnreadError

    def _unary(self) -> _Term:
        kind, sign = self._peek()
        if kind == "sign" and sign in ("~", "-", *_REDUCED):
            self._place += 1
            term = self._operand()
            return _Term(sign, (term,), term.width if sign in ("~", "-") else 1)
        return self._operand()

    def _operand(self) -> _Term:
        kind, text = self._peek()
        self._place += 1
        if kind == "word":
            return _Term("", (), int(text.partition("'")[0]), text)
        if kind == "name" and text in self._widths:
            return self._signal(text)
        if (kind, text) == ("sign", "{"):
            parts = [self._operand()]
            while self._peek()[1] == ",":
                self._place += 1
                parts.append(self._operand())
            self._expect("}")
            return _Term("{}", tuple(parts), sum(part.width for part in parts))
        raise _UnreadError

    def _signal(self, name: str) -> _Term:
        if self._peek()[1] != "[":
            return _Term("", (), self._widths[name], name)
        self._place += 1
        high = low = self._number()
        if self._peek()[1] == ":":
            self._place += 1
            low = self._number()
        self._expect("]")
        return _Term("", (), high - low + 1, name, low, high)

    def _number(self) -> int:
        kind, text = self._peek()
        if kind != "number":
            raise _UnreadError
        self._place += 1
        return int(text)

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._place] if self._place < len(self._tokens) else ("", "")

    def _expect(self, sign: str) -> None:
        if self._peek() != ("sign", sign):
            raise _UnreadError
        self._place += 1


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place, end = 0, len(text.rstrip())
    while place < end:
        found = _TOKEN.match(text + " ", place)
        if found is None or found.lastgroup is None:
            raise _UnreadError
        yield found.lastgroup, found[found.lastgroup]
        place = found.end()


def folded(text: str, components: Mapping[str, str]) -> str:
    """Return the text of a module, as Yosys prints it, with results where they are read, component by component.

    Parameters
    ----------
    text : str
        In which the names that may go end in :data:`MARK`, and all signals have ranges down to 0.
    components : mapping of str to str
        Path of each component that it is made of, by dots -> what the comment in front of it says.
    """
    if len(text) > MOST:
        return without_marks(text)
    return _by_component(without_marks(_Folding(text).text()), components)


def _by_component(text: str, components: Mapping[str, str]) -> str:
    """Put what each component decides together, behind all declarations, with what it is in front."""
    head, *units = re.split(r"^(?=  [^\s)e]|  e(?!nd)|endmodule)", text, flags=re.MULTILINE)
    own: dict[str, list[str]] = {path: [] for path in components}
    declared: list[str] = []
    ends = units.pop() if units else ""
    for unit in units:
        found = _DECIDES.match(unit) if len(components) > 1 else None
        path = _path_of(found[1], components) if found else None
        (declared if path is None else own[path]).append(unit)
    titles = {path: f"{path}: {what}" for path, what in components.items() if path}
    titles[""] = f"{components.get('', '').partition(':')[0]} itself"
    sections = (f"\n  // {titles[path]}\n{''.join(lines)}" for path, lines in own.items() if lines)
    told = f"// {components['']}\nmodule " if "" in components else "module "
    return re.sub(r"^module ", told, "".join([head, *declared, *sections, ends]), count=1, flags=re.MULTILINE)


def _path_of(name: str, components: Mapping[str, str]) -> str | None:
    """Return the path of the component that a signal is in."""
    path = name.removeprefix("\\")
    while path and path not in components:
        path = path.rpartition(".")[0]
    return path if path in components else None


def without_marks(text: str) -> str:
    """Return a text in which all names stay."""
    text = re.sub(rf"\\(\w+){MARK} ", r"\1", text)
    return re.sub(rf"(?<=\S){MARK}(?=[ ;,)\]]|$)", "", text)


class _Folding:
    """The lines of a module, and what is known of its signals."""

    def __init__(self, text: str) -> None:
        self._lines: list[str | None] = list(text.split("\n"))
        self._widths: dict[str, int] = {}
        self._declared: dict[str, list[int]] = {}
        for number, line in enumerate(text.split("\n")):
            if found := _DECLARED.match(line):
                self._widths[found[2]] = int(found[1] or 0) + 1
                self._declared.setdefault(found[2], []).append(number)
        lines = self._lines
        self._wires = {
            name
            for name, places in self._declared.items()
            if len(places) == 1 and str(lines[places[0]]).startswith("  wire ")
        }

    def text(self) -> str:
        """Return the text anew."""
        self._join_names()
        self._fold()
        return "\n".join(line for line in self._lines if line is not None)

    def _assigned(self) -> Iterator[tuple[int, str, str]]:
        """Return the lines that are all of what a signal is: number, signal, value."""
        for number, line in enumerate(self._lines):
            if line is not None and (found := _ASSIGNED.match(line)) and found[1] in self._widths:
                yield number, found[1], found[2].strip()

    def _join_names(self) -> None:
        """Give signals that are the same one name: the one that a source gave."""
        names = dict[str, str]()

        def name_of(one: str) -> str:
            while one in names:
                one = names[one]
            return one

        for number, one, value in list(self._assigned()):
            other = value if value in self._widths and self._widths[value] == self._widths[one] else ""
            one, other = name_of(one), name_of(other)
            if not other or one == other:
                continue
            if self._may_go(one) or re.search(r"\.(clk|rst)$", one):
                names[one] = other
            elif self._may_go(other):
                names[other] = one
            else:
                continue
            self._lines[number] = None
        for one in names:
            self._drop(one)
        for number, line in enumerate(self._lines):
            if line is not None and any(found in names for found in _NAMES.findall(line)):
                self._lines[number] = _NAMES.sub(lambda found: name_of(found[0]), line)

    def _may_go(self, name: str) -> bool:
        return name.endswith(MARK) and name in self._wires

    def _drop(self, name: str) -> None:
        for place in self._declared[name]:
            self._lines[place] = None

    def _fold(self) -> None:
        """Write results where they are read."""
        values = {name: (number, value) for number, name, value in self._assigned() if self._may_go(name)}
        uses = Counter[str]()
        for line in self._lines:
            if line is not None and not _DECLARED.match(line):
                uses.update(_NAMES.findall(line))
        unread = [name for name in values if uses[name] == 1]
        while unread:
            number, value = values.pop(name := unread.pop())
            self._lines[number] = None
            self._drop(name)
            for other in _NAMES.findall(value):
                uses[other] -= 1
                if uses[other] == 1 and other in values:
                    unread.append(other)
        once = {name: one for name, one in values.items() if uses[name] == 2}
        terms = self._terms(once)
        for number, line in enumerate(self._lines):
            if line is not None:
                self._lines[number] = self._written(line, terms)
        for name in self._gone:
            self._lines[once[name][0]] = None
            self._drop(name)

    def _terms(self, once: Mapping[str, tuple[int, str]]) -> dict[str, _Term]:
        """Return what may be written elsewhere, with what is written in it."""
        self._gone = set[str]()
        terms, seen, open_ = dict[str, _Term](), set[str](), list(once)
        while open_:
            name = open_[-1]
            inside = [] if name in seen else [one for one in _NAMES.findall(once[name][1]) if one in once]
            seen.add(name)
            open_ += [one for one in inside if one not in seen]
            if open_[-1] != name or open_.pop() in terms:
                continue
            try:
                term = _Reader(once[name][1], self._widths).read()
            except _UnreadError:
                continue
            terms[name] = self._taken_in(term, self._widths[name], terms)
        return terms

    def _taken_in(self, term: _Term, width: int | None, terms: Mapping[str, _Term]) -> _Term:
        """Return an expression with what may be written in it; note what was."""
        length, values = len(str(term)), dict[str, _Term]()
        for leaf, extended in term.leaves(width):
            value = terms.get(leaf.text)
            if value is None or value.width != self._widths[leaf.text]:
                continue
            if leaf.low >= 0 and (value.sign or value.text not in self._widths):
                continue
            if leaf.low < 0 and extended not in (None, value.width):
                continue
            more = len(str(value)) - len(leaf.text)
            if length + more > LONGEST and value.sign:
                continue
            length += more
            values[leaf.text] = value
        self._gone |= values.keys()
        return term.with_leaves(values)

    def _written(self, line: str, terms: Mapping[str, _Term]) -> str:
        """Return a line with what may be written in it."""
        taken, asked = _TAKEN.match(line), _ASKED.match(line)
        found = taken or asked
        if found is None:
            return line
        text = found[4] if taken else found[2]
        if not any(name in terms for name in (*_NAMES.findall(text), *_NAMES.findall(line)[1:2])):
            return line
        try:
            width = _Reader(found[2], self._widths).read().width if taken else None
            if taken and found[2].strip() in terms:
                return f"{taken[1]}{taken[2]}{taken[3]}{terms[found[2].strip()]};"
            term = self._taken_in(_Reader(text, self._widths).read(), width, terms)
        except _UnreadError:
            return line
        return f"{taken[1]}{taken[2]}{taken[3]}{term};" if taken else f"{found[1]}({term}){found[3] or ''}"
