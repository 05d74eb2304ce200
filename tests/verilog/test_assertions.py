"""Assertions on emitted Verilog: legal traffic breaks no rule, and each fault breaks the rule that is against it."""

import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

import hdnhw
import hdnhw.verilog.fabric as verilog_fabric
from hdnhw.endpoints.axi4 import bench as axi4_bench
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.fpga.tools import ToolError
from hdnhw.library import benches
from hdnhw.sim.chips import SystemBench
from hdnhw.sim.simulator import BUILD_ROOT, kept_objects
from hdnhw.sim.stimulus import case_of_traffic
from hdnhw.sim.streams import StreamBench
from hdnhw.sim.tools import tool_environment
from hdnhw.spec.chips import ChipOptions
from hdnhw.support.errors import SpecError
from hdnhw.traffic.packets import Terminals, Traffic
from hdnhw.verilog.assertions import binds
from hdnhw.verilog.fabric import check_name, emit_fabric, write_fabric
from hdnhw.verilog.folder import read_fabric
from tests.conftest import each
from tests.specs import fabric_spec
from tests.verilog.readers import SLANG

CHECKERS = Path(binds.__file__).with_name("checkers.sv")
FAILED = re.compile(r"Assertion failed in ([\w.\[\]]+):")


RULES = {
    name: set(re.findall(r"^ *(\w+): assert\b", body, re.MULTILINE))
    for name, body in re.findall(
        r"^module TOP_check_(\w+)(.*?)^endmodule", CHECKERS.read_text(), re.MULTILINE | re.DOTALL
    )
    if "assert" in body
}


# Of each module the sizes in the bench, and its inputs with their bits.
UNITS = {
    "stream": ({"WIDTH": 8}, {"valid": 1, "ready": 1, "payload": 8}),
    "packets": (
        {"LENGTH": 3, "WIDTH": 8, "KNOWN": 1, "ENDS": 1, "GAPLESS": 1},
        {"valid": 1, "ready": 1, "last": 1, "known": 1, "data": 8},
    ),
    "channel": (
        {
            "LENGTH": 3,
            "WIDTH": 8,
            "VCS": 3,
            "VC_WIDTH": 2,
            "BUFFERS": 2,
            "HEAD": 1,
            "CREDIT": 2,
            "KNOWN": 1,
        },
        {"valid": 1, "known": 1, "data": 8, "vc": 2, "credit": 3},
    ),
    "ejection": (
        {"LENGTH": 3, "WIDTH": 8, "VCS": 1, "VC_WIDTH": 1, "BUFFERS": 2, "HEAD": 1, "KNOWN": 1},
        {"valid": 1, "known": 1, "data": 8, "vc": 1, "credit": 1},
    ),
    "words": ({"AROUND": 3, "PACKET": 2, "PACKETS": 2}, {"valid": 1, "ready": 1, "last": 1}),
    "frames": (
        {"TAGS": 4, "BYTES": 2, "LONGEST": 3},
        {"valid": 1, "ready": 1, "last": 1, "tags": 4, "keep": 2},
    ),
    "lite": (
        {},
        {f"{c}{part}": 1 for c in ("aw", "w", "b", "ar", "r") for part in ("valid", "ready")}
        | {"bresp": 2, "rresp": 2},
    ),
    "axi4": (
        {"ID": 2, "ADDR": 16, "BYTES": 4},
        {f"{c}{part}": 1 for c in ("aw", "w", "b", "ar", "r") for part in ("valid", "ready")}
        | {f"a{way}{field}": bits for way in "wr" for field, bits in (("id", 2), ("addr", 16), ("len", 8))}
        | {f"a{way}{field}": bits for way in "wr" for field, bits in (("size", 3), ("burst", 2))}
        | {"wlast": 1, "bid": 2, "bresp": 2, "rid": 2, "rresp": 2, "rlast": 1},
    ),
}
MODULE_OF = {name: "channel" if name == "ejection" else name for name in UNITS}
CYCLES, BITS = 64, 128


