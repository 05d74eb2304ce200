"""The figure of paths among failed nodes."""

import pytest

from hdnhw.figures.figure import save_figure
from hdnhw.figures.path_faults import draw_path_faults
from hdnhw.support.errors import SpecError


def left(kind, case, *hops):
    figures = {"all_paths": 0.5, "any_path": 0.75, "mean_clusters": 2.0}
    return [
        {"paths": kind, "case": case, "rate": number / 10, "mean_hops": hop, **figures}
        for number, hop in enumerate(hops)
    ]


JOINED = [{"case": case, "rate": rate, "reached": [0.5, 0.9]} for case in "AB" for rate in (0.0, 0.1)]


def test_a_line_for_each_kind_and_case_and_number_of_waypoints(tmp_path):
    rows = [*left("one", "A", 3, 2), *left("one", "B", 5, 4), *left("other", "A", 3, None), *left("other", "B", 6, 5)]
    save_figure(draw_path_faults(rows, JOINED), tmp_path / "faults.svg")
    text = (tmp_path / "faults.svg").read_text()
    for words in ("case A, paths: one", "case B, paths: other", "figure 12", "figure 14", "failed nodes, %"):
        assert words in text
    assert "case B, 1 waypoints" in text
    save_figure(draw_path_faults(rows, JOINED), tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == text


def test_without_waypoints(tmp_path):
    save_figure(draw_path_faults(left("one", "A", 3, 2), []), tmp_path / "faults.svg")
    assert "waypoints" not in (tmp_path / "faults.svg").read_text()


def test_names_of_files(tmp_path):
    with pytest.raises(SpecError, match="plot must be a file"):
        save_figure(draw_path_faults([], JOINED), tmp_path / "faults.txt")
