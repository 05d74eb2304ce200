"""A router of the model by itself, for tests: what the fabric does with it, called from Python."""

from hdnhw.model.kernel import allocator, queue
from hdnhw.model.kernel.compiled import kept
from hdnhw.model.kernel.reset import make_routers

allocate_node, note_sent, push_packet, note_arrival, take_packet = (
    kept(kernel.py_func)
    for kernel in (
        allocator.allocate_node,
        allocator.note_sent,
        queue.push_packet,
        queue.note_arrival,
        queue.take_packet,
    )
)


class BareRouter:
    """One node of those of which `several` tells whether an input has two virtual channels or more.

    Queues (entries) and output virtual channels (ways) have the numbers of :mod:`hdnhw.model.kernel.state`. `credits`
    and the other options are those of :func:`hdnhw.model.kernel.reset.make_routers`.
    """

    def __init__(self, credits, several, node, *, vc_bits, lanes, rounds, early, room):
        self.node, self.vc_bits, self.slots = node, vc_bits, 0
        self.routers = make_routers(
            credits,
            several,
            first_vc=0,
            vc_bits=vc_bits,
            lane_bits=(lanes - 1).bit_length(),
            rounds=rounds,
            early=early,
            held=room,
            room=room,
        )

    def put(self, entry, way, packet):
        """Put a packet into a queue, before the next allocation."""
        push_packet(self.routers.pool, self.routers.queues, self.node, entry, packet, way)
        if self.routers.early:
            note_arrival(self.routers.queues, self.node, entry, self.slots)

    def allocate(self):
        """Allocate once; return what is sent, (queue, output virtual channel, packet), which is taken out."""
        routers, sent = self.routers, []
        granted = allocate_node(routers, self.slots, self.node)
        columns = routers.work.queue, routers.work.output_vc
        for entry, way in zip(*(column[:granted].tolist() for column in columns), strict=True):
            note_sent(routers, self.slots, self.node, entry, way)
            sent.append((entry, way, int(take_packet(routers.pool, routers.queues, self.node, entry, way))))
        self.slots += 1
        return sent
