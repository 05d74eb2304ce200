"""A trace of packets, as the assertions beside an emitted fabric write it: what has passed each place, and when."""

import re
from pathlib import Path
from typing import NamedTuple

from hdnhw.support.errors import SpecError

BEGIN = b"hdnhw_trace\n"
"""First line of a trace."""

_LINE = re.compile(r"(\d+) (\d+) (\d+) (\d+) ([0-9a-fA-FxXzZ]+) (\S+)\.check_(\w+)\.trace")


class Traced(NamedTuple):
    """A packet that has passed a place whole.

    Attributes
    ----------
    name : str
        What the names of the place's wires begin with.
    resets : int
        So far.
    head, tail : int
        Cycles since the last of them.
    vc : int
    word : int
        All flits, the first in the least significant bits.
    """

    name: str
    resets: int
    head: int
    tail: int
    vc: int
    word: int


class Trace:
    """A trace that has been read; a last line that does not end is left out, as the simulation may have been cut off.

    Attributes
    ----------
    path : Path
    scopes : dict of str to list of Traced
        By the path of the module that the checks are bound to.

    Raises
    ------
    SpecError
        If it is no trace.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.scopes: dict[str, list[Traced]] = {}
        with path.open(encoding="latin-1", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if number == 1 or not line.endswith("\n"):
                    continue
                match = _LINE.fullmatch(line.rstrip())
                if match is None:
                    raise SpecError(f"{path} is no trace of packets: see line {number}")
                resets, head, tail, vc = (int(match[place]) for place in range(1, 5))
                word = int(re.sub("[xXzZ]", "0", match[5]), 16)
                self.scopes.setdefault(match[6], []).append(Traced(match[7], resets, head, tail, vc, word))

    @staticmethod
    def is_one(path: Path) -> bool:
        """Return whether a file begins as a trace."""
        if path.is_dir():
            return False
        with path.open("rb") as file:
            return file.read(len(BEGIN)) == BEGIN
