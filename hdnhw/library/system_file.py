"""The description of a system: a file of TOML, and what is wrong with it, by file and line."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi4.spec_blocks import KINDS, LEAST_RANGE, MOST_ADDRESS, Block
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec, NetworkSpec
from hdnhw.spec.checks import meant
from hdnhw.spec.options import Choice, Flag, Option, Rate, Size, Text, options_of
from hdnhw.support.errors import SpecError

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
"""Behind the number of a size."""

NAME = Text(help="name of the system")
USER_WIDTH = Size(help="bits of AxUSER; no such ports if 0", least=0, most=64, unit="bits")
ADDRESS_WIDTH = Size(help="bits of an address", least=12, most=MOST_ADDRESS, unit="bits")
TRAFFIC = Rate(help="traffic to another block", least=0, most=1e9)

MACHINE = {**options_of(FabricSpec), **{"outstanding": options_of(AxiMemorySpec)["outstanding"]}}
"""What the table ``machine`` may say."""

SCHEMA_FILE = "system.schema.json"
"""What ``--new`` writes beside the example."""

EXAMPLE = """\
#:schema {schema}
# A system of AXI4 blocks. `hdnhw system {file} -o build/{name}` writes its Verilog and its address map.
name = "{name}"
# network = "torus(2, 3)"  # chosen by the number of blocks if it is left out
# address_width = 32

[machine]                  # options of `hdnhw emit`, with _ for -
outstanding = 8

[[block]]
name = "cpu"
kind = "axi4-manager"      # one of {kinds}
data_width = 64
id_width = 4
traffic = {{ ram = 8, uart = 0.1 }}  # to subordinates, in any unit; 1 to each if it is left out

[[block]]
name = "dma"
kind = "axi4-manager"

[[block]]
name = "ram"
kind = "axi4-subordinate"
data_width = 64
ranges = [{{ base = 0x8000_0000, size = "1M" }}]

[[block]]
name = "uart"
kind = "axi4-lite-subordinate"
clock = "slow"             # an asynchronous clock of its own: pins aclk_slow and aresetn_slow
ranges = [{{ base = 0x1000_0000, size = "4K" }}]
# node = 3                 # where it stands; chosen by traffic if it is left out
"""
"""What ``--new`` writes."""


@dataclass(frozen=True, kw_only=True)
class System:
    """What a file says.

    Attributes
    ----------
    name : str
    network : NetworkSpec or None
        None where it is to be chosen.
    address_width, user_width : int
    machine : mapping of str to Any
        Options of a machine, and ``outstanding``.
    blocks : tuple of Block
    traffic : mapping of str to mapping of str to float
        Of managers, by name, to subordinates, by name.
    """

    name: str
    network: NetworkSpec | None
    address_width: int
    user_width: int
    machine: Mapping[str, Any]
    blocks: tuple[Block, ...]
    traffic: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of such a file, for editors: names, types, ranges, and what each means."""
    size = {"anyOf": [{"type": "integer", "minimum": LEAST_RANGE}, {"type": "string", "pattern": "^[0-9]+[KMG]?$"}]}
    one: dict[str, Any] = {"type": "object", "properties": {"base": {"type": "integer", "minimum": 0}, "size": size}}
    one |= {"required": ["base", "size"], "additionalProperties": False}
    rates = {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}}
    block = {name: _schema_of(kind) for name, kind in options_of(Block).items()}
    block["ranges"] |= {"anyOf": [{"type": "array", "items": one}, one]}
    block["traffic"] = {**rates, "description": "of a manager, how much goes to each subordinate"}
    own = {
        "name": {"type": "string", "description": "name of the modules"},
        "network": {"type": "string", "description": "spec of the network; chosen if there is none"},
        "address_width": _schema_of(ADDRESS_WIDTH),
        "user_width": _schema_of(USER_WIDTH),
        "machine": _table_schema({name: _schema_of(kind) for name, kind in MACHINE.items()}),
        "block": {"type": "array", "items": _table_schema(block) | {"required": ["name", "kind"]}, "minItems": 1},
    }
    top = _table_schema(own) | {"required": ["block"]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "hdnhw system", **top}


def _table_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _schema_of(kind: Option) -> dict[str, Any]:
    """Return the schema of an option; what is checked further is any value of its type."""
    found: dict[str, Any] = {"description": kind.help}
    if isinstance(kind, Size):
        allowed = {"minimum": kind.least} | ({} if kind.most is None else {"maximum": kind.most})
        return found | {"type": "integer", **allowed}
    if isinstance(kind, Choice):
        return found | {"enum": [*kind.choices]}
    if isinstance(kind, Flag):
        return found | {"type": "boolean"}
    return found | {"type": "string"} if isinstance(kind, Text) else found


