"""Pages of `hdnhw explore` in Chromium, clicked and compared; PICTURES keeps what was seen in a folder; a minute.

It needs PySide6, which brings Chromium (Qt WebEngine), and no screen. Pictures of what was seen are kept.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import hdnhw
from hdnhw.rules.plan import plan
from hdnhw.rules.statistics import routing_statistics
from tests.browser.window import Browser, QApplication, QPoint, Qt, QTest

CHECKED = {
    "rdn(cube(2), 1)": (2, 29),
    "dualcube(4)": (2, 101),
    "rdn(cube(3), 1)": (3, 121),
    "hdn(cube(3), [[2], [0, 1, 2]])": (5, 1017),
}
"""Networks, and the ends of a route on each."""


def check_routes(browser, spec, ends):
    """Click two nodes; compare the hops, then kill a node on the way and compare the waypoints and the broken path."""
    network = hdnhw.Network(spec)
    src, dst = ends
    browser.press("1")
    browser.click(src)
    browser.click(dst)
    found = network.route(src, dst)
    assert browser.column("route-out", "to") == found.addresses[1:], "the route"
    assert browser.column("route-out", "vc") == [str(vc) for vc in found.vcs], "virtual channels"
    browser.shot("route")
    browser.ask("document.getElementById('show-paths').click()")
    paths = network.paths(src, dst, algorithm="flow")
    assert f"{paths.count} disjoint paths" in browser.text("route-out"), "as many disjoint paths"
    browser.shot("paths")
    browser.ask("document.getElementById('show-paths').click()")
    browser.click(found.nodes[1], shift=True)
    assert network.address(found.nodes[1]) in browser.text("dead-list")
    assert "broken" in browser.text("route-out")
    assert "Way around" in browser.text("route-out")
    browser.shot("waypoints")
    browser.click(found.nodes[1], shift=True)
    check_channels(browser, network, found)
    browser.press([Qt.Key.Key_Escape])


def check_channels(browser, network, found):
    """Click the first link of a route near its beginning; name the channel; compare the way around with the library."""
    src, node = found.nodes[0], found.nodes[1]
    near = browser.at(src) - browser.at(node)
    browser.ask(f"void page.view.zoom(Math.max(1, 100 / {near.manhattanLength()}))")
    browser.ask(f"void (page.view.reveal({node}), page.view.reveal({src}))")
    QTest.qWait(200)
    browser.click_link(src, node, 0.31)
    ports = "page.panel.data.ports[one % page.network.ports]"
    dead = browser.ask(f"[...page.panel.dead.channels].map(one => {ports})")
    assert dead == [found.ports[0]], f"the channel that was clicked: {dead}"
    browser.click_link(src, node, 0.31)
    assert "broken" not in browser.text("route-out")
    browser.ask("void page.view.fit()")
    name = f"{found.nodes[0]}:{found.ports[0]}"
    for text, is_broken in ((name, True), ("", False)):
        browser.ask(
            f"(i => {{i.value = {text!r}; i.dispatchEvent(new Event('change'))}})(document.getElementById('cut'))"
        )
        assert ("broken" in browser.text("route-out")) == is_broken
        if is_broken:
            way = network.waypoints(found.nodes[0], found.nodes[-1], dead_channels=[name]).ways[0]
            assert f"{way['hops']} hops by" in browser.text("route-out")
            browser.shot("channels")


def check_keys(browser, spec):
    """Choose and kill nodes by keys alone; name nodes by text."""
    network = hdnhw.Network(spec)
    browser.ask("page.view.canvas.focus()")
    browser.press([Qt.Key.Key_Escape, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Return])
    src = browser.ask("page.panel.src")
    browser.press([Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return])
    dst = browser.ask("page.panel.dst")
    assert src >= 0 <= dst != src, "keys go to nodes"
    assert browser.column("route-out", "to") == network.route(src, dst).addresses[1:]
    browser.press("k")
    assert browser.ask("[...page.panel.dead]") == [dst]
    assert "is dead" in browser.text("route-out")
    browser.shot("keys")
    browser.press("k")
    for text, node, is_known in ((network.address(3), 3, True), ("no such node", 3, False), ("0", 0, True)):
        browser.ask(
            f"(i => {{i.value = {text!r}; i.dispatchEvent(new Event('change'))}})(document.getElementById('dst'))"
        )
        assert browser.ask("page.panel.dst") == node
        assert browser.ask("document.getElementById('wrong').hidden") == is_known
    browser.press([Qt.Key.Key_Escape])
    assert browser.ask("[page.panel.src, page.panel.dst]") == [-1, -1]
    browser.press("+++")
    assert not browser.ask("page.view.isWhole")
    before = browser.ask("[page.view.left, page.view.top, page.panel.src]")
    browser.drag(QPoint(300, 300), QPoint(340, 380))
    moved = browser.ask("[page.view.left, page.view.top, page.panel.src]")
    assert [now - then for now, then in zip(moved, before, strict=True)] == [40, 80, 0], "the picture is moved"
    browser.press("0")
    assert browser.ask("page.view.isWhole")


def check_notebook(made, folder):
    """See that the page works in the frame that a notebook shows."""
    path = folder / "notebook.html"
    path.write_text(f"<!DOCTYPE html><title>notebook</title>{made._repr_html_()}", encoding="utf-8")
    browser = Browser(folder)
    browser.open(path, until="document.querySelector('iframe')")
    browser.shot("notebook")
    assert browser.page.messages == [], f"the console says {browser.page.messages}"


def check_schedules(browser, spec):
    """Step through all operations."""
    browser.press("2")
    for op in ("broadcast", "scatter", "allgather", "exchange"):
        browser.ask(f"(s => {{s.value = {op!r}; s.dispatchEvent(new Event('change'))}})(document.getElementById('op'))")
        steps = browser.ask("page.panel.schedule.steps.length")
        for step in range(1, steps + 1):
            browser.press(".")
            assert f"Step {step - 1}:" in browser.text("step-out")
            if step == steps // 2 + 1:
                browser.shot(op)
        nodes = len(hdnhw.Network(spec))
        assert f"{nodes} nodes of {nodes} have" in browser.text("step-out")


def check_packets(browser):
    """Play, stop, and look at queues."""
    browser.press("3")
    browser.press("p")
    QTest.qWait(2500)
    rate = browser.frames()
    browser.press("p")
    cycle = browser.ask("page.panel.cycle")
    assert cycle > 10, "packets move"
    assert not browser.ask("page.panel.playing")
    browser.ask("page.panel.goTo(Math.floor(page.run.end / 2))")
    counts = [int(count) for count in browser.column("run-out", "")]
    assert sum(counts) == browser.ask("page.run.created.filter(c => c <= page.panel.cycle).length"), "no packet is lost"
    browser.shot("packets")
    return rate


def check_load(browser, spec):
    """Compare the most loaded channel with that of the library."""
    browser.press("4")
    most = routing_statistics(plan(spec)).max_channel_load
    browser.until(f"document.getElementById('load-out').innerText.includes('0 to {most} routes')")
    browser.shot("load")


def check(spec, ends, folder):
    """Check the page of a network; return figures."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "page.html"
    made = hdnhw.explore(spec, path)
    browser = Browser(folder)
    seconds = browser.open(path)
    browser.shot("whole")
    browser.ask("page.view.canvas.focus()")
    check_routes(browser, spec, ends)
    check_keys(browser, spec)
    check_schedules(browser, spec)
    rate = check_packets(browser)
    check_load(browser, spec)
    begun, before = time.perf_counter(), browser.ask("page.view.frames")
    browser.ask("void (window.spin = setInterval(() => page.view.zoom(Math.random() < 0.5 ? 1.05 : 1 / 1.05), 5))")
    QTest.qWait(2000)
    zooming = (browser.ask("page.view.frames") - before) / (time.perf_counter() - begun)
    browser.ask("clearInterval(window.spin)")
    way = browser.ask(
        "(t => (page.network.waypoints(0, page.network.nodes - 1, new Dead([1, 2, 3]), 3), performance.now() - t))"
        "(performance.now())"
    )
    asked = browser.ask("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert asked == [], f"the page fetches {asked}"
    assert browser.page.messages == [], f"the console says {browser.page.messages}"
    check_notebook(made, folder)
    return {
        "spec": spec,
        "bytes": made.bytes,
        "seconds to the first picture": round(seconds, 2),
        "milliseconds for a way around": round(way),
        "frames a second, packets": round(rate, 1),
        "frames a second, zooming": round(zooming, 1),
    }


def main():
    """Check networks of 32 to 1024 nodes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", help="folder for what was seen (default: a temporary one)")
    options = parser.parse_args()
    folder = Path(options.pictures or tempfile.mkdtemp(prefix="explore-"))
    application = QApplication(sys.argv[:1])
    for number, (spec, ends) in enumerate(CHECKED.items()):
        print(json.dumps(check(spec, ends, folder / str(number))), flush=True)
    print(f"pictures: {folder}")
    del application


if __name__ == "__main__":
    main()
