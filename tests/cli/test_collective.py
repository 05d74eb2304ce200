"""The commands of collective operations: what their figures have to do with each other."""

import json
from pathlib import Path

import pytest

from hdnhw.cli import main


def test_words_multiply_and_the_time_is_that_of_the_cost_model(result_of):
    line = "exchange 'hdn(cube(2), [[], [0]])' --schedule paper --split sum"
    once, many = result_of(line), result_of(f"{line} --words 5 --startup-time 100 --word-time 0.5")
    assert many["startups"] == once["startups"] == 14
    for name in ("words", "lower_bound_words", "total_words", "paper_formula_words", "corrected_formula_words"):
        assert many[name] == 5 * once[name]
    assert many["time"] == 100 * many["startups"] + many["words"] / 2
    assert many["cost"] == f"14 t_s + {many['words']} t_w"


def test_the_corrected_formula_is_that_of_the_split(result_of):
    line = "exchange 'hdn(cube(2), [[0]])' --schedule paper --split"
    evenly, by_destination = result_of(f"{line} sum"), result_of(f"{line} destination")
    assert evenly["words"] == evenly["corrected_formula_words"] == 56
    assert by_destination["words"] == by_destination["paper_formula_words"] == 48
    assert by_destination["corrected_formula_words"] is None
    assert result_of("exchange 'rdn(cube(2), 1)' --schedule paper")["corrected_formula_words"] == 112


def test_a_row_for_each_step(result_of):
    result = result_of("exchange 'rdn(cube(2), 1)' --steps --on model --words 16 --buffers 4")
    assert [row["stage"] for row in result["steps"]] == ["dim0", "dim1", "cross1"] * 2
    assert [row["words"] for row in result["steps"]] == result["words_per_step"]
    assert [row["cycles"] for row in result["steps"]] == result["cycles_per_step"]
    assert sum(row["total_words"] for row in result["steps"]) == result["total_words"]
    (startup,) = {row["cycles"] - row["words"] for row in result["steps"]}
    assert result["cycles"] == startup * result["startups"] + result["words"]


def test_with_all_ports_fewer_words_are_needed(result_of):
    one, every = (result_of(f"exchange 'torus(5, 5)' --ports {ports}") for ports in ("one", "all"))
    assert one["total_words"] == every["total_words"]
    assert every["lower_bound_words"] <= every["words"] < one["words"]
    assert every["startups"] < one["startups"]
    assert "flow_bound_words" not in one
    assert every["lower_bound_words"] <= every["flow_bound_words"] <= every["words"]


def test_the_flow_bound_is_null_where_the_program_is_too_large(result_of, monkeypatch):
    assert result_of("exchange 'mesh(2, 3)' --ports all --words 2")["flow_bound_words"] == 8
    monkeypatch.setattr("hdnhw.topology.flow.MOST_FLOWS", 20)
    assert result_of("exchange 'mesh(2, 3)' --ports all --words 2")["flow_bound_words"] is None
    result = result_of("exchange 'mesh(2, 3)' --schedule network")
    assert (result["flow_bound_words"], result["flow_bound_cycles"]) == (None, None)


def test_links_of_a_broadcast_are_a_tree(result_of):
    result = result_of("collective 'rdn(cube(2), 1)' --op broadcast --root 1.3/0.1")
    assert (result["root"], result["links_used"], result["links"], result["messages"]) == (29, 31, 48, 32)


def test_all_gather_as_printed_sends_more(result_of):
    least, printed = (result_of(f"collective 'rdn(cube(3), 1)' --op allgather {how}") for how in ("", "--as-printed"))
    assert (least["words"], printed["words"]) == (127, 135)


def test_a_multicast_costs_no_more_than_a_broadcast(result_of):
    some = result_of("collective 'rdn(cube(2), 1)' --op multicast --root 3 --targets 0 1.3/0.1 17 --words 4")
    every = result_of("collective 'rdn(cube(2), 1)' --op broadcast --root 3 --words 4")
    assert (some["messages"], some["targets"]) == (3, 3)
    assert some["lower_bound_words"] <= some["words"] <= every["words"]
    assert some["links_used"] * 4 == some["total_words"]


