"""Traffic as data: rates from node to node, in a file, an array or a mapping.

Only what rates are to each other counts. A file is either a square matrix, of a row for each source and a column for
each destination, or a table of pairs with the columns :data:`COLUMNS`.
"""

import csv
import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.support.columns import read_parquet
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text
from hdnhw.topology.graph import Network

COLUMNS = ("source", "destination", "rate")
"""Of a table of pairs."""

MOST_ENTRIES = 1 << 24
"""Rates above 0 of all pairs of nodes."""

Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


Class = tuple[Any, float, str | None, str]
"""A class of messages, as :class:`Classes` has it."""


class Matrix(str):
    """Rates from node to node; as text, where they are from and what tells them from others.

    Attributes
    ----------
    source, destination : ndarray of int64, shape (entries,)
        Nodes.
    rate : ndarray of float64, shape (entries,)
        Above 0.
    nodes : int or None
        Of a square matrix; None of pairs, which may leave nodes out.
    """

    source: Integers
    destination: Integers
    rate: Reals
    nodes: int | None
    _what: str
    _places: list[str]

    def __deepcopy__(self, memo: Any) -> "Matrix":
        return self

    def check(self, network: Network) -> None:
        """Raise SpecError if it is not of the nodes of a network."""
        nodes, name = network.num_terminals, self._what
        if self.nodes not in (None, nodes):
            raise SpecError(
                f"{name}: must have a row and a column for each of the {nodes} nodes of {network.spec}, not "
                f"{self.nodes}"
            )
        for strange in np.flatnonzero(np.maximum(self.source, self.destination) >= nodes)[:1]:
            where, pair = self._places[strange], f"{self.source[strange]} and {self.destination[strange]}"
            raise SpecError(f"{name}: {where}: nodes of {network.spec} must be 0 to {nodes - 1}, not {pair}")


class Classes(str):
    """Classes of messages, in phases that take turns; as text, where they are from and what tells them from others.

    Attributes
    ----------
    phases : list of (int, list of (str or Matrix, float, str or None, str))
        Cycles of each, and its classes: a pattern, the flits of packets that its busiest node sends, relative to those
        of other classes and phases, the lengths of its messages, and where it stands.
    """

    phases: list[tuple[int, list[Class]]]

    def __deepcopy__(self, memo: Any) -> "Classes":
        return self


def read_pattern(value: Any) -> Any:
    """Return the :class:`Matrix` of a file, by its suffix, of an array or a mapping; what is none of these as it is.

    A file of TOML has :class:`Classes`.

    Parameters
    ----------
    value : str, PathLike, ndarray or mapping
        An array has the shape (nodes, nodes); a mapping has the rates of (source, destination).

    Raises
    ------
    SpecError
        If it cannot be read, or is neither a square matrix nor pairs of rates that can be.
    """
    if isinstance(value, (Matrix, Classes)):
        return value
    if isinstance(value, np.ndarray):
        return _of_array("matrix", value)
    if isinstance(value, Mapping):
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
            raise SpecError("pattern must be a mapping of pairs of nodes to rates, such as {(0, 5): 0.25}")
        pairs = np.array([*value]).reshape(-1, 2).T
        return _of_pairs("matrix", [*pairs, np.array([*value.values()])], [f"item {k}" for k in range(len(value))])
    path = Path(value) if isinstance(value, (str, PathLike)) else None
    if path is None or path.suffix not in READERS:
        return value
    try:
        return READERS[path.suffix](path)
    except SpecError:
        raise
    except (EOFError, OSError, ValueError, csv.Error) as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise SpecError(f"{path}: must be a traffic matrix that can be read: {reason}") from None


def _read_csv(path: Path) -> Matrix:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.reader(file, strict=True, skipinitialspace=True)
        rows = [(reader.line_num, row) for row in reader if row]
    has_header = bool(rows) and tuple(cell.strip().lower() for cell in rows[0][1]) == COLUMNS
    lines = [f"line {line}" for line, _ in rows[has_header:]]
    values = [[_number(path, line, cell) for cell in row] for line, row in rows[has_header:]]
    wanted = 3 if has_header else len(values)
    for place, row in zip(lines, values, strict=True):
        if len(row) != wanted:
            what = ", ".join(COLUMNS) if has_header else f"{wanted} rates, as many as there are rows"
            raise SpecError(f"{path}: {place}: must be {what}, not {len(row)} numbers")
    table = np.array(values, np.float64).reshape(len(values), wanted)
    return _of_pairs(path.name, [*table.T], lines, path) if has_header else _of_array(path.name, table, lines, path)


