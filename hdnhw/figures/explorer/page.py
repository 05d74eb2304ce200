"""One HTML file on which a network is explored; it needs nothing else, and fetches nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from hdnhw.collectives.schedule import Schedule
from hdnhw.figures.explorer.data import network_data, routing_data, schedule_data
from hdnhw.figures.explorer.script import rules_script
from hdnhw.rules.plan import RoutingPlan
from hdnhw.topology.graph import Network

SCRIPTS = ("network.js", "schedule.js", "packets.js", "view.js", "panel.js", "shown.js", "keys.js")
"""Files of scripts beside this one, in the order in which they are read."""


def explorer_page(
    network: Network,
    plan: RoutingPlan | None,
    schedules: Mapping[str, Schedule],
    packets: dict[str, Any] | None,
    *,
    missing: Mapping[str, str],
    command: str,
) -> str:
    """Return the page of a network as HTML; it is the same for the same arguments.

    Parameters
    ----------
    network : Network
    plan : RoutingPlan or None
        None where there is no routing rule.
    schedules : mapping of str to Schedule
        Operation -> schedule.
    packets : dict or None
        What :func:`hdnhw.figures.explorer.data.packet_data` returns.
    missing : mapping of str to str
        What the page does not have, ``routes``, ``packets`` or an operation -> why.
    command : str
        The command line that makes the page.

    Raises
    ------
    SpecError
        If the network has no layout, or addresses have too many bits.
    """
    folder = Path(__file__).parent
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    template = environment.from_string((folder / "page.html").read_text(encoding="utf-8"))
    data = network_data(network) | {
        "routing": None if plan is None else routing_data(plan),
        "schedules": schedule_data(schedules),
        "packets": packets,
        "missing": dict(missing),
    }
    return template.render(
        title=str(network.spec),
        style=Markup((folder / "style.css").read_text(encoding="utf-8")),
        data=Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")),
        rules=Markup(rules_script(None if plan is None else plan.circuit_rule, schedules)),
        scripts=[Markup((folder / name).read_text(encoding="utf-8")) for name in SCRIPTS],
        command=command,
    )
