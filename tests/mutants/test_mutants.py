"""Mutants of emitted Verilog: one change each, number 0 is none, benches kill bad ones, and the list is kept true."""

import re
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from hdnhw.verilog.fabric import emit_fabric
from tests.mutants import check, designs, equivalence, schemata, trials
from tests.specs import fabric_spec

TEXT = r"""
module part(a, b, clk, rst, o, q);
  input [1:0] a;
  input b;
  input clk;
  input rst;
  output o;
  output [1:0] q;
  wire \x.y ;
  wire z;
  reg [1:0] \s.t  = 2'h1;
  reg [1:0] \s.t.next ;
  initial begin
    \m [0] = 2'h0;
  end
  always @(posedge clk)
    \s.t  <= \s.t.next ;
  assign \x.y  = a[0] & b;
  assign z = | a;
  assign q = \s.t ;
  assign o = \x.y  ? z : 1'h0;
  always_comb begin
    \s.t.next  = { a[0], b };
    if (rst) begin
      \s.t.next  = 2'h1;
    end
  end
endmodule
module top(a, b, clk, rst, o, q);
  input [1:0] a;
  input b;
  input clk;
  input rst;
  output o;
  output [1:0] q;
  part one (
    .a(a),
    .b(b),
    .clk(clk),
    .o(o),
    .q(q),
    .rst(rst)
  );
endmodule
"""
"""What hdnhw emits, in short."""


def fabric_on(network, **options):
    return emit_fabric(fabric_spec(network, **options))


@pytest.fixture(scope="module")
def small():
    """Return a fabric of two routers, and its text."""
    return fabric_on("cube(1)", packet_length=4)


def changed(mutant):
    return f"{mutant.before}{mutant.mutated}{mutant.behind}"


def test_mutants_of_a_short_text():
    mutants = schemata.all_mutants(TEXT, ["part"])
    assert [one.number for one in mutants] == list(range(1, 14))
    assert [one.key for one in mutants] == [
        "part: x.y = a[0] & b: | for &",
        "part: x.y = a[0] & b: left alone",
        "part: x.y = a[0] & b: right alone",
        "part: z = | a: & for |",
        "part: z = | a: lowest left out",
        "part: o = x.y ? z : 1'h0: exchanged",
        "part: o = x.y ? z : 1'h0: first always",
        "part: o = x.y ? z : 1'h0: second always",
        "part: o = x.y ? z : 1'h0: constant 1",
        "part: s.t.next = { a[0], b }: rotated",
        "part: if (rst) s.t.next = 2'h1: never",
        "part: if (rst) s.t.next = 2'h1: always",
        "part: s.t.next = 2'h1: constant 1",
    ]


@pytest.mark.parametrize(
    "options",
    [{}, {"queueing": "voq"}, {"crc": True, "dead_pins": True}, {"switching": "cut-through", "packet_length": 8}],
)
def test_each_mutant_is_one_change_and_has_a_name_of_its_own(options):
    fabric = fabric_on("cube(2)", **{"packet_length": 4, **options})
    lines, mutants = fabric.files["fabric.sv"].split("\n"), designs.mutants_of(fabric)
    assert len(mutants) > 1000
    assert max(Counter(one.key for one in mutants).values()) == 1
    for one in mutants:
        assert lines[one.line] == f"{one.before}{one.expression}{one.behind}" != changed(one)
    assert max(Counter((one.line, changed(one)) for one in mutants).values()) == 1


def test_a_line_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match=re.escape("form that hdnhw emits, not 'a ** b'")):
        schemata.all_mutants(TEXT.replace("a[0] & b", "a ** b"), ["part"])


def test_number_0_is_the_original_and_others_are_their_change():
    """Of both forms: what is chosen is what stands there, in front of all that is not."""
    mutants = schemata.all_mutants(TEXT, ["part"])
    for bits, chosen in ((False, "mutant == 4'd2"), (True, "mutant[2]")):
        text = schemata.with_mutants(TEXT, mutants, bits=bits)
        assert f"({chosen} ? (a[0]) : " in text
        assert ".mutant(mutant)," in text
    assert '$value$plusargs("mutant=%d", mutant)' in schemata.with_mutants(TEXT, mutants)


