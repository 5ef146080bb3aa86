"""Copies the trials of fits into a storage of Optuna, where its tools read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import StudyError
from workbench.fit.space import SearchSpace
from workbench.fit.store import StoredTrial, read_names, read_study, read_trials
from workbench.storage.optuna_log import quiet_optuna

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial


def to_optuna(study: str | Path, storage: str | Path, name: str | None = None) -> tuple[str, ...]:
    """Copy fits of a database into a storage of Optuna, for optuna-dashboard or ``load_study``.

    A trial that could not be simulated becomes a failed one with the reason as its attribute
    ``invalid``; one that was ended early a pruned one with its bound. Optuna takes some 15 ms a
    trial.

    Args:
        study: the database of the fits, as in ``fit``.
        storage: an SQLite file, made where there is none, or an address of a database as
            ``optuna.create_study`` takes it.
        name: the fit to copy; all fits of the database where it is None.

    Returns:
        The names of Optuna's studies, those of the fits.

    Raises:
        StudyError: there is no such fit, or the storage cannot be used or holds such a study.
    """
    known = read_names(study)
    names = tuple(known) if name is None else (name,)
    if not names or not set(names) <= set(known):
        raise StudyError(
            f"{study} must hold the fit {name!r}; it holds {', '.join(known) or 'none'}"
            if name is not None
            else f"{study} must hold a fit; it holds none"
        )
    for one in names:
        _copy(study, str(storage), one)
    return names


def _copy(study: str | Path, storage: str, name: str) -> None:
    import optuna
    from optuna.exceptions import DuplicatedStudyError
    from sqlalchemy.exc import SQLAlchemyError

    found = read_study(study, name)
    space = SearchSpace.from_dict(found.problem["space"]) if found is not None else None
    if found is None or space is None:
        return
    distributions = _distributions(space)
    address = storage if "://" in storage else f"sqlite:///{storage}"
    try:
        with quiet_optuna():
            copy = optuna.create_study(storage=address, study_name=name)
            try:
                copy.set_user_attr("workbench.problem", dict(found.problem))
                copy.add_trials([_frozen(one, distributions) for one in read_trials(study, name)])
            except BaseException:
                optuna.delete_study(storage=address, study_name=name)
                raise
    except DuplicatedStudyError as error:
        raise StudyError(
            f"{storage} holds a study {name!r} already; choose another file, or delete that study"
        ) from error
    except (SQLAlchemyError, RuntimeError) as error:
        raise StudyError(f"{storage} cannot be used as a storage of Optuna: {error}") from error


def _distributions(space: SearchSpace) -> dict[str, BaseDistribution]:
    from optuna.distributions import FloatDistribution, IntDistribution

    return {
        d.key: IntDistribution(math.ceil(d.low), math.floor(d.high), log=d.log)
        if d.whole
        else FloatDistribution(d.low, d.high, log=d.log)
        for d in space.dimensions
    }


def _frozen(trial: StoredTrial, distributions: Mapping[str, BaseDistribution]) -> FrozenTrial:
    from optuna.trial import TrialState, create_trial

    state = TrialState.COMPLETE
    attributes: dict[str, float | str] = {"seconds": trial.seconds}
    if trial.invalid:
        state = TrialState.FAIL
        attributes["invalid"] = trial.invalid
    elif trial.ended_early:
        state = TrialState.PRUNED
    return create_trial(
        state=state,
        value=trial.loss if state == TrialState.COMPLETE else None,
        params=dict(trial.values),
        distributions=dict(distributions),
        user_attrs=attributes,
        intermediate_values={0: trial.loss} if trial.ended_early else None,
    )
