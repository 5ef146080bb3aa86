"""Explain by how much steps deviate from the mean of all runs, and say which counters do.

workbench variability deviation --steps steps.csv
workbench variability deviation --steps steps.csv --features app,placement,io,sys --json

STEPS has a row per step of each run, with the columns run, step and time_s and one for each
counter: what it rose by during the step. Counters are those of the job's own routers, as in the
paper, unless --features says others: IO_ and SYS_ begin the names of io's and sys's, NUM_ROUTERS
and NUM_GROUPS are placement. The relevance of a counter is the share of the folds in
which it is needed; errors are mean absolute percentage errors (MAPE, %) of the time of a step. Both
are by folds of runs; those by steps, and the paper's way, are in "ways".
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.cli.analysis import run_analysis
from workbench.cli.output import add_columns, add_json, print_json, words
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.variability import Deviation

ABOUT = "say which counters explain by how much steps deviate from the mean"

_EXPLAINED = FunctionOptions("workbench.variability.deviation")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a deviation."""
    parser.add_argument("--steps", required=True, metavar="STEPS", help="table of steps")
    add_columns(parser, "steps")
    _EXPLAINED.add(parser, "features", type=words, metavar="NAMES")
    _EXPLAINED.add(parser, "folds")
    _EXPLAINED.add(parser, "ways", type=words, metavar="NAMES")
    _EXPLAINED.add(parser, "per_second", "trees", "seed")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Explain and return the exit status."""
    from workbench.variability import deviation, read_steps

    steps = read_steps(arguments.steps, columns=arguments.steps_columns)

    def show(found: Deviation) -> None:
        if arguments.json:
            print_json(summary(found))
            return
        from workbench.plotting import describe_deviation

        for frame in (found.mape_frame(), found.to_frame()):
            print(frame.to_string(index=False, float_format="{:.3g}".format))
        print(describe_deviation(found))

    explain = partial(deviation, steps, **_EXPLAINED.given(arguments))
    return run_analysis(explain, show)


def summary(found: Deviation) -> dict[str, Any]:
    """Return what ``--json`` prints: MAPE in %, by folds of runs and in each way."""
    ways = {way: _way(found, at) for at, way in enumerate(found.ways)}
    return {
        **ways[found.ways[0]],
        "groups": [
            {
                "counters": list(names),
                "relevance": float(found.group_relevance[at]),
                "mape_rises_by": float(found.group_importance[at]),
            }
            for at, names in enumerate(found.groups)
        ],
        "ways": ways,
        "features": list(found.features),
        "runs": len(set(found.run.tolist())),
        "steps": len(found.run),
        "folds": found.folds,
        "trees": found.trees,
        "per_second": found.per_second,
        "seed": found.seed,
        "level": 0.95,
        "notes": list(found.notes),
    }


def _way(found: Deviation, at: int) -> dict[str, Any]:
    """Return the errors and relevances of one way."""
    return {
        "mape": dict(zip(found.models, found.mape[at].tolist(), strict=True)),
        "intervals": dict(zip(found.models, found.mape_interval[at].tolist(), strict=True)),
        "r2": dict(zip(found.models, found.r2[at].tolist(), strict=True)),
        "relevance": dict(zip(found.counters, found.relevance[at].tolist(), strict=True)),
        "relevance_intervals": dict(
            zip(found.counters, found.relevance_interval[at].tolist(), strict=True)
        ),
        "stability": float(found.stability[at]),
    }
