"""Time-space pictures of schedules."""

from hdnhw.collectives.combining import combine_and_gather
from hdnhw.collectives.executor import execute
from hdnhw.collectives.operations import allreduce_phases, operation_schedule
from hdnhw.collectives.operators import operator_of
from hdnhw.figures.figure import save_figure
from hdnhw.figures.timespace import draw_timespace
from hdnhw.networks.build import build

NETWORK = build("rdn(cube(1), 1)")


def test_phases_are_named(tmp_path):
    phases = allreduce_phases(NETWORK)
    whole = combine_and_gather(phases, operator_of("sum", "int32")).execution
    save_figure(draw_timespace(phases, whole), tmp_path / "whole.svg")
    text = (tmp_path / "whole.svg").read_text()
    assert f">allreduce on rdn(cube(1), 1): {whole.startups} start-ups, 14 words<" in text
    assert text.index(">reducescatter<") < text.index(">allgather<")


def test_a_single_phase_has_no_name_but_the_title(tmp_path):
    schedule = operation_schedule(NETWORK, "reducescatter")
    save_figure(draw_timespace(schedule, execute(schedule)), tmp_path / "one.svg")
    text = (tmp_path / "one.svg").read_text()
    assert ">reducescatter on rdn(cube(1), 1): 4 start-ups, 7 words<" in text
    assert ">reducescatter<" not in text
