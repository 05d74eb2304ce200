"""The stages of routers and terminals as compiled code on arrays, a file each under the name it has in ``hdnhw.rtl``.

:mod:`~hdnhw.model.kernel.state` says what the arrays hold, :mod:`~hdnhw.model.kernel.fabric` runs the stages in turn.
Work is done for what is there alone: routers that hold a packet, sources that have one to send, packets on channels,
credits on their way.
"""
