"""What functions of the library take: networks, nodes, and the options of a machine."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from os import PathLike as PathLikeOf
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from hdnhw.endpoints import declared
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.figures.look import Look
from hdnhw.networks.parse import parse
from hdnhw.spec import EndpointSpec, FabricSpec, NetworkSpec
from hdnhw.spec.options import Kind, Names, Node, Option, Options, members_of, option, options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, flag_of, named

if TYPE_CHECKING:
    from hdnhw.library.network import Network
    from hdnhw.topology import graph as topology
    from hdnhw.topology.faults import Faults

NetworkLike: TypeAlias = "str | NetworkSpec | Network"
"""A spec string, a spec, or a network of the library."""

PathLike = str | PathLikeOf[str]
"""The path of a file."""

NodeLike = int | str
"""The number of a node, or its address."""


ALL = "all"
"""In place of a list of names."""


def _keywords(name: str, about: str, *specs: type, **kinds: bool) -> Any:
    """Return the keywords that are options of some classes, of some kinds; None, as what is left out, is a default."""
    members = {
        one: member.type | None
        for spec in specs
        for one, member in members_of(spec).items()
        if one in options_of(spec, **kinds)
    }
    made: Any = TypedDict(name, members, total=False)  # type: ignore[misc]
    made.__doc__ = f"{about}; what is left out, or None, is the default."
    return made


if TYPE_CHECKING:
    RuleOptions: TypeAlias = dict[str, Any]
    """Options of the routing rule, as docs/machines.md has them."""
    MachineOptions: TypeAlias = dict[str, Any]
    """Options of a machine, as docs/machines.md has them."""
    FigureOptions: TypeAlias = dict[str, Any]
    """How a figure looks, as docs/commands.md has it."""
    RelayOptions: TypeAlias = dict[str, Any]
    EndpointOptions: TypeAlias = dict[str, Any]
else:
    RuleOptions = _keywords(
        "RuleOptions", "Options of the routing rule, as docs/machines.md has them", FabricSpec, routes=True
    )
    MachineOptions = _keywords("MachineOptions", "Options of a machine, as docs/machines.md has them", FabricSpec)
    FigureOptions = _keywords("FigureOptions", "How a figure looks, as docs/commands.md has it", Look)
    RelayOptions = _keywords("RelayOptions", "Options of relays, as docs/faults.md has them", RelaySpec)
    EndpointOptions = _keywords("EndpointOptions", "Options of endpoints", *declared("spec").values())


@dataclass(frozen=True, kw_only=True)
class TerminalOptions(Options):
    """Options of commands about a fabric with or without endpoints."""

    endpoints: str | EndpointSpec | None = option(
        None, Kind, "what stands at the terminals", choices=tuple(declared("spec"))
    )


def figure_apart(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options that are not None, those of a figure apart from the others: these, and those."""
    names = options_of(Look)
    asked = given(options)
    return (
        {name: value for name, value in asked.items() if name not in names},
        {name: value for name, value in asked.items() if name in names},
    )


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def spec_of(network: Any) -> NetworkSpec:
    """Return the spec of a network.

    Raises
    ------
    TypeError
        If it is none.
    SpecError
        If a string cannot be read.
    """
    if isinstance(network, str):
        return parse(network)
    spec = getattr(network, "spec", network)
    if not isinstance(spec, NetworkSpec):
        raise TypeError(f"network must be a spec such as 'rdn(cube(3), 1)', or a network, not {network!r}")
    return spec


def network_of(network: Any) -> "topology.Network":
    """Return what :func:`hdnhw.networks.build.build` makes of a network."""
    from hdnhw.networks.build import build

    return build(spec_of(network))


FOUR_PARTS = re.compile(r"[0-9]{1,19}(,[0-9]{1,19}){3}")


def node_of(network: "topology.Network", node: NodeLike) -> int:
    """Return the node of a number, an address, or, of a dual-net, the HDN paper's four parts C,U,SN,N of level k."""
    from hdnhw.claims.literal.four_parts import node_at_parts
    from hdnhw.topology.dualnet import DualNetwork

    if not isinstance(node, str):
        return network.check_node(node)
    if isinstance(network, DualNetwork) and network.levels and FOUR_PARTS.fullmatch(node):
        class_id, cluster, super_node, inner = map(int, node.split(","))
        return node_at_parts(network, (class_id, cluster, super_node, inner))
    return network.parse_node(node)


def check_choice(what: str, value: Any, choices: Sequence[str]) -> None:
    """Raise SpecError if the value of an option is none of those that there are."""
    if value not in choices:
        raise SpecError(f"{named(what)} {choices_text(choices, value)}")


def checked_rates(name: str, rates: str | Iterable[float], least: float, most: float, example: str) -> list[float]:
    """Return the numbers of an option, which may be text with commas between them, each once, the least first.

    Raises
    ------
    SpecError
        If there is none, or one is not within the bounds.
    """
    try:
        found = sorted({float(rate) for rate in (rates.split(",") if isinstance(rates, str) else rates)})
    except (TypeError, ValueError):
        found = []
    if not found or not all(least <= rate <= most for rate in found):
        raise SpecError(f"{named(name)} must be numbers from {least} to {most}, such as {example}, not {rates!r}")
    return found


