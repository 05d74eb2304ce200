"""Which files each file of tests depends on: what it imports, what is loaded at run time, and the data that it reads.

Nothing is run: sources are read as syntax trees. Beside imports, wherever they stand, a file leads to

- what a string has for a name of: a module, ``hdnhw.fpga.yosys``, in a program as well; all modules of a package; an
  entry point, and all of a group; a file or folder, or a pattern of them, as `path_of` reads it;
- what ``hdnhw`` looks up when a name is asked for, and the commands of ``hdnhw`` that a test names;
- of a conftest.py, what is done when it is imported, and the functions that a test names.

In doubt one file leads to another: a test too many costs seconds, a test too few hides a fault.
"""

import ast
import hashlib
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

PACKAGE, COMMAND_LINE = "hdnhw/__init__.py", "hdnhw/cli/__init__.py"
BESIDE = ("hdnhw/boards", "hdnhw/sim")
CODE = {"hdnhw", "bench", "boards", "sim", "tests", "website"}
"""Folders whose names are words of their own: who says ``sim`` need not read that folder."""
TELLING = re.compile(r"(tests|bench)/.*|.*\.(sh|md|ipynb)")
"""Files that name the commands, functions of a conftest.py and files that they use."""
PLACES = {"ROOT", "__file__"}
"""Who mentions one of these may read what lies in folders with such names."""
TOLD = {*PLACES, "command_parser"}
"""Names that matter wherever they stand."""
SETTINGS = "pyproject.toml, but for linters"
"""What is looked at like a file: settings of all tests."""
ALL = {SETTINGS, "CMakeLists.txt", "requirements.txt"}
"""What each file of tests depends on."""
PROGRAMS = {"make": "Makefile", "fusesoc": "hdnhw/fusesoc/", "git": ""}
"""How what programs read or run begins, of which nobody tells them."""

LOADED, CALLED, CHECKED = "loaded", "called", "checked"
"""When an import is done: with its module, when a function is called, or never, as it is for type checkers."""

DECLARED = "hdnhw.endpoints.*."
"""How the modules begin that ``hdnhw.endpoints.declared`` imports."""

DOTTED = re.compile(r"\b(?:hdnhw|bench|tests|website)(?:\.\w+)+")
IMPORTED = re.compile(r"from (hdnhw[\w.]*) import (.*)|\bimport (hdnhw) as")
COMMAND = re.compile(r"\bhdnhw ([a-z][a-z-]+)")

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
    """Return the module that a call imports by a name that stands there; of each kind of endpoints, one with a star."""
    called = {**dict.fromkeys(("__import__", "import_module", "importlib.import_module"), ""), "declared": DECLARED}
    named = [one.value for one in call.args[:1] if isinstance(one, ast.Constant) and ast.unparse(call.func) in called]
    return f"{called[ast.unparse(call.func)]}{named[0]}" if named else ""


def path_of(node: ast.AST) -> tuple[str, list[ast.AST]]:
    """Return what a string or path is, with ``?`` for what is not written there, ``?/docs/*.md``; and those parts."""
    match node:
        case ast.Constant(value=str(text)) | ast.Name(id="tmp_path" as text):
            return text, []
        case ast.JoinedStr(values=parts):
            return "".join(path_of(part)[0] for part in parts), [node]
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            (folder, parts), (name, others) = path_of(left), path_of(right)
            return f"{folder}/{name}", parts + others
        case ast.Call(func=ast.Attribute(value=left, attr="glob" | "rglob"), args=[ast.Constant(value=pattern)]):
            folder, parts = path_of(left)
            return f"{folder}/{pattern}", parts
    return "?", [node]


def words_of(text: str) -> set[str]:
    """Return the words of a text that can be names: of files, modules and commands."""
    words = text.split()
    found = {text, *words[:1], *DOTTED.findall(text), *COMMAND.findall(text)}
    found |= {word for word in words if re.search("[./*]", word) or "-m" in words}
    for module, names, other in IMPORTED.findall(text):
        found |= {f"{module}.{name}" for name in re.findall(r"\w+", names)} | ({"hdnhw.*"} if other else set())
    return {word for word in found if re.fullmatch(r"[\w./*?-]*\w[\w./*?-]*", word)}


