"""The reference of the command line, from its parser."""

import argparse
import re

from hdnhw.cli import command_parser


def command_page() -> str:
    """Return the reference of the command line: a section for each command, from its parser."""
    parser = command_parser()
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    summaries = {action.dest: action.help for action in commands._choices_actions}
    parts = [
        "# All options of the command line",
        "Made from the program itself: what `hdnhw COMMAND --help` says. Every command takes `--json`. Exit status:"
        " 0 done, 1 a check failed, 2 bad input, 70 a fault of the program, 130 after Ctrl-C, 143 after SIGTERM.",
        *(
            "\n".join(
                [f"**{purpose}**\n", *(f"- [`{name}`](#{name}): {_text(summaries[name] or '')}" for name in names)]
            )
            for purpose, names in parser.parts.items()
        ),
    ]
    return "\n\n".join([*parts, *(_section(name, parser) for name, parser in commands.choices.items())]) + "\n"


def _section(name: str, parser: argparse.ArgumentParser) -> str:
    formatter = argparse.HelpFormatter(parser.prog, width=100)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups)
    parser.format_help()  # fills in what help leaves for later
    rows = [
        f"| {_code(_signature(action))} | {_cell(_help(parser, action))} |"
        for action in parser._actions
        if action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction)
    ]
    example = str(parser.epilog).removeprefix("example: ")
    parts = [
        f"## {name}",
        _text(parser.description or ""),
        f"```\n{formatter.format_help().strip()}\n```",
        "| argument or option | what it does |\n|---|---|\n" + "\n".join(rows),
        f"Example:\n\n```\n{example}\n```" if parser.epilog else "",
    ]
    return "\n\n".join(filter(None, parts))


def _signature(action: argparse.Action) -> str:
    """Return an option as it is written, with its value: ``-o DIR, --output DIR``."""
    value = argparse.HelpFormatter("")._format_args(action, str(action.metavar or action.dest).upper())
    if action.choices is not None and action.metavar is None:
        value = argparse.HelpFormatter("")._format_args(action, "{" + ",".join(map(str, action.choices)) + "}")
    if not action.option_strings:
        return value
    return ", ".join(f"{name} {value}".strip() for name in action.option_strings)


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action) if action.help else ""


def _text(text: str) -> str:
    """Return plain text as Markdown."""
    return re.sub(r"([*_<\[\]\\`])", r"\\\1", text)


def _cell(text: str) -> str:
    return _text(text).replace("|", r"\|")


def _code(text: str) -> str:
    return "`" + text.replace("|", r"\|") + "`"
