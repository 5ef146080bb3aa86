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
    from workbench.teaching.answers import (
        Amount as Amount,
        AnswerKind as AnswerKind,
        InOrder as InOrder,
        OneOf as OneOf,
        WholeNumber as WholeNumber,
    )
    from workbench.teaching.checking import Question as Question, ask as ask, check as check
    from workbench.teaching.copies import write_copies as write_copies
    from workbench.teaching.exercise import Exercise as Exercise, Given as Given, Mistake as Mistake
    from workbench.teaching.feedback import Feedback as Feedback
    from workbench.teaching.lesson import Lesson as Lesson, LessonPart as LessonPart
    from workbench.teaching.progress import ProgressTable as ProgressTable, progress as progress
    from workbench.teaching.registry import lesson as lesson, lessons as lessons
    from workbench.teaching.student import (
        ParameterDraw as ParameterDraw,
        Student as Student,
        student as student,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
