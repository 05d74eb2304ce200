"""Rows of measurements that outlive the process that measured them."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

from hdnhw.support.errors import SpecError
from hdnhw.support.files import check_file, check_folder, locked, replacing
from hdnhw.support.naming import choices_text, named

Row = dict[str, Any]

KEPT_TEXT = ("modes",)
"""Columns of a CSV file whose empty cells are empty text; elsewhere they are nothing."""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < MOST


def _is_count(value: Any) -> bool:
    return _is_number(value) and isinstance(value, int)


def _is_summary(value: Any) -> bool:
    names = ("mean", "p50", "p95", "p99", "max")
    return isinstance(value, dict) and all(_is_number(value.get(name)) for name in names)


def _or_none(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or fits(value)


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


MOST = 2**63
"""Above all numbers of a measurement."""

SINGLE: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(
        ("interval", "warmup", "created", "packets", "delivered", "cycles", "router_cycles_per_second"), _is_count
    ),
    **dict.fromkeys(("offered_rate", "accepted_rate", "seconds"), _is_number),
    **dict.fromkeys(("payload_share", "confidence_95", "accepted_confidence_95"), _or_none(_is_number)),
    **dict.fromkeys(("mean_hops", "fairness", "zero_load_latency"), _or_none(_is_number)),
    "steady": _or_none(lambda value: isinstance(value, bool)),
    "note": _or_none(lambda value: isinstance(value, str)),
    **dict.fromkeys(("packet_latency", "network_latency"), _or_none(_is_summary)),
}
"""What a measurement of one seed says, and which values it can have."""

SEVERAL: Mapping[str, Callable[[Any], bool]] = {
    "seeds": _is_count,
    "latency_of_seed": _list_of(_or_none(_is_number)),
    "accepted_rate_of_seed": _list_of(_is_number),
    "messages_of_seed": _list_of(lambda value: isinstance(value, str)),
}
"""What several seeds say besides."""

MEASURED = {*SINGLE, *SEVERAL}
"""The columns that are measured: all others say of what."""


def wrong_column(row: Row, seeds: int) -> str | None:
    """Return a column of a row that is not as a measurement with so many seeds leaves it; None if all are."""
    for name, fits in {**SINGLE, **(SEVERAL if seeds > 1 else {})}.items():
        if name not in row or not fits(row[name]) or (name.endswith("_of_seed") and len(row[name]) != seeds):
            return name
    return None


class ResultsFile:
    """Rows by their keys in a file, written whole after each new one: Parquet, CSV or JSON, by its suffix.

    An interrupted sweep loses nothing, and sweeps that write one file keep each other's rows.

    Parameters
    ----------
    path : Path or None
        None to keep them in memory alone.

    Raises
    ------
    SpecError
        If the file has none of :data:`SUFFIXES`, is there and is none of these, or of an older version, or cannot be
        written.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._rows: dict[str, Row] = {}
        self._seen: tuple[int, int, int] | None = None
        if path is None:
            return
        check_file(named("results"), path)
        if path.suffix not in FORMATS:
            raise SpecError(f"{named('results')} {choices_text(SUFFIXES, str(path), 'a file, ')}")
        check_folder(f"folder of {named('results')}", path.parent)
        if path.suffix == ".parquet":
            import_module("pyarrow")  # an error now, not after the first row
        self._merge(path)

    def get(self, key: str) -> Row | None:
        """Return the row of a key, None if there is none."""
        return self._rows.get(key)

    def add(self, key: str, row: Row) -> None:
        """Keep a row, and take over what others have written."""
        self._rows[key] = row
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self._path.parent):
            self._merge(self._path)
            content = FORMATS[self._path.suffix][1]([{"key": key, **kept} for key, kept in self._rows.items()])
            with replacing(self._path) as new:
                new.write_bytes(content)
            self._seen = _state(self._path)

    def _merge(self, path: Path) -> None:
        """Take over the rows of the file if it is not as it was written here."""
        state = _state(path)
        if state not in (None, self._seen):
            self._rows = _read(path) | self._rows


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return what changes with a file; None if there is none."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return state.st_ino, state.st_size, state.st_mtime_ns


