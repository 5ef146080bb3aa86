"""Black-box tuning of real components: SHAMan's method, its experiments stored and resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.tune.aggregation import Aggregated as Aggregated
    from workbench.tune.component.component import (
        Component as Component,
        components as components,
        read_components as read_components,
    )
    from workbench.tune.component.invocation import Invocation as Invocation
    from workbench.tune.component.parameter import ComponentParameter as ComponentParameter
    from workbench.tune.experiment import Experiment as Experiment, resume as resume, tune as tune
    from workbench.tune.experiment_yaml import (
        ExperimentSettings as ExperimentSettings,
        read_experiment as read_experiment,
    )
    from workbench.tune.findings import findings as findings
    from workbench.tune.heuristics import (
        HEURISTICS as HEURISTICS,
        Heuristic as Heuristic,
        make_heuristic as make_heuristic,
    )
    from workbench.tune.history import History as History, Run as Run, Visit as Visit
    from workbench.tune.initial_points import STARTS as STARTS, initial_points as initial_points
    from workbench.tune.pruning import (
        PRUNINGS as PRUNINGS,
        Pruning as Pruning,
        make_pruning as make_pruning,
    )
    from workbench.tune.recommendation import recommended as recommended
    from workbench.tune.recorded.files import (
        read_recording as read_recording,
        recordings as recordings,
        shipped_recording as shipped_recording,
    )
    from workbench.tune.recorded.recorded_space import (
        RecordedSpace as RecordedSpace,
        Recording as Recording,
    )
    from workbench.tune.recorded.simulated import SimulatedCollective as SimulatedCollective
    from workbench.tune.resampling import (
        RESAMPLINGS as RESAMPLINGS,
        Resampling as Resampling,
        make_resampling as make_resampling,
    )
    from workbench.tune.result import TuningResult as TuningResult
    from workbench.tune.rules_by_name import Makers as Makers
    from workbench.tune.runners import (
        Dask as Dask,
        Function as Function,
        Local as Local,
        Replay as Replay,
        Runner as Runner,
        RunnerError as RunnerError,
        Slurm as Slurm,
        SlurmSteps as SlurmSteps,
    )
    from workbench.tune.search_comparison.files import (
        SearchComparisonTables as SearchComparisonTables,
        shipped_search_comparison as shipped_search_comparison,
    )
    from workbench.tune.search_comparison.plan import (
        AddedNoise as AddedNoise,
        SearchComparisonPlan as SearchComparisonPlan,
    )
    from workbench.tune.search_comparison.result import (
        SearchComparisonResult as SearchComparisonResult,
    )
    from workbench.tune.search_comparison.run import compare_searches as compare_searches
    from workbench.tune.settings import SearchSettings as SearchSettings
    from workbench.tune.space.axes import Choices as Choices, Grid as Grid, Range as Range
    from workbench.tune.space.constraints import (
        Configuration as Configuration,
        TunedValue as TunedValue,
    )
    from workbench.tune.space.space import TuningSpace as TuningSpace
    from workbench.tune.stopping import (
        STOPPINGS as STOPPINGS,
        Stopping as Stopping,
        make_stopping as make_stopping,
    )
    from workbench.tune.store.run_record import RunRecord as RunRecord
    from workbench.tune.target import (
        Computed as Computed,
        OSULatency as OSULatency,
        OutputRegex as OutputRegex,
        Target as Target,
        TargetError as TargetError,
        WallTime as WallTime,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
