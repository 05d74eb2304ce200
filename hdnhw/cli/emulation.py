"""The command that runs algorithms of a product network on an HSN, and those of a hypercube on a dual-cube."""

import argparse
from typing import Any

from hdnhw.cli.options import DONE, FAILED, Result, add_command, network_of, say
from hdnhw.collective.choices import ALGORITHMS, SWAPS
from hdnhw.kernels import Stopwatch
from hdnhw.spec import DualCube, SpecError, cube

__all__ = ["add_emulation_command"]

ONE_SWAP, TWO_SWAPS = "one-swap", "two-swaps"


def emulate(options: argparse.Namespace) -> tuple[Result, int]:
    """Move the data of a step, or of an algorithm, of the product of an HSN's nuclei."""
    from hdnhw.collective.ascend import check_host
    from hdnhw.collective.guest import guest_of, host_of

    watch = Stopwatch()
    uses = {"ways": options.all_port, "swaps": options.run_name, "steps": not options.run_name}
    for name, of in (("ways", "--all-port"), ("swaps", "--run"), ("steps", "--step and --all-port")):
        if getattr(options, name) and not uses[name]:
            raise SpecError(f"--{name} is for {of}")
    host: Any = network_of(options.spec)
    if options.run_name:
        check_host(host)
    is_dual = isinstance(host.spec, DualCube) and options.run_name
    guest = cube(2 * host.spec.r - 1) if is_dual else guest_of(host_of(host, "an emulation"))
    head: Result = {"spec": str(host.spec), "nodes": host.num_nodes, "guest": None if guest is None else str(guest)}
    if options.run_name:
        result, is_right = _run(options, host)
    else:
        result, is_right = _communicate(options, host)
    return head | result | {"seconds": round(watch.seconds, 3)}, DONE if is_right else FAILED


def _run(options: argparse.Namespace, host: Any) -> tuple[Result, bool]:
    from hdnhw.collective.ascend import run_algorithm

    swaps = options.swaps or "paper"
    run = run_algorithm(host, options.run_name, swaps, seed=options.seed)
    published = {}
    if not isinstance(host.spec, DualCube):
        once = 2 * (host.spec.levels - 1)
        published = {"ascend": once, "descend": once, "round-trip": 2 * once, "convolution": 3 * once, "matrix": once}
    return {
        "run": options.run_name,
        "swaps": swaps,
        "steps": run.dimension_steps + run.exchange_steps,
        "dimension_steps": run.dimension_steps,
        "exchange_steps": run.exchange_steps,
        "words": run.words,
        "published_exchange_steps": published.get(options.run_name),
        "checked": run.checked,
        "verified": run.verified,
    }, run.verified


def _communicate(options: argparse.Namespace, host: Any) -> tuple[Result, bool]:
    """Emulate one step of communication."""
    from hdnhw.collective import emulation
    from hdnhw.collective.executor import ScheduleError

    levels, ports = host.spec.levels, len(host.nucleus.ports)
    if options.all_port:
        result: Result = {"ports": "all", "ways": options.ways or _best_ways(host)}
        table = emulation.all_port_timetable(levels, ports)
        bounds = {
            "published_steps": emulation.published_steps(host),
            "lower_bound_steps": emulation.lower_bound_steps(host),
        }
    else:
        result = {"ports": "one", "link": options.step}
        table = emulation.step_timetable(ports, _link(host, options.step))
        bounds = {"published_steps": 3}
    directly = result.get("ways") == ONE_SWAP
    if directly and options.steps:
        raise SpecError(f"--steps is for {TWO_SWAPS}; with {ONE_SWAP} nodes differ")
    try:
        counted = emulation.emulate_directly(host) if directly else emulation.emulate(host, table)
    except ScheduleError as error:
        say(f"hdnhw: {error}")
        return result | {"delivered": False, "error": str(error)}, False
    result |= {"steps": counted.steps, **bounds, "delivered": True, "data": counted.data, "hops": counted.hops}
    result |= {"hops_per_step": list(counted.moved), "busy": round(counted.hops / counted.steps / counted.links, 3)}
    if options.steps:
        result["timetable"] = _rows(host, table, counted.steps)
    return result, True


def _best_ways(host: Any) -> str:
    from hdnhw.collective.emulation import is_direct

    return ONE_SWAP if is_direct(host) else TWO_SWAPS


def _link(host: Any, text: str) -> tuple[int, int]:
    """Read a link of the guest, as in ``3.dim0``."""
    from hdnhw.collective.guest import guest_table

    level, _, name = text.partition(".")
    names = [port.name for port in host.nucleus.ports]
    levels = [str(level) for level in range(1, host.spec.levels + 1)]
    if level not in levels or name not in names:
        raise SpecError(f"step must be 1.{names[0]} to {levels[-1]}.{names[-1]}, not {text!r}")
    port = names.index(name)
    if not (guest_table(host, int(level))[:, port] >= 0).any():
        raise SpecError(f"step must be a dimension of the guest; over {host.spec.top} top clusters {text} is none")
    return int(level), port


def _rows(host: Any, table: Any, steps: int) -> list[Result]:
    """Return for each step and port of the network the link of the guest whose data cross it."""
    rows: list[Result] = [{"step": step} | {port.name: "" for port in host.ports} for step in range(1, steps + 1)]
    for (level, port), hops in table.items():
        for step, over in hops:
            rows[step - 1][host.ports[over].name] = f"{level}.{host.nucleus.ports[port].name}"
    return rows


def add_emulation_command(commands: Any) -> None:
    """Add the command ``emulate``."""
    parser = add_command(
        commands,
        "emulate",
        emulate,
        summary="run a step, or an algorithm, of the product of an HSN's nuclei on the HSN, or an algorithm of a "
        "hypercube on a dual-cube, with data that are moved",
        example="hdnhw emulate 'hsn(3, cube(2))' --all-port --steps",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--step", metavar="LEVEL.PORT", help="one dimension: a port of the nucleus in X_i, as in 3.dim0")
    what.add_argument("--all-port", action="store_true", help="all dimensions at once")
    what.add_argument(
        "--run",
        dest="run_name",
        choices=ALGORITHMS,
        help="an algorithm of a hypercube: a transform, lowest or highest dimension first, one there and back, "
        "bitonic sort, a cyclic convolution, or a product of matrices",
    )
    parser.add_argument(
        "--ways",
        choices=(TWO_SWAPS, ONE_SWAP),
        help="all-port: swap, dimension, swap; or over one swap, on hsn(l, complete(M)) with l < M (default there)",
    )
    parser.add_argument(
        "--swaps", choices=SWAPS, help="run: back after each level (default), or when another digit is needed"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="run: of the values (default 0)")
    parser.add_argument("--steps", action="store_true", help="show what each port carries in each step")
