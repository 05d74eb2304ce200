"""Circuits as JavaScript: the hop rule, which RTL elaborates, and the conditions of schedules."""

from collections.abc import Mapping, Sequence

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.collectives.schedule import Schedule
from hdnhw.rules.compiled import statements
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.hop import HopRule
from hdnhw.support.errors import SpecError
from hdnhw.topology.address import AddressLayout

MOST_BITS = 31
"""Of a packed address: JavaScript computes bits of numbers of 32 with sign."""

_FORMATS = {
    "and": "{} & {}",
    "or": "{} | {}",
    "not": "1 - {}",
    "eq": "{} === {} ? 1 : 0",
    "lt": "{} < {} ? 1 : 0",
    "add": "{} + {}",
    "submod": "{0} >= {1} ? {0} - {1} : {0} - {1} + {2}",
    "odd": "{} & 1",
    "mux": "{0} ? {1} : {2}",
}
"""JavaScript of each operation of a circuit."""


def rules_script(rule: HopRule | None, schedules: Mapping[str, Schedule]) -> str:
    """Return a script that defines ``RULES``.

    ``RULES.route(cur, dst)`` takes packed addresses and returns what :func:`hdnhw.rules.compiled.interpret_rule` does;
    null where there is no rule. ``RULES.conditions[op]`` is a list of functions of three packed addresses, own, source
    and destination, in the order of :func:`conditions_of`.

    Raises
    ------
    SpecError
        If addresses have too many bits.
    """
    lines = [f"const RULES = {{vcShift: {VC_SHIFT}, route: null, conditions: {{}}}};"]
    if rule is not None:
        layout = _layout(AddressLayout(rule.network))
        outputs = [*rule.take, *rule.vc, rule.arrived]
        parts = [f"(g{term.index} * {port})" for port, term in enumerate(rule.take)]
        parts += [f"(g{term.index} << {VC_SHIFT + weight})" for weight, term in enumerate(rule.vc)]
        result = f"g{rule.arrived.index} ? {len(rule.take)} : {' | '.join(parts)}"
        lines += [f"RULES.route = {_function('cur, dst', rule.circuit, outputs, layout, result)};"]
    for name, schedule in schedules.items():
        layout = _layout(AddressLayout(schedule.network))
        functions = [
            _function("own, src, dst", schedule.circuit, [term], layout, f"g{term.index}")
            for term in conditions_of(schedule)
        ]
        lines += [f"RULES.conditions[{name!r}] = [", ",\n".join(functions), "];"]
    return "\n".join(lines) + "\n"


def conditions_of(schedule: Schedule) -> list[Term]:
    """Return the conditions of all sends of a schedule, each once."""
    sends = [send for step in schedule.steps for send in step.sends]
    return list({send.when.index: send.when for send in sends}.values())


def _layout(layout: AddressLayout) -> AddressLayout:
    if layout.width > MOST_BITS:
        raise SpecError(f"a page needs addresses of at most {MOST_BITS} bits, not {layout.width}")
    return layout


def _function(takes: str, circuit: Circuit, outputs: Sequence[Term], layout: AddressLayout, result: str) -> str:
    body = statements(circuit, list(outputs), layout, _FORMATS)
    return "\n".join([f"({takes}) => {{", *(f"  const {line};" for line in body), f"  return {result};", "}"])
