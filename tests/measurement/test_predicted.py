"""What steps take on a machine, predicted, beside the model."""

import pytest

from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.collectives.spread import broadcast_schedule
from hdnhw.machine.machine import make_machine
from hdnhw.measurement.collective import measure_steps
from hdnhw.measurement.predicted import predicted_cycles
from hdnhw.networks.build import build
from hdnhw.spec import FabricSpec

MACHINES = (
    {},
    {"channel_latency": "20"},
    {"channel_latency": "40", "channel_width": "8"},
    {"channel_latency": "*=40,dim*=1", "channel_width": "*=8,dim*=11"},
    {"buffers": 1},
    {"buffers": 2, "channel_latency": "30"},
    {"buffers": 2, "channel_latency": "90", "channel_width": "16"},
    {"packet_length": 16, "switching": "cut-through", "channel_latency": "40"},
    {"packet_length": 5, "channel_latency": "7", "channel_width": "10"},
    {"queueing": "voq", "channel_latency": "9"},
    {"crc": True, "channel_width": "13"},
    {"gapless_packets": True, "channel_width": "16"},
    {"packet_length": 2, "flit_width": 64},
    {"packet_length": 1, "flit_width": 64, "channel_latency": "3"},
)


@pytest.mark.parametrize("text", ["rdn(cube(2), 1)", "torus(4, 6)", "hdn(cube(2), [[0]])", "mesh(3, 4)"])
def test_steps_take_what_is_predicted(text):
    network = build(text)
    for run in (execute(exchange_schedule(network)), execute(broadcast_schedule(network))):
        for options in MACHINES:
            fabric = FabricSpec(network=network.spec, **options)
            for words in (1, 3, 50):
                found = measure_steps(fabric, run, words=words)["cycles_per_step"]
                assert predicted_cycles(make_machine(fabric), run, words) == found, options
