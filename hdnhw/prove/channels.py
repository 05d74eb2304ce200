"""The channel to the terminal: an ejection buffer gives its credits for packets that it has, and far enough apart.

Around it stand a router that sends whenever it likes and has a credit, and a sink that takes what it likes.
"""

from pathlib import Path

from hdnhw.emit.fabric import EmittedFabric
from hdnhw.prove.delivery import unmodelled
from hdnhw.prove.finding import Finding
from hdnhw.prove.rig import Rig
from hdnhw.prove.search import PROOF_ROOT, Settled, settle

__all__ = ["prove_channel"]


def prove_channel(fabric: EmittedFabric, *, seconds: float, root: Path = PROOF_ROOT) -> Finding:
    """Prove the protocol of the channel of the ejection buffer: see :func:`hdnhw.prove.delivery.prove_delivery`."""
    strange = unmodelled(fabric.machine)
    found = Settled("undecided", f"the rig does not know {strange}")
    if not strange:
        found = settle(_EjectionRig(fabric), seconds=seconds, root=root)
    return found.finding("channel", fabric.modules.ejection, "ejection")


class _EjectionRig(Rig):
    """A rig around an ejection buffer."""

    def __init__(self, fabric: EmittedFabric) -> None:
        super().__init__(fabric, fabric.modules.ejection)
        slots, starts = self._machine.ejection_buffers, self._free("f_starts")
        before = self._at(self._timing.head_phase - 1)
        begins = f"!fresh && {starts} && kept + (tail && ejects) - ejection_credit < {slots}"
        self._register("ejects", f"{before} ? {begins} : ejects")
        credit = self._output_pin("channel__credit", "credit")
        self._kept(slots, credit)
        self.claims += [
            ("a credit is given for a packet that is not there", f"!{credit} || kept != 0"),
            ("two credits are less than a packet apart", f"!{credit} || apart == 0"),
        ]
        self._pins.append(".channel__valid(ejects)")
        self._happens(self._output_pin("eject__valid", "out"))
        self._happens(credit)
