"""All that is proved of an emitted fabric."""

from collections.abc import Callable
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

from hdnhw.flow.tools import tool_versions
from hdnhw.proofs.certificate import check_folder, digests, write_certificate
from hdnhw.proofs.delivery import prove_delivery, prove_waiting
from hdnhw.proofs.endpoints import prove_endpoints
from hdnhw.proofs.finding import SECONDS, Finding
from hdnhw.proofs.netlist import Netlist
from hdnhw.proofs.registers import prove_registers
from hdnhw.proofs.routes import MOST_NODES, WIRES, prove_arrival, prove_units, rule_table
from hdnhw.proofs.wiring import prove_wiring
from hdnhw.spec import FabricSpec, SpecError
from hdnhw.topology.network import build
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric

__all__ = ["prove_fabric", "prove_routing"]

Say = Callable[[str], None]


def prove_fabric(
    spec: FabricSpec, *, seconds: float = SECONDS, output: Path | None = None, say: Say = lambda _: None
) -> dict[str, Any]:
    """Emit a fabric and prove what holds for its text.

    Parameters
    ----------
    spec : FabricSpec
    seconds : float
        CPU seconds of Yosys and ABC after which a search is given up, and its property is undecided.
    output : Path, optional
        The folder into which the fabric has been emitted, for a certificate.
    say : callable
        Is told what goes on.

    Returns
    -------
    dict
        ``digest`` of the text, as in the manifest, and ``endpoints_digest`` of that of endpoints, if there are any;
        ``tools``, their versions; ``findings``, see :class:`hdnhw.proofs.finding.Finding`; ``proved``, whether all
        properties are.

    Raises
    ------
    SpecError
        If the network has more than :data:`hdnhw.proofs.routes.MOST_NODES` nodes, the machine cannot be built,
        `seconds` is not above 0, or the text in the folder is another one.
    ToolError
        If Yosys or ABC is missing or fails.
    """
    if not (isfinite(seconds) and seconds > 0):
        raise SpecError(f"seconds must be above 0, not {seconds:g}")
    nodes = build(spec.network).num_nodes
    if nodes > MOST_NODES:
        raise SpecError(
            f"nodes must be at most {MOST_NODES} for a proof by enumeration, and {spec.network} has {nodes}"
        )
    tools = {**tool_versions(["yosys"]), "hdnhw": version("hdnhw")}
    fabric = emit_fabric(spec)
    if output is not None:
        check_folder(fabric, output)
    say("registers and language ...")
    findings = [
        *prove_registers(fabric),
        *prove_routing(fabric, say=say),
        *prove_delivery(fabric, seconds=seconds, say=say),
        *prove_waiting(fabric, seconds=seconds, say=say),
        *prove_endpoints(fabric, seconds=seconds, say=say),
    ]
    result = {
        "spec": str(spec.network),
        "nodes": nodes,
        **fabric.machine.options(),
        **digests(fabric.manifest),
        "tools": tools,
        "proved": all(finding.answer == "proved" for finding in findings),
        "findings": [finding.row() for finding in findings],
    }
    if output is not None:
        check_folder(fabric, output)
        write_certificate(result, output)
    return result


def prove_routing(fabric: EmittedFabric, *, say: Say = lambda _: None) -> list[Finding]:
    """Return what is found of the route units and the wires of a bare fabric."""
    plan, routers, text = fabric.machine.plan, list(fabric.modules.routers), fabric.files["fabric.sv"]
    pairs = plan.network.num_nodes**2
    due = rule_table(plan)
    findings: list[Finding] = []
    tables = {}
    for shape, router in enumerate(routers):
        say(f"{router}: route units, {pairs} pairs each ...")
        cycles = int(fabric.machine.timing.registers_routes)
        owners = ["injection"]
        if not fabric.machine.timing.cuts_through:
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
    findings.append(prove_wiring(fabric))
    return findings
