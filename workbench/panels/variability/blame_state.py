"""The state of the panel of blame, and the Python code that makes what it shows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from workbench.variability.world.scene import WorldSettings

GENERATED, EMULATED, OWN = "generated", "emulated", "own"
"""Where the tables come from: made up with known causes, recorded with them, the user's files."""

EMULATED_NAME = "emulated-link"

RUN, RUNS, BLAME = "run", "runs", "blame"
VIEWS = {"One run": RUN, "All runs": RUNS, "Blame": BLAME}
"""What is shown, by its name on the page."""

PERMUTATIONS = 2000
"""The default of ``variability.blame``: a p-value of 0.05 has a standard error of 0.005."""

TRUTH_STEPS = 8
"""Steps of each run that are simulated again without each user."""


@dataclass(frozen=True)
class BlameState:
    """The values of the controls.

    ``run`` and ``step`` are places from 0; ``user`` is empty for nobody, ``least_nodes`` 0 for the
    choice that ``blame`` makes by itself.
    """

    source: str
    preset: str
    application: str
    runs: int
    seed: int
    interference: bool
    view: str
    run: int
    step: int
    user: str
    least_nodes: int
    during_all: bool
    trend: bool
    tau: float
    permutations: int
    zone: str
    offset_s: float

    @property
    def settings(self) -> WorldSettings:
        """What the world is made from."""
        return WorldSettings(self.preset, self.application, self.runs, self.seed, self.interference)

    @property
    def asked(self) -> Hashable:
        """What blame depends on, besides the tables."""
        return self.least_nodes, self.during_all, self.trend, self.tau, self.permutations


@dataclass(frozen=True)
class OwnFile:
    """A file of the user's as the code reads it."""

    name: str
    columns: dict[str, str]  # the file's names of our columns, where they differ

    def call(self, function: str, options: str) -> str:
        """Return the call that reads it."""
        renamed = f", columns={self.columns!r}" if self.columns else ""
        return f"variability.{function}({self.name!r}{options}{renamed})"


def world_call(settings: WorldSettings) -> str:
    """Return the call that makes a world."""
    null = "" if settings.interference else ", interference=False"
    return (
        f'variability.generate("{settings.preset}", application="{settings.application}", '
        f"runs={settings.runs}, seed={settings.seed}{null})"
    )


def python_lines(
    state: BlameState,
    settings: WorldSettings | None,  # of the world that is shown; None: own tables
    files: Sequence[OwnFile] = (),  # runs and jobs, and steps if there are any
    column: str = "",  # of the user in the table of neighbours
    first: Sequence[str] = (),  # users who get a mark of their own
    name: str = "",  # of the run that is shown
) -> str:
    """Return Python code for ``runs``, ``jobs`` and the figure that is shown."""
    lines = ["from workbench import plotting, variability", ""]
    if settings is not None:
        lines += [f"world = {world_call(settings)}", "runs, jobs = world.runs, world.jobs"]
    elif not files:
        lines += [
            f'recorded = variability.shipped("{EMULATED_NAME}")',
            "runs, jobs = recorded.runs, recorded.jobs",
        ]
    else:
        zone = f", zone={state.zone!r}" if state.zone != "UTC" else ""
        offset = f", offset_s={state.offset_s!r}" if state.offset_s else ""
        lines += [
            f"runs = {files[0].call('read_runs', zone)}",
            f"jobs = {files[1].call('read_jobs', f'{zone}{offset}')}",
            *(f"steps = {one.call('read_steps', zone)}" for one in files[2:]),
        ]
    kind = GENERATED if settings is not None else OWN if files else EMULATED
    lines += _figure_lines(state, kind, column, first, name)
    return "\n".join(lines)


def _figure_lines(
    state: BlameState, kind: str, column: str, first: Sequence[str], name: str
) -> list[str]:
    user = f'"{state.user}"'
    if state.view == RUN and kind == OWN:
        return [f"figure = plotting.plot_run_steps(steps, {name!r}, step={state.step})"]
    if state.view == RUN and kind == EMULATED:
        at = f"{state.run}, step={state.step}"
        return [
            f"traffic = plotting.plot_link_traffic(recorded, {at})",
            f"figure = plotting.plot_run_steps(recorded.steps, {at})",
        ]
    if state.view == RUN:
        marked = f", first={list(first)!r}" if first else ""
        without = f", without={user}" if state.user else ""
        steps = f", without=scene.time_s, user={user}" if state.user else ""
        return [
            f"scene = variability.run_scene(world, {state.run}{without})",
            f"machine = plotting.plot_run_scene(scene, step={state.step}{marked})",
            f"figure = plotting.plot_run_steps(world.steps, {state.run}, step={state.step}{steps})",
        ]
    if state.view == RUNS:
        if not state.user:
            return ["figure = plotting.plot_run_dates(runs)"]
        return [
            "near = variability.neighbourhood(runs, jobs, least_nodes=1, during_all=False)",
            f'beside = near.to_frame()["{column}"]',
            f"figure = plotting.plot_run_dates(runs, beside=beside, user={user})",
        ]
    options = [
        f"least_nodes={state.least_nodes}" if state.least_nodes else "",
        "" if state.during_all else "during_all=False",
        "" if state.trend else "trend=False",
        "" if state.tau == 1 else f"tau={state.tau!r}",
        "" if state.permutations == PERMUTATIONS else f"permutations={state.permutations}",
    ]
    given = "".join(f", {one}" for one in options if one)
    lines = [f"found = variability.blame(runs, jobs{given})"]
    if kind == OWN:
        return [*lines, "figure = plotting.plot_blame_methods(found)"]
    if kind == EMULATED:
        return [
            *lines,
            "sent = recorded.to_frame()",
            'truth = dict(zip(sent["user"], sent["sent (Mbit/s)"] * sent["crosses"]))',
            "figure = plotting.plot_blame_methods(",
            '    found, truth, truth_label="sent over the link (Mbit/s)",',
            "    culprits=recorded.crossing,",
            ")",
        ]
    return [
        *lines,
        f"truth = world.truth(steps={TRUTH_STEPS})",
        "by_user = dict(zip(truth.users, truth.effect, strict=True))",
        "figure = plotting.plot_blame_methods(found, by_user)",
    ]
