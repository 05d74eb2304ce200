"""Proofs about barriers: that of an emitted engine is proved, changed ones are not."""

import re
from dataclasses import replace
from functools import partial

import pytest

from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.proofs.endpoints import prove_endpoints
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

pytestmark = pytest.mark.usefixtures("answers_of_this_run")

prove_barrier = partial(prove_endpoints, properties=["barrier"], seconds=100.0)


def emitted(network, operations=("broadcast", "barrier"), **options):
    return emit_fabric(fabric_spec(network, endpoints=CollectiveSpec(operations=operations), **options))


@pytest.fixture(scope="module")
def path():
    """Return three nodes in a row: two rounds."""
    return emitted("mesh(3)", packet_length=2, flit_width=16)


def test_the_barrier_of_what_is_emitted_is_proved(path):
    (found,) = prove_barrier(path)
    assert (found.part, found.answer, found.why) == ("barrier", "proved", "")


@pytest.mark.parametrize(
    ("network", "options"),
    [
        ("hdn(cube(1), [[]])", {}),
        ("torus(4, 4)", {"channel_latency": "2"}),
        ("cube(1)", {"packet_length": 4}),
        ("rdn(cube(3), 1)", {"operations": ("broadcast", "exchange", "barrier")}),
    ],
)
def test_barriers_of_other_machines_are_proved(network, options):
    (found,) = prove_barrier(emitted(network, **options))
    assert (found.answer, found.why) == ("proved", "")


def test_where_there_is_no_barrier_none_is_looked_at():
    assert not list(prove_barrier(emitted("cube(1)", ("broadcast",))))


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (  # nobody is waited for
            r"(assign \\barrier.ends  = \\barrier.waits  &) \\barrier.all_\d+ ;",
            r"\1 1'h1;",
            "a signal comes before the neighbor's",
        ),
        (  # the first round is the last
            r"(assign \\barrier.last  =) .*;",
            r"\1 1'h1;",
            "a barrier ends before its last round",
        ),
        (  # a signal follows the last round
            r"(assign \\barrier.or_\d+  = \\barrier.enter  \|) \\barrier.and_\d+ ;",
            r"\1 \\barrier.ends ;",
            "a signal comes outside a barrier|a barrier has more signals",
        ),
        (  # no more than one signal of a neighbor is kept
            r"(\\barrier.dim0_plus_signal_waiting.next  =) (\\barrier.mux_\d+) ;",
            r"\1 { 1'h0, \2 [0] };",
            "a round takes longer than its signals",
        ),
        (  # a reset leaves a signal behind
            r"(\\barrier.dim0_plus_signal_waiting.next  =) 2'h0;",
            r"\1 \\barrier.dim0_plus_signal_waiting ;",
            "a signal comes before the neighbor's",
        ),
        (  # another operation is taken in a barrier
            r"(assign operation__ready =) .*;",
            r"\1 \\sequencer.at_idle | \\sequencer.at_barrier ;",
            "another operation is taken in a barrier|a barrier begins without a signal",
        ),
    ],
)
def test_a_changed_barrier_is_refuted(path, pattern, becomes, said):
    file = path.endpoints.file
    text, count = re.subn(pattern, becomes, path.files[file], count=1)
    assert count == 1
    (found,) = prove_barrier(replace(path, files={**path.files, file: text}))
    assert found.answer == "refuted"
    assert re.search(rf"{said}.*, in cycle \d+", found.why)