def _read(path: Path) -> dict[str, Row]:
    try:
        rows = FORMATS[path.suffix][0](path)
        if not all("key" in row for row in rows):
            raise ValueError("it has no column key")
        if not all(isinstance(row["key"], str) for row in rows):
            raise ValueError("its column key is not of strings")
    except (OSError, RecursionError, TypeError, ValueError, csv.Error) as error:
        reason, what = " ".join(str(error).split()), NAMES[path.suffix]
        raise SpecError(f"{named('results')} must be a {what} file of a sweep, not {str(path)!r}: {reason}") from None
    if not all("zero_load_latency" in row for row in rows) or not rows:
        raise SpecError(f"results of {str(path)!r} are of an older version: give another file")
    return {row.pop("key"): row for row in rows}


def _read_parquet(path: Path) -> list[Row]:
    import pyarrow
    from pyarrow import parquet

    try:
        with path.open("rb") as file:
            table = parquet.ParquetFile(file).read(use_threads=False)  # a thread with Python's file may abort its end
    except pyarrow.ArrowException as error:
        raise ValueError(str(error)) from None
    rows: list[Row] = table.to_pylist()
    return rows


def _write_parquet(rows: Sequence[Row]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    content = pyarrow.BufferOutputStream()
    names = list(dict.fromkeys(name for row in rows for name in row))
    parquet.write_table(pyarrow.Table.from_pylist([{name: row.get(name) for name in names} for row in rows]), content)
    written: bytes = content.getvalue().to_pybytes()
    return written


def _read_json(path: Path) -> list[Row]:
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(rows, list):
        raise ValueError("it is no list of rows")
    return rows


def _write_json(rows: Sequence[Row]) -> bytes:
    lines = ",\n".join(json.dumps(row) for row in rows)
    return f"[\n{lines}\n]\n".encode()


def _read_csv(path: Path) -> list[Row]:
    """Read rows back; a column ``a.b`` is the member b of an object a."""
    with path.open(newline="", encoding="utf-8") as file:
        reader: csv.DictReader[str] = csv.DictReader(file, strict=True)
        return [_nested({name: _value(name, cell) for name, cell in row.items()}) for row in reader]


def _write_csv(rows: Sequence[Row]) -> bytes:
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(name, row.get(name)) for name in names] for row in flat)
    return text.getvalue().encode()


def _flat(row: Mapping[str, Any]) -> Row:
    flat: Row = {}
    for name, value in row.items():
        flat |= {f"{name}.{part}": inner for part, inner in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def _nested(row: Mapping[str, Any]) -> Row:
    """Return a row with its objects; one of which there is no member is nothing."""
    nested: Row = {}
    for name, value in row.items():
        outer, _, inner = name.partition(".")
        if inner:
            nested[outer] = (nested.get(outer) or {}) | {inner: value}
        else:
            nested.setdefault(name, value)
    return {
        name: None if isinstance(value, dict) and set(value.values()) == {None} else value
        for name, value in nested.items()
    }


def _cell(name: str, value: Any) -> str:
    """Return a value as a cell: text as it is, unless it would be read as something else; the rest as in JSON."""
    if value is None:
        return ""
    if isinstance(value, str) and _value(name, value) == value:
        return value
    return json.dumps(value)


def _value(name: str, cell: str) -> Any:
    if not cell:
        return "" if name in KEPT_TEXT else None
    try:
        return json.loads(cell)
    except ValueError:
        return cell


FORMATS: dict[str, tuple[Callable[[Path], list[Row]], Callable[[Sequence[Row]], bytes]]] = {
    ".parquet": (_read_parquet, _write_parquet),
    ".csv": (_read_csv, _write_csv),
    ".json": (_read_json, _write_json),
}
"""By the suffix of a file: what reads its rows, and what makes its content of rows."""

NAMES = {".parquet": "Parquet", ".csv": "CSV", ".json": "JSON"}

SUFFIXES = tuple(FORMATS)
"""That a file of results can have."""
