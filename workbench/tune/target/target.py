"""The number a run gives: its time, a figure in its output, a benchmark's table, or one's own.

Time in a queue is never part of it: a runner states a run's seconds without.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.tune.target.osu_latency import OSULatency
from workbench.tune.target.run_output import Output, Target, TargetError, ending, finite

__all__ = [
    "Computed",
    "OSULatency",
    "Output",
    "OutputRegex",
    "Target",
    "TargetError",
    "WallTime",
    "target_from_dict",
]

_LONGEST_PATTERN = 1000
_STREAMS = ("both", "stdout", "stderr")
# A comma between thousands; "1,5" is a decimal comma, and would be read as ten times as much.
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:\D|$))")


@dataclass(frozen=True)
class WallTime:
    """The seconds a run took, without the time in a queue; less is better."""

    @property
    def minimise(self) -> bool:
        """Less is better."""
        return True

    @property
    def unit(self) -> str:
        """Seconds."""
        return "s"

    @property
    def label(self) -> str:
        """A few words for axes and tables."""
        return "wall time"

    def read(self, output: Output) -> float:
        """Return the seconds of a run.

        Args:
            output: what the run took and printed.

        Raises:
            TargetError: the runner states no time.
        """
        return finite(output.seconds, "the time of a run")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``target_from_dict`` reads them back."""
        return {"kind": "wall-time"}


@dataclass(frozen=True)
class OutputRegex:
    """A number that a regular expression finds in the output, the last where there are several.

    Attributes:
        pattern: regular expression as in Python's ``re``, looked for in each line.
        group: number or name of the group that holds the number; 0 is all of the match.
        minimise: whether less is better.
        unit: unit of the number.
        stream: ``stdout``, ``stderr``, or ``both``: first the one, then the other.
        name: what the number is called in tables; the pattern where it is empty.

    Raises:
        ParameterError: the pattern is no regular expression, or has no such group.
    """

    pattern: str
    group: int | str = 1
    minimise: bool = True
    unit: str = ""
    stream: str = "both"
    name: str = ""
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str) or not 0 < len(self.pattern) <= _LONGEST_PATTERN:
            raise ParameterError(
                f"a pattern must be a text of 1 to {_LONGEST_PATTERN} characters; "
                f"got {str(self.pattern)[:40]!r}",
                key="pattern",
            )
        if not isinstance(self.stream, str) or self.stream not in _STREAMS:
            raise ParameterError(
                f"stream must be one of {', '.join(_STREAMS)}; got {self.stream!r}"
                f"{did_you_mean(self.stream, _STREAMS)}",
                key="stream",
            )
        try:
            compiled = re.compile(self.pattern, re.MULTILINE)
        except (re.error, RecursionError, OverflowError) as error:
            raise ParameterError(
                f"{self.pattern!r} must be a regular expression: {error}", key="pattern"
            ) from error
        groups = {*range(compiled.groups + 1), *compiled.groupindex}
        known = isinstance(self.group, int | str) and not isinstance(self.group, bool)
        if not known or self.group not in groups:
            raise ParameterError(
                f"group must be one of {', '.join(map(str, sorted(groups, key=str)))} of "
                f"{self.pattern!r}; got {self.group!r}; put the number into parentheses",
                key="group",
            )
        object.__setattr__(self, "_compiled", compiled)

    @property
    def label(self) -> str:
        """A few words for axes and tables."""
        return self.name or f"output of {self.pattern}"

    def read(self, output: Output) -> float:
        """Return the last number that the pattern finds.

        Args:
            output: what the run took and printed.

        Raises:
            TargetError: the pattern finds nothing, or no number.
        """
        texts = {"stdout": output.stdout, "stderr": output.stderr}
        for stream, text in texts.items():
            if self.stream not in ("both", stream):
                continue
            last = collections.deque(self._compiled.finditer(text), maxlen=1)
            for found in last:
                word = found[self.group] or ""
                try:
                    number = float(_THOUSANDS.sub("", word))
                    return finite(number, f"what {self.pattern!r} finds")
                except ValueError:
                    raise TargetError(
                        f"what {self.pattern!r} finds must be a number; got {word[:60]!r}; "
                        "put only the number into the group, with a point before its decimals"
                    ) from None
        raise TargetError(f"the output must have a match of {self.pattern!r}; got {ending(output)}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``target_from_dict`` reads them back."""
        return {
            "kind": "regex",
            "pattern": self.pattern,
            "group": self.group,
            "minimise": self.minimise,
            "unit": self.unit,
            "stream": self.stream,
            "name": self.name,
        }


@dataclass(frozen=True)
class Computed:
    """A number that a Python function makes of a run; known in this process only.

    Attributes:
        function: takes the run's output, returns the number.
        minimise: whether less is better.
        unit: unit of the number.
        name: what it is called in tables; the function's own name where it is empty.
    """

    function: Callable[[Output], float]
    minimise: bool = True
    unit: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        """A few words for axes and tables."""
        return self.name or getattr(self.function, "__name__", "computed")

    def read(self, output: Output) -> float:
        """Return the function's value for a run.

        Args:
            output: what the run took and printed.

        Raises:
            TargetError: the function raises, or returns no finite number.
        """
        try:
            value = float(self.function(output))
        # A function of the user's may raise anything; one bad run must not end an experiment.
        except Exception as error:
            raise TargetError(
                f"{self.label} must return a number; {type(error).__name__}: {error}"
            ) from error
        return finite(value, f"what {self.label} returns")

    def to_dict(self) -> dict[str, Any]:
        """Return its name and direction; a function cannot be read back."""
        return {
            "kind": "computed",
            "name": self.label,
            "minimise": self.minimise,
            "unit": self.unit,
        }


def target_from_dict(values: Mapping[str, Any]) -> Target:
    """Return the target that ``to_dict`` wrote."""
    rest = {key: value for key, value in values.items() if key != "kind"}
    kind = values.get("kind")
    try:
        if kind == "wall-time":
            return WallTime(**rest)
        if kind == "regex":
            return OutputRegex(**rest)
        if kind == "osu":
            weights = rest.get("weights")
            if isinstance(weights, Mapping):
                rest["weights"] = {int(size): weight for size, weight in weights.items()}
            return OSULatency(**rest)
    except (TypeError, ValueError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"a target must be as to_dict writes it; {error}") from error
    if kind == "computed":
        raise ParameterError(
            f"the target {values.get('name')} is a Python function, which a file cannot hold; "
            "pass the function again"
        )
    raise ParameterError(f"a target must be wall-time, regex, osu or computed; got {kind!r}")
