"""Tune a program: run it with one configuration after another, and keep the best.

WHAT is a component that ships, such as sort (workbench tune component list names them), or a
component file. Rules take options: --heuristic annealing:cooling=logarithmic, --resampling
static:runs=3. With --replay open-mpi-4-ranks/bcast/65536 runs are drawn from recorded ones.

Ctrl-C stops the experiment. Its runs stay in the store, and resume continues from there, also
after a kill; status, show and export also read a store while experiments run. While it runs stderr
has its progress: a line on a terminal, elsewhere one every 10 s.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from workbench.cli import tune_compare_searches, tune_component, tune_record, tune_runner
from workbench.cli.output import (
    FAILED,
    SIGNALLED,
    add_json,
    output_file,
    print_json,
    say,
    slow_import_notice,
)
from workbench.cli.progress import PROGRESS_S, ProgressLine
from workbench.cli.signals import stoppable
from workbench.cli.tune_report import experiments_text, result_text, summary_of
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.tune.experiment import Experiment
    from workbench.tune.result import TuningResult
    from workbench.tune.store.run_record import RunRecord

ABOUT = "tune a program's parameters, and show the results"

LOG_EVERY_S = 10.0
"""Time between two lines of progress where stderr is no terminal: a log of an hour has 360."""

_SETTINGS = FunctionOptions("workbench.tune.SearchSettings")
_EXPERIMENT = FunctionOptions("workbench.tune.Experiment")
_RESUMED = FunctionOptions("workbench.tune.experiment.resume")
_RULES = ("heuristic", "resampling", "pruning")
_OF_A_COMPONENT = ("component", "application", "experiment")
_EXPORTS = (".csv", ".json")
_MOUNTED: dict[str, ModuleType] = {
    "component": tune_component,
    "record": tune_record,
    "compare-searches": tune_compare_searches,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    made = {
        name: actions.add_parser(
            name,
            help=about,
            description=_MOUNTED[name].__doc__ if name in _MOUNTED else about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            aliases=["list"] if name == "status" else [],
            add_arguments=_MOUNTED[name].add_arguments if name in _MOUNTED else None,
        )
        for name, about in (
            ("run", "search the configurations of a component; continues a stored experiment"),
            ("resume", "continue a stored experiment with its settings"),
            ("status", "list the experiments of a store and their progress"),
            ("show", "print the result of an experiment"),
            ("export", "write all runs of an experiment to a file"),
            *((name, module.ABOUT) for name, module in _MOUNTED.items()),
        )
    }
    _add_run(made["run"])
    for name in ("resume", "status", "show", "export"):
        about = "SQLite file or PostgreSQL address"
        made[name].add_argument(
            "store",
            metavar="STORE",
            help=f"{about}, or a result's .json" if name in ("show", "export") else about,
        )
        if name != "status":
            made[name].add_argument(
                "--name", help="name of the experiment, if the store holds several"
            )
    _add_running(made["resume"], _RESUMED, _RESUMED)
    tune_runner.add_places(made["resume"])
    made["export"].add_argument(
        "file",
        type=output_file(*_EXPORTS),
        metavar="FILE",
        help=".csv: a row a run; .json: everything, outputs included",
    )
    for name in ("run", "resume", "status", "show", "export"):
        add_json(made[name])


def _add_run(parser: argparse.ArgumentParser) -> None:
    tune_component.add_what(parser, nargs="?")
    parser.add_argument(
        "--application", metavar="WORDS", help="the program that runs with the component, quoted"
    )
    parser.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="values to try: 1,2,4 or 0:64:8 (steps) or 1:64:x2 (factors) or 0.1:10 (a range); "
        "none is a value that is not passed; may be repeated",
    )
    parser.add_argument(
        "--experiment",
        metavar="FILE.yaml",
        help="a configuration file of SHAMan; the other options override it",
    )
    for name in _RULES:
        parser.add_argument(f"--{name}", metavar="NAME[:OPTION=VALUE,...]", help=_help(name))
    _SETTINGS.add(parser, "initial", "start", "aggregation", "seed")
    parser.add_argument(
        "--better",
        choices=("more", "less"),
        help="whether more or less of the target is better, where the component does not say",
    )
    _SETTINGS.add(parser, "timeout_s")
    _SETTINGS.add(
        parser,
        "most_runs",
        type=int,
        metavar="N",
        help="runs of one configuration after which it is not proposed again (5); 0 for any number",
    )
    _EXPERIMENT.add(parser, "store", metavar="FILE_OR_URL")
    _EXPERIMENT.add(parser, "name")
    parser.add_argument(
        "--save",
        type=output_file(*_EXPORTS),
        metavar="FILE",
        help="write the result there, .csv or .json",
    )
    _add_running(parser, _SETTINGS, _EXPERIMENT)
    tune_runner.add_runner(parser)


def _add_running(
    parser: argparse.ArgumentParser, budget: FunctionOptions, jobs: FunctionOptions
) -> None:
    budget.add(parser, "budget")
    parser.add_argument(
        "--stopping",
        action="append",
        metavar="NAME[:OPTION=VALUE,...]",
        help=_help("stopping"),
    )
    jobs.add(parser, "jobs")
    parser.add_argument(
        "--replay",
        metavar="RECORDING/SPACE",
        help="draw runs from recorded ones: a shipped recording's name or a folder, and a space",
    )
    parser.add_argument(
        "--noise",
        metavar="NAME",
        help="noise of a replay: measured (default), none, normal, heavy-tails",
    )


def _help(name: str) -> str:
    return {
        "heuristic": "surrogate-gp (default), surrogate-forest, annealing, genetic, tpe, cma-es, "
        "random or exhaustive; texts and categoricals have no order for any of them, numbers have",
        "resampling": "none (default), static, standard-error, nonparametric or improved",
        "pruning": "none (default), fixed, default or estimator",
        "stopping": "time, improvement, count-movement, distance-movement; the first of several "
        "rules to apply",
    }[name]


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    if arguments.action in _MOUNTED:
        status: int = _MOUNTED[arguments.action].run(arguments)
        return status
    with slow_import_notice():
        from workbench.tune.store import stored_experiments
    if arguments.action in ("status", "list"):
        found = stored_experiments.stored_experiments(_existing(arguments.store))
        if arguments.json:
            print_json({one.name: _stored(one) for one in found})
        else:
            print(experiments_text(found, arguments.store))
        return 0
    if arguments.action in ("run", "resume"):
        experiment = (_new if arguments.action == "run" else _resumed)(arguments)
        with experiment, experiment.runner:
            return _run_and_report(experiment, arguments)
    result = _stored_result(arguments)
    if arguments.action == "export":
        _write(result, arguments.file)
    _print(result, arguments)
    return 0


def _stored(one: Any) -> dict[str, Any]:
    return {
        "state": one.state,
        "runs": one.runs,
        "running": one.running,
        "budget": one.budget,
        "stop_reason": one.stop_reason,
        "component": one.problem["component"],
    }


def _stored_result(arguments: argparse.Namespace) -> TuningResult:
    from workbench.tune.result import TuningResult
    from workbench.tune.store import stored_experiments

    if Path(arguments.store).suffix == ".json":
        return TuningResult.load(arguments.store)
    return stored_experiments.load_result(_existing(arguments.store), arguments.name)


def _existing(store: str) -> str:
    if "://" not in store and not Path(store).is_file():
        raise FileNotFoundError(2, "this file does not exist", store)
    return store


def _new(arguments: argparse.Namespace) -> Experiment:
    from workbench.tune import read_experiment
    from workbench.tune.experiment import Experiment
    from workbench.tune.specs import axis_of_spec, chosen, recorded_space, rules

    options = _SETTINGS.given(arguments) | _EXPERIMENT.given(arguments)
    if options.get("most_runs") == 0:
        options["most_runs"] = None
    for name in _RULES:
        if getattr(arguments, name) is not None:
            options[name] = chosen(getattr(arguments, name))
    if arguments.stopping:
        options["stopping"] = rules(arguments.stopping)
    if arguments.application is not None:
        try:
            options["application"] = shlex.split(arguments.application)
        except ValueError as error:
            raise ParameterError(
                f"--application must be words as in a shell; {error}", key="application"
            ) from error
    axes = dict(axis_of_spec(word) for word in arguments.axis)
    if arguments.replay is not None:
        others = [] if arguments.what is None else [arguments.what]
        others += ["--axis"] if axes else []
        others += [f"--{name}" for name in _OF_A_COMPONENT if getattr(arguments, name) is not None]
        others += tune_runner.chosen_options(arguments)
        if others:
            raise ParameterError(
                "a replay sets the component, the space and the runner; leave "
                f"{', '.join(others)} out",
                key="replay",
            )
        from workbench.tune.recorded.replayed_experiment import replayed

        return replayed(recorded_space(arguments.replay), arguments.noise or "measured", **options)
    if arguments.noise is not None:
        raise ParameterError(
            f"--noise needs --replay; got --noise {arguments.noise!r} alone", key="noise"
        )
    if arguments.what is None:
        raise ParameterError("name a component, a component file, or --replay", key="what")
    component = tune_component.with_direction(tune_component.chosen(arguments), arguments.better)
    for note in component.notes:
        say(f"note: {note}")
    if tune_component.needs_application(component) and not options.get("application"):
        raise ParameterError(
            f"{component.name} only sets up a program; name the program, such as --application "
            "'mpirun -np 4 ./app'",
            key="application",
        )
    runner = tune_runner.runner_of(arguments)
    if axes:
        options["axes"] = axes
    if arguments.experiment is not None:
        settings = read_experiment(Path(arguments.experiment))
        for note in settings.notes:
            say(f"note: {note}")
        return Experiment.from_file(settings, component, runner, **options)
    return Experiment(component, runner, **options)


def _resumed(arguments: argparse.Namespace) -> Experiment:
    from workbench.tune.experiment import resume
    from workbench.tune.specs import recorded_space, rules
    from workbench.tune.store.stored_experiments import find_experiment

    options = _RESUMED.given(arguments)
    stored_runner = find_experiment(_existing(arguments.store), arguments.name).problem["runner"]
    options["runner"] = tune_runner.resume_runner(arguments, stored_runner)
    if arguments.stopping:
        options["stopping"] = rules(arguments.stopping)
    if stored_runner.get("kind") != "replay" and (arguments.replay or arguments.noise) is not None:
        raise ParameterError(
            "--replay and --noise apply to a replay; this experiment's runner is "
            f"{stored_runner.get('kind')}",
            key="replay",
        )
    if stored_runner.get("kind") == "replay":
        from workbench.tune.recorded.replayed_experiment import recorded_target
        from workbench.tune.runners import Replay

        recorded = recorded_space(arguments.replay or _replayed_space(stored_runner))
        noise = arguments.noise or stored_runner.get("noise", "measured")
        options["runner"] = Replay(recorded, noise, scale=stored_runner.get("scale", 0.05))
        options["target"] = recorded_target(recorded)
    return resume(arguments.store, arguments.name, **options)


def _replayed_space(stored_runner: Mapping[str, Any]) -> str:
    """Return the name of the shipped recording's space that an experiment replays."""
    from workbench.tune.recorded.files import shipped_names

    if stored_runner["recording"] in shipped_names():
        return f"{stored_runner['recording']}/{stored_runner['recorded']}"
    raise ParameterError(
        f"this experiment replays {stored_runner['recorded']} of a recording that does not ship; "
        f"give its folder as --replay FOLDER/{stored_runner['recorded']}",
        key="replay",
    )


