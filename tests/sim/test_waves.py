"""Packets in waveforms: what a dump of the emitted Verilog shows beside the model, and what is refused."""

import dataclasses
import io
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from vcd.reader import TokenKind, tokenize

import hdnhw
from bench.waves import LINE, stopped_line
from hdnhw.cli import main
from hdnhw.endpoints.relay.bench import RelayBench
from hdnhw.endpoints.relay.format import RelayKind
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.figures.waveform import MARGIN, WIDTH
from hdnhw.figures.waveform import NAMES as NAMES_ROOM
from hdnhw.machine.machine import Machine, make_machine
from hdnhw.model.fabric import FabricModel
from hdnhw.model.reference import Reference
from hdnhw.sim.stimulus import make_case
from hdnhw.sim.streams import HarnessBench, StreamBench
from hdnhw.topology.faults import draw_faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.verilog.fabric import emit_fabric, emit_machine, write_fabric
from hdnhw.verilog.waves.dump import Dump
from hdnhw.verilog.waves.packets import Waves
from hdnhw.verilog.waves.trace import Trace
from hdnhw.verilog.waves.waiting import waiting
from hdnhw.verilog.waves.wires import EJECT, INJECT, LOCAL
from tests.specs import fabric_spec

MACHINES = {
    "two classes": fabric_spec("rdn(cube(1), 1)", packet_length=4),
    "cut-through": fabric_spec("cube(2)", switching="cut-through"),
    "voq": fabric_spec("torus(5)", queueing="voq", lanes=2, packet_length=4),
    "holes": fabric_spec("mesh(3)", packet_length=1, crc=True, dead_pins=True, flit_width=24),
    "long channels": fabric_spec(
        "rdn(cube(1), 1)", channel_latency="dim0=3,cross1=11", packet_length=4, dead_pins=True
    ),
    "gapless": fabric_spec("mesh(2, 3)", gapless_packets=True, channel_latency="2"),
    "late reset": fabric_spec("mesh(3)", packet_length=2, reset_registers=3, channel_width="20"),
}


@cache
def bench_of(name):
    return StreamBench(emit_fabric(MACHINES[name], assertions=True), dump=True)


def dumped(bench, case, cycles=None):
    """Run a case, for so many cycles at most; return the dump."""

    def write(folder):
        options = bench.write(case, folder)
        told = [one for one in options["plusargs"] if not one.startswith("+limit=")]
        told += [f"+limit={cycles or case.limit}", "+fabric_trace=packets.trace"]
        # Some of the packets for no node, of which the assertions would tell.
        return options | {"plusargs": [*told, *["+verilator+noassert"] * bench.machine.address.has_holes]}

    return bench.simulate("dump", write)[0] / "dump.vcd"


