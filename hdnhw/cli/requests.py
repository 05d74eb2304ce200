"""The command that measures requests and replies."""

import argparse
from typing import Any

from hdnhw.cli.options import (
    Parser,
    Result,
    add_command,
    add_machine_options,
    add_threads_option,
    ended,
    machine_options,
)
from hdnhw.library import requests as library

OPTIONS = ("window", "requests", "pattern", "request_length", "reply_length", "service", "think", "seed", "threads")


def requests(options: argparse.Namespace) -> tuple[Result, int]:
    """Measure how many requests are answered, and how fast."""
    asked = {name: getattr(options, name) for name in OPTIONS if getattr(options, name) is not None}
    return ended(library.requests(options.spec, **asked, **machine_options(options)))


def add_requests_command(commands: Any) -> None:
    """Add the command ``requests``."""
    parser: Parser = add_command(
        commands,
        "requests",
        requests,
        summary="measure how many requests are answered, and how fast, when no node has more than a window of them "
        "under way",
        example="hdnhw requests 'rdn(cube(3), 1)' --window 8 --buffers 8",
    )
    parser.add_argument("--window", type=int, metavar="W", help="requests of a node without a reply (default 4)")
    parser.add_argument("--requests", type=int, metavar="N", help="of each node in all (default 1000)")
    pattern = parser.add_argument("--pattern")
    parser.helps.append((pattern, lambda: "to whom requests go, as packets of simulate (default uniform)"))
    parser.add_argument("--request-length", type=int, metavar="F", help="flits of a request (default one packet)")
    parser.add_argument("--reply-length", type=int, metavar="F", help="flits of a reply (default one packet)")
    parser.add_argument(
        "--service", type=int, metavar="C", help="cycles from the last flit of a request to its reply (default 0)"
    )
    parser.add_argument(
        "--think", type=int, metavar="C", help="cycles from the last flit of a reply to the next request (default 0)"
    )
    parser.add_argument("--seed", type=int, help="of the random numbers (default 1)")
    add_threads_option(parser, worth="ten thousands")
    add_machine_options(parser, timed=True)
