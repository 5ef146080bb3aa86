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
    from workbench.variability.blame import (
        Blame as Blame,
        blame as blame,
        blame_neighbours as blame_neighbours,
    )
    from workbench.variability.blame_scores import (
        BlameScores as BlameScores,
        score_blame as score_blame,
        shipped_blame_scores as shipped_blame_scores,
    )
    from workbench.variability.deviation import Deviation as Deviation, deviation as deviation
    from workbench.variability.findings import findings as findings
    from workbench.variability.forecasting.forecast import (
        Forecast as Forecast,
        forecast as forecast,
    )
    from workbench.variability.forecasting.grid import (
        ForecastGrid as ForecastGrid,
        forecast_grid as forecast_grid,
    )
    from workbench.variability.forecasting.interval import forecast_interval as forecast_interval
    from workbench.variability.forecasting.leakage import (
        Leakage as Leakage,
        forecast_leakage as forecast_leakage,
    )
    from workbench.variability.forecasting.long_run import (
        LongForecast as LongForecast,
        forecast_long as forecast_long,
    )
    from workbench.variability.known_reports import (
        report_link as report_link,
        report_on as report_on,
        report_world as report_world,
        shipped_report as shipped_report,
        shipped_reports as shipped_reports,
    )
    from workbench.variability.mean_behaviour import (
        MeanBehaviour as MeanBehaviour,
        mean_behaviour as mean_behaviour,
    )
    from workbench.variability.neighbourhood import (
        Neighbourhood as Neighbourhood,
        neighbourhood as neighbourhood,
    )
    from workbench.variability.recorded_link import (
        LinkUser as LinkUser,
        RecordedLink as RecordedLink,
        shipped as shipped,
    )
    from workbench.variability.relevance_cause import (
        RelevanceAndCause as RelevanceAndCause,
        counter_causes as counter_causes,
        relevance_and_cause as relevance_and_cause,
    )
    from workbench.variability.report import (
        VariabilityReport as VariabilityReport,
        report as report,
    )
    from workbench.variability.tables.job_log import JobLog as JobLog, read_jobs as read_jobs
    from workbench.variability.tables.job_placement import (
        JobPlacement as JobPlacement,
        read_placement as read_placement,
    )
    from workbench.variability.tables.routines import (
        RoutineTimes as RoutineTimes,
        read_routines as read_routines,
    )
    from workbench.variability.tables.run_times import (
        RunTimes as RunTimes,
        RunTimeSummary as RunTimeSummary,
        load_run_times as load_run_times,
        read_run_times as read_run_times,
    )
    from workbench.variability.tables.runs import Runs as Runs, read_runs as read_runs
    from workbench.variability.tables.samples import (
        CounterSamples as CounterSamples,
        read_samples as read_samples,
    )
    from workbench.variability.tables.steps import StepTable as StepTable, read_steps as read_steps
    from workbench.variability.tables.table_gaps import table_gaps as table_gaps
    from workbench.variability.trend import SmoothTrend as SmoothTrend, smooth_trend as smooth_trend
    from workbench.variability.world.blame_worlds import score_worlds as score_worlds
    from workbench.variability.world.packet_check import (
        StallCheck as StallCheck,
        check_stalls as check_stalls,
        fit_stall_curve as fit_stall_curve,
    )
    from workbench.variability.world.run_scene import RunScene as RunScene, run_scene as run_scene
    from workbench.variability.world.shipped_curve import shipped_stall_curve as shipped_stall_curve
    from workbench.variability.world.stall_curve import StallCurve as StallCurve
    from workbench.variability.world.truth import (
        LinkTruth as LinkTruth,
        ShapleyTruth as ShapleyTruth,
        WorldTruth as WorldTruth,
    )
    from workbench.variability.world.world import World as World, generate as generate
else:
    __getattr__, __dir__ = lazy_exports(__name__)
