"""Lessons whose exercises check themselves.

from workbench.teaching import ask, check, lessons, progress, student

ask("1.1")            # the question, with this student's parameters
check("1.1", 3.2)     # right, or a hint
progress()            # tries, and what is solved
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.teaching.answers import Amount, AnswerKind, InOrder, OneOf, WholeNumber
    from workbench.teaching.checking import Question, ask, check
    from workbench.teaching.copies import write_copies
    from workbench.teaching.exercise import Exercise, Given, Mistake
    from workbench.teaching.feedback import Feedback
    from workbench.teaching.lesson import Lesson, LessonPart
    from workbench.teaching.progress import ProgressTable, progress
    from workbench.teaching.registry import lesson, lessons
    from workbench.teaching.student import ParameterDraw, Student, student
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "Amount",
    "AnswerKind",
    "Exercise",
    "Feedback",
    "Given",
    "InOrder",
    "Lesson",
    "LessonPart",
    "Mistake",
    "OneOf",
    "ParameterDraw",
    "ProgressTable",
    "Question",
    "Student",
    "WholeNumber",
    "ask",
    "check",
    "lesson",
    "lessons",
    "progress",
    "student",
    "write_copies",
]
