"""Endpoints: rules of their streams, what sender and granter of AXI4-Stream make of frames, and barriers of engines."""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

from hdnhw.proofs.barrier import BarrierRig
from hdnhw.proofs.bursts import BurstsRig
from hdnhw.proofs.finding import Finding
from hdnhw.proofs.frames import FramesRig
from hdnhw.proofs.grants import GranterRig
from hdnhw.proofs.packets import SenderRig
from hdnhw.proofs.rig import Rig
from hdnhw.proofs.search import PROOF_ROOT, Settle, answer_of, settle
from hdnhw.proofs.streams import StreamRig, streams_of
from hdnhw.spec import BARRIER, AxiMemorySpec, AxiStreamSpec, CollectiveSpec
from hdnhw.verilog.fabric import EmittedFabric

PROPERTIES = ("streams", "packets", "grants", "frames", "bursts", "barrier")
"""Those of endpoints."""


def prove_endpoints(
    fabric: EmittedFabric,
    *,
    seconds: float,
    root: Path = PROOF_ROOT,
    say: Callable[[str], None] = lambda _: None,
    properties: Collection[str] = PROPERTIES,
    parts: Collection[str] = (),
    settle: Settle = settle,
) -> Iterator[Finding]:
    """Prove what is claimed of the endpoint of a fabric; where there is none, nothing is found.

    Parameters
    ----------
    fabric : EmittedFabric
    seconds : float
        After so many of CPU time, a search is given up; there is one for each stream, the sender, the granter, and the
        barrier.
    root : Path
        A folder in which answers are kept.
    say : callable
        Is told what goes on.
    properties : collection of str
        Which of :data:`PROPERTIES` are looked at.
    parts : collection of str
        Of which parts, as findings name them; all if none is named.
    settle : Settle
        Answers for rigs.
    """
    if fabric.endpoints is None:
        return
    module = fabric.endpoints.modules.unit
    for name, part, make in _parts(fabric):
        if name in properties and (not parts or part in parts):
            said = f"stream {part}" if name == "streams" else part
            say(f"{module}: {said}, at most {seconds:g} seconds ...")
            _, settled = answer_of(make, settle, seconds=seconds, root=root)
            yield settled.finding(name, module, part)


def _parts(fabric: EmittedFabric) -> Iterator[tuple[str, str, Callable[[], Rig]]]:
    """Yield each property, the part of the endpoint that has it, and what makes the rig."""
    due = properties_of(fabric)
    for stream in streams_of(fabric):
        yield "streams", stream, partial(StreamRig, fabric, stream)
    if "packets" in due:
        yield "packets", "sender", partial(SenderRig, fabric)
    if "grants" in due:
        yield "grants", "granter", partial(GranterRig, fabric)
    if "frames" in due:
        yield "frames", "endpoints of three nodes", partial(FramesRig, fabric)
    if "bursts" in due:
        yield "bursts", "endpoints of three nodes", partial(BurstsRig, fabric)
    if "barrier" in due:
        yield "barrier", "barrier", partial(BarrierRig, fabric)


def properties_of(fabric: EmittedFabric) -> set[str]:
    """Return which of :data:`PROPERTIES` are looked at of a fabric."""
    endpoints = fabric.machine.spec.endpoints
    is_axi = isinstance(endpoints, AxiStreamSpec)
    there = {
        "streams": endpoints is not None,
        "packets": is_axi,
        "grants": is_axi and fabric.machine.frame_pool.grants,
        "frames": is_axi,
        "bursts": isinstance(endpoints, AxiMemorySpec),
        "barrier": isinstance(endpoints, CollectiveSpec) and BARRIER in endpoints.operations,
    }
    return {name for name in PROPERTIES if there[name]}
