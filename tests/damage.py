"""Files that commands read, damaged at random, and the command lines that read them: ``tests/fuzz.py --files``."""

import bz2
import json
import re
import struct

from hdnhw import export
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.results import ResultsFile
from hdnhw.measurement.sweep import Point, measure_point
from hdnhw.proofs.certificate import CERTIFICATE, digests, write_certificate
from hdnhw.proofs.finding import BARE, Finding
from hdnhw.topology.graphfile import SUFFIXES
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from hdnhw.verilog.verilog import digest_of
from tests.specs import fabric_spec

TEXT = "# cycle source destination flits\n0 0 1 8\n5 1 0 16\n5 0 1 1\n"
COLUMNS = {"cycle": [0, 5, 9], "source": [0, 1, 0], "destination": [1, 0, 1], "flits": [8, 8, 1]}
PARQUET = {
    "trace": COLUMNS,
    "three": {name: COLUMNS[name] for name in ("cycle", "source", "destination")},
    "text": COLUMNS | {"cycle": ["0", "5", "9"]},
    "fractions": COLUMNS | {"cycle": [0.5, 1.5, 9.0]},
    "nulls": COLUMNS | {"flits": [8, None, 1]},
    "lists": COLUMNS | {"source": [[0], [1], [0]]},
    "huge": COLUMNS | {"cycle": [0, 2**62, 2**63 - 1]},
}
"""Traces by the names of their files, some of which are none."""

GRAPHS = {
    ".gml": 'graph [ node [ id 0 label "a" ] node [ id 1 label "b" ] edge [ source 0 target 1 value 2 ] ]\n',
    ".gexf": '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2"><graph defaultedgetype="undirected"><nodes>'
    '<node id="0"/><node id="1"/></nodes><edges><edge id="0" source="0" target="1" weight="2"/></edges></graph></gexf>',
    ".json": '{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"id": 0}, {"id": 1}, {"id": "c"}], '
    '"edges": [{"source": 0, "target": 1}, {"source": 1, "target": "c", "weight": 2.5}]}',
    ".mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
    ".g6": ">>graph6<<D?{\n",
    ".s6": ":Cdv\n",
    ".adjlist": "0 1 2\n1 2\n",
}
"""Graphs in the formats that hdnhw reads and does not write."""

FABRIC = fabric_spec("cube(1)", packet_length=4, flit_width=8)
OPTIONS = ["cube(1)", "--packet-length", "4", "--flit-width", "8"]
FEW = ["--cycles", "100"]

_SENT = (["simulate", "cube(2)", "--trace", "{}", "--buffers", "4"], ["exchange", "cube(2)", "--trace", "{}"])
_GRAPH = "graph('{}')"
_READ = (["neighbors", _GRAPH, "0"], ["info", _GRAPH], ["route", _GRAPH, "0", "1"], ["export", _GRAPH, "-o", "o.edges"])
_CHECK = ["prove", "--check", f"noc/{CERTIFICATE}"]
_DEAR = (["prove", "noc", "--seconds", "1"], [*_CHECK, "--thorough", "--seconds", "1"])

READERS = {
    "noc/manifest.json": (["emit", *OPTIONS, "-o", "noc"], _CHECK, ["prove", "noc", "--seconds", "1"]),
    f"noc/{CERTIFICATE}": (_CHECK,),
    "noc/fabric.sv": (_CHECK,),
    **{f"{name}.parquet": _SENT for name in PARQUET},
    **dict.fromkeys(("trace.txt", "netrace.tra", "netrace.tra.bz2"), _SENT),
    **{f"results.{kind}": (["sweep", "cube(2)", "--rates", "0.1,0.2", *FEW, "--workers", "1", "--results", "{}"],)
       for kind in ("csv", "json", "parquet")},
    **{f"graph{suffix}": _READ for suffix in SUFFIXES},
    "energy.txt": (["simulate", "cube(2)", *FEW, "--energy", "{}"],),
}  # fmt: skip
"""Files, and the lines that read each; ``{}`` is its name."""

DEAR = 0.01
"""How often text is proved, in seconds."""

TOKENS = [
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\n",
    b"\r",
    b" ",
    b"-",
    b",",
    b'"',
    b"\\u0000",
    b"\x1b[2J",
    b"null",
    b"{",
    b"]",
]
TOKENS += [
    b"9" * 400,
    b"1e999",
    b"-1",
    b"nan",
    b"1e-999",
    b"0x10",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\xed\xa0\x80",
    b"<!--",
]
NUMBERS = ["-1", "0", "1e9", "4294967296", "9223372036854775807", "1" + "0" * 400, "1.5", "nan", "inf", "x", ""]
VALUES = [
    None,
    True,
    [],
    {},
    -1,
    0,
    1.5,
    10**30,
    1e308,
    "",
    "x" * 5000,
    "../../etc/passwd",
    "cube(99)",
    "\ud800",
    [[]],
    {"a": {}},
]


