"""Energy: what flits take, by a table of picojoules for a flit over each type of channel and through a router."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from math import isfinite
from pathlib import Path

from hdnhw.measurement.results import Row
from hdnhw.model.counts import Counts, channel_names
from hdnhw.rules.plan import RoutingPlan
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named

ROUTER = "router"
"""What a flit takes in each router that it passes, whatever channel it leaves by."""

MOST_PICOJOULES = 1e9

Energy = Mapping[str, float]
"""Picojoules of a flit, by the name of a type of channel, and of :data:`ROUTER`."""


def read_energy(path: Path, plan: RoutingPlan) -> Energy:
    """Read a table of energies: a line ``NAME PICOJOULES`` each; what follows ``#`` does not count.

    A name is that of a port, ``injection``, ``ejection`` or ``router``, or a pattern of such names as ``dim*``. Of
    several lines for a type the last one counts.

    Raises
    ------
    SpecError
        If the file cannot be read, a line is none, names nothing, or a port has none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise SpecError(f"{named('energy')} must be a text file that can be read, not {str(path)!r}") from None
    types = [*channel_names(plan), ROUTER]
    found: dict[str, float] = {}
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        meant = [name for name in types if fnmatchcase(name, words[0])]
        if not meant:
            raise SpecError(f"{path}: line {number}: type of channel {choices_text(types, words[0])}")
        found |= dict.fromkeys(meant, _picojoules(words[1:], f"{path}: line {number}"))
    for name in (port.name for port in plan.network.ports):
        if name not in found:
            raise SpecError(f"{path}: there must be a line for each port; there is none for {name}")
    return dict.fromkeys(types, 0.0) | found


def _picojoules(words: list[str], where: str) -> float:
    """Return the number of a line."""
    try:
        (word,) = words
        value = float(word)
    except ValueError:
        value = -1.0
    if not (isfinite(value) and 0 <= value <= MOST_PICOJOULES):
        raise SpecError(f"{where}: a line must be a name and 0 to {MOST_PICOJOULES:g} picojoules a flit")
    return value


def energy_row(plan: RoutingPlan, counts: Counts, energy: Energy) -> Row:
    """Return what flits took in the slots counted.

    Returns
    -------
    dict
        ``pj_per_flit``, for each flit that a terminal took; ``pj_per_cycle``, of the whole network, which is as many mW
        at 1 GHz; ``share``, of each type of channel and of the routers. None where no flit was taken.
    """
    names = channel_names(plan)
    flits = dict(zip(names, counts.sent.sum(axis=(0, 2)).tolist(), strict=True))
    flits[ROUTER] = sum(flits.values()) - flits["injection"]
    taken = {name: flits[name] * energy[name] for name in flits}
    total = sum(taken.values())
    # A slot has as many cycles as a packet has flits: packets per slot are flits per cycle.
    return {
        "pj_per_flit": round(total / flits["ejection"], 4) if flits["ejection"] else None,
        "pj_per_cycle": round(total / counts.slots, 4),
        "share": {name: round(value / total, 4) if total else 0.0 for name, value in taken.items()},
    }
