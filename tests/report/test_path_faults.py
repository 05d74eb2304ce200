"""The figure of paths among failed nodes."""

import pytest

from hdnhw.report.path_faults import plot_path_faults
from hdnhw.routing.path_faults import FaultPoint
from hdnhw.spec import SpecError


def points(*hops):
    return [
        FaultPoint(rate=number / 10, trials=9, all_paths=0.5, any_path=0.75, mean_hops=hop)
        for number, hop in enumerate(hops)
    ]


def test_a_line_for_each_kind_and_case(tmp_path):
    found = {"one kind": {"A": points(3, 2), "B": points(5, 4)}, "another": {"A": points(3, None), "B": points(6, 5)}}
    plot_path_faults(found, tmp_path / "faults.svg")
    text = (tmp_path / "faults.svg").read_text()
    for words in ("case A, one kind", "case B, another", "figure 12", "figure 14", "failed nodes, %"):
        assert words in text
    first = text
    plot_path_faults(found, tmp_path / "faults.svg")
    assert (tmp_path / "faults.svg").read_text() == first


def test_names_of_files(tmp_path):
    with pytest.raises(SpecError, match="plot must be a file"):
        plot_path_faults({}, tmp_path / "faults.txt")
