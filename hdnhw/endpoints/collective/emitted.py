"""Verilog of a fabric with collective engines, and what the manifest says of it."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from amaranth.lib import data

from hdnhw.collectives.barrier import barrier_cycles
from hdnhw.endpoints.collective.engine import CollectiveEngine
from hdnhw.endpoints.collective.engine_fabric import CollectiveFabric
from hdnhw.endpoints.collective.format import NumberFormat
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.host import operation_shape, result_layout
from hdnhw.endpoints.collective.joint_engine import JointEngine
from hdnhw.endpoints.collective.register_engine import RegisterEngine
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.terminal import EndpointParts
from hdnhw.verilog.endpoint import EmittedEndpoints
from hdnhw.verilog.verilog import CLOCKED


class EmittedEngines(EmittedEndpoints):
    """Collective engines as text."""

    suffix, unit_suffix = "_collective", "_engine"

    @cached_property
    def _engine(self) -> CollectiveEngine:
        """An engine to read sizes from."""
        engine = CollectiveEngine(self.machine)
        engine._MustUse__silence = True  # no warning that it was forgotten
        return engine

    def unit(self) -> Any:
        """Return the engine of a node."""
        if engines_of(self.machine).spec.is_joint:
            return JointEngine(self.machine)
        return (
            RegisterEngine(self.machine)
            if engines_of(self.machine).spec.in_registers
            else CollectiveEngine(self.machine)
        )

    def around(self, parts: EndpointParts) -> CollectiveFabric:
        """Return the fabric with its engines."""
        return CollectiveFabric(self.machine, parts)

    def entry(self) -> dict[str, Any]:
        """See :meth:`EmittedEndpoints.entry`."""
        if engines_of(self.machine).spec.is_joint:
            return self._joint_entry()
        if engines_of(self.machine).spec.in_registers:
            return self._registers_entry()
        program, messages = engines_of(self.machine).program, self.machine.endpoint_format
        entry = {
            "engine_module": self.modules.unit,
            "operations": list(program.operations),
            "roots": {name: program.root_of(name) for name in program.schedules},
            **({"operators": list(messages.operators), "numbers": messages.numbers} if messages.operators else {}),
            **({"message_packets": messages.message_packets} if messages.part_width else {}),
            **({"variable_messages": True} if messages.variable_messages else {}),
            "message_buffers": self._engine.buffers,
            "window": self._engine.window,
            "ports": _ports(messages, program.operations),
            "packet": self.packet(),
        }
        return entry | {"barrier": self._barrier()} if program.rounds else entry

    def _joint_entry(self) -> dict[str, Any]:
        """Return what all parts have in common, and what the manifest says of each that stands alone."""
        machine, messages = self.machine, self.machine.endpoint_format
        common = ("engine_module", "ports", "operators", "numbers")
        entry = {
            "engine_module": self.modules.unit,
            "operations": list(engines_of(machine).spec.operations),
            "operators": list(messages.operators),
            "numbers": messages.numbers,
            "ports": _ports(messages, engines_of(machine).spec.operations),
        }
        for part in engines_of(machine).parts:
            of_part = EmittedEngines(part, self.modules.fabric, self.fabric_ports).entry()
            name = "registers" if engines_of(part).spec.in_registers else "messages"
            entry[name] = {key: value for key, value in of_part.items() if key not in common}
        return entry | {"barrier": self._barrier()} if engines_of(machine).rounds else entry

    def _barrier(self) -> dict[str, int]:
        rounds = engines_of(self.machine).rounds
        return {"rounds": rounds, "cycles": barrier_cycles(rounds, self.machine.signal_registers)}

    def _registers_entry(self) -> dict[str, Any]:
        program, messages = engines_of(self.machine).register_program, self.machine.endpoint_format
        return {
            "engine_module": self.modules.unit,
            "operations": list(program.operations),
            "operators": list(messages.operators),
            "numbers": messages.numbers,
            "registers": list(program.registers),
            "packets": program.packets,
            "instructions": len(program.instructions),
            "ports": _ports(messages, program.operations),
            "packet": self.packet(),
        }


def _ports(messages: NumberFormat, operations: Sequence[str]) -> dict[str, Any]:
    width, result = messages.flits.flit_width, result_layout(messages)
    ports, own = dict(CLOCKED), "data flits of the node's own messages"
    if messages.variable_messages:
        own += ", in front of each one with how many packets it has"
    for name, one, other, payload in (
        ("operation", "input", "output", _operation(messages, operations)),
        ("message", "input", "output", {"width": width, "meaning": own}),
        ("result", "output", "input", {"width": result.size, "fields": _fields(result)}),
    ):
        ports[f"{name}_N_valid"] = {"direction": one, "width": 1}
        ports[f"{name}_N_ready"] = {"direction": other, "width": 1}
        ports[f"{name}_N_payload"] = {"direction": one, **payload}
    ports["done_N"] = {
        "direction": "output",
        "width": 1,
        "meaning": "high from the end of the operation until its results have been taken",
    }
    ports["dropped_N"] = {"direction": "output", "width": DROPPED_WIDTH, "meaning": "see the fabric's; stays 0"}
    return ports


def _fields(layout: data.StructLayout) -> dict[str, dict[str, int]]:
    """Return where the fields of a payload stand."""
    return {str(name): {"offset": field.offset, "width": field.width} for name, field in layout}


def _operation(messages: NumberFormat, operations: Sequence[str]) -> dict[str, Any]:
    """Return the payload by which a host asks for an operation, and for one of several operators, and by which it says
    in a join whether its node is a member.
    """
    shape = operation_shape(operations, messages)
    meaning = "places in `operations` and `operators`" if messages.operator_width else "place in `operations`"
    if messages.has_groups:
        meaning += "; of a join, whether the node is a member"
    if isinstance(shape, int):
        return {"width": shape, "meaning": meaning}
    return {"width": shape.size, "meaning": meaning, "fields": _fields(shape)}


EMITTED = EmittedEngines
