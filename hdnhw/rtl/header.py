"""The header of a packet as a struct."""

from amaranth.lib import data

from hdnhw.machine.flit import HeaderFormat


def header_layout(packets: HeaderFormat) -> data.StructLayout:
    """Return the header of a packet, see :class:`hdnhw.machine.flit.HeaderFormat`."""
    return data.StructLayout(dict(packets.header_fields))