def _number(path: Path, line: int, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        header = f"; a table of pairs begins with {','.join(COLUMNS)}" * (line == 1)
        raise SpecError(f"{path}: line {line}: must be numbers, not {cell[:40]!r}{header}") from None


def _read_npy(path: Path) -> Matrix:
    array = np.load(path, allow_pickle=False)
    if array.dtype.names == COLUMNS:
        return _of_pairs(path.name, [array[name].ravel() for name in COLUMNS], (), path)
    return _of_array(path.name, array, (), path)


def _read_parquet(path: Path) -> Matrix:
    with path.open("rb") as file:
        table = read_parquet(file)
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    if set(COLUMNS) <= set(columns):
        return _of_pairs(path.name, [columns[name] for name in COLUMNS], (), path)
    return _of_array(path.name, np.array([*columns.values()]).T, (), path)


def _read_toml(path: Path) -> Classes:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    phases = data.pop("phase", None)
    if phases is None:
        phases = [{"class": data.pop("class", None)}]
    if data or not isinstance(phases, list):
        raise SpecError(
            f"{path}: must have [[phase]] or [[class]] alone, not {', '.join(data) or 'a phase that is none'}"
        )
    read, content = [], [path.read_bytes()]
    for number, phase in enumerate(phases):
        where = f"{path}: phase {number}" if len(phases) > 1 else str(path)
        cycles = _member(where, phase, "cycles", int, None if len(phases) > 1 else 1)
        if not 1 <= cycles < 1 << 31:
            raise SpecError(f"{where}: cycles must be 1 to {(1 << 31) - 1}, not {cycles}")
        classes = _member(where, phase, "class", list, None)
        _known(where, phase, ("cycles", "class"))
        read.append((cycles, [_class(path, f"{where}: class {k}", one, content) for k, one in enumerate(classes)]))
    if not any(classes for _, classes in read):
        raise SpecError(f"{path}: must have a class")
    made = Classes(f"{path.name}#{hashlib.sha256(b''.join(content)).hexdigest()[:8]}")
    made.phases = read
    return made


def _class(path: Path, where: str, given: Any, content: list[bytes]) -> Class:
    """Return what a class says; add what its own file has to the content."""
    pattern = _member(where, given, "pattern", str, None)
    share, lengths = _member(where, given, "share", (int, float), 1), given.get("lengths")
    _known(where, given, ("pattern", "share", "lengths"))
    if not 0 < share < np.inf:
        raise SpecError(f"{where}: share must be above 0 and finite, not {share}")
    if Path(pattern).suffix in READERS:
        if pattern.endswith(".toml"):
            raise SpecError(f"{where}: pattern must be a matrix or have a name, not be classes again")
        pattern = read_pattern(path.parent / pattern)
        content.append(pattern.encode())
    return pattern, float(share), None if lengths is None else str(lengths), f"{where}: "


def _member(where: str, given: Any, name: str, kind: Any, default: Any) -> Any:
    """Return what a table of TOML has under a name, of a kind."""
    found = given.get(name, default) if isinstance(given, dict) else None
    if isinstance(found, bool) or not isinstance(found, kind):
        asked = {int: "an integer", str: "text", list: "a list of tables"}.get(kind, "a number")
        raise SpecError(f"{where}: {name} must be {asked}" + f", not {found!r}" * (found is not None))
    return found


def _known(where: str, given: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise SpecError if a table of TOML has something else."""
    for name in given:
        if name not in names:
            raise SpecError(f"{where}: {choices_text(names, name)}")


READERS = {".csv": _read_csv, ".npy": _read_npy, ".parquet": _read_parquet, ".toml": _read_toml}
"""What reads a file, by its suffix."""


def _of_array(name: str, array: npt.NDArray[Any], places: Sequence[str] = (), path: Path | None = None) -> Matrix:
    """Return a square matrix; `places` are those of its rows."""
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise SpecError(f"{path or name}: must be a square matrix of rates, not of the shape {array.shape}")
    source, destination = np.nonzero(array)
    where = [(places or [f"row {row}" for row in range(len(array))])[row] for row in source.tolist()]
    return _of_pairs(name, [source, destination, array[source, destination]], where, path, len(array))


def _of_pairs(
    name: str,
    columns: Sequence[npt.NDArray[Any]],
    places: Sequence[str],
    path: Path | None = None,
    nodes: int | None = None,
) -> Matrix:
    """Return rates from node to node, checked, of the :data:`COLUMNS`; `places` are those of their rows."""
    what, places = path or name, places or [f"row {row}" for row in range(len(columns[0]))]
    if any(column.dtype.kind not in "iuf" for column in columns if len(column)):
        raise SpecError(f"{what}: must be numbers")
    ends, rate = np.stack(columns[:2]).astype(np.float64), columns[2].astype(np.float64)
    faults = (
        ((ends < 0) | (ends != np.floor(ends)) | (ends >= 1 << 31)).any(axis=0),
        ~((rate >= 0) & (rate < np.inf)),
        (ends[0] == ends[1]) & (rate > 0),
    )
    said = ("nodes must be numbers from 0 on", "rate must be finite and at least 0", "a node must not send to itself")
    for rule, wrong in zip(said, faults, strict=True):
        for place in np.flatnonzero(wrong)[:1]:
            raise SpecError(
                f"{what}: {places[place]}: {rule}, not {rate[place]:g} from {ends[0, place]:g} to {ends[1, place]:g}"
            )
    own, other = ends.astype(np.int64)
    kept = np.lexsort((other, own))
    twice = np.flatnonzero((np.diff(own[kept]) == 0) & (np.diff(other[kept]) == 0))
    for place in kept[twice + 1][:1]:
        raise SpecError(f"{what}: {places[place]}: the pair from {own[place]} to {other[place]} stands there twice")
    kept = kept[rate[kept] > 0]
    if not len(kept):
        raise SpecError(f"{what}: must have a rate above 0")
    if len(kept) > MOST_ENTRIES:
        raise SpecError(f"{what}: must have at most {MOST_ENTRIES} rates above 0, not {len(kept)}")
    own, other, rate = own[kept], other[kept], rate[kept]
    digest = hashlib.sha256(b"".join(column.tobytes() for column in (own, other, rate))).hexdigest()[:8]
    made = Matrix(f"{name}#{digest}")
    made.source, made.destination, made.rate = own, other, rate
    made.nodes, made._what, made._places = nodes, str(what), [places[place] for place in kept.tolist()]
    return made
