from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.workshop import Card, cards

ROOT = Path(__file__).resolve().parents[3]


def notebook(path: Path, text: str, question: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"workbench": {"question": question}} if question else {}
    cells = [{"cell_type": "markdown", "source": [text]}]
    path.write_text(json.dumps({"cells": cells, "metadata": metadata}))


def test_a_card_has_the_notebooks_title_question_and_picture(tmp_path: Path) -> None:
    notebook(tmp_path / "books/01-fit.ipynb", "# Fit `it`\n\nThe text.", "Which values?")
    (tmp_path / "books/images").mkdir()
    (tmp_path / "books/images/01-fit.png").touch()
    notebook(tmp_path / "books/lessons/1-cost.ipynb", "# A cost")
    assert cards(tmp_path, "books") == [
        Card("books/01-fit.ipynb", "Fit it", "Which values?", "books/images/01-fit.png"),
        Card("books/lessons/1-cost.ipynb", "A cost", "", ""),
    ]
    assert [card.lesson for card in cards(tmp_path, "books")] == [False, True]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# T\n\nOne [link](x.ipynb) and `code`. Two.", "One link and code."),
        ("# T\n\nEven 1.5 µs, e.g. here? Two.", "Even 1.5 µs, e.g. here?"),
        ("# T\n\n" + "word " * 100, "word " * 31 + "word …"),
        ("# T\n\n**The question.** How long?\n\nMore.", "How long?"),
        ("# T", ""),
        ("no heading", "no heading"),
    ],
)
def test_without_a_question_the_first_sentence_stands_there(
    text: str, found: str, tmp_path: Path
) -> None:
    notebook(tmp_path / "one.ipynb", text)
    assert cards(tmp_path)[0].question == found


@pytest.mark.parametrize("content", ["", "[]", '{"cells": 3}', '{"cells": []}', "\xff"])
def test_a_damaged_notebook_has_its_name_alone(content: str, tmp_path: Path) -> None:
    (tmp_path / "torn.ipynb").write_text(content, "latin-1")
    assert cards(tmp_path) == [Card("torn.ipynb", "torn", "", "")]


def test_every_notebook_asks_a_question_and_has_a_small_picture() -> None:
    listed = [card for card in cards(ROOT / "notebooks") if card.path[:2].isdigit()]
    assert len(listed) >= 15
    assert [card.path for card in listed if not card.question.endswith("?")] == []
    pictures = [ROOT / "notebooks" / card.picture for card in listed]
    assert [path for path in pictures if not path.is_file()] == []
    assert [path.name for path in pictures if path.stat().st_size > 60_000] == []