class Told(Reference):
    """The readable model, which tells when each packet leaves a router: node, port, virtual channel, cycle, packet."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.sent = []

    def _send(self, router, queue, way, slot):
        packet = next(packet for packet in router.queues[queue] if packet.way == way)
        timing = self._timing
        cycle = (slot + 1) * timing.packet_length + timing.channel_cycles + round(router.half * timing.packet_length)
        port = LOCAL if way[0] == self._local else way[0]
        self.sent.append((router.node, port, way[1], cycle - router.machine.offset, packet.tag))
        super()._send(router, queue, way, slot)


class ToldModel(FabricModel):
    """A model that is run on :class:`Told`."""

    def course(self, terminals, **_):
        self.told = Told(self.machine, terminals)
        return self.told


def tags_of(case):
    """Return the number of each packet of a case, by its flits."""
    return {tuple(map(int, words)): tag for tag, words in enumerate(case.flits)}


@pytest.mark.parametrize("name", MACHINES)
def test_a_dump_shows_what_the_model_says(name):
    bench = bench_of(name)
    case = make_case("random", bench.model, packets=160)
    path = dumped(bench, case)
    waves = Waves(bench.machine, Dump(path))
    model = ToldModel(bench.machine)
    expected = model.run(case.traffic, case.terminals, max_cycles=case.limit)
    tag_of = tags_of(case)
    seen = [(one.place.node, one.place.port, one.vc, one.cycle, tag_of[tuple(one.words)]) for one in waves.passages]
    assert sorted(one for one in seen if one[1] not in (INJECT, EJECT)) == sorted(model.told.sent)
    heads = {tag: cycle for _, port, _, cycle, tag in seen if port == INJECT}
    assert [heads[tag] for tag in range(len(case.flits))] == expected.head_cycle.tolist()
    tails = [(one.place.node, tag_of[tuple(one.words)]) for one in waves.passages if one.place.port == EJECT]
    assert sorted(tails) == sorted(zip(expected.node.tolist(), expected.packet.tolist(), strict=True))
    origin = {tag: node for node, port, _, _, tag in seen if port == INJECT}
    for one in waves.passages:
        tag = tag_of[tuple(one.words)]
        told = (one.packet.source, one.packet.destination, one.packet.cycle)
        assert told == (origin[tag], int(case.destination[tag]), heads[tag])
    assert (waves.packets, waves.delivered) == (len(case.flits), len(expected.node))
    assert waves.dropped == int(expected.dropped.sum())
    assert not any(queue for queues in waves.queues for queue in queues.values())
    traced = Waves(bench.machine, Trace(path.with_name("packets.trace")))
    assert passed_whole(traced) == passed_whole(waves)
    assert len(passed_whole(traced)) == len(seen) > 2 * len(expected.node)
    for name in ("scope", "packets", "delivered", "dropped", "moved"):
        assert getattr(traced, name) == getattr(waves, name)


def passed_whole(waves):
    """Return what is known of each packet at each place where it has passed whole."""
    return sorted(
        (one.place.name, one.vc, one.cycle, one.tail, str(one.packet), one.packet.cycle, one.words)
        for one in waves.passages
        if one.packet is not None and len(one.words) == waves.machine.spec.packet_length
    )


TRACE = """\
hdnhw_trace
1 0 3 0 {wrong} bench.dut.check_inject_0.trace
2 1 4 0 {word} bench.dut.check_inject_0.trace
2 9 12 0 {word} bench.dut.check_channel_0_dim0_plus.trace
2 17 20 0 {word} bench.dut.check_channel_1_eject.trace
2 22 29 0 {word} bench.dut.check_eject_1.trace
2 22 """
PIECES = {"word": "00000003000000020000000100000001", "wrong": "00000003000000020000000100000000"}


@pytest.fixture
def traced(tmp_path):
    """Return a fabric's folder with a trace of a packet, as a simulation that was cut off left it."""
    write_fabric(emit_fabric(fabric_spec("mesh(3)", packet_length=4), assertions=True), tmp_path)
    (tmp_path / "packets.trace").write_text(TRACE.format(**PIECES))
    return tmp_path


def test_a_trace_is_told_and_drawn(traced):
    found = hdnhw.waves(traced / "packets.trace", traced, output=traced / "packets.svg")
    assert (found.scope, found.cycles, found.packets, found.delivered, found.held) == ("bench.dut", 30, 1, 1, 0)
    text = (traced / "packets.svg").read_text()
    spans = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="14" rx="2" fill="#', text)
    cell = (WIDTH - NAMES_ROOM - MARGIN) / 30
    cycles = [
        (round((float(x) - NAMES_ROOM) / cell), round((float(x) + float(w) - NAMES_ROOM) / cell)) for x, _, w in spans
    ]
    assert sorted(cycles) == [(1, 5), (9, 13), (17, 21), (22, 30)]
    assert len({y for _, y, _ in spans}) == 4 == text.count("#1:0&gt;1")
    names = ["node_0.inject", "node_0.dim0_plus", "node_1.to_terminal", "node_1.eject"]
    assert re.findall(r">(node_\S+)</text>", text) == names
    part = hdnhw.waves(traced / "packets.trace", traced, output=traced / "packets.svg", cycles="8:14")
    assert part.packets == 1
    assert (traced / "packets.svg").read_text().count("#1:0&gt;1") == 1


