"""Proofs about endpoints: the emitted ones keep the rules of streams and send whole packets, changed ones do not."""

import json
from functools import partial

import pytest

from hdnhw.cli import main
from hdnhw.endpoints import declared
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.proofs import prove
from hdnhw.proofs.endpoints import prove_endpoints
from hdnhw.proofs.finding import Finding
from hdnhw.proofs.streams import streams_of
from hdnhw.verilog.fabric import emit_fabric
from tests.proofs.changed import SECONDS, SMALL, answers, changed, check_refuted, emitted
from tests.specs import fabric_spec

prove_streams, prove_packets, prove_grants = (
    partial(prove_endpoints, properties=[name]) for name in ("streams", "packets", "grants")
)


@pytest.fixture
def axi():
    return emitted(AxiStreamSpec())


@pytest.mark.parametrize(
    ("kind", "streams"),
    [
        ("axi-stream", {"inject", "m_axis"}),
        ("axi4", {"inject", "m_axi_ar", "m_axi_aw", "m_axi_w", "s_axi_b", "s_axi_r"}),
        ("relay", {"inject", "deliver"}),
        ("collective", {"inject", "o"}),
        ("exchange", {"inject"}),
    ],
)
def test_streams_of_what_is_emitted_are_proved(kind, streams):
    fabric = emitted(declared("spec")[kind]())
    assert set(streams_of(fabric, fabric.endpoints.modules.unit)) == streams
    assert answers(prove_streams(fabric, seconds=SECONDS)) == {("proved", "")}


def test_streams_of_the_blocks_of_a_system_are_proved():
    blocks = [
        {"name": "cpu", "kind": "axi4-manager", "data_width": 16, "node": 0},
        {"name": "uart", "kind": "axi4-lite-subordinate", "node": 1, "ranges": [[0x4000, 0x1000]]},
        {"name": "rom", "kind": "axi4-subordinate", "data_width": 16, "node": 0, "ranges": [[0x0, 0x1000]]},
    ]
    fabric = emitted(declared("spec")["axi4"](memory_bits=12, outstanding=2, blocks=blocks))
    found = list(prove_streams(fabric, seconds=SECONDS))
    assert {(one.module, one.answer) for one in found} == {(unit, "proved") for unit in fabric.endpoints.units}
    assert {one.part for one in found} > {"cpu_b", "cpu_r", "rom_aw", "rom_w", "uart_ar"}


@pytest.mark.parametrize("kind", declared("spec"))
def test_streams_without_initial_values_are_proved(kind):
    spec = fabric_spec(SMALL, endpoints=declared("spec")[kind]())
    assert answers(prove_streams(emit_fabric(spec, initial=False), seconds=SECONDS)) == {("proved", "")}


@pytest.mark.parametrize(
    ("network", "options", "endpoints"),
    [
        ("torus(4, 4)", {"packet_length": 4}, {"max_frame": 16}),
        ("rdn(torus(3), 1)", {"packet_length": 2, "flit_width": 64}, {}),
        ("hdn(cube(2), [[0]])", {"packet_length": 5}, {"tuser_width": 4, "tuser": "last"}),
    ],
)
def test_streams_of_other_machines_are_proved(network, options, endpoints):
    fabric = emitted(AxiStreamSpec(**endpoints), network, **options)
    assert answers(prove_streams(fabric, seconds=SECONDS)) == {("proved", "")}


