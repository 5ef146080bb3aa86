"""No use of other projects' insides: their private names, and assignments to what is theirs.

Read from the source: a name that begins with an underscore belongs to whoever defines it, and what
nobody here defines is another project's. Their classes that ours are derived from are read too.
"""

from __future__ import annotations

import ast
import functools
import inspect
import json
import pkgutil
import re
import sys
import textwrap
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from tests.source_trees import ROOT, definitions, trees, uncollected

OURS = {"workbench", "kernels", "tests"}
LOOKED_AT = (
    ast.Import,
    ast.ImportFrom,
    ast.Attribute,
    ast.Name,
    ast.Call,
    ast.Constant,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)
INTERNAL = re.compile(r"(numba\.(core|np|cpython|misc|parfors)|llvmlite|optuna\.storages\._rdb)\b")
PRIVATE = re.compile(r"_(?!_)\w+")
# What documentation names: of named tuples, of os and sys, and IPython's ways to display an object.
DOCUMENTED = re.compile(
    r"_(exit|getframe|fields|replace|asdict|make|field_defaults|repr_\w+_|\w+_)"
)
PYTHON = re.compile(r"^\s*(from|import) ", re.MULTILINE)
SCRIPT = re.compile(r"=>|\bfunction\b|\bdocument\.|\bwindow\.|\bconst ")
# A canvas is the browser's own.
SCRIPT_INSIDES = re.compile(
    r"(?<!CanvasRenderingContext2D\.)\bprototype\b|\bgetPrototypeOf\b|__proto__|(?<!this)(?<!self)\._[a-z]\w*"
)


def cells() -> Iterator[tuple[Path, ast.Module]]:
    """Yield the code of each notebook."""
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        yield path, ast.parse("\n".join(code))


@functools.cache
def sources() -> dict[Path, ast.Module]:
    """Return the trees of everything here that is Python."""
    tests = sorted((ROOT / "tests").rglob("*.py"))
    return {
        **trees(),
        **{path: ast.parse(path.read_text("utf-8")) for path in tests},
        **dict(cells()),
    }


def foreign(module: str) -> bool:
    """Return whether a module is neither ours nor Python's."""
    top = module.partition(".")[0]
    return bool(top) and top not in OURS and top not in sys.stdlib_module_names