def bench_text():
    """Return a module with each of the modules that check, all but one of them in reset."""
    lines = [
        "module bench;",
        "  bit clk = 0;",
        "  int at = 0, which = 0;",
        f"  logic [{BITS - 1}:0] told[0:{CYCLES - 1}];",
    ]
    lines += [f"  logic [{BITS - 1}:0] now = 1;", "  string file;", "  always #1 clk = !clk;", "  initial begin"]
    lines += ['    void\'($value$plusargs("which=%d", which));', '    void\'($value$plusargs("file=%s", file));']
    lines += ["    $readmemh(file, told);", "  end", "  always @(posedge clk) begin", "    now <= told[at];"]
    lines += ["    at <= at + 1;", f"    if (at == {CYCLES - 1}) $finish;", "  end"]
    for number, (name, (sizes, pins)) in enumerate(UNITS.items()):
        place, joined = 1, [".clk(clk)", f".rst(now[0] || which != {number})"]
        for pin, bits in pins.items():
            joined.append(f".{pin}(now[{place} +: {bits}])")
            place += bits
        assert place <= BITS
        set_ = ", ".join(f".{size}({value})" for size, value in sizes.items())
        lines.append(f"  TOP_check_{MODULE_OF[name]} {f'#({set_}) ' if set_ else ''}{name} ({', '.join(joined)});")
    return "\n".join([*lines, "endmodule", ""])