@pytest.mark.parametrize(
    ("pattern", "becomes", "part", "said"),
    [
        (  # tvalid falls while nobody is ready
            r"(\\output.m_axis__valid.next  =) \\output.m_axis__valid ;",
            r"\1 1'h0;",
            "m_axis",
            "what is offered is withdrawn",
        ),
        (  # tdata goes on while nobody is ready
            r"(\\output.beat_data.next  =) \\output.beat_data ;",
            r"\1 \\output.read__data ;",
            "m_axis",
            "what is offered changes while it waits",
        ),
        (  # a bit of tkeep, tlast, tid and tuser is lost while nobody is ready
            r"(assign m_axis__payload = \{ )(output_port_\d+_0)(,)",
            r"\1 \2 & {9{m_axis__ready}} \3",
            "m_axis",
            "what is offered changes while it waits",
        ),
        (  # a reset leaves tvalid alone
            r"(    if \(\\output.rst \) begin\n      \\output.m_axis__valid.next  =) 1'h0;",
            r"\1 \\output.m_axis__valid ;",
            "m_axis",
            "something is offered right after reset",
        ),
        (  # a flit goes on while the router is not ready
            r"(\\sender.inject__payload.next  =) \\sender.inject__payload ;",
            r"\1 { \\sender.inject__payload [30:0], 1'h0 };",
            "inject",
            "what is offered ",
        ),
        (  # there is a flit when a reset ends
            r"(\\sender.inject__valid.next  =) 1'h0;",
            r"\1 1'h1;",
            "inject",
            "something is offered ",
        ),
    ],
)
def test_a_changed_stream_is_refuted(axi, pattern, becomes, part, said):
    check_refuted(prove_streams(changed(axi, pattern, becomes), seconds=SECONDS, parts=[part]), said)


@pytest.mark.parametrize(
    ("network", "options", "endpoints"),
    [
        (SMALL, {}, {}),
        (SMALL, {"packet_length": 4}, {}),
        (SMALL, {"flit_width": 8}, {}),
        ("torus(4, 4)", {"packet_length": 4}, {"max_frame": 16}),
        ("mesh(2, 2)", {"packet_length": 16, "flit_width": 16}, {"tuser_width": 8, "tuser": "last"}),
        ("hdn(cube(2), [[0]])", {"packet_length": 5, "flit_width": 16}, {"prompt_packets": 2}),
        ("rdn(torus(3), 1)", {"packet_length": 2, "flit_width": 64}, {}),
        ("torus(4, 4)", {"packet_length": 32}, {}),
    ],
)
def test_packets_of_what_is_emitted_are_proved(network, options, endpoints):
    fabric = emitted(AxiStreamSpec(**endpoints), network, **options)
    assert answers(prove_packets(fabric, seconds=SECONDS)) == {("proved", "")}


def test_results_of_several_short_packets_come_late_and_are_proved():
    engines = CollectiveSpec(operations=("allreduce",), message_packets=3)
    fabric = emitted(engines, "cube(2)", packet_length=4)
    assert answers(prove_streams(fabric, seconds=SECONDS)) == {("proved", "")}


def test_of_other_endpoints_no_packets_are_looked_at():
    fabric = emitted(declared("spec")["exchange"]())
    assert not list(prove_packets(fabric, seconds=SECONDS))


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (  # another tkeep
            r"(\\sender.header.next \[15:12\] =)",
            r"\1 ~",
            "of keep is wrong in a header",
        ),
        (  # a frame ends with its first packet
            r"(\\sender.header.next \[8\] =) \\sender.is_last ;",
            r"\1 1'h1;",
            "of last is wrong in a header",
        ),
        (  # another source
            r"(\\sender.header.next \[5:3\] =)",
            r"\1 ~",
            "of src is wrong in a header",
        ),
        (  # grants go where the frame goes
            r"(\\sender.replies  \?) \\sender.reply__payload ",
            r"\1 \\sender.oldest__frame [2:0]",
            "of dst is wrong in a header",
        ),
        (  # a beat comes twice
            r"(assign \\sender.oldest__take_word  =)",
            r"\1 ~\\sender.is_last &",
            "a data flit is not where it belongs, or changed",
        ),
        (  # a beat is lost
            r"(assign \\sender.oldest__take_word  =)",
            r"\1 \\sender.load |",
            "a data flit is ",
        ),
        (  # a bit of tdata turns over
            r"(\\sender.inject__payload.next  =) (\\sender.mux_\d+ );",
            r"\1 { \2[31:1], \2[0] ^ \\sender.has_data };",
            "a data flit is not where it belongs, or changed|is wrong in a header",
        ),
        (  # a frame is taken with a packet before its last
            r"(\\sender.last.next  =)",
            r"\1 \\sender.oldest__whole |",
            "a frame is taken with another packet than its last",
        ),
        (  # a packet pauses
            r"(\\sender.inject__valid.next  =) (\\sender.signal_\d+ );",
            r"\1 \2 & ~\\sender.replies ;",
            "a packet pauses|a data flit is not where",
        ),
    ],
)
def test_a_changed_sender_is_refuted(axi, pattern, becomes, said):
    check_refuted(prove_packets(changed(axi, pattern, becomes), seconds=SECONDS), said)


