"""Which files each file of tests depends on: what it imports, what is loaded at run time, and the data that it reads.

Nothing is run: sources are read as syntax trees. Beside imports, wherever they stand, a file leads to

- what a dotted name in a string says (``monkeypatch.setattr``, ``-m hdnhw.flow.yosys``, a program that is handed to
  Python), and to all modules of a package that is named so, as families are looked for;
- the entry points of a group, and the scripts of pyproject.toml, that a string names;
- the files whose name, folder or pattern a string has, the data of its own package, and what a script starts;
- what ``hdnhw`` looks up when a name is asked for, and the commands of ``hdnhw`` that a test names;
- of a conftest.py, what is done when it is imported, and what the fixtures use that a test asks for.

In doubt one file leads to another: a test too many costs seconds, a test too few hides a fault.
"""

import ast
import hashlib
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Any

__all__ = ["CALLED", "CHECKED", "LOADED", "MADE", "PACKAGE", "Tree", "blob_id", "imports_of"]

PACKAGE = "hdnhw"
COMMAND_LINE = f"{PACKAGE}/__main__.py"
TESTING = ("tests/", "bench/")
"""Folders of sources that name the commands they run."""
CODE = {PACKAGE, "bench", "boards", "sim", "tests", "website"}
"""Folders whose names are words of their own: who says ``sim`` need not read that folder."""
SETTINGS, LISTED = "pyproject.toml, but for linters", "ls-files"
MADE = {SETTINGS, LISTED}
"""What is looked at like a file: settings of all tests, and which files there are, which a test asks git for."""
ALL = (SETTINGS, "requirements.txt")
"""What each file of tests depends on."""
PROGRAMS = {"make": "Makefile", "fusesoc": "hdnhw/fusesoc/generate.py"}
"""Programs that read or run a file of which nobody tells them."""
READ = (".py", ".md", ".ipynb", ".sh")
"""Kinds of files that name others."""
SCRIPTS, PAGES = (".sh",), (".md", ".ipynb")
INTERPRETERS = {"exec", "nbclient", "testfile"}
"""Who mentions one of these may run the Python of a page."""
PLACES = {"ROOT", "__file__"}
"""Who mentions one of these may read what lies outside of its folder."""
KEPT = {*INTERPRETERS, *PLACES, "command_parser"}
DYNAMIC = "import_module(...)"

LOADED, CALLED, CHECKED = "loaded", "called", "checked"
"""When an import is done: with its module, when a function is called, or never, as it is for type checkers."""
ONLY, GATE = "|", "?"
"""Behind the name of a source: it is imported and not called; it is called if one of its commands is named."""

IS_TEST_SIDE = re.compile(rf"(?:{'|'.join(TESTING)})[^{ONLY}{GATE}]*$")
DOTTED = re.compile(rf"\b(?:{PACKAGE}|bench|tests|website)(?:\.\w+)+")
PLAIN = re.compile(r"[\w./*?-]+")
IMPORTED = re.compile(
    rf"""(?:^|>>>\ |[;\n"]\ *)(?:from\ {PACKAGE}\ import\ (.*)|import\ {PACKAGE}(\ as)?\b)""", re.VERBOSE
)

Facts = dict[str, Any]
Import = tuple[str, tuple[str, ...], str]


def blob_id(content: bytes) -> str:
    """Return the name that git has for a content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def imports_of(node: ast.AST, package: tuple[str, ...], when: str = LOADED) -> Iterator[Import]:
    """Yield (module, names, when) of every import in a tree, whatever it is nested in; relative ones made absolute."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, (), when) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parents = package[: len(package) - node.level + 1] if node.level else ()
        module = ".".join([*parents, *filter(None, [node.module])])
        yield module, tuple(alias.name for alias in node.names), when
    elif isinstance(node, ast.Call) and (name := _imported_by(node)):
        yield name, (), when
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and when == LOADED:
        when = CALLED
    for field, value in ast.iter_fields(node):
        is_checked = isinstance(node, ast.If) and field == "body" and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from imports_of(child, package, CHECKED if is_checked else when)


def _imported_by(call: ast.Call) -> str:
    """Return the module that a call imports by a name that stands there."""
    called = {"__import__", "import_module", "importlib.import_module"}
    named = [one.value for one in call.args[:1] if isinstance(one, ast.Constant) and ast.unparse(call.func) in called]
    return str(named[0]) if named else ""


