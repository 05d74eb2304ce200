"""The picture of README, docs/explore.png: a page of `hdnhw explore` with a route around a dead node; half a minute."""

import sys
import tempfile
from pathlib import Path

from PIL import Image

import hdnhw
from tests.browser.window import Browser, QApplication, QTest

SPEC, ENDS = "rdn(cube(2), 1)", (2, 29)
FILE = Path(__file__).parents[2] / "docs" / "explore.png"


def main():
    """Draw it."""
    application = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        hdnhw.explore(SPEC, page)
        browser = Browser(folder, 1200, 560)
        browser.open(page)
        for node in ENDS:
            browser.click(node)
        dead = hdnhw.Network(SPEC).route(*ENDS).nodes[1]
        browser.click(dead, shift=True)
        assert "Way around" in browser.text("route-out")
        QTest.qWait(500)
        browser.window.grab().save(str(FILE))
    Image.open(FILE).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(FILE, optimize=True)
    print(FILE)
    del application


if __name__ == "__main__":
    main()
