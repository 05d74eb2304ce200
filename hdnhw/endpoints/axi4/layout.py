"""Layouts of the channels of AXI4, and of what passes between the halves of an endpoint."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from amaranth.hdl import Cat, Const, Value
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.rtl.bits import below, index_width

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


def address_layout(*, id_width: int, address_width: int, attributes: Mapping[str, int]) -> data.StructLayout:
    """Return a transfer of the channels AW and AR."""
    place = {"id": id_width, "addr": address_width, "len": 8, "size": 3, "burst": 2}
    return data.StructLayout({**place, **attributes})


CHANNELS = {"aw": True, "w": True, "b": False, "ar": True, "r": False}
"""Channels of a port -> whether they lead from a manager to its subordinate."""

STREAM = "t"
"""The one channel of a stream, which leads from its source to its sink."""


def is_forth(channel: str) -> bool:
    """Return whether a channel leads from a manager, or a source, to a subordinate, or a sink."""
    return channel == STREAM or CHANNELS[channel]


def port_layouts(
    *, id_width: int, address_width: int, data_width: int, attributes: Mapping[str, int] = MappingProxyType({})
) -> dict[str, data.StructLayout]:
    """Return the transfers of the :data:`CHANNELS` of a port."""
    address = address_layout(id_width=id_width, address_width=address_width, attributes=attributes)
    return {
        "aw": address,
        "w": data.StructLayout({"data": data_width, "strb": data_width // 8, "last": 1}),
        "b": data.StructLayout({"id": id_width, "resp": 2}),
        "ar": address,
        "r": data.StructLayout({"id": id_width, "data": data_width, "resp": 2, "last": 1}),
    }


def wires_of(stem: str, layout: data.StructLayout, *, leads_in: bool) -> dict[str, tuple[bool, int]]:
    """Return the wires of a channel as AXI4 names them: behind a stem, whether each is an input, and its bits."""
    fields = {f"{stem}{field}": (leads_in, shape.width) for field, shape in layout}
    return fields | {f"{stem}valid": (leads_in, 1), f"{stem}ready": (not leads_in, 1)}


def end_of(component: Any, stem: str, layout: data.StructLayout) -> dict[str, Any]:
    """Return such a channel of a component, as one end of a stream."""
    payload = Cat(getattr(component, f"{stem}{field}") for field, _ in layout)
    return {"payload": payload, **{part: getattr(component, f"{stem}{part}") for part in ("valid", "ready")}}


def between(near: dict[str, data.StructLayout], far: dict[str, data.StructLayout]) -> dict[str, Any]:
    """Return the members of what stands between a manager, at ``near_*``, and a subordinate, at ``far_*``."""
    members: dict[str, Any] = {}
    for name in near:
        forth = is_forth(name)
        members[f"near_{name}"] = (In if forth else Out)(stream.Signature(near[name]))
        members[f"far_{name}"] = (Out if forth else In)(stream.Signature(far[name]))
    return members


def channels(memory: MemoryFormat, *, inside: bool, data_width: int = 0) -> dict[str, data.StructLayout]:
    """Return the transfers of the :data:`CHANNELS` of an endpoint's port.

    Parameters
    ----------
    memory : MemoryFormat
    inside : bool
        Whether it is the port of a memory; otherwise that of a manager.
    data_width : int
        Bits of the data; those of a flit if it is 0.
    """
    return port_layouts(
        id_width=INSIDE_ID if inside else memory.endpoints.id_width,
        address_width=memory.endpoints.memory_bits if inside else memory.address_bits,
        data_width=data_width or memory.flits.flit_width,
        attributes=memory.attributes,
    )


def manager_signature(memory: MemoryFormat, *, inside: bool) -> wiring.Signature:
    """Return a port of AXI4 as a manager has it: a stream for each of the :func:`channels`."""
    return wiring.Signature(
        {
            name: (Out if CHANNELS[name] else In)(stream.Signature(layout))
            for name, layout in channels(memory, inside=inside).items()
        }
    )


def place_fields(memory: MemoryFormat) -> tuple[str, ...]:
    """Return the fields of a header that say what a request asks for, but for the strobes."""
    return ("dst", "end", "size", "fixed", "addr", *memory.attributes)


def part_layout(memory: MemoryFormat) -> data.StructLayout:
    """Return a part of a burst: its place, its beats, and what its source needs for the answer.

    ``own``: it is for the memory of the node; ``last``: it ends its burst; ``single``: it is one beat; ``refused``: it
    is not sent, and answered with ``resp``.
    """
    fields = memory.header_fields
    return data.StructLayout(
        {
            **{name: fields[name] for name in place_fields(memory)},
            "own": 1,
            "last": 1,
            "single": 1,
            "id": memory.endpoints.id_width,
            "refused": 1,
            "resp": 2,
        }
    )


def answer_layout(memory: MemoryFormat) -> data.StructLayout:
    """Return what an answer says: of which part, and the response."""
    return data.StructLayout({"tag": memory.header_fields["tag"], "resp": 2})


def bits_inside(memory: MemoryFormat, size: Value) -> Value:
    """Return the bits of a byte's place in a word that differ within a beat of a size, set."""
    bits = index_width(memory.bytes)
    return Cat(~below(size, bit + 1) for bit in range(bits)) if memory.bytes > 1 else Const(1, bits)


def place_behind(place: Value, inside: Value, fixed: Value) -> Value:
    """Return a place in a word in the beat behind the one that has `place`; see :func:`bits_inside`."""
    return ((place | inside) + ~fixed)[: len(place)]


def lanes_at(memory: MemoryFormat, place: Value, inside: Value) -> Value:
    """Return the strobes of a beat that writes all its lanes, `place` among them."""
    return Cat(
        Cat(
            bit | ~(at ^ (lane >> number & 1)) for number, (bit, at) in enumerate(zip(inside, place, strict=True))
        ).all()
        for lane in range(memory.bytes)
    )
