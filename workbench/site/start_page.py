"""The first page of the site, and the lists of its notebooks and lessons."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

_TEXT = Path(__file__).parent / "start.md"
_IMAGES = Path(__file__).resolve().parents[2] / "notebooks" / "images"
_MORE = """
## More

- [The papers](papers/index.html): every figure, table, algorithm and claim of the papers that the
  workbench follows, with the call that makes ours and the verdict.
- [Reference](reference/index.html): every exported name, with arguments, units and errors.

"""


def start_page(chosen: list[Path]) -> str:
    """Return the start page in MyST Markdown, with a card for each notebook."""
    own = [path for path in chosen if path.parent.name == "notebooks" and path.name[0].isdigit()]
    lessons = [path for path in chosen if path.parent.name == "lessons"]
    parts = [_TEXT.read_text("utf-8"), "\n## The questions\n\n", _cards(own)]
    if lessons:
        parts += ["\n## Lessons\n\n", _cards(lessons)]
    parts.append(_MORE)
    listed = [
        "notebooks/index",
        *(["lessons"] if lessons else []),
        "papers/index",
        "reference/index",
    ]
    parts += ["```{toctree}\n:hidden:\n\n", *(f"{name}\n" for name in listed), "```\n"]
    return "".join(parts)


def lists_of_notebooks(chosen: list[Path]) -> dict[str, str]:
    """Return the pages that list notebooks and lessons, by document name."""
    lessons = [path for path in chosen if path.parent.name == "lessons"]
    others = [path for path in chosen if path not in lessons]
    names = "".join(f"{path.stem}\n" for path in others)
    pages = {"notebooks/index": f"# Notebooks\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}```\n"}
    if lessons:
        names = "".join(f"notebooks/lessons/{path.stem}\n" for path in lessons)
        pages["lessons"] = f"# Lessons\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}```\n"
    return pages


def _cards(paths: list[Path]) -> str:
    return f'<div class="workbench-cards">\n{"".join(map(_card, paths))}</div>\n'


def _card(path: Path) -> str:
    title, question = title_and_question(path)
    address = path.relative_to(path.parents[len(path.parts) - 1 - path.parts.index("notebooks")])
    picture = _IMAGES / f"{path.stem}.png"
    image = f'<img src="_static/images/{path.stem}.png" alt="">' if picture.exists() else ""
    return (
        f'<a class="workbench-card" href="{address.with_suffix(".html").as_posix()}">{image}'
        f"<b>{html.escape(title)}</b><span>{html.escape(question)}</span></a>\n"
    )


def title_and_question(path: Path) -> tuple[str, str]:
    """Return the title of a notebook and the sentence below it."""
    first = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
    title, _, rest = first.partition("\n")
    words = " ".join(rest.strip().partition("\n\n")[0].split())
    sentence = re.match(r".*?[.?](?= |$)", words)
    return title.lstrip("# "), re.sub(r"[*`]", "", sentence[0] if sentence else words)
