"""Closed loop: how many requests nodes get answered, and in what time, when their next ones wait for the replies."""

import numpy as np

from hdnhw.measurement.replay import replay
from hdnhw.measurement.results import Row
from hdnhw.measurement.statistics import summarize
from hdnhw.measurement.sweep import machine_row
from hdnhw.model.fabric import model_of
from hdnhw.spec import FabricSpec
from hdnhw.spec.requests import RequestSpec
from hdnhw.support.progress import Progress
from hdnhw.traffic.replies import make_requests

WARMUP = 5
"""One of so many parts of the time in which all nodes ask is left out at its begin."""


def measure_requests(fabric: FabricSpec, spec: RequestSpec, *, progress: Progress = lambda *_: None) -> Row:
    """Run requests and replies until all have arrived; return what the command ``requests`` prints.

    Parameters
    ----------
    fabric : FabricSpec
    spec : RequestSpec
    progress : callable
        Is told a stage and the share of the packets that have arrived.

    Notes
    -----
    What is measured are the requests whose replies come while every node has as many under way as its window: up to the
    first reply behind which a node has no further request for a place of its window, without the first fifth of that
    time.
    """
    model = model_of(fabric)
    network, length = model.plan.network, model.timing.packet_length
    made = make_requests(network, spec, length)
    run = replay(model, made.trace, threads=spec.threads, progress=progress)
    request, reply, first = made.request, made.reply, made.trace.first
    end = int(run.tail[reply][first[reply + 1] == first[reply]].min())
    begin = end // WARMUP
    within = (run.tail[reply] >= begin) & (run.tail[reply] < end)
    request, reply = request[within], reply[within]
    latency = run.tail - run.created
    packets = int(run.packets[request].sum() + run.packets[reply].sum())
    each = network.num_terminals * max(1, end - begin)
    return machine_row(model.machine) | {
        "pattern": spec.pattern,
        "window": spec.window,
        "requests": spec.requests,
        "request_flits": int(made.trace.flits[made.request[0]]),
        "reply_flits": int(made.trace.flits[made.reply[0]]),
        "service": spec.service,
        "think": spec.think,
        "seed": spec.seed,
        "answered": len(made.request),
        "measured": len(request),
        "measured_cycles": [begin, end],
        "request_rate": round(len(request) / each, 6),
        "accepted_rate": round(packets * length / each, 6),
        "round_trip": summarize(np.bincount(run.tail[reply] - run.created[request])),
        "request_latency": summarize(np.bincount(latency[request])),
        "reply_latency": summarize(np.bincount(latency[reply])),
        "cycles": run.cycles,
        "seconds": round(run.seconds, 3),
        "router_cycles_per_second": round(network.num_nodes * run.cycles / run.seconds),
    }
