"""Layouts of the two streams of a user of an endpoint."""

from amaranth.lib import data

from hdnhw.endpoints.axi_stream.format import FrameFormat


def send_layout(frames: FrameFormat) -> data.StructLayout:
    """Return a transfer into an endpoint; `dest`, a packed address, and `user` count in a frame's first transfer."""
    return _layout(frames, "dest", "dst")


def receive_layout(frames: FrameFormat) -> data.StructLayout:
    """Return a transfer out of an endpoint; `id`, the source's packed address, and `user` hold for the whole frame."""
    return _layout(frames, "id", "src")


def _layout(frames: FrameFormat, end: str, field: str) -> data.StructLayout:
    fields = frames.header_fields
    members = {"data": frames.flits.flit_width, "keep": fields["keep"], "last": 1}
    return data.StructLayout({**members, end: fields[field], "user": fields["user"]})
