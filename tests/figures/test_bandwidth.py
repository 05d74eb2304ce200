"""Bandwidth against the size of the vector."""

from hdnhw.figures.bandwidth import draw_bandwidth
from hdnhw.figures.figure import save_figure

ROWS = [
    {"vector_words": 1, "bound": 50.0, "short": 60.0, "long": 100.0, "ring": 200.0},
    {"vector_words": 4096, "bound": 8000.0, "short": 16000.0, "long": 8200.0, "ring": 9000.0},
]
RESULT = {
    "spec": "torus(3, 5)",
    "nodes": 15,
    "on": "schedule",
    "startup_time": 27.0,
    "word_time": 1.5,
    "startups": {"short": 4, "long": 8, "ring": 28},
    "sizes": ROWS,
}


def test_lines_of_the_cost_model_alone(tmp_path):
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    save_figure(draw_bandwidth(RESULT), first)
    save_figure(draw_bandwidth(RESULT), second)
    text = first.read_text()
    assert text == second.read_text()
    for label in (
        "bound",
        "short, 4 start-ups",
        "ring, 28 start-ups",
        "cost model, t_s = 27, t_w = 1.5 cycles",
        "4,096",
    ):
        assert f">{label}<" in text
    assert ">All-reduce on torus(3, 5), 15 nodes<" in text
    assert "doubling" not in text
    assert "cycle-accurate" not in text


def test_points_of_the_model(tmp_path):
    rows = [row | {f"{name}_cycles": row[name] for name in ("short", "long", "ring")} for row in ROWS]
    save_figure(draw_bandwidth(RESULT | {"on": "model", "sizes": rows}), tmp_path / "points.svg")
    save_figure(draw_bandwidth(RESULT), tmp_path / "lines.svg")
    points, lines = ((tmp_path / f"{name}.svg").read_text() for name in ("points", "lines"))
    assert ">cycle-accurate model<" in points
    assert points.count("<use ") == lines.count("<use ") + 3 * 2 + 1
