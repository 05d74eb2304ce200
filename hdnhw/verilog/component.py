"""A fabric as a component with all of its logic, for simulations and designs in Amaranth."""

from typing import Any

from hdnhw.endpoints import declared
from hdnhw.machine.machine import make_machine
from hdnhw.rtl.clocks.clocked_fabric import ClockedComponent
from hdnhw.rtl.fabric import Fabric
from hdnhw.spec import FabricSpec
from hdnhw.verilog.fabric import check_clocks


def fabric_component(spec: FabricSpec, *, node_clocks: bool = False) -> Any:
    """Return a fabric as an Amaranth component that can be simulated, and elaborated inside a design.

    All of it is in the clock domain ``sync``, whose reset is that of the fabric. Its members are those of its class:
    of bare streams :class:`hdnhw.rtl.fabric.Fabric`, with endpoints what their kind has in its folder of
    :mod:`hdnhw.endpoints`. Every router is elaborated by itself, so that it takes time in proportion to the number of
    nodes.

    Parameters
    ----------
    spec : FabricSpec
    node_clocks : bool
        Whether each terminal has a clock of its own: the streams of node N are in the domain ``node_N``.

    Raises
    ------
    SpecError
        As of :func:`hdnhw.machine.machine.make_machine`, or if its terminals cannot have clocks of their own.
    RuleError
        If its routing is not deadlock-free.
    """
    machine = make_machine(spec)
    _ = machine.plan.circuit_rule
    if node_clocks:
        check_clocks(machine)
    if spec.endpoints is None:
        component = Fabric(machine)
    else:
        component = declared("emitted")[spec.endpoints.kind](machine, "fabric", {}).component()
    return ClockedComponent(component) if node_clocks else component
