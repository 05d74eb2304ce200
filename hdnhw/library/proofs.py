"""Proofs of what holds for the emitted Verilog."""

from pathlib import Path
from typing import Any

from hdnhw.library.options import NetworkLike, PathLike, fabric_of
from hdnhw.library.result import Result
from hdnhw.progress import say
from hdnhw.proofs.finding import SECONDS
from hdnhw.spec import EndpointSpec, SpecError

__all__ = ["prove"]


def prove(
    spec: "NetworkLike | None" = None,
    *,
    output: PathLike | None = None,
    check: PathLike | None = None,
    seconds: float = SECONDS,
    endpoints: str | EndpointSpec | None = None,
    **options: Any,
) -> Result:
    """Prove that the emitted Verilog routes by the rule, delivers packets once and is wired as it should be.

    Needs the extra ``flow``.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    output : path, optional
        Write ``certificate.json`` into this folder, which has the manifest of this fabric.
    check : path, optional
        In place of a network: tell whether a certificate belongs to the text beside it.
    seconds : float
        CPU seconds, of Yosys and ABC, after which a search is given up.
    endpoints : str or EndpointSpec, optional
        What stands at the terminals: ``axi-stream``, ``axi4``, ``collective``, ``relay`` or ``exchange``, or a spec.
    options
        Those of :class:`hdnhw.MachineOptions`, and of the endpoints that are named.

    Returns
    -------
    Result
        As docs/proofs.md describes it: ``proved``, and ``findings``, a row for each part; with `check` what the
        certificate says. `passed` is whether all is proved, and the text the one that was.

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
    from hdnhw.flow.tools import ToolError
    from hdnhw.proofs.certificate import check_certificate
    from hdnhw.proofs.fabric import prove_fabric

    if (spec is None) == (check is None):
        raise SpecError("prove takes either SPEC or --check FILE")
    if check is not None:
        told = check_certificate(Path(check))
        return Result(told, passed=told["text"] is not None and told["proved"])
    fabric = fabric_of(spec, endpoints, options)
    try:
        found = prove_fabric(fabric, seconds=seconds, output=None if output is None else Path(output), say=say)
    except ToolError as error:
        say(f"hdnhw: {error}")
        return Result({"spec": str(fabric.network), "proved": False, "error": str(error)}, passed=False)
    return Result(found, passed=found["proved"])
