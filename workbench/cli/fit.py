"""Fit a network model to measured latency and bandwidth.

Ctrl-C stops and prints the best so far. With --study the trials are stored, and running the same
command again continues the fit.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.ini_options import assignment
from workbench.cli.machine_options import add_machine, machine_of
from workbench.cli.output import (
    FAILED,
    SIGNALLED,
    add_json,
    add_variant,
    given,
    output_file,
    print_json,
    say,
    slow_import_notice,
)
from workbench.cli.progress import PROGRESS_S, ProgressLine
from workbench.cli.signals import stoppable
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    from workbench.fit import FitResult, Identifiability, TrialReport
    from workbench.measure import OSUCurve
    from workbench.models import NetworkModel

ABOUT = "fit a network model to measured latency and bandwidth"

_FITTED = FunctionOptions("workbench.fit.fit")
_READ = FunctionOptions("workbench.measure.read_osu")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    source = parser.add_mutually_exclusive_group(required=True)
    add_machine(source, "measured messages of a machine")
    source.add_argument(
        "--osu",
        nargs="+",
        action="extend",
        metavar="FILE",
        help="output of osu_latency and osu_bw, in one file or several; of several runs the median",
    )
    source.add_argument(
        "--studies",
        metavar="FILE",
        help="list the fits that --study FILE has stored, or with --name NAME the trials of one, "
        "the best first, and the importance of its parameters; and end",
    )
    parser.add_argument(
        "--within",
        nargs="+",
        action="extend",
        metavar="FILE",
        help="the same of two ranks of one node, kept in the machine that --save writes",
    )
    _READ.add(parser, "bandwidth")
    _READ.add(parser, "table", metavar="N|WORDS|all")
    _FITTED.add(parser, "model", "loss", "target", "trials", "seed", "engine")
    _FITTED.add(parser, "study", metavar="FILE")
    _FITTED.add(parser, "name")
    parser.add_argument(
        "--to-optuna",
        type=output_file(),
        metavar="FILE",
        help="also copy the trials of --study there, for optuna-dashboard; 15 ms a trial",
    )
    parser.add_argument(
        "--fixed",
        action="append",
        default=[],
        type=assignment,
        metavar="KEY=VALUE",
        help="hold a parameter, such as mtu=4KiB, instead of searching it; may be repeated",
    )
    _FITTED.add(parser, "without", metavar="SIZES")
    parser.add_argument(
        "--identify",
        action="store_true",
        help="also report which fitted values the data determine, by scans of a few seconds",
    )
    parser.add_argument(
        "--ini",
        type=output_file(),
        metavar="FILE",
        help="write the fitted model there, for workbench osu --config",
    )
    parser.add_argument(
        "--save",
        type=output_file(".json"),
        metavar="FILE.json",
        help="write the machine there, for --machine of every command: the model, LogGPS "
        "parameters and the measured messages",
    )
    parser.add_argument(
        "--part",
        dest="parts",
        action="append",
        default=[],
        type=assignment,
        metavar="PART=VALUE",
        help="with --save: what else is known, such as topology=fat-tree:16 or ranks_per_node=64; "
        "may be repeated; workbench machine set adds more",
    )
    add_variant(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Fit, print the result and return the exit status."""
    if arguments.studies is not None:
        return _list_studies(arguments)
    if arguments.to_optuna is not None and arguments.study is None:
        raise ParameterError("--to-optuna copies stored trials; add --study FILE to store them")
    if (arguments.within or arguments.parts) and arguments.save is None:
        raise ParameterError("--within and --part are of a machine; add --save FILE.json")
    curve = _measured(arguments)
    within = _curve(arguments, arguments.within) if arguments.within else None
    with slow_import_notice():
        from workbench import tasks
        from workbench.fit import DEFAULT_TRIALS, FitStudy, to_optuna
    options = {**_FITTED.given(arguments), "model": _model(arguments)}
    trials = options.pop("trials", DEFAULT_TRIALS)
    with stoppable() as stop, FitStudy(curve, fixed=dict(arguments.fixed), **options) as study:
        if study.done:
            say(f"continuing {study.name!r} in {arguments.study} after {study.done} trials")
        with ProgressLine(every_s=PROGRESS_S) as line:

            def show(now: TrialReport) -> None:
                best = f"best {study.loss.name} {now.best_loss:.4g}"
                line.show(f"{now.done} of {now.total} trials, {best}")

            # In another thread: signals are handled between the main thread's Python steps,
            # and a simulation is one long step.
            task = tasks.Task(show, stop.event)
            job = tasks.submit(lambda **_: study.run(trials, task=task))
            while not job.wait(PROGRESS_S):
                pass
            result = job.result()
    if arguments.to_optuna is not None:
        to_optuna(arguments.study, arguments.to_optuna, study.name)
    identified = result.identify() if arguments.identify and result.success else None
    if arguments.json:
        print_json(
            _summary(result)
            | ({} if identified is None else {"identifiability": identified.to_dict()})
        )
    else:
        print(_report(result))
        if identified is not None:
            print(_identified_text(identified))
    if not result.success and result.trials:
        say(f"error: {result.message}")
    elif arguments.ini is not None and result.success:
        Path(arguments.ini).write_text(result.to_ini(), encoding="utf-8")
    if arguments.save is not None and result.success:
        _save(arguments, result, within)
    if result.trials < trials:
        stored = f"stored in {arguments.study}: the same command continues from there"
        lost = "not stored; --study FILE stores them"
        say(
            f"stopped after {result.trials} of {trials} trials, "
            f"{stored if arguments.study else lost}"
        )
        return SIGNALLED + stop.number
    return 0 if result.success else FAILED


