"""Layouts of the channels of AXI4, and of what passes between the halves of an endpoint."""

from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.format import MemoryFormat

INSIDE_ID = 1
"""Bits of the IDs that memories see, which are 0."""


class Burst(enum.IntEnum, shape=2):
    """Types of bursts."""

    FIXED = 0
    INCR = 1
    WRAP = 2


class Response(enum.IntEnum, shape=2):
    """Responses; the worse one is the greater."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


def address_layout(*, id_width: int, address_width: int) -> data.StructLayout:
    """Return a transfer of the channels AW and AR."""
    return data.StructLayout({"id": id_width, "addr": address_width, "len": 8, "size": 3, "burst": 2})


def channels(memory: MemoryFormat, *, inside: bool) -> dict[str, tuple[bool, data.StructLayout]]:
    """Return the channels of a port: name -> whether it leads from a manager to its subordinate, and its transfer.

    Parameters
    ----------
    memory : MemoryFormat
    inside : bool
        Whether it is the port of a memory; otherwise that of a manager.
    """
    id_width = INSIDE_ID if inside else memory.endpoints.id_width
    address = address_layout(
        id_width=id_width, address_width=memory.endpoints.memory_bits if inside else memory.address_bits
    )
    width = memory.flits.flit_width
    return {
        "aw": (True, address),
        "w": (True, data.StructLayout({"data": width, "strb": memory.bytes, "last": 1})),
        "b": (False, data.StructLayout({"id": id_width, "resp": 2})),
        "ar": (True, address),
        "r": (False, data.StructLayout({"id": id_width, "data": width, "resp": 2, "last": 1})),
    }


def manager_signature(memory: MemoryFormat, *, inside: bool) -> wiring.Signature:
    """Return a port of AXI4 as a manager has it: a stream for each of the :func:`channels`."""
    return wiring.Signature(
        {
            name: (Out if to_subordinate else In)(stream.Signature(layout))
            for name, (to_subordinate, layout) in channels(memory, inside=inside).items()
        }
    )


def part_layout(memory: MemoryFormat) -> data.StructLayout:
    """Return a part of a burst: its place, its beats, and what its source needs for the answer.

    ``last``: it ends its burst; ``refused``: it is not sent, and answered with ``resp``.
    """
    fields = memory.header_fields
    return data.StructLayout(
        {
            **{name: fields[name] for name in ("dst", "end", "size", "fixed", "addr")},
            "last": 1,
            "id": memory.endpoints.id_width,
            "refused": 1,
            "resp": 2,
        }
    )


def answer_layout(memory: MemoryFormat) -> data.StructLayout:
    """Return what an answer says: of which part, and the response."""
    return data.StructLayout({"tag": memory.header_fields["tag"], "resp": 2})
