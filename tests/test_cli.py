"""The command line: keys, exit statuses, and one line for whatever is wrong."""

import html
import json
import re
import shlex
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from hdnhw.cli import main
from hdnhw.model.fabric import FabricModel
from hdnhw.routing.plan import plan
from hdnhw.spec import parse
from hdnhw.topology.network import build

REFERENCE = Path(__file__).parent / "reference" / "networks.json"
INSTANCES = json.loads(REFERENCE.read_text())["instances"]
KEYS = {
    "info 'rdn(cube(2), 1)'": "spec nodes edges degree_min degree_max degree_paper diameter diameter_formula "
    "average_distance distance_histogram node_symmetric num_vcs deadlock_free "
    "edge_symmetric connectivity bisection cr cr_w",
    "neighbors 'rdn(cube(2), 1)' 3": "node neighbors ports",
    "route 'rdn(cube(2), 1)' 0 31": "hops nodes ports vcs",
    "route 'rdn(cube(2), 1)' 0 31 --algorithm paper": "hops nodes ports vcs",
    "route 'rdn(cube(2), 1)' 0 1.3/1.1 --modes O": "hops nodes ports vcs",
    "paths 'rdn(cube(2), 1)' 0 1.3/1.1": "paths count max_hops total_hops algorithm bound disjoint modes "
    "max_waypoints waypoints",
    "paths 'hdn(cube(3), [[2]])' 0 7 --algorithm flow": "paths count max_hops",
    "paths 'mesh(3, 3)' 0 8": "paths count max_hops",
    "routing 'rdn(cube(2), 1)'": "pairs max_hops mean_hops mean_stretch worst_stretch nonminimal_fraction cdg_channels "
    "cdg_edges cdg_acyclic num_vcs max_channel_load saturation_bound",
    "routing 'torus(4, 4)' --lanes 2": "lanes num_vcs cdg_acyclic",
    "simulate 'cube(3)' --cycles 200 --packet-length 1": "offered_rate accepted_rate injected delivered packet_latency "
    "mean_hops cycles router_cycles_per_second network_latency saturated steady warmup fairness confidence_95",
    "simulate 'cube(3)' --cycles 200 --lengths 'mix(1, 0.8, 9, 0.2)'": "lengths packets payload_share injected",
    "exchange 'rdn(cube(2), 1)'": "delivered startups words lower_bound_words words_per_step paper_formula_words",
    "exchange 'rdn(cube(2), 1)' --schedule paper --on model": "delivered startups words cycles cycles_per_step",
    "exchange 'cube(3)' --schedule network": "delivered startups words lower_bound_words words_per_step "
    "paper_formula_words cycles lower_bound_cycles flow_bound_words flow_bound_cycles",
    "collective 'mesh(3, 2)' --op broadcast --root 4": "delivered startups words lower_bound_words words_per_step "
    "paper_formula_words root",
    "collective 'dualcube(3)' --op scatter --ports all": "delivered startups words lower_bound_words words_per_step",
    "collective 'ghc(3, 4)' --op allgather --words 3 --startup-time 2": "delivered startups words words_per_step time",
    "collective 'hsn(2, cube(2))' --op allgather": "delivered startups words lower_bound_words words_per_step",
    "emulate 'hsn(2, cube(2))' --all-port": "guest ways steps published_steps lower_bound_steps delivered data",
    "emulate 'hsn(2, cube(2))' --step 2.dim1": "link steps published_steps delivered hops_per_step",
    "emulate 'hsn(2, cube(2))' --run descend": "dimension_steps exchange_steps published_exchange_steps verified",
    "info 'hsn(2, cube(2))'": "spec nodes edges diameter diameter_formula nested num_vcs deadlock_free",
    "route 'hsn(3, cube(2))' 0 1.1/0.1/1.0": "hops nodes ports vcs",
    "routing 'ccc(3)'": "pairs max_hops mean_stretch worst_stretch cdg_acyclic num_vcs saturation_bound",
    "simulate 'star(3)' --cycles 200 --packet-length 1": "accepted_rate injected delivered mean_hops",
    "simulate 'petersen()' --pattern exchange --packet-length 1": "injected delivered complete",
    "exchange 'hcn(1)' --schedule network": "delivered words lower_bound_words cycles lower_bound_cycles",
    "faults 'cube(3)' --rate 0.2 --trials 2 --workers 1": "dead_nodes trials connected reached reached_two_way",
    "emit 'complete(2)' -o out --packet-length 1": "files routers router_modules num_vcs flit_width crossbar",
}
COMMANDS = [
    "collective",
    "compare",
    "cosim",
    "demo",
    "design",
    "emit",
    "emulate",
    "exchange",
    "faults",
    "info",
    "neighbors",
    "papers",
    "paths",
    "picture",
    "route",
    "routing",
    "simulate",
    "sweep",
    "synth",
]
WRONG = {
    "no command": "",
    "unknown command": "draw 'cube(3)'",
    "no spec": "info",
    "unknown network": "info 'klein(3)'",
    "unclosed spec": "info 'rdn(cube(3), 1'",
    "empty spec": "info ''",
    "path in a dual-net": "info 'rdn(mesh(3), 1)'",
    "code in a spec": "info '__import__(\"os\").getcwd()'",
    "two lines of spec": "info 'cube(3)\ncube(4)'",
    "unknown option": "info 'cube(3)' --exact",
    "abbreviated option": "info 'cube(3)' --js",
    "one argument too many": "info 'cube(3)' 1",
    "node out of range": "neighbors 'cube(3)' 8",
    "negative node": "neighbors 'cube(3)' -1",
    "not a node": "neighbors 'cube(3)' first",
    "not an address": "neighbors 'rdn(cube(2), 1)' 2.0/0.0",
    "no node": "neighbors 'cube(3)'",
    "no destination": "route 'cube(3)' 0",
    "destination out of range": "route 'cube(3)' 0 8",
    "unknown algorithm": "route 'cube(3)' 0 1 --algorithm bfs",
    "modes for the paper": "route 'rdn(cube(2), 1)' 0 1 --algorithm paper --modes f",
    "lanes for the paper": "route 'rdn(cube(2), 1)' 0 1 --algorithm paper --lanes 2",
    "paths to itself": "paths 'rdn(cube(2), 1)' 5 5",
    "paths of the paper elsewhere": "paths 'cube(3)' 0 1 --algorithm paper",
    "paths by address elsewhere": "paths 'star(3)' 0 1 --algorithm address",
    "too large for a flow": "paths 'cube(25)' 0 1 --algorithm flow",
    "modes of paths without levels": "paths 'mesh(3, 3)' 0 8 --modes f",
    "three lanes for paths": "paths 'mesh(3, 3)' 0 8 --lanes 3",
    "modes of paths without a rule": "paths 'hsn(2, mesh(2, 6), top=4)' 0 8 --modes f",
    "three lanes": "routing 'cube(3)' --lanes 3",
    "unknown crossbar": "emit 'complete(2)' -o out --crossbar input",
    "unknown queueing": "simulate 'complete(2)' --queueing lifo",
    "error rate of another test": "cosim 'complete(2)' --test random --error-rate 0.1",
    "no error rate": "cosim 'complete(2)' --test errors --error-rate 0",
    "check bits with endpoints": "emit 'complete(2)' -o out --crc --endpoints axi-stream",
    "no lanes": "emit 'complete(2)' -o out --lanes 0",
    "unknown mode": "route 'rdn(cube(2), 1)' 0 1 --modes x",
    "too many modes": "routing 'rdn(cube(2), 1)' --modes ff",
    "too large to route": "routing 'cube(25)'",
    "unknown pattern": "simulate 'cube(3)' --pattern random",
    "pattern of another network": "simulate 'cube(3)' --pattern cluster",
    "pattern of another node": "simulate 'cube(3)' --pattern 'hotspot(0.1, 8)'",
    "unknown injection": "simulate 'cube(3)' --injection poisson",
    "unknown lengths": "simulate 'cube(3)' --lengths many",
    "no lengths": "simulate 'cube(3)' --lengths ''",
    "rate above 1": "simulate 'cube(3)' --rate 1.5",
    "no rate": "simulate 'cube(3)' --rate 0",
    "not a rate": "simulate 'cube(3)' --rate nan",
    "too few cycles": "simulate 'cube(3)' --cycles 5",
    "negative warm-up": "simulate 'cube(3)' --warmup -1",
    "all nodes dead": "faults 'cube(3)' --rate 1",
    "no trials": "faults 'cube(3)' --trials 0",
    "too many waypoints": "faults 'cube(3)' --waypoints 9",
    "unknown paper": "papers --paper HDM",
    "no folder for pages": "papers -o nowhere",
    "no workers for papers": "papers --workers 0",
    "negative seed": "simulate 'cube(3)' --seed -1",
    "no such trace": "simulate 'cube(3)' --trace nowhere",
    "folder as trace": "simulate 'cube(3)' --trace .",
    "trace and a rate": "simulate 'cube(3)' --trace here --rate 0.1",
    "trace and a pattern": "simulate 'cube(3)' --trace here --pattern exchange",
    "exchange and a rate": "simulate 'cube(3)' --pattern exchange --rate 0.1",
    "exchange of one": "simulate 'mesh(1)' --pattern exchange",
    "exchange in a sweep": "sweep 'cube(3)' --pattern exchange",
    "not a trace": "simulate 'cube(3)' --trace here",
    "channels in no table": "simulate 'cube(3)' --channels channels.txt",
    "channels in no folder": "simulate 'cube(3)' --channels none/channels.csv",
    "channels of a sweep": "sweep 'cube(3)' --rates 0.1 --channels",
    "no slot to count": "simulate 'cube(3)' --cycles 30 --packet-length 32 --channels",
    "no specs": "sweep",
    "not rates": "sweep 'cube(3)' --rates 0.1;0.2",
    "rates above 1": "sweep 'cube(3)' --rates 0.1,2",
    "no workers": "sweep 'cube(3)' --rates 0.1 --workers 0",
    "workers and a cluster": "sweep 'cube(3)' --rates 0.1 --workers 1 --cluster tcp://127.0.0.1:1",
    "no such plot": "sweep 'cube(3)' --rates 0.1 --plot curves.doc",
    "plot in no folder": "sweep 'cube(3)' --rates 0.1 --plot none/curves.svg",
    "no page": "sweep 'cube(3)' --rates 0.1 --html 'cube(4)'",
    "page in no folder": "sweep 'cube(3)' --rates 0.1 --html none/curves.html",
    "page below a file": "sweep 'cube(3)' --rates 0.1 --html here/curves.html",
    "not results": "sweep 'cube(3)' --rates 0.1 --results here",
    "one node": "simulate 'mesh(2)' --pattern tornado",
    "no directory": "emit 'complete(2)'",
    "file as directory": "emit 'complete(2)' -o here",
    "below a file": "emit 'complete(2)' -o here/out --packet-length 1",
    "narrow flits": "emit 'cube(3)' -o out --flit-width 2",
    "no number": "emit 'complete(2)' -o out --flit-width wide",
    "no flits": "emit 'complete(2)' -o out --packet-length 0",
    "long packets": "emit 'complete(2)' -o out --packet-length 257",
    "three buffers": "emit 'complete(2)' -o out --buffers 3",
    "bad name": "emit 'complete(2)' -o out --name 2nd",
    "too many routers": "emit 'cube(14)' -o out",
    "no room for a header": "emit 'complete(2)' -o out --packet-length 1 --endpoints axi-stream",
    "flits of no whole bytes": "emit 'complete(2)' -o out --flit-width 12 --endpoints axi-stream",
    "frame of no power of two": "emit 'complete(2)' -o out --endpoints axi-stream --max-frame 1000",
    "no user bits": "emit 'complete(2)' -o out --endpoints axi-stream --tuser-width 0",
    "unknown endpoints": "emit 'complete(2)' -o out --endpoints pcie",
    "frames without endpoints": "emit 'complete(2)' -o out --max-frame 512",
    "waypoints without relays": "emit 'complete(2)' -o out --waypoints 2",
    "waypoints to frames": "emit 'complete(2)' -o out --endpoints axi-stream --waypoints 2",
    "no waypoints": "emit 'complete(2)' -o out --endpoints relay --waypoints 0",
    "no room for waypoints": "emit 'cube(4)' -o out --endpoints relay --waypoints 8",
    "frames in a test without endpoints": "cosim 'complete(2)' --test hops --max-frame 512",
    "no frames": "cosim 'complete(2)' --test axi --frames 0",
    "axi under icarus": "cosim 'complete(2)' --test axi --simulator icarus",
    "no packets": "cosim 'complete(2)' --packets 0",
    "unknown simulator": "cosim 'complete(2)' --simulator spice",
    "unknown test": "cosim 'complete(2)' --test luck",
    "rate in a test without a load": "cosim 'complete(2)' --test random --rate 0.2",
    "pauses in no test alone": "cosim 'complete(2)' --source-gap 8",
    "a sink that never takes": "cosim 'complete(2)' --test load --sink-stall 256",
    "a load without packets": "cosim 'complete(2)' --test load --rate 0.000001 --cycles 20",
    "a load of a dual-net": "cosim 'complete(2)' --test load --pattern cluster",
    "modes without levels": "routing 'hsn(2, cube(2))' --modes f",
    "Algorithm 1 without levels": "route 'hsn(2, cube(2))' 0 3 --algorithm paper",
    "schedule over a nucleus that is no product": "exchange 'hfn(2)'",
    "collective of no dual-net": "collective 'star(3)' --op broadcast",
    "classes of no dual-net": "simulate 'ccc(3)' --pattern inter_class",
    "picture of too many": "picture 'cube(11)' -o cube.svg",
    "no table-free rule": "routing 'hsn(2, mesh(2, 6), top=4)'",
    "no proof": "emit 'hsn(4, cube(4))' -o out",
    "no seeds": "synth 'complete(2)' --seeds 0",
    "unknown family": "synth 'complete(2)' --family xc7",
    "address not in the network": "synth 'complete(2)' --address 2",
    "address of a fabric": "synth 'complete(2)' --unit fabric --address 0",
}


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
    shown = dict(row.split(None, 1) if " " in row.strip() else (row.strip(), "") for row in out.splitlines())
    assert list(shown) == list(result)
    for key, value in result.items():
        if key not in {"seconds", "router_cycles_per_second"}:
            assert shown[key].strip() == (value if isinstance(value, str) else json.dumps(value))


