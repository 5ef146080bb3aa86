"""Black-box tuning of real components: SHAMan's method, its experiments stored and resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.tune.aggregation import Aggregated
    from workbench.tune.component.component import (
        Component,
        ComponentParameter,
        components,
        read_components,
    )
    from workbench.tune.component.invocation import Invocation
    from workbench.tune.experiment import Experiment, resume, tune
    from workbench.tune.experiment_yaml import ExperimentSettings, read_experiment
    from workbench.tune.findings import findings
    from workbench.tune.heuristics import HEURISTICS, Heuristic, make_heuristic
    from workbench.tune.history import History, Run, Visit
    from workbench.tune.initial_points import STARTS, initial_points
    from workbench.tune.pruning import PRUNINGS, Pruning, make_pruning
    from workbench.tune.recommendation import recommended
    from workbench.tune.recorded.files import read_recording, recordings, shipped_recording
    from workbench.tune.recorded.recorded_space import RecordedSpace, Recording
    from workbench.tune.recorded.simulated import SimulatedCollective
    from workbench.tune.resampling import RESAMPLINGS, Resampling, make_resampling
    from workbench.tune.result import TuningResult
    from workbench.tune.rules_by_name import Makers
    from workbench.tune.runners import (
        Dask,
        Function,
        Local,
        Replay,
        Runner,
        RunnerError,
        Slurm,
        SlurmSteps,
    )
    from workbench.tune.search_comparison.files import (
        SearchComparisonTables,
        shipped_search_comparison,
    )
    from workbench.tune.search_comparison.plan import AddedNoise, SearchComparisonPlan
    from workbench.tune.search_comparison.result import SearchComparisonResult
    from workbench.tune.search_comparison.run import compare_searches
    from workbench.tune.settings import SearchSettings
    from workbench.tune.space.space import Choices, Configuration, Grid, Range, TuningSpace, Value
    from workbench.tune.stopping import STOPPINGS, Stopping, make_stopping
    from workbench.tune.store.run_record import RunRecord
    from workbench.tune.target import (
        Computed,
        OSULatency,
        OutputRegex,
        Target,
        TargetError,
        WallTime,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "HEURISTICS",
    "PRUNINGS",
    "RESAMPLINGS",
    "STARTS",
    "STOPPINGS",
    "AddedNoise",
    "Aggregated",
    "Choices",
    "Component",
    "ComponentParameter",
    "Computed",
    "Configuration",
    "Dask",
    "Experiment",
    "ExperimentSettings",
    "Function",
    "Grid",
    "Heuristic",
    "History",
    "Invocation",
    "Local",
    "Makers",
    "OSULatency",
    "OutputRegex",
    "Pruning",
    "Range",
    "RecordedSpace",
    "Recording",
    "Replay",
    "Resampling",
    "Run",
    "RunRecord",
    "Runner",
    "RunnerError",
    "SearchComparisonPlan",
    "SearchComparisonResult",
    "SearchComparisonTables",
    "SearchSettings",
    "SimulatedCollective",
    "Slurm",
    "SlurmSteps",
    "Stopping",
    "Target",
    "TargetError",
    "TuningResult",
    "TuningSpace",
    "Value",
    "Visit",
    "WallTime",
    "compare_searches",
    "components",
    "findings",
    "initial_points",
    "make_heuristic",
    "make_pruning",
    "make_resampling",
    "make_stopping",
    "read_components",
    "read_experiment",
    "read_recording",
    "recommended",
    "recordings",
    "resume",
    "shipped_recording",
    "shipped_search_comparison",
    "tune",
]
