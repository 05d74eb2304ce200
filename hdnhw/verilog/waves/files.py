"""The packets of a dump as a dump of their own, which viewers show, with what opens it in GTKWave and in Surfer."""

from collections.abc import Iterator
from itertools import count
from math import log2

from hdnhw.verilog.waves.dump import Dump
from hdnhw.verilog.waves.packets import Waves
from hdnhw.verilog.waves.wires import NAMES, Place

IDLE = "-"
"""What stands in the dump where nothing passes."""

_TOP = "packets"
_BEGIN, _END, _TEXT = (0x800200, 0xC00200), (0x1000200, 0x1401200), 0x22
"""Flags of GTKWave's save files: where a group begins and ends, open and closed, and of a text."""

_SCREEN = 5
"""Of the pixels that GTKWave gives to a time unit at zoom 0, how many times a window is as wide."""


def wave_files(waves: Waves, name: str) -> dict[str, str]:
    """Return the dump of a name, and beside it a save file of GTKWave and a command file of Surfer.

    The dump has the times of the one that was read. Each place where flits pass has two variables, or three:

    - its packet, from the head flit to the tail, as ``#7:0>9:vc1:+42``: its number, source, destination, virtual
      channel where there are several, and the cycles since its head flit was accepted;
    - ``_flit``, the position of the flit, from 0;
    - ``_free`` of channels, the free packet buffers behind it, of each virtual channel, as the sender counts them.
    """
    stem = name.removesuffix(".vcd")
    names = {place: _name(waves, place) for place in waves.places}
    groups = [[place for place in waves.places if place.node == node] for node in range(len(waves.queues))]
    return {
        name: _dump(waves, names, groups),
        f"{stem}.gtkw": "\n".join([f'[dumpfile] "{name}"', *_save(waves.end, names, groups), ""]),
        f"{stem}.sucl": f"scope_add_as_group_recursive {_TOP}\nzoom_fit\n",
    }


def _name(waves: Waves, place: Place) -> str:
    return NAMES.get(place.port) or waves.machine.network.ports[place.port].name


def _variables(name: str, place: Place) -> list[str]:
    return [name, f"{name}_flit", *([f"{name}_free"] if place.num_vcs else [])]


def _save(end: int, names: dict[Place, str], groups: list[list[Place]]) -> Iterator[str]:
    """Give the lines of a save file: all of the time, and a group for each node, all but the first closed."""
    yield f"*{-log2(max(end, _SCREEN) / _SCREEN):.6f} 0{' -1' * 26}"
    for node, places in enumerate(groups):
        is_closed = node > 0
        yield from (f"@{_BEGIN[is_closed]:x}", f"-node {node}", f"@{_TEXT:x}")
        for place in places:
            yield from (f"{_TOP}.node_{node}.{one}" for one in _variables(names[place], place))
        yield from (f"@{_END[is_closed]:x}", f"-node {node}")


def _dump(waves: Waves, names: dict[Place, str], groups: list[list[Place]]) -> str:
    codes, numbers = dict[Place, list[str]](), count()
    assert isinstance(waves.dump, Dump)
    lines = [f"$timescale {waves.dump.timescale} $end", f"$scope module {_TOP} $end"]
    for node, places in enumerate(groups):
        lines.append(f"$scope module node_{node} $end")
        for place in places:
            variables = _variables(names[place], place)
            codes[place] = [_code(next(numbers)) for _ in variables]
            for one, code in zip(variables, codes[place], strict=True):
                lines.append(f"$var string 1 {code} {one} $end")
        lines.append("$upscope $end")
    lines += ["$upscope $end", "$enddefinitions $end", "#0"]
    changes = {(0, code): text for code, text in _start(waves, codes)}
    for time, code, text in sorted(_changes(waves, codes), key=lambda one: one[0]):
        changes[time, code] = text  # of several at a time the last one counts: what comes, not what has gone
    now = 0
    for (time, code), text in sorted(changes.items(), key=lambda one: one[0][0]):
        if time != now:
            lines.append(f"#{time}")
            now = time
        lines.append(f"{text} {code}")
    return "\n".join([*lines, f"#{waves.end}", ""])


def _start(waves: Waves, codes: dict[Place, list[str]]) -> Iterator[tuple[str, str]]:
    for place, (packet, flit, *free) in codes.items():
        yield from ((packet, f"s{IDLE}"), (flit, f"s{IDLE}"))
        for code in free:
            yield code, _numbers([waves.buffers(place.port)] * place.num_vcs)


def _numbers(numbers: list[int]) -> str:
    return f"s{','.join(map(str, numbers))}"


def _changes(waves: Waves, codes: dict[Place, list[str]]) -> Iterator[tuple[int, str, str]]:
    """Give (time, code, value) of each change; of those at a time the last one counts."""
    for passage in sorted(waves.passages, key=lambda passage: passage.times[0]):
        packet, flit = codes[passage.place][:2]
        assert passage.packet is not None
        channel = f":vc{passage.vc}" if passage.place.num_vcs > 1 else ""
        yield passage.times[0], packet, f"s{passage.packet}{channel}:+{passage.cycle - passage.packet.cycle}"
        yield from ((time, flit, f"s{position}") for position, time in enumerate(passage.times[:-1]))
        yield from ((passage.times[-1], packet, f"s{IDLE}"), (passage.times[-1], flit, f"s{IDLE}"))
    free = {place: [waves.buffers(place.port)] * place.num_vcs for place in codes if place.num_vcs}
    for place, vc, time, number in waves.freed:
        free[place][vc] = number
        yield time, codes[place][2], _numbers(free[place])


def _code(number: int) -> str:
    """Return the code of a variable: printable characters but blanks."""
    text = ""
    while True:
        number, digit = divmod(number, 94)
        text += chr(33 + digit)
        if not number:
            return text
        number -= 1