REFUSED = {
    "--stopped": "--stopped needs a dump in VCD: a trace has no credits, and no packets that have not passed",
    "-o x.vcd": "--output x.vcd needs a dump in VCD: a trace has no credits, and no packets that have not passed",
    "--cycles 0:9": "--cycles is of a picture: --output must be an .svg file",
    "--cycles 9:9 -o x.svg": "--cycles must end behind its first cycle, not '9:9'",
    "--cycles 9 -o x.svg": "--cycles must be two numbers of cycles, such as 0:400, not '9'",
    "--cycles 0:9000 -o x.svg": "a picture must be of 1 to 2000 cycles, not 9000: see --cycles",
    "--cycles 31:40 -o x.svg": "a picture must be of 1 to 400 places where packets pass, not 0",
    "--scope bench -o x.svg": "--scope must be a scope of packets.trace, such as ['bench.dut'], not 'bench'",
}
CHANGED = {
    ("2 9 12 0", "2 9 1x2 0"): "packets.trace is no trace of packets: see line 4",
    ("2 9 12 0", "2 9 11 0"): "packets.trace is of another fabric than that of the folder: see channel_0_dim0_plus",
    ("channel_0_dim0_plus", "channel_0_dim1_plus"): "is of another fabric than that of the folder: see channel_0_dim1",
    ("channel_0", "inject_3"): "is of another fabric than that of the folder: see inject_3_dim0_plus",
    ("2 9 12 0 0", "2 9 12 0 1"): "carries a packet that node 0 does not have in cycle",
    ("2 17 20 0", "2 27 30 0"): "gives another packet than the channel before it in cycle 22",
    ("0 3 0", "0 x 0"): "packets.trace is no trace of packets: see line 2",
    ("check_channel", "check_chanel"): "packets.trace has no packet on a channel",
    ("hdnhw", "other"): "packets.trace is no VCD: it has no end of declarations",
}


def test_what_a_trace_does_not_show_is_refused(traced, monkeypatch, capsys):
    monkeypatch.chdir(traced)
    for words, message in REFUSED.items():
        assert main(["waves", "packets.trace", ".", *words.split()]) == 2
        assert capsys.readouterr().err == f"hdnhw: {message}\n"
    for (old, new), message in CHANGED.items():
        Path("packets.trace").write_text(TRACE.format(**PIECES).replace(old, new))
        assert main(["waves", "packets.trace", "."]) == 2
        assert message in capsys.readouterr().err, new
    assert not [*traced.glob("x.*")]


LINE_CYCLES = 200


@cache
def line():
    """Return the fabric and the dump of a line whose nodes 0 and 1 send to node 3, which takes nothing."""
    return emit_fabric(LINE), stopped_line(LINE_CYCLES)


def test_a_chain_that_waits_for_a_sink_is_told_from_its_end(tmp_path, capsys):
    fabric, dump = line()
    write_fabric(fabric, tmp_path / "line")
    assert main(["waves", str(dump), str(tmp_path / "line"), "--stopped"]) == 0
    printed = capsys.readouterr().out
    page = Path(hdnhw.__file__).parents[1] / "docs" / "waveforms.md"
    (shown,) = re.findall(r"^\$ hdnhw waves dump.vcd build/line --stopped\n(.*?)^```", page.read_text(), re.M | re.S)
    assert printed == shown
    rows = [re.split(r"  +", row.strip()) for row in printed.split("waits_for\n")[1].splitlines()]
    chain = ["3.ejection", "3.dim0_minus.0", "2.dim0_minus.0", "1.injection", "1.source"]
    chain += ["1.dim0_minus.0", "0.injection", "0.source"]
    assert [row[0] for row in rows[:-1]] == chain
    assert rows[0][-1].startswith("its terminal, not ready since cycle ")
    ahead = [0, 1, 2, 3, 2, 5, 6]
    assert [row[-1] for row in rows[1:-1]] == [f"a packet buffer of {chain[place]}" for place in ahead]
    assert rows[-1] == ["circle", "[]"]


