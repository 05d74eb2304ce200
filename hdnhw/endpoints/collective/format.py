"""How collective engines send messages, and vectors in registers."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.machine.flit import FlitFormat, HeaderFormat
from hdnhw.spec import INTEGERS, JOIN
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named


@dataclass(frozen=True)
class NumberFormat(HeaderFormat):
    """What the formats of collective engines share: data flits made of numbers that may be combined.

    Attributes
    ----------
    flits : FlitFormat
    operators : tuple of str
        How they may be combined, of :data:`hdnhw.spec.OPERATORS`; empty if they never are.
    numbers : str
        One of :data:`hdnhw.spec.INTEGERS`: what a flit is then made of, the first one in its least significant bits.
    message_packets : int
        Packets of a message.
    has_kind : bool
        Whether engines send packets of another format too: then ``kind``, behind ``dst`` in the head flit, says which.
    variable_messages : bool
        Whether a message may have fewer packets, or none.
    has_groups : bool
        Whether nodes join groups: then a host says of its node whether it is a member.

    Raises
    ------
    SpecError
        If a packet has no room for data behind the header, or a flit is not made of whole numbers.
    """

    flits: FlitFormat
    operators: tuple[str, ...] = ()
    numbers: str = INTEGERS[0]
    message_packets: int = 1
    has_kind: bool = False
    variable_messages: bool = False
    has_groups: bool = False

    @classmethod
    def of(cls, machine: Any) -> "NumberFormat":
        """See :meth:`HeaderFormat.of`: of messages, of vectors in registers, or of both."""
        engines = engines_of(machine)
        endpoints = engines.spec
        numbers: dict[str, Any] = {"operators": endpoints.operators, "numbers": endpoints.numbers}
        sizes: dict[str, Any] = {
            "message_packets": endpoints.message_packets,
            "variable_messages": endpoints.variable_messages,
        }
        if endpoints.is_joint:
            parts = tuple(part.endpoint_format for part in engines.parts)
            sizes["has_groups"] = JOIN in endpoints.operations
            return JointFormat(machine.flits, **numbers, parts=parts, **sizes)
        numbers["has_kind"] = machine.shares_packets
        if endpoints.in_registers:
            return RegisterFormat(machine.flits, packets=engines.register_program.packets, **numbers)
        program = engines.program
        numbers |= {"operators": endpoints.operators if program.combines else ()}
        sizes |= {"has_groups": program.has_groups, "has_target": program.reads_target}
        return MessageFormat(machine.flits, num_sends=len(program.sends), **numbers, **sizes)

    def __post_init__(self) -> None:
        self.check_room("collective engines")
        width = self.flits.flit_width
        if self.operators and width % self.number_width:
            raise SpecError(
                f"{named('flit_width')} must be a multiple of {self.number_width} bits for {self.numbers}, not {width}"
            )
        if self.count_width > width:
            raise SpecError(
                f"{named('flit_width')} must be at least {self.count_width} bits, which say how many of "
                f"{self.message_packets} "
                f"packets a message has, not {width}"
            )

    @property
    def number_width(self) -> int:
        """Bits of a number."""
        return int(self.numbers.lstrip("uint"))

    @property
    def is_signed(self) -> bool:
        """Whether numbers have a sign."""
        return not self.numbers.startswith("u")

    @property
    def operator_width(self) -> int:
        """Bits that say which of several operators is used."""
        return max(0, len(self.operators) - 1).bit_length()

    @property
    def part_width(self) -> int:
        """Bits that say which packet of its message one is, of several."""
        return (self.message_packets - 1).bit_length()

    @property
    def count_width(self) -> int:
        """Bits of the flit in front of one of a node's own messages that say how many packets it has, 0 if there is no
        such flit.
        """
        return self.message_packets.bit_length() if self.variable_messages else 0


@dataclass(frozen=True, kw_only=True)
class MessageFormat(NumberFormat):
    """How collective engines send messages: packets of header flits and data flits, one or several a message.

    Attributes
    ----------
    num_sends : int
        Sends of the program.
    has_target : bool
        Whether the header says for whom a message is.

    Examples
    --------
    >>> messages = MessageFormat(FlitFormat(32, 4, 8), ("sum", "max"), "int16", num_sends=6, has_target=True)
    >>> messages.number_width, messages.is_signed, messages.header_positions["operator"]
    (16, True, {'offset': 19, 'width': 1})
    >>> MessageFormat(FlitFormat(32, 4, 8), num_sends=6, has_target=True, message_packets=5).header_positions["part"]
    {'offset': 12, 'width': 3}
    """

    num_sends: int
    has_target: bool

    @cached_property
    def header_fields(self) -> dict[str, int]:
        """See :class:`HeaderFormat`.

        ``dst`` is the neighbor that the packet goes to, ``source`` and ``target`` are those of the message, packed
        addresses; ``part`` is the number of the packet within its message, of several; ``send`` is the number of the
        send; ``parity`` that of the operations that the sender has ended; ``ready`` says that the sender has begun the
        step and takes all that is for it; ``last`` that nothing more comes by this send; ``holds`` that there is
        something of a message; ``operator`` is the place of its operator, of several; ``member`` says in a join that
        the sender is a member, or has heard of one.
        """
        width = self.flits.address_width
        fields = {"dst": width, "kind": int(self.has_kind)}
        fields |= {"source": width, "target": width if self.has_target else 0, "part": self.part_width}
        fields |= {"send": max(1, (self.num_sends - 1).bit_length()), "parity": 1, "ready": 1, "last": 1, "holds": 1}
        fields |= {"operator": self.operator_width, "member": int(self.has_groups)}
        return {name: bits for name, bits in fields.items() if bits}


@dataclass(frozen=True, kw_only=True)
class RegisterFormat(NumberFormat):
    """How register machines send vectors: header flits, then data flits, one vector a packet.

    Attributes
    ----------
    packets : int
        Packets of an operation, the most of any.

    Examples
    --------
    >>> RegisterFormat(FlitFormat(32, 4, 8), ("sum", "max"), "int16", packets=6).header_fields
    {'dst': 4, 'packet': 3, 'parity': 1}
    """

    packets: int

    @cached_property
    def header_fields(self) -> dict[str, int]:
        """See :class:`HeaderFormat`.

        ``dst`` is the packed address of the neighbor that the packet goes to; ``packet`` is its number among those of
        all steps of the operation; ``parity`` that of the operations that the sender has ended.
        """
        kind = {"kind": 1} if self.has_kind else {}
        return {"dst": self.flits.address_width, **kind, "packet": max(1, (self.packets - 1).bit_length()), "parity": 1}


@dataclass(frozen=True, kw_only=True)
class JointFormat(NumberFormat):
    """How engines that are joined from several send packets: each part as by itself, with a bit that says which it is.

    Attributes
    ----------
    parts : tuple of NumberFormat
        By the value of ``kind``; of several, each has it. Other members are those of the part that moves messages.

    Raises
    ------
    SpecError
        If the head flit has no room for ``kind``.

    Examples
    --------
    >>> flits, numbers = FlitFormat(32, 4, 8), {"operators": ("sum", "max"), "numbers": "int16", "has_kind": True}
    >>> register = RegisterFormat(flits, packets=6, **numbers)
    >>> parts = MessageFormat(flits, num_sends=6, has_target=True, **numbers), register
    >>> joint = JointFormat(flits, ("sum", "max"), "int16", parts=parts)
    >>> joint.header_positions["kind"], joint.part_of(1 << 4) is parts[1]
    ({'offset': 4, 'width': 1}, True)
    """

    parts: tuple[NumberFormat, ...]

    def __post_init__(self) -> None:
        if self.header_width > self.flits.flit_width:
            raise SpecError(
                f"{named('flit_width')} must be at least {self.header_width} bits for engines that move messages "
                f"and combine in "
                f"registers, not {self.flits.flit_width}"
            )

    @cached_property
    def header_fields(self) -> dict[str, int]:
        """What the headers of all parts begin with; see :class:`HeaderFormat`."""
        return {name: width for name, width in self.parts[0].header_fields.items() if name in ("dst", "kind")}

    def part_of(self, word: int) -> NumberFormat:
        """Return the format of a packet, read from its bits."""
        return self.parts[self.fields_of(word).get("kind", 0)]


FORMAT = NumberFormat
