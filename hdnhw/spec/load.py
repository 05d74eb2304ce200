"""What is offered to a fabric, and how long it is measured, as a user says it."""

from dataclasses import dataclass
from typing import ClassVar

from hdnhw.spec.options import Options, Pattern, Rate, Size, Text, option, seed_option

LEAST_RATE, LEAST_CYCLES, MOST_CYCLES, MOST_SEEDS = 1e-9, 20, 500_000_000, 1000
"""Flits per node per cycle; cycles of the interval and of the warm-up, so that all fit into 31 bits; seeds."""

MOST_REPEATS = 10_000
"""Of an operation among the packets of a load."""

PRECISION = 0.1
"""That a run goes on for unless its cycles are given."""


@dataclass(frozen=True, kw_only=True)
class LoadOptions(Options):
    """What is offered, and how long it is measured: options of ``simulate``, ``sweep`` and ``cosim``."""

    heading: ClassVar[str] = "load"

    pattern: str = option("uniform", Pattern, "where packets go")
    injection: str = option(
        "bernoulli", Text, "when messages are created: bernoulli, or on_off(BURST, PEAK) in cycles and flits per cycle"
    )
    lengths: str | None = option(
        None,
        Text,
        "flits of a message: a number, uniform(LEAST, MOST) or mix(LENGTH, SHARE, ...), for example "
        "'mix(1, 0.8, 9, 0.2)' (default: one packet)",
    )
    rate: float = option(
        0.1,
        Rate,
        "flits per node per cycle offered",
        metavar="R",
        least=LEAST_RATE,
        most=1,
        unit="flits per node per cycle",
    )
    cycles: int = option(
        10_000, Size, "cycles of the interval measured", metavar="N", least=LEAST_CYCLES, most=MOST_CYCLES
    )
    warmup: int | None = option(
        None,
        Size,
        "cycles before it (default: until it is steady)",
        metavar="W",
        least=0,
        most=MOST_CYCLES,
        unit="cycles",
    )
    seed: int = seed_option(1)
    precision: float | None = option(
        None,
        Rate,
        "go on, up to 128 times as long, until half the 95 % confidence interval of the mean latency is this share of "
        f"it (default {PRECISION}; none with --cycles or --seeds)",
        metavar="P",
        least=0.001,
        most=1,
        unit="of the mean latency",
    )


@dataclass(frozen=True, kw_only=True)
class MeasuredOptions(LoadOptions):
    """What is offered, and how it is measured: in one run, or with several seeds."""

    heading: ClassVar[str] = "load"

    seeds: int = option(
        1,
        Size,
        "measure with N seeds from --seed on, for confidence intervals from independent runs",
        metavar="N",
        least=1,
        most=MOST_SEEDS,
    )