def test_unequal_messages_are_those_of_a_trace(result_of):
    Path("some.trace").write_text("0 0 7 5\n3 0 7 2\n4 2 1 9\n", encoding="utf-8")
    traced = result_of("exchange 'cube(3)' --trace some.trace")
    assert (traced["messages"], traced["total_words"], traced["most_message_words"]) == (2, 3 * 7 + 2 * 9, 9)
    assert traced["lower_bound_words"] == 9
    drawn = result_of("exchange 'cube(3)' --message-sizes 'uniform(1, 9)'")
    assert drawn["words"] >= drawn["lower_bound_words"] > 0
    again, other = (result_of(f"exchange 'cube(3)' --message-sizes 'uniform(1, 9)' --seed {seed}") for seed in (1, 2))
    assert again["words_per_step"] == drawn["words_per_step"] != other["words_per_step"]
    same, equal = result_of("exchange 'cube(3)' --message-sizes 3"), result_of("exchange 'cube(3)' --words 3")
    assert (same["words"], same["lower_bound_words"]) == (equal["words"], equal["lower_bound_words"])


def test_an_allreduce_takes_the_faster_way(result_of):
    short, long = (result_of(f"collective 'rdn(cube(3), 1)' --op allreduce --words {words}") for words in (8, 1024))
    assert [short[name] for name in ("algorithm", "startups", "words", "delivered")] == ["short", 8, 64, True]
    assert [long[name] for name in ("algorithm", "startups", "words", "wrong")] == ["long", 16, 2 * 127 * 8, 0]
    assert long["words"] == long["lower_bound_words"]
    slow = result_of("collective 'rdn(cube(3), 1)' --op allreduce --words 1024 --startup-time 1000 --word-time 0.1")
    assert slow["algorithm"] == "short"


def test_gather_and_reduce_have_a_root(result_of):
    for op, words in (("gather", 31), ("reduce", 6)):
        result = result_of(f"collective 'rdn(cube(2), 1)' --op {op} --root 1.3/0.1")
        assert (result["root"], result["words"], result["delivered"]) == (29, words, True)


def test_vectors_of_scans_and_reduce_scatters_on_the_model(result_of):
    scan = result_of(
        "collective 'dualcube(2)' --op exscan --words 8 --operator max --numbers uint16 --on model --buffers 8"
    )
    assert (scan["cycles"], scan["wrong"], scan["vector_words"]) == (4 * 35, 0, 8)
    scattered = result_of("collective 'cube(3)' --op reducescatter --words 8 --on model --buffers 8")
    assert scattered["cycles"] == 3 * 27 + scattered["words"]


def test_network_beside_its_order_at_once(result_of):
    timed, at_once = (
        result_of(f"exchange 'cube(4)' --schedule network --buffers 8 {how}") for how in ("", "--at-once")
    )
    assert timed["delivered"]
    assert at_once["delivered"]
    assert timed["lower_bound_cycles"] == at_once["lower_bound_cycles"] == timed["flow_bound_cycles"] == 8 * 15
    assert timed["lower_bound_cycles"] < timed["cycles"] <= at_once["cycles"]


@pytest.mark.parametrize(("text", "diameter"), [("star(4)", 4), ("rdn(cube(2), 1)", 6)])
def test_a_barrier_takes_the_diameter_and_a_cycle(result_of, text, diameter):
    found = result_of(f"collective '{text}' --op barrier")
    assert (found["rounds"], found["lower_bound_cycles"], found["cycles"]) == (diameter, diameter, diameter + 1)


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_picture_is_the_same_twice(result_of, suffix):
    made = []
    for _ in range(2):
        result_of(f"collective 'torus(5)' --op broadcast --plot picture.{suffix}")
        made.append(Path(f"picture.{suffix}").read_bytes())
    one, other = made
    assert one == other
    if suffix == "svg":
        assert b"broadcast on torus(5): 3 start-ups, 3 words" in one


def test_engines_and_generators_in_the_verilog(result_of):
    steps = result_of("exchange 'hdn(cube(1), [[0]])' --on rtl")
    assert (steps["delivered"], steps["message_words"]) == (True, 8)
    assert steps["cost_cycles"] == steps["startups"] * steps["startup_cycles"] + steps["words"]
    assert not steps["lost"] + steps["wrong"] + steps["send_mismatches"]
    swapped = result_of("collective 'hcn(1)' --op allgather --on rtl")
    assert swapped["delivered"]
    assert not swapped["lost"] + swapped["wrong"] + swapped["send_mismatches"]
    combined = result_of("collective 'cube(1)' --op allreduce --operator max --numbers int8 --on rtl")
    assert (combined["delivered"], combined["vector_words"], combined["algorithm"]) == (True, 16, "long")
    assert not combined["lost"] + combined["wrong"] + combined["send_mismatches"]
    assert combined["cost_cycles"] == combined["startups"] * combined["startup_cycles"] + combined["words"]
    routed = result_of("exchange 'complete(3)' --schedule network --on rtl")
    assert routed["delivered"]
    assert routed["cycles"] == routed["cycles_again"] == routed["model_cycles"]


