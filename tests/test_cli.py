"""The command line: keys, exit statuses, and one line for whatever is wrong."""

import html
import json
import re
import shlex
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from hdnhw.cli import command_parser, main
from hdnhw.machine.machine import Machine
from hdnhw.model.fabric import FabricModel
from hdnhw.networks.build import build
from hdnhw.rules.plan import plan
from hdnhw.spec import FabricSpec
from hdnhw.traffic.patterns import PATTERNS
from tests.cli.refusals import REFUSED, TEXT, is_like
from tests.conftest import each

REFERENCE = Path(__file__).parent / "reference" / "networks.json"
INSTANCES = json.loads(REFERENCE.read_text())["instances"]
KEYS = {
    "info 'rdn(cube(2), 1)'": "spec nodes edges degree_min degree_max degree_paper diameter diameter_formula "
    "average_distance distance_histogram distance_histogram_of node_symmetric num_vcs deadlock_free "
    "edge_symmetric connectivity switch_connectivity bisection cr cr_w",
    "neighbors 'rdn(cube(2), 1)' 3": "node neighbors ports",
    "route 'rdn(cube(2), 1)' 0 31": "hops nodes ports vcs",
    "route 'rdn(cube(2), 1)' 0 31 --algorithm paper": "algorithm hops nodes addresses ports vcs",
    "route 'hsn(2, cube(2))' 0 9 --algorithm paper": "algorithm hops nodes addresses ports vcs",
    "route 'rdn(cube(2), 1)' 0 1.3/1.1 --modes O": "hops nodes ports vcs",
    "paths 'rdn(cube(2), 1)' 0 1.3/1.1": "paths count max_hops total_hops algorithm case paper_bound disjoint modes "
    "max_waypoints waypoints",
    "paths 'hdn(cube(3), [[2]])' 0 7 --algorithm flow": "paths count max_hops",
    "paths 'mesh(3, 3)' 0 8": "paths count max_hops",
    "routing 'rdn(cube(2), 1)'": "pairs max_hops mean_hops mean_stretch worst_stretch nonminimal_fraction cdg_channels "
    "cdg_edges cdg_acyclic num_vcs max_channel_load saturation_bound",
    "routing 'torus(4, 4)' --lanes 2": "lanes num_vcs cdg_acyclic",
    "simulate 'cube(3)' --cycles 200 --packet-length 1": "offered_rate accepted_rate created delivered packet_latency "
    "mean_hops cycles router_cycles_per_second network_latency steady warmup fairness confidence_95",
    "simulate 'cube(3)' --cycles 200 --lengths 'mix(1, 0.8, 9, 0.2)'": "lengths packets payload_share created",
    "requests 'cube(3)' --requests 50 --packet-length 1": "window answered request_rate round_trip cycles",
    "guarantees 'torus(4)' --rate 0.1": "flow_count zero_load_latency latency rate declared_latency note longest",
    "exchange 'rdn(cube(2), 1)'": "delivered startups words lower_bound_words words_per_step paper_formula_words",
    "exchange 'rdn(cube(2), 1)' --schedule paper --on model": "delivered startups words cycles cycles_per_step",
    "exchange 'cube(3)' --schedule network": "delivered startups words lower_bound_words words_per_step "
    "paper_formula_words cycles lower_bound_cycles flow_bound_words flow_bound_cycles",
    "collective 'mesh(3, 2)' --op broadcast --root 4": "delivered startups words lower_bound_words words_per_step "
    "paper_formula_words root",
    "collective 'dualcube(3)' --op scatter --ports all": "delivered startups words lower_bound_words words_per_step",
    "collective 'ghc(3, 4)' --op allgather --words 3 --startup-time 2": "delivered startups words words_per_step time",
    "collective 'hsn(2, cube(2))' --op allgather": "delivered startups words lower_bound_words words_per_step",
    "collective 'torus(3)' --op allreduce": "delivered startups words algorithm operator numbers wrong nodes_agree",
    "collective 'torus(3)' --op scan --words 4": "delivered startups words vector_words wrong lower_bound_words",
    "collective 'torus(3)' --op reduce": "delivered startups words root wrong checked_words",
    "emulate 'hsn(2, cube(2))' --all-port": "guest ways steps published_steps lower_bound_steps delivered data",
    "emulate 'hsn(2, cube(2))' --step 2.dim1": "link steps published_steps delivered hops_per_step",
    "emulate 'hsn(2, cube(2))' --run descend": "dimension_steps exchange_steps published_exchange_steps verified",
    "info 'hsn(2, cube(2))'": "spec nodes edges diameter diameter_formula nested num_vcs deadlock_free",
    "route 'hsn(3, cube(2))' 0 1.1/0.1/1.0": "hops nodes ports vcs",
    "routing 'ccc(3)'": "pairs max_hops mean_stretch worst_stretch cdg_acyclic num_vcs saturation_bound",
    "simulate 'star(3)' --cycles 200 --packet-length 1": "accepted_rate created delivered mean_hops",
    "simulate 'petersen()' --pattern exchange --packet-length 1": "created delivered complete",
    "exchange 'hcn(1)' --schedule network": "delivered words lower_bound_words cycles lower_bound_cycles",
    "faults 'cube(3)' --fault-rate 0.2 --trials 2 --workers 1": "dead_nodes trials connected reached reached_two_way",
    "emit 'complete(2)' -o out --packet-length 1": "files routers router_modules num_vcs flit_width crossbar",
}
COMMANDS = [
    "build",
    "collective",
    "compare",
    "cosim",
    "demo",
    "design",
    "embed",
    "emit",
    "emulate",
    "exchange",
    "explore",
    "export",
    "faults",
    "guarantees",
    "info",
    "machines",
    "neighbors",
    "papers",
    "paths",
    "picture",
    "prove",
    "requests",
    "route",
    "routing",
    "simulate",
    "sweep",
    "synth",
    "system",
    "watch",
    "waves",
    "waypoints",
]


