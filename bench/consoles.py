"""What README and docs print below each ``$ hdnhw ...``, written anew, a part of `make docs`; minutes, synthesis aside.

A console is a block between lines of three backquotes whose first line begins with ``$``. ``...`` stands for lines that
are not shown; those that are shown are found by their first words. ``$ cat FILE`` makes the file that it shows. Traces
of other projects are taken from the folder that the variable TRACES names. What is synthesized is kept in build/synth
beside this folder, and taken from there.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
SYNTHESIZED = ROOT / "build" / "synth"
UNTIMED = {"seconds", "router_cycles_per_second"}
"""Keys whose values depend on the computer: they stay as they were."""

MEASURED = SYNTHESIZED / "docs-machines"
"""Is there when `make docs-machines` has measured what docs show of `hdnhw machines`."""

COMPILING = "hdnhw: compiling"
"""How the line begins that only a first run says."""


@dataclass(frozen=True)
class Console:
    """A block of commands and their output."""

    page: Path
    lines: tuple[str, ...]

    @property
    def steps(self) -> list[tuple[str, list[str]]]:
        """The commands, each with the lines below it."""
        steps: list[tuple[str, list[str]]] = []
        for line in self.lines:
            if line.startswith("$ "):
                steps.append((line[2:], []))
            else:
                steps[-1][1].append(line)
        return steps

    @property
    def traces(self) -> list[Path]:
        """The files of other projects that it reads."""
        folder = Path(os.environ.get("TRACES", "."))
        return [folder / word for command, _ in self.steps for word in shlex.split(command) if word.endswith(".bz2")]


def pages() -> list[Path]:
    """Return README and the pages of docs."""
    folders = ROOT / "docs", ROOT / "docs" / "results"
    return [ROOT / "README.md", *(page for folder in folders for page in sorted(folder.glob("*.md")))]


def consoles(page: Path) -> Iterator[Console]:
    """Yield the consoles of a page."""
    for block in re.findall(r"^```\n(\$ .*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        yield Console(page, tuple(block.splitlines()))


def run(arguments: list[str], folder: Path, *, stderr: int) -> subprocess.CompletedProcess[str]:
    """Run hdnhw, as it stands beside this folder, in another one; `stderr` is as of :func:`subprocess.run`."""
    if not (folder / "build").exists():
        (folder / "build").mkdir()
        SYNTHESIZED.mkdir(parents=True, exist_ok=True)
        (folder / "build" / "synth").symlink_to(SYNTHESIZED)
    return subprocess.run(
        [sys.executable, "-m", "hdnhw", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        check=False,
    )


def is_unmeasured(commands: Iterable[str]) -> bool:
    """Return whether there is `hdnhw machines` among `commands`, which takes half an hour the first time, as here."""
    return not MEASURED.exists() and any(shlex.split(one)[1] == "machines" for one in commands)


def play(console: Console, folder: Path) -> Console:
    """Run the commands of a console in a folder; return it with what they print now, on both streams."""
    lines = []
    for trace in console.traces:
        shutil.copy(trace, folder)
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    for command, before in console.steps:
        program, *arguments = shlex.split(command)
        if program == "cat":
            (folder / arguments[0]).write_text("".join(f"{line}\n" for line in before), encoding="utf-8")
            lines += [f"$ {command}", *before]
            continue
        if Path(program).name != "hdnhw":
            raise ValueError(f"a console must run hdnhw or cat, not {program}")
        done = run(arguments, folder, stderr=subprocess.STDOUT)
        lines += [f"$ {command}", *shown(before, done.stdout.splitlines())]
    return Console(console.page, tuple(lines))


def shown(before: list[str], printed: list[str]) -> list[str]:
    """Return which lines of what a command has printed a console shows that showed `before`.

    Examples
    --------
    >>> shown(["...", "hops 3", "seconds 9", "..."], ["spec cube(3)", "hops 4", "vcs 1", "seconds 2"])
    ['...', 'hops 4', 'seconds 9', '...']
    """
    timed = {_key(line): line for line in before if _key(line) in UNTIMED}
    printed = [timed.get(_key(line), line) for line in printed if not line.startswith(COMPILING)]
    if "..." not in before:
        return printed + [""] * (before[-1:] == [""])  # an empty line before the next command
    left, lines = iter(printed), []
    for line in before:
        found = line if line == "..." else next((one for one in left if _key(one) == _key(line)), None)
        lines += [] if found is None else [found]
    return lines


def _key(line: str) -> str:
    """Return what a line is found by: its first word, or all but its numbers where it is a sentence."""
    return re.sub(r"\d+", "", line) if ": " in line else line.split(maxsplit=1)[0] if line.strip() else ""


def pages_asked(description: str | None) -> list[Path]:
    """Return the pages that a command line names, or all."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE", help="default: README and all of docs")
    return parser.parse_args().pages or pages()


def main() -> int:
    """Write anew the consoles of all pages, or of those that are named."""
    for page in pages_asked(__doc__):
        text = page.read_text(encoding="utf-8")
        for console in consoles(page):
            name = f"{page.name}: {console.steps[-1][0]}"
            if not all(trace.exists() for trace in console.traces):
                print(f"{name}: as it was, for want of its trace", flush=True)
                continue
            with TemporaryDirectory() as folder:
                now = play(console, Path(folder))
            text = text.replace("\n".join(console.lines), "\n".join(now.lines))
            print(f"{name}: {'as it was' if now == console else 'changed'}", flush=True)
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
