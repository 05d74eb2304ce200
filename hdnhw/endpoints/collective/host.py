"""What a node's host and its router see of an engine, of whatever kind."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.collective.format import NumberFormat
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.channel import ejection_signature, injection_signature


def operation_shape(operations: Sequence[str], messages: NumberFormat) -> int | data.StructLayout:
    """Return what a host asks for: the index of an operation, of several operators that of one and, where nodes join
    groups, whether its node is a `member`, in a join.
    """
    fields = {"operation": index_width(len(operations)), "operator": messages.operator_width}
    fields = {name: bits for name, bits in (fields | {"member": int(messages.has_groups)}).items() if bits}
    return data.StructLayout(fields) if len(fields) > 1 else fields["operation"]


def asked_operation(payload: Any, messages: NumberFormat) -> Value:
    """Return the index of the operation in what a host asks for, of :func:`operation_shape`."""
    asked: Value = payload.operation if messages.operator_width or messages.has_groups else payload
    return asked


def result_layout(messages: NumberFormat) -> data.StructLayout:
    """Return a flit of a result: data, the packed address of its source, the number of its packet within the message if
    that has several, and whether it is the packet's last.
    """
    flits = messages.flits
    fields = {"data": flits.flit_width, "source": flits.address_width, "part": messages.part_width, "last": 1}
    return data.StructLayout({name: width for name, width in fields.items() if name != "part" or width})


def engine_members(machine: Machine) -> dict[str, Any]:
    """Return the members of an engine but its own pins: :class:`hdnhw.endpoints.collective.engine.CollectiveEngine`
    says what they are.
    """
    width, messages = machine.spec.flit_width, machine.endpoint_format
    return {
        "address": In(machine.address.width),
        "operation": In(stream.Signature(operation_shape(engines_of(machine).spec.operations, messages))),
        "i": In(stream.Signature(width)),
        "o": Out(stream.Signature(result_layout(messages))),
        "done": Out(1),
        "inject": Out(injection_signature(flit_width=width)),
        "eject": In(ejection_signature(flit_width=width)),
    }
