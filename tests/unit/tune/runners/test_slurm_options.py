"""What a Slurm job asks for, as words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.tune.runners.slurm_options import allocation_number, slurm_options


def test_what_is_asked_for_is_passed_and_nothing_else() -> None:
    assert slurm_options() == ()
    assert slurm_options(
        partition="lab,big",
        account="x-1",
        nodes=2,
        ntasks=8,
        time="1-12:30",
        others=["--exclusive", "-C", "a b"],
    ) == (
        *("--partition=lab,big", "--account=x-1", "--nodes=2", "--ntasks=8", "--time=1-12:30"),
        *("--exclusive", "-C", "a b"),
    )


@for_each("time", ["30", "90:00", "1:30:00", "2-12", "2-12:30:00", "UNLIMITED"])
def test_times_have_the_forms_of_slurm(time: str) -> None:
    assert slurm_options(time=time) == (f"--time={time}",)


@for_each(
    "options, message",
    [
        ({"partition": "lab --wrap=x"}, "partition must be one word"),
        ({"account": "-x"}, "account must be one word"),
        ({"nodes": 0}, "nodes must be a whole number of at least 1"),
        ({"ntasks": True}, "ntasks must be"),
        ({"time": "1h"}, "hours:minutes:seconds"),
        ({"time": "-5"}, "hours:minutes:seconds"),
        ({"others": ["lab"]}, "must begin with a dash"),
    ],
)
def test_what_is_no_option_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        slurm_options(**options)


def test_an_allocation_that_is_there_is_asked_for_nothing() -> None:
    assert allocation_number("12", ()) == "12"
    assert allocation_number("", ("--nodes=2",)) == ""
    with pytest.raises(ParameterError, match="leave --nodes=2 out"):
        allocation_number("12", ("--nodes=2",))
    with pytest.raises(ParameterError, match="number of a job"):
        allocation_number("12.0", ())