@pytest.mark.parametrize(
    ("network", "options", "endpoints"),
    [
        (SMALL, {}, {}),
        (SMALL, {"packet_length": 4, "flit_width": 16}, {"prompt_packets": 2}),
        ("torus(4, 4)", {"packet_length": 32}, {}),
        ("rdn(torus(3), 1)", {"packet_length": 2, "flit_width": 64}, {}),
    ],
)
def test_grants_of_what_is_emitted_are_proved(network, options, endpoints):
    fabric = emitted(AxiStreamSpec(**endpoints), network, **options)
    assert answers(prove_grants(fabric, seconds=SECONDS)) == {("proved", "")}


def test_where_nothing_is_granted_no_grants_are_looked_at():
    without = emitted(AxiStreamSpec(max_frame=16))
    for fabric in (without, emitted(declared("spec")["relay"]())):
        assert not list(prove_grants(fabric, seconds=SECONDS))


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (  # whatever is left of the reserve is enough
            r"(assign \\receiver.granter.not_\d+  = ~) \\receiver.granter.signal_\d+ \[6\];",
            r"\1 1'h0;",
            "more is granted than the reserve",
        ),
        (  # there is one more in the reserve
            r"(\\receiver.granter.left.next  =) 6'h28;",
            r"\1 6'h29;",
            "more is granted than the reserve",
        ),
        (  # a request is granted twice
            r"(\\receiver.granter.requests_address.next  =) \\receiver.granter.sum_\d+ \[3:0\];",
            r"\1 \\receiver.granter.requests_address ;",
            "",
        ),
        (  # another source is granted
            r"(\\receiver.granter.reply__payload.next  =) (\\receiver.granter.\S+) \[2:0\];",
            r"\1 ~\2 [2:0];",
            "a grant goes to another source",
        ),
        (  # what comes back counts twice
            r"(assign \\receiver.granter.sum_\d+  = \\receiver.granter.left  \+ \\receiver.granter.returns )",
            r"\1 + \\receiver.granter.returns ",
            "more is granted than the reserve",
        ),
    ],
)
def test_a_changed_granter_is_refuted(axi, pattern, becomes, said):
    check_refuted(prove_grants(changed(axi, pattern, becomes), seconds=SECONDS), said)


def test_the_command_names_endpoints(monkeypatch, tmp_path, capsys):
    for name, own in (("routing", "route arrival wiring"), ("delivery", "delivery"), ("waiting", "waiting")):
        found = [Finding.compared(one, "fabric", "all", method="none", cases=0, why="") for one in own.split()]
        monkeypatch.setattr(prove, f"prove_{name}", lambda *_, found=found, **__: found)
    words = ["cube(2)", "--flit-width", "8", "--packet-length", "4", "--endpoints", "axi-stream", "--max-frame", "16"]
    assert main(["emit", *words, "-o", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["prove", *words, "-o", str(tmp_path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {one["property"] for one in said["findings"]} >= {"packets", "streams", "frames"}
    assert (said["proved"], said["bounded"]) == (True, ["frames"])
    assert {one["module"] for one in said["findings"] if one["property"] == "streams"} == {"fabric_axi_endpoint"}
    certificate = str(tmp_path / "certificate.json")
    assert main(["prove", "--check", certificate]) == 0
    (tmp_path / "fabric_axi.sv").write_text("\n")
    assert main(["prove", "--check", certificate]) == 2
    assert main(["prove", *words[:-1], "128", "-o", str(tmp_path)]) == 2