def facts_of(statements: list[ast.stmt], path: str) -> Facts:
    """Return what statements of a file import, words of their strings, arguments and names, and commands they add."""
    words, names, commands = set[str](), set[str](), set[str]()
    package, is_shared = tuple(path.split("/")[:-1]), path.endswith("conftest.py")
    imports = [one for node in statements for one in imports_of(node, package) if one[2] != CHECKED]
    todo: list[ast.AST] = [*statements]
    while todo:
        node = todo.pop()
        parts = list(ast.iter_child_nodes(node))
        match node:
            case ast.Expr(value=ast.Constant()):
                parts = []  # a docstring
            case ast.Constant(value=str(text)):
                words |= words_of(text)
            case ast.Attribute(value=ast.Name(id="hdnhw"), attr=name):
                imports.append(("hdnhw", (name,), CALLED))
                parts = []
            case ast.Name(id="hdnhw") | ast.alias(name="hdnhw", asname=str()):
                imports.append(("hdnhw", ("*",), CALLED))
            case ast.Name(id=name) | ast.Attribute(attr="ROOT" as name) if is_shared or name in TOLD:
                names.add(name)
            case ast.arg(arg=name):
                names.add(name)
            case ast.Call(func=ast.Name(id="Command"), args=[ast.Attribute(attr=name) | ast.Name(id=name)]):
                commands.add(name)
        named, unknown = path_of(node)
        if isinstance(node, ast.BinOp | ast.Call) and unknown != [node]:
            words.add(named)
            parts = unknown
        todo += parts
    return {"imports": imports, "words": sorted(words), "names": sorted(names), "commands": sorted(commands)}


def file_facts(path: str, content: bytes) -> dict[str, Facts]:
    """Return what a file names, by "", and of a conftest.py what each function or class names, by its name.

    Of one that pytest calls unasked, a hook or a fixture with ``autouse``, the name begins with a "!".
    """
    if path.endswith((".md", ".ipynb", ".sh")):
        text = content.decode()
        lines = ("".join(text.split("```")[1::2]) if path.endswith(".md") else text).splitlines()
        words = set[str]().union(*map(words_of, lines), re.findall(r"[\w./-]+", text) if path.endswith(".sh") else ())
        return {"": {"words": sorted(words)}}
    if not path.endswith(".py"):
        return {"": {}}
    body = ast.parse(content).body
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    parts = [node for node in body if isinstance(node, kinds) and path.endswith("conftest.py")]
    unasked = [node for node in parts if node.name.startswith("pytest_") or "autouse" in ast.unparse(node)]
    facts = {"!" * (node in unasked) + node.name: facts_of([node], path) for node in parts}
    return {**facts, "": facts_of([node for node in body if node not in parts], path)}


