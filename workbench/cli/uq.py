"""Calibrate a model of a collective to measured times, and predict others with intervals.

workbench uq calibrate fugaku.csv --collective gather --nodes 8,64,512 --store gather.json
workbench uq check fugaku.csv --collective gather
workbench uq predict gather.json --nodes 4096 --topology torus:16x16x16 --bytes 16384,131072
workbench uq coverage --tables lassen,fugaku    # real systems that ship
workbench uq calibrate-runs runs.csv replicas.csv --store found.json    # a simulator of your own

workbench uq calibrate --help lists the columns of the file. The model adds up the rounds of the
algorithm on a torus (rounds:NAME), or knows no algorithm (growth, power, power-of-links). Where the
algorithm is unknown, because its label is empty (the library's default) or names none that is known
here, or with --algorithm-unknown, each model gets a probability, and predictions mix the models.
The store is saved every few seconds while chains run, and is whole at any moment: after a stop or a
kill, --resume goes on from it. Intervals are of one more run, or of the median of --replicas runs;
their parts are half-widths.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli import uq_design, uq_evaluate, uq_runs
from workbench.cli.machine_options import add_machine, machine_of, say_parts
from workbench.cli.output import (
    SIGNALLED,
    add_json,
    counts,
    given,
    in_options,
    output_file,
    print_json,
    say,
    words,
)
from workbench.cli.progress import ProgressLine
from workbench.cli.signals import stoppable
from workbench.errors import ParameterError
from workbench.jsonfile import read_json
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    import pandas as pd

    from workbench.tasks import Progress, Task
    from workbench.uq.collectives import AlgorithmMixture, CollectiveCalibration, MeasuredCollective

ABOUT = "calibrate a model with uncertainty, and predict with intervals"

_COLUMNS = (
    "FILE.csv has a row per run with the columns benchmark (such as osu_allreduce), nodes, "
    "block_bytes and avg_us, and may have median_us, ranks_per_node, algorithm (empty for the "
    "library's choice), system and fabric, which may end in the shape of a torus, such as 8x8x8."
)
_READ = FunctionOptions("workbench.uq.collectives.read_measured")
_CALIBRATED = FunctionOptions("workbench.uq.collectives.calibrate_collective")
_COVERED = FunctionOptions("workbench.uq.collectives.cover_systems")
_IN_SHELL = {"resume": "--resume", "draws": "--draws"}  # of calibrate
_SAVED_EVERY_S = 3.0  # chosen: so much work at most is lost with the process
_MOST_OF_TIME = 10  # of the time from one save to the next, the share that the save may take: 1/10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(
        title="actions", metavar="ACTION", required=True, dest="uq_action"
    )
    about = "calibrate a model of a collective to measured replicas"
    made = actions.add_parser("calibrate", help=about, description=f"{about}. {_COLUMNS}")
    _add_measured(made)
    made.add_argument(
        "--store",
        required=True,
        type=output_file(".json"),
        metavar="FILE.json",
        help="where the posterior is kept",
    )
    made.add_argument(
        "--resume",
        action="store_true",
        help="go on with what a stop or a kill left in --store, or to more --draws",
    )
    add_json(made)
    about = "predict the largest number of nodes from the others, and count what intervals hold"
    checked = actions.add_parser("check", help=about, description=f"{about}. {_COLUMNS}")
    _add_measured(checked)
    add_json(checked)
    about = "do the same for the collectives of real systems that ship with the workbench"
    covered = actions.add_parser("coverage", help=about, description=about)
    _COVERED.add(covered, "tables", type=words, metavar="LIST")
    _COVERED.add(covered, "noise", "draws", "seed")
    covered.add_argument(
        "--save", type=output_file(".json"), metavar="FILE.json", help="keep the result"
    )
    add_json(covered)
    about = "write the points at which to run a simulator, as a table"
    actions.add_parser(
        "design",
        help=about,
        description=uq_design.__doc__,
        add_arguments=uq_design.add_arguments,
    )
    about = "run a simulator at the points of a design, and keep every row"
    actions.add_parser(
        "evaluate",
        help=about,
        description=uq_evaluate.__doc__,
        add_arguments=uq_evaluate.add_arguments,
    )
    about = "calibrate a simulator of your own by its runs and measured times"
    actions.add_parser(
        "calibrate-runs",
        help=about,
        description=uq_runs.__doc__,
        add_arguments=uq_runs.add_calibrate,
    )
    about = "predict tests that a simulator of your own ran at draws of its posterior"
    actions.add_parser(
        "predict-runs",
        help=about,
        description=uq_runs.__doc__,
        add_arguments=uq_runs.add_predict,
    )
    about = "predict a collective on other nodes, or with other bytes"
    asked = actions.add_parser("predict", help=about, description=about)
    asked.add_argument("file", metavar="FILE.json", help="what calibrate has kept")
    asked.add_argument("--nodes", type=counts, required=True, metavar="LIST", help="such as 4096")
    asked.add_argument(
        "--topology",
        metavar="SPEC",
        help="network whose first hosts the nodes are, such as torus:16x16x16, fat-tree:16 or a "
        "machine's name (default: that of --machine, or links as on an assumed torus)",
    )
    add_machine(asked, "its topology is that of the nodes")
    asked.add_argument(
        "--bytes",
        type=counts,
        metavar="LIST",
        help="sizes of a block (default: those of the calibration)",
    )
    asked.add_argument("--draws", type=int, metavar="N", help="of the posterior (default 400)")
    asked.add_argument("--seed", type=int, metavar="N", help="(default 0)")
    asked.add_argument(
        "--replicas",
        type=int,
        metavar="N",
        help="whose median the intervals are of (default 1, a single run)",
    )
    add_json(asked)


def _add_measured(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.csv", help="measured times, a row per run")
    _READ.add(parser, "collective")
    _READ.add(parser, "algorithm", metavar="LABEL")
    parser.add_argument(
        "--algorithm-unknown",
        action="store_true",
        help="give each model a probability, whatever the label says",
    )
    parser.add_argument(
        "--nodes",
        type=counts,
        metavar="LIST",
        help="numbers of nodes, such as 8,64 (default: all); of a benchmark's output that does "
        "not say it, the number on which it ran",
    )
    _READ.add(parser, "ranks_per_node")
    uq_runs.add_remove_outliers(parser)
    _CALIBRATED.add(
        parser,
        "model",
        help="rounds:ALGORITHM, growth, power or power-of-links (default: what fits and predicts "
        "the largest number of nodes best; "
        "where the algorithm is unknown, all models with their probabilities",
    )
    _CALIBRATED.add(parser, "noise", "draws", "seed")


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    actions = {
        "calibrate": _calibrate,
        "calibrate-runs": uq_runs.calibrate,
        "check": _check,
        "coverage": _coverage,
        "design": uq_design.run,
        "evaluate": uq_evaluate.run,
        "predict": _predict,
        "predict-runs": uq_runs.predict,
    }
    return actions[arguments.uq_action](arguments)


def _calibrate(arguments: argparse.Namespace) -> int:
    from workbench.tasks import Task
    from workbench.uq.collectives import AlgorithmMixture, calibrate_collective, calibrate_unknown

    measured, options = _measured(arguments), _CALIBRATED.given(arguments)
    unknown = _is_unknown(arguments, measured)
    if arguments.resume:
        options["resume"] = _resumed(arguments.store, unknown)
    store = _Store(Path(arguments.store), resumed=arguments.resume)
    found: CollectiveCalibration | AlgorithmMixture
    with stoppable() as stop, ProgressLine(every_s=0.2) as line:

        def note(now: Progress) -> None:
            line.show(now.message)
            store.keep(task)

        task = Task(note, stop.event)
        calibrate = calibrate_unknown if unknown else calibrate_collective
        found = calibrate(measured, **options, task=task)
    if not store.save(found):
        say(f"stopped before the first draw; {arguments.store} is left as it was")
        return SIGNALLED + stop.number
    if found.stopped or stop.number:
        left = found.stopped or "a pass of the chains"
        say(f"stopped after {left}; the same command with --resume goes on")
    for warning in found.warnings:
        say(f"note: {warning}")
    if arguments.json:
        print_json(_summary(found, arguments.store))
    else:
        for one in found.calibrations:
            print(f"{one.collective} on {one.system}: {one.model}; {len(one.tests)} tests")
            print(one.posterior.summary().to_string())
            print(in_options(one.posterior.verdict, _IN_SHELL))
            print(one.surrogate_verdict)
        if isinstance(found, AlgorithmMixture):
            print(f"probabilities of the models, from predictions of {found.held_out}:")
            print(found.to_frame().to_string(index=False))
    return SIGNALLED + stop.number if stop.number else 0


class _Store:
    """The file of a calibration, written every few seconds while it runs."""

    def __init__(self, path: Path, *, resumed: bool) -> None:
        self._path = path
        self._ours = resumed or not path.exists()
        self._next_s = time.monotonic() + _SAVED_EVERY_S

    def keep(self, task: Task) -> None:
        """Save the result so far, unless that was done a moment ago."""
        began = time.monotonic()
        if began < self._next_s:
            return
        self.save(task.partial)
        ended = time.monotonic()
        self._next_s = ended + max(_SAVED_EVERY_S, _MOST_OF_TIME * (ended - began))

    def save(self, found: CollectiveCalibration | AlgorithmMixture) -> bool:
        """Save it, and return whether: what another call has stored waits for the first draw."""
        self._ours |= not found.is_empty
        if self._ours:
            found.save(self._path)
        return self._ours


def _is_unknown(arguments: argparse.Namespace, measured: MeasuredCollective) -> bool:
    """Return whether all models are to get probabilities."""
    if arguments.algorithm_unknown and arguments.model is not None:
        raise ParameterError(
            f"--model must not be given with --algorithm-unknown, which takes all models; got "
            f"{arguments.model!r}; leave one of them out",
            key="model",
        )
    if arguments.algorithm_unknown or arguments.model is not None:
        return bool(arguments.algorithm_unknown)
    if measured.label and not measured.algorithms:
        say(
            f"note: no algorithm of {measured.collective} that is known here is called "
            f"{measured.label}; it is taken as unknown, and each model gets a probability; "
            "--model names one model instead"
        )
    return not measured.algorithms


def _resumed(store: str, unknown: bool) -> CollectiveCalibration | AlgorithmMixture:
    """Return what a stop left in the store; it must be of the kind that is asked for."""
    from workbench.uq.collectives import AlgorithmMixture

    if not Path(store).exists():
        raise ParameterError(
            f"--resume goes on with a stored calibration, but {store} does not exist; leave "
            "--resume out to begin one",
            key="resume",
        )
    found = _load(store)
    if isinstance(found, AlgorithmMixture) != unknown:
        has, asked = "an unknown algorithm", "one model"
        if unknown:
            has, asked = asked, has
        raise ParameterError(
            f"{store} must hold a calibration of {asked}; it holds one of {has}; repeat the "
            "arguments of the first call, or leave --resume out",
            key="resume",
        )
    return found


def _load(store: str) -> CollectiveCalibration | AlgorithmMixture:
    from workbench.uq.collectives import AlgorithmMixture, CollectiveCalibration

    path = Path(store)
    kind = read_json(path, "a stored calibration").get("format")
    if kind == f"workbench {AlgorithmMixture.__name__}":
        return AlgorithmMixture.load(path)
    return CollectiveCalibration.load(path)


def _check(arguments: argparse.Namespace) -> int:
    from workbench.uq.collectives import held_out

    measured, options = _measured(arguments), _CALIBRATED.given(arguments)
    found = held_out(measured, **options, unknown=_is_unknown(arguments, measured))
    off = (found["predicted (µs)"] / found["measured (µs)"] - 1.0).abs()
    summary = {
        "nodes": int(found["nodes"].iloc[0]),
        "tests": len(found),
        "median_error": float(off.median()),
        "within_50": float(found["within 50 %"].mean()),
        "within_90": float(found["within 90 %"].mean()),
        "width_90": float((found["high 90 % (µs)"] / found["low 90 % (µs)"]).median()),
    }
    if arguments.json:
        print_json({**summary, "rows": found.to_dict("records")})
    else:
        print(found.round(2).to_string(index=False))
        print(
            f"{summary['tests']} tests on {summary['nodes']} nodes, predicted from fewer: median "
            f"error {summary['median_error']:.1%}; 50 % intervals hold {summary['within_50']:.0%}, "
            f"90 % intervals {summary['within_90']:.0%}, which are a factor of "
            f"{summary['width_90']:.2f} wide"
        )
    return 0


def _coverage(arguments: argparse.Namespace) -> int:
    from workbench.tasks import Task
    from workbench.uq.collectives import cover_systems

    with stoppable() as stop, ProgressLine() as line:

        def note(now: Progress) -> None:
            line.show(f"{now.done} of {now.total} done; {now.message}")

        found = cover_systems(**_COVERED.given(arguments), task=Task(note, stop.event))
    if stop.number:
        say(f"stopped after {len(found.cases)} collectives")
    elif arguments.save is not None:
        found.save(arguments.save)
    frame = found.to_frame()
    if arguments.json:
        print_json({"cases": frame.to_dict("records")})
    else:
        print(frame.round(2).to_string(index=False))
        print(found)
    return SIGNALLED + stop.number if stop.number else 0


def _measured(arguments: argparse.Namespace) -> MeasuredCollective:
    from workbench.uq.collectives import read_measured

    one = arguments.nodes is not None and len(arguments.nodes) == 1
    found = read_measured(
        arguments.file,
        nodes=arguments.nodes[0] if one else None,
        **_READ.given(arguments),
    )
    if arguments.remove_outliers:
        found = found.without_outliers()
    for note in found.notes:
        say(f"note: {note}")
    return found if arguments.nodes is None else found.on(arguments.nodes)


def _summary(found: CollectiveCalibration | AlgorithmMixture, store: str) -> dict[str, Any]:
    from workbench.uq.collectives import AlgorithmMixture

    each = [_summary_of(one) for one in found.calibrations]
    summary: dict[str, Any] = {"store": store, "tests": len(found.tests)}
    if not isinstance(found, AlgorithmMixture):
        return summary | each[0]
    rows = zip(found.models, found.probabilities.tolist(), found.log_scores.tolist(), strict=True)
    return {
        **summary,
        "noise": found.noise,
        "converged": bool(each) and all(one["converged"] for one in each),
        "held_out": found.held_out,
        "algorithms": [
            {"model": model, "probability": probability, "log_score": score}
            for model, probability, score in rows
        ],
        "calibrations": each,
    }


def _summary_of(found: CollectiveCalibration) -> dict[str, Any]:
    posterior = found.posterior
    return {
        "model": found.model,
        "noise": posterior.noise.name,
        "converged": posterior.converged,
        "verdict": in_options(posterior.verdict, _IN_SHELL),
        # At draws of the posterior; unknown before the chains' end.
        "surrogate_error": None if found.stopped else float(found.posterior_error.max()),
        "parameters": posterior.summary().reset_index().to_dict("records"),
    }


def _in_us(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its columns of seconds in microseconds."""
    seconds = [name for name in map(str, frame.columns) if name.endswith("(s)")]
    found = frame.assign(**{name: 1e6 * frame[name] for name in seconds})
    return found.rename(columns={name: name.replace("(s)", "(µs)") for name in seconds})


