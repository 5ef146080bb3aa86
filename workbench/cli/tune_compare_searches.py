"""Compare searches on recorded spaces: SHAMan's tables for every heuristic and rule.

workbench tune compare-searches --rows searches.csv --jobs 2 --save my-comparison
workbench tune compare-searches --recording simulated-12-ranks --heuristics tpe,random --seeds 5
workbench tune compare-searches --recording my-recording --noise normal:0.2 --seeds 5
"""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from workbench.cli.output import add_json, given, output_file, output_folder, print_json, say
from workbench.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from workbench.tasks import Progress
    from workbench.tune.search_comparison.plan import AddedNoise, SearchComparisonPlan

ABOUT = "compare heuristics, resampling, stopping and pruning on recorded spaces"

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
    parser.add_argument("--spaces", type=_names, metavar="LIST", help="spaces, such as bcast/65536")
    parser.add_argument(
        "--heuristics", type=_names, metavar="LIST", help="heuristics, such as surrogate-gp"
    )
    parser.add_argument(
        "--resamplings", type=_names, metavar="LIST", help="resampling rules, such as none,improved"
    )
    parser.add_argument(
        "--stoppings", type=_names, metavar="LIST", help="stopping rules, such as budget"
    )
    parser.add_argument(
        "--prunings", type=_names, metavar="LIST", help="pruning rules, such as none,median"
    )
    parser.add_argument(
        "--noise",
        dest="noises",
        action="append",
        metavar="NAME[:SCALE]",
        help="measured, none, normal:0.05 or heavy-tails:0.05 (default: measured)",
    )
    parser.add_argument(
        "--seeds", type=int, metavar="N", help="seeds per method and space (default 20)"
    )
    parser.add_argument("--initial", type=int, metavar="N", help="initial points (default 10)")
    parser.add_argument("--budget", type=int, metavar="N", help="runs of a search (default 60)")
    parser.add_argument(
        "--reruns", type=int, metavar="N", help="runs that judge what was found (default: recorded)"
    )
    parser.add_argument(
        "--small", action="store_true", help="run a few methods of the shipped comparison only"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument(
        "--rows",
        type=output_file(),
        metavar="FILE.csv",
        help="store each search there, and continue from it",
    )
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
    results = [
        compare_searches(plan, arguments.rows, jobs=arguments.jobs, task=Task(_report))
        for plan in plans
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

    chosen = given(
        arguments,
        *("spaces", "heuristics", "resamplings", "stoppings", "prunings", "initial", "budget"),
        "reruns",
    )
    seeds = given(arguments, "seeds")
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


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _report(now: Progress) -> None:
    if now.done % 25 == 0 or now.done == now.total:
        say(f"{now.done} of {now.total} cells")


def _text(table: pd.DataFrame) -> str:
    if not len(table):
        return "no search finished"
    shown = [name for name in (*_SHOWN, *_MORE) if name in table]
    return str(table[shown].to_string(index=False, float_format=lambda x: f"{x:.1f}"))
