"""Operations in registers on engines in the emitted Verilog: what nodes get and send, and each kind of fault seen."""

from dataclasses import replace

import pytest

from hdnhw.collectives.instructions import Kind
from hdnhw.endpoints.collective.bench import CollectiveBench, CollectiveCase
from hdnhw.endpoints.collective.bench_registers import RegisterBench
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.machine.machine import Machine
from hdnhw.rules.plan import plan
from hdnhw.sim.compare import log_rows
from hdnhw.spec import REGISTER_OPERATIONS, FabricSpec
from hdnhw.verilog.fabric import emit_fabric, emit_machine
from tests.specs import fabric_spec

OPERATORS = ("sum", "min", "max", "and", "or", "xor")
PAUSES = (
    {},
    {"stall": 235, "pause": 60, "seed": 2},
    {"pause": 2000, "seed": 3},
    {"ahead": True, "early": True, "stall": 100},
    {"resets": (100, 251, 7)},
)


def spec_of(text: str, *, operators: tuple[str, ...] = OPERATORS, numbers: str = "int8", **machine: int) -> FabricSpec:
    engines = CollectiveSpec(operations=REGISTER_OPERATIONS, operators=operators, numbers=numbers)
    return fabric_spec(text, endpoints=engines, **machine)


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("hdn(torus(3), [[0]])", {"packet_length": 4, "flit_width": 8}),
        ("product(mesh(3), complete(4))", {"packet_length": 3, "numbers": "uint32"}),
        ("rdn(cube(2), 1)", {"packet_length": 4, "numbers": "int16"}),
        ("dualcube(2)", {"queueing": "voq", "buffers": 4, "lanes": 2}),
        ("cube(2)", {"gapless_packets": True, "packet_length": 16, "flit_width": 64, "numbers": "int64"}),
    ],
)
def test_one_after_the_other_while_hosts_pause(text, machine) -> None:
    bench = CollectiveBench.of(emit_fabric(spec_of(text, **machine)))
    assert isinstance(bench, RegisterBench)
    operations = [*REGISTER_OPERATIONS * 3, *reversed(REGISTER_OPERATIONS)]
    operators = [OPERATORS[place % 5] for place in range(len(operations))]
    for pauses in PAUSES:
        verdict = bench.run_case(CollectiveCase(operations, operators=operators, **pauses)).verdict
        assert verdict.passed, (pauses, verdict)


def test_each_fault_is_seen() -> None:
    bench = RegisterBench(emit_fabric(spec_of("hdn(torus(3), [[0]])", packet_length=4, flit_width=16)))
    case = CollectiveCase(["scan"])
    assert bench.run_case(case, keep=True).verdict.passed
    folder = bench.build.run_folder(bench.name)
    results, sends = ([" ".join(row) for row in log_rows(folder / name)] for name in ("results.log", "sends.log"))

    def faults(results: list[str], sends: list[str]) -> tuple[int, int, bool]:
        (folder / "results.log").write_text("\n".join(results))
        (folder / "sends.log").write_text("\n".join(sends))
        (verdict,) = bench.check(case, folder).operations
        return verdict.lost, verdict.wrong, verdict.send_mismatches > 0

    *whose, word = results[-1].split()
    assert faults(results, sends) == (0, 0, False)
    assert faults(results[:-1], sends) == (1, 0, False)
    assert faults([*results[:-1], f"{' '.join(whose)} {int(word, 16) ^ 1:x}"], sends) == (0, 1, False)
    assert faults(results, sends[:-1]) == (0, 0, True)
    assert faults(results, [*sends, sends[-1]]) == (0, 0, True)


@pytest.mark.parametrize("times", [0, 2])
def test_a_combination_too_few_or_too_many_is_seen(times: int) -> None:
    spec = spec_of("cube(1)", operators=("sum",), packet_length=4, flit_width=16)
    machine = Machine(spec, plan(spec.network))
    program = engines_of(machine).register_program
    code = list(program.code["scan"])
    place = next(place for place, each in enumerate(code) if each.kind is Kind.COMBINE and each.one is not None)
    code[place : place + 1] = [code[place]] * times
    engines_of(machine).__dict__["register_program"] = replace(program, code=program.code | {"scan": tuple(code)})
    verdicts = RegisterBench(emit_machine(machine)).run_case(CollectiveCase(REGISTER_OPERATIONS)).verdict.operations
    assert [verdict.passed for verdict in verdicts] == [True, False, True]