def of_python(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def private(name: str) -> bool:
    return bool(PRIVATE.fullmatch(name)) and not DOCUMENTED.fullmatch(name)


def nodes(tree: ast.AST) -> list[ast.AST]:
    """Return the nodes of a file that are looked at; names that are only read are three in ten."""
    found, left = [], [tree]
    while left:  # two thirds of the time of ast.walk
        node = left.pop()
        read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        if isinstance(node, LOOKED_AT) and not read:
            found.append(node)
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                left += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                left.append(value)
    return found


def defined(found: list[ast.AST]) -> Iterator[str]:
    """Yield the names that a file defines: functions, classes, variables, attributes of self."""
    for node in found:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                yield node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "__setattr__":
            yield ast.unparse(node.args[1]).strip("'")


def imported(found: list[ast.AST]) -> dict[str, str]:
    """Return what the imported names of a file stand for."""
    names: dict[str, str] = {}
    for node in found:
        if isinstance(node, ast.Import):
            names |= {a.asname or a.name.partition(".")[0]: a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def root_of(node: ast.AST) -> str:
    """Return the name that a chain of attributes begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def insides(found: list[ast.AST], known: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of what touches another project's insides.

    Args:
        found: nodes of a file.
        known: private names that are ours.
    """
    names = imported(found)
    for node in found:
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None)
            for alias in node.names:
                full = f"{module}.{alias.name}" if module else alias.name
                if foreign(full) and (INTERNAL.match(full) or any(map(private, full.split(".")))):
                    yield node.lineno, f"import {full}"
        elif isinstance(node, ast.Attribute):
            owner = names.get(root_of(node), "")
            assigned = isinstance(node.ctx, ast.Store | ast.Del) and foreign(owner)
            inside = owner == "numba" and INTERNAL.match(ast.unparse(node))
            # What is private in Python's own modules is no other project's.
            unknown = private(node.attr) and node.attr not in known and not of_python(owner)
            if assigned or inside or unknown:
                yield node.lineno, ast.unparse(node) + " =" * assigned
        elif isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("setattr", "delattr"):
                target = node.args[0]
                text = getattr(target, "value", "")
                owner = text if isinstance(text, str) else names.get(root_of(target), "")
                if foreign(owner or names.get(root_of(target), "")):
                    yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from of_text(node, known)


def of_text(node: ast.Constant, known: set[str]) -> Iterator[tuple[int, str]]:
    """Yield what a text of a file does, where it is a script or Python."""
    if SCRIPT.search(node.value):
        for found in SCRIPT_INSIDES.findall(node.value):
            yield node.lineno, f"script: {found}"
    elif PYTHON.search(node.value):
        try:
            found = nodes(ast.parse(textwrap.dedent(node.value)))
        except SyntaxError:
            return
        yield from ((node.lineno, text) for _, text in insides(found, {*known, *defined(found)}))


def of_bases(files: dict[Path, list[ast.AST]]) -> Iterator[str]:
    """Yield the private names of other projects' classes that a class of ours uses or overrides."""
    classes = [
        (path, one, names)
        for path, found in files.items()
        for names in [imported(found)]
        for one in found
        if isinstance(one, ast.ClassDef)
    ]
    bases: dict[str, set[str]] = {}
    for _, one, names in classes:
        bases.setdefault(one.name, set()).update(full_names(one.bases, names))
    for path, one, _ in classes:
        theirs = {name for base in above(one.name, bases) for name in names_of_theirs(base)}
        for name in sorted(theirs & names_of(one)) if theirs else ():
            yield f"{path.relative_to(ROOT)} {one.name}.{name}"


def full_names(bases: list[ast.expr], names: dict[str, str]) -> Iterator[str]:
    """Yield the full names of a class's bases; one that is not imported has no module."""
    for base in bases:
        expression = base.value if isinstance(base, ast.Subscript) else base
        root, dot, rest = ast.unparse(expression).partition(".")
        yield names.get(root, root) + dot + rest


def above(name: str, bases: dict[str, set[str]], seen: frozenset[str] = frozenset()) -> set[str]:
    """Return the full names of other projects' classes that a class of ours is derived from."""
    found = set()
    for base in bases.get(name, set()) - seen:
        if "." in base and foreign(base):
            found.add(base)
        else:
            found |= above(base.rpartition(".")[2], bases, seen | {base})
    return found


@functools.cache
def names_of_theirs(full_name: str) -> frozenset[str]:
    """Return the private names of another project's class, and of those it is derived from."""
    found: set[str] = set()
    for base in pkgutil.resolve_name(full_name).__mro__:
        if not foreign(base.__module__):
            continue
        # A class that is compiled, or made by a call, has no source.
        written = classes_of(inspect.getsourcefile(inspect.getmodule(base))).get(base.__name__)
        found |= names_of(written) if written else set(filter(private, vars(base)))
    return frozenset(found)


@functools.cache
def classes_of(path: str) -> dict[str, ast.ClassDef]:
    """Return the classes of another project's file by name."""
    found = definitions(ast.parse(Path(path).read_text("utf-8")))
    return {one.name: one for one in found if isinstance(one, ast.ClassDef)}


def names_of(one: ast.ClassDef) -> set[str]:
    """Return the private names that a class defines, and those that it reads and sets of itself."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    variables = [part for part in one.body if not isinstance(part, functions)]
    used = {
        node.attr
        for node in nodes(one)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("self", "cls")
    }
    own = (defined([part, *nodes(part)]) for part in variables)
    methods = {part.name for part in one.body if isinstance(part, functions)}
    return set(filter(private, {*methods, *used, *chain(*own)}))


def scripts() -> Iterator[str]:
    """Yield what our scripts and templates touch."""
    for top in ("workbench", "tests", "binder"):
        for suffix in ("js", "html", "j2"):
            for path in sorted((ROOT / top).rglob(f"*.{suffix}")):
                for found in SCRIPT_INSIDES.findall(path.read_text("utf-8")):
                    yield f"{path.relative_to(ROOT)} script: {found}"


def findings() -> dict[str, list[int]]:
    """Return what touches other projects' insides, each with its file, and the lines."""
    files = {path: nodes(tree) for path, tree in sources().items() if path != Path(__file__)}
    known = {name for found in files.values() for name in defined(found) if private(name)}
    lines: dict[str, list[int]] = {}
    for path, found in files.items():
        for line, text in insides(found, known):
            lines.setdefault(f"{path.relative_to(ROOT)} {text}", []).append(line)
    return lines | {what: [] for what in [*of_bases(files), *scripts()]}


def test_nothing_is_left() -> None:
    with uncollected():
        assert findings() == {}


def test_each_kind_of_inside_is_noticed() -> None:
    text = """
import numba.core.types
from bokeh.models import Plot
import pandas as pd
Plot._private = 1
pd.show = None
panel._their_own
setattr(Plot, "show", None)
script = "const draw = Bokeh.View.prototype.draw; view => view._paint()"
code = "import numpy\\nnumpy._core"
self._mine = os._exit
"""
    found = [text for _, text in insides(nodes(ast.parse(text)), {"_mine"})]
    assert sorted(found) == [
        "Plot._private =",
        "import numba.core.types",
        "numpy._core",
        "panel._their_own",
        "pd.show =",
        "script: ._paint",
        "script: prototype",
        "setattr(Plot, 'show', None)",
    ]
