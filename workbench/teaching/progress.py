"""What has been tried and solved: a small file in the working directory, sent nowhere."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.atomic_write import replace_file
from workbench.errors import ParseError, WorkbenchError
from workbench.jsonfile import read_json
from workbench.result import Result
from workbench.storage.locks import wait_for_file
from workbench.teaching.feedback import Feedback
from workbench.teaching.registry import COURSE, lesson

if TYPE_CHECKING:
    import pandas as pd

VARIABLE = "WORKBENCH_PROGRESS"
"""The environment variable with the path of the file."""
FILE = "workbench-progress.json"

_FORMAT, _VERSION = "workbench-progress", 1
_WHAT = "a progress file of lessons"
_COLUMNS = ("file", "student", "exercise", "tries", "first try", "right at", "mistakes")
_BY_EXERCISE = ("exercise", "students", "tried", "right", "tries", "mistakes")
_Row = tuple[str, str, str, int, str, str, Mapping[str, int]]


@dataclass(frozen=True)
class _Entry:
    """What one student did in one exercise: until it is right, each answer counts."""

    tries: int
    first: str
    right: str | None
    mistakes: Mapping[str, int]

    def after(self, found: Feedback, now: str) -> _Entry:
        """Return the entry after one more answer."""
        if self.right is not None:
            return self
        mistakes = dict(self.mistakes)
        if found.mistake:
            mistakes[found.mistake] = mistakes.get(found.mistake, 0) + 1
        right = now if found.right else None
        return _Entry(self.tries + 1, self.first or now, right, mistakes)


class ProgressTable(Result):
    """Who tried what how often, and when it was right first.

    Args:
        rows: file, student, exercise, tries, first try, right at, and mistakes by their names.
    """

    def __init__(self, rows: Iterable[_Row]) -> None:
        self._rows = tuple(rows)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a student and exercise: ``file``, ``student``, ``exercise`` and so on."""
        import pandas as pd

        rows = [(*row, _listed(mistakes)) for *row, mistakes in self._rows]
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    def by_exercise(self) -> pd.DataFrame:
        """Return one row an exercise: the students who have begun its lesson, tried it, solved it.

        ``tries`` are those of all together; ``mistakes`` are the typical ones, the most frequent
        first.
        """
        import pandas as pd

        rows = []
        for number in sorted({row[2] for row in self._rows}, key=_order):
            of_all = [row[3:] for row in self._rows if row[2] == number]
            mistakes: Counter[str] = Counter()
            for *_, made in of_all:
                mistakes.update(made)
            tried = [(tries, right) for tries, _, right, _ in of_all if tries]
            right = sum(bool(right) for _, right in tried)
            listed = _listed(dict(mistakes.most_common()))
            tries = sum(tries for tries, _ in tried)
            rows.append((number, len(of_all), len(tried), right, tries, listed))
        return pd.DataFrame(rows, columns=list(_BY_EXERCISE))

    def to_dict(self) -> dict[str, Any]:
        """Return the rows by their columns, then those by exercise."""
        frames = {"progress": self.to_frame(), "exercises": self.by_exercise()}
        return {name: frame.to_dict("records") for name, frame in frames.items()}

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the table as CSV, and write it where a path is given.

        Args:
            path: file to write, replaced in one step.
        """
        text = str(self.to_frame().to_csv(index=False, lineterminator="\n"))
        if path is not None:
            replace_file(path, text.encode())
        return text

    def __repr__(self) -> str:
        if not self._rows:
            return "Progress: no exercise is answered yet"
        right = sum(bool(row[5]) for row in self._rows)
        return f"Progress: {right} of {len(self._rows)} exercises right"


def progress(*paths: str | Path) -> ProgressTable:
    """Return what has been tried and solved, with the exercises still to do in each begun lesson.

    Args:
        paths: progress files, such as those of a class. None: the file that ``check`` writes,
            ``workbench-progress.json`` here or where ``WORKBENCH_PROGRESS`` says; no file is no
            progress yet.

    Raises:
        ParseError: a file is no progress file, or a damaged one.
        OSError: a file cannot be read.
    """
    own = progress_file()
    files = {str(path): Path(path) for path in paths} or ({own.name: own} if own.exists() else {})
    return ProgressTable((name, *row) for name, file in files.items() for row in _rows(_read(file)))


def progress_file() -> Path:
    """Return the path of the file that ``check`` writes."""
    return Path(os.environ.get(VARIABLE) or FILE).absolute()


def record(student: str, found: Feedback) -> str:
    """Keep an answer in the progress file; return a note where it cannot be, else an empty text."""
    path = progress_file()
    try:
        with wait_for_file(path):
            students = _read(path) if path.exists() else {}
            entries = students.setdefault(student, {})
            now = datetime.now(UTC).isoformat(timespec="seconds")
            entry = entries.get(found.exercise, _Entry(0, "", None, {}))
            entries[found.exercise] = entry.after(found, now)
            replace_file(path, _text(students).encode())
    except (WorkbenchError, OSError) as error:
        return f"Your progress is not kept: {error}"
    return ""


def _read(path: Path) -> dict[str, dict[str, _Entry]]:
    values = read_json(path, _WHAT, format=_FORMAT, version=_VERSION)
    try:
        return {
            str(student): {
                str(number): _Entry(
                    int(entry["tries"]),
                    str(entry["first_try"]),
                    None if entry["right"] is None else str(entry["right"]),
                    {str(name): int(count) for name, count in entry["mistakes"].items()},
                )
                for number, entry in entries.items()
            }
            for student, entries in values["students"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ParseError(
            f"{_WHAT} must have tries, first_try, right and mistakes of each exercise of each "
            "student; this file is damaged",
            source=path.name,
        ) from error


def _text(students: Mapping[str, Mapping[str, _Entry]]) -> str:
    stored = {
        student: {
            number: {
                "tries": entry.tries,
                "first_try": entry.first,
                "right": entry.right,
                "mistakes": dict(entry.mistakes),
            }
            for number, entry in sorted(entries.items(), key=lambda each: _order(each[0]))
        }
        for student, entries in sorted(students.items())
    }
    whole = {"format": _FORMAT, "version": _VERSION, "students": stored}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _rows(
    students: Mapping[str, Mapping[str, _Entry]],
) -> Iterable[tuple[str, str, int, str, str, Mapping[str, int]]]:
    untouched = _Entry(0, "", None, {})
    for student, entries in students.items():
        begun = {number.partition(".")[0] for number in entries}
        known = {
            exercise.number
            for number in COURSE
            if str(number) in begun
            for exercise in lesson(number).exercises
        }
        for number in sorted(known | entries.keys(), key=_order):
            entry = entries.get(number, untouched)
            yield student, number, entry.tries, entry.first, entry.right or "", entry.mistakes


def _listed(mistakes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in mistakes.items())


def _order(number: str) -> tuple[list[int], str]:
    return [int(part) for part in number.split(".") if part.isdecimal()], number
