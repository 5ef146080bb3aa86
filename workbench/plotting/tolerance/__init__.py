"""Figures of latency tolerance: curve, sensitivity of pairs of ranks, tolerance of wires."""
