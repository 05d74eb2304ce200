"""Signals at any moment of what writes and removes files: before its bytecodes, one after the other."""

import shutil
import signal
import sys
import warnings

import pytest

from hdnhw.support.files import replacing, write_together
from hdnhw.support.signals import deferred, told_first


def stop_before(step, work):
    """Call `work` and send SIGINT before one of its bytecodes; return whether it has so many, and what it raised."""
    steps = 0

    def trace(frame, event, _):
        nonlocal steps
        frame.f_trace_opcodes = True
        if event == "opcode":
            steps += 1
            if steps == step:
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
        return trace

    before, tracer = signal.signal(signal.SIGINT, signal.default_int_handler), sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except BaseException as error:
        return True, error
    finally:
        sys.settrace(tracer)
        signal.signal(signal.SIGINT, before)
    return steps >= step, None


def stopped_everywhere(work, begin, end, every=1):
    """Stop `work` before its bytecodes, one of `every`, `begin` before and `end` after; count what it raised."""
    raised, step, goes_on = {}, 1 - every, True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # a folder that Python removes later, but removes
        while goes_on:
            step += every
            begin()
            goes_on, error = stop_before(step, work)
            kind = type(error)
            del error
            end()
            raised[kind] = raised.get(kind, 0) + 1
    return raised


def write_in_place_of(path):
    with replacing(path) as new:
        new.write_text("new")


@pytest.mark.parametrize(
    ("write", "every"),
    [
        (lambda folder: write_in_place_of(folder / "a"), 1),
        (lambda folder: write_together(folder, {"a": "new", "b": "new"}), 13),
    ],
    ids=["replacing", "write_together"],
)
def test_files_are_old_or_new_and_nothing_else_is_left(tmp_path, write, every):
    names = ["a"] if write(tmp_path) is None else ["a", "b"]
    seen = set()

    def begin():
        for name in names:
            (tmp_path / name).write_text("old")

    def end():
        assert sorted(file.name for file in tmp_path.iterdir()) == names
        (text,) = {(tmp_path / name).read_text() for name in names}
        seen.add(text)

    raised = stopped_everywhere(lambda: write(tmp_path), begin, end, every)
    assert raised.pop(type(None)) == 1
    assert raised.keys() == {KeyboardInterrupt}
    assert raised[KeyboardInterrupt] > 300
    assert seen == {"old", "new"}


@pytest.mark.parametrize("is_told_first", [False, True])
def test_what_fails_because_of_a_signal_is_not_told(tmp_path, is_told_first):
    folder = tmp_path / "folder"

    def begin():
        folder.mkdir(exist_ok=True)
        (folder / "file").touch()

    def remove():
        shutil.rmtree(folder)

    def remove_and_tell():
        with told_first():
            remove()

    raised = stopped_everywhere(remove_and_tell if is_told_first else remove, begin, lambda: None)
    assert raised.keys() <= {type(None), KeyboardInterrupt, *([] if is_told_first else [OSError])}
    assert raised[KeyboardInterrupt] > 100


def test_other_errors_are_told():
    with pytest.raises(OSError, match=r"^what fails$"), told_first():
        raise OSError("what fails")


def test_a_signal_waits():
    done = []

    def work():
        with deferred():
            signal.raise_signal(signal.SIGINT)
            done.append("first")
        done.append("second")

    _, error = stop_before(0, work)
    assert (type(error), done) == (KeyboardInterrupt, ["first"])
