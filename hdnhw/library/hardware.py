"""Writing and measuring hardware."""

import time
from pathlib import Path
from typing import Any

from hdnhw.files import check_folder
from hdnhw.library.options import NetworkLike, PathLike, fabric_of
from hdnhw.library.result import Result
from hdnhw.progress import say
from hdnhw.spec import EndpointSpec


def emit(
    spec: NetworkLike,
    output: PathLike,
    *,
    name: str = "fabric",
    endpoints: str | EndpointSpec | None = None,
    wrapper: bool = False,
    no_initial: bool = False,
    node_clocks: bool = False,
    **options: Any,
) -> Result:
    """Write the Verilog of a fabric and its manifest.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    output : path
        Folder for the files; it is made.
    name : str
        Of the top-level module.
    endpoints : str or EndpointSpec, optional
        What to put at the terminals: ``axi-stream``, ``axi4``, ``collective``, ``relay`` or ``exchange``, or a spec.
    wrapper : bool
        With wrappers in SystemVerilog, Verilog and VHDL that have one array for the ports of all nodes.
    no_initial : bool
        No initial values of registers and memories, for ASICs: they have none before the first reset.
    node_clocks : bool
        Each node's terminal has a clock and a reset of its own.
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
    check_folder("output", directory)
    check_place(directory, top=name)
    machine = fabric_of(spec, endpoints, options)
    fabric = emit_fabric(machine, top=name, initial=not no_initial, wrapper=wrapper, node_clocks=node_clocks)
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
            "zero_load_latency": manifest["latency"]["zero_load"],
        }
    )


def synth(
    spec: NetworkLike,
    *,
    family: str = "ecp5",
    unit: str = "router",
    endpoints: str | EndpointSpec | None = None,
    seeds: int = 3,
    address: str | None = None,
    frequency: float | None = None,
    **options: Any,
) -> Result:
    """Measure size and speed of a router, an endpoint or a fabric on an FPGA; needs the extra ``flow``.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    family : str
        Of FPGAs; docs/synthesis.md lists them.
    unit : str
        ``router``, ``endpoint``, ``crossing`` or ``fabric``.
    endpoints : str or EndpointSpec, optional
        Which, for the unit ``endpoint``.
    seeds : int
        Runs of place-and-route.
    address : str, optional
        Node whose router or endpoint it is, or ``pins``; default: a node in the middle.
    frequency : float, optional
        Target of place-and-route, MHz.
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
    >>> found = hdnhw.synth("torus(4, 4)", family="ice40", seeds=1)  # doctest: +SKIP
    >>> found.passed, found.fmax_mhz  # doctest: +SKIP
    """
    from hdnhw.flow.spec import SynthSpec
    from hdnhw.flow.synth import synthesise
    from hdnhw.flow.tools import ToolError

    asked = SynthSpec(
        fabric=fabric_of(spec, endpoints, options),
        family=family,
        unit=unit,
        seeds=seeds,
        address=address,
        frequency=frequency,
    )
    try:
        return Result(synthesise(asked, say=say))
    except ToolError as error:
        say(f"hdnhw: {error}")
        about = {"spec": str(asked.fabric.network), "unit": unit, "family": family}
        return Result({**about, "error": str(error)}, passed=False)
