"""Figures of uncertainty: posteriors, chains, predictions, Sobol' indices, checks of intervals."""
