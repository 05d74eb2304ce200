"""Support for all tests: one hypothesis profile, and simulations of Amaranth components.

The profile is repeatable, and blind to how busy the machine is. Each bench has a cycle limit, and streams pause.
"""

import inspect
import json
import shlex
import signal
from functools import wraps
from pathlib import Path
from tempfile import mkdtemp

import pytest
from amaranth.hdl import ClockDomain, Module, Value
from amaranth.sim import Simulator
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

settings.register_profile(
    "hdnhw", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("hdnhw")

# Hypothesis tries numbers and strings that it finds in the modules that a process has imported: others in each process,
# and for each choice of tests.
providers._get_local_constants = lambda: providers._local_constants

# A shell that starts tests in the background has Ctrl-C ignored, in all that they start: they send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def each(names, cases):
    """Check all cases in one test that fails with what is said of every case that fails.

    It is used as ``pytest.mark.parametrize`` is, for cases that take next to no time. They share the test's fixtures.

    Parameters
    ----------
    names : tuple of str, or str
        Arguments of the test that a case has values for.
    cases : iterable
    """
    tried = [{names: case} if isinstance(names, str) else dict(zip(names, case, strict=True)) for case in cases]

    def decorate(check):
        @wraps(check)
        def test(**fixtures):
            failed = []
            for number, case in enumerate(tried):
                try:
                    check(**fixtures, **case)
                except (Exception, SystemExit, pytest.fail.Exception, pytest.skip.Exception) as error:
                    error.__traceback__ = error.__traceback__.tb_next or error.__traceback__
                    said = pytest.ExceptionInfo.from_exception(error).getrepr(style="short")
                    values = ", ".join(f"{name}={value!r:.200}" for name, value in case.items())
                    failed.append(f"case {number}: {values}\n{said}")
            if failed:
                pytest.fail("\n\n".join([f"{len(failed)} of {len(tried)} cases fail", *failed]), pytrace=False)

        signature = inspect.signature(check)
        fixtures = [one for name, one in signature.parameters.items() if name not in tried[0]]
        test.__signature__ = signature.replace(parameters=fixtures)
        return test

    return decorate


PERIOD = 1e-6
CYCLE_LIMIT = 2000


class CycleLimitError(AssertionError):
    """A bench that has not come to its end."""


def _simulate(dut, *benches, background=(), cycles=CYCLE_LIMIT, domain=None):
    """Run async functions of the simulation context at once, until all have returned.

    The clock of the domain ``sync`` is the only one there is. Time runs with it or without it, so that a bench that
    waits for another clock ends as well.

    Parameters
    ----------
    dut : Elaboratable
    benches : async callables
    background : iterable of async callables
        Others, which need not return.
    cycles : int
        Cycle limit.
    domain : ClockDomain, optional
        The domain ``sync``, for a bench that drives its reset.

    Raises
    ------
    CycleLimitError
        If a bench is still running after so many cycles.
    """
    running = []

    def tracked(bench):
        async def followed(ctx):
            running.append(bench.__name__)
            await bench(ctx)
            running.remove(bench.__name__)

        return followed

    async def watch(ctx):
        await ctx.delay(cycles * PERIOD)
        raise CycleLimitError(f"still running after {cycles} cycles: {', '.join(running)}")

    m = Module()
    m.domains.sync = domain or ClockDomain()
    m.submodules.dut = dut
    simulator = Simulator(m)
    simulator.add_clock(PERIOD)
    simulator.add_testbench(watch, background=True)
    for bench in benches:
        simulator.add_testbench(tracked(bench))
    for bench in background:
        simulator.add_testbench(bench, background=True)
    simulator.run()


async def _send(ctx, stream, items, pause=lambda: False):
    """Send `items` into a stream; `pause` is asked before each of them and in every cycle of a pause."""
    for item in items:
        while pause():
            await ctx.tick()
        ctx.set(stream.payload, item)
        ctx.set(stream.valid, 1)
        ready = False
        while not ready:
            _, _, ready = await ctx.tick().sample(stream.ready)
        ctx.set(stream.valid, 0)


async def _receive(ctx, stream, count, pause=lambda: False):
    """Take `count` items from a stream, not ready while `pause` says so, and return them as integers.

    The stream rules are checked in every cycle: neither `valid` nor the payload looks at `ready`, and both hold until
    the item is taken.
    """
    payload = Value.cast(stream.payload)
    items, waiting = [], None
    while len(items) < count:
        offers = []
        ready = not pause()
        for value in (not ready, ready):
            ctx.set(stream.ready, value)
            offers.append((ctx.get(stream.valid), ctx.get(payload)))
        assert offers[0] == offers[1], "the stream looks at ready"
        _, _, valid, item = await ctx.tick().sample(stream.valid, payload)
        assert waiting is None or (valid and item == waiting), "the stream did not hold"
        waiting = item if valid and not ready else None
        if valid and ready:
            items.append(item)
    ctx.set(stream.ready, 0)
    return items


@pytest.fixture
def simulate():
    """Return ``simulate(dut, *benches, background=..., cycles=..., domain=...)``."""
    return _simulate


@pytest.fixture
def cycle_limit_error():
    """Return the error of a bench that has run too long."""
    return CycleLimitError


@pytest.fixture
def send():
    """Return ``await send(ctx, stream, items, pause)``."""
    return _send


@pytest.fixture
def receive():
    """Return ``await receive(ctx, stream, count, pause)``."""
    return _receive


@pytest.fixture
def machine_on():
    """Return ``machine_on(plan, **options)``: the machine of a plan, which need not be proved."""
    from hdnhw.machine.machine import Machine
    from hdnhw.spec import FabricSpec

    def machine_on(plan, **options):
        return Machine(FabricSpec(network=plan.network.spec, modes=plan.modes, lanes=plan.lanes, **options), plan)

    return machine_on


@pytest.fixture
def model_on(machine_on):
    """Return ``model_on(plan, faults=None, **options)``: the model of such a machine."""
    from hdnhw.model.fabric import FabricModel

    return lambda plan, faults=None, **options: FabricModel(machine_on(plan, **options), faults)


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Return a function of a command line that returns exit status, stdout and stderr; it runs in an empty folder."""
    from hdnhw.cli import main

    monkeypatch.chdir(tmp_path)

    def run(line):
        try:
            status = main(shlex.split(line))
        except SystemExit as end:
            status = end.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture
def result_of(run):
    """Return a function of a command line, and of its exit status, that returns its JSON object."""

    def result_of(line, status=0):
        ended, out, _ = run(f"{line} --json")
        assert ended == status
        return json.loads(out)

    return result_of


@pytest.fixture
def refused(run, tmp_path, monkeypatch):
    """Return a function of a wrong command line: it sees one line said and no file touched, and returns the line."""

    def refused(line):
        folder = Path(mkdtemp(dir=tmp_path))
        monkeypatch.chdir(folder)
        (folder / "here").write_text("mine")
        status, out, err = run(line)
        assert (status, out, err.count("\n"), err[-1:]) == (2, "", 1, "\n"), err
        assert {path.name: path.read_text() for path in folder.rglob("*")} == {"here": "mine"}
        return err

    return refused


@pytest.fixture(scope="session")
def complaints():
    """Return a function that returns what the tools that are here say of some sources and a top level."""
    from tests.verilog.readers import said_of

    return said_of


@pytest.fixture
def answers_of_this_run(tmp_path_factory, worker_id, monkeypatch):
    """Work in a folder that all processes of this run share, and no other run: what was proved before hides nothing."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "proofs"
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
