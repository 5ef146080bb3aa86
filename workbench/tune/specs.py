"""Experiments in words: rules with options, the values of an axis, the name of a recorded space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import ParameterError

if TYPE_CHECKING:
    from workbench.tune.recorded.recorded_space import RecordedSpace
    from workbench.tune.space.axes import AnyAxis
    from workbench.tune.space.constraints import TunedValue

_WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}


def value_of(word: str) -> TunedValue | None:
    """Return a number, a bool, None for ``none``, or the text itself."""
    text = word.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def chosen(word: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of ``static:runs=3``."""
    name, _, rest = word.partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ParameterError(
                f"an option must be NAME=VALUE, such as static:runs=3; got {part!r} in {word!r}",
                key=name,
            )
        option = key.strip().replace("-", "_")
        if option in options:
            raise ParameterError(f"{option} must be given once; got {word!r}", key=name)
        options[option] = value_of(value)
    return name, options


def rules(words: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return one stopping rule, or several of which the first to end counts."""
    found = [chosen(word) for word in words]
    if len(found) == 1:
        return found[0]
    return "any", {"rules": [{"name": name, **options} for name, options in found]}


def axis_of_spec(word: str) -> tuple[str, AnyAxis | list[TunedValue | None]]:
    """Return parameter and values of ``n=1,2,4``, ``n=0:64:8``, ``n=1:64:x2`` or ``n=1:9``."""
    from workbench.tune import Grid, Range

    name, equals, text = word.partition("=")
    if not (name and equals and text):
        raise ParameterError(
            f"values must be given as NAME=VALUES, such as n=1,2,4; got {word!r}", key=name
        )
    parts = text.split(":")
    if len(parts) == 1:
        return name, [value_of(part) for part in text.split(",")]
    factor = len(parts) == 3 and parts[2].startswith("x")
    numbers = [value_of(part.lstrip("x") if factor else part) for part in parts]
    if len(parts) > 3 or any(isinstance(n, (str, bool)) or n is None for n in numbers):
        raise ParameterError(
            f"values must be NAME=LOW:HIGH, NAME=LOW:HIGH:STEP or NAME=LOW:HIGH:xFACTOR; "
            f"got {word!r}",
            key=name,
        )
    low, high, *step = (n for n in numbers if isinstance(n, (int, float)))
    if not step:
        whole = isinstance(low, int) and isinstance(high, int)
        return name, Range(low, high, integer=whole)
    return name, Grid.steps(low, high, step[0], "multiplicative" if factor else "additive")


def axes_of_specs(text: str) -> dict[str, AnyAxis | list[TunedValue | None]]:
    """Return the values of each parameter in ``n=1,2,4 m=1:64:x2``, by name."""
    found: dict[str, AnyAxis | list[TunedValue | None]] = {}
    for word in text.split():
        name, axis = axis_of_spec(word)
        if name in found:
            raise ParameterError(f"{name} must be given once; got {text!r}", key=name)
        found[name] = axis
    return found


def recorded_space(word: str) -> RecordedSpace:
    """Return the recorded space of a name or path such as ``open-mpi/allreduce/65536``."""
    from workbench.datapackage import DESCRIPTOR
    from workbench.tune.recorded.files import read_recording, shipped_recording

    parts = word.split("/")
    for at in range(len(parts), 0, -1):
        folder = Path("/".join(parts[:at]) or "/")
        if (folder / DESCRIPTOR).is_file():
            recording, rest = read_recording(folder), "/".join(parts[at:])
            break
    else:
        recording, rest = shipped_recording(parts[0]), "/".join(parts[1:])
    if not rest and len(recording) == 1:
        return next(iter(recording.values()))
    return recording[rest]


def options_text(options: Mapping[str, Any]) -> str:
    """Return options as `chosen` reads them after the colon."""
    return ", ".join(f"{name}={_word(value)}" for name, value in options.items())


def _word(value: Any) -> str:
    from workbench.tune.rules_by_name import REQUIRED

    if value is REQUIRED:
        return "?"
    return str(value).lower() if value is None or isinstance(value, bool) else f"{value}"
