"""Pages of the site in Chromium at three widths: which tables and consoles are cut off; three minutes.

At 1280 and 1440 pixels nothing may be cut off. At 390 a table or console may scroll in a box of its own, if a scrollbar
and a shadow show it. Nothing may make the page itself wider than the window.
"""

import argparse
import sys
from pathlib import Path

from tests.browser.window import Browser, QApplication, QTest

SITE = Path(__file__).parents[2] / "build" / "site"

WIDTHS = (390, 1280, 1440)
"""Widths of the window, in pixels: a telephone, and two usual ones."""

SCROLLS = 390
"""The width at which boxes may scroll."""

COUNTED = """(() => {
  const boxes = kind => [...document.querySelectorAll(kind)].filter(box => box.offsetParent !== null)
  const padding = box => parseFloat(getComputedStyle(box).paddingRight)
  const isCut = box => box.scrollWidth - padding(box) > box.clientWidth + 1
  const clear = inner => !inner || getComputedStyle(inner).backgroundColor === "rgba(0, 0, 0, 0)"
  const hasShadow = box => getComputedStyle(box).backgroundImage !== "none" && clear(box.querySelector("table"))
  const isShown = box => box.offsetHeight > box.clientHeight + 2 && hasShadow(box)
  const kinds = {tables: ".md-typeset__scrollwrap", consoles: ".md-typeset pre > code"}
  const found = {wide: Number(document.documentElement.scrollWidth > innerWidth + 1)}
  for (const kind in kinds) {
    const all = boxes(kinds[kind]), cut = all.filter(isCut)
    found[kind] = {all: all.length, cut: cut.length, hidden: cut.filter(box => !isShown(box)).length,
      first: cut.map(box => `${box.scrollWidth - box.clientWidth}: ${box.innerText.trim().slice(0, 60)}`)}
  }
  return found
})()"""


def counted(browser):
    """Return what is cut off when the theme has moved what it moves: half a second after the window has its width."""
    QTest.qWait(60)
    for _ in range(9):
        found = browser.ask(COUNTED)
        if not found["wide"]:
            break
        QTest.qWait(60)
    return found


def main():
    """Print what is cut off on each page, and end with exit status 1 if anything is that must not be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="pages, such as machines.html (default: all)")
    parser.add_argument("--site", type=Path, default=SITE, help="folder of the site (default: %(default)s)")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the tops of all pages")
    options = parser.parse_args()
    site = options.site.resolve()
    pages = options.pages or sorted(str(page.relative_to(site)) for page in site.rglob("*.html"))
    application = QApplication(sys.argv[:1])
    totals = {width: dict.fromkeys(("wide", "tables", "consoles", "hidden"), 0) for width in WIDTHS}
    all_of = dict.fromkeys(("tables", "consoles"), 0)
    for name in pages:
        browser = Browser(options.pictures)
        browser.window.resize(WIDTHS[0], 900)
        browser.open(site / name, until="document.body")
        if not browser.ask("Boolean(document.querySelector('.md-content'))"):
            continue  # a page of `hdnhw explore`
        browser.until("[...document.querySelectorAll('.md-typeset table:not([class])')].every(t => t.closest('div'))")
        for width in WIDTHS:
            browser.window.resize(width, 900)
            browser.until(f"innerWidth === {width}")
            found = counted(browser)
            cut = {kind: found[kind]["cut"] for kind in all_of}
            hidden = sum(found[kind]["hidden"] for kind in all_of)
            for kind, count in {"wide": found["wide"], **cut, "hidden": hidden}.items():
                totals[width][kind] += count
            if options.pictures:
                options.pictures.mkdir(parents=True, exist_ok=True)
                browser.shot(f"{name.replace('/', '-').removesuffix('.html')}-{width}")
            if found["wide"] or hidden or any(cut.values()):
                print(
                    f"{name} at {width}: "
                    + ", ".join(f"{found[k]['cut']} of {found[k]['all']} {k}" for k in all_of)
                    + " cut off"
                    + f", {hidden} without a sign" * bool(hidden)
                    + ", page too wide" * found["wide"]
                )
                if width != SCROLLS:
                    print("".join(f"    {line!r}\n" for kind in all_of for line in found[kind]["first"]), end="")
        for kind in all_of:
            all_of[kind] += found[kind]["all"]
        browser.window.close()
    print(f"{len(pages)} pages, {all_of['tables']} tables, {all_of['consoles']} consoles")
    for width, total in totals.items():
        print(
            f"at {width}: {total['tables']} tables and {total['consoles']} consoles cut off, "
            f"{total['hidden']} without a sign, {total['wide']} pages too wide",
            flush=True,
        )
    del application
    broken = any(total["wide"] or total["hidden"] for total in totals.values())
    return int(broken or any(totals[w][k] for w in WIDTHS if w != SCROLLS for k in all_of))


if __name__ == "__main__":
    sys.exit(main())
