"""The barrier of an engine: no signal and no end too early, and no round later than the signals that it waits for.

Around the engine stand neighbors, at any of its ports, that keep one rule: since the last reset none has sent more
signals than the engine had a cycle before, and one. Whatever else may come in. That the engine keeps this rule towards
each neighbor is the first claim. What keeps it looks at earlier cycles alone: by induction over cycles all engines of a
network keep it, if each does while the others do.
"""

from collections.abc import Iterator
from functools import partial

from hdnhw.endpoints.collective.engine_barrier import signal_pin
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.proofs.endpoints import Part
from hdnhw.proofs.streams import EndpointRig
from hdnhw.rtl.bits import index_width
from hdnhw.spec import BARRIER
from hdnhw.verilog.fabric import EmittedFabric


class BarrierRig(EndpointRig):
    """A rig around an engine, each of whose ports may be there or not."""

    def __init__(self, fabric: EmittedFabric) -> None:
        super().__init__(fabric)
        operations = engines_of(self._machine).spec.operations
        self._rounds, self._registers = engines_of(self._machine).rounds, self._machine.signal_registers
        valid = self._free("f_valid")
        payload = self._free("f_operation", self._ports["operation__payload"].width)
        ready, self._done = self._output_pin("operation__ready", "ready"), self._output_pin("done", "done")
        self._signal = self._output_pin("signal", "signal")
        self._pins += [f".operation__valid({valid})", f".operation__payload({payload})"]
        width = index_width(len(operations))
        asked = f"{payload}[{width - 1}:0]" if self._ports["operation__payload"].width > width else payload
        self._wire("enters", f"{valid} && {ready} && {asked} == {operations.index(BARRIER)}")
        self._register("inside", "enters || (inside && !done)")
        self._register("entered", "enters")
        self._register("sent", "enters ? 0 : sent + signal", width=self._rounds.bit_length() + 1)
        ahead = [self._elaborate_neighbor(port.name) for port in self._machine.network.ports]
        self._claim(" && ".join(ahead))

    def _elaborate_neighbor(self, port: str) -> str:
        """Let a neighbor signal by its rule; return the condition that it has sent as many signals as the engine."""
        there, ahead = self._constant(f"there_{port}"), f"ahead_{port}"
        comes = self._wire(f"comes_{port}", f"{self._free(f'f_comes_{port}')} && {ahead} < 2 && !rst")
        self._register(ahead, f"{ahead} + {comes} - signal", width=2, reset="1")  # one more than it is ahead
        self._pins.append(f".{signal_pin(port)}(!{there} || {comes})")
        self.claims.append(
            ("a signal comes before the neighbor's of the round before", f"!signal || !{there} || {ahead} != 0")
        )
        return f"(!{there} || {ahead} != 0)"

    def _claim(self, all_ahead: str) -> None:
        """Claim what is not about one neighbor; `all_ahead`: each has sent as many signals as the engine, or more."""
        going = f"inside && !signal && !done && {all_ahead}"
        waits = self._register("waits", f"{going} ? waits + 1 : 0", width=2)
        total = f"sent == {self._rounds}"
        self.claims += [
            ("a barrier begins without a signal", "!entered || signal"),
            ("a signal comes outside a barrier", "!signal || inside"),
            ("a barrier has more signals than rounds", f"!signal || !({total})"),
            ("a barrier ends before its last round", f"!inside || !done || (({total}) && {all_ahead})"),
            ("another operation is taken in a barrier", "!inside || !ready"),
            ("a round takes longer than its signals", f"{waits} <= {self._registers}"),
        ]
        self._happens("inside && done")
        self._happens(f"inside && !signal && !done && !({all_ahead})")


def _parts(fabric: EmittedFabric) -> Iterator[Part]:
    if BARRIER in engines_of(fabric.machine).spec.operations:
        yield "barrier", "barrier", partial(BarrierRig, fabric)


PROOF = _parts
