"""Options of generators of a total exchange."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from hdnhw.spec.endpoints import NO_RESET_REGISTERS, EndpointSpec
from hdnhw.spec.options import Flag, option


@dataclass(frozen=True, kw_only=True)
class ExchangeSpec(EndpointSpec):
    """Generators: the terminals of a fabric that runs a total exchange by itself and checks what arrives.

    Attributes
    ----------
    at_once : bool
        Whether every node sends its packets as fast as they are accepted; otherwise they start by a timetable, the same
        at all nodes, see :func:`hdnhw.traffic.exchange.broadcast_slots`.
    """

    kind: ClassVar[str] = "exchange"
    title: ClassVar[str] = "generators of a total exchange"
    refuses: ClassVar[Mapping[str, str]] = {**EndpointSpec.refuses, "reset_registers": NO_RESET_REGISTERS}

    at_once: bool = option(False, Flag, "generators send as fast as packets are accepted, by no timetable")


SPEC = ExchangeSpec
