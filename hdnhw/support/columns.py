"""Tables of columns in a file, Parquet or CSV."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from hdnhw.support.files import check_output, replacing
from hdnhw.support.naming import named


def check_columns(what: str, path: Path) -> None:
    """Raise SpecError unless :func:`write_columns` can write a file of this name; `what` names it."""
    check_output(named(what), path, (".parquet", ".csv"))
    import_module("pyarrow")  # an error now, not after the work


def read_parquet(file: BinaryIO) -> Any:
    """Return the pyarrow.Table of a Parquet file."""
    from pyarrow import parquet

    return parquet.ParquetFile(file).read(use_threads=False)  # a thread with Python's file may abort its end


def write_columns(columns: Mapping[str, Any], path: Path) -> None:
    """Write a table of columns of one length, by their names: a .parquet file, or .csv."""
    import pyarrow
    from pyarrow import csv, parquet

    write = csv.write_csv if path.suffix == ".csv" else parquet.write_table
    content = pyarrow.BufferOutputStream()
    write(pyarrow.table(dict(columns)), content)
    with replacing(path) as new:
        new.write_bytes(content.getvalue())