@pytest.mark.parametrize("name", ["two classes", "voq", "cut-through"])
def test_what_has_stopped_waits_as_the_model_does(name):
    """Of each queue, the packets in their order; of each first one, the queue that it waits for."""
    bench = bench_of(name)
    case = make_case("held", bench.model, packets=400)
    cycles = case.terminals.sink_hold - 10
    waves = Waves(bench.machine, Dump(dumped(bench, case, cycles)))
    assert waves.cycles - waves.moved > 10 * bench.machine.timing.packet_length, "it has not stopped"
    model = ToldModel(bench.machine)
    model.run(case.traffic, case.terminals, max_cycles=cycles)
    tag_of, ports, local = tags_of(case), bench.machine.network.ports, len(bench.machine.network.ports)
    waits = {}
    for node, router in enumerate(model.told._routers):
        queues = {
            way if way[0] != local else (INJECT, 0): [one.tag for one in queue] for way, queue in router.queues.items()
        }
        ejection = [packet.tag for packet, _ in model.told._sinks[node].packets]
        seen = {way: [tag_of[tuple(one.words)] for one in queue] for way, queue in waves.queues[node].items()}
        assert {way: tags for way, tags in seen.items() if tags} == {
            way: tags for way, tags in (queues | {(EJECT, 0): ejection}).items() if tags
        }
        for queue, packet in router.waiting():
            wanted = f"{node}.ejection"
            if packet.way[0] != local:
                end = bench.machine.network.neighbors(node)[ports[packet.way[0]].name]
                wanted = f"{end}.{ports[ports[packet.way[0]].opposite].name}.{packet.way[1]}"
            assert router.credits[packet.way] == 0
            came = "injection" if queue[0] == local else f"{ports[queue[0]].name}.{queue[1]}"
            waits.setdefault(f"{node}.{came}", set()).add(f"a packet buffer of {wanted}")
    rows, circle = waiting(waves)
    told = {}
    for depth, head in rows:
        if head.queue.endswith(".ejection"):
            assert depth == 0
            assert head.reason.startswith("its terminal, not ready since cycle ")
        elif not head.queue.endswith(".source"):
            told.setdefault(head.queue, set()).add(head.reason)
    assert told == waits
    assert circle == []
    above = {}
    for depth, head in rows:
        above[depth] = head.queue
        assert depth == 0 or head.reason == f"a packet buffer of {above[depth - 1]}"


class DumpedRelays(RelayBench):
    """The bench of relays, with a dump."""

    def __init__(self, fabric):
        HarnessBench.__init__(self, fabric, dump=True)


def test_packets_of_relays_say_where_they_go_and_what_for():
    """A packet that comes out at its waypoint goes in there again, from the same source and for the same end."""
    spec = fabric_spec("hdn(cube(1), [[]])", packet_length=3, endpoints=RelaySpec(), dead_pins=True)
    bench = DumpedRelays(emit_fabric(spec))
    healthy = draw_faults(neighbor_table(bench.machine.network), np.random.default_rng(1), nodes=0, channels=0)
    waves = Waves(bench.machine, Dump(dumped(bench, bench.make_case(healthy, packets=80, seed=1, wander=True))))
    assert waves.scope == "bench.dut.fabric"
    went, came, kinds = Counter(), Counter(), Counter()
    for passage in waves.passages:
        fields, node = bench.format.unpack(passage.words), passage.place.node
        kind, text = RelayKind(fields.kind).name.lower(), str(passage.packet)
        source, *stops = map(int, re.fullmatch(r"#\d+:([\d>]+):(\w+)", text)[1].split(">"))
        assert (text.rpartition(":")[2], len(stops)) == (kind, 1 + (kind == "data") * fields.left)
        if passage.place.port == EJECT:
            kinds[kind] += 1
            assert stops[0] == node
            went.update([(node, source, *stops[1:], fields.payload)] * (len(stops) > 1 and node != source))
        elif passage.place.port == INJECT and kind == "data" and source != node:
            came[node, source, *stops, fields.payload] += 1
    assert went == came
    assert sum(went.values()) > 10
    assert kinds["request"] == kinds["grant"] >= sum(went.values())


