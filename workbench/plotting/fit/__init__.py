"""Figures of fits: curves, errors by size, convergence, identifiability, message regimes."""
