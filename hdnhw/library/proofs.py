"""Proofs of what holds for the emitted Verilog."""

from dataclasses import dataclass
from math import inf
from os import PathLike as PathLikeOf
from pathlib import Path
from typing import Annotated, Any

from hdnhw.library.asked import asks
from hdnhw.library.options import (
    EndpointOptions,
    MachineOptions,
    NetworkLike,
    PathLike,
    TerminalOptions,
    fabric_of,
    given,
)
from hdnhw.library.result import Result
from hdnhw.proofs.finding import SECONDS
from hdnhw.spec.options import Flag, Given, Rate, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import say


@dataclass(frozen=True, kw_only=True)
class ProveOptions(TerminalOptions):
    """Options of the command ``prove``."""

    check: PathLike | None = option(
        None,
        Given,
        "in place of a network: tell whether a certificate belongs to the files beside it",
        metavar="FILE",
    )
    thorough: bool = option(
        False,
        Flag,
        "with --check: check what the certificate says on the text, and its invariants with another solver",
    )
    seconds: float = option(
        SECONDS,
        Rate,
        "CPU seconds, of Yosys and ABC, after which a search is given up",
        metavar="S",
        least=0.001,
        most=inf,
        open=True,
    )


@asks
def prove(
    spec: "NetworkLike | PathLike | None" = None,
    *,
    output: PathLike | None = None,
    asked: ProveOptions,
    **options: Annotated[Any, MachineOptions, EndpointOptions],
) -> Result:
    """Prove that Verilog routes by the rule, delivers packets once and is wired correctly.

    Needs the extra ``flow``.

    Parameters
    ----------
    spec : str, NetworkSpec, Network or path
        A network, whose fabric is emitted; or the folder of an emitted fabric, whose files are proved as they stand,
        with the options of their manifest: then ``certificate.json`` is written beside them.
    output : path, optional
        Write ``certificate.json`` into this folder, which has the files of this network's fabric.
    asked
    options
        Those of :class:`hdnhw.MachineOptions`, and of the endpoints that are named.

    Returns
    -------
    Result
        As docs/proofs.md describes it: ``proved``, and ``findings``, a row for each part; with `check` what the
        certificate says. `passed` is whether all is proved.

    Raises
    ------
    SpecError
        If an option is out of range, or both a network and a certificate are given, or neither.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.prove("cube(1)")  # doctest: +SKIP
    >>> found.proved, [row["property"] for row in found.findings][:3]  # doctest: +SKIP
    (True, ['registers', 'route', 'route'])
    """
    from hdnhw.fpga.tools import ToolError
    from hdnhw.proofs.certificate import check_certificate
    from hdnhw.proofs.prove import prove_fabric, recheck
    from hdnhw.verilog.fabric import emit_fabric
    from hdnhw.verilog.folder import read_fabric

    check, seconds = asked.check, asked.seconds
    if (spec is None) == (check is None):
        raise SpecError(f"prove takes either SPEC, DIR or {named('check')} FILE")
    if asked.thorough and check is None:
        raise SpecError(f"{named('thorough')} is for {named('check')}")
    beside = given({"output": output, "endpoints": asked.endpoints, **options})
    folder = None if output is None else Path(output)
    try:
        if check is not None:
            _refuse(beside, named("check"))
            path = Path(check)
            found = recheck(path, seconds=seconds, say=say) if asked.thorough else check_certificate(path)
            return Result(found, passed=found["proved"] and found.get("rechecked", True))
        if isinstance(spec, (str, PathLikeOf)) and Path(spec).is_dir():
            _refuse(beside, "DIR, whose options are in its manifest")
            folder = Path(spec)
            fabric = read_fabric(folder)
        else:
            fabric = emit_fabric(fabric_of(spec, asked.endpoints, options))
            fabric = fabric if folder is None else read_fabric(folder, like=fabric)
        found = prove_fabric(fabric, seconds=seconds, folder=folder, say=say)
    except ToolError as error:
        say(f"hdnhw: {error}")
        return Result({"proved": False, "error": str(error)}, passed=False)
    return Result(found, passed=found["proved"])


def _refuse(options: dict[str, Any], what: str) -> None:
    """Refuse options that are given beside something."""
    for name in options:
        raise SpecError(f"{named(name)} is not for {what}")