def facts_of(nodes: Iterable[ast.AST], package: tuple[str, ...]) -> Facts:
    """Return what statements name.

    ``imports``, as of `imports_of`; ``names`` and ``arguments``, identifiers; ``asked``, names of hdnhw that are looked
    up; ``commands`` that are added to the command line; of strings, ``dotted`` names, ``words`` (strings that can be
    names, their parts between slashes), ``started`` (what a list begins with, as commands do), ``folders`` (parts that
    no name of a file follows) and ``first`` words; ``patterns`` of files; ``doctest``, what docstrings with examples
    name.
    """
    facts: Facts = defaultdict(set, imports=[], doctest={})
    for top in nodes:
        facts["imports"] += imports_of(top, package)
        docstrings = {id(node.value) for node in ast.walk(top) if isinstance(node, ast.Expr)}
        inner: set[int] = set()
        for node in ast.walk(top):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if id(node) not in docstrings:
                    _of_string(node.value, facts, is_folder=id(node) not in inner)
                elif ">>>" in node.value:
                    facts["doctest"] = _of_text(node.value, facts["doctest"])
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                if isinstance(node.right, ast.Constant) and "." in str(node.right.value):
                    inner |= {id(before) for before in ast.walk(node.left)}
            elif isinstance(node, ast.Attribute):
                if isinstance(node.value, ast.Name) and node.value.id == PACKAGE:
                    facts["asked"].add(node.attr)
                    inner.add(id(node.value))
                facts["names"] |= {node.attr} & KEPT
            elif isinstance(node, ast.Name):
                facts["names" if isinstance(node.ctx, ast.Load) else "own"].add(node.id)
                facts["asked"] |= {"*"} if node.id == PACKAGE and id(node) not in inner else set()
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node is not top:
                facts["own"].add(node.name)
            elif isinstance(node, ast.arg):
                facts["arguments"].add(node.arg)
            elif isinstance(node, ast.List) and node.elts and isinstance(node.elts[0], ast.Constant):
                facts["started"].add(str(node.elts[0].value))
            elif isinstance(node, ast.Call):
                _of_call(node, facts)
    facts["names"] -= facts.pop("own", set())
    return {key: sorted(value) if isinstance(value, set) else value for key, value in facts.items() if value}


def _of_text(text: str, facts: Facts) -> Facts:
    """Return facts with those of a text that may be a program."""
    dotted, asked = set(DOTTED.findall(text)), set()
    for names, other_name in IMPORTED.findall(text):
        asked |= {*re.findall(r"\w+", names), *re.findall(rf"\b{PACKAGE}\.(\w+)", text)} | (
            {"*"} if other_name else set()
        )
    return {
        **facts,
        "dotted": sorted(dotted.union(facts.get("dotted", ()))),
        "asked": sorted(asked.union(facts.get("asked", ()))),
    }


def _of_string(text: str, facts: Facts, *, is_folder: bool) -> None:
    for key, found in _of_text(text, {}).items():
        facts[key].update(found)
    words = text.split()
    facts["first"].update(words[:1])
    facts["words"].update(words if "-m" in words else ())
    if PLAIN.fullmatch(text):
        parts = {part for part in text.split("/") if part}
        facts["words"] |= {text, *parts}
        facts["folders"] |= parts if is_folder else set()


def _of_call(call: ast.Call, facts: Facts) -> None:
    called = ast.unparse(call.func).rpartition(".")[2]
    is_named = [isinstance(one, ast.Constant) for one in call.args]
    if called == "add_command" and len(call.args) > 1:
        facts["commands"].add(call.args[1].value if is_named[1] else "*")
    elif called == "import_module" and is_named == [False]:
        facts["words"].add(DYNAMIC)
    elif called in ("copytree", "iterdir"):
        facts["patterns"].add("*")
    elif called in ("glob", "rglob") and is_named == [True]:
        facts["patterns"].add(str(call.args[0].value).rpartition("/")[2])


def source_facts(path: str, source: bytes) -> Facts:
    """Return the facts of a source; of a conftest.py those of its functions and classes apart, as ``parts``."""
    tree, package = ast.parse(source), tuple(path.split("/")[:-1])
    if not path.endswith("conftest.py"):
        facts = {**facts_of([tree], package), "lazy": _lazy_names(tree, package)}
        return {**facts, "names": sorted(KEPT.intersection(facts.get("names", ())))}
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = [node for node in tree.body if isinstance(node, kinds)]
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    bound = {
        alias.asname or alias.name.partition(".")[0]: one
        for node in imports
        for alias, one in zip(node.names, _one_by_one(node, package), strict=True)
    }
    parts = {node.name: facts_of([node], package) for node in defined}
    body = facts_of([node for node in tree.body if node not in [*defined, *imports]], package)
    for facts in (body, *parts.values()):
        used = [(*bound[name], CALLED) for name in facts.get("names", ()) if name in bound]
        facts["imports"] = [*facts.get("imports", ()), *used]
    body["imports"] += [found for node in imports for found in imports_of(node, package)]
    return {**body, "parts": parts, "always": [node.name for node in defined if _is_always_used(node)]}


