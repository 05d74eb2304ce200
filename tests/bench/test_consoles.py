"""The consoles of README and docs show what the commands print."""

import pytest

from bench.consoles import SYNTHESIZED, Console, consoles, is_unmeasured, pages, play, shown

CONSOLES = [console for page in pages() for console in consoles(page)]


@pytest.mark.parametrize("console", CONSOLES, ids=lambda console: f"{console.page.name}: {console.steps[-1][0]}")
def test_a_console_is_what_its_commands_print(console, tmp_path):
    if not all(trace.exists() for trace in console.traces):
        pytest.skip("TRACES names no folder with the traces of Netrace")
    if is_unmeasured(command for command, _ in console.steps):
        pytest.skip("what make docs-machines measures takes half an hour the first time")
    assert play(console, tmp_path).lines == console.lines


def test_a_page_has_consoles_among_other_blocks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```\nhdnhw info\n```\n```\n$ cat a\n1\n$ hdnhw info\n...\nnodes 3\n```\ntext\n```\n$ hdnhw\n```\n")
    first, second = consoles(page)
    assert first.steps == [("cat a", ["1"]), ("hdnhw info", ["...", "nodes 3"])]
    assert second.steps == [("hdnhw", [])]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([], ["a  1", "seconds  2", "b: 3 x", "b: 4 y"]),
        (["a  0", "seconds  7"], ["a  1", "seconds  7", "b: 3 x", "b: 4 y"]),
        (["...", "b: 9 y"], ["...", "b: 4 y"]),
        (["a  5", "...", "gone  1"], ["a  1", "..."]),
        (["a  5", ""], ["a  1", "seconds  2", "b: 3 x", "b: 4 y", ""]),
    ],
)
def test_lines_that_are_shown(before, now):
    assert shown(before, ["hdnhw: compiling, once", "a  1", "seconds  2", "b: 3 x", "b: 4 y"]) == now


def test_a_console_is_run_again(tmp_path):
    lines = ("$ cat trace.txt", "0 0 3", "$ hdnhw simulate 'cube(2)' --trace trace.txt", "...", "created  9", "...")
    assert "created                   1" in play(Console(tmp_path, lines), tmp_path).lines


def test_what_consoles_synthesize_is_kept(tmp_path):
    for folder in (tmp_path / "one", tmp_path / "other"):
        folder.mkdir()
        for _ in range(2):
            play(Console(tmp_path, ("$ hdnhw emit 'complete(2)' -o build/pair", "...", "routers")), folder)
        assert (folder / "build" / "synth").samefile(SYNTHESIZED)
        assert not (folder / "build" / "pair").is_symlink()


def test_a_console_runs_nothing_else(tmp_path):
    with pytest.raises(ValueError, match=r"^a console must run hdnhw or cat, not rm$"):
        play(Console(tmp_path, ("$ rm -r /",)), tmp_path)