def test_a_circle_is_seen():
    """With one virtual channel where the proof wants two, packets wait for each other around a ring."""
    spec = fabric_spec("torus(6)", packet_length=1, buffers=2)
    proved = make_machine(spec).plan
    turns = frozenset((came, 0, goes, 0) for shape in proved.shapes for came, _, goes, _ in shape.turns)
    shapes = tuple(dataclasses.replace(shape, turns=turns) for shape in proved.shapes)
    rule = dataclasses.replace(proved.rule, vc=(proved.rule.circuit.constant(0),))
    broken = dataclasses.replace(proved, rule=rule, num_vcs=(1,) * len(proved.num_vcs), shapes=shapes)
    bench = StreamBench(emit_machine(Machine(spec, broken)), dump=True)
    case = make_case("random", bench.model, packets=20_000)
    waves = Waves(bench.machine, Dump(dumped(bench, case, 6000)))
    rows, circle = waiting(waves)
    assert waves.cycles - waves.moved > 1000
    ways = [queue.split(".")[1] for queue in circle]
    nodes = [int(queue.split(".")[0]) for queue in circle]
    assert len(set(ways)) == 1
    step = 1 if ways[0] == "dim0_minus" else -1
    assert nodes == [(nodes[0] + step * number) % 6 for number in range(6)]
    reasons = {head.queue: head.reason for _, head in rows}
    for queue, ahead in zip(circle, [*circle[1:], circle[0]], strict=True):
        assert reasons[queue] == f"a packet buffer of {ahead}"


def test_a_dump_that_is_cut_off_shows_what_it_has(tmp_path):
    fabric, dump = line()
    whole, text = Waves(fabric.machine, Dump(dump)), dump.read_bytes()
    told = {(one.place, one.cycle): (one.words, str(one.packet)) for one in whole.passages}
    before = 0
    for share in (0.5, 0.7, 0.701, 0.9):
        (tmp_path / "cut.vcd").write_bytes(text[: int(share * len(text))])
        cut = Waves(fabric.machine, Dump(tmp_path / "cut.vcd"))
        assert before <= cut.cycles < whole.cycles
        before = cut.cycles
        due = {key for key in told if key[1] < cut.cycles}
        assert {(one.place, one.cycle) for one in cut.passages} == due
        for one in cut.passages:
            words, packet = told[one.place, one.cycle]
            assert words[: len(one.words)] == one.words
            assert str(one.packet) == packet


def variables(text):
    """Return the values of each variable of a dump, read by pyvcd: path -> [(time, value)]."""
    paths, scopes, values, now = {}, [], {}, 0
    for token in tokenize(io.BytesIO(text.encode())):
        if token.kind is TokenKind.SCOPE:
            scopes.append(token.scope.ident)
        elif token.kind is TokenKind.UPSCOPE:
            scopes.pop()
        elif token.kind is TokenKind.VAR:
            paths[token.var.id_code] = ".".join([*scopes, token.var.reference])
        elif token.kind is TokenKind.CHANGE_TIME:
            now = token.time_change
        elif token.kind is TokenKind.CHANGE_STRING:
            values.setdefault(paths[token.string_change.id_code], []).append((now, token.string_change.value))
    return values


