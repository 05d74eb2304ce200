"""Requests and replies: whose turn it is, whom they are for, and what waits for what."""

from collections import Counter

import numpy as np
import pytest

from hdnhw.networks.build import build
from hdnhw.spec.requests import RequestSpec
from hdnhw.support.errors import SpecError
from hdnhw.traffic.replies import make_requests


@pytest.mark.parametrize(("window", "count"), [(1, 1), (1, 5), (3, 3), (3, 7), (4, 8), (9, 4)])
@pytest.mark.parametrize("pattern", ["uniform", "reverse"])
def test_every_request_has_a_reply_and_a_chain(window, count, pattern):
    network = build("cube(3)")
    load = RequestSpec(window=window, requests=count, pattern=pattern, reply_length=3, service=7, think=2)
    made = make_requests(network, load, 8)
    trace, senders = made.trace, {"uniform": set(range(8)), "reverse": {1, 3, 4, 6}}[pattern]
    assert Counter(trace.source[made.request].tolist()) == dict.fromkeys(senders, count)
    assert (trace.source[made.reply] == trace.destination[made.request]).all()
    assert (trace.destination[made.reply] == trace.source[made.request]).all()
    assert (trace.source != trace.destination).all()
    assert set(trace.flits[made.request]) == {8}
    assert set(trace.flits[made.reply]) == {3}
    waits = {int(later): place for place in range(len(trace)) for later in later_of(trace, place)}
    assert len(waits) == len(trace.dependent)
    assert [waits[reply] for reply in made.reply.tolist()] == made.request.tolist()
    replies = set(made.reply.tolist())
    first = [place for place in made.request.tolist() if place not in waits]
    assert Counter(trace.source[first].tolist()) == dict.fromkeys(senders, min(window, count))
    for request in set(made.request.tolist()) - set(first):
        assert waits[request] in replies
        assert trace.destination[waits[request]] == trace.source[request]
    assert set(trace.delay[made.reply]) == {7}
    assert set(trace.delay[made.request]) == {2}
    assert not trace.cycle.any()


def later_of(trace, place):
    """Return the messages that wait for one."""
    return trace.dependent[trace.first[place] : trace.first[place + 1]]


def test_destinations_follow_the_seed():
    network = build("cube(4)")
    one, same, other = (
        make_requests(network, RequestSpec(seed=seed, requests=20), 8).trace.destination for seed in (1, 1, 2)
    )
    assert (one == same).all()
    assert (one != other).any()
    assert set(np.unique(one)) == set(range(16))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"window": 0}, "window must be 1 to 4096, not 0"),
        ({"requests": 0}, "requests must be 1 to 1048576, not 0"),
        ({"reply_length": 0}, "reply_length must be 1 to 1048576, not 0"),
        ({"service": -1}, "service must be 0 to 1048576, not -1"),
        ({"think": 1 << 21}, "think must be 0 to 1048576, not 2097152"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(SpecError, match=f"^{message}$"):
        RequestSpec(**wrong)


def test_too_many_messages_are_refused():
    with pytest.raises(SpecError, match=r"^requests and replies must be at most 33554432 in all, not 134217728$"):
        make_requests(build("cube(6)"), RequestSpec(requests=1 << 20), 8)
