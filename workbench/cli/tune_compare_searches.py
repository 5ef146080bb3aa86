"""Compare searches on recorded spaces: SHAMan's tables for every heuristic and rule.

workbench tune compare-searches --rows searches.db --jobs 2 --save my-comparison
workbench tune compare-searches --recording simulated-12-ranks --heuristics tpe,random --seeds 5
workbench tune compare-searches --recording my-recording --noise normal:0.2 --seeds 5
"""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from workbench.cli.output import add_json, output_folder, print_json, words
from workbench.cli.progress import PROGRESS_S, ProgressLine
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    import pandas as pd

    from workbench.tune.search_comparison.plan import AddedNoise, SearchComparisonPlan

ABOUT = "compare heuristics, resampling, stopping and pruning on recorded spaces"

_PLAN = FunctionOptions("workbench.tune.search_comparison.plan.SearchComparisonPlan")
_COMPARED = FunctionOptions("workbench.tune.search_comparison.run.compare_searches")
_LOG_S = 60.0  # chosen: hours of searches leave some hundred lines in a log
_SHOWN = ("recording", "noise", "heuristic", "resampling", "stopping", "pruning")
_MORE = ("runs", "gain", "share", "distance", "saved", "saved_grid", "tied")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--recording",
        dest="recordings",
        action="append",
        metavar="NAME",
        help="a shipped recording or a folder; may be repeated (default: the shipped comparison)",
    )
    rules = ("resamplings", "stoppings", "prunings")
    _PLAN.add(parser, "spaces", "heuristics", *rules, type=words, metavar="LIST")
    parser.add_argument(
        "--noise",
        dest="noises",
        action="append",
        metavar="NAME[:SCALE]",
        help="measured, none, normal:0.05 or heavy-tails:0.05 (default: measured)",
    )
    _PLAN.add(parser, "seeds", "initial", "budget", "reruns")
    parser.add_argument(
        "--small", action="store_true", help="run a few methods of the shipped comparison only"
    )
    _COMPARED.add(parser, "jobs")
    _COMPARED.add(parser, "rows", metavar="FILE_OR_URL")
    parser.add_argument(
        "--save", type=output_folder, metavar="FOLDER", help="write the tables there"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the comparison, print its table and return the exit status."""
    import pandas as pd

    from workbench.tasks import Task
    from workbench.tune.search_comparison.files import SearchComparisonTables
    from workbench.tune.search_comparison.run import compare_searches

    plans = _plans(arguments)
    with ProgressLine(every_s=PROGRESS_S, log_every_s=_LOG_S) as line:
        task = Task(lambda now: line.show(now.message))
        results = [
            compare_searches(plan, task=task, **_COMPARED.given(arguments)) for plan in plans
        ]
    if arguments.save is not None:
        created_by = shlex.join(["workbench", *sys.argv[1:]])
        tables = SearchComparisonTables.from_results(results, plans, created_by)
        tables.save(arguments.save)
    table = pd.concat([result.methods() for result in results], ignore_index=True)
    if arguments.json:
        rows = table.astype(object).where(table.notna(), None).to_dict(orient="records")
        print_json({"methods": rows})
    else:
        print(_text(table))
    return 0


def _plans(arguments: argparse.Namespace) -> tuple[SearchComparisonPlan, ...]:
    from workbench.tune.search_comparison.files import shipped_plans
    from workbench.tune.search_comparison.plan import SearchComparisonPlan

    chosen = _PLAN.given(arguments)
    seeds = {"seeds": chosen.pop("seeds")} if "seeds" in chosen else {}
    if arguments.recordings is None:
        if chosen or arguments.noises is not None:
            raise ParameterError(
                "the shipped comparison is fixed; name a --recording to compare other searches",
                key="recording",
            )
        return shipped_plans(**seeds, small=arguments.small)
    if arguments.small:
        raise ParameterError(
            "--small applies to the shipped comparison; leave --recording out", key="small"
        )
    if arguments.noises is not None:
        chosen["noises"] = tuple(map(_noise, arguments.noises))
    return (SearchComparisonPlan(tuple(arguments.recordings), **chosen, **seeds),)


def _noise(text: str) -> AddedNoise:
    from workbench.tune.search_comparison.plan import AddedNoise

    name, _, scale = text.partition(":")
    try:
        spread = float(scale or 0.0)
    except ValueError as error:
        raise ParameterError(
            f"a noise must be a name and a spread such as normal:0.05; got {text!r}", key="noise"
        ) from error
    return AddedNoise(name, spread)


def _text(table: pd.DataFrame) -> str:
    if not len(table):
        return "no search finished"
    shown = [name for name in (*_SHOWN, *_MORE) if name in table]
    return str(table[shown].to_string(index=False, float_format=lambda x: f"{x:.1f}"))
