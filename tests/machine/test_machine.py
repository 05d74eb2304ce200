"""The machine: what is derived from a spec and its plan, and that it is handed over whole."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest
from amaranth.hdl import Fragment

from hdnhw.cli.options import Parser, add_machine_options, machine_options
from hdnhw.endpoints import declared
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.machine.crc import check_width
from hdnhw.machine.machine import Machine, make_machine
from hdnhw.machine.timing import SlotTiming, buffers_per_vc
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.sweep import Point, machine_row
from hdnhw.rtl.queueing import ALLOCATORS
from hdnhw.spec import QUEUEINGS, EndpointSpec, FabricSpec
from hdnhw.spec.options import Choice, Flag, Size, options_of
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import neighbor_table
from tests.specs import fabric_spec

ROOT = Path(__file__).parents[2]
HANDED_WHOLE = ("hdnhw/endpoints", "hdnhw/model", "hdnhw/rtl", "hdnhw/verilog", "hdnhw/fpga", "sim", "boards")
"""Folders whose functions take a machine, never two of its options."""
ENDPOINT_SPECS = (
    AxiStreamSpec(),
    AxiMemorySpec(),
    CollectiveSpec(operations=("exchange",)),
    RelaySpec(),
    ExchangeSpec(at_once=True),
)


def spec_of(text="rdn(cube(2), 1)", **options):
    return fabric_spec(text, **options)


@pytest.mark.parametrize("length", [1, 2, 4, 8, 9])
@pytest.mark.parametrize("crc", [False, True])
@pytest.mark.parametrize("buffers", [None, 1, 8])
def test_what_is_derived(length, crc, buffers):
    made = make_machine(spec_of(packet_length=length, crc=crc, buffers=buffers, flit_width=20))
    assert made.timing == SlotTiming(length, crc=crc)
    assert made.buffers == (2 * made.timing.full_rate_buffers if buffers is None else buffers)  # it has two classes
    assert made.is_block_ram == (length >= 8 and made.buffers >= 4)
    enough = {1: 8 if crc else 4, 2: 4}.get(length, 4 if crc else 2)
    assert made.ejection_buffers == min(made.buffers * (2 if crc else 1), enough)
    assert [made.vc_buffers(port) for port in range(3)] == [buffers_per_vc(made.buffers, 2)] * 3
    assert made.word_width == 20 + (check_width(20) if crc else 0)
    assert (made.flits.flit_width, made.flits.address_width, made.flits.packet_length) == (20, 5, length)
    assert (made.network, made.address) == (made.plan.network, made.plan.address)
    assert made.endpoint_format is None


def test_options_are_those_of_the_spec_with_their_defaults_filled_in():
    made = make_machine(spec_of("hdn(cube(2), [[0], [0, 1]])", packet_length=1))
    options = made.options()
    assert list(options) == list(options_of(FabricSpec))
    assert (options["modes"], options["buffers"], options["crc"]) == ("Of", 16, False)
    assert list(made.options(routes=True)) == ["modes", "lanes"]
    pins = dict.fromkeys(("dead_pins", "crc", "gapless_packets", "monitor"), False)
    assert made.options(pins=True) == pins
    assert make_machine(replace(made.spec, **options)).options() == options


@pytest.mark.parametrize(
    ("text", "options", "ram", "buffers"),
    [
        ("cube(2)", {}, "block", 4),
        ("rdn(cube(2), 1)", {}, "block", 4),
        ("rdn(cube(2), 1)", {"lanes": 2}, "block", 8),
        ("cube(2)", {"packet_length": 7}, "distributed", 2),
        ("cube(2)", {"buffers": 2}, "distributed", 2),
        ("cube(2)", {"buffers": 2, "ram": "block"}, "block", 2),
        ("cube(2)", {"ram": "distributed"}, "distributed", 4),
        ("cube(2)", {"buffers": 8, "packet_length": 7}, "distributed", 8),
    ],
)
def test_which_ram_and_how_many_buffers(text, options, ram, buffers):
    made = make_machine(spec_of(text, **options))
    assert (made.options()["ram"], made.buffers) == (ram, buffers)
    assert made.is_block_ram == (ram == "block")


def test_a_machine_is_made_once():
    assert make_machine(spec_of()) is make_machine(spec_of())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"flit_width": 4}, "flit_width must be at least the network's 5 address bits, not 4"),
        ({"flit_width": 17, "endpoints": RelaySpec()}, "flit_width must be at least the 18 header bits of relays"),
        ({"flit_width": 12, "endpoints": AxiStreamSpec()}, "flit_width must be a multiple of 8 bits"),
        (
            {"packet_length": 1, "endpoints": CollectiveSpec()},
            "packet_length must be at least 2 flits, not 1: the header of collective",
        ),
        ({"flit_width": 9, "endpoints": ExchangeSpec()}, "flit_width must be at least 10 for a total exchange's"),
        ({"modes": "O", "lanes": 3}, "lanes must be 1 or 2, not 3"),
        (
            {"ram": "block", "packet_length": 7},
            "ram block needs packets of 8 flits or more, not 7: it is read ahead",
        ),
        (
            {"switching": "cut-through", "packet_length": 9},
            "cut-through needs packets of an even number of flits, 8 or more, not 9",
        ),
        ({"switching": "cut-through", "packet_length": 6}, "cut-through needs packets .* not 6"),
        ({"switching": "cut-through", "queueing": "voq"}, "cut-through needs queueing='fifo': matching takes"),
        (
            {"switching": "cut-through", "crc": True},
            "cut-through of packets of fewer than 16 flits does not go with crc: they",
        ),
        ({"switching": "cut-through", "dead_pins": True}, "cut-through does not go with dead_pins: routers look"),
        (
            {"switching": "cut-through", "endpoints": RelaySpec()},
            "cut-through does not go with endpoints='relay'",
        ),
        ({"channel_latency": 0}, "^channel_latency must be 1 to 1024 cycles, not 0$"),
        ({"channel_latency": "cross1=1025"}, "^channel_latency must be 1 to 1024 cycles, not 1025$"),
        ({"channel_latency": "2 0"}, "^channel_latency must be cycles such as 2, .* not '2 0'$"),
        ({"channel_latency": "\u0662"}, "^channel_latency must be cycles such as 2, "),
        (
            {"channel_latency": "cross1"},
            "^channel_latency must be cycles such as 2, or those of types .* not 'cross1'$",
        ),
        ({"channel_latency": "dim0=2,cross9=2"}, "names cross9, and .* has the channels dim0, dim1, cross1$"),
        ({"gapless_packets": True, "packet_length": 1}, "gapless packets must have 2 flits or more: one of a single"),
        ({"modes": "OO"}, "modes of .* must be one letter f or O, not 'OO'"),
        ({"channel_width": 0}, "^channel_width must be 1 to 1024 bits, not 0$"),
        ({"channel_width": "cross1=33"}, "^channel_width must be at most the 32 bits of a flit, not 33$"),
        ({"channel_width": 41, "crc": True}, "^channel_width must be at most the 40 bits of a flit, not 41$"),
        ({"channel_width": "dim0=2,cross9=2"}, "^channel_width names cross9, and .* has the channels dim0"),
        ({"channel_width": "16 bits"}, "^channel_width must be bits such as 2, or those of types .* not '16 bits'$"),
        ({"channel_width": 16, "dead_pins": True}, "^channel_width does not go with dead_pins: packets that queue"),
        (
            {"channel_width": 16, "switching": "cut-through"},
            "^cut-through of packets of fewer than 16 flits does not go with channel_width: nothing says ahead",
        ),
    ],
)
def test_what_cannot_be_built_is_refused_when_it_is_made(options, message):
    with pytest.raises(SpecError, match=message):
        make_machine(spec_of(**options))


def test_where_packets_cut_through_neighbors_are_half_a_slot_apart():
    made = make_machine(fabric_spec("mesh(3, 5)", switching="cut-through"))
    table = neighbor_table(made.network)
    odd = made.channels.odd
    assert all(odd[node] != odd[other] for node, row in enumerate(table) for other in row if other >= 0)
    assert not make_machine(fabric_spec("mesh(3, 5)")).channels.odd.any()
    with pytest.raises(SpecError, match=r"needs a network without cycles of odd length, and torus\(5, 4\) has some"):
        make_machine(fabric_spec("torus(5, 4)", switching="cut-through"))


@pytest.mark.parametrize("endpoints", ENDPOINT_SPECS, ids=lambda spec: spec.kind)
def test_each_kind_of_endpoints_stands_in_every_table(endpoints):
    made = make_machine(spec_of("hdn(cube(1), [[]])", flit_width=64, endpoints=endpoints))
    assert type(endpoints) is declared("spec")[endpoints.kind]
    assert made.endpoint_format.header_positions["dst"] == {"offset": 0, "width": made.address.width}
    emitted = declared("emitted")[endpoints.kind](made, "top", {})
    unit, around = emitted.unit(), emitted.around(emitted.parts())
    for module in (unit, around):
        Fragment.get(module, None)
    assert emitted.machine is unit.machine is around.machine is made
    assert declared("bench")[endpoints.kind].kind is type(endpoints)


def test_no_kind_of_endpoints_is_missing_here():
    kinds = {spec.kind: type(spec) for spec in ENDPOINT_SPECS}
    assert declared("spec") == kinds
    assert set(declared("emitted")) == set(declared("format")) == set(declared("bench")) == set(kinds)
    assert set(kinds.values()) == set(EndpointSpec.__subclasses__())


@pytest.mark.parametrize("endpoints", ENDPOINT_SPECS, ids=lambda spec: spec.kind)
def test_what_endpoints_refuse(endpoints):
    for name, why in endpoints.refuses.items():
        with pytest.raises(SpecError) as caught:
            spec_of(endpoints=endpoints, **{name: True})
        assert str(caught.value) == why
    for name in {"dead_pins", "crc"} - set(endpoints.refuses):
        assert getattr(spec_of(endpoints=endpoints, **{name: True}), name)


@pytest.mark.parametrize("text", ["cube(2)", "torus(5)", "star(4)", "jellyfish(20, 3)"])
@pytest.mark.parametrize("length", [1, 2, 8])
def test_with_the_buffers_that_are_named_a_virtual_channel_sustains_all(text, length):
    note = make_machine(spec_of(text, packet_length=length, buffers=1)).buffer_note
    (enough,) = map(int, re.findall(r"buffers=(\d+)", note))
    assert make_machine(spec_of(text, packet_length=length, buffers=enough)).vc_rate == 1
    assert make_machine(spec_of(text, packet_length=length, buffers=enough // 2)).vc_rate < 1


def test_each_queueing_has_an_allocator_and_rounds():
    assert set(ALLOCATORS) == set(QUEUEINGS)
    rounds = [make_machine(spec_of(queueing=queueing, packet_length=8)).matching_rounds for queueing in QUEUEINGS]
    assert rounds == [0, 2]


@pytest.mark.parametrize(("length", "buffers", "few"), [(8, 8, 4), (8, 2, 2), (4, 8, 4), (1, 16, 8), (2, 16, 4)])
def test_injection_has_fewer_packet_buffers_with_virtual_output_queues(length, buffers, few):
    for queueing, expected in (("fifo", buffers), ("voq", few)):
        made = make_machine(spec_of(packet_length=length, buffers=buffers, queueing=queueing))
        assert made.injection_buffers == expected
        assert made.timing == SlotTiming(length, queueing=queueing)


def other_value(name, option):
    """Return a value of an option that is not its default."""
    values = {"modes": "f", "packet_length": 4, "flit_width": 40, "ram": "distributed", "channel_latency": "cross1=7"}
    values |= {"channel_width": "cross1=7"}
    if name in values:
        return values[name]
    default = getattr(spec_of(), name)
    return next(value for value in option.drawn if value != default)


@pytest.mark.parametrize("name", options_of(FabricSpec))
def test_an_option_reaches_command_line_keys_and_rows(name):
    option, value = options_of(FabricSpec)[name], other_value(name, options_of(FabricSpec)[name])
    parser = Parser()
    add_machine_options(parser)
    flag = f"--{name.replace('_', '-')}"
    arguments = [flag] if isinstance(option, Flag) else [flag, str(value)]
    spec = spec_of(**machine_options(parser.parse_args(arguments)))
    assert spec == spec_of(**{name: value})
    assert option.help in " ".join(parser.format_help().split())
    keys = {Point(fabric=each, load=LoadSpec()).key for each in (spec, spec_of())}
    assert len(keys) == 1 + option.timed
    assert (name in machine_row(make_machine(spec))) == option.timed
    assert make_machine(spec).options()[name] == value


def test_cycles_depend_on_the_bits_of_flits_where_channels_are_narrow():
    for narrow, keys in ((None, 1), ("cross1=8", 2)):
        specs = [spec_of(flit_width=width, channel_width=narrow) for width in (32, 64)]
        assert len({spec.timed for spec in specs}) == keys
        assert all(make_machine(spec.timed).links == make_machine(spec).links for spec in specs)


def test_what_the_help_says_of_defaults():
    parser = Parser()
    add_machine_options(parser, defaults={"flit_width": "the board's"}, pins=False)
    shown = " ".join(parser.format_help().split())
    for text in (
        "flits per packet (default 8)",
        "bits per flit (default the board's)",
        "(default fifo)",
        "class (default 1)",
    ):
        assert text in shown
    assert "--crc" not in shown


def test_every_option_is_drawn_by_the_lockstep_check_or_has_a_way_of_its_own():
    options = options_of(FabricSpec)
    own = {"modes", "packet_length", "flit_width", "channel_latency", "channel_width"}
    assert {name for name, option in options.items() if not option.drawn} == own
    for option in options.values():
        if isinstance(option, Choice):
            assert option.drawn == option.choices
        if isinstance(option, Size):
            assert all(option.least <= value <= option.most for value in option.drawn)


def parameters_of(function):
    own = function.args
    return {argument.arg for argument in (*own.posonlyargs, *own.args, *own.kwonlyargs)}


def taken_apart(source, names):
    """Return the functions of a source that take two of `names` or more."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    return [getattr(node, "name", "lambda") for node in functions if len(parameters_of(node) & names) > 1]