def make_readable(folder):
    """Write files that are as they must be, or nearly, into a folder."""
    import pyarrow
    from pyarrow import parquet

    for name, columns in PARQUET.items():
        parquet.write_table(pyarrow.table(columns), folder / f"{name}.parquet")
    (folder / "trace.txt").write_text(TEXT)
    packets = [(0, 90, 1, 0, 3, (92,)), (0, 91, 1, 1, 2, ()), (4, 92, 2, 3, 0, ())]
    head = struct.pack("<If30sBx", 0x484A5455, 1.0, b"x", 64) + struct.pack("<QQII8x", 4, len(packets), 0, 0)
    body = b"".join(
        struct.pack("<QII5B", cycle, number, 3735928559, kind, source, destination, 33, len(later))
        + struct.pack(f"<{len(later)}I", *later)
        for cycle, number, kind, source, destination, later in packets
    )
    (folder / "netrace.tra").write_bytes(head + body)
    (folder / "netrace.tra.bz2").write_bytes(bz2.compress(head + body))
    for rate in (0.1, 0.2):
        point = Point(fabric=fabric_spec("cube(2)"), load=LoadSpec(rate=rate, cycles=100))
        row = measure_point(point) | {"seconds": 0.1, "router_cycles_per_second": 100_000}
        for kind in ("csv", "json", "parquet"):
            ResultsFile(folder / f"results.{kind}").add(point.key, row)
    for suffix in SUFFIXES:
        if suffix in GRAPHS:
            (folder / f"graph{suffix}").write_text(GRAPHS[suffix])
        else:
            export("rdn(cube(1), 1)", folder / f"graph{suffix}")
    (folder / "energy.txt").write_text("dim* 1.5 # pJ\nrouter 0.5\ninjection 2\n")
    fabric = emit_fabric(FABRIC)
    write_fabric(fabric, folder / "noc")
    findings = [Finding(property=name, module="m", part="p", answer="proved", method="none") for name in BARE]
    result = {"spec": "cube(1)", "nodes": 2, **fabric.machine.options(), "digests": digests(fabric), "tools": {}}
    write_certificate({**result, "proved": True, "findings": [one.row() for one in findings]}, folder / "noc")
    for path in folder.rglob("*.lock"):
        path.unlink()


def spoil(rng, folder):
    """Damage one of the files of a folder; return a line that reads it."""
    name = rng.choice(list(READERS))
    path = folder / name
    data, other = path.read_bytes(), (folder / rng.choice(_alike(name))).read_bytes()
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(WAYS)(rng, data, other)
    if name.endswith(CERTIFICATE) and rng.random() < 0.7:
        data = _signed(data)
    path.write_bytes(data)
    lines = _DEAR if name.startswith("noc/") and rng.random() < DEAR * 5 else READERS[name]
    return [word.replace("{}", name) for word in rng.choice(lines)]


def _alike(name):
    """Return the files that one may be spliced with: mostly of its kind."""
    kind = name.partition(".")[0]
    return [other for other in READERS if other.partition(".")[0] == kind] * 3 + list(READERS)


def _signed(data):
    """Return a certificate with the digest of what it says, so that what it says is looked at."""
    try:
        said = json.loads(data)
        rest = {key: said[key] for key in said if key != "digest"}
        return json.dumps({**rest, "digest": digest_of(json.dumps(rest, sort_keys=True).encode())}).encode()
    except (ValueError, TypeError, RecursionError, AttributeError):
        return data


def _place(rng, data):
    return rng.randrange(len(data) + 1)


def _flip(rng, data, _):
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if made:
            made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    return bytes(made)


def _cut(rng, data, _):
    return data[: _place(rng, data)]


def _remove(rng, data, _):
    start = _place(rng, data)
    return data[:start] + data[start + rng.choice((1, 4, 30)) :]


def _repeat(rng, data, _):
    start = _place(rng, data)
    end = start + rng.choice((1, 10, 100))
    return data[:end] + data[start:end] * rng.choice((1, 2, 1000)) + data[end:]


def _splice(rng, data, other):
    return data[: _place(rng, data)] + other[_place(rng, other) :]


def _insert(rng, data, _):
    place = _place(rng, data)
    return data[:place] + rng.choice(TOKENS) + data[place:]


def _number(rng, data, _):
    found = list(re.finditer(rb"-?\d+(\.\d+)?", data))
    if not found:
        return _insert(rng, data, _)
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(NUMBERS).encode() + data[one.end() :]


def _value(rng, data, _):
    """Put another value into a text of JSON, or take one out."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return _flip(rng, data, _)
    places = list(_places(said))
    if not places:
        return json.dumps(rng.choice(VALUES)).encode()
    holder, key = rng.choice(places)
    if rng.random() < 0.2:
        del holder[key]
    else:
        holder[key] = rng.choice(VALUES)
    return json.dumps(said).encode()


def _places(value):
    """Yield each place in a value of JSON: what holds it, and where."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, own in pairs:
        yield value, key
        yield from _places(own)


WAYS = [_flip, _cut, _remove, _repeat, _splice, _insert, _number, _value, _value]
