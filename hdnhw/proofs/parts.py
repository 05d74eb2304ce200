"""A router in two kinds of parts, each in a rig of its own: the queues of an input, and the switch between them.

What a part is told by the others is made by the rig, and is anything that they may say; what it may assume of them is
claimed of them in their rigs. A queue offers a way, one-hot, that changes at the end of the update phase only, from
none to one also when a packet has become known, and is none after reset; the switch tells an input to read one of its
queues, and that a packet leaves it, in phases of their own, and only of a queue that has been read and has a packet.
"""

import re
from itertools import combinations

from hdnhw.proofs.rig import Rig
from hdnhw.rtl.buffer import Ways
from hdnhw.rtl.router import ways_of
from hdnhw.verilog.fabric import EmittedFabric


class RouterPart(Rig):
    """A rig around a part of a router.

    Parameters
    ----------
    fabric : EmittedFabric
    shape : int
        Number of the router's shape in the plan.
    bit : int
        Of a flit's data, or above that of its check bits, the one that is looked at.
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
        """Return the ways of a queue, in the order of a decision's bits."""
        return tuple(ways_of(self._machine, self._shape, port, vc))

    def _ignore(self, port: int) -> str:
        """Let the channel of a port be dead, in any cycles; return whether what comes in by it is not seen."""
        self._cut("dead_from", self._free("f_dead_from", self._local))
        commit, before = self._at(self._timing.commit_phase), self._at(self._timing.head_phase - 1)
        self._register("ignores", f"{commit} ? f_dead_from[{port}] : ignores", reset="")
        return self._register("ignored", f"{before} ? ignores : ignored", reset="")

    @property
    def _told(self) -> str:
        """The phases in which a queue looks at whether a packet leaves it."""
        if self._timing.registers_routes:
            return f"({self._at(self._timing.update_phase - 1)} || counted)"
        return "counted"

    def _hint_orders(self) -> None:
        """Look at orders of service: who was served before whom goes round in no circle of three, so in none."""
        orders: dict[str, dict[tuple[int, int], str]] = {}
        for name, one, other in re.findall(r"^  reg \\(allocator\.\w*order\w*)_(\d+)_(\d+) ", self._text, re.MULTILINE):
            net = f"{name}_{one}_{other}"
            orders.setdefault(name, {})[int(one), int(other)] = self._look(f"is_{net.replace('.', '_')}", net, 1)
        for order in orders.values():
            for i, j, k in combinations(range(max(later for _, later in order) + 1), 3):
                ij, jk, ik = order[i, j], order[j, k], order[i, k]
                self._hint(f"!({ij} && {jk} && !{ik}) && !(!{ij} && !{jk} && {ik})")
