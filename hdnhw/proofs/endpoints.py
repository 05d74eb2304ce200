"""Endpoints: rules of their streams, and what each kind of them has to prove beside."""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path

from hdnhw.endpoints import declared
from hdnhw.proofs.finding import Finding
from hdnhw.proofs.rig import Rig
from hdnhw.proofs.search import PROOF_ROOT, Settle, answer_of, settle
from hdnhw.proofs.streams import StreamRig, streams_of
from hdnhw.verilog.fabric import EmittedFabric

Part = tuple[str, str, Callable[[], Rig]]
"""A property, the part of the endpoint that has it, and what makes the rig. ``PROOF`` of a kind yields its own."""


def prove_endpoints(
    fabric: EmittedFabric,
    *,
    seconds: float,
    root: Path = PROOF_ROOT,
    say: Callable[[str], None] = lambda _: None,
    properties: Collection[str] = (),
    parts: Collection[str] = (),
    settle: Settle = settle,
) -> Iterator[Finding]:
    """Prove what is claimed of the endpoint of a fabric; where there is none, nothing is found.

    Parameters
    ----------
    fabric : EmittedFabric
    seconds : float
        After so many of CPU time, a search is given up; there is one for each stream, and for each part of the kind.
    root : Path
        A folder in which answers are kept.
    say : callable
        Is told what goes on.
    properties : collection of str
        Which are looked at; all if none is named.
    parts : collection of str
        Of which parts, as findings name them; all if none is named.
    settle : Settle
        Answers for rigs.
    """
    if fabric.endpoints is None:
        return
    for module, name, part, make in _parts(fabric):
        if (not properties or name in properties) and (not parts or part in parts):
            said = f"stream {part}" if name == "streams" else part
            say(f"{module}: {said}, at most {seconds:g} seconds ...")
            _, settled = answer_of(make, settle, seconds=seconds, root=root)
            yield settled.finding(name, module, part)


def _parts(fabric: EmittedFabric) -> Iterator[tuple[str, str, str, Callable[[], Rig]]]:
    """Yield all that is proved of the endpoints of a fabric, by their modules."""
    assert fabric.endpoints is not None
    for module in fabric.endpoints.units:
        for stream in streams_of(fabric, module):
            yield module, "streams", stream, partial(StreamRig, fabric, module, stream)
    for module, side in fabric.endpoints.guards.items():
        for stream in (one for one in streams_of(fabric, module) if one.startswith(side)):
            yield module, "streams", stream, partial(StreamRig, fabric, module, stream)
    for part in _own_parts(fabric):
        yield fabric.endpoints.modules.unit, *part


def _own_parts(fabric: EmittedFabric) -> Iterable[Part]:
    """Return what its kind has to prove."""
    prove = None if fabric.endpoints is None else declared("proof").get(fabric.manifest["endpoints"]["type"])
    own: Iterable[Part] = () if prove is None else prove(fabric)
    return own


def properties_of(fabric: EmittedFabric) -> set[str]:
    """Return which properties of endpoints are looked at of a fabric."""
    return {"streams"} | {name for name, _, _ in _own_parts(fabric)} if fabric.endpoints is not None else set()
