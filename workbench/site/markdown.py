"""The Markdown of notebooks as pages need it: links, the anchors that notebooks have, formulas."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

_CODE = re.compile(r"^(```|~~~).*?^\1|`+[^`]+`+", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()([^)\s:#]+)\.(?:ipynb|md)(#[^)\s]*)?(?=\))")
_HEADING = re.compile(r"^#{1,6} +(.+?)[ #]*$", re.MULTILINE)
_BLOCK = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_INLINE = re.compile(r"(?<![\\$\w])\$(?! )([^$\n]+?)(?<! )\$(?![\d$])")
_MARKS = re.compile(r"[*`]|(?<!\w)_|_(?!\w)|\[([^\]]*)\]\([^)]*\)")


def web_markdown(text: str) -> str:
    """Return Markdown of a notebook for its page."""
    return _outside_of_code(text, lambda part: web_links(_formulas(_anchored(part))))


def web_links(text: str) -> str:
    """Return Markdown whose links to notebooks are links to their pages."""
    return _LINK.sub(lambda found: f"{found[1]}{found[2]}.html{found[3] or ''}", text)


def _outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """Return a text that is changed where it is not code."""
    parts, at = [], 0
    for code in _CODE.finditer(text):
        parts += [change(text[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, change(text[at:])])


def _anchored(text: str) -> str:
    """Return Markdown with an anchor before each heading, of the name that notebooks give it."""
    return _HEADING.sub(lambda found: f'<span id="{_anchor(found[1])}"></span>\n\n{found[0]}', text)


def _anchor(heading: str) -> str:
    """Return the anchor that JupyterLab gives a heading: its text with hyphens for spaces."""
    return html.escape(_MARKS.sub(lambda found: found[1] or "", heading).replace(" ", "-"))


def _formulas(text: str) -> str:
    """Return Markdown whose formulas are MathML, which browsers draw by themselves."""
    text = _BLOCK.sub(lambda found: f"\n{_mathml(found[1], block=True)}\n", text)
    return _INLINE.sub(lambda found: _mathml(found[1], block=False), text)


def _mathml(formula: str, *, block: bool) -> str:
    from docutils.utils.math.latex2mathml import tex2mathml

    # On one line, as HTML inside a paragraph ends at an empty one.
    return " ".join(tex2mathml(formula.strip(), as_block=block).split())