def result_of(run, line):
    status, out, err = run(f"{line} --json")
    assert (status, err, out.count("\n"), out[-1]) == (0, "", 1, "\n")
    return json.loads(out)


@pytest.mark.parametrize("line", KEYS)
def test_json_has_the_promised_keys_and_text_the_same(run, line):
    result = result_of(run, line)
    assert set(KEYS[line].split()) <= set(result)
    status, out, err = run(line)
    assert (status, err) == (0, "")
    with pytest.raises(json.JSONDecodeError):
        json.loads(out)
    lines = [row.rstrip() for row in out.splitlines() if row[0] != " "]
    shown = dict(row.split(None, 1) if " " in row else (row, "") for row in lines)
    assert list(shown) == list(result)
    tables = {key: value for key, value in result.items() if isinstance(value, list) and isinstance(value[0], dict)}
    assert out.count("\n ") == sum(1 + len(rows) for rows in tables.values())  # a heading each
    for key, value in result.items():
        if key not in {"seconds", "router_cycles_per_second", *tables}:
            assert shown[key].strip() == (value if isinstance(value, str) else json.dumps(value))


def test_an_object_longer_than_a_line_is_a_line_for_each_member(run, tmp_path):
    (tmp_path / "energy").write_text("* 1.5\n")
    status, out, _ = run(f"simulate 'cube(3)' --cycles 200 --energy {tmp_path / 'energy'}")
    assert status == 0
    lines = dict(re.findall(r"^(\S+) +(.*)$", out, re.MULTILINE))
    assert float(lines["energy.share.dim0"]) > 0
    assert lines["packet_latency"].startswith('{"mean": ')
    assert max(map(len, lines.values())) < 110


def test_a_trace_is_the_same_in_text_and_parquet(run):
    columns = {"cycle": [0, 3, 3], "source": [0, 7, 7], "destination": [7, 0, 1], "flits": [1, 20, 3]}
    Path("trace.txt").write_text("".join(f"{' '.join(map(str, row))}\n" for row in zip(*columns.values(), strict=True)))
    parquet.write_table(pyarrow.table(columns), "trace.parquet")
    text, table = (result_of(run, f"simulate 'cube(3)' --trace trace.{form}") for form in ("txt", "parquet"))
    assert (text["format"], table["format"]) == ("text", "parquet")
    assert (text["created"], text["packets"], text["delivered"], text["complete"]) == (3, 5, 3, True)
    differing = {"trace", "format", "seconds", "router_cycles_per_second"}
    assert {key for key in text if text[key] != table[key]} <= differing
    assert set(text) == set(table)
    status, out, err = run("simulate 'cube(3)' --trace trace.txt --seed 3")
    assert (status, out) == (2, "")
    assert err == "hdnhw: --trace says which messages there are: it does not go with --seed\n"


