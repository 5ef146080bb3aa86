"""What the site adds to Sphinx: names in annotations as links, and code in docstrings as code."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

from workbench.site.reference import entries, other_names


def setup(app: Any) -> dict[str, Any]:
    """Register the site's handlers with Sphinx, which calls this."""
    names = other_names(entries())
    app.connect(
        "missing-reference", lambda app, env, node, text: _found(app, env, node, text, names)
    )
    app.connect("autodoc-process-docstring", _mark_code)
    app.connect("autodoc-process-docstring", _leave_out_types)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _found(app: Any, env: Any, node: Any, text: Any, names: dict[str, str]) -> Any:
    """Return the link to a documented name that is known by another one."""
    if node.get("refdomain") != "py":
        return None
    wanted = names.get(str(node["reftarget"]))
    if wanted is None:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node.get("refdoc", ""), app.builder, "obj", wanted, node, text)


def _mark_code(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Mark the paragraphs of a module's docstring that are Python."""
    if what != "module":
        return
    paragraphs = "\n".join(lines).split("\n\n")
    lines[:] = "\n\n".join(map(_marked, paragraphs)).splitlines()


def _leave_out_types(
    app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Remove from a value what is the docstring of its type."""
    if what == "data" and lines[:1] == (type(value).__doc__ or "").splitlines()[:1]:
        lines.clear()


def _marked(paragraph: str) -> str:
    code = textwrap.dedent(paragraph)
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return paragraph
    # A word, or words between commas, are Python too.
    if not body or all(isinstance(one, ast.Expr) and not _calls(one) for one in body):
        return paragraph
    return ".. code-block:: python\n\n" + textwrap.indent(code, "   ")


def _calls(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Call) for each in ast.walk(node))
