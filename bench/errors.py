"""Wires of emitted channels turned over at random: what becomes of two million packets; four minutes."""

from bench.collectives import table
from hdnhw.networks.parse import parse
from hdnhw.sim.errors import ErrorBench
from hdnhw.spec import FabricSpec
from hdnhw.verilog.fabric import emit_fabric

SPEC = "hdn(cube(2), [[0]])"
PACKETS = {1: 250_000, 4: 150_000, 8: 100_000}
"""Of each run, by the flits of a packet."""

RATES = (1e-6, 1e-5, 1e-4, 1e-3)


def rows(packet_length: int) -> list[list[str]]:
    """Return the cells of the runs with packets of a length."""
    bench, found = ErrorBench(emit_fabric(FabricSpec(network=parse(SPEC), packet_length=packet_length, crc=True))), []
    for seed, rate in enumerate(RATES, 1):
        run = bench.run_case(bench.make_case(packets=PACKETS[packet_length], rate=rate, seed=seed))
        verdict = run.verdict
        assert verdict.passed, verdict
        counts = (
            verdict.packets,
            verdict.flits,
            verdict.errors_injected,
            verdict.packets_hit,
            verdict.detected,
            verdict.dropped,
            verdict.delivered,
            verdict.delivered_wrong,
            verdict.lost,
            verdict.counter_mismatches,
        )
        found.append([str(packet_length), f"{rate:g}", *(f"{count:,}" for count in counts), f"{run.seconds:.0f}"])
    return found


if __name__ == "__main__":
    table(
        "L | rate | packets | flits on channels | of them hit | packets hit | detected | dropped | delivered | "
        "delivered wrong | lost | counter mismatches | seconds",
        (row for packet_length in PACKETS for row in rows(packet_length)),
    )
