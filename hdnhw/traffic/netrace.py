"""Netrace files: packets of a simulated multiprocessor, and which of them wait for which.

All integers are little-endian and packed. A file is a header, notes and regions, whose lengths the header tells, and
packets in the order of cycles, each followed by the numbers of the packets that depend on it.

References
----------
Hestness, Grot and Keckler, Netrace: dependency-driven trace-based network-on-chip simulation, NoCArc 2010; version 1.0
of the format is that of https://github.com/booksim/netrace.
"""

from array import array
from collections.abc import Callable
from struct import Struct
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text
from hdnhw.traffic.trace import Trace, make_trace

MAGIC = (0x484A5455).to_bytes(4, "little")
"""Of the file."""

HEADER = Struct("<4sf40xQII8x")
"""Magic number, version, (benchmark, nodes, cycles), packets, bytes of notes, regions."""

REGION_BYTES, MOST_REGIONS, MOST_NOTES = 24, 100, 8191

PACKET = Struct("<QI4xBBBxB")
"""Cycle, number, (address), type, source, destination, (types of nodes), how many packets wait for it."""

SHORT, LONG = 8, 72
BYTES = dict.fromkeys((1, 5, 13, 14, 15, 25, 27, 28, 29), SHORT) | dict.fromkeys((2, 3, 4, 6, 16, 30), LONG)
"""Of a packet, by its type: an address and a command, or a line of the cache of 64 bytes with them."""

Integers = npt.NDArray[np.int64]


def read_netrace(file: BinaryIO, name: str, *, nodes: int, flit_width: int, limit: int | None) -> Trace:
    """Read a file from its beginning.

    Parameters
    ----------
    file : binary file
    name : str
        Of the file, for errors.
    nodes : int
        Of the network.
    flit_width : int
        Bits a flit.
    limit : int or None
        Cycle from which on packets are left out.

    Raises
    ------
    SpecError
        If it is no such file, or a packet cannot be.
    """
    promised = _read_header(file, name)
    packets, later, whole = _read_packets(file, name, limit)
    if whole and len(packets["number"]) < promised:
        raise SpecError(f"{name}: must have the {promised} packets of its header, not {len(packets['number'])}")
    number, kind, waiting = packets["number"], packets["type"], packets["waiting"]

    def place(packet: int) -> str:
        return f"{name}: packet {number[packet]}"

    falling = np.flatnonzero(packets["cycle"][1:] < packets["cycle"][:-1])
    if len(falling):
        raise SpecError(f"{place(int(falling[0]) + 1)}: packets must be in the order of cycles")
    size = np.array([BYTES.get(value, 0) for value in range(256)])[kind]
    if not size.all():
        wrong = int(np.argmin(size))
        raise SpecError(f"{place(wrong)}: type {choices_text(map(str, sorted(BYTES)), int(kind[wrong]))}")
    columns = packets | {"flits": -(-8 * size // flit_width)}
    dependencies = _dependencies(number, waiting, later, place)
    return make_trace("netrace", columns, nodes=nodes, place=place, dependencies=dependencies, whole=whole)


def _read_header(file: BinaryIO, name: str) -> int:
    """Skip what stands before the packets and return how many they are to be."""
    header = file.read(HEADER.size)
    if len(header) < HEADER.size:
        raise SpecError(f"{name}: ends within its header")
    magic, version, packets, notes, regions = HEADER.unpack(header)
    if magic != MAGIC or version != 1:
        raise SpecError(f"{name}: must be a Netrace file of version 1.0, not {version:.1f}")
    if notes > MOST_NOTES or regions > MOST_REGIONS:
        raise SpecError(f"{name}: must have at most {MOST_NOTES} bytes of notes and {MOST_REGIONS} regions")
    file.read(notes + REGION_BYTES * regions)
    return int(packets)


def _read_packets(file: BinaryIO, name: str, limit: int | None) -> tuple[dict[str, npt.NDArray[Any]], Integers, bool]:
    """Return columns of the packets, all numbers of packets that depend on others, and whether the file has ended."""
    columns = {"cycle": array("Q"), "number": array("I")}
    columns |= {field: array("B") for field in ("type", "source", "destination", "waiting")}
    later, whole = bytearray(), True
    while record := file.read(PACKET.size):
        if len(record) == PACKET.size:
            values = PACKET.unpack(record)
            if limit is not None and values[0] >= limit:
                whole = False
                break
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
            numbers = file.read(4 * values[-1])
            later += numbers
        if len(record) < PACKET.size or len(numbers) < 4 * values[-1]:
            raise SpecError(f"{name}: ends within a packet, behind {len(columns['cycle'])} of them")
    arrays = {field: np.array(column) for field, column in columns.items()}
    return arrays, np.frombuffer(later, "<u4").astype(np.int64), whole


def _dependencies(
    number: npt.NDArray[Any], waiting: npt.NDArray[Any], later: Integers, place: Callable[[int], str]
) -> tuple[Integers, Integers]:
    """Return the dependencies as in :class:`Trace`, without those on packets that have not been read."""
    order = np.argsort(number, kind="stable")
    ranked = number[order]
    twice = np.flatnonzero(ranked[1:] == ranked[:-1])
    if len(twice):
        raise SpecError(f"{place(int(order[twice[0]]))}: numbers of packets must differ")
    packet = np.repeat(np.arange(len(number)), waiting)
    rank = np.minimum(np.searchsorted(ranked, later), len(ranked) - 1)
    known = ranked[rank] == later
    packet, dependent = packet[known], order[rank[known]]
    wrong = np.flatnonzero(dependent <= packet)
    if len(wrong):
        raise SpecError(
            f"{place(int(dependent[wrong[0]]))}: must come behind {number[packet[wrong[0]]]}, for which it waits"
        )
    return np.append(0, np.cumsum(np.bincount(packet, minlength=len(number)))), dependent
