"""Rows of measurements that outlive the process that measured them."""

from importlib import import_module
from pathlib import Path
from typing import Any

from hdnhw.files import check_file, check_folder, locked, replacing
from hdnhw.spec import SpecError

__all__ = ["ResultsFile", "Row"]

Row = dict[str, Any]


class ResultsFile:
    """Rows by their keys in a Parquet file, written whole after each new one.

    An interrupted sweep loses nothing, and sweeps that write one file keep each other's rows.

    Parameters
    ----------
    path : Path or None
        None to keep them in memory alone.

    Raises
    ------
    SpecError
        If the file is there and is none of these, or of an older version, or cannot be written.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._rows: dict[str, Row] = {}
        self._seen: tuple[int, int, int] | None = None
        if path is not None:
            check_file("results", path)
            check_folder("folder of results", path.parent)
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
        import pyarrow
        from pyarrow import parquet

        self._path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self._path.parent):
            self._merge(self._path)
            table = pyarrow.Table.from_pylist([{"key": key, **kept} for key, kept in self._rows.items()])
            content = pyarrow.BufferOutputStream()
            parquet.write_table(table, content)
            with replacing(self._path) as new:
                new.write_bytes(content.getvalue())
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
    import pyarrow
    from pyarrow import parquet

    try:
        with path.open("rb") as file:
            table = parquet.ParquetFile(file).read(use_threads=False)  # a thread with Python's file may abort its end
        if table.schema.field("key").type != pyarrow.string():
            raise ValueError("its column key is not of strings")
        rows = table.to_pylist()
    except (pyarrow.ArrowException, OSError, KeyError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise SpecError(f"results must be a Parquet file of a sweep, not {str(path)!r}: {reason}") from None
    if "zero_load_latency" not in table.schema.names:
        raise SpecError(f"results of {str(path)!r} are of an older version: give another file")
    return {row.pop("key"): row for row in rows}
