"""The pictures of README and docs that commands draw, drawn anew, a part of `make docs`; minutes."""

import shlex
import sys

from hdnhw.cli import main as hdnhw

COMMANDS = """
picture "rdn(cube(2), 1)" -o docs/rdn-cube2-1.svg
picture "rdn(cube(3), 1)" --paths 0 1.1/1.0.1 -o docs/paths-rdn-cube3-1.svg
picture "hdn(cube(3), [[0]])" --route 0 36 --dead-nodes 4 32 --dead-channels 1:dim1 -o docs/waypoints-hdn-cube3.svg
design --nodes 1024 --degree 5 --plot docs/front-1024.svg
faults "hdn(cube(3), [[2], [0, 1, 2]])" --by-case --paths short mended --trials 20 --plot docs/path-faults.svg
collective "hdn(cube(3), [[2]])" --op broadcast --plot docs/broadcast-hdn-cube3.svg
collective "rdn(cube(3), 1)" --op allreduce --bandwidth docs/allreduce-rdn-cube3.svg --on model --buffers 8
collective "torus(8, 16)" --op allreduce --bandwidth docs/allreduce-torus.svg --on model --buffers 8
sweep "rdn(cube(3), 1)" "torus(8, 16)" "cube(7)" --buffers 8 --plot docs/curves-128.svg
"""


def main() -> int:
    """Run the commands one after the other, up to the first that fails."""
    return next((status for line in COMMANDS.split("\n") if line and (status := hdnhw(shlex.split(line)))), 0)


if __name__ == "__main__":
    sys.exit(main())