class Tree:
    """The files of a checkout or a commit, by their names.

    What leads to others is a node: a file; with ``|`` behind it, if it is imported and not called; or a conftest.py,
    ``|`` and the name of one of its functions.

    Parameters
    ----------
    files : mapping of str to bytes
    known : dict, optional
        Facts of files that were read before, by digests; those of this tree are added.
    """

    def __init__(self, files: Mapping[str, bytes], known: dict[str, Any] | None = None) -> None:
        settings = tomllib.loads(files.get("pyproject.toml", b"").decode())
        project = settings.get("project", {})
        self.points = {name: {place.partition(":")[0]} for name, place in project.get("scripts", {}).items()}
        """Modules by the name of a script, or of a group of entry points."""
        for group, places in project.get("entry-points", {}).items():
            self.points[group] = {place.partition(":")[0] for place in places.values()}
        self.points.pop("hdnhw", None)
        settings["tool"] = {name: one for name, one in settings.get("tool", {}).items() if name not in ("mypy", "ruff")}
        self.files = {**files, SETTINGS: json.dumps(settings, sort_keys=True).encode()}
        self.known = {} if known is None else known
        self.digests = {path: blob_id(content) for path, content in self.files.items()}
        imports = imports_of(ast.parse(files.get(PACKAGE, b"")), ("hdnhw",))
        self.lazy = {name: module for module, names, when in imports if when == CHECKED for name in names}
        """Where the names are that hdnhw looks up when they are asked for, functions of new commands too."""
        self._edges: dict[str, set[str]] = {}
        self._closures: dict[str, frozenset[str]] = {}
        self._at: dict[str, list[str]] = defaultdict(list)
        """Files by their name, and by each of the folders that they are in."""
        for path in self.files:
            for part in set(path.split("/")):
                self._at[part].append(path)
        for path in self._in(COMMAND_LINE.rpartition("/")[0]):
            for name in self.facts(path, "commands"):
                self.lazy.setdefault(name, path.removesuffix(".py").replace("/", "."))

    def test_files(self) -> list[str]:
        """Return the files that have tests."""
        return sorted(path for path in self.files if re.fullmatch(r"tests/(.*/)?test_\w+\.py", path))

    def digest(self, test: str) -> str:
        """Return the digest of all that a file of tests depends on."""
        lines = "".join(f"{path} {self.digests[path]}\n" for path in sorted(self.closure(test)))
        return hashlib.sha1(lines.encode(), usedforsecurity=False).hexdigest()

    def closure(self, test: str) -> frozenset[str]:
        """Return all that a file of tests depends on, itself among it."""
        if test not in self._closures:
            conftests = {f"{folder}/conftest.py" for folder in PurePosixPath(test).parents}
            todo, seen = ({test} | conftests | ALL) & self.files.keys(), set[str]()
            while todo:
                while todo:
                    seen |= todo
                    todo = {one for node in todo for one in self._edges_of(node)} - seen
                todo = self._asked(seen) - seen
            self._closures[test] = frozenset(node.partition("|")[0] for node in seen)
        return self._closures[test]

    def _facts(self, path: str) -> dict[str, Facts]:
        """Return what a file names, by its parts."""
        digest = self.digests[path]
        if digest not in self.known:
            self.known[digest] = file_facts(path, self.files[path])
        return self.known[digest]

    def facts(self, node: str, kind: str) -> Collection[Any]:
        """Return one kind of what a node names."""
        path, _, part = node.partition("|")
        return self._facts(path)[part].get(kind, ())

    def _asked(self, seen: set[str]) -> set[str]:
        """Return the functions of conftest.py that are asked for, and the modules of commands: of all, if none is."""
        telling = [node for node in seen if TELLING.match(node)]
        words = {word for node in telling for word in self.facts(node, "words")}
        names = {name for node in telling for name in self.facts(node, "names")}
        conftests = [path for path in telling if path.endswith("conftest.py")]
        parts = [(path, name) for path in conftests for name in self._facts(path)]
        asked = {f"{path}|{name}" for path, name in parts if name in words | names or name.startswith("!")}
        if COMMAND_LINE in seen:
            gates = {node[:-1] for node in seen if node[-1] == "|" and self.facts(node, "commands")}
            opened = {gate for gate in gates if words.intersection(self.facts(gate, "commands"))}
            asked |= opened if opened and "command_parser" not in names else gates
        return asked

    def _edges_of(self, node: str) -> set[str]:
        """Return what a node leads to at once."""
        if node not in self._edges:
            path, is_only, words = node.partition("|")[0], node[-1] == "|", set(self.facts(node, "words"))
            edges = set[str]()
            for module, names, when in self.facts(node, "imports"):
                neighbor = f"{path.rpartition('/')[0]}/{module}.py"  # in a folder that was put into sys.path
                for name in [f"{module}.{name}" for name in names] or [module]:
                    if when == LOADED or not is_only:
                        edges |= self._lookup(name) or {neighbor} & self.files.keys()
            if not is_only and path != PACKAGE:  # whose strings say where names are, each found when it is asked for
                edges |= {one for word in words for one in self._named(path, word, self.facts(node, "names"))}
                if path.endswith(".sh") or (path.endswith(".py") and {"-m", "hdnhw"} <= words):
                    edges |= self._lookup("hdnhw.__main__")
                if path.endswith("/__init__.py"):
                    own = path.rpartition("/")[0]
                    edges |= {file for file in self._in(own) if file[-3:] != ".py" and self._package_of(file) == own}
            gates = {one for one in edges if is_only or (not TELLING.match(path) and self.facts(one, "commands"))}
            self._edges[node] = edges - gates | {one if "|" in one else f"{one}|" for one in gates}
        return self._edges[node]

    def _named(self, path: str, word: str, names: Collection[str]) -> set[str]:
        """Return what a word leads to that stands in a file beside some names."""
        last = word.rpartition("/")[2]
        edges = {node for module in self.points.get(last, ()) for node in self._lookup(module)}
        if DOTTED.fullmatch(word) or word == "hdnhw.*":
            folder = self._followed(word.replace(".", "/"))
            edges |= self._lookup(word) | {file for file in self._in(folder) if file.endswith(".py")}
        if path.endswith((".md", ".ipynb")):
            return edges
        if TELLING.match(path) and last in PROGRAMS:
            edges |= {file for file in self.files if file.startswith(PROGRAMS[last])}
        return edges.union(self._files(path, word, names))

    def _files(self, path: str, word: str, names: Collection[str]) -> list[str]:
        """Return the files that a word or pattern names: by telling files those everywhere, and all in a folder."""
        is_telling = TELLING.match(path)
        parts = [part for part in word.lstrip("?/").split("/") if part.strip(".")]
        known = [part for part in parts if not re.search("[*?]", part)]
        is_vague = not known and not re.fullmatch(r"[^?]*\w[^?]*", "".join(parts[-1:]))
        is_name, is_code = parts == [word.lstrip("?/")] and parts[0].isidentifier(), "ROOT" in names
        if is_vague:
            return []
        found = self._at.get(known[0], []) if known else list(self.files)
        if not is_telling or not (known or PLACES.intersection(names)):
            found = [file for file in found if file.startswith(f"{path.rpartition('/')[0]}/")]
        if is_name and not is_code:
            found = [file for file in found if file.partition("/")[0] not in CODE]
        if not found:
            return []
        pattern = "/".join(re.sub(r"\\[*?]", ".*", re.escape(part)) for part in parts)
        is_folder = is_telling and (not is_name or PLACES.intersection(names))
        matched = re.compile(rf"(.*/)?{pattern}{'(/.*)?' if is_folder else ''}")
        return [file for file in found if matched.fullmatch(file)]

    def _in(self, folder: str) -> list[str]:
        return [file for file in self._at.get(folder.rpartition("/")[2], ()) if file.startswith(f"{folder}/")]

    def _package_of(self, file: str) -> str:
        """Return the package that a file of it is in, in a folder that is no package or in none."""
        return next(str(one) for one in PurePosixPath(file).parents if f"{one}/__init__.py" in self.files)

    def _lookup(self, name: str) -> set[str]:
        """Return the module that a dotted name is or begins with, and the packages that are imported before it."""
        if name.startswith(DECLARED):
            files = [file.split("/") for file in self._in("hdnhw/endpoints") if file.count("/") == 3]
            return set().union(*(self._lookup(name.replace("*", kind, 1)) for kind in {file[2] for file in files}))
        parts, edges, last, rest = name.split("."), set[str](), "", [""]
        for end in range(1, len(parts) + 1):
            stem = self._followed("/".join(parts[:end]))
            for file in {f"{stem}.py", f"{stem}/__init__.py"} & self.files.keys():
                edges.add(f"{file}|")
                last, rest = file, parts[end:]
        if last == PACKAGE:
            for one in self.lazy if rest == ["*"] else rest[:1]:
                edges |= self._lookup(f"{self.lazy[one]}.{one}") if one in self.lazy else {last}
        elif last:
            edges.add(last)
            if rest and last.endswith("conftest.py") and rest[0] in self._facts(last):
                edges.add(f"{last}|{rest[0]}")
        return edges

    def _followed(self, path: str) -> str:
        """Return where a file of a package stands: ``hdnhw.sim`` and ``hdnhw.boards`` are beside the folder hdnhw."""
        return path.removeprefix("hdnhw/") if path.startswith(BESIDE) else path
