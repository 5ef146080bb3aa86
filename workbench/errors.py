"""The errors a user meets: each says what must hold, what was got and what to do."""

from __future__ import annotations


class WorkbenchError(Exception):
    """Base of every error the workbench raises on purpose."""


class ParameterError(WorkbenchError, ValueError):
    """One value is wrong, or names a parameter that does not exist."""

    def __init__(self, message: str, *, key: str = "") -> None:
        super().__init__(message)
        self.key = key  # dotted name; empty if the error is about several


class ConfigurationError(ParameterError):
    """Values that are valid one by one but would deadlock or end a run early together."""

    def __init__(self, message: str, *, rule: str, keys: tuple[str, ...]) -> None:
        super().__init__(message, key=keys[0] if keys else "")
        self.rule = rule  # the broken rule, such as credits >= mtu
        self.keys = keys  # dotted names, the one to change first


class ParseError(WorkbenchError, ValueError):
    """A file or text cannot be read."""

    def __init__(self, message: str, *, source: str = "text", line: int = 0) -> None:
        super().__init__(f"{source}:{line}: {message}" if line else f"{source}: {message}")
        self.source = source  # name of the file, or a word such as text
        self.line = line  # from 1; 0 if the error is about the whole source


class ProgramError(WorkbenchError, ValueError):
    """A program cannot run to its end: a deadlock, a cycle, a message without a receive."""

    def __init__(self, message: str, *, operations: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.operations = operations  # a phrase each: rank, line, peer and tag


class DatasetError(WorkbenchError):
    """A shipped dataset is missing, unknown, or differs from its recorded checksum."""


class StudyError(WorkbenchError):
    """A study file cannot be used as asked: other settings, locked, or not a study."""


class StudyHeldError(StudyError):
    """A study is being run by another notebook or process."""


class SimulationHalted(WorkbenchError):
    """A simulation was ended early on request."""


class WorkshopError(WorkbenchError):
    """A server for a class, or one of its kernels, did not do what it must."""