def test_viewers_get_a_dump_of_packets(tmp_path, capsys):
    fabric, dump = line()
    write_fabric(fabric, tmp_path / "line")
    out = tmp_path / "packets.vcd"
    assert main(["waves", str(dump), str(tmp_path / "line"), "-o", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == [str(out), str(tmp_path / "packets.gtkw"), str(tmp_path / "packets.sucl")]
    shown, waves = variables(out.read_text()), Waves(fabric.machine, Dump(dump))
    period = (waves.end - waves.start) // waves.cycles
    head = next(one for one in waves.passages if one.place.node == 1 and one.place.port == 0)
    time = waves.start + head.cycle * period
    assert (time, f"{head.packet}:+{head.cycle - head.packet.cycle}") in shown["packets.node_1.dim0_plus"]
    assert [value for at, value in shown["packets.node_1.dim0_plus_flit"] if 0 <= at - time < 8 * period] == [
        *"01234567"
    ]
    free = [int(value) for _, value in shown["packets.node_1.dim0_plus_free"]]
    assert (free[0], free[-1]) == (2, 0)
    assert shown["packets.node_3.to_terminal"][-1] == (shown["packets.node_3.to_terminal"][-1][0], "-")
    named = re.findall(r"^packets\.\S+$", (tmp_path / "packets.gtkw").read_text(), re.M)
    assert sorted(named) == sorted(shown)


def refusal(capsys, *arguments):
    assert main(["waves", *map(str, arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def test_what_is_refused(tmp_path, capsys):
    fabric, dump = line()
    write_fabric(fabric, tmp_path / "line")
    for name, spec in {"ring": "torus(4)", "short": "mesh(3)", "long": "mesh(5)"}.items():
        write_fabric(emit_fabric(fabric_spec(spec, buffers=2)), tmp_path / name)
    write_fabric(emit_fabric(fabric_spec("mesh(4)", packet_length=4)), tmp_path / "halves")
    write_fabric(emit_fabric(fabric_spec("mesh(4)", flit_width=16)), tmp_path / "narrow")
    text = dump.read_text()
    header, changes = text.split("$enddefinitions", 1)
    codes = dict(re.findall(r"\$var wire +\d+ (\S+) (channel_[01]_dim0_plus_data)", header)[::-1])
    codes = {name: code for code, name in codes.items()}
    one, two = codes["channel_0_dim0_plus_data"], codes["channel_1_dim0_plus_data"]
    swapped = header.replace(f" {one} channel_0", " ? channel_0").replace(f" {two} channel_1", f" {one} channel_1")
    files = {
        "empty": "",
        "text": "not a dump\n",
        "fst": "\0\0\0",
        "header": header,
        "still": f"{header}$enddefinitions $end\n#0\n",
        "swapped": f"{swapped.replace(' ? channel_0', f' {two} channel_0')}$enddefinitions{changes}",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)

    def refused(dump, folder, *more):
        return refusal(capsys, dump, tmp_path / folder, *more)

    assert "lacks channel_0_dim0_minus_data" in refused(dump, "ring")
    assert "has channel_2_dim0_plus_valid too" in refused(dump, "short")
    assert "lacks channel_3_dim0_plus_data" in refused(dump, "long")
    assert "has inject_0_payload of 32 bits, not 16" in refused(dump, "narrow")
    assert "is of another fabric than that of the folder" in refused(dump, "halves")
    assert "carries a packet that node" in refused(tmp_path / "swapped", "line")
    for name in ("empty", "text", "header"):
        assert f"{name} is no VCD: it has no end of declarations" in refused(tmp_path / name, "line")
    assert "fst2vcd" in refused(tmp_path / "fst", "line")
    assert "it must begin with the reset" in refused(tmp_path / "still", "line")
    assert "must be a dump in VCD, not a folder" in refused(tmp_path, "line")
    assert "No such file" in refused(tmp_path / "none.vcd", "line")
    assert "manifest.json is not there" in refused(dump, ".")
    assert "--scope must be a scope of" in refused(dump, "line", "--scope", "bench.there")
    assert "--output must be a file, one of .vcd" in refused(dump, "line", "-o", tmp_path / "packets.txt")
    assert "must be different files" in refused(dump, "line", "-o", dump)
