"""Predict collectives on a whole machine from messages between two of its nodes.

workbench predict collective --p2p P2P.csv --system fugaku --collective gather --nodes 512
    --algorithm binomial --topology torus:8x8x8 --bytes 16384,131072
workbench predict collective --machine azure-hb96v3-hdr --collective allreduce --nodes 64 --bytes 8
workbench predict rank --p2p P2P.csv --collective alltoall --nodes 64 --bytes 8,8KiB
workbench predict evaluate --systems lassen,fugaku     # beside what was published

P2P is what osu_latency and osu_bw print on two nodes (or another text that `workbench fit --osu`
reads; --within is one of two ranks of a node), or a CSV with a row per size and run and the columns
system, benchmark, run, nodes, size_bytes, value and unit: osu_latency or imb_pingpong in us, and
where they were measured osu_bw, osu_bibw, osu_mbw_mr and osu_mbw_mr_ppn16 (16 pairs of ranks) in
MB/s and imb_pingping in us, and osu_multi_lat_ppn16 in us, the latency while 16 ranks of a node
send at once; rows of 1 node are of two ranks within it. Nothing is tuned on a
collective. Every part of the machine that is not measured is published or assumed, and the output
says which.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.cli.machine_options import add_machine, machine_of
from workbench.cli.output import (
    SIGNALLED,
    add_json,
    byte_count,
    given,
    output_file,
    print_json,
    say,
    words,
)
from workbench.cli.progress import ProgressLine
from workbench.cli.signals import stoppable
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions
from workbench.units import parse_typed_quantity

if TYPE_CHECKING:
    from workbench.machines import Machine
    from workbench.predict import CollectivePrediction, MachineProfile, PointToPoint

ABOUT = "predict collectives on many nodes from messages between two"

_READ = FunctionOptions("workbench.predict.read_point_to_point")
_MACHINE = FunctionOptions("workbench.predict.machine_of")
_PREDICTED = FunctionOptions("workbench.predict.predict_collective")
_EVALUATED = FunctionOptions("workbench.predict.evaluate_predictions")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(
        title="actions", metavar="ACTION", required=True, dest="predict_action"
    )
    about = "predict the times of a collective on some nodes"
    one = actions.add_parser("collective", help=about, description=about)
    _add_machine(one)
    one.add_argument(
        "--algorithm",
        metavar="NAME",
        help="such as binomial, or a library's or benchmark's name for it (default: by the "
        "library's rule, or the fastest)",
    )
    one.add_argument(
        "--learn",
        metavar="FILE",
        help="the same collective measured on a few nodes, a CSV or a benchmark's output: what "
        "each round takes beyond its prediction on the fewest or the two fewest is added to each",
    )
    add_json(one)
    about = "predict the times of all algorithms of a collective, the fastest first"
    ranked = actions.add_parser("rank", help=about, description=about)
    _add_machine(ranked)
    add_json(ranked)
    about = "hold predictions against the published collectives of systems that ship"
    held = actions.add_parser("evaluate", help=about, description=about)
    _EVALUATED.add(held, "tables", option="--systems", type=words, metavar="LIST")
    held.add_argument(
        "--save", type=output_file(".json"), metavar="FILE.json", help="keep the result"
    )
    add_json(held)


def _add_machine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--p2p", metavar="FILE", help="measured messages: a text of OSU's benchmarks, or a CSV"
    )
    _READ.add(parser, "within", metavar="FILE")
    _READ.add(parser, "table", "within_table", metavar="N|WORDS|all")
    _READ.add(parser, "system")
    add_machine(parser, "instead: a machine, with its topology, ranks per node and library")
    _MACHINE.add(parser, "topology", metavar="SPEC")
    parser.add_argument(
        "--placement",
        metavar="FILE.csv",
        help="instead of --topology: a row for each node, with job, first_rank, group and switch",
    )
    parser.add_argument(
        "--job", type=int, metavar="N", help="of those in --placement (default: the one)"
    )
    _PREDICTED.add(parser, "collective", "nodes")
    parser.add_argument(
        "--bytes",
        dest="block_bytes",
        type=_sizes,
        required=True,
        metavar="LIST",
        help="sizes of a block, such as 16384,128KiB: what a rank sends to one other (as OSU's "
        "benchmarks count), or the whole vector of an allreduce, bcast or reduce",
    )
    _MACHINE.add(parser, "ranks_per_node", "engines")
    _MACHINE.add(
        parser,
        "core_Bps",
        option="--core-bandwidth",
        type=_rate,
        metavar="RATE",
        help="memory traffic of a core, by which data are combined and copied, such as 30GB/s "
        "(default: published, or 30GB/s; 1500GB/s with --buffers device)",
    )
    _MACHINE.add(
        parser,
        "memory_Bps",
        option="--memory-bandwidth",
        type=_rate,
        metavar="RATE",
        help="memory traffic of a node, which its ranks share (default: published, or 150GB/s)",
    )
    _MACHINE.add(parser, "buffers", metavar="PLACE")
    _MACHINE.add(parser, "library")


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    actions = {"collective": _collective, "rank": _rank, "evaluate": _evaluate}
    return actions[arguments.predict_action](arguments)


def _collective(arguments: argparse.Namespace) -> int:
    from workbench.predict import named_algorithm, predict_collective, surplus_of
    from workbench.uq.collectives import read_measured

    machine, name = _machine(arguments), arguments.algorithm
    if name is not None:
        name = named_algorithm(machine.library, arguments.collective, name)
    surplus = None
    if arguments.learn is not None:
        measured = read_measured(arguments.learn, arguments.collective, arguments.algorithm or "")
        surplus = surplus_of(machine, measured, name)
        say(f"{surplus!r}, from {measured!r}")
    found = predict_collective(
        machine,
        arguments.collective,
        arguments.nodes,
        arguments.block_bytes,
        algorithm=name,
        surplus=surplus,
    )
    if name is not None and name.partition(":")[0] != _plain(arguments.algorithm):
        sentence = f"{arguments.algorithm} is what is called {name} here"
        found = replace(found, assumed=(*found.assumed, sentence))
    if arguments.json:
        print_json(_as_json(found) | ({"algorithm": arguments.algorithm} if name else {}))
        return 0
    print(found.to_frame().round(2).to_string(index=False))
    say(f"from and to, an interval: {found.spread.sentence}")
    for sentence in found.assumed:
        say(f"assumed: {sentence}")
    return 0


def _rank(arguments: argparse.Namespace) -> int:
    from workbench.predict import compare_algorithms

    found = compare_algorithms(
        _machine(arguments), arguments.collective, arguments.nodes, arguments.block_bytes
    )
    sizes = [str(size) for size in arguments.block_bytes]
    fastest = min(found.values(), key=lambda one: float(one.times[-1]))
    order = {
        size: dict(
            sorted(
                ((name, float(1e6 * one.times[at])) for name, one in found.items()),
                key=lambda pair: pair[1],
            )
        )
        for at, size in enumerate(sizes)
    }
    if arguments.json:
        best = {size: next(iter(times)) for size, times in order.items()}
        combining = {
            size: {name: float(1e6 * one.combining[at]) for name, one in found.items()}
            for at, size in enumerate(sizes)
        }
        ends = {name: _ends_us(one) for name, one in found.items()}
        print_json(
            {
                "times_us": order,
                "interval_us": {
                    size: {name: ends[name][size] for name in order[size]} for size in sizes
                },
                **_interval(fastest),
                "best": best,
                "combining_us": combining,
                "assumed": list(fastest.assumed),
            }
        )
        return 0
    for at, (size, times) in enumerate(order.items()):
        print(f"{arguments.collective} of {size} B on {arguments.nodes} nodes (us, from and to)")
        for name, time in times.items():
            low, high = (1e6 * end[at] for end in found[name].interval)
            print(f"  {time:12.2f}  {f'{low:.2f} to {high:.2f}':>24}  {name}")
    say(f"from and to, an interval: {fastest.spread.sentence}")
    for sentence in fastest.assumed:
        say(f"assumed: {sentence}")
    return 0


def _evaluate(arguments: argparse.Namespace) -> int:
    from workbench.predict import (
        evaluate_predictions,
        kept_aside,
        prediction_findings,
        spread_coverage,
    )
    from workbench.tasks import Task

    with stoppable() as stop, ProgressLine() as line:
        task = Task(lambda now: line.show(now.message), stop.event)
        found = evaluate_predictions(**_EVALUATED.given(arguments), task=task)
    if stop.number:
        say(f"stopped after {len(found.cases)} collectives")
    elif arguments.save is not None:
        found.save(arguments.save)
    findings, coverage = prediction_findings(found), spread_coverage(found)
    aside, learning, of_two = kept_aside(found), found.learning(), found.learning(of_two=True)
    if arguments.json:
        print_json(
            {
                "cases": found.to_frame().to_dict("records"),
                "targets": found.targets().to_dict("records"),
                "coverage": coverage.to_dict("records"),
                "kept_aside": aside.to_dict("records"),
                "learning": learning.to_dict("records"),
                "learning_of_two": of_two.to_dict("records"),
                "findings": findings.to_frame().to_dict("records"),
            }
        )
    else:
        print(found.to_frame().round(1).to_string(index=False))
        if len(coverage):
            print("\nhow many times of a system lie in the interval that the other systems give")
            print(coverage.round(2).to_string(index=False))
        if len(aside):
            print("\nmedian errors on more nodes than the fewest, and times in the interval")
            print(aside.round(1).to_string(index=False))
        print("\nwhether a surplus of a round, learnt on the fewest nodes, helps on more")
        print(learning.round(1).to_string(index=False))
        if len(of_two):
            print("\nthe same on more than the two fewest, with a surplus learnt on these two")
            print(of_two.round(1).to_string(index=False))
        print(findings)
    return SIGNALLED + stop.number if stop.number else 0


def _ends_us(found: CollectivePrediction) -> dict[str, list[float]]:
    """Return the ends of the interval by size, us."""
    sizes = map(str, found.block_bytes.tolist())
    return {
        size: [1e6 * low, 1e6 * high]
        for size, low, high in zip(sizes, *found.interval, strict=True)
    }


def _interval(found: CollectivePrediction) -> dict[str, object]:
    """Return the share of times that an interval is made to hold, and the share that it held."""
    from workbench.predict.published_spread import INTERVAL_SHARE

    return {
        "interval_share": INTERVAL_SHARE,
        "interval_held": found.spread.held,
        "interval": found.spread.sentence,
    }


def _as_json(found: CollectivePrediction) -> dict[str, object]:
    sizes = [str(size) for size in found.block_bytes.tolist()]
    return {
        "times_us": dict(zip(sizes, (1e6 * found.times).tolist(), strict=True)),
        "interval_us": _ends_us(found),
        **_interval(found),
        "combining_us": dict(zip(sizes, (1e6 * found.combining).tolist(), strict=True)),
        "algorithm": found.algorithm,
        "algorithms": dict(zip(sizes, found.algorithms, strict=True)),
        "chosen_by": dict(zip(sizes, found.chosen_by, strict=True)),
        "system": found.system,
        "collective": found.collective,
        "nodes": found.nodes,
        "ranks_per_node": found.ranks_per_node,
        "topology": found.topology or None,
        "assumed": list(found.assumed),
    }


def _machine(arguments: argparse.Namespace) -> MachineProfile:
    from workbench import predict

    machine = predict.machine_of(_measured(arguments), **_MACHINE.given(arguments))
    if arguments.placement is None:
        if arguments.job is not None:
            raise ParameterError("--job is of a file --placement; give both or none", key="job")
        return machine
    if arguments.topology is not None:
        raise ParameterError(
            "--topology and --placement both say where the nodes are; give one of them",
            key="placement",
        )
    groups = predict.read_node_groups(arguments.placement, job=arguments.job)
    for note in groups.notes:
        say(f"note: {note}")
    return machine.placed(groups)


def _measured(arguments: argparse.Namespace) -> PointToPoint | Machine:
    from workbench.predict import read_point_to_point

    if (arguments.p2p is None) == (arguments.machine is None):
        raise ParameterError(
            "one of --p2p FILE and --machine must be given; got "
            f"{'both' if arguments.p2p else 'neither'}",
            key="p2p",
        )
    machine = machine_of(arguments)
    if machine is None:
        measured = read_point_to_point(arguments.p2p, **_READ.given(arguments))
        for note in measured.notes:
            say(f"note: {note}")
        return measured
    if given(arguments, "table", "within", "within_table"):
        raise ParameterError(
            "--table, --within and --within-table are of a text --p2p; leave them out", key="within"
        )
    if arguments.system is not None:
        raise ParameterError(
            f"--system is of a file --p2p; got {arguments.system!r} with --machine; leave it out",
            key="system",
        )
    return machine


def _rate(text: str) -> float:
    """Return an option's rate in B/s."""
    try:
        return float(parse_typed_quantity(text, "bandwidth", name="a rate"))
    except ParameterError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _plain(name: str) -> str:
    """Return an algorithm's name as it is written here, without its parameter."""
    return name.strip().lower().replace("_", "-").partition(":")[0]


def _sizes(text: str) -> tuple[int, ...]:
    """Return the sizes of an argument such as ``16384,128KiB``."""
    found = tuple(byte_count(part) for part in text.split(","))
    if min(found) < 0:
        raise argparse.ArgumentTypeError(f"sizes must be at least 0 B; got {text!r}")
    return found
