"""Waveforms of emitted Verilog, and traces of its packets, told in packets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.library.asked import asks
from hdnhw.library.options import PathLike
from hdnhw.library.result import Result
from hdnhw.spec.options import Flag, Options, Text, option
from hdnhw.support.errors import SpecError
from hdnhw.support.files import check_distinct, check_output, write_together
from hdnhw.support.naming import named

if TYPE_CHECKING:
    from hdnhw.figures.waveform import Bus
    from hdnhw.verilog.waves.packets import Waves
    from hdnhw.verilog.waves.wires import Place

MOST_CYCLES, MOST_LANES = 2000, 400
"""Cycles and lanes of a picture."""


@dataclass(frozen=True, kw_only=True)
class WavesOptions(Options):
    """Options of the command ``waves``."""

    stopped: bool = option(False, Flag, "tell which packets wait at the end of the dump, and who waits for whom")
    scope: str | None = option(
        None, Text, "where in the dump the fabric is, if it has several such: bench.dut", metavar="PATH"
    )
    cycles: str | None = option(
        None, Text, "of a picture, its cycles since the last reset, the last one not among them", metavar="FIRST:END"
    )


@asks
def waves(dump: PathLike, folder: PathLike, *, output: PathLike | None = None, asked: WavesOptions) -> Result:
    """Show the packets in a waveform of emitted Verilog, or in a trace that its assertions have written.

    Parameters
    ----------
    dump : path
        What a simulator has written of the fabric from the reset on: VCD, or a trace of packets.
    folder : path
        That of the fabric, with its manifest.
    output : path, optional
        A VCD with the packets on each channel; a save file of GTKWave and a command file of Surfer are put beside it.
        Or a picture, SVG: the packets of each place over the cycles since the last reset.
    asked

    Returns
    -------
    Result
        As docs/waveforms.md describes it: ``packets``, ``delivered``, ``held``, and with `stopped` ``waits``, a row
        for each packet that is first in a queue, and ``circle``.

    Raises
    ------
    SpecError
        If the folder has no fabric, the dump is no VCD and no trace, or it is not of this fabric; if a trace is asked
        for what it does not show.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.waves("dump.vcd", "build/noc", stopped=True)  # doctest: +SKIP
    >>> found.held, found.circle  # doctest: +SKIP
    (31, [])
    """
    from hdnhw.verilog.folder import read_fabric
    from hdnhw.verilog.waves.dump import Dump
    from hdnhw.verilog.waves.files import wave_files
    from hdnhw.verilog.waves.packets import Waves
    from hdnhw.verilog.waves.trace import Trace

    path = None if output is None else Path(output)
    if path is not None:
        check_output(named("output"), path, (".vcd", ".svg"))
        check_distinct({named("dump"): str(dump), named("output"): str(path)})
    draws = path is not None and path.suffix == ".svg"
    if asked.cycles is not None and not draws:
        raise SpecError(f"{named('cycles')} is of a picture: {named('output')} must be an .svg file")
    window = _window(asked.cycles)
    is_trace = Trace.is_one(Path(dump))
    if is_trace and (asked.stopped or (path is not None and not draws)):
        lacks = named("stopped") if asked.stopped else f"{named('output')} {path}"
        raise SpecError(f"{lacks} needs a dump in VCD: a trace has no credits, and no packets that have not passed")
    fabric = read_fabric(Path(folder))
    if is_trace and fabric.chips is not None:
        raise SpecError("traces are of fabrics on one chip: the lines of several do not say which packets are theirs")
    seen = Waves(fabric.machine, (Trace if is_trace else Dump)(Path(dump)), asked.scope)
    held = sum(len(queue) for queues in seen.queues for queue in queues.values())
    about: dict[str, Any] = {"spec": str(seen.machine.network.spec), "scope": seen.scope, "cycles": seen.cycles}
    about |= {"packets": seen.packets, "delivered": seen.delivered, "dropped": seen.dropped, "held": held}
    if path is not None:
        files = {path.name: _picture(seen, *window)} if draws else wave_files(seen, path.name)
        about["files"] = [str(file) for file in write_together(path.parent, files)]
    return Result(about | (_stopped(seen) if asked.stopped else {}))


def _window(text: str | None) -> tuple[int, int | None]:
    """Return the first cycle of a picture, and the one behind the last, None for that of the last movement."""
    words = [] if text is None else text.split(":")
    if text is not None and not (len(words) == 2 and all(word.isascii() and word.isdecimal() for word in words)):
        raise SpecError(f"{named('cycles')} must be two numbers of cycles, such as 0:400, not {text!r}")
    if not words:
        return 0, None
    first, end = map(int, words)
    if first >= end:
        raise SpecError(f"{named('cycles')} must end behind its first cycle, not {text!r}")
    return first, end


def _picture(seen: "Waves", first: int, end: int | None) -> str:
    """Return an SVG with a lane for each place where packets pass, in some cycles since the last reset."""
    from hdnhw.figures.waveform import waveform_svg

    end = seen.moved + 1 if end is None else end
    if not 0 < end - first <= MOST_CYCLES:
        raise SpecError(f"a picture must be of 1 to {MOST_CYCLES} cycles, not {end - first}: see {named('cycles')}")
    lanes = packet_lanes(seen, seen.places, end)
    drawn = [lane for lane in lanes if any(color >= 0 for color in lane.colors[first:])]
    if not 0 < len(drawn) <= MOST_LANES:
        raise SpecError(f"a picture must be of 1 to {MOST_LANES} places where packets pass, not {len(drawn)}")
    title = f"Packets on {seen.machine.network.spec}"
    return waveform_svg(drawn, title=title, cycles=end, slot=seen.machine.spec.packet_length, first=first)


def packet_lanes(seen: "Waves", places: Sequence["Place"], cycles: int) -> list["Bus"]:
    """Return a lane for each of some places, with the packets that pass there in so many cycles since the last reset.

    A packet is drawn from its head flit to its tail.
    """
    from hdnhw.figures.waveform import Bus
    from hdnhw.verilog.waves.wires import NAMES

    ports = seen.machine.network.ports
    drawn = {place: (["-"] * cycles, [-1] * cycles) for place in places}
    for passage in seen.passages[seen.first :]:
        if passage.place in drawn and passage.packet is not None:
            texts, colors = drawn[passage.place]
            for cycle in range(passage.cycle, min(cycles, passage.tail + 1)):
                texts[cycle], colors[cycle] = str(passage.packet), passage.packet.number
    names = {place: f"node_{place.node}.{NAMES.get(place.port) or ports[place.port].name}" for place in places}
    return [Bus(names[place], *both) for place, both in drawn.items()]


def _stopped(seen: "Waves") -> dict[str, Any]:
    """Return what waits at the end, and for what."""
    from hdnhw.verilog.waves.waiting import waiting

    rows, circle = waiting(seen)
    waits = [
        {
            "queue": head.queue,
            "depth": depth,
            "packets": head.packets,
            "first": None if head.packet is None else str(head.packet),
            "age": seen.cycles - 1 - head.cycle,
            "waits_for": head.reason,
        }
        for depth, head in rows
    ]
    return {"still_since": seen.moved + 1, "waits": waits, "circle": circle}