@pytest.mark.parametrize("folder", HANDED_WHOLE)
def test_no_function_takes_a_machine_apart(folder):
    names, seen = set(options_of(FabricSpec)), 0
    assert names >= {
        "packet_length",
        "flit_width",
        "buffers",
        "crossbar",
        "queueing",
        "dead_pins",
        "crc",
        "lanes",
        "modes",
    }
    for path in sorted((ROOT / folder).rglob("*.py")):
        assert taken_apart(path.read_text(), names) == [], path
        seen += 1
    assert seen > 5


def test_a_function_that_does_is_seen():
    names = set(options_of(FabricSpec))
    assert taken_apart("def f(a, *, crc, lanes): ...", names) == ["f"]
    assert taken_apart("class A:\n    async def g(self, buffers, modes=None): ...", names) == ["g"]
    assert taken_apart("def f(crc): ...\ndef g(lanes): ...", names) == []


def test_the_plan_of_a_machine_may_be_another_one():
    """Negative controls replace the plan, and nothing else."""
    made = make_machine(spec_of())
    rule = replace(made.plan.rule, vc=(made.plan.rule.circuit.constant(0),))
    broken = replace(made, plan=replace(made.plan, rule=rule, num_vcs=(1, 1, 1)))
    assert isinstance(broken, Machine)
    assert (broken.plan.max_vcs, made.plan.max_vcs) == (1, 2)
    assert broken.timing == made.timing
