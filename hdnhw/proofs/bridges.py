"""Bridges: what one side takes comes out at the other once, in order and unchanged, whatever the wires do to frames."""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

from hdnhw.proofs.bridge import BridgeRig
from hdnhw.proofs.bridge_receiver import ReceiverRig
from hdnhw.proofs.bridge_rules import RulesRig, TakeRig
from hdnhw.proofs.bridge_sender import SenderRig
from hdnhw.proofs.bridge_words import WordsRig
from hdnhw.proofs.finding import Finding
from hdnhw.proofs.search import PROOF_ROOT, Settle, Settled, answer_of, settle
from hdnhw.verilog.fabric import EmittedFabric

PARTS: dict[str, type[BridgeRig]] = {
    "rules of the link": RulesRig,
    "taking": TakeRig,
    "receiver": ReceiverRig,
    "sender": SenderRig,
    "words": WordsRig,
}
"""What is proved of each kind of bridge."""


def prove_bridges(
    fabric: EmittedFabric,
    *,
    seconds: float,
    root: Path = PROOF_ROOT,
    say: Callable[[str], None] = lambda _: None,
    parts: Collection[str] = PARTS,
    settle: Settle = settle,
) -> Iterator[Finding]:
    """Prove the parts of each kind of bridge; of a fabric on one chip nothing is found.

    Parameters
    ----------
    fabric : EmittedFabric
    seconds : float
        After so many of CPU time, a search is given up; there is one for each part.
    root : Path
        A folder in which answers are kept.
    say : callable
        Is told what goes on.
    parts : collection of str
        Which of :data:`PARTS`.
    settle : Settle
        Answers for rigs.
    """
    for module in dict.fromkeys(fabric.chips.bridges if fabric.chips is not None else ()):
        if fabric.machine.spec.packet_length == 1:
            yield Settled("undecided", "the rig does not know --packet-length 1").finding("links", module, "all")
            continue
        for part in parts:
            say(f"{module}: {part}, at most {seconds:g} seconds ...")
            make = partial(PARTS[part], fabric, module)
            _, settled = answer_of(make, settle, seconds=seconds, root=root)
            yield settled.finding("links", module, part)
