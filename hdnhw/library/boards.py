"""Bitstreams in which a fabric tests itself."""

from dataclasses import dataclass
from typing import Annotated, Any

from hdnhw.boards.catalogue import MOST_PACKETS, PACKETS, SIMULATED_PACKETS
from hdnhw.library.asked import asks
from hdnhw.library.options import MachineOptions
from hdnhw.library.result import Result
from hdnhw.spec.chips import ChipOptions
from hdnhw.spec.options import Flag, Size, option, option_of, seed_option


@dataclass(frozen=True, kw_only=True)
class BuildOptions(ChipOptions):
    """Options of the command ``build``."""

    packets: int | None = option(
        None,
        Size,
        f"packets of the random test, a node (default {PACKETS}; in simulation {SIMULATED_PACKETS})",
        metavar="N",
        least=1,
        most=MOST_PACKETS,
    )
    seed: int = seed_option(1, "place-and-route")
    simulate: bool = option(False, Flag, "run it under Verilator instead; decode the UART")
    link_width: int = option_of(ChipOptions, "link_width", 8)
    link: str = option_of(ChipOptions, "link", "parallel")


@asks
def build(
    board: str, spec: str | None = None, *, asked: BuildOptions, **machine: Annotated[Any, MachineOptions]
) -> Result:
    """Make a bitstream of a fabric that tests itself and reports over UART, or one for each of two boards."""
    from hdnhw.library.bitstreams import build

    return build(board, spec, asked, machine)
