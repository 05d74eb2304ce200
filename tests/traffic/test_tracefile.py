"""Trace files: the same messages in three formats, Netrace files byte for byte, and one line for what is wrong."""

import bz2
import struct
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from hdnhw.support.errors import SpecError
from hdnhw.traffic.tracefile import read_trace
from tests.conftest import each

MESSAGES = [(7, 3, 0, 2), (0, 1, 2, 18), (7, 3, 1, 2), (20, 2, 2, 2)]
READ_REQUEST, READ_RESPONSE = 1, 2


def read(path, limit=None):
    return read_trace(path, nodes=4, packet_length=8, flit_width=32, limit=limit)


def rows(trace):
    return list(
        zip(*(getattr(trace, name).tolist() for name in ("cycle", "source", "destination", "flits")), strict=True)
    )


def write_netrace(path, packets, *, notes=b"", regions=0, version=1.0, pack=bytes):
    """Write packets of (cycle, number, type, source, destination, numbers of those that wait for it)."""
    cycles = packets[-1][0] if packets else 0
    out = struct.pack("<If", 0x484A5455, version) + b"a benchmark".ljust(30, b"\0") + bytes([64, 0])
    out += struct.pack("<QQ", cycles, len(packets)) + struct.pack("<II", len(notes), regions) + bytes(8) + notes
    out += b"".join(struct.pack("<QQQ", 0, cycles, len(packets)) for _ in range(regions))
    for cycle, number, kind, source, destination, later in packets:
        out += struct.pack("<Q", cycle) + struct.pack("<II", number, 0xDEADBEEF)
        out += bytes([kind, source, destination, 0x21, len(later)]) + struct.pack(f"<{len(later)}I", *later)
    path.write_bytes(pack(out))


NETRACE = [
    (0, 90, READ_REQUEST, 0, 3, [92, 93, 1000]),
    (0, 91, READ_REQUEST, 1, 2, [93]),
    (4, 92, READ_RESPONSE, 3, 0, []),
    (9, 93, READ_RESPONSE, 2, 1, []),
]


def test_text(tmp_path):
    path = tmp_path / "trace.txt"
    path.write_text("# cycle source destination flits\n7 3 0 2\n\n0\t1 2 18 # a line of the cache\n7 3 1 2\n20 2 2 2")
    trace = read(path)
    assert (rows(trace), trace.form, trace.whole) == (MESSAGES, "text", True)
    assert trace.first.tolist() == [0] * 5
    path.write_text("1 0 1\n2 1 0 3")
    assert rows(read(path)) == [(1, 0, 1, 8), (2, 1, 0, 3)]


@pytest.mark.parametrize("pack", [bytes, bz2.compress])
@pytest.mark.parametrize("integer", [pyarrow.int64(), pyarrow.uint8(), pyarrow.uint64()])
def test_parquet(tmp_path, integer, pack):
    path = tmp_path / "trace.anything"
    names = ("cycle", "source", "destination", "flits")
    columns = [pyarrow.array(column, integer) for column in zip(*MESSAGES, strict=True)]
    parquet.write_table(pyarrow.table([*columns, pyarrow.array("abcd")], [*names, "comment"]), path)
    path.write_bytes(pack(path.read_bytes()))
    trace = read(path)
    assert (rows(trace), trace.form, trace.whole) == (MESSAGES, "parquet", True)
    parquet.write_table(pyarrow.table(columns[2::-1], names[2::-1]), path)
    assert rows(read(path)) == [(*message[:3], 8) for message in MESSAGES]


@pytest.mark.parametrize("pack", [bytes, bz2.compress])
@pytest.mark.parametrize(("notes", "regions"), [(b"", 0), (b"made by hand\0", 2)])
def test_netrace(tmp_path, pack, notes, regions):
    path = tmp_path / "trace.tra"
    write_netrace(path, NETRACE, notes=notes, regions=regions, pack=pack)
    trace = read(path)
    assert rows(trace) == [(0, 0, 3, 2), (0, 1, 2, 2), (4, 3, 0, 18), (9, 2, 1, 18)]
    assert (trace.form, trace.whole) == ("netrace", True)
    waits = [trace.dependent[trace.first[packet] : trace.first[packet + 1]].tolist() for packet in range(4)]
    assert waits == [[2, 3], [3], [], []]


