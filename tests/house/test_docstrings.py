"""Every public name explains itself, and exported ones alone have sections on their arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.source_trees import ROOT, Definition, definitions, exported, trees

SECTION = re.compile(r"^(Args|Attributes|Parameters|Raises|Returns|Yields|Note|Notes|Example):")


def public(tree: ast.AST) -> Iterator[Definition]:
    """Yield the public functions and classes of a module, and the public methods of classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node)


def documented(docstring: str, section: str) -> dict[str, int]:
    """Return the names in a Google-style section of a docstring, with their line in it."""
    names: dict[str, int] = {}
    inside, indent = False, None
    for number, line in enumerate(docstring.splitlines()):
        if SECTION.match(line):
            inside, indent = line.startswith(f"{section}:"), None
        elif inside and line.strip():
            depth = len(line) - len(line.lstrip())
            indent = depth if indent is None else indent
            head = line.strip().partition(":")[0]
            if depth == indent and ":" in line:
                for name in head.partition("(")[0].split(","):
                    names[name.strip().lstrip("*")] = number
    return names


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the names of a function's parameters, without ``self`` and ``cls``."""
    a = node.args
    found = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
    return [arg.arg for arg in found if arg.arg not in ("self", "cls")]


def overloaded(node: Definition) -> bool:
    """Return whether a definition only states a type or answers for another: no text of its own."""
    words = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    return bool(words & {"overload", "override", "setter"})


def complaints(tree: ast.Module) -> Iterator[str]:
    """Yield what is missing from, or untrue in, the docstrings of a file."""
    if not ast.get_docstring(tree):
        yield "the module has no docstring"
    for node in public(tree):
        where = f"line {node.lineno}, {node.name}"
        text = ast.get_docstring(node) or ""
        if overloaded(node):
            continue
        if not text:
            yield f"{where}: no docstring"
        if isinstance(node, ast.ClassDef):
            continue
        real, said = parameters(node), documented(text, "Args")
        for name in said.keys() - set(real):
            yield f"{where}: documents {name!r}, which is no parameter"
        for name in set(real) - said.keys() if said else ():
            yield f"{where}: documents some parameters but not {name!r}"


def internal(tree: ast.AST, exported: set[str], within: bool = False) -> Iterator[Definition]:
    """Yield the definitions that no package exports, what stands within others among them."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, Definition):
            if not isinstance(node, ast.expr):
                yield from internal(node, exported, within)
            continue
        public_name = not node.name.startswith("_") or node.name in ("__call__", "__init__")
        offered = public_name if within else node.name in exported
        if not offered:
            yield node
        yield from internal(node, exported if offered else set(), offered)


def test_only_what_a_package_exports_has_sections_in_its_docstring() -> None:
    packages = (tree for path, tree in trees().items() if path.name == "__init__.py")
    names = {name for tree in packages for name in exported(tree)}
    # A module that a package exports, such as workbench.datasets, offers all that it defines.
    for path, tree in trees().items():
        if path.stem in names:
            names |= {
                node.name for node in ast.iter_child_nodes(tree) if isinstance(node, Definition)
            }
    names |= {
        name.id  # of a base, whose methods an exported class offers
        for tree in trees().values()
        for node in definitions(tree)
        if isinstance(node, ast.ClassDef) and node.name in names
        for base in node.bases
        if isinstance(name := getattr(base, "value", base), ast.Name)
    }
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path, tree in trees().items()
        if path.is_relative_to(ROOT / "workbench")
        for node in internal(tree, names)
        if any(map(SECTION.match, (ast.get_docstring(node) or "").splitlines()))
    ]
    assert found == []


def test_docstrings_are_there_and_name_the_arguments_that_exist() -> None:
    files = trees().items()
    assert [f"{path}: {each}" for path, tree in files for each in complaints(tree)] == []


def test_a_wrong_docstring_is_noticed() -> None:
    tree = ast.parse(
        '"""M."""\ndef f(a, b):\n    """F.\n\n    Args:\n        a: x.\n        c: y.\n    """\n'
        "def g():\n    pass\n"
    )
    assert set(complaints(tree)) == {
        "line 2, f: documents 'c', which is no parameter",
        "line 2, f: documents some parameters but not 'b'",
        "line 9, g: no docstring",
    }