def test_sweep(run):
    line = "sweep 'complete(2)' 'complete(3)' --rates 0.2,0.1 --cycles 200 --workers 2 --plot c.svg --results r.parquet"
    status, out, err = run(f"{line} --json")
    result = json.loads(out)
    assert (status, err.count("\n"), Path("c.svg").exists()) == (0, 4, True)
    found = ["rate_at_3x_latency", "saturation_throughput", "overload_throughput"]
    found += ["rate_at_3x_confidence_95", "saturation_confidence_95", "overload_confidence_95"]
    found += ["saturation_bound", "note"]
    assert [list(row) for row in result["saturation"]] == [
        ["spec", "nodes", "pattern", "zero_load_latency", *found]
    ] * 2
    assert [(row["spec"], row["nodes"], row["note"]) for row in result["saturation"]] == [
        ("complete(2)", 2, None),
        ("complete(3)", 3, None),
    ]
    assert [(row["spec"], row["rate"]) for row in result["points"]] == [
        (f"complete({size})", rate) for size in (2, 3) for rate in (0.1, 0.2)
    ]
    status, out, err = run(line)
    assert (status, err) == (0, "")
    assert len(out.splitlines()) == 1 + 3 + 1 + 5 + 1


def test_a_sweep_of_several_patterns(run):
    line = "sweep 'torus(4, 4)' 'cube(4)' --pattern reverse --pattern complement --seeds 2 --cycles 200 --rates 0.1"
    result = json.loads(run(f"{line} --json")[1])
    wanted = [(pattern, spec) for pattern in ("reverse", "complement") for spec in ("torus(4, 4)", "cube(4)")]
    assert [(row["pattern"], row["spec"]) for row in result["saturation"]] == wanted
    assert [(row["pattern"], row["spec"]) for row in result["points"]] == wanted
    assert [(row["pattern"], row["spec"], row["than"]) for row in result["differences"]] == [
        (pattern, "cube(4)", "torus(4, 4)") for pattern in ("reverse", "complement")
    ]
    out = run(line)[1]
    assert all(out.count(f" {pattern} ") == 2 + 2 + 1 for pattern in ("reverse", "complement"))
    for equal in ("pins", "wires"):
        result = json.loads(run(f"{line} --equal {equal} --rates 2 --json")[1])
        widths = {row["spec"]: row["flit_width"] for row in result["widths"]}
        assert all(row["flit_width"] == widths[row["spec"]] for row in result["saturation"])
        assert len(result["saturation"]) == 4