def machine_words(options: Mapping[str, Any], spec: type = FabricSpec) -> str:
    """Return options of a machine, or of endpoints, by their names, as they stand on a command line; nothing for
    defaults.
    """
    defaults = {member.name: member.default for member in fields(spec)}
    words: list[str] = []
    for name, value in options.items():
        if value != defaults[name]:
            shown = ",".join(value) if isinstance(value, tuple) else str(value)
            words += [flag_of(name), *([] if value is True else [shown])]
    return shlex.join(words)


def fabric_of(
    network: Any,
    endpoints: str | EndpointSpec | None,
    options: Mapping[str, Any],
    *,
    node_clocks: bool = False,
) -> FabricSpec:
    """Return a machine.

    Parameters
    ----------
    network : NetworkLike
    endpoints : str, EndpointSpec or None
        What stands at the terminals: the spec, or the name of a kind, whose options are then among `options`.
    options : mapping of str to Any
        Of :class:`MachineOptions`, and of the endpoints.
    node_clocks : bool
        Whether terminals have clocks of their own, so that packets cannot be gapless by default.

    Raises
    ------
    TypeError
        If there is no such option.
    SpecError
        If a value is out of range, or an option is of other endpoints.
    """
    spec, asked = spec_of(network), given(options)
    known = options_of(FabricSpec)
    machine = {name: value for name, value in asked.items() if name in known}
    rest = {name: value for name, value in asked.items() if name not in known}
    kind = endpoints.kind if isinstance(endpoints, EndpointSpec) else endpoints
    if kind is None or kind not in declared("spec") or not declared("spec")[kind].defaults:
        return FabricSpec(network=spec, endpoints=endpoints_of(spec, endpoints, rest), **machine)
    from hdnhw.networks.build import build
    from hdnhw.topology.address import AddressLayout

    layout, form = AddressLayout(build(spec)), declared("format")[kind]
    if endpoints == kind:
        rest = {**form.defaults(layout.network.num_nodes), **rest}
    at_terminals = endpoints_of(spec, endpoints, rest)
    defaults = form.machine(at_terminals, machine, layout.width)
    if node_clocks:
        del defaults["gapless_packets"]
    return FabricSpec(network=spec, endpoints=at_terminals, **{**defaults, **machine})


def endpoints_of(
    network: NetworkSpec,
    kind: str | EndpointSpec | None,
    options: Mapping[str, Any],
) -> EndpointSpec | None:
    """Return what stands at the terminals of a network.

    Parameters
    ----------
    network : NetworkSpec
    kind : str, EndpointSpec or None
        The name of a kind, or the spec.
    options : mapping of str to Any
        Of a kind that is named.

    Raises
    ------
    TypeError
        If there is no such option.
    SpecError
        If a value is out of range, or an option is of other endpoints.
    """
    kinds = declared("spec")
    if isinstance(kind, str) and kind not in kinds:
        raise SpecError(f"{named('endpoints')} {choices_text(kinds, kind)}")
    own = options_of(kinds[kind]) if isinstance(kind, str) else {}
    for name in options:
        if name not in own:
            others = [spec.title for spec in kinds.values() if name in options_of(spec)]
            if not others:
                raise TypeError(f"there is no option {name!r} of a machine")
            raise SpecError(f"{named(name)} is for {' and '.join(others)}; this fabric has none")
    if not isinstance(kind, str):
        return kind
    made: EndpointSpec = kinds[kind](**{name: _value(own[name], value, network) for name, value in options.items()})
    return made


def _value(option: Option, value: Any, network: NetworkSpec) -> Any:
    """Return the value of an option that may be text."""
    if isinstance(value, str) and isinstance(option, Names):
        return _names(option, value, network)
    if isinstance(value, str) and isinstance(option, Node):
        return network_of(network).parse_node(value)
    return value


def drawn_faults(asked: str | tuple[int, int] | int | None, network: "topology.Network", seed: int) -> "Faults":
    """Return faults of a network, drawn at random.

    Parameters
    ----------
    asked : str, int, tuple of int or None
        Dead nodes, or these and dead channels between the others: ``"2"``, ``"2,1"``, 2 or (2, 1); a few if None.
    network : topology.Network
    seed : int
    """
    import numpy as np

    from hdnhw.topology.faults import draw_faults
    from hdnhw.topology.metrics import neighbor_table

    if asked is None:
        nodes, channels = network.num_nodes // 10, network.num_nodes // 6
    else:
        counts = asked.split(",") if isinstance(asked, str) else [str(count) for count in np.atleast_1d(asked)]
        if len(counts) > 2 or not all(count.strip().isdecimal() for count in counts):
            raise SpecError(
                f"{named('faults')} must be the number of dead nodes, or that and one of channels, not {asked!r}"
            )
        nodes, channels = (*map(int, counts), 0)[:2]
    return draw_faults(neighbor_table(network), np.random.default_rng(seed), nodes=nodes, channels=channels)


def _names(option: Names, value: str, network: NetworkSpec) -> tuple[str, ...]:
    """Return names that stand between commas; ``all`` stands for each there is, of operations on the network."""
    if value != ALL:
        return tuple(value.split(","))
    if option is not options_of(CollectiveSpec)["operations"]:
        return option.choices
    from hdnhw.collectives.available import engine_operations

    return engine_operations(network_of(network))
