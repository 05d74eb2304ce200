"""A router of the core by itself, for tests."""

import numpy as np

from hdnhw.core.rule import CoreRule
from hdnhw.model.core import QUEUE, QUEUED, TAG, WAY, WHERE, CoreFabric, CoreMachine

EPOCHS = 1 << 7, 1 << 15
"""Slots of an epoch, of routers whose inputs have one virtual channel each, and of the others."""


class BareRouter:
    """One node of those of which `several` tells whether an input has two virtual channels or more.

    Queues (entries) and output virtual channels (ways) have the numbers of the core. `free` is the credits of a way;
    the attribute `ways`, axes (node, way), may be changed between allocations. If `part_nodes` is not 0, but all nodes,
    it is not one of the small routers where it could be.
    """

    part_nodes = 0

    def __init__(self, free, several, node, *, vc_bits, lanes, rounds, early):
        self.node, self.vc_bits, self.slots, self._allocated = node, vc_bits, 0, 0
        nodes, ports = len(several), (len(free) >> vc_bits) - 1
        local = ports << vc_bits
        none = dict.fromkeys(
            ("update", "late", "ejection_cycles", "offset", "injection", "gapless", "gap", "stall", "hold"), 0
        )
        self.epoch = EPOCHS[vc_bits > 0 or rounds > 0]
        slots = {name: np.ones(ports) for name in ("latency", "credit_latency", "interval")}
        arrays = dict.fromkeys(("dead", "odd", "drawn_nodes", "drawn_targets", "generators"))
        machine = CoreMachine(
            CoreRule.of_table(np.full((1, 1), ports, np.int32), ports),
            **none,
            **slots,
            **arrays,
            nodes=nodes,
            ports=ports,
            vc_bits=vc_bits,
            lane_bits=(lanes - 1).bit_length(),
            first_vc=0,
            address_bits=0,
            rounds=rounds,
            early=early,
            length=1,
            sample=0,
            ejection_slots=1,
            injection_buffers=1,
            ejection_buffers=1,
            scheme=0,
            drawn=0,
            counting=False,
            threads=1,
            part_nodes=self.part_nodes,
            address=np.zeros(nodes),
            neighbors=np.repeat(np.arange(nodes), ports),
            flips=np.zeros(ports),
            mirror=np.arange(local),
            room=free,
            several=several,
            hangs=np.zeros(nodes),
        )
        self._core = CoreFabric(machine)
        self.ways = self._core.credits()

    def put(self, entry, way, packet):
        """Put a packet into a queue, before the next allocation."""
        self._core.put(self.node, entry, way, packet)

    def _waiting(self):
        found = self._core.found()
        return {row[TAG]: (row[QUEUE], row[WAY]) for row in found[found[:, WHERE] == QUEUED].tolist()}

    def allocate(self):
        """Allocate once; return what is sent, (queue, output virtual channel, packet), which is taken out."""
        waited = self._waiting()
        self._core.set_credits(self.ways)
        starts = self.slots // self.epoch != self._allocated // self.epoch
        self._core.step(self.node, self.slots, starts_epoch=starts)
        self.ways[:] = self._core.credits()
        self._allocated, self.slots = self.slots, self.slots + 1
        waits = self._waiting()
        return [(*where, packet) for packet, where in waited.items() if packet not in waits]
