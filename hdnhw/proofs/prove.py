"""All that is proved of an emitted fabric."""

import json
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

from hdnhw.fpga.tools import tool_versions
from hdnhw.proofs.bridges import prove_bridges
from hdnhw.proofs.certificate import check_certificate, check_folder, digests, write_certificate
from hdnhw.proofs.delivery import prove_delivery, prove_waiting
from hdnhw.proofs.endpoints import properties_of, prove_endpoints
from hdnhw.proofs.finding import BARE, SECONDS, Finding, verdict
from hdnhw.proofs.netlist import Netlist
from hdnhw.proofs.phases import prove_phases
from hdnhw.proofs.registers import prove_registers
from hdnhw.proofs.routes import WIRES, prove_arrival, prove_units, rule_table
from hdnhw.proofs.search import Recheck, Settle, settle
from hdnhw.proofs.wiring import prove_chip_wiring, prove_wiring, read_top
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import EmittedFabric
from hdnhw.verilog.folder import read_fabric

Say = Callable[[str], None]


def prove_fabric(
    fabric: EmittedFabric, *, seconds: float = SECONDS, folder: Path | None = None, say: Say = lambda _: None
) -> dict[str, Any]:
    """Prove what holds for the text of a fabric.

    Parameters
    ----------
    fabric : EmittedFabric
    seconds : float
        CPU seconds of Yosys and ABC after which a search is given up, and its property is undecided.
    folder : Path, optional
        Where its files are; they must still be these in the end, and a certificate is written beside them, with an
        invariant of each rig for which one is found within as many seconds again.
    say : callable
        Is told what goes on.

    Returns
    -------
    dict
        ``digests`` of its files; ``tools``, their versions; ``findings``, see :class:`hdnhw.proofs.finding.Finding`;
        and what these say together, see :func:`hdnhw.proofs.finding.verdict`; what is not found is not proved.

    Raises
    ------
    SpecError
        If `seconds` is not above 0, or a file in the folder is another one by now.
    ToolError
        If Yosys or ABC is missing or fails.
    """
    tools = {**tool_versions(["yosys"]), "hdnhw": version("hdnhw")}
    findings = _findings(fabric, seconds, partial(settle, invariants=folder is not None), say)
    missing = {*BARE, *properties_of(fabric), *(["chips", "links"] if fabric.chips else [])} - {
        finding.property for finding in findings
    }
    answers = [(finding.property, finding.answer) for finding in findings]
    result = {
        "spec": str(fabric.machine.spec.network),
        "nodes": fabric.machine.network.num_nodes,
        **fabric.machine.options(),
        "digests": digests(fabric),
        "tools": tools,
        **verdict([*answers, *((name, "undecided") for name in missing)]),
        "findings": [finding.row() for finding in findings],
    }
    if folder is not None:
        check_folder(folder, fabric)
        invariants = [finding.invariant for finding in findings if finding.invariant]
        write_certificate({**result, "invariants": invariants}, folder)
    return result


def recheck(path: Path, *, seconds: float = SECONDS, say: Say = lambda _: None) -> dict[str, Any]:
    """Check all of a certificate on the text beside it: enumerations are made anew, and z3 checks the invariants.

    Parameters
    ----------
    path : Path
    seconds : float
        CPU seconds for the circuit of each rig.
    say : callable
        Is told what goes on.

    Returns
    -------
    dict
        As of :func:`hdnhw.proofs.certificate.check_certificate`; ``rechecked``, whether all that the certificate calls
        proved has been seen to be, and ``findings``.

    Raises
    ------
    SpecError
        If the certificate is refused, or the folder has no fabric.
    ToolError
        If Yosys is missing or fails.
    """
    told = check_certificate(path)
    said = json.loads(path.read_text())
    findings = _findings(read_fabric(path.parent), seconds, Recheck(said.get("invariants", ())), say)
    proved = {(one["property"], one["module"], one["part"]) for one in said["findings"] if one["answer"] == "proved"}
    seen = {(one.property, one.module, one.part) for one in findings if one.answer == "proved"}
    for one in findings:
        if one.answer == "refuted" and (one.property, one.module, one.part) in proved:
            raise SpecError(
                f"check must be a certificate that holds, and {one.part} of {one.module} is wrong: {one.why}"
            )
    return {**told, "rechecked": proved <= seen, "findings": [finding.row() for finding in findings]}


def _findings(fabric: EmittedFabric, seconds: float, settle: Settle, say: Say) -> list[Finding]:
    """Return what is found of a fabric."""
    if not (isfinite(seconds) and seconds > 0):
        raise SpecError(f"seconds must be above 0, not {seconds:g}")
    say("registers and language ...")
    given: dict[str, Any] = {"seconds": seconds, "say": say, "settle": settle}
    return [
        *prove_registers(fabric),
        *prove_routing(fabric, say=say),
        *prove_delivery(fabric, **given),
        *prove_waiting(fabric, **given),
        *prove_endpoints(fabric, **given),
        *prove_bridges(fabric, **given),
    ]


def prove_routing(fabric: EmittedFabric, *, say: Say = lambda _: None) -> list[Finding]:
    """Return what is found of the route units and the wires of a bare fabric."""
    plan, routers, text = fabric.machine.plan, list(fabric.modules.routers), fabric.text
    pairs = plan.network.num_nodes**2
    due = rule_table(plan)
    findings: list[Finding] = []
    tables = {}
    for shape, router in enumerate(routers):
        say(f"{router}: route units, {pairs} pairs each ...")
        cycles = int(fabric.machine.timing.registers_routes)
        owners = ["injection"]
        if not fabric.machine.timing.gives_notice:
            owners += [
                plan.network.ports[turn[0]].name
                for turn in plan.shapes[shape].turns
                if turn[0] in plan.shapes[shape].ports
            ]
        found, injected = prove_units(plan, Netlist(text, router, WIRES), router, due, cycles=cycles, owners=owners)
        findings += found
        if injected is not None:
            tables[shape] = injected
    if len(tables) == len(routers):
        say(f"arrival, {pairs} pairs ...")
        findings.append(prove_arrival(plan, tables, routers))
    say("wiring ...")
    modules = read_top(fabric)
    findings += [prove_wiring(fabric, modules), prove_phases(fabric, modules)]
    if fabric.chips is not None:
        findings.append(prove_chip_wiring(fabric))
    return findings
