"""Bitstreams of the self-test for every board: size, speed, use of the device and time; half an hour."""

from pathlib import Path

from hdnhw.boards.bitstream import build_bitstreams
from hdnhw.boards.catalogue import BOARDS
from hdnhw.cli import say

PACKETS = 1000


def main() -> None:
    """Print one row a board."""
    print("| board | network | flits | bytes | fmax MHz | clock MHz | logic cells | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for board in BOARDS.values():
        spec = board.fabric
        (built,) = build_bitstreams(board, spec, packets=PACKETS, root=Path("build") / "boards", say=say)
        size = built.bitstream.stat().st_size if built.passed else 0
        cells = built.utilization["comb"]
        print(
            f"| {board.name} | `{spec.network}` | {spec.packet_length} x {spec.flit_width} bits | {size} "
            f"| {built.fmax_mhz} | {built.clock_mhz} | {cells['used']} of {cells['available']} | {built.seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
