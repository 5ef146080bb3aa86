"""Figures of placements: map of ranks, times, comparison of methods."""