@pytest.mark.parametrize(
    ("asked", "operation", "operators"),
    [
        ("--op scan", "scan", ("sum",)),
        ("--op exscan --operator max", "exscan", ("max",)),
        ("--op allreduce --algorithm short --operator xor", "allreduce-short", ("xor",)),
        ("--op allreduce", "allreduce", ("sum",)),
        ("--op allreduce --message-packets 3", "allreduce", ("sum",)),
        ("--op allreduce --words 96", "allreduce", ("sum",)),
        ("--op reducescatter --words 24 --message-packets 3", "reducescatter", ("sum",)),
    ],
)
def test_engines_are_asked_for_what_the_user_asks_for(monkeypatch, capsys, asked, operation, operators):
    built = []

    class Bench:
        def measure(self, name, **_):
            return {"delivered": True, "operation": name, "cycles": 64, "packet_length": 8, "data_flits": 7}

    monkeypatch.setattr(
        "hdnhw.library.collectives.schedules.bench_of", lambda _, engines: built.append(engines) or Bench()
    )
    assert main(["collective", "cube(2)", *asked.split(), "--on", "rtl", "--numbers", "int16", "--json"]) == 0
    result, (engines,) = json.loads(capsys.readouterr().out), built
    assert result["operation"] == operation
    assert result["share"] == round(result["lower_bound_words"] / 64, 4)
    assert result["data_share"] == round(result["lower_bound_words"] / 64 * 7 / 8, 4)
    assert (engines.operations, engines.operators, engines.numbers) == ((operation,), operators, "int16")
    packets = 3 if "packets" in asked or "words" in asked else 1
    assert (engines.message_packets, result["message_words"]) == (packets, 8 * packets)
    if operation != "reducescatter":
        assert result["vector_words"] == (32 if operation == "allreduce" else 8) * packets


def test_engines_are_asked_for_unequal_messages(monkeypatch, capsys, tmp_path):
    built, moved = [], []

    class Bench:
        def measure(self, name, *, packets, **_):
            moved.append(packets)
            return {"delivered": True, "operation": name, "cycles": 640, "packet_length": 4, "data_flits": 3}

    place = "hdnhw.library.collectives.schedules.bench_of"
    monkeypatch.setattr(place, lambda _, engines: built.append(engines) or Bench())
    trace = tmp_path / "trace.txt"
    trace.write_text("0 0 1 9\n0 2 3 4\n5 2 3 4\n0 3 0 1\n")
    asked = ["exchange", "cube(2)", "--trace", str(trace), "--on", "rtl", "--packet-length", "4", "--json"]
    assert main([*asked, "--schedule", "paper"]) == 0
    (engines,), (packets,) = built, moved
    assert (engines.operations, engines.order) == (("exchange",), "paper")
    assert (engines.message_packets, engines.variable_messages) == (3, True)
    assert packets.tolist() == [[0, 3, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2], [1, 0, 0, 0]]
    result = json.loads(capsys.readouterr().out)
    assert result["share"] == round(result["lower_bound_words"] / 640, 4)


def test_engines_let_the_targets_of_a_multicast_join(monkeypatch, capsys):
    built, groups = [], []

    class Bench:
        def measure_multicast(self, group, **_):
            groups.append(group)
            return {"delivered": True, "cycles": 64, "join_cycles": 65, "packet_length": 8, "data_flits": 7}

    place = "hdnhw.library.collectives.schedules.bench_of"
    monkeypatch.setattr(place, lambda _, engines: built.append(engines) or Bench())
    line = "collective rdn(cube(1),1) --op multicast --root 1.0/1 --targets 3 1.1/0 --on rtl --json"
    assert main(line.split()) == 0
    result, (engines,) = json.loads(capsys.readouterr().out), built
    assert (groups, engines.operations, engines.root) == ([(3, 6)], ("join", "multicast"), 5)
    assert (result["targets"], result["words"], result["join_cycles"]) == (2, result["nonempty_startups"] * 8, 65)


def test_engines_with_a_barrier_are_asked_for_it(monkeypatch, capsys):
    built = []

    class Bench:
        def measure_barriers(self, **_):
            return {"delivered": True, "barriers": 8}

    place = "hdnhw.library.collectives.barrier.bench_of"
    monkeypatch.setattr(place, lambda _, engines: built.append(engines) or Bench())
    assert main(["collective", "cube(2)", "--op", "barrier", "--on", "rtl", "--buffers", "8", "--json"]) == 0
    result, (engines,) = json.loads(capsys.readouterr().out), built
    assert (result["barriers"], result["rounds"], engines.operations) == (8, 2, ("broadcast", "barrier"))
