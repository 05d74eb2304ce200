"""Library and command line: the same names, the same options, the same results."""

import inspect
import json
import re
import shlex
from argparse import _SubParsersAction
from functools import cache

import numpy
import pytest

import hdnhw
from hdnhw.cli import command_parser, main
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.library.result import Result
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import Options, Origin, options_of
from tests.conftest import each

SHOWN = ("explore", "picture", "sweep")
"""Functions whose results a notebook shows as more than tables: they have a class of their own."""

ALONE = ("build", "demo")
"""Commands that are no functions of hdnhw."""

UNTIMED = ("collective", "exchange", "explore", "guarantees", "requests", "simulate", "sweep")
"""Commands without the options of a machine on which no cycles depend; functions have them."""


@cache
def parsers():
    (commands,) = (action for action in command_parser()._actions if isinstance(action, _SubParsersAction))
    return commands.choices


COMMANDS = {name: parser.get_default("run").__self__ for name, parser in parsers().items()}
FUNCTIONS = {name: command.function for name, command in COMMANDS.items() if name not in ALONE}

CALLS = {
    "sweep of patterns": (
        "sweep 'cube(4)' --pattern reverse --pattern complement --rates 0.1 --cycles 100 --workers 1",
        lambda: hdnhw.sweep("cube(4)", pattern=["reverse", "complement"], rates=[0.1], cycles=100, workers=1),
    ),
    "collective multicast": (
        "collective 'cube(3)' --op multicast --root 1 --targets 3 7",
        lambda: hdnhw.collective("cube(3)", op="multicast", root=1, targets=[3, "7"]),
    ),
    "collective sizes": (
        "collective 'cube(3)' --op allreduce --sizes 64,1",
        lambda: hdnhw.collective("cube(3)", op="allreduce", sizes=[1, 64]),
    ),
    "embed": (
        "embed 'rdn(cube(2), 1)' 'torus(4, 8)' --way cycle",
        lambda: hdnhw.embed("rdn(cube(2), 1)", "torus(4, 8)", way="cycle"),
    ),
    "faults": (
        ("faults", "hdn(cube(2), [[0]])", "--fault-rate", "0.1", "--trials", "2", "--workers", "1", "--modes", "f"),
        lambda: hdnhw.faults("hdn(cube(2), [[0]])", fault_rate=0.1, trials=2, workers=1, modes="f"),
    ),
    "faults by case": (
        "faults 'rdn(cube(2), 1)' --by-case --fault-rates 0.1 --pairs 9 --trials 1 --workers 1 --paths address",
        lambda: hdnhw.faults(
            hdnhw.Network("rdn(cube(2), 1)"),
            by_case=True,
            fault_rates=[0.1],
            pairs=9,
            trials=1,
            workers=1,
            paths=["address"],
        ),
    ),
    "neighbors": (("neighbors", "torus(4, 4)", "1.1"), lambda: hdnhw.neighbors("torus(4, 4)", 5)),
    "papers": (
        "papers --claim DC-1 --claim HDN-2 --workers 1",
        lambda: hdnhw.papers(claim=["DC-1", "hdn-2"], workers=1),
    ),
    "paths": (("paths", "rdn(cube(2), 1)", "0", "31"), lambda: hdnhw.paths(hdnhw.Network("rdn(cube(2), 1)"), 0, 31)),
    "route": (
        ("route", "hdn(cube(2), [[0], [0, 1]])", "0", "9", "--modes", "ff"),
        lambda: hdnhw.route("hdn(cube(2), [[0], [0, 1]])", 0, 9, modes="ff"),
    ),
    "simulate": (
        ("simulate", "cube(3)", "--rate", "0.2", "--cycles", "500", "--channels", "--buffers", "4", "--faults", "1"),
        lambda: hdnhw.simulate("cube(3)", rate=0.2, cycles=500, channels=True, buffers=4, faults=1),
    ),
    "sweep": (
        ("sweep", "cube(2)", "cube(3)", "--rates", "0.1,0.2", "--cycles", "500", "--workers", "1"),
        lambda: hdnhw.sweep("cube(2)", "cube(3)", rates=[0.2, 0.1], cycles=500, workers=1),
    ),
    "waypoints": (
        "waypoints 'hdn(cube(3), [[2]])' 0 --dead-nodes 1 0.1/0.1.1 --dead-channels 0:cross1",
        lambda: hdnhw.waypoints("hdn(cube(3), [[2]])", 0, dead_nodes=[1, "0.1/0.1.1"], dead_channels=["0:cross1"]),
    ),
}
"""A command line and the same call, where what they are given differs: lists, nodes, places of arguments."""


