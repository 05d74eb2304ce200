"""Waveforms of emitted Verilog, told in packets."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.library.asked import asks
from hdnhw.library.options import PathLike
from hdnhw.library.result import Result
from hdnhw.spec.options import Flag, Options, Text, option
from hdnhw.support.files import check_distinct, check_output, write_together
from hdnhw.support.naming import named

if TYPE_CHECKING:
    from hdnhw.verilog.waves.packets import Waves


@dataclass(frozen=True, kw_only=True)
class WavesOptions(Options):
    """Options of the command ``waves``."""

    stopped: bool = option(False, Flag, "tell which packets wait at the end of the dump, and who waits for whom")
    scope: str | None = option(
        None, Text, "where in the dump the fabric is, if it has several such: bench.dut", metavar="PATH"
    )


@asks
def waves(dump: PathLike, folder: PathLike, *, output: PathLike | None = None, asked: WavesOptions) -> Result:
    """Show the packets in a waveform of emitted Verilog.

    Parameters
    ----------
    dump : path
        What a simulator has written of the fabric, VCD, from the reset on.
    folder : path
        That of the fabric, with its manifest.
    output : path, optional
        A VCD with the packets on each channel; a save file of GTKWave and a command file of Surfer are put beside it.
    asked

    Returns
    -------
    Result
        As docs/waveforms.md describes it: ``packets``, ``delivered``, ``held``, and with `stopped` ``waits``, a row
        for each packet that is first in a queue, and ``circle``.

    Raises
    ------
    SpecError
        If the folder has no fabric, the dump is no VCD, or it is not of this fabric.

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

    path = None if output is None else Path(output)
    if path is not None:
        check_output(named("output"), path, (".vcd",))
        check_distinct({named("dump"): str(dump), named("output"): str(path)})
    seen = Waves(read_fabric(Path(folder)).machine, Dump(Path(dump)), asked.scope)
    held = sum(len(queue) for queues in seen.queues for queue in queues.values())
    about: dict[str, Any] = {"spec": str(seen.machine.network.spec), "scope": seen.scope, "cycles": seen.cycles}
    about |= {"packets": seen.packets, "delivered": seen.delivered, "dropped": seen.dropped, "held": held}
    if path is not None:
        about["files"] = [str(file) for file in write_together(path.parent, wave_files(seen, path.name))]
    return Result(about | (_stopped(seen) if asked.stopped else {}))


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
