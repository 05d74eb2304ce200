"""Verilog of a fabric with generators of a total exchange."""

from hdnhw.emit.verilog import module_text
from hdnhw.flit import FlitFormat
from hdnhw.routing.plan import RoutingPlan
from hdnhw.rtl.exchange.control import AT_ONCE, ExchangeControl
from hdnhw.rtl.exchange.fabric import ExchangeFabric, ExchangeModules
from hdnhw.rtl.exchange.generator import ExchangeGenerator
from hdnhw.spec import FabricSpec, SpecError
from hdnhw.timing import SlotTiming, slots_per_vc
from hdnhw.traffic.exchange import broadcast_slots, check_size

__all__ = ["EXCHANGE_SUFFIX", "exchange_modules", "exchange_verilog"]

EXCHANGE_SUFFIX = "_exchange"
"""Appended to the fabric's name for the top level with generators, and to that for its file."""


def exchange_modules(top: str) -> ExchangeModules:
    """Return the names of the modules below ``top_exchange``."""
    above = top + EXCHANGE_SUFFIX
    return ExchangeModules(fabric=top, generator=f"{above}_generator", control=f"{above}_control")


def exchange_verilog(routing: RoutingPlan, spec: FabricSpec, *, top: str, at_once: bool = False) -> str:
    """Return the text of the modules around fabric `top`: generator, control and, last, ``top_exchange``.

    Parameters
    ----------
    routing : RoutingPlan
        Of the fabric.
    spec : FabricSpec
    top : str
    at_once : bool
        Whether every node sends its packets as fast as they are accepted; otherwise they start by a timetable, the same
        at all nodes, see :func:`hdnhw.traffic.exchange.broadcast_slots`.

    Raises
    ------
    SpecError
        If there are too few or too many nodes, no such timetable, or not the buffers for it, or if the head flit has no
        room for the source's address.
    """
    layout, timing = routing.address, SlotTiming(spec.packet_length)
    flits = FlitFormat(spec.flit_width, layout.width, spec.packet_length)
    if flits.head_payload_width < layout.width:
        raise SpecError(
            f"flit width must be at least {2 * layout.width} for a total exchange's addresses, not {spec.flit_width}"
        )
    check_size(routing.network, timed=not at_once)
    slots = AT_ONCE if at_once else _timetable(routing, timing, timing.buffers_of(spec.buffers))
    modules, sizes = exchange_modules(top), {"offset_width": layout.width, "packet_length": spec.packet_length}
    control = ExchangeControl(slots, num_nodes=routing.network.num_nodes, **sizes)
    texts = [
        module_text(ExchangeGenerator(layout, flits, at_once=at_once), modules.generator, flatten=True),
        module_text(control, modules.control, flatten=True),
        module_text(ExchangeFabric(layout, flits, modules, at_once=at_once), top + EXCHANGE_SUFFIX, flatten=False),
    ]
    return "\n".join(texts)


def _timetable(routing: RoutingPlan, timing: SlotTiming, buffers: int) -> list[int]:
    """Return the slots of a timetable, for buffers with which no packet waits."""
    full = timing.full_rate_buffers
    if slots_per_vc(buffers, routing.max_vcs) < full:
        needed = full << (routing.max_vcs - 1).bit_length()
        raise SpecError(
            f"buffers must be at least {needed} packets a port for a timetable, not {buffers}: use --at-once"
        )
    slots = broadcast_slots(routing, hop_slots=timing.hop_slots)
    return slots + [0] * (2 - len(slots))