@pytest.mark.parametrize(("width", "short", "long"), [(8, 8, 72), (48, 2, 12), (512, 1, 2), (1024, 1, 1)])
def test_bytes_become_flits(tmp_path, width, short, long):
    path = tmp_path / "trace.tra"
    write_netrace(path, NETRACE)
    trace = read_trace(path, nodes=4, packet_length=8, flit_width=width)
    assert trace.flits.tolist() == [short, short, long, long]


def test_netrace_is_read_up_to_the_limit(tmp_path):
    path = tmp_path / "trace.tra"
    write_netrace(path, [*NETRACE, (1 << 40, 94, 255, 9, 9, [])])
    trace = read(path, limit=9)
    assert (len(trace), trace.whole, trace.first.tolist(), trace.dependent.tolist()) == (3, False, [0, 1, 1, 1], [2])


@pytest.mark.parametrize("size", [71, 73, 92, 93, 104, 105, 120, 158])
def test_netrace_that_ends_early(tmp_path, size):
    path = tmp_path / "trace.tra"
    write_netrace(path, NETRACE, pack=lambda content: content[:size])
    said = {71: "ends within its header$", 105: "must have the 4 packets of its header, not 1$"}
    with pytest.raises(SpecError, match=f"trace.tra: {said.get(size, 'ends within a packet, behind [0-3] of them$')}"):
        read(path)


NUMBERS = "must be three or four integers: cycle, source, destination and flits, not"


@each(
    ("text", "said"),
    [
        ("", "trace: must have a message$"),
        ("# nothing\n", "trace: must have a message$"),
        ("0 1 2\n0 1\n", f"trace: line 2 {NUMBERS} '0 1'$"),
        ("0 1 2 3 4", f"line 1 {NUMBERS} '0 1 2 3 4'$"),
        ("#\n0 1 2.5", f"line 2 {NUMBERS} '0 1 2.5'$"),
        ("0,1,2", f"line 1 {NUMBERS} '0,1,2'$"),
        ("99999999999999999999 1 2", f"line 1 {NUMBERS} '99999999999999999999 1 2'$"),
        ("-1 1 2", "line 1: cycle must be 0 to 2147483647, not -1$"),
        ("2147483648 1 2", "not 2147483648$"),
        ("\n\n0 4 2", "line 3: source must be a node of this network, 0 to 3, not 4$"),
        ("0 0 1\n0 0 -1", "line 2: destination must be a node of this network, 0 to 3, not -1$"),
        ("0 0 1 0", "line 1: flits must be 1 to 1048576, not 0$"),
        ("0 0 1 1048577", "not 1048577$"),
        ("0 0 1\n" + 70_000 * " ", "trace: line 2 must have at most 65536 bytes$"),
    ],
)
def test_texts_that_cannot_be(tmp_path, text, said):
    (tmp_path / "trace").write_text(text)
    with pytest.raises(SpecError, match=said):
        read(tmp_path / "trace")


COLUMNS = {"cycle": [0, 1], "source": [0, 1], "destination": [1, 0]}


@each(
    ("columns", "said"),
    [
        ({"source": [0, 4]}, "trace: row 1: source must be a node of this network, 0 to 3, not 4$"),
        ({"cycle": [0.5, 1.0]}, "trace: column cycle must be integers, not double with 0 nulls$"),
        ({"cycle": [None, 1]}, "trace: column cycle must be integers, not int64 with 1 nulls$"),
        ({"cycle": None}, "trace: must have the columns cycle, source, destination, and may have flits$"),
        ({"flits": [1, 0]}, "trace: row 1: flits must be 1 to 1048576, not 0$"),
    ],
)
def test_tables_that_cannot_be(tmp_path, columns, said):
    table = {name: column for name, column in (COLUMNS | columns).items() if column is not None}
    parquet.write_table(pyarrow.table(table), tmp_path / "trace")
    with pytest.raises(SpecError, match=said):
        read(tmp_path / "trace")


