"""What the site adds to Sphinx: names in annotations as links, and code in docstrings as code."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import Any

from workbench.site.reference import entries, other_names

# Code in double backticks, or a bar.
_BARS = re.compile(r"``.*?``|\|", re.DOTALL)


def setup(app: Any) -> dict[str, Any]:
    """Register the site's handlers with Sphinx, which calls this."""
    names = other_names(entries())
    app.connect(
        "missing-reference", lambda app, env, node, text: _found(app, env, node, text, names)
    )
    # Sphinx reads all pages anew when the value of this setting changes.
    app.add_config_value("workbench_site", "", "env")
    app.connect("autodoc-process-docstring", _clean)
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


def _clean(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Mark code and bars in a docstring, which Sphinx hands over to be changed."""
    text = "\n".join(lines)
    if what == "data" and text.startswith("dict("):  # of the type: the value has none of its own
        text = ""
    paragraphs = text.split("\n\n")
    if what == "module":
        paragraphs = [_marked(paragraph) for paragraph in paragraphs]
    else:
        paragraphs = [_without_bars(paragraph) for paragraph in paragraphs]
    lines[:] = "\n\n".join(paragraphs).splitlines()


def _without_bars(paragraph: str) -> str:
    """Return a text whose bars, as of |x|, mean nothing to reStructuredText."""
    return _BARS.sub(lambda found: "\\|" if found[0] == "|" else found[0], paragraph)


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