@pytest.mark.parametrize(
    ("patterns", "said"),
    [
        ("--pattern uniform --pattern uniform", "patterns must differ, and uniform is there twice"),
        ("--pattern uniform --pattern exchange", "--pattern exchange is for simulate: a total exchange has no rate to"),
        ("--pattern uniform --pattern circle", "pattern must be one of uniform"),
    ],
)
def test_patterns_that_cannot_be_swept(run, patterns, said):
    status, out, err = run(f"sweep 'cube(3)' {patterns}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"hdnhw: {said}")


def test_an_interval_is_as_long_as_its_precision_asks_for(run):
    """Near saturation; what was found is what so many cycles give."""
    line = "simulate 'torus(3)' --rate 0.88 --json"
    found, short = (json.loads(run(f"{line} {more}")[1]) for more in ("--precision 0.2", "--cycles 10000"))
    assert found["interval"] > short["interval"] == 10_000
    assert found["confidence_95"] <= 0.2 * found["packet_latency"]["mean"]
    assert (found["precision"], short["precision"]) == (0.2, None)
    again = json.loads(run(f"{line} --cycles {found['interval']}")[1])
    assert {name for name in found if found[name] != again[name]} <= {
        "precision",
        "seconds",
        "router_cycles_per_second",
    }


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--precision 2", "--precision must be 0.001 to 1 of the mean latency, not 2.0"),
        (
            "--precision 0.1 --seeds 2",
            "--precision is for one seed: with several, more seeds make",
        ),
        ("--precision 0.1 --pattern exchange", "--pattern exchange says which messages there are: it does not go with"),
    ],
)
def test_precisions_that_cannot_be(run, more, said):
    status, out, err = run(f"simulate 'cube(2)' {more}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"hdnhw: {said}")


STEADY = {True: "yes", False: "no", None: "-"}


def test_a_sweep_fits_a_terminal_and_says_what_the_machine_lacks(run):
    """Text has the figures of JSON, rounded; a ring of four gives a class half its rate, a square does not."""
    line = "sweep 'product(torus(5), mesh(2, 2))' 'cube(2)' --rates 0.1,1 --cycles 400 --buffers 2 --results r.parquet"
    status, out, err = run(f"{line} --json")
    result = json.loads(out)
    status, out, err = run(line)
    assert (status, err) == (0, "")
    title, names, *lines = out.splitlines()
    assert max(map(len, [names, *lines[:7]])) <= 100
    assert (title, lines[2]) == ("saturation", "points")
    assert names.split() == ["spec", "rate_at_3x_latency", "saturation_throughput", "overload_throughput"]
    for shown, row in zip(lines[:2], result["saturation"], strict=True):
        assert shown.strip().startswith(row["spec"])
        widths = [row[f"{name}_confidence_95"] for name in ("rate_at_3x", "saturation", "overload")]
        figures = [(row[name], width) for name, width in zip(names.split()[1:], widths, strict=True)]
        told = ["-" if value is None else f"{value}" + f" ± {width}" * bool(width) for value, width in figures]
        assert re.split(" {2,}", shown.strip())[1:] == told
    for shown, row in zip(lines[4:8], result["points"], strict=True):
        figures = [row["rate"], row["accepted_rate"], row["packet_latency"]["mean"]]
        assert shown.split()[-4:] == [*(f"{round(figure, 4)}" for figure in figures), STEADY[row["steady"]]]
    ring, square = result["saturation"]
    assert ring["note"].endswith("sustains 50 % of the rate of a channel; --buffers 4 gives it all")
    assert square["note"] is None
    said, more = lines[8:]
    assert said.split("  ", 1) == [f"note on {ring['spec']}", ring["note"]]
    assert "--json" in more


@pytest.mark.parametrize("command", ["simulate", "sweep", "cosim"])
def test_help_lists_the_patterns(run, command):
    status, out, err = run(f"{command} --help")
    shown = " ".join(out.split())
    assert (status, err) == (0, "")
    for name in PATTERNS:
        assert re.search(rf"[ :]{name}(\([A-Z, .]+\))?[, ]", shown), name
    assert "hotspot(SHARE, NODE, ...), permutation(SEED)" in shown
    assert "or a FILE of rates, .csv, .npy, .parquet, .toml (default" in shown
    assert ("exchange, from each to all at once" in shown) == (command == "simulate")


@pytest.mark.parametrize("file", ["", "c.csv", "c.parquet"])
def test_channels(run, tmp_path, file):
    line = "simulate 'mesh(2, 3)' --rate 0.2 --cycles 2000 --packet-length 1"
    plain, result = result_of(run, line), result_of(run, f"{line} --channels {file}")
    assert {path.name for path in tmp_path.iterdir()} == ({file} - {""})
    assert list(result) == [*plain, "channels", "queues"]
    assert [row["type"] for row in result["channels"]] == ["dim0", "dim1_plus", "dim1_minus", "ejection", "injection"]
    assert [row["channels"] for row in result["channels"]] == [6, 4, 4, 6, 6]
    assert [row["type"] for row in result["queues"]] == ["dim0", "dim1_plus", "dim1_minus", "injection"]
    *between, ejected, injected = (row["channels"] * row["load"]["mean"] for row in result["channels"])
    assert ejected / 6 == pytest.approx(result["accepted_rate"], abs=0.001)
    assert sum(between) / injected == pytest.approx(result["mean_hops"], abs=0.05)
    status, out, err = run(f"{line} --channels")
    assert (status, err) == (0, "")
    assert [row.split()[0] for row in out.splitlines()[len(plain) :]] == [
        *("channels", "type", *(row["type"] for row in result["channels"])),
        *("queues", "type", *(row["type"] for row in result["queues"])),
    ]


@pytest.mark.parametrize("option", ["", "--json", "--channels c.csv"])
def test_a_fabric_that_hangs_is_told_line_by_line(run, tmp_path, monkeypatch, option):
    """Negative control: a ring of five without the dateline, beyond saturation."""
    made = plan("torus(5)")
    rule = replace(made.rule, vc=(made.rule.circuit.constant(0),), num_vcs=(1, 1))
    spec = FabricSpec(network=made.network.spec, packet_length=1, buffers=1)
    broken = FabricModel(Machine(spec, replace(made, rule=rule, num_vcs=(1, 1))))
    monkeypatch.setattr("hdnhw.model.fabric.model_of", lambda *_: broken)
    status, out, err = run(f"simulate 'torus(5)' --rate 1 {option}")
    assert (status, out) == (1, "")
    first, *lines, end = err.split("\n")
    assert re.fullmatch(r"hdnhw: torus\(5\) has a deadlock: 5 packets wait for each other in cycle \d+ \(.*\):", first)
    assert [line.split(":")[0] for line in lines] in (
        [f"  {node}.dim0_minus.0" for node in range(5)],
        [f"  {node}.dim0_plus.0" for node in (0, 4, 3, 2, 1)],
    )
    assert (end, [*tmp_path.iterdir()]) == ("", [])


def test_the_page_of_a_sweep_makes_itself_again(run, tmp_path):
    line = "sweep 'complete(2)' --rates 0.1 --cycles 200 --workers 1 --html 'a page.html' --results r.parquet"
    assert run(line)[0] == 0
    first = (tmp_path / "a page.html").read_text()
    (command,) = re.findall("<code>(.*)</code>", first)
    words = shlex.split(html.unescape(command))
    assert words == ["hdnhw", *shlex.split(line)]
    (tmp_path / "a page.html").unlink()
    (tmp_path / "r.parquet").unlink()
    assert main(words[1:]) == 0
    assert (tmp_path / "a page.html").read_text() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a page.html", "r.parquet"]


def test_sweep_on_a_cluster(run):
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        line = f"sweep 'cube(2)' --rates 0.1,0.2 --cycles 200 --cluster {cluster.scheduler_address} --json"
        status, out, _ = run(line)
    here = json.loads(run(line.split(" --cluster")[0] + " --workers 1 --json")[1])
    assert status == 0
    untimed = [
        [{name: row[name] for name in row if name not in {"seconds", "router_cycles_per_second"}} for row in rows]
        for rows in (json.loads(out)["points"], here["points"])
    ]
    assert untimed[0] == untimed[1]


def test_a_cluster_that_is_not_there_is_one_line(run):
    status, out, err = run("sweep 'cube(2)' --rates 0.1 --cluster nowhere")
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_neighbors(run):
    assert result_of(run, "neighbors 'rdn(cube(3), 1)' 1.1/1.0.1") == {
        "node": 77,
        "address": "1.1/1.0.1",
        "paper_address": None,
        "four_parts": {"1": [1, 1, 5, 0]},
        "neighbors": [41, 73, 76, 79],
        "ports": {"dim0": 73, "dim1": 79, "dim2": 76, "cross1": 41},
    }


def test_the_papers_digits_of_a_node(run):
    """Binary for a dual-cube, as figure 2 of its paper has them; radix 4 for HSN(3, Q2), figure 2 of the HSN paper."""
    assert result_of(run, "neighbors 'dualcube(3)' 00011")["paper_address"] == "00011"
    route = result_of(run, "route 'dualcube(3)' 00000 10011")
    assert (route["paper_addresses"][0], route["paper_addresses"][-1]) == ("00000", "10011")
    for here, there in pairwise(route["paper_addresses"]):
        assert sum(a != b for a, b in zip(here, there, strict=True)) == 1
    assert result_of(run, "route 'hsn(3, cube(2))' 1 16")["paper_addresses"] == ["001", "100"]
    assert result_of(run, "route 'rdn(cube(2), 1)' 0 1")["paper_addresses"] is None


@pytest.mark.parametrize("algorithm", ["hop", "paper"])
def test_route_follows_its_ports(run, algorithm):
    result = result_of(run, f"route 'rdn(cube(3), 1)' 0 1.1/1.0.1 --algorithm {algorithm}")
    network, nodes = build("rdn(cube(3), 1)"), result["nodes"]
    assert (nodes[0], nodes[-1], len(nodes)) == (0, 77, result["hops"] + 1)
    assert [network.neighbors(node)[port] for node, port in zip(nodes, result["ports"], strict=False)] == nodes[1:]
    if algorithm == "paper":
        assert result["vcs"] is None
    else:
        assert len(result["vcs"]) == result["hops"]
    assert result["addresses"] == [network.format_node(node) for node in nodes]


def test_a_route_to_itself_is_empty(run):
    result = result_of(run, "route 'cube(3)' 5 5")
    assert (result["hops"], result["nodes"], result["ports"], result["vcs"]) == (0, [5], [], [])


def test_what_info_leaves_out_of_large_networks(run, monkeypatch):
    assert result_of(run, "info 'cube(5)'")["bisection"] == {"edges": 16, "at_least": 16, "exact": True}
    monkeypatch.setattr("hdnhw.library.info.STRUCTURE_LIMIT", 31)
    for spec, known in (("cube(5)", None), ("dualcube(3)", False)):
        result = result_of(run, f"info '{spec}'")
        assert (result["edge_symmetric"], result["connectivity"], result["bisection"]) == (known, None, None)
    monkeypatch.setattr("hdnhw.library.info.PROFILE_LIMIT", 31)
    result = result_of(run, "info 'dualcube(3)'")
    assert (result["edge_symmetric"], result["cr_w"]) == (None, 0.9)


@pytest.mark.parametrize("instance", [one for one in INSTANCES if one["n"] <= 2048], ids=lambda one: one["spec"])
def test_info_reproduces_the_reference(run, instance):
    result = result_of(run, f'info "{instance["spec"]}"')
    names = {
        "spec": "spec",
        "n": "nodes",
        "edges": "edges",
        "degree_min": "degree_min",
        "degree_max": "degree_max",
        "degree_paper_convention": "degree_paper",
        "diameter": "diameter",
        "diameter_formula_thm1": "diameter_formula",
        "diameter_formula_thm2_1": "diameter_formula",
        "hist_from_node0": "distance_histogram",
    }
    present = {ours: instance[theirs] for theirs, ours in names.items() if theirs in instance}
    assert {key: result[key] for key in present} == present
    assert len(present) >= 7
    average = Fraction(instance["avg_distance_excl_self"])
    assert Fraction(result["average_distance_exact"]) == average
    assert result["average_distance"] == float(average)
    assert result["connectivity"] == instance["node_connectivity"]
    assert result["edge_symmetric"] == (instance["edge_orbits"] == 1)
    assert result["cr"] == 2 * result["cr_w"]
    if "node_orbits" in instance:
        assert result["node_symmetric"] == (instance["node_orbits"] == 1)
    if "nested_S" in instance:
        assert result["nested"] == instance["nested_S"]
    assert result["deadlock_free"] is True
    for node, neighbors in instance["sample_adjacency"].items():
        assert result_of(run, f'neighbors "{instance["spec"]}" {node}')["neighbors"] == neighbors


@pytest.mark.parametrize(
    "instance",
    [one for one in INSTANCES if one["n"] <= 1024 and "routing_memoryless" in one],
    ids=lambda one: one["spec"],
)
def test_routing_in_fast_modes_reproduces_the_reference(run, instance):
    network = build(instance["spec"])
    levels = len(network.levels)
    result = result_of(run, f'routing "{instance["spec"]}" --modes {"f" * levels}')
    expected = instance["routing_memoryless"]
    assert (result["max_hops"], result["worst_excess"]) == (expected["max_len"], expected["worst_abs"])
    names = {
        "nonmin_frac": "nonminimal_fraction",
        "worst_stretch": "worst_stretch",
        "mean_stretch": "mean_stretch",
        "mean_len": "mean_hops",
    }
    for theirs, ours in names.items():
        assert result[ours] == pytest.approx(expected[theirs], abs=6e-7)  # the reference has six decimals
    assert result["pairs"] == instance["n"] * (instance["n"] - 1)
    assert (result["modes"], result["exhaustive"], result["cdg_acyclic"]) == ("f" * levels, True, True)
    # Two phases a level and two halves of a ring, but in ports that see one alone: tests/rules/test_hop.py counts.
    datelines = any(factor.kind == "cycle" and factor.size >= 5 for factor in network.factors)
    assert 2 ** (levels + datelines) % result["num_vcs"] == 0
    assert result["num_vcs"] == max(plan(network.spec, "f" * levels).num_vcs)


def test_the_reference_is_whole():
    assert sum(one["n"] <= 2048 for one in INSTANCES) == 40
    assert sum(one["n"] <= 1024 and "routing_memoryless" in one for one in INSTANCES) == 23


def test_the_histogram_says_of_which_node_it_is(run):
    for spec, whose in (
        ("cube(3)", "every node"),
        ("hdn(cube(2), [[0], [0, 1]])", "node 0"),
        ("hsn(2, cube(2))", "node 0"),
    ):
        assert result_of(run, f"info '{spec}'")["distance_histogram_of"] == whose


def test_what_is_too_large_to_search_is_null(run, monkeypatch):
    monkeypatch.setattr("hdnhw.library.info.SEARCH_LIMIT", 7)
    status, out, err = run("info 'cube(3)' --json")
    result = json.loads(out)
    assert (status, err) == (0, "cube(3) has more than 7 nodes or 536870912 ports in all: not searched\n")
    searched = ("diameter", "average_distance", "average_distance_exact", "distance_histogram")
    assert [result[key] for key in searched] == [None] * 4
    assert (result["nodes"], result["diameter_formula"]) == (8, 3)


def test_emit_writes_what_it_says(run, tmp_path):
    result = result_of(run, "emit 'mesh(2)' -o a/b --name noc --packet-length 1 --flit-width 9 --buffers 2")
    manifest = json.loads((tmp_path / "a/b/manifest.json").read_text())
    assert result["files"] == ["a/b/noc.sv", "a/b/noc.core", "a/b/manifest.json"]
    assert sorted(map(str, tmp_path.rglob("*.*"))) == sorted(str(tmp_path / file) for file in result["files"])
    assert result["bytes"] == (tmp_path / "a/b/noc.sv").stat().st_size
    for key in (
        "spec",
        "modes",
        "routers",
        "router_modules",
        "num_vcs",
        "flit_width",
        "packet_length",
        "buffers",
        "digest",
    ):
        assert result[key] == manifest[key]
    assert (result["flit_width"], result["packet_length"], result["buffers"]) == (9, 1, 2)
    assert result["proof"] == manifest["proof"]["summary"]
    assert result["zero_load_latency"] == manifest["latency"]["zero_load"]


def test_check_bits_make_packets_a_slot_later(run):
    """At next to no load nobody waits: a packet takes a slot, here 8 cycles, more."""
    line = "simulate 'rdn(cube(2), 1)' --rate 0.001 --cycles 20000"
    plain, checked = (result_of(run, f"{line} {option}") for option in ("", "--crc"))
    assert (plain["crc"], checked["crc"]) == (False, True)
    for name in ("packet_latency", "network_latency"):
        assert checked[name]["mean"] - plain[name]["mean"] == pytest.approx(8, abs=0.05)
        assert checked[name]["p50"] - plain[name]["p50"] == 8


def test_emit_writes_generators(run, tmp_path):
    result = result_of(run, "emit 'complete(3)' -o out --name noc --endpoints exchange --at-once")
    assert result["files"] == ["out/noc.sv", "out/noc_exchange.sv", "out/noc.core", "out/manifest.json"]
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    endpoints = manifest["endpoints"]
    assert (endpoints["type"], manifest["top"], endpoints["at_once"]) == ("exchange", "noc_exchange", True)
    assert set(endpoints["ports"]) == {"clk", "rst", "start", "done", "cycles", "received", "wrong"}


def test_emit_writes_endpoints(run, tmp_path):
    sizes = "--packet-length 4 --max-frame 64 --tuser-width 3"
    result = result_of(run, f"emit 'complete(2)' -o out --name noc --endpoints axi-stream {sizes}")
    assert result["files"] == ["out/noc.sv", "out/noc_axi.sv", "out/noc.core", "out/manifest.json"]
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    endpoints = manifest["endpoints"]
    assert (manifest["top"], endpoints["max_frame"], endpoints["tuser_width"]) == ("noc_axi", 64, 3)


def test_emit_writes_relays(run, tmp_path):
    sizes = (
        "--flit-width 24 --packet-length 1 --dead-pins --waypoints 2 --relay-buffers 1 --relay-queues 4 --timeout 512"
    )
    result = result_of(run, f"emit 'complete(2)' -o out --name noc --endpoints relay {sizes}")
    assert result["files"] == ["out/noc.sv", "out/noc_relay.sv", "out/noc.core", "out/manifest.json"]
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    endpoints = manifest["endpoints"]
    assert (endpoints["type"], manifest["top"]) == ("relay", "noc_relay")
    assert (endpoints["waypoints"], endpoints["relay_buffers"], endpoints["timeout"]) == (2, 1, 512)
    assert endpoints["relay_queues"] == 2, "more than there are addresses are of no use"


@pytest.mark.parametrize("command", {line.split(" ")[0]: None for line in REFUSED})
def test_wrong_input_is_one_line_and_leaves_nothing(refused, command):
    @each("json_option", ["", "--json"])
    @each("line", [line for line in REFUSED if line.split(" ")[0] == command])
    def check(line, json_option):
        err = refused(f"{line} {json_option}")
        assert is_like(REFUSED[line], err), err

    check()


def test_every_refusal_is_read():
    assert len(TEXT.splitlines()) == 1 + TEXT.count("\n\n") + 2 * len(REFUSED)


def test_a_spec_is_one_line(refused):
    said = r"hdnhw: spec 'cube(3)\ncube(4)': must be one line of ASCII characters"
    assert refused("info 'cube(3)\ncube(4)'") == f"{said}\n"


@pytest.mark.parametrize("option", ["--html folder.html", "--html none/c.html", "--plot folder.svg"])
def test_a_page_is_refused_before_the_work(run, tmp_path, monkeypatch, option):
    monkeypatch.setattr("hdnhw.measurement.sweep.Sweep", None)
    for name in ("folder.html", "folder.svg"):
        (tmp_path / name).mkdir()
    status, out, err = run(f"sweep 'cube(2)' {option}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"hdnhw: {option.split()[0]} must be ")


def test_a_file_is_refused_before_the_work(run, tmp_path, monkeypatch):
    monkeypatch.setattr("hdnhw.verilog.fabric.emit_fabric", None)
    (tmp_path / "here").write_text("mine")
    said = "hdnhw: --output must be a folder that can be written or made, not 'here'\n"
    assert run("emit 'complete(2)' -o here") == (2, "", said)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(run, command):
    status, out, err = run(f"{command} --help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: hdnhw {command} ")
    _, example = " ".join(out.split()).split("example: ")
    assert example.startswith(f"hdnhw {command}")
    if command in ("info", "neighbors", "route", "routing"):
        result_of(run, example.removeprefix("hdnhw "))


def test_without_a_command_a_guide_is_shown_whose_commands_are_there(run):
    status, guide, err = run("")
    assert (status, err) == (0, "")
    for line in re.findall(r"^  hdnhw (.*?)  ", guide, re.MULTILINE):
        command_parser().parse_args(shlex.split(line))


def test_help_names_every_command(run):
    status, out, err = run("--help")
    assert (status, err) == (0, "")
    assert {line.split()[0] for line in out.splitlines() if re.match(r"  \w", line)} == set(COMMANDS)


def test_an_interrupt_is_one_line(run, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("hdnhw.library.info.network_of", interrupt)
    assert run("info 'cube(3)'") == (130, "", "hdnhw: interrupted\n")


def test_paths_of_the_paper_that_are_not_disjoint(run):
    status, out, err = run("paths 'hdn(cube(3), [[2], [0, 1, 2]])' 0 700 --algorithm paper --json")
    found = json.loads(out)
    assert (status, err, found["disjoint"], found["count"]) == (1, "", False, 5)
    assert found["fault"].endswith("visits a node twice")


@pytest.mark.parametrize("modes", ["Of", "OO"])
def test_paths_and_the_waypoints_along_them(run, modes):
    spec = "'hdn(cube(2), [[0], [0, 1]])'"
    found = json.loads(run(f"paths {spec} 0 77 --modes {modes} --json")[1])
    assert found["modes"] == modes
    assert found["max_waypoints"] == max(map(len, found["waypoints"]))
    for path, chosen in zip(found["paths"], found["waypoints"], strict=True):
        nodes = [path[0]]
        for stop in [*chosen, path[-1]]:
            nodes += json.loads(run(f"route {spec} {nodes[-1]} {stop} --modes {modes} --json")[1])["nodes"][1:]
        assert nodes == path


def test_paths_where_there_is_no_routing(run):
    status, out, err = run("paths 'hsn(4, cube(4))' 0 40 --json")
    found = json.loads(out)
    assert (status, found["modes"], found["waypoints"], found["max_waypoints"]) == (0, None, None, None)
    assert found["disjoint"]
    assert err.startswith("routing of hsn(4, cube(4)) is not proved deadlock-free")


def test_paths_that_no_waypoints_lead_along(run):
    found = json.loads(run("paths 'hsn(3, cube(2), diameter_links=True)' 0 9 --json")[1])
    assert found["waypoints"].count(None) == 2
    assert found["max_waypoints"] is None
