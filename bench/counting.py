"""What it costs the model to count channels and queues; minutes."""

import time
from statistics import median

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.model.fabric import FabricModel, model_of
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec

LOAD = LoadSpec(rate=0.2, warmup=1000, cycles=10_000)
ROUNDS = 40


def seconds(model: FabricModel, counting: bool) -> float:
    """Return the processor time of a measurement."""
    started = time.process_time()
    measure(model, LOAD, counting=counting)
    return time.process_time() - started


def main() -> None:
    """Print one row a network: the median of some rounds, in turn with counting and without."""
    print(f"packets of 1 flit, rate {LOAD.rate}, {LOAD.cycles} cycles, seconds of processor time")
    print("network           without    with   ratio")
    for text in ("torus(8, 8)", "rdn(cube(3), 1)"):
        model = model_of(FabricSpec(network=parse(text), packet_length=1))
        seconds(model, True)
        rounds = [(seconds(model, False), seconds(model, True)) for _ in range(ROUNDS)]
        without, with_counts = (median(column) for column in zip(*rounds, strict=True))
        print(f"{text:16} {without:8.3f} {with_counts:7.3f} {with_counts / without:7.2f}")


if __name__ == "__main__":
    main()
