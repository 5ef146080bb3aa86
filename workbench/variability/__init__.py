"""Why one run is slower than another: who is to blame, which counters tell, what comes next.

from workbench import variability

runs = variability.read_runs("runs.csv")        # run,start,end,time_s
jobs = variability.read_jobs("sacct.txt")       # what sacct prints, or job,user,nodes,start,end
steps = variability.read_steps("steps.csv")     # run,step,time_s and counters
variability.blame(runs, jobs).plot()
variability.deviation(steps).plot()
variability.forecast(steps, m=10, k=20).plot()
world = variability.generate("small")           # runs with known causes
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.variability.blame import Blame, blame, blame_neighbours
    from workbench.variability.blame_scores import BlameScores, score_blame, shipped_blame_scores
    from workbench.variability.deviation import Deviation, deviation
    from workbench.variability.findings import findings
    from workbench.variability.forecasting.forecast import Forecast, forecast
    from workbench.variability.forecasting.grid import ForecastGrid, forecast_grid
    from workbench.variability.forecasting.interval import forecast_interval
    from workbench.variability.forecasting.leakage import Leakage, forecast_leakage
    from workbench.variability.forecasting.long_run import LongForecast, forecast_long
    from workbench.variability.known_reports import (
        report_link,
        report_on,
        report_world,
        shipped_report,
        shipped_reports,
    )
    from workbench.variability.mean_behaviour import MeanBehaviour, mean_behaviour
    from workbench.variability.neighbourhood import Neighbourhood, neighbourhood
    from workbench.variability.recorded_link import LinkUser, RecordedLink, shipped
    from workbench.variability.relevance_cause import (
        RelevanceAndCause,
        counter_causes,
        relevance_and_cause,
    )
    from workbench.variability.report import VariabilityReport, report
    from workbench.variability.tables.job_log import JobLog, read_jobs
    from workbench.variability.tables.job_placement import JobPlacement, read_placement
    from workbench.variability.tables.routines import RoutineTimes, read_routines
    from workbench.variability.tables.run_times import (
        RunTimes,
        RunTimeSummary,
        load_run_times,
        read_run_times,
    )
    from workbench.variability.tables.runs import Runs, read_runs
    from workbench.variability.tables.samples import CounterSamples, read_samples
    from workbench.variability.tables.steps import StepTable, read_steps
    from workbench.variability.tables.table_gaps import table_gaps
    from workbench.variability.world.blame_worlds import score_worlds
    from workbench.variability.world.packet_check import (
        StallCheck,
        check_stalls,
        fit_stall_curve,
    )
    from workbench.variability.world.run_scene import RunScene, run_scene
    from workbench.variability.world.shipped_curve import shipped_stall_curve
    from workbench.variability.world.stall_curve import StallCurve
    from workbench.variability.world.truth import LinkTruth, ShapleyTruth, WorldTruth
    from workbench.variability.world.world import World, generate
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "Blame",
    "BlameScores",
    "CounterSamples",
    "Deviation",
    "Forecast",
    "ForecastGrid",
    "JobLog",
    "JobPlacement",
    "Leakage",
    "LinkTruth",
    "LinkUser",
    "LongForecast",
    "MeanBehaviour",
    "Neighbourhood",
    "RecordedLink",
    "RelevanceAndCause",
    "RoutineTimes",
    "RunScene",
    "RunTimeSummary",
    "RunTimes",
    "Runs",
    "ShapleyTruth",
    "StallCheck",
    "StallCurve",
    "StepTable",
    "VariabilityReport",
    "World",
    "WorldTruth",
    "blame",
    "blame_neighbours",
    "check_stalls",
    "counter_causes",
    "deviation",
    "findings",
    "fit_stall_curve",
    "forecast",
    "forecast_grid",
    "forecast_interval",
    "forecast_leakage",
    "forecast_long",
    "generate",
    "load_run_times",
    "mean_behaviour",
    "neighbourhood",
    "read_jobs",
    "read_placement",
    "read_routines",
    "read_run_times",
    "read_runs",
    "read_samples",
    "read_steps",
    "relevance_and_cause",
    "report",
    "report_link",
    "report_on",
    "report_world",
    "run_scene",
    "score_blame",
    "score_worlds",
    "shipped",
    "shipped_blame_scores",
    "shipped_report",
    "shipped_reports",
    "shipped_stall_curve",
    "table_gaps",
]