def _list_studies(arguments: argparse.Namespace) -> int:
    from workbench.fit import studies

    if arguments.name is not None:
        return _list_trials(arguments)
    found = studies(arguments.studies)
    if arguments.json:
        print_json({"studies": found.to_dict("records")})
    elif len(found):
        print(found.to_string(index=False))
    else:
        say(f"no fits in {arguments.studies}")
    return 0


def _list_trials(arguments: argparse.Namespace) -> int:
    """Print the best trials of a stored fit, and the importance of its parameters."""
    from workbench.fit.trials import (
        best_trials,
        describe_importance,
        parameter_importance,
        stored_trials,
    )

    shares = parameter_importance(arguments.studies, arguments.name)
    if arguments.json:
        found = stored_trials(arguments.studies, arguments.name)
        print_json({"trials": found.to_dict("records"), "importance": shares})
        return 0
    print("\n".join(_table(best_trials(arguments.studies, arguments.name))))
    if shares:
        print(describe_importance(arguments.studies, arguments.name))
        print("\n".join(f"  {key:<30}{100 * share:5.1f} %" for key, share in shares.items()))
    return 0


def _measured(arguments: argparse.Namespace) -> OSUCurve:
    machine = machine_of(arguments)
    return _curve(arguments, arguments.osu) if machine is None else machine.curve


def _curve(arguments: argparse.Namespace, files: Sequence[str]) -> OSUCurve:
    from workbench.measure import read_osu

    name = "" if arguments.save is None else Path(arguments.save).stem
    paths = (Path(file) for file in files)
    curve = read_osu(*paths, name=name, **_READ.given(arguments))
    for note in curve.notes:
        say(f"note: {note}")
    return curve


def _save(arguments: argparse.Namespace, result: FitResult, within: OSUCurve | None) -> None:
    """Write the machine, with what the one that was fitted anew has besides its model."""
    from workbench.fit import to_machine

    machine = to_machine(result, name=Path(arguments.save).stem, within=within)
    before = machine_of(arguments)
    if before is not None:
        machine = replace(machine, within=within or before.within, given=before.given)
    if arguments.parts:
        machine = machine.with_parts(**dict(arguments.parts))
    machine.save(arguments.save)
    say(f"saved {arguments.save}; use it as --machine {arguments.save}")


def _model(arguments: argparse.Namespace) -> str | NetworkModel:
    from workbench.fit.defaults import DEFAULT_MODEL, model_to_fit
    from workbench.models import MODELS

    name = DEFAULT_MODEL if arguments.model is None else arguments.model.lower()
    if name not in MODELS:
        raise ParameterError(
            f"--model must be one of {', '.join(MODELS)}; got {arguments.model!r}"
            f"{did_you_mean(arguments.model, MODELS)}",
            key="model",
        )
    variant = given(arguments, "variant")
    return model_to_fit(name, **variant) if variant else name


def _summary(result: FitResult) -> dict[str, Any]:
    """Return the values of ``--json``; the parameters are texts for ``workbench osu -p``."""
    from workbench.fit.result import CORRELATED

    near = result.nearby
    return {
        "rmspe": result.rmspe,
        "parameters": result.parameter_texts() if result.success else {},
        "trials": result.trials,
        "invalid": result.invalid,
        "seconds": result.seconds,
        "model": result.model.name,
        "variant": result.variant,
        "engine": result.engine,
        "at_bound": result.at_bound if result.success else {},
        "stderr": {} if near is None else {key: near.standard_error(key) for key in near.keys},
        "correlated": [] if near is None else near.correlated(CORRELATED),
        "contradiction": result.contradiction,
        "rails": result.rails,
        "underdetermined": result.underdetermined,
        "unstated": result.unstated,
        "better": result.better,
        "aic": result.aic,
        "bic": result.bic,
        "fixed": result.fixed_texts(),
    }


def _report(result: FitResult) -> str:
    """Return a fit as text for people."""
    from workbench.fit.result import PARAMETER_HEAD

    lines = [
        repr(result),
        f"measured: {result.measured.provenance.caption()}",
        f"model: {result.model.name}, variant {result.variant}",
        f"search: loss {result.loss}, target {result.target}, engine {result.engine}, "
        f"seed {result.seed}, {result.trials} trials of which {result.invalid} refused, "
        f"{result.seconds:.1f} s",
    ]
    if result.success:
        lines.append(f"criteria: {result.criteria}")
        lines += _table([PARAMETER_HEAD, *result.parameter_rows()], left=(0, 2, 5))
    notes = (
        *(result.underdetermined, result.left_out, result.correlated, result.better),
        *(result.contradiction, result.rails, result.unstated),
    )
    lines += [f"note: {note}" for note in notes if note]
    return "\n".join(lines)


def _table(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Return a table, a line a row; columns are flush right but for those named."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            text.ljust(width) if at in left else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _identified_text(found: Identifiability) -> str:
    """Return the counts, then a line for each parameter: known, bounded or unknown, and why."""
    rows = (f"  {key:<30}{found.state(key):<9}{found.verdicts[key]}" for key in found.values)
    return "\n".join([f"what the data determine: {found.counted()}", *rows])
