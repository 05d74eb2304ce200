"""Options of relays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from hdnhw.spec.endpoints import NO_CRC, NO_RESET_REGISTERS, EndpointSpec
from hdnhw.spec.options import Size, option

LAPSES = 16
"""Of granted buffers, one after the other, that may not be used before those who wait for the next one give up."""


@dataclass(frozen=True, kw_only=True)
class RelaySpec(EndpointSpec):
    """Relays: the terminals of a fabric whose packets may go by waypoints.

    Attributes
    ----------
    waypoints : int
        Most that a packet names, 1 to 8.
    relay_buffers : int
        Packets of a queue that a relay holds of its own user, and as many of others; a power of two.
    relay_queues : int
        Queues of a class, each with a request of its own; a power of two.
    timeout : int
        Cycles after which a request is given up; a power of two.
    """

    kind: ClassVar[str] = "relay"
    title: ClassVar[str] = "relays"
    refuses: ClassVar[Mapping[str, str]] = {
        "crc": NO_CRC,
        "reset_registers": NO_RESET_REGISTERS,
        "gapless_packets": "gapless packets do not go with relays: what relays do is timed by the flits that are "
        "accepted",
    }

    waypoints: int = option(1, Size, "maximum number of waypoints per packet, at relays", metavar="W", least=1, most=8)
    relay_buffers: int = option(
        8,
        Size,
        "packets of a queue that relays hold, their own and as many of others",
        metavar="S",
        least=1,
        most=64,
        power_of_two=True,
    )
    relay_queues: int = option(
        2,
        Size,
        "queues in which packets of a class wait at relays, each of which asks for itself",
        metavar="K",
        least=1,
        most=8,
        power_of_two=True,
    )
    timeout: int = option(
        1 << 16,
        Size,
        "cycles that relays wait for each other",
        metavar="T",
        least=1 << 8,
        most=1 << 24,
        unit="cycles",
        power_of_two=True,
    )

    @property
    def lapse(self) -> int:
        """Cycles after which a buffer that was granted and not used is free again."""
        return self.timeout // LAPSES


SPEC = RelaySpec
