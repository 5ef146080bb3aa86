"""What can be tuned in the panel, what its controls stand for, and the same in Python."""

from __future__ import annotations

import functools
import hashlib
import html
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from workbench.errors import DatasetError, ParameterError
from workbench.measure.curve import byte_label
from workbench.tune.axes import AnyAxis
from workbench.tune.component import Component, components
from workbench.tune.experiment import Experiment
from workbench.tune.recorded import RecordedSpace
from workbench.tune.recorded_files import recordings
from workbench.tune.replaying import replayed
from workbench.tune.runners.slurm import Slurm, runs_folder
from workbench.tune.settings import Chosen, SearchSettings
from workbench.tune.space import TuningSpace

RECORDED, COMPONENT, UPLOADED = "recorded", "component", "file"
LOCAL, SLURM, REPLAY = "local", "slurm", "replay"
"""What executes runs."""

FIRST = "bcast/65536"
FIRST_SETTINGS = SearchSettings(budget=60, resampling=Chosen("static", {"runs": 2}))
"""What the panel opens with."""

_SHORT = 40


@dataclass(frozen=True, eq=False)
class Subject:
    """Something that can be tuned.

    Attributes:
        word: tells it from all others, such as ``recorded:open-mpi-4-ranks/allreduce/65536``.
        title: as the list shows it.
        space: what is searched.
        about: a few words on what it is.
        recorded: its runs, where they are recorded.
        component: what is run, where it is run here.
        file: name of the file that declares it, where it was uploaded.
    """

    word: str
    title: str
    space: TuningSpace
    about: str
    recorded: RecordedSpace | None = None
    component: Component | None = None
    file: str = ""


@dataclass(frozen=True)
class TuningState:
    """What the controls hold.

    Attributes:
        subject: what is tuned.
        settings: how it is searched.
        runner: what executes runs: ``local``, ``slurm`` or ``replay``.
        noise: of a replay.
        application: words of the program that runs with a component.
        sbatch: options of ``sbatch``.
        jobs: how many runs may be under way at once.
        store: file that keeps the runs, empty for none.
    """

    subject: Subject
    settings: SearchSettings
    runner: str = LOCAL
    noise: str = "measured"
    application: tuple[str, ...] = ()
    sbatch: tuple[str, ...] = ()
    jobs: int = 1
    store: str = ""

    @property
    def name(self) -> str:
        """Name of the experiment."""
        settings = self.settings
        rest = "" if settings.resampling.name == "none" else f", {settings.resampling}"
        noise = f", {self.noise} noise" if self.noise != "measured" else ""
        slurm = f", Slurm {shlex.join(self.sbatch)}".rstrip() if self.runner == SLURM else ""
        what = self.subject.word.partition(":")[2]
        # What else makes it another experiment of the same store is told apart by its name, too.
        program = f", {_short(shlex.join(self.application))}" if self.application else ""
        return f"{what}: {settings.heuristic}{rest}{noise}{slurm}, seed {settings.seed}{program}"

    def experiment(self) -> Experiment:
        """Return the experiment that the controls describe.

        Raises:
            ParameterError: something in it is not accepted.
            RunnerError: there is no Slurm here.
            StudyError: the store cannot be opened.
        """
        options: dict[str, Any] = {"settings": self.settings, "name": self.name}
        if self.store:
            options["store"] = self.store
        if self.subject.recorded is not None:
            return replayed(self.subject.recorded, self.noise, **options)
        if self.subject.component is None:
            raise ParameterError(f"{self.subject.title} cannot be run", key="subject")
        return Experiment(
            self.subject.component,
            Slurm(runs_folder(self.store), self.sbatch) if self.runner == SLURM else None,
            application=self.application,
            jobs=self.jobs,
            **options,
        )

    def python(self) -> str:
        """Return the lines of Python that give the result."""
        given = [f"    {line}," for line in _settings_lines(self.settings)]
        if self.store:
            given += [f"    store={self.store!r},", f"    name={self.name!r},"]
        kind, _, rest = self.subject.word.partition(":")
        if kind == RECORDED:
            recording, _, space = rest.partition("/")
            noise = "" if self.noise == "measured" else f"    {self.noise!r},\n"
            return (
                "from workbench.tune.recorded_files import shipped_recording\n"
                "from workbench.tune.replaying import replayed\n\n"
                f'recorded = shipped_recording("{recording}")["{space}"]\n'
                "experiment = replayed(\n    recorded,\n" + noise + "\n".join(given) + "\n)\n"
                "result = experiment.run()\nresult\n"
            )
        if self.application:
            given.append(f"    application={list(self.application)!r},")
        if self.jobs > 1:
            given.append(f"    jobs={self.jobs},")
        what, lines = f'"{rest}"', "from workbench.tune.experiment import tune\n"
        if kind == UPLOADED:
            name = rest.partition("/")[2]
            what = f'read_components("{self.subject.file}")["{name}"]'
            lines = f"from workbench.tune import read_components\n{lines}"
        if self.runner == SLURM:
            words = f", {list(self.sbatch)!r}" if self.sbatch else ""
            given.insert(0, f"    Slurm({str(runs_folder(self.store))!r}{words}),")
            lines += "from workbench.tune.runners import Slurm\n"
        return f"{lines}\nresult = tune(\n    {what},\n" + "\n".join(given) + "\n)\nresult\n"


