"""The command that kills nodes and channels."""

import argparse
from typing import Any

from hdnhw.cli.options import DONE, Result, add_command, add_rule_options
from hdnhw.cli.progress import ProgressBar
from hdnhw.cli.workers import add_worker_options, workers
from hdnhw.spec import SpecError, parse

__all__ = ["add_faults_command"]

MOST_WAYPOINTS = 8


def faults(options: argparse.Namespace) -> tuple[Result, int]:
    """Count which pairs routing still joins, plainly and by waypoints, when nodes and channels are dead."""
    from hdnhw.routing.survey import FaultSurvey

    for name, rate in (("rate", options.rate), ("channel rate", options.channel_rate)):
        if not 0 <= rate < 1:
            raise SpecError(f"{name} must be at least 0 and below 1, not {rate}")
    if options.trials < 1:
        raise SpecError(f"trials must be at least 1, not {options.trials}")
    if not 0 <= options.waypoints <= MOST_WAYPOINTS:
        raise SpecError(f"waypoints must be 0 to {MOST_WAYPOINTS}, not {options.waypoints}")
    survey = FaultSurvey(
        network=parse(options.spec),
        modes=options.modes,
        lanes=options.lanes,
        rate=options.rate,
        channel_rate=options.channel_rate,
        waypoints=options.waypoints,
        seed=options.seed,
    )
    with ProgressBar() as progress:
        return survey.run(options.trials, workers(options), progress.show), DONE


def add_faults_command(commands: Any) -> None:
    """Add the command ``faults``."""
    parser = add_command(
        commands,
        "faults",
        faults,
        summary="count the pairs that routing still joins when nodes and channels are dead, by number of waypoints",
        example="hdnhw faults 'hdn(cube(3), [[0], [0, 1, 2]])' --rate 0.1 --trials 100",
    )
    parser.add_argument("--rate", type=float, default=0.1, metavar="F", help="share of the nodes (default 0.1)")
    parser.add_argument(
        "--channel-rate", type=float, default=0.0, metavar="F", help="share of the other channels (default 0)"
    )
    parser.add_argument("--trials", type=int, default=100, metavar="N", help="sets of faults (default 100)")
    parser.add_argument("--waypoints", type=int, default=3, metavar="W", help="most a packet names (default 3)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the random numbers (default 1)")
    add_rule_options(parser)
    add_worker_options(parser)