def _run_and_report(experiment: Experiment, arguments: argparse.Namespace) -> int:
    from workbench import tasks

    stored = f"{experiment.name!r} in {arguments.store}"
    if experiment.done:
        say(f"continuing {stored} after {experiment.done} runs")
    budget = experiment.settings.budget
    last = "the first is running"
    with (
        stoppable() as stop,
        ProgressLine(every_s=PROGRESS_S, log_every_s=LOG_EVERY_S) as line,
    ):

        def note(record: RunRecord) -> None:
            nonlocal last
            unit = f" {experiment.target.unit}" if experiment.target.unit else ""
            run = record.run
            last = f"last {f'{run.value:.6g}{unit}' if run.status == 'complete' else run.status}"

        # In another thread: signals are handled between the main thread's Python steps.
        task = tasks.Task(note, stop.event)
        job = tasks.submit(lambda **_: experiment.run(task=task))
        ended = False
        while not ended:
            line.show(f"{experiment.done} of {budget} runs, {experiment.runner.waits_for or last}")
            ended = job.wait(PROGRESS_S)
        result = job.result()
    if getattr(arguments, "save", None) is not None:
        _write(result, arguments.save)
    _print(result, arguments)
    if stop.number:
        after = f"stored as {stored}: resume continues from there"
        lost = "not stored; --store FILE stores them"
        say(f"stopped after {len(result)} of {budget} runs, {after if arguments.store else lost}")
        return SIGNALLED + stop.number
    if result.best is None:
        failed = [record.reason for record in result.records if record.reason]
        say(f"error: no run gave a value; {failed[-1] if failed else 'none was run'}")
        return FAILED
    return 0


def _write(result: TuningResult, file: str) -> None:
    (result.write_csv if Path(file).suffix == ".csv" else result.save)(file)


def _print(result: TuningResult, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print_json(summary_of(result))
    else:
        print(result_text(result))
