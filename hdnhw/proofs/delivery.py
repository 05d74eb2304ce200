"""Delivery: routers pass each packet on exactly once, by its way and unchanged, soon, and keep the channel protocol.

Route units are taken out: a packet takes whatever way the rig chooses, of those that the proof of the rule has for
packets of its port and virtual channel. What is claimed of outputs is what rigs do at inputs, so it holds in a fabric.
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

from hdnhw.machine.machine import Machine
from hdnhw.proofs.bits import alike_bits
from hdnhw.proofs.checks import CheckRig, ErrorsRig, MakerRig
from hdnhw.proofs.ejection import CheckedEjectionRig, EjectionRig
from hdnhw.proofs.finding import Finding
from hdnhw.proofs.inputs import GaplessRig, InjectionRig, InputRig
from hdnhw.proofs.matched import MatchedGaplessRig, MatchedInjectionRig, MatchedInputRig, MatchedSwitchRig
from hdnhw.proofs.narrow import ChannelRig
from hdnhw.proofs.netlist import ForeignInputError, Netlist
from hdnhw.proofs.rig import Rig
from hdnhw.proofs.routes import WIRES
from hdnhw.proofs.search import PROOF_ROOT, Settle, Settled, answer_of, settle
from hdnhw.proofs.switch import SwitchRig
from hdnhw.proofs.waiting import WaitingRig
from hdnhw.verilog.endpoint import MONITOR
from hdnhw.verilog.fabric import EmittedFabric

Say = Callable[[str], None]

Part = tuple[str, Callable[[], Rig]]
"""What a part is called, and what makes its rig."""

INCOMING = ("i__data", "inject__payload", "channel__data")
OUTGOING = ("o__data", "eject__data", "eject__payload")
"""How the pins end over which flits come into a module and leave it."""

CHECKED = ("wrong", "was_wrong", "write_data")
"""Ends of the names of the wires that say whether a flit is wrong, and of those with what is written."""


def unmodeled(machine: Machine) -> str:
    """Return the options of a machine of which rigs know nothing, as on the command line; empty if there are none."""
    spec = machine.spec
    options = {
        "--switching cut-through": machine.timing.cuts_through,
        "--dead-pins with --queueing voq": spec.dead_pins and machine.timing.matches,
        # All phases are one then, and a packet leaves its queue before it is read.
        "--packet-length 1": spec.packet_length == 1,
        # Short slots match behind the update phase alone.
        "--queueing voq with packets of fewer than 8 flits": machine.timing.matches
        and not machine.timing.matches_early,
    }
    return " ".join(option for option, is_there in options.items() if is_there)


def prove_delivery(
    fabric: EmittedFabric,
    *,
    seconds: float,
    root: Path = PROOF_ROOT,
    say: Say = lambda _: None,
    parts: Collection[str] = (),
    settle: Settle = settle,
) -> Iterator[Finding]:
    """Prove the parts of each router, which are the queues of each input and the switch, ejection and narrow channels.

    Parameters
    ----------
    fabric : EmittedFabric
    seconds : float
        After so many of CPU time, a search is given up; there are two for each part.
    root : Path
        A folder in which answers are kept.
    say : callable
        Is told what goes on.
    parts : collection of str
        Which ones, as findings name them; all if none is named.
    settle : Settle
        Answers for rigs.
    """
    strange = unmodeled(fabric.machine)
    for module, rigs, checks in _modules(fabric):
        names = tuple(name for name, _ in (*checks, *rigs(0)))
        if parts and not any(part.startswith(names) for part in parts):
            continue
        if strange:
            yield Settled("undecided", f"the rig does not know {strange}").finding("delivery", module, "all")
            continue
        try:
            groups = _alike(fabric, module)
        except ForeignInputError as error:
            yield Settled("undecided", str(error)).finding("delivery", module, "all")
            continue
        own: list[tuple[Part, int | None]] = [(check, None) for check in checks]
        for bits in groups:
            suffix = "" if len(groups) == 1 else f", bit {bits[0]}"
            own += [((f"{part}{suffix}", make), len(bits)) for part, make in rigs(bits[0])]
        for (name, make), cases in own:
            if parts and name not in parts:
                continue
            say(f"{module}: {name}, at most {seconds:g} seconds ...")
            _, settled = answer_of(make, settle, seconds=seconds, root=root)
            yield settled.finding("delivery", module, name, cases=cases)


def prove_waiting(
    fabric: EmittedFabric,
    *,
    seconds: float,
    root: Path = PROOF_ROOT,
    say: Say = lambda _: None,
    parts: Collection[str] = (),
    settle: Settle = settle,
) -> Iterator[Finding]:
    """Prove for each queue of each router how long its first packet waits; see :func:`prove_delivery`.

    Of routers that the rig does not know, nothing is decided. Parts are queues, without their bounds.
    """
    strange = unmodeled(fabric.machine) or WaitingRig.unknown(fabric.machine)
    for shape, module in enumerate(fabric.modules.routers):
        if strange:
            yield Settled("undecided", f"the rig does not know {strange}").finding("waiting", module, "all")
            continue
        for part, port, vc in _queues(fabric, shape):
            if parts and part not in parts:
                continue
            say(f"{module}: waiting in {part}, at most {seconds:g} seconds ...")
            make = partial(WaitingRig, fabric, shape, 0, port, vc)
            rig, settled = answer_of(make, settle, seconds=seconds, root=root)
            yield settled.finding("waiting", module, part if rig is None else f"{part}, at most {rig.bound} slots")


def _modules(fabric: EmittedFabric) -> Iterator[tuple[str, Callable[[int], Iterator[Part]], list[Part]]]:
    """Return the modules that flits go through, each with its rigs for one bit of a flit, and those of check bits."""
    crc = fabric.machine.spec.crc
    for shape, module in enumerate(fabric.modules.routers):
        yield module, partial(_router_parts, fabric, shape), list(_checks(fabric, shape)) if crc else []
    ejection, module = CheckedEjectionRig if crc else EjectionRig, fabric.modules.ejection
    checks: list[Part] = [("check bits of ejection", partial(CheckRig, fabric, module, "channel", "checker"))]
    yield module, lambda bit: iter([("ejection buffer", partial(ejection, fabric, bit))]), checks if crc else []
    narrow = {
        name: port for port, name in fabric.modules.channels.items() if fabric.machine.channels.intervals[port] > 1
    }
    for module, port in narrow.items():
        yield module, partial(_channel_part, fabric, port), []


def _channel_part(fabric: EmittedFabric, port: int, bit: int) -> Iterator[Part]:
    yield "narrow channel", partial(ChannelRig, fabric, port, bit)


def _checks(fabric: EmittedFabric, shape: int) -> Iterator[Part]:
    """Return the rigs of what makes check bits in a router, looks at them and counts errors."""
    module, network = fabric.modules.routers[shape], fabric.machine.plan.network
    for port in fabric.machine.plan.shapes[shape].ports:
        name = network.ports[port].name
        yield f"check bits of {name}", partial(CheckRig, fabric, module, f"{name}_i", f"{name}.checker")
        yield f"errors of {name}", partial(ErrorsRig, fabric, shape, port)
    yield "check bits of injection", partial(MakerRig, fabric, shape)


def _router_parts(fabric: EmittedFabric, shape: int, bit: int) -> Iterator[Part]:
    machine, local = fabric.machine, len(fabric.machine.network.ports)
    queue, injections, switch = InputRig, (InjectionRig, GaplessRig), SwitchRig
    if machine.timing.matches:
        queue, injections, switch = MatchedInputRig, (MatchedInjectionRig, MatchedGaplessRig), MatchedSwitchRig
    for part, port, vc in _queues(fabric, shape):
        if port == local:
            yield part, partial(injections[machine.spec.gapless_packets], fabric, shape, bit)
        else:
            yield part, partial(queue, fabric, shape, bit, port, vc)
    yield "switch", partial(switch, fabric, shape, bit)


def _queues(fabric: EmittedFabric, shape: int) -> Iterator[tuple[str, int, int]]:
    """Return the queues of a router into which packets come: what they are called, their ports and virtual channels."""
    plan = fabric.machine.plan
    ports, own = plan.network.ports, plan.shapes[shape]
    for port in own.ports:
        for vc in range(plan.num_vcs[ports[port].opposite]):
            if own.ways(port, vc):
                yield f"queue of {ports[port].name}, virtual channel {vc}", port, vc
    yield "queue of injection", len(ports), 0


def _alike(fabric: EmittedFabric, module: str) -> list[list[int]]:
    """Return the bits of flits, and above them of their check bits, that a module passes on alike, in groups.

    Injection makes check bits: there both are looked at from where they are written on.
    """
    spec = fabric.machine.spec
    netlist = Netlist(fabric.text, module, (*WIRES, *CHECKED))
    names, ends = netlist.names, (*INCOMING, *OUTGOING)
    words = {name: names[name] for name in netlist.ports if name.endswith(ends) and not name.startswith(MONITOR)}
    for name in words:
        words[name] = words[name][: spec.flit_width]
        if spec.crc and name.endswith("data"):
            words[name] += names[name.removesuffix("data") + "check"]
    if spec.crc and "inject__payload" in words:
        words["inject__payload"] = names.get("injection.write_data", words["inject__payload"])
    uncertain = (".take", ".vc", ".possible", ".wrong", ".was_wrong")
    return alike_bits(
        netlist,
        inputs={name: nets for name, nets in words.items() if name.endswith(INCOMING)},
        outputs=[nets for name, nets in words.items() if name.endswith(OUTGOING)],
        cut=[net for name, nets in names.items() if name.endswith(uncertain) for net in nets],
    )