class _Lines:
    """Lines of a file of TOML by what stands there: tables, and keys in them."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._places: dict[tuple[Any, ...], int] = {(): 1}
        table: tuple[Any, ...] = ()
        blocks = -1
        for number, line in enumerate(text.split("\n"), 1):
            if re.match(r"\s*\[\[\s*block\s*\]\]", line):
                blocks, table = blocks + 1, ("block", blocks + 1)
                self._places[table] = number
            elif found := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
                table = (found[1],)
                self._places[table] = number
            elif found := re.match(r"\s*\"?([\w-]+)\"?\s*[=.]", line):
                self._places.setdefault((*table, found[1]), number)

    def at(self, *place: Any) -> str:
        """Return file and line of a place, or of the table that it is in."""
        while place not in self._places:
            place = place[:-1]
        return f"{self._path}:{self._places[place]}"

    @contextmanager
    def told(self, *place: Any) -> Iterator[None]:
        """Say of errors where the place is: its key that a message begins with, if it does."""
        try:
            yield
        except (SpecError, TypeError) as error:
            key = str(error).split(" ")[0].split("=")[0]
            raise SpecError(f"{self.at(*place, key)}: {error}") from None


def read_system(path: Path) -> System:
    """Read a system.

    Raises
    ------
    SpecError
        If the file cannot be read, or does not describe one; the message has file and line.
    """
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not there" if isinstance(error, FileNotFoundError) else "cannot be read as text"
        raise SpecError(f"{path} {reason}") from None
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"\(at line (\d+), column \d+\)", str(error))
        where = f"{path}:{line[1]}" if line else f"{path}:{len(text.splitlines())}"
        raise SpecError(f"{where}: {str(error).split(' (at ')[0]}") from None
    lines = _Lines(path, text)
    _check_keys(lines, (), said, ("name", "network", "address_width", "user_width", "machine", "block"))
    with lines.told():
        name = NAME.checked("name", said.get("name", path.stem))
        width = ADDRESS_WIDTH.checked("address_width", said.get("address_width", 32))
        user_width = USER_WIDTH.checked("user_width", said.get("user_width", 0))
    network = None
    if "network" in said:
        try:
            network = parse(NAME.checked("network", said["network"]))
        except (SpecError, TypeError) as error:
            raise SpecError(f"{lines.at('network')}: {error}") from None
    machine = _table(lines, ("machine",), said.get("machine", {}))
    _check_keys(lines, ("machine",), machine, MACHINE)
    for key, value in machine.items():
        with lines.told("machine"):
            MACHINE[key].checked(key, value)
    given = said.get("block", [])
    if not isinstance(given, list) or not given:
        raise SpecError(f"{lines.at('block')}: a system must have blocks, each a table [[block]]")
    blocks = [_block(lines, number, _table(lines, ("block", number), one)) for number, one in enumerate(given)]
    for number, block in enumerate(blocks):
        if block.to and not any(block.reaches(other) for other in blocks):
            raise SpecError(
                f"{lines.at('block', number, 'to')}: to must be the name of a stream's sink, not {block.to!r}"
            )
    system = System(
        name=name,
        network=network,
        address_width=width,
        user_width=user_width,
        machine=machine,
        blocks=tuple(blocks),
        traffic=_traffic(lines, given, blocks),
    )
    try:
        AxiMemorySpec(blocks=system.blocks, address_width=width, memory_bits=window_of(system.blocks))
    except SpecError as error:
        named = [number for number, block in enumerate(blocks) if re.search(rf"\b{block.name}\b", str(error))]
        raise SpecError(f"{lines.at('block', named[-1]) if named else lines.at()}: {error}") from None
    return system


def window_of(blocks: tuple[Block, ...]) -> int:
    """Return the bits of an address that a packet carries: those in which the addresses of one block differ."""
    return max([ADDRESS_WIDTH.least, *(block.window for block in blocks if block.ranges)])


def _table(lines: _Lines, place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SpecError(f"{lines.at(*place)}: {place[0]} must be a table")
    return value


def _check_keys(lines: _Lines, place: tuple[Any, ...], table: Mapping[str, Any], known: Any) -> None:
    for key in table:
        if key not in known:
            raise SpecError(
                f"{lines.at(*place, key)}: there is no {key!r}{meant(key, known)}; {', '.join(known)} are known"
            )


def _block(lines: _Lines, number: int, said: dict[str, Any]) -> Block:
    """Return a block."""
    place = ("block", number)
    _check_keys(lines, place, said, (*options_of(Block), "traffic"))
    with lines.told(*place):
        for key in ("name", "kind"):
            if key not in said:
                raise SpecError(f"a block must have a {key}{'' if key == 'name' else ': ' + ', '.join(KINDS)}")
        own = {key: value for key, value in said.items() if key != "traffic"}
        if "id_width" in own and own["kind"] in KINDS[1:]:
            raise SpecError(f"id_width must not be given for an {own['kind']}: only an {KINDS[0]} has IDs of its own")
        if "ranges" in own:
            own["ranges"] = _ranges(own["ranges"])
        return Block(**own)


def _ranges(said: Any) -> tuple[tuple[int, int], ...]:
    """Return base and size of each range."""
    found = []
    for one in said if isinstance(said, list) else [said]:
        if not isinstance(one, dict) or {*one} != {"base", "size"}:
            raise SpecError('ranges must be a list of { base = 0x8000_0000, size = "64K" }')
        size = one["size"]
        if isinstance(size, str) and (number := re.fullmatch(r"([0-9]{1,15})([KMG]?)", size)):
            size = int(number[1]) * UNITS[number[2]]
        if any(isinstance(part, bool) or not isinstance(part, int) for part in (one["base"], size)):
            raise SpecError('ranges must have a base such as 0x8000_0000 and a size such as 4096, "64K", "1M" or "2G"')
        found.append((one["base"], size))
    return tuple(found)


def _traffic(lines: _Lines, given: list[dict[str, Any]], blocks: list[Block]) -> dict[str, dict[str, float]]:
    """Return what managers say of their traffic."""
    found = {}
    for number, (said, block) in enumerate(zip(given, blocks, strict=True)):
        if "traffic" not in said:
            continue
        place, traffic = ("block", number, "traffic"), said["traffic"]
        if not block.is_manager or not isinstance(traffic, dict):
            raise SpecError(f"{lines.at(*place)}: traffic must be a table of a manager, such as {{ ram = 8 }}")
        _check_keys(lines, place, traffic, [other.name for other in blocks if block.reaches(other)])
        with lines.told(*place):
            found[block.name] = {
                name: float(TRAFFIC.checked(f"traffic to {name}", rate)) for name, rate in traffic.items()
            }
    return found
