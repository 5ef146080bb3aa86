"""The subjects of the tuning panel: recorded spaces, shipped and uploaded components."""

from __future__ import annotations

import functools
import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.errors import DatasetError, ParameterError
from workbench.html_table import html_table
from workbench.measure.curve import byte_label
from workbench.tune.component.component import FOLDER, Component, components
from workbench.tune.recorded.files import recordings
from workbench.tune.recorded.recorded_space import RecordedSpace
from workbench.tune.space.axes import AnyAxis
from workbench.tune.space.space import TuningSpace
from workbench.tune.specs import axes_of_specs

RECORDED, COMPONENT, UPLOADED = "recorded", "component", "file"

FIRST = "bcast/65536"


@dataclass(frozen=True, eq=False)
class Subject:
    """A space of configurations that can be tuned."""

    word: str  # unique, such as recorded:open-mpi-4-ranks/allreduce/65536
    title: str
    space: TuningSpace
    about: str
    recorded: RecordedSpace | None = None  # if its runs are recorded
    component: Component | None = None  # if its runs are executed
    file: str = ""  # component file, if uploaded
    values: str = ""  # values to try instead of the component's, such as "bs=512,4096 n=1:64:x2"

    def with_values(self, values: str) -> Subject:
        """Return the component as a subject with other values to try of some parameters."""
        if not values.strip() or self.component is None:
            return self
        component = self.component.with_axes(axes_of_specs(values))
        return replace(self, space=component.space(), component=component, values=values.strip())


def subjects() -> tuple[dict[str, Subject], str]:
    """Return the shipped subjects by word, recorded spaces first, and an error message or ""."""
    found: dict[str, Subject] = {}
    problem = ""
    try:
        found |= {one.word: one for one in _recorded_subjects()}
    except DatasetError as error:
        problem = str(error)
    for component in components().things:
        subject = component_subject(component)
        found[subject.word] = subject
    return found, problem


@functools.cache
def _recorded_subjects() -> tuple[Subject, ...]:
    """Return the shipped recorded spaces, read and checked once."""
    return tuple(
        Subject(
            f"{RECORDED}:{recording.name}/{name}",
            _recorded_title(space, recording.name),
            space.space,
            _about(space, recording.caveats),
            space,
        )
        for recording in recordings().things
        for name, space in recording.items()
    )


def component_subject(component: Component, file: str = "") -> Subject:
    """Return a component as a subject on this machine; ``file`` is its uploaded file."""
    if component.lacks_folder:
        raise ParameterError(
            f"the command of {component.name} must name absolute paths, as an uploaded file has "
            f"no folder; got {FOLDER}; write the folder in its place",
            key="subject",
        )
    word = f"{UPLOADED}:{file}/{component.name}" if file else f"{COMPONENT}:{component.name}"
    title = f"run here: {component.name}" + (f" ({file})" if file else "")
    return Subject(
        word, title, component.space(), component.description, component=component, file=file
    )


def first_word(known: Mapping[str, Subject]) -> str:
    """Return the subject with which the panel opens: a recorded collective if one ships."""
    if not known:
        raise ParameterError(
            "no component or recording is installed; reinstall the package", key="subject"
        )
    liked = [word for word in known if word.endswith(FIRST)]
    return (liked or list(known))[0]


def subject_of(name: str, component: str, known: Mapping[str, Subject]) -> str:
    """Return the subject of a stored experiment by its name or component; "" if unknown."""
    about = name.partition(": ")[0]
    for word, one in known.items():
        same = one.component is not None and one.component.name == component
        if same or about == word.partition(":")[2]:
            return word
    return ""


def space_html(subject: Subject) -> str:
    """Return an HTML table of the parameters and their values."""
    space, rows = subject.space, []
    meanings = _meanings(subject)
    for name, axis in space.axes.items():
        default = "" if space.default is None else _shown(space.default[name])
        condition = space.conditions.get(name)
        only = "" if condition is None else f"where {getattr(condition, 'text', condition)}"
        cells = (name, _values(axis), _count(axis), default, only, meanings.get(name, ""))
        rows.append(cells)
    last = ("what it is",) if meanings else ("",)
    head = ("parameter", "values to try", "count", "default", "applies", *last)
    rules = "; ".join(getattr(rule, "text", str(rule)) for rule in space.constraints)
    return (
        f"<div>{html.escape(subject.about)}</div>{html_table(rows, head, align='llrl')}"
        f"<div>{html.escape(size_text(space))}"
        + (f"; only where {html.escape(rules)}" if rules else "")
        + "</div>"
    )


def size_text(space: TuningSpace) -> str:
    """Return the number of configurations in words."""
    if space.size is None:
        return f"{len(space.names)} parameters, not countable"
    return f"{len(space.names)} parameters, {space.size:,} configurations"


def _recorded_title(space: RecordedSpace, recording: str) -> str:
    name, _, size = space.name.partition("/")
    label = f", {byte_label(int(size))}" if size.isdecimal() else ""
    return f"{space.provenance.origin}: {name}{label} ({recording})"


def _about(space: RecordedSpace, caveats: Sequence[str]) -> str:
    counts = [len(one) for one in space.values]
    runs = " to ".join(dict.fromkeys((str(min(counts)), str(max(counts)))))
    notes = "".join(f"; {caveat}" for caveat in caveats)
    return (
        f"{space.provenance.caption()}; {runs} runs of each configuration; "
        f"a run took {space.exhaustive_s / max(len(space), 1):.2g} s{notes}"
    )


def _meanings(subject: Subject) -> dict[str, str]:
    """Return the description of each parameter, if a component has them."""
    component = subject.component
    if subject.recorded is not None and subject.recorded.provenance.origin == "measured":
        # What was recorded of Open MPI has the parameters of the component of that name.
        own = subject.recorded.name.partition("/")[0]
        names = (own, f"open-mpi-{own}")
        component = next((one for one in components().things if one.name in names), None)
    if component is None:
        return {}
    return {one.name: one.description for one in component.parameters}


def _values(axis: AnyAxis) -> str:
    return str(axis)


def _count(axis: AnyAxis) -> str:
    return "–" if axis.size is None else str(axis.size)


def _shown(value: Any) -> str:
    return "not passed" if value is None else str(value)
