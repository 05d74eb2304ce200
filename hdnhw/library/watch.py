"""A look inside a fabric that runs."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.library.asked import asks
from hdnhw.library.options import PathLike
from hdnhw.library.result import Result
from hdnhw.spec.load import LEAST_RATE
from hdnhw.spec.options import Options, Pattern, Rate, Size, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

if TYPE_CHECKING:
    from hdnhw.machine.machine import Machine
    from hdnhw.verilog.monitored import Reading

MOST_INTERVAL = 30.0
"""Seconds between two readings: counters of 32 bits come round sooner than in a minute at some clocks."""


@dataclass(frozen=True, kw_only=True)
class WatchOptions(Options):
    """Options of the command ``watch``."""

    interval: float = option(1.0, Rate, "seconds between two readings", metavar="S", least=0, most=MOST_INTERVAL)
    tables: int | None = option(
        None, Size, "how many tables to print (default: until Ctrl-C, or one with --json)", metavar="N", least=1
    )
    longest: int = option(
        1000, Size, "say what queues wait for that have sent nothing for N cycles or more", metavar="N", least=1
    )
    baud: int = option(115_200, Size, "bits a second of a serial line", metavar="N", least=50)
    base: int = option(0, Size, "where the monitor's addresses begin, in bytes", metavar="N", least=0)
    rate: float | None = option(
        None,
        Rate,
        "beside what is seen, what the model says of R flits per node per cycle",
        metavar="R",
        least=LEAST_RATE,
        most=1,
    )
    pattern: str = option("uniform", Pattern, "where the packets of --rate go")


@asks
def watch(place: str, folder: PathLike, *, seen: Callable[[Result], None] | None = None, asked: WatchOptions) -> Result:
    """Show what a running fabric with a monitor does.

    Parameters
    ----------
    place : str
        ``tcp:HOST:PORT``, or a serial line such as ``/dev/ttyUSB0``.
    folder : path
        That of the emitted fabric, with its manifest.
    seen : callable, optional
        Gets each result but the last.
    asked

    Returns
    -------
    Result
        As docs/monitor.md describes it: ``channels``, a row for each type of channel, ``waits``, a row for each queue
        that has sent nothing for long, and ``circle``.

    Raises
    ------
    SpecError
        If there is no such fabric, or it does not answer.

    Examples
    --------
    >>> import hdnhw
    >>> hdnhw.watch("/dev/ttyUSB0", "build/noc").waits  # doctest: +SKIP
    []
    """
    from hdnhw.support.words import Words
    from hdnhw.verilog.folder import read_machine
    from hdnhw.verilog.monitored import read_monitor

    machine = read_machine(Path(folder))
    if not machine.spec.monitor:
        raise SpecError(f"{named('folder')} must be of a fabric with {named('monitor')}, not {str(folder)!r}")
    beside = {} if asked.rate is None else _predicted(machine, asked)
    words = Words(place, baud=asked.baud)
    try:

        def read(address: int, count: int) -> list[int]:
            return words.read(asked.base + address, count)

        before, left = read_monitor(machine, read), asked.tables or (1 if seen is None else -1)
        while True:
            time.sleep(asked.interval)
            now = read_monitor(machine, read)
            found, before, left = _told(machine, before, now, asked.longest, beside), now, left - 1
            if not left or seen is None:
                return found
            seen(found)
    finally:
        words.close()


def _predicted(machine: "Machine", asked: WatchOptions) -> dict[str, Any]:
    """Return what the model says of each type of channel."""
    from hdnhw.measurement.load import LoadSpec
    from hdnhw.measurement.measure import measure
    from hdnhw.model.counts import channel_types
    from hdnhw.model.fabric import FabricModel

    assert asked.rate is not None
    counts = measure(FabricModel(machine), LoadSpec(pattern=asked.pattern, rate=asked.rate), counting=True).counts
    assert counts is not None
    return {
        row["type"]: {name: row[name]["mean"] for name in ("load", "stalled")}
        for row in channel_types(machine.plan, counts)
    }


def _told(machine: "Machine", before: "Reading", now: "Reading", longest: int, beside: dict[str, Any]) -> Result:
    """Return what has been done between two readings, and who waits at the second."""
    from hdnhw.model.counts import channel_types
    from hdnhw.verilog.monitored import waits_of

    counts = now.since(before, machine.timing.packet_length)
    rows, circle = waits_of(machine, now, longest)
    channels = [
        {**{name: row[name] for name in ("type", "channels", "load", "stalled")}}
        | ({"model": beside[row["type"]]} if beside else {})
        for row in channel_types(machine.plan, counts)
    ]
    waits = [
        {"queue": head.queue, "depth": depth, "packets": head.packets, "cycles": head.cycle, "waits_for": head.reason}
        for depth, head in rows
    ]
    return Result(
        {
            "spec": str(machine.network.spec),
            "cycle": now.cycles,
            "cycles": counts.slots * machine.timing.packet_length,
            "channels": channels,
            "most_packets": _most(machine, now),
            "waits": waits,
            "circle": circle,
        }
    )


def _most(machine: "Machine", now: "Reading") -> dict[str, int]:
    """Return the most packets that a queue has held, by the ports that they come in by."""
    names = [*(port.name for port in machine.network.ports), "injection"]
    return dict(zip(names, now.counts.most.max(axis=(0, 2)).tolist(), strict=True))
