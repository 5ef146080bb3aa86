"""Figures of studies: cells as a heatmap, convergence, errors, influence of parameters."""
