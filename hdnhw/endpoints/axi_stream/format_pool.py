"""How many packets of frames an AXI4-Stream endpoint has room for, and which of them need no grant."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hdnhw.machine.timing import ROW, power_of_two
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

if TYPE_CHECKING:
    from hdnhw.endpoints.axi_stream.format import FrameFormat
    from hdnhw.machine.machine import Machine

FEW_NODES, PROMPT_OF_FEW, LEAST_PROMPT = 32, 3, 2
"""Networks of so many nodes have room for frames of so many packets without a grant; larger ones for the least."""

SOURCE_FLITS = 512
"""Data flits that a source holds if it must look ahead: a block RAM of ECP5."""


@dataclass(frozen=True)
class FramePool:
    """The pool of a destination, see docs/decisions/0026, and the memory of a source.

    Attributes
    ----------
    frames : FrameFormat
    num_nodes : int
        Sources, the node itself among them.

    Raises
    ------
    SpecError
        If more packets are to go without a grant than the longest frame has.

    Examples
    --------
    >>> from hdnhw.machine.flit import FlitFormat
    >>> from hdnhw.endpoints.axi_stream.format import FrameFormat
    >>> from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
    >>> pool = FramePool(FrameFormat(FlitFormat(32, 5, 8), AxiStreamSpec()), 32)
    >>> pool.most_packets, pool.prompt, pool.slots, pool.reserve, pool.longest_need
    (37, 3, 128, 64, 35)
    """

    frames: "FrameFormat"
    num_nodes: int

    def __post_init__(self) -> None:
        chosen = self.frames.endpoints.prompt_packets
        if chosen is not None and chosen > max(LEAST_PROMPT, self.most_packets):
            raise SpecError(
                f"{named('prompt_packets')} must be at most {max(LEAST_PROMPT, self.most_packets)}, not {chosen}: "
                f"the longest frame has {self.most_packets}"
            )

    @property
    def most_packets(self) -> int:
        """Packets of the longest frame."""
        return -(-self.frames.max_transfers // self.frames.payload_flits)

    @property
    def grants(self) -> bool:
        """Whether there are frames that need a grant."""
        return self.most_packets > self.prompt

    def _least_slots(self, prompt: int) -> int:
        """Return the slots with which half as much as the longest frame needs is left when that is granted."""
        need = max(1, self.most_packets - prompt + 1)
        return self.num_nodes * (prompt - 1) + need + need // 2

    @cached_property
    def slots(self) -> int:
        """Packets that a destination has room for, a power of two."""
        chosen = self.frames.endpoints.prompt_packets
        few = PROMPT_OF_FEW if self.num_nodes <= FEW_NODES else LEAST_PROMPT
        least = self._least_slots(min(few, max(LEAST_PROMPT, self.most_packets)) if chosen is None else chosen)
        return max(ROW, power_of_two(least))

    @cached_property
    def prompt(self) -> int:
        """S: packets of the longest frame that is sent without a grant; as many as there is room for unless chosen."""
        chosen = self.frames.endpoints.prompt_packets
        if chosen is not None:
            return chosen
        most = max(LEAST_PROMPT, self.most_packets)
        return max(prompt for prompt in range(LEAST_PROMPT, most + 1) if self._least_slots(prompt) <= self.slots)

    @property
    def reserve(self) -> int:
        """R: packets that may be granted and still to come."""
        return self.slots - self.num_nodes * (self.prompt - 1)

    @property
    def longest_need(self) -> int:
        """Packets that the longest frame is granted."""
        return self.most_packets - self.prompt + 1

    @property
    def count_width(self) -> int:
        """Bits of a number of packets of a frame, see :meth:`count`."""
        return self.most_packets.bit_length()

    def count(self, packets: int) -> int:
        """Return how endpoints count packets of a frame: from S - 1 on, modulo a power of two.

        So what a frame needs to be granted is there without a subtraction.
        """
        return (packets - self.prompt + 1) % (1 << self.count_width)

    @property
    def request_width(self) -> int:
        """Bits in which a packet asks; all ones ask for the longest frame."""
        fields = self.frames.header_fields
        return fields["end"] + fields["keep"]

    @property
    def most_asked(self) -> int:
        """Packets that a batch asks for at most; a whole frame that needs more asks for the longest one."""
        return min((1 << self.request_width) - 2, max(self.reserve // 2, self.longest_need))

    @property
    def source_flits(self) -> int:
        """Data flits that a source holds, a power of two: two packets and two flits to send without a gap."""
        least = max(ROW, 2 * self.frames.payload_flits + 2, SOURCE_FLITS * self.grants)
        return power_of_two(least)


def pool_of(machine: "Machine") -> FramePool:
    """Return the memories of the endpoints of a machine that has such ones."""
    return FramePool(machine.endpoint_format, machine.network.num_nodes)
