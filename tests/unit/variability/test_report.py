"""All analyses of one program's runs in one report, and what the paper's claims come to on them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from bokeh.models import LayoutDOM

from tests.unit import commands
from workbench.errors import DatasetError, ParameterError
from workbench.provenance import Provenance
from workbench.variability import (
    JobLog,
    Runs,
    StepTable,
    VariabilityReport,
    findings,
    generate,
    report,
    report_on,
    shipped_report,
    shipped_reports,
)

RUNS, STEPS = 16, 12


@pytest.fixture(scope="module")
def tables() -> tuple[Runs, JobLog, StepTable]:
    """Return runs that one user slows down, which a counter tells of."""
    rng = np.random.default_rng(4)
    beside = np.arange(RUNS) % 2 == 0
    stalls = (1.0 + beside)[:, None] * rng.uniform(0.9, 1.1, (RUNS, STEPS))
    time_s = 1.0 + 0.5 * stalls
    start = np.arange(RUNS) * 100.0
    names = tuple(f"run-{at}" for at in range(RUNS))
    steps = StepTable(
        names,
        start,
        time_s,
        ("RT_RB_STL", "RT_PKT_TOT"),
        np.stack([stalls, rng.uniform(1, 2, stalls.shape)], axis=2),
        Provenance("synthetic", "made up"),
    )
    total = time_s.sum(axis=1)
    runs = Runs(names, start, start + total, total)
    at = np.flatnonzero(beside)
    jobs = JobLog(
        tuple(f"job-{one}" for one in at),
        tuple("loud" for _ in at),
        np.full(len(at), 64),
        start[at] - 1,
        start[at] + 90,
    )
    return runs, jobs, steps


@pytest.fixture(scope="module")
def made(tables: tuple[Runs, JobLog, StepTable]) -> VariabilityReport:
    runs, jobs, steps = tables
    return report("loud", runs=runs, jobs=jobs, steps=steps, m=(2, 3), k=(2,), models=("ridge",))


def test_a_report_has_all_analyses_and_is_read_back(
    made: VariabilityReport, tmp_path: Path
) -> None:
    assert made.blame.users == (("loud",),)
    assert made.blame.blamed == ("loud",)
    assert made.most_relevant[0] == "RT_RB_STL"
    assert made.forecasts is not None and made.forecasts.m == (2, 3)
    assert made.timed_forecasts is not None and made.timed_forecasts.own_times
    assert not made.forecasts.own_times
    assert made.importance is not None and (made.importance.m, made.importance.k) == (3, 2)
    assert made.long_runs is None
    again = VariabilityReport.load(made.save(tmp_path / "loud.json"))
    assert again.to_json() == made.to_json()
    frame = again.to_frame().set_index("quantity")["value"]
    assert frame["slowest over fastest"] == pytest.approx(made.slowest)
    assert isinstance(made.plot(), LayoutDOM)
    assert isinstance(made.plot("leakage", "mean"), LayoutDOM)
    with pytest.raises(ParameterError, match=r"parts must be some of mean, blame, .*'long_runs'"):
        made.plot("long_runs")


def test_without_windows_there_are_no_forecasts(tables: tuple[Runs, JobLog, StepTable]) -> None:
    runs, jobs, steps = tables
    found = report("loud", runs=runs, jobs=jobs, steps=steps)
    assert found.forecasts is found.importance is found.leakage is None
    with pytest.raises(ParameterError, match="m and k must both be given, or neither"):
        report("loud", runs=runs, jobs=jobs, steps=steps, m=(2,))


def test_the_command_wants_data_or_all_tables(capsys: pytest.CaptureFixture[str]) -> None:
    refused = commands.refusal(capsys, "variability", "report", "--runs", "runs.csv")
    assert "either DATA or all of --runs, --jobs and --steps must be given" in refused
    with pytest.raises(DatasetError, match="no recording is named 'emulated-lnik'; did you mean"):
        report_on("emulated-lnik")


def test_reports_on_the_programs_of_the_paper_ship() -> None:
    assert shipped_reports() == (
        *("amg-128", "amg-512", "milc-128", "milc-512", "minivite-128", "umt-128"),
        "emulated-link",
    )
    for name in shipped_reports():
        one = shipped_report(name)
        assert one.name == name
        assert one.provenance.origin == ("emulated" if name == "emulated-link" else "synthetic")
    with pytest.raises(DatasetError, match="no report is named 'milc'"):
        shipped_report("milc")


def test_the_runs_of_a_report_are_those_that_the_generator_makes() -> None:
    shipped = shipped_report("umt-128")
    again = generate("small", application="umt-128", runs=2, seed=0, workers=1)
    np.testing.assert_allclose(again.runs.time_s, shipped.runs.time_s[:2], rtol=1e-9)  # libm


def test_reports_are_made_the_papers_way() -> None:
    """By the job's own counters, and with the network alone beside its mixture with ridge."""
    for name in shipped_reports():
        one = shipped_report(name)
        assert one.deviation.features == ("app",)
        if one.forecasts is not None and one.importance is not None:
            assert {"network", "attention"} < set(one.forecasts.models)
            assert len(one.importance.network_importance) == len(one.importance.important)
    told = shipped_report("milc-128").long_runs
    assert told is not None and not told.own_times
    assert len(told.run_names) == 12 and told.time_s.shape == (12, 620)