@cache
def units():
    """Return the program of that bench."""
    folder = BUILD_ROOT.absolute() / "assertions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.sv").write_text(bench_text())
    command = ["verilator", "--binary", "--assert", "-Wno-fatal", "--top-module", "bench", "--Mdir", "made", "-j", "2"]
    environment = tool_environment(os.environ, kept_objects(BUILD_ROOT.absolute() / "objects"))
    made = subprocess.run(
        [*command, str(CHECKERS), "bench.sv"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return folder / "made" / "Vbench"


def broken(name, cycles, folder):
    """Return the rules that a module finds broken in some cycles behind a reset, each a mapping of its inputs."""
    place_of, place = {}, 1
    for pin, bits in UNITS[name][1].items():
        place_of[pin], place = (place, bits), place + bits
    words = [1, 1]
    for told in [*cycles, *[{}] * 4]:
        word = told.get("rst", 0)
        for pin, value in told.items():
            if pin != "rst":
                at, bits = place_of[pin]
                assert 0 <= value < 1 << bits, pin
                word |= value << at
        words.append(word)
    words += [1] * (CYCLES - len(words))
    (folder / "told.hex").write_text("\n".join(f"{word:x}" for word in words))
    which = [*UNITS].index(name)
    run = subprocess.run(
        [units(), f"+which={which}", f"+file={folder}/told.hex", "+verilator+error+limit+1000"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return {match[1].split(".")[-1] for match in FAILED.finditer(run.stdout + run.stderr)}


FIVE = {"payload": 5}
GO, WAIT, FLIT = {"valid": 1, "ready": 1}, {"valid": 1}, {"valid": 1, "ready": 1, "known": 1}
PACKET = [FLIT, GO, {**GO, "last": 1}]
FRAME = [{**GO, "tags": 5, "keep": 3}, {**GO, "tags": 5, "keep": 3}, {**GO, "tags": 5, "keep": 1, "last": 1}]


def words(*lengths):
    return [{**GO, "last": int(at == length)} for length in lengths for at in range(1, length + 1)]


def slots(*packets, credits=(), noise=7):
    """Return cycles of a channel whose slots have a packet of a virtual channel, or none, and credits of some."""
    cycles = [{"credit": noise if at % 3 != 2 else 0} for at in range(3 * len(packets) + 9)]
    for slot, vc in enumerate(packets):
        for at in range(3) if vc is not None else ():
            cycles[3 * slot + 1 + at] |= {"valid": 1, "known": int(at == 0)}
            cycles[3 * slot + at]["vc"] = vc
    for slot, bits in credits:
        cycles[3 * slot + 2]["credit"] = bits
    return cycles


def ejected(*packets, credits):
    """Return cycles of the channel to an ejection buffer, in some of which there is a credit."""
    return [told | {"credit": int(at in credits)} for at, told in enumerate(slots(*packets, noise=0))]


def changed(cycles, at, **pins):
    """Return cycles of which one has other inputs."""
    return [{**told, **pins} if number == at else told for number, told in enumerate(cycles)]


def taken(name, **fields):
    """Return what a channel of AXI carries in a cycle in which it is taken."""
    return {f"{name}valid": 1, f"{name}ready": 1, **{f"{name}{field}": value for field, value in fields.items()}}


AW, AR = (partial(taken, name, size=2, burst=1) for name in ("aw", "ar"))
W, B, R = (partial(taken, name) for name in "wbr")
LITE = [taken("aw"), W(), B(), taken("ar"), R(), {**taken("aw"), **W()}, B(resp=2), W(), taken("aw"), {}, B(resp=3)]
WRITE = [AW(id=1, len=1, addr=0xFF8), W(last=0), W(last=1), B(id=1)]
EARLY = [W(last=0), W(last=1), W(last=1), AW(id=2, len=1), AW(id=1), {}, B(id=1), B(id=2)]
READ = [AR(id=1, len=1), AR(id=2, len=2), R(id=2), R(id=1), R(id=2), R(id=1, last=1), R(id=2, last=1)]
LEGAL = {
    "stream": [[WAIT | FIVE, WAIT | FIVE, GO | FIVE, GO | {"payload": 6}, {"payload": 1}]],
    "packets": [[WAIT | {"known": 1}, *PACKET, {"ready": 1}, *PACKET, *PACKET]],
    "channel": [
        slots(0, 0, 1, 0, None, 1, 2, credits=[(2, 1), (4, 3), (7, 6)]),
        slots(0, 0, 2, 0, 0, credits=[(1, 1), (3, 1), (5, 5)]),
    ],
    "ejection": [ejected(0, 0, 0, credits=[5, 8, 14]), ejected(0, 0, None, 0, credits=[2, 9])],
    "words": [words(3, 5, 7, 3), [*words(3)[:2], {"valid": 1, "last": 1}, {"ready": 1}, *words(3)[2:]]],
    "frames": [[*FRAME, *FRAME], [FRAME[0], {"tags": 1}, *FRAME[1:], {**GO, "tags": 2, "last": 1}]],
    "lite": [LITE],
    "axi4": [
        WRITE,
        EARLY,
        READ,
        [AR(id=1, addr=0xFFC, burst=0), AR(addr=0x18, len=3, burst=2), R(id=1, last=1, resp=3)],
        [{**AW(len=1), **W(last=0)}, W(last=1), B(), {**AW(), **W(last=1), **AR(id=3)}, {**B(), **R(id=3, last=1)}],
    ],
}  # fmt: skip
FAULTS = {
    ("stream", "valid_stays"): [changed(LEGAL["stream"][0], 1, valid=0), changed(LEGAL["stream"][0], 2, valid=0)],
    ("stream", "payload_stable"): [changed(LEGAL["stream"][0], 2, payload=6)],
    ("packets", "destination"): [changed(PACKET, 0, known=0), [*PACKET, WAIT]],
    ("packets", "last_at_tail"): [changed(PACKET, 2, last=0), changed(PACKET, 1, last=1), changed(PACKET, 0, last=1)],
    ("packets", "no_gap"): [changed(PACKET, 1, valid=0), [FLIT, {"last": 1}, *PACKET[1:]]],
    ("channel", "head_phase"): [
        [{}, *slots(0, noise=0)],
        [{}, {}, *slots(0, 1, noise=0)],
        slots(0, noise=0)[1:],
    ],
    ("channel", "no_gap"): [changed(slots(0), 2, valid=0), changed(slots(1, None), 3, valid=0)],
    ("channel", "vc_exists"): [slots(0, 3)],
    ("channel", "vc_stays"): [changed(slots(0, 1), 2, vc=1), changed(slots(2), 1, vc=0)],
    ("channel", "credit_left"): [slots(0, 0, 0), slots(1, 0, 1, 1, credits=[(2, 1)]), slots(0, 0, 0, credits=[(2, 1)])],
    ("channel", "credit_owed"): [
        slots(0, credits=[(1, 2)]),
        slots(0, credits=[(1, 1), (2, 1)]),
        slots(credits=[(0, 4)]),
    ],
    ("channel", "destination"): [changed(slots(0), 1, known=0)],
    ("ejection", "credit_pace"): [ejected(0, 0, credits=[5, 7]), ejected(0, 0, credits=[6, 7])],
    ("ejection", "credit_owed"): [ejected(0, credits=[1]), ejected(0, credits=[3, 6])],
    ("ejection", "credit_left"): [ejected(0, 0, 0, credits=[7]), ejected(0, 0, 0, credits=[10])],
    ("words", "frame_words"): [words(2), words(3, 4), words(6), words(8, 3), words(1)],
    ("frames", "tags_stay"): [changed(FRAME, 1, tags=4), changed(FRAME, 2, tags=7)],
    ("frames", "keep_whole"): [changed(FRAME, 0, keep=2), changed(FRAME, 1, keep=0)],
    ("frames", "frame_length"): [[*FRAME[:2], *FRAME[1:]]],
    ("lite", "b_asked"): [[B()], [taken("aw"), {**W(), **B()}], [taken("aw"), B()], [*LITE[:3], B()], [W(), B()]],
    ("lite", "r_asked"): [[R()], [{**taken("ar"), **R()}], [*LITE[3:5], {"rvalid": 1}]],
    ("lite", "b_resp"): [[*LITE[:2], B(resp=1)]],
    ("lite", "r_resp"): [[taken("ar"), R(resp=1)]],
    ("axi4", "aw_burst"): [[AW(burst=3)], [AW(burst=0, len=16)], [AW(burst=2, len=2)], [AW(burst=2, len=3, addr=2)]],
    ("axi4", "ar_burst"): [[AR(burst=3)], [AR(burst=0, len=16)], [AR(burst=2, len=4)], [AR(burst=2, len=1, addr=1)]],
    ("axi4", "aw_size"): [[AW(size=3)]],
    ("axi4", "ar_size"): [[AR(size=3)], [AR(size=7, burst=0)]],
    ("axi4", "aw_page"): [[AW(len=1, addr=0x1FFC)], [AW(len=255, addr=0xC04)]],
    ("axi4", "ar_page"): [[AR(len=1, addr=0x1FFF)], [AR(len=16, size=0, addr=0xFF0)]],
    ("axi4", "b_asked"): [
        [*WRITE[:2], B(id=1)],
        [*WRITE[:2], {**WRITE[2], **B(id=1)}],
        [*WRITE[:3], B(id=2)],
        [*WRITE, B(id=1)],
        [*EARLY[:3], B(id=2)],
        [*EARLY[:4], B(id=1)],
        [AW(), {"bvalid": 1}],
    ],
    ("axi4", "r_asked"): [[R(last=1)], [{**AR(), **R(last=1)}], [AR(id=1), R(id=0, last=1)], [*READ, R(id=2)]],
    ("axi4", "r_last"): [changed(READ, 3, rlast=1)[:4], changed(READ, 5, rlast=0), [AR(len=1), R(), R()], [AR(), R()]],
    ("axi4", "w_last"): [
        [AW(len=1), W(last=1)],
        [AW(len=1), W(), W()],
        [W(), W(last=1), AW()],
        [W(), W(), W(), AW(len=1)],
        [{**AW(len=1), **W(last=1)}],
        [AW(), AW(len=1), W(last=1), W(last=1)],
    ],
    ("axi4", "b_resp"): [[*WRITE[:3], B(id=1, resp=1)]],
    ("axi4", "r_resp"): [[AR(), R(last=1, resp=1)]],
}


def test_each_rule_finds_its_faults_and_no_other(tmp_path):
    assert {(MODULE_OF[name], rule) for name, rule in FAULTS} == {
        (name, rule) for name in RULES for rule in RULES[name]
    }
    for name, runs in LEGAL.items():
        for cycles in runs:
            assert broken(name, cycles, tmp_path) == set(), (name, cycles)
            assert broken(name, [*cycles[:3], {"rst": 1}, *cycles], tmp_path) == set(), (name, cycles)
    for (name, rule), runs in FAULTS.items():
        for cycles in runs:
            assert broken(name, cycles, tmp_path) == {rule}, (name, rule, cycles)


LOUD = "+verilator+error+limit+1000000"
RING = fabric_spec("torus(5)", packet_length=4)
MACHINES = {
    "ring": RING,
    "cut-through": fabric_spec("cube(2)", switching="cut-through"),
    "long": fabric_spec("dualcube(2)", packet_length=4, channel_latency="3", reset_registers=2),
    "narrow": fabric_spec("mesh(3)", channel_width="16", crc=True, gapless_packets=True),
    "voq": fabric_spec("torus(5)", queueing="voq", lanes=2, packet_length=4),
    "one flit": fabric_spec("rdn(cube(1), 1)", packet_length=1, dead_pins=True),
    "no initial": fabric_spec("mesh(2, 2)", packet_length=4, monitor=True),
}


class Checked(StreamBench):
    """A bench of a fabric with assertions, or a text in place of its own for some files; failures do not stop it."""

    def __init__(self, fabric, **texts):
        super().__init__(replace(fabric, files=fabric.files | texts))

    def failures(self, case, *plusargs):
        """Return, of a case, the rules that are broken, in the order of their first time, and the folder of the run."""

        def write(folder):
            options = self.write(case, folder)
            return options | {"plusargs": [*options["plusargs"], LOUD, "+fabric_trace=trace", *plusargs]}

        try:
            folder = self.simulate("checked", write)[0]
        except ToolError as error:  # a run with failures ends with 1
            folder = Path(str(error).partition("see ")[2]).parent
        return list(dict.fromkeys(FAILED.findall((folder / "simulation.log").read_text()))), folder


def test_the_documentation_lists_all_rules():
    page = Path("docs/integration.md").read_text()
    rows = (
        page[page.index("| module, and what it") : page.index("With `+fabric_trace=FILE`, a sim")]
        .strip()
        .splitlines()[2:]
    )
    found = {}
    for row in rows:
        _, module, rules, *_ = row.split("|")
        name = module.partition("NAME_check_")[2].partition("`")[0] or name  # noqa: F821
        found.setdefault(name, []).extend(re.findall(r"`(\w+)`", rules))
    assert {name: sorted(rules) for name, rules in found.items()} == {n: sorted(r) for n, r in RULES.items()}


OPTIONS = {
    "bare": {"spec": fabric_spec("mesh(3)", packet_length=4, dead_pins=True)},
    "clocks": {"spec": fabric_spec("cube(1)"), "node_clocks": True},
    "chips": {"spec": fabric_spec("torus(4)"), "cut": ChipOptions(chips="dim0=2")},
    "pins": {"spec": fabric_spec("torus(4, 4)"), "cut": ChipOptions(chips="dim0=4", link="parallel")},
    "frames": {"spec": fabric_spec("torus(3)", endpoints=AxiStreamSpec()), "node_clocks": True},
    "memory": {"spec": fabric_spec("cube(1)", flit_width=64, endpoints=AxiMemorySpec(), monitor=True)},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_every_stream_and_channel_is_bound_and_all_names_are_there(name, tmp_path):
    plain, fabric = (emit_fabric(**OPTIONS[name], assertions=each_) for each_ in (False, True))
    file = "fabric_assertions.sv"
    own = {key: value for key, value in fabric.manifest.items() if plain.manifest.get(key) != value}
    assert own["assertions"] == {"file": file, "trace": "+fabric_trace=FILE"}
    assert [*own["files"]] == [*plain.manifest["files"], file]
    assert {*own} == {"assertions", "files", "modules"}
    assert {name: text for name, text in fabric.files.items() if name not in (file, "manifest.json")} == {
        name: text for name, text in plain.files.items() if name != "manifest.json"
    }
    write_fabric(fabric, tmp_path)
    assert read_fabric(tmp_path).files[file] == fabric.files[file]
    joined = set(re.findall(r"\.valid\((\w+)\)", fabric.files[file]))
    cut = "" if fabric.chips is None else fabric.files[fabric.chips.file]
    wires = re.findall(
        r"^  wire ((?:channel|arrival|inject|eject)_\d\w*valid);", cut or "".join(fabric.verilog.values()), re.MULTILINE
    )
    ends = {wire for wire in wires if wire.startswith("arrival") and name == "bare"}
    assert {*wires} - ends <= joined
    top = fabric.chips.system if fabric.chips else fabric.top
    files = [*fabric.checked, *([fabric.chips.system_file] if fabric.chips else [])]
    command = ["verilator", "--lint-only", "--assert", "-Wall", "-Wno-DECLFILENAME", "-Wno-UNUSEDSIGNAL"]
    command += ["-Wno-PROCASSINIT", "-Wno-PINCONNECTEMPTY", "--top-module", top, *files]
    slang = [sys.executable, "-c", SLANG, "--top", top, *files]
    for reads in (command, slang):
        done = subprocess.run(reads, cwd=tmp_path, env=tool_environment(os.environ), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert file not in done.stderr, done.stderr
    write_fabric(plain, tmp_path)
    assert not (tmp_path / file).exists()


@each("name", ["noc_check", "noc_check_stream", "noc_check_x"])
def test_names_of_modules_that_check_are_refused(name):
    with pytest.raises(SpecError, match="'noc'"):
        check_name(name)


def random_case(model, packets=300, hold=0):
    """Return a case of packets to random nodes, some of them to one, from sources and to sinks that pause."""
    draws, nodes = np.random.default_rng(1), model.plan.network.num_nodes
    chosen = np.where(draws.random(packets) < 0.3, 0, draws.integers(nodes, size=packets))
    first = np.arange(nodes + 1, dtype=np.int64) * packets // nodes
    traffic = Traffic(first, np.asarray(model.plan.address.of_node(chosen)), np.zeros(packets, np.int64))
    return case_of_traffic("random", model, traffic, Terminals(sink_stall=96, source_gap=32, sink_hold=hold, seed=1))


@pytest.mark.parametrize("name", MACHINES)
def test_random_packets_break_no_rule(name):
    bench = Checked(emit_fabric(MACHINES[name], assertions=True, initial=name != "no initial"))
    case = random_case(bench.model)
    found, folder = bench.failures(case)
    assert found == []
    assert bench.check(case, folder).passed


def altered(text, edit):
    """Return binds of other instances, each with one number changed by an `edit`."""
    lines = [line for line in text.splitlines() if line.startswith("bind")]
    made = {}
    for line in lines:
        for kind, pattern, becomes in edit:
            if re.search(pattern, line):
                name = re.search(r" (check_\w+) \(\.clk", line)[1]
                made[f"{name}_{kind}"] = re.sub(pattern, becomes, line).replace(f" {name} (", f" {name}_{kind} (")
    return made


def number(change):
    return lambda match: f".{match[1]}({change(int(match[2]))})"


ALTERED = [
    ("head", r"\.(HEAD)\((\d)\)", number(lambda phase: (phase + 1) % 4)),
    ("fewer", r"\.(BUFFERS)\((\d+)\)", number(lambda buffers: buffers - 1)),
    ("longer", r"\.(LENGTH)\((\d+)\)", number(lambda length: length + 1)),
    ("other", r"(== 3\d'd)(\d)\)", lambda match: f"{match[1]}{int(match[2]) ^ 1})"),
    ("vc", r"channel_\d_\w+_(vc)\b", lambda match: match[0].replace("_vc", "_valid")),
]
# A credit stands on the wires for longer than the phase in which it counts: legal packets do not tell these apart.
BESIDE = [
    ("late", r"\.(CREDIT)\((\d)\)", number(lambda phase: (phase + 1) % 4)),
    ("early", r"\.(CREDIT)\((\d)\)", number(lambda phase: (phase - 1) % 4)),
]
BROKEN_BY = {
    "head": {"head_phase"},
    "fewer": {"credit_owed", "credit_left"},
    "longer": set().union(*RULES.values()),
    "other": {"destination"},
    "vc": {"vc_stays", "credit_left", "credit_owed"},
}


def test_binds_say_no_more_and_no_less_than_the_machine_does():
    """Beside each right bind there are wrong ones: of every kind and channel one that legal packets break."""
    fabric = emit_fabric(RING, assertions=True)
    name = fabric.manifest["assertions"]["file"]
    wrong = altered(fabric.files[name], ALTERED)
    bench = Checked(fabric, **{name: "\n".join([fabric.files[name], *wrong.values(), ""])})
    found, _ = bench.failures(random_case(bench.model, 600))
    rules = {}
    for path in found:
        parts = path.split(".")
        rules.setdefault(next(part for part in parts if part.startswith("check_")), set()).add(parts[-1])
    assert not {*rules} - {*wrong}
    for instance in wrong:
        kind = instance.rpartition("_")[2]
        assert rules.get(instance, set()) <= BROKEN_BY[kind], instance
    silent = Counter(one.rpartition("_")[2] for one in wrong if one not in rules)
    assert silent == {}, [one for one in wrong if one not in rules]


HOLD = 1000
HURT = """
  integer fault, hurts, tick;
  initial begin
    if (!$value$plusargs("fault=%d", fault)) fault = -1;
    if (!$value$plusargs("hurts=%d", hurts)) hurts = -1;
  end
  always @(posedge clk) tick <= rst ? 0 : tick + 1;
"""
# Wires, the pins that drive them, the bit that is turned over, in which cycle, and the rule that this breaks first.
HEAD, SECOND, TAIL, FIRST, HELD, FULL = range(6)
HURTS = [
    ("channel_0_dim0_plus_valid", "dim0_plus_o__valid", 0, SECOND, "no_gap"),
    ("channel_0_dim0_plus_valid", "dim0_plus_o__valid", 0, HEAD, "head_phase"),
    ("channel_0_dim0_plus_data", "dim0_plus_o__data", 2, HEAD, "addressed.destination"),
    ("channel_0_dim0_plus_vc", "dim0_plus_o__vc", 0, HEAD, "channels.vc_stays"),
    ("channel_0_dim0_plus_credit", "dim0_minus_i__credit", 0, FIRST, "credit_owed"),
    ("channel_1_dim0_minus_credit", "dim0_plus_i__credit", 0, FULL, "credit_left"),
    ("channel_0_eject_valid", "eject__valid", 0, SECOND, "no_gap"),
    ("channel_0_eject_data", "eject__data", 0, HEAD, "addressed.destination"),
    ("channel_0_eject_credit", "channel__credit", 0, FIRST, "credit_owed"),
    ("eject_0_payload", "eject__payload", 32, TAIL, "ends.last_at_tail"),
    ("eject_0_payload", "eject__payload", 9, HELD, "payload_stable"),
    ("eject_0_valid", "eject__valid", 0, HELD, "valid_stays"),
]


def test_a_fault_in_the_fabric_breaks_first_the_rule_that_is_against_it():
    fabric = emit_fabric(RING, assertions=True)
    text, body = fabric.text, HURT
    for wire, pin in dict.fromkeys((wire, pin) for wire, pin, *_ in HURTS):
        high = int(re.search(rf"^  wire (?:\[(\d+):0\] )?{wire};", text, re.MULTILINE)[1] or 0)
        text, count = re.subn(rf"\.{pin}\({wire}\)", f".{pin}(raw_{wire})", text)
        assert count == 1, wire
        body += f"  wire [{high}:0] raw_{wire};\n  assign {wire} = raw_{wire}"
        for at, (other, _, bit, *_) in enumerate(HURTS):
            mask = f"{high + 1}'d{1 << bit} : {high + 1}'d0"
            body += f" ^ (fault == {at} && tick == hurts ? {mask})" if other == wire else ""
        body += ";\n"
    begin = text.index("\n  fabric_ejection ejection_0")
    name = fabric.manifest["assertions"]["file"]
    binds_ = fabric.files[name]
    beside = "\n".join([binds_, *altered(binds_, BESIDE).values(), ""])
    bench = Checked(fabric, **{"fabric.sv": text[:begin] + body + text[begin:], name: beside})
    case = random_case(bench.model, 600, hold=HOLD)
    found, folder = bench.failures(case)
    assert found == []
    heads, length = {}, RING.packet_length
    for line in (folder / "trace").read_text().splitlines()[1:]:
        _, head, tail, *_, path = line.split()
        heads.setdefault(path.split(".check_")[1].removesuffix(".trace"), (int(head), int(tail)))
    assert length < heads["channel_0_dim0_plus"][0]
    for at, (wire, _, _, when, rule) in enumerate(HURTS):
        place = re.sub("_(valid|data|vc|credit|payload)$", "", wire)
        head, tail = heads[place]
        phase = re.search(rf"\.CREDIT\((\d+)\), \.KNOWN\(1\)\) check_{place} ", binds_)
        credit = int(phase[1]) if phase else 0
        full = HOLD // 2 // length * length + credit
        hurts = {HEAD: head, SECOND: head + 1, TAIL: tail, FIRST: credit, HELD: HOLD - 2, FULL: full}[when]
        first, *others = bench.failures(case, f"+fault={at}", f"+hurts={hurts}")[0]
        if when == FULL:  # the router takes it, and sends more than those that look in another phase see credits for
            missed = {f"bench.dut.check_{place}_{kind}.{rule}" for kind, *_ in BESIDE}
            assert {first, *others[:1]} == missed
            continue
        stream = "_stream" * (when == HELD)
        assert first == f"bench.dut.check_{place}{stream}.{rule}", (wire, when)


AROUND = {
    "memory": lambda: hdnhw.cosim("cube(1)", test="axi4", monitor=True, bursts=200),
    "frames": lambda: hdnhw.cosim("torus(3)", test="axi", node_clocks=True, frames=100),
    "chips": lambda: hdnhw.cosim(
        "torus(4)", test="random", chips="dim0=2", dead_pins=True, packets=500, error_rate=1e-4
    ),
    "system": lambda: hdnhw.system("examples/system/soc.toml", bursts=150, resets=True),
}


@pytest.fixture
def checked(monkeypatch):
    """Have benches read assertions; managers send nothing that is to be refused."""
    emit = partial(emit_fabric, assertions=True)
    for module in (benches, verilog_fabric):
        monkeypatch.setattr(module, "emit_fabric", emit)
    monkeypatch.setattr(axi4_bench, "BAD_SHARE", 0)
    # Nothing is bound to a block of Verilator that is compiled by itself.
    whole = property(lambda self: [name for name in self.fabric.blocks if name != self.fabric.chips.chip])
    monkeypatch.setattr(SystemBench, "blocks", whole)


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize("name", AROUND)
def test_legal_bursts_frames_and_links_break_no_rule(name):
    assert AROUND[name]().passed


@pytest.mark.usefixtures("checked")
def test_a_manager_that_asks_for_what_axi_forbids_breaks_rules(monkeypatch):
    monkeypatch.setattr(axi4_bench, "BAD_SHARE", 0.5)
    found = AROUND["memory"]()
    assert not found.passed
    log = Path(found.error.partition("see ")[2]).read_text()
    assert FAILED.search(log)[1].split(".")[-1] in ("aw_burst", "ar_burst", "aw_size", "ar_size")
