"""Verilog of a fabric with generators of a total exchange, and what the manifest says of it."""

from functools import cached_property
from typing import Any

from hdnhw.endpoints.exchange.control import AT_ONCE, TOTAL_WIDTH, ExchangeControl
from hdnhw.endpoints.exchange.exchange_fabric import ExchangeFabric
from hdnhw.endpoints.exchange.generator import ExchangeGenerator
from hdnhw.machine.machine import Machine
from hdnhw.rtl.terminal import EndpointParts
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.traffic.exchange import broadcast_slots, check_size
from hdnhw.verilog.endpoint import EmittedEndpoints
from hdnhw.verilog.verilog import CLOCKED


class EmittedGenerators(EmittedEndpoints):
    """Generators of a total exchange as text; they share the control."""

    suffix, unit_suffix, shared_suffix = "_exchange", "_generator", "_control"

    @property
    def _at_once(self) -> bool:
        at_once: bool = self.machine.endpoint_format.endpoints.at_once
        return at_once

    @cached_property
    def slots(self) -> list[int]:
        """Of each slot the packed offset that starts in it, or 0.

        Raises
        ------
        SpecError
            If there are too few or too many nodes, no timetable, or not the buffers for it.
        """
        check_size(self.machine.network, timed=not self._at_once)
        return list(AT_ONCE) if self._at_once else _timetable(self.machine)

    def unit(self) -> ExchangeGenerator:
        """Return the generator of a node."""
        return ExchangeGenerator(self.machine)

    def shared(self) -> ExchangeControl:
        """Return the control."""
        machine = self.machine
        sizes = {"offset_width": machine.address.width, "packet_length": machine.spec.packet_length}
        return ExchangeControl(self.slots, num_nodes=machine.network.num_nodes, **sizes)

    def around(self, parts: EndpointParts) -> ExchangeFabric:
        """Return the fabric with its generators."""
        return ExchangeFabric(self.machine, parts)

    def entry(self) -> dict[str, Any]:
        """See :meth:`EmittedEndpoints.entry`."""
        return {
            "generator_module": self.modules.unit,
            "control_module": self.modules.shared,
            "at_once": self._at_once,
            "ports": _ports(),
            "packet": {"header": self.machine.endpoint_format.header_positions},
        }


def _timetable(machine: Machine) -> list[int]:
    """Return the slots of a timetable, for buffers with which no packet waits."""
    plan = machine.plan
    if machine.offset:
        raise SpecError(
            f"a timetable is of whole slots, and {machine.apart_by} puts routers half a slot apart: use "
            f"{named('at_once')}"
        )
    if machine.is_narrow:
        raise SpecError(machine.no_timetable)
    if machine.vc_rate < 1:
        raise SpecError(
            f"{named('buffers')} must be at least {machine.full_rate_buffers} packets a port for a timetable, not "
            f"{machine.most_buffers}: use {named('at_once')}"
        )
    slots = broadcast_slots(plan, hop_slots=machine.hop_slots)
    return slots + [0] * (2 - len(slots))


def _ports() -> dict[str, Any]:
    ports: dict[str, Any] = {
        **CLOCKED,
        "start": {"direction": "input", "width": 1, "meaning": "begin a run; ignored in one"},
        "done": {"direction": "output", "width": 1, "meaning": "high from the end of a run to the next"},
    }
    meanings = {
        "cycles": "of the last run, from the first head flits offered to the last tail flit taken",
        "received": "packets received in it by all nodes",
        "wrong": "of these, packets for another node or with other flits than were sent",
    }
    totals = {name: {"direction": "output", "width": TOTAL_WIDTH, "meaning": text} for name, text in meanings.items()}
    return ports | totals


EMITTED = EmittedGenerators
