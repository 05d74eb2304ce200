"""The program that FuseSoC runs with the file of a core's parameters: it emits the fabric into the current folder."""

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import yaml

from hdnhw.cli import main as run
from hdnhw.verilog.core import core_name

PARAMETERS = ("spec", "name", "options")
"""What a core may give."""


def main(path: str) -> int:
    """Emit what the file at `path` asks for; return the exit status of ``hdnhw emit``."""
    asked = yaml.safe_load(Path(path).read_text())
    parameters: dict[str, Any] = asked["parameters"]
    unknown = sorted(set(parameters) - set(PARAMETERS))
    if unknown or "spec" not in parameters:
        what = f"not {', '.join(unknown)}" if unknown else "spec must be among them"
        print(f"hdnhw_fabric: parameters must be {', '.join(PARAMETERS)}: {what}", file=sys.stderr)
        return 2
    name = str(parameters.get("name", "fabric"))
    try:
        options = shlex.split(str(parameters.get("options", "")))
    except ValueError as error:
        print(f"hdnhw_fabric: options must be as a shell has them: {error}", file=sys.stderr)
        return 2
    if own := [option for option in options if re.match(r"-o|--(name|output)\b", option)]:
        print(
            f"hdnhw_fabric: options must not have {own[0]}: name is a parameter, the folder FuseSoC's", file=sys.stderr
        )
        return 2
    status = run(["emit", str(parameters["spec"]), "-o", ".", "--name", name, "--wrapper", *options])
    if status == 0:
        core = Path(f"{name}.core")
        core.write_text(core.read_text().replace(f"name: {core_name(name)}\n", f"name: {asked['vlnv']}\n", 1))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
