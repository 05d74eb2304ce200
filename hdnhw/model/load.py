"""What is offered to a fabric, and how long it is measured."""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
import numpy.typing as npt

from hdnhw.spec import SpecError
from hdnhw.spec.checks import shown
from hdnhw.topology.graph import Network
from hdnhw.traffic.load import Load

BATCHES = 128
"""Equal parts of the interval, one a cycle at most, from whose means its statistics are made."""

LEAST_CYCLES = 20
"""Of the interval."""

PRECISION = 0.1
"""That a run goes on for unless its cycles are given."""

LEAST_RATE, MOST_CYCLES = 1e-9, 500_000_000
"""Of a load: flits a node and cycle; cycles of the interval and of the warm-up, so that all fit into 31 bits."""

_TEXT, _COUNT = (str, "text"), (Integral, "an integer")
_KINDS: dict[str, tuple[type, str]] = {
    "pattern": _TEXT,
    "injection": _TEXT,
    "lengths": _TEXT,
    "rate": (Real, "a number"),
    "cycles": _COUNT,
    "warmup": _COUNT,
    "seed": _COUNT,
    "precision": (Real, "a number"),
}
"""Of the members of a load: what each is."""


@dataclass(frozen=True, kw_only=True)
class LoadSpec:
    """What is offered, and how long it is measured.

    Attributes
    ----------
    pattern : str
        See :func:`hdnhw.traffic.patterns.parse_pattern`.
    injection : str
        See :func:`hdnhw.traffic.injection.parse_injection`.
    lengths : str or None
        Of messages, see :func:`hdnhw.traffic.lengths.parse_lengths`; None for one packet.
    rate : float
        Flits of packets a node and cycle, 1e-9 to 1.
    cycles : int
        Cycles of the interval that is measured, 20 to 500,000,000.
    warmup : int or None
        Cycles before it, up to 500,000,000; None to find out, see :func:`measure`.
    seed : int
    precision : float or None
        Half the width of the 95 % confidence interval of the mean latency, as a share of it, 0.001 to 1: for its sake
        the interval is made longer, see :func:`measure`. None to measure the cycles that are given.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If a member is out of range.
    """

    pattern: str = "uniform"
    injection: str = "bernoulli"
    lengths: str | None = None
    rate: float = 0.1
    cycles: int = 10_000
    warmup: int | None = None
    seed: int = 1
    precision: float | None = None

    def __post_init__(self) -> None:
        for name, (kind, what) in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kind) and not (value is None and name in ("lengths", "warmup", "precision")):
                raise TypeError(f"{name} must be {what}, not {shown(value)}")
        if not LEAST_RATE <= self.rate <= 1:
            raise SpecError(f"rate must be {LEAST_RATE} to 1 flit a node and cycle, not {self.rate}")
        if not LEAST_CYCLES <= self.cycles <= MOST_CYCLES:
            raise SpecError(f"cycles must be {LEAST_CYCLES} to {MOST_CYCLES}, not {self.cycles}")
        if self.warmup is not None and not 0 <= self.warmup <= MOST_CYCLES:
            raise SpecError(f"warmup must be 0 to {MOST_CYCLES} cycles, not {self.warmup}")
        if self.seed < 0:
            raise SpecError(f"seed must be at least 0, not {self.seed}")
        if self.precision is not None and not 0.001 <= self.precision <= 1:
            raise SpecError(f"precision must be 0.001 to 1 of the mean latency, not {self.precision}")

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
