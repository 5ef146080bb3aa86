"""Calibration of simulators: surrogates, likelihoods of replicas, and the Markov chain.

``metropolis`` samples the posterior with ``likelihood`` and ``polynomials``; ``torus_loads`` counts
what collectives send over each link.
"""

from kernels.uq import likelihood, metropolis, polynomials, torus_loads

__all__ = ["likelihood", "metropolis", "polynomials", "torus_loads"]