def names_of(function):
    """Return the names of what a function takes."""
    names = set()
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            names.add(name)
        else:
            names |= {option for kind in parameter.annotation.__metadata__ for option in kind.__annotations__}
    return names


def keyword_of(action):
    """Return what docs/python.md says that the keyword of an option is: its name, with underscores."""
    flags = [flag for flag in action.option_strings if flag.startswith("--")]
    return flags[0][2:].replace("-", "_") if flags else action.dest


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_what_its_command_takes(name):
    options = {keyword_of(action) for action in parsers()[name]._actions} - {"help", "json"}
    own = COMMANDS[name].options
    only_in_pages = {option for option, kind in options_of(own or Options).items() if isinstance(kind, Origin)}
    allowed = names_of(FUNCTIONS[name]) - only_in_pages
    more = {"cosim": options_of(CollectiveSpec) | options_of(ExchangeSpec), "watch": {"seen": None}}
    more |= dict.fromkeys(UNTIMED, options_of(FabricSpec))
    assert options - allowed == set()
    assert allowed - options <= more.get(name, {}).keys()


@pytest.mark.parametrize("name", CALLS)
def test_a_function_returns_what_its_command_prints(name, capsys):
    words, call = CALLS[name]
    assert main([*(shlex.split(words) if isinstance(words, str) else words), "--json"]) == 0
    printed, found = json.loads(capsys.readouterr().out), json.loads(json.dumps(call()))
    assert without_times(found) == without_times(printed)


def without_times(value):
    """Return a result without the times that a run took."""
    if isinstance(value, list):
        return [without_times(item) for item in value]
    if not isinstance(value, dict):
        return value
    times = ("memory_mib", "seconds", "router_cycles_per_second")
    return {key: without_times(item) for key, item in value.items() if key not in times}


def test_faults_are_numbers_or_what_the_command_line_has():
    numbers, text = (hdnhw.simulate("cube(3)", faults=faults, cycles=200) for faults in ((1, 2), "1,2"))
    assert without_times(dict(numbers)) == without_times(dict(text))


def test_emit_writes_what_its_command_writes(tmp_path):
    made = hdnhw.emit("cube(2)", tmp_path / "one", endpoints="axi-stream", max_frame=64, channel_latency="2")
    words = [
        "emit",
        "cube(2)",
        "-o",
        str(tmp_path / "other"),
        "--endpoints",
        "axi-stream",
        "--max-frame",
        "64",
        "--channel-latency",
        "2",
    ]
    assert main(words) == 0
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "other").iterdir())
    assert len(names) == len(made.files)
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


PICTURES = {
    "--labels address --dead-nodes 1 --dead-channels 2:dim0": {
        "labels": "address",
        "dead_nodes": [1],
        "dead_channels": ["2:dim0"],
    },
    "--route 0 31 --dead-nodes 3 --waypoints 2 --modes f": {
        "route": (0, 31),
        "dead_nodes": [3],
        "waypoints": 2,
        "modes": "f",
    },
    "--paths 0 1.1/1.1 --algorithm flow": {"paths": (0, "1.1/1.1"), "algorithm": "flow"},
    "--fan 0": {"fan": 0},
    "--fan 0 1": {"fan": [0, 1]},
    "--cluster 5": {"cluster": 5},
    "--collective exchange --root 0 --step 0-2 --ports all --schedule paper --split sum": {
        "collective": "exchange",
        "root": 0,
        "step": "0-2",
        "ports": "all",
        "schedule": "paper",
        "split": "sum",
    },
    "--collective gather --step 1": {"collective": "gather", "step": 1},
}
"""Options of ``picture``, and of the function."""


@pytest.mark.parametrize("words", PICTURES)
def test_a_picture_is_that_of_its_command(words, tmp_path, capsys):
    file = tmp_path / "p.svg"
    assert main(["picture", "rdn(cube(2), 1)", *shlex.split(words), "-o", str(file), "--json"]) == 0
    printed, text = json.loads(capsys.readouterr().out), file.read_text()
    drawing = hdnhw.Network("rdn(cube(2), 1)").picture(file, **PICTURES[words])
    assert json.loads(json.dumps(drawing)) == printed
    assert drawing.svg == file.read_text() == text == drawing._repr_svg_()
    assert hdnhw.picture("rdn(cube(2), 1)", **PICTURES[words]).file is None


