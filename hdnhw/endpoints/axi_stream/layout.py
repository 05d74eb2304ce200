"""Layouts of the two streams of a user of an endpoint."""

from amaranth.lib import data

from hdnhw.endpoints.axi_stream.format import FrameFormat


def send_layout(frames: FrameFormat) -> data.StructLayout:
    """Return a transfer into an endpoint; `dest`, a packed address, and `user` count in a frame's first transfer."""
    fields = frames.header_fields
    return data.StructLayout(
        {
            "data": frames.flits.flit_width,
            "keep": fields["keep"],
            "last": 1,
            "dest": fields["dst"],
            "user": fields["user"],
        }
    )


def receive_layout(frames: FrameFormat) -> data.StructLayout:
    """Return a transfer out of an endpoint; `id`, the source's packed address, and `user` hold for the whole frame."""
    fields = frames.header_fields
    return data.StructLayout(
        {
            "data": frames.flits.flit_width,
            "keep": fields["keep"],
            "last": 1,
            "id": fields["src"],
            "user": fields["user"],
        }
    )
