"""What the source of a function tells of its arguments: annotations, defaults and docstring.

The source is parsed instead of imported, so that help needs no compiled kernels: 5 ms for a file,
0.3 s for its import.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

REQUIRED: Final = object()
"""The default of an argument that has none."""

UNREAD: Final = object()
"""The default of an argument where the source has an expression instead of a literal."""

_NONE = re.compile(r"[;,.]?\s*\bNone (?:takes|is|means|keeps|for) (.+?)(?=[;.](?:\s|$)|$)")


@dataclass(frozen=True)
class DocumentedArgument:
    """An argument of a function: its annotation, default, and the text of its docstring."""

    name: str
    annotation: str
    default: Any
    text: str

    def help(self, between: str = ",") -> str:
        """Return the first sentence of the text, with the default; ``None takes X`` tells one too.

        ``between`` stands between the values of a default that has several.
        """
        none = _NONE.search(self.text)
        text = _NONE.sub("", self.text).strip()
        text = re.sub(r"^\w+\[[^\]]*\], ", "", text)  # shape and type of an array
        text = re.split(r"\.(?:\s|$)", text, maxsplit=1)[0]
        if self.default in (None, REQUIRED):
            default = none[1] if none else ""
            colon = ":" if " " in default else ""
        else:
            several = self.default if isinstance(self.default, tuple) else (self.default,)
            default, colon = between.join(map(_shown, several)), ""
        return f"{text} (default{colon} {default})" if default else text


def _shown(value: Any) -> str:
    """Return a default as it is typed; an empty text for a flag's, and for what is no literal."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


@cache
def documented_arguments(function: str) -> dict[str, DocumentedArgument]:
    """Return the arguments of a function or class, such as ``workbench.fit.fit``, by name."""
    module, _, name = function.rpartition(".")
    home, node = _defined(module, name)
    texts = _texts(home, node)
    return {
        name: DocumentedArgument(name, annotation, _value(home, default), texts.get(name, ""))
        for name, annotation, default in _signature(node)
    }


def _signature(node: Any) -> Iterator[tuple[str, str, ast.expr | None]]:
    """Yield name, annotation and default of the arguments of a function, or of a class."""
    if isinstance(node, ast.ClassDef):
        made = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        for field in () if made else node.body:
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                yield field.target.id, ast.unparse(field.annotation), field.value
        node = made[0] if made else None
    if node is None:
        return
    placed = [*node.args.posonlyargs, *node.args.args]
    defaults = [None] * (len(placed) - len(node.args.defaults)) + [*node.args.defaults]
    for argument, default in zip(
        [*placed, *node.args.kwonlyargs], [*defaults, *node.args.kw_defaults], strict=True
    ):
        kind = "" if argument.annotation is None else ast.unparse(argument.annotation)
        yield argument.arg, kind, default


def _texts(module: str, node: Any) -> dict[str, str]:
    """Return the texts of a docstring's arguments by name; ``as for ``x`` `` is the text of x."""
    texts: dict[str, str] = {}
    docstring = ast.get_docstring(node) or ""
    for section in re.findall(r"^(?:Args|Attributes):\n((?: .*\n?|\n)*)", docstring, re.M):
        for entry in re.split(r"^    (?=\S)", section, flags=re.M)[1:]:
            names, _, text = entry.partition(":")
            texts |= {name.strip().lstrip("*"): " ".join(text.split()) for name in names.split(",")}
    for name, text in texts.items():
        if other := re.match(r"as for ``(\w+)``", text):
            texts[name] = _texts(*_known_as(module, other[1])).get(name, text)
    return texts


def _value(module: str, node: ast.expr | None) -> Any:
    """Return the value of a literal, of a constant that is one, or of all words of a Literal."""
    if node is None:
        return REQUIRED
    try:
        if isinstance(node, ast.Name):
            return _value(*_defined(module, node.id))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "get_args":
            _, alias = _defined(module, ast.unparse(node.args[0]))
            return ast.literal_eval(alias.slice)
        return ast.literal_eval(node)
    except ValueError:
        return UNREAD


def _defined(module: str, name: str) -> tuple[str, Any]:
    """Return the module that defines a name, and the definition or the value there."""
    tree = _tree(module)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return module, node
        for target, value in _assigned(node):
            if isinstance(target, ast.Name) and target.id == name:
                return module, value
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    for origin, alias in ((node.module, alias) for node in imports for alias in node.names):
        if name == (alias.asname or alias.name):
            return _defined(origin or "", alias.name)
    raise LookupError(f"{module} must define or import {name}; it does not")


def _known_as(module: str, name: str) -> tuple[str, Any]:
    """Return the definition of a name in a docstring: of the module, or of a package above it."""
    try:
        return _defined(module, name)
    except LookupError:
        package = module.rpartition(".")[0]
        if not package:
            raise
        return _known_as(package, name)


def _assigned(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a statement assigns to, and each value; ``a, b = 1, 2`` assigns two."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


@cache
def _tree(module: str) -> ast.Module:
    loader: Any = getattr(find_spec(module), "loader", None)
    if loader is None:
        raise LookupError(f"there must be a module {module}; there is none")
    tree: ast.Module = ast.parse(loader.get_source(module))
    return tree
