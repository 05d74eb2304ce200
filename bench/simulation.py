"""Router-cycles a second of the Verilog under Verilator and of the model, 128 routers; minutes."""

import time

from hdnhw.networks.parse import parse
from hdnhw.sim.stimulus import make_case
from hdnhw.sim.streams import StreamBench
from hdnhw.spec import FabricSpec
from hdnhw.verilog.fabric import emit_fabric

SPEC = "rdn(cube(3), 1)"
PACKETS = 100_000


def main() -> None:
    """Print one row a packet length."""
    print(f"{SPEC}, random test, {PACKETS} packets; model and Verilog are compared packet by packet")
    print(" L  build s   sim s   cycles  router-cycles/s  packets/s  model s passed")
    for length in (1, 4, 8):
        bench = StreamBench(emit_fabric(FabricSpec(network=parse(SPEC), packet_length=length)))
        run = bench.run("random", packets=PACKETS)
        case = make_case("random", bench.model, packets=PACKETS)
        started = time.monotonic()
        bench.model.run(case.traffic, case.terminals, max_cycles=case.limit)
        model_seconds = time.monotonic() - started
        verdict, nodes = run.verdict, run.machine.network.num_nodes
        print(
            f"{length:2} {run.build_seconds:8.1f} {run.seconds:7.1f} {verdict.cycles:8} "
            f"{nodes * verdict.cycles / run.seconds:16.0f} {verdict.packets / run.seconds:10.0f} "
            f"{model_seconds:8.2f} {verdict.passed}"
        )


if __name__ == "__main__":
    main()
