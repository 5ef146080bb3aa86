"""Every lesson runs whole, with its solutions right, and without them with hints only."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client import AsyncKernelManager

from tests.cases import for_each
from tests.notebooks.running import execute, shorten
from tests.source_trees import ROOT
from workbench.teaching import lesson, write_copies
from workbench.teaching.copies import is_solution
from workbench.teaching.registry import COURSE, find_exercise

FOLDER = ROOT / "notebooks" / "lessons"
MOST_S, MOST_BYTES = 60, 10**9
LINES_IN_A_CELL = 5

# Peak of the memory, and processor time, which a busy machine does not lengthen.
MEASURE = """
import resource as _resource, time as _time
print("took", _time.process_time(), _resource.getrusage(_resource.RUSAGE_SELF).ru_maxrss * 1024)
"""

# What takes long and no answer needs, and what make test runs in its place.
SHORTER = {
    4: {
        "0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0": "0.1, 0.5, 1.0",
        "ComparePanel(list(specs.values()))": 'ComparePanel(["torus:4x4"])',
    },
    5: {"TuningPanel()": "TuningPanel(start=False)"},
    6: {
        "every.tests, draws=300": "every.tests, draws=30",
        "BlamePanel(runs=20)": 'BlamePanel(application="umt-128", runs=12)',
    },
}

LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

every_lesson = pytest.mark.parametrize("number", COURSE)


def read(number: int) -> Any:
    return nbformat.read(FOLDER / f"{lesson(number).name}.ipynb", as_version=4)


def code(content: Any) -> list[Any]:
    return [cell for cell in content.cells if cell.cell_type == "code"]


def text_of(cell: Any) -> str:
    """Return the outputs of a cell as text."""
    parts = [str(o.get("data", {}).get("text/plain", o.get("text", ""))) for o in cell.outputs]
    return "\n".join(parts)


def is_answer(cell: Any) -> bool:
    return bool(cell.source.startswith("answer = ..."))


def test_every_lesson_has_its_notebook() -> None:
    names = {path.stem for path in FOLDER.glob("*.ipynb")}
    assert names == {lesson(number).name for number in COURSE}


@for_each("number", COURSE)
def test_each_exercise_is_asked_answered_and_solved_in_three_cells(number: int) -> None:
    cells = code(read(number))
    asked = [(at, cell.source) for at, cell in enumerate(cells) if re.match(r'ask\("', cell.source)]
    numbers = [exercise.number for exercise in lesson(number).exercises]
    assert [source for _, source in asked] == [f'ask("{each}")' for each in numbers]
    for (at, _), each in zip(asked, numbers, strict=True):
        answer, solution = cells[at + 1 : at + 3]
        assert answer.source == f'answer = ...\ncheck("{each}", answer)'
        assert is_solution(solution)
        assert solution.metadata["jupyter"] == {"source_hidden": True}
        assert solution.source.startswith("# Solution\n")
        assert re.search(rf'^check\("{each}", .*, keep=False\)\Z', solution.source, re.M)
    assert sum(map(is_solution, cells)) == sum(map(is_answer, cells)) == len(numbers)


@for_each("number", COURSE)
def test_the_text_says_what_the_lesson_is(number: int) -> None:
    found, content = lesson(number), read(number)
    plain = [LINK.sub(r"\1", c.source) for c in content.cells if c.cell_type == "markdown"]
    texts = [" ".join(source.split()) for source in plain]
    assert texts[0].startswith(f"# Lesson {number}: {found.title} ")
    assert found.question in texts[0]
    assert content.metadata["workbench"]["question"] == found.question
    assert [each for each in found.objectives if each not in texts[0]] == []
    assert f"**{found.minutes} minutes:**" in texts[0]
    headings = [f"## {place}. {part.title}" for place, part in enumerate(found.parts, start=1)]
    text = "\n".join(plain)
    assert re.findall(r"^## .*$", text, re.M) == headings
    assert [int(each) for each in re.findall(r"^\*(\d+) minutes\.\*", text, re.M)] == [
        part.minutes for part in found.parts if part.exercises
    ]


@for_each("number", COURSE)
def test_cells_are_short_and_bokeh_is_loaded_first(number: int) -> None:
    cells = code(read(number))
    assert cells[0].source.splitlines()[-1] == "workbench.panels.setup()"
    # Servers' tests and memory benchmarks run a notebook as far as its panel.
    assert any(cell.source.startswith("panel = ") for cell in cells)
    sources = [c.source.removeprefix("# Solution\n") for c in cells]
    assert [text for text in sources if len(text.splitlines()) > LINES_IN_A_CELL] == []


def run_solved(
    number: int, folder: Path, kernel: AsyncKernelManager, shorter: dict[str, str]
) -> Any:
    """Run a lesson, whose solutions must be right and whose answers are still to be given."""
    content = read(number)
    shorten(content.cells, shorter)
    done = execute(content, folder, MEASURE, kernel)
    cells = code(done)
    for cell in cells:
        assert not [
            o for o in cell.outputs if o.output_type == "error" or o.get("name") == "stderr"
        ]
    wrong = [text for cell in cells if is_solution(cell) if "Right." not in (text := text_of(cell))]
    assert wrong == []
    untouched = [text_of(cell) for cell in cells if is_answer(cell)]
    assert all("Not answered yet" in text for text in untouched)
    return cells


@pytest.mark.notebook
@every_lesson
def test_the_solved_lesson_runs_whole_and_its_solutions_are_right(
    number: int, tmp_path: Path, kernel: AsyncKernelManager
) -> None:
    run_solved(number, tmp_path, kernel, SHORTER.get(number, {}))


@pytest.mark.deep
@pytest.mark.notebook
@every_lesson
def test_a_lesson_takes_a_minute_and_a_gigabyte_at_most(
    number: int, tmp_path: Path, own_kernel: AsyncKernelManager
) -> None:
    cells = run_solved(number, tmp_path, own_kernel, {})
    seconds, memory = map(float, re.findall(r"[\d.]+", text_of(cells[-1])))
    assert seconds <= MOST_S
    assert memory <= MOST_BYTES


@pytest.mark.deep
@pytest.mark.notebook
@every_lesson
def test_a_students_copy_gets_hints_for_wrong_answers(
    number: int, tmp_path: Path, own_kernel: AsyncKernelManager
) -> None:
    write_copies(tmp_path / "class", solutions=False)
    content = nbformat.read(tmp_path / "class/lessons" / f"{lesson(number).name}.ipynb", 4)
    for cell in code(content):
        if is_answer(cell):
            exercise = find_exercise(cell.source.split('"')[1])
            wrong = exercise.wrong_answers(exercise.drawn("Ada"))
            value = wrong[0][1] if wrong else "nothing of the kind"
            cell.source = cell.source.replace("...", repr(value))
        cell.source = cell.source.replace('student("")', 'student("Ada")')
    done = execute(content, tmp_path, MEASURE, own_kernel)
    for cell in code(done):
        assert not [o for o in cell.outputs if o.output_type == "error"]
        if is_answer(cell):
            assert re.search(r"Not (yet|an answer yet)\.", text_of(cell))