def test_the_network_alone_decides_and_its_mixture_does_not() -> None:
    reports = {name: shipped_report(name) for name in shipped_reports()}

    def verdicts(model: str, factor: float) -> dict[str, str]:
        """Return the verdicts if a model's errors on 512 nodes and on long runs were others."""
        large, milc = reports["amg-512"], reports["milc-128"]
        grid, told = large.forecasts, milc.long_runs
        assert grid is not None and told is not None
        mape, skill = grid.mape.copy(), told.skill_interval.copy()
        mape[..., grid.models.index(model)] *= factor
        skill[told.models.index(model)] = 1 - factor
        changed = {
            **reports,
            "amg-512": dataclasses.replace(large, forecasts=dataclasses.replace(grid, mape=mape)),
            "milc-128": dataclasses.replace(
                milc, long_runs=dataclasses.replace(told, skill_interval=skill)
            ),
        }
        return {one.name: one.verdict for one in findings(changed)}

    names = ("larger-jobs-are-harder-to-forecast", "long-runs-can-be-forecast")
    assert [verdicts("network", 2.0)[name] for name in names] == ["confirmed", "contradicted"]
    assert [verdicts("network", 0.5)[name] for name in names] == ["contradicted", "confirmed"]
    assert verdicts("attention", 2.0) == verdicts("attention", 0.5)


def test_verdicts_follow_the_reports() -> None:
    reports = {name: shipped_report(name) for name in shipped_reports()}

    def verdict(name: str, error: float) -> str:
        """Return the verdict on a claim if steps are forecast with another error."""
        changed = {
            key: dataclasses.replace(
                one,
                deviation=dataclasses.replace(
                    one.deviation, mape=np.full(one.deviation.mape.shape, error)
                ),
            )
            for key, one in reports.items()
        }
        return findings(changed)[name].verdict

    assert verdict("deviation-within-5-percent", 4.9) == "confirmed"
    assert verdict("deviation-within-5-percent", 5.1) == "contradicted"
    before = findings(reports)
    nobody = {
        key: dataclasses.replace(one, slowed=dict.fromkeys(one.slowed, 0.0))
        for key, one in reports.items()
    }
    after = findings(nobody)
    assert after["recurring-users-are-to-blame"].verdict == "contradicted"
    assert after["own-jobs-interfere"].verdict == "cannot be told here"
    changed = {one.name for one, other in zip(before, after, strict=True) if one != other}
    assert changed <= {"recurring-users-are-to-blame", "own-jobs-interfere"}
