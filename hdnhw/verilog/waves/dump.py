"""A dump of a simulation, VCD, read from front to back: what stands on wires in each cycle of a clock."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from hdnhw.support.errors import SpecError

Wires = dict[str, tuple[str, int]]
"""Name -> (code in the dump, bits)."""


class Dump:
    """A VCD whose declarations have been read.

    Attributes
    ----------
    path : Path
    timescale : str
    scopes : dict of str to Wires
        The wires of each scope, by its path: names with points between them.

    Raises
    ------
    SpecError
        If it is no VCD.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open() as file:
            self.timescale, self.scopes, self._behind = self._declarations(file)

    def _open(self) -> TextIO:
        if self.path.is_dir():
            raise SpecError(f"{self.path} must be a dump in VCD, not a folder")
        return self.path.open(encoding="latin-1", newline="\n")

    def _declarations(self, file: TextIO) -> tuple[str, dict[str, Wires], int]:
        timescale, scopes, path, words = "1 ns", dict[str, Wires](), list[str](), list[str]()
        for number, line in enumerate(file, 1):
            if number == 1 and line[:1] == "\0":
                raise SpecError(f"{self.path} is no VCD: `fst2vcd -f {self.path} -o dump.vcd` makes one of FST")
            words += line.split()
            while "$end" in words:
                end = words.index("$end")
                (kind, *rest), words = words[:end] or [""], words[end + 1 :]
                if kind == "$enddefinitions":
                    return timescale, scopes, number
                if kind == "$timescale":
                    timescale = " ".join(rest)
                elif kind == "$scope" and len(rest) == 2:
                    path.append(rest[1])
                elif kind == "$upscope" and path:
                    path.pop()
                elif kind == "$var" and len(rest) >= 4 and rest[1].isdecimal():
                    scopes.setdefault(".".join(path), {})[rest[3].partition("[")[0]] = (rest[2], int(rest[1]))
            if number == 1 and not (words or scopes or line.isspace() or line.startswith("$")):
                break
        raise SpecError(f"{self.path} is no VCD: it has no end of declarations")

    def cycles(self, clock: str, wires: Sequence[str]) -> Iterator[tuple[int, int, list[int]]]:
        """Give what stands on wires, by their codes, in each cycle of a clock, up to its rising edge.

        Bits that are neither 0 nor 1 are 0. A last line that does not end is left out: a dump may be cut off.

        Yields
        ------
        (int, int, list of int)
            Times of the edges at which the cycle begins and ends, 0 for the first; what stands on each wire right
            before its end, the same list each time.
        """
        places: Mapping[str, list[int]] = {code: [] for code in wires}
        for place, own in enumerate(wires):
            places[own].append(place)
        values, changed = [0] * len(wires), dict[str, str]()
        begun = now = 0
        level = "0"
        for word, code in self._changes():
            if code is not None:
                if code in places or code == clock:
                    changed[code] = word
                continue
            if clock in changed:
                if changed[clock] == "1" and level != "1":
                    yield begun, now, values
                    begun = now
                level = changed[clock]
            for code, text in changed.items():
                for place in places.get(code, ()):
                    values[place] = _number(text)
            changed.clear()
            now = int(word)

    def _changes(self) -> Iterator[tuple[str, str | None]]:
        """Give (value, code) of each change, and (time, None) before those of a time; a time comes last."""
        word = "0"
        with self._open() as file:
            for _ in range(self._behind):
                next(file)
            for line in file:
                if not line.endswith("\n"):
                    break
                words = iter(line.split())
                for word in words:
                    first = word[0]
                    if first == "#" and word[1:].isdecimal():
                        yield word[1:], None
                    elif first in "bB":
                        yield word[1:], next(words, "")
                    elif first in "rRsS":
                        next(words, "")
                    elif first in "01xzXZuUwWhHlL-" and len(word) > 1:
                        yield first, word[1:]
        yield "0", None


def _number(text: str) -> int:
    try:
        return int(text, 2)
    except ValueError:
        return int("".join("1" if bit in "1hH" else "0" for bit in text) or "0", 2)
