"""The first page of the site, and the lists of its notebooks and lessons."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from workbench.workshop import Card, cards

_FOLDER = Path(__file__).parent
_TEXTS = ("from-a-shell", "what-is-read", "what-to-rely-on")
_MORE = """
## More

- [The papers](papers/index.html): every figure, table, algorithm and claim of the papers that the
  workbench follows, with the call that makes ours and the verdict.
- [Reference](reference/index.html): every exported name, with arguments, units and errors.
- [From a shell](from-a-shell.html): the same questions as commands.
- [What is read](what-is-read.html): the files of other tools, with their versions.
- [What to rely on](what-to-rely-on.html): agreement with other simulators and with machines.
- [Glossary](notebooks/glossary.html): the words of the field, each in a sentence or two.

"""


def start_page(root: Path, chosen: Sequence[Path]) -> str:
    """Return the start page in MyST Markdown, with a card for each chosen notebook."""
    names = {path.relative_to(root / "notebooks").as_posix() for path in chosen}
    found = [card for card in cards(root / "notebooks") if card.path in names]
    questions = [card for card in found if card.picture and not card.lesson]
    lessons = [card for card in found if card.lesson]
    title, what, *_ = (root / "README.md").read_text("utf-8").split("\n\n")
    parts = [f"{title}\n\n{what}\n\n", (_FOLDER / "start.md").read_text("utf-8")]
    parts += ["\n## The questions\n\n", _cards(questions)]
    if lessons:
        parts += ["\n## Lessons\n\n", _cards(lessons)]
    listed = ["notebooks/index", *(["lessons"] if lessons else [])]
    return "".join([*parts, _MORE, _toctree(*listed, "papers/index", "reference/index", *_TEXTS)])


def texts() -> dict[str, str]:
    """Return the pages that are texts beside this module, by document name."""
    return {name: (_FOLDER / f"{name}.md").read_text("utf-8") for name in _TEXTS}


def lists_of_notebooks(root: Path, chosen: Sequence[Path]) -> dict[str, str]:
    """Return the pages that list notebooks and lessons, by document name."""
    lessons = [path for path in chosen if path.parent.name == "lessons"]
    pages = {"notebooks/index": [path.stem for path in chosen if path not in lessons]}
    if lessons:
        pages["lessons"] = [path.relative_to(root).with_suffix("").as_posix() for path in lessons]
    titles = {"notebooks/index": "Notebooks", "lessons": "Lessons"}
    return {
        name: f"# {titles[name]}\n\n{_toctree(*listed, hidden=False)}"
        for name, listed in pages.items()
    }


def _toctree(*names: str, hidden: bool = True) -> str:
    option = ":hidden:" if hidden else ":maxdepth: 1"
    return "\n".join(["```{toctree}", option, "", *names, "```", ""])


def _cards(found: list[Card]) -> str:
    return f'<div class="workbench-cards">\n{"".join(map(_card, found))}</div>\n'


def _card(card: Card) -> str:
    address = Path("notebooks", card.path).with_suffix(".html").as_posix()
    picture = Path(card.picture).name
    image = f'<img src="_static/images/{picture}" alt="" loading="lazy">' if picture else ""
    return (
        f'<a class="workbench-card" href="{address}">{image}'
        f"<b>{html.escape(card.title)}</b><span>{html.escape(card.question)}</span></a>\n"
    )