def _predict(arguments: argparse.Namespace) -> int:
    from workbench.uq.collectives import CollectiveTest, placed_on

    spec, machine = arguments.topology, machine_of(arguments)
    if spec is None and machine is not None:
        say_parts(machine, "topology")
        spec = str(machine.part("topology").value)
    shape, network = (None, "") if spec is None else placed_on(spec)
    found = _load(arguments.file)
    per_node = found.tests[0].ranks_per_node
    sizes = arguments.bytes or sorted({test.block_bytes for test in found.tests})
    tests = [
        CollectiveTest(nodes, size, per_node, shape, network)
        for nodes in arguments.nodes
        for size in sizes
    ]
    predicted = found.predict(tests, **given(arguments, "draws", "seed", "replicas"))
    if spec is None and any(test.shape for test in found.tests):
        say("note: without --topology a torus is assumed; that of the calibration was known")
    for one in found.calibrations:
        if text := one.describe_beyond(tests):
            say(f"note: {one.model}: {text}")
    for warning in found.warnings:
        say(f"note: in the calibration: {in_options(warning, _IN_SHELL)}")
    if not arguments.json:
        print(_in_us(predicted.to_frame()).to_string(index=False))
        return 0
    widest = max(range(len(predicted.levels)), key=lambda at: predicted.levels[at])
    rows = []
    for at, test in enumerate(tests):
        intervals = {
            f"{100 * level:g}": [1e6 * predicted.low[row, at], 1e6 * predicted.high[row, at]]
            for row, level in enumerate(predicted.levels)
        }
        parts = {
            name: 1e6 * getattr(predicted, name)[widest, at]
            for name in ("parameter", "discrepancy", "noise")
        }
        rows.append(
            {
                "nodes": test.nodes,
                "block_bytes": test.block_bytes,
                "median_us": 1e6 * predicted.median[at],
                "intervals_us": intervals,
                "parts_us": parts,
            }
        )
    print_json({"predictions": rows})
    return 0