def test_a_trace_is_the_same_in_text_and_parquet(run):
    columns = {"cycle": [0, 3, 3], "source": [0, 7, 7], "destination": [7, 0, 1], "flits": [1, 20, 3]}
    Path("trace.txt").write_text("".join(f"{' '.join(map(str, row))}\n" for row in zip(*columns.values(), strict=True)))
    parquet.write_table(pyarrow.table(columns), "trace.parquet")
    text, table = (result_of(run, f"simulate 'cube(3)' --trace trace.{form}") for form in ("txt", "parquet"))
    assert (text["format"], table["format"]) == ("text", "parquet")
    assert (text["injected"], text["packets"], text["delivered"], text["complete"]) == (3, 5, 3, True)
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
    assert [(row["spec"], row["saturation_rate"]) for row in result["saturation"]] == [
        ("complete(2)", 0.2),
        ("complete(3)", 0.2),
    ]
    assert [(row["spec"], row["rate"]) for row in result["points"]] == [
        (f"complete({size})", rate) for size in (2, 3) for rate in (0.1, 0.2)
    ]
    status, out, err = run(line)
    assert (status, err) == (0, "")
    assert len(out.splitlines()) == 1 + 3 + 1 + 5


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
    made = plan(parse("torus(5)"))
    rule = replace(made.rule, vc=(made.rule.circuit.constant(0),), num_vcs=(1, 1))
    broken = FabricModel(replace(made, rule=rule, num_vcs=(1, 1)), packet_length=1, buffers=1)
    monkeypatch.setattr("hdnhw.model.sweep.model_of", lambda _: broken)
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
        "neighbors": [41, 73, 76, 79],
        "ports": {"dim0": 73, "dim1": 79, "dim2": 76, "cross1": 41},
    }


