"""Trace files: text, Parquet and Netrace, told apart by what they begin with; they may be compressed with bzip2.

A text has a message a line: cycle, source, destination, and flits, which may be left out. ``#`` begins a comment.
"""

import bz2
from array import array
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from hdnhw.support.columns import read_parquet
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.traffic.netrace import MAGIC, read_netrace
from hdnhw.traffic.trace import COLUMNS, Trace, make_trace

MOST_BYTES = 1 << 16
"""Of a line: a file without ends of lines is refused before it is read."""

LINE = "three or four integers: cycle, source, destination and flits"


def read_trace(path: Path, *, nodes: int, packet_length: int, flit_width: int, limit: int | None = None) -> Trace:
    """Read the messages of a file.

    Parameters
    ----------
    path : Path
    nodes : int
        Of the network.
    packet_length : int
        Flits of a message if the file does not say.
    flit_width : int
        Bits a flit: what turns bytes into flits.
    limit : int, optional
        A cycle from which on messages need not be read.

    Raises
    ------
    SpecError
        If the file cannot be read, or is no trace for this network.
    """
    name = str(path)
    try:
        raw = path.open("rb")
    except OSError:
        raise SpecError(f"{named('trace')} must be a file that can be read, not {name!r}") from None
    with raw:
        packed = raw.peek(3)[:3] == b"BZh"
        file = BufferedReader(cast(Any, bz2.BZ2File(raw)), 1 << 20) if packed else raw
        try:
            begin = file.peek(4)[:4]
            if begin == MAGIC:
                trace = read_netrace(file, name, nodes=nodes, flit_width=flit_width, limit=limit)
            elif begin == b"PAR1":
                trace = _read_parquet(file, name, nodes, packet_length)
            else:
                trace = _read_text(file, name, nodes, packet_length)
        except (EOFError, OSError) as error:
            raise SpecError(f"{name}: {error}") from None
    if not len(trace):
        raise SpecError(f"{name}: must have a message{'' if trace.whole else f' before cycle {limit}'}")
    return trace


def _read_text(file: BinaryIO, name: str, nodes: int, packet_length: int) -> Trace:
    columns = [array("q") for _ in COLUMNS]
    lines = array("q")
    for number, line in enumerate(iter(partial(file.readline, MOST_BYTES + 1), b""), 1):
        if len(line) > MOST_BYTES:
            raise SpecError(f"{name}: line {number} must have at most {MOST_BYTES} bytes")
        fields = line.split(b"#", 1)[0].split()
        if not fields:
            continue
        try:
            values = [int(field) for field in fields]
            for column, value in zip(columns, values if len(values) == 4 else [*values, packet_length], strict=True):
                column.append(value)
        except (ValueError, OverflowError):
            shown = line.decode(errors="replace").strip()[:60]
            raise SpecError(f"{name}: line {number} must be {LINE}, not {shown!r}") from None
        lines.append(number)
    arrays = {column: np.array(values) for column, values in zip(COLUMNS, columns, strict=True)}
    return make_trace("text", arrays, nodes=nodes, place=lambda message: f"{name}: line {lines[message]}")


def _read_parquet(file: BinaryIO, name: str, nodes: int, packet_length: int) -> Trace:
    import pyarrow

    try:
        table = read_parquet(file)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise SpecError(f"{name}: must be a Parquet file: {reason}") from None
    if "flits" not in table.column_names:
        table = table.append_column("flits", pyarrow.array(np.full(len(table), packet_length)))
    arrays: dict[str, npt.NDArray[Any]] = {}
    for column in COLUMNS:
        if table.column_names.count(column) != 1:
            raise SpecError(f"{name}: must have the columns {', '.join(COLUMNS[:3])}, and may have flits")
        values = table.column(column)
        if not pyarrow.types.is_integer(values.type) or values.null_count:
            raise SpecError(
                f"{name}: column {column} must be integers, not {values.type} with {values.null_count} nulls"
            )
        arrays[column] = values.to_numpy()
    return make_trace("parquet", arrays, nodes=nodes, place=lambda message: f"{name}: row {message}")
