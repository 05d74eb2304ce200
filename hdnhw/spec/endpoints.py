"""Endpoints: what a kind of them says of itself; the kinds stand in :mod:`hdnhw.endpoints`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from hdnhw.spec.options import Options, options_of

NO_CRC = "a crc is for fabrics of bare streams: it drops packets, and no endpoints send them again"
NO_RESET_REGISTERS = "reset registers do not go with these endpoints, which count slots from their own reset"
NO_DEAD_PINS = "dead pins are for fabrics of bare streams or relays: these endpoints need all that they send to arrive"


@dataclass(frozen=True, kw_only=True)
class EndpointSpec(Options):
    """Base of the kinds of endpoints, which are listed in :mod:`hdnhw.endpoints`.

    Attributes
    ----------
    kind : str
        Name of the kind, on the command line and in manifests.
    title : str
        What such endpoints are called in messages.
    refuses : mapping of str to str
        Options of a machine that do not go with such endpoints -> why, as an error says it.
    cuts_through : bool
        Whether they go with cut-through of fewer than 16 flits: others count slots.
    defaults : mapping of str to str
        Options of a machine whose defaults differ with such endpoints -> what the help says of them; their format has
        the values.
    test : str
        The test of ``hdnhw cosim`` that runs the bench of the kind; empty if there is none.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If a member is out of range.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    refuses: ClassVar[Mapping[str, str]] = {"dead_pins": NO_DEAD_PINS, "crc": NO_CRC}
    cuts_through: ClassVar[bool] = False
    defaults: ClassVar[Mapping[str, str]] = {}
    test: ClassVar[str] = ""

    @property
    def said(self) -> dict[str, Any]:
        """What makes such a spec again, as manifests have it."""
        return {name: getattr(self, name) for name in options_of(self)}
