"""Writing and measuring hardware."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from hdnhw.fpga.spec import SynthOptions, SynthSpec
from hdnhw.library.asked import asks
from hdnhw.library.options import EndpointOptions, MachineOptions, NetworkLike, PathLike, TerminalOptions, fabric_of
from hdnhw.library.result import Result
from hdnhw.spec.chips import ChipOptions
from hdnhw.spec.options import Flag, Options, Text, option, options_of
from hdnhw.support.files import check_folder
from hdnhw.support.naming import named
from hdnhw.support.progress import say


@dataclass(frozen=True, kw_only=True)
class InitialOptions(Options):
    """Options of all Verilog."""

    no_initial: bool = option(
        False,
        Flag,
        "no initial values of registers and memories, for ASICs: they have none before the first reset",
    )


@dataclass(frozen=True, kw_only=True)
class FileOptions(InitialOptions):
    """Options of what is written with the Verilog."""

    wrapper: bool = option(
        False,
        Flag,
        "with wrappers in SystemVerilog, Verilog and VHDL that have one array for the ports of all nodes, and files of "
        "constants",
    )
    readable: bool = option(
        False, Flag, "with the Verilog once more, to be read: the same logic in fewer lines, as TOP_readable.txt"
    )

    assertions: bool = option(
        False, Flag, "with assertions on all streams and channels for simulators, and a trace of packets"
    )

    @property
    def written(self) -> dict[str, Any]:
        """What :func:`hdnhw.verilog.fabric.emit_fabric` is told of them."""
        return {"wrapper": self.wrapper, "assertions": self.assertions}

    def shown(self, fabric: Any) -> Any:
        """Return a fabric with its Verilog to be read, if that is asked for."""
        if not self.readable:
            return fabric
        from hdnhw.verilog.fabric import READABLE
        from hdnhw.verilog.readable import readable

        text = "\n".join(map(readable, fabric.verilog.values()))
        return replace(fabric, files={READABLE.format(fabric.modules.top): text, **fabric.files})


@dataclass(frozen=True, kw_only=True)
class VerilogOptions(InitialOptions, ChipOptions):
    """Options of the Verilog of a fabric, whoever reads it."""

    node_clocks: bool = option(
        False, Flag, "each node's terminal has a clock and a reset of its own, behind asynchronous queues"
    )

    @property
    def emitting(self) -> dict[str, Any]:
        """What :func:`hdnhw.verilog.fabric.emit_fabric` is told of them."""
        return {"initial": not self.no_initial, "node_clocks": self.node_clocks, "cut": self}


@dataclass(frozen=True, kw_only=True)
class EmitOptions(VerilogOptions, FileOptions, TerminalOptions):
    """Options of the command ``emit``."""

    name: str = option("fabric", Text, "name of the top-level module", metavar="TOP")


@dataclass(frozen=True, kw_only=True)
class SynthCommandOptions(SynthOptions, TerminalOptions):
    """Options of the command ``synth``."""


@asks
def emit(
    spec: NetworkLike,
    output: PathLike,
    *,
    asked: EmitOptions,
    **options: Annotated[Any, MachineOptions, EndpointOptions],
) -> Result:
    """Write the Verilog of a fabric and its manifest.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    output : path
        Folder for the files; it is made.
    asked
    options
        Those of :class:`hdnhw.MachineOptions`, and of the endpoints that are named.

    Returns
    -------
    Result
        ``files``, ``bytes``, ``digest``, ``proof`` and what the machine is; docs/integration.md describes the files.

    Raises
    ------
    SpecError
        If an option is out of range, or routing would not be free of deadlock.

    Examples
    --------
    >>> import hdnhw, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = hdnhw.emit("cube(2)", folder, buffers=8)
    >>> made.routers, made.buffers, made.proof
    (4, 8, '8 virtual channels, 4 dependencies: acyclic (the full channel dependency graph was built and sorted)')
    """
    from hdnhw.verilog.fabric import check_place, emit_fabric, write_fabric

    started = time.monotonic()
    directory = Path(output)
    check_folder(named("output"), directory)
    check_place(directory, top=asked.name)
    machine = fabric_of(spec, asked.endpoints, options, node_clocks=asked.node_clocks)
    fabric = asked.shown(emit_fabric(machine, top=asked.name, **asked.written, **asked.emitting))
    written = write_fabric(fabric, directory)
    manifest = fabric.manifest
    return Result(
        {
            "files": [str(path) for path in written],
            "bytes": sum(path.stat().st_size for path in written if path.suffix == ".sv"),
            "seconds": round(time.monotonic() - started, 2),
            **{key: manifest[key] for key in ("spec", "routers", "router_modules", "num_vcs")},
            **fabric.machine.options(),
            "digest": manifest["digest"],
            "proof": manifest["proof"]["summary"],
            "zero_load_latency": manifest["latency"]["zero_load"] + " on one chip" * (fabric.chips is not None),
            **({} if fabric.chips is None else {"chips": fabric.chips.summary}),
        }
    )


@asks
def synth(
    spec: NetworkLike, *, asked: SynthCommandOptions, **options: Annotated[Any, MachineOptions, EndpointOptions]
) -> Result:
    """Measure area and clock of a router, an endpoint or a fabric on an FPGA; needs the extra ``flow``.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked
    options
        Those of :class:`hdnhw.MachineOptions`, and of the endpoints that are named.

    Returns
    -------
    Result
        As docs/synthesis.md describes it: LUTs, flip-flops, block RAMs, MHz of each run; `passed` is False where a tool
        gave up, with its ``error``.

    Raises
    ------
    SpecError
        If an option is out of range.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.synth("torus(4, 4)", family="ice40", placements=1)  # doctest: +SKIP
    >>> found.passed, found.fmax_mhz  # doctest: +SKIP
    """
    from hdnhw.fpga.synth import synthesize
    from hdnhw.fpga.tools import ToolError

    own = {name: getattr(asked, name) for name in options_of(SynthOptions)}
    measured = SynthSpec(fabric=fabric_of(spec, asked.endpoints, options), **own)
    try:
        return Result(synthesize(measured, say=say))
    except ToolError as error:
        say(f"hdnhw: {error}")
        about = {"spec": str(measured.fabric.network), "unit": asked.unit, "family": asked.family}
        return Result({**about, "error": str(error)}, passed=False)
