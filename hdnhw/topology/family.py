"""What is known of one construction of networks, declared in one place."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hdnhw.spec.network import NetworkSpec


@dataclass(frozen=True, kw_only=True)
class Family:
    """All that is known of one family of networks.

    Attributes
    ----------
    makers : tuple of callable
        The functions, known by their names, that spec strings call to make a spec of the family. Their arguments are
        integers, lists and specs, given by position; parameters that are keyword-only are the named options and have
        defaults, ``*sizes`` takes any number.
    spec : type
        The class of the specs; it belongs to one family.
    network : callable
        Takes a spec and returns its network.
    step : callable or None
        The table-free routing rule. Takes a :class:`hdnhw.circuits.circuit.Circuit`, a network, the digits of the
        current node and of the destination as terms, and the modes (empty but for dual-nets); returns a
        :class:`hdnhw.circuits.step.Step`. None where no rule is known: then the network is routed by tables, and no
        hardware is made for it.
    is_shortest : bool or callable
        Whether every route of the rule is known to be as short as the distance; or what says so of a network and
        modes.
    layout : callable or None
        Takes a network and returns the :class:`hdnhw.topology.places.Block` of its nodes. None where no picture is
        known.
    """

    makers: tuple[Callable[..., NetworkSpec], ...]
    spec: type[NetworkSpec]
    network: Callable[[Any], Any]
    step: Callable[..., Any] | None = None
    is_shortest: bool | Callable[[Any, str], bool] = False
    layout: Callable[[Any], Any] | None = None