def test_equivalent_mutants_are_those_that_compute_the_same():
    text = TEXT.replace("{ a[0], b }", "{ z, z }").replace("z : 1'h0", "b : 1'h0")
    mutants = schemata.all_mutants(text, ["part"])
    equal = equivalence.equivalent_mutants(text, mutants)
    assert {one.key for one in mutants if one.number in equal} == {
        "part: x.y = a[0] & b: left alone",
        "part: s.t.next = { z, z }: rotated",
    }


def test_benches_kill_what_is_bad_and_leave_the_original():
    """The original must pass all cases before any mutant is looked at."""
    fabric = fabric_on("cube(1)", packet_length=4)
    keys = {
        "equivalent": r"fabric_ejection: xor_\d+ = write_slot\[1\] \^ \w+: left alone",
        "hops": r"fabric_ejection: if \(do_take\) flits_read_addr.next = { ahead_slot, ahead_flit }: never",
        "reset": r"fabric_ejection: if \(rst\) packets.next = 2'h0: never",
    }
    mutants = {
        word: next(one for one in designs.mutants_of(fabric) if re.fullmatch(key, one.key))
        for word, key in keys.items()
    }
    design = designs.Design(fabric.machine.spec)
    outcome = check.check_design(design, fabric, sorted(mutants.values(), key=lambda one: one.number))
    assert outcome.equivalent == {mutants["equivalent"].number}
    assert outcome.killed[mutants["hops"].number] == "hops"
    assert "reset in slot" in outcome.killed[mutants["reset"].number]


def outcome_of(mutants, *, equivalent=(), killed=()):
    return check.Outcome(tuple(mutants), frozenset(equivalent), dict.fromkeys(killed, "hops"))


def burn(in_child):
    with trials._within(1):
        if in_child:
            return subprocess.run([sys.executable, "-c", "while True: pass"], check=False).returncode
        while True:
            pass


def test_a_run_that_takes_too_much_cpu_time_is_given_up():
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        assert pool.submit(burn, True).result() == -signal.SIGXCPU
        with pytest.raises(TimeoutError):
            pool.submit(burn, False).result()


def test_survivors_that_are_not_listed_and_listed_ones_that_are_none_are_told(small):
    mutants = designs.mutants_of(small)[:5]
    first, second, third, fourth, fifth = keys = [one.key for one in mutants]
    outcome = outcome_of(mutants, equivalent=[1], killed=[2])
    assert outcome.survivors == [third, fourth, fifth]
    assert check.compare(outcome, [third, fourth, fifth], keys) == ([], [])
    assert check.compare(outcome, [third, fifth], keys) == ([fourth], [])
    assert check.compare(outcome, [*keys, "gone"], keys) == ([], [first, second, "gone"])
    never = check.Outcome(outcome.mutants, outcome.equivalent, outcome.killed, frozenset([3]))
    assert check.compare(never, [fifth], keys) == ([fourth], [])
    assert check.compare(never, [third, fourth, fifth], keys) == ([], [])
    few = outcome_of(mutants[:3], equivalent=[1], killed=[2])
    assert check.compare(few, [third, fourth], keys) == ([], [])


def test_hosts_that_do_not_wait_kill_engines_that_do_not_either():
    """One begins an operation while another runs, one takes its own flits then; and one never differs in a run."""
    design = check.KNOWN["registers"]
    fabric = emit_fabric(design.spec)
    keys = (
        r"\w+: if \(stepper\.operation__ready\) if \(\S+\) stepper\.at_start\.next = 1'h1: always",
        r"\w+: vectors\.i__ready = vectors\.and_\d+ & vectors\.all_\d+: right alone",
        r"\w+: if \(stepper\.at_start\) stepper\.operation__ready\.next = 1'h0: never",
    )
    mutants = [next(one for one in designs.mutants_of(fabric) if re.fullmatch(key, one.key)) for key in keys]
    outcome = check.check_design(design, fabric, sorted(mutants, key=lambda one: one.number))
    assert {outcome.killed[one.number] for one in mutants[:2]} == {"operations, back to back"}
    assert outcome.never == {mutants[2].number}


