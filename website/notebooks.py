"""The notebooks of docs/notebooks, executed into build/notebooks: each from an empty kernel, in a folder of its own.

``python -m website.notebooks`` executes those whose outputs are older than they are; ``--all`` executes all. If a cell
fails, the exit status is 1. What a notebook writes is thrown away. A notebook with ``keep_outputs`` in its metadata has
its outputs in docs/notebooks, too: if they are others than before, they are written anew, and the exit status is 1.
"""

import argparse
import sys
import time
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "docs" / "notebooks"
EXECUTED = ROOT / "build" / "notebooks"
LIMIT = 600
"""Seconds that a cell may take."""


def execute(source: Path, target: Path) -> bool:
    """Execute a notebook and write it with its outputs; return whether those that are kept in it were the same.

    Raises
    ------
    CellExecutionError
        If a cell fails; then nothing is written.
    """
    notebook = nbformat.read(source, as_version=4)
    before = deepcopy(notebook)
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
    after = with_outputs(before, notebook) if before.metadata.get("keep_outputs") else before
    if after != before:
        nbformat.write(after, source)
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)
    return bool(after == before)


def with_outputs(before: Any, executed: Any) -> Any:
    """Return a notebook with the outputs of an executed one: of a picture itself alone, and nothing is numbered."""
    after = deepcopy(before)
    for cell, ran in zip(after.cells, executed.cells, strict=True):
        if "outputs" in ran:
            cell.outputs = deepcopy(ran.outputs)
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = None
                if "image/svg+xml" in output.get("data", {}):
                    output.data = {"image/svg+xml": output.data["image/svg+xml"]}
    return after


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
            same = execute(source, target)
        except CellExecutionError as error:
            print(f"{source.name}: {error}", file=sys.stderr)
            failed = True
            continue
        failed |= not same
        changed = "" if same else "; its outputs have changed and were written anew"
        print(f"{source.name}: {time.monotonic() - started:.0f} s{changed}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
