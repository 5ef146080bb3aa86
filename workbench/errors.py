"""The errors a user meets: each says what must hold, what was got and what to do."""

from __future__ import annotations


class WorkbenchError(Exception):
    """Base of every error the workbench raises on purpose."""


class ParameterError(WorkbenchError, ValueError):
    """One value is wrong, or names a parameter that does not exist.

    Attributes:
        key: dotted name of the parameter, empty where the error is about several.
    """

    def __init__(self, message: str, *, key: str = "") -> None:
        super().__init__(message)
        self.key = key


class ConfigurationError(ParameterError):
    """Values that are fine one by one but would deadlock or end a run early together.

    Attributes:
        rule: the rule that is broken, as a short formula such as ``credits >= mtu``.
        keys: dotted names of the parameters the rule is about, the one to change first.
    """

    def __init__(self, message: str, *, rule: str, keys: tuple[str, ...]) -> None:
        super().__init__(message, key=keys[0] if keys else "")
        self.rule = rule
        self.keys = keys


class ParseError(WorkbenchError, ValueError):
    """A file or text cannot be read.

    Attributes:
        source: name of the file, or a word such as ``text`` where there is none.
        line: 1-based line number, 0 where the error is about the whole source.
    """

    def __init__(self, message: str, *, source: str = "text", line: int = 0) -> None:
        super().__init__(f"{source}:{line}: {message}" if line else f"{source}: {message}")
        self.source = source
        self.line = line


class ProgramError(WorkbenchError, ValueError):
    """A program cannot run to its end: a deadlock, a cycle, a message that nobody takes.

    Attributes:
        operations: what is wrong or waits, a phrase each: rank, line, peer and tag.
    """

    def __init__(self, message: str, *, operations: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.operations = operations


class DatasetError(WorkbenchError):
    """A shipped dataset is missing, unknown, or differs from its recorded checksum."""


class StudyError(WorkbenchError):
    """A study file cannot be used as asked: other settings, locked, or not a study."""


class StudyHeldError(StudyError):
    """A study is being run by another notebook or process."""


class SimulationHalted(WorkbenchError):
    """A simulation was ended early because it was asked to."""
