"""The notebooks of docs/notebooks, executed into build/notebooks: each from an empty kernel, in a folder of its own.

``python -m website.notebooks`` executes those whose outputs are older than they are; ``--all`` executes all. If a cell
fails, the exit status is 1. What a notebook writes is thrown away.
"""

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "docs" / "notebooks"
EXECUTED = ROOT / "build" / "notebooks"
LIMIT = 600
"""Seconds that a cell may take."""


def execute(source: Path, target: Path) -> None:
    """Execute a notebook and write it with its outputs.

    Raises
    ------
    CellExecutionError
        If a cell fails; then nothing is written.
    """
    notebook = nbformat.read(source, as_version=4)
    with TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            timeout=LIMIT,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            extra_arguments=["--log-level=ERROR"],
        ).execute()
    for cell in notebook.cells:
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]  # progress
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)


def main() -> int:
    """Execute the notebooks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="those with outputs that are newer, too")
    asked = parser.parse_args()
    failed = False
    for source in sorted(NOTEBOOKS.glob("*.ipynb")):
        target = EXECUTED / source.name
        if not asked.all and target.exists() and target.stat().st_mtime > source.stat().st_mtime:
            continue
        started = time.monotonic()
        try:
            execute(source, target)
        except CellExecutionError as error:
            print(f"{source.name}: {error}", file=sys.stderr)
            failed = True
            continue
        print(f"{source.name}: {time.monotonic() - started:.0f} s", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