@pytest.mark.parametrize("algorithm", ["hop", "paper"])
def test_route_follows_its_ports(run, algorithm):
    result = result_of(run, f"route 'rdn(cube(3), 1)' 0 1.1/1.0.1 --algorithm {algorithm}")
    network, nodes = build(parse("rdn(cube(3), 1)")), result["nodes"]
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
    monkeypatch.setattr("hdnhw.cli.network.STRUCTURE_LIMIT", 31)
    for spec, known in (("cube(5)", None), ("dualcube(3)", False)):
        result = result_of(run, f"info '{spec}'")
        assert (result["edge_symmetric"], result["connectivity"], result["bisection"]) == (known, None, None)
    monkeypatch.setattr("hdnhw.cli.network.PROFILE_LIMIT", 31)
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
    network = build(parse(instance["spec"]))
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
    datelines = any(factor.kind == "cycle" and factor.size >= 5 for factor in network.factors)
    assert result["num_vcs"] == 2 ** (levels + datelines)


def test_the_reference_is_whole():
    assert sum(one["n"] <= 2048 for one in INSTANCES) == 40
    assert sum(one["n"] <= 1024 and "routing_memoryless" in one for one in INSTANCES) == 23


def test_what_is_too_large_to_search_is_null(run, monkeypatch):
    monkeypatch.setattr("hdnhw.cli.network.SEARCH_LIMIT", 7)
    status, out, err = run("info 'cube(3)' --json")
    result = json.loads(out)
    assert (status, err) == (0, "cube(3) has more than 7 nodes: not searched\n")
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


