"""A fabric as a component with all of its logic, for simulations and designs in Amaranth."""

from typing import Any

from hdnhw.endpoints import declared
from hdnhw.machine.machine import make_machine
from hdnhw.rtl.chip import Chip, cut_into_chips
from hdnhw.rtl.clocks.clocked_fabric import ClockedComponent
from hdnhw.rtl.fabric import Fabric
from hdnhw.spec import FabricSpec
from hdnhw.spec.chips import ChipOptions
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.verilog.fabric import ONE_CHIP, check_clocks


def fabric_component(spec: FabricSpec, *, node_clocks: bool = False, cut: ChipOptions = ONE_CHIP) -> Any:
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
    cut : ChipOptions
        How the network is cut into chips; then it is one of them, :class:`hdnhw.rtl.chip.Chip`.

    Raises
    ------
    SpecError
        As of :func:`hdnhw.machine.machine.make_machine`, or if its terminals cannot have clocks of their own, or it
        cannot be cut so.
    RuleError
        If its routing is not deadlock-free.
    """
    machine = make_machine(spec)
    _ = machine.plan.circuit_rule
    if cut.chips is not None:
        if spec.endpoints is not None:
            raise SpecError(f"{spec.endpoints.title} on chips are no component, but Verilog")
        if cut.link != "stream":
            raise SpecError(f"links over pins have clocks of their own: only {named('link', 'stream')} is a component")
        return Chip(machine, cut_into_chips(machine, cut, node_clocks=node_clocks), word_width=cut.link_width)
    if node_clocks:
        check_clocks(machine)
    if spec.endpoints is None:
        component = Fabric(machine)
    else:
        component = declared("emitted")[spec.endpoints.kind].of(machine)(machine, "fabric", {}).component()
    return ClockedComponent(component) if node_clocks else component
