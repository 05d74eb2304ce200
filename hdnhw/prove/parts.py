"""A router in two kinds of parts, each in a rig of its own: the queues of an input, and the switch between them.

What a part is told by the others is made by the rig, and is anything that they may say; what it may assume of them is
claimed of them in their rigs. A queue offers a way, one-hot, that changes at the end of the update phase only, from
none to one also when a packet has become known, and is none after reset; the switch tells an input to read one of its
queues, and that a packet leaves it, in phases of their own, and only of a queue that has been read and has a packet.
"""

from hdnhw.emit.fabric import EmittedFabric
from hdnhw.prove.rig import Rig

__all__ = ["RouterPart", "Ways"]

Ways = tuple[tuple[int, int], ...]
"""The (output port, virtual channel there) that packets of one queue can take, in the order of a decision's bits."""


class RouterPart(Rig):
    """A rig around a part of a router.

    Parameters
    ----------
    fabric : EmittedFabric
    shape : int
        Number of the router's shape in the plan.
    bit : int
        Of a flit's data, the one that is looked at.
    """

    def __init__(self, fabric: EmittedFabric, shape: int, bit: int) -> None:
        super().__init__(fabric, fabric.modules.routers[shape])
        timing = self._timing
        self._bit = bit
        self._shape = self._plan.shapes[shape]
        self._local = len(self._plan.network.ports)
        self._lead = timing.most_lead if self._machine.is_block_ram else 0
        self._read_phase = self._length - 1 - self._lead
        self._push_phase = timing.head_phase + timing.registers_routes
        self._flit_phase = timing.head_phase - 1 - timing.channel_registers

    def _name(self, port: int) -> str:
        return "injection" if port == self._local else self._plan.network.ports[port].name

    def _num_vcs(self, port: int) -> int:
        """Return the virtual channels of an input."""
        ports = self._plan.network.ports
        return 1 if port == self._local else self._plan.num_vcs[ports[port].opposite]

    def _ways(self, port: int, vc: int) -> Ways:
        """Return the ways of a queue; one into which no packet comes has a way that none takes."""
        return tuple(self._shape.ways(port, vc)) or ((self._local, 0),)

    @property
    def _told(self) -> str:
        """The phases in which a queue looks at whether a packet leaves it."""
        if self._timing.registers_routes:
            return f"({self._at(self._timing.update_phase - 1)} || counted)"
        return "counted"
