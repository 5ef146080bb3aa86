"""What forecasts gain from more steps and counters, what mistakes flatter them by, and long runs.

workbench variability forecast-grid --steps steps.csv --m 10,20 --k 20,40
workbench variability forecast-leakage --steps steps.csv --m 10 --k 20 --json
workbench variability forecast-long --steps steps.csv --long long-run.csv --m 30 --k 40

STEPS is a table of steps as for `workbench variability forecast`; LONG is one of long runs, with
the same counters. Errors are mean absolute percentage errors (MAPE, %), with 95 % intervals over
runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.cli.analysis import run_analysis
from workbench.cli.output import add_columns, add_json, counts, print_json, words
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions
from workbench.shell.parser import Action

if TYPE_CHECKING:
    from workbench.variability import ForecastGrid, Leakage, LongForecast

_ABOUT = {
    "forecast-grid": "forecast from more or fewer steps and counters",
    "forecast-leakage": "say by how much usual mistakes flatter a forecast",
    "forecast-long": "forecast long runs piece by piece, from short runs",
}
_FUNCTIONS = {
    name: FunctionOptions(f"workbench.variability.{name.replace('-', '_')}") for name in _ABOUT
}


def _add_arguments(action: str, parser: argparse.ArgumentParser) -> None:
    """Add the arguments of one of the actions."""
    several = action == "forecast-grid"
    number = "N,N" if several else "N"
    parser.add_argument("--steps", required=True, metavar="STEPS", help="table of steps")
    add_columns(parser, "steps")
    if action == "forecast-long":
        parser.add_argument("--long", required=True, metavar="LONG", help="table of long runs")
    function = _FUNCTIONS[action]
    function.add(parser, "m", "k", type=counts, metavar=number)
    function.add(parser, "models", type=words, metavar="NAMES")
    function.add(
        parser,
        "own_times",
        option="--counters-only",
        help="let models see no step times of the run itself, as in the paper",
    )
    if action != "forecast-long":
        function.add(parser, "folds")
    function.add(parser, "seed")
    add_json(parser)


def _run(action: str, arguments: argparse.Namespace) -> int:
    """Do the action and return the exit status."""
    from workbench import plotting, variability

    grid = action == "forecast-grid"
    options = _FUNCTIONS[action].given(arguments)
    if not grid:
        for name in {"m", "k"} & options.keys():
            options[name] = _one(options[name], name)
    tables = [variability.read_steps(arguments.steps, columns=arguments.steps_columns)]
    if action == "forecast-long":
        tables.append(variability.read_steps(arguments.long, columns=arguments.steps_columns))
    calls: dict[str, tuple[Callable[..., Any], Callable[..., str], Callable[..., Any]]] = {
        "forecast-grid": (variability.forecast_grid, plotting.describe_forecast_grid, _grid),
        "forecast-leakage": (variability.forecast_leakage, plotting.describe_leakage, _leakage),
        "forecast-long": (variability.forecast_long, plotting.describe_long_forecast, _long),
    }
    make, describe, summary = calls[action]

    def show(found: Any) -> None:
        if arguments.json:
            print_json(summary(found))
            return
        print(found.to_frame().to_string(index=False, float_format="{:.3g}".format))
        print(describe(found))

    return run_analysis(partial(make, *tables, **options), show)


def _grid(found: ForecastGrid) -> dict[str, Any]:
    met = found.target_met
    return {
        "places": found.to_frame().to_dict("records"),
        "best": found.best,
        "halves_mean_trajectory_and_beats_persistence": [int(met.sum()), int(met.size)],
        "runs": found.runs,
        "notes": list(found.notes),
    }


def _leakage(found: Leakage) -> dict[str, Any]:
    return {
        "mistakes": found.to_frame().to_dict("records"),
        "m": found.m,
        "k": found.k,
        "runs": found.runs,
        "notes": list(found.notes),
    }


def _long(found: LongForecast) -> dict[str, Any]:
    names = found.models
    return {
        "mape": dict(zip(names, found.mape.tolist(), strict=True)),
        "intervals": dict(zip(names, found.mape_interval.tolist(), strict=True)),
        "mape_by_run": {
            name: dict(zip(found.run_names, each, strict=True))
            for name, each in zip(names, found.mape_by_run().tolist(), strict=True)
        },
        "skill_on_persistence": {
            name: {"skill": float(skill), "interval": ends.tolist()}
            for name, skill, ends in zip(
                names, found.skill[:, 1], found.skill_interval[:, 1], strict=True
            )
        },
        "mape_of_short_runs": dict(zip(names, found.short_mape.tolist(), strict=True)),
        "interval_holds": dict(zip(names, found.coverage.tolist(), strict=True)),
        "best": found.best,
        "pieces": found.to_frame().to_dict("records"),
        "notes": list(found.notes),
    }


def _one(numbers: tuple[int, ...], name: str) -> int:
    if len(numbers) != 1:
        raise ParameterError(f"{name} must be one number here; got {len(numbers)}", key=name)
    return numbers[0]


ACTIONS = {
    name: Action(about, partial(_add_arguments, name), partial(_run, name), __doc__)
    for name, about in _ABOUT.items()
}
"""The actions of ``workbench variability`` by name."""
