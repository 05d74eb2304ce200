"""What a component is joined from: modules by their names, or components with their logic."""

from collections.abc import Callable, Mapping
from typing import Any

from amaranth.hdl import ClockSignal, Instance, Module, ResetInserter, ResetSignal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

Part = str | Callable[[], wiring.Component]
"""The name of a module that is emitted, or what makes the component that it is made of."""


def place(
    m: Module, name: str, part: Part, pins: Mapping[str, Any], *, clock: Value | None = None, reset: Value | None = None
) -> None:
    """Add a part to a module as submodule `name`.

    Parameters
    ----------
    pins : mapping of str to value
        As of an ``Instance``: ``i_`` or ``o_`` and the name of a port, in which a path of members is joined by ``_`` or
        ``__`` -> what it is joined to.
    clock : Value, optional
        Of a module; that of the domain ``sync`` if it is not given. Components are in that domain.
    reset : Value, optional
        Synchronous reset of the part; that of the domain ``sync`` if it is not given. A component has both.
    """
    if isinstance(part, str):
        clocked = {"i_clk": ClockSignal() if clock is None else clock}
        clocked["i_rst"] = ResetSignal() if reset is None else reset
        m.submodules[name] = Instance(part, **clocked, **pins)
        return
    component: Any = part()
    ports = {
        "_".join(map(str, path)): (member.flow == In, Value.cast(value))
        for path, member, value in component.signature.flatten(component)
    }
    for pin, value in pins.items():
        is_input, port = ports[pin[2:].replace("__", "_")]
        m.d.comb += port.eq(value) if is_input else Value.cast(value).eq(port)
    m.submodules[name] = component if reset is None else ResetInserter(reset)(component)
