"""Check the stalls of generated worlds against the packet simulator, link by link.

workbench variability stalls --groups 1,2
workbench variability stalls --fit --save curve.json

The same jobs of several users run on one or two groups of routers by the flow model and, twice, by
packets. Printed is how well the ranks of links by stall agree, and how well those of the two
simulations do, which is what chance allows. --fit first fits the curve of the flow model to packets
of other jobs.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from workbench.cli.output import (
    add_json,
    counts,
    given,
    output_file,
    print_json,
    slow_import_notice,
)
from workbench.cli.signals import run_stoppable
from workbench.errors import ParameterError

if TYPE_CHECKING:
    from workbench.tasks import Task
    from workbench.variability import StallCheck, StallCurve

ABOUT = "check the stalls of generated worlds against the packet simulator"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--groups", type=counts, default=(1, 2), metavar="N,N", help="1, 2 or 1,2 (default)"
    )
    parser.add_argument(
        "--seeds", type=counts, metavar="N,N", help="of the checked jobs (default 101,102)"
    )
    parser.add_argument(
        "--messages", type=int, metavar="N", help="of each simulation (default 500000)"
    )
    parser.add_argument("--fit", action="store_true", help="fit the curve first, some minutes")
    parser.add_argument(
        "--save", type=output_file(".json"), metavar="FILE", help="for the fitted curve"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Fit, if asked for, check, print the figures and return the exit status."""
    if arguments.save and not arguments.fit:
        raise ParameterError("--save is for the curve of --fit; give both", key="save")
    with slow_import_notice():
        from workbench.variability.world.packet_check import CHECK_SEEDS
    seeds = CHECK_SEEDS if arguments.seeds is None else arguments.seeds

    def work(task: Task) -> tuple[StallCurve | None, list[StallCheck]]:
        from workbench.variability import check_stalls, fit_stall_curve

        common: dict[str, Any] = {"task": task, **given(arguments, "messages")}
        curve = fit_stall_curve(**common) if arguments.fit else None
        return curve, [
            check_stalls(groups, seed=seed, curve=curve, **common)
            for groups in arguments.groups
            for seed in seeds
        ]

    found, status = run_stoppable(work)
    if found is None:
        return status
    curve, checks = found
    if curve is not None and arguments.save:
        curve.save(arguments.save)
    if arguments.json:
        print_json(
            {
                **({} if curve is None else {"curve": curve.to_dict()}),
                "checks": [
                    {
                        "groups": one.groups,
                        "seed": one.seed,
                        "links": len(one.kind),
                        "stall_rank": one.stall_rank,
                        "chance_rank": one.chance_rank,
                        "utilisation_rank": one.utilisation_rank,
                    }
                    for one in checks
                ],
            }
        )
        return status
    if curve is not None:
        print(curve)
    for one in checks:
        print(one)
    return status
