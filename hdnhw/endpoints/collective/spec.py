"""Options of collective engines."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from hdnhw.spec.endpoints import NO_RESET_REGISTERS, EndpointSpec
from hdnhw.spec.operations import (
    BARRIER,
    ENGINE_OPERATIONS,
    EXCHANGE_ORDERS,
    INTEGERS,
    JOIN,
    MOST_MESSAGE_PACKETS,
    MOVING,
    MULTICAST,
    OPERATIONS,
    OPERATORS,
    REGISTER_OPERATIONS,
)
from hdnhw.spec.options import Choice, Flag, Names, Node, Size, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named


@dataclass(frozen=True, kw_only=True)
class CollectiveSpec(EndpointSpec):
    """Collective engines: the terminals of a fabric that runs collective operations by itself.

    Attributes
    ----------
    operations : tuple of str
        Those of :data:`ENGINE_OPERATIONS`, and behind them of :data:`REGISTER_OPERATIONS`, that an engine can run, in
        their order there; some other than a barrier. A join and a multicast come together.
    root : int
        Node number of the only source of a broadcast, multicast or scatter, and of the only destination of a reduce or
        gather.
    order : str
        One of :data:`EXCHANGE_ORDERS`.
    operators : tuple of str
        Those of :data:`OPERATORS` that a host may choose from where messages are combined, in their order there.
    numbers : str
        One of :data:`INTEGERS`: what a flit is made of where messages are combined.
    message_packets : int
        Packets of a message, 1 to 256; a vector of :data:`REGISTER_OPERATIONS` is one packet, and it is 1 with these
        alone.
    variable_messages : bool
        Whether messages have from none to so many packets: a flit in front of each of the node's own says how many.
    """

    kind: ClassVar[str] = "collective"
    title: ClassVar[str] = "collective engines"
    refuses: ClassVar[Mapping[str, str]] = {**EndpointSpec.refuses, "reset_registers": NO_RESET_REGISTERS}

    operations: tuple[str, ...] = option(
        MOVING,
        Names,
        "what collective engines can do, or all for what they can on the network",
        metavar="OP,...",
        choices=(*ENGINE_OPERATIONS, *REGISTER_OPERATIONS),
    )
    root: int = option(0, Node, "root of their broadcast, multicast, scatter, reduce and gather", metavar="NODE")
    order: str = option(EXCHANGE_ORDERS[1], Choice, "schedule of their total exchange", choices=EXCHANGE_ORDERS)
    operators: tuple[str, ...] = option(
        OPERATORS[:1], Names, "how their reductions combine numbers, or all", metavar="OP,...", choices=OPERATORS
    )
    numbers: str = option("int32", Choice, "numbers that their reductions combine", choices=INTEGERS)
    message_packets: int = option(
        1, Size, "packets of each of their messages", metavar="M", least=1, most=MOST_MESSAGE_PACKETS, unit="packets"
    )
    variable_messages: bool = option(
        False, Flag, "messages of theirs have from none to M packets, as a flit in front of each one says"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not {JOIN, MULTICAST}.isdisjoint(self.operations):
            asked = {*self.operations, JOIN, MULTICAST}
            both = tuple(name for name in (*ENGINE_OPERATIONS, *REGISTER_OPERATIONS) if name in asked)
            object.__setattr__(self, "operations", both)
        if self.operations == (BARRIER,):
            raise SpecError(
                f"operations must have one that sends packets beside {BARRIER}: without packets an engine has nothing "
                "to send through the fabric"
            )
        if set(self.operations).isdisjoint(OPERATIONS) and self.message_packets > 1:
            raise SpecError(
                f"{named('message_packets')} must be 1 for {', '.join(REGISTER_OPERATIONS)}, not "
                f"{self.message_packets}: a vector "
                "is one packet there"
            )
        if set(self.operations).isdisjoint(OPERATIONS) and self.variable_messages:
            raise SpecError(
                f"{named('variable_messages')} must be left out for {', '.join(REGISTER_OPERATIONS)}: a vector is "
                f"one packet there"
            )

    @property
    def in_registers(self) -> bool:
        """Whether the operations are those of register machines alone."""
        return set(self.operations) <= set(REGISTER_OPERATIONS)

    @property
    def is_joint(self) -> bool:
        """Whether engines are joined: one in registers, and one that moves messages, or a barrier, or both."""
        return not self.in_registers and not set(self.operations).isdisjoint(REGISTER_OPERATIONS)

    @property
    def parts(self) -> "tuple[CollectiveSpec, ...]":
        """The engines that move packets, each by itself: two of joint ones that also move messages, else one."""
        if not self.is_joint:
            return (self,)
        kinds = [tuple(name for name in kind if name in self.operations) for kind in (OPERATIONS, REGISTER_OPERATIONS)]
        moving, vectors = kinds
        parts = (
            replace(self, operations=moving) if moving else None,
            replace(self, operations=vectors, message_packets=1, variable_messages=False),
        )
        return tuple(part for part in parts if part is not None)


SPEC = CollectiveSpec
