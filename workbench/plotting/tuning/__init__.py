"""Figures of tuning experiments: trajectory, importance, parallel coordinates, comparison."""