def test_benches_of_endpoints_kill_what_is_bad_and_leave_the_original():
    """One that begins by itself, one that does not stay at its end, and one that does not see what is wrong."""
    design = designs.DESIGNS["exchange"]
    fabric = emit_fabric(design.spec)
    keys = {
        r"fabric_exchange_control: launch = start & \w+: right alone": "two exchanges",
        r"fabric_exchange_control: if \(launch\) done\.next = 1'h0: negated": "two exchanges",
        r"fabric_exchange_generator: sum_\d+ = wrong \+ \w+: left alone": "exchanges, flits turned over",
    }
    mutants = [next(one for one in designs.mutants_of(fabric) if re.fullmatch(key, one.key)) for key in keys]
    outcome = check.check_design(design, fabric, sorted(mutants, key=lambda one: one.number))
    numbers = [one.number for one in mutants]
    assert outcome.killed == dict(zip(numbers, keys.values(), strict=True))


def test_mutants_are_drawn_by_what_they_are_and_not_by_where_they_stand(small):
    mutants = designs.mutants_of(small)
    drawn = check.draw(mutants, 1, 50)
    assert len(drawn) == 50
    assert {one.key for one in drawn} - {one.key for one in check.draw(mutants[100:], 1, 50)} <= {
        one.key for one in mutants[:100]
    }
    assert check.draw(mutants, 2, 50) != drawn
    assert check.draw(mutants, 1, None) == list(mutants)


def test_a_design_leaves_out_what_another_has():
    names = {one.key for one in check.all_of(designs.DESIGNS["dead-pins"])}
    assert len(names) > 500
    assert not names & {one.key for one in check.all_of(designs.DESIGNS["default"])}


@pytest.mark.parametrize("design", check.KNOWN)
def test_known_survivors_are_mutants_and_have_reasons(design):
    known = check.read_survivors().get(design, {})
    assert known.keys() <= {one.key for one in check.all_of(check.KNOWN[design])}
    assert all(reason.strip() for reason in known.values())


def test_the_command_fails_for_a_survivor_and_for_a_stale_one(small, monkeypatch, capsys):
    mutants = designs.mutants_of(small)
    for name in ("FIRST", "KNOWN"):
        monkeypatch.setattr(check, name, {"small": designs.Design(small.machine.spec)})
    killed = range(2, len(mutants) + 1)
    monkeypatch.setattr(check, "check_design", lambda _design, _fabric, chosen: outcome_of(chosen, killed=killed))
    monkeypatch.setattr(check, "read_survivors", lambda: {"small": {mutants[0].key: "is harmless"}})
    assert check.main([]) == 0
    monkeypatch.setattr(check, "read_survivors", lambda: {})
    assert check.main([]) == 1
    assert f"survives, and is not listed: {mutants[0].key}" in capsys.readouterr().out
    monkeypatch.setattr(check, "read_survivors", lambda: {"small": {one.key: "is harmless" for one in mutants[:2]}})
    assert check.main([]) == 1
    assert f"is listed, and does not survive: {mutants[1].key}" in capsys.readouterr().out
    monkeypatch.setattr(
        check,
        "check_design",
        lambda _design, _fabric, chosen: outcome_of(chosen, killed=[one.number for one in chosen]),
    )
    monkeypatch.setattr(check, "read_survivors", lambda: {})
    assert check.main(["--count", "7", "--seed", "3"]) == 0
    assert "mutants         7" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--count", "0"], "count at least 1, not 1 and 0"),
        (["none"], "design must be among default, voq, crc,"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(line, said, capsys):
    with pytest.raises(SystemExit, match="2"):
        check.main(line)
    assert said in capsys.readouterr().err