def test_emit_writes_endpoints(run, tmp_path):
    sizes = "--packet-length 4 --max-frame 64 --tuser-width 3"
    result = result_of(run, f"emit 'complete(2)' -o out --name noc --endpoints axi-stream {sizes}")
    assert result["files"] == ["out/noc.sv", "out/noc_axi.sv", "out/noc.core", "out/manifest.json"]
    endpoints = json.loads((tmp_path / "out/manifest.json").read_text())["endpoints"]
    assert (endpoints["top"], endpoints["max_frame"], endpoints["tuser_width"]) == ("noc_axi", 64, 3)


def test_emit_writes_relays(run, tmp_path):
    sizes = "--flit-width 24 --packet-length 1 --dead-pins --waypoints 2 --slots 1 --timeout 512"
    result = result_of(run, f"emit 'complete(2)' -o out --name noc --endpoints relay {sizes}")
    assert result["files"] == ["out/noc.sv", "out/noc_relay.sv", "out/noc.core", "out/manifest.json"]
    endpoints = json.loads((tmp_path / "out/manifest.json").read_text())["endpoints"]
    assert (endpoints["type"], endpoints["top"]) == ("relay", "noc_relay")
    assert (endpoints["waypoints"], endpoints["slots"], endpoints["timeout"]) == (2, 1, 512)