def test_a_column_whose_name_is_no_text(tmp_path):
    parquet.write_table(pyarrow.table(COLUMNS), tmp_path / "trace", store_schema=False)
    (tmp_path / "trace").write_bytes((tmp_path / "trace").read_bytes().replace(b"cycle", b"cycl\xe5"))
    with pytest.raises(SpecError, match=r"^[^\n]*trace: must be a Parquet file: [^\n]*$"):
        read(tmp_path / "trace")


@each(
    ("packets", "options", "said"),
    [
        ([], {}, "trace: must have a message$"),
        (NETRACE, {"version": 2.0}, "trace: must be a Netrace file of version 1.0, not 2.0$"),
        (NETRACE, {"notes": bytes(8192)}, "trace: must have at most 8191 bytes of notes and 100 regions$"),
        (NETRACE, {"regions": 101}, "and 100 regions$"),
        ([(0, 7, 0, 0, 1, [])], {}, "packet 7: type must be one of 1, 2, 3, 4, 5, 6, 13, .*, 29, 30, not 0$"),
        ([(0, 7, 1, 0, 9, [])], {}, "packet 7: destination must be a node of this network, 0 to 3, not 9$"),
        ([(1 << 31, 7, 1, 0, 1, [])], {}, "packet 7: cycle must be 0 to 2147483647, not 2147483648$"),
        ([(1, 7, 1, 0, 1, []), (0, 8, 1, 0, 1, [])], {}, "packet 8: packets must be in the order of cycles$"),
        ([(0, 7, 1, 0, 1, []), (0, 7, 1, 0, 1, [])], {}, "packet 7: numbers of packets must differ$"),
        ([(0, 7, 1, 0, 1, [7])], {}, "packet 7: must come behind 7, for which it waits$"),
        ([(0, 7, 1, 0, 1, []), (0, 8, 1, 0, 1, [7])], {}, "packet 7: must come behind 8, for which it waits$"),
    ],
)
def test_netrace_that_cannot_be(tmp_path, packets, options, said):
    write_netrace(tmp_path / "trace", packets, **options)
    with pytest.raises(SpecError, match=said):
        read(tmp_path / "trace")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PAR1 and no more", "trace: must be a Parquet file: "),
        (b"BZh9 and no more", "trace: "),
        (bz2.compress(b"0 1 2\n" * 1000)[:-9], "trace: "),
        (bytes(range(128, 256)), "trace: line 1 must be"),
    ],
)
def test_files_that_are_no_traces(tmp_path, content, said):
    (tmp_path / "trace").write_bytes(content)
    with pytest.raises(SpecError, match=said):
        read(tmp_path / "trace")


def test_a_file_without_end_is_refused():
    with pytest.raises(SpecError, match=r"^/dev/zero: line 1 must have at most 65536 bytes$"):
        read(Path("/dev/zero"))


def test_a_broken_table_is_one_line(tmp_path):
    """Some messages of Thrift have two."""
    path = tmp_path / "trace"
    parquet.write_table(pyarrow.table(COLUMNS), path)
    content, said = path.read_bytes(), []
    for place in range(4, len(content) - 8, 3):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            read(path)
        except SpecError as error:
            said.append(str(error))
    assert len(said) > 20
    assert not any("\n" in message for message in said)


def test_limit_before_the_first_message(tmp_path):
    write_netrace(tmp_path / "trace", [(50, 7, 1, 0, 1, [])])
    with pytest.raises(SpecError, match=r"trace: must have a message before cycle 50$"):
        read(tmp_path / "trace", limit=50)


def test_texts_may_be_compressed(tmp_path):
    (tmp_path / "trace").write_bytes(bz2.compress(b"0 1 2\n" * 50_000))
    assert np.array_equal(read(tmp_path / "trace").flits, np.full(50_000, 8))
