"""Place-and-route with nextpnr: what its report and its log say."""

import json
import re
from pathlib import Path
from typing import Any

from hdnhw.fpga.stages import signal_of, stage_of

Step = dict[str, Any]


def sites_packed(log: str) -> dict[str, tuple[int, int]]:
    """Return the sites of each kind that a design takes and that the device has, from the log of nextpnr.

    Examples
    --------
    >>> sites_packed("Info: \\t        TRELLIS_COMB:     601/  83640     0%")
    {'TRELLIS_COMB': (601, 83640)}
    """
    found = re.findall(r"^Info:\s+(\w+):\s+(\d+)/\s*(\d+)\s+\d+%$", log, re.MULTILINE)
    return {kind: (int(used), int(available)) for kind, used, available in found}


def fmax_of(report: dict[str, Any]) -> float:
    """Return the frequency of the slowest clock of a report, MHz."""
    return float(min(clock["achieved"] for clock in report["fmax"].values()))


def critical_path(report: dict[str, Any]) -> list[Step]:
    """Return the slowest path from register to register, a step a cell, in the order in which a signal takes it.

    Of each step: the `signal` that the cell is named after and the `stage` in which that is computed, the delay of the
    net into the cell, ``routing_ns``, and that of the cell, ``logic_ns``. The first step is the register that the path
    leaves; the last one is the register that it ends in, whose signal tells best what the path computes. In between, a
    cell of which neither output nor input has a name of its own is called after a neighbor.
    """
    paths = [path for path in report["critical_paths"] if path["from"] == path["to"]]
    if not paths:
        return []
    slowest = max(paths, key=lambda path: sum(part["delay"] for part in path["path"]))
    steps: list[Step] = []
    routing = 0.0
    for part in slowest["path"]:
        if part["type"] == "routing":
            routing += part["delay"]
            continue
        signal = signal_of(part["to"]["cell"])
        delays = {"routing_ns": round(routing, 3), "logic_ns": round(float(part["delay"]), 3)}
        steps.append({"signal": signal, "stage": stage_of(signal), **delays})
        routing = 0.0
    return steps


def read_report(path: Path) -> dict[str, Any]:
    """Read a report of nextpnr."""
    report: dict[str, Any] = json.loads(path.read_text())
    return report