@pytest.mark.parametrize("json_option", ["", "--json"])
@pytest.mark.parametrize("line", WRONG.values(), ids=WRONG)
def test_wrong_input_is_one_line_and_leaves_nothing(run, tmp_path, line, json_option):
    (tmp_path / "here").write_text("mine")
    status, out, err = run(f"{line} {json_option}")
    assert (status, out) == (2, "")
    assert err.startswith("hdnhw")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert len(err.split(": ", 1)[1]) > 5
    assert {path.name: path.read_text() for path in tmp_path.rglob("*")} == {"here": "mine"}


@pytest.mark.parametrize("option", ["--html folder.html", "--html none/c.html", "--plot folder.svg"])
def test_a_page_is_refused_before_the_work(run, tmp_path, monkeypatch, option):
    monkeypatch.setattr("hdnhw.model.sweep.Sweep", None)
    for name in ("folder.html", "folder.svg"):
        (tmp_path / name).mkdir()
    status, out, err = run(f"sweep 'cube(2)' {option}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"hdnhw: {'page' if 'html' in option else 'plot'} must be ")


def test_a_file_is_refused_before_the_work(run, tmp_path, monkeypatch):
    monkeypatch.setattr("hdnhw.emit.fabric.emit_fabric", None)
    (tmp_path / "here").write_text("mine")
    assert run("emit 'complete(2)' -o here") == (2, "", "hdnhw: output must be a directory, not the file here\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(run, command):
    status, out, err = run(f"{command} --help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: hdnhw {command} ")
    _, example = " ".join(out.split()).split("example: ")
    assert example.startswith(f"hdnhw {command}")
    if command in ("info", "neighbors", "route", "routing"):
        result_of(run, example.removeprefix("hdnhw "))


def test_help_names_every_command(run):
    status, out, err = run("--help")
    assert (status, err) == (0, "")
    assert {line.split()[0] for line in out.splitlines() if line.startswith("    ")} >= set(COMMANDS)


def test_a_fault_of_the_program_is_not_bad_input(run, monkeypatch):
    class OtherError(ValueError):
        pass

    def fail(_):
        raise OtherError

    monkeypatch.setattr("hdnhw.cli.network.build", fail)
    with pytest.raises(OtherError):
        run("info 'cube(3)'")


def test_an_interrupt_is_one_line(run, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("hdnhw.cli.network.build", interrupt)
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
    status, out, err = run("paths 'hsn(2, mesh(2, 6), top=4)' 0 40 --json")
    found = json.loads(out)
    assert (status, found["modes"], found["waypoints"], found["max_waypoints"]) == (0, None, None, None)
    assert found["disjoint"]
    assert err.startswith("no table-free routing rule is known for hsn(2, mesh(2, 6), top=4)")


def test_paths_that_no_waypoints_lead_along(run):
    found = json.loads(run("paths 'hsn(3, cube(2), diameter_links=True)' 0 9 --json")[1])
    assert found["waypoints"].count(None) == 2
    assert found["max_waypoints"] is None