def subjects() -> tuple[dict[str, Subject], str]:
    """Return what ships, by its word, recorded spaces first; and what is wrong with them."""
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
    """Return the recorded spaces that ship; they are read and checked once."""
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
    """Return a component as something that can be tuned on this machine.

    Args:
        component: what is run.
        file: name of the file that declares it, where it was uploaded.

    Raises:
        ParameterError: it names no values to try.
    """
    word = f"{UPLOADED}:{file}/{component.name}" if file else f"{COMPONENT}:{component.name}"
    title = f"run here: {component.name}" + (f" ({file})" if file else "")
    return Subject(
        word, title, component.space(), component.description, component=component, file=file
    )


def first_word(known: Mapping[str, Subject]) -> str:
    """Return what the panel opens with: a recorded collective, where one ships.

    Args:
        known: what there is.

    Raises:
        ParameterError: there is nothing.
    """
    if not known:
        raise ParameterError("there must be something to tune; nothing ships", key="subject")
    liked = [word for word in known if word.endswith(FIRST)]
    return (liked or list(known))[0]


def subject_of(name: str, component: str, known: Mapping[str, Subject]) -> str:
    """Return the word of what a stored experiment tunes, empty where it is not in the list.

    Args:
        name: of the experiment; a panel's begins with what it tunes.
        component: name of its component, empty where it has none.
        known: what there is.
    """
    about = name.partition(": ")[0]
    for word, one in known.items():
        same = one.component is not None and one.component.name == component
        if same or about == word.partition(":")[2]:
            return word
    return ""


def space_html(subject: Subject) -> str:
    """Return the parameters, their values and their number as a table.

    Args:
        subject: what is tuned.
    """
    space, rows = subject.space, []
    meanings = _meanings(subject)
    for name, axis in space.axes.items():
        default = "" if space.default is None else _shown(space.default[name])
        condition = space.conditions.get(name)
        only = "" if condition is None else f"where {getattr(condition, 'text', condition)}"
        cells = (name, _values(axis), _count(axis), default, only, meanings.get(name, ""))
        rows.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
    last = ("what it is",) if meanings else ("",)
    head = ("parameter", "values to try", "count", "default", "applies", *last)
    text = "".join(f"<tr>{row}</tr>" for row in rows)
    rules = "; ".join(getattr(rule, "text", str(rule)) for rule in space.constraints)
    return (
        f"<div>{html.escape(subject.about)}</div><table><tr>"
        + "".join(f"<th>{name}</th>" for name in head)
        + f"</tr>{text}</table><div>{html.escape(size_text(space))}"
        + (f"; only where {html.escape(rules)}" if rules else "")
        + "</div>"
    )


def size_text(space: TuningSpace) -> str:
    """Return how many configurations there are, in words.

    Args:
        space: what is searched.
    """
    if space.size is None:
        return f"{len(space.names)} parameters, not countable"
    return f"{len(space.names)} parameters, {space.size:,} configurations"


def _short(text: str) -> str:
    """Return a text that may be long by its ends, and by a few digits that tell it from others."""
    if len(text) <= _SHORT:
        return text
    digits = hashlib.sha256(text.encode()).hexdigest()[:4]
    return f"{text[: _SHORT // 2]}…{text[-_SHORT // 4 :]} ({digits})"


def _settings_lines(settings: SearchSettings) -> list[str]:
    usual, lines = SearchSettings(), []
    for one in fields(settings):
        value = getattr(settings, one.name)
        if value == getattr(usual, one.name):
            continue
        if isinstance(value, Chosen):
            plain: Any = (value.name, dict(value.options)) if value.options else value.name
            lines.append(f"{one.name}={plain!r}")
        else:
            lines.append(f"{one.name}={value!r}")
    return lines


def _recorded_title(space: RecordedSpace, recording: str) -> str:
    collective, _, size = space.name.partition("/")
    label = byte_label(int(size)) if size.isdecimal() else size
    return f"{space.provenance.origin}: {collective}, {label} ({recording})"


def _about(space: RecordedSpace, caveats: Sequence[str]) -> str:
    counts = [len(one) for one in space.values]
    notes = "".join(f"; {caveat}" for caveat in caveats)
    return (
        f"{space.provenance.caption()}; {min(counts)} to {max(counts)} runs of each configuration; "
        f"a run took {space.exhaustive_s / max(len(space), 1):.2g} s{notes}"
    )


def _meanings(subject: Subject) -> dict[str, str]:
    """Return what each parameter is, where a component says so."""
    component = subject.component
    if subject.recorded is not None and subject.recorded.provenance.origin == "measured":
        # What was recorded of Open MPI has the parameters of the component of that name.
        name = f"open-mpi-{subject.recorded.name.partition('/')[0]}"
        component = next((one for one in components().things if one.name == name), None)
    if component is None:
        return {}
    return {one.name: one.description for one in component.parameters}


def _values(axis: AnyAxis) -> str:
    return str(axis)


def _count(axis: AnyAxis) -> str:
    return "–" if axis.size is None else str(axis.size)


def _shown(value: Any) -> str:
    return "not passed" if value is None else str(value)
