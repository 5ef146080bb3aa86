"""Cards of notebooks: what each asks, and its picture."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MOST = 160
"""Characters of a text that stands in for a question."""


@dataclass(frozen=True)
class Card:
    """A notebook in the list of a server.

    Attributes:
        path: of the notebook, relative to the folder that is served.
        title: its first heading.
        question: what it asks, from its metadata ``workbench.question``, else its first sentence.
        picture: path of its picture, relative to the folder that is served; empty if it has none.
    """

    path: str
    title: str
    question: str
    picture: str

    @property
    def lesson(self) -> bool:
        """Whether it is a lesson: those are in a folder ``lessons``."""
        return Path(self.path).parent.name == "lessons"


def cards(root: str | Path, folder: str = "") -> list[Card]:
    """Return the cards of the notebooks in a folder and its ``lessons``, in the order of names.

    Pictures are in its folder ``images``, ``NAME.png`` for ``NAME.ipynb``.

    Args:
        root: the folder that is served.
        folder: path of the folder to list, relative to ``root``.
    """
    top = Path(root)
    paths = [
        path for place in ("", "lessons") for path in sorted((top / folder / place).glob("*.ipynb"))
    ]
    pictures = top / folder / "images"
    return [_card(path, top, pictures) for path in paths if not path.name.startswith(".")]


def _card(path: Path, root: Path, pictures: Path) -> Card:
    """Return the card of a notebook; of one that cannot be read, its name alone."""
    try:
        content = json.loads(path.read_text("utf-8"))
        text = next(
            "".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "markdown"
        )
        question = content["metadata"].get("workbench", {}).get("question", "")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration):
        text = question = ""
    picture = pictures / f"{path.stem}.png"
    return Card(
        path=path.relative_to(root).as_posix(),
        title=_title(text) or path.stem,
        question=str(question) or _first_sentence(text),
        picture=picture.relative_to(root).as_posix() if picture.is_file() else "",
    )


def _title(text: str) -> str:
    found = re.search(r"^#+ +(.+)$", text, re.MULTILINE)
    return _plain(found[1]) if found else ""


def _first_sentence(text: str) -> str:
    """Return the first sentence below the headings, shortened."""
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if not part.lstrip().startswith("#")]
    # A first word in bold, such as "The question.", is a label.
    words = _plain(re.sub(r"^\s*\*\*[^*]+\*\*", "", " ".join(paragraphs[:1])))
    sentence = re.match(r".+?[.?!](?=\s+[^a-z]|$)", words)
    words = sentence[0] if sentence else words
    return words if len(words) <= _MOST else words[: words.rfind(" ", 0, _MOST)] + " …"


def _plain(markdown: str) -> str:
    """Return a text without Markdown's links and marks."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return " ".join(re.sub(r"[*`]", "", text).split())


def add_cards(
    page_config: dict[str, Any], settings: Mapping[str, Any], notebook_path: str | None, **_: object
) -> dict[str, Any]:
    """Add the cards of a folder to what its page is made of: Voilà's ``page_config_hook``."""
    path = notebook_path or ""
    if not path.endswith(".ipynb"):
        root = Path(settings["contents_manager"].root_dir).expanduser()
        page_config["cards"] = cards(root, path.strip("/"))
    return page_config
