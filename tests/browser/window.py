"""Chromium without a screen: Qt WebEngine of PySide6, which `make .browser/.ready` installs."""

import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / ".browser"))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QTWEBENGINE_DISABLE_SANDBOX", "1")
os.environ.setdefault("QTWEBENGINE_CHROMIUM_FLAGS", "--no-sandbox --disable-gpu")

from PySide6.QtCore import QEventLoop, QPoint, Qt, QTimer, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWebEngineCore import QWebEnginePage
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QApplication

__all__ = ["Browser", "QApplication", "QPoint", "QTest", "Qt"]

WAIT = 60_000
"""Milliseconds until something must have happened."""


class _Page(QWebEnginePage):
    """A page that keeps what is told to the console, and asks for nothing but files."""

    def __init__(self):
        super().__init__()
        self.messages, self.fetched = [], []

    def javaScriptConsoleMessage(self, _level, message, line, _source):  # noqa: N802, a name of Qt
        self.messages.append(f"{message} (line {line})")


class Browser:
    """A window without a screen."""

    def __init__(self, folder, width=1280, height=800):
        self.folder = folder
        self.page, self.window = _Page(), QWebEngineView()
        self.window.setPage(self.page)
        self.window.resize(width, height)
        self.window.show()

    def open(self, path, until="page.view.frames > 0"):
        """Load a file; return the seconds to the first picture."""
        begun, loop, loaded = time.perf_counter(), QEventLoop(), []
        self.page.loadFinished.connect(lambda done: (loaded.append(done), loop.quit()))
        QTimer.singleShot(WAIT, loop.quit)
        self.page.load(QUrl.fromLocalFile(str(path)))
        loop.exec()
        assert loaded == [True], "the page was not loaded"
        self.until(until)
        return time.perf_counter() - begun

    def ask(self, script):
        """Return the value of an expression."""
        loop, found = QEventLoop(), []
        self.page.runJavaScript(f"JSON.stringify({script})", lambda value: (found.append(value), loop.quit()))
        QTimer.singleShot(WAIT, loop.quit)
        loop.exec()
        assert found, f"no answer to {script}"
        return json.loads(found[0]) if found[0] else None

    def until(self, script):
        """Wait until an expression is true."""
        end = time.monotonic() + WAIT / 1000
        while not self.ask(f"Boolean({script})"):
            assert time.monotonic() < end, f"never: {script}"
            QTest.qWait(20)

    def at(self, node):
        """Return where a node is in the window."""
        x, y = self.ask(
            f"(v => {{const b = v.canvas.getBoundingClientRect(); return [b.left + v.x({node}) * v.scale + v.left, "
            f"b.top + v.y({node}) * v.scale + v.top]}})(page.view)"
        )
        return QPoint(round(x), round(y))

    def click(self, node, shift=False):
        """Click a node."""
        modifier = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
        QTest.mouseClick(self.window.focusProxy(), Qt.MouseButton.LeftButton, modifier, self.at(node))
        QTest.qWait(60)

    def click_link(self, node, other, share):
        """Click a link with Shift, at a share of the way from a node to another."""
        one, two = self.at(node), self.at(other)
        point = QPoint(round(one.x() + share * (two.x() - one.x())), round(one.y() + share * (two.y() - one.y())))
        modifier = Qt.KeyboardModifier.ShiftModifier
        QTest.mouseClick(self.window.focusProxy(), Qt.MouseButton.LeftButton, modifier, point)
        QTest.qWait(60)

    def drag(self, start, end):
        """Press the mouse at a point of the window, move it, and let it go."""
        target, button = self.window.focusProxy(), Qt.MouseButton.LeftButton
        QTest.mousePress(target, button, Qt.KeyboardModifier.NoModifier, start)
        for share in (1, 2, 3, 4):
            QTest.mouseMove(target, start + (end - start) * share / 4)
            QTest.qWait(20)
        QTest.mouseRelease(target, button, Qt.KeyboardModifier.NoModifier, end)
        QTest.qWait(60)

    def press(self, keys):
        """Press keys: characters, or keys of Qt."""
        for key in keys:
            QTest.keyClick(self.window.focusProxy(), key)
        QTest.qWait(60)

    def text(self, name):
        """Return the text of an element."""
        return self.ask(f"document.getElementById({name!r}).innerText")

    def column(self, place, name):
        """Return the cells of a column of the first table in an element."""
        return self.ask(
            f"(t => {{const at = [...t.tHead.rows[0].cells].findIndex(c => c.innerText === {name!r});"
            f"return [...t.tBodies[0].rows].map(r => r.cells[at].innerText)}})"
            f"(document.querySelector('#{place} table'))"
        )

    def shot(self, name):
        """Keep a picture of the window."""
        QTest.qWait(250)
        self.window.grab().save(str(self.folder / f"{name}.png"))

    def frames(self, seconds=2.0):
        """Return frames drawn a second."""
        before, begun = self.ask("page.view.frames"), time.perf_counter()
        QTest.qWait(int(seconds * 1000))
        return (self.ask("page.view.frames") - before) / (time.perf_counter() - begun)
