"""What a monitor counts in each router, and at which address each count is read."""

from dataclasses import dataclass

from hdnhw.machine.machine import Machine
from hdnhw.rules.plan import RouterShape

IDENTIFICATION = 0x48444E4D
"""The first word: "HDNM"."""

IDENTITY, CYCLES = 0, 4
"""Addresses of that, and of the cycles since reset, modulo 2 to the power of 32."""

WORD_BYTES, WORD_WIDTH = 4, 32

SENT, STALLED, WAITS, STATE = "sent", "stalled", "waits", "state"
"""Kinds of words, see :class:`Word`."""

LEVEL_WIDTH = 9
"""Bits of each of the two numbers of packets in a word of the kind ``state``; above them is the way."""


@dataclass(frozen=True)
class Word:
    """A word of a router.

    Attributes
    ----------
    kind : str
        ``sent``: packets that went over a virtual channel; of injection, those that were taken for some node.
        ``stalled``: slots in which none went over a channel though one waited for it.
        ``waits``: slots in a row for which a queue has had a packet and has sent none.
        ``state``: packets in a queue now, the most there were since reset, and which way the first one takes, as
        :func:`hdnhw.rtl.router.ways_of` numbers them. The others count since reset, modulo 2 to the power of 32.
    port : int
        Of the network; the next number is that of ejection, or of queues that of injection; then comes injection.
    vc : int
    """

    kind: str
    port: int
    vc: int = 0

    def name(self, machine: Machine) -> str:
        """Return it as manifests have it, such as ``sent dim0.1``."""
        names = [port.name for port in machine.network.ports]
        names += ["ejection", "injection"] if self.kind in (SENT, STALLED) else ["injection"]
        return f"{self.kind} {names[self.port]}" + f".{self.vc}" * (self.kind != STALLED)


def queues_of(machine: Machine, shape: RouterShape) -> list[tuple[int, int]]:
    """Return the queues of a router: port and virtual channel, those of injection last."""
    ports, vcs = machine.network.ports, machine.plan.num_vcs
    own = [(port, vc) for port in shape.ports for vc in range(vcs[ports[port].opposite])]
    return [*own, (len(ports), 0)]


def words_of(machine: Machine, shape: RouterShape) -> list[Word]:
    """Return the words of a router, in the order of their addresses."""
    local, vcs = len(machine.network.ports), machine.plan.num_vcs
    channels = [*((port, vcs[port]) for port in shape.ports), (local, 1), (local + 1, 1)]
    return [
        *(Word(kind, port, vc) for kind in (STATE, WAITS) for port, vc in queues_of(machine, shape)),
        *(Word(SENT, port, vc) for port, number in channels for vc in range(number)),
        *(Word(STALLED, port) for port, _ in channels),
    ]


@dataclass(frozen=True)
class MonitorMap:
    """Addresses of all words.

    Attributes
    ----------
    nodes : int
    words : int
        Of the router that has most.
    """

    nodes: int
    words: int

    @classmethod
    def of(cls, machine: Machine) -> "MonitorMap":
        """Return that of a machine."""
        return cls(machine.network.num_nodes, max(len(words_of(machine, shape)) for shape in machine.plan.shapes))

    @property
    def word_bits(self) -> int:
        """Bits of the number of a word."""
        return (self.words - 1).bit_length()

    @property
    def node_bits(self) -> int:
        """Bits of the number of a node plus one."""
        return self.nodes.bit_length()

    @property
    def address_width(self) -> int:
        """Bits of the address of a byte."""
        return 2 + self.word_bits + self.node_bits

    @property
    def stride(self) -> int:
        """Bytes from the words of a node to those of the next; so many are before those of node 0."""
        return WORD_BYTES << self.word_bits

    def address(self, node: int, word: int) -> int:
        """Return the address of a word of a node."""
        return (node + 1) * self.stride + WORD_BYTES * word
