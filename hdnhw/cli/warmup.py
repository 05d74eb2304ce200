"""The command that compiles ahead what the others would compile when they first need it."""

import argparse
import time
from typing import Any

from hdnhw.cli.options import DONE, Result, add_command
from hdnhw.progress import ProgressBar

__all__ = ["add_warmup_command"]


def warm_up(_: argparse.Namespace) -> tuple[Result, int]:
    """Compile all kernels, or load what has been compiled."""
    from hdnhw.model.warmup import compile_all

    started = time.monotonic()
    with ProgressBar() as progress:
        folders = compile_all(progress.show)
    return {"folders": sorted(map(str, folders)), "seconds": round(time.monotonic() - started, 1)}, DONE


def add_warmup_command(commands: Any) -> None:
    """Add ``hdnhw warm-up``."""
    add_command(
        commands,
        "warm-up",
        warm_up,
        summary="compile ahead, for an image or before a batch of jobs, what else is compiled at first use",
        example="hdnhw warm-up",
        spec=False,
    )