def _one_by_one(node: ast.Import | ast.ImportFrom, package: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for module, names, _ in imports_of(node, package):
        yield from ((module, (name,)) for name in names) if names else [(module, ())]


def _is_always_used(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Return whether pytest calls a function unasked: a hook, or a fixture with ``autouse``."""
    return node.name.startswith("pytest_") or any("autouse" in ast.unparse(one) for one in node.decorator_list)


def _lazy_names(tree: ast.Module, package: tuple[str, ...]) -> dict[str, str]:
    """Return, of a module with a ``__getattr__``, where the names are that type checkers are told of."""
    if not any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body):
        return {}
    return {name: module for module, names, when in imports_of(tree, package) if when == CHECKED for name in names}


def page_facts(path: str, text: str) -> Facts:
    """Return what a page or script names; ``first``: commands of hdnhw."""
    words = set(re.findall(r"[\w.-]+", text)) if path.endswith(SCRIPTS) else set()
    return _of_text(
        text, {"words": sorted(words), "first": sorted(set(re.findall(rf"\b{PACKAGE} ([a-z][a-z-]+)", text)))}
    )


class Tree:
    """The files of a checkout or a commit, by their names.

    Parameters
    ----------
    files : mapping of str to bytes
    links : mapping of str to str, optional
        Folders that are links, to other folders.
    known : dict, optional
        Facts of files that were read before, by digests; those of this tree are added.
    """

    def __init__(
        self, files: Mapping[str, bytes], links: Mapping[str, str] | None = None, known: dict[str, Facts] | None = None
    ) -> None:
        project = tomllib.loads(files.get("pyproject.toml", b"").decode())
        points = project.get("project", {}).get("entry-points", {})
        self.groups = {
            group: {name: place.partition(":")[0] for name, place in places.items()} for group, places in points.items()
        }
        scripts = project.get("project", {}).get("scripts", {})
        self.scripts = {name: place.partition(":")[0] for name, place in scripts.items()}
        tools = {name: value for name, value in project.get("tool", {}).items() if name not in ("mypy", "ruff")}
        made = {LISTED: "\n".join(sorted(files)), SETTINGS: json.dumps({**project, "tool": tools}, sort_keys=True)}
        self.files = {**files, **{name: text.encode() for name, text in made.items()}}
        self.links, self.known = links or {}, {} if known is None else known
        self.digests = {path: blob_id(content) for path, content in self.files.items()}
        self._edges: dict[str, frozenset[str]] = {}
        self._closures: dict[str, frozenset[str]] = {}
        self._at: dict[str, list[str]] = defaultdict(list)
        """Files by their name, and by each of the folders that they are in, with a slash."""
        for path in self.files:
            for part in set(re.findall("[^/]+/?", path)):
                self._at[part].append(path)

    def test_files(self) -> list[str]:
        """Return the files that have tests: those named so, and modules of hdnhw with examples in their docstrings."""
        named = (path for path in self.files if re.fullmatch(r"tests/(.*/)?test_\w+\.py", path))
        modules = (path for path in self.files if path.startswith(f"{PACKAGE}/") and path.endswith(".py"))
        return sorted([*named, *(path for path in modules if "doctest" in self.facts(path))])

    def digest(self, test: str) -> str:
        """Return the digest of all that a file of tests depends on."""
        lines = "".join(f"{path} {self.digests[path]}\n" for path in sorted(self.closure(test)))
        return hashlib.sha1(lines.encode(), usedforsecurity=False).hexdigest()

    def closure(self, test: str) -> frozenset[str]:
        """Return all that a file of tests depends on, itself among it."""
        if test not in self._closures:
            folders = [f"{folder}/" for folder in PurePosixPath(test).parents if str(folder) != "."]
            conftests = [path for folder in folders if (path := f"{folder}conftest.py") in self.files]
            todo = {test, *conftests, *(path for path in ALL if path in self.files)}
            todo |= self._of_fixtures(test, conftests) | self._of_names(self.facts(test).get("doctest", {}))
            seen: set[str] = set()
            while todo:
                while todo:
                    seen |= todo
                    todo = {one for node in todo for one in self._edges_of(node)} - seen
                todo = self._opened(seen) - seen
            self._closures[test] = frozenset(node.rstrip(GATE + ONLY) for node in seen)
        return self._closures[test]

    def facts(self, path: str) -> Facts:
        """Return what a file names; nothing of kinds that name none."""
        if not path.endswith(READ):
            return {}
        digest, content = self.digests[path], self.files[path]
        if digest not in self.known:
            is_source = path.endswith(".py")
            self.known[digest] = source_facts(path, content) if is_source else page_facts(path, content.decode())
        return self.known[digest]

    def _opened(self, seen: set[str]) -> set[str]:
        """Return the modules of commands that are named; of all, if none is or the whole parser is asked for."""
        gates = {node[:-1] for node in seen if node[-1] == GATE}
        tellers = (*SCRIPTS, *PAGES) if COMMAND_LINE in seen else SCRIPTS
        told = [self.facts(path) for path in seen if path.endswith(tellers) or IS_TEST_SIDE.match(path)]
        told += [facts for one in told for facts in one.get("parts", {}).values()]
        named = {"*"}.union(*(one.get("first", ()) for one in told))
        opened = {gate for gate in gates if named.intersection(self.facts(gate)["commands"])}
        is_whole = any("command_parser" in one.get("names", ()) for one in told)
        return opened if opened and not is_whole else gates

    def _of_fixtures(self, test: str, conftests: list[str]) -> set[str]:
        """Return what those functions of conftest.py files lead to that a test asks for, or pytest calls unasked."""
        parts: dict[str, list[tuple[str, Facts]]] = defaultdict(list)
        for path in conftests:
            for name, facts in self.facts(path)["parts"].items():
                parts[name].append((path, facts))
        todo = {*self.facts(test).get("arguments", ()), *self.facts(test).get("words", ())}
        for path in conftests:
            todo |= {*self.facts(path)["always"], *self.facts(path).get("names", ())}
        nodes: set[str] = set()
        while todo := todo & set(parts):
            found = [part for name in todo for part in parts.pop(name)]
            nodes |= {node for path, facts in found for node in self._of_source(path, facts)}
            todo = {name for _, facts in found for name in (*facts.get("names", ()), *facts.get("arguments", ()))}
        return nodes

    def _edges_of(self, node: str) -> frozenset[str]:
        """Return what a file leads to at once."""
        if node not in self._edges:
            path = node.rstrip(GATE + ONLY)
            facts = self.facts(path)
            if path != node:
                found = [one for one in facts.get("imports", ()) if one[2] == LOADED]
                edges = {_only(one) for one in self._imported(path, found)}
            elif path.endswith(".py"):
                edges = self._of_source(path, facts)
            elif path.endswith(SCRIPTS):
                beside = {f"{path.rpartition('/')[0]}/{word}" for word in facts["words"]} & set(self.files)
                edges = beside | self._started(facts["words"]) | self._read_by(facts["words"])
            else:
                edges = set()
            self._edges[node] = frozenset(edges)
        return self._edges[node]

    def _of_source(self, path: str, facts: Facts) -> set[str]:
        imports = [one for one in facts.get("imports", ()) if one[2] != CHECKED]
        if path.endswith("conftest.py"):
            called = self._imported(path, [one for one in imports if one[2] == CALLED])
            edges = called | {_only(one) for one in self._imported(path, imports)}
        else:
            edges = self._imported(path, imports)
        if facts.get("lazy"):
            return edges  # its strings say where names are, each of which is followed when it is asked for
        words, data = set(facts.get("words", ())), self._data(path, facts)
        edges |= self._of_names(facts) | self._offered(words)
        if {"-m", PACKAGE} <= words:
            edges |= {COMMAND_LINE} & set(self.files)
        if DYNAMIC in words:
            below = tuple(f"{path.partition('/')[0]}/{folder}/" for folder in facts.get("folders", ()))
            edges |= {file for file in self.files if file.startswith(below) and file.endswith(".py")}
        if INTERPRETERS.intersection(facts.get("names", ())):
            edges |= {node for file in data if file.endswith(PAGES) for node in self._of_names(self.facts(file))}
        if path.startswith(TESTING):
            edges |= self._read_by(facts.get("started", ()))
        else:
            gates = {node for node in edges if node[-1] != ONLY and self.facts(node).get("commands")}
            edges = edges - gates | {f"{node}{GATE}" for node in gates}
        return edges | data | self._started(words)

    def _data(self, path: str, facts: Facts) -> set[str]:
        """Return the files that a source names, or that belong to its package; examples are started, too."""
        own = path.rpartition("/")[0]
        words, folders = facts.get("words", ()), set(facts.get("folders", ()))
        named = (word for word in words if "." in word or not word.islower())
        found = {file for word in named for file in self._at.get(word, ())}
        found = {file for file in found if not file.endswith(".py")}
        found |= {file for word in words for file in (word, f"{own}/{word}") if file in self.files}
        if f"{own}/__init__.py" in self.files:
            found |= {file for file in self._in(own) if "/" not in file[len(own) + 1 :] and not file.endswith(".py")}
        is_outside = not PLACES.isdisjoint(facts.get("names", ()))
        if is_outside or path.startswith(TESTING):
            named = (file for folder in folders - CODE for file in self._at.get(f"{folder}/", ()))
            found |= {file for file in named if file.partition("/")[0] not in CODE}
        if is_outside:
            patterns = {*facts.get("patterns", ()), *(word for word in words if re.search(r"\*.*\w", word))}
            near = "" if path.startswith(TESTING) else path[: path.index("/") + 1]
            patterns -= {"*"} if near else set()
            beside = [
                *self._in(own),
                *(file for one in folders for file in self._at.get(f"{one}/", ()) if file.startswith(near)),
            ]
            found |= {file for file in beside if any(fnmatch(file.rpartition("/")[2], one) for one in patterns)}
        return found

    def _in(self, folder: str) -> list[str]:
        return [file for file in self._at.get(f"{folder.rpartition('/')[2]}/", ()) if file.startswith(f"{folder}/")]

    def _started(self, words: Collection[str]) -> set[str]:
        """Return what words start: scripts, and entry points of a group that are named beside it."""
        modules = [place for name, place in self.scripts.items() if name in words and name not in CODE]
        for points in (self.groups[group] for group in self.groups.keys() & words):
            modules += [points[name] for name in points.keys() & words]
        return {node for module in modules for node in self._lookup(module)}

    def _offered(self, words: Collection[str]) -> set[str]:
        """Return all entry points of each group of which none is named beside it."""
        groups = [self.groups[group] for group in self.groups.keys() & words]
        unnamed = [points for points in groups if not points.keys() & words]
        return {node for points in unnamed for module in points.values() for node in self._lookup(module)}

    def _read_by(self, words: Iterable[str]) -> set[str]:
        return {PROGRAMS[word] for word in words if word in PROGRAMS} & set(self.files)

    def _of_names(self, facts: Facts) -> set[str]:
        """Return what dotted names lead to, with each module of a package, and what names of hdnhw do."""
        edges = {node for name in facts.get("asked", ()) for node in self._lookup(f"{PACKAGE}.{name}")}
        for name in facts.get("dotted", ()):
            folder = self._followed(name.replace(".", "/"))
            edges |= self._lookup(name)
            if name in facts.get("words", ()):
                edges |= {file for file in self._in(folder) if re.fullmatch(r"/\w+\.py", file.removeprefix(folder))}
        return edges

    def _imported(self, path: str, imports: Iterable[Import]) -> set[str]:
        edges: set[str] = set()
        for module, names, _ in imports:
            beside = f"{path.rpartition('/')[0]}/{module}.py"  # a folder that was put into sys.path
            for name in [f"{module}.{name}" for name in names] or [module]:
                edges |= self._lookup(name) or {beside} & set(self.files)
        return edges

    def _lookup(self, name: str) -> set[str]:
        """Return the module that a dotted name is or begins with, and the packages that are imported before it."""
        parts, edges, last, rest = name.split("."), set[str](), "", [""]
        for end in range(1, len(parts) + 1):
            stem = self._followed("/".join(parts[:end]))
            for file in (f"{stem}.py", f"{stem}/__init__.py"):
                if file in self.files:
                    edges |= {_only(file)}
                    last, rest = file, parts[end:]
        lazy = self.facts(last).get("lazy") if last else None
        if not lazy:
            return edges | ({last} if last else set())
        asked = list(lazy) if rest == ["*"] else [one for one in rest[:1] if not one.startswith("__")]
        for one in asked:
            edges |= self._lookup(f"{lazy[one]}.{one}") if one in lazy else {last}
        return edges

    def _followed(self, path: str) -> str:
        """Return a path with the link that it begins with followed."""
        for link, folder in self.links.items():
            if path == link or path.startswith(f"{link}/"):
                return folder + path.removeprefix(link)
        return path


def _only(node: str) -> str:
    return node if node[-1] == ONLY else node.rstrip(GATE) + ONLY
