"""The component and the runner of a stored experiment, from what the store holds of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import ParameterError
from workbench.tune.component.component import Component, components, read_components
from workbench.tune.runners.local import Local
from workbench.tune.runners.runner import Runner
from workbench.tune.runners.slurm import Slurm, runs_folder
from workbench.tune.runners.slurm_steps import SlurmSteps


def find_component(problem: Mapping[str, Any], session: Mapping[str, Any]) -> Component | None:
    """Return a stored experiment's component, from its file or shipped; None for a space alone."""
    name = problem["component"]
    file = Path(str(session.get("component file") or ""))
    if not name:
        return None
    if file.is_file():
        found = read_components(file)
        if name in found:
            return found[name]
    return components()[name]


def find_runner(stored_runner: Mapping[str, Any], where: str | Path) -> Runner | None:
    """Return a stored experiment's runner; None for local processes."""
    kind = stored_runner.get("kind")
    if kind == Local.name:
        return None
    if kind == Slurm.name:
        return Slurm(runs_folder(where), stored_runner.get("options", ()))
    if kind == SlurmSteps.name:
        options, step_options = (
            stored_runner.get("options", ()),
            stored_runner.get("step_options", ()),
        )
        return SlurmSteps(runs_folder(where), options, step_options=step_options)
    raise ParameterError(
        f"the {kind} runner of this experiment is not in the store; pass it again", key="runner"
    )
