"""Routers, bytes and seconds of emitted fabrics, 16 to 1024 routers; minutes."""

import re
import time

from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.verilog.fabric import emit_fabric

SPECS = (
    "hdn(cube(2), [[0]])",
    "rdn(cube(3), 1)",
    "hdn(cube(2), [[], [0, 1]])",
    "hdn(cube(3), [[2], [0, 1, 2]])",
)


def main() -> None:
    """Print one row a network."""
    print(f"{'network':34} {'routers':>8} {'modules':>8} {'bytes':>10} {'bytes/router':>13} {'seconds':>8}")
    emit_fabric(FabricSpec(network=parse(SPECS[0])))  # the first call starts Yosys
    for text in SPECS:
        started = time.monotonic()
        fabric = emit_fabric(FabricSpec(network=parse(text)))
        seconds = time.monotonic() - started
        verilog = fabric.files["fabric.sv"]
        modules = len(re.findall(r"^module ", verilog, flags=re.MULTILINE))
        nodes = fabric.manifest["routers"]
        print(f"{text:34} {nodes:8} {modules:8} {len(verilog):10} {len(verilog) / nodes:13.0f} {seconds:8.1f}")


if __name__ == "__main__":
    main()
