"""What a stranger sees first: one description everywhere, figures that other pages show, and how to cite."""

import re
import tomllib
from pathlib import Path

import yaml

from hdnhw.cli import command_parser
from hdnhw.networks.parse import parse
from hdnhw.networks.registry import family_of, makers

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def _cells(page, first):
    """Return the cells of the row of a page that begins with some cells."""
    (row,) = re.findall(rf"^\| {re.escape(first)} \|(.*)\|$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


def test_the_project_is_described_in_one_way():
    about = PROJECT["description"]
    assert README.startswith(f"# hdnhw\n\n**{about}**\n")
    assert (ROOT / "docs" / "README.md").read_text().startswith(f"# hdnhw\n\n**{about}**\n")
    assert f'\nsite_description: "{about}"\n' in (ROOT / "website" / "mkdocs.yml").read_text()
    assert command_parser().description == about


def test_it_can_be_cited():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert cited["cff-version"] == "1.2.0"
    assert cited["authors"] == [{"name": "hdnhw maintainers"}]
    assert (cited["version"], cited["license"]) == (PROJECT["version"], PROJECT["license"])
    assert cited["abstract"] == PROJECT["description"]


def test_figures_are_those_of_other_pages():
    sites, ram, mhz = (_cells("synthesis.md", "ecp5 | `torus(4, 4)`")[column] for column in (1, 3, 4))
    assert f"takes {sites} LUT sites and 5 block RAMs" in README
    assert "5 DP16KD" in ram
    assert f"[{float(mhz):.0f} MHz]" in README
    looked, _, killed, _, holes = map(int, _cells("mutants.md", "`default` | 2306")[:5])
    assert looked == 2306
    assert f"Of {killed + holes:,} faults put into a router" in README
    assert f"[{killed:,}](docs/mutants.md#mutants)" in README
    seconds = float(_cells("scale.md", "`cube(20)` | 1048576 | 0.01")[3])
    assert f"in {seconds:.0f} s of CPU" in README
    papers = [_cells("papers/index.md", f"[{name}]({name.lower()}.md)") for name in ("HDN", "RDN", "DISJ", "HSN", "DC")]
    verdicts = [list(map(int, cells[1:])) for cells in papers]
    assert f"[{sum(map(sum, verdicts))} claims]" in README
    assert f"{sum(row[0] for row in verdicts)} hold and {sum(row[3] for row in verdicts)} are false" in README


def test_networks_are_counted():
    """By the examples of docs/networks.md, one of each maker at least."""
    table = (ROOT / "docs" / "networks.md").read_text().partition("| spec | network |")[2].partition("\n\n")[0]
    specs = {spec.partition("(")[0]: spec for spec in re.findall(r"`(\w+\(.*?\))`", table) if "FILE" not in spec}
    assert specs.keys() == makers().keys()
    free = [name for name, spec in specs.items() if family_of(parse(spec)).step is not None]
    assert f"**Networks.** {len(free)} kinds" in README
    assert f"{len(specs) - len(free)} more" in README
