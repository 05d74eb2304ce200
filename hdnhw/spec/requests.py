"""What nodes ask of each other in a closed loop, as a user says it."""

from dataclasses import dataclass

from hdnhw.spec.options import Options, Pattern, Size, option, seed_option, threads_option

MOST_WINDOW, MOST_REQUESTS, MOST_FLITS, MOST_CYCLES = 1 << 12, 1 << 20, 1 << 20, 1 << 20
"""Requests in flight and in all per node, flits of a message, and cycles of service or thought."""


@dataclass(frozen=True, kw_only=True)
class RequestSpec(Options):
    """What nodes ask of each other: the options of the command ``requests``."""

    window: int = option(4, Size, "maximum requests in flight per node", metavar="W", least=1, most=MOST_WINDOW)
    requests: int = option(1000, Size, "requests per node in all", metavar="N", least=1, most=MOST_REQUESTS)
    pattern: str = option("uniform", Pattern, "where requests go")
    request_length: int | None = option(
        None, Size, "flits per request (default: one packet)", metavar="F", least=1, most=MOST_FLITS
    )
    reply_length: int | None = option(
        None, Size, "flits per reply (default: one packet)", metavar="F", least=1, most=MOST_FLITS
    )
    service: int = option(
        0, Size, "cycles from the last flit of a request to its reply", metavar="C", least=0, most=MOST_CYCLES
    )
    think: int = option(
        0,
        Size,
        "cycles from the last flit of a reply to the next request",
        metavar="C",
        least=0,
        most=MOST_CYCLES,
    )
    seed: int = seed_option(1)
    threads: int = threads_option("ten thousand")