def test_prove_asks_for_what_its_command_asks_for(monkeypatch, capsys):
    asked = []
    found = {"proved": True, "findings": []}
    monkeypatch.setattr(
        "hdnhw.proofs.prove.prove_fabric", lambda *given, **named: asked.append((given, named)) or found
    )
    words = ["--endpoints", "axi-stream", "--max-frame", "64", "--buffers", "8", "--seconds", "9"]
    assert main(["prove", "cube(2)", *words, "--json"]) == 0
    given = {"endpoints": "axi-stream", "max_frame": 64, "buffers": 8, "seconds": 9.0}
    assert hdnhw.Network("cube(2)").prove(**given) == json.loads(capsys.readouterr().out)
    ((one,), named), ((other,), also) = asked
    assert (one.files, named.keys()) == (other.files, also.keys())
    assert named["seconds"] == also["seconds"] == 9


def test_machines_are_those_of_their_command(monkeypatch, capsys):
    figures = {"family": "ecp5", "comb_sites": 900, "ram_cells": {}, "fmax_mhz": 100.0, "fmax_of_seed": [100.0]}
    monkeypatch.setattr("hdnhw.fpga.side_by_side.synthesize", lambda *_, **__: figures)
    words = "machines 'cube(2)' --machine '--buffers 8' --machine '--crc --packet-length 4' --packet-bits 64 --lanes 2"
    assert main([*shlex.split(words), "--json"]) == 0
    asked = {"machine": [{"buffers": 8}, {"crc": True, "packet_length": 4}], "packet_bits": 64, "lanes": 2}
    found = hdnhw.machines("cube(2)", **asked)
    assert json.loads(json.dumps(found)) == json.loads(capsys.readouterr().out)
    assert {row["lanes"] for row in found.machines} == {2}


def test_cosim_asks_for_what_its_command_asks_for(monkeypatch, capsys):
    asked = []

    def run(options):
        asked.append(options)
        return Result({"packets": 5, "passed": False}, passed=False)

    monkeypatch.setattr("hdnhw.library.benches.cosim", run)
    words = "cosim 'cube(2)' --test random --resets 9,40 --no-initial --seed 3 --channel-latency 2 --simulator icarus"
    assert main([*shlex.split(words), "--json"]) == 1
    given = {"resets": [9, 40], "no_initial": True, "seed": 3, "channel_latency": "2", "simulator": "icarus"}
    found = hdnhw.Network("cube(2)").cosim(test="random", **given)
    assert (found, found.passed) == (json.loads(capsys.readouterr().out), False)
    assert asked[0] == asked[1]
    assert hdnhw.cosim("cube(2)", test="load", rate=0.2, sink_stall=9).packets == 5
    assert (asked[2].test, asked[2].rate, asked[2].sink_stall) == ("load", 0.2, 9)


def test_what_is_not_proved_is_said_by_result_and_status(monkeypatch):
    monkeypatch.setattr("hdnhw.proofs.prove.prove_fabric", lambda *_, **__: {"proved": False})
    assert not hdnhw.prove("cube(2)").passed
    assert main(["prove", "cube(2)"]) == 1


def test_papers_are_written_as_by_their_command(tmp_path, monkeypatch):
    rows = [{"paper": "DC", "search": None, "verdict": "true", "table": []}]
    monkeypatch.setattr("hdnhw.claims.check.check_claims", lambda *_, **__: rows)
    monkeypatch.setattr("hdnhw.claims.page.papers_pages", lambda rows, **about: {"index.md": f"{rows} {about}"})
    folder = tmp_path / "made"
    made = hdnhw.papers(paper="DC", output=folder, command=f"hdnhw papers --paper DC -o {folder}", workers=1)
    texts = {name: (folder / name).read_text() for name in made.files}
    assert {"index.md", "ccc.svg"} <= set(texts)
    monkeypatch.setattr("hdnhw.cli.papers._line", lambda row: row)
    assert main(["papers", "--paper", "DC", "-o", str(folder)]) == 0
    assert texts == {path.name: path.read_text() for path in folder.iterdir()}


def test_every_public_name_has_a_docstring():
    for name in hdnhw.__all__:
        assert len(getattr(hdnhw, name).__doc__ or "") > 40, name
    families = {name for name in dir(hdnhw) if name not in hdnhw.__all__ and not name.startswith("_")}
    assert {"cube", "hdn"} <= families
    assert all(getattr(hdnhw, name).__doc__ for name in families)


