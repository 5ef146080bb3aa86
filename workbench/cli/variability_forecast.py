"""Forecast the time of the next K steps of a run from its last M, and say how well.

workbench variability forecast --steps steps.csv --m 10 --k 20
workbench variability forecast --steps steps.csv --m 10 --k 20 --json

STEPS has a row per step of each run, with the columns run, step and time_s and one for each
counter: what it rose by during the step. Counters of I/O nodes' routers begin with IO_, those of
routers without nodes of the job with SYS_; NUM_ROUTERS and NUM_GROUPS are placement. Each run is
forecast by models that have learned from other runs. Errors are mean absolute percentage errors
(MAPE, %), with 95 % intervals over runs.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.cli.analysis import run_analysis
from workbench.cli.output import add_columns, add_json, print_json, words
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.variability import Forecast

ABOUT = "forecast the time of the next steps of a run from its last ones, and say how well"

_FORECAST = FunctionOptions("workbench.variability.forecast")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a forecast."""
    parser.add_argument("--steps", required=True, metavar="STEPS", help="table of steps")
    add_columns(parser, "steps")
    _FORECAST.add(parser, "m", "k")
    _FORECAST.add(parser, "features", "models", type=words, metavar="NAMES")
    _FORECAST.add(
        parser,
        "own_times",
        option="--counters-only",
        help="let models see no step times of the run itself, as in the paper",
    )
    _FORECAST.add(parser, "folds", "seed")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Forecast and return the exit status."""
    from workbench.variability import forecast, read_steps

    steps = read_steps(arguments.steps, columns=arguments.steps_columns)

    def show(found: Forecast) -> None:
        if arguments.json:
            print_json(summary(found))
            return
        from workbench.plotting import describe_forecast

        print(found.to_frame().to_string(index=False, float_format="{:.3g}".format))
        print(describe_forecast(found))

    return run_analysis(partial(forecast, steps, **_FORECAST.given(arguments)), show)


def summary(found: Forecast) -> dict[str, Any]:
    """Return what ``--json`` prints: MAPE in %, skills as shares."""
    names = found.models
    return {
        "mape": dict(zip(names, found.mape, strict=True)),
        "intervals": dict(zip(names, found.mape_interval.tolist(), strict=True)),
        "mae_s": dict(zip(names, found.mae_s, strict=True)),
        "r2": dict(zip(names, found.r2, strict=True)),
        **{
            f"skill_on_{other.replace('-', '_')}": {
                name: {"skill": float(skill), "interval": ends.tolist()}
                for name, skill, ends in zip(
                    names, found.skill[:, at], found.skill_interval[:, at], strict=True
                )
            }
            for at, other in enumerate(("mean-trajectory", "persistence"))
        },
        "alone_mape": {
            name: float(found.alone_mape[at])
            for at, name in enumerate(names)
            if name in ("attention", "trees")
        },
        "share_of_the_model_in_its_mix_with_ridge": dict(zip(names, found.share, strict=True)),
        "best": found.best,
        "m": found.m,
        "k": found.k,
        "runs": len(set(found.run.tolist())),
        "windows": len(found.run),
        "folds": found.folds,
        "seed": found.seed,
        "level": 0.95,
        "counters": list(found.counters),
        "own_times": found.own_times,
        "importance": dict(zip(found.important, found.importance, strict=True)),
        "importance_of": found.importance_of,
        "importance_of_the_network": dict(
            zip(found.important, found.network_importance, strict=False)  # empty without it
        ),
        "notes": list(found.notes),
    }
