"""Proofs of delivery: emitted routers pass every packet on once and unchanged, and those with a changed gate do not."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from hdnhw.cli import main
from hdnhw.proofs import search
from hdnhw.proofs.delivery import prove_delivery, prove_waiting, unmodeled
from hdnhw.proofs.inputs import GaplessRig, InjectionRig
from hdnhw.proofs.switch import SwitchRig
from hdnhw.verilog.fabric import emit_fabric
from tests.proofs.changed import changed
from tests.specs import fabric_spec

SECONDS = 100.0
SMALL = "hdn(cube(1), [[]])"


@cache
def emitted(network=SMALL, **options):
    return emit_fabric(fabric_spec(network, **options))


def refuted(fabric, part):
    """Return the reason why a part is refuted, and the waveform that shows it."""
    (found,) = prove_delivery(fabric, seconds=SECONDS, parts=[part])
    assert found.answer == "refuted"
    return found.why, Path(found.trace).read_text()


def check_refuted(fabric, part, said):
    """Check why a part is refuted, and that it comes with a waveform."""
    why, trace = refuted(fabric, part)
    assert re.search(rf"{said}.*, in cycle \d+", why)
    assert "$enddefinitions" in trace


@pytest.mark.parametrize(
    ("network", "options"),
    [
        (SMALL, {"packet_length": 4}),
        (SMALL, {}),
        (SMALL, {"channel_latency": "2", "buffers": 2}),
        ("torus(4, 4)", {"packet_length": 4, "buffers": 2, "crossbar": "output"}),
        ("mesh(2, 2)", {"packet_length": 16}),
        ("rdn(torus(3), 1)", {}),
        ("torus(5)", {"lanes": 2, "ram": "distributed"}),
        ("hdn(cube(2), [[0]])", {"packet_length": 5, "flit_width": 16}),
        (SMALL, {"packet_length": 2}),
        ("torus(4, 4)", {"packet_length": 3, "gapless_packets": True}),
        (SMALL, {"gapless_packets": True}),
        ("rdn(torus(3), 1)", {"gapless_packets": True, "packet_length": 4}),
        (SMALL, {"queueing": "voq"}),
        ("torus(4, 4)", {"queueing": "voq"}),
        (SMALL, {"dead_pins": True}),
        ("rdn(torus(3), 1)", {"dead_pins": True, "packet_length": 4, "channel_latency": "1"}),
        (SMALL, {"dead_pins": True, "gapless_packets": True, "packet_length": 2}),
        (SMALL, {"crc": True}),
        (SMALL, {"crc": True, "packet_length": 2}),
        ("torus(4, 4)", {"crc": True, "dead_pins": True, "packet_length": 4}),
        ("rdn(torus(3), 1)", {"crc": True, "gapless_packets": True}),
        (SMALL, {"channel_latency": "dim0=9,cross1=5"}),
    ],
)
def test_what_is_emitted_is_proved(network, options):
    assert {(one.answer, one.why) for one in prove_delivery(emitted(network, **options), seconds=SECONDS)} == {
        ("proved", "")
    }


@pytest.mark.parametrize(
    ("pattern", "becomes", "part", "said"),
    [
        (  # flits are written into another packet's buffer
            r"(assign \\injection.net_\d+  =) (\\injection.write_slot );",
            r"\1 \2 ^ \\injection.position [1];",
            "queue of injection",
            "a packet leaves its buffer changed",
        ),
        (  # injection takes nothing in one phase of the slot
            r"(assign \\injection.inject__ready  = )",
            r"\1~\\injection.at [3] & ",
            "queue of injection",
            "injection takes nothing although it has room",
        ),
        (  # the crossbar joins the wrong input
            r"(\\allocator.idle_0.next  = \\allocator.next_idle_0 );",
            r"\\allocator.idle_0.next  = ~\\allocator.next_idle_0 ;",
            "switch",
            "",
        ),
        (  # the other virtual channel is read
            r"(assign \\dim0.queues__read_vc  =) (queues__read_vc);",
            r"\1 ~ \2;",
            "queue of dim0, virtual channel 0",
            "a packet leaves its buffer changed",
        ),
        (  # a credit for nothing
            r"(assign dim0_i__credit =) (\\\S+) ;",
            r"\1 ~\2 ;",
            "switch",
            "dim0 is told to send",
        ),
        (  # flits come out of the ejection buffer that have not come in yet
            r"(or_71 = )[^;]*;",
            r"\g<1>1'h1;",
            "ejection buffer",
            "a flit that is there is not offered, or one that is not",
        ),
        (  # the memory of the ejection buffer has half the room
            r"flits\[\{ write_slot\[0\], write_flit \}\] <= channel__data;",
            r"flits[{ 1'h0, write_flit }] <= channel__data;",
            "ejection buffer",
            "a flit comes out changed",
        ),
        (  # and here for none
            r"(assign and_122 = do_take) & is_tail",
            r"\1 & ~do_take",
            "ejection buffer",
            "a credit is given for another packet than is taken",
        ),
    ],
)
def test_a_change_is_refuted(pattern, becomes, part, said):
    check_refuted(changed(emitted(), pattern, becomes), part, said)


@pytest.mark.parametrize(
    ("pattern", "becomes"),
    [
        (r"(assign \\injection.sum_\d+  = \\injection.dropped  \+) 1'h1", r"\1 2'h2"),
        (r"(\\injection.dropped.next  = \\injection.)sum_\d+ \[15:0\]", r"\1dropped "),
    ],
)
def test_packets_to_nowhere_that_are_counted_wrongly_are_refuted(pattern, becomes):
    broken = changed(emitted("rdn(torus(3), 1)", packet_length=4), pattern, becomes)
    found = search.settle(InjectionRig(broken, 0, 0), seconds=SECONDS)
    assert found.answer == "refuted"
    assert found.why.startswith("dropped packets are counted wrongly")


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (r"(\\injection.inject__ready  = [^:]*:) \\injection.signal ", r"\1 1'h0", "injection stops within a packet"),
        (r"(\\injection.sum_\d+  = \\injection.paused  \+) 1'h1", r"\1 2'h2", "paused packets are counted wrongly"),
        (r"if \(\\injection.signature__en \)", "if (1'h0)", "a packet leaves its buffer changed"),
    ],
)
def test_gapless_packets_that_go_wrong_are_refuted(pattern, becomes, said):
    broken = changed(emitted(gapless_packets=True), pattern, becomes)
    found = search.settle(GaplessRig(broken, 0, 0), seconds=SECONDS)
    assert found.answer == "refuted"
    assert found.why.startswith(said)


def test_an_order_that_goes_round_in_a_circle_is_refuted():
    """Inputs 0, 1 and 2 of a router wait for each other once the first stays behind the last."""
    fabric = emitted("torus(4, 4)", packet_length=4)
    broken = changed(fabric, r"(reg \\allocator.order_0_2  = 1'h)1;", r"\g<1>0;")
    broken = changed(broken, r"(\\allocator.order_0_2 +<= )\\allocator.order_0_2.next ;", r"\g<1>1'h0;")
    found = search.settle(SwitchRig(broken, 0, 0), seconds=SECONDS)
    assert found.answer == "refuted"
    assert found.why.startswith("no packet leaves although one could")


@pytest.mark.parametrize(
    ("pattern", "becomes", "part", "said"),
    [
        (  # a packet does not wait for one before it that goes the same way
            r"(assign \\dim0.decisions_1.eq_38  = )[^;]*;",
            r"\g<1>1'h0;",
            "queue of dim0, virtual channel 1",
            "",
        ),
        (  # a packet comes into the buffer of another one
            r"(assign \\dim0.decisions_1.following.next  = )[^;]*;",
            r"\g<1>1'h0;",
            "queue of dim0, virtual channel 1",
            "a packet leaves its buffer changed",
        ),
        (  # another packet is forgotten than that which leaves
            r"(assign \\cross1.decisions_0.pop_slot  = )",
            r"\1~",
            "queue of cross1, virtual channel 0",
            "what is offered in the first round is not what is there",
        ),
        (  # an output grants in any phase
            r"(assign \\allocator.not_143  = )[^;]*;",
            r"\g<1>1'h0;",
            "switch",
            "told to send between the rounds",
        ),
        (  # an output grants in the second round although it is taken
            r"(assign \\allocator.or_\d+  = \\allocator.not_143 +)\|[^;]*;",
            r"\1;",
            "switch",
            "sends another packet than it should",
        ),
    ],
)
def test_a_changed_router_with_virtual_output_queues_is_refuted(pattern, becomes, part, said):
    check_refuted(changed(emitted(queueing="voq"), pattern, becomes), part, said)


@pytest.mark.parametrize(
    ("pattern", "becomes", "part", "said"),
    [
        (  # what goes to a dead channel stands on it
            r"(assign not_8 = )~ void_0;",
            r"\g<1>1'h1;",
            "switch",
            "dim0, virtual channel 0 sends another packet than it should",
        ),
        (  # both ends take in each other's pins
            r"(dead_to.next  = dead_)ahead;",
            r"\1behind;",
            "switch",
            "what is dead is taken in wrongly",
        ),
        (  # what comes over a dead channel joins the queue
            r"(assign \\dim0.not_21  = )~ \\dim0.ignored ;",
            r"\g<1>1'h1;",
            "queue of dim0, virtual channel 0",
            "",
        ),
        (  # a packet whose next channel is dead goes there
            r"(assign \\cross1.not_25  = ~ )\\cross1.dead ;",
            r"\g<1>2'h0;",
            "queue of cross1, virtual channel 0",
            "a packet is offered another way than its own",
        ),
        (  # and one from the terminal
            r"(injection.kept_dead.next  = )\\injection.dead ;",
            r"\g<1>2'h0;",
            "queue of injection",
            "a packet is offered another way than its own",
        ),
        (  # a packet for a dead channel waits for a credit
            r"(\\allocator.or_27  = \\allocator.credits_0_0_available )[^;]*;",
            r"\1;",
            "switch",
            "no packet leaves although one could",
        ),
        (  # lost packets are counted twice
            r"(assign sum_27 = lost \+ )1'h1;",
            r"\g<1>2'h2;",
            "switch",
            "lost counts a packet that is not",
        ),
        (  # or never
            r"(voids.next  = )mux_20;",
            r"\g<1>2'h0;",
            "switch",
            "lost does not count a packet that is",
        ),
    ],
)
def test_a_changed_router_with_dead_pins_is_refuted(pattern, becomes, part, said):
    check_refuted(changed(emitted(dead_pins=True), pattern, becomes), part, said)


@pytest.mark.parametrize(
    ("pattern", "becomes", "part", "said"),
    [
        (  # no flit is wrong
            r"(cross1.checker.was_wrong  = )[^;]*;",
            r"\g<1>1'h0;",
            "check bits of cross1",
            "a flit is called wrong that is not, or right",
        ),
        (  # errors are counted twice
            r"(dim0.sum_8  = \\dim0.errors  \+ )1'h1",
            r"\g<1>2'h2",
            "errors of dim0",
            "wrong packets are counted wrongly",
        ),
        (  # or never
            r"(cross1.errors.next  = \\cross1.)sum_8 \[15:0\]",
            r"\1errors ",
            "errors of cross1",
            "wrong packets are counted wrongly",
        ),
        (  # an error stays with the port and is counted with the packets that follow
            r"(dim0.checker.hurt.next  = )\\dim0.checker.and_12 ",
            r"\1\\dim0.checker.bad ",
            "errors of dim0",
            "wrong packets are counted wrongly",
        ),
        (  # check bits stay behind in the buffer
            r"assign dim0_o__check = data_0\[39:32\];",
            r"assign dim0_o__check = data_0[7:0];",
            "switch, bit 32",
            "dim0 changes what ",
        ),
        (  # or do not come into it
            r"(dim0.write_data  <= { )\\dim0.channel__check ,",
            r"\g<1>8'hff,",
            "queue of dim0, virtual channel 0, bit 32",
            "a packet leaves its buffer changed",
        ),
        (  # a packet with a wrong head flit goes on
            r"(cross1.not_20  = ~ )\\cross1.was_wrong ;",
            r"\g<1>1'h0;",
            "queue of cross1, virtual channel 0",
            "a packet is offered another way than its own",
        ),
        (  # so it does if it takes none of the ways of its queue
            r"(dim0.or_24  = \\dim0.was_wrong  )\| \\dim0.not_23 ;",
            r"\1;",
            "queue of dim0, virtual channel 0",
            "",
        ),
        (  # a bad packet comes out
            r"(assign eject__valid = packets\[0\]) & not_168;",
            r"\1;",
            "ejection buffer",
            "a flit that is there is not offered, or one that is not",
        ),
        (  # and a good one in its place does not
            r"(assign and_129 = done & )all_128;",
            r"\1all_131;",
            "ejection buffer",
            "a flit that is there is not offered, or one that is not",
        ),
    ],
)
def test_a_changed_router_with_check_bits_is_refuted(pattern, becomes, part, said):
    check_refuted(changed(emitted(crc=True), pattern, becomes), part, said)


@pytest.mark.parametrize(
    ("network", "options", "slots"),
    [
        (SMALL, {}, [128, 43, 143, 143, 35]),
        ("torus(4, 4)", {}, [4] * 5),
        (SMALL, {"packet_length": 4, "crossbar": "output"}, [128, 43, 143, 143, 35]),
        ("mesh(3)", {"packet_length": 3, "buffers": 8}, [2] * 3),
        ("torus(4, 4)", {"crc": True, "packet_length": 4}, [4] * 5),
    ],
)
def test_no_packet_waits_for_ever(network, options, slots):
    found = list(prove_waiting(emitted(network, **options), seconds=SECONDS))
    assert {(one.answer, one.why) for one in found} == {("proved", "")}
    bounds = [int(one.part.split("at most ")[1].split()[0]) for one in found]
    assert bounds[: len(slots)] == slots


@pytest.mark.parametrize(
    ("net", "becomes", "queue"),
    [
        ("queue_order_0_0_1", "1", "queue of dim0, virtual channel 1"),  # of an input, virtual channel 0 always first
        ("order_2_0_2", "1", "queue of injection"),  # to the terminal, dim0 always before injection
        ("vc_order_0_0_1", "0", "queue of cross1, virtual channel 0"),  # of an output, virtual channel 1 always first
    ],
)
def test_a_packet_that_others_pass_over_is_found(net, becomes, queue):
    register = rf"\\allocator.{net}"
    broken = changed(emitted(), rf"({register}  <= ){register}.next ;", rf"\g<1>1'h{becomes};")
    (found,) = prove_waiting(broken, seconds=SECONDS, parts=[queue])
    assert found.part.startswith(queue)
    assert found.answer == "refuted"
    assert "waits and comes no nearer" in found.why


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"queueing": "voq"}, "--queueing voq"),
        ({"dead_pins": True}, "--dead-pins"),
        ({"packet_length": 2}, "packets of 2 flits"),
        ({"lanes": 2}, "more than 2 virtual channels per port"),
        ({"packet_length": 1}, "--packet-length 1"),
        ({"switching": "cut-through", "dead_pins": False}, "--switching cut-through"),
    ],
)
def test_machines_of_which_no_bound_is_known(options, said):
    """They are undecided, so not all is proved."""
    found = [(one.answer, one.why) for one in prove_waiting(emitted(**options), seconds=SECONDS)]
    assert found == [("undecided", f"the rig does not know {said}")]


@pytest.mark.parametrize(
    "use", [r"  assign seen = ^ \\dim0.flits [3];", r"  always @(posedge clk) \\dim0.flits [3] <= 32'd0;"]
)
def test_a_memory_that_is_used_in_another_way_is_not_proved(use):
    """A rig lets it forget, so that there it would read as its first words."""
    broken = changed(emitted(packet_length=4), r"(?=  assign \\dim0.route.dst )", rf"  wire seen;\n{use}\n")
    found = list(prove_delivery(broken, seconds=SECONDS, parts=["queue of dim0, virtual channel 0"]))
    assert {one.answer for one in found} == {"undecided"}
    assert re.search(r"uses dim0.flits in more than one way|was found 2 times", found[0].why)


def test_an_allocator_that_the_rig_does_not_fit():
    broken = changed(emitted("torus(4, 4)"), r"\\allocator.credits_0_0.available ;", r"\\allocator.credits_0_0.some ;")
    text = broken.files["fabric.sv"].replace(r"\allocator.credits_0_0.available ", r"\allocator.credits_0_0.some ")
    broken = replace(broken, files={**broken.files, "fabric.sv": text})
    found = list(prove_waiting(broken, seconds=SECONDS))
    assert {one.answer for one in found} == {"undecided"}
    assert all("has no allocator.credits_0_0.available" in one.why for one in found)


def test_a_trace_shows_the_claim_that_does_not_hold():
    """The waveform is that of the text and its rig, simulated anew, up to the cycle that is named."""
    fabric = changed(emitted(), r"if \(\\cross1.write_en \)", "if (1'h0)")
    why, text = refuted(fabric, "queue of cross1, virtual channel 0, bit 0")
    cycle = int(why.rsplit(" ", 1)[1])
    wrong = re.search(r"\$var wire \d+ (\S+) wrong ", text)[1]
    assert {name for name in ("at", "leaving", "due") if re.search(rf" {name} ", text)} >= {"at", "leaving"}
    last = [line for line in text.splitlines() if line.endswith(f" {wrong}")][-1]
    assert "1" in last.split()[0][1:]
    assert f"#{10 * cycle}" in text


def test_a_router_that_never_sends_is_not_proved():
    """Nothing that is claimed is wrong with a queue that takes nothing in; but no packet is seen."""
    fabric = changed(emitted(), r"(\\allocator.valid_0.next  )= \\allocator.next_valid_0 ;", r"\1= 1'h0;")
    (found,) = prove_delivery(fabric, seconds=SECONDS, parts=["switch"])
    assert found.answer != "proved"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"queueing": "voq", "crc": True, "packet_length": 4},
            "--queueing voq with packets of fewer than 8 flits",
        ),
        ({"switching": "cut-through", "packet_length": 8}, "--switching cut-through"),
        ({"packet_length": 1}, "--packet-length 1"),
        ({"dead_pins": True, "queueing": "voq"}, "--dead-pins with --queueing voq"),
        ({"dead_pins": True, "crc": True}, ""),
        ({}, ""),
    ],
)
def test_options_that_rigs_do_not_know(options, said):
    fabric = emitted(**options)
    assert unmodeled(fabric.machine) == said
    if said:
        found = [(one.answer, one.why) for one in prove_delivery(fabric, seconds=SECONDS)]
        assert found == [("undecided", f"the rig does not know {said}")] * 2  # of the router and the ejection buffer


def test_a_text_that_rigs_do_not_fit(monkeypatch):
    """A memory is written in two places; what is found where rigs fit is no matter here."""
    monkeypatch.setattr(search, "settle", lambda *_, **__: search.Settled("proved", ""))
    write = r"(    if \(\\dim0.write_en \)\n.*;\n)"
    findings = list(prove_delivery(changed(emitted(), write, r"\1\1"), seconds=SECONDS))
    undecided = [one for one in findings if one.answer == "undecided"]
    assert [one.part for one in undecided] == [f"queue of dim0, virtual channel {vc}" for vc in range(2)]
    assert all("times in fabric_router" in one.why for one in undecided)


@pytest.mark.parametrize("tool", ["yosys.sys.executable", "abc.abc_path"])
def test_a_search_is_given_up_when_its_cpu_time_is_spent(tool, monkeypatch, tmp_path):
    """A tool that never ends is ended; what is given up is not kept."""
    endless = tmp_path / "endless"
    endless.write_text("#!/bin/sh\nwhile :; do :; done\n")
    endless.chmod(0o755)
    rig = SwitchRig(emitted(packet_length=4), 0, 0)
    monkeypatch.setattr(f"hdnhw.fpga.{tool}", str(endless) if "sys" in tool else lambda: endless)
    found = search.settle(rig, seconds=1, root=tmp_path / "answers")
    assert (found.answer, found.why) == ("undecided", "no answer within 1 CPU seconds")
    assert not list((tmp_path / "answers").iterdir())


def test_an_answer_is_kept_as_long_as_nothing_changes(monkeypatch, tmp_path):
    """Neither the rig nor what searches."""
    looked_for = []
    monkeypatch.setattr(search, "_settle", lambda *_: looked_for.append(1) or {"answer": "proved", "why": ""})
    for options, number in (({}, 1), ({}, 1), ({"buffers": 2}, 2)):
        search.settle(SwitchRig(emitted(packet_length=4, **options), 0, 0), seconds=1, root=tmp_path)
        assert len(looked_for) == number
    monkeypatch.setattr(search, "getsource", lambda _: "another text")
    search.settle(SwitchRig(emitted(packet_length=4), 0, 0), seconds=1, root=tmp_path)
    assert len(looked_for) == 3


def test_a_tool_that_fails_ends_in_a_line(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)  # where no answer is kept
    monkeypatch.setattr("hdnhw.fpga.abc.importlib.util.find_spec", lambda _: None)
    assert main(["prove", SMALL, "--packet-length", "4"]) == 1
    out, err = capsys.readouterr()
    assert err.splitlines()[-1].startswith("hdnhw: abc is not installed: pyosys has no yosys-abc beside it")
    assert "abc is not installed" in out


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_bad_seconds(seconds, capsys):
    assert main(["prove", "cube(2)", f"--seconds={seconds}"]) == 2
    assert capsys.readouterr().err == f"hdnhw: --seconds must be at least 0.001 and finite, not {float(seconds)}\n"


@pytest.mark.parametrize("length", [3, 4, 8, 12, 16, 32])
def test_codes_of_flits(length):
    from amaranth.hdl import Module, Signal
    from amaranth.sim import Simulator

    from hdnhw.rtl.bits import flit_codes, index_width, next_flit

    m, code = Module(), Signal(index_width(length))
    m.d.sync += code.eq(next_flit(code, length))
    simulator, found = Simulator(m), []
    simulator.add_clock(1e-6)

    async def watch(context):
        for _ in range(length):
            found.append(context.get(code))
            await context.tick()

    simulator.add_testbench(watch)
    simulator.run()
    assert found == flit_codes(length)
