"""The comparison of searches in figures: heuristics, resampling, stopping and pruning."""