def test_every_function_is_one_of_those_held_to_their_commands():
    functions = {name for name in hdnhw.__all__ if inspect.isfunction(getattr(hdnhw, name))}
    assert functions - {"from_networkx", "parse"} == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_parameter_has_a_type_and_is_told_of_and_there_is_an_example(name):
    text = inspect.getdoc(FUNCTIONS[name])
    sections = dict(re.findall(r"^(\w+)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, flags=re.MULTILINE | re.DOTALL))
    entries = re.findall(r"^(\w.*?)(?: : (.+))?$", sections["Parameters"], flags=re.MULTILINE)
    told = {one for names, _ in entries for one in names.split(", ")}
    rules = {"modes", "lanes"}  # in place of the name of all others, of which there are two
    for parameter in inspect.signature(FUNCTIONS[name]).parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter
        is_told = parameter.name in told or (parameter.kind is parameter.VAR_KEYWORD and rules <= told)
        assert is_told, f"{name}: {parameter.name}"
    assert "Result" in str(inspect.signature(FUNCTIONS[name]).return_annotation) or name in SHOWN
    assert re.search(rf"^(>>>|\.\.\.) .*hdnhw\.{name}\(", sections["Examples"], flags=re.MULTILINE), name


@each(
    ("call", "kind", "message"),
    [
        (lambda: hdnhw.info(7), TypeError, "network must be a spec such as 'rdn(cube(3), 1)', or a network, not 7"),
        (lambda: hdnhw.route("cube(2)", 0, 4), ValueError, "node of cube(2) must be 0 to 3, not 4"),
        (lambda: hdnhw.compare(), hdnhw.SpecError, "at least one network"),
        (
            lambda: hdnhw.compare("cube(2)", font=8),
            TypeError,
            "no option 'font' of a figure; there are title, figure_size",
        ),
        (lambda: hdnhw.emit("cube(2)", "x", initial=False), TypeError, "there is no option 'initial' of a machine"),
        (lambda: hdnhw.sweep(), hdnhw.SpecError, "at least one network"),
        (lambda: hdnhw.simulate("cube(2)", buffer=2), TypeError, "there is no option 'buffer' of a machine"),
        (lambda: hdnhw.simulate("cube(2)", rate=0.1, trace="x"), hdnhw.SpecError, "does not go with rate"),
        (lambda: hdnhw.simulate("cube(2)", waypoints=1), hdnhw.SpecError, "give faults as well"),
        (
            lambda: hdnhw.simulate("cube(3)", faults="(2, 1)"),
            hdnhw.SpecError,
            "faults must be the number of dead nodes",
        ),
        (lambda: hdnhw.sweep("cube(2)", rates=[2]), hdnhw.SpecError, "rates must be numbers from"),
        (
            lambda: hdnhw.emit("cube(2)", "x", endpoints="y"),
            hdnhw.SpecError,
            "endpoints must be one of axi-stream, axi4",
        ),
        (lambda: hdnhw.emit("cube(2)", "x", max_frame=3), hdnhw.SpecError, "max_frame is for AXI4-Stream endpoints"),
        (lambda: hdnhw.collective("cube(3)", op="scan", buffer=4), TypeError, "no option 'buffer' of a machine"),
        (lambda: hdnhw.collective("cube(3)", op="barrier", buffers=4), hdnhw.SpecError, "buffers is for a machine"),
        (lambda: hdnhw.cosim("cube(2)", packets=9.5), TypeError, "packets must be an integer, not 9.5"),
        (lambda: hdnhw.cosim("cube(2)", test="x"), hdnhw.SpecError, "test must be one of hops, random"),
        (
            lambda: hdnhw.cosim("cube(2)", test="axi", simulator="icarus"),
            hdnhw.SpecError,
            "the axi test needs simulator='verilator', not icarus",
        ),
        (lambda: hdnhw.cosim("cube(2)", test="hops", max_frame=64), hdnhw.SpecError, "max_frame is for AXI4-Stream"),
        (lambda: hdnhw.cosim("cube(2)", test="hops", depth=64), TypeError, "there is no option 'depth' of a machine"),
        (lambda: hdnhw.emulate("hsn(2, cube(2))"), hdnhw.SpecError, "emulate takes one of step, all_port and"),
        (
            lambda: hdnhw.exchange("cube(3)", message_sizes="2", trace="t"),
            hdnhw.SpecError,
            "message_sizes does not go with trace",
        ),
        (lambda: hdnhw.faults("cube(3)", pairs=5), hdnhw.SpecError, "pairs is for by_case"),
        (lambda: hdnhw.machines("cube(2)", machine=[{"buffer": 4}]), TypeError, "there is no option 'buffer'"),
        (lambda: hdnhw.papers(paper="X"), hdnhw.SpecError, "paper must be one of HDN, RDN, DISJ, HSN, DC, not 'X'"),
        (lambda: hdnhw.papers(claim="DC-0"), hdnhw.SpecError, "claim must be one of HDN-1 to"),
        (lambda: hdnhw.prove(), hdnhw.SpecError, "prove takes either SPEC, DIR or check FILE"),
        (
            lambda: hdnhw.prove("cube(2)", check="c.json"),
            hdnhw.SpecError,
            "prove takes either SPEC, DIR or check FILE",
        ),
        (lambda: hdnhw.picture("cube(2)", "x.png"), hdnhw.SpecError, ".svg"),
        (
            lambda: hdnhw.picture("cube(2)", route=(0, 1), paths=(0, 1)),
            hdnhw.SpecError,
            "paths does not go with route",
        ),
        (lambda: hdnhw.picture("cube(2)", route=(0,)), hdnhw.SpecError, "route takes two nodes, not 1"),
        (lambda: hdnhw.waypoints("cube(3)", 1, dead_nodes=[1]), hdnhw.SpecError, "source must be a healthy node"),
        (
            lambda: hdnhw.waypoints("cube(3)", 1, dead_channels=["1:x"]),
            hdnhw.SpecError,
            "port of node 1 must be one of dim0",
        ),
        (
            lambda: hdnhw.simulate("cube(2)", pattern=numpy.ones((9, 9))),
            hdnhw.SpecError,
            "matrix: row 0: a node must not send to itself",
        ),
        (lambda: hdnhw.simulate("cube(2)", pattern=[[1, 2]]), TypeError, "pattern must be a string, not [[1, 2]]"),
        (lambda: hdnhw.sweep("cube(2)", pattern=numpy.ones(9)), hdnhw.SpecError, "matrix: must be a square matrix"),
        (lambda: hdnhw.sweep("cube(2)", pattern=3), TypeError, "pattern must be a string, not 3"),
        (lambda: hdnhw.info("cube(3)").nodez, AttributeError, "result has no 'nodez'; it has spec, nodes"),
        (lambda: hdnhw.info("cube(3)").table("nodes"), ValueError, "one of the keys with rows, here none"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(call, kind, message):
    with pytest.raises(kind) as error:
        call()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_failed_check_is_said_by_result_and_status(monkeypatch):
    monkeypatch.setattr("hdnhw.multipath.flows.fault_of_paths", lambda *_: "two paths share node 1")
    assert not hdnhw.paths("cube(2)", 0, 3).passed
    assert main(["paths", "cube(2)", "0", "3"]) == 1


def test_a_result_shows_itself_in_a_notebook():
    shown = hdnhw.compare("cube(3)")._repr_html_()
    assert "<th>spec</th>" in shown
    assert "<td>cube(3)</td>" in shown
    assert "<th>nodes</th><td>8</td>" in hdnhw.info("cube(3)")._repr_html_()


def test_curves_draw_themselves(tmp_path):
    curves = hdnhw.sweep("cube(2)", rates=[0.1, 0.2], cycles=500, workers=1)
    assert curves._repr_svg_().startswith("<svg")
    assert curves.plot(tmp_path / "c.svg", x_limits=(0, 0.25)).get_xlim() == (0, 0.25)
    text = (tmp_path / "c.svg").read_text()
    assert "cube(2), 4 nodes" in text
    assert all(f"<dc:{said}" in text for said in ("description>lanes: 1; packet length: 8", "source>hdnhw.sweep<"))
    assert curves.table("points").num_rows == 2


def test_curves_are_added_to_axes_of_ones_own(tmp_path):
    from matplotlib.figure import Figure

    curves = hdnhw.sweep("cube(2)", rates=[0.1, 0.2], cycles=500, workers=1)
    one, other = Figure().subplots(2)
    one.plot([0, 0.3], [5, 6], label="measured elsewhere")
    assert curves.plot(one, log_y=True) is one
    assert curves.plot(other, kind="accepted", title="cubes") is other
    assert {text.get_text() for text in one.get_legend().get_texts()} >= {"measured elsewhere", "cube(2), 4 nodes"}
    assert (one.get_yscale(), other.get_title()) == ("log", "cubes")
    for where, options, told in (
        (7, {}, "plot must be axes of matplotlib, or a file, one of .svg, .png, .pdf, not 7"),
        (tmp_path / "c.gif", {}, "plot must be a file, one of .svg, .png, .pdf"),
        (one, {"kind": "x"}, "kind must be one of latency, accepted, not 'x'"),
        (one, {"font_size": 8}, "font_size is for a figure in a file"),
    ):
        with pytest.raises(hdnhw.SpecError, match=re.escape(told)):
            curves.plot(where, **options)
