"""The names of SHAMan's configurations and what they are called here.

Where SHAMan imports what a name says, only the names in these tables are known.
"""

from __future__ import annotations

HEURISTICS = {
    "surrogate_model": "surrogate-gp",
    "simulated_annealing": "annealing",
    "genetic_algorithm": "genetic",
    "exhaustive_search": "exhaustive",
}
MODELS = {
    "sklearn.gaussian_process.GaussianProcessRegressor": "surrogate-gp",
    "bbo.heuristics.surrogate_models.regression_models.MaternGaussianProcess": "surrogate-gp",
    "bbo.heuristics.surrogate_models.regression_models.CensoredGaussianProcesses": "surrogate-gp",
    "bbo.heuristics.surrogate_models.regression_models.NoisyGaussianProcesses": "surrogate-gp",
    "bbo.heuristics.surrogate_models.regression_models.DecisionTreeSTDRegressor": (
        "surrogate-forest"
    ),
    "sklearn.tree.DecisionTreeRegressor": "surrogate-forest",
    "sklearn.ensemble.RandomForestRegressor": "surrogate-forest",
    "sklearn.ensemble.ExtraTreesRegressor": "surrogate-forest",
    "sklearn.ensemble.GradientBoostingRegressor": "surrogate-forest",
}
PARTS = "bbo.heuristics."
STRATEGIES = f"{PARTS}surrogate_models.next_parameter_strategies."
ANNEALING = f"{PARTS}simulated_annealing."
GENETIC = f"{PARTS}genetic_algorithm."
PRUNING_ESTIMATORS: dict[str, str | float] = {
    "numpy.mean": "mean",
    "numpy.average": "mean",
    "numpy.median": "median",
    "numpy.min": 0.0,
    "numpy.max": 1.0,
}
ESTIMATORS = {
    **{f"numpy.{name}": name for name in ("mean", "median", "min")},
    "numpy.amin": "min",
    "numpy.average": "mean",
}
SCHEDULES = {
    "constant": "constant",
    "exponential_99": "exponential-99",
    "exponential_9": "exponential-9",
}
WORDS: dict[str, dict[str, str]] = {
    "next_parameter_strategy": {
        f"{STRATEGIES}expected_improvement": "ei",
        f"{STRATEGIES}maximum_probability_improvement": "pi",
    },
    "cooldown_function": {
        f"{ANNEALING}cooldown_functions.{name}_schedule": name
        for name in ("exponential", "logarithmic", "multiplicative")
    },
    "neighbor_function": {f"{ANNEALING}neighbor_functions.hop_to_next_value": "hop"},
    "restart": {
        f"{ANNEALING}restart_functions.random_restart": "random",
        f"{ANNEALING}restart_functions.threshold_restart": "threshold",
    },
    "selection_method": {
        f"{GENETIC}selections.tournament_pick": "tournament",
        f"{GENETIC}selections.probabilistic_pick": "probabilistic",
    },
    "crossover_method": {
        f"{GENETIC}crossover.single_point_crossover": "single-point",
        f"{GENETIC}crossover.double_point_crossover": "double-point",
    },
    "mutation_method": {f"{GENETIC}mutations.mutate_chromosome_to_neighbor": "neighbour"},
    "improvement_estimator": ESTIMATORS,
    "resampling_schedule": SCHEDULES,
    "allow_resampling_schedule": SCHEDULES,
}
"""Options that are words: the names here of the words of each."""

STARTS = {
    "uniform_random": "uniform",
    "latin_hypercube_sampling": "latin-hypercube",
    "hybrid_lhs_uniform_sampling": "hybrid",
}
RESAMPLING = {
    "simple_resampling": "static",
    "dynamic_resampling": "standard-error",
    "dynamic_resampling_non_parametric": "nonparametric",
}
STOPPING = {
    "improvement_criterion": "improvement",
    "count_movement": "count-movement",
    "distance_movement": "distance-movement",
}

OPTIONS: dict[str, dict[str, str]] = {
    "surrogate-gp": {"next_parameter_strategy": "acquisition"},
    "surrogate-forest": {"next_parameter_strategy": "acquisition"},
    "annealing": {
        "cooldown_function": "cooling",
        "cooling_factor": "cooling_factor",
        "neighbor_function": "",
        "restart": "restart",
        "max_restart": "max_restarts",
        "bernouilli_parameter": "restart_probability",
        "probability_threshold": "restart_threshold",
    },
    "genetic": {
        "selection_method": "selection",
        "crossover_method": "crossover",
        "mutation_method": "mutation",
        "mutation_rate": "mutation_rate",
        "pool_size": "tournament_size",
        "matingpool_size": "mating_pool",
        "elitism": "elitism",
        "max_repeat": "max_repeats",
    },
    "exhaustive": {},
    "static": {"nbr_resamples": "runs"},
    "standard-error": {"percentage": "share", "max_resamples": "most"},
    "nonparametric": {"percentage": "share", "max_resamples": "most"},
    "improved": {
        "percentage": "share",
        "max_resamples": "most",
        "resampling_schedule": "schedule",
        "allow_resampling_schedule": "promising",
        "allow_resampling_start": "promising_start",
    },
    "improvement": {
        "improvement_threshold": "threshold",
        "improvement_estimator": "estimator",
        "stop_window": "window",
    },
    "count-movement": {"nbr_parametrizations": "most", "stop_window": "window"},
    "distance-movement": {"stop_window": "window"},
}
"""Options of each method here: SHAMan's name and the name here, empty where there is one way."""

UNITS_DIFFER = {
    "initial_temperature": "it is in the target's own unit there, in standard deviations here",
    "distance": "it is in the parameters' own units there, in the unit cube here",
}
"""Options that have another meaning here, so that their values cannot be taken over."""
