"""What is offered to a fabric, and how long it is measured."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hdnhw.spec.load import LoadOptions
from hdnhw.topology.graph import Network
from hdnhw.traffic.demand import Classes
from hdnhw.traffic.load import Load

BATCHES = 128
"""Equal parts of the interval, one a cycle at most, from whose means its statistics are made."""


@dataclass(frozen=True, kw_only=True)
class LoadSpec(LoadOptions):
    """What is offered, and how long it is measured: the options of :class:`hdnhw.spec.load.LoadOptions`.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If a member is out of range.
    """

    @property
    def has_lengths(self) -> bool:
        """Whether messages may be other than a packet each."""
        return self.lengths is not None or isinstance(self.pattern, Classes)

    def on(
        self, network: Network, packet_length: int, *, dead: npt.NDArray[np.bool_] | None = None, anew: bool = False
    ) -> Load:
        """Return what is created on a network with packets of so many flits; `anew`: other messages of this seed."""
        return Load(
            network,
            packet_length,
            pattern=self.pattern,
            injection=self.injection,
            lengths=self.lengths,
            rate=self.rate,
            seed=(self.seed, 1) if anew else self.seed,
            dead=dead,
        )
